"""A simulated arm that touches a table and a wall: the force is the commanded one, and the frame stays outside."""

from support.robots.small_robots import AUBO

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.simulation.plant.mujoco_arm import MujocoArm
from robot_dynamics_ros.simulation.plant.mujoco_plant import FRICTION
from robot_dynamics_ros.simulation.plant.surfaces import Surfaces

START, FRAME = np.array([0.1, -0.7, 0.9, -0.1, 0.8, 0.0]), 'ee_link'
ARM = AUBO.with_friction(viscous=0.0, coulomb=0.0)
PLACE = ARM.link_pose(START, FRAME)[:3, 3]


def touching(planes, frame=FRAME):
    arm = MujocoArm(ARM, 1e-3, START, surfaces=Surfaces(np.ravel(planes), frame))
    arm.brakes = False
    return arm


def settled(arm, force, seconds=3.0):
    """Push the frame with a force (3, N) beside gravity and dampers of the joints; return where it is then."""
    for _ in range(round(seconds * 1e3)):
        q, qd = arm.position, arm.velocity
        arm.torque[:] = (
            ARM.gravity_torque(q) + ARM.jacobian(q, FRAME)[3:].T @ force - [60.0, 60.0, 30.0, 3.0, 3.0, 3.0] * qd
        )
        arm.step()
    return ARM.link_pose(arm.position, FRAME)[:3, 3]


@pytest.mark.compiled
@pytest.mark.parametrize('turn', [0.0, 0.6])
def test_a_frame_that_is_pressed_against_a_surface_stays_outside_and_is_pushed_back_as_much(turn):
    normal = np.array([np.sin(turn), 0.0, np.cos(turn)])
    height = normal @ PLACE - 0.02
    arm = touching([*(3.0 * normal), height])  # of any length
    assert not arm.contact_force.any()
    place = settled(arm, -20.0 * normal)
    assert normal @ place == pytest.approx(height, abs=1e-3)
    force = arm.contact_force
    assert normal @ force == pytest.approx(20.0, rel=0.05)  # the frame creeps along the surface
    assert np.linalg.norm(force - normal @ force * normal) < 1.01 * FRICTION * (normal @ force)
    settled(arm, 20.0 * normal, 1.0)
    assert not arm.contact_force.any()


@pytest.mark.compiled
def test_a_frame_in_a_corner_feels_both_surfaces():
    arm = touching([[0.0, 0.0, 1.0, PLACE[2] - 0.01], [-1.0, 0.0, 0.0, -PLACE[0] - 0.01]])
    place = settled(arm, np.array([15.0, 0.0, -10.0]))
    assert place[[0, 2]] == pytest.approx([PLACE[0] + 0.01, PLACE[2] - 0.01], abs=1e-3)
    np.testing.assert_allclose(arm.contact_force[[0, 2]], [-15.0, 10.0], atol=FRICTION * 10.0)  # of one along the other


@pytest.mark.compiled
def test_an_arm_that_touches_nothing_moves_as_without_surfaces():
    arm, free = touching([0.0, 0.0, 1.0, -9.0]), MujocoArm(ARM, 1e-3, START)
    free.brakes = False
    for each in (arm, free):
        each.torque[:] = [5.0, -20.0, 3.0, 0.5, -0.5, 0.1]
        each.step(300)
    np.testing.assert_allclose(arm.position, free.position, rtol=0.0, atol=1e-9)
    assert np.abs(arm.position - START).max() > 0.1


@pytest.mark.parametrize(
    ('planes', 'reason'),
    [
        ([0.0, 0.0, 1.0], r'^surfaces: expected four numbers \(x, y, z, d\) for each plane, got 3'),
        ([0.0, 0.0, 1.0, np.nan], r'^surfaces\[3\]: nan is not finite'),
        ([[0.0, 0.0, 1.0, -9.0], [0.0, 0.0, 0.0, 1.0]], '^surfaces: plane 2: expected a normal, got 0 0 0'),
        ([0.0, 0.0, 1.0, PLACE[2] + 0.25], "^surfaces: 'ee_link' begins 0.25 m behind plane 1"),
    ],
)
def test_wrong_surfaces_are_refused_by_name(planes, reason):
    with pytest.raises(ArgumentError, match=reason):
        touching(planes)
    with pytest.raises(UnknownNameError, match='nose'):
        touching([0.0, 0.0, 1.0, -9.0], 'nose')
