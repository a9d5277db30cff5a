"""Input of the stiffness that a Cartesian impedance is to have."""

import numpy as np
from geometry_msgs.msg import WrenchStamped

from robot_dynamics_ros.control.laws.impedance.impedance_limits import LEAST_RATIO
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.target_stiffness import read_stiffness
from robot_dynamics_ros.nodes.inputs.verdicts import Verdicts
from robot_dynamics_ros.nodes.process.publishers import command_warnings

TOPIC = 'target_stiffness'


class StiffnessInput:
    """Passes each stiffness on ``target_stiffness`` to the law; a wrong one is refused, and the one before stays."""

    def __init__(self, node):
        """Subscribe for a BaseNode; its executor handles messages."""
        self._node, self._frame = node, ''
        self.verdicts = Verdicts('stiffness', 'stiffnesses')
        self._stiffness: Stiffness | None = None
        self._constant = ''  # why it stays as it is
        subscription = node.create_subscription(WrenchStamped, TOPIC, self._on_stiffness, 1, raw=True)
        node.resources.callback(node.destroy_subscription, subscription)

    def renew(self, stiffness: Stiffness | None, frame: str, damping_ratio: float) -> None:
        """Follow messages with ``stiffness``, in the axes of ``frame``; None: the control law has none."""
        self._stiffness, self._frame, self._constant = stiffness, frame, ''
        if stiffness is None:
            self._constant = 'only control_law cartesian_impedance has one'
        elif damping_ratio < LEAST_RATIO:
            self._constant = (
                f'damping_ratio: expected at least {LEAST_RATIO:g}, got {damping_ratio:g}: with less, the limit of '
                'sampling that was checked is not that of a softer frame'
            )

    def continue_from(self, before: 'StiffnessInput') -> None:
        """Have the stiffness of another description, where both have one."""
        if self._stiffness is not None and before._stiffness is not None:
            self._stiffness.continue_from(before._stiffness)

    def report(self) -> dict[str, str]:
        """Return stiffness, energy, and what became of messages, as fields of the diagnostics."""
        stiffness, parts, wanted = self._stiffness, ['', ''], ['', '']
        if stiffness is not None:
            parts = [' '.join(f'{k:.4g}' for k in part) for part in np.split(np.diagonal(stiffness.K), 2)]
            wanted = [' '.join(map(repr, part.tolist())) for part in np.split(stiffness.wanted, 2)]
        return {
            'rotational stiffness wanted, N m/rad': wanted[0],
            'translational stiffness wanted, N/m': wanted[1],
            'rotational stiffness in force, N m/rad': parts[0],
            'translational stiffness in force, N/m': parts[1],
            'energy that stiffness may add, J': '' if stiffness is None else f'{stiffness.tank[0]:.3g}',
            **self.verdicts.report(),
        }

    def warnings(self) -> list[str]:
        """Return that the stiffness cannot grow, or that several nodes send one."""
        found = command_warnings(self._node, TOPIC, 'stiffness')
        if self._stiffness is not None and self._stiffness.waits:
            found.append(
                'stiffness grows no further: its springs would give the arm more energy than stiffness_energy_limit; '
                'it does where the frame comes nearer to where it is led'
            )
        return found

    def _on_stiffness(self, data: bytes) -> None:
        try:
            if not self._node.active:
                raise ArgumentError(f'{self._node.get_name()} is not active')
            if self._constant or self._stiffness is None:
                raise ArgumentError(self._constant)
            self._stiffness.want(read_stiffness(data, self._frame))
            self.verdicts.take()
        except DynamicsError as error:
            self.verdicts.refuse(f'{TOPIC}: {error}')
            self._node.refuse(self.verdicts.refused)
