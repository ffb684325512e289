"""A peer in another network than the tests: receives a topic and prints which processes it has discovered.

    nsenter -t PID -n python elsewhere.py DOMAIN TOPIC TYPE [LOCALHOST]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsParticipant
from cyclonedds.domain import Domain
from peer import participant

# As rmw_cyclonedds_cpp of Jazzy has it: peers find a participant at one of the first 33 ports.
SUBNET = """<CycloneDDS><Domain Id="any"><Discovery>
  <ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>
</Discovery></Domain></CycloneDDS>"""
# The same with ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST: it keeps its network card.
LOCALHOST = SUBNET.replace("<Discovery>", "<General><AllowMulticast>false</AllowMulticast></General><Discovery>").replace(
    "</Discovery>", '<Peers><Peer address="localhost"/></Peers></Discovery>'
)


def main() -> None:
    domain_id, topic, ros_type = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    participant._DOMAINS[domain_id] = Domain(domain_id, LOCALHOST if "LOCALHOST" in sys.argv[4:] else SUBNET)
    peer = participant.Peer(domain_id)
    participants = BuiltinDataReader(peer.participant, BuiltinTopicDcpsParticipant)
    subscription = peer.subscribe(topic, ros_type, reliable=False)
    print("subscribed", file=sys.stderr, flush=True)
    peer.wait_for(lambda: len(subscription.samples) >= 10, f"messages on {topic}", 60.0)
    pids = participant.process_ids(participants)
    print(json.dumps({"received": len(subscription.samples), "pids": pids}))


main()
