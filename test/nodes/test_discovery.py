"""How soon a new process knows of publishers that exist: a torque node waits for them for ``DISCOVERY`` only."""

import subprocess
import sys
import time

from support import graph as ros

import rclpy
from std_msgs.msg import String

from robot_dynamics_ros.nodes import discovery

EXISTING, STARTS = 4, 6
ANNOUNCED = 3.0
"""s until Fast DDS announces a participant again."""


class Participant:
    """A node with a DDS participant of its own."""

    def __init__(self, name):
        self._context = rclpy.Context()
        self._context.init()
        self.node = rclpy.create_node(name, context=self._context)

    def end(self):
        self.node.destroy_node()
        self._context.shutdown()


def test_a_new_participant_knows_of_existing_publishers_before_they_are_announced_again():
    topics = [f'existing_{k}' for k in range(EXISTING)]
    existing = [Participant(topic) for topic in topics]
    for topic, participant in zip(topics, existing, strict=True):
        participant.node.create_publisher(String, topic, 1)
    taken = []
    for k in range(STARTS):
        newcomer = Participant(f'newcomer_{k}')
        began = time.monotonic()
        while not all(newcomer.node.count_publishers(topic) for topic in topics):
            assert time.monotonic() < began + ros.TIMEOUT
            time.sleep(0.005)
        taken.append(time.monotonic() - began)
        newcomer.end()
    for participant in existing:
        participant.end()
    told = ', '.join(f'{seconds:.2f}' for seconds in taken)
    assert max(taken) < ANNOUNCED / 2, f'new participants know of {EXISTING} existing publishers after {told} s'


def test_the_profiles_of_the_user_are_kept(monkeypatch, tmp_path):
    def chosen():
        discovery.discover_at_once()
        return discovery.os.environ.get(discovery.VARIABLE)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(discovery.VARIABLE, 'mine.xml')
    assert chosen() == 'mine.xml'
    monkeypatch.delenv(discovery.VARIABLE)
    (tmp_path / discovery.OF_FOLDER).touch()
    assert chosen() is None
    (tmp_path / discovery.OF_FOLDER).unlink()
    assert chosen() == str(discovery.PROFILES)
    monkeypatch.setenv(discovery.VARIABLE, '')
    assert chosen() == str(discovery.PROFILES)


def test_a_node_process_uses_the_profiles(monkeypatch):
    monkeypatch.delenv(discovery.VARIABLE)
    script = (
        'import os\n'
        'from robot_dynamics_ros.nodes.process import run\n'
        f'run(lambda: print(os.environ.get("{discovery.VARIABLE}"), flush=True) or os._exit(0))\n'
    )
    command = [sys.executable, '-c', script]
    printed = subprocess.run(command, cwd=ros.TREE, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == [str(discovery.PROFILES)]
