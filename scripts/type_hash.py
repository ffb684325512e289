#!/usr/bin/env python3
"""Prints rows of src/msgs/table.rs (REP 2011, computed by rosbags): for what is in msg/ and srv/, or what is named.

.venv/bin/python scripts/type_hash.py [mavros_msgs/msg/State mavros_msgs/srv/SetMode ...]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "e2e"))
from peer.messages import JAZZY, OWN_MSGS, OWN_SERVICES


def hash_of(name: str) -> str:
    return f'"{JAZZY.hash_rihs01(name).removeprefix("RIHS01_")}"'


def row(name: str) -> str:
    _, kind, short = name.split("/")
    if kind == "srv":
        return f"{short} {hash_of(name + '_Request')} {hash_of(name + '_Response')};"
    _, fields = JAZZY.fielddefs[name]
    header = " header" if fields and fields[0][1][1] == "std_msgs/msg/Header" else ""
    return f"{short}{header} {hash_of(name)};"


for name in sorted(sys.argv[1:] or [*OWN_MSGS, *OWN_SERVICES]):
    print(f"                {row(name)}")
