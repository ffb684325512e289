"""An independent ROS 2 peer without ROS: PyPI `cyclonedds` receives, PyPI `rosbags` decodes.

Nothing in here is shared with the bridge: names are mangled, QoS is chosen and CDR is decoded by code the project
did not write (or, where a line is ours, by the text of the ROS 2 design articles).
"""

from backend import MIDDLEWARE

from peer.messages import TYPES, decode
from peer.participant import Offer, Peer, Sample

if MIDDLEWARE == "zenoh":
    from peer.on_zenoh import ZenohPeer as Peer  # noqa: F811

__all__ = ["TYPES", "Offer", "Peer", "Sample", "decode"]
