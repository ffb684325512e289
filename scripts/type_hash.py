#!/usr/bin/env python3
"""Prints rows of src/ros/dds/type_hash.rs (REP 2011, computed by rosbags): for the messages in msg/, or those named.

.venv/bin/python scripts/type_hash.py [mavros_msgs/msg/State mavros_msgs/srv/SetMode_Request ...]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "e2e"))
from peer.messages import JAZZY, OWN_MSGS

for name in sorted(sys.argv[1:] or OWN_MSGS):
    print(f'    ("{name}", "{JAZZY.hash_rihs01(name).removeprefix("RIHS01_")}"),')
