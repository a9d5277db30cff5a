"""What does one call from Python cost, against the Python bindings of Pinocchio and other libraries?"""

import numpy as np
from measure import heading, interleaved, verdict
from peers import STATE, peers_found

from robot_dynamics_ros import Robot

# program: at most for the specialised binding, at most for the Robot method, as a part of Pinocchio's time
FIGURES = {
    'inverse_dynamics': (0.33, 0.90),
    'mass_matrix': (0.40, 0.90),
    'forward_dynamics': (0.24, 0.60),
    'gravity_torque': (0.40, 0.90),
}


def main():
    print(heading())
    robot = Robot.named('aubo_i5')
    peers = peers_found(robot)
    q, qd, x = STATE
    load, single = robot._load, robot._specialised.single
    vector, matrix = np.zeros(6), np.zeros((6, 6))
    calls = {
        'inverse_dynamics': {
            'specialised': lambda: single.inverse_dynamics(q, qd, x, load, vector),
            'Robot': lambda: robot.inverse_dynamics(q, qd, x),
        },
        'mass_matrix': {
            'specialised': lambda: single.mass_matrix(q, load, matrix),
            'Robot': lambda: robot.mass_matrix(q),
        },
        'forward_dynamics': {
            'specialised': lambda: single.forward_dynamics(q, qd, x, load, vector),
            'Robot': lambda: robot.forward_dynamics(q, qd, x),
        },
        'gravity_torque': {
            'specialised': lambda: single.gravity_torque(q, load, vector),
            'Robot': lambda: robot.gravity_torque(q),
        },
    }
    for name, ours in calls.items():
        offered = {peer: of_peer[name] for peer, of_peer in peers.items() if name in of_peer}
        times = interleaved(ours | offered)
        print(f'{name}: ' + ', '.join(f'{binding} {1e9 * times[binding]:.0f} ns' for binding in ours))
        for peer in offered:
            ratios = {binding: times[binding] / times[peer] for binding in ours}
            if peer == 'pin':
                said = [verdict(ratios[binding], at_most) for binding, at_most in zip(ours, FIGURES[name], strict=True)]
            else:
                said = [f'{ratio:.2g}' for ratio in ratios.values()]
            shown = ', '.join(f'{binding} / it {ratio}' for binding, ratio in zip(ours, said, strict=True))
            print(f'  {peer} {1e9 * times[peer]:.0f} ns; {shown}')


if __name__ == '__main__':
    main()
