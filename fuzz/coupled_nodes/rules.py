"""Rules of coupled nodes, as in doc/safety.md and issue 13, and the findings of violations."""

from collections import Counter
from typing import NamedTuple

RULES = {
    'R1': 'activation drops trajectory and hold position; a node that is not active refuses trajectories',
    'R2': 'the hold position and a trajectory survive at most 1 s without a torque, where the arm is still there',
    'R3': 'a ROS time that goes back ends the trajectory and the hold position, but no ramp, limit or on_stale',
    'R4': 'diagnostics say "answering" only where torques have just been published',
    'R5': 'dynamics_server always publishes payload and gravity, at activation and at each change',
    'R6': 'no torque before payload and gravity are known',
    'R7': 'a late joiner computes the same payload and gravity as the server',
    'R8': 'set_payload and set_gravity have a default ramp and refuse what the arm cannot hold',
    'R9': 'a zero stamp is the time at which the source sent the trajectory; none while ROS time is 0',
    'R10': 'it begins where and when the arm is met, or is dropped by name; until then the one before goes on',
    'R11': 'positions of continuous joints count modulo a turn',
    'R12': 'without a trajectory the controller holds; pd_feedforward follows only with a torque of the same one, '
    'and holds after the last point',
    'R13': 'a feedforward torque is added only if its info fits',
    'R14': 'the rate limit bounds the step over the time since the last torque, and goes on from that torque',
    'R15': 'monitor_only: neither clamped nor rate limited',
    'R16': 'on_deactivate',
    'R17': 'when states stop nothing is sent, or what on_stale says',
    'R18': 'no exception leaves a callback or a timer',
    'R19': 'a long trajectory costs no more at its first state',
    'R21': 'stamps of a publisher do not go back',
    'R25': 'a payload or gravity that does not continue what a node holds is followed by a ramp',
    'ANSWER': 'every usable state is answered with the right torque, on every topic, with its stamp and frame',
    'FRAME': 'frame_id of a torque is the base link',
    'GATE': 'no state is answered that is too old, from the future, out of order or incomplete',
    'SKIP': 'states of other joints alone are skipped while those of the arm come, and rejected by name otherwise',
    'TRAJECTORY': 'the desired motion is that of the newest trajectory, interpolated as its points state',
    'UP': 'a node with good parameters can be configured and activated',
    'SERVER': 'the server computes with the payload and gravity in force',
}
"""Rules by their number in issue 13; those without a number are in doc/safety.md."""

POINTS = {
    1: ('R1', 'R2'),
    2: ('R6',),
    3: ('R9',),
    4: ('R12',),
    5: (),  # a race of two threads inside a node, seconds apart: only by chance
    6: (),  # the time that another node's compiler takes
    7: ('R10', 'R11'),
    8: ('R13',),
    9: ('R3',),
    10: ('R14',),
    11: ('R5', 'R7'),
    12: ('R4',),
    13: ('R19',),  # its half about messages that count as input needs the thread of the hot path
}
"""Points of issue 13 B, and the rules whose violation shows them."""


TIRED = 20
"""Number of findings after which models ignore a rule that would hide all others (R6)."""


class Finding(NamedTuple):
    """The first case that violated a rule."""

    index: int
    node: str
    what: str
    settings: str


class Findings:
    """Counts of messages and of violations of each rule, with the first case of each.

    ``index`` is the number of messages so far, ``settings`` those of the present graph.
    """

    def __init__(self):
        """Begin with nothing."""
        self.first: dict[str, Finding] = {}
        self.broken: Counter = Counter()
        self.counts: Counter = Counter()
        self.index = 0
        self.settings = ''

    def check(self, rule: str, holds, node: str, what) -> bool:
        """Count a violation of ``rule``; ``what()`` or ``what`` describes the actual and the expected output."""
        self.counts[f'checked {rule}'] += 1
        if not holds:
            self.broken[rule] += 1
            if rule not in self.first:
                self.first[rule] = Finding(self.index, node, what() if callable(what) else what, self.settings)
        return bool(holds)

    def is_tired_of(self, rule: str) -> bool:
        """Return whether a rule was violated so often that further cases are not recorded."""
        return self.broken[rule] >= TIRED

    def points(self) -> list[int]:
        """Return the points of issue 13 B that the violated rules show."""
        return [point for point, rules in POINTS.items() if any(self.broken[rule] for rule in rules)]

    def report(self, seed: int, mode: str) -> str:
        """Return the findings, with one case for each violated rule."""
        lines = []
        for rule, (index, node, what, settings) in sorted(self.first.items()):
            lines += [
                f'BROKEN, {self.broken[rule]} times: {rule}, {RULES[rule]}',
                f'  first at {mode} --seed {seed} --messages {index}, {node}: {what}',
                f'  {settings}',
            ]
        unseen = [rule for rule in RULES if not self.counts[f'checked {rule}']]
        counted = ', '.join(f'{count} {what}' for what, count in sorted(self.counts.items()))
        return '\n'.join(
            [
                *lines,
                counted,
                f'not looked at: {", ".join(unseen) or "none"}',
                f'{len(self.first)} of {len(RULES)} broken',
            ]
        )
