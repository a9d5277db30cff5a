"""Errors of the library. Each names the culprit, what was expected and what was found."""


class DynamicsError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(DynamicsError):
    """Base of errors that name what came from outside: the text is one printable line, whatever that was."""

    LONGEST = 2000
    """Characters of a text, which may have to list the names of a humanoid."""

    def __str__(self):
        """Return the text, which log lines show, with control characters escaped."""
        text = ' '.join(map(str, self.args))
        shown = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text[: self.LONGEST])
        return shown if len(text) <= self.LONGEST else f'{shown}...'


class ModelError(InputError, ValueError):
    """A robot description that can't be represented; the text names the link, joint or attribute."""


class ArgumentError(InputError, ValueError):
    """An argument of wrong shape, type or value; the text names the argument."""


class SingularError(InputError, ValueError):
    """A position at which what was asked for does not exist; the text names the argument and the link."""


class UnknownNameError(InputError, KeyError):
    """A joint, link or robot name that does not exist; the text lists those that do."""
