"""What must not stop a node: diagnostics, long trajectories, feedforward messages."""

import itertools
import re
import time
from contextlib import suppress

from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER, NAMES, REST, ROBOT, A, assert_command, rest_at
from support.nodes.feedforward import NODE as FEEDFORWARD

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_interfaces.srv import GetMassMatrix
from robot_dynamics_ros.tools.processes import ProcessError

GRAVITY, SERVER, ARM = 'gravity_compensation_node', 'dynamics_server', 'simulated_arm'
PATIENT = ('-p', 'age_limit:=5.0')
BARE = ROBOT.gravity_torque(A)


@pytest.fixture
def graph(file_graph):
    """The graph with three nodes of torques in one process."""
    nodes = (GRAVITY, FEEDFORWARD, CONTROLLER)
    if 'bringup' not in file_graph.processes._running:
        file_graph.bring_up(*nodes, arguments=(*PATIENT, '-p', 'start_tolerance:=0.0'))
    return file_graph


def state(graph, stamp=None, position=A, names=NAMES):
    graph.send('joint_states', ros.joint_state(names, stamp or graph.now(), position, np.zeros(len(position))))


def answered(graph, topic=GRAVITY, period=0.2):
    """See a state of now answered by gravity_compensation_node."""
    torques = graph.listen(JointState, 'gravity_torque')
    graph.repeat_until(lambda: state(graph), lambda: torques, 'a torque', period)
    assert_command(torques[0].effort, BARE, 'a good state after bad ones', 'gravity_torque')


# diagnostics


def inject(monkeypatch, folder, code):
    """Have Python processes that are started from now on run ``code`` before anything else."""
    (folder / 'sitecustomize.py').write_text(code)
    monkeypatch.setenv('PYTHONPATH', str(folder))


RESTLESS = """
import sys
sys.setswitchinterval(1e-6)
sys.setswitchinterval = lambda interval: None
"""
"""Threads take turns as often as they can: what one changes while another reads it is found soon."""


@pytest.mark.slow
def test_states_of_ever_new_reasons_resets_and_diagnostics_end_no_process(alone, monkeypatch, tmp_path):
    inject(monkeypatch, tmp_path, RESTLESS)
    nodes = (GRAVITY, FEEDFORWARD, CONTROLLER)
    alone.bring_up(*nodes, arguments=PATIENT)
    answered(alone)
    bad = (
        serialize_message(JointState(name=[*NAMES, name, name], position=[0.0] * 8))
        for name in (f'{k}_{"x" * 100_000}' for k in itertools.count())
    )
    resets = [alone.node.create_client(Trigger, f'{node}/reset') for node in nodes]

    def flood():
        for _ in range(3):
            alone.send('joint_states', next(bad))

    def reset():
        for client in resets:
            client.call_async(Trigger.Request())

    process = alone.processes._running['bringup']
    seen: list = []
    with (
        alone.record(DiagnosticArray, '/diagnostics') as arrays,
        alone.repeating(flood, 0.01),
        alone.repeating(reset, 0.1),
    ):

        def enough():
            seen[:] = [array.status[0].name for array in arrays]
            return process.poll() is not None or all(seen.count(f'/{node}') >= 4 for node in nodes)

        with suppress(ProcessError):  # where the process has ended, as is seen below
            alone.until(enough, 'diagnostics of each node four times', 60.0)
    for client in resets:
        alone.node.destroy_client(client)
    alive = process.poll() is None
    if not alive:
        alone.forget('bringup')
    log = re.sub('x{100,}', 'x...x', alone.log('bringup'))
    assert alive, f'bringup with all of its nodes: expected to live, it ended: {log[-400:]}'
    assert 'Traceback' not in log
    answered(alone)


LOOSE = """
import sys
if any('bringup' in argument for argument in sys.orig_argv):
    import mujoco
    step = mujoco.mj_step
    calls = 0

    def mj_step(*arguments):
        global calls
        calls += 1
        if calls == 100:
            raise RuntimeError('a wheel came off')
        return step(*arguments)

    mujoco.mj_step = mj_step
"""
"""The plant of simulated_arm fails at its hundredth step."""


def test_an_exception_in_the_timer_of_the_simulated_arm_ends_no_process(alone, monkeypatch, tmp_path):
    inject(monkeypatch, tmp_path, LOOSE)
    alone.bring_up(ARM, SERVER)
    process = alone.processes._running['bringup']

    def failed():
        return process.poll() is not None or 'a wheel came off' in alone.log('bringup')

    with alone.repeating(lambda: alone.send('effort_commands', Float64MultiArray(data=BARE.tolist()))):
        alone.client.spin_while_waiting(failed, ros.TIMEOUT)
    request = GetMassMatrix.Request(positions=A.tolist())
    with suppress(ProcessError):  # where the process has ended, as is seen below
        assert alone.client.call(GetMassMatrix, f'{SERVER}/get_mass_matrix', request).success
    if process.poll() is not None:
        alone.forget('bringup')
    log = alone.log('bringup')
    assert process.poll() is None, f'a timer of {ARM} ended the process with all of its nodes: {log[-300:]}'
    assert 'a wheel came off' in log and 'Traceback' not in log


