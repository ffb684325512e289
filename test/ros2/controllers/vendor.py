"""The vendor's ROS client, imported from the directory in the first argument and used through its own calls."""

import math
import os
import sys
import time

for part in ("", "vision", os.path.join("RflySimSDK", "vision"), os.path.join("rflysim", "RflySimSDK", "vision")):
    path = os.path.join(sys.argv[1], part)
    if os.path.exists(os.path.join(path, "RflyRosCtrlApi.py")):
        sys.path.insert(0, path)
        break
import RflyRosCtrlApi


def wait(done, seconds, what):
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            print("waited for", what, vehicle.mavros_state, vehicle.uavPosNED, flush=True)
            os._exit(1)
        time.sleep(0.05)
    print(what, [round(v, 2) for v in vehicle.uavPosNED], flush=True)


vehicle = RflyRosCtrlApi.RflyRosCtrlApi(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
wait(lambda: vehicle.mavros_state and vehicle.local_pose and vehicle.imu and vehicle.gps, 60, "data")
north, east, down = vehicle.uavPosNED
vehicle.initOffboard()
wait(lambda: vehicle.mavros_state == "OFFBOARD", 10, "offboard")

# The client's NED is mavros' ENU with the signs of two axes turned: x goes to the east, -y to the north.
vehicle.SendVelNED(0, 0, -1, 0)
wait(lambda: vehicle.uavPosNED[2] < down - 2.5, 30, "up")
vehicle.SendVelNED(1, 0, 0, 0)
wait(lambda: vehicle.uavPosNED[1] > east + 2, 30, "x")
vehicle.SendVelNED(0, 1, 0, 0)
wait(lambda: vehicle.uavPosNED[0] < north - 2, 30, "y")
x, y, z = vehicle.uavPosNED[1], -vehicle.uavPosNED[0], vehicle.uavPosNED[2]
vehicle.SendPosNED(x + 2, y, z, 0.0)
wait(lambda: math.dist((vehicle.uavPosNED[1], -vehicle.uavPosNED[0], vehicle.uavPosNED[2]), (x + 2, y, z)) < 0.6, 30, "position")
# Yaw and its rate are left at their defaults, NaN: not controlled.
vehicle.SendPosVelNED([x, y, z], [-1, 0, 0])
wait(lambda: math.dist((vehicle.uavPosNED[1], -vehicle.uavPosNED[0], vehicle.uavPosNED[2]), (x, y, z)) < 0.6, 30, "position and velocity")
vehicle.SendVelFRD(1, 0, 0, 0)
before = list(vehicle.uavPosNED)
wait(lambda: math.dist(before, vehicle.uavPosNED) > 2, 30, "forward")
vehicle.SendHILCtrlMsg([0.1] * 16)
# MAV_CMD_NAV_LAND; the client leaves the parameters it does not need at 0, as integers.
vehicle.SendMavCmdLong(21, 0.0, 0.0, 0.0, math.nan, math.nan, math.nan, math.nan)
wait(lambda: vehicle.mavros_state == "AUTO.LAND", 10, "land")
vehicle.isInOffboard = False
wait(lambda: abs(vehicle.uavPosNED[2] - down) < 0.5, 60, "ground")
print("done", flush=True)
os._exit(0)
