"""A client of ROS 2 actions as rcl_action makes one: three services and two topics below `<name>/_action`."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np

from peer.participant import Peer
from peer.services import Client

STATUS = {1: "accepted", 2: "executing", 3: "canceling", 4: "succeeded", 5: "canceled", 6: "aborted"}


class ActionClient:
    """Sends goals to one action."""

    def __init__(self, peer: Peer, action: str, ros_type: str):
        self._peer = peer
        hidden = f"{action}/_action"
        self._send = Client(peer, f"{hidden}/send_goal", f"{ros_type}_SendGoal")
        self._cancel = Client(peer, f"{hidden}/cancel_goal", "action_msgs/srv/CancelGoal")
        self._result = Client(peer, f"{hidden}/get_result", f"{ros_type}_GetResult")
        self._feedback = peer.subscribe(f"{hidden}/feedback", f"{ros_type}_FeedbackMessage", depth=10)
        self._status = peer.subscribe(
            f"{hidden}/status", "action_msgs/msg/GoalStatusArray", transient_local=True, depth=1
        )

    def wait(self, timeout: float = 60.0) -> ActionClient:
        """Returns once all of the server is there."""
        for client in (self._send, self._cancel, self._result):
            client.wait(timeout)
        topics = (self._feedback, self._status)
        self._peer.wait_for(lambda: all(topic.matched() for topic in topics), "the topics of the action", timeout)
        return self

    def send(self, goal: dict[str, Any], goal_id: bytes | None = None) -> tuple[bytes, Any]:
        """Sends a goal; returns its id, and whether and when it was accepted."""
        goal_id = goal_id or uuid.uuid4().bytes
        return goal_id, self._send.call(goal_id=_id(goal_id), goal=goal)

    def cancel(self, goal_id: bytes = bytes(16), stamp: dict[str, int] | None = None) -> Any:
        """Asks the server to end a goal; without an id, all of them."""
        return self._cancel.call(goal_info={"goal_id": _id(goal_id), "stamp": stamp or {}})

    def ask_result(self, goal_id: bytes) -> int:
        """Asks for the result, which comes when the goal ends."""
        return self._result.send({"goal_id": _id(goal_id)})

    def result(self, number: int, timeout: float = 30.0) -> tuple[str, Any]:
        """How the goal ended, and its result."""
        response = self._result.receive(number, timeout)
        return STATUS.get(response.status, "unknown"), response.result

    def feedback(self, goal_id: bytes) -> list[Any]:
        """What came for this goal."""
        self._peer.take()
        messages = [sample.message for sample in self._feedback.samples]
        return [m.feedback for m in messages if m.goal_id.uuid.tobytes() == goal_id]

    def states(self, goal_id: bytes) -> list[str]:
        """The states in which the goal was published, without repetitions."""
        self._peer.take()
        found: list[str] = []
        for sample in self._status.samples:
            for goal in sample.message.status_list:
                if goal.goal_info.goal_id.uuid.tobytes() == goal_id and found[-1:] != [STATUS[goal.status]]:
                    found.append(STATUS[goal.status])
        return found


def _id(goal_id: bytes) -> dict[str, Any]:
    return {"uuid": np.frombuffer(goal_id, dtype=np.uint8)}
