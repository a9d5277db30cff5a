"""A lifecycle node whose callbacks cannot end the process."""

from functools import wraps

from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode


class GuardedNode(LifecycleNode):
    """Every callback of a timer, subscription or service is guarded: an exception is passed to ``crashed``."""

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
        """Create a timer out of which no exception comes."""
        return super().create_timer(period, self.guarded(callback), *arguments, **options)

    def create_subscription(self, kind, topic, callback, *arguments, **options):
        """Create a subscription out of which no exception comes."""
        return super().create_subscription(kind, topic, self.guarded(callback), *arguments, **options)

    def create_service(self, kind, name, callback, *arguments, **options):
        """Create a service out of which no exception comes: rclpy's own, for parameters, raise at a type unknown."""

        def guard(request, response):
            try:
                return callback(request, response)
            except Exception as error:
                self.get_logger().error(f'{name}: request refused: {error!r}')
                return response

        return super().create_service(kind, name, guard, *arguments, **options)
