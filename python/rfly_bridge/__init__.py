"""A client of a running rfly_bridge: images, clouds, topics, services and flights in Python, without ROS.

    import rfly_bridge

    with rfly_bridge.connect() as sim:          # a bridge with -p view.port:=8765 -p view.control:=true
        image = sim.image("sensor0/img_rgb")    # numpy array, stamp in s, frame
        drone = sim.vehicle(1)
        drone.takeoff(3.0)
        drone.goto(5, 0, 3)
        drone.land()

`rfly_bridge.start()` starts the bridge and its emulator for a test or a notebook. Conventions are those of the topics
(docs/topics.md): metres, seconds, radians; positions ENU, bodies FLU (REP 103, 105).
"""

from .client import BridgeError, Sim, Stream, connect
from .messages import Cloud, Image
from .programs import StartError, start
from .vehicle import Vehicle

__all__ = ["BridgeError", "Cloud", "Image", "Sim", "StartError", "Stream", "Vehicle", "connect", "start"]
