"""What every controller needs: state, arming, modes, landing, and a loop at a steady rate."""

import math
import sys
import time

import rclpy
from geometry_msgs.msg import PoseStamped
from mavros_msgs.msg import ExtendedState, State
from mavros_msgs.srv import CommandBool, SetMode
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data

LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Controller(Node):
    """A vehicle below `/mavros`, or where the node's namespace says."""

    def __init__(self, name: str):
        super().__init__(name)
        self.prefix = "/mavros" if self.get_namespace() == "/" else self.get_namespace()
        self.state, self.pose, self.landed = State(), None, 0
        self.create_subscription(State, self.path("state"), self._on_state, LATCHED)
        self.create_subscription(ExtendedState, self.path("extended_state"), self._on_extended, LATCHED)
        self.create_subscription(
            PoseStamped, self.path("local_position/pose"), self._on_pose, qos_profile_sensor_data
        )
        self._arming = self.create_client(CommandBool, self.path("cmd/arming"))
        self._mode = self.create_client(SetMode, self.path("set_mode"))

    def path(self, name: str) -> str:
        return f"{self.prefix}/{name}"

    def _on_state(self, message):
        self.state = message

    def _on_extended(self, message):
        self.landed = message.landed_state

    def _on_pose(self, message):
        self.pose = message.pose

    def position(self):
        p = self.pose.position
        return [p.x, p.y, p.z]

    def yaw(self) -> float:
        q = self.pose.orientation
        return math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))

    def setpoint(self) -> None:
        """Sends one setpoint; called all the time."""

    def run(self, done, seconds: float, what: str, rate: float = 20.0) -> None:
        """Sends setpoints until `done`; ends the program with an error after `seconds`."""
        deadline, due = time.monotonic() + seconds, time.monotonic()
        while not done():
            if time.monotonic() > deadline:
                sys.exit(f"waited {seconds:.0f} s for {what}; state {self.state}, pose {self.pose}")
            if time.monotonic() >= due:
                self.setpoint()
                due += 1 / rate
            rclpy.spin_once(self, timeout_sec=max(0.0, min(due - time.monotonic(), 1 / rate)))

    def wait(self, seconds: float, rate: float = 20.0) -> None:
        """Goes on for some time."""
        end = time.monotonic() + seconds
        self.run(lambda: time.monotonic() > end, seconds + 5, "the time to pass", rate)

    def call(self, client, request, rate: float = 20.0):
        """Calls a service while setpoints go on."""
        self.run(client.service_is_ready, 20, f"the service {client.srv_name}", rate)
        future = client.call_async(request)
        self.run(future.done, 20, f"the answer of {client.srv_name}", rate)
        return future.result()

    def set_mode(self, mode: str, rate: float = 20.0) -> None:
        answer = self.call(self._mode, SetMode.Request(custom_mode=mode), rate)
        if not answer.mode_sent:
            sys.exit(f"{mode} was refused")
        self.run(lambda: self.state.mode == mode, 10, mode, rate)
        print("mode", mode, flush=True)

    def arm(self, rate: float = 20.0) -> None:
        answer = self.call(self._arming, CommandBool.Request(value=True), rate)
        if not answer.success:
            sys.exit(f"arming was refused: {answer}")
        self.run(lambda: self.state.armed, 10, "armed", rate)
        print("armed", flush=True)

    def wait_connected(self) -> None:
        self.run(lambda: self.state.connected and self.pose is not None, 60, "a connected vehicle")
        print("connected", flush=True)

    def land(self, rate: float = 20.0) -> None:
        self.set_mode("AUTO.LAND", rate)
        self.run(lambda: not self.state.armed, 60, "the landing", rate)
        print("landed", self.landed, flush=True)


def main(kind) -> None:
    rclpy.init()
    controller = kind()
    controller.fly()
    controller.destroy_node()
    rclpy.shutdown()
    print("done", flush=True)
