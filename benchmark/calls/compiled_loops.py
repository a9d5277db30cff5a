"""What does one state cost inside compiled code (a loop over 100,000 random states), against Pinocchio from Python?"""

import numba
import numpy as np

from benchmark.measure import heading, interleaved, verdict
from benchmark.peers import pinocchio_calls
from robot_dynamics_ros import Robot

COUNT = 100_000
FIGURES = {'inverse_dynamics': 0.12, 'mass_matrix': 0.18, 'forward_dynamics': 0.10}


def loop_over(kernel, arguments: int):
    """Return a compiled loop that calls a generated function state by state, as a controller's loop would."""
    if arguments == 1:

        @numba.njit(error_model='numpy')
        def loop(rows, runtime_inputs, out):
            for k in range(rows.shape[1]):
                kernel(rows[0, k], runtime_inputs, out[k])

    else:

        @numba.njit(error_model='numpy')
        def loop(rows, runtime_inputs, out):
            for k in range(rows.shape[1]):
                kernel(rows[0, k], rows[1, k], rows[2, k], runtime_inputs, out[k])

    return loop


def main():
    print(heading())
    robot = Robot.named('aubo_i5')
    peer = pinocchio_calls(robot)
    for name, at_most in FIGURES.items():
        arguments = 1 if name == 'mass_matrix' else 3
        rows = np.random.default_rng(0).normal(size=(arguments, COUNT, 6))
        out = np.empty((COUNT, 36 if name == 'mass_matrix' else 6))
        loop, runtime_inputs = loop_over(robot.kernel(name), arguments), robot.runtime_inputs
        times = interleaved({'loop': lambda: loop(rows, runtime_inputs, out), 'pin': peer[name]})
        assert (out.reshape(getattr(robot, name)(*rows).shape) == getattr(robot, name)(*rows)).all()
        a_state = times['loop'] / COUNT
        print(f'{name}: {1e9 * a_state:.0f} ns a state, / pin {verdict(a_state / times["pin"], at_most)}')


if __name__ == '__main__':
    main()
