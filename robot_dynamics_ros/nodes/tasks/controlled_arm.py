"""The arm that a torque node controls: robot with current payload and gravity, torque limits, compensation policy."""

from collections.abc import Callable, Mapping

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.guards.torque_limiter import effort_limits, rate_limits
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.terms.compensation_policy import CompensationPolicy
from robot_dynamics_ros.control.terms.torque_scale import torque_scales
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.outputs.torque_publishers import command_order
from robot_dynamics_ros.nodes.process.realtime import cores_of


class ControlledArm:
    """``payload_gravity`` is payload and gravity in force, ``gravity`` the blended gravity torque.

    ``policy`` says which terms the node adds, ``effort_limit`` (n, N m) and ``rate_limit`` (n, N m/s) bound them.
    ``torque_scale`` (n) is the torque that a motor executes over the one that it is sent; ``fade_in_time`` is in s,
    0 for a node without this parameter.
    """

    def __init__(self, node, wanted=('',)):
        """Read the parameters of ``node``, a BaseNode; ``wanted`` are the terms that are asked for, [''] all.

        DynamicsError names the parameter that is wrong, or a closed loop: torques are those of a tree of joints.
        """
        self.robot, self.digest = node.robot, node.model_digest
        check_tree(self.robot.model, node.get_name())
        names = self.robot.joint_names
        self.policy = CompensationPolicy(node.value('preset'), node.value('gravity_owner'), wanted)
        self.effort_limit = effort_limits(node.value('effort_limit'), self.robot.limits.effort, names)
        self.rate_limit = rate_limits(node.value('rate_limit'), names)
        self.torque_scale = torque_scales(node.value('torque_scale'), self.robot.nv)
        stated = node.value('fade_in_time') if node.has_parameter('fade_in_time') else 0.0
        check_fade_in_time(stated)
        self.fade_in_time = self.policy.fade_in_time if stated < 0.0 else stated
        self.payload_gravity = PayloadGravityInput(node, node.value('await_payload_gravity'))
        self.gravity = self.blended(GravityTorque)

    def blended(self, make) -> PayloadBlender:
        """Return the law ``make(robot)`` blended over payload and gravity, which it follows from now on."""
        blender = PayloadBlender(make, self.robot, self.payload_gravity.current)
        self.payload_gravity.follow(blender.take)
        return blender

    def drop_laws(self) -> None:
        """Let payload and gravity be followed by ``gravity`` alone: the other laws are made again."""
        self.payload_gravity.laws = [self.gravity.take]


def check_fade_in_time(stated: float) -> None:
    """Raise ArgumentError where a fade-in time (s) is neither -1, for that of the preset, nor at least 0."""
    if stated < 0.0 and stated != -1.0:
        raise ArgumentError(f'fade_in_time: expected -1 or at least 0, got {stated:g}')


def check_acceleration_limit(node, stated) -> None:
    """Raise ArgumentError for acceleration limits that are neither one number nor one for each joint of ``node``."""
    validation.of_each_joint('acceleration_limit', stated, node.robot.nv, zero=True)


def torque_checks(node) -> Mapping[str, Callable]:
    """Return the checks of parameters that torque nodes share, by name."""
    return {
        'effort_limit': lambda limits: effort_limits(limits, node.robot.limits.effort, node.robot.joint_names),
        'rate_limit': lambda limits: rate_limits(limits, node.robot.joint_names),
        'torque_scale': lambda scales: torque_scales(scales, node.robot.nv),
        'command_joints': lambda names: command_order(node.robot, names),
        'cores': cores_of,
    }
