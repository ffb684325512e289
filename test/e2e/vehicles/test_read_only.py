"""`control.read_only` and `control.link:=off`, as they are written on a command line."""

from __future__ import annotations

from mavros import WITNESS, Vehicle, fly, pose
from system import System


def test_a_vehicle_that_is_only_read_tells_everything_and_does_nothing(tmp_path, domain_id, simulator_ports):
    with fly(tmp_path, domain_id, **{"control.read_only": True}) as system:
        vehicle = Vehicle(system.peer)
        vehicle.wait_ready()
        assert not vehicle.arm().success
        assert not vehicle.mode("OFFBOARD")
        value = {"type": 3, "double_value": 7.0}
        assert not vehicle.call("param/set", param_id="COM_OF_LOSS_T", value=value).success
        assert vehicle.call("mission/pull").success and not vehicle.call("mission/clear").success
        with vehicle.stream("setpoint_position/local", **pose([0.0, 0.0, 3.0], 0.0)):
            for _ in range(30):
                vehicle.next("local_position/pose")
        assert not vehicle.last("state").armed
        log = system.bridge.output()
        for refused in ("arm", "set_mode", "param/set", "mission/clear", "setpoint_position/local"):
            assert any(refused in x and "control.read_only is true" in x for x in log.splitlines()), (refused, log)


def test_without_control_there_is_no_control(tmp_path, domain_id, simulator_ports):
    # YAML takes `off` for a boolean.
    parameters = {"transport_mode": "file", "control.link": "off", "vehicle2.link": "off"}
    with System(tmp_path, domain_id, [WITNESS], parameters=parameters) as system:
        system.peer.wait_for_topics({"/rflysim/ground_truth/odom": "nav_msgs/msg/Odometry"}, check=system.assert_alive)
        assert not [offer.topic for offer in system.peer.offers() if offer.topic.startswith("/mavros")]
