"""The operator's hand, on the emulator and on real PX4 (`RFLY_PX4`, test_px4.py): a controller that asks for OFFBOARD without end does
not keep a landing from the vehicle, and a take-off with the defaults of its request goes up."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from mavros import SERVICES
from peer import Peer
from peer.services import Client
from test_px4 import KINDS, running

PERIOD = 0.05
PROMPT = 3.0
"""s. A landing was 4 to 13 s late when it waited behind the refused requests."""


class Impatient:
    """A controller that calls `set_mode` at 20 Hz and reads no answer, as public ones do."""

    def __init__(self, domain_id: int):
        self._peer = Peer(domain_id)
        self._client = Client(self._peer, "/mavros/set_mode", SERVICES["set_mode"]).wait()
        self.sent, self._ends = 0, threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._ends.wait(PERIOD):
            self._client.send({"custom_mode": "OFFBOARD"})
            self.sent += 1

    def __enter__(self) -> Impatient:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()
        self._peer.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_landing_is_obeyed_while_a_controller_asks_for_offboard(kind, domain_id, simulator_ports, tmp_path):
    with running(kind, tmp_path, domain_id) as (_, flight):
        vehicle = flight.vehicle
        vehicle.wait_ready()
        vehicle.patient()
        vehicle.take_off(4.0)
        vehicle.insist("set_mode", custom_mode="AUTO.LOITER")
        vehicle.end_streams()
        vehicle.insist("param/set", param_id="COM_OF_LOSS_T", value={"type": 3, "double_value": 0.5})
        for _ in range(60):  # until its last setpoints are too old for OFFBOARD
            vehicle.next("local_position/pose")
        with Impatient(domain_id) as controller:
            vehicle.peer.wait_for(lambda: controller.sent > 150, "many requests", 60.0)
            begin = time.monotonic()
            answer = flight.call("set_mode", vehicle.call, custom_mode="AUTO.LAND")
            took = time.monotonic() - begin
            assert answer.mode_sent and took < PROMPT, (took, vehicle.texts()[-5:])
            vehicle.wait_state(mode="AUTO.LAND")
            vehicle.wait_state(90.0, armed=False)
        assert controller.sent > 150
        flight.note(f"landed; AUTO.LAND was answered in {took:.2f} s, {controller.sent} requests for OFFBOARD were sent")


@pytest.mark.parametrize("kind", KINDS)
def test_a_take_off_with_the_defaults_of_its_request_goes_up_here(kind, domain_id, simulator_ports, tmp_path):
    with running(kind, tmp_path, domain_id) as (_, flight):
        vehicle = flight.vehicle
        vehicle.wait_ready()
        start = vehicle.position()
        vehicle.insist("set_mode", custom_mode="AUTO.LOITER")
        vehicle.wait_armed()
        amsl = vehicle.last("altitude").amsl
        answer = flight.call("cmd/takeoff", vehicle.call, altitude=amsl + 4.0)
        assert answer.success, (answer, vehicle.texts()[-5:])
        vehicle.peer.wait_for(lambda: vehicle.position()[2] - start[2] > 3.0, "3 m of height", 60.0)
        assert np.linalg.norm((vehicle.position() - start)[:2]) < 1.5, vehicle.position()
        vehicle.land()
