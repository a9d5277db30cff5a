"""Joint states of mechanisms with closed loops, and clocks that are set back between them."""

from types import SimpleNamespace

from support.nodes import graph
from support.nodes.pipeline_parts import SECOND, Parts
from support.robots.driven_mechanisms import closed, positions_of
from support.robots.mechanisms import MECHANISMS

import pytest
from rclpy.serialization import serialize_message

from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.messages.joint_state import StateInput
from robot_dynamics_ros.nodes.tasks import torque_pipeline

PERIOD = 0.004


@pytest.mark.parametrize('ahead', [0.05, 5.0, -5.0])
def test_time_in_which_states_are_refused_is_one_without_states(ahead, monkeypatch):
    """The clock of the node is ahead, or behind until that of the driver is set back, too."""
    robot, steady = closed('four-bar, revolute'), [100.0]
    monkeypatch.setattr(torque_pipeline, 'time', SimpleNamespace(monotonic=lambda: steady[0]))
    parts = Parts(state=StateInput(robot.joint_names, robot))
    monkeypatch.setattr(parts.pipeline, '_refuse', lambda reason: None)

    def states(count: int, of_node: float = 0.0, of_driver: float = 0.0) -> str:
        """Give states of a mechanism at home; return why the last one got no torque."""
        for _ in range(count):
            steady[0] += PERIOD
            parts.time = round((400.0 + steady[0] + of_node) * SECOND)
            stamp = round((400.0 + steady[0] + of_driver) * SECOND)
            home = robot.following.home
            message = graph.joint_state(robot.joint_names, stamp, home.tolist(), [0.0])
            parts.pipeline.on_state(serialize_message(message))
        return parts.pipeline.silence

    behind = min(ahead, 0.0)
    assert states(20) == ''
    assert ('too old' if ahead > 0.0 else 'from the future') in states(500, of_node=ahead)
    assert 'activate again' in states(3, of_node=behind, of_driver=behind)
    parts.pipeline.begin()
    assert states(20, of_node=behind, of_driver=behind) == ''
    # a short time is known
    assert states(20, of_node=behind - 0.05, of_driver=behind - 0.05) == ''


@pytest.mark.parametrize(('back', 'lasts', 'goes_on'), [(50.0, 0.1, True), (3.0, 2.85, False), (3.0, 10.0, False)])
def test_a_clock_that_is_set_back_while_a_description_without_loops_is_in_force(back, lasts, goes_on):
    before, after = closed('palletizer'), closed('palletizer')
    home, positions = before.following.home, positions_of(before, before.following.home)
    tree = MECHANISMS['palletizer'].open.with_locked_joints(
        {f'{it.replace("_", " ")} joint': x for it, x in positions.items()}
    )
    assert tree.joint_names == before.joint_names
    inputs = [
        StateInput(before.joint_names, before),
        StateInput(tree.joint_names),
        StateInput(after.joint_names, after),
    ]
    clock = [100.0, 7.0]  # s, and a steady one

    def states(state: StateInput, duration: float) -> str:
        """Read states of a mechanism at home; return why the last one was refused."""
        said = ''
        for k in range(round(duration / PERIOD)):
            clock[:] = clock[0] + PERIOD, clock[1] + PERIOD
            y = (home + 1e-5 * (k % 2)).tolist()
            state.read(serialize_message(graph.joint_state(before.joint_names, round(clock[0] * SECOND), y, y)))
            try:
                state.follow(clock[1])
                said = ''
            except DynamicsError as error:
                said = str(error)
        return said

    assert states(inputs[0], 0.4) == ''
    inputs[1].continue_from(inputs[0])
    states(inputs[1], 0.1)
    clock[0] -= back
    inputs[1].clock_set_back()
    states(inputs[1], lasts)
    inputs[2].continue_from(inputs[1])
    assert (states(inputs[2], 0.1) == '') == goes_on
