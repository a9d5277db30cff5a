"""Coupled nodes under random events: ``python fuzz/graph_fuzz.py --messages 200000 --seed 0``, or scripts/fuzz_graph.

Server, feedforward node, gravity node and controller receive states, trajectories and payloads, and are restarted;
states stop and clocks are set back. After each event a reference model of the rules (``coupled_nodes/model.py`` and
others) computes the expected torque of every node, if any. A run consists of episodes with a new graph each; the seed
and the number of an episode reproduce it.
"""

import argparse
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).resolve().parents[1] / 'test'))  # for support

from coupled_nodes.episode import Episode, NotUpError
from coupled_nodes.moves import Moves
from coupled_nodes.nodes import InProcess
from coupled_nodes.processes import Processes
from coupled_nodes.rules import Findings
from coupled_nodes.settings import Settings, drawn, drawn_in_real_time, plain
from process import quiet

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
    found, number = Findings(), 0 if only is None else only
    while found.index < messages:
        random = Random(f'{seed} {number}')
        settings = draw(random)
        found.settings = f'--seed {seed} --episode {number}: {settings}'
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
    found, settings = Findings(), plain(**parameters)
    found.settings = f'{", ".join(names) or "all moves"}: {settings}'
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
    arguments = parser.parse_args()
    print(f'seed {arguments.seed}', flush=True)
    began = told = time.monotonic()

    def progress(found: Findings) -> None:
        nonlocal told
        if time.monotonic() - told > 10.0:
            told = time.monotonic()
            print(f'{found.index} messages in {told - began:.0f} s, {sum(found.broken.values())} findings', flush=True)

    def play_all() -> Findings:
        kind, draw = (Processes, drawn_in_real_time) if arguments.processes else (InProcess, drawn)
        return run(arguments.seed, arguments.messages, kind, arguments.episode, draw, progress)

    if arguments.log:
        found = play_all()
    else:
        with quiet():
            found = play_all()
    print(found.report(arguments.seed, 'one process'))
    print(f'points of issue 13 B that were seen: {found.points()}')
    return bool(found.first)


if __name__ == '__main__':
    sys.exit(main())
