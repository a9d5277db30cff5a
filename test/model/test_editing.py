"""Cut, lock, attach: the new robot's dynamics against the full robot's, hand-written descriptions and Pinocchio."""

import dataclasses

from support.matrices import matrix
from support.robots import random_trees as trees
from support.robots.facade_robots import ACTUATORS, TREE
from support.rounding import bound

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.model.editing import cut, with_attached, with_locked_joints
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.model import Model

pytestmark = pytest.mark.plain

TOLERANCE = 1e-11  # of the largest magnitude in the quantity
SEED = pytest.mark.parametrize('seed', matrix(range(3000, 3020), range(3000, 3008)))
GRAVITY = np.array([2.0, -3.0, -8.0])
POSE = np.eye(4)
POSE[:3, :3], POSE[:3, 3] = Rotation.from_euler('zyx', [0.4, -0.5, 0.6]).as_matrix(), (0.1, -0.2, 0.3)


def tree(seed, count=9) -> Model:
    return Model.of('random', trees.BASE, trees.random_joints(seed, count=count, chain=0.6))


def pinocchio():
    return pytest.importorskip(
        'pinocchio',
        minversion='3.4',  # 2.6 knows no rotors
        reason='the outside source, Pinocchio (package pin), is not installed',
    )


def drawn(seed, joints):
    """Return a random motion q, qd, qdd (n each)."""
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (3, joints))


def locks(seed, count=9):
    """Return which joints are held, as numbers: some, not all."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.permutation(count)[: rng.integers(1, count)])


def locked(seed):
    """Return the full and the reduced robot, the numbers of the free joints, and a motion that obeys the locks."""
    model, held = tree(seed), locks(seed)
    free = np.setdiff1d(np.arange(9), held)
    q, qd, qdd = drawn(seed, 9)
    qd[held] = qdd[held] = 0.0
    reduced = with_locked_joints(model, {model.joint_names[i]: q[i] for i in held})
    return Robot(model, GRAVITY), Robot(reduced, GRAVITY), free, (q, qd, qdd)


@SEED
def test_locked_joints_leave_the_dynamics_of_the_others(seed):
    full, reduced, free, (q, qd, qdd) = locked(seed)
    assert reduced.joint_names == tuple(full.joint_names[i] for i in free)
    tau = reduced.inverse_dynamics(q[free], qd[free], qdd[free])
    assert trees.relative_error(tau, full.inverse_dynamics(q, qd, qdd)[free]) < TOLERANCE
    M = reduced.mass_matrix(q[free])
    assert trees.relative_error(M, full.mass_matrix(q)[np.ix_(free, free)]) < TOLERANCE
    energy = full.kinetic_energy(q, qd)
    assert reduced.kinetic_energy(q[free], qd[free]) == pytest.approx(energy, rel=TOLERANCE)


@pytest.mark.compiled
@SEED
def test_locked_joints_leave_every_frame_where_it_is(seed):
    full, reduced, free, (q, _, _) = locked(seed)
    assert set(reduced.frame_names) == set(full.frame_names)
    for name in full.frame_names:
        assert reduced.link_pose(q[free], name) == pytest.approx(full.link_pose(q, name), abs=1e-13), name


@SEED
def test_locked_joints_are_constraints(seed):
    """Forces in the locks that keep the full robot's locked joints from accelerating leave the same motion."""
    full, reduced, free, (q, qd, _) = locked(seed)
    held, push = np.setdiff1d(np.arange(9), free), drawn(seed + 1, 9)[0]
    M, h = full.mass_matrix(q), full.bias_torque(q, qd)
    # M qdd + h = tau + C' lambda, C qdd = 0
    C = np.eye(9)[held]
    system = np.block([[M, -C.T], [C, np.zeros((len(held), len(held)))]])
    qdd = np.linalg.solve(system, np.concatenate([push - h, np.zeros(len(held))]))[:9]
    assert trees.relative_error(reduced.forward_dynamics(q[free], qd[free], push[free]), qdd[free]) < 1e-9


def test_the_rotor_of_a_locked_joint_goes_and_those_of_the_others_stay():
    joints = [dataclasses.replace(joint, rotor=0.5 + i) for i, joint in enumerate(trees.random_joints(7, count=4))]
    heavy = [dataclasses.replace(joint, rotor=99.0) if i == 1 else joint for i, joint in enumerate(joints)]
    one, other = (with_locked_joints(Model.of('r', trees.BASE, row), {joints[1].name: 0.3}) for row in (joints, heavy))
    assert one.arrays.rotor.tolist() == [0.0, 0.5, 2.5, 3.5] == other.arrays.rotor.tolist()
    assert (one.arrays.I == other.arrays.I).all()


