"""Models, CopterSim and the simulated network: PyPI's Cyclone DDS as client, a socket as CopterSim, datagrams as the vendor
recorded them."""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from contextlib import suppress

import pytest
from backend import environment
from diagnostics import Report
from peer import Peer
from peer.publisher import Publication
from peer.services import Client
from processes import ROOT, Process, binary
from system import System

from sensors import COMPRESSED, with_defaults

GOLDEN = ROOT / "test/fixtures/golden"
MSG, SRV = "rfly_bridge_msgs/msg", "rfly_bridge_msgs/srv"
GROUP = "224.0.0.10"
RANGE = [with_defaults(0, 5, COMPRESSED, rate=5)]


def golden(file: str, name: str) -> bytes:
    """The first datagram of a recorded call."""
    vectors = json.loads((GOLDEN / f"{file}.json").read_text())
    return bytes.fromhex(next(v["hex"] for v in vectors if v["name"] == name))


def member(port: int) -> socket.socket:
    """A socket that gets what is sent to a port of the group."""
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(("", port))
    one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + socket.inet_aton("127.0.0.1"))
    one.settimeout(30)
    return one


def port(number: int) -> socket.socket:
    """A socket on a port of this host."""
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("127.0.0.1", number))
    one.settimeout(30)
    return one


class CopterSim:
    """Stands where CopterSim of vehicle 1 stands, and listens."""

    def __init__(self, directory, domain_id: int, *parameters: str):
        given = ["imu.enabled:=false", *parameters]
        arguments = [word for parameter in given for word in ("-p", parameter)]
        command = [binary("rfly_bridge", "RFLY_BRIDGE"), "--ros-args", *arguments]
        self.bridge = Process("rfly_bridge", command, directory / "bridge.log", environment(domain_id))
        self.peer = Peer(domain_id)
        self.model, self.requests, self.start = port(30100), member(20002), member(20007)

    def __enter__(self) -> CopterSim:
        self.bridge.start()
        return self

    def __exit__(self, *_) -> None:
        assert self.bridge.stop() == 0, self.bridge.tail()
        self.peer.close()
        for one in (self.model, self.requests, self.start):
            one.close()

    def call(self, name: str, kind: str, /, **fields):
        """Calls a service."""
        kind = kind if "/" in kind else f"{SRV}/{kind}"
        return Client(self.peer, f"/rflysim/{name}", kind).wait().call(**fields)

    def publish(self, name: str, kind: str, /, **fields) -> None:
        """Publishes one message."""
        Publication(self.peer, f"/rflysim/{name}", f"{MSG}/{kind}").wait().publish(**fields)

    def told(self, listener: socket.socket, expected: bytes, name: str, kind: str, /, **fields) -> None:
        """Publishes until the listener gets what is expected: the bridge may know the publisher later than that knows it."""
        publication = Publication(self.peer, f"/rflysim/{name}", f"{MSG}/{kind}").wait()
        listener.settimeout(0.2)
        heard = b""
        for _ in range(150):
            publication.publish(**fields)
            with suppress(TimeoutError):
                heard = listener.recv(2048)
            if heard == expected:
                return
        raise AssertionError(f"{name}: {heard.hex()} instead of {expected.hex()}")

    def serves(self, *subscriptions) -> None:
        """Waits until the bridge knows the subscriptions, which know it earlier."""
        reports = self.peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")

        def known() -> bool:
            report = Report(reports.messages[-1]) if reports.messages else None
            return bool(report) and all(report.find(f"topic {one.topic}")["subscribers"] for one in subscriptions)

        self.peer.wait_for(known, "the subscriptions in /diagnostics")

    def latched(self, name: str, kind: str):
        """A latched topic."""
        return self.peer.subscribe(f"/rflysim/{name}", f"{MSG}/{kind}", transient_local=True, depth=1)


@pytest.fixture
def coptersim(tmp_path, domain_id, simulator_ports):
    """A bridge of one vehicle, whose CopterSim is a socket."""
    with CopterSim(tmp_path, domain_id) as coptersim:
        yield coptersim


