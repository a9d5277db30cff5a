"""Errors of the library. Each names the culprit, what was expected and what was found."""


class DynamicsError(Exception):
    """Base of every error that this package raises on purpose."""


class ModelError(DynamicsError, ValueError):
    """A robot description that can't be represented; the text names the link, joint or attribute."""


class ArgumentError(DynamicsError, ValueError):
    """An argument of wrong shape, type or value; the text names the argument."""


class SingularError(DynamicsError, ValueError):
    """A position at which what was asked for does not exist; the text names the argument and the link."""


class UnknownNameError(DynamicsError, KeyError):
    """A joint, link or robot name that does not exist; the text lists those that do."""

    def __str__(self):
        """Return the text itself (a KeyError would show it quoted)."""
        return self.args[0]
