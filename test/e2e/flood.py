"""Sends random datagrams to UDP ports at a bounded rate, to this machine unless another address is given.

    python flood.py [--to ADDRESS] [--source ADDRESS] COUNT RATE_PER_SECOND SEED PORT...

Every kind of garbage is in the mix: random bytes of every length, and datagrams that begin like the simulator's.
"""

import argparse
import random
import socket
import struct
import time

# The tags of the simulator's datagrams; garbage that starts with one of them gets further into a parser.
TAGS = (1234567890, 1234567893, 1234567898, 123456789, 1234567891, 1234567897, 12345)
LENGTHS = (0, 1, 4, 8, 12, 23, 24, 25, 31, 32, 33, 36, 40, 56, 92, 112, 144, 152, 168, 200, 264, 1400)


def garbage(generator: random.Random) -> bytes:
    """One datagram."""
    length = generator.choice(LENGTHS) if generator.random() < 0.7 else generator.randrange(0, 1500)
    data = bytearray(generator.randbytes(length))
    kind = generator.random()
    if kind < 0.6 and length >= 4:
        data[:4] = struct.pack("<i", generator.choice(TAGS))
    if kind < 0.3 and length >= 16:
        # A fragment header that is right in its length and absurd or plausible in its numbers.
        numbers = (length, generator.choice((-1, 0, 1, 2, 7, 2**31 - 1)), generator.choice((-5, 0, 1, 3, 2**31 - 1)))
        data[4:16] = struct.pack("<3i", *numbers)
    return bytes(data)


def main() -> None:
    """Sends and prints how many were sent."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--to", default="127.0.0.1")
    parser.add_argument("--source", default="")
    parser.add_argument("count", type=int)
    parser.add_argument("rate", type=float)
    parser.add_argument("seed", type=int)
    parser.add_argument("ports", type=int, nargs="+")
    options = parser.parse_args()
    count, rate, ports = options.count, options.rate, options.ports
    generator = random.Random(options.seed)
    pool = [garbage(generator) for _ in range(20_000)]
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind((options.source, 0))
    start, sent = time.monotonic(), 0
    while sent < count:
        for _ in range(min(200, count - sent)):
            try:
                sender.sendto(pool[generator.randrange(len(pool))], (options.to, ports[sent % len(ports)]))
            except OSError:
                pass  # nobody listens on that port any more; the count goes on
            sent += 1
        ahead = sent / rate - (time.monotonic() - start)
        if ahead > 0:
            time.sleep(ahead)
    print(sent)


if __name__ == "__main__":
    main()
