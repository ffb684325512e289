"""The proof of scripts/fleet.sh, inside its network: `fleet.py [VEHICLES_PER_PC [few]]`. `fleet.py watch PC VEHICLES` is what runs on each PC."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp

import psutil
from backend import environment
from diagnostics import Report
from mavros import TELEMETRY
from peer import Peer
from peer.graph import announce_node
from processes import ROOT, Process, binary
from programs import LISTENS
from topics import COMPRESSED_IMAGE, IMAGE

from sensors import COMPRESSED, RAW, with_defaults, write_config

PCS = (1, 2, 3, 4)
DOMAIN = 0
ROS2DDS = os.environ.get("ZENOH_BRIDGE_ROS2DDS")
LOOPBACK = {"CYCLONEDDS_URI": f"file://{ROOT}/config/cyclonedds_loopback.xml"} if ROS2DDS else {}
FEW = ["model.enabled:=false", "true_state.enabled:=false", "control.plugin_allowlist:=[sys_status, command, local_position, setpoint_raw]"]
"""38 topics and services of each vehicle instead of 190 (docs/fleet.md)."""
HEARD_S, LOSS_S, PATIENCE_S = 4.0, 5.0, 400.0


def prefix(number: int) -> str:
    return "/mavros" if number == 1 else f"/mavros{number}"


def watch(pc: int, vehicles: int) -> None:
    """Prints twice a second, as JSON, what arrives on this PC: vehicles, statuses `hosts`, images of the next PC."""
    if not ROS2DDS:
        from peer import on_zenoh

        on_zenoh.router = lambda: None  # that of the PC
    peer = Peer(DOMAIN)
    states = {n: peer.subscribe(f"{prefix(n)}/state", TELEMETRY["state"], depth=5) for n in range(1, vehicles + 1)}
    reports = peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")
    other = f"/pc{pc % len(PCS) + 1}"
    raw = peer.subscribe(f"{other}/sensor0/img_rgb", IMAGE)
    small = peer.subscribe(f"{other}/sensor1/img_rgb/compressed", COMPRESSED_IMAGE)
    topics = (*states.values(), reports, raw, small)
    # zenoh-bridge-ros2dds carries only what nodes subscribe to.
    node = announce_node(peer, "/", "watch", readers=[t._reader for t in topics]) if ROS2DDS else None  # noqa: F841
    heard: dict[int, float] = {}
    hosts: dict[str, list] = {}
    images = {"raw": 0, "compressed": 0}
    while True:
        time.sleep(0.5)
        for number, topic in states.items():
            heard |= {number: sample.arrival for sample in topic.take() if sample.message.connected}
        for sample in reports.take():
            report = Report(sample.message)
            hosts |= {n: [report.levels[n], report.messages[n]] for n in report.levels if n.endswith(": hosts")}
        images["raw"] += len(raw.take())
        images["compressed"] += len(small.take())
        for topic in topics:
            topic.samples.clear()
        now = time.time()
        fresh = sum(now - at < HEARD_S for at in heard.values())
        print(json.dumps({"at": now, "vehicles": fresh, "hosts": hosts, **images}), flush=True)


class Pc:
    """The programs of one PC."""

    def __init__(self, directory: Path, number: int, count: int, parameters: list[str]):
        self.name, self.directory = f"pc{number}", directory
        others = [f'"tcp/10.77.0.{n}:7447"' for n in PCS if n != number]
        rules = (ROOT / f"config/fleet_{'ros2dds' if ROS2DDS else 'router'}.json5").read_text()
        config = directory / f"{self.name}.json5"
        config.write_text(rules.replace('"tcp/192.168.1.22:7447"', ", ".join(others)))
        first = 1 + (number - 1) * count
        cameras = [with_defaults(0, 1, RAW, vehicle=first), with_defaults(1, 1, COMPRESSED, vehicle=first)]
        write_config(directory / f"{self.name}.json", cameras)
        bridge = binary("rfly_bridge", "RFLY_BRIDGE")
        around = environment(DOMAIN) | {"ZENOH_ROUTER_CONFIG_URI": str(config)}
        router = [ROS2DDS, "-c", config] if ROS2DDS else [bridge, "router"]
        self.router = self.process("router", router, around | LOOPBACK)
        options = ["--vehicles", count, "--start-index", first, "--multicast", "--state-rate", 10, "--pattern"]
        self.emulator = self.process("emulator", [binary("rflysim_emulator", "RFLY_EMULATOR"), *options], around)
        values = [f"fleet.file:={directory}/fleet.yaml", "imu.enabled:=false", "zenoh.shared_memory_mb:=0", *parameters]
        arguments = ["--ros-args", *(word for value in values for word in ("-p", value))]
        self.bridge = self.process("bridge", [bridge, *arguments], around)
        vehicles = count * len(PCS)
        self.watch = self.process("watch", [sys.executable, __file__, "watch", number, vehicles], around)

    def process(self, name: str, command: list, around: dict[str, str]) -> Process:
        inside = ["ip", "netns", "exec", self.name, *command]
        return Process(f"{name} of {self.name}", inside, self.directory / f"{self.name}_{name}.log", around)

    def seen(self) -> dict:
        """The newest line of what is seen."""
        lines = [line for line in self.watch.output().splitlines() if line.startswith("{") and line.endswith("}")]
        return json.loads(lines[-1]) if lines else {"at": 0, "vehicles": 0, "hosts": {}, "raw": 0, "compressed": 0}


def wait(what: str, wanted, limit: float = PATIENCE_S) -> float:
    """Seconds until `wanted`; ends the program if that takes too long."""
    start = time.monotonic()
    while not wanted():
        if time.monotonic() - start > limit:
            sys.exit(f"FAILED: waited {limit:.0f} s for: {what}")
        time.sleep(0.05)
    took = time.monotonic() - start
    print(f"{what}: after {took:.1f} s", flush=True)
    return took


def is_lost(pc: Pc, of: str, others: str) -> bool:
    """Does the report of `of`, as it arrives on `pc`, say that `others` is silent?"""
    level, message = pc.seen()["hosts"].get(f"rfly_bridge_{of}: hosts", [0, ""])
    return level == 2 and others in message


def lines(pcs: list[Pc]) -> None:
    load = psutil.cpu_percent(interval=5.0)
    for pc in pcs:
        seen = pc.seen()
        print(f"  {pc.name}: {seen['vehicles']} vehicles, raw {seen['raw']}, compressed {seen['compressed']}")
    print(f"  CPU {load:.0f} % of {psutil.cpu_count()} cores; bytes sent by each PC:", flush=True)
    for pc in pcs:
        counters = subprocess.run(
            ["ip", "-j", "-s", "link", "show", f"port{pc.name[2:]}"], check=True, capture_output=True, text=True
        )
        received = json.loads(counters.stdout)[0]["stats64"]["rx"]
        print(f"    {pc.name}: {received['bytes'] / 1e6:.0f} MB", flush=True)


def main(count: int, parameters: list[str]) -> None:
    directory = Path(mkdtemp(prefix="fleet_"))
    print(f"{len(PCS)} PCs with {count} vehicles each; logs are in {directory}")
    hosts = "".join(
        f"  pc{n}: {{bridge: 10.77.0.{n}, START_INDEX: {1 + (n - 1) * count}, VehicleNum: {count}, config: pc{n}.json}}\n"
        for n in PCS
    )
    (directory / "fleet.yaml").write_text(f"hosts:\n{hosts}")
    pcs = [Pc(directory, n, count, parameters) for n in PCS]
    total = count * len(PCS)
    with ExitStack() as stack:
        for pc in pcs:
            for process in (pc.router, pc.emulator, pc.bridge, pc.watch):
                stack.callback(process.kill)
        for pc in pcs:
            pc.router.start().wait_for_output("Zenoh can be reached at" if ROS2DDS else "Zenoh router on ")
            pc.emulator.start().wait_for_output(LISTENS)
            pc.bridge.start()
            pc.watch.start()
        everywhere = lambda: all(pc.seen()["vehicles"] == total for pc in pcs)  # noqa: E731
        wait(f"the state of all {total} vehicles on each PC", everywhere)
        names = [f"rfly_bridge_{pc.name}: hosts" for pc in pcs]
        all_ok = lambda: all(pc.seen()["hosts"].get(name, [3])[0] == 0 for pc in pcs for name in names)  # noqa: E731
        wait("every bridge hears all others", all_ok)
        wait("compressed images of the next PC on each", lambda: all(pc.seen()["compressed"] for pc in pcs))
        before = [pc.seen() for pc in pcs]
        lines(pcs)
        for pc, old in zip(pcs, before, strict=True):
            new = pc.seen()
            rate = (new["compressed"] - old["compressed"]) / (new["at"] - old["at"])
            print(f"  {pc.name}: compressed images at {rate:.1f} Hz")
            assert new["raw"] == 0, "raw images stay on their PC"
            assert 0 < rate < 7, "compressed images pass at 5 Hz"

        pcs[1].bridge.kill()
        lost = lambda: all(is_lost(pcs[n], pcs[n].name, "pc2") for n in (0, 2, 3))  # noqa: E731
        took = wait("the loss of the bridge of pc2 in /diagnostics of all others", lost)
        assert took < LOSS_S + 0.5, "the watch looks twice a second"
        pcs[1].bridge.start()
        wait("all is heard again", lambda: all_ok() and everywhere())

        pcs[2].router.kill()
        took = wait("the loss of the router of pc3 seen by pc1", lambda: is_lost(pcs[0], "pc1", "pc3"))
        assert took < LOSS_S + 0.5
        wait("pc3 itself misses all others", lambda: is_lost(pcs[2], "pc3", "pc1 silent"))
        pcs[2].router.start()
        wait("all is heard again", lambda: all_ok() and everywhere())
        lines(pcs)
    print("passed")


if sys.argv[1:2] == ["watch"]:
    watch(int(sys.argv[2]), int(sys.argv[3]))
else:
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, FEW if sys.argv[2:] == ["few"] else [])
