"""A node on rclpy that calls the bridge's parameter services, in a process of its own (its interpreter is another one).

Standard input has one command per line, as JSON: `{"do": "list" | "get" | "set" | "describe" | "graph" | "new", ...}`. Each is
answered by one line of JSON. `new` makes a client and calls at once, without waiting for anything but that the graph
shows the service; `ready` is printed before it, `sent` after it.
"""

import json
import sys
import time

import rclpy
import rclpy.qos
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters

NODE = "/rfly_bridge"
KINDS = {
    "list": (ListParameters, "list_parameters"),
    "get": (GetParameters, "get_parameters"),
    "set": (SetParameters, "set_parameters"),
    "describe": (DescribeParameters, "describe_parameters"),
}


def say(value):
    print(json.dumps(value), flush=True)


def plain(value):
    return {1: value.bool_value, 2: value.integer_value, 3: value.double_value, 4: value.string_value}.get(value.type)


class Caller:
    def __init__(self):
        rclpy.init()
        self.node = rclpy.create_node(f"caller_{time.monotonic_ns()}")
        self.clients = {}

    def client(self, kind):
        if kind not in self.clients:
            service, name = KINDS[kind]
            # The responses to all clients of a service go to each of them. By default a client keeps 10 until it looks, and on
            # rmw_fastrtps_cpp those of others then push out its own, whoever serves (docs/dds.md).
            deep = rclpy.qos.QoSProfile(depth=1000)
            self.clients[kind] = self.node.create_client(service, f"{NODE}/{name}", qos_profile=deep)
            assert self.clients[kind].wait_for_service(60), f"no service {name}"
        return self.clients[kind]

    def call(self, kind, request, timeout=60.0, client=None):
        future = (client or self.client(kind)).call_async(request)
        if client:
            say("sent")
        start = time.monotonic()
        rclpy.spin_until_future_complete(self.node, future, timeout_sec=timeout)
        return future.result() if future.done() else None, time.monotonic() - start

    def get(self, names, times=1, timeout=60.0):
        answers = [self.call("get", GetParameters.Request(names=names), timeout) for _ in range(times)]
        values = [answer and [plain(value) for value in answer.values] for answer, _ in answers]
        others = {k: value for k, value in enumerate(values) if value != values[-1]}
        return {"values": values[-1], "others": others, "s": [s for _, s in answers]}

    def new(self, names, timeout):
        name = f"{NODE}/get_parameters"
        while name not in dict(self.node.get_service_names_and_types()):
            time.sleep(0.05)
        time.sleep(1.0)  # discovery of both endpoints ends
        say("ready")
        sys.stdin.readline()
        client = self.node.create_client(GetParameters, name)
        answer, seconds = self.call("get", GetParameters.Request(names=names), timeout, client)
        self.node.destroy_client(client)
        return {"values": answer and [plain(value) for value in answer.values], "s": seconds}

    def do(self, command):
        kind = command["do"]
        if kind == "list":
            return list(self.call("list", ListParameters.Request())[0].result.names)
        if kind == "get":
            return self.get(command["names"], command.get("times", 1), command.get("timeout", 60.0))
        if kind == "new":
            return self.new(command["names"], command["timeout"])
        if kind == "describe":
            answer = self.call("describe", DescribeParameters.Request(names=command["names"]))[0]
            return [descriptor.name for descriptor in answer.descriptors]
        if kind == "set":
            value = ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=command["value"])
            request = SetParameters.Request(parameters=[Parameter(name=command["name"], value=value)])
            result = self.call("set", request)[0].results[0]
            return {"successful": result.successful, "reason": result.reason}
        assert kind == "graph"
        namespace, name = NODE.rsplit("/", 1)
        end = time.monotonic() + 60
        while (namespace or "/", name) not in [(space, name) for name, space in self.node.get_node_names_and_namespaces()]:
            assert time.monotonic() < end, "the node is not in the graph"
            time.sleep(0.1)
        self.client("get")  # its endpoints are known now
        time.sleep(1.0)
        return self.node.get_service_names_and_types_by_node(name, namespace or "/")


caller = Caller()
for line in sys.stdin:
    say(caller.do(json.loads(line)))
