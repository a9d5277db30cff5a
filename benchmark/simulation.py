"""What does simulated time cost: ten seconds of one arm, and a step of 1,000 arms against batched forward dynamics?"""

import numpy as np
from measure import heading, interleaved, verdict

from robot_dynamics_ros import Robot
from robot_dynamics_ros.simulation import simulate

TEN_SECONDS = 0.1
"""s, with Runge-Kutta steps of 1 ms."""
A_STEP = 5.0
"""Batched forward dynamics of a state; four of them are the method's own."""
STATES, STEPS = 1_000, 200
METHODS = {'euler': 1, 'semi_implicit': 1, 'rk4': 4}


def main():
    print(heading())
    random = np.random.default_rng(0)
    q, qd, tau = random.uniform(-1.0, 1.0, (3, STATES, 6))
    for binding in ('specialised', 'generic'):
        robot = Robot.named('aubo_i5').with_binding(binding, threads=1)
        times = interleaved({'ten': lambda robot=robot: simulate(robot, q[0], qd[0], duration=10.0)})
        print(f'{binding}: 10 s of one arm in {times["ten"]:.4f} s; seconds {verdict(times["ten"], TEN_SECONDS)}')
        out = np.empty_like(q)
        for method, evaluations in METHODS.items():
            for every in (1, 10):
                times = interleaved(
                    {
                        'steps': lambda robot=robot, method=method, every=every: simulate(
                            robot, q, qd, duration=1e-3 * STEPS, method=method, every=every, threads=1
                        ),
                        'forward': lambda robot=robot: robot.forward_dynamics(q, qd, tau, out=out),
                    }
                )
                ratio = times['steps'] / STEPS / times['forward']
                judged = method == 'rk4' and every == 10
                shown = verdict(ratio, A_STEP) if judged else f'{ratio:6.3f} ({evaluations} of its own)'
                a_step = 1e9 * times['steps'] / STEPS / STATES
                print(
                    f'{binding}, {method}, every {every} steps a sample: {a_step:.0f} ns a state and step, '
                    f'/ batched forward dynamics {shown}'
                )


if __name__ == '__main__':
    main()