def numbers(datagram: bytes) -> tuple[list[int], list[float]]:
    """`inSILInts` and `inSILFloats`."""
    words = struct.unpack("<10i20f", datagram)
    assert words[:2] == (1234567897, 1)
    return list(words[2:10]), list(words[10:])


def test_a_motor_fault_is_injected_listed_and_cleared(coptersim):
    faults = coptersim.latched("model/active_faults", "ActiveFaults")
    coptersim.peer.wait_for(lambda: faults.messages, "the latched list")
    assert len(faults.messages[-1].faults) == 0
    answer = coptersim.call("model/inject_fault", "InjectFault", kind="motor", mask=2, parameters=[0.25])
    assert answer.success, answer.message
    ints, floats = numbers(coptersim.model.recv(2048))
    assert ints[:4] == [123450] * 4 and floats[:8] == [1, 0.25, 1, 1, 1, 1, 1, 1]
    coptersim.peer.wait_for(lambda: len(faults.messages[-1].faults) == 1, "the fault in the list")
    active = faults.messages[-1].faults[0]
    assert (active.kind, active.id, active.mask, active.remaining) == ("motor", 123450, 2, -1)
    answer = coptersim.call("model/clear_faults", "ClearFaults")
    assert answer.success and [fault.kind for fault in answer.cleared] == ["motor"]
    assert numbers(coptersim.model.recv(2048))[1][:8] == [1] * 8
    coptersim.peer.wait_for(lambda: len(faults.messages[-1].faults) == 0, "an empty list")


def test_a_client_that_goes_away_leaves_no_fault(coptersim):
    fault = {"kind": "gps", "parameters": [5.0, 1.0, 3.0], "keep_alive": 1.0}
    client = Client(coptersim.peer, "/rflysim/model/inject_fault", f"{SRV}/InjectFault").wait()
    for _ in range(3):
        assert client.call(**fault).success
    assert numbers(coptersim.model.recv(2048))[0][:2] == [123546, 123546], "sent once, kept alive twice"
    ended = numbers(coptersim.model.recv(2048))
    assert ended[1][:3] == [1, 3, 10], "as long as the client repeats its call, nothing ends it"


def test_wrong_faults_are_answered_with_what_would_be_right(coptersim):
    for fields, text in [
        ({"kind": "moter", "parameters": [0.5]}, 'did you mean "motor"?'),
        ({"kind": "wind", "parameters": [1.0]}, "`wind` has x, y, z"),
        ({"kind": "motor", "parameters": [2.0]}, "efficiency must be 0 to 1"),
        ({"kind": "battery_off", "duration": 1.0}, "restore: must be given"),
    ]:
        answer = coptersim.call("model/inject_fault", "InjectFault", **fields)
        assert not answer.success and text in answer.message, answer.message


def test_topics_reach_the_model_byte_for_byte(coptersim):
    floats = [0.5 * i for i in range(20)]
    coptersim.told(coptersim.model, golden("dll_send", "SILIntFloat/-1"), "model/inputs", "ModelInputs", set=0, ints=list(range(1, 9)), floats=floats)
    coptersim.told(coptersim.model, golden("dll_send", "InCtrlExtDoub3/-1"), "model/doubles", "ModelDoubles", set=3, values=[1.25 * i for i in range(28)])
    coptersim.told(coptersim.model, golden("dll_send", "UE2Coptersim/-1"), "model/renderer", "ModelValues", values=[0.1] * 32)
    # NED 2 3 4 and 11 12 13.
    rays = dict(zip(("front", "back", "left", "right", "up", "down"), (5, 6, 7, 8, 9, 0), strict=True))
    coptersim.told(
        coptersim.model, golden("dll_send", "FloatsColl/-1"), "model/rays", "ModelRays", size=1.0, velocity={"x": 3.0, "y": 2.0, "z": -4.0},
        position={"x": 12.0, "y": 11.0, "z": -13.0}, **rays,
    )  # fmt: skip
    with port(50000) as own:
        recorded = golden("dll_send", "custom/2")
        expected = recorded[:4] + struct.pack("<i", 1) + recorded[8:]
        coptersim.told(own, expected, "model/custom_data", "CustomData", data=[1.5, 2.5] + [0.0] * 14)


