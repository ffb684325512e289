"""What the launch tests see of the ROS graph: an rclpy node that collects messages."""

from __future__ import annotations

import time
from collections.abc import Callable

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from tf2_msgs.msg import TFMessage

TIMEOUT = 60.0


class Listener:
    """A node that subscribes and waits; the middleware is the one that the environment names."""

    def __init__(self, name: str):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node(name, context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.parents: dict[str, str] = {}
        self.static: set[str] = set()
        self.static_twice: set[str] = set()
        self.static_messages: set[frozenset[str]] = set()

    def close(self) -> None:
        """Leaves the graph."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)

    def collect(self, kind: type, topic: str, *, reliable: bool = True, latched: bool = False) -> list:
        """Subscribes; the messages are appended to the result while `wait` runs."""
        messages: list = []
        qos = QoSProfile(
            depth=50,
            reliability=QoSReliabilityPolicy.RELIABLE if reliable else QoSReliabilityPolicy.BEST_EFFORT,
            durability=QoSDurabilityPolicy.TRANSIENT_LOCAL if latched else QoSDurabilityPolicy.VOLATILE,
        )
        self.node.create_subscription(kind, topic, messages.append, qos)
        return messages

    def wait(self, done: Callable[[], object], what: str, timeout: float = TIMEOUT) -> None:
        """Receives until `done` returns something true."""
        end = time.monotonic() + timeout
        while not done():
            assert time.monotonic() < end, f'waited {timeout:.0f} s for {what}'
            self._executor.spin_once(timeout_sec=0.1)

    def follow_tf(self) -> None:
        """Learns the parent of every frame from now on."""

        def learn(message: TFMessage) -> None:
            self.parents.update({t.child_frame_id: t.header.frame_id for t in message.transforms})

        def learn_static(message: TFMessage) -> None:
            learn(message)
            children = frozenset(t.child_frame_id for t in message.transforms)
            # Who publishes all of its frames again, because one has moved, is no second publisher.
            if children not in self.static_messages:
                self.static_twice |= self.static & children
                self.static |= children
                self.static_messages.add(children)

        latched = QoSProfile(depth=100, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(TFMessage, '/tf', learn, 100)
        self.node.create_subscription(TFMessage, '/tf_static', learn_static, latched)

    def path(self, frame: str) -> list[str]:
        """The frame and its ancestors, as far as they are known."""
        found = [frame]
        while found[-1] in self.parents:
            found.append(self.parents[found[-1]])
        return found