# three nodes of torques in one process


def test_diagnostics_are_of_a_node_without_torques_not_ok(graph):
    """A first stamp of another clock, and some good states, then none."""
    with graph.parameters(GRAVITY, age_limit=0.0):
        torques = graph.listen(JointState, 'gravity_torque')
        graph.until(lambda: graph.node.count_subscribers('joint_states') == 3, 'three subscribers')
        with graph.repeating(lambda: state(graph, graph.now() - 100_000 * ros.SECOND), 0.2):
            graph.diagnostics(GRAVITY, lambda status: int(status.fields['states rejected']) > 0)
        graph.repeat_until(lambda: state(graph), lambda: len(torques) > 2, 'a torque', 0.1)
        with graph.record(DiagnosticArray, '/diagnostics') as arrays:
            since = graph.now() + 5 * ros.SECOND // 2  # age limit 1 s at most, and a second until it is looked at
            late: list = []

            def look():
                late.extend(
                    array.status[0]
                    for array in arrays
                    if array.status[0].name == f'/{GRAVITY}' and ros.nanoseconds(array.header.stamp) > since
                )
                arrays.clear()
                return len(late) >= 4

            graph.until(look, 'diagnostics after the last state', 30.0)
    levels = [(status.level, status.message) for status in late]
    assert all(level == DiagnosticStatus.WARN for level, _ in levels), (
        f'/diagnostics, 2.5 to 6.5 s after the last torque: expected WARN and the reason, got {levels}'
    )


def first_delay(graph, points):
    """Return how long the first state of a trajectory of so many points takes, s."""
    now = graph.now()
    motion = ros.trajectory(NAMES, now, *((0.005 * k, A, REST, REST) for k in range(1, points + 1)))
    graph.follow('bringup', motion, receivers=2)
    torques = graph.listen(JointState, 'feedforward_torque')
    stamp = now + ros.SECOND // 2  # not late, however long it was read
    began = time.monotonic()
    graph.answer(lambda stamp: state(graph, stamp), torques, stamp)
    return time.monotonic() - began


def test_the_first_state_of_a_long_trajectory_costs_no_more_than_that_of_a_short_one(graph):
    short, long = [], []
    with graph.parameters(FEEDFORWARD, age_limit=ros.DAY), graph.parameters(CONTROLLER, age_limit=ros.DAY):
        # a pause of the machine is not its cost
        while len(long) < 10 and (not long or min(long) >= 2.0 * min(short) + 0.05):
            short.append(first_delay(graph, 1000))
            long.append(first_delay(graph, 20_000))
    assert min(long) < 2.0 * min(short) + 0.05, (
        f'feedforward_torque: the first state of 20000 points took {min(long):.3f} s, of 1000 points {min(short):.3f} s'
    )


def ramp(graph, feeding):
    """Have states stop, and return the commands of the ramp to zero; meanwhile feedforward torques arrive or none."""

    def feed():
        for _ in range(2):
            graph.send('feedforward_torque', ros.stamped(JointState(name=NAMES, effort=BARE.tolist()), graph.now()))

    commands = graph.listen(Float64MultiArray, 'effort_commands')

    def both():
        feed()
        state(graph)

    graph.repeat_until(both, lambda: commands and np.abs(commands[-1].data).max() > 1.0, 'a command', 0.05)

    def ended():
        return commands and not np.any(commands[-1].data)

    if not feeding:
        graph.until(ended, 'the end of the ramp')
        return list(commands)
    with graph.repeating(feed, 0.001):
        graph.until(ended, 'the end of the ramp')
    return list(commands)


def test_feedforward_messages_do_not_keep_the_torque_from_going_to_zero_evenly(graph):
    with graph.parameters(CONTROLLER, on_stale='ramp_to_zero', ramp_time=1.0, age_limit=0.3):
        graph.follow('bringup', rest_at(graph.now()), receivers=2)
        counts = {feeding: len(ramp(graph, feeding)) for feeding in (False, True)}
    assert counts[True] > 0.6 * counts[False], (
        f'effort_commands: expected one every 5 ms of the ramp to zero, {counts[False]} without feedforward messages, '
        f'got {counts[True]} beside them'
    )
