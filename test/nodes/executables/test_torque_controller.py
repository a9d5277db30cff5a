"""torque_controller as a process: each law against joint_space_control, and what it does without its inputs."""

from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER as NODE
from support.nodes.feedforward import NAMES, RATE_A, REST, ROBOT, A, B, at, command, send
from support.robots.small_robots import seven_joints

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianImpedance, Impedance
from robot_dynamics_ros.control.laws.impedance.operational_space import OperationalSpace, OperationalSpaceControl
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits
from robot_dynamics_ros.control.laws.joint_space_control import LAWS, Hold, JointSpaceControl
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.nodes.tasks import controller_law
from robot_dynamics_ros.tools.processes import ProcessError

pytestmark = pytest.mark.quick

STIFFNESS = [30.0, 40.0, 35.0, 6.0, 7.0, 8.0]
DAMPING = [3.0, 4.0, 3.5, 0.6, 0.7, 0.8]
BANDWIDTH = 4.0
FEEDFORWARD = np.array([1.0, -2.0, 3.0, -0.4, 0.5, -0.6])


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.start(NODE, arguments=('-p', f'age_limit:={ros.DAY}', '-p', 'start_tolerance:=0.0'))
    for name, value in (('stiffness', STIFFNESS), ('damping', DAMPING), ('bandwidth', BANDWIDTH)):
        file_graph.client.set_parameter(NODE, name, value)
    return file_graph


def feed(graph, stamp, effort=FEEDFORWARD, names=NAMES, motion=(A, REST)):
    position, velocity = ([row[NAMES.index(name)] if name in NAMES else 0.0 for name in names] for row in motion)
    graph.publish('feedforward_torque', ros.joint_state(names, stamp, position, velocity, effort))


def fed_answer(graph, stamp, q, qd, effort=FEEDFORWARD, names=NAMES, motion=(A, REST)):
    """Send a feedforward torque and a state of the same stamp until a command follows the trajectory, and return it.

    The state may arrive first, and the arm is held at it then: topics keep no order among them.
    """
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    held = hold_torque(q, qd, q)

    def both():
        feed(graph, stamp, effort, names, motion)
        send(graph, stamp, q, qd)

    graph.repeat_until(both, lambda: commands and not np.allclose(commands[-1].data, held), 'a command', 0.5)
    return np.array(commands[-1].data)


def assert_near(torque, expected):
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-9)


def law_torque(law, q, qd, desired, feedforward=REST):
    torque = np.zeros(6)
    JointSpaceControl(ROBOT, law, STIFFNESS, DAMPING, BANDWIDTH).torque(
        q, qd, desired, np.array(feedforward), out=torque
    )
    limit = ROBOT.limits.effort
    return np.clip(torque, -limit, limit)


def hold_torque(q, qd, hold):
    torque = np.zeros(6)
    Hold(ROBOT, STIFFNESS, DAMPING).torque(q, qd, np.asarray(hold), out=torque)
    return torque


def tell_terms(graph, followed=None, **changed):
    """Say what the feedforward torque of these tests holds."""
    fields = {
        'joint_names': NAMES,
        'terms': ['gravity', 'coriolis', 'inertia', 'friction'],
        'gravity_owner': 'node',
        'model_digest': ROBOT.digest,
        **changed,
    }
    info = TorqueInfo(**fields)
    info.gravity.z = -9.81
    if followed is not None:
        info.trajectory = trajectory_of(NAMES, followed).digest
        info.trajectory_start = followed.header.stamp
    graph.say_latched('feedforward_torque/info', info)


def stays(start, position):
    """Return a trajectory that stays at a position."""
    return ros.trajectory(NAMES, start, (0.0, position, REST, REST), (1e6, position, REST, REST))


def follow_fed(graph, start, position=A):
    """Activate the controller again, in pd_feedforward, with a trajectory that stays at a position."""
    graph.reactivate(NODE)
    message = stays(start, position)
    tell_terms(graph, message)
    graph.follow(NODE, message)


