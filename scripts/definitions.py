#!/usr/bin/env python3
"""Prints src/msgs/definitions.txt: the fields of every message type of src/msgs/table.rs and of all that they contain, from
rosbags and from msg/.

.venv/bin/python scripts/definitions.py >src/msgs/definitions.txt
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "e2e"))
from peer.messages import JAZZY

SEPARATOR = "=" * 80


def listed() -> list[str]:
    """The message types of the table."""
    text = (ROOT / "src/msgs/table.rs").read_text().split("every_service_type")[0]
    packages = re.findall(r"^ {12}(\w+) \{\n(.*?)^ {12}\}", text, re.MULTILINE | re.DOTALL)
    return [f"{package}/msg/{name}" for package, rows in packages for name in re.findall(r"^ {16}(\w+) ", rows, re.MULTILINE)]


definitions: dict[str, str] = {}
for name in listed():
    own, *others = JAZZY.generate_msgdef(name, ros_version=2)[0].split(f"{SEPARATOR}\n")
    definitions[name.replace("/msg/", "/")] = own
    for other in others:
        head, _, fields = other.partition("\n")
        definitions.setdefault(head.removeprefix("MSG: "), fields)

for name, fields in sorted(definitions.items()):
    print(f"{SEPARATOR}\nMSG: {name}\n{fields.strip()}")
