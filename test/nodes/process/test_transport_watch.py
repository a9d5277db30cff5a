"""A process that has lost a shared-memory port of DDS says so and ends; tests name such a process when they fail."""

import mmap
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from support.nodes import graph as ros

import pytest

from robot_dynamics_ros.nodes.process import discovery, transport_watch
from robot_dynamics_ros.nodes.process import node_process as process

NODE = (
    'from robot_dynamics_ros.nodes.process import node_process as process\n'
    'from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode\n'
    'class Node(GravityCompensationNode):\n'
    '    def start(self):\n'
    '        super().start()\n'
    '        publish = self.diagnostics.publisher.publish\n'
    '        def told(array):\n'
    '            publish(array)\n'
    '            print("level", ord(array.status[0].level), array.status[0].message, flush=True)\n'
    '        self.diagnostics.publisher.publish = told\n'
    '        print("active", self.active, flush=True)\n'
    '    def fall_silent(self):\n'
    '        super().fall_silent()\n'
    '        print("silent", self.context.ok(), flush=True)\n'
)


@contextmanager
def port(folder: Path, locked: bool):
    """A file like that of a port, mapped by this process, and locked as by the port's reader."""
    path = folder / 'fastdds_port7000'
    path.write_bytes(bytes(mmap.PAGESIZE))
    with path.open('r+b') as file, mmap.mmap(file.fileno(), 0):
        file.close()
        if not locked:
            yield path
        else:
            with folder.joinpath(f'{path.name}_el').open('w'):
                yield path


def test_a_port_is_lost_once_its_file_is_deleted(tmp_path):
    with port(tmp_path, locked=True) as path:
        assert transport_watch.lost_ports() == []
        path.unlink()
        assert transport_watch.lost_ports() == transport_watch.lost_ports(os.getpid()) == [str(path)]
        path.write_bytes(b'that of another process')
        assert transport_watch.lost_ports() == [str(path)]
    assert transport_watch.lost_ports() == []


def test_the_port_of_another_process_that_has_ended_is_not_lost(tmp_path):
    with port(tmp_path, locked=False) as path:
        path.unlink()
        assert transport_watch.lost_ports() == []


def test_a_failed_test_names_the_process_that_hears_nothing(tmp_path, request):
    (hooks,) = [
        plugin
        for plugin in request.config.pluginmanager.get_plugins()
        if getattr(plugin, '__file__', None) == str(Path(__file__).parents[2] / 'conftest.py')
    ]

    def sections(failed):
        making, report = hooks.pytest_runtest_makereport(None, None), SimpleNamespace(failed=failed, sections=[])
        next(making)
        with pytest.raises(StopIteration):
            making.send(report)
        return report.sections

    assert sections(failed=True) == []
    with port(tmp_path, locked=True) as path:
        path.unlink()
        assert sections(failed=False) == []
        assert sections(failed=True) == [('shared memory of DDS', f'process {os.getpid()} has lost {path}')]


def started(script: str, **environment: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, '-c', script, *ros.AUBO_I5],
        cwd=ros.TREE,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_node_whose_port_is_deleted_reports_it_stops_publishing_and_ends_with_a_status():
    """The file is deleted here as Fast DDS does it in another process."""
    profiles = discovery.PROFILES.with_name('fastdds_shared_memory.xml')
    node = started(f'{NODE}process.run(Node)', **{discovery.variable(): str(profiles)})
    ending = threading.Timer(ros.START_TIMEOUT, node.kill)
    ending.start()
    for line in node.stdout:
        if line.startswith('active True'):
            break
    links = [os.readlink(entry.path) for entry in os.scandir(f'/proc/{node.pid}/fd') if entry.is_symlink()]
    locks = [found[1] for link in links if (found := transport_watch.LOCK.match(link))]
    for path in locks:
        Path(path).unlink()
    printed = node.communicate()[0]
    ending.cancel()
    assert locks, 'the node has no port in shared memory'
    assert node.returncode == process.LOST, printed
    lines = [line for line in printed.splitlines() if line.startswith(('level 2', 'silent'))]
    assert [line.split()[0] for line in lines] == ['level', 'silent'], printed
    assert locks[0] in lines[0] and 'has to be started again' in lines[0]
    assert lines[1] == 'silent True', 'it could not publish a last torque any more'


def test_a_process_that_has_lost_its_port_when_it_starts_activates_no_node():
    node = started(f'{NODE}process.lost_ports = lambda: ["/dev/shm/fastdds_port7000"]\nprocess.run(Node)')
    printed, _ = node.communicate(timeout=ros.START_TIMEOUT)
    assert node.returncode == process.LOST, printed
    assert 'active' not in printed and 'fastdds_port7000' in printed


def test_nodes_receive_messages_by_udp(file_graph):
    file_graph.start('dynamics_server', arguments=('-p', 'autostart:=false'), active=False)
    for pid in (os.getpid(), file_graph.pid('dynamics_server')):
        links = [os.readlink(entry.path) for entry in os.scandir(f'/proc/{pid}/fd') if entry.is_symlink()]
        assert [link for link in links if transport_watch.LOCK.match(link)] == []