@contextmanager
def control_law(graph, name):
    """Run the controller with a law, which it uses from its next activation on, and with the usual one afterwards."""
    use(graph, name)
    try:
        yield
    finally:
        use(graph, 'pd_feedforward')


def use(graph, law):
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    graph.client.set_parameter(NODE, 'control_law', law)
    graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)


@pytest.mark.parametrize('law', [law for law in LAWS if law != 'pd_feedforward'])
def test_law_along_a_trajectory(graph, start, law):
    points = [0.0, 2.0], [A, B], [RATE_A, REST], [REST, REST]
    desired = np.zeros((3, 6))
    q, qd = A + 0.02, RATE_A - 0.05
    with control_law(graph, law):
        graph.follow(NODE, ros.trajectory(NAMES, start, *zip(*points, strict=True)))
        # at first the reference is where the arm is
        assert_near(command(graph, start, q, qd), law_torque(law, q, qd, (q, qd, REST)))
        for t in (0.7, 1.6, 2.5):
            Trajectory(*points).sample(t, *desired)
            expected = law_torque(law, q, qd, desired)
            assert_near(command(graph, at(start, t), q, qd), expected)


def test_pd_feedforward_along_a_trajectory(graph, start):
    follow_fed(graph, start)
    fed_answer(graph, start, B, RATE_A, motion=(B, RATE_A))  # the reference leads from there to A
    expected = law_torque('pd_feedforward', B, RATE_A, (A, REST, REST), FEEDFORWARD)
    assert_near(fed_answer(graph, at(start, 0.9), B, RATE_A), expected)


@pytest.mark.parametrize('law', LAWS)
def test_without_trajectory_the_arm_is_held_by_pd_and_gravity(graph, start, law):
    with control_law(graph, law):
        command(graph, start, A)
        torque = command(graph, at(start, 0.1), A + 0.03, RATE_A)
    by_hand = STIFFNESS * (A - (A + 0.03)) - DAMPING * RATE_A + ROBOT.gravity_torque(A + 0.03)
    assert_near(torque, by_hand)
    assert_near(torque, hold_torque(A + 0.03, RATE_A, A))


IMPEDANCE = Impedance([20.0, 30.0, 40.0, 300.0, 400.0, 500.0], STIFFNESS, DAMPING, 0.9, reference_frame='local')
OF_IMPEDANCE = {
    'control_law': 'cartesian_impedance',
    'rotational_stiffness': IMPEDANCE.stiffness[:3],
    'translational_stiffness': IMPEDANCE.stiffness[3:],
    'damping_ratio': IMPEDANCE.damping_ratio,
    'reference_frame': IMPEDANCE.reference_frame,
}
NO_ERROR_LIMITS = {'translational_error_limit': 0.0, 'rotational_error_limit': 0.0}
FREE_IMPEDANCE = IMPEDANCE._replace(stiffness=[*IMPEDANCE.stiffness[:5], 0.0])
OF_FREE_IMPEDANCE = {**OF_IMPEDANCE, 'translational_stiffness': FREE_IMPEDANCE.stiffness[3:]}
"""Along z the arm may be guided."""


SPACE = OperationalSpace(9.0, STIFFNESS, DAMPING, 0.9, largest_mass=40.0)
OF_SPACE = {'control_law': 'operational_space', 'bandwidth': 9.0, 'damping_ratio': 0.9, 'largest_mass': 40.0}


