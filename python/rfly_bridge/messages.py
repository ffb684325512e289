"""Messages: CDR and definitions by `rosbags`, images and clouds as numpy arrays."""

from __future__ import annotations

import difflib
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

IMAGE, CLOUD = "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2"
HEADER, QUATERNION = "std_msgs/msg/Header", "geometry_msgs/msg/Quaternion"
# Type of a value and values per pixel, by encoding.
PIXELS = {
    **dict.fromkeys(("mono8", "8UC1"), ("u1", 1)),
    **dict.fromkeys(("bgr8", "rgb8", "8UC3"), ("u1", 3)),
    **dict.fromkeys(("bgra8", "rgba8", "8UC4"), ("u1", 4)),
    **dict.fromkeys(("mono16", "16UC1"), ("u2", 1)),
    "32FC1": ("f4", 1),
}
# sensor_msgs/PointField: numpy's name of each datatype.
POINT_FIELDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}


@dataclass(frozen=True)
class Image:
    """One image."""

    data: np.ndarray
    """Rows, columns, and channels where there are several: uint8 (`bgr8`, `rgb8`, `mono8`), uint16 (`16UC1`: depth in mm,
    0 is invalid) or float32 (`32FC1`: depth in m, NaN is invalid, inf is no return)."""
    stamp_ns: int
    """Time of the measurement in ns: Unix time, or time of the simulation with `time.mode: sim`. Sensors of one tick have the
    same stamp."""
    frame: str
    """The optical frame: x to the right, y down, z ahead."""
    encoding: str
    """As in `sensor_msgs/Image`."""

    @property
    def stamp(self) -> float:
        """The stamp in s."""
        return self.stamp_ns * 1e-9


@dataclass(frozen=True)
class Cloud:
    """One point cloud."""

    points: np.ndarray
    """x, y, z of each point in m, N x 3, float32, in `frame`; NaN where there is no point."""
    fields: np.ndarray
    """All fields of each point (`label`, `rgb`, ...), a structured array of length N."""
    stamp_ns: int
    """Time of the measurement in ns, as that of an image."""
    frame: str
    """x ahead, y to the left, z up (FLU), or `map` (ENU)."""

    @property
    def stamp(self) -> float:
        """The stamp in s."""
        return self.stamp_ns * 1e-9


class Types:
    """Message types, from the definitions that the server sends."""

    def __init__(self) -> None:
        self._store = get_typestore(Stores.EMPTY)

    def register(self, type_name: str, definition: str) -> None:
        """Adds a type and the types in it (`ros2msg`)."""
        if type_name not in self._store.fielddefs:
            found = get_types_from_msg(definition, type_name)
            self._store.register({name: fields for name, fields in found.items() if name not in self._store.fielddefs})

    def stamp(self, type_name: str, cdr: bytes) -> int | None:
        """Stamp of the header in ns, where the message begins with one."""
        fields = self._store.fielddefs[type_name][1]
        if not fields or fields[0][1] != (Nodetype.NAME, HEADER):
            return None
        seconds: int
        nanoseconds: int
        seconds, nanoseconds = struct.unpack_from("<iI" if cdr[1] & 1 else ">iI", cdr, 4)
        return seconds * 1_000_000_000 + nanoseconds

    def decode(self, type_name: str, cdr: bytes) -> Any:
        """The message, as `rosbags` makes it; images and clouds as `Image` and `Cloud`."""
        message = self._store.deserialize_cdr(cdr, type_name)
        if type_name == IMAGE:
            return _image(message)
        return _cloud(message) if type_name == CLOUD else message

    def encode(self, type_name: str, fields: Mapping[str, Any]) -> bytes:
        """CDR of a message with these fields. Those that are missing are zero or empty, the real part of a rotation is 1."""
        return bytes(self._store.serialize_cdr(self._message(type_name, fields, ""), type_name))

    def _message(self, type_name: str, given: Mapping[str, Any] | None, path: str) -> Any:
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(f"{path or 'the message'}: {given!r} is not a {type_name}: give a dictionary of its fields")
        given = dict(given or {})
        names = [name for name, _ in self._store.fielddefs[type_name][1]]
        for name in given:
            if name not in names:
                raise ValueError(f"{type_name} has no field {name!r}{did_you_mean(name, names)} It has: {', '.join(names)}")
        if type_name == QUATERNION and not given:
            given = {"w": 1.0}
        fields = self._store.fielddefs[type_name][1]
        values = {name: self._value(kind, given.get(name), f"{path}.{name}".lstrip(".")) for name, kind in fields}
        return self._store.types[type_name](**values)

    def _value(self, kind: Any, given: Any, path: str) -> Any:
        node, of = kind
        if node == Nodetype.NAME:
            return self._message(of, given, path)
        if node == Nodetype.BASE:
            return _number_or_text(of[0], given, path)
        element, length = of
        if given is None:
            given = [None] * length if node == Nodetype.ARRAY else []
        if isinstance(given, (str, bytes)) or not isinstance(given, (Iterable, np.ndarray)):
            raise ValueError(f"{path}: {given!r} is not a list")
        items = [self._value(element, item, f"{path}[{index}]") for index, item in enumerate(given)]
        if node == Nodetype.ARRAY and len(items) != length:
            raise ValueError(f"{path} has {len(items)} elements, expected {length}")
        is_number = element[0] == Nodetype.BASE and element[1][0] != "string"
        return np.array(items, _dtype(element[1][0])) if is_number else items


