"""``~/set_payload`` and ``~/set_gravity`` of dynamics_server: what it then computes, publishes, saves and refuses."""

from support.nodes import graph as ros

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import Vector3, Vector3Stamped
from lifecycle_msgs.msg import State, Transition
from std_msgs.msg import Header

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_interfaces.srv import (
    CheckTrajectory,
    GetForwardDynamics,
    GetInverseDynamics,
    GetMassMatrix,
    SetGravity,
    SetPayload,
)
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL
from robot_dynamics_ros.tools.processes import ProcessError

NODE = 'dynamics_server'
ROBOT = Robot.named('aubo_i5')
COM = (0.02, -0.03, 0.1)
INERTIA = np.array([[0.04, 0.01, 0.002], [0.01, 0.05, -0.01], [0.002, -0.01, 0.03]])
ENTRIES = [0.04, 0.05, 0.03, 0.01, 0.002, -0.01]
BODY = {'mass': 2.5, 'com': COM, 'inertia': ENTRIES}
PAYLOAD = Payload(2.5, COM, INERTIA)
OTHER = {'mass': 1.0, 'com': (0.0, 0.0, 0.05)}
Q, QD, QDD = np.random.default_rng(3).uniform(-2.0, 2.0, (3, 5, 6))


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.file = file_graph.folder / 'payload.yaml'
    file_graph.start(NODE, arguments=['-p', f'payload_file:={file_graph.file}', '-p', 'payload_gravity_ramp_time:=0.0'])
    return file_graph


@pytest.fixture(scope='module')
def states(graph):
    """Messages on ``payload_state``, which a late subscriber gets too."""
    found = []
    graph.node.create_subscription(PayloadState, 'payload_state', found.append, TRANSIENT_LOCAL)
    return found


@pytest.fixture(autouse=True)
def bare(graph):
    """Every test begins without payload."""
    assert set_payload(graph, mass=0.0).success
    assert set_gravity(graph, *ROBOT.gravity).success


def set_payload(graph, **fields):
    return graph.client.call(SetPayload, f'{NODE}/set_payload', SetPayload.Request(**fields))


def set_gravity(graph, x, y, z, frame=''):
    gravity = Vector3Stamped(header=Header(frame_id=frame), vector=Vector3(x=float(x), y=float(y), z=float(z)))
    return graph.client.call(SetGravity, f'{NODE}/set_gravity', SetGravity.Request(gravity=gravity))


def flat(rows):
    return np.ravel(rows).tolist()


def torques(graph):
    """Rigid-body torques at Q, QD, QDD by the service."""
    request = GetInverseDynamics.Request(positions=flat(Q), velocities=flat(QD), accelerations=flat(QDD))
    response = graph.client.call(GetInverseDynamics, f'{NODE}/get_inverse_dynamics', request)
    assert response.success, response.message
    return np.reshape(response.efforts, Q.shape) - np.reshape(response.friction, Q.shape)


def expected(robot):
    return robot.inverse_dynamics(Q, QD, QDD)


