"""When does divide and conquer pay: one core and two against articulated bodies, on cables of up to 10,000 links?"""

import os
from functools import partial

import numpy as np
from measure import heading, interleaved, verdict

from robot_dynamics_ros import Robot
from robot_dynamics_ros.evaluation import divide_and_conquer

SIZES = (100, 1_000, 3_000, 10_000)
ASKED = 10_000
OF_ONE_CORE = 1 / 1.7
AGREEMENT = 1e-13
BY_HALVES = 'divide_and_conquer'


def cable(count: int) -> Robot:
    """Return a cable of links of 0.1 m and 1 kg, on joints with geared motors whose axes alternate."""
    inertia = [[1e-3, 0.0, 0.0], [0.0, 2e-3, 0.0], [0.0, 0.0, 3e-3]]
    link = {'a': 0.1, 'mass': 1.0, 'com': [-0.05, 0.0, 0.0], 'inertia': inertia, 'rotor': 0.01}
    return Robot.from_dh([{**link, 'alpha': (-1) ** i * np.pi / 2} for i in range(count)])


def main():
    print(heading())
    divide_and_conquer.LEAST_LINKS_OF_A_THREAD = 1  # to see from which number on threads pay
    cores = range(1, min(2, len(os.sched_getaffinity(0))) + 1)
    for count in SIZES:
        robot, random = cable(count), np.random.default_rng(count)
        state = random.uniform(-1.0, 1.0, count), random.uniform(-0.1, 0.1, count), random.normal(size=count)
        calls = {'articulated': partial(robot.forward_dynamics, *state, method='articulated')}
        for core in cores:
            calls[f'{core} core'] = partial(
                robot.with_binding('generic', core).forward_dynamics, *state, method=BY_HALVES
            )
        by_bodies, *by_halves = (call() for call in calls.values())
        assert all((result == by_halves[0]).all() for result in by_halves), 'bits differ between one core and two'
        difference = np.abs(by_halves[0] - by_bodies).max() / np.abs(by_bodies).max()
        assert difference < AGREEMENT, f'{count} links: off by {difference:.1e}'
        times = interleaved(calls)
        print(
            f'{count} links: articulated bodies {1e3 * times["articulated"]:.3f} ms, '
            f'divide and conquer {1e3 * times["1 core"]:.3f} ms, / it {times["1 core"] / times["articulated"]:.2f}; '
            f'accelerations differ by {difference:.0e} of the largest'
        )
        if len(cores) > 1:
            ratio = times['2 core'] / times['1 core']
            found = verdict(ratio, OF_ONE_CORE) if count == ASKED else f'{ratio:6.3f}'
            print(f'  two cores {1e3 * times["2 core"]:.3f} ms, / one {found}')


if __name__ == '__main__':
    main()