@SEED
def test_pinocchio_reduces_to_the_same_robot(seed):
    pin = pinocchio()
    full, reduced, free, (q, qd, qdd) = locked(seed)
    pin_full, order, _ = trees.pinocchio_tree(full._model.joints)
    for i in range(1, pin_full.njoints):
        pin_full.addJointFrame(i)
    held = [pin_full.getJointId(name) for name in full.joint_names if name not in reduced.joint_names]
    twin = pin.buildReducedModel(pin_full, held, q[order])
    names = list(twin.names)[1:]
    row = [reduced.joint_names.index(name) for name in names]
    twin.armature, twin.gravity.linear = reduced.rotor_inertia[row], GRAVITY
    q, qd, qdd = q[free], qd[free], qdd[free]
    tau = pin.rnea(twin, twin.createData(), q[row], qd[row], qdd[row])
    assert trees.relative_error(reduced.inverse_dynamics(q, qd, qdd)[row], tau) < TOLERANCE


def test_all_joints_locked_leave_frames_alone():
    model = tree(1)
    still = Robot(with_locked_joints(model, dict.fromkeys(model.joint_names, 0.3)))
    assert (still.nv, still.link_names) == (0, (trees.BASE,))
    assert set(still.frame_names) == set(model.frames)
    pose = Robot(model).link_pose(np.full(9, 0.3), 'link_9')
    assert still.link_pose([], 'link_9') == pytest.approx(pose, abs=1e-13)


def test_held_joints_leave_every_mass_where_it_is():
    """Those of the base too, which no torque tells of."""
    model = model_from_urdf(TREE)
    for held in ([], ['z_turn'], ['m_slide', 'a_wag'], model.joint_names):
        left = with_locked_joints(model, dict.fromkeys(held, 0.0))
        assert left.arrays.I[:, 0].sum() == pytest.approx(model.arrays.I[:, 0].sum())
        gone = [k for k, name in enumerate(model.joint_names, 1) if name in held]
        assert len(left.arrays.I) == len(model.arrays.I) - len(gone)
    assert (with_locked_joints(model, {}).arrays.I[0] == model.arrays.I[0]).all()


@pytest.mark.parametrize(('kind', 'turn'), [('spherical', 0), ('free', 3)])
def test_a_joint_is_held_at_a_turn_that_is_one(kind, turn):
    joint = Joint('j', 'body', 'base', kind, np.eye(3)[2], np.eye(3), np.zeros(3), np.eye(10)[0])
    model = Model.of('one', 'base', [joint])
    position = np.zeros(KINDS[kind].coordinates)
    with pytest.raises(ArgumentError, match=r'^positions: j: its quaternion is not of length 1$'):
        with_locked_joints(model, {'j': position})
    position[turn : turn + 4] = Rotation.from_euler('x', 0.3).as_quat()
    still = Robot(with_locked_joints(model, {'j': position}))
    assert still.link_pose([], 'body')[:3, :3] == pytest.approx(Rotation.from_euler('x', 0.3).as_matrix())


@SEED
def test_a_subtree_moves_as_on_a_base_that_stands_still(seed):
    model = tree(seed)
    base = int(np.random.default_rng(seed).integers(1, 6))
    part = cut(model, base_link=f'link_{base}')
    rows = [model.joint_names.index(name) for name in part.joint_names]
    below = {base}
    below.update(i for i in range(base, 10) if model.arrays.parent[i] in below)
    assert rows == [i - 1 for i in sorted(below - {base})]
    q, qd, qdd = drawn(seed, 9)
    still = np.setdiff1d(np.arange(9), rows)
    qd[still] = qdd[still] = 0.0
    full = Robot(model, GRAVITY)
    turn = full.link_pose(q, f'link_{base}')[:3, :3]
    tau = Robot(part, turn.T @ GRAVITY).inverse_dynamics(q[rows], qd[rows], qdd[rows])
    expected = full.inverse_dynamics(q, qd, qdd)[rows]
    assert tau == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert (part.arrays.I[0] == model.arrays.I[base]).all()


