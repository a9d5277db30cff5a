"""Controllers of arms with closed loops and mimic joints: the bits of the nodes, and what an open loop does."""

from support.controllers.controllers_core import MOTION, Law, has_compilers
from support.controllers.controllers_law import rates_around
from support.controllers.driven_joints import ACTUATED, FINGERS, arm, library
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.driven_code import driven_library
from robot_dynamics_ros.control.laws.gain_limits import SamplingLimit
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.errors import DynamicsError, LoopError

pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
STATES = 1000
MILLISECOND = 1_000_000


def law_of(name: str, **settings) -> Law:
    settings = {'effort_limit': [1e6], 'fade_in_time': 0.0, 'preset': 'effort_controller', **settings}
    return Law(library(name), arm(name).joint_names, **settings)


class Node:
    """Gravity compensation and feedforward at states, as nodes compute them."""

    def __init__(self, name: str, terms=TERMS):
        """Begin at home."""
        self.arm = arm(name)
        self._stamp = 0
        self._torque = Compensation(self.arm, terms)

    def state(self, y, elapsed: int = MILLISECOND) -> None:
        """Close the loops at measured positions; DynamicsError where a node refuses the state."""
        self._stamp += elapsed
        self.arm.following.measure(y, np.full(len(self.arm.followers), np.nan), self._stamp)

    def gravity(self, y) -> np.ndarray:
        return self.arm.gravity_torque(y)

    def feedforward(self, y, yd, ydd) -> np.ndarray:
        out = np.empty(len(y))
        self._torque.torque(y, yd, ydd, out)
        return out


def motion(name: str, count: int = STATES) -> np.ndarray:
    """Return states about home (count, 2, m)."""
    rng, home, reach = np.random.default_rng(4), arm(name).neutral(), 0.02 if 'Stewart' in name else 0.05
    t, phase = 0.003 * np.arange(count)[:, None], np.arange(len(home))
    y = home + reach * (np.sin(t + phase) - np.sin(phase)) + rng.uniform(-5e-5, 5e-5, (count, len(home)))
    return np.stack([y, rng.normal(size=y.shape)], axis=1)


# three arms and a platform on six legs are compiled for as long as all others
EXPORTED = [*ACTUATED, FINGERS]
QUICK = [name for name in EXPORTED if name not in ('delta', 'Stewart platform')]
PART = 'palletizer', ('gravity', 'friction')


@pytest.mark.parametrize('name', matrix(EXPORTED, QUICK))
def test_gravity_compensation_has_the_bits_of_a_node(name):
    node, law, states = Node(name), law_of(name), motion(name)
    law.activate()
    efforts, outcomes = law.updates(states)
    assert set(outcomes) == {'gravity_only'} and law.loop_fault == ''
    for (y, _), effort in zip(states, efforts, strict=True):
        node.state(y)
        assert node.gravity(y).tobytes() == effort.tobytes()


@pytest.mark.parametrize(
    ('name', 'terms'), matrix([*((it, TERMS) for it in EXPORTED), PART], [*((it, TERMS) for it in QUICK), PART])
)
def test_feedforward_has_the_bits_of_a_node(name, terms):
    """With a part of the terms, friction by load is that of all of them."""
    node, law, states = Node(name, terms), law_of(name, compensation=terms), motion(name)
    rng = np.random.default_rng(5)
    references = np.zeros((STATES, 4, law.n))
    references[:, 0] = states[:, 0] + rng.uniform(-0.02, 0.02, (STATES, law.n))
    references[:, 1:3] = rng.normal(size=(STATES, 2, law.n))
    law.activate()
    efforts, outcomes = law.updates(states, references, MOTION)
    assert set(outcomes) == {'sent'}
    for (y, _), reference, effort in zip(states, references, efforts, strict=True):
        node.state(y)
        assert node.feedforward(*reference[:3]).tobytes() == effort.tobytes()


def test_a_mechanism_has_fewer_joints_than_its_tree():
    assert arm('palletizer').robot.nv == 10 and law_of('palletizer').n == 4
    assert arm(FINGERS).robot.nv == 5 and arm(FINGERS).joint_names == ('shoulder', 'elbow', 'left')


