"""Runs the vendor's public Python client against a simulator and writes down what it received.

A program of its own, because the client's threads never end. Nothing of the client is copied here: it is imported from
the directory in the first argument and used through its documented calls.

    python vendor_driver.py SDK_DIRECTORY CONFIG_JSON TRANSPORT FRAMES SECONDS OUTPUT.npz
"""

import importlib
import json
import os
import sys
import threading
import time

import numpy as np

LISTS = (30, 31)
# Two seconds at 200 Hz, if none is missed.
IMU_SAMPLES = 400


def find_module(directory: str):
    """Imports `VisionCaptureApi` from the directory or from the place it has in the vendor's package."""
    for part in ("", "vision", os.path.join("RflySimSDK", "vision")):
        path = os.path.join(directory, part)
        if os.path.exists(os.path.join(path, "VisionCaptureApi.py")):
            # The client of December 2025 imports those of its neighbours.
            sys.path[:0] = [path, *(os.path.join(os.path.dirname(path), name) for name in ("ctrl", "ue"))]
            return importlib.import_module("VisionCaptureApi")
    raise ImportError(f"no VisionCaptureApi.py in {directory}")


def fingerprint(value):
    """Changes whenever the client has stored a new frame."""
    return (id(value), float(np.ravel(getattr(value, "TimeStamp", 0.0))[0]))


def freeze(value):
    """Copies a stored frame into an array that outlives the client's buffers."""
    if hasattr(value, "Distance"):
        parts = (value.Distance, value.CopterID, value.RayStart, value.Ang, value.ImpactPoint, value.BoxOri)
        return np.concatenate([np.asarray(p, np.float64).ravel() for p in parts])
    return np.array(value, copy=True)


def watch_imu(client, samples: dict) -> None:
    """Collects IMU samples; the client keeps only the newest and changes it field by field."""
    while True:
        seq = client.imu.seq
        if client.hasIMUData and seq not in samples:
            time.sleep(0.001)
            values = [client.imu.timestmp, *client.imu.acc, *client.imu.rate]
            if client.imu.seq == seq:
                samples[seq] = values
        time.sleep(0.0005)


def main() -> None:
    """Collects up to FRAMES frames of each sensor within SECONDS."""
    directory, config, transport, frames, seconds, output = sys.argv[1:7]
    frames, seconds = int(frames), float(seconds)
    died = []
    threading.excepthook = lambda args: died.append(f"{args.exc_type.__name__}: {args.exc_value}")

    client = find_module(directory).VisionCaptureApi()
    if not client.jsonLoad(int(transport), config):
        raise SystemExit("jsonLoad failed")
    if not client.sendReqToUE4(0, "127.0.0.1"):
        raise SystemExit("sendReqToUE4 failed")
    client.startImgCap()
    client.sendImuReqCopterSim(1)

    found: dict[str, np.ndarray] = {}
    stamps: list[list[float]] = [[] for _ in client.VisSensor]
    last = [None] * len(client.VisSensor)
    imu: dict[int, list[float]] = {}
    threading.Thread(target=watch_imu, args=(client, imu), daemon=True).start()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(len(s) < frames for s in stamps):
        for index, sensor in enumerate(client.VisSensor):
            value = client.Img[index]
            if not client.hasData[index] or fingerprint(value) == last[index] or len(stamps[index]) >= frames:
                continue
            # The client stores the image first and its time stamp a moment later.
            time.sleep(0.002)
            stamp = float(np.ravel(client.timeStmp[index])[0])
            with client.Img_lock[index]:
                copy = freeze(client.Img[index])
            if fingerprint(client.Img[index]) != fingerprint(value):
                continue
            last[index] = fingerprint(value)
            if stamps[index] and stamps[index][-1] == stamp and sensor.TypeID not in LISTS:
                continue
            found[f"frame_{sensor.SeqID}_{len(stamps[index])}"] = copy
            stamps[index].append(stamp)
        time.sleep(0.001)
    while time.monotonic() < deadline and len(imu) < IMU_SAMPLES:
        time.sleep(0.01)

    found["imu"] = np.array([[seq, *values] for seq, values in sorted(dict(imu).items())])
    report = {
        "sensors": [
            {
                "seq_id": sensor.SeqID,
                "type_id": sensor.TypeID,
                "transport": sensor.SendProtocol[0],
                "stamps": stamps[index],
            }
            for index, sensor in enumerate(client.VisSensor)
        ],
        "clocks": [
            {"id": c.copterID, "local": bool(c.isCopterSimOnPC), "start": c.pyStartTimeStmp}
            for c in client.RflyTimeVect
        ],
        "died": died,
    }
    np.savez(output, report=np.frombuffer(json.dumps(report).encode(), np.uint8), **found)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
