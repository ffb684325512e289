#!/usr/bin/env python3
"""The measurement of scripts/bench_ros.sh, which builds what this needs and starts it.

Publishers have the profiles that the launch files give to the bridge (config/*_bridge.xml), the subscriber has none.

(a) Whole path: the emulator sends one raw camera at 30 Hz; the bridge, or an rclcpp node that only receives, assembles
    and publishes, serves one default rclcpp subscriber. CPU time is that of the whole process.
(b) Publishing alone: an image from a buffer, through the bridge's facade on rclrs, and through rclcpp.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HZ, WARM_UP = 30, 3.0
CONFIG = Path(__file__).resolve().parents[1] / "config"
PROFILES = {
    "CYCLONEDDS_URI": f"file://{CONFIG}/cyclonedds_bridge.xml",
    "FASTRTPS_DEFAULT_PROFILES_FILE": f"{CONFIG}/fastdds_bridge.xml",
    "FASTDDS_DEFAULT_PROFILES_FILE": f"{CONFIG}/fastdds_bridge.xml",
}
TOPIC = "/rflysim/sensor0/img_rgb"
RMWS = ("rmw_cyclonedds_cpp", "rmw_fastrtps_cpp")
# The second does what the floor does; the first also has TF and the IMU of its vehicle, as by default.
SUBJECTS = {
    "floor": None,
    "bridge, camera only": ["-p", "imu.enabled:=false", "-p", "tf.publish:=false"],
    "bridge, with IMU and TF": [],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bridge", "emulator", "floor", "source"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--size", action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--rmw", action="append", choices=RMWS)
    options = parser.parse_args()
    sizes = [tuple(map(int, size.split("x"))) for size in options.size or ["640x480", "1280x720", "1920x1080"]]
    rmws = [rmw for rmw in options.rmw or RMWS if installed(rmw)]
    print(
        f"ROS 2 {os.environ.get('ROS_DISTRO')}, {os.cpu_count()} cores, {options.rounds} rounds of {options.seconds:g} s "
        f"in turns, medians (min to max); load before: {os.getloadavg()[0]:.1f}"
    )
    whole_path(options, rmws, sizes)
    publishing(options, rmws, sizes)


def installed(rmw: str) -> bool:
    return any(Path(prefix, "share", rmw).is_dir() for prefix in os.environ["AMENT_PREFIX_PATH"].split(":"))


def shown(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ms ({min(values):.2f} to {max(values):.2f})"


def whole_path(options, rmws, sizes) -> None:
    print(f"\n(a) one raw camera at {HZ} Hz from UDP to one subscriber: CPU per image\n")
    print("| RMW | size | " + " | ".join(SUBJECTS) + " | ratio, camera only | ratio, with IMU and TF | lost |")
    print("|---|---|" + "---:|" * (len(SUBJECTS) + 2) + "---|", flush=True)
    for rmw in rmws:
        for width, height in sizes:
            cpu: dict[str, list[float]] = {name: [] for name in SUBJECTS}
            lost = dict.fromkeys(SUBJECTS, 0)
            for _ in range(options.rounds):
                for name in SUBJECTS:
                    spent, missing = one_run(options, rmw, width, height, SUBJECTS[name])
                    cpu[name].append(spent)
                    lost[name] += missing
            medians = [statistics.median(values) for values in cpu.values()]
            cells = [shown(values) for values in cpu.values()]
            ratios = [f"{median / medians[0]:.2f}" for median in medians[1:]]
            losses = ", ".join(map(str, lost.values()))
            print(f"| {rmw} | {width}x{height} | {' | '.join(cells + ratios)} | {losses} |", flush=True)


def one_run(options, rmw: str, width: int, height: int, parameters: list[str] | None) -> tuple[float, int]:
    """CPU milliseconds per image, and images that did not reach the subscriber."""
    environment = os.environ | {"RMW_IMPLEMENTATION": rmw}
    with tempfile.TemporaryDirectory() as directory:
        config = write_config(Path(directory), width, height)
        arguments = ["--ros-args", "--log-level", "warn", "-p", f"config:={config}", "-p", "time.mode:=sim"]
        arguments += ["-p", "transport_mode:=file"]
        request = the_request(options, arguments, environment) if parameters is None else None
        if parameters is None:
            command = [options.floor, "bridge", width, height]
        else:
            command = [options.bridge, *arguments, *parameters]
        control = free_port()
        emulator = [options.emulator, "--pattern", "--control", control]
        counter = [options.floor, "count", TOPIC]
        with (
            process(emulator, environment),
            process(command, environment | PROFILES) as subject,
            process(counter, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as counting,
        ):
            time.sleep(1)
            if request:
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                    sender.sendto(request, ("127.0.0.1", 20010))
            time.sleep(WARM_UP)

            def now() -> tuple[float, int, int]:
                counting.stdin.write("\n")
                counting.stdin.flush()
                return cpu_seconds(subject.pid), int(counting.stdout.readline()), frames(control)

            before = now()
            time.sleep(options.seconds)
            after = now()
            spent, received, sent = (b - a for a, b in zip(before, after, strict=True))
    if received < 0.5 * HZ * options.seconds:
        sys.exit(f"bench_ros: only {received} images of {sent} arrived from {command[0]} under {rmw}")
    # One image may be on its way at either end.
    return spent * 1e3 / received, max(0, sent - received - 1)


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def frames(control: int) -> int:
    """Images that the emulator has sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(10)
        asking.sendto(b"stats", ("127.0.0.1", control))
        return sum(sensor["frames"] for sensor in json.loads(asking.recv(65536))["sensors"].values())


