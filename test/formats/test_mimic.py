"""URDF's <mimic> as a coupling, in both directions."""

from support.robots.facade_robots import TREE
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.urdf_export import urdf_of
from robot_dynamics_ros.model.closed_loops.loops import with_loops


def mimicking(attributes='joint="z_turn" multiplier="-2" offset="0.3"', joint='a_wag') -> str:
    """Return the tree of the facade's tests with a <mimic> in one of its joints."""
    before, tag, after = TREE.partition(f'<joint name="{joint}"')
    return before + tag + after.replace('</joint>', f'<mimic {attributes}/></joint>', 1)


@pytest.mark.parametrize(
    ('attributes', 'polynomial'),
    [
        ('joint="z_turn" multiplier="-2" offset="0.3"', (0.3, -2.0)),
        ('joint="z_turn"', (0.0, 1.0)),
        ('joint="z_turn" multiplier="0"', (0.0, 0.0)),
    ],
)
def test_a_mimic_becomes_a_coupling_on_request(attributes, polynomial):
    robot = Robot.from_urdf(mimicking(attributes), mimic='couple')
    assert robot.loops.couplings == (Coupling('a_wag', 'z_turn', polynomial),)
    assert not [it for it in robot.findings if 'mimics' in it.message]
    turn = 0.7
    q = [turn, 0.1, polynomial[0] + polynomial[1] * turn]
    assert robot.loop_errors(q) == pytest.approx([0.0], abs=1e-15)


def test_without_a_request_it_is_a_joint_of_its_own_and_a_finding_says_so():
    for robot in (Robot.from_urdf(mimicking()), Robot.from_urdf(mimicking(), mimic='ignore')):
        assert not robot.loops.all
        assert [it.where for it in robot.findings if 'mimics' in it.message] == ["joint 'a_wag'"]


def test_a_mimic_on_a_fixed_joint_has_no_effect():
    assert not Robot.from_urdf(mimicking(joint='bolt'), mimic='couple').loops.all


@pytest.mark.rounding
def test_pinocchio_has_the_same_mass_matrix_of_the_joints_that_are_left():
    pin = pytest.importorskip(
        'pinocchio',
        minversion='3.7',  # earlier ones know no <mimic>
        reason='the outside source, Pinocchio (package pin), is not installed',
    )
    # Pinocchio has joints depth first, children by name
    text = mimicking().replace('a_wag', 'wag')
    twin, robot = pin.buildModelFromXML(text, True), Robot.from_urdf(text, mimic='couple')
    assert (twin.nv, robot.nv) == (2, 3)
    q = np.array([0.4, -0.2])
    by_name = {robot.joint_names[i]: i for i in range(3)}
    G = np.zeros((3, 2))
    names = [name for name in twin.names[1:] if name != 'wag']
    for k, name in enumerate(names):
        G[by_name[name], k] = 1.0
    (coupling,) = robot.loops.couplings
    offset, slope = coupling.polynomial
    full = G @ q
    full[by_name['wag']] = offset + slope * full[by_name['z_turn']]
    G[by_name['wag']] = slope * G[by_name['z_turn']]
    assert robot.loop_jacobian(full) @ G == pytest.approx(np.zeros((1, 2)), abs=bound(10, 3, scale=abs(slope)))
    M = pin.crba(twin, twin.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    assert G.T @ robot.mass_matrix(full) @ G == pytest.approx(M, rel=1e-12, abs=1e-12)


APART = {
    'unknown joint': ('joint="x"', "coupling of joint 'a_wag': no joint 'x'; there are z_turn"),
    'fixed joint': ('joint="bolt"', "coupling of joint 'a_wag': no joint 'bolt'"),
    'itself': ('joint="a_wag"', "coupling of joint 'a_wag': it is coupled to itself"),
}


@pytest.mark.parametrize(('attributes', 'why'), APART.values(), ids=APART)
def test_one_wrong_mimic_leaves_the_others_coupled(attributes, why):
    text = mimicking(attributes)
    before, tag, after = text.partition('<joint name="m_slide"')
    text = before + tag + after.replace('</joint>', '<mimic joint="z_turn"/></joint>', 1)
    robot = Robot.from_urdf(text, mimic='couple')
    assert robot.loops.couplings == (Coupling('m_slide', 'z_turn', (0.0, 1.0)),)
    (finding,) = [it for it in robot.findings if 'mimics' in it.message]
    assert finding.where == "joint 'a_wag'" and f'a joint of its own, with its own torque ({why}' in finding.message


REFUSED = {
    'multiplier': ('joint="z_turn" multiplier="two"', 'joint \'a_wag\': <mimic multiplier="two">: expected a finite'),
    'offset': ('joint="z_turn" offset="nan"', 'joint \'a_wag\': <mimic offset="nan">: expected a finite number'),
}


@pytest.mark.parametrize(('attributes', 'culprit'), REFUSED.values(), ids=REFUSED)
def test_refused_by_name_where_it_is_coupled(attributes, culprit):
    with pytest.raises(ModelError) as error:
        Robot.from_urdf(mimicking(attributes), mimic='couple')
    assert str(error.value).startswith('robot description: ' + culprit)
    assert not Robot.from_urdf(mimicking(attributes)).loops.all


def test_a_wrong_argument_is_named():
    with pytest.raises(ArgumentError, match=r"^mimic: expected one of ignore, couple, got 'yes'"):
        Robot.from_urdf(TREE, mimic='yes')


@pytest.mark.parametrize('polynomial', [(0.1, -2.5), (0.3,), (0.1, 1 / 3, 0.0, 0.0)])
def test_couplings_survive_an_export(polynomial):
    robot = Robot.from_urdf(TREE).with_loops([Coupling('a_wag', 'm_slide', polynomial)])
    back = Robot.from_urdf(robot.to_urdf(), mimic='couple')
    assert back.loops.couplings == (Coupling('a_wag', 'm_slide', (*polynomial, 0.0)[:2]),)


PIN = LoopClosure('pin', None, np.eye(4), 'flag')
NOT_HELD = {
    'closure': ([PIN], "loop 'pin': a URDF cannot hold a closure"),
    'constant': ([Coupling('a_wag', None, (0.1,))], "coupling of joint 'a_wag': a URDF cannot hold a constant"),
    'degree': (
        [Coupling('a_wag', 'z_turn', (0.0, 1.0, 0.0, 2.0))],
        "coupling of joint 'a_wag': a URDF cannot hold a polynomial of a degree above one",
    ),
}


@pytest.mark.parametrize(('loops', 'culprit'), NOT_HELD.values(), ids=NOT_HELD)
def test_what_a_urdf_cannot_hold_is_refused_by_name(loops, culprit):
    with pytest.raises(ModelError) as error:
        urdf_of(with_loops(model_from_urdf(TREE), loops))
    assert str(error.value) == culprit
