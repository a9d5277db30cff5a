"""The short version of scripts/fuzz_graph: coupled nodes in one process and as processes, and models that are wrong."""

import graph_fuzz
import numpy as np
import pytest
from coupled_nodes.following import ControllerModel, FollowingModel
from coupled_nodes.load import Load, Ramp
from coupled_nodes.model import Clock, TorqueModel
from coupled_nodes.motion import Follower
from coupled_nodes.processes import Processes
from coupled_nodes.robots import Arm
from coupled_nodes.rules import Findings
from coupled_nodes.server import ServerModel
from coupled_nodes.settings import drawn_in_real_time

MESSAGES, SEED = 2000, 11
IN_PROCESSES, PROCESS_SEED = 60, 5
ENOUGH = 40_000
"""Messages in which a wrong model must have been noticed."""


@pytest.fixture(scope='module')
def run():
    with graph_fuzz.quiet():
        return graph_fuzz.run(SEED, MESSAGES)


def test_rules_hold_in_one_process(run):
    assert not run.first, run.report(SEED, 'one process')


def test_everything_was_tried(run):
    """A run of which nothing comes would break no rule."""
    assert run.counts['torques'] > MESSAGES // 4, run.counts
    for what in ('trajectories', 'feedforward torques', 'move silence', 'deactivate', 'set_payload', 'checked R14'):
        assert run.counts[what], run.counts


def test_a_seed_repeats_a_run(run):
    with graph_fuzz.quiet():
        again = graph_fuzz.run(SEED, MESSAGES // 4)
        once_more = graph_fuzz.run(SEED, MESSAGES // 4)
    assert (again.counts, again.index) == (once_more.counts, once_more.index)


def test_rules_hold_in_processes():
    with graph_fuzz.quiet():
        found = graph_fuzz.run(PROCESS_SEED, IN_PROCESSES, Processes, draw=drawn_in_real_time)
    assert not found.first, found.report(PROCESS_SEED, 'processes')
    assert found.counts['torques'] > IN_PROCESSES // 10, found.counts


class NoticedError(Exception):
    """A finding: it ends a run."""


class FirstFinding(Findings):
    """Ends a run at the first case that breaks a rule."""

    def check(self, rule, holds, node, what):
        if not super().check(rule, holds, node, what):
            raise NoticedError(f'{rule}: {what() if callable(what) else what}')
        return True


def _keeps_trajectory(model):
    """Activation drops nothing."""
    followed = model.follower.followed
    TorqueModel.activate(model)
    model.follower.followed = followed


def _clamped(model, low, high, *_):
    """Every torque is within the effort limits."""
    return np.clip(low, -model.arm.effort, model.arm.effort), np.clip(high, -model.arm.effort, model.arm.effort)


def _begins_on_arrival(model, message, received, now, good):
    """Each node has a start of its own for a trajectory without a stamp."""
    TRAJECTORY(model, message, now, now, good)


STATE, TRAJECTORY = TorqueModel.state, FollowingModel.trajectory
WRONG = {
    'R1, a trajectory survives activation': (FollowingModel, 'activate', _keeps_trajectory),
    'R2, no silence ends anything': (Clock, 'ends_silence', lambda *_: False),
    'R3, a trajectory survives a clock that goes back': (FollowingModel, 'set_back', TorqueModel.set_back),
    'R3, ramps do not notice a clock that goes back': (Ramp, 'set_back', lambda *_: None),
    'R4, no torque is recent': (TorqueModel, 'answers', lambda *_: False),
    'R6, nothing is waited for': (TorqueModel, 'state', lambda *arguments: STATE(*arguments[:5], False)),
    'R7, a payload is there at once': (Load, 'carry', lambda load, message, _=True: None),
    'R8, any payload is taken': (ServerModel, 'set_payload', lambda *_: True),
    'R9, a trajectory begins where it arrives': (FollowingModel, 'trajectory', _begins_on_arrival),
    'R10, a trajectory may begin anywhere': (Follower, '_room', 1e9),
    'R11, a turn counts': (Arm, 'distance', lambda arm, to, origin: to - origin),
    'R12, nothing is held': (ControllerModel, '_holding', lambda model, rule, state: (rule, None, True, True)),
    'R13, everything fits': (ControllerModel, '_fits', lambda _: True),
    'R14, no time passes between torques': (TorqueModel, 'step', lambda *_: (0.0, 0.0)),
    'R15, a monitored torque is clamped': (TorqueModel, '_limited', _clamped),
    'R17, nothing goes on when states stop': (TorqueModel, 'absence', lambda *_: None),
    'R17, states are overdue by the steady clock': (TorqueModel, '_time', lambda _, now, steady: steady),
    'R25, a load may make a step': (Ramp, 'without_step', lambda ramp, held, now: ramp),
    'GATE, every stamp is good': (Clock, 'refuses', lambda *_: ''),
    'SKIP, states of other joints are rejected': (TorqueModel, 'skips', lambda *_: False),
}
"""By the rule that is dropped: what of the models is replaced, so that right nodes must look wrong."""
RARE = ('R1,', 'R3,', 'R6,', 'R8,', 'R9,', 'R10,', 'R11,', 'R17, states', 'R25,')
"""Beginnings of those that take long to be noticed."""


@pytest.mark.parametrize(
    'wrong', [pytest.param(name, marks=[pytest.mark.exhaustive] * name.startswith(RARE)) for name in WRONG]
)
def test_a_rule_that_is_dropped_is_noticed(wrong, monkeypatch):
    kind, name, replacement = WRONG[wrong]
    monkeypatch.setattr(kind, name, replacement)
    found = FirstFinding()
    monkeypatch.setattr(graph_fuzz, 'Findings', lambda: found)
    with graph_fuzz.quiet(), pytest.raises(NoticedError):
        graph_fuzz.run(SEED, ENOUGH)
    monkeypatch.undo()
    with graph_fuzz.quiet():
        right = graph_fuzz.run(SEED, found.index)
    assert not right.first, right.report(SEED, 'it was noticed for another reason: one process')
