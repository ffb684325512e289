"""What the launch files decide, without `launch`: it can be tested where ROS is not installed.

Parameters go to the bridge on its command line (`-p name:=value`), not through the temporary files of `launch_ros`:
there the order of the command line decides, whereas among files a section with the node's name beats one with `/**`.
"""

from __future__ import annotations

import difflib
import ipaddress
import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml


# How each process of the bridge is run.
PROCESS_ARGUMENTS = [
    {
        'name': 'dds_profile',
        'default': 'true',
        'description': 'true: DDS settings for big messages (config/*_bridge.xml) for the bridge alone; never in place '
        'of settings of yours',
        'choices': ['true', 'false'],
    },
    {
        'name': 'log_level',
        'default': 'info',
        'description': 'how much the bridge prints',
        'choices': ['debug', 'info', 'warn', 'error'],
    },
    {
        'name': 'respawn',
        'default': 'false',
        'description': 'true: start the bridge again 2 s after it ended; false: the launch ends when a bridge ends',
        'choices': ['true', 'false'],
    },
]


def text(value: str) -> str:
    """A string as `-p` wants it: quoted, so that YAML takes neither `on` nor `1` for something else."""
    return json.dumps(value, ensure_ascii=False)


def raw(value: str) -> str:
    """Numbers and lists, as the user wrote them."""
    return value


def paths(value: str) -> str:
    """One path, or a list of paths in YAML."""
    return value if value.startswith('[') else text(value)


def ros_arguments(
    settings: Mapping[str, str], *, defaults: Mapping[str, str] = {}, params_file: str = '', log_level: str = ''
) -> list[str]:
    """What follows `--ros-args`: defaults, then the user's file, then single parameters; the later one wins."""
    arguments = []
    for name, value in defaults.items():
        arguments += ['-p', f'{name}:={value}']
    if params_file:
        arguments += ['--params-file', params_file]
    for name, value in settings.items():
        arguments += ['-p', f'{name}:={value}']
    if log_level:
        arguments += ['--log-level', log_level]
    return arguments


def emulator_arguments(extra: str, vehicles: list[int], window: int = 0) -> list[str]:
    """The emulator's command line: as many vehicles and windows as the bridge asks for, unless `extra` says so."""
    arguments = shlex.split(extra)
    given = {word.split('=')[0] for word in arguments}
    if vehicles and not given & {'--vehicles', '--pose'}:
        arguments += ['--vehicles', str(max(vehicles))]
    if window and '--windows' not in given:
        arguments += ['--windows', str(window + 1)]
    return arguments


def below(namespace: str, prefix: str) -> str:
    """The topic prefix as the bridge resolves it: below the node's namespace unless it is absolute."""
    return prefix if prefix.startswith('/') else f'{namespace.rstrip("/")}/{prefix}'


def vehicle_numbers(value: str) -> list[int]:
    """The launch argument `vehicles`; what is no list of numbers is left to the bridge, which says what is wrong."""
    try:
        found = yaml.safe_load(value) if value else []
    except yaml.YAMLError:
        return []
    return [v for v in found if isinstance(v, int)] if isinstance(found, list) else []


