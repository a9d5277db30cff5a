"""Elements beside <gazebo> that close a loop of a URDF: of urdfdom's proposal, URDF-Parser, Isaac Sim and Drake."""

from support.robots.cut_four_bar import PIN_OF_COUPLER, PIN_OF_ROCKER, closed_at, cut_four_bar

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError

CUT = (
    f'<constraint name="pin" type="revolute"><parent link="coupler_link"/><parent_origin xyz="{PIN_OF_COUPLER}"/>'
    '<parent_axis xyz="0 0 2"/><child link="rocker_link"/>'
    f'<child_origin xyz="{PIN_OF_ROCKER}" rpy="0.7 0 0"/><child_axis xyz="0 0.644217687237691 0.7648421872844885"/>'
    '</constraint>'
)
PARSER = (
    f'<constraint name="pin" type="position"><predecessor link="coupler_link"><origin xyz="{PIN_OF_COUPLER}"/>'
    f'</predecessor><successor link="rocker_link"><origin xyz="{PIN_OF_ROCKER}"/></successor></constraint>'
)
LOOP_JOINT = (
    '<loop_joint name="pin" type="revolute">'
    f'<link1 link="coupler_link" xyz="{PIN_OF_COUPLER}" rpy="0 1.5707963267949 0"/>'
    f'<link2 link="rocker_link" xyz="{PIN_OF_ROCKER}" rpy="0 1.5707963267949 0"/><axis xyz="-1 0 0"/></loop_joint>'
)
BALL = (
    '<drake:ball_constraint><drake:ball_constraint_body_A name="coupler_link"/>'
    f'<drake:ball_constraint_p_AP value="{PIN_OF_COUPLER}"/><drake:ball_constraint_body_B name="rocker_link"/>'
    f'<drake:ball_constraint_p_BQ value="{PIN_OF_ROCKER}"/></drake:ball_constraint>'
)
SPHERICAL = LOOP_JOINT.replace('revolute', 'spherical')
CLOSED = {
    'urdfdom, revolute': (CUT, 'revolute', 'pin'),
    'urdfdom, spherical': (CUT.replace('revolute', 'spherical'), 'point', 'pin'),
    'urdfdom, in capitals': (CUT.replace('revolute', 'SPHERICAL'), 'point', 'pin'),
    'URDF-Parser': (PARSER, 'point', 'pin'),
    'Isaac Sim': (SPHERICAL, 'point', 'pin'),
    'Isaac Sim, as its documentation prints it': (SPHERICAL.replace('link2', 'link1'), 'point', 'pin'),
    'old Drake': (LOOP_JOINT, 'revolute', 'pin'),
    'Drake': (BALL, 'point', 'drake:ball_constraint 1'),
}


@pytest.mark.parametrize(('element', 'kind', 'name'), CLOSED.values(), ids=CLOSED)
def test_it_closes_the_parallelogram(element, kind, name):
    robot = Robot.from_urdf(cut_four_bar(element))
    (closure,) = robot.loops.closures
    assert (closure.kind, closure.name) == (kind, name)
    assert (closure.link_a, closure.link_b) == ('coupler_link', 'rocker_link')
    for x in (0.0, 0.3, -1.1):
        assert robot.loop_errors(closed_at(x)) == pytest.approx(0.0, abs=1e-12)
        assert robot.mobility(closed_at(x)) == 1
    assert abs(robot.loop_errors([0.3, 0.1, 0.3])).max() > 0.1
    assert not [it for it in robot.findings if 'not read' in it.message]


@pytest.mark.parametrize(
    'element', [CUT.replace('revolute', 'link'), LOOP_JOINT.replace('revolute', 'fixed')], ids=['a cut link', 'fixed']
)
def test_what_holds_whole_frames_is_a_weld(element):
    assert Robot.from_urdf(cut_four_bar(element)).loops.closures[0].kind == 'weld'


