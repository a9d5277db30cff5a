"""What does a state cost in a batch, on one core and on all, against one call of Pinocchio from Python?"""

import os

import numpy as np
from measure import heading, interleaved, verdict
from peers import pinocchio_calls

from robot_dynamics_ros import Robot

FIGURES = {'inverse_dynamics': 0.03, 'mass_matrix': 0.05, 'forward_dynamics': 0.03}
ALL_CORES = 0.55


def main():
    print(heading())
    named = Robot.named('aubo_i5')
    one, every = named.with_binding('specialised', threads=1), named.with_binding('specialised')
    peer = pinocchio_calls(named)
    random = np.random.default_rng(0)
    for name, at_most in FIGURES.items():
        arguments = 1 if name == 'mass_matrix' else 3
        for count in (1, 10, 100, 1_000, 10_000, 100_000):
            rows = random.normal(size=(arguments, count, 6))
            out = np.empty((count, 6, 6) if name == 'mass_matrix' else (count, 6))
            times = interleaved(
                {
                    'batch': lambda rows=rows, out=out, name=name: getattr(one, name)(*rows, out=out),
                    'pin': peer[name],
                }
            )
            a_state = times['batch'] / count
            said = verdict(a_state / times['pin'], at_most) if count == 100_000 else f'{a_state / times["pin"]:6.3f}'
            print(f'{name}, {count:7d} states: {1e9 * a_state:7.1f} ns a state, / pin {said}')
    cores = len(os.sched_getaffinity(0))
    rows, out = random.normal(size=(3, 1_000_000, 6)), np.empty((1_000_000, 6))
    times = interleaved(
        {
            'one': lambda: one.inverse_dynamics(*rows, out=out),
            'all': lambda: every.inverse_dynamics(*rows, out=out),
        },
        rounds=9,
    )
    print(f'inverse_dynamics, 1000000 states: {cores} cores / one {verdict(times["all"] / times["one"], ALL_CORES)}')
    print(f'  {1_000_000 / times["all"]:.3g} states a second on all cores')


if __name__ == '__main__':
    main()