@pytest.mark.parametrize(
    ('make', 'parameters'),
    [
        (lambda: CartesianImpedance(ROBOT, IMPEDANCE), OF_IMPEDANCE),
        (lambda: OperationalSpaceControl(ROBOT, SPACE), OF_SPACE),
    ],
    ids=['cartesian_impedance', 'operational_space'],
)
def test_a_law_of_a_frame_follows_a_trajectory_and_holds_the_arm(graph, start, make, parameters):
    law, torque, desired = make(), np.zeros(6), np.zeros((3, 6))
    points = [0.0, 2.0], [A, B], [RATE_A, REST], [REST, REST]
    q, qd = A + 0.02, RATE_A - 0.05
    with graph.parameters(NODE, **parameters, **NO_ERROR_LIMITS):
        command(graph, at(start, -1.0), A)
        law.hold(q, qd, A, torque)
        assert_near(command(graph, at(start, -0.9), q, qd), torque)
        graph.follow(NODE, ros.trajectory(NAMES, start, *zip(*points, strict=True)))
        command(graph, start, A)
        for t in (0.7, 1.6, 2.5):
            Trajectory(*points).sample(t, *desired)
            law.torque(q, qd, desired, None, torque)
            assert_near(command(graph, at(start, t), q, qd), np.clip(torque, -ROBOT.limits.effort, ROBOT.limits.effort))


def test_what_only_an_impedance_uses_is_named_with_other_laws(graph, start):
    unused = {'soft_limit_distance': [0.3], 'soft_limit_torque': [9.0]}
    with graph.parameters(NODE, **OF_SPACE, **unused):
        said = 'control_law operational_space does not use soft_limit_distance, soft_limit_torque: only '
        graph.diagnostics(NODE, lambda status: said in status.message)


def test_near_a_singular_position_operational_space_control_says_that_it_is_softer(graph, start):
    with graph.parameters(NODE, control_law='operational_space', largest_mass=200.0):
        said = f'{ROBOT.link_names[-1]!r} is heavier than largest_mass (200 kg) in '
        command(graph, start, REST)
        graph.diagnostics(NODE, lambda status: said in status.message)
        command(graph, at(start, 5.0), np.array([0.1, -0.7, 0.9, -0.1, 0.8, 0.0]))
        graph.diagnostics(NODE, lambda status: said not in status.message)


@pytest.mark.parametrize('after_a_trajectory', [False, True])
def test_a_trajectory_begins_where_the_arm_was_guided_to_and_carries_on(graph, start, after_a_trajectory):
    """Along the free direction: a way from where it was held would carry it back. The others push as before."""
    here = A + 0.01
    with graph.parameters(NODE, **OF_FREE_IMPEDANCE, **NO_ERROR_LIMITS):
        command(graph, start, A)
        if after_a_trajectory:
            graph.follow(NODE, ros.trajectory(NAMES, at(start, 0.1), (0.2, A, REST, REST), (0.4, A, REST, REST)))
            for t in (0.1, 0.3, 0.6):
                command(graph, at(start, t), A)
        held = command(graph, at(start, 0.65), here)
        assert np.abs(held - ROBOT.gravity_torque(here)).max() > 0.8
        graph.follow(NODE, ros.trajectory(NAMES, at(start, 0.7), (9.0, here, REST, REST), (10.0, here, REST, REST)))
        led = command(graph, at(start, 0.7), here)
    np.testing.assert_allclose(led, held + ROBOT.friction_torque(REST), rtol=0.0, atol=0.1)


def test_the_spring_of_a_cartesian_impedance_pulls_no_more_strongly_than_at_its_limit(graph, start):
    law, torque = CartesianImpedance(ROBOT, IMPEDANCE._replace(farthest=(0.5, 0.01))), np.zeros(6)
    with graph.parameters(NODE, **OF_IMPEDANCE, translational_error_limit=0.01):
        command(graph, start, A)
        law.hold(A + 0.1, REST, A, torque)
        assert_near(command(graph, at(start, 0.1), A + 0.1), torque)


def test_at_rest_springs_are_stiffer_for_a_share_of_the_friction_that_the_node_compensates(graph, start):
    law, torque = CartesianImpedance(ROBOT, IMPEDANCE._replace(rest_friction=0.5)), np.zeros(6)
    with graph.parameters(NODE, **OF_IMPEDANCE, rest_friction_share=0.5, **NO_ERROR_LIMITS):
        command(graph, start, A)
        law.hold(A + 0.01, REST, A, torque)
        assert_near(command(graph, at(start, 0.1), A + 0.01), torque)


