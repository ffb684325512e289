"""Starts the bridge; `emulator:=true` starts the emulated simulator beside it."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = [
    {
        'name': 'config',
        'default': PathJoinSubstitution([FindPackageShare('rfly_bridge'), 'config', 'Config.json']),
        'description': "the simulator's sensor list",
    },
    {
        'name': 'simulator_address',
        'default': '127.0.0.1',
        'description': 'IPv4 address of the host that runs RflySim3D and CopterSim',
    },
    {'name': 'emulator', 'default': 'false', 'description': 'true: start the emulated simulator as well'},
]


def generate_launch_description():
    bridge = Node(
        package='rfly_bridge',
        executable='rfly_bridge',
        output='screen',
        parameters=[{key: LaunchConfiguration(key) for key in ('config', 'simulator_address')}],
    )
    emulator = Node(
        package='rfly_bridge',
        executable='rflysim_emulator',
        output='screen',
        condition=IfCondition(LaunchConfiguration('emulator')),
    )
    arguments = [
        DeclareLaunchArgument(a['name'], default_value=a['default'], description=a['description']) for a in ARGUMENTS
    ]
    return LaunchDescription([*arguments, emulator, bridge])
