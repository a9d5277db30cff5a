"""A lifecycle node whose callbacks cannot end the process."""

from functools import wraps

from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode
from rclpy.serialization import deserialize_message
from rclpy.time_source import CLOCK_TOPIC
from rosgraph_msgs.msg import Clock as ClockMessage

from robot_dynamics_ros.nodes.clock_reader import ClockReader
from robot_dynamics_ros.nodes.raw_executor import NoExecutor


class GuardedNode(LifecycleNode):
    """Every callback of a timer, subscription or service is guarded: an exception is passed to ``crashed``.

    A simulated clock goes on whatever the executor does: a thread of its own takes the messages on ``/clock``.
    """

    clock_reader: ClockReader | None = None

    def __init__(self, name: str, **options):
        """Create the node."""
        super().__init__(name, **options)
        # a simulation that pauses is no reason to say nothing
        self.steady_clock = Clock(clock_type=ClockType.STEADY_TIME)

    def crashed(self, error: Exception) -> None:
        """Handle an exception that a callback has raised."""
        raise NotImplementedError

    def guarded(self, callback):
        """Return ``callback`` as one that no exception leaves."""

        # rclpy asks the signature whether a callback takes information about the message, too
        @wraps(callback)
        def guard(*arguments):
            try:
                return callback(*arguments)
            except Exception as error:
                self.crashed(error)

        return guard

    def create_timer(self, period, callback, *arguments, **options):
        """Create a timer with a callback guard."""
        return super().create_timer(period, self.guarded(callback), *arguments, **options)

    def create_subscription(self, kind, topic, callback, *arguments, **options):
        """Create a subscription with a callback guard."""
        if topic == CLOCK_TOPIC:  # rclpy's own
            return self._create_clock_subscription(callback, *arguments)
        return super().create_subscription(kind, topic, self.guarded(callback), *arguments, **options)

    def destroy_subscription(self, subscription) -> bool:
        """Destroy a subscription."""
        if subscription.topic_name == CLOCK_TOPIC:
            self.clock_reader.destroy()
            self.clock_reader = None
        return super().destroy_subscription(subscription)

    def _create_clock_subscription(self, callback, qos):
        """Create the subscription of the simulated clock and start its thread."""

        def receive(data: bytes) -> None:
            callback(deserialize_message(data, ClockMessage))

        group = NoExecutor()
        subscription = super().create_subscription(
            ClockMessage, CLOCK_TOPIC, self.guarded(receive), qos, callback_group=group, raw=True
        )
        self.clock_reader = ClockReader(self, group, subscription)
        self.clock_reader.start()
        return subscription

    def create_service(self, kind, name, callback, *arguments, **options):
        """Create a service with a callback guard: rclpy's own, for parameters, raise at an unknown type."""

        def guard(request, response):
            try:
                return callback(request, response)
            except Exception as error:
                self.get_logger().error(f'{name}: request refused: {error!r}')
                return response

        return super().create_service(kind, name, guard, *arguments, **options)
