"""Height by thrust, motion by tilt: attitudes at 100 Hz."""

import math

from common import Controller, main
from geometry_msgs.msg import TwistStamped
from mavros_msgs.msg import AttitudeTarget
from rclpy.qos import qos_profile_sensor_data

RATE = 100.0
IGNORE_RATES = AttitudeTarget.IGNORE_ROLL_RATE | AttitudeTarget.IGNORE_PITCH_RATE | AttitudeTarget.IGNORE_YAW_RATE


class Attitude(Controller):
    def __init__(self):
        super().__init__("attitude")
        self.publisher = self.create_publisher(AttitudeTarget, self.path("setpoint_raw/attitude"), 10)
        self.velocity = None
        self.create_subscription(
            TwistStamped, self.path("local_position/velocity_local"), self._on_velocity, qos_profile_sensor_data
        )
        self.height, self.pitch, self.hover = None, 0.0, 0.5

    def _on_velocity(self, message):
        self.velocity = message.twist.linear

    def setpoint(self):
        if self.height is None or self.pose is None or self.velocity is None:
            return
        error = self.height - self.pose.position.z
        climb = max(-1.0, min(1.5, error)) - self.velocity.z
        # The controller learns its hover thrust.
        self.hover = max(0.2, min(0.8, self.hover + 0.0005 * climb))
        message = AttitudeTarget()
        message.header.stamp = self.get_clock().now().to_msg()
        message.type_mask = IGNORE_RATES
        # Nose to the east; a positive pitch about the axis to the left lowers the nose.
        message.orientation.y, message.orientation.w = math.sin(self.pitch / 2), math.cos(self.pitch / 2)
        message.thrust = float(max(0.05, min(0.95, self.hover + 0.15 * climb)))
        self.publisher.publish(message)

    def fly(self):
        self.wait_connected()
        self.run(lambda: self.velocity is not None, 10, "velocity")
        ground = self.pose.position.z
        self.height = ground + 4.0
        self.wait(1.0, RATE)
        self.set_mode("OFFBOARD", RATE)
        self.arm(RATE)
        self.run(lambda: abs(self.pose.position.z - self.height) < 0.5, 40, "4 m", RATE)
        print("height", round(self.pose.position.z - ground, 2), flush=True)
        x, self.pitch = self.pose.position.x, 0.12
        self.run(lambda: self.pose.position.x > x + 3.0, 20, "3 m to the east", RATE)
        print("east", round(self.pose.position.x - x, 2), round(self.velocity.x, 2), flush=True)
        self.pitch = -0.12
        self.run(lambda: self.velocity.x < 0.1, 20, "a stop", RATE)
        self.pitch = 0.0
        self.land(RATE)


main(Attitude)
