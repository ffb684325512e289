"""sim.launch.py with the emulator: what a user sees after the first command of the README, and a clean end."""

import sys
import unittest
from pathlib import Path

import launch_testing
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare
from sensor_msgs.msg import Image, Imu
from std_msgs.msg import String

sys.path.insert(0, str(Path(__file__).parent))
from listener import Listener  # noqa: E402


@pytest.mark.launch_test
def generate_test_description():
    """The demo with one argument of each kind: switch, text, choice, list."""
    file = PathJoinSubstitution([FindPackageShare('rfly_bridge'), 'launch', 'sim.launch.py'])
    arguments = {
        'emulator': 'true',
        'emulator_args': '--hover',
        'topic_prefix': '/sim',
        'time_mode': 'aligned',
        'vehicles': '[1]',
        'rviz': 'false',
    }
    launched = IncludeLaunchDescription(PythonLaunchDescriptionSource(file), launch_arguments=arguments.items())
    return LaunchDescription([launched, launch_testing.actions.ReadyToTest()])


class TestRunning(unittest.TestCase):
    """While everything runs."""

    def setUp(self):
        self.listener = Listener('test_sim')

    def tearDown(self):
        self.listener.close()

    def test_images_reach_reliable_and_best_effort_subscribers(self):
        """The two kinds that users have: defaults of rclpy, and sensor QoS."""
        both = [
            self.listener.collect(Image, '/sim/sensor0/img_rgb', reliable=reliable) for reliable in (True, False)
        ]
        self.listener.wait(lambda: all(len(messages) >= 10 for messages in both), 'ten images each')
        for messages in both:
            image = messages[-1]
            self.assertEqual((image.width, image.height, image.encoding, image.step), (320, 240, 'bgr8', 960))
            self.assertEqual(len(image.data), 960 * 240)
            self.assertGreater(len(set(image.data)), 10, 'a picture, not one colour')
            self.assertEqual(image.header.frame_id, 'sensor0_optical_frame')

    def test_the_optical_frame_has_a_path_to_the_map(self):
        """What every consumer of an image looks up."""
        self.listener.follow_tf()
        whole = ['sensor0_optical_frame', 'sensor0_link', 'base_link', 'odom', 'map']
        self.listener.wait(lambda: self.listener.path(whole[0]) == whole, f'the path {whole}')

    def test_the_imu_feels_gravity_at_its_rate(self):
        """200 Hz, z up, of a vehicle that hovers."""
        samples = self.listener.collect(Imu, '/sim/imu')
        self.listener.wait(lambda: len(samples) >= 400, '400 samples')
        stamps = [s.header.stamp.sec + s.header.stamp.nanosec * 1e-9 for s in samples]
        rate = (len(samples) - 1) / (stamps[-1] - stamps[0])
        self.assertAlmostEqual(rate, 200, delta=20)
        self.assertAlmostEqual(samples[-1].linear_acceleration.z, 9.8, delta=0.5)
        self.assertEqual(samples[-1].header.frame_id, 'imu_link')

    def test_diagnostics_say_that_all_is_well(self):
        """Every source delivers, every frame is reachable."""
        reports = self.listener.collect(DiagnosticArray, '/diagnostics')

        def state(name):
            found = [s for s in reports[-1].status if s.name == f'rfly_bridge: {name}'] if reports else []
            return found[0].level if found else None

        names = ['sensor0 img_rgb', 'imu of vehicle 1', 'true state of vehicle 1', 'clock of vehicle 1', 'frames']
        self.listener.wait(lambda: all(state(name) == b'\x00' for name in names), f'level OK of {names}')

    def test_the_model_is_there_for_late_viewers(self):
        """Latched, as RViz asks for it."""
        models = self.listener.collect(String, '/sim/robot_description', latched=True)
        self.listener.wait(lambda: models, 'the model')
        self.assertIn('<link name="base_link">', models[0].data)

    def test_the_node_is_in_the_graph(self):
        """`ros2 node list` shows it."""
        names = self.listener.node.get_node_names_and_namespaces
        self.listener.wait(lambda: ('rfly_bridge', '/') in names(), 'the node')


@launch_testing.post_shutdown_test()
class TestStopped(unittest.TestCase):
    """After Ctrl-C."""

    def test_exit_codes_are_0(self, proc_info):
        """Both programs ended by themselves."""
        self.assertEqual(len(proc_info.process_names()), 2)
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_the_bridge_said_goodbye(self, proc_output):
        """It was not killed."""
        launch_testing.asserts.assertInStderr(proc_output, 'stopped', 'rfly_bridge-2')
