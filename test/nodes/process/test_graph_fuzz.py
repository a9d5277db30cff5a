"""The short version of scripts/fuzz_graph: coupled nodes in one process and as processes, and nodes with one fault."""

from support.matrices import matrix

import graph_fuzz
import numpy as np
import processes
import pytest
from findings import Findings
from rules import RULES

from robot_dynamics_ros.control.guards.state_gate import ACCEPTED, StateGate
from robot_dynamics_ros.control.guards.timeout_fallback import RampToZero
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.guards.velocity_check import VelocityCheck
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import TORQUE
from robot_dynamics_ros.control.laws.gravity_law import GravityLaw
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.joint_space_law import NO_FEEDFORWARD, JointSpaceLaw
from robot_dynamics_ros.control.payload.ramp import Ramp
from robot_dynamics_ros.control.trajectories import trajectory_follower, trajectory_start
from robot_dynamics_ros.control.trajectories.motion_agreement import MotionAgreement
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.control.trajectories.trajectory_start import TrajectoryStart
from robot_dynamics_ros.messages.joint_state import StateInput
from robot_dynamics_ros.nodes.inputs import torque_producers
from robot_dynamics_ros.nodes.inputs.feedforward_input import FeedforwardInput, Torques
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.inputs.pipeline_clock import PipelineClock
from robot_dynamics_ros.nodes.inputs.torque_producers import Producers
from robot_dynamics_ros.nodes.lifecycle import base_node, configuration
from robot_dynamics_ros.nodes.outputs.torque_publishers import TorqueTopics
from robot_dynamics_ros.nodes.process.hot_path import HotPath
from robot_dynamics_ros.nodes.tasks import control_loop, controller_law, torque_pipeline
from robot_dynamics_ros.nodes.tasks.payload_gravity_service import PayloadGravityService
from robot_dynamics_ros.nodes.tasks.torque_pipeline import TorquePipeline

MESSAGES, SEED = 2000, 11
IN_PROCESSES, PROCESS_SEED = 300, 5
ENOUGH = 40_000
"""Messages in which a fault must have been found."""


@pytest.fixture(scope='module')
def run():
    with graph_fuzz.quiet():
        return graph_fuzz.run(SEED, MESSAGES)


def test_rules_hold_in_one_process(run):
    assert not run.first, run.report(f'scripts/fuzz_graph --seed {SEED}')


def test_a_run_publishes_torques(run):
    assert run.counts['torques'] > MESSAGES // 4, run.counts


def test_rules_hold_in_an_episode_of_all_moves():
    with graph_fuzz.quiet():
        every = graph_fuzz.directed(SEED, rate_limit=2000.0)
    assert not every.first, every.report('all moves')
    for what in ('trajectories', 'feedforward torques', 'move silence', 'deactivate', 'move load', 'checked RATE'):
        assert every.counts[what], every.counts


