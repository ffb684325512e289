"""Images on rmw_zenoh_cpp, which maps the bridge's shared memory if it is configured to (scripts/zenoh.sh ros2; docs/zenoh.md)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from backend import MIDDLEWARE
from programs import Programs
from truth import Truth, true_image

from sensors import RAW, with_defaults

pytestmark = pytest.mark.skipif(MIDDLEWARE != "zenoh", reason="looks at what only Zenoh has")

CAMERA = with_defaults(0, 1, RAW, width=320, height=240, rate=20)
READER = Path(__file__).parent / "count_mapped.py"
SHARED_MB = 4


@pytest.mark.parametrize("shared_memory", [False, True], ids=["its default", "shared memory enabled"])
def test_images_come_whole_and_in_shared_memory_where_it_is_enabled(tmp_path, domain_id, simulator_ports, shared_memory):
    parameters = {"transport_mode": "file", "time.mode": "sim", "zenoh.shared_memory_mb": SHARED_MB, "diagnostics.period_s": 0.2}
    with Programs(tmp_path, domain_id, [CAMERA], parameters=parameters) as programs:
        around = {**os.environ, "ZENOH_CONFIG_OVERRIDE": "transport/shared_memory/enabled=true"} if shared_memory else dict(os.environ)
        command = [sys.executable, READER, CAMERA.topic, "20", str(tmp_path), str(programs.bridge.pid)]
        done = subprocess.run(command, env=around, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
        truth = Truth(programs.truth_file, programs.truth_frames)
    frames = truth.frames[CAMERA.seq]
    assert len(found["stamps"]) == 20
    for number, stamp in enumerate(found["stamps"]):
        image = np.fromfile(tmp_path / f"{number}.raw", np.uint8).reshape(CAMERA.height, CAMERA.width, 3)
        assert np.array_equal(image, true_image(CAMERA, frames[stamp].payload()))
    said = "through a socket" in programs.bridge.output()
    if shared_memory:
        assert max(found["mapped"]) >= SHARED_MB * 1_000_000 and not said
    else:
        assert not found["mapped"] and said
