"""sim.launch.py with robot_state_publisher: it and the bridge share the frames, nobody publishes one twice."""

import sys
import unittest
from pathlib import Path

import launch_testing
import pytest
from ament_index_python.packages import get_packages_with_prefixes
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from std_msgs.msg import String

sys.path.insert(0, str(Path(__file__).parent))
from listener import Listener  # noqa: E402

INSTALLED = 'robot_state_publisher' in get_packages_with_prefixes()
TOPIC = '/rflysim/robot_description'


@pytest.mark.launch_test
def generate_test_description():
    """Where the package is missing the launch file goes on without it, and says so."""
    file = PathJoinSubstitution([FindPackageShare('rfly_bridge'), 'launch', 'sim.launch.py'])
    arguments = {'emulator': 'true', 'robot_description': 'true', 'time_mode': 'sim'}
    launched = IncludeLaunchDescription(PythonLaunchDescriptionSource(file), launch_arguments=arguments.items())
    return LaunchDescription([launched, launch_testing.actions.ReadyToTest()])


class TestRunning(unittest.TestCase):
    """While everything runs."""

    def setUp(self):
        self.listener = Listener('test_robot_description')

    def tearDown(self):
        self.listener.close()

    def test_every_frame_has_a_path_to_the_map(self):
        """Fixed to the vehicle, carried by a camera that turns, kept level, and the IMU."""
        self.listener.follow_tf()
        for leaf in ('sensor0_optical_frame', 'sensor5_link', 'sensor14_optical_frame', 'imu_link', 'base_link_frd'):
            self.listener.wait(lambda leaf=leaf: self.listener.path(leaf)[-1] == 'map', f'a path from {leaf}')

    def test_the_model_has_one_publisher(self):
        """robot_state_publisher where it is installed, else the bridge."""
        models = self.listener.collect(String, TOPIC, latched=True)
        self.listener.wait(lambda: models, 'the model')
        self.assertIn('<child link="sensor0_optical_frame"/>', models[0].data)
        expected = ['robot_state_publisher' if INSTALLED else 'rfly_bridge']

        def publishers():
            return [p.node_name for p in self.listener.node.get_publishers_info_by_topic(TOPIC)]

        # The name of a node is discovered after its publishers.
        self.listener.wait(lambda: publishers() == expected, f'{expected} alone to publish {TOPIC}')

    @unittest.skipUnless(INSTALLED, 'robot_state_publisher is not installed')
    def test_no_frame_has_two_publishers(self):
        """What is in /tf_static of one is not in that of the other."""
        self.listener.follow_tf()
        self.listener.wait(lambda: len(self.listener.static_messages) >= 2, 'static transforms of both')
        self.assertEqual(self.listener.static_twice, set())
        self.assertIn('sensor0_link', self.listener.static)
        self.assertIn('map_ned', self.listener.static)


@launch_testing.post_shutdown_test()
class TestStopped(unittest.TestCase):
    """After Ctrl-C."""

    def test_exit_codes_are_0(self, proc_info):
        """All of them."""
        self.assertEqual(len(proc_info.process_names()), 3 if INSTALLED else 2)
        launch_testing.asserts.assertExitCodes(proc_info)
