#!/usr/bin/env python3
"""Message packages for the ROS 2 that `scripts/ros_prefix.sh` makes of PyPI's wheels: for tests only.

    ros_test_messages.py sources DIRECTORY     packages that package.xml needs and that are not installed, as sources for
                                               colcon, from msg/definitions.txt
    ros_test_messages.py rust DIRECTORY        the Rust code of all packages that package.xml needs, as an overlay

No registry has rosidl_generator_rs. What is written here in its place has the same names and layouts, as far as rclrs and
the bridge use them: messages and services with the C type support, in the files that the crate ros-env includes. Actions
have their messages and services, but not the trait for rclrs's own actions. Run it with the Python of the prefix.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

from rosidl_adapter.parser import (
    Constant,
    Field,
    MessageSpecification,
    Type,
    parse_action_file,
    parse_message_file,
    parse_service_file,
)

from ros_messages import OPTIONAL, ROOT, Package, depends, everything, find, needed

# Of packages whose version the bridge or a test asks for.
VERSIONS = {'simulation_interfaces': '2.1.0'}
CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project({name} C CXX)
foreach(needed ament_cmake rosidl_default_generators {dependencies})
  find_package(${{needed}} REQUIRED)
endforeach()
rosidl_generate_interfaces(${{PROJECT_NAME}} {files} DEPENDENCIES {dependencies})
ament_package()
"""
MANIFEST = """\
<package format="3">
  <name>{name}</name>
  <version>{version}</version>
  <description>Made of msg/definitions.txt, for tests</description>
  <maintainer email="nobody@example.com">nobody</maintainer>
  <license>see the package of this name</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  {depends}
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""


def write(path: Path, text: str) -> None:
    """Writes a file, unless it is the same already: what is new is compiled."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def sources(output: Path) -> None:
    """Writes the packages that no prefix has."""
    packages: dict[str, dict[str, str]] = defaultdict(dict)
    for file in (ROOT / 'msg/definitions.txt').read_text().split('\n== ')[1:]:
        name, _, text = file.partition('\n')
        package, kind, stem = name.split('/')
        packages[package][f'{kind}/{stem}.{kind}'] = text.strip() + '\n'
    wanted = {*depends(ROOT / 'package.xml'), *OPTIONAL}
    for name, files in packages.items():
        if name not in wanted or find(f'share/{name}/package.xml'):
            continue
        used = set(re.findall(r'^(\w+)/', '\n'.join(files.values()), re.MULTILINE))
        used |= {'action_msgs'} if any(path.startswith('action/') for path in files) else set()
        used |= {'service_msgs', 'builtin_interfaces'} if any(path.startswith('srv/') for path in files) else set()
        used = sorted(used - {name})
        for path, text in files.items():
            write(output / name / path, text)
        tags = '\n  '.join(f'<depend>{package}</depend>' for package in used)
        version = VERSIONS.get(name, '1.0.0')
        write(output / name / 'package.xml', MANIFEST.format(name=name, version=version, depends=tags))
        listed = '\n  '.join(['', *sorted(files), ''])
        cmake = CMAKE.format(name=name, dependencies=' '.join(used), files=listed)
        write(output / name / 'CMakeLists.txt', cmake)
        print(f'ros_test_messages: {name}, {len(files)} interfaces')


PRIMITIVES = {
    'bool': 'bool', 'byte': 'u8', 'char': 'u8', 'float32': 'f32', 'float64': 'f64',
    **{f'{sign}int{bits}': f'{rust}{bits}' for sign, rust in (('', 'i'), ('u', 'u')) for bits in (8, 16, 32, 64)},
}  # fmt: skip
TEXTS = {'string': 'String', 'wstring': 'WString'}
# Strict and reserved words of Rust that may be the name of a field.
KEYWORDS = set(
    """abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl
    in let loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof
    unsafe unsized use virtual where while yield""".split()
)
RUNTIME = 'rosidl_runtime_rs'
SERDE = '#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]'
BIG_ARRAY = '#[cfg_attr(feature = "serde", serde(with = "serde_big_array::BigArray"))]'


