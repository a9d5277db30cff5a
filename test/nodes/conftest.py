"""Graphs of the node tests: one for a test or for a file, empty or with nodes that several files need.

``process`` has nodes of the test's own process instead.
"""

import gc
import itertools

from support.nodes import graph as ros
from support.nodes import participants
from support.nodes.feedforward import CONTROLLER, NAMES
from support.nodes.feedforward import NODE as FEEDFORWARD
from support.nodes.nodes_here import nodes_here
from support.nodes.payload_gravity_followers import Process

import pytest

from robot_dynamics_ros.nodes.process import hot_path

_THOUSANDS = itertools.count(1)


def pytest_itemcollected(item):
    """Mark the tests of this folder."""
    item.add_marker('ros')


@pytest.fixture(autouse=True)
def few_participants():
    """Leave the next test a graph without participants of this one, but for that of a client and one more."""
    yield
    participants.collect(2)


class _Collector:
    """Stands in for ``gc``, and freezes nothing: to unfreeze would be to look again at all that tests have imported."""

    collect = staticmethod(gc.collect)

    @staticmethod
    def freeze():
        """Freeze nothing."""

    unfreeze = freeze


@pytest.fixture(scope='module', autouse=True)
def collector():
    """Let nodes of this process collect garbage only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hot_path, 'gc', _Collector)
        yield


@pytest.fixture(scope='module')
def file_graph(tmp_path_factory, request):
    """One graph for all tests of a file, without a node so far."""
    with ros.Graph(tmp_path_factory.mktemp(request.path.stem)) as running:
        yield running


@pytest.fixture
def graph(tmp_path):
    """A graph for one test, without a node so far."""
    with ros.Graph(tmp_path) as running:
        yield running


@pytest.fixture
def alone(file_graph):
    """The graph of the file without a node, and without one when the test has ended."""
    end_all(file_graph)
    yield file_graph
    end_all(file_graph)


def end_all(graph):
    for node in tuple(graph.processes._running):
        graph.end(node)


@pytest.fixture
def start(graph):
    """A time that no test has used, ahead of all of them, so that no state is out of order."""
    return graph.now() + 1000 * next(_THOUSANDS) * ros.SECOND


@pytest.fixture(scope='module')
def started(file_graph, request):
    """torque_controller and feedforward_node in one process; the file says what their age limit is, ``AGE`` in s."""
    arguments = ('-p', 'control_law:=pd_gravity', '-p', f'age_limit:={request.module.AGE}')
    file_graph.bring_up(CONTROLLER, FEEDFORWARD, arguments=arguments)
    return file_graph


@pytest.fixture
def reactivated(started):
    """Both nodes, activated again: no state that an earlier test sent counts, and no trajectory is followed."""
    started.reactivate(CONTROLLER, FEEDFORWARD)
    started.follow('bringup', ros.trajectory(NAMES, 0), receivers=2)
    return started


@pytest.fixture
def process():
    """Nodes of this process, none so far: no test before has left a publisher that one of them could count."""
    participants.collect(0)
    running = Process()
    yield running
    running.end()


@pytest.fixture
def other_process():
    """Nodes that reach those of ``process`` over DDS only."""
    running = Process()
    yield running
    running.end()


@pytest.fixture
def configured():
    """Configured nodes: a function of their class and parameters."""
    with nodes_here(ros.AUBO_I5) as make:

        def made(kind, **values):
            node = make(kind, **values)
            node.trigger_configure()
            return node

        yield made
