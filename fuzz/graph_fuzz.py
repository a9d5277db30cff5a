"""Coupled nodes under random events: ``python fuzz/graph_fuzz.py --messages 200000 --seed 0``, or scripts/fuzz_graph.

Server, feedforward node, gravity node and controller receive states, trajectories and payloads, and are restarted;
states stop and clocks are set back. With ``--broken``, or scripts/fuzz, they and three further nodes also get random
and broken messages, requests, parameters and robot descriptions. After each event the published torques are checked
against what must hold whatever comes (``rules.py``). A run consists of episodes with a new graph each; the seed and
the number of an episode reproduce it.
"""

import argparse
import faulthandler
import os
import sys
import time
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).resolve().parents[1] / 'test'))  # for support

from support.message_packages.control_msgs_package import installed

import processes
from broken_messages.moves import BROKEN_MOVES
from broken_messages.random_messages import RandomMessages
from coupled_nodes.episode import Episode
from coupled_nodes.lifecycle import NotUpError
from coupled_nodes.moves import MOVES, in_turn, random_moves
from findings import Findings
from in_process import InProcess
from messages import Messages
from node_settings import Settings, drawn, drawn_with_further, stated
from process import KILOBYTES, LONG, growth, memory, quiet
from rules import BROKEN, RULES

MOST = 1500
"""Messages of the longest episode."""


def play(settings: Settings, found: Findings, random: Random, cause, messages=Messages) -> None:
    """Run one episode of the events that ``cause(episode)`` causes, with the class ``messages``."""
    with TemporaryDirectory() as folder, InProcess(settings) as nodes, suppress(NotUpError):
        episode = Episode(nodes, found, messages(random, nodes), Path(folder))
        episode.begin()
        cause(episode)


def run(seed: int, messages: int, reference_kind=None, only=None, say=lambda text: None) -> Findings:
    """Run episodes until the number of messages is reached, or only the episode ``only``; ``say`` how far it is.

    Random and broken messages come, too, where the type of a controller's state is given, ``reference_kind``.
    """
    draw, moves, rules, drawn_messages = drawn, MOVES, RULES, Messages
    if reference_kind is not None:
        draw, moves, rules = drawn_with_further, {**MOVES, **BROKEN_MOVES}, {**RULES, **BROKEN}
        drawn_messages = partial(RandomMessages, reference_kind=reference_kind)
    found, number, allocated = Findings(rules), only or 0, [(0, memory())]
    while found.index < messages and (only is None or number == only):
        random = Random(f'{seed} {number}')
        settings = draw(random)
        found.context = f'--seed {seed} --episode {number}: {settings}'
        end = found.index + min(random.randint(MOST // 3, MOST), messages - found.index)
        play(settings, found, random, lambda episode, end=end: random_moves(episode, end, moves), drawn_messages)
        allocated.append((found.index, memory()))
        say(f'{found.index} messages, {sum(found.broken.values())} findings, {allocated[-1][1]:.1f} MB')
        number += 1
    if 'MEMORY' in rules and len(allocated) > 8:
        grown, allowed = growth(allocated), KILOBYTES * max(1.0, LONG / found.index)
        found.check('MEMORY', grown <= allowed, f'grown by {grown:.2f} kB per message')
    return found


def directed(seed: int, names=(), messages: int = 0, **parameters) -> Findings:
    """Run one episode of the moves of these ``names`` in turn, all where none is named; again until so many messages.

    ``parameters`` are those of ``stated``.
    """
    found, settings = Findings(RULES), stated(**parameters)
    found.context = f'{", ".join(names) or "all moves"}: {settings}'
    play(settings, found, Random(f'{seed}'), lambda episode: in_turn(episode, names, messages))
    return found


def main() -> int:
    """Send the requested number of messages; return 1 if a rule was violated."""
    parser = argparse.ArgumentParser(prog='fuzz/graph_fuzz.py', description='random events of coupled nodes')
    parser.add_argument('--messages', type=int, default=200_000, help='how many; 200000 where nothing is said')
    parser.add_argument('--seed', type=int, default=time.time_ns() % 2**32, help='of the events; else the time')
    parser.add_argument('--episode', type=int, help='only this one')
    parser.add_argument('--broken', action='store_true', help='random and broken messages, too')
    parser.add_argument('--processes', action='store_true', help='each node in a process of its own, over DDS')
    parser.add_argument('--log', action='store_true', help='show what nodes log')
    given = parser.parse_args()
    print(f'seed {given.seed}', flush=True)
    crashes = os.fdopen(os.dup(2), 'w')  # faults are printed although the log is disabled
    faulthandler.enable(crashes)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        kind = stack.enter_context(installed(folder)) if given.broken else None
        if not given.log:
            stack.enter_context(quiet())
        if given.processes:
            found = processes.run(given.seed, given.messages, folder)
        else:
            found = run(given.seed, given.messages, kind, given.episode, partial(print, flush=True))
    options = [name for name in ('broken', 'processes') if getattr(given, name)]
    print(found.report(' '.join(['fuzz/graph_fuzz.py', *(f'--{name}' for name in options), f'--seed {given.seed}'])))
    return bool(found.first)


if __name__ == '__main__':
    sys.exit(main())
