"""How soon a new process knows of publishers that exist: a torque node waits for those of dynamics_server."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from support.nodes import graph as ros
from support.nodes.own_domain import free_domain

import pytest
import rclpy
from lifecycle_msgs.msg import State
from std_msgs.msg import String

from robot_dynamics_ros.nodes.process import discovery
from robot_dynamics_ros.tools import processes

EXISTING, STARTS = 4, 6
ANNOUNCED = 3.0
"""s until Fast DDS announces a participant again, unless a profile says otherwise."""


class Participant:
    """A node with a DDS participant of its own."""

    def __init__(self, name):
        self._context = rclpy.Context()
        self._context.init()
        self.node = rclpy.create_node(name, context=self._context)

    def end(self):
        self.node.destroy_node()
        self._context.shutdown()


def waited() -> float:
    """Return how long the threads of this process, which are those of all participants, lacked a processor, s.

    0 where the kernel does not count it.
    """
    counts = (task / 'schedstat' for task in Path('/proc/self/task').iterdir())
    return sum(int(count.read_text().split()[1]) for count in counts if count.exists()) * 1e-9


def test_a_new_participant_knows_of_existing_publishers_before_they_are_announced_again():
    topics = [f'existing_{k}' for k in range(EXISTING)]
    existing = [Participant(topic) for topic in topics]
    for topic, participant in zip(topics, existing, strict=True):
        participant.node.create_publisher(String, topic, 1)
    taken = []
    for k in range(STARTS):
        newcomer = Participant(f'newcomer_{k}')
        began, lacked = time.monotonic(), waited()
        while not all(newcomer.node.count_publishers(topic) for topic in topics):
            assert time.monotonic() < began + ros.TIMEOUT
            time.sleep(0.005)
        taken.append(time.monotonic() - began - (waited() - lacked))
        newcomer.end()
    for participant in existing:
        participant.end()
    told = ', '.join(f'{seconds:.2f}' for seconds in taken)
    assert max(taken) < ANNOUNCED / 2, f'new participants know of {EXISTING} existing publishers after {told} s'


def test_another_participant_looks_for_a_service_that_one_does_not_discover(graph, monkeypatch):
    """Seen once in some ten thousand starts: topics of a node were discovered, its services not within 360 s."""
    monkeypatch.setattr(processes, 'PATIENCE', 1.0)
    client, node = graph.client, 'gravity_compensation_node'
    domain, lock = free_domain()
    elsewhere = rclpy.Context()
    elsewhere.init(domain_id=domain)
    client._asking = rclpy.create_node('elsewhere', context=elsewhere)
    client._executor.add_node(client._asking)
    graph.start(node)
    assert client.state_of(node).id == State.PRIMARY_STATE_ACTIVE
    assert client._asking.get_name() == 'test_client_anew'
    os.close(lock)


LEAVING = """
import os
import time
import rclpy
from std_msgs.msg import String
from std_srvs.srv import Trigger

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # threads interrupt each other

def participant(name):
    context = rclpy.Context()
    context.init()
    return context, rclpy.create_node(name, context=context)

_, staying = participant('staying')
for turn in range(40):
    context, leaving = participant('leaving')
    leaving.create_subscription(String, 'text', lambda message: None, 1)
    leaving.create_service(Trigger, 'trigger', lambda request, response: response)
    time.sleep(0.02 * (turn % 2))
    for k in range(5):
        publisher = staying.create_publisher(String, 'text', 1)
        subscription = staying.create_subscription(String, 'other', lambda message: None, 1)
        service = staying.create_service(Trigger, 'trigger', lambda request, response: response)
        if k == 2:
            leaving.destroy_node()
            context.shutdown()
        staying.destroy_publisher(publisher)
        staying.destroy_subscription(subscription)
        staying.destroy_service(service)
