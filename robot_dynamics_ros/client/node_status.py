"""Status of a torque_controller on ``/diagnostics``; ``doc/concepts/diagnostics.md`` lists messages and fields."""

from enum import Enum
from typing import NamedTuple

from robot_dynamics_ros.client.errors import UnavailableError
from robot_dynamics_ros.client.values import FrameStiffness

SILENT = (
    'not active',
    'not activated:',
    'waiting for',
    'refused:',
    'no input yet',
    'no joint state for',
    'internal error:',
)
"""Beginnings of messages of a node that moves nothing. Others may be about the last state alone, or a warning: then the
count of torques says whether the node moves nothing."""
DROPPED = 'trajectory dropped:', 'trajectory refused:'
"""In messages of a node that has ended a trajectory, or did not begin it, although it had taken it."""
STILL = 0.75
"""Time without a torque after which a node moves nothing, s: less than from one status to the next, but more than to
one in between, as about another description."""
PUBLISHERS = ' publishers of '
"""In the warning that several nodes publish a topic; the name of the topic follows."""


class Kind(Enum):
    """Messages that a node counts together: one of them, and several."""

    MOTION = 'trajectory', 'trajectories'
    STIFFNESS = 'stiffness', 'stiffnesses'
    WRENCH = 'wrench', 'wrenches'


class Count(NamedTuple):
    """Messages of a kind since the node was configured."""

    taken: int
    refused: int


class NodeStatus:
    """One status of a node: ``words`` is its message, ``arrived`` the steady time of its arrival, s."""

    def __init__(self, message, arrived: float, before: 'NodeStatus | None'):
        """Read a DiagnosticStatus; ``before`` is the status before it."""
        self.words, self.arrived = message.message, arrived
        self._fields = {it.key: it.value for it in message.values}
        # a status just after an activation says nothing of torques since the one before
        is_same = before is not None and before.activations == self.activations and self._grown(before) == 0
        self._published: float = before._published if before and is_same else arrived  # torques until then at least
        self._is_still = arrived - self._published > STILL

    @property
    def is_complete(self) -> bool:
        """Whether the node could compute its fields, and is one that counts what it takes."""
        return 'trajectories taken' in self._fields

    @property
    def silence(self) -> str:
        """Why the node moves nothing, by its words or as it published no torque for a second; else ''."""
        if self.words.startswith(SILENT):
            return self.words
        return f'no torque published for a second, and it says: {self.words}' if self._is_still else ''

    @property
    def dropped(self) -> str:
        """Why a trajectory that was taken is not followed, in the node's words; '' for none."""
        return next((part for part in self.words.split('; ') if part.startswith(DROPPED)), '')

    @property
    def digest(self) -> str:
        """Of the model."""
        return self._fields.get('model digest', '')

    @property
    def activations(self) -> int:
        """How often the node has been activated."""
        return int(self._fields.get('activations', 0))

    @property
    def way(self) -> float:
        """Time of the way to the last pose, s; 0 where the pose belongs to a stream."""
        return float(self._fields.get('way to the last target pose, s') or 0.0)

    @property
    def stiffness(self) -> FrameStiffness:
        """The stiffness in force; UnavailableError where the control law has none."""
        return self._stiffness('in force')

    @property
    def wanted_stiffness(self) -> FrameStiffness:
        """The stiffness that this one follows; UnavailableError likewise."""
        return self._stiffness('wanted')

    @property
    def pushes(self) -> bool:
        """Whether a wrench is in force."""
        keys = 'force in force, axes of base; of frame, N', 'moment in force, axes of base; of frame, N m'
        words = ' '.join(self._fields.get(key, '') for key in keys).replace(';', ' ').split()
        return any(float(number) for number in words)

    def is_anew(self, before: 'NodeStatus') -> bool:
        """Return whether the node was configured, or got another description, since the status ``before``."""
        return self._states < before._states or self.digest != before.digest

    def count(self, kind: Kind) -> Count:
        """Return how many messages of a kind were taken and refused."""
        _, several = kind.value
        return Count(*(int(self._fields[f'{several} {what}']) for what in ('taken', 'refused')))

    def reason(self, kind: Kind) -> str:
        """Return why the last message of a kind that was refused was."""
        one, _ = kind.value
        return self._fields[f'{one} refused last']

    def publishers(self, topics) -> str:
        """Return the warning that several nodes publish one of ``topics``; '' for none."""
        found = (part for part in self.words.split('; ') if PUBLISHERS in part)
        return next((part for part in found if part.split(PUBLISHERS)[1].split(' ')[0] in topics), '')

    def _stiffness(self, which: str) -> FrameStiffness:
        keys = f'translational stiffness {which}, N/m', f'rotational stiffness {which}, N m/rad'
        parts = [self._fields.get(key, '').split() for key in keys]
        if not all(parts):
            raise UnavailableError(f'control law {self._fields.get("control law", "unknown")!r} has no stiffness')
        return FrameStiffness(*([float(number) for number in part] for part in parts))

    @property
    def _states(self) -> int:
        return int(self._fields.get('states received', 0))

    def _grown(self, before: 'NodeStatus') -> int | None:
        """Return how many torques were published since the status ``before``; None where that is not known."""
        counts = [it._fields.get('torques published') for it in (before, self)]
        return None if None in counts or not before.is_complete else int(counts[1]) - int(counts[0])
