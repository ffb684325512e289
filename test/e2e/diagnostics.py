"""Reads the bridge's /diagnostics."""

from __future__ import annotations

from typing import Any


def number(text: str) -> float | str:
    """A value as a number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text


class Report:
    """One `diagnostic_msgs/DiagnosticArray`."""

    def __init__(self, message: Any):
        self.levels = {status.name: status.level for status in message.status}
        self.messages = {status.name: status.message for status in message.status}
        self.values = {status.name: {v.key: number(v.value) for v in status.values} for status in message.status}

    def find(self, text: str) -> dict[str, Any]:
        """Values of the one status whose name ends with `text`."""
        found = [name for name in self.values if name.endswith(text)]
        assert len(found) == 1, f"{found} end with {text!r}; there are {sorted(self.values)}"
        return self.values[found[0]]

    def sensor(self, seq: int) -> dict[str, Any]:
        """Values of the source of a sensor."""
        found = [name for name in self.values if f": sensor{seq} " in f"{name} "]
        assert len(found) == 1, f"{found} are sensor {seq}; there are {sorted(self.values)}"
        return self.values[found[0]]

    def drops(self, seq: int) -> dict[str, int]:
        """Drops of a sensor by cause."""
        return {k.removeprefix("drop_"): int(v) for k, v in self.sensor(seq).items() if k.startswith("drop_")}
