"""Asks the simulator for its objects through the vendor's public Python client, and prints what that client has then.

A program of its own, because the client's threads never end.

    python vendor_reports.py SDK_DIRECTORY SECONDS NAME...
"""

import json
import os
import sys
import time


def main() -> None:
    """Waits until the client knows as many objects as were asked for, or until time is up."""
    directory, seconds, *names = sys.argv[1:]
    for part in ("", "ue", os.path.join("RflySimSDK", "ue")):
        if os.path.exists(os.path.join(directory, part, "UE4CtrlAPI.py")):
            sys.path.insert(0, os.path.join(directory, part))
    import UE4CtrlAPI

    client = UE4CtrlAPI.UE4CtrlAPI()
    client.initUE4MsgRec()
    client.reqCamCoptObj(2, names)
    deadline = time.monotonic() + float(seconds)
    while time.monotonic() < deadline and len(client.ObjDataVect) < len(names):
        time.sleep(0.05)
    seen = [{"seq_id": o.seqID, "name": str(o.ObjName).strip("\0"), "position": list(o.PosUE)} for o in client.ObjDataVect]
    print("\n" + json.dumps(seen))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
