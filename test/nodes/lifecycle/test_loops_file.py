"""The parameter loops: a file beside the description, which stays the one that RViz shows."""

from support.nodes.loader_stand_in import StandIn
from support.robots.cut_four_bar import PIN_OF_COUPLER, PIN_OF_ROCKER, closed_at, cut_four_bar

import pytest

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import definitions_of, groups_by_node
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a section loops and returns the path of its file."""

    def write(section):
        path = tmp_path / 'loops.yaml'
        path.write_text(f'loops: {section}', encoding='utf-8')
        return str(path)

    return write


def test_every_node_has_the_parameter():
    for node in groups_by_node():
        (found,) = [it for it in definitions_of(node) if it.name == 'loops']
        assert (found.type, found.default) == ('string', '')


def test_a_joint_that_the_file_couples_follows_its_leader(written):
    path = written('{couplings: [{joint: rocker, other: crank, polynomial: [0.1, -2.0]}]}')
    node = StandIn(loops=path)
    robot = load_robot(node, cut_four_bar())
    assert (robot.joint_names, robot.followers) == (('crank', 'coupler'), ('rocker',))
    assert robot.positions([0.5, 0.3]) == pytest.approx([0.5, 0.3, 0.1 - 1.0])
    assert node.locked_joint_names == ('rocker',)


def test_a_node_that_serves_loops_gets_the_closures(written):
    poses = (
        f'pose_a: {{xyz: [{PIN_OF_COUPLER.replace(" ", ", ")}]}}, pose_b: {{xyz: [{PIN_OF_ROCKER.replace(" ", ", ")}]}}'
    )
    node = StandIn(loops=written(f'{{closures: [{{name: pin, link_a: coupler_link, link_b: rocker_link, {poses}}}]}}'))
    node.serves_loops, node.reads_joint_states = True, False
    robot = load_robot(node, cut_four_bar())
    assert [it.name for it in robot.loops.closures] == ['pin']
    assert robot.loop_errors(closed_at(0.4)) == pytest.approx(0.0, abs=1e-15)


def test_a_wrong_file_is_refused_by_name(written):
    path = written('{couplings: [{joint: rokcer, other: crank, polynomial: [0.0, 1.0]}]}')
    with pytest.raises(ModelError, match=r"loops\.yaml: coupling of joint 'rokcer': no joint 'rokcer'"):
        load_robot(StandIn(loops=path), cut_four_bar())