def test_without_an_axis_of_the_child_it_is_that_of_the_parent():
    (closure,) = Robot.from_urdf(cut_four_bar(CUT.replace('child_axis', 'x'))).loops.closures
    assert closure.pose_b[1:3, 2] == pytest.approx([-0.644217687237691, 0.7648421872844885])


def test_the_default_axis_of_a_loop_joint_is_x():
    robot = Robot.from_urdf(cut_four_bar(LOOP_JOINT.replace('<axis xyz="-1 0 0"/>', '')))
    assert robot.mobility(closed_at(0.3)) == 1


OPEN = {
    'universal': (
        CUT,
        '"revolute"',
        '"universal"',
        "its type is 'universal', and the loop stays open: only revolute, s",
    ),
    'rolling': (
        PARSER,
        '"position"',
        '"rolling"',
        "its type is 'rolling', and the loop stays open: only position is r",
    ),
    'prismatic': (
        LOOP_JOINT,
        '"revolute"',
        '"prismatic"',
        "its type is 'prismatic', and the loop stays open: only sph",
    ),
    'no child': (CUT, '<child link="rocker_link"/>', '', 'the loop stays open: <child> is missing'),
    'no axis': (CUT, '<parent_axis xyz="0 0 2"/>', '', 'the loop stays open: <parent_axis> is missing'),
    'no successor': (PARSER, 'successor', 'x', 'the loop stays open: <successor> is missing'),
    'one link': (LOOP_JOINT, 'link2', 'x', 'the loop stays open: expected <link1> and <link2>, got 1 of them'),
    'an unknown link': (PARSER, '"rocker_link"', '"rocker"', "it closes no loop: link_b: no link 'rocker'; did you"),
    'no point': (BALL, 'p_BQ', 'x', 'the loop stays open: <drake:ball_constraint_p_BQ> is missing'),
}


@pytest.mark.parametrize(('element', 'old', 'new', 'why'), OPEN.values(), ids=OPEN)
def test_what_cannot_be_read_leaves_the_loop_open_with_a_finding(element, old, new, why):
    robot = Robot.from_urdf(cut_four_bar(element.replace(old, new)))
    assert not robot.loops.all
    name = 'drake:ball_constraint 1' if element is BALL else 'pin'
    assert next(it.message for it in robot.findings if it.where == f'loop {name!r}').startswith(why)


NO_CONSTRAINT = {
    'drake:linear_bushing_rpy': 'it is a spring and a damper between two frames, not a constraint',
    'drake:linear_spring_damper': 'it is a spring and a damper between two points',
    'drake:tendon_constraint': 'it limits a sum of joint positions softly',
    'loop': 'URDF+ has it for a joint that closes a loop, and it is not read',
    'coupling': 'URDF+ has it for joints that move together, and it is not read',
}


@pytest.mark.parametrize(('tag', 'why'), NO_CONSTRAINT.items())
def test_what_is_no_constraint_is_named_with_the_reason(tag, why):
    robot = Robot.from_urdf(cut_four_bar(f'<{tag} name="n"/><{tag}/>'))
    found = [it for it in robot.findings if it.where in (f"{tag} 'n'", f"{tag} '{tag} 2'")]
    assert len(found) == 2 and all(it.message.startswith(why) for it in found) and not robot.loops.all


WRONG = {
    'no name of a link': (CUT, 'link="rocker_link"', '', "loop 'pin': <child>: attribute 'link' is missing"),
    'an axis without xyz': (CUT, '<parent_axis xyz', '<parent_axis x', "loop 'pin': <parent_axis>: attribute 'xyz' is"),
    'an axis of zero': (
        CUT,
        '"0 0 2"',
        '"0 0 0"',
        'loop \'pin\': <parent_axis xyz="0 0 0">: the axis has no direction',
    ),
    'words': (BALL, f'value="{PIN_OF_COUPLER}"', 'value="a b c"', "loop 'drake:ball_constraint 1': <drake:ball_constr"),
    'a point without value': (BALL, f' value="{PIN_OF_COUPLER}"', '', "loop 'drake:ball_constraint 1': <drake:ball_co"),
}


