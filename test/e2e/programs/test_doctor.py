"""`rfly_bridge doctor`: each fault is provoked in a network of its own, found, and told with what to type."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from backend import BACKEND, ON_DDS, WORKSPACE
from processes import binary

from sensors import COMPRESSED, RAW, SHARED_MEMORY, Sensor, with_defaults, write_config

OWN = ["unshare", "-rnm", "bash", "-euc"]
"""A network and a /dev/shm that nobody else sees."""
LOOPBACK = "ip link set lo up; ip route add 224.0.0.0/4 dev lo; mount -t tmpfs tmpfs /dev/shm\n"
# The kernel notes up to a second later that a link runs.
PC = (
    "ip link add {0} type veth peer name {0}p; ip addr add {1} dev {0}; ip link set {0} up; ip link set {0}p up\n"
    "until ip link show dev {0} | grep -q 'state UP'; do sleep 0.05; done\n"
)
CAMERA = replace(with_defaults(0, 1, COMPRESSED), width=64, height=48, rate=10)
RANGE = with_defaults(1, 5, COMPRESSED)

if shutil.which("ip") is None or subprocess.run([*OWN, LOOPBACK], capture_output=True).returncode != 0:
    pytest.skip("the kernel gives no network of its own (unshare, ip)", allow_module_level=True)


EMBEDDED = pytest.mark.skipif(BACKEND != "dds", reason="without its middleware rcl ends every program before it begins")


def doctor(
    directory: Path,
    *parameters: str,
    setup: str = LOOPBACK,
    sensors: list[Sensor] | None = None,
    emulator: str | None = None,
    seconds: float = 0,
    variables: dict[str, str] | None = None,
    change: Callable[[str], str] = str,
    under: str = "",
) -> dict[str, dict]:
    """What the doctor finds, by code; the emulator runs beside it where it has arguments. `change` is applied to the text of
    Config.json, `under` starts the doctor."""
    config = write_config(directory / "Config.json", sensors if sensors is not None else [CAMERA])
    config.write_text(change(config.read_text()))
    bridge, simulator = binary("rfly_bridge", "RFLY_BRIDGE"), binary("rflysim_emulator", "RFLY_EMULATOR")
    script = setup
    if emulator is not None:
        script += f"{simulator} {emulator} >{directory}/emulator.log 2>&1 & simulator=$!\n"
        script += f"until grep -q 'Ctrl-C ends it' {directory}/emulator.log; do sleep 0.1; done\n"
    script += f'{under} "{bridge}" doctor --json --seconds {seconds} --ros-args -p config:={config} "$@" || code=$?\n'
    script += '[ -z "${simulator-}" ] || kill -INT $simulator\nexit ${code-0}'
    given = [word for parameter in parameters for word in ("-p", parameter)]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **WORKSPACE, **(variables or {})}
    ran = subprocess.run(
        [*OWN, script, "doctor", *given], capture_output=True, text=True, timeout=120, env=environment
    )
    assert ran.stdout, ran.stderr
    told = json.loads(ran.stdout)
    assert ran.returncode == {"ok": 0, "note": 0, "warning": 1, "error": 2}[told["severity"]], told
    assert all(finding["do"] and finding["what"] for finding in told["findings"]), told
    return {finding["code"]: finding for finding in told["findings"]}


def test_a_set_up_that_works_has_no_findings(tmp_path):
    # Where four suites share a core, the emulator itself is the renderer that is asked for too much.
    found = doctor(tmp_path, emulator="", seconds=8)
    assert set(found) <= {"renderer-overloaded"}, found


def test_nothing_runs(tmp_path):
    found = doctor(tmp_path, seconds=6)
    assert {"no-listener", "simulator-silent"} <= set(found)
    assert found["no-listener"]["subject"] == "127.0.0.1:20010"


def test_a_refused_configuration_is_told_in_place(tmp_path):
    found = doctor(tmp_path, sensors=[replace(CAMERA, width=0)])
    assert "DataWidth" in found["config"]["subject"]


def test_who_has_a_port(tmp_path):
    port = "python3 -c 'import socket,time; s=socket.socket(2,2); s.bind((\"\",9999)); print(flush=True); time.sleep(60)'"
    holder = f"exec 3< <(exec {port}); holder=$!; read -r <&3; trap 'kill $holder' EXIT\n"
    found = doctor(tmp_path, setup=LOOPBACK + holder)
    assert "9999" in found["port-taken"]["what"] and "sensor0" in found["port-taken"]["subject"]
    assert "python3" in found["port-taken"]["what"] and found["port-taken"]["do"].startswith("kill ")


WSL = (
    LOOPBACK
    + PC.format("eth0", "172.20.5.9/20")
    + "ip route add default via 172.20.0.1\n"
    + "echo 'Linux version 5.15.167.4-microsoft-standard-WSL2' >/dev/shm/version\n"
    + "mount --bind /dev/shm/version /proc/version\n"
)


def test_in_wsl_the_simulator_is_at_the_gateway(tmp_path):
    found = doctor(tmp_path, setup=WSL)
    assert found["hosts"]["subject"] == "WSL 2, NAT"
    assert found["hosts"]["do"].startswith("-p simulator_address:=172.20.0.1 -p receive_address:=172.20.5.9")
    assert found["wsl-address"]["do"].endswith("simulator_address:=172.20.0.1")
    assert "wsl-address" not in doctor(tmp_path, "simulator_address:=172.20.0.1", setup=WSL)


def test_a_simulator_behind_no_network(tmp_path):
    assert "no-route" in doctor(tmp_path, "simulator_address:=10.9.8.7", setup=LOOPBACK)


def test_two_networks(tmp_path):
    setup = LOOPBACK + PC.format("eth0", "192.168.7.5/24") + PC.format("eth1", "10.0.0.7/24")
    found = doctor(tmp_path, "simulator_address:=192.168.7.10", "receive_address:=10.0.0.7", setup=setup)
    assert found["two-networks"]["do"] == "-p receive_address:=192.168.7.5"
    found = doctor(tmp_path, "simulator_address:=192.168.7.10", "receive_address:=192.168.7.5", setup=setup)
    assert "two-networks" not in found


def test_multicast_that_is_off_or_has_no_route(tmp_path):
    setup = "ip link set lo up\n" + PC.format("eth0", "192.168.7.5/24") + "ip link set eth0 multicast off\n"
    found = doctor(tmp_path, "simulator_address:=192.168.7.10", setup=setup)
    assert found["multicast-off"]["do"] == "sudo ip link set dev eth0 multicast on"
    assert found["multicast-route"]["do"] == "sudo ip route add 224.0.0.0/4 dev eth0"


def test_a_config_of_another_machine(tmp_path):
    other = replace(CAMERA, receiver=(192, 168, 7, 66))
    found = doctor(tmp_path, "transport_mode:=file", sensors=[other], emulator="", seconds=8)
    assert next(iter(found)) == "receive-address", found
    assert "192.168.7.66" in found["receive-address"]["what"] and "sensor0" in found["receive-address"]["subject"]
    assert found["receive-address"]["do"].startswith("-p receive_address:=127.0.0.1;")
    assert "receive-address" not in doctor(tmp_path, "receive_address:=127.0.0.1", sensors=[other])


NO_RULES = subprocess.run([*OWN, "nft list ruleset; iptables -S"], capture_output=True).returncode != 0
FIREWALLS = {
    # Only images are dropped; rules of root without a service of systemd.
    "iptables": ("iptables -A INPUT -p udp --dport 9999 -j DROP\n", "sudo iptables -I INPUT -p udp -s 127.0.0.1 -m multiport --dports 9999 "),
    "reject": ("iptables -A INPUT -p udp --dport 9999 -j REJECT\n", "sudo iptables -I INPUT "),
    # As the service of Debian leaves it.
    "nftables": (
        "printf 'flush ruleset\\ntable inet filter {\\n chain input {\\n type filter hook input priority filter; policy drop;\\n"
        " udp dport != 9999 accept\\n meta l4proto != udp accept\\n }\\n}\\n' >/dev/shm/nftables.conf\n"
        "nft -f /dev/shm/nftables.conf; touch /etc/nftables.conf; mount --bind /dev/shm/nftables.conf /etc/nftables.conf\n"
        "mkdir -p /run/systemd; mount -t tmpfs tmpfs /run/systemd; mkdir /run/systemd/units\n"
        "ln -s 0 /run/systemd/units/invocation:nftables.service\n",
        "sudo nft insert rule inet filter input ip saddr 127.0.0.1 udp dport '{ 9999 }' accept",
    ),
    "ufw": (
        "iptables -A INPUT -p udp --dport 9999 -j DROP\nmkdir -p /etc/ufw; mount -t tmpfs tmpfs /etc/ufw\n"
        "echo ENABLED=yes >/etc/ufw/ufw.conf\n",
        "sudo ufw allow proto udp from 127.0.0.1 to any port 9999",
    ),
}


@pytest.mark.skipif(NO_RULES, reason="nft or iptables is not installed, or the kernel has no rules for a network of its own")
@pytest.mark.parametrize("kind", FIREWALLS)
def test_a_firewall_of_this_host_that_drops_images_alone(tmp_path, kind):
    rules, remedy = FIREWALLS[kind]
    found = doctor(tmp_path, "transport_mode:=file", setup=LOOPBACK + rules, emulator="", seconds=9)
    assert next(iter(found)) == "firewall" and "renderer-silent" not in found, found
    assert found["firewall"]["subject"] == "UDP ports 9999" and "packets per second" in found["firewall"]["what"]
    assert found["firewall"]["do"].startswith(remedy), found["firewall"]
    if kind != "ufw":
        # What it says to type helps.
        typed = found["firewall"]["do"].split(";")[0].removeprefix("sudo ") + "\n"
        found = doctor(tmp_path, "transport_mode:=file", setup=LOOPBACK + rules + typed, emulator="", seconds=8)
        assert set(found) <= {"renderer-overloaded"}, found


@pytest.mark.skipif(NO_RULES, reason="nft or iptables is not installed, or the kernel has no rules for a network of its own")
def test_a_firewall_that_drops_all_that_the_simulator_sends(tmp_path):
    # The simulator gets its requests.
    rules = "iptables -A INPUT -p udp -m multiport --dports 9999,20005,20006,20101,30101,31000 -j DROP\n"
    found = doctor(tmp_path, "transport_mode:=file", setup=LOOPBACK + rules, emulator="", seconds=9)
    assert next(iter(found)) == "firewall" and "simulator-silent" not in found, found
    assert "--dports 9999,20005,20101,30101,31000 " in found["firewall"]["do"], found["firewall"]


# A network interface that counts multicast, as those of PCs do, and hears groups that nobody here joined.
NOISE = (
    LOOPBACK
    + """