def assert_near(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


# payload


@pytest.mark.parametrize('frame', ['', 'wrist3_Link', 'ee_link', 'foreArm_Link'])
def test_a_payload_applies_at_once_to_every_service(graph, frame):
    response = set_payload(graph, **BODY, frame=frame)
    assert response.success, response.message
    assert response.message == ''
    robot = ROBOT.with_payload(PAYLOAD, frame or None)
    assert np.abs(expected(robot) - expected(ROBOT)).max() > 1.0
    assert_near(torques(graph), expected(robot))
    request = GetMassMatrix.Request(positions=flat(Q))
    response = graph.client.call(GetMassMatrix, f'{NODE}/get_mass_matrix', request)
    assert_near(response.mass_matrix, robot.mass_matrix(Q).ravel())
    request = GetForwardDynamics.Request(positions=flat(Q), velocities=flat(QD), efforts=flat(QDD))
    response = graph.client.call(GetForwardDynamics, f'{NODE}/get_forward_dynamics', request)
    assert_near(response.accelerations, robot.forward_dynamics(Q, QD, QDD).ravel())
    check = CheckTrajectory.Request(trajectory=ros.trajectory(ROBOT.joint_names, 0, (0.0, Q[0])))
    response = graph.client.call(CheckTrajectory, f'{NODE}/check_trajectory', check)
    assert_near(response.peak_effort, robot.gravity_torque(Q[0]) + robot.friction_torque(np.zeros(6)))


def test_the_next_payload_replaces_the_last(graph):
    set_payload(graph, **BODY, frame='ee_link')
    set_payload(graph, **OTHER)
    assert_near(torques(graph), expected(ROBOT.with_payload(Payload(**OTHER))))
    set_payload(graph, mass=0.0)
    assert_near(torques(graph), expected(ROBOT))


def test_the_topic_has_all_that_is_needed_to_apply_the_payload(graph, states):
    before = graph.now()
    set_payload(graph, **BODY, ramp_time=0.5)
    after = graph.now()
    graph.until(lambda: states and states[-1].mass == 2.5, 'payload_state')
    late = []
    graph.node.create_subscription(PayloadState, 'payload_state', late.append, TRANSIENT_LOCAL)
    graph.until(lambda: late, 'the last payload_state for who joins later')
    assert late[-1] == states[-1] and len(late) == 1
    told = late[-1]
    assert before <= ros.nanoseconds(told.stamp) <= after
    assert (told.mass, tuple(told.com), told.inertia.tolist()) == (2.5, COM, ENTRIES)
    assert (told.frame, told.ramp_time) == ('wrist3_Link', 0.5)


def test_a_payload_is_blended_over_ramp_time(graph):
    set_payload(graph, **OTHER)
    old, new = expected(ROBOT.with_payload(Payload(**OTHER))), expected(ROBOT.with_payload(PAYLOAD, 'ee_link'))
    began = graph.now()
    assert set_payload(graph, **BODY, frame='ee_link', ramp_time=2.0).success
    set_by = graph.now()
    seen = []
    while not seen or seen[-1] < 1.0:
        asked = graph.now()
        found = torques(graph)
        answered = graph.now()
        share = np.vdot(found - old, new - old) / np.vdot(new - old, new - old)
        assert_near(found, old + share * (new - old))
        assert (asked - set_by) / 2e9 - 1e-9 <= share or share == pytest.approx(1.0)
        assert share <= (answered - began) / 2e9 + 1e-9
        seen.append(round(share, 9))
    assert seen == sorted(seen)
    assert any(0.2 < share < 0.8 for share in seen)


REFUSED = {
    'a mass below 0': ({'mass': -1.0}, 'mass'),
    'no number of a mass': ({**BODY, 'mass': np.nan}, 'mass'),
    'no number of a centre': ({**BODY, 'com': (0.0, np.inf, 0.0)}, 'com'),
    'no number of an inertia': ({**BODY, 'inertia': [0.1, 0.1, 0.1, np.nan, 0.0, 0.0]}, 'inertia[3]'),
    'inertia without mass': ({**BODY, 'mass': 0.0}, 'inertia'),
    'no body': ({**BODY, 'inertia': [0.1, 0.1, 0.9, 0.0, 0.0, 0.0]}, 'inertia'),
    'a negative moment': ({**BODY, 'inertia': [-0.1, 0.1, 0.1, 0.0, 0.0, 0.0]}, 'inertia'),
    'more than any arm carries': ({**BODY, 'mass': 1e10}, 'mass, com, inertia'),
    'further than any arm reaches': ({**BODY, 'com': (1e200, 0.0, 0.0)}, 'mass, com, inertia'),
    'no frame': ({**BODY, 'frame': 'nose'}, "frame: no link 'nose'"),
    'a time below 0': ({**BODY, 'ramp_time': -0.1}, 'ramp_time'),
    'no number of a time': ({**BODY, 'ramp_time': np.inf}, 'ramp_time'),
}


@pytest.mark.parametrize('case', REFUSED)
def test_what_no_body_is_is_refused_by_name_and_changes_nothing(graph, states, case):
    fields, culprit = REFUSED[case]
    set_payload(graph, **OTHER)
    kept = graph.file.read_bytes()
    graph.until(lambda: states and states[-1].mass == 1.0, 'payload_state')
    told = len(states)
    response = set_payload(graph, **fields)
    assert not response.success
    assert culprit in response.message
    assert 'internal error' not in response.message
    assert_near(torques(graph), expected(ROBOT.with_payload(Payload(**OTHER))))
    assert graph.file.read_bytes() == kept
    assert len(states) == told


# the file


def test_the_payload_is_kept_over_a_restart(graph, states):
    set_payload(graph, **BODY, frame='ee_link', ramp_time=0.1)
    assert yaml.safe_load(graph.file.read_text())['mass'] == 2.5
    states.clear()
    graph.restart(NODE)
    graph.until(lambda: states, 'payload_state')
    assert (states[-1].mass, tuple(states[-1].com), states[-1].inertia.tolist()) == (2.5, COM, ENTRIES)
    assert (states[-1].frame, states[-1].ramp_time) == ('ee_link', 0.1)  # over, or it goes on
    end = ros.nanoseconds(states[-1].stamp) + ros.SECOND // 10
    graph.until(lambda: graph.now() > end, 'the end of the ramp')
    assert_near(torques(graph), expected(ROBOT.with_payload(PAYLOAD, 'ee_link')))
    assert graph.diagnostics(NODE).fields['payload, kg'] == '2.5'


def test_without_a_file_no_payload_is_kept(graph, states):
    with graph.parameters(NODE, payload_file=''):
        set_payload(graph, **BODY)
        assert_near(torques(graph), expected(ROBOT.with_payload(PAYLOAD)))
        states.clear()
        graph.restart(NODE)
        assert_near(torques(graph), expected(ROBOT))
        assert graph.diagnostics(NODE).fields['payload, kg'] == '0'
    assert all(state.mass == 0.0 for state in states)  # of the file, afterwards


@pytest.mark.parametrize(
    ('text', 'culprit'),
    [('mass: 1', 'missing'), ('!!python/object/apply:os.abort []', 'not YAML'), ('', 'expected a table')],
)
def test_a_broken_file_is_refused_by_its_name(graph, text, culprit):
    check_refused(graph, text, culprit)


@pytest.mark.parametrize(
    ('changed', 'culprit'),
    [
        ({'mass': -2.0}, 'mass: expected at least 0 kg'),
        ({'mass': 1.0, 'frame': 'nose'}, "'nose'"),
        ({'com': [0, 0]}, 'com'),
    ],
)
def test_a_file_of_what_cannot_be_is_refused_by_its_name(graph, changed, culprit):
    check_refused(graph, yaml.safe_dump({**yaml.safe_load(graph.file.read_text()), **changed}), culprit)


def check_refused(graph, text, culprit):
    """A node with this file is not configured, says why, and is with a good one."""
    good = graph.file.read_text()
    graph.file.write_text(text)
    told = len(graph.log(NODE))
    with pytest.raises(ProcessError):
        graph.restart(NODE)
    assert graph.state_of(NODE) == State.PRIMARY_STATE_UNCONFIGURED
    said = graph.log(NODE)[told:]
    assert f'not configured: payload_file {graph.file}: ' in said
    assert culprit in said
    graph.file.write_text(good)
    graph.client.change_state(NODE, Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)


def test_a_payload_that_cannot_be_saved_is_refused(graph):
    nowhere = graph.file.parent / 'nowhere' / 'payload.yaml'
    with graph.parameters(NODE, payload_file=str(nowhere)):
        response = set_payload(graph, **BODY)
        assert not response.success
        assert response.message.startswith(f'payload_file {nowhere}: cannot be written')
        assert_near(torques(graph), expected(ROBOT))


# gravity


@pytest.mark.parametrize('frame', ['', ROBOT.link_names[0]])
def test_gravity_counts_at_once(graph, frame):
    set_payload(graph, **BODY)
    response = set_gravity(graph, 1.0, -2.0, 9.0, frame)
    assert response.success, response.message
    assert_near(torques(graph), expected(ROBOT.with_payload(PAYLOAD).with_gravity((1.0, -2.0, 9.0))))
    assert graph.diagnostics(NODE).fields['gravity, m/s^2'] == '1 -2 9'
    graph.restart(NODE)
    assert_near(torques(graph), expected(ROBOT.with_payload(PAYLOAD)))


@pytest.mark.parametrize(
    ('gravity', 'culprit'),
    [((0, 0, -9.81, 'ee_link'), "'ee_link'"), ((0, np.nan, 0), 'gravity'), ((np.inf, 0, 0, 'base_link'), 'gravity')],
)
def test_gravity_of_another_frame_or_no_number_is_refused(graph, gravity, culprit):
    response = set_gravity(graph, *gravity)
    assert not response.success
    assert culprit in response.message
    assert 'internal error' not in response.message
    assert_near(torques(graph), expected(ROBOT))