def _dtype(base: str) -> np.dtype:
    return np.dtype({"byte": "uint8", "char": "uint8", "octet": "uint8"}.get(base, base))


def _number_or_text(base: str, given: Any, path: str) -> Any:
    if base == "string":
        if given is not None and not isinstance(given, str):
            raise ValueError(f"{path}: {given!r} is not text")
        return given or ""
    if given is None:
        return False if base == "bool" else 0
    dtype = _dtype(base)
    is_integer = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if dtype.kind == "b" and isinstance(given, (bool, np.bool_)):
        return bool(given)
    if dtype.kind == "f" and (is_integer or isinstance(given, (float, np.floating))):
        return float(given)
    if dtype.kind in "iu" and is_integer and np.iinfo(dtype).min <= given <= np.iinfo(dtype).max:
        return int(given)
    raise ValueError(f"{path}: {given!r} is not {base}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The most similar word, as the end of a sentence."""
    found = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {found[0]!r}?" if found else "."


def _header(message: Any) -> tuple[int, str]:
    stamp = message.header.stamp
    return stamp.sec * 1_000_000_000 + stamp.nanosec, message.header.frame_id


def _image(message: Any) -> Image:
    if message.encoding not in PIXELS:
        raise ValueError(f"images of encoding {message.encoding!r} are not known; known are {', '.join(PIXELS)}")
    kind, channels = PIXELS[message.encoding]
    dtype = np.dtype((">" if message.is_bigendian else "<") + kind)
    rows = message.data.reshape(message.height, message.step)[:, : message.width * channels * dtype.itemsize]
    pixels = np.ascontiguousarray(rows).view(dtype).astype(dtype.newbyteorder("="))
    shape = (message.height, message.width, channels) if channels > 1 else (message.height, message.width)
    return Image(pixels.reshape(shape), *_header(message), message.encoding)


def _cloud(message: Any) -> Cloud:
    order = ">" if message.is_bigendian else "<"
    dtype = np.dtype({
        "names": [field.name for field in message.fields],
        "formats": [(order + POINT_FIELDS[field.datatype], (field.count,) if field.count > 1 else ()) for field in message.fields],
        "offsets": [field.offset for field in message.fields],
        "itemsize": message.point_step,
    })  # fmt: skip
    rows = message.data.reshape(message.height, message.row_step)[:, : message.width * message.point_step]
    fields = np.array(np.ascontiguousarray(rows).reshape(-1).view(dtype))
    points = np.stack([fields[axis] for axis in "xyz"], axis=1).astype(np.float32)
    return Cloud(points, fields, *_header(message))
