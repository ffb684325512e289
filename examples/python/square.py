"""Takes off, flies a square and lands.

    python3 examples/python/square.py            # a bridge that runs with -p view.port:=8765 -p view.control:=true
    python3 examples/python/square.py --start    # starts the bridge and its emulator
"""

import argparse

import rfly_bridge

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--start", action="store_true", help="starts the bridge and its emulator")
parser.add_argument("--port", type=int, default=8765, help="view.port of the bridge")
parser.add_argument("--side", type=float, default=5.0, help="m")
parser.add_argument("--height", type=float, default=3.0, help="m")
args = parser.parse_args()

with rfly_bridge.start() if args.start else rfly_bridge.connect(args.port) as sim:
    drone = sim.vehicle(1)
    drone.takeoff(args.height)
    start = drone.position
    for east, north in ((1, 0), (1, 1), (0, 1), (0, 0)):
        corner = start + [east * args.side, north * args.side, 0.0]
        drone.goto(*corner)
        print("at", drone.position.round(1).tolist())
    drone.land()
    print("landed at", drone.position.round(1).tolist())