@SEED
def test_a_chain_is_what_its_own_joints_make(seed):
    model, tip = tree(seed), 9
    path = []
    while tip:
        path.insert(0, tip - 1)
        tip = int(model.arrays.parent[tip])
    alone = Model.of('alone', trees.BASE, [model.joints[i] for i in path])
    part = cut(model, tip_link='link_9')
    assert (part.joint_names, part.link_names) == (alone.joint_names, alone.link_names)
    state = drawn(seed, len(path))
    expected = Robot(alone, GRAVITY).inverse_dynamics(*state)
    assert trees.relative_error(Robot(part, GRAVITY).inverse_dynamics(*state), expected) < TOLERANCE


def without(urdf: str, *names) -> str:
    """Return a URDF without some of its links and joints."""
    for name in names:
        for tag in ('link', 'joint'):
            start = urdf.find(f'<{tag} name="{name}"')
            if start >= 0:
                urdf = urdf[:start] + urdf[urdf.index(f'</{tag}>', start) + len(f'</{tag}>') :]
    return urdf


@pytest.mark.parametrize(
    ('tip', 'gone'), [('flag', ('sledge', 'tool', 'm_slide', 'bolt')), ('tool', ('flag', 'a_wag'))]
)
def test_a_chain_from_a_urdf_has_no_branch_and_nothing_beyond(tip, gone):
    chain, by_hand = Robot.from_urdf(TREE, tip_link=tip), Robot.from_urdf(without(TREE, *gone))
    assert chain.joint_names == by_hand.joint_names and chain.frame_names == by_hand.frame_names
    state = drawn(3, 2)
    assert chain.inverse_dynamics(*state) == pytest.approx(by_hand.inverse_dynamics(*state), rel=1e-13)


@pytest.mark.rounding
def test_a_base_on_a_fixed_joint_keeps_its_own_frame():
    """Links mast and ground are one body; the mast is turned on it."""
    full, part = Robot.from_urdf(TREE), Robot.from_urdf(TREE, base_link='mast', tip_link='tool')
    by_hand = Robot.from_urdf(without(TREE.replace('<link name="ground"/>', ''), 'feet', 'flag', 'a_wag'))
    assert part.link_names == ('mast', 'boom', 'sledge') and set(part.frame_names) == {
        *part.link_names,
        'ground',
        'tool',
    }
    state, at_rest = drawn(4, 2), full.link_pose(np.zeros(3), 'mast')
    by_hand = by_hand.with_gravity(at_rest[:3, :3].T @ full.gravity)
    assert part.inverse_dynamics(*state) == pytest.approx(by_hand.inverse_dynamics(*state), rel=1e-12)
    assert part.link_pose(state[0], 'ground') == pytest.approx(np.linalg.inv(at_rest), rel=0, abs=bound(10, 4))
    expected = at_rest @ part.link_pose(state[0], 'tool')
    largest = bound(20, 4, scale=np.abs(expected).max())
    assert full.link_pose([*state[0], 0.0], 'tool') == pytest.approx(expected, rel=0, abs=largest)


@pytest.mark.rounding
def test_gravity_stays_the_same_vector_where_fixed_joints_lead_to_the_base():
    full, part = Robot.from_urdf(TREE).with_gravity(GRAVITY), Robot.from_urdf(TREE, base_link='mast')
    turn = full.link_pose(np.zeros(3), 'mast')[:3, :3]
    assert part.gravity == pytest.approx(turn.T @ (0.0, 0.0, -9.81), rel=0, abs=bound(10, 3, scale=9.81))
    q = drawn(7, 3)
    for robot, chain in ((full, full.chain('mast')), (Robot.from_urdf(TREE), part)):
        assert chain.gravity_torque(q) == pytest.approx(robot.gravity_torque(q), rel=1e-12, abs=1e-12)
    # payloads on the full robot are part of the chain
    carried = full.with_payload(Payload(1.0, (0.1, 0.0, 0.2)), 'tool')
    assert carried.chain('mast').gravity_torque(q) == pytest.approx(carried.gravity_torque(q), rel=1e-12, abs=1e-12)
    assert full.chain(tip_link='tool').gravity.tolist() == GRAVITY.tolist()


