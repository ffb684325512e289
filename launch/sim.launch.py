"""Starts the bridge, and on request the emulated simulator, RViz and robot_state_publisher.

    ros2 launch rfly_bridge sim.launch.py emulator:=true rviz:=true
    ros2 launch rfly_bridge sim.launch.py config:=/path/to/Config.json simulator_address:=192.168.1.10

An empty argument is not passed on: the parameter file decides, else the default of the bridge.
"""

import os
import sys
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, Shutdown
from launch.substitutions import Command, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

sys.path.insert(0, str(Path(__file__).resolve().parent))
import rfly_launch as rfly  # noqa: E402

SHARE = Path(__file__).resolve().parents[1]

# `parameter` and `value`: the parameter of the bridge that the argument sets, and how its value is written.
ARGUMENTS = [
    {
        'name': 'config',
        'description': "the simulator's sensor list: a path, or '[a.json, b.json]'; empty: that of params_file, else "
        'the shipped config/Config.json, which has one sensor of every type',
        'parameter': 'config',
        'value': rfly.paths,
    },
    {'name': 'params_file', 'description': 'ROS parameter file of the bridge; config/bridge.yaml lists every parameter'},
    {
        'name': 'simulator_address',
        'description': 'IPv4 address of the host that runs RflySim3D and CopterSim; empty: 127.0.0.1',
        'parameter': 'simulator_address',
        'value': rfly.text,
    },
    {
        'name': 'receive_address',
        'description': 'IPv4 address of this host, if the simulator is on another one',
        'parameter': 'receive_address',
        'value': rfly.text,
    },
    {
        'name': 'window',
        'description': 'RflySim3D window that renders the sensors, 0 to 19',
        'parameter': 'window',
        'value': rfly.raw,
    },
    {
        'name': 'vehicles',
        'description': "CopterIDs, for example '[1, 2]'; empty: the vehicles that carry sensors",
        'parameter': 'vehicles',
        'value': rfly.raw,
    },
    {'name': 'namespace', 'description': 'namespace of the node, of its services and of ~/ topics'},
    {
        'name': 'topic_prefix',
        'description': 'put before the topics of sensors and vehicles; relative: below the namespace; empty: /rflysim',
        'parameter': 'topic_prefix',
        'value': rfly.text,
    },
    {
        'name': 'frame_prefix',
        'description': "put before the frames of a vehicle, {id} is its CopterID; empty: nothing for one vehicle, "
        'copter{id}/ for several',
        'parameter': 'frame_prefix',
        'value': rfly.text,
    },
    {
        'name': 'control',
        'description': 'how vehicles are controlled: mavlink_full, mavlink_simple, udp_full, udp_simple, ..., '
        'direct:[address:]port, serial:device[:baud] or off; empty: mavlink_full',
        'parameter': 'control.link',
        'value': rfly.text,
    },
    {
        'name': 'control_prefix',
        'description': 'put before the mavros-style topics and services, {id} is the CopterID and {n} too but nothing '
        'for 1; empty: mavros{n}',
        'parameter': 'control.prefix',
        'value': rfly.text,
    },
    {
        'name': 'tf_source',
        'description': 'pose of a vehicle in TF: truth (simulator), estimate (autopilot) or external',
        'choices': ['', 'truth', 'estimate', 'external'],
        'parameter': 'tf.source',
        'value': rfly.text,
    },
    {
        'name': 'world_convention',
        'description': 'axes of the map frame: enu as REP 103 says, nwu keeps the x axis of the simulator',
        'choices': ['', 'enu', 'nwu'],
        'parameter': 'world_convention',
        'value': rfly.text,
    },
    {
        'name': 'time_mode',
        'description': 'header.stamp: aligned (simulation time on the clock of this host), sim (simulation time; the '
        'bridge publishes /clock) or arrival',
        'choices': ['', 'aligned', 'sim', 'arrival'],
        'parameter': 'time.mode',
        'value': rfly.text,
    },
    {
        'name': 'use_sim_time',
        'default': 'auto',
        'description': 'of RViz and robot_state_publisher; auto: true with time_mode:=sim',
        'choices': ['auto', 'true', 'false'],
    },
    {
        'name': 'emulator',
        'default': 'false',
        'description': 'true: start the emulated simulator as well',
        'choices': ['true', 'false'],
    },
    {
        'name': 'emulator_args',
        'description': "further options of the emulator, for example '--hover --loss 0.01' (rflysim_emulator --help)",
    },
    {'name': 'rviz', 'default': 'false', 'description': 'true: start RViz', 'choices': ['true', 'false']},
    {'name': 'rviz_config', 'default': str(SHARE / 'config' / 'bridge.rviz'), 'description': 'configuration of RViz'},
    {
        'name': 'robot_description',
        'default': 'false',
        'description': 'true: robot_state_publisher publishes model and mounting frames instead of the bridge',
        'choices': ['true', 'false'],
    },
    *rfly.PROCESS_ARGUMENTS,
]


