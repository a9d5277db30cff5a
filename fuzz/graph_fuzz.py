"""Coupled nodes under random events: ``python fuzz/graph_fuzz.py --messages 200000 --seed 0``, or scripts/fuzz_graph.

Server, feedforward node, gravity node and controller receive states, trajectories and payloads, and are restarted;
states stop and clocks are set back. After each event the published torques are checked against what
must hold whatever comes (``rules.py``). A run consists of episodes with a new graph each; the seed
and the number of an episode reproduce it.
"""

import argparse
import sys
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).resolve().parents[1] / 'test'))  # for support

from coupled_nodes.episode import Episode, NotUpError
from coupled_nodes.moves import Moves
from coupled_nodes.processes import Processes
from coupled_nodes.settings import Settings, drawn, drawn_in_real_time, plain
from findings import Findings
from in_process import InProcess
from process import quiet
from rules import COUPLED

MOST = 1500
"""Messages of the longest episode."""


def play(graph_class, settings: Settings, found: Findings, random: Random, cause) -> None:
    """Run one episode of the events that ``cause(moves)`` causes."""
    with TemporaryDirectory() as folder, graph_class(settings, Path(folder)) as nodes, suppress(NotUpError):
        episode = Episode(nodes, settings, found, random, Path(folder))
        episode.begin()
        cause(Moves(episode))


def run(
    seed: int, messages: int, graph_class=InProcess, only=None, draw=drawn, progress=lambda found: None
) -> Findings:
    """Run episodes until the number of messages is reached, or only the episode ``only``."""
    found, number = Findings(COUPLED), 0 if only is None else only
    while found.index < messages:
        random = Random(f'{seed} {number}')
        settings = draw(random)
        found.context = f'--seed {seed} --episode {number}: {settings}'
        end = found.index + min(random.randint(MOST // 3, MOST), messages - found.index)
        play(graph_class, settings, found, random, lambda moves, end=end: moves.until(end))
        progress(found)
        number += 1
        if only is not None:
            break
    return found


def directed(seed: int, names=(), messages: int = 0, **parameters) -> Findings:
    """Run one episode of the moves of these ``names`` in turn, all where none is named; again until so many messages.

    ``parameters`` are those of ``plain``.
    """
    found, settings = Findings(COUPLED), plain(**parameters)
    found.context = f'{", ".join(names) or "all moves"}: {settings}'
    play(InProcess, settings, found, Random(f'{seed}'), lambda moves: moves.in_turn(names, messages))
    return found


def main() -> int:
    """Send the requested number of messages; return 1 if a rule was violated."""
    parser = argparse.ArgumentParser(prog='scripts/fuzz_graph', description='random moves of coupled nodes')
    parser.add_argument('--messages', type=int, default=200_000, help='how many; 200000 where nothing is said')
    parser.add_argument('--seed', type=int, default=time.time_ns() % 2**32, help='of the moves; else the time')
    parser.add_argument('--episode', type=int, help='only this one')
    parser.add_argument('--processes', action='store_true', help='each node in a process of its own, over DDS')
    parser.add_argument('--log', action='store_true', help='show what nodes log')
    given = parser.parse_args()
    print(f'seed {given.seed}', flush=True)
    began = printed = time.monotonic()

    def progress(found: Findings) -> None:
        nonlocal printed
        if time.monotonic() - printed > 10.0:
            printed = time.monotonic()
            print(
                f'{found.index} messages in {printed - began:.0f} s, {sum(found.broken.values())} findings', flush=True
            )

    kind, draw = (Processes, drawn_in_real_time) if given.processes else (InProcess, drawn)
    with nullcontext() if given.log else quiet():
        found = run(given.seed, given.messages, kind, given.episode, draw, progress)
    print(found.report(f'scripts/fuzz_graph {"--processes " if given.processes else ""}--seed {given.seed}'))
    return bool(found.first)


if __name__ == '__main__':
    sys.exit(main())
