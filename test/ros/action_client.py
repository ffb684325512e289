"""A client of the action `/steps` in the domain of the argument; prints what it saw as one line of JSON. Driven by
`actions.rs`."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from peer import Peer
from peer.actions import ActionClient

ACTION = "simulation_interfaces/action/SimulateSteps"
peer = Peer(int(sys.argv[1]))
client = ActionClient(peer, "/steps", ACTION).wait()
seen = {"types": {offer.topic: offer.type for offer in peer.offers() if "/_action/" in offer.topic}}


def state(goal_id, wanted):
    peer.wait_for(lambda: client.states(goal_id)[-1:] == [wanted], f"state {wanted}")


short, accepted = client.send({"steps": 3})
number = client.ask_result(short)
end, result = client.result(number)
state(short, "succeeded")
peer.wait_for(lambda: len(client.feedback(short)) == 3, "feedback")
seen["short"] = {
    "accepted": accepted.accepted,
    "end": end,
    "message": result.result.error_message,
    "feedback": [[f.completed_steps, f.remaining_steps] for f in client.feedback(short)],
}
seen["late"] = client.result(client.ask_result(short))[0]
seen["unknown"] = client.result(client.ask_result(bytes(15) + b"7"))[0]
seen["again"] = client.send({"steps": 3}, short)[1].accepted
seen["none"] = client.send({"steps": 0})[1].accepted

long, accepted = client.send({"steps": 2**63})
number = client.ask_result(long)
state(long, "executing")
seen["cancel_unknown"] = client.cancel(b"8" * 16).return_code
seen["cancel_ended"] = client.cancel(short).return_code
reply = client.cancel(long)
seen["cancel"] = [reply.return_code, [info.goal_id.uuid.tobytes() == long for info in reply.goals_canceling]]
seen["canceled"] = client.result(number)[0]
state(long, "canceled")

two = [client.send({"steps": 2**63})[0] for _ in range(2)]
numbers = [client.ask_result(goal) for goal in two]
seen["cancel_all"] = len(client.cancel().goals_canceling)
seen["all_canceled"] = [client.result(number)[0] for number in numbers]

dropped, _ = client.send({"steps": 13})
seen["dropped"] = client.result(client.ask_result(dropped))[0]
print(json.dumps(seen), flush=True)
