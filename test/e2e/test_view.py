"""The page in a real browser, and the same port for clients of the Foxglove protocol (docs/view.md)."""

from __future__ import annotations

import http.client
import struct
from contextlib import ExitStack

import numpy as np
import pytest
import websocket
from browser import CHROMIUM, Browser, wait_for
from foxglove import Client
from programs import Programs, free_port

from sensors import DEPTH, LIDAR, RGB, with_defaults

IMAGE, CLOUD = "/rflysim/sensor0/img_rgb", "/rflysim/sensor8/vehicle_lidar"
ORIGIN = "http://allowed.example"


@pytest.fixture(scope="module", params=[False, True], ids=["watch", "control"])
def viewed(request, tmp_path_factory, domain_id):
    """Emulator and bridge with a page, without and with control."""
    port = free_port()
    parameters = {"view.port": port, "view.control": request.param, "view.origins": [ORIGIN]}
    directory = tmp_path_factory.mktemp("view")
    with Programs(directory, domain_id, SENSORS, parameters=parameters) as programs:
        programs.port, programs.control = port, request.param
        yield programs
