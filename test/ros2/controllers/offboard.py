"""A square with position setpoints."""

import math

from common import Controller, main
from geometry_msgs.msg import PoseStamped


class Offboard(Controller):
    def __init__(self):
        super().__init__("offboard")
        self.publisher = self.create_publisher(PoseStamped, self.path("setpoint_position/local"), 10)
        self.target = None

    def setpoint(self):
        if self.target is None:
            return
        message = PoseStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = "map"
        p = message.pose.position
        p.x, p.y, p.z = self.target
        message.pose.orientation.w = 1.0
        self.publisher.publish(message)

    def near(self) -> bool:
        return math.dist(self.position(), self.target) < 0.5

    def fly(self):
        self.wait_connected()
        x, y, z = self.position()
        corners = [(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)]
        self.target = (x, y, z + 3.0)
        self.wait(1.0)
        self.set_mode("OFFBOARD")
        self.arm()
        for dx, dy in corners:
            self.target = (x + dx, y + dy, z + 3.0)
            self.run(self.near, 40, f"the corner {dx}, {dy}")
            print("corner", dx, dy, *(round(a - b, 2) for a, b in zip(self.position(), (x, y, z))), flush=True)
        self.land()


main(Offboard)
