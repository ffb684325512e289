"""A loop around the position, closed by the controller itself: velocities from odometry."""

import math

from common import Controller, main
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data


class Velocity(Controller):
    def __init__(self):
        super().__init__("velocity")
        self.publisher = self.create_publisher(TwistStamped, self.path("setpoint_velocity/cmd_vel"), 10)
        self.odometry = None
        self.create_subscription(
            Odometry, self.path("local_position/odom"), self._on_odometry, qos_profile_sensor_data
        )
        self.target, self.yaw_rate = None, 0.0

    def _on_odometry(self, message):
        self.odometry = message.pose.pose.position

    def error(self):
        p = self.odometry
        return [t - a for t, a in zip(self.target, (p.x, p.y, p.z))]

    def setpoint(self):
        if self.target is None:
            return
        message = TwistStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        linear = message.twist.linear
        linear.x, linear.y, linear.z = (max(-1.5, min(1.5, 0.8 * e)) for e in self.error())
        message.twist.angular.z = self.yaw_rate
        self.publisher.publish(message)

    def fly(self):
        self.wait_connected()
        self.run(lambda: self.odometry is not None, 10, "odometry")
        x, y, z = self.odometry.x, self.odometry.y, self.odometry.z
        self.target = (x, y, z + 2.5)
        self.wait(1.0)
        self.set_mode("OFFBOARD")
        self.arm()
        for dx, dy in [(0, 0), (3, 0), (3, -3), (0, 0)]:
            self.target = (x + dx, y + dy, z + 2.5)
            self.run(lambda: math.hypot(*self.error()) < 0.5, 60, f"the corner {dx}, {dy}")
            print("corner", dx, dy, flush=True)
        before, self.yaw_rate = self.yaw(), 0.5
        self.run(lambda: math.remainder(self.yaw() - before - 1.0, math.tau) > 0, 20, "a turn to the left")
        self.yaw_rate = 0.0
        print("turned", flush=True)
        self.land()


main(Velocity)
