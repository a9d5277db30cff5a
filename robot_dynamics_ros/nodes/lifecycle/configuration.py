"""Makes the task of a configured node, and another one in its place when the robot is described otherwise."""

from contextlib import ExitStack

from robot_dynamics_ros.control.arm.described_arm import same_robot
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot

ANOTHER = 'another robot description: the node is configured again'


def made_task(node) -> LifecycleTask:
    """Return the task of the robot of ``node``, a BaseNode; DynamicsError says why there is none."""
    node.model_digest = node.robot.digest
    node.get_logger().info(f'{node.robot.name}: {node.robot.nv} joints')
    return node.make_task()


def redescribe(node) -> str:
    """Let a configured ``node`` use another description of its robot; return why it refuses it.

    One that is refused changes nothing, and neither does the same robot. Another one is made into a robot and a task
    beside those in use, which end only when the new ones are complete.
    """
    before = node.robot, node.model_digest, node.locked_joint_names, node.locked_joints, node.resources
    node.resources = ExitStack()
    try:
        node.robot = load_robot(node, node.description.source())
        changes = not same_robot(node.robot, before[0]) or node.locked_joint_names != before[2]
        if changes:
            node.get_logger().info(ANOTHER)
            task = made_task(node)
            if node.active:
                task.prepare()
    except Exception as error:  # the node goes on as it is
        changes, refusal = False, reason_of(error)
    else:
        refusal = ''
    if changes:
        node.replace_task(task)
        before[-1].close()
        node.diagnostics.publish(ANOTHER)
    else:
        node.resources.close()
        node.robot, node.model_digest, node.locked_joint_names, node.locked_joints, node.resources = before
    return refusal


def reason_of(error: Exception) -> str:
    """Return why a node can't be configured, in one line."""
    return str(error) if isinstance(error, DynamicsError) else f'internal error: {error!r}'