@pytest.mark.parametrize(('element', 'old', 'new', 'culprit'), WRONG.values(), ids=WRONG)
def test_wrong_numbers_and_names_are_refused(element, old, new, culprit):
    with pytest.raises(ModelError) as error:
        Robot.from_urdf(cut_four_bar(element.replace(old, new)))
    assert str(error.value).startswith(f'robot description: {culprit}')


@pytest.mark.parametrize('name', ['closing_pin_{}', 'closedloop1_{}', 'closedloop_left_1{}', 'leg_cl1_{}'])
def test_links_whose_names_say_that_a_loop_is_cut_are_a_finding(name):
    one, two = (name.format(side) for side in ('AB' if 'closedloop' in name else '12'))
    ends = ''.join(
        f'<link name="{side}"/><joint name="to_{side}" type="fixed"><parent link="{link}_link"/>'
        f'<child link="{side}"/><origin xyz="{place}"/></joint>'
        for side, link, place in ((one, 'coupler', PIN_OF_COUPLER), (two, 'rocker', PIN_OF_ROCKER))
    )
    where = f'link {one!r}'
    (found,) = [it for it in Robot.from_urdf(cut_four_bar(ends)).findings if it.where == where]
    assert f"by its name and '{two}' a loop is cut here, which stays open" in found.message
    stated = f'<loop_joint type="spherical"><link1 link="{one}"/><link2 link="{two}"/></loop_joint>'
    robot = Robot.from_urdf(cut_four_bar(ends + stated))
    assert robot.loops.closures[0].name == 'loop_joint 1'
    assert not [it for it in robot.findings if it.where == where]


def test_joints_whose_names_say_that_a_loop_is_cut_are_a_finding_with_their_links():
    spheres = ''.join(
        f'<link name="sphere_{side}"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" '
        f'ixz="0" iyz="0"/></inertial></link><joint name="closedloop1_{side}" type="continuous"><axis xyz="0 0 1"/>'
        f'<parent link="{link}_link"/><child link="sphere_{side}"/><origin xyz="{place}"/></joint>'
        for side, link, place in (('A', 'coupler', PIN_OF_COUPLER), ('B', 'rocker', PIN_OF_ROCKER))
    )
    (found,) = [it for it in Robot.from_urdf(cut_four_bar(spheres)).findings if 'a loop is cut here' in it.message]
    assert found.where == "joint 'closedloop1_A'"
    assert found.message.endswith("state it in a loops file, between their links 'sphere_A' and 'sphere_B'")
    stated = '<loop_joint type="spherical"><link1 link="sphere_A"/><link2 link="sphere_B"/></loop_joint>'
    robot = Robot.from_urdf(cut_four_bar(spheres + stated))
    assert not [it for it in robot.findings if 'a loop is cut here' in it.message]


def test_a_cut_that_a_loops_file_closes_is_no_finding(tmp_path):
    ends = ''.join(
        f'<link name="closing_pin_{side}"/><joint name="to_{side}" type="fixed"><parent link="{link}_link"/>'
        f'<child link="closing_pin_{side}"/><origin xyz="{place}"/></joint>'
        for side, link, place in ((1, 'coupler', PIN_OF_COUPLER), (2, 'rocker', PIN_OF_ROCKER))
    )
    (tmp_path / 'loops.yaml').write_text(
        'loops: {closures: [{name: pin, link_a: closing_pin_1, link_b: closing_pin_2, kind: planar_point}]}'
    )
    (tmp_path / 'other.yaml').write_text('loops: {closures: [{name: pin, link_a: coupler_link, link_b: rocker_link}]}')
    text = cut_four_bar(ends)
    closed, still_open = (Robot.from_urdf(text, loops_file=tmp_path / f'{it}.yaml') for it in ('loops', 'other'))
    of_cuts = [it for it in Robot.from_urdf(text).findings if 'a loop is cut here' in it.message]
    assert len(of_cuts) == 1
    assert not set(of_cuts) & set(closed.findings)
    assert set(of_cuts) <= set(still_open.findings)