def test_a_seed_repeats_a_run(run):
    with graph_fuzz.quiet():
        again, once_more = (graph_fuzz.run(SEED, MESSAGES // 8) for _ in range(2))
    assert (again.counts, again.index) == (once_more.counts, once_more.index)


@pytest.mark.slow
def test_rules_hold_in_processes(tmp_path):
    with graph_fuzz.quiet():
        found = processes.run(PROCESS_SEED, IN_PROCESSES, tmp_path)
    assert not found.first, found.report(f'scripts/fuzz_graph --processes --seed {PROCESS_SEED}')
    assert found.counts['torques'] > IN_PROCESSES // 10, found.counts


class FoundError(Exception):
    """A finding: it ends a run."""


class FirstFinding(Findings):
    """Ends a run at the first violation of a rule."""

    def __init__(self, rule):
        super().__init__(RULES)
        self._rule = rule

    def check(self, rule, holds, what):
        if not super().check(rule, holds, what) and rule == self._rule:
            raise FoundError
        return bool(holds)


def nothing(*_, **__):
    """Replace a method by one that does nothing."""


def _doubled(law, state, out):
    """The gravity torque is added twice."""
    result = GRAVITY(law, state, out)
    out *= 2.0
    return result


def _not_finite(law, state, out):
    out[:] = np.nan
    return TORQUE


def _published_twice(topics, stamp, torque, answered):
    PUBLISH(topics, stamp, torque, answered)
    PUBLISH(topics, stamp, torque, answered)


def _replayed(pipeline, why):
    """A rejected state gets the torque of the state before."""
    pipeline._publish(pipeline._stamp, pipeline.limiter.last, pipeline._stamp)
    return why


def _anywhere(limits, robot, tolerance):
    """A tolerance is none."""
    LIMITS(limits, robot, 1e6)


def _too_fast(check, state):
    fault = VELOCITY(check, state)
    return fault if fault and 'times its limit' in fault.reason else None


def _starts_now(follower, trajectory, start, now, is_exact, sent, **options):
    """A trajectory starts where it arrives."""
    RECEIVE(follower, trajectory, sent, sent, is_exact, sent, **options)


def _from_the_arm(start, before, state):
    """Each lead begins where the arm is measured."""
    start._desired[:] = state.q, 0.0 * state.q, 0.0 * state.q
    return False


def _without_limits(stated, robot, effort_limit):
    """Leads may have any acceleration."""
    return np.full(robot.nv, np.inf)


def _of_any_age(source, stamp, plan):
    """No feedforward torque is too old for a state."""
    newest = source._newest.stamp
    return FAULT(source, stamp if newest is None else newest, plan)


def _keeps_payload(load, topic, held, told):
    """A payload stays when a server says that it was taken off."""
    return FOLLOWED(load, topic, held, told) if told.after else held


def _only_beyond_the_age_limit(gate, stamp):
    """An age limit that is raised hides interruptions."""
    return gate.used is None or stamp - gate.used > gate._limit


def _only_the_first(gate, stamp):
    """No pause is an interruption."""
    return gate.used is None


def _zero_for_ever(fallback, now, missing, out):
    """A ramp to zero does not end."""
    RAMP(fallback, now, missing, out)
    return True


def _held_anew(hold, state):
    """The hold position is measured at each state."""
    hold.position[:] = state.q


GRAVITY, PUBLISH, RECEIVE = GravityLaw.torque, TorqueTopics.publish, TrajectoryFollower.receive
LIMITS, VELOCITY = PositionLimits.__init__, VelocityCheck.fault
FAULT, FOLLOWED, RAMP = FeedforwardInput.fault, PayloadGravityInput._followed, RampToZero.torque
NEVER = property(lambda _: False, nothing)
LIMITER = {
    'enforced': lambda *limits, **_: TorqueLimiter(*limits),
    'never enforced': lambda *limits, **_: TorqueLimiter(*limits, enforced=False),
    'no rate': lambda effort, rate, **given: TorqueLimiter(effort, 0.0 * rate, **given),
}
OF_THE_ROBOT, ENDS = {'robot': 'continuous'}, {'on_deactivate': 'zero'}
DOWN, RATE = {'on_stale': 'ramp_to_zero'}, {'rate_limit': 80.0}
FAULTS = {
    'gravity is added twice': ('TERMS', 'states', GravityLaw, 'torque', _doubled),
    'a torque is not finite': ('PUBLISHED', 'states', GravityLaw, 'torque', _not_finite),
    'a torque is published twice': ('ONCE', 'states', TorqueTopics, 'publish', _published_twice),
    'a rejected state gets the last torque': ('REJECTED', 'wrong_state', TorquePipeline, '_reject', _replayed),
    'no state is rejected': ('REJECTED', 'wrong_state', StateGate, 'check', lambda *_: ACCEPTED),
    'any position is accepted': ('REJECTED', 'degrees', PositionLimits, '__init__', _anywhere),
    'any velocity is accepted': ('REJECTED', 'wrong_velocities', StateInput, 'check_velocity', nothing),
    'only a velocity that is too fast is rejected': ('REJECTED', 'wrong_velocities', VelocityCheck, 'fault', _too_fast),
    'a node goes on after deactivation': ('DEACTIVATED', 'restart', HotPath, 'stop', lambda _: True),
    'no last command is sent': ('DEACTIVATED', 'states restart', TorquePipeline, 'finish', lambda *_: '', ENDS),
    'a trajectory survives activation': ('TERMS', 'trajectory restart', TrajectoryFollower, 'stop', nothing),
    'a trajectory survives every pause': ('TERMS', 'lose_feedforward silence', StateGate, 'resumes', _only_the_first),
    'a raised age limit hides a pause': ('TERMS', 'push_in_a_pause', StateGate, 'resumes', _only_beyond_the_age_limit),
    'a trajectory survives a clock that goes back': (
        *('TERMS', 'lose_feedforward clock_back', TrajectoryFollower, 'set_back', nothing),
    ),
    'a ramp changes with a clock that goes back': (
        'TERMS',
        'load states clock_back',
        PayloadGravityInput,
        'clock_set_back',
        nothing,
    ),
    'a silent node reports OK': ('DIAGNOSED', 'states silence diagnose', TorquePipeline, 'status', lambda _: ''),
    'payload and gravity are not waited for': (
        'PAYLOAD KNOWN',
        'wait_for_load',
        PayloadGravityInput,
        '_reason',
        lambda _: '',
    ),
    'a late joiner ignores what was published': ('PUBLISHED', 'restart', PayloadGravityTopics, 'newest', lambda _: ()),
    'a payload ends in a step': (
        *('TERMS', 'load states disagreement', PayloadGravityInput, '_followed', lambda *given: given[-1]),
    ),
    'a ramp is skipped': ('TERMS', 'load states', Ramp, 'share', lambda *_: 1.0),
    'a payload that was taken off stays': ('TERMS', 'load states', PayloadGravityInput, '_followed', _keeps_payload),
    'what a server assumes replaces what was set': (
        *('LOADED', 'restart_server', PayloadGravityInput, '_is_kept', lambda *_: False),
    ),
    'a server does not continue what nodes hold': ('LOADED', 'restart_server', PayloadGravityService, 'adopt', nothing),
    'the same description makes another robot': (
        'DESCRIBED',
        'describe',
        configuration,
        'same_robot',
        lambda *_: False,
    ),
    'a description stops a node': (
        *('PUBLISHED', 'describe', base_node, 'redescribe', lambda node: node.trigger_deactivate() and ''),
    ),
    'the server accepts any payload': ('SERVED', 'load', PayloadGravityService, '_check_payload', nothing),
    'the server publishes nothing at activation': (
        'LOADED',
        'restart_server',
        PayloadGravityService,
        'publish',
        nothing,
    ),
    'a trajectory starts where it arrives': (
        *('TERMS', 'trajectory_arrives_late', TrajectoryFollower, 'receive', _starts_now),
    ),
    'a trajectory begins anywhere': ('TERMS', 'trajectory', TrajectoryStart, '_too_far', lambda *_: ''),
    'a lead begins where the arm is measured': (
        'TERMS',
        'trajectory',
        TrajectoryStart,
        'write_reference',
        _from_the_arm,
    ),
    'a lead has no limits': ('TERMS', 'trajectory', controller_law, 'acceleration_limits', _without_limits),
    'a trajectory that begins soon is replaced': (
        'TERMS',
        'replace_while_one_waits',
        trajectory_follower,
        'SOON_NS',
        0,
    ),
    'a turn of a continuous joint counts': (
        *('PUBLISHED', 'trajectory', trajectory_start, 'turns', lambda robot: np.zeros(robot.nv), OF_THE_ROBOT),
    ),
    'nothing is held': ('PUBLISHED', 'states', JointSpaceLaw, '_hold_at', lambda *_: NO_FEEDFORWARD),
    'the hold position is measured at each state': ('TERMS', 'states', HoldPosition, 'update', _held_anew),
    'a feedforward torque of any age is added': ('TERMS', 'lose_feedforward', FeedforwardInput, 'fault', _of_any_age),
    'a feedforward torque of another trajectory is added': (
        *('TERMS', 'lose_feedforward', Torques, 'belongs_to', lambda *_: True),
    ),
    'a feedforward torque that leads from elsewhere is added': (
        *('TERMS', 'trajectory restart', MotionAgreement, 'fault', lambda *_: None),
    ),
    'a feedforward torque of another publisher is added': (
        *('TERMS', 'second_feedforward', Producers, 'accepts', lambda *_: True),
    ),
    'a feedforward torque with other terms is added': ('TERMS', '', torque_producers, 'mismatch', lambda *_: ''),
    'the end of a trajectory is not noticed': ('TERMS', 'trajectory', TrajectoryFollower, 'rests', NEVER),
    'the rate is not limited': ('RATE', 'states', control_loop, 'TorqueLimiter', LIMITER['no rate'], RATE),
    'effort limits are ignored': ('WHOLE', 'states', control_loop, 'TorqueLimiter', LIMITER['never enforced']),
    'a monitored torque is limited': ('TERMS', '', control_loop, 'TorqueLimiter', LIMITER['enforced']),
    'nothing is published on a timeout': ('TIMEOUT', 'states silence', TorquePipeline, 'on_pause', nothing, DOWN),
    'zero is published for ever': ('TIMEOUT', 'states silence', RampToZero, 'torque', _zero_for_ever, DOWN),
    'a timeout counts while simulated time stands still': (
        *('TIMEOUT', 'crawl', PipelineClock, 'passing', lambda _, steady, now: steady, DOWN),
    ),
    'states of other joints are rejected': ('SKIPPED', 'gripper', torque_pipeline, 'OWN_STATE_TIMEOUT_S', -1.0),
}
"""By what is wrong: the rule that it violates, the moves that must show it ('': random ones of random graphs), what of
the nodes is replaced by what, and parameters."""


@pytest.mark.parametrize(
    'fault', matrix(FAULTS, few={rule: fault for fault, (rule, *_) in reversed(FAULTS.items())}.values())
)
def test_a_fault_of_the_nodes_is_found(fault, monkeypatch):
    rule, moves, owner, name, replacement, *parameters = FAULTS[fault]
    monkeypatch.setattr(owner, name, replacement, raising=name != 'rests')
    monkeypatch.setattr(graph_fuzz, 'Findings', lambda _: FirstFinding(rule))
    with graph_fuzz.quiet(), pytest.raises(FoundError):
        if moves:
            graph_fuzz.directed(SEED, moves.split(), ENOUGH, **dict(*parameters))
        else:
            graph_fuzz.run(SEED, ENOUGH)
