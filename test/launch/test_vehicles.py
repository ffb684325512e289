"""vehicles.launch.py with its example: two bridges, two vehicles, one emulator, one tree of frames."""

import sys
import unittest
from pathlib import Path

import launch_testing
import pytest
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from sensor_msgs.msg import Image, Imu

sys.path.insert(0, str(Path(__file__).parent))
from listener import Listener  # noqa: E402


@pytest.mark.launch_test
def generate_test_description():
    """The shipped file."""
    file = PathJoinSubstitution([FindPackageShare('rfly_bridge'), 'launch', 'vehicles.launch.py'])
    launched = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(file), launch_arguments={'emulator': 'true'}.items()
    )
    return LaunchDescription([launched, launch_testing.actions.ReadyToTest()])


class TestRunning(unittest.TestCase):
    """While everything runs."""

    def setUp(self):
        self.listener = Listener('test_vehicles')

    def tearDown(self):
        self.listener.close()

    def test_each_vehicle_has_its_images_and_imu(self):
        """Below the prefix of its bridge, in its frames."""
        images = {
            'copter1': self.listener.collect(Image, '/copter1/sensor0/img_rgb'),
            'copter2': self.listener.collect(Image, '/copter2/sensor3/img_rgb'),
        }
        imus = {name: self.listener.collect(Imu, f'/{name}/imu') for name in images}
        collected = [*images.values(), *imus.values()]
        self.listener.wait(lambda: all(len(messages) >= 5 for messages in collected), 'five messages of each')
        self.assertEqual(images['copter1'][-1].header.frame_id, 'copter1/sensor0_optical_frame')
        self.assertEqual(images['copter2'][-1].header.frame_id, 'copter2/sensor3_optical_frame')
        for name, samples in imus.items():
            self.assertEqual(samples[-1].header.frame_id, f'{name}/imu_link')

    def test_all_frames_meet_in_the_map(self):
        """Two processes, one tree."""
        self.listener.follow_tf()
        for leaf in ('copter1/sensor0_optical_frame', 'copter2/sensor3_optical_frame', 'sensor6_optical_frame'):
            self.listener.wait(lambda leaf=leaf: self.listener.path(leaf)[-1] == 'map', f'a path from {leaf}')

    def test_each_bridge_is_a_node(self):
        """Named after its id."""
        wanted = {('rfly_bridge_copter1', '/'), ('rfly_bridge_copter2', '/')}
        names = self.listener.node.get_node_names_and_namespaces
        self.listener.wait(lambda: wanted <= set(names()), f'the nodes {wanted}')


@launch_testing.post_shutdown_test()
class TestStopped(unittest.TestCase):
    """After Ctrl-C."""

    def test_exit_codes_are_0(self, proc_info):
        """Both bridges and the emulator."""
        self.assertEqual(len(proc_info.process_names()), 3)
        launch_testing.asserts.assertExitCodes(proc_info)