def test_beyond_a_moving_joint_gravity_has_to_be_stated():
    robot = Robot.from_urdf(TREE)
    message = (
        r"^gravity: joint 'z_turn' moves between the base 'ground' and 'flag', .* state gravity in the frame of 'flag'"
    )
    for make in (lambda: robot.chain('flag'), lambda: Robot.from_urdf(TREE, base_link='flag')):
        with pytest.raises(ArgumentError, match=message):
            make()
    with pytest.raises(ArgumentError, match=r"^gravity: joint 'z_turn' moves"):
        robot.chain('tool')
    assert robot.chain('boom', gravity=GRAVITY).gravity.tolist() == GRAVITY.tolist()
    assert Robot.from_urdf(TREE, 'mast', gravity=GRAVITY).gravity.tolist() == GRAVITY.tolist()
    with pytest.raises(ArgumentError, match=r'^gravity: expected'):
        robot.chain('boom', gravity=(0.0, 9.81))
    # a joint that is locked is a fixed one
    held = robot.with_locked_joints({'z_turn': 0.4})
    q = drawn(8, 3)
    q[:, 0] = 0.4
    assert held.chain('boom').gravity_torque(q[:, 1:]) == pytest.approx(
        robot.gravity_torque(q)[:, 1:], rel=1e-12, abs=1e-12
    )


LIFTED = """<robot name="lifted"><link name="ground"/><link name="plate"/><link name="table"/><link name="arm"/>
<joint name="lift" type="prismatic"><parent link="ground"/><child link="plate"/><origin rpy="0.3 0.2 0.1"/>
  <axis xyz="1 2 3"/><limit lower="0" upper="1" velocity="1" effort="100"/></joint>
<joint name="turn" type="{}"><parent link="plate"/><child link="table"/><origin rpy="-0.2 0.4 1.1"/>
  <axis xyz="{} {} {}"/><limit lower="-3" upper="3" velocity="1" effort="100"/></joint>
<joint name="shoulder" type="continuous"><parent link="table"/><child link="arm"/><origin xyz="0.1 0 0.3" rpy="1 0 0"/>
  <axis xyz="0 1 0"/></joint></robot>"""
