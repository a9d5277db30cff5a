"""Rules of the nodes under any input, and the findings of violations."""

from collections import Counter
from typing import NamedTuple

ALIVE = 'no exception leaves a callback'
NET = 'no callback needs its last net, the internal error'
REASON = 'a state that is not answered leaves a reason'
TOLD = 'a wrong trajectory or reference is refused and told, a good one is not refused'
WHOLE = 'torques are of every joint, on every topic, once, and for states alone'
LIMITS = 'torques are finite and within the effort limits'
STAMPS = 'a torque carries the stamp of its state'
OLD = 'a state older than age_limit is not answered'
FUTURE = 'a state more than age_limit in the future is not answered'
ORDER = 'a state from before the last that was answered is not answered'
RATES = 'from zero on, a torque changes by rate_limit at most'
RIGHT = 'a torque is that of the state it answers'
ANSWERED = 'a good state is answered'
STALE = 'when states stop nothing is sent, or what on_stale says'
SERVED = 'a good request is answered rightly, a wrong one refused by name'
LOADED = 'answers are those of the payload and the gravity that were taken last'
SET = 'a parameter is taken as it was sent or refused with a reason, and the node can be configured again'
DESCRIBED = 'a node is the robot that was described last, or says why it is none'
PROMPT = 'nothing is compiled in a callback'
MEMORY = 'memory is flat'
RULES = (
    *(ALIVE, NET, REASON, TOLD, WHOLE, LIMITS, STAMPS, OLD, FUTURE, ORDER, RATES, RIGHT, ANSWERED, STALE),
    *(SERVED, LOADED, SET, DESCRIBED, PROMPT, MEMORY),
)


class Finding(NamedTuple):
    """The first message that violated a rule."""

    index: int
    what: str
    node: str
    topic: str
    data: bytes


class Findings:
    """Counters, and the first message that violated each rule.

    ``given`` (node, topic, bytes) is the message at hand, ``index`` its number.
    """

    def __init__(self):
        """Begin with nothing."""
        self.first: dict[str, Finding] = {}
        self.counts: Counter = Counter()
        self.given: tuple[str, str, bytes] = ('', '', b'')
        self.index = 0

    def check(self, rule: str, holds: bool, what: str) -> None:
        """Record the present message if it is the first that violates ``rule``."""
        if not holds:
            self.counts[rule] += 1
            self.first.setdefault(rule, Finding(self.index, what, *self.given))

    def begin(self, *given) -> None:
        """Set the present message: node, topic, bytes."""
        self.given = given
        self.index += 1
        self.counts[given[1]] += 1

    def report(self, seed: int) -> str:
        """Return the findings, with one case for each violated rule."""
        lines = []
        for rule, (index, what, node, topic, data) in self.first.items():
            lines += [
                f'BROKEN, {self.counts[rule]} times: {rule}',
                f'  first at seed {seed}, index {index} (--seed {seed} --messages {index}), {node}, {topic}: {what}',
                f'  message {data.hex()}',
            ]
        counted = ', '.join(f'{count} {what}' for what, count in sorted(self.counts.items()) if what not in RULES)
        return '\n'.join([*lines, counted, f'{len(self.first)} of {len(RULES)} rules broken'])
