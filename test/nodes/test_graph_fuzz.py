"""The short version of scripts/fuzz_graph: coupled nodes in one process and as processes; wrong models, wrong nodes."""

import graph_fuzz
import numpy as np
import pytest
from coupled_nodes import motion
from coupled_nodes.following import ControllerModel, FollowingModel
from coupled_nodes.load import Load, Ramp
from coupled_nodes.model import Clock, TorqueModel
from coupled_nodes.motion import Follower
from coupled_nodes.processes import Processes
from coupled_nodes.robots import Arm
from coupled_nodes.rules import Findings
from coupled_nodes.server import ServerModel
from coupled_nodes.settings import drawn_in_real_time

from robot_dynamics_ros.control.state_gate import StateGate
from robot_dynamics_ros.nodes.feedforward_input import FeedforwardInput, Torques
from robot_dynamics_ros.nodes.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.torque_producers import Producers

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


def test_torques_came(run):
    """A run of which nothing comes would break no rule."""
    assert run.counts['torques'] > MESSAGES // 4, run.counts


def test_rules_hold_in_an_episode_of_all_moves():
    with graph_fuzz.quiet():
        every = graph_fuzz.directed(SEED, rate_limit=2000.0)
    assert not every.first, every.report(SEED, 'all moves')
    for what in ('trajectories', 'feedforward torques', 'move silence', 'deactivate', 'set_payload', 'checked R14'):
        assert every.counts[what], every.counts


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


def _by(*moves, **parameters):
    """Return the moves that must show that a rule is dropped, and the parameters of the nodes for it."""
    return moves, parameters


STATE, TRAJECTORY = TorqueModel.state, FollowingModel.trajectory
BY_CHANCE = None
STALE = {'on_stale': 'ramp_to_zero'}
WRONG = {
    'R1, a trajectory survives activation': (
        *(FollowingModel, 'activate', _keeps_trajectory),
        _by('trajectory', 'restart'),
    ),
    'R2, no silence ends anything': (
        *(Clock, 'ends_silence', lambda *_: False),
        _by('replace_trajectory', 'silence'),
    ),
    'R3, a trajectory survives a clock that goes back': (
        *(FollowingModel, 'set_back', TorqueModel.set_back),
        _by('replace_trajectory', 'clock_back'),
    ),
    'R3, ramps do not notice a clock that goes back': (
        *(Ramp, 'set_back', lambda *_: None),
        _by('payload', 'clock_back'),
    ),
    'R4, no torque is recent': (TorqueModel, 'answers', lambda *_: False, _by('states', 'diagnose')),
    'R6, nothing is waited for': (
        *(TorqueModel, 'state', lambda *arguments: STATE(*arguments[:5], False)),
        _by('wait_for_load'),
    ),
    'R7, a payload is there at once': (
        Load,
        'carry',
        lambda load, message, _=True: None,
        _by('forget_payload'),
    ),
    'R8, any payload is taken': (ServerModel, 'set_payload', lambda *_: True, _by('payload')),
    'R9, a trajectory begins where it arrives': (
        *(FollowingModel, 'trajectory', _begins_on_arrival),
        _by('trajectory_arrives_late'),
    ),
    'R10, a trajectory may begin anywhere': (Follower, '_room', 1e9, _by('trajectory')),
    'R10, what begins soon is replaced': (motion, 'SOON', 0, _by('replace_while_one_waits')),
    'R11, a turn counts': (
        *(Arm, 'distance', lambda arm, to, origin: to - origin),
        _by('trajectory', robot='continuous'),
    ),
    'R12, nothing is held': (
        *(ControllerModel, '_holding', lambda model, rule, state: (rule, None, True, True)),
        _by('states'),
    ),
    'R13, everything fits': (ControllerModel, '_fits', lambda _: True, BY_CHANCE),
    'R14, no time passes between torques': (
        *(TorqueModel, 'step', lambda *_: (0.0, 0.0)),
        _by('replace_trajectory', rate_limit=80.0),
    ),
    'R15, a monitored torque is clamped': (TorqueModel, '_limited', _clamped, BY_CHANCE),
    'R17, nothing goes on when states stop': (
        *(TorqueModel, 'absence', lambda *_: None),
        _by('states', 'silence', **STALE),
    ),
    'R17, states are overdue by the steady clock': (
        *(TorqueModel, '_time', lambda _, now, steady: steady),
        _by('crawl', **STALE),
    ),
    'R25, a load may make a step': (Ramp, 'without_step', lambda ramp, held, now: ramp, _by('forget_payload')),
    'GATE, every stamp is good': (Clock, 'refuses', lambda *_: '', _by('wrong_state')),
    'SKIP, states of other joints are rejected': (TorqueModel, 'skips', lambda *_: False, _by('gripper')),
}
"""By the rule that is dropped: what of the models is replaced, so that right nodes must look wrong, and by which moves.

Rules that nearly every graph shows are left to random moves of random graphs.
"""