def test_a_soft_limit_pushes_a_joint_back_and_the_diagnostics_name_it(graph, start):
    near = ROBOT.limits.upper - 0.1
    q = np.where(np.arange(6) == 4, near, A)
    soft = SoftLimits(ROBOT, [0.3], [9.0])
    law, torque = CartesianImpedance(ROBOT, IMPEDANCE._replace(soft_limits=soft)), np.zeros(6)
    with graph.parameters(NODE, **OF_IMPEDANCE, soft_limit_distance=[0.3], soft_limit_torque=[9.0], **NO_ERROR_LIMITS):
        law.hold(A, REST, A, torque)
        assert_near(command(graph, start, A), torque)
        law.hold(q, REST, A, torque)
        assert soft.push.tolist() == pytest.approx([0.0, 0.0, 0.0, 0.0, -6.0, 0.0])
        assert_near(command(graph, at(start, 0.1), q), np.clip(torque, -ROBOT.limits.effort, ROBOT.limits.effort))
        graph.diagnostics(NODE, lambda status: status.fields['joints at a soft limit'] == NAMES[4])
        # held there, it is not pushed out
        graph.reactivate(NODE)
        assert_near(command(graph, at(start, 0.2), q), ROBOT.gravity_torque(q))
        graph.diagnostics(NODE, lambda status: not status.fields['joints at a soft limit'])


def test_activated_again_the_arm_is_held_where_it_is_then(graph, start):
    with control_law(graph, 'pd_gravity'):
        command(graph, start, A)
        graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE)
        torque = command(graph, at(start, 1.0), B)
    assert_near(torque, ROBOT.gravity_torque(B))


def test_where_a_trajectory_is_ended_the_arm_is_held_and_does_not_leap_back(graph, start):
    with control_law(graph, 'pd_gravity'):
        command(graph, start, A)
        graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, B, REST, REST)))
        assert_near(command(graph, at(start, 5.0), B), ROBOT.gravity_torque(B))
        graph.follow(NODE, JointTrajectory())
        torque = command(graph, at(start, 5.1), B)
    assert_near(torque, ROBOT.gravity_torque(B))


def test_until_the_next_trajectory_begins_the_arm_is_held_and_does_not_leap_back(graph, start):
    with control_law(graph, 'pd_gravity'):
        command(graph, start, A)
        graph.follow(NODE, ros.trajectory(NAMES, start, (0.0, B, REST, REST)))
        assert_near(command(graph, at(start, 5.0), B), ROBOT.gravity_torque(B))
        graph.follow(NODE, ros.trajectory(NAMES, at(start, 6.0), (0.0, B, REST, REST), (1.0, A, REST, REST)))
        torque = command(graph, at(start, 5.1), B)
    assert_near(torque, ROBOT.gravity_torque(B))


def test_silent_without_velocities(graph, start):
    with control_law(graph, 'pd'):
        commands = graph.listen(Float64MultiArray, 'effort_commands')
        graph.silence(NODE, 'velocities', lambda: send(graph, start, A, []))
        assert commands == []
        command(graph, at(start, 0.1), A)


def test_pd_feedforward_holds_until_the_first_feedforward_torque_but_not_for_long(graph, start):
    follow_fed(graph, start, B)
    assert_near(command(graph, start, A), ROBOT.gravity_torque(A))
    assert_near(command(graph, at(start, 0.05), A + 0.01), hold_torque(A + 0.01, REST, A))
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    graph.silence(NODE, 'no feedforward torque', lambda: send(graph, at(start, 0.06), A))
    assert commands == []


