"""What does simulated time cost: ten seconds of one arm, a step of 1,000 arms, a torque in Python, a new process?"""

import statistics

import numpy as np

from benchmark.measure import first_line, heading, interleaved, verdict
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import TORQUE
from robot_dynamics_ros.simulation import simulate

TEN_SECONDS = 0.1
"""s, with Runge-Kutta steps of 1 ms."""
A_STEP = 5.0
"""Batched forward dynamics of a state; four of them are the method's own."""
STATES, STEPS = 1_000, 200
METHODS = {'euler': 1, 'semi_implicit': 1, 'rk4': 4}
PROCESSES = {
    'robot': "Robot.named('aubo_i5').forward_dynamics(row, row, row)",
    'robot and simulated second': "simulate(Robot.named('aubo_i5'), row, row)",
}
PROCESS = """
import numpy as np
from robot_dynamics_ros import Robot
from robot_dynamics_ros.simulation import simulate
row = np.zeros(6)
{}
print('done', flush=True)
"""


class NoTorque:
    """A control law without computation."""

    def torque(self, state, out):
        out[:] = 0.0
        return TORQUE

    def stop_following(self): ...

    def set_back(self, now): ...


def main():
    print(heading())
    random = np.random.default_rng(0)
    q, qd, tau = random.uniform(-1.0, 1.0, (3, STATES, 6))
    for binding in ('specialised', 'generic'):
        robot = Robot.named('aubo_i5')
        robot = robot.compiled(threads=1) if binding == 'specialised' else robot
        times = interleaved({'ten': lambda robot=robot: simulate(robot, q[0], qd[0], duration=10.0)})
        print(f'{binding}: 10 s of one arm in {times["ten"]:.4f} s; seconds {verdict(times["ten"], TEN_SECONDS)}')
        of_states(robot, binding, q, qd, tau)
        of_torques(robot, binding, q[0], qd[0], tau[0])
    for name, statement in PROCESSES.items():
        code = PROCESS.format(statement)
        first_line(code)
        seconds = statistics.median(first_line(code) for _ in range(9))
        print(f'{name}: {seconds:.2f} s from the start of a process, with everything compiled before')


def of_states(robot, binding, q, qd, tau):
    """Print what a step of one of 1,000 arms costs on one core."""
    out = np.empty_like(q)
    for method, evaluations in METHODS.items():
        for every in (1, 10):
            times = interleaved(
                {
                    'steps': lambda method=method, every=every: simulate(
                        robot, q, qd, duration=1e-3 * STEPS, method=method, every=every, threads=1
                    ),
                    'forward': lambda: robot.forward_dynamics(q, qd, tau, out=out),
                }
            )
            ratio = times['steps'] / STEPS / times['forward']
            shown = verdict(ratio, A_STEP) if method == 'rk4' else f'{ratio:6.3f} (evaluations a step: {evaluations})'
            a_step = 1e9 * times['steps'] / STEPS / STATES
            print(
                f'{binding}, {method}, every {every} steps a sample: {a_step:.0f} ns a state and step, '
                f'/ batched forward dynamics {shown}'
            )


def of_torques(robot, binding, q, qd, tau):
    """Print what a Runge-Kutta step of one arm costs with each kind of torque."""
    torques = {'rows': np.tile(tau, (STEPS, 1)), 'function': lambda t, q, qd: tau, 'law': NoTorque()}
    times = interleaved(
        {
            name: lambda torque=torque: simulate(robot, q, qd, torque, duration=1e-3 * STEPS)
            for name, torque in torques.items()
        }
    )
    shown = ', '.join(f'{name} {1e6 * seconds / STEPS:.1f} us' for name, seconds in times.items())
    print(f'{binding}, a Runge-Kutta step of one arm by torque: {shown}')


if __name__ == '__main__':
    main()