@pytest.mark.parametrize(('end', 'said'), [(0.03, 'move it away'), (-0.2, 'then activate again')])
def test_a_singular_position_gives_no_torque_and_names_the_loop(end, said):
    """The crank of the parallelogram comes near the flat position and leaves it, or passes it."""
    node, law = Node('parallelogram'), law_of('parallelogram', ramp_time=0.05)
    there = np.arange(0.8, end, -0.001)
    states = np.zeros((2 * len(there), 2, 1))
    states[:, 0, 0] = [*there, *there[::-1]]
    law.activate()
    refused = []
    for k, state in enumerate(states):
        efforts, (outcome,) = law.updates(state[None])
        try:
            node.state(state[0])
        except DynamicsError:
            refused.append(k)
            assert outcome in ('state_held', 'state_lost')
            assert law.loop_fault.startswith("loop 'closing'")
            last = law.loop_fault
        else:
            expected = node.gravity(state[0])
            assert outcome == 'gravity_only' and law.loop_fault == ''
    assert last.endswith(said)
    if end > 0.0:
        assert 10 < len(refused) < 100 and efforts.tobytes() == expected.tobytes()
        return
    assert refused[-1] == len(states) - 1
    law.deactivate()
    law.activate()
    node.arm.following.begin()
    efforts, (outcome,) = law.updates(states[-1:])
    node.state(states[-1, 0])
    assert outcome == 'gravity_only' and efforts.tobytes() == node.gravity(states[-1, 0]).tobytes()


def test_an_encoder_that_jumps_is_refused_until_it_is_back():
    law, states = law_of('palletizer', ramp_time=0.05), motion('palletizer', 700)
    states[200:400, 0, 1] += np.radians(5.0)
    law.activate()
    efforts, outcomes = law.updates(states[:300])
    assert outcomes[199] == 'gravity_only' and outcomes[200:203] == ['state_held'] * 3 and outcomes[203] == 'state_lost'
    assert law.loop_fault.startswith("loop 'lever rod': a joint has jumped")
    assert not efforts[-1].any()
    efforts, outcomes = law.updates(states[300:])
    assert outcomes[99] == 'state_lost' and set(outcomes[100:]) == {'gravity_only'}
    node = Node('palletizer')
    for k, (y, _) in enumerate(states):
        if 200 <= k < 400:
            with pytest.raises(LoopError):
                node.state(y)
        else:
            node.state(y)
            expected = node.gravity(y)
    assert efforts[-1].tobytes() == expected.tobytes()


