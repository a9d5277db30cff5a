"""dynamics_server as a process: batches equal the library, wrong requests are refused by name and stop nothing."""

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition

from robot_dynamics_interfaces.srv import GetForwardDynamics, GetInverseDynamics, GetJacobian, GetMassMatrix
from robot_dynamics_ros import Robot

pytestmark = pytest.mark.quick

NODE = 'dynamics_server'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
ORDER = [4, 2, 0, 5, 1, 3]
SERVICES = {
    'get_mass_matrix': (GetMassMatrix, ['positions']),
    'get_forward_dynamics': (GetForwardDynamics, ['positions', 'velocities', 'efforts']),
    'get_inverse_dynamics': (GetInverseDynamics, ['positions', 'velocities', 'accelerations']),
    'get_jacobian': (GetJacobian, ['positions']),
}
FIELDS = [(service, field) for service, (_, fields) in SERVICES.items() for field in fields]


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.start(NODE)
    return file_graph


def ask(graph, service, joint_names=(), words=None, **lists):
    kind, _ = SERVICES[service]
    flat = {name: np.ravel(np.asarray(values, float)).tolist() for name, values in lists.items()}
    words = words or ({'link': 'ee_link'} if service == 'get_jacobian' else {})
    request = kind.Request(joint_names=list(joint_names), **words, **flat)
    return graph.client.call(kind, f'{NODE}/{service}', request)


def batch(count, rows):
    return np.random.default_rng(7).uniform(-2.0, 2.0, (rows, count, 6))


def assert_near(flat, expected):
    """Equal to 1e-12 of the largest entry."""
    expected = np.asarray(expected)
    assert len(flat) == expected.size
    np.testing.assert_allclose(flat, expected.ravel(), rtol=0, atol=1e-12 * np.abs(expected).max())


def test_the_middleware_logs_no_errors_at_a_start(graph):
    """Without introspection of the interfaces it leaves errors behind, which grow with each publisher and service."""
    assert NODE in graph.log(NODE) and 'rcutils' not in graph.log(NODE)


def test_mass_matrices_of_a_thousand_states(graph):
    (q,) = batch(1000, 1)
    response = ask(graph, 'get_mass_matrix', positions=q)
    assert response.success, response.message
    assert response.message == ''
    assert response.joint_names == NAMES
    assert_near(response.mass_matrix, ROBOT.mass_matrix(q))


def test_forward_dynamics_of_a_thousand_states(graph):
    q, qd, tau = batch(1000, 3)
    response = ask(graph, 'get_forward_dynamics', positions=q, velocities=qd, efforts=10 * tau)
    assert response.success, response.message
    assert response.joint_names == NAMES
    assert_near(response.accelerations, ROBOT.forward_dynamics(q, qd, 10 * tau))


def test_inverse_dynamics_of_a_thousand_states_term_by_term(graph):
    q, qd, qdd = batch(1000, 3)
    response = ask(graph, 'get_inverse_dynamics', positions=q, velocities=qd, accelerations=qdd)
    assert response.success, response.message
    assert response.joint_names == NAMES
    assert_near(response.gravity, ROBOT.gravity_torque(q))
    assert_near(response.coriolis, ROBOT.coriolis_torque(q, qd))
    assert_near(response.inertia, np.einsum('kij,kj->ki', ROBOT.mass_matrix(q), qdd))
    assert_near(response.friction, ROBOT.friction_torque(qd))
    assert_near(response.efforts, ROBOT.inverse_dynamics(q, qd, qdd) + ROBOT.friction_torque(qd))
    terms = np.sum([response.inertia, response.coriolis, response.gravity, response.friction], axis=0)
    assert_near(response.efforts, terms)


@pytest.mark.parametrize('frame', ['world', 'local', 'local_world_aligned', ''])
@pytest.mark.parametrize('link', ['ee_link', 'foreArm_Link', 'base_link'])
def test_jacobians_of_any_link_from_any_frame(graph, link, frame):
    (q,) = batch(20, 1)
    words = {'link': link, 'reference_frame': frame} if frame else {'link': link}
    response = ask(graph, 'get_jacobian', words=words, positions=q)
    assert response.success, response.message
    assert response.joint_names == NAMES
    expected = ROBOT.jacobian(q, link, frame or 'local_world_aligned')
    assert expected.shape == (20, 6, 6)
    assert response.jacobian.tolist() == expected.ravel().tolist()


@pytest.mark.parametrize(
    'words',
    [
        {'link': 'nose'},
        {'link': ''},
        {'link': 'ee_link', 'reference_frame': 'tool0'},
        {'link': 'ee_link', 'reference_frame': ''},
    ],
)
def test_jacobian_of_what_there_is_not_is_refused_by_name(graph, words):
    response = ask(graph, 'get_jacobian', words=words, positions=np.zeros(6))
    assert not response.success
    assert repr(words.get('reference_frame', words['link'])) in response.message
    assert 'internal error' not in response.message
    assert len(response.jacobian) == 0


