"""What does forward dynamics with closed loops cost from Python, against Pinocchio's ``constraintDynamics``?

Pinocchio's constraints hold points and frames together; the linkage is one of planar joints in space, with a redundant
row. Its proximal steps end at its default accuracy of 1e-12.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pinocchio as pin

from benchmark.measure import heading, interleaved, verdict

sys.path.insert(0, str(Path(__file__).parents[2] / 'test'))

from support.robots import mechanisms
from support.robots.random_trees import BASE, pinocchio_positions, pinocchio_tree

FIGURES = {'four-bar, point': 0.9, 'delta': 0.9, 'Stewart platform': 0.9, 'cable of 100': 0.35}
"""Time of one call at most, as a part of Pinocchio's."""
AGREEMENT = 1e-9


def peer_of(mechanism, q, qd, tau):
    """Return Pinocchio's call at one state, and the places of our velocities in its result."""
    joints = list(mechanism.joints)
    model, order, velocities = pinocchio_tree(joints)
    model.gravity.linear = mechanism.robot.gravity
    numbers = {BASE: 0, **{joints[k].link: number for number, k in enumerate(order, start=1)}}
    held, held_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for closure in mechanism.robot.model.loops.closures:
        ends = ((closure.link_a, closure.pose_a), (closure.link_b, closure.pose_b))
        places = [part for link, pose in ends for part in (numbers[link or BASE], pin.SE3(pose))]
        constraint = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *places, pin.ReferenceFrame.LOCAL)
        held.append(constraint)
        held_data.append(constraint.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, held, held_data)
    settings = pin.ProximalSettings(1e-12, 1e-12, 1e-10, 20)
    state = pinocchio_positions(joints, order, q), qd[velocities], tau[velocities]
    return partial(pin.constraintDynamics, model, data, *state, held, held_data, settings), velocities


def main():
    print(heading())
    found = [*mechanisms.MECHANISMS.values(), mechanisms.cable(100)]
    for mechanism in (it for it in found if it.name in FIGURES):
        state = mechanism.state(0)
        peer, velocities = peer_of(mechanism, *state)
        still = mechanism.robot.with_loops(mechanism.loops, gain=0.0).forward_dynamics(*state)
        difference = np.abs(peer() - still[velocities]).max() / np.abs(still).max()
        assert difference < AGREEMENT, f'{mechanism.name}: off by {difference:.1e}'
        calls = {'pin': peer}
        for binding in ('generic', 'specialised'):
            robot = mechanism.robot.compiled() if binding == 'specialised' else mechanism.robot
            robot.forward_dynamics(*state)
            calls[binding] = partial(robot.forward_dynamics, *state)
        times = interleaved(calls, seconds=0.005, rounds=101)
        rows = len(mechanism.robot.loop_errors(state[0]))
        print(
            f'{mechanism.name}, {len(state[1])} velocities, {rows} rows, agrees to {difference:.0e}: '
            + ', '.join(f'{name} {1e6 * time:.2f} us' for name, time in times.items())
            + f'; generic / pin {verdict(times["generic"] / times["pin"], FIGURES[mechanism.name])}'
            + f'; specialised / pin {times["specialised"] / times["pin"]:.3f}'
        )


if __name__ == '__main__':
    main()