@pytest.mark.parametrize('far', [(0.0, 0.5, 0.5, 0.0), (3.0, -0.7, -0.7, -3.0)])
def test_an_arm_far_from_home_is_found_in_the_first_updates(far):
    """A call goes eight steps at most; each update goes on from there, and joints in no loop are not counted."""
    law, y = law_of('palletizer', ramp_time=0.05), arm('palletizer').neutral() + far
    law.activate()
    _, outcomes = law.updates(np.tile([y, np.zeros(4)], (20, 1, 1)))
    count = outcomes.index('gravity_only')
    assert outcomes == ['state_held'] * count + ['gravity_only'] * (20 - count) and count == int(abs(far[1]) / 0.16)
    law.deactivate()
    law.activate()
    efforts, outcomes = law.updates(np.tile([y - 0.1, np.zeros(4)], (200, 1, 1)))
    assert set(outcomes) == {'gravity_only'}
    np.testing.assert_allclose(efforts[-1], arm('palletizer').gravity_torque(y - 0.1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('ahead', [0.15, 0.3, -0.5])
def test_a_reference_far_from_the_state_is_approached(ahead):
    law, y = law_of('palletizer'), arm('palletizer').neutral()
    states = np.tile([y, np.zeros(4)], (1000, 1, 1))
    references = np.zeros((1000, 4, 4))
    references[:, 0] = y + ahead * np.array([1.0, 0.0, 1.0, 1.0])
    law.activate()
    efforts, outcomes = law.updates(states, references, MOTION)
    assert set(outcomes[5:]) == {'sent'}
    expected = arm('palletizer').torque(references[-1, 0], np.zeros(4), np.zeros(4))
    np.testing.assert_allclose(efforts[-1], expected, rtol=1e-9, atol=1e-9)


def test_a_state_beyond_a_singular_position_after_a_gap_is_noticed_at_once():
    """The crank of the parallelogram is seen beyond the flat position in two states, and comes back."""
    node, law = Node('parallelogram'), law_of('parallelogram', ramp_time=0.05)
    states = np.full((40, 2, 1), 0.8)
    states[:, 1] = 0.0
    states[20:22, 0] = [[-0.6], [-0.601]]
    law.activate()
    law.updates(states[:20])
    for y, _ in states[:20]:
        node.state(y)
    # lost for 0.9 s
    _, outcomes = law.updates(states[20:21], period=0.9)
    with pytest.raises(DynamicsError):
        node.state(states[20, 0], 900 * MILLISECOND)
    _, later = law.updates(states[21:])
    for y, _ in states[21:]:
        with pytest.raises(DynamicsError):
            node.state(y)
    assert {*outcomes, *later} <= {'state_held', 'state_lost'} and 'activate again' in law.loop_fault


def test_a_reference_at_which_a_loop_is_open_is_refused():
    law, states = law_of('palletizer'), motion('palletizer', 100)
    references = np.zeros((100, 4, 4))
    references[:, 0] = states[:, 0]
    references[50:, 0, 2] += 3.0
    law.activate()
    efforts, outcomes = law.updates(states, references, MOTION)
    assert set(outcomes[:50]) == {'sent'} and set(outcomes[50:]) == {'reference_refused'}
    assert law.loop_fault.startswith("reference: loop '") and np.isfinite(efforts).all()


def test_a_fault_that_is_over_is_reported_once():
    law, states = law_of('palletizer'), motion('palletizer', 100)
    states[50:60, 0, 1] += np.radians(5.0)
    law.activate()
    law.updates(states)
    assert law.loop_fault == '' and law.recent_loop_fault().startswith("loop 'lever rod': a joint has jumped")
    assert law.recent_loop_fault() == ''


@pytest.mark.parametrize('again', [False, True])
@pytest.mark.parametrize('begin', [0.0, -0.2, 0.02, -0.8])
def test_an_arm_that_starts_at_a_singular_position_or_beyond_needs_an_activation_elsewhere(begin, again):
    """The way there ends in a later update; pushed out of there the mechanism may be in either assembly mode."""
    node, law = Node('parallelogram'), law_of('parallelogram', ramp_time=0.05)
    if again:
        law.activate()
        assert set(law.updates(np.tile([[0.8], [0.0]], (20, 1, 1)))[1]) == {'gravity_only'}
        law.deactivate()
    law.activate()
    told = []
    for y in (*np.full(100, begin), *np.linspace(begin, 0.6, 1000)):
        _, (outcome,) = law.updates(np.array([[[y], [0.0]]]))
        told.append((outcome, law.loop_fault))
        with pytest.raises(DynamicsError):
            node.state(np.array([y]))
    assert {outcome for outcome, _ in told} <= {'state_held', 'state_lost'}
    first = next(k for k, (_, text) in enumerate(told) if 'singular' in text)
    assert first < 50 and all('activate again' in text for _, text in told[first + 1 :])


@pytest.mark.parametrize(('pause', 'passed'), [(5.35, True), (0.001, False)])
def test_a_pause_while_a_far_position_is_approached_may_hide_a_singular_one(pause, passed):
    """The node is there with the first state."""
    node, law = Node('parallelogram'), law_of('parallelogram', ramp_time=0.05)
    law.activate()
    outcomes = []
    for period in (0.001, 0.001, pause, *[0.001] * 20):
        outcomes += law.updates(np.array([[[0.25], [0.0]]]), period=period)[1]
        try:
            node.state(np.array([0.25]), round(1e9 * period))
            refused = ''
        except DynamicsError as error:
            refused = str(error)
    assert ('activate again' in law.loop_fault) == passed == ('activate again' in refused)
    assert outcomes[:3] == ['state_held'] * 3 and ('gravity_only' in outcomes) != passed


def test_a_singular_position_that_is_passed_while_a_far_one_is_approached_is_noticed():
    """The crank moves through the flat position before the way to it is found."""
    law = law_of('parallelogram', ramp_time=0.05)
    law.activate()
    outcomes = law.updates(np.array([[[y], [0.0]] for y in (*np.linspace(-0.02, 0.06, 9), *np.full(40, 0.07))]))[1]
    assert 'gravity_only' not in outcomes and 'activate again' in law.loop_fault


def test_the_digest_of_a_library_is_that_of_the_nodes():
    """Another loop changes the torques."""
    for name in (*ACTUATED, FINGERS):
        assert driven_library(arm(name)).digest == arm(name).digest


@pytest.mark.parametrize('name', matrix(['palletizer', 'four-bar, revolute'], ['four-bar, revolute']))
def test_gains_are_judged_with_the_mass_of_all_links(name):
    with pytest.raises(ValueError, match=r'damping: joint .* sampled control is unstable'):
        law_of(name, damping=1e6, update_rate=500.0)
    assert law_of(name, damping=0.1, stiffness=0.1, rehearses=True).n == len(arm(name).joint_names)


JUDGED = ('four-bar with a spring', 0.02), ('palletizer', 0.02), (FINGERS, 0.0)


@pytest.mark.parametrize(('name', 'share'), matrix(JUDGED, [JUDGED[0], JUDGED[2]]))
def test_gains_are_refused_where_nodes_refuse_them(name, share):
    """A spring holds no torque back from a motor's inertia; with mimic joints verdicts are the same to the last bit."""
    n = arm(name).nv
    slow, fast = rates_around(SamplingLimit(arm(name), np.ones(n), np.full(n, 5.0)).period)
    law_of(name, damping=5.0, stiffness=1.0, update_rate=(1.0 + share) * fast)
    with pytest.raises(ValueError, match='largest eigenvalue'):
        law_of(name, damping=5.0, stiffness=1.0, update_rate=(1.0 - share) * slow)