def test_pd_feedforward_does_not_add_a_torque_whose_terms_are_unknown_or_do_not_fit(graph, start):
    graph.reactivate(NODE)
    for changed, reason in (
        ({'terms': ['gravity'], 'gravity_owner': 'robot'}, 'gravity_owner'),
        ({'joint_names': NAMES[1:]}, 'joints'),
        ({'model_digest': '0' * 16}, 'another model'),
    ):
        tell_terms(graph, **changed)
        graph.follow(NODE, stays(start, A))
        for t in (0.0, 0.03, 0.06):
            feed(graph, at(start, t))
            send(graph, at(start, t), A)
        graph.silence(NODE, 'feedforward torque not added: ', partial(send, graph, at(start, 0.07), A))
        assert reason in graph.diagnostics(NODE).message
        start = at(start, 1.0)


@pytest.mark.parametrize('ahead', matrix([0.06, 0.9, -0.06, -10.0], [0.06, -0.06]))
def test_pd_feedforward_is_silent_where_the_feedforward_torque_belongs_to_another_state(graph, start, ahead):
    follow_fed(graph, start)
    assert_near(fed_answer(graph, start, A, REST), law_torque('pd_feedforward', A, REST, (A, REST, REST), FEEDFORWARD))
    commands = graph.listen(Float64MultiArray, 'effort_commands')

    graph.silence(
        NODE, 'no feedforward torque' if ahead > 0.0 else 'out of order', lambda: send(graph, at(start, ahead), B)
    )
    assert commands == []


def test_pd_feedforward_bridges_a_gap_below_the_age_limit(graph, start):
    follow_fed(graph, start)
    expected = law_torque('pd_feedforward', A, REST, (A, REST, REST), FEEDFORWARD)
    assert_near(fed_answer(graph, start, A, REST), expected)
    assert_near(command(graph, at(start, 0.04), A), expected)


def test_an_old_feedforward_torque_does_not_survive_activation(graph, start):
    follow_fed(graph, start)
    fed_answer(graph, start, A, REST)
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE)
    graph.follow(NODE, stays(start, B))
    assert_near(command(graph, start, A), ROBOT.gravity_torque(A))


def test_the_law_may_change_while_inactive(graph, start):
    follow_fed(graph, start)
    fed_answer(graph, start, A, REST)
    try:
        graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
        graph.client.set_parameter(NODE, 'control_law', 'pd_gravity')
        graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
        assert_near(command(graph, at(start, 0.1), B), ROBOT.gravity_torque(B))
        graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
        with pytest.raises(ProcessError, match='law of nobody'):
            graph.client.set_parameter(NODE, 'control_law', 'law of nobody')
        graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
        assert_near(command(graph, at(start, 0.2), A), ROBOT.gravity_torque(A))
        graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    finally:
        graph.restart(NODE, control_law='pd_feedforward')
        follow_fed(graph, at(start, 0.3))
    fed_answer(graph, at(start, 0.3), A, RATE_A)
    expected = law_torque('pd_feedforward', A, RATE_A, (A, REST, REST), FEEDFORWARD)
    assert_near(fed_answer(graph, at(start, 1.2), A, RATE_A), expected)


def test_feedforward_joints_are_matched_by_name(graph, start):
    follow_fed(graph, start)
    torque = fed_answer(graph, start, A, REST, [9.0, *FEEDFORWARD[::-1]], ['gripper', *NAMES[::-1]])
    assert_near(torque, law_torque('pd_feedforward', A, REST, (A, REST, REST), FEEDFORWARD))


WRONG_FEEDFORWARD = {
    'missing joint': (FEEDFORWARD[:5], NAMES[:5], NAMES[5]),
    'doubled joint': ([*FEEDFORWARD, 0.0], [*NAMES, NAMES[2]], NAMES[2]),
    'short efforts': (FEEDFORWARD[:5], NAMES, 'feedforward torque refused'),
    'no efforts': ([], NAMES, 'feedforward torque refused'),
    'fewer efforts than names': (FEEDFORWARD, [*NAMES, 'gripper'], 'feedforward torque refused'),
}


