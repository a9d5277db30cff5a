"""Compares the published torques of a node with the expected ones."""

from support import graph

import numpy as np
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from coupled_nodes.model import Expected, TorqueModel
from coupled_nodes.rules import Findings
from coupled_nodes.settings import CONTROLLER, FEEDFORWARD, GRAVITY_NODE

TOLERANCE = 1e-9
"""Tolerance of a torque, relative to the largest one."""
NAMED = {FEEDFORWARD: 'feedforward_torque', GRAVITY_NODE: 'gravity_torque'}
COMMANDS = {
    FEEDFORWARD: 'feedforward_torque/commands',
    GRAVITY_NODE: 'gravity_torque/commands',
    CONTROLLER: 'effort_commands',
}


class Answer:
    """One torque that a node has sent, on all of its topics."""

    def __init__(self, at: float):
        """Begin with none, sent ``at`` s of the steady clock."""
        self.at = at
        self.message: JointState | None = None
        self.command: np.ndarray | None = None
        self.data = b''

    @property
    def torque(self) -> np.ndarray:
        """The torque."""
        return np.array(self.message.effort) if self.message is not None else self.command

    @property
    def stamp(self) -> int | None:
        """The stamp, ns; None for commands alone."""
        return None if self.message is None else graph.nanoseconds(self.message.header.stamp)


class Judge:
    """Checks the torques of all nodes."""

    def __init__(self, found: Findings):
        """Report to ``found``."""
        self._found = found
        self._stamps: dict[str, int] = {}
        self._set_back: set[str] = set()

    def begin(self, name: str) -> None:
        """Reset the stamps of a node that is configured or activated."""
        self._stamps.pop(name, None)

    def set_back(self) -> None:
        """Allow the stamps of each publisher to decrease once, after the clock was set back."""
        self._set_back = set(self._stamps)

    def answers(self, name: str, model: TorqueModel, sent: list, ends: bool = False) -> list[Answer]:
        """Return the torques among a node's messages, and report wrong topics and frames.

        What it ``ends`` with goes to the actuator alone.
        """
        found: list[Answer] = []
        for topic, data, at in sent:
            if topic == NAMED.get(name):
                answer = Answer(at)
                answer.message, answer.data = deserialize_message(data, JointState), data
                found.append(answer)
                self._look_at(name, model, answer.message)
            elif topic == COMMANDS[name]:
                command = np.array(deserialize_message(data, Float64MultiArray).data)
                if name == CONTROLLER or not found or found[-1].command is not None:
                    found.append(Answer(at))
                found[-1].command = command
        for answer in found:
            whole = (answer.message is not None) == (name in NAMED and not ends)
            whole = whole and (answer.command is None) == (model.settings.preset == 'monitor_only')
            if whole and answer.message is not None and answer.command is not None:
                whole = np.array_equal(answer.command, np.array(answer.message.effort))
            self._found.check('ANSWER', whole, name, 'a torque is not the same on all of its topics')
        return found

    def compare(self, name: str, expected: Expected, answers: list[Answer], stamp: int | None) -> bool:
        """Return whether torques are the expected ones; ``stamp`` is that of the state."""
        check = self._found.check
        if expected.low is None:
            torques = [np.round(answer.torque, 4).tolist() for answer in answers]
            return check(expected.rule, not answers, name, lambda: f'sent {torques}, expected silence')
        wanted = np.round([expected.low, expected.high], 6).tolist()
        if not answers:
            rule = expected.missing or expected.rule
            tired = bool(expected.missing) and self._found.is_tired_of(expected.missing)
            return tired or check(rule, not expected.sure, name, lambda: f'silent, expected {wanted}')
        if not check('ANSWER', len(answers) == 1, name, lambda: f'{len(answers)} torques for one state'):
            return False
        (answer,) = answers
        right = self.is_right(expected, answers)
        sent = np.round(answer.torque, 6).tolist()
        right = check(expected.rule, right, name, lambda: f'sent {sent}, expected {wanted}')
        if answer.message is not None and stamp is not None:
            right &= check('ANSWER', answer.stamp == stamp, name, lambda: f'stamp {answer.stamp} for {stamp}')
        return right

    def is_right(self, expected: Expected, answers: list[Answer]) -> bool:
        """Return whether there is one torque, between the bounds."""
        if expected.low is None or len(answers) != 1 or len(answers[0].torque) != len(expected.low):
            return False
        torque = answers[0].torque
        room = TOLERANCE * (1.0 + np.abs([expected.low, expected.high]).max())
        return bool(((expected.low - room <= torque) & (torque <= expected.high + room)).all())

    def deactivated(self, name: str, model: TorqueModel, sent: bool, answers: list[Answer], step: float) -> None:
        """Check the torques of a deactivation (R16): they decrease to zero, and the last one is zero.

        ``sent``: a torque was, since activation; ``step`` is what the rate limit allows for the first one, N m.
        """
        check, settings = self._found.check, model.settings
        torques = [answer.torque for answer in answers]
        if settings.on_deactivate == 'silent' or settings.preset == 'monitor_only' or not sent:
            check('R16', not torques, name, lambda: f'{settings.on_deactivate}: {torques} sent, expected none')
            return
        if not check('R16', torques, name, f'{settings.on_deactivate}: nothing was sent'):
            return
        check('R16', not torques[-1].any(), name, lambda: f'{settings.on_deactivate}: ends with {torques[-1]}')
        before, at = model.last, answers[0].at
        for answer in answers:
            torque = answer.torque
            falls = (np.abs(torque) <= np.abs(before) + TOLERANCE).all() and (torque * before >= -TOLERANCE).all()
            check('R16', falls, name, lambda before=before, torque=torque: f'{before} is followed by {torque}')
            if settings.rate_limit and settings.preset != 'monitor_only':
                room = step if answer is answers[0] else settings.rate_limit * (answer.at - at)
                change = np.abs(torque - before).max()
                check('R14', change <= room + 1e-6, name, f'changed by {change}, the rate limit allows {room}')
            before, at = torque, answer.at
        took = answers[-1].at - answers[0].at
        if settings.on_deactivate == 'ramp_to_zero' and model.last.any():
            check('R16', took > 0.5 * settings.ramp_time, name, f'zero after {took} s, not {settings.ramp_time}')

    def _look_at(self, name: str, model: TorqueModel, message: JointState) -> None:
        """Check names, frame and the order of stamps."""
        self._found.check('ANSWER', list(message.name) == model.arm.names, name, lambda: f'{message.name}')
        frame = message.header.frame_id
        self._found.check('FRAME', frame == model.arm.base, name, lambda: f'{frame!r}, expected {model.arm.base!r}')
        stamp = graph.nanoseconds(message.header.stamp)
        before = self._stamps.get(name, stamp)
        if stamp < before and name in self._set_back:
            self._set_back.remove(name)
            before = stamp
        self._found.check('R21', stamp >= before, name, lambda: f'{stamp} after {before}')
        self._stamps[name] = stamp
