"""An environment for gymnasium: the vehicle is told a velocity and sees a depth image; it shall fly to a goal and touch nothing.

    pip install gymnasium
    python3 examples/python/gym_env.py      # random actions, with the bridge and its emulator
"""

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

import rfly_bridge

PERIOD = 0.1  # s of the simulator's clock, which goes on between the steps
NEAREST, GOAL_RADIUS, STEPS = 0.4, 1.0, 200  # m, m


class FlyToGoal(gymnasium.Env):
    """Action: velocity to the east, north and up, m/s. Observation: depth in m (NaN is 0), and the way to the goal in m (ENU)."""

    # The simulator runs in real time: the same actions do not give the same pictures.
    spec = EnvSpec("rfly_bridge/FlyToGoal-v0", nondeterministic=True)

    def __init__(self, sim: rfly_bridge.Sim, goal=(8.0, 4.0, 3.0), depth="sensor1/img_depth"):
        self.sim, self.depth, self.goal = sim, depth, np.array(goal)
        self.drone = sim.vehicle(1)
        shape = sim.image(depth).data.shape
        self.action_space = gymnasium.spaces.Box(-2.0, 2.0, (3,), np.float32)
        self.observation_space = gymnasium.spaces.Dict({
            "depth": gymnasium.spaces.Box(0.0, 65.535, shape, np.float32),
            "way": gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32),
        })  # fmt: skip

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        state = self.drone.state
        if not state.armed or state.mode != "OFFBOARD":
            self.drone.takeoff(self.goal[2])
        self.home = getattr(self, "home", self.drone.position)
        self.drone.goto(*self.home)
        self.steps, self.stamp = 0, 0.0
        return self._observe(), {}

    def step(self, action):
        before = np.linalg.norm(self.goal - self.drone.position)
        self.drone.set_velocity(*np.clip(action, self.action_space.low, self.action_space.high))
        seen, self.steps = self._observe(), self.steps + 1
        distance = np.linalg.norm(seen["way"])
        valid = seen["depth"][seen["depth"] > 0]
        crashed = bool(valid.size and valid.min() < NEAREST)
        arrived = bool(distance < GOAL_RADIUS)
        reward = float(before - distance) + 10.0 * arrived - 10.0 * crashed
        return seen, reward, crashed or arrived, self.steps >= STEPS, {}

    def _observe(self):
        image = self.sim.image(self.depth, after=self.stamp + PERIOD if self.stamp else None)
        self.stamp = image.stamp
        way = (self.goal - self.drone.position).astype(np.float32)
        return {"depth": image.data.astype(np.float32) / 1000.0, "way": way}

    def close(self):
        self.drone.land()


if __name__ == "__main__":
    with rfly_bridge.start() as sim:
        env = FlyToGoal(sim)
        env.reset(seed=1)
        for _ in range(50):
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            print(f"reward {reward:+.2f}, at {env.drone.position.round(1).tolist()}")
            if terminated or truncated:
                env.reset()
        env.close()
