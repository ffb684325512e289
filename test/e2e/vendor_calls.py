"""Calls the vendor's public Python client, one call for each line of standard input.

A program of its own, because the client's threads never end. A line is JSON: client, method or attribute, arguments or value; `done`
and the result, as far as JSON has it, are written when the call has returned.

    python vendor_calls.py SDK_DIRECTORY
"""

import importlib
import json
import os
import sys

CLIENTS = {
    "ue": ("ue", "UE4CtrlAPI", "UE4CtrlAPI"),
    "dll": ("ctrl", "DllSimCtrlAPI", "DllSimCtrlAPI"),
    "req": ("ctrl", "ReqCopterSim", "ReqCopterSim"),
}


def plain(value):
    """What JSON has no form for becomes its fields."""
    fields = getattr(value, "__dict__", None)
    return {k: v for k, v in fields.items() if not k.startswith("_")} if fields else str(value)


def main() -> None:
    directory = sys.argv[1]
    for part in ("", "ue", "ctrl"):
        for root in (directory, os.path.join(directory, "RflySimSDK")):
            sys.path.insert(0, os.path.join(root, part))
    clients = {}
    for line in sys.stdin:
        name, member, *arguments = json.loads(line)
        if name not in clients:
            _, module, kind = CLIENTS[name]
            clients[name] = getattr(importlib.import_module(module), kind)()
        value = getattr(clients[name], member)
        if callable(value):
            value = value(*arguments)
        elif arguments:
            setattr(clients[name], member, arguments[0])
        print("\ndone " + json.dumps(value, default=plain), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