@pytest.mark.parametrize('wrong', matrix(WRONG_FEEDFORWARD, [*WRONG_FEEDFORWARD][::2]))
def test_wrong_feedforward_torque_is_refused_with_the_reason(graph, start, wrong):
    effort, names, culprit = WRONG_FEEDFORWARD[wrong]
    follow_fed(graph, start)
    known = len(graph.log(NODE))
    # repeated: the log tells of it once a second
    for _ in range(30):
        feed(graph, start, effort, names)
        if graph.client.spin_while_waiting(lambda: culprit in graph.log(NODE)[known:], 0.1):
            break
    assert culprit in graph.log(NODE)[known:]
    graph.silence(NODE, 'no feedforward torque', lambda: [send(graph, at(start, t), A) for t in (0.0, 0.06)])


def test_feedforward_torque_that_is_not_finite_is_refused_and_silences(graph, start):
    follow_fed(graph, start)
    assert_near(fed_answer(graph, start, A, REST), law_torque('pd_feedforward', A, REST, (A, REST, REST), FEEDFORWARD))
    feed(graph, at(start, 1.0), [*FEEDFORWARD[:5], np.nan])
    culprit = f'joint {NAMES[5]!r}: effort is not finite'
    graph.until(lambda: culprit in graph.log(NODE), 'the refusal in the log')
    graph.silence(NODE, 'no feedforward torque', lambda: send(graph, at(start, 1.0), A))


def test_command_is_clamped_to_the_effort_limit(graph, start):
    with graph.parameters(NODE, control_law='pd', stiffness=[1e3] * 6):
        command(graph, start, A)
        moved = A + np.array([1.0, -1.0, 1.0, -1.0, 1.0, 0.0])
        torque = command(graph, at(start, 0.1), moved)
        assert graph.diagnostics(NODE).fields['torques saturated'] != '0'
    limit = ROBOT.limits.effort
    assert_near(torque[:5], limit[:5] * [-1, 1, -1, 1, -1])
    assert_near(torque[5], ROBOT.gravity_torque(moved)[5])


def test_commands_are_in_the_order_of_command_joints(graph, start):
    order = [2, 0, 1, 5, 3, 4]
    with graph.parameters(NODE, control_law='pd_gravity', command_joints=[NAMES[k] for k in order]):
        torque = command(graph, start, A)
    assert_near(torque, ROBOT.gravity_torque(A)[order])