class Member:
    """A field in Rust: in a structure with Rust's own containers, and in one with the layout in C (`native`)."""

    def __init__(self, package: str, field: Field):
        self.package, self.kind = package, field.type
        self.name = f'{field.name}_' if field.name in KEYWORDS else field.name

    @property
    def bounded(self) -> bool:
        """Sequences and strings with a bound have one form only."""
        return bool(self.kind.is_upper_bound or self.kind.string_upper_bound)

    @property
    def copied(self) -> bool:
        """Is an item a number?"""
        return self.kind.type in PRIMITIVES and self.kind.pkg_name is None

    def item(self, native: bool) -> str:
        """Type of one item."""
        kind = self.kind
        if self.copied:
            return PRIMITIVES[kind.type]
        if kind.pkg_name is None:
            if kind.string_upper_bound:
                return f'{RUNTIME}::Bounded{TEXTS[kind.type]}<{kind.string_upper_bound}>'
            return f'{RUNTIME}::{TEXTS[kind.type]}' if native else 'std::string::String'
        # These files are included as `package::msg` and `package::msg::rmw`.
        own = 'super::super' if native else 'super'
        package = own if kind.pkg_name == self.package else kind.pkg_name
        # Only parts of actions contain parts of actions.
        folder = 'action' if re.search(r'_(Goal|Result|Feedback)$', kind.type) else 'msg'
        return f'{package}::{folder}::{"rmw::" * native}{kind.type}'

    def type(self, native: bool) -> str:
        """Type of the field."""
        kind = self.kind
        if not kind.is_array:
            return self.item(native)
        if kind.is_fixed_size_array():
            return f'[{self.item(native)}; {kind.array_size}]'
        if kind.is_upper_bound:
            # Its items are in the layout of C in both forms.
            item = self.item(True)
            item = item if native else item.replace('super::super', 'super', 1)
            return f'{RUNTIME}::BoundedSequence<{item}, {kind.array_size}>'
        return f'{RUNTIME}::Sequence<{self.item(True)}>' if native else f'Vec<{self.item(False)}>'

    def declaration(self, native: bool) -> str:
        """The field in a structure."""
        big = bool(self.kind.is_fixed_size_array() and self.kind.array_size > 32)
        return f'{BIG_ARRAY} ' * big + f'pub {self.name}: {self.type(native)}, '

    def to_native(self) -> str:
        """An expression for `m`, which is borrowed."""
        place, kind = f'm.{self.name}', self.kind
        if self.bounded:
            return f'{place}.clone()'
        one = 'v.as_str().into()'
        if kind.pkg_name:
            one = f'{RUNTIME}::Message::into_rmw_message(std::borrow::Cow::Borrowed(v)).into_owned()'
        if not kind.is_array:
            return place if self.copied else f'{{ let v = &{place}; {one} }}'
        if kind.is_fixed_size_array():
            return place if self.copied else f'{place}.each_ref().map(|v| {one})'
        return f'{place}.as_slice().into()' if self.copied else f'{place}.iter().map(|v| {one}).collect()'

    def from_native(self) -> str:
        """An expression for `m`, which is consumed."""
        place, kind = f'm.{self.name}', self.kind
        if self.bounded:
            return place
        one = 'v.to_string()' if kind.pkg_name is None else f'{RUNTIME}::Message::from_rmw_message(v)'
        if not kind.is_array:
            return place if self.copied else f'{{ let v = {place}; {one} }}'
        if kind.is_fixed_size_array():
            return place if self.copied else f'{place}.map(|v| {one})'
        return f'{place}.into()' if self.copied else f'{place}.into_iter().map(|v| {one}).collect()'


def constant(one: Constant) -> str:
    """A constant in Rust."""
    if one.type in TEXTS:
        escaped = one.value.replace('\\', '\\\\').replace('"', '\\"')
        return f'pub const {one.name}: &\'static str = "{escaped}"; '
    kind = PRIMITIVES[one.type]
    value = str(one.value).lower() if kind == 'bool' else repr(float(one.value)) if kind[0] == 'f' else one.value
    return f'pub const {one.name}: {kind} = {value}; '


