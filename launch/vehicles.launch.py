"""Starts several bridges from one YAML file, one process per entry; config/vehicles.yaml explains the entries.

    ros2 launch rfly_bridge vehicles.launch.py emulator:=true
    ros2 launch rfly_bridge vehicles.launch.py vehicles_file:=/path/to/vehicles.yaml

One process serves all vehicles of its Config.json, so an entry is a renderer window or a simulator host, not a
vehicle. They are processes because they have nothing in common: a wrong configuration, a crash or a busy thread of one
does not touch the others.
"""

import os
import sys
from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

sys.path.insert(0, str(Path(__file__).resolve().parent))
import rfly_launch as rfly  # noqa: E402

SHARE = Path(__file__).resolve().parents[1]

ARGUMENTS = [
    {
        'name': 'vehicles_file',
        'default': str(SHARE / 'config' / 'vehicles.yaml'),
        'description': 'list of bridges; the default is an example that explains every key',
    },
    {
        'name': 'emulator',
        'default': 'false',
        'description': 'true: start the emulated simulator for all bridges whose simulator is on this machine',
        'choices': ['true', 'false'],
    },
    {
        'name': 'emulator_args',
        'default': '',
        'description': "further options of the emulator, for example '--hover' (rflysim_emulator --help)",
    },
    *rfly.PROCESS_ARGUMENTS,
]


def nodes(context):
    """Returns everything that is started, now that the arguments have values."""
    value = {argument['name']: LaunchConfiguration(argument['name']).perform(context) for argument in ARGUMENTS}
    bridges = rfly.load_bridges(Path(value['vehicles_file']).expanduser())
    actions = []
    if value['emulator'] == 'true':
        local = [bridge for bridge in bridges if bridge.local]
        vehicles = [vehicle for bridge in local for vehicle in bridge.vehicles]
        window = max((bridge.window for bridge in local), default=0)
        actions.append(
            Node(
                package='rfly_bridge',
                executable='rflysim_emulator',
                output='screen',
                arguments=rfly.emulator_arguments(value['emulator_args'], vehicles, window),
            )
        )
    environment = rfly.dds_environment(value['dds_profile'], SHARE / 'config', os.environ)
    respawn = value['respawn'] == 'true'
    rfly.introduce(bridges)
    for bridge in bridges:
        actions.append(
            Node(
                package='rfly_bridge',
                executable='rfly_bridge',
                name=f'rfly_bridge_{bridge.id}',
                exec_name=bridge.id,
                namespace=bridge.namespace or None,
                output='screen',
                ros_arguments=rfly.ros_arguments(
                    bridge.settings, params_file=bridge.params_file, log_level=value['log_level']
                ),
                additional_env=environment,
                respawn=respawn,
                respawn_delay=2.0,
                on_exit=None if respawn else rfly.ended(f'bridge {bridge.id}', Shutdown),
            )
        )
    return actions


def generate_launch_description():
    """Declares the arguments and starts the nodes."""
    declared = [
        DeclareLaunchArgument(
            argument['name'],
            default_value=argument['default'],
            description=argument['description'],
            choices=argument.get('choices'),
        )
        for argument in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
