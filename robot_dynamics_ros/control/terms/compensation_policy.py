"""Compensation policy: which torque terms a node adds, and which the robot compensates itself, by preset."""

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.torque_presets import PRESETS, TERMS, Preset
from robot_dynamics_ros.errors import ArgumentError

OWNERS = ('node', 'robot')


class CompensationPolicy:
    """Torque ``terms`` that a node adds, ``robot_terms`` that the robot compensates, and ``gravity_owner`` of both.

    ``takes_commands``, ``motor_pd`` and ``fade_in_time`` are those of the ``Preset``.
    """

    def __init__(self, preset: str, gravity_owner: str, wanted):
        """Derive the terms from three parameters; '' leaves ``preset`` or ``gravity_owner`` open.

        ``wanted`` are the terms of the node; ['']: all that the robot does not compensate. Raises ArgumentError for an
        unknown preset or owner, and for contradicting values.
        """
        if gravity_owner:
            validation.choice('gravity_owner', gravity_owner, OWNERS)
        known = PRESETS[validation.choice('preset', preset, PRESETS)] if preset else Preset()
        owner = 'robot' if 'gravity' in known.robot_terms else 'node'
        if preset and gravity_owner and gravity_owner != owner:
            raise ArgumentError(
                f'gravity_owner {gravity_owner} contradicts preset {preset}, whose gravity_owner is {owner}; '
                'leave one of them empty'
            )
        self.gravity_owner = gravity_owner or owner
        self.robot_terms = frozenset({*known.robot_terms, *(('gravity',) if self.gravity_owner == 'robot' else ())})
        chosen = [term for term in wanted if term]
        twice = [term for term in chosen if term in self.robot_terms]
        if twice:
            source = f'preset {preset}' if preset else f'gravity_owner {self.gravity_owner}'
            raise ArgumentError(
                f'compensation: {twice[0]} would be added twice: with {source} the robot adds it itself; remove it'
            )
        self.terms = tuple(chosen or (term for term in TERMS if term not in self.robot_terms))
        self.takes_commands, self.motor_pd = known.takes_commands, known.motor_pd
        self.fade_in_time = known.fade_in_time