unshare -n sleep 60 & other=$!
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
there="nsenter -t $other -n"
$there sh -c 'ip link add v0 type veth peer name v1; ip link add m0 link v0 type macvlan mode bridge
ip addr add 10.9.0.2/24 dev v1; ip link set v0 up; ip link set v1 up; ip route add 224.0.0.0/4 dev v1'
$there ip link set m0 netns $$
ip addr add 10.9.0.1/24 dev m0; ip link set m0 allmulticast on; ip link set m0 up
until ip link show dev m0 | grep -q 'state UP'; do sleep 0.05; done
received() { sed -n 's/^ *m0:\\([^\\n]*\\)/\\1/p' /proc/net/dev | tr -s ' ' | cut -d' ' -f9; }
$there python3 -c 'import socket,time; s=socket.socket(2,2)
while True: s.sendto(b"x",("239.1.1.1",5555)); time.sleep(0.05)' & noise=$!
trap 'kill $other $noise' EXIT
until [ "$(received)" -gt 20 ]; do sleep 0.05; done
"""
)


def test_multicast_that_nobody_here_joined_is_no_firewall(tmp_path):
    found = doctor(tmp_path, "simulator_address:=10.9.0.2", setup=NOISE, seconds=9)
    assert "simulator-silent" in found and "firewall" not in found, found


# Multicast of this host that returns on its loopback interface, to a group that nobody joined.
OWN_NOISE = LOOPBACK + (
    "python3 -c 'import socket,time; s=socket.socket(2,2); s.setsockopt(0,32,socket.inet_aton(\"127.0.0.1\"))\n"
    "while True: s.sendto(b\"x\",(\"239.1.1.1\",5555)); time.sleep(0.05)' & noise=$!\ntrap 'kill $noise' EXIT\n"
)


def test_multicast_of_this_host_that_nobody_joined_is_no_firewall(tmp_path):
    found = doctor(tmp_path, setup=OWN_NOISE, seconds=9)
    assert "simulator-silent" in found and "firewall" not in found, found


def test_a_buffer_that_holds_no_frame(tmp_path):
    raw = replace(CAMERA, mode=RAW, width=640, height=480)
    found = doctor(tmp_path, "receive_buffer_bytes:=65536", "transport_mode:=file", sensors=[raw])
    assert "sensor0" in found["buffers"]["subject"] and "receive_buffer_bytes:=18432" in found["buffers"]["do"]


def test_blocks_of_shared_memory(tmp_path):
    shared = [replace(CAMERA, mode=SHARED_MEMORY)]
    block = "/dev/shm/RflySim3DImg_0"
    here = ["transport_mode:=file"]
    found = doctor(tmp_path, *here, sensors=shared)
    assert {"shm-missing", "shm-container"} & set(found)
    found = doctor(tmp_path, *here, sensors=shared, setup=LOOPBACK + f"head -c 100 /dev/zero >{block}\n")
    assert "100 bytes" in found["shm-type"]["what"]
    found = doctor(tmp_path, *here, sensors=shared, setup=LOOPBACK + f"mkdir {block}\n")
    assert "not a regular file" in found["shm-type"]["what"]
    found = doctor(tmp_path, *here, "simulator_address:=10.9.8.7", sensors=shared)
    assert "10.9.8.7" in found["shm-remote"]["what"]


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"ROS_DOMAIN_ID": "150"}, "ros-domain"),
        ({"ROS_DOMAIN_ID": "x"}, "ros-variable"),
        ({"ROS_LOCALHOST_ONLY": "1"}, "ros-localhost"),
        ({"ROS_LOCALHOST_ONLY": "1", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, "ros-range"),
        pytest.param({"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}, "ros-middleware", marks=[EMBEDDED, ON_DDS]),
        ({"CYCLONEDDS_URI": "file:///nowhere.xml"}, "ros-profile"),
    ],
)
def test_variables_that_hide_topics(tmp_path, variables, code):
    assert code in doctor(tmp_path, variables=variables)


@pytest.mark.parametrize(
    ("parameters", "emulator", "seconds", "code", "said"),
    [
        (["vehicles:=[1,2]"], "", 8, "vehicle-missing", "CopterSim 2"),
        ([], "--autopilot none", 8, "autopilot-silent", "vehicle 1"),
        ([], "--loss 0.8 --fault-scope images", 10, "renderer-overloaded", "sensor0"),
        ([], "--clock-drift-ppm 5000", 25, "clocks-apart", "ppm"),
        (["vehicles:=[2]"], "--vehicles 2", 8, "vehicle-not-served", "heartbeats"),
        ([], "--loss 1 --fault-scope images", 8, "renderer-silent", "no sensor delivers"),
        ([], "--heartbeat-period 1000", 8, "no-heartbeat", "20005"),
        (["vehicle1.address:=192.0.2.9"], "", 8, "wrong-address", "CopterSim 1"),
        ([], "--restricted-broadcasts", 20, "asked-by-unicast", "arrived only after requests"),
        ([], "--battery 4 --grounded", 8, "will-not-arm", "vehicle 1"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else None,
)
def test_what_a_simulator_does_wrong(tmp_path, parameters, emulator, seconds, code, said):
    # A short range packet costs the machine nothing.
    sensors = [replace(RANGE, seq=0, rate=30, vehicle=2 if code == "vehicle-not-served" else 1)]
    found = doctor(tmp_path, *parameters, sensors=sensors, emulator=emulator, seconds=seconds)
    assert code in found, found
    assert said in found[code]["subject"] + found[code]["what"], found[code]


def test_frames_that_arrive_in_pieces(tmp_path):
    raw = replace(CAMERA, mode=RAW, width=320, height=240)
    found = doctor(tmp_path, "transport_mode:=file", sensors=[raw], emulator="--loss 0.2", seconds=8)
    assert "sensor0" in found["datagrams-lost"]["subject"]


@pytest.mark.parametrize(
    ("other", "code"), [(replace(CAMERA, width=128), "size-mismatch"), (with_defaults(0, 20, COMPRESSED, rate=10), "type-mismatch")], ids=["size", "type"]
)
def test_another_program_asks_for_the_same_sensor_in_another_way(tmp_path, other, code):
    bridge = binary("rfly_bridge", "RFLY_BRIDGE")
    config = write_config(tmp_path / "Other.json", [other])
    asks = f"-p config:={config} -p bind_address:=127.0.0.3 -p receive_address:=127.0.0.1 -p transport_mode:=file"
    setup = LOOPBACK + f"{bridge} --ros-args {asks} >{tmp_path}/other.log 2>&1 & other=$!; trap 'kill -INT $other; wait $other' EXIT\n"
    found = doctor(tmp_path, "transport_mode:=file", setup=setup, emulator="", seconds=10)
    assert code in found, (found, (tmp_path / "other.log").read_text())
    assert "sensor0" in found[code]["subject"]


OTHER = """
import socket, struct, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
# What the vendor's client sends to change the field of view of a live sensor, and nothing else.
update = struct.pack("<HHI6H8Hf", 12345, 0, 1 << 6, {type_id}, 1, 0, {width}, {height}, {rate}, *[0] * 8, {fov}).ljust(148, bytes(1))
while True:
    time.sleep(1)
    to.sendto(update, ("127.0.0.1", 20010))