def installed(package):
    """Whether a package is there."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def nodes(context):
    """Returns everything that is started, now that the arguments have values."""
    value = {argument['name']: LaunchConfiguration(argument['name']).perform(context) for argument in ARGUMENTS}
    actions = []
    settings = {
        argument['parameter']: argument['value'](value[argument['name']])
        for argument in ARGUMENTS
        if 'parameter' in argument and value[argument['name']]
    }
    sim_time = value['use_sim_time'] == 'true' or (value['use_sim_time'] == 'auto' and value['time_mode'] == 'sim')
    if sim_time:
        settings['use_sim_time'] = 'true'
    common = {'params_file': value['params_file'], 'defaults': {'config': rfly.demo_config(SHARE)}}

    model = value['robot_description'] == 'true'
    if model and not installed('robot_state_publisher'):
        actions.append(LogInfo(msg='robot_description:=true needs the package robot_state_publisher, which is not installed; the bridge publishes the model'))
        model = False
    if model:
        program = Path(get_package_prefix('rfly_bridge')) / 'lib' / 'rfly_bridge' / 'rfly_bridge'
        command = [str(program), 'urdf', '--ros-args', *rfly.ros_arguments(settings, **common)]
        quoted = ' '.join(rfly.shlex.quote(word) for word in command)
        actions.append(
            Node(
                package='robot_state_publisher',
                executable='robot_state_publisher',
                namespace=rfly.below(value['namespace'], value['topic_prefix'] or 'rflysim'),
                output='screen',
                parameters=[
                    {
                        'robot_description': ParameterValue(Command(quoted), value_type=str),
                        'use_sim_time': sim_time,
                    }
                ],
            )
        )
        settings |= {'robot_description.publish': 'false', 'tf.publish_static': 'false'}

    if value['emulator'] == 'true':
        window = int(value['window']) if value['window'].isdigit() else 0
        extra = rfly.emulator_arguments(value['emulator_args'], rfly.vehicle_numbers(value['vehicles']), window)
        actions.append(
            Node(package='rfly_bridge', executable='rflysim_emulator', output='screen', arguments=extra)
        )

    environment = rfly.dds_environment(value['dds_profile'], SHARE / 'config', os.environ)
    respawn = value['respawn'] == 'true'
    actions.append(
        Node(
            package='rfly_bridge',
            executable='rfly_bridge',
            namespace=value['namespace'] or None,
            output='screen',
            ros_arguments=rfly.ros_arguments(settings, log_level=value['log_level'], **common),
            additional_env=environment,
            respawn=respawn,
            respawn_delay=2.0,
            on_exit=None if respawn else rfly.ended('the bridge', Shutdown),
        )
    )

    if value['rviz'] == 'true' and not installed('rviz2'):
        actions.append(LogInfo(msg='rviz:=true needs the package rviz2, which is not installed'))
    elif value['rviz'] == 'true':
        actions.append(
            Node(
                package='rviz2',
                executable='rviz2',
                arguments=['-d', value['rviz_config']],
                parameters=[{'use_sim_time': sim_time}],
            )
        )
    return actions


def generate_launch_description():
    """Declares the arguments and starts the nodes."""
    declared = [
        DeclareLaunchArgument(
            argument['name'],
            default_value=argument.get('default', ''),
            description=argument['description'],
            choices=argument.get('choices'),
        )
        for argument in ARGUMENTS
    ]
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
