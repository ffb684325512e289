"""Takes off, flies a square and lands, with nothing but what mavros offers: rclpy, geometry_msgs, mavros_msgs.

    python3 examples/offboard.py [/mavros]
"""

import sys

import rclpy
from geometry_msgs.msg import PoseStamped
from mavros_msgs.msg import State, StatusText
from mavros_msgs.srv import CommandBool, SetMode
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data

HEIGHT = 3.0
SIDE = 5.0
CORNERS = [(0.0, 0.0), (SIDE, 0.0), (SIDE, SIDE), (0.0, SIDE), (0.0, 0.0)]
NEAR = 0.5


class Offboard(Node):
    """Publishes a setpoint 20 times a second and goes on when the vehicle is near."""

    def __init__(self, prefix):
        super().__init__('offboard')
        self.state, self.pose, self.target = State(), PoseStamped(), (0.0, 0.0, HEIGHT)
        sensor = qos_profile_sensor_data
        self.create_subscription(State, f'{prefix}/state', lambda m: setattr(self, 'state', m), 10)
        self.create_subscription(PoseStamped, f'{prefix}/local_position/pose', lambda m: setattr(self, 'pose', m), sensor)
        self.create_subscription(StatusText, f'{prefix}/statustext/recv', lambda m: print(f'    {m.text.strip()}'), sensor)
        self.setpoint = self.create_publisher(PoseStamped, f'{prefix}/setpoint_position/local', 10)
        self.arming = self.create_client(CommandBool, f'{prefix}/cmd/arming')
        self.mode = self.create_client(SetMode, f'{prefix}/set_mode')
        self.create_timer(0.05, self.publish)

    def publish(self):
        """Sends the setpoint."""
        message = PoseStamped()
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = 'local_origin'
        position = message.pose.position
        position.x, position.y, position.z = self.target
        message.pose.orientation.w = 1.0
        self.setpoint.publish(message)

    def until(self, condition, seconds):
        """Spins until something is so; ends the program if it does not become so."""
        end = self.get_clock().now().nanoseconds + seconds * 1e9
        while not condition():
            rclpy.spin_once(self, timeout_sec=0.1)
            if self.get_clock().now().nanoseconds > end:
                p = self.pose.pose.position
                sys.exit(f'not within {seconds} s; mode {self.state.mode}, at {p.x:.1f} {p.y:.1f} {p.z:.1f}')

    def call(self, client, request):
        """Calls a service and waits for its answer."""
        if not client.wait_for_service(10.0):
            sys.exit(f'there is no service {client.srv_name}')
        future = client.call_async(request)
        self.until(future.done, 15)
        print(f'{client.srv_name}: {future.result()}; mode {self.state.mode}, armed {self.state.armed}')
        return future.result()

    def near(self):
        """Whether the vehicle is where it shall be."""
        p, (x, y, z) = self.pose.pose.position, self.target
        return (p.x - x) ** 2 + (p.y - y) ** 2 + (p.z - z) ** 2 < NEAR**2

    def fly(self):
        """The whole flight."""
        self.until(lambda: self.state.connected and self.state.system_status in (3, 4), 60)
        start = self.get_clock().now().nanoseconds
        self.until(lambda: self.get_clock().now().nanoseconds - start > 1e9, 5)  # PX4 wants setpoints before OFFBOARD
        if not self.call(self.mode, SetMode.Request(custom_mode='OFFBOARD')).mode_sent:
            sys.exit('the vehicle does not change to OFFBOARD')
        if not self.call(self.arming, CommandBool.Request(value=True)).success:
            sys.exit('the vehicle does not arm')
        for x, y in CORNERS:
            self.target = (x, y, HEIGHT)
            self.until(self.near, 30)
            print(f'at {x:.0f} {y:.0f} {HEIGHT:.0f}')
        self.call(self.mode, SetMode.Request(custom_mode='AUTO.LAND'))
        self.until(lambda: not self.state.armed, 60)
        print('landed')


def main():
    """Runs the flight."""
    rclpy.init()
    node = Offboard(sys.argv[1] if len(sys.argv) > 1 else '/mavros')
    node.fly()


if __name__ == '__main__':
    main()
