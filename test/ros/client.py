"""Calls services as the JSON argument says, prints the responses as one line of JSON. Driven by `services.rs`.

The argument: `domain`, and `rounds`, each with `service`, `type` and `requests` (fields by name, or `hex`). All requests
of a round are sent before the first response is awaited. With `late_reader` the client's reader appears after the
request, when a line arrives on standard input; how long after is told in `late_s`, and a response that does not come is
null. `unanswered` expects nothing. Prints `sent` after each round's requests.
"""

import dataclasses
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication, BuiltinTopicDcpsSubscription
from cyclonedds.core import Policy
from peer import Peer
from peer.messages import JAZZY
from peer.services import CycloneClient


def plain(value):
    if dataclasses.is_dataclass(value):
        fields = [f.name for f in dataclasses.fields(value) if f.name != "__msgtype__" and not f.name.isupper()]
        return {name: plain(getattr(value, name)) for name in fields}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def user_data(participant, topic):
    found = {}
    for endpoint in BuiltinDataReader(participant, topic).read(N=1000):
        if hasattr(endpoint, "topic_name") and endpoint.topic_name.startswith(("rq/", "rr/")):
            data = endpoint.qos[Policy.Userdata]
            found[endpoint.topic_name] = [endpoint.type_name, "" if data is None else data.data.decode()]
    return found


def run(peer, clients, r, late_s):
    key = (r["service"], r["type"], r.get("client_id", ""))
    late = r.get("late_reader", False)
    if key not in clients:
        client = CycloneClient(peer, r["service"], r["type"], with_reader=not late, client_id=key[2])
        clients[key] = client.wait()
    client = clients[key]
    requests = [bytes.fromhex(q["hex"]) if "hex" in q else q for q in r["requests"]]
    start = time.monotonic()
    numbers = [client.send(q) for q in requests]
    print("sent", flush=True)
    if r.get("unanswered"):
        return []
    if not late:
        return [plain(client.receive(number)) for number in numbers]
    sys.stdin.readline()
    client.open_reader()
    client.wait()
    late_s.append(time.monotonic() - start)
    try:
        return [plain(client.receive(number)) for number in numbers]
    except AssertionError:
        return [None for _ in numbers]


def main():
    plan = json.loads(sys.argv[1])
    peer = Peer(plan["domain"])
    clients, late_s = {}, []
    responses = [run(peer, clients, r, late_s) for r in plan["rounds"]]
    seen = {
        "writers": user_data(peer.participant, BuiltinTopicDcpsPublication),
        "readers": user_data(peer.participant, BuiltinTopicDcpsSubscription),
    }
    halves = {f"{r['type']}_{half}" for r in plan["rounds"] for half in ("Request", "Response")}
    hashes = {name: JAZZY.hash_rihs01(name) for name in halves}
    print(json.dumps({"responses": responses, "seen": seen, "hashes": hashes, "late_s": late_s}), flush=True)
    sys.stdin.readline()


main()
