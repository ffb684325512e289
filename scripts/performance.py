#!/usr/bin/env python3
"""Writes docs/performance.md and its pictures from docs/performance.json and scripts/pages/performance.md.in.

scripts/performance.py                takes the figures as they are
scripts/performance.py FILE...        takes over what benchmarks wrote (cargo bench --bench path -- --json FILE) first
scripts/performance.py --check        writes nothing, and fails where the page is not what the figures make
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from performance_plot import ratios, times

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# Text of the pages, with places for figures.
PAGES = ROOT / "scripts/pages"
FIGURES = DOCS / "performance.json"
TRANSPORTS = {"udp": "UDP", "shm": "shared memory"}
CPU_AIMS = {"udp": 1.15, "shm": 1.05}
LATENCY_AIM = 1.05
IDLE_AIM = 5.0  # percent of a core


def ratio(row: dict, figure: str) -> float:
    """Of the bridge to the floor, to as many digits as are shown: these are compared with the aim."""
    return round(row["bridge"][figure] / row["floor"][figure], 2)


def cases(path: dict) -> list[dict]:
    """What was compared: names, ratios (of medians and of rounds), aims."""
    found = []
    for row in path["floor"]:
        name = f"{TRANSPORTS[row['transport']]} {row['size']}"
        for subject in ("floor", "bridge"):
            if not all(run["cpu_ms"] and run["latency_ms"] for run in row[f"{subject}_rounds"]):
                sys.exit(f"{name}: no image came through the {subject}; measure again")
        pairs = [
            {"floor": floor, "bridge": bridge}
            for floor, bridge in zip(row["floor_rounds"], row["bridge_rounds"], strict=True)
        ]
        case = {**row, "name": name}
        for figure, aim in (("cpu_ms", CPU_AIMS[row["transport"]]), ("latency_ms", LATENCY_AIM)):
            case[figure] = {"ratio": ratio(row, figure), "rounds": [ratio(pair, figure) for pair in pairs], "aim": aim}
        found.append(case)
    return found


def table(head: str, rows: list[list[str]]) -> str:
    """Markdown; a column whose head begins with a blank is text, others are figures."""
    columns = head.split("|")
    rule = ["---" if column.startswith(" ") else "---:" for column in columns]
    body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(c.strip() for c in columns) + " |", "|" + "|".join(rule) + "|", *body])


def measured(report: dict) -> str:
    """When, where and how often."""
    rounds, seconds = report["rounds"], report["seconds"]
    often = f"One round of {seconds} s each" if rounds == 1 else f"Medians of {rounds} rounds of {seconds} s in turns"
    return f"{often}, {where(report['machine'])}"


def where(machine: dict) -> str:
    """When and where."""
    facts = [
        machine["date"] and f"{machine['date']} UTC",
        machine["commit"] and f"commit {machine['commit']}",
        f"{machine['cores']} cores",
        machine["cpu"],
        machine["virtual"] and "a virtual machine",
        machine["kernel"] and f"Linux {machine['kernel']}",
        machine["rustc"],
        machine["load"] is not None and f"load {machine['load']:.1f} at the start",
    ]
    return ", ".join(fact for fact in facts if fact) + "." + machine.get("note", "")


def aims(path: dict) -> str:
    """Which aims are met: computed."""
    rows = []

    def aim(what: str, most: str, values: dict[str, str], missed: list[str]) -> None:
        verdict = "**missed**" if missed else "met"
        if 0 < len(missed) < len(values):
            verdict += f" by {', '.join(missed)}"
        rows.append([what, most, ", ".join(f"{name} {value}".strip() for name, value in values.items()), verdict])

    for figure, what in (("cpu_ms", "CPU time of an image"), ("latency_ms", "latency")):
        for transport, name in TRANSPORTS.items():
            own = {case["size"]: case[figure] for case in cases(path) if case["transport"] == transport}
            most = next(iter(own.values()))["aim"]
            values = {size: f"{of['ratio']:.2f}" for size, of in own.items()}
            missed = [size for size, of in own.items() if of["ratio"] > of["aim"]]
            aim(f"{what} against the floor, {name}", f"{most:.2f}", values, missed)
    share = round(path["idle"]["core_percent"], 1)
    missed = ["all"] if share > IDLE_AIM else []
    aim("32 cameras of 640x480 that nobody reads", f"{IDLE_AIM:g} % of a core", {"": f"{share:.1f} %"}, missed)
    return table(" aim|at most| measured| ", rows)


def floor(path: dict) -> str:
    """The tables of floor and bridge."""
    several = path["rounds"] > 1
    rows = []
    for case in cases(path):
        row = [TRANSPORTS[case["transport"]], case["size"]]
        for figure in ("cpu_ms", "latency_ms"):
            of = case[figure]
            spread = f" ({min(of['rounds']):.2f} to {max(of['rounds']):.2f})" if several else ""
            row += [f"{case[s][figure]:.2f} ms" for s in ("floor", "bridge")] + [f"{of['ratio']:.2f}{spread}"]
        rows.append([*row, *("-" if case[s]["lost"] is None else str(case[s]["lost"]) for s in ("floor", "bridge"))])
    head = " transport| size|CPU per image: floor|bridge|ratio|latency: floor|bridge|ratio|lost: floor|bridge"
    parts = [measured(path), table(head, rows)]
    if several:
        parts.append("Ratios are those of the medians; in brackets the least and the greatest of a round.")
    return "\n\n".join(parts)


def instructions(report: dict) -> str:
    """Instructions of an image, and of a second without images."""
    rows = []
    for row in report["rows"]:
        image, second = ([f"{row[of][who] * 1e-3:.0f} k" for who in ("floor", "bridge")] for of in ("image", "second"))
        rows.append([TRANSPORTS[row["transport"]], row["size"], *image, *second])
    slow, fast = report["hz"]
    said = f"From runs of {report['seconds']} s at {slow} and {fast} Hz, {where(report['machine'])}"
    return said + "\n\n" + table(" transport| size|image: floor|bridge|second: floor|bridge", rows)


def load(path: dict) -> str:
    """Eight cameras and the IMU; thirty-two that nobody reads."""
    busy, idle = path["load"], path["idle"]
    imu = "unknown" if busy["imu_p99_ms"] is None else f"{busy['imu_p99_ms']:.2f} ms"
    rows = [
        [
            f"8 raw cameras of 640x480 at {path['hz']} Hz and the IMU at 200 Hz, all subscribed",
            f"{busy['core_percent']:.0f} %",
            f"{busy['sent']} images sent, {busy['received']} received, dropped by the bridge: {busy['dropped']}; "
            f"IMU from datagram to publish: {imu} (p99)",
        ],
        [
            f"32 such cameras that nobody reads, {idle['frames_per_s']} frames/s arriving",
            f"{idle['core_percent']:.1f} %",
            f"aim: {IDLE_AIM:g} %",
        ],
    ]
    return "The same command:\n\n" + table(" load|CPU, one core = 100 %| ", rows)


def control(report: dict) -> str:
    """Setpoints and telemetry."""
    point = report["setpoints"]
    p50, p99, worst = (f"{point[key] / 1000:.2f} ms" for key in ("p50_us", "p99_us", "worst_us"))
    rows = [
        [
            str(fleet["vehicles"]),
            f"{fleet['messages_per_s']:.0f}",
            f"{fleet['topics']} of each" if fleet["topics"] else "one `state`",
            f"{fleet['core_percent']:.0f} %",
            f"{fleet['first_state_s']:.2f} s",
            str(fleet["lost"]),
        ]
        for fleet in report["telemetry"]
    ]
    said = f"A setpoint takes {p50} (p50; p99 {p99}, worst {worst}; {point['arrived']} of {point['sent']} arrived)."
    head = "vehicles|messages/s in| topics read|CPU, one core = 100 %|first state after|lost"
    return "\n\n".join([measured(report), said, table(head, rows)])


def view(report: dict) -> str:
    """What clients of the view cost."""
    rows = []
    for row in report["rows"]:
        run, rounds = row["median"], [one["thread_ms"] for one in row["rounds"]]
        spread = f" ({min(rounds):.2f} to {max(rounds):.2f})" if len(rounds) > 1 else ""
        few = run["received"]
        rows.append(
            [row["clients"], f"{run['thread_ms']:.2f} ms{spread}", *(f"{run[key]:.2f} ms" for key in ("p50_ms", "p99_ms")), str(few)]
        )
    of = report["seconds"] * report["hz"]
    head = f" clients|thread of the camera, per image|latency p50|p99|images received of {of}, at least"
    return "\n\n".join([measured(report), table(head, rows)])


def middlewares(report: dict) -> str:
    """The same bridge on Cyclone DDS and on Zenoh."""
    rows, of_dds = [], {}
    for row in report["rows"]:
        run, rounds = row["bridge"], row["rounds"]
        first = of_dds.setdefault(row["size"], rounds)
        shares = [one["cpu_ms"] / dds["cpu_ms"] for one, dds in zip(rounds, first, strict=True)]
        spread = f" ({min(shares):.2f} to {max(shares):.2f})" if len(rounds) > 1 and first is not rounds else ""
        share = run["cpu_ms"] / next(of["bridge"] for of in report["rows"] if of["size"] == row["size"])["cpu_ms"]
        times = [f"{run[key]:.2f} ms" for key in ("cpu_ms", "latency_ms", "p99_ms")]
        rows.append([row["size"], row["middleware"], times[0], f"{share:.2f}{spread}", *times[1:], str(run["lost"])])
    return "\n\n".join([measured(report), table(" size| middleware|CPU per image|ratio|latency p50|p99|lost", rows)])


def render(figures: dict) -> dict[Path, str]:
    """Every file that the figures make. A section without figures keeps the text of the template."""
    path = figures["path"]
    sections = {"aims": aims(path), "floor": floor(path), "load": load(path)}
    if "control" in figures:
        sections["control"] = control(figures["control"])
    if "instructions" in figures:
        sections["instructions"] = instructions(figures["instructions"])
    if "view" in figures:
        sections["view"] = view(figures["view"])
    if "middlewares" in figures:
        sections["middlewares"] = middlewares(figures["middlewares"])
    text = (PAGES / "performance.md.in").read_text()

    def section(found: re.Match) -> str:
        return sections.get(found[1], found[2].strip())

    text = re.sub(r"<!-- (\w+) -->\n(.*?)<!-- /\1 -->", section, text, flags=re.DOTALL)
    note = "<!-- Written by scripts/performance.py; edit scripts/pages/performance.md.in. -->\n\n"
    return {
        DOCS / "performance.md": note + text,
        DOCS / "img" / "performance_ratio.svg": ratios(cases(path)),
        DOCS / "img" / "performance_time.svg": times(cases(path)),
    }


def main() -> None:
    """Writes, or checks."""
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    files = [word for word in sys.argv[1:] if word != "--check"]
    for file in files:
        report = json.loads(Path(file).read_text())
        figures[report["bench"]] = report
    made = render(figures)
    if files:
        made[FIGURES] = json.dumps(figures, indent=1) + "\n"
    for file, text in made.items():
        if "--check" not in sys.argv:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            sys.exit(f"docs/{file.relative_to(DOCS)} is not what the figures make; scripts/performance.py writes it")


if __name__ == "__main__":
    main()