def test_custom_data_go_to_any_address(tmp_path, domain_id, simulator_ports):
    recorded = golden("dll_send", "custom/2")
    expected = recorded[:4] + struct.pack("<i", 1) + recorded[8:]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.2", 50001))
        with CopterSim(tmp_path, domain_id, "model.custom_data_address:=127.0.0.2", "model.custom_data_port:=50001") as coptersim:
            coptersim.told(own, expected, "model/custom_data", "CustomData", data=[1.5, 2.5] + [0.0] * 14)


def test_a_start_signal_of_another_program_is_published(coptersim):
    heard = coptersim.peer.subscribe("/rflysim/fleet/start", "std_msgs/msg/Int32")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
        program.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))

        def told() -> bool:
            program.sendto(golden("coptersim_send", "start_one"), (GROUP, 20007))
            time.sleep(0.05)
            return bool(heard.messages)

        coptersim.peer.wait_for(told, "the start signal")
    assert heard.messages[-1].data == 3


def pose(north: float, east: float, down: float, yaw_deg: float) -> dict:
    """A level pose in `map`."""
    half = (math.pi / 2 - math.radians(yaw_deg)) / 2
    turned = {"w": math.cos(half), "x": 0.0, "y": 0.0, "z": math.sin(half)}
    return {"header": {"frame_id": "map"}, "pose": {"position": {"x": east, "y": north, "z": -down}, "orientation": turned}}


def test_services_reach_coptersim_byte_for_byte(coptersim):
    recorded = "coptersim_send"
    for name, kind, fields, vector in [
        ("set_pose", "SetVehiclePose", {"pose": pose(10.5, -20.25, 0, 90), "on_ground": True}, "reSimXYyaw/multicast"),
        ("restart", "std_srvs/srv/Trigger", {}, "reSimXYyaw/multicast"),
        ("set_geo_origin", "SetGeoOrigin", {"latitude": 40.1540302, "longitude": 116.2593683, "altitude": 50.0}, "reGPSOrin/multicast"),
        ("set_geo_place", "SetGeoPlace", {"latitude": 40.15, "longitude": 116.25, "yaw": math.pi / 4}, "reGPSPos/multicast"),
        ("set_udp_mode", "SetUdpMode", {"mode": "mavlink_full"}, "reSimUdpMode/multicast"),
        ("show_geodetic", "std_srvs/srv/SetBool", {"data": True}, "enGps/multicast"),
        ("load_model", "LoadByName", {"name": "MulticopterNOpx4"}, "dllName/multicast"),
        ("load_map", "LoadByName", {"by_index": True, "index": 0}, "mapIdx/multicast"),
    ]:  # fmt: skip
        answer = coptersim.call(f"coptersim/{name}", kind, **fields)
        assert answer.success and "no heartbeat" in answer.message, answer.message
        assert coptersim.requests.recv(2048) == golden(recorded, vector), name
    for name, vehicle in [("coptersim/start_signal", 1), ("fleet/start_signal", -1)]:
        assert coptersim.call(name, "std_srvs/srv/Trigger").success
        assert coptersim.start.recv(2048) == struct.pack("<3i", 1234567890, 1, vehicle)
    refused = coptersim.call("coptersim/load_map", "LoadByName", name="x" * 49)
    assert not refused.success and "at most 48 bytes" in refused.message


