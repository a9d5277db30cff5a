"""Where a node's robot is described, and what a description that comes later does."""

from collections.abc import Callable

from robot_dynamics_ros.errors import ModelError

NO_ROBOT = (
    "no robot: set the parameter model (path of a URDF, SDF, MJCF or YAML file, or a bundled robot's name),"
    ' robot_description (URDF as text) or description_topic (topic with that text, such as robot_description)'
)


class RobotDescription:
    """Where a node's robot is described: a topic, or the parameters robot_description and model."""

    def __init__(self, node, subscribe: Callable, redescribe: Callable[[], str]):
        """Subscribe to the topic that ``node``, a BaseNode, names in its parameter description_topic, if any.

        ``subscribe(topic, callback)`` is called for that: the type of its messages is one of ROS. ``redescribe()`` lets
        the configured node use ``source`` again, and returns why it refuses that.
        """
        self._node, self._redescribe = node, redescribe
        self._published: str | None = None  # nothing yet
        self.refused = ''  # why the newest description is not used, where the node goes on with another one
        # what a description does with an unconfigured node; None: somebody has cleaned it up
        self._on_description: Callable[[], object] | None = node.start if node.value('autostart') else None
        self._topic = node.value('description_topic')
        if self._topic:
            subscribe(self._topic, self.on_message)

    @property
    def awaited(self) -> str:
        """Why there is no description yet: its topic has published none; '' otherwise."""
        waits = self._topic and self._published is None
        return f'waiting for a robot description on topic {self._topic!r}' if waits else ''

    def source(self) -> str:
        """Return text or path of a URDF, path of an SDF, MJCF or YAML file, or a robot's name.

        ModelError where no parameter names a robot, or nothing came on the topic yet.
        """
        if self.awaited:
            raise ModelError(self.awaited)
        if self._topic and '<' not in (self._published or ''):
            # nobody on the graph names files that this process reads
            raise ModelError(f'topic {self._topic!r}: expected the text of a URDF, got {self._published!r:.80}')
        stated = self._published or self._node.value('robot_description') or self._node.value('model')
        if not stated:
            raise ModelError(NO_ROBOT)
        return stated

    def on_message(self, message) -> None:
        """Use a new description: a configured node does so at once, and stays active or inactive.

        One that it refuses is dropped. A node that could not be configured is started again.
        """
        node, before = self._node, self._published
        if message.data == before:
            self.refused = ''
            return
        self._published = message.data
        if node.robot is None:
            if self._on_description is not None:
                self._on_description()
            return
        self.refused = self._redescribe()
        if self.refused:
            self._published = before
            node.get_logger().warning(self.warnings()[0])

    def on_cleanup(self) -> None:
        """Ignore later descriptions: the node stays unconfigured."""
        self._on_description = None

    def warnings(self) -> list[str]:
        """Return that the newest description is refused, and why."""
        return [f'robot description refused, the robot before stays: {self.refused}'] if self.refused else []
