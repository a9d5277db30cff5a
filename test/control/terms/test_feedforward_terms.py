"""Whether a feedforward torque from another node may be added: each way in which it may not, and the reason."""

import pytest

from robot_dynamics_ros.control.terms.feedforward_terms import TorqueTerms, mismatch, payload_gravity_mismatch

DOWN, ALL = (0.0, 0.0, -9.81), ('gravity', 'coriolis', 'inertia', 'friction')
MINE = TorqueTerms(('a', 'b', 'c'), ALL, 'node', '0123456789abcdef', DOWN, (('tool', 1.0, 0.1, 0.0, 0.0),))


def test_the_same_feedforward_terms_match():
    produced = MINE._replace()
    assert mismatch(produced, MINE) == payload_gravity_mismatch(produced, MINE) == ''


@pytest.mark.parametrize('terms', [('gravity',), ('inertia', 'gravity'), tuple(reversed(ALL))], ids='+'.join)
def test_fewer_terms_and_another_order_of_terms_or_joints_fit(terms):
    assert mismatch(MINE._replace(terms=terms, joint_names=('c', 'a', 'b')), MINE) == ''


@pytest.mark.parametrize('terms', [(), ('friction',), ('inertia', 'coriolis', 'friction')], ids='+'.join)
def test_a_torque_without_gravity_fits_only_where_the_robot_compensates_gravity(terms):
    mine = MINE._replace(gravity_owner='robot', terms=tuple(term for term in ALL if term != 'gravity'))
    assert 'but not gravity' in mismatch(MINE._replace(terms=terms), MINE)
    assert mismatch(mine._replace(terms=terms), mine) == ''


@pytest.mark.parametrize(
    ('needed', 'produced', 'term'),
    [
        (('coriolis', 'inertia', 'friction'), ALL, 'gravity'),
        (('coriolis', 'inertia', 'friction'), ('friction', 'gravity'), 'gravity'),
        (('gravity', 'coriolis', 'inertia'), ALL, 'friction'),
        (('coriolis', 'inertia'), ('inertia', 'friction', 'gravity'), 'friction'),
        ((), ('inertia',), 'inertia'),
    ],
)
def test_what_the_robot_adds_itself_may_not_be_in_it(needed, produced, term):
    reason = f'it contains {term}, which the robot compensates itself'
    assert mismatch(MINE._replace(terms=produced), MINE._replace(terms=needed)) == reason


@pytest.mark.parametrize('names', [('a', 'b'), ('a', 'b', 'c', 'd'), ('a', 'b', 'x'), ()], ids=' '.join)
def test_other_joints_do_not_fit(names):
    assert mismatch(MINE._replace(joint_names=names), MINE) == (
        f'it is for joints {" ".join(names)}; this node has {" ".join(MINE.joint_names)}'
    )


@pytest.mark.parametrize(('theirs', 'ours'), [('node', 'robot'), ('robot', 'node'), ('', 'node')])
def test_another_owner_of_gravity_does_not_fit(theirs, ours):
    found = mismatch(MINE._replace(gravity_owner=theirs), MINE._replace(gravity_owner=ours))
    assert found == f'gravity_owner is {theirs} there and {ours} here'


def test_another_model_does_not_fit():
    found = mismatch(MINE._replace(model_digest='fedcba9876543210'), MINE)
    assert found == 'it was computed with another model (fedcba9876543210, here 0123456789abcdef)'


def test_the_first_reason_is_returned():
    wrong = TorqueTerms(('x',), ALL, 'robot', 'f', (0.0, 0.0, 0.0), ())
    reasons = []
    for field in ('terms', 'joint_names', 'gravity_owner', 'model_digest'):
        reasons.append(mismatch(wrong, MINE._replace(terms=())))
        wrong = wrong._replace(**{field: () if field == 'terms' else getattr(MINE, field)})
    assert [reason.split()[1] for reason in reasons] == ['contains', 'is', 'is', 'was']
    assert mismatch(wrong, MINE._replace(terms=())) == ''


def test_payload_and_gravity_are_compared_separately():
    """They may differ for a while, when a change is on its way to both."""
    up, empty = MINE._replace(gravity=(0.0, 0.0, 9.81)), MINE._replace(payload=())
    assert mismatch(up, MINE) == mismatch(empty, MINE) == ''
    assert payload_gravity_mismatch(up, MINE) == f'it was computed for gravity (0.0, 0.0, 9.81) m/s^2, here {DOWN}'
    assert payload_gravity_mismatch(MINE, up) == f'it was computed for gravity {DOWN} m/s^2, here (0.0, 0.0, 9.81)'
    assert payload_gravity_mismatch(empty, MINE) == f'it was computed for the payload (), here {MINE.payload}'
    assert payload_gravity_mismatch(up._replace(payload=()), MINE).startswith('it was computed for gravity')
    moved = MINE._replace(payload=(('tool', 1.0, 0.1, 0.0, 1e-12),))
    assert (
        payload_gravity_mismatch(moved, MINE) == f'it was computed for the payload {moved.payload}, here {MINE.payload}'
    )
