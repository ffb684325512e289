"""Calls the vendor's public Python client, one call for each line of standard input.

A program of its own, because the client's threads never end. A line is JSON: client, method or attribute (`VisSensor.0.CameraFOV` is
one of an entry of a list), arguments or value; an argument `{"of": "VisSensor.0"}` is that attribute of the client. `done` and the
result, as far as JSON has it, are written when the call has returned. The method `new` makes another object of the client.

    python vendor_calls.py SDK_DIRECTORY [DIRECTORY_OF_MAPS]
"""

import importlib
import json
import os
import sys

import numpy

CLIENTS = {
    "ue": ("UE4CtrlAPI", "UE4CtrlAPI"),
    "dll": ("DllSimCtrlAPI", "DllSimCtrlAPI"),
    "req": ("ReqCopterSim", "ReqCopterSim"),
    "mav": ("PX4MavCtrlV4", "PX4MavCtrler"),
    "point": ("VehicleApi", "Vehicle"),
    "vision": ("VisionCaptureApi", "VisionCaptureApi"),
}

# The client calls it by the name that it had before NumPy 2.
if not hasattr(numpy, "trapz"):
    numpy.trapz = numpy.trapezoid


def plain(value):
    """What JSON has no form for becomes its fields."""
    fields = getattr(value, "__dict__", None)
    return {k: v for k, v in fields.items() if not k.startswith("_")} if fields else str(value)


def reach(value, path):
    """The attribute or entry at the end of a path."""
    for part in path:
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value


def main() -> None:
    directory, *maps = sys.argv[1:]
    for part in ("", "ue", "ctrl", "swarm", "vision"):
        for root in (directory, os.path.join(directory, "RflySimSDK")):
            sys.path.insert(0, os.path.join(root, part))
    # The client looks for terrain in the first of them.
    sys.path[:0] = maps
    clients = {}
    for line in sys.stdin:
        name, member, *arguments = json.loads(line)
        module, kind = CLIENTS[name]
        if name not in clients or member == "new":
            new = arguments if member == "new" else []
            clients[name] = getattr(importlib.import_module(module), kind)(*new)
        value = None
        if member != "new":
            *path, last = member.split(".")
            value = reach(clients[name], [*path, last])
            if callable(value):
                given = [reach(clients[name], a["of"].split(".")) if isinstance(a, dict) else a for a in arguments]
                value = value(*given)
            elif arguments:
                setattr(reach(clients[name], path), last, arguments[0])
        print("\ndone " + json.dumps(value, default=plain), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
