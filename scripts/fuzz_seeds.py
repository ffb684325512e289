"""Writes start inputs for the fuzz targets, made from the fixtures, to the directory given as argument."""
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
golden = root / "test" / "fixtures" / "golden"
out = pathlib.Path(sys.argv[1])


def write(target, name, content):
    folder = out / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}".replace("/", "_").replace(" ", "_")).write_bytes(content)


for path in sorted(golden.glob("*.json")):
    for vector in json.loads(path.read_text()):
        name = f"{path.stem}-{vector['name']}"
        packets = list(vector.get("input_hex_packets", []))
        packets += [h for h in (vector.get("hex"), vector.get("input_hex_region")) if h]
        for number, text in enumerate(packets):
            packet = bytes.fromhex(text)
            write("datagram", f"{name}-{number}", packet)
            if path.stem == "recv_ctrl_udp" and len(packet) < 256:
                steps = (bytes([3, len(packet)]) + packet + bytes([6, 100])) * 3
                for link in (2, 3):
                    write("vehicle", f"{name}-{number}-{link}", bytes([link]) + steps)
            for header in (24, 32):  # what a fragment carries: a cloud, a list, an image file
                if path.stem.startswith("recv_") and len(packet) > header:
                    write("datagram", f"{name}-{number}-{header}", packet[header:])
                    kinds = [1, 2, 3, 4, 5, 7, 8, 9, 20, 21, 22, 23, 30, 31, 40, 41]  # `SensorKind::ALL`
                    kind = (vector.get("args") or {}).get("TypeID")
                    for mode in range(3) if kind in kinds else ():
                        write("sensors", f"{name}-{number}-{mode}", bytes([kinds.index(kind), mode]) + packet[header:])
                    if packet[header : header + 2] in (b"\x89P", b"\xff\xd8"):
                        write("codec", f"{name}-{number}", packet[header:])
        args = vector.get("args")
        config = (args.get("config") or args.get("text")) if isinstance(args, dict) else None
        if isinstance(config, str):
            write("config", name, config.encode())

for name in ("to_fcu", "from_fcu"):  # frames of MAVLink, one seed for each message
    cases = json.loads((golden / "mavros" / f"{name}.json").read_text())["cases"]
    for case in cases:
        for frame in case.get("frames", []):
            packet = bytes.fromhex(frame if isinstance(frame, str) else frame["hex"])
            number = packet[7] | packet[8] << 8 | packet[9] << 16 if packet[0] == 0xFD else packet[5]
            write("mavlink", f"{name}-{number}", packet)
            if packet[0] == 0xFD and number < 1 << 16:  # from a vehicle that is connected; see the target
                payload = packet[10 : 10 + packet[1]]
                step = bytes([2]) + number.to_bytes(2, "little") + bytes([len(payload)]) + payload + bytes([6, 100])
                heartbeat = bytes([0, 0, 9]) + bytes.fromhex("00000600020c9d0403")
                write("vehicle", f"{name}-{number}", bytes([8]) + heartbeat + step * 3)

for mode in range(4):  # a clock that runs, is wrong once, and runs again
    tick, wild = bytes([0, 5]) + bytes(8), bytes([6, 5]) + bytes.fromhex("00000000205fa042")
    write("clock", f"mode-{mode}", bytes([mode]) + tick * 20 + wild + tick * 20)

for path in sorted((root / "config").glob("*.json")):
    write("config", path.name, path.read_bytes())
for path in sorted((root / "config").glob("*.yaml")):
    write("params", path.name, path.read_bytes())
write("params", "args", b"-p imu.rate_hz:=400 -r imu:=imu/data_raw -r __ns:=/a --params-file f.yaml -- x")
write("params", "file", b"/**:\n  ros__parameters:\n    imu: {rate_hz: 400}\n    config: [a.json, b.json]\n")
for kind in range(8):
    stamp = bytes([0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0]) + b"map\0"
    write("cdr", f"header-{kind}", bytes([kind]) + stamp + bytes(400))
    write("cdr", f"array-{kind}", bytes([kind, 0, 1, 0, 0, 1, 0, 0, 0]) + stamp[4:] + bytes(400))
# Frames in order, reversed and interleaved, see the target for the meaning of the bytes.
script = [(0, frame, seq, 0) for frame in range(16) for seq in range(8)]
write("fragments", "in-order", bytes(b for step in script for b in step))
write("fragments", "reversed", bytes(b for step in script[::-1] for b in step))
pairs = [(k, f + (s % 2), s // 2, 9) for f in range(0, 15, 2) for s in range(16) for k in (0, 7)]
write("fragments", "interleaved", bytes(b for step in pairs for b in step))
# What a vehicle takes from users, by number: zeros are a message of most types.
for number in range(64):
    for kind in (0, 1):
        step = bytes([kind, number]) + (400).to_bytes(2, "little") + bytes(400)
        heartbeat = bytes([2, 0, 9]) + bytes.fromhex("00000600020c9d0403")
        write("requests", f"{kind}-{number}", bytes([8]) + heartbeat + step + bytes([3, 100]) + step)
# Blocks of shared memory: every recording, for every kind of sensor that could be meant, with each mischief.
for vector in json.loads((golden / "recv_shm.json").read_text()):
    region = bytes.fromhex(vector["input_hex_region"])
    for kind in range(16):
        for mischief in (0, 1, 2, 3):
            write("blocks", f"{vector['name']}-{kind}-{mischief}", bytes([kind, mischief, 100]) + region[:1000])

# Every parameter that the reference lists.
parameters = [f"{name} 1" for name in re.findall(r"^\| `([a-z0-9_.<>]+)`", (root / "docs" / "parameters.md").read_text(), re.M)]
for number in range(0, len(parameters), 8):
    lines = [line.replace("<n>", "0") for line in parameters[number : number + 8]]
    write("recording", str(number), "\n".join(lines).encode())
