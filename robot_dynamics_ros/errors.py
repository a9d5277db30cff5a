"""Exceptions of the library. Each names the argument or element, what was expected and what was found."""

import difflib
from collections.abc import Iterable

LONGEST_NAME = 200
"""Characters of a name that are compared with known ones."""


class DynamicsError(Exception):
    """Base of all exceptions of this package."""


class InputError(DynamicsError):
    """Base of exceptions that quote input: the message is one printable line, whatever the input contains."""

    LONGEST = 2000
    """Maximum characters of a message; it may list the joints of a humanoid."""

    def __str__(self) -> str:
        """Return the message for log lines, with control characters escaped."""
        text = ' '.join(map(str, self.args))
        shown = ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text[: self.LONGEST])
        return shown if len(text) <= self.LONGEST else f'{shown}...'


class ModelError(InputError, ValueError):
    """An invalid or unsupported robot description; the message names the link, joint or attribute."""


class ArgumentError(InputError, ValueError):
    """An argument of wrong shape, type or value; the message names the argument."""


class LoopError(InputError, ValueError):
    """A closed loop that stays open; the message names the loop."""


class SingularError(InputError, ValueError):
    """A singular position, where the result does not exist; the message names the argument and the link."""


class UnstableError(InputError):
    """A simulation that diverges; the message names the joint with the largest torque."""


class UnknownNameError(InputError, KeyError):
    """An unknown joint, link or robot name; the message lists the known ones."""


class ControllerError(InputError):
    """A robot's controller that cannot be reached, or says what cannot be used; the message says what."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return 'did you mean ...?' with the known name that is nearest to a wrong one, '' where none is near."""
    near = difflib.get_close_matches(str(name)[:LONGEST_NAME], list(known), 1)
    return f'did you mean {near[0]!r}?' if near else ''


def alternatives(name: str, known: Iterable[str]) -> str:
    """Return the nearest of the known names, if any is near, and all of them."""
    known = list(known)
    listed = f'there are {", ".join(known) or "none"}'
    near = nearest(name, known)
    return f'{near} T{listed[1:]}' if near else listed
