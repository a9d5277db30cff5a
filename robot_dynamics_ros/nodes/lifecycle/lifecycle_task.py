"""Interface of a node's work: what its lifecycle transitions call, from activation to deactivation."""


class LifecycleTask:
    """Begins with the activation of its node and ends with the deactivation; here it does nothing.

    The node's executor calls the methods, ``halt`` any thread.
    """

    silence = 'no input yet'
    """Why an active node publishes nothing, '' where it publishes."""

    def prepare(self) -> None:
        """Apply parameters that act at activation; DynamicsError where one is wrong: the node is not activated."""

    def replace(self, before: 'LifecycleTask') -> None:
        """End ``before``, the task of another description of the robot, and continue it where that makes sense."""
        before.end()

    def begin(self) -> None:
        """Begin to publish."""

    def end(self) -> None:
        """Stop publishing."""

    def halt(self, reason: str) -> None:
        """Publish nothing until ``begin``, after an exception in whatever thread."""

    def warnings(self) -> list[str]:
        """Return what is wrong although the node publishes, and what to do: the diagnostics become a warning."""
        return []

    def errors(self) -> list[str]:
        """Return what is worse than the warnings, which are asked first: the diagnostics become an error."""
        return []

    def report(self) -> dict[str, str]:
        """Return the task's fields of the diagnostics."""
        return {}
