#!/usr/bin/env python3
"""Rust code for message packages that are installed without, as binary packages of Humble and Jazzy are.

    ros_messages.py list                       which packages package.xml needs, with all that they need themselves, and
                                               those that the bridge uses if they are there
    ros_messages.py check                      the same, but only those without Rust code; fails for those not installed
    ros_messages.py generate DIRECTORY         makes the Rust code of these, as an overlay

Nothing is cloned and nothing is compiled: the installed .idl files and the C type support beside them are what the generator
of ros2-rust (rosidl_generator_rs, found by AMENT_PREFIX_PATH) wants. Run it with the Python of the sourced workspace.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = 'rfly_bridge_msgs'
# The bridge is built without the topics and services of these where they are not installed (build.rs).
OPTIONAL = ('grid_map_msgs', 'livox_ros_driver2', 'simulation_interfaces', 'visualization_msgs')
# What every package with services or actions needs since Iron; its .idl files do not say so.
EVENTS = 'service_msgs'
TYPE_SUPPORTS = 'rosidl_typesupport_c;rosidl_typesupport_introspection_c'


def prefixes() -> list[Path]:
    """Prefixes of the sourced workspace, the uppermost first."""
    found = [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(':') if p]
    if not found:
        sys.exit('ros_messages: source a ROS 2 workspace first')
    return found


def find(relative: str) -> Path | None:
    """The first prefix that has this file or directory."""
    return next((prefix for prefix in prefixes() if (prefix / relative).exists()), None)


def depends(manifest: Path) -> list[str]:
    """Packages that a package.xml depends on."""
    return [element.text.strip() for element in ElementTree.parse(manifest).getroot().iter('depend') if element.text]


class Package:
    """An installed message package."""

    def __init__(self, name: str, prefix: Path):
        self.name, self.share = name, prefix / 'share' / name
        self.idl = sorted(path for kind in ('msg', 'srv', 'action') for path in (self.share / kind).glob('*.idl'))
        manifest = ElementTree.parse(self.share / 'package.xml').getroot()
        self.version = manifest.findtext('version', '0.0.0').strip()

    def includes(self) -> set[str]:
        """Packages whose messages these ones have as fields, or that the generator adds."""
        found = set()
        for path in self.idl:
            found |= set(re.findall(r'^#include "([^/"]+)/', path.read_text(), re.MULTILINE))
            if path.parent.name == 'action':
                found |= {'action_msgs', 'unique_identifier_msgs', 'builtin_interfaces'}
        if any(path.parent.name != 'msg' for path in self.idl) and find(f'share/{EVENTS}'):
            found |= {EVENTS, 'builtin_interfaces'}
        return found - {self.name}

    @property
    def has_rust(self) -> bool:
        """Is its Rust code there, in whatever prefix?"""
        return find(f'share/{self.name}/rust/Cargo.toml') is not None


def needed() -> tuple[dict[str, Package], list[str]]:
    """Message packages that package.xml names, optional ones, and those that they need, by name; and those that are not installed."""
    packages: dict[str, Package] = {}
    absent: list[str] = []
    wanted = [name for name in depends(ROOT / 'package.xml') if name != OURS]
    wanted += [name for name in OPTIONAL if find(f'share/{name}/package.xml')]
    while wanted:
        name = wanted.pop()
        if name in packages or name in absent:
            continue
        # An overlay of ours has the Rust code only.
        prefix = find(f'share/{name}/package.xml')
        if prefix is None:
            absent.append(name)
            continue
        package = Package(name, prefix)
        if package.idl:
            packages[name] = package
            wanted += package.includes()
    return dict(sorted(packages.items())), sorted(absent)


def everything(package: Package, packages: dict[str, Package]) -> list[str]:
    """All packages that one needs, directly or not: ros-env leaves modules out whose dependencies are not named."""
    found: set[str] = set()
    wanted = package.includes()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted |= packages[name].includes()
    return sorted(found - {package.name})


def generate(package: Package, packages: dict[str, Package], output: Path) -> None:
    """Makes the Rust code of one package below output/share/NAME/rust."""
    prefix = find('lib/rosidl_generator_rs/rosidl_generator_rs')
    if prefix is None:
        sys.exit('ros_messages: rosidl_generator_rs is not in this workspace')
    share = output / 'share' / package.name
    arguments = {
        'package_name': package.name,
        'package_version': package.version,
        'idl_tuples': [f'{package.share}:{path.relative_to(package.share)}' for path in package.idl],
        'ros_interface_files': [str(path) for path in package.idl],
        'ros_interface_dependencies': [
            f'{name}:{path}' for name in everything(package, packages) for path in packages[name].idl
        ],
        'output_dir': str(share),
        'template_dir': str(prefix / 'share' / 'rosidl_generator_rs' / 'resource'),
        'target_dependencies': [str(path) for path in package.idl],
    }
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        json.dump(arguments, file)
        file.flush()
        command = [sys.executable, str(prefix / 'lib/rosidl_generator_rs/rosidl_generator_rs')]
        command += ['--generator-arguments-file', file.name, '--typesupport-impls', TYPE_SUPPORTS]
        subprocess.run(command, check=True)
    # By this colcon-ros-cargo finds it.
    marker = output / 'share/ament_index/resource_index/rust_packages' / package.name
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()


def main() -> None:
    """See above."""
    packages, absent = needed()
    if sys.argv[1:] == ['list']:
        print('\n'.join(packages))
        return
    if absent:
        distro = os.environ.get('ROS_DISTRO', '<distribution>')
        debs = ' '.join(f'ros-{distro}-{name.replace("_", "-")}' for name in absent)
        sys.exit(
            f'ros_messages: not installed: {" ".join(absent)}\n'
            f'  sudo apt install {debs}\n'
            f'  or, from the directory of the sources: rosdep install --from-paths . --ignore-src -y'
        )
    without = [package for package in packages.values() if not package.has_rust]
    if sys.argv[1:] == ['check']:
        print(' '.join(package.name for package in without))
    elif len(sys.argv) == 3 and sys.argv[1] == 'generate':
        begin = time.monotonic()
        for number, package in enumerate(without, 1):
            print(f'ros_messages: {number:2}/{len(without)} {package.name} ({len(package.idl)} interfaces)', flush=True)
            generate(package, packages, Path(sys.argv[2]).resolve())
        print(f'ros_messages: Rust code of {len(without)} packages in {time.monotonic() - begin:.0f} s')
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main()
