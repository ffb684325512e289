"""Subscribes as the JSON argument says, prints what arrived as one line of JSON. Driven by `probe.rs`.

Protocol on the standard streams: prints `ready` when all subscriptions exist and `matched` when each has found a
publisher; ends when every subscription has its `count`, or when a line arrives on standard input and nothing more has
come for a moment. Not before the last sample of a subscription that has `until`, a path and a value, has that value
there (or so many elements), and not before publishers of all topics of each `offered` are known.
"""

import dataclasses
import hashlib
import json
import select
import sys
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

import peer.participant
from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.core import Policy
from peer import Peer
from peer.messages import HUMBLE, JAZZY


def plain(value):
    """The message as JSON values, as serde writes them."""
    if dataclasses.is_dataclass(value):
        # rosbags keeps the type's name and the constants (upper case by the rules of ROS) beside the fields.
        names = [field.name for field in dataclasses.fields(value)]
        fields = [name for name in names if name != "__msgtype__" and not name.isupper()]
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, numpy.ndarray):
        return value.tolist()
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def report(sample):
    """Small samples in full, of others a digest."""
    digest = {"length": len(sample.cdr), "sha256": hashlib.sha256(sample.cdr).hexdigest()}
    if len(sample.cdr) <= 65536:
        digest["hex"] = sample.cdr.hex()
        digest["message"] = plain(sample.message)
    return digest


def reached(subscription, until):
    """Is the last sample what the subscription waits for?"""
    if until is None:
        return True
    path, wanted = until
    value = plain(subscription.samples[-1].message) if subscription.samples else None
    for key in path:
        if not value:
            return False
        value = value[int(key) if isinstance(value, list) else key]
    return value == wanted or isinstance(value, list) and len(value) == wanted


def user_data(participant, kind):
    """USER_DATA of every writer or reader of others in the domain, by topic."""
    found = {}
    for endpoint in BuiltinDataReader(participant, kind).read(N=1000):
        if hasattr(endpoint, "topic_name") and endpoint.participant_key != participant.guid:
            data = endpoint.qos[Policy.Userdata]
            found[endpoint.topic_name] = "" if data is None else data.data.decode()
    return found


def main():
    plan = json.loads(sys.argv[1])
    store = HUMBLE if plan["distro"] == "humble" else JAZZY
    peer.participant.decode = lambda cdr, name: store.deserialize_cdr(cdr, name) if len(cdr) <= 65536 else None
    me = Peer(plan["domain"])
    wanted = []
    for s in plan["subscribe"]:
        subscription = me.subscribe(
            s["topic"],
            s["type"],
            reliable=s["reliable"],
            transient_local=s["transient_local"],
            depth=s["depth"],
        )
        wanted.append((subscription, s["count"], s.get("until")))
    offered = {topic for s in plan["subscribe"] for topic in s.get("offered", [])}
    print("ready", flush=True)

    stop_at = None
    seen = -1
    matched = False
    while True:
        me.take()
        if not matched and all(s.matched() for s, _, _ in wanted):
            matched = True
            print("matched", flush=True)
        there = all(reached(s, until) for s, _, until in wanted)
        there = there and (not offered or offered <= {offer.topic for offer in me.offers()})
        if there and wanted and all(len(s.samples) >= count for s, count, _ in wanted):
            break
        if stop_at is None and select.select([sys.stdin], [], [], 0.005)[0]:
            if not sys.stdin.readline():
                sys.exit("the test has gone")
            stop_at = time.monotonic() + 1.0
        arrived = sum(len(s.samples) for s, _, _ in wanted)
        if stop_at is not None:
            if arrived != seen or not there:
                stop_at = time.monotonic() + 1.0
            elif time.monotonic() > stop_at:
                break
            time.sleep(0.005)
        seen = arrived
    result = {
        "offers": [
            dataclasses.asdict(offer) | {"writer": offer.writer.hex()} for offer in me.offers()
        ],
        "user_data": user_data(me.participant, BuiltinTopicDcpsPublication),
        "reader_data": user_data(me.participant, BuiltinTopicDcpsSubscription),
        "samples": {s.topic: [report(sample) for sample in s.samples] for s, _, _ in wanted},
        "hashes": {name: store.hash_rihs01(name) for name in plan["hashes"]},
    }
    print(json.dumps(result), flush=True)


main()
