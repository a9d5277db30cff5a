"""What does a call with few states cost, against as many calls of Pinocchio, and a state of a large tree in a batch?"""

from functools import partial

import numpy as np
import pinocchio as pin

from benchmark.known_robots import Known, aubo_i5, talos_reduced
from benchmark.measure import heading, interleaved, verdict

FIGURES = {1: 1.5, 8: 0.25, 32: 0.10, 128: 0.05}
"""States of the AUBO-i5: time of one call at most, as a part of that many calls of Pinocchio."""
MANY, OF_MANY = 1_000, 0.40
"""States of Talos on one core, and the time of one of them at most, as a part of a call of Pinocchio."""
AGREEMENT = 1e-9


def states_of(known: Known, count: int) -> np.ndarray:
    return np.random.default_rng(count).normal(size=(3, count, known.robot.nv))


def peer_of(known: Known, state) -> partial:
    """Return Pinocchio's call at one state; AssertionError where it does not agree."""
    peer = partial(pin.rnea, known.model, known.model.createData(), *known.pinocchio_state(*state))
    ours = known.robot.inverse_dynamics(*state)
    difference = np.abs(peer()[known.order] - ours).max() / np.abs(ours).max()
    assert difference < AGREEMENT, f'{known.name}: off by {difference:.1e}'
    return peer


def main():
    print(heading())
    known = aubo_i5()
    peer = peer_of(known, states_of(known, 1)[:, 0])
    for count, at_most in FIGURES.items():
        states = states_of(known, count)
        times = interleaved(
            {'ours': partial(known.robot.inverse_dynamics, *states), 'pin': peer}, seconds=0.002, rounds=201
        )
        ratio = times['ours'] / (count * times['pin'])
        print(
            f'{known.name}, {count} states: {1e6 * times["ours"]:.2f} us, '
            f'pin {1e6 * times["pin"]:.2f} us a call; / that many calls {verdict(ratio, at_most)}'
        )
    known = talos_reduced()
    states, one_core = states_of(known, MANY), known.robot.compiled(threads=1)
    peer = peer_of(known, states[:, 0])
    times = interleaved({'ours': partial(one_core.inverse_dynamics, *states), 'pin': peer}, seconds=0.002, rounds=201)
    a_state = times['ours'] / MANY
    print(
        f'{known.name}, {MANY} states, one core: {1e6 * a_state:.2f} us a state, '
        f'pin {1e6 * times["pin"]:.2f} us a call; / pin {verdict(a_state / times["pin"], OF_MANY)}'
    )


if __name__ == '__main__':
    main()
