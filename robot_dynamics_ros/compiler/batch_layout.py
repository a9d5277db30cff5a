"""Memory layout of a batch block, and the generated lines that fill and store it.

A block holds LANES states as a structure of arrays: entry k of state b has the index LANES k + b, so that one
instruction processes several states.
"""

import math
from itertools import accumulate

from robot_dynamics_ros.compiler.algorithms import Algorithm
from robot_dynamics_ros.compiler.simd_transpose import TILE
from robot_dynamics_ros.model.model import ModelArrays

LANES = 16
"""States of a block. Two independent vectors of 8 hide the latency of the instructions.

The AUBO-i5's inverse dynamics needs 40 ns per state with 8 lanes, 23 ns with 16 (AVX-512, 2026-11-20).
"""


class Blocks:
    """The offsets of a program's arrays in a block, and the lines that copy them."""

    def __init__(self, arrays: ModelArrays, algorithm: Algorithm):
        """Lay out the inputs and the result of an algorithm for a robot."""
        self.inputs = dict(zip(algorithm.inputs, algorithm.lengths(arrays), strict=True))
        self.result, self.size = 'result', math.prod(algorithm.shape_of(arrays))
        # 'rows' buffers results that do not fill cache lines; 'check' is 0 if all numbers of a state are finite
        rows = self.size if self.size % TILE else 0
        sizes = {**self.inputs, self.result: self.size, 'rows': rows, 'check': 1}
        *starts, self.length = accumulate((LANES * n for n in sizes.values()), initial=0)
        self.start = dict(zip(sizes, starts, strict=True))

    def at(self, array: str, k: int = 0) -> int:
        """Return the offset of entry k of an array."""
        return self.start[array] + LANES * k

    def transposes(self) -> list[str]:
        """Return the lines that define the transposes of a tile."""
        read = {width for n in self.inputs.values() for width, _ in _tiles(n)}
        written = {width for width, _ in _tiles(self.size)}
        return [
            *(f'into_{width} = transpose({TILE}, {width})' for width in sorted(read)),
            *(f'out_{width} = transpose({width}, {TILE})' for width in sorted(written)),
        ]

    def into(self) -> list[str]:
        """Return the lines that copy the inputs of LANES states, from ``first`` on, to a block."""
        lines = [f'for b in range(0, {LANES}, {TILE}):']
        for array, n in self.inputs.items():
            for width, places in _tiles(n):
                to = f'block, {self.at(array)} + {LANES} * k + b, {LANES}'
                lines += [f'    for k in {places}:', f'        into_{width}({array}, {n} * (first + b) + k, {n}, {to})']
        return lines

    def out(self) -> list[str]:
        """Return the lines that copy the results of LANES states from a block to the rows from ``first`` on."""
        n, result, start, rows = self.size, self.result, self.at(self.result), self.at('rows')
        if n % TILE:
            past_caches = [
                *indented(1, self._transposed('block', rows)),
                f'    write_past_caches(block, {rows}, {result}, {n} * first, {n * LANES})',
            ]
        else:
            past_caches = [f'    turn_past_caches(block, {start}, {LANES}, {result}, {n} * first, {n})']
        return ['if streamed:', *past_caches, 'else:', *indented(1, self._transposed(result, f'{n} * first'))]

    def _transposed(self, target: str, place: str | int) -> list[str]:
        """Return the lines that write the results of a block as rows, to index ``place`` of an array."""
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
    """Return the widths of the tiles of n columns, each with the range of first columns."""
    whole, rest = n - n % TILE, n % TILE
    tiles = [(TILE, f'range(0, {whole}, {TILE})')] if whole else []
    return [*tiles, (rest, f'range({whole}, {n}, {TILE})')] if rest else tiles


def indented(depth: int, lines) -> list[str]:
    """Return lines at a depth of indentation."""
    return ['    ' * depth + line for line in lines]