@pytest.mark.parametrize(
    ('parameters', 'culprit'),
    [
        ({'control_law': 'bang_bang'}, 'bang_bang'),
        ({'stiffness': [1.0, 2.0]}, 'stiffness'),
        ({'stiffness': [-1.0]}, 'robot_dynamics_propose_gains proposes gains'),
        ({'damping': [3.0, 4.0, 3.5, 0.6, 0.7, 800.0]}, f'damping: joint {NAMES[5]!r}: 800 N m s/rad at 500 Hz'),
        ({'damping': [1.0, 1.0, 1.0, 1.0, 1.0, -1.0]}, 'damping'),
        ({'torque_delay': 0.1}, f'0.1 s, with which 500 Hz count as 3.501 Hz: damping: joint {NAMES[3]!r}'),
        ({'control_law': 'cartesian_impedance'}, 'translational_stiffness: not stated'),
        ({'control_law': 'operational_space', 'bandwidth': 900.0}, 'bandwidth: at 500 Hz damping times period'),
        (
            {'control_law': 'operational_space', 'impedance_frame': 'foreArm_Link', 'stiffness': [0.0]},
            "impedance_frame: 'foreArm_Link' is not moved by 'wrist1_joint', 'wrist2_joint', 'wrist3_joint', which",
        ),
        ({**OF_IMPEDANCE, 'rotational_stiffness': [-1.0]}, 'rotational_stiffness: not stated'),
        ({**OF_IMPEDANCE, 'translational_stiffness': [1.0, 2.0]}, 'translational_stiffness: expected 3 numbers'),
        ({**OF_IMPEDANCE, 'rotational_damping': [1.0, 2.0, -3.0]}, 'rotational_damping: expected 3 numbers'),
        (
            {**OF_IMPEDANCE, 'soft_limit_distance': [0.2]},
            "soft_limit_torque: expected a torque above 0 for joint 'should",
        ),
        (
            {**OF_IMPEDANCE, 'soft_limit_distance': [0.2, 0.1]},
            'soft_limit_distance: expected one finite number >= 0 or 6',
        ),
        ({**OF_IMPEDANCE, 'soft_limit_torque': [-1.0]}, 'soft_limit_torque: expected one finite number >= 0 or 6'),
        ({**OF_IMPEDANCE, 'impedance_frame': 'nose'}, "'nose'"),
        ({**OF_IMPEDANCE, 'damping': [0.0] * 7}, 'damping: expected one finite number >= 0 or 6'),
        ({**OF_IMPEDANCE, 'stiffness': [1.0] * 5}, 'stiffness: expected one finite number >= 0 or 6'),
        (
            {**OF_IMPEDANCE, 'rest_friction_share': 0.5, 'preset': 'franka'},
            'rest_friction_share: friction is no term of the compensation',
        ),
        ({**OF_IMPEDANCE, 'rotational_stiffness': [9e4] * 3}, 'sampled control is unstable from 2 on'),
    ],
)
def test_a_node_with_a_wrong_parameter_is_not_configured_and_says_why(configured, parameters, culprit):
    silence = configured(TorqueController, **parameters).silence
    assert silence.startswith('not configured: ') and culprit in silence


@pytest.mark.parametrize(
    ('name', 'value', 'culprit'),
    [
        ('bandwidth', 0.0, 'bandwidth'),
        ('translational_stiffness', [1.0, 2.0], 'translational_stiffness: expected 3 numbers'),
        ('rotational_damping', [-1.0], 'rotational_damping: expected 3 numbers'),
        ('impedance_frame', 'nose', 'nose'),
    ],
)
def test_what_is_out_of_range_is_refused_when_set(graph, name, value, culprit):
    with pytest.raises(ProcessError, match=culprit):
        graph.client.set_parameter(NODE, name, value)


def test_an_arm_of_seven_joints_without_a_damping_of_its_posture_is_a_warning(configured, tmp_path):
    file = tmp_path / 'seven.yaml'
    file.write_text(seven_joints().to_yaml(), encoding='utf-8')
    more = {'model': str(file), 'effort_limit': [50.0], 'stiffness': [0.0]}
    for damping, said in (([0.0], True), ([1.0], False)):
        node = configured(TorqueController, **OF_IMPEDANCE, **more, damping=damping)
        assert ('damping: 0 for a joint; an arm of more than six' in ' '.join(node.task._warns())) is said, node.silence


@pytest.mark.parametrize(
    ('limit', 'parameters'), [('ImpedanceLimit', OF_IMPEDANCE), ('OperationalSpaceLimit', OF_SPACE)]
)
def test_gains_of_a_frame_are_judged_again_only_where_a_parameter_has_changed(
    configured, monkeypatch, limit, parameters
):
    judged, found = [], SimpleNamespace(period=1.0, fault=lambda period: '')
    monkeypatch.setattr(controller_law, limit, lambda robot, stated: judged.append(stated) or found)
    node = configured(TorqueController, **parameters, damping=DAMPING)
    for damping, count in ((DAMPING, 1), ([1.0] * 6, 2), ([1.0] * 6, 2)):
        (result,) = node.set_parameters([Parameter('damping', value=damping)])
        node.trigger_activate()
        assert result.successful and node.active and len(judged) == count, node.silence
        assert list(judged[-1].posture_damping) == damping
        node.trigger_deactivate()
