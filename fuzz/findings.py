"""Findings of a fuzz: how often each rule was checked and violated, with the first case of each."""

from collections import Counter


class Findings:
    """Counts of checks and violations of ``rules``; ``context`` describes the present graph or message."""

    def __init__(self, rules: dict[str, str]):
        self.rules = rules
        self.first: dict[str, tuple] = {}  # number of messages until then, what happened, and in which context
        self.broken: Counter = Counter()
        self.counts: Counter = Counter()
        self.index = 0
        self.context = ''

    def check(self, rule: str, holds, what) -> bool:
        """Count a violation unless it ``holds``; ``what``, or ``what()``, says what was sent and what was expected."""
        self.counts[f'checked {rule}'] += 1
        if not holds:
            self.broken[rule] += 1
            if rule not in self.first:
                self.first[rule] = self.index, what() if callable(what) else what, self.context
        return bool(holds)

    def report(self, command: str) -> str:
        """Return the findings; ``command`` repeats the run, without the number of messages."""
        lines = []
        for rule, (index, what, context) in sorted(self.first.items()):
            lines += [f'BROKEN, {self.broken[rule]} times: {rule}, {self.rules[rule]}']
            lines += [f'  first at {command} --messages {index}: {what}', f'  {context}']
        unseen = [rule for rule in self.rules if not self.counts[f'checked {rule}']]
        lines.append(', '.join(f'{count} {what}' for what, count in sorted(self.counts.items())))
        lines.append(f'not checked: {", ".join(unseen) or "none"}')
        return '\n'.join([*lines, f'{len(self.first)} of {len(self.rules)} rules broken'])
