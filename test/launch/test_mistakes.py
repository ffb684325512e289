"""What `ros2 launch` says, and with which exit code, when the user made a mistake."""

import subprocess
import tempfile
import unittest
from pathlib import Path

import launch_testing
import pytest
from launch import LaunchDescription
from launch.actions import ExecuteProcess

VEHICLES = """
bridges:
  - {id: one, windw: 1}
  - {id: one, simulator_address: somewhere}
"""


@pytest.mark.launch_test
def generate_test_description():
    """Every test launches for itself; launch_testing stops when nothing runs."""
    return LaunchDescription([ExecuteProcess(cmd=['sleep', 'infinity']), launch_testing.actions.ReadyToTest()])


class TestMistakes(unittest.TestCase):
    """The whole command, as typed."""

    def launch(self, *arguments):
        """Runs `ros2 launch rfly_bridge ...`, which must fail by itself, and returns what it printed."""
        result = subprocess.run(
            ['ros2', 'launch', 'rfly_bridge', *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        text = result.stdout + result.stderr
        self.assertNotEqual(result.returncode, 0, text)
        self.assertNotIn('Traceback', text)
        return text

    def test_a_wrong_configuration_ends_the_launch_with_every_problem(self):
        """Both programs end."""
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / 'Config.json'
            config.write_text('{"VisionSensors": [{"SeqID": 0, "TypeID": 6, "SensorPosXY": [0, 0, 0]}]}')
            text = self.launch('sim.launch.py', 'emulator:=true', f'config:={config}')
        self.assertIn('VisionSensors[0].TypeID', text)
        self.assertIn('did you mean "SensorPosXYZ"', text)
        self.assertIn('the bridge has failed with exit code 1', text)
        self.assertRegex(text, r'rflysim_emulator-\d+\]: process has finished cleanly')

    def test_a_wrong_choice_names_the_right_ones(self):
        """Nothing is started."""
        text = self.launch('sim.launch.py', 'world_convention:=ned')
        self.assertIn("Valid options are: ['', 'enu', 'nwu']", text)
        self.assertNotIn('process started', text)

    def test_a_wrong_parameter_file_is_refused(self):
        """With a suggestion."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / 'mine.yaml'
            file.write_text('/**:\n  ros__parameters:\n    imu.rate: 100\n')
            text = self.launch('sim.launch.py', f'params_file:={file}')
        self.assertIn('did you mean "imu.rate_hz"', text)

    def test_all_problems_of_a_file_of_vehicles_are_told_before_anything_starts(self):
        """With their paths."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / 'vehicles.yaml'
            file.write_text(VEHICLES)
            text = self.launch('vehicles.launch.py', f'vehicles_file:={file}')
        self.assertIn('3 problems', text)
        for path in ('bridges[0].windw', 'bridges[1].simulator_address', 'bridges[1].id'):
            self.assertIn(path, text)
        self.assertNotIn('process started', text)

    def test_the_arguments_are_listed(self):
        """`--show-args` works without a simulator."""
        for file in ('sim.launch.py', 'vehicles.launch.py'):
            result = subprocess.run(
                ['ros2', 'launch', 'rfly_bridge', file, '--show-args'],
                capture_output=True, text=True, timeout=60, check=True,
            )
            self.assertIn("'emulator':", result.stdout)
