"""Starts the programs under test through the Python package `rfly_bridge`."""

from __future__ import annotations

import pytest
from backend import environment
from processes import binary

import rfly_bridge


def variables(domain_id: int) -> dict[str, str]:
    """What names the programs and their domain to the package."""
    programs = {"RFLY_BRIDGE": binary("rfly_bridge", "RFLY_BRIDGE"), "RFLY_EMULATOR": binary("rflysim_emulator", "RFLY_EMULATOR")}
    return environment(domain_id) | {name: str(path) for name, path in programs.items()}


def start(domain_id: int, **options: object) -> rfly_bridge.Sim:
    """`rfly_bridge.start` with the programs under test."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables(domain_id).items():
            patch.setenv(name, value)
        return rfly_bridge.start(domain_id=domain_id, **options)