def dds_environment(choice: str, config: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for the bridge's process; never in place of the user's own."""
    if choice == 'false':
        return {}
    profiles = {
        'CYCLONEDDS_URI': f'file://{config}/cyclonedds_bridge.xml',
        'FASTRTPS_DEFAULT_PROFILES_FILE': f'{config}/fastdds_bridge.xml',
        'FASTDDS_DEFAULT_PROFILES_FILE': f'{config}/fastdds_bridge.xml',
    }
    # The two names of Fast DDS are one setting.
    fast = {'FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE'}
    taken = {name for name in profiles if environment.get(name)}
    if taken & fast:
        taken |= fast
    return {name: value for name, value in profiles.items() if name not in taken}


def ended(name: str, shutdown: Callable):
    """Ends the launch together with a bridge; after a failure of its own, so does the exit code of `ros2 launch`."""

    def handler(event, context):
        if event.returncode and not context.is_shutdown:
            raise RuntimeError(f'{name} has failed with exit code {event.returncode}')
        return shutdown(reason=f'{name} has ended')

    return handler


# ---- vehicles.yaml ----


class Problems(Exception):
    """Everything that is wrong with a file, with the path of each value."""

    def __init__(self, file: str, found: list[tuple[str, str]]):
        self.file, self.found = file, found
        width = max((len(path) for path, _ in found), default=0)
        count = '1 problem' if len(found) == 1 else f'{len(found)} problems'
        lines = [f'{file}: {count}', *(f'  {path:{width}}  {message}' for path, message in found)]
        super().__init__('\n'.join(lines))


@dataclass
class Bridge:
    """One bridge process."""

    id: str
    namespace: str = ''
    params_file: str = ''
    window: int = 0
    vehicles: list[int] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def local(self) -> bool:
        """Is its simulator on this machine?"""
        return json.loads(self.settings.get('simulator_address', '"127.0.0.1"')).startswith('127.')


_WORDS = ('on', 'off', 'yes', 'no', 'y', 'n')


class _Words(yaml.SafeLoader):
    """YAML in which `on`, `off`, `yes` and `no` stay words: the bridge knows which parameters are texts."""

    yaml_implicit_resolvers = {
        first: [rule for rule in rules if rule[0] != 'tag:yaml.org,2002:bool']
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Words.add_implicit_resolver('tag:yaml.org,2002:bool', re.compile(r'(?:true|True|TRUE|false|False|FALSE)$'), list('tTfF'))


def load_bridges(file: Path) -> list[Bridge]:
    """Reads vehicles.yaml, or raises [`Problems`] with all of them."""
    try:
        content = yaml.load(file.read_text(), _Words)
    except OSError as error:
        raise Problems(str(file), [('file', f'cannot be read: {error.strerror}')]) from error
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        place = f'line {mark.line + 1}' if mark else 'file'
        raise Problems(str(file), [(place, f'invalid YAML: {getattr(error, "problem", error)}')]) from error
    reader = _Reader(file.resolve().parent)
    bridges = reader.read(content)
    if reader.problems:
        raise Problems(str(file), reader.problems)
    return bridges


def introduce(bridges: list[Bridge]) -> None:
    """Tells every bridge which vehicles the others serve, as far as the file names them."""
    for bridge in bridges:
        others = sorted(v for other in bridges if other is not bridge for v in other.vehicles)
        if others:
            bridge.settings.setdefault('other_vehicles', _yaml(others))


def _name(value: object) -> str | None:
    if isinstance(value, str) and re.fullmatch(r'[A-Za-z][A-Za-z0-9_]*', value):
        return None
    return f'must be a name of letters, digits and _, is {value!r}'


def _topic(value: object) -> str | None:
    if isinstance(value, str) and re.fullmatch(r'/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*', value):
        return None
    return f'must be a topic name or namespace, is {value!r}'


def _address(value: object) -> str | None:
    try:
        ipaddress.IPv4Address(value if isinstance(value, str) else '')
    except ValueError:
        return f'must be an IPv4 address, is {value!r}'
    return None


def _text(value: object) -> str | None:
    return None if isinstance(value, str) else f'must be text, is {value!r}'


def _files(value: object) -> str | None:
    if isinstance(value, str) or (isinstance(value, list) and value and all(isinstance(v, str) for v in value)):
        return None
    return f'must be a path or a list of paths, is {value!r}'


def _is_integer(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _window(value: object) -> str | None:
    return None if _is_integer(value, 0, 19) else f'must be in 0..=19, is {value!r}'


def _vehicles(value: object) -> str | None:
    if isinstance(value, list) and value and all(_is_integer(v, 1, 10000) for v in value):
        return None
    return f'must be a list of numbers in 1..=10000, is {value!r}'


def _mapping(value: object) -> str | None:
    return None if isinstance(value, dict) else f'must be a mapping of parameters, is {value!r}'


# Key, check.
KEYS: dict[str, Callable[[object], str | None]] = {
    'id': _name,
    'namespace': _topic,
    'topic_prefix': _topic,
    'frame_prefix': _text,
    'config': _files,
    'params_file': _text,
    'simulator_address': _address,
    'receive_address': _address,
    'window': _window,
    'vehicles': _vehicles,
    'parameters': _mapping,
}
# Keys that are parameters of the same name.
PARAMETERS = {'topic_prefix', 'frame_prefix', 'simulator_address', 'receive_address', 'window', 'vehicles', 'config'}


class _Reader:
    def __init__(self, folder: Path):
        self.folder = folder
        self.problems: list[tuple[str, str]] = []

    def read(self, content: object) -> list[Bridge]:
        if not isinstance(content, dict) or not isinstance(content.get('bridges'), list):
            self.problems.append(('bridges', 'is missing: a list with one entry per bridge process'))
            return []
        for key in content:
            if key != 'bridges':
                self._unknown(str(key), key, ['bridges'])
        if not content['bridges']:
            self.problems.append(('bridges', 'is empty'))
        bridges = [self._entry(f'bridges[{i}]', entry) for i, entry in enumerate(content['bridges'])]
        entries = content['bridges']
        self._once('id', [[e['id']] if isinstance(e, dict) and not _name(e.get('id')) else [] for e in entries])
        # True state and IMU of a vehicle arrive at ports that belong to its number.
        vehicles = [e.get('vehicles', []) if isinstance(e, dict) else [] for e in entries]
        self._once('vehicles', [v if not _vehicles(v) else [] for v in vehicles])
        return [bridge for bridge in bridges if bridge]

    def _unknown(self, path: str, key: object, known: list[str]) -> None:
        near = difflib.get_close_matches(str(key), known, 1)
        self.problems.append((path, 'unknown key' + (f'; did you mean "{near[0]}"?' if near else '')))

    def _entry(self, path: str, entry: object) -> Bridge | None:
        if not isinstance(entry, dict):
            self.problems.append((path, f'must be a mapping, is {entry!r}'))
            return None
        before = len(self.problems)
        for key, value in entry.items():
            if key not in KEYS:
                self._unknown(f'{path}.{key}', key, list(KEYS))
            elif why := KEYS[key](value):
                self.problems.append((f'{path}.{key}', why))
        if 'id' not in entry:
            self.problems.append((f'{path}.id', 'is missing'))
        if isinstance(entry.get('parameters'), dict):
            self._parameters(path, entry)
        if len(self.problems) > before:
            return None
        params_file = entry.get('params_file', '')
        bridge = Bridge(
            id=entry['id'],
            namespace=entry.get('namespace', ''),
            params_file=self._file(f'{path}.params_file', params_file) if params_file else '',
            window=entry.get('window', 0),
            vehicles=entry.get('vehicles', []),
        )
        settings = {key: value for key, value in entry.items() if key in PARAMETERS}
        if 'config' in settings:
            files = [settings['config']] if isinstance(settings['config'], str) else settings['config']
            settings['config'] = [self._file(f'{path}.config', file) for file in files]
        bridge.settings = {name: _yaml(value) for name, value in {**settings, **entry.get('parameters', {})}.items()}
        return bridge

    def _parameters(self, path: str, entry: dict) -> None:
        for name, value in entry['parameters'].items():
            where = f'{path}.parameters.{name}'
            flat = value if isinstance(value, list) else [value]
            if name in KEYS:
                self.problems.append((where, f'belongs to {path}.{name}'))
            elif not all(isinstance(v, (bool, int, float, str)) for v in flat):
                self.problems.append((where, f'must be a value or a list of values, is {value!r}; write nested names with dots'))

    def _file(self, path: str, name: str) -> str:
        file = self.folder / Path(name).expanduser()
        if not file.is_file():
            self.problems.append((path, f'there is no file {str(file)!r}'))
        return str(file)

    def _once(self, key: str, values: list[list]) -> None:
        """Notes values that more than one entry has; `values` has a list for each entry."""
        owners: dict[object, int] = {}
        for index, used in enumerate(values):
            for value in used:
                if owners.setdefault(value, index) != index:
                    where = f'bridges[{owners[value]}]'
                    self.problems.append((f'bridges[{index}].{key}', f'{value!r} is also used by {where}'))


def _yaml(value: object) -> str:
    """A value as `-p` wants it; JSON is YAML. Words without quotes are a text or a boolean, as the parameter has it."""
    if isinstance(value, str) and value.lower() in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def demo_config(share: str | os.PathLike) -> str:
    """The sensors that the launch files ask for unless told otherwise."""
    return text(str(Path(share) / 'config' / 'Config.json'))