"""


def test_endpoints_may_be_destroyed_while_other_participants_leave():
    """A thread of discovery must not wait for itself: the process would hang, or announce nothing any more."""
    subprocess.run([sys.executable, '-c', LEAVING], check=True, timeout=ros.START_TIMEOUT)


@pytest.mark.parametrize('version', range(2), ids=['Fast DDS 3', 'Fast DDS 2'])
def test_the_profiles_of_the_user_are_kept(monkeypatch, tmp_path, version):
    def chosen():
        discovery.use_profiles()
        return discovery.os.environ.get(variable)

    variable, file = discovery.VARIABLES[version], tmp_path / discovery.OF_FOLDER[version]
    (tmp_path / 'lib').mkdir()
    (tmp_path / 'lib' / ('libfastdds.so', 'libfastrtps.so')[version]).touch()
    monkeypatch.setenv('AMENT_PREFIX_PATH', f':{tmp_path}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(discovery.VARIABLES[0], raising=False)
    monkeypatch.delenv(discovery.VARIABLES[1], raising=False)
    monkeypatch.setenv(variable, 'mine.xml')
    assert chosen() == 'mine.xml'
    monkeypatch.delenv(variable)
    file.touch()
    assert chosen() is None
    file.unlink()
    assert chosen() == str(discovery.PROFILES)
    assert discovery.VARIABLES[1 - version] not in discovery.os.environ
    monkeypatch.setenv(variable, '')
    assert chosen() == str(discovery.PROFILES)


def test_a_node_process_uses_the_profiles(monkeypatch):
    monkeypatch.delenv(discovery.variable())
    script = (
        'import os\n'
        'from robot_dynamics_ros.nodes.process.node_process import run\n'
        f'run(lambda: print(os.environ.get("{discovery.variable()}"), flush=True) or os._exit(0))\n'
    )
    command = [sys.executable, '-c', script]
    printed = subprocess.run(command, cwd=ros.TREE, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == [str(discovery.PROFILES)]


@pytest.mark.parametrize(
    'profiles',
    [discovery.PROFILES, discovery.PROFILES.with_name('fastdds_shared_memory.xml')],
    ids=lambda path: path.stem,
)
def test_a_participant_requests_no_types(monkeypatch, profiles):
    """A request without a response, because the process ends, would hide endpoints of that type for good."""
    monkeypatch.setenv(discovery.variable(), str(profiles))
    script = (
        'import pathlib, rclpy\n'
        'rclpy.init()\n'
        'node = rclpy.create_node("typed")\n'
        'print(*(task.joinpath("comm").read_text().strip() for task in pathlib.Path("/proc/self/task").iterdir()))\n'
    )
    threads = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True, check=True).stdout.split()
    assert any(name.startswith('dds.ev') for name in threads), f'Fast DDS names its threads otherwise: {threads}'
    assert not [name for name in threads if name.startswith('dds.tls')], 'threads of the type lookup service'


def test_a_process_near_the_limit_of_local_discovery_is_told(monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    assert discovery.warning(None) == discovery.warning(discovery.NEAR - 2) == ''
    assert f'process {discovery.NEAR} of its ROS domain' in discovery.warning(discovery.NEAR - 1)
    assert f'after the first {discovery.DISCOVERED} do not' in discovery.warning(discovery.DISCOVERED)
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')
    assert discovery.warning(discovery.DISCOVERED) == ''


def test_a_process_has_the_number_of_its_port_of_discovery():
    participant = Participant('numbered')
    number = discovery.process_number(ros.DOMAIN)
    port = discovery.FIRST_PORT + discovery.DOMAIN_GAIN * ros.DOMAIN + discovery.PROCESS_GAIN * number
    with socket.socket(type=socket.SOCK_DGRAM) as other, pytest.raises(OSError, match='in use'):
        other.bind(('', port))
    # tests have been in all others, perhaps; ports of domains beyond 101 the system gives to sockets that only send
    assert discovery.process_number(0) is None, 'this process is in no such domain'
    participant.end()