def message(package: str, kind: str, spec: MessageSpecification | SimpleNamespace) -> tuple[str, str]:
    """A message with Rust's containers, and in the layout of C."""
    name, symbol = spec.msg_name, f'{package}__{kind}__{spec.msg_name}'
    fields = spec.fields or [Field(Type('uint8'), 'structure_needs_at_least_one_member')]
    members = [Member(package, field) for field in fields]
    constants = ''.join(constant(one) for one in spec.constants)

    def structure(native: bool) -> str:
        fields = ''.join(member.declaration(native) for member in members)
        return f"""
{'#[repr(C)] ' * native}{SERDE}
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct {name} {{ {fields}}}
impl {name} {{ {constants}}}"""

    there = ', '.join(f'{member.name}: {member.to_native()}' for member in members)
    back = ', '.join(f'{member.name}: {member.from_native()}' for member in members)
    rust = f"""{structure(False)}
impl Default for {name} {{
    fn default() -> Self {{ {RUNTIME}::Message::from_rmw_message(rmw::{name}::default()) }}
}}
impl {RUNTIME}::Message for {name} {{
    type RmwMsg = rmw::{name};
    fn into_rmw_message(m: std::borrow::Cow<'_, Self>) -> std::borrow::Cow<'_, Self::RmwMsg> {{
        std::borrow::Cow::Owned(rmw::{name} {{ {there} }})
    }}
    fn from_rmw_message(m: Self::RmwMsg) -> Self {{ Self {{ {back} }} }}
}}
"""
    sequence = f'{RUNTIME}::Sequence<{name}>'
    native = f"""{structure(True)}
#[link(name = "{package}__rosidl_typesupport_c")]
unsafe extern "C" {{
    fn rosidl_typesupport_c__get_message_type_support_handle__{symbol}() -> *const std::ffi::c_void;
}}
#[link(name = "{package}__rosidl_generator_c")]
unsafe extern "C" {{
    fn {symbol}__init(message: *mut {name}) -> bool;
    fn {symbol}__Sequence__init(items: *mut {sequence}, size: usize) -> bool;
    fn {symbol}__Sequence__fini(items: *mut {sequence});
    fn {symbol}__Sequence__copy(from: *const {sequence}, to: *mut {sequence}) -> bool;
}}
impl Default for {name} {{
    fn default() -> Self {{
        let mut message = std::mem::MaybeUninit::<Self>::zeroed();
        // SAFETY: rosidl initialises a message of this layout, whose bytes are 0.
        unsafe {{
            assert!({symbol}__init(message.as_mut_ptr()), "out of memory");
            message.assume_init()
        }}
    }}
}}
impl {RUNTIME}::SequenceAlloc for {name} {{
    fn sequence_init(items: &mut {RUNTIME}::Sequence<Self>, size: usize) -> bool {{
        unsafe {{ {symbol}__Sequence__init(items, size) }}
    }}
    fn sequence_fini(items: &mut {RUNTIME}::Sequence<Self>) {{ unsafe {{ {symbol}__Sequence__fini(items) }} }}
    fn sequence_copy(from: &{RUNTIME}::Sequence<Self>, to: &mut {RUNTIME}::Sequence<Self>) -> bool {{
        unsafe {{ {symbol}__Sequence__copy(from, to) }}
    }}
}}
impl {RUNTIME}::Message for {name} {{
    type RmwMsg = Self;
    fn into_rmw_message(m: std::borrow::Cow<'_, Self>) -> std::borrow::Cow<'_, Self> {{ m }}
    fn from_rmw_message(m: Self) -> Self {{ m }}
}}
impl {RUNTIME}::RmwMessage for {name} {{
    const TYPE_NAME: &'static str = "{package}/{kind}/{name}";
    fn get_type_support() -> *const std::ffi::c_void {{
        unsafe {{ rosidl_typesupport_c__get_message_type_support_handle__{symbol}() }}
    }}
}}
"""
    return rust, native