ARM_OF_LIFTED = (
    '<link name="arm"><inertial><origin xyz="0.2 0 0.1"/><mass value="2"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)


def test_a_lift_and_a_vertical_turntable_do_not_turn_gravity():
    with_mass = LIFTED.replace('<link name="arm"/>', ARM_OF_LIFTED)
    up = Robot.from_urdf(with_mass.format('fixed', 0, 0, 1)).link_pose([0.0, 0.0], 'table')[:3, :3].T @ [0.0, 0.0, 1.0]
    q = np.random.default_rng(9).uniform(0.0, 1.0, (20, 3))
    for kind in ('revolute', 'prismatic'):
        robot = Robot.from_urdf(with_mass.format(kind, *map(repr, up.tolist())))
        arm = robot.chain('table')
        expected = robot.gravity_torque(q)[:, 2:]
        assert arm.gravity_torque(q[:, 2:]) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    tilting = Robot.from_urdf(with_mass.format('revolute', 1, 0, 0))
    with pytest.raises(ArgumentError, match=r"^gravity: joint 'turn' moves between the base 'ground' and 'table'"):
        tilting.chain('table')
    assert tilting.chain('plate').gravity == pytest.approx(robot.chain('plate').gravity)


def test_a_chain_of_one_body_has_no_joint():
    part = Robot.from_urdf(TREE, base_link='sledge', tip_link='tool', gravity=GRAVITY)
    assert part.gravity.tolist() == GRAVITY.tolist()
    assert (part.nv, part.link_names, part.frame_names) == (0, ('sledge',), ('tool', 'sledge'))


def joined_urdf(place='') -> str:
    """Return the tree of the facade's tests with a second one on its tool, every name of that one after b_."""
    second = TREE.replace('name="', 'name="b_').replace('link="', 'link="b_')
    mount = f'<joint name="mount" type="fixed"><parent link="tool"/><child link="b_ground"/>{place}</joint>'
    inside = second[second.index('>', second.index('<robot')) + 1 : second.index('</robot>')]
    return TREE.replace('</robot>', inside + mount + '</robot>')


def joined() -> Model:
    model = model_from_urdf(TREE)
    return with_attached(model, model, 'tool', POSE, prefix='b_')


def test_an_attached_robot_is_the_urdf_of_both():
    roll, pitch, yaw = Rotation.from_matrix(POSE[:3, :3]).as_euler('xyz')
    both = Robot.from_urdf(joined_urdf(f'<origin xyz="0.1 -0.2 0.3" rpy="{roll} {pitch} {yaw}"/>'))
    robot = Robot(joined(), GRAVITY)
    assert robot.joint_names == ('z_turn', 'm_slide', 'a_wag', 'b_z_turn', 'b_m_slide', 'b_a_wag')
    assert set(robot.frame_names) == set(both.frame_names)
    q, qd, qdd = drawn(5, 6)
    row = [robot.joint_names.index(name) for name in both.joint_names]
    assert row != list(range(6))  # the URDF's order is depth first
    expected = both.with_gravity(GRAVITY).inverse_dynamics(q[row], qd[row], qdd[row])
    assert robot.inverse_dynamics(q, qd, qdd)[row] == pytest.approx(expected, rel=1e-12)
    M = both.mass_matrix(q[row])
    assert robot.mass_matrix(q)[np.ix_(row, row)] == pytest.approx(M, rel=1e-12, abs=1e-13)
    for name in both.frame_names:
        assert robot.link_pose(q, name) == pytest.approx(both.link_pose(q[row], name), abs=1e-14), name
    assert robot.limits.effort[[0, 3]].tolist() == [50, 50]


def test_the_base_of_an_attached_robot_weighs_on_its_link():
    """The second tree's mast, 4 kg on its ground, moves now."""
    robot = joined()
    assert robot.arrays.I[2, 0] == pytest.approx(2.0 + 0.7 + 4.0)


@SEED
def test_pinocchio_appends_to_the_same_robot(seed):
    pin = pinocchio()
    one, two = tree(seed), tree(seed + 100)
    robot = Robot(with_attached(one, two, 'link_4', POSE, prefix='b_'), GRAVITY)
    pin_one, pin_two = (trees.pinocchio_tree(robot.joints)[0] for robot in (one, two))
    for i in range(1, pin_two.njoints):
        pin_two.names[i] = 'b_' + pin_two.names[i]
    frame = pin_one.addFrame(pin.Frame('link_4', pin_one.getJointId('joint_4'), pin.SE3.Identity(), pin.OP_FRAME))
    twin = pin.appendModel(pin_one, pin_two, frame, pin.SE3(POSE))
    row = [robot.joint_names.index(name) for name in list(twin.names)[1:]]
    twin.armature, twin.gravity.linear = robot.rotor_inertia[row], GRAVITY
    q, qd, qdd = drawn(seed, 18)
    tau = pin.rnea(twin, twin.createData(), q[row], qd[row], qdd[row])
    assert trees.relative_error(robot.inverse_dynamics(q, qd, qdd)[row], tau) < TOLERANCE


@pytest.mark.compiled
def test_changes_are_kept_and_the_robot_itself_stays():
    robot = Robot.from_urdf(TREE).with_actuators(ACTUATORS).with_gravity(GRAVITY)
    before = robot.inverse_dynamics(*drawn(6, 3))
    for changed in (
        robot.with_locked_joints({'m_slide': 0.2}),
        robot.chain(tip_link='flag'),
        robot.with_attached(Robot.named('aubo_i5'), 'flag', prefix='arm_'),
    ):
        assert changed.gravity.tolist() == GRAVITY.tolist() and not changed.is_compiled
        i = changed.joint_names.index('a_wag')
        assert (changed.rotor_inertia[i], changed.friction.offset[i]) == (0.02, 0.1)
    assert robot.inverse_dynamics(*drawn(6, 3)).tolist() == before.tolist()
    assert not Robot.named('aubo_i5').compiled().with_locked_joints({'wrist3_joint': 0.1}).is_compiled


def test_only_a_robot_can_be_attached():
    with pytest.raises(ArgumentError, match=r'^other: expected a Robot, got None'):
        Robot.from_urdf(TREE).with_attached(None, 'flag')


FLAWED = TREE.replace('ixx="0.02"', 'ixx="-0.02"')  # the sledge's


def test_findings_follow_their_links():
    def where(model):
        return [finding.where for finding in model.findings]

    model = model_from_urdf(FLAWED)
    assert where(model) == ["link 'sledge'", "joint 'a_wag'"]  # inertia, no effort limit
    assert where(with_locked_joints(model, {'a_wag': 0.0})) == ["link 'sledge'"]
    assert where(cut(model, tip_link='flag')) == ["robot 'tree'", "joint 'a_wag'"]  # sledge and tool are lost
    assert where(cut(model, base_link='boom')) == ["link 'sledge'", "joint 'a_wag'"]
    joined = with_attached(model_from_urdf(TREE), model, 'flag', prefix='b_')
    assert where(joined) == ["link 'b_sledge'", "joint 'a_wag'", "joint 'b_a_wag'"]
    # what is wrong with a link because it moves is told once while it does, and not of one that is held
    before, _, rest = TREE.partition('<link name="flag">')
    hollow = model_from_urdf(before + '<link name="flag"/>' + rest.partition('</link>')[2])
    assert where(with_locked_joints(hollow, {'m_slide': 0.0})) == ["joint 'a_wag'", "link 'flag'"]
    assert where(with_locked_joints(hollow, {'a_wag': 0.0})) == []


def test_mass_that_is_cut_off_a_chain_is_a_finding():
    model = model_from_urdf(TREE)

    def lost(part):
        return [it.message for it in part.findings if 'cut off' in it.message]

    (message,) = lost(cut(model, tip_link='boom'))
    assert message.startswith(
        "links 'sledge', 'flag' move with the chain and are cut off, with 3.2 kg; lock their joints"
    )
    (message,) = lost(cut(model, 'mast', 'sledge'))
    assert message.startswith("links 'flag' move with the chain and are cut off, with 0.5 kg")
    # what does not move with the chain is no loss, and no mass either
    assert not lost(cut(model, 'boom')) and not lost(cut(model, 'boom', 'flag'))
    massless = model_from_urdf(TREE.replace('<mass value="0.5"/>', '<mass value="0"/>'))
    assert not lost(cut(massless, tip_link='sledge'))
    # it is told as long as the part is used
    assert lost(with_locked_joints(cut(model, tip_link='sledge'), {'m_slide': 0.1}))


def test_findings_of_the_importer_follow_their_joints():
    text = TREE.replace('<limit lower="-2"', '<mimic joint="z_turn"/><limit lower="-2"')
    model = model_from_urdf(text.replace('</robot>', '<drake:joint/></robot>'))

    def importers(part):
        return [it.where for it in part.findings if 'mimics' in it.message or 'not read' in it.message]

    assert importers(model) == ["robot 'tree'", "joint 'a_wag'"]
    assert importers(with_locked_joints(model, {'m_slide': 0.0})) == ["robot 'tree'", "joint 'a_wag'"]
    assert importers(with_locked_joints(model, {'a_wag': 0.0})) == ["robot 'tree'"]
    assert importers(with_attached(model_from_urdf(TREE), model, 'flag', prefix='b_')) == [
        "robot 'tree'",
        "joint 'b_a_wag'",
    ]


REFUSED = {
    'joint': (UnknownNameError, "no joint 'boom'; there are z_turn", lambda m: with_locked_joints(m, {'boom': 0.0})),
    'position': (ArgumentError, 'positions: a_wag: expected', lambda m: with_locked_joints(m, {'a_wag': np.nan})),
    'positions': (ArgumentError, 'positions: expected a mapping', lambda m: with_locked_joints(m, [0.0])),
    'base': (UnknownNameError, "no link 'a_wag'; there are", lambda m: cut(m, 'a_wag')),
    'tip': (UnknownNameError, "no link 'nowhere'", lambda m: cut(m, tip_link='nowhere')),
    'no name': (UnknownNameError, 'no link 3', lambda m: cut(m, base_link=3)),
    'upwards': (ArgumentError, "tip_link: 'boom' does not move on 'flag'", lambda m: cut(m, 'flag', 'boom')),
    'across': (ArgumentError, "tip_link: 'tool' does not move on 'flag'", lambda m: cut(m, 'flag', 'tool')),
    'link': (UnknownNameError, "no link 'x'", lambda m: with_attached(m, m, 'x')),
    'pose': (ArgumentError, 'pose: expected finite', lambda m: with_attached(m, m, 'flag', np.eye(3))),
    'prefix': (ArgumentError, 'prefix: expected text, got 7', lambda m: with_attached(m, m, 'flag', prefix=7)),
    'joint twice': (ModelError, "joint 'z_turn': both", lambda m: with_attached(m, m, 'flag')),
    'link twice': (ModelError, "link 'mast': both", lambda m: with_attached(m, renamed(m), 'flag')),
}  # fmt: skip


def renamed(model: Model) -> Model:
    """Return the model with other names for its joints alone."""
    return dataclasses.replace(model, joint_names=tuple('b_' + name for name in model.joint_names))


@pytest.mark.parametrize(('error', 'culprit', 'call'), REFUSED.values(), ids=REFUSED.keys())
def test_an_edit_of_the_model_is_refused_by_name(error, culprit, call):
    with pytest.raises(error) as caught:
        call(model_from_urdf(TREE))
    assert type(caught.value) is error and str(caught.value).startswith(culprit)
