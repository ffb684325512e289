"""A node on rclpy that calls services for `peer.rclpy_services`, in a process of its own: its interpreter is that of ROS 2.

Standard input has one line of JSON per request: `service`, `type`, and `number` and `cdr` unless the client is only to be
made. Standard output has one per service that is found (`service`, `found`) and per response (`service`, `number`, `cdr`).
"""

import importlib
import json
import os
import select

import rclpy
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message


def service_type(name):
    """The class of `package/srv/Name`, or of one of the services of an action."""
    package, kind, name = name.split("/")
    module = importlib.import_module(f"{package}.{kind}")
    if kind == "action":
        action, part = name.rsplit("_", 1)
        return getattr(getattr(module, action).Impl, f"{part}Service")
    return getattr(module, name)


class Caller:
    def __init__(self):
        rclpy.init()
        self.node = rclpy.create_node(f"peer_{os.getpid()}")
        self.clients, self.unseen = {}, set()

    def client(self, service, kind):
        if service not in self.clients:
            # Responses to other clients arrive here, too, and must not push out ours.
            self.clients[service] = self.node.create_client(service_type(kind), service, qos_profile=QoSProfile(depth=1000))
            self.unseen.add(service)
        return self.clients[service]

    def call(self, service, type, number=None, cdr=""):  # noqa: A002
        client = self.client(service, type)
        if number is not None:
            request = deserialize_message(bytes.fromhex(cdr), client.srv_type.Request)
            future = client.call_async(request)
            future.add_done_callback(
                lambda done: say(service=service, number=number, cdr=serialize_message(done.result()).hex())
            )

    def look(self):
        for service in [name for name in self.unseen if self.clients[name].service_is_ready()]:
            self.unseen.discard(service)
            say(service=service, found=True)


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    caller, rest = Caller(), b""
    while True:
        rclpy.spin_once(caller.node, timeout_sec=0.005)
        caller.look()
        if not select.select([0], [], [], 0)[0]:
            continue
        data = os.read(0, 1 << 20)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            caller.call(**json.loads(line))


main()
