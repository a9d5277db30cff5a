"""Memory layout of a batch block, in lines of the generated file.

A block holds LANES states. Entry k of state b stands at LANES k + b: one instruction works on several states.
"""

import math
from itertools import accumulate

from robot_dynamics_ros.compiler.algorithms import Algorithm
from robot_dynamics_ros.compiler.simd_transpose import TILE
from robot_dynamics_ros.model.model import ModelArrays

LANES = 16
"""States that a block holds; one vector of 8 has to wait for its own results, two have each other's to work on.

The AUBO-i5's inverse dynamics takes 40 ns a state with 8 lanes, 23 with 16 (AVX-512, 2026-11-20).
"""


class Blocks:
    """Where the arrays of a program stand in a block, and the lines that move them."""

    def __init__(self, arrays: ModelArrays, algorithm: Algorithm):
        """Lay out the inputs and the result of an algorithm for a robot."""
        self.inputs = dict(zip(algorithm.inputs, algorithm.lengths(arrays), strict=True))
        self.result, self.size = 'result', math.prod(algorithm.shape_of(arrays))
        # results as rows on their way past the caches, but for those that fill lines; what is 0 if all is finite
        rows = self.size if self.size % TILE else 0
        sizes = {**self.inputs, self.result: self.size, 'rows': rows, 'rest': 1}
        *starts, self.length = accumulate((LANES * n for n in sizes.values()), initial=0)
        self.start = dict(zip(sizes, starts, strict=True))

    def at(self, array: str, k: int = 0) -> int:
        """Return where entry k of an array begins."""
        return self.start[array] + LANES * k

    def turns(self) -> list[str]:
        """Return the lines that name the ways of turning a tile."""
        read = {width for n in self.inputs.values() for width, _ in _tiles(n)}
        written = {width for width, _ in _tiles(self.size)}
        return [
            *(f'into_{width} = transpose({TILE}, {width})' for width in sorted(read)),
            *(f'out_{width} = transpose({width}, {TILE})' for width in sorted(written)),
        ]

    def into(self) -> list[str]:
        """Return the lines that bring the inputs of LANES states, from ``first`` on, into a block."""
        lines = [f'for b in range(0, {LANES}, {TILE}):']
        for array, n in self.inputs.items():
            for width, places in _tiles(n):
                to = f'block, {self.at(array)} + {LANES} * k + b, {LANES}'
                lines += [f'    for k in {places}:', f'        into_{width}({array}, {n} * (first + b) + k, {n}, {to})']
        return lines

    def out(self) -> list[str]:
        """Return the lines that bring the results of LANES states out of a block, to ``first`` and those after it."""
        n, result, start, rows = self.size, self.result, self.at(self.result), self.at('rows')
        if n % TILE:
            past_caches = [
                *indented(1, self._turned('block', rows)),
                f'    write_past_caches(block, {rows}, {result}, {n} * first, {n * LANES})',
            ]
        else:
            past_caches = [f'    turn_past_caches(block, {start}, {LANES}, {result}, {n} * first, {n})']
        return ['if streamed:', *past_caches, 'else:', *indented(1, self._turned(result, f'{n} * first'))]

    def _turned(self, target: str, place: str | int) -> list[str]:
        """Return the lines that write the results of a block as rows to a place in an array."""
        n, start = self.size, self.at(self.result)
        lines = [f'for b in range(0, {LANES}, {TILE}):']
        for width, places in _tiles(n):
            to = f'{target}, {place} + {n} * b + k, {n}'
            lines += [
                f'    for k in {places}:',
                f'        out_{width}(block, {start} + {LANES} * k + b, {LANES}, {to})',
            ]
        return lines


def _tiles(n: int) -> list[tuple[int, str]]:
    """Return the widths of the tiles that make up n columns, each with the range of places where such begin."""
    whole, rest = n - n % TILE, n % TILE
    tiles = [(TILE, f'range(0, {whole}, {TILE})')] if whole else []
    return [*tiles, (rest, f'range({whole}, {n}, {TILE})')] if rest else tiles


def indented(depth: int, lines) -> list[str]:
    """Return lines at a depth of indentation."""
    return ['    ' * depth + line for line in lines]