def test_results_are_in_the_joint_order_of_the_request(graph):
    names = [NAMES[k] for k in ORDER]
    q, qd, last = batch(3, 3)
    in_order = {'positions': q[:, ORDER], 'velocities': qd[:, ORDER]}
    response = ask(graph, 'get_mass_matrix', names, positions=q[:, ORDER])
    assert response.joint_names == names
    assert_near(response.mass_matrix, ROBOT.mass_matrix(q)[:, ORDER][:, :, ORDER])
    response = ask(graph, 'get_jacobian', names, positions=q[:, ORDER])
    assert response.joint_names == names
    assert_near(response.jacobian, ROBOT.jacobian(q, 'ee_link')[..., ORDER])
    response = ask(graph, 'get_forward_dynamics', names, **in_order, efforts=last[:, ORDER])
    assert response.joint_names == names
    assert_near(response.accelerations, ROBOT.forward_dynamics(q, qd, last)[:, ORDER])
    response = ask(graph, 'get_inverse_dynamics', names, **in_order, accelerations=last[:, ORDER])
    assert response.joint_names == names
    assert_near(response.gravity, ROBOT.gravity_torque(q)[:, ORDER])
    assert_near(response.efforts, (ROBOT.inverse_dynamics(q, qd, last) + ROBOT.friction_torque(qd))[:, ORDER])


@pytest.mark.parametrize(('service', 'fields'), [(name, fields) for name, (_, fields) in SERVICES.items()])
def test_a_request_without_states_has_no_results(graph, service, fields):
    response = ask(graph, service, **{field: [] for field in fields})
    assert response.success, response.message
    assert response.joint_names == NAMES
    assert results(response)
    assert all(len(values) == 0 for values in results(response).values())


def results(response):
    """The arrays of numbers of a response by name."""
    kinds = response.get_fields_and_field_types()
    return {name: getattr(response, name) for name, kind in kinds.items() if kind == 'sequence<double>'}


WRONG_NAMES = {
    'unknown joint': (['elbow_of_nobody', *NAMES[1:]], 'elbow_of_nobody'),
    'unknown joint more': ([*NAMES, 'elbow_of_nobody'], 'elbow_of_nobody'),
    'doubled joint': ([*NAMES, NAMES[2]], NAMES[2]),
    'missing joint': (NAMES[:-1], NAMES[-1]),
}


@pytest.mark.parametrize('service', SERVICES)
@pytest.mark.parametrize(('names', 'culprit'), WRONG_NAMES.values(), ids=WRONG_NAMES)
def test_wrong_joint_names_are_refused_by_name(graph, service, names, culprit):
    fields = SERVICES[service][1]
    assert_refused(graph, service, culprit, names, **{field: np.zeros(len(names)) for field in fields})


@pytest.mark.parametrize(('service', 'field'), FIELDS)
@pytest.mark.parametrize('length', [5, 13])
def test_wrong_length_is_refused_by_field(graph, service, field, length):
    lists = {name: np.zeros(12) for name in SERVICES[service][1]}
    lists[field] = np.zeros(length)
    assert_refused(graph, service, field, **lists)


@pytest.mark.parametrize(('service', 'field'), FIELDS)
@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_number_that_is_not_finite_is_refused_by_field_joint_and_state(graph, service, field, value):
    names = [NAMES[k] for k in ORDER]
    lists = {name: np.zeros((3, 6)) for name in SERVICES[service][1]}
    lists[field][2, 4] = value
    response = assert_refused(graph, service, field, names, **lists)
    assert repr(names[4]) in response.message
    assert 'state 2' in response.message


@pytest.mark.parametrize('service', SERVICES)
def test_numbers_too_large_are_refused(graph, service):
    fields = SERVICES[service][1]
    lists = {field: np.zeros(6) for field in fields}
    field = fields[:2][-1]
    lists[field] = np.full(6, np.finfo(float).max)
    culprit = 'is beyond its limits' if field == 'positions' else 'the result is not finite'
    assert_refused(graph, service, culprit, **lists)


def assert_refused(graph, service, culprit, names=(), **lists):
    """The culprit is named, no result is given, and the next good request is answered."""
    response = ask(graph, service, names, **lists)
    assert not response.success
    assert culprit in response.message
    assert 'internal error' not in response.message
    assert all(len(values) == 0 for values in results(response).values())
    good = {field: np.zeros(6) for field in SERVICES[service][1]}
    assert ask(graph, service, **good).success
    return response


def test_gravity_parameter_counts(graph):
    (q,) = batch(5, 1)
    gravity = (9.81, 0.0, 0.0)
    with graph.parameters(NODE, gravity=list(gravity)):
        response = ask(graph, 'get_inverse_dynamics', positions=q, velocities=0 * q, accelerations=0 * q)
    assert_near(response.gravity, ROBOT.with_gravity(gravity).gravity_torque(q))


def test_diagnostics_count_the_requests(graph):
    graph.restart(NODE)
    for positions in ([0.0] * 6, [0.0] * 12, [0.0] * 5):
        ask(graph, 'get_mass_matrix', positions=positions)
    fields = graph.diagnostics(NODE).fields
    assert (fields['requests answered'], fields['requests refused']) == ('2', '1')
    assert fields['model'] == 'aubo_i5'
    assert fields['joints'].split() == NAMES


def test_deactivated_it_refuses(graph):
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    response = ask(graph, 'get_mass_matrix', positions=[0.0] * 6)
    graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
    assert not response.success
    assert 'not active' in response.message
    assert ask(graph, 'get_mass_matrix', positions=[0.0] * 6).success