"""


def test_another_program_asks_for_another_field_of_view(tmp_path):
    sensor = replace(with_defaults(0, 2, COMPRESSED), width=320, height=240, rate=15)
    program = tmp_path / "other.py"
    program.write_text(OTHER.format(type_id=2, width=sensor.width, height=sensor.height, rate=sensor.rate, fov=60.0))
    setup = LOOPBACK + f"python3 {program} & other=$!; trap 'kill $other' EXIT\n"
    found = doctor(tmp_path, setup=setup, sensors=[sensor], emulator="", seconds=15)
    assert found["fov-mismatch"]["subject"] == "sensor0"
    assert "a field of view of 60 degrees, configured are 90" in found["fov-mismatch"]["what"]
    assert "sensor0.fov_deg:=60.0" in found["fov-mismatch"]["do"]


def test_a_burst_that_finds_a_full_buffer(tmp_path):
    raw = replace(CAMERA, mode=RAW, width=640, height=480)
    parameters = ["transport_mode:=file", "receive_buffer_bytes:=65536"]
    found = doctor(tmp_path, *parameters, sensors=[raw], emulator="--link 0", seconds=8)
    assert "sensor0" in found["buffers-overflow"]["subject"]


def test_a_port_that_another_program_shares(tmp_path):
    port = "import socket,time; s=socket.socket(2,2); s.setsockopt(1,2,1); s.bind(('127.0.0.1',30101)); print(flush=True); time.sleep(60)"
    holder = f'exec 3< <(exec python3 -c "{port}"); holder=$!; read -r <&3; trap "kill $holder" EXIT\n'
    found = doctor(tmp_path, setup=LOOPBACK + holder, emulator="", seconds=4)
    assert "30101" in found["port-shared"]["subject"] and "python3" in found["port-shared"]["what"]


def test_what_the_vendors_loader_leaves_out_and_what_is_only_odd(tmp_path):
    # What else that loader leaves out is a problem for the bridge, too.
    found = doctor(tmp_path, change=lambda text: text.replace('"DataCheckFreq"', '"Name": "http://here", "DataCheckFreq"'))
    assert "even within quotes" in found["loader-drops"]["what"]
    found = doctor(tmp_path, change=lambda text: text.replace('"DataCheckFreq"', '"Colour": 1, "DataCheckFreq"'))
    assert "unknown key" in found["config-doubt"]["what"] and "Colour" in found["config-doubt"]["subject"]


def test_a_block_that_nobody_may_open(tmp_path):
    # Root opens everything, unless it has no capabilities.
    setup = LOOPBACK + "head -c 10000000 /dev/zero >/dev/shm/RflySim3DImg_0; chmod 0 /dev/shm/RflySim3DImg_0\n"
    under = "setpriv --inh-caps=-all --bounding-set=-all"
    found = doctor(
        tmp_path, "transport_mode:=file", sensors=[replace(CAMERA, mode=SHARED_MEMORY)], setup=setup, under=under
    )
    assert "user id 0" in found["shm-denied"]["what"] and "chmod" in found["shm-denied"]["do"]


def test_shared_memory_of_fast_dds_of_another_user(tmp_path):
    # Nobody gives a file away in a network of his own; root's is another's for whom is not root, and apt's for root.
    places = [Path("/etc"), Path("/var/cache/apt/archives/partial"), Path("/var/cache/man")]
    theirs = next((path for path in places if path.exists() and path.stat().st_uid != os.geteuid()), None)
    if theirs is None:
        pytest.skip("every file of this machine is ours")
    setup = LOOPBACK + f"mkdir /dev/shm/fastrtps_1; mount --bind {theirs} /dev/shm/fastrtps_1\n"
    assert "UDPv4" in doctor(tmp_path, setup=setup)["fast-dds-shm"]["do"]


def test_captures_that_end_while_the_simulation_goes_on(tmp_path):
    end = "(sleep 6; echo -n 'faults loss=1 scope=images' >/dev/udp/127.0.0.1/45000) &\n"
    found = doctor(tmp_path, setup=LOOPBACK + end, emulator="--control 45000", seconds=14)
    assert "captures-ended" in found, found


def test_a_simulator_that_is_not_accepted(tmp_path):
    stranger = "import socket,time\ns=socket.socket(2,2); s.bind(('127.0.0.2',0))\n"
    stranger += "while True: s.sendto(b'x',('127.0.0.1',9999)); time.sleep(0.1)"
    program = tmp_path / "stranger.py"
    program.write_text(stranger)
    setup = LOOPBACK + f"python3 {program} & stranger=$!; trap 'kill $stranger' EXIT\n"
    found = doctor(tmp_path, setup=setup, emulator="", seconds=4)
    assert found["sender-refused"]["subject"] == "127.0.0.2"
    assert found["sender-refused"]["do"].endswith("-p 'accept_from:=[127.0.0.2]'")


SETPOINTS = """
import sys, time
sys.path.insert(0, {e2e!r})
from peer import Peer
from peer.publisher import Publication
publication = Publication(Peer({domain}), "/mavros/setpoint_velocity/cmd_vel", "geometry_msgs/msg/TwistStamped").wait()
print("sends", flush=True)
while True:
    publication.publish()
    time.sleep(1 / 3)
