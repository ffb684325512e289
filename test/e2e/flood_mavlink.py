"""Sends bad MAVLink to a UDP port of this machine, as fast as it can, until its input ends.

    python flood_mavlink.py PORT SEED

Prints, as JSON, how many datagrams of each kind were sent. Every datagram is made so that it is known which causes a
receiver counts it under, once each: `KINDS`.
"""

from __future__ import annotations

import json
import random
import select
import socket
import sys
import time
from collections import Counter

from pymavlink.dialects.v20 import common

# Kind -> causes that one datagram of it is counted under.
KINDS = {
    "noise": ["mavlink_noise"],
    "cut": ["mavlink_truncated"],
    "corrupted": ["mavlink_checksum", "mavlink_noise"],
    "flags": ["mavlink_flags", "mavlink_noise"],
    "unknown": ["mavlink_unknown_message"],
    "foreign": ["foreign_system"],
    "foreign_version_1": ["foreign_system"],
    "foreign_signed": ["foreign_system"],
    "component": ["foreign_component"],
    "ground_station": ["foreign_component"],
}
STARTS = (0xFD, 0xFE)
ONE_KIND = 400


def armed(link: common.MAVLink, autopilot: int = 12, *, version_1: bool = False) -> bytes:
    """A HEARTBEAT that would be a false state: armed, in a mode of its own."""
    return link.heartbeat_encode(2, autopilot, 157, 7 << 16, 4, 3).pack(link, force_mavlink1=version_1)


def one(kind: str, random_: random.Random) -> bytes:
    """One datagram, whose only start of a frame is at its beginning (or nowhere: noise)."""
    foreign = random_.choice([s for s in range(1, 256) if s != 1])
    link = common.MAVLink(None, srcSystem=foreign, srcComponent=random_.randrange(1, 256))
    link.seq = random_.randrange(253)
    own = common.MAVLink(None, srcSystem=1, srcComponent=1)
    own.seq = link.seq
    match kind:
        case "noise":
            return bytes(random_.choice(range(0xFD)) for _ in range(random_.randrange(1, 400)))
        case "cut":
            whole = armed(own)
            return whole[: random_.randrange(1, len(whole))]
        case "corrupted":
            whole = bytearray(armed(own))
            whole[random_.randrange(10, len(whole))] ^= 1 << random_.randrange(8)
            return bytes(whole)
        case "flags":
            whole = bytearray(armed(own))
            whole[2] = random_.randrange(2, 0x100, 2)
            return bytes(whole)
        case "unknown":
            payload = bytes(random_.randrange(0xFD) for _ in range(random_.randrange(1, 60)))
            number = random_.randrange(50_000, 60_000)
            head = bytes([0xFD, len(payload), 0, 0, link.seq, 1, 1]) + number.to_bytes(3, "little")
            return head + payload + bytes(random_.randrange(0xFD) for _ in range(2))
        case "foreign":
            return armed(link)
        case "foreign_version_1":
            return armed(link, version_1=True)
        case "foreign_signed":
            link.signing.secret_key, link.signing.sign_outgoing = random_.randbytes(32), True
            link.signing.link_id, link.signing.timestamp = 1, random_.randrange(1 << 40)
            return armed(link)
        case "component":
            own.srcComponent = random_.randrange(2, 256)
            return armed(own)
        case "ground_station":
            # MAV_AUTOPILOT_INVALID, from the autopilot's own address.
            return armed(own, 8)
    raise ValueError(kind)


def pool(kind: str, random_: random.Random) -> list[bytes]:
    """Different datagrams of one kind."""
    found = []
    while len(found) < ONE_KIND:
        data = one(kind, random_)
        if not any(byte in STARTS for byte in data[1:]):
            found.append(data)
    return found


def main() -> None:
    """Sends until the end of the input."""
    port, random_ = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    pools = {kind: pool(kind, random_) for kind in KINDS}
    mixed = [(kind, data) for kind, datagrams in pools.items() for data in datagrams]
    random_.shuffle(mixed)
    in_one_round = Counter(kind for kind, _ in mixed)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(("127.0.0.1", port))
    print("ready", flush=True)
    rounds, start = 0, time.monotonic()
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _, data in mixed:
            sender.send(data)
        rounds += 1
    seconds = time.monotonic() - start
    print(json.dumps({"seconds": seconds, "sent": {kind: n * rounds for kind, n in in_one_round.items()}}))


if __name__ == "__main__":
    main()