def test_the_simulated_network_is_heard_and_served(tmp_path, domain_id, simulator_ports):
    with CopterSim(tmp_path, domain_id, "netsim.enabled:=true") as coptersim, member(60000) as other:
        states = coptersim.peer.subscribe("/rflysim/netsim/state", f"{MSG}/NetSimState")
        data = coptersim.peer.subscribe("/rflysim/netsim/data", f"{MSG}/NetSimData")
        coptersim.serves(states, data)
        recorded = json.loads((GOLDEN / "recv_netsim.json").read_text())
        for vector in recorded:
            for packet in vector["input_hex_packets"]:
                other.sendto(bytes.fromhex(packet), ("127.0.0.1", 60001))
        coptersim.peer.wait_for(lambda: len(states.messages) >= 3 and data.messages, "what others sent")
        assert bytes(data.messages[0].data) == b"hello" and data.messages[0].sender == 3
        wanted = next(v for v in recorded if v["name"] == "state136")["decoded"]["UavData"][0]
        position = states.messages[0].position
        assert [position.y, position.x, -position.z] == wanted["uavPosNED"]
        first, heard = golden("netsim_send", "buf_list"), []
        send = Publication(coptersim.peer, "/rflysim/netsim/send_data", f"{MSG}/NetSimData").wait()
        ask = Publication(coptersim.peer, "/rflysim/netsim/send_request", f"{MSG}/NetSimRequest").wait()
        other.settimeout(0.2)
        groups = {first[:24], first[:12] + struct.pack("<iQ", 70, 1)}
        asked = golden("netsim_send", "req_header_only")[:24]
        for _ in range(150):
            send.publish(sender=1, receivers=[2, 3, 5, 70], data=b"abc")
            if asked not in heard:
                ask.publish(sender=1, wanted=[4, 9])
            with suppress(TimeoutError):
                while True:
                    heard.append(other.recv(2048)[:24])
            # Asked again each second, until nobody is wanted.
            if groups <= set(heard) and heard.count(asked) >= 3:
                return
        raise AssertionError([packet.hex() for packet in heard[-5:]])


def test_a_fleet_is_ready_when_all_its_vehicles_are(tmp_path, domain_id, simulator_ports):
    options = {"vehicles": [1, 2], "imu.enabled": False, "diagnostics.period_s": 0.2}
    with System(tmp_path, domain_id, RANGE, parameters=options) as system:
        ready = system.peer.subscribe("/rflysim/fleet/ready", f"{MSG}/FleetReady", transient_local=True, depth=1)
        reports = system.peer.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")
        system.peer.wait_for(lambda: ready.messages and ready.messages[-1].vehicles[0].ready, "vehicle 1")
        missing = ready.messages[-1].vehicles[1]
        assert not ready.messages[-1].ready and "CopterSim 2 has sent no heartbeat" in missing.missing
        system.peer.wait_for(lambda: reports.messages, "a report")
        assert "has sent no heartbeat" in Report(reports.messages[-1]).find("fleet")["vehicle 2"]


def test_faults_are_forgotten_when_the_simulation_starts_anew(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, RANGE) as system:
        faults = system.peer.subscribe("/rflysim/model/active_faults", f"{MSG}/ActiveFaults", transient_local=True, depth=1)
        odometry = system.peer.subscribe("/rflysim/ground_truth/odom", "nav_msgs/msg/Odometry")
        system.peer.wait_for(lambda: len(odometry.messages) > 50 and faults.messages, "the vehicle")
        inject = Client(system.peer, "/rflysim/model/inject_fault", f"{SRV}/InjectFault").wait()
        answer = inject.call(kind="wind", parameters=[5.0, 0.0, 0.0])
        assert answer.success, answer.message
        system.peer.wait_for(lambda: len(faults.messages[-1].faults) == 1, "the fault")
        # The fault has lasted for a while: the new simulation begins before it.
        seen = len(odometry.messages)
        system.peer.wait_for(lambda: len(odometry.messages) > seen + 200, "states")
        system.command("restart")
        system.peer.wait_for(lambda: len(faults.messages[-1].faults) == 0, "the list after the restart", 60.0)


def test_a_fault_lasts_its_time_of_the_simulation(tmp_path, domain_id, simulator_ports):
    with System(tmp_path, domain_id, RANGE) as system:
        faults = system.peer.subscribe("/rflysim/model/active_faults", f"{MSG}/ActiveFaults", transient_local=True, depth=1)
        odometry = system.peer.subscribe("/rflysim/ground_truth/odom", "nav_msgs/msg/Odometry")
        system.peer.wait_for(lambda: len(odometry.messages) > 50 and faults.messages, "the vehicle")
        inject = Client(system.peer, "/rflysim/model/inject_fault", f"{SRV}/InjectFault").wait()
        assert inject.call(kind="wind", parameters=[5.0, 0.0, 0.0], duration=2.0).success
        system.peer.wait_for(lambda: len(faults.messages[-1].faults) == 1, "the fault")
        assert 0 < faults.messages[-1].faults[0].remaining <= 2.0
        system.peer.wait_for(lambda: len(faults.messages[-1].faults) == 0, "its end", 60.0)
