#!/usr/bin/env python3
"""Prints the rows of src/ros/dds/type_hash.rs for the messages in msg/ (REP 2011, computed by rosbags).

.venv/bin/python scripts/type_hash.py
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "e2e"))
from peer.messages import JAZZY, OWN_MSGS

for name in sorted(OWN_MSGS):
    print(f'    ("{name}", "{JAZZY.hash_rihs01(name).removeprefix("RIHS01_")}"),')
