"""Nodes under random messages: ``python fuzz/message_fuzz.py --messages 200000 --seed 0``, or scripts/fuzz.

The nodes run in this process. Their callbacks are called with bytes as by the middleware, their published messages
are recorded instead of sent, and all clocks stand still between messages, so that a seed reproduces a run.
After every message all of ``rules.py`` are checked.
"""

import argparse
import faulthandler
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).resolve().parents[1] / 'test'))  # for support

from support.control_msgs_package import installed

from broken_messages.run import Fuzz, fuzzed
from process import quiet


def main() -> int:
    """Send the requested number of messages; return 1 if a rule was violated."""
    parser = argparse.ArgumentParser(prog='scripts/fuzz', description='random and broken messages for the nodes')
    parser.add_argument('--messages', type=int, default=200_000, help='how many; 200000 where nothing is said')
    parser.add_argument('--seed', type=int, default=time.time_ns() % 2**32, help='of the messages; else the time')
    arguments = parser.parse_args()
    print(f'seed {arguments.seed}', flush=True)
    crashes = os.fdopen(os.dup(2), 'w')  # faults are printed although the log is disabled
    faulthandler.enable(crashes)

    def progress(fuzz: Fuzz) -> None:
        took = time.monotonic() - began
        print(f'{fuzz.found.index} messages in {took:.0f} s, {fuzz.allocated[-1][1]:.1f} MB', flush=True)

    with (
        TemporaryDirectory() as folder,
        installed(Path(folder)) as reference_kind,
        quiet(),
        fuzzed(arguments.seed, reference_kind) as fuzz,
    ):
        began = time.monotonic()
        fuzz.run(arguments.messages, progress)
    print(fuzz.found.report(f'scripts/fuzz --seed {arguments.seed}'))
    return bool(fuzz.found.first)


if __name__ == '__main__':
    sys.exit(main())