"""


def test_a_running_bridge_tells_of_slow_setpoints(tmp_path):
    program, said = tmp_path / "setpoints.py", tmp_path / "setpoints.log"
    program.write_text(SETPOINTS.format(e2e=str(Path(__file__).parents[1]), domain=7))
    bridge, config = binary("rfly_bridge", "RFLY_BRIDGE"), write_config(tmp_path / "Config.json", [CAMERA])
    setup = LOOPBACK + (
        f"{bridge} --ros-args -p config:={config} >{tmp_path}/bridge.log 2>&1 & bridge=$!\n"
        f"{sys.executable} {program} >{said} 2>&1 & setpoints=$!\n"
        "trap 'kill $setpoints; kill -INT $bridge; wait $bridge' EXIT\n"
        # Two windows of counting from the first setpoint on.
        f"until grep -q sends {said}; do kill -0 $setpoints; sleep 0.1; done; sleep 6\n"
    )
    variables = {"ROS_LOCALHOST_ONLY": "1", "ROS_DOMAIN_ID": "7"}
    found = doctor(tmp_path, setup=setup, emulator="", seconds=6, variables=variables)
    assert found["offboard-slow"]["subject"] == "vehicle 1", found


def test_a_bridge_that_runs_is_asked_and_goes_on(tmp_path):
    bridge = binary("rfly_bridge", "RFLY_BRIDGE")
    config = write_config(tmp_path / "Config.json", [CAMERA])
    bad = "-p qos.imu.reliability:=best_effort -p vehicles:=[1,2]"
    setup = LOOPBACK + (
        f"{bridge} --ros-args -p config:={config} {bad} >{tmp_path}/bridge.log 2>&1 & bridge=$!\n"
        f"{bridge} echo --qos-reliability reliable /rflysim/copter1/imu sensor_msgs/msg/Imu >/dev/null & echo=$!\n"
        "trap 'kill -INT $bridge $echo; wait $bridge' EXIT; sleep 6\n"
    )
    variables = {"ROS_LOCALHOST_ONLY": "1", "ROS_DOMAIN_ID": "7"}
    found = doctor(tmp_path, setup=setup, emulator="", seconds=6, variables=variables)
    # Nor does the doctor itself listen beside the bridge.
    assert not {"port-taken", "port-shared", "start"} & set(found), found
    # `echo` asks for reliable delivery of a topic that offers best effort.
    assert "imu" in found["reader-qos"]["subject"]
    assert found["vehicle-missing"]["subject"] == "vehicle 2"
    assert "panicked" not in (tmp_path / "bridge.log").read_text()