def the_request(options, arguments: list[str], environment: dict[str, str]) -> bytes:
    """What the bridge asks the simulator for, so that the floor gets the same stream."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as simulator:
        simulator.bind(("127.0.0.1", 20010))
        simulator.settimeout(10)
        with process([options.bridge, *arguments, "-p", "imu.enabled:=false"], environment):
            while len(request := simulator.recv(65536)) not in (92, 144):  # the layouts of a camera
                pass
    return request


def publishing(options, rmws, sizes) -> None:
    print("\n(b) publishing from a buffer at 30 Hz to one subscriber: CPU per image\n")
    print("| RMW | size | rclcpp | rclrs, paced (default) | rclrs, unpaced | ratio paced | ratio unpaced |")
    print("|---|---|---:|---:|---:|---:|---:|", flush=True)
    count = int(options.seconds * HZ)
    for rmw in rmws:
        for width, height in sizes:
            wanted = [str(v) for v in (width, height, HZ, count)]
            subjects = {
                "rclcpp": ([options.floor, "publish", *wanted], {}),
                "paced": ([options.source, *wanted], {}),
                "unpaced": ([options.source, *wanted], {"RFLY_PACING_BYTES_PER_S": "0"}),
            }
            cpu: dict[str, list[float]] = {name: [] for name in subjects}
            for _ in range(options.rounds):
                for name, (command, extra) in subjects.items():
                    environment = os.environ | {"RMW_IMPLEMENTATION": rmw}
                    with process(
                        [options.floor, "count", "/image"], environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                    ):
                        done = subprocess.run(
                            command, env=environment | PROFILES | extra, capture_output=True, text=True, timeout=120, check=True
                        )
                    cpu[name].append(json.loads(done.stdout)["cpu_ms_per_frame"])
            medians = [statistics.median(values) for values in cpu.values()]
            cells = [shown(values) for values in cpu.values()] + [f"{m / medians[0]:.2f}" for m in medians[1:]]
            print(f"| {rmw} | {width}x{height} | {' | '.join(cells)} |", flush=True)


@contextmanager
def process(command: list, environment: dict[str, str], **options) -> Iterator[subprocess.Popen]:
    """Runs a program; it is ended with the block."""
    options = {"stdout": subprocess.DEVNULL, **options}
    running = subprocess.Popen([str(part) for part in command], env=environment, **options)
    try:
        yield running
        if running.poll() is not None:
            sys.exit(f"bench_ros: {command[0]} ended with {running.returncode}")
    finally:
        running.kill()
        running.wait()


def cpu_seconds(pid: int) -> float:
    """Processor time of all threads so far, to the nanosecond."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # ended meanwhile
            continue
    return total * 1e-9


def write_config(directory: Path, width: int, height: int) -> Path:
    """One RGB camera over UDP, raw."""
    sensor = {
        "SeqID": 0, "TypeID": 1, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": width, "DataHeight": height,
        "DataCheckFreq": HZ, "SendProtocol": [2, 127, 0, 0, 1, 9999, 0, 0], "CameraFOV": 90,
        "SensorPosXYZ": [0.3, 0, 0], "SensorAngEular": [0, 0, 0], "otherParams": [0] * 8,
    }  # fmt: skip
    path = directory / "Config.json"
    path.write_text(json.dumps({"VisionSensors": [sensor]}))
    return path


main()
