#!/usr/bin/env python3
"""Prints lines of test/fixtures/type_hashes.txt (REP 2016, computed by rosbags) for what is named.

.venv/bin/python scripts/type_hash.py mavros_msgs/msg/State mavros_msgs/srv/SetMode simulation_interfaces/action/SimulateSteps ...
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "e2e"))
from peer.messages import JAZZY

CARRIERS = ("_SendGoal_Request", "_SendGoal_Response", "_GetResult_Request", "_GetResult_Response", "_FeedbackMessage")
PARTS = {"msg": ("",), "srv": ("_Request", "_Response"), "action": CARRIERS}

for name in sorted(sys.argv[1:]):
    for part in PARTS[name.split("/")[1]]:
        print(f"{name}{part} {JAZZY.hash_rihs01(name + part).removeprefix('RIHS01_')}")