def service(package: str, kind: str, name: str) -> tuple[str, str]:
    """The mark of a service, in either form."""
    handle = f'rosidl_typesupport_c__get_service_type_support_handle__{package}__{kind}__{name}'
    text = f"""
pub struct {name};
impl {RUNTIME}::Service for {name} {{
    type Request = {name}_Request;
    type Response = {name}_Response;
    fn get_type_support() -> *const std::ffi::c_void {{
        #[link(name = "{package}__rosidl_typesupport_c")]
        unsafe extern "C" {{ fn {handle}() -> *const std::ffi::c_void; }}
        unsafe {{ {handle}() }}
    }}
}}
"""
    return text, text


def action(package: str, name: str, path: Path) -> list[tuple[str, str]]:
    """Messages and services of an action, and its mark."""
    spec = parse_action_file(package, str(path))
    identity = Field(Type('unique_identifier_msgs/UUID'), 'goal_id')

    # rosidl's own class refuses these names.
    def part(suffix: str, *fields: Field) -> SimpleNamespace:
        return SimpleNamespace(msg_name=f'{name}{suffix}', fields=fields, constants=[])

    def own(suffix: str, field: str) -> Field:
        return Field(Type(f'{package}/{name}{suffix}'), field)

    parts = [
        spec.goal,
        spec.result,
        spec.feedback,
        part('_FeedbackMessage', identity, own('_Feedback', 'feedback')),
        part('_SendGoal_Request', identity, own('_Goal', 'goal')),
        part('_SendGoal_Response', Field(Type('bool'), 'accepted'), Field(Type('builtin_interfaces/Time'), 'stamp')),
        part('_GetResult_Request', identity),
        part('_GetResult_Response', Field(Type('int8'), 'status'), own('_Result', 'result')),
    ]
    mark = f'pub struct {name};\n'
    return [
        *(message(package, 'action', one) for one in parts),
        *(service(package, 'action', f'{name}_{suffix}') for suffix in ('SendGoal', 'GetResult')),
        (mark, ''),
    ]


def interfaces(package: Package, kind: str) -> list[tuple[str, str]]:
    """The Rust code of each file of a kind, in both forms."""
    name, found = package.name, []
    for path in sorted((package.share / kind).glob(f'*.{kind}')):
        if kind == 'msg':
            found.append(message(name, kind, parse_message_file(name, str(path))))
        elif kind == 'srv':
            spec = parse_service_file(name, str(path))
            found += [message(name, kind, one) for one in (spec.request, spec.response)]
            found.append(service(name, kind, spec.srv_name))
        else:
            found += action(name, path.stem, path)
    return found


def rust(output: Path) -> None:
    """Writes the overlay."""
    packages, absent = needed()
    if absent:
        sys.exit(f'ros_test_messages: not installed: {" ".join(absent)}')
    own = find('share/rfly_bridge_msgs/package.xml')
    if own:
        packages['rfly_bridge_msgs'] = Package('rfly_bridge_msgs', own)
    for package in packages.values():
        directory = output / 'share' / package.name / 'rust'
        others = [name for name in everything(package, packages) if name in packages]
        dependencies = '\n'.join(f'{name} = "*"' for name in others)
        manifest = f"""\
[package]
name = "{package.name}"
version = "{package.version}"
edition = "2021"

[dependencies]
{dependencies}

[package.metadata.ros-env]
include = true
"""
        write(directory / 'Cargo.toml', manifest)
        write(directory / 'src/lib.rs', '')
        for kind in ('msg', 'srv', 'action'):
            code = interfaces(package, kind)
            if code:
                write(directory / f'src/{kind}.rs', ''.join(rust for rust, _ in code))
                write(directory / f'src/{kind}/rmw.rs', ''.join(native for _, native in code))
        # By this colcon-ros-cargo finds it.
        write(output / 'share/ament_index/resource_index/rust_packages' / package.name, '')
    print(f'ros_test_messages: Rust code of {len(packages)} packages')


if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[1] not in ('sources', 'rust'):
        sys.exit(__doc__)
    {'sources': sources, 'rust': rust}[sys.argv[1]](Path(sys.argv[2]).resolve())