@pytest.mark.parametrize('wrong', WRONG)
def test_a_rule_that_is_dropped_is_noticed(wrong, monkeypatch):
    kind, name, replacement, shown_by = WRONG[wrong]

    def run(messages):
        if shown_by is BY_CHANCE:
            return graph_fuzz.run(SEED, messages)
        moves, parameters = shown_by
        return graph_fuzz.directed(SEED, moves, messages, **parameters)

    monkeypatch.setattr(kind, name, replacement)
    found = FirstFinding()
    monkeypatch.setattr(graph_fuzz, 'Findings', lambda: found)
    with graph_fuzz.quiet(), pytest.raises(NoticedError):
        run(ENOUGH)
    monkeypatch.undo()
    with graph_fuzz.quiet():
        right = run(found.index)
    assert not right.first, right.report(SEED, 'it was noticed for another reason: one process')


def _of_any_age(source, stamp, plan):
    """No feedforward torque is too old for a state."""
    newest = source._newest.stamp
    return FAULT(source, stamp if newest is None else newest, plan)


def _keeps_payload(load, topic, held, told):
    """A payload stays when a server says that there is none."""
    return FOLLOWED(load, topic, held, told) if told.after else held


def _only_beyond_the_age_limit(gate, stamp):
    """An age limit that is raised hides interruptions."""
    return gate.used is None or stamp - gate.used > gate._limit


FAULT, FOLLOWED = FeedforwardInput.fault, PayloadGravityInput._followed
BROKEN = {
    'R2, a raised age limit hides a silence': ('push_in_a_pause', StateGate, 'resumes', _only_beyond_the_age_limit),
    'R12, no feedforward torque is too old': ('lose_feedforward', FeedforwardInput, 'fault', _of_any_age),
    'TRAJECTORY, torques of another trajectory are added': (
        'replace_trajectory',
        Torques,
        'belongs_to',
        lambda *_: True,
    ),
    'R13, torques of a second publisher are added': ('second_feedforward', Producers, 'accepts', lambda *_: True),
    'R25, a payload ends in a step': (
        'forget_payload',
        PayloadGravityInput,
        '_followed',
        lambda *arguments: arguments[-1],
    ),
    'R25, a payload outlives its server': ('forget_payload', PayloadGravityInput, '_followed', _keeps_payload),
}
"""By the rule that the nodes drop: the move that must show it, and what of the nodes is replaced."""


@pytest.mark.parametrize('broken', BROKEN)
def test_a_rule_that_nodes_drop_is_noticed(broken, monkeypatch):
    move, kind, name, replacement = BROKEN[broken]
    monkeypatch.setattr(kind, name, replacement)
    with graph_fuzz.quiet():
        found = graph_fuzz.directed(SEED, [move])
    rule, _ = broken.split(', ')
    assert rule in found.first, f'expected that {rule} is reported as broken: {found.report(SEED, move)}'
