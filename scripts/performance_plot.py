"""The pictures of docs/performance.md, as SVG that brings its own background, light or dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from html import escape

WIDTH, LEFT, PANEL, GAP, TOP, ROW = 760, 196, 240, 60, 66, 30  # pixels
STYLE = """
.paper{fill:#fff}text{fill:#1f2328}.dim{fill:#59636e}.grid{stroke:#d1d9e0}.one{stroke:#59636e}
.floor{fill:#8c959f}.bridge,.met{fill:#0969da}.missed{fill:#bc4c00}.aim{stroke:#1a7f37;stroke-width:2}
.round{fill:none;stroke:#59636e}.value{paint-order:stroke;stroke:#fff;stroke-width:3px}
@media(prefers-color-scheme:dark){
.paper{fill:#0d1117}text{fill:#e6edf3}.dim{fill:#9198a1}.grid{stroke:#30363d}.one{stroke:#9198a1}
.floor{fill:#7d8590}.bridge,.met{fill:#58a6ff}.missed{fill:#f0883e}.aim{stroke:#3fb950}.round{stroke:#9198a1}
.value{stroke:#0d1117}
}
"""

Scale = Callable[[float], float]
Draw = Callable[[dict, str, Scale, float], Iterator[str]]


def text(x: float, y: float, words: str, style: str = "") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'


def line(x: float, y0: float, y1: float, style: str) -> str:
    """An upright line."""
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y0:.1f}" y2="{y1:.1f}" class="{style}"/>'


def mark(x: float, y: float, style: str) -> str:
    """A disc, or a diamond for what is missed."""
    if style == "missed":
        return f'<path d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7-7z" class="missed"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{style}"/>'


def picture(title: str, cases: list[dict], panels: dict[str, tuple[str, float, float]], draw: Draw, key: list[str]) -> str:
    """Rows of cases in panels; each has a head and the ends of its axis."""
    bottom = TOP + ROW * len(cases)
    out = [text(16, 26, title, 'font-size="15" font-weight="bold"')]
    out += [text(LEFT - 12, TOP + ROW * (n + 0.5) + 4, c["name"], 'text-anchor="end"') for n, c in enumerate(cases)]
    for n, (figure, (head, low, high)) in enumerate(panels.items()):
        left = LEFT + n * (PANEL + GAP)

        def scale(value: float, left: float = left, low: float = low, high: float = high) -> float:
            return left + PANEL * (value - low) / (high - low)

        out.append(text(left, TOP - 14, head, 'font-weight="bold"'))
        step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if (high - low) / s <= 6)
        for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
            base = abs(i * step - (low > 0)) < 1e-9  # nothing, or the floor
            out.append(line(scale(i * step), TOP, bottom, "one" if base else "grid"))
            out.append(text(scale(i * step), bottom + 18, f"{i * step:g}", 'text-anchor="middle" class="dim"'))
        for row, case in enumerate(cases):
            out += draw(case, figure, scale, TOP + ROW * (row + 0.5))
    height = bottom + 58
    body = "\n".join([*out, f'<g transform="translate({LEFT} {bottom + 42})">', *key, "</g>"])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" '
        f'role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n'
        f'<rect width="{WIDTH}" height="{height}" class="paper"/>\n{body}\n</svg>\n'
    )


def times(cases: list[dict]) -> str:
    """CPU time and latency in milliseconds."""

    def bars(case: dict, figure: str, scale: Scale, y: float) -> Iterator[str]:
        for subject, top in (("floor", y - 11), ("bridge", y)):
            ms = case[subject][figure]
            wide = scale(ms) - scale(0)
            yield f'<rect x="{scale(0):.1f}" y="{top:.1f}" width="{wide:.1f}" height="10" class="{subject}"/>'
            yield text(scale(ms) + 4, top + 9, f"{ms:.2f}", 'font-size="10" class="value"')

    panels = {}
    for figure, head in (("cpu_ms", "CPU time per image, ms"), ("latency_ms", "latency (median), ms")):
        most = max(case[subject][figure] for case in cases for subject in ("floor", "bridge"))
        panels[figure] = (head, 0.0, most * 1.12)  # room for the figure
    key = []
    for n, subject in enumerate(("floor", "bridge")):
        key += [f'<rect x="{n * 80}" width="10" height="10" class="{subject}"/>', text(n * 80 + 16, 9, subject)]
    return picture("An image from the simulator to the subscriber", cases, panels, bars, key)


def ratios(cases: list[dict]) -> str:
    """The bridge in units of the floor, and the aims."""

    def dots(case: dict, figure: str, scale: Scale, y: float) -> Iterator[str]:
        of = case[figure]
        yield line(scale(of["aim"]), y - ROW / 2, y + ROW / 2, "aim")
        if len(of["rounds"]) > 1:
            yield from (mark(scale(value), y, "round") for value in of["rounds"])
        yield mark(scale(of["ratio"]), y, "missed" if of["ratio"] > of["aim"] else "met")
        right = max([of["ratio"], *of["rounds"]])
        yield text(scale(right) + 11, y + 4, f"{of['ratio']:.2f}", 'class="value"')

    panels = {}
    for figure, head in (("cpu_ms", "CPU time, floor = 1"), ("latency_ms", "latency, floor = 1")):
        values = [v for case in cases for v in (case[figure]["ratio"], case[figure]["aim"], *case[figure]["rounds"])]
        panels[figure] = (head, min([0.9, *values]) - 0.05, max(values) + 0.15)  # room for the figure
    key = [mark(5, 5, "met"), text(16, 9, "aim met"), mark(95, 5, "missed"), text(106, 9, "missed")]
    key += [line(185, -2, 12, "aim"), text(194, 9, "aim (at most)")]
    if any(len(case["floor_rounds"]) > 1 for case in cases):
        key += [mark(300, 5, "round"), text(311, 9, "single rounds")]
    return picture("The bridge against the floor", cases, panels, dots, key)
