"""Raw CDR through the Python binding of Cyclone DDS.

The binding wants a Python class per topic type and decodes with it. Here the class only carries the DDS type name and
keeps the bytes, so that every ROS type can be received (and, for the self-test, sent) without an IDL compiler.
"""

from dataclasses import dataclass

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import uint8


@dataclass
class Raw:
    """One sample as it was on the wire: CDR with its 4-byte encapsulation header."""

    cdr: bytes


def mangle_type(ros_type: str) -> str:
    """`sensor_msgs/msg/Image` -> `sensor_msgs::msg::dds_::Image_` (ROS 2 design, "Topic and Service name mapping")."""
    package, kind, name = ros_type.split("/")
    return f"{package}::{kind}::dds_::{name}_"


def demangle_type(dds_type: str) -> str | None:
    """The inverse of `mangle_type`; None for a type that is not a ROS 2 message."""
    parts = dds_type.split("::")
    if len(parts) == 4 and parts[2] == "dds_" and parts[3].endswith("_"):
        return f"{parts[0]}/{parts[1]}/{parts[3][:-1]}"
    return None


_CLASSES: dict[str, type] = {}


def raw_class(dds_type: str) -> type:
    """Returns the `IdlStruct` class that stands for `dds_type` and neither encodes nor decodes."""
    if dds_type in _CLASSES:
        return _CLASSES[dds_type]

    @dataclass
    class RawStruct(IdlStruct, typename=dds_type):
        # The binding insists on at least one field, and the library on samples that are no shorter.
        payload: uint8

        @classmethod
        def deserialize(cls, data, has_header=True, use_version_2=None):  # noqa: ARG003 (signature of the binding)
            return Raw(bytes(data))

        def serialize(self, buffer=None, endianness=None, use_version_2=None):  # noqa: ARG002
            return self.payload

    _CLASSES[dds_type] = RawStruct
    return RawStruct
