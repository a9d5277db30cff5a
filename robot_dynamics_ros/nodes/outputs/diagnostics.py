"""Publisher of ``/diagnostics`` of a configured node; ``doc/concepts/diagnostics.md`` lists all fields."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

PERIOD = 1.0
"""s of the steady clock: a simulation that pauses is no reason to publish nothing."""


class Diagnostics:
    """Publishes one DiagnosticStatus a second: why the node publishes nothing else, and the figures of its task."""

    def __init__(self, node):
        """Publish for a BaseNode until ``destroy``; another description of its robot changes nothing here."""
        self._node = node
        self.publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.timer = node.create_timer(PERIOD, self.on_timer, clock=node.steady_clock)

    def destroy(self) -> None:
        """Destroy publisher and timer."""
        self._node.destroy_timer(self.timer)
        self._node.destroy_publisher(self.publisher)

    def on_timer(self) -> None:
        """Check the clock, log what was refused and publish."""
        self._node.clock_watch.look()
        self._node.log_refusal()
        self.publish()

    def publish(self, event: str = '') -> None:
        """Publish the status; fields that can't be computed are an error of their own.

        ``event`` is what has just happened, a warning of this status alone.
        """
        node = self._node
        try:
            fields, warnings, errors = node.task.report(), node.task.warnings(), node.task.errors()
            warnings += [*node.description.warnings(), *filter(None, [event])]
            said = '; '.join(filter(None, [node.silence, *errors, *warnings]))
            level, message = self._level(warnings, errors), said or 'publishing'
        except Exception as error:  # the node goes on, whatever can't be reported
            fields, level, message = {}, DiagnosticStatus.ERROR, f'diagnostics failed: {error!r}'
            node.get_logger().error(message, throttle_duration_sec=60.0)
        status = DiagnosticStatus(
            level=level,
            name=node.get_fully_qualified_name(),
            message=message,
            hardware_id=node.robot.name,
            values=[KeyValue(key=key, value=value) for key, value in {**self._identity(), **fields}.items()],
        )
        array = DiagnosticArray(status=[status])
        array.header.stamp = node.get_clock().now().to_msg()
        self.publisher.publish(array)

    def publish_error(self, reason: str) -> None:
        """Publish ``reason`` as an error, unless the node has been cleaned up: its process is about to end."""
        self._node.crash = reason
        if self._node.robot is not None:
            self.publish()

    def _identity(self) -> dict[str, str]:
        """Return the fields that say which robot the node computes, and since which activation."""
        node = self._node
        return {
            'model': node.robot.name,
            'model digest': node.model_digest,
            'joints': ' '.join(node.robot.joint_names),
            'activations': str(node.activations),
        }

    def _level(self, warnings: list[str], errors: list[str]) -> bytes:
        """Return the diagnostic level, with ``warnings`` and ``errors`` of the task."""
        if self._node.crash or errors:
            return DiagnosticStatus.ERROR
        return DiagnosticStatus.WARN if self._node.silence or warnings else DiagnosticStatus.OK
