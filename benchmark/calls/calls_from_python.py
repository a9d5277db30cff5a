"""What does one call from Python cost, against the Python bindings of Pinocchio and other libraries?"""

from functools import partial

from benchmark.measure import heading, interleaved, verdict
from benchmark.peers import ARGUMENTS, STATE, of_link, peers_found
from robot_dynamics_ros import Robot

# program: at most for the specialised binding, at most for the Robot method, as a part of Pinocchio's time
FIGURES = {
    'inverse_dynamics': (0.33, 0.90),
    'mass_matrix': (0.40, 0.90),
    'forward_dynamics': (0.24, 0.60),
    'gravity_torque': (0.40, 0.90),
    'inverse_dynamics_derivatives': (0.30, 0.90),
    'forward_dynamics_derivatives': (0.35, 0.90),
    'torque_regressor': (0.35, 0.90),
    'jacobian': (0.40, 2.00),
}


def main():
    print(heading())
    robot = Robot.named('aubo_i5').compiled()
    peers = peers_found(robot)
    for name, figures in FIGURES.items():
        state, link = STATE[: ARGUMENTS[name]], of_link(name)
        out = getattr(robot, name)(*state, *link)
        getattr(robot, name)(*state, *link)
        own = robot._evaluator.calls[(name, *link, 'local_world_aligned') if link else name]
        ours = {
            'specialised': partial(own, *state, robot._inputs, out),
            'Robot': partial(getattr(robot, name), *state, *link),
        }
        offered = {peer: of_peer[name] for peer, of_peer in peers.items() if name in of_peer}
        times = interleaved(ours | offered)
        print(f'{name}: ' + ', '.join(f'{binding} {1e9 * times[binding]:.0f} ns' for binding in ours))
        for peer in offered:
            ratios = {binding: times[binding] / times[peer] for binding in ours}
            if peer == 'pin':
                said = [verdict(ratios[binding], at_most) for binding, at_most in zip(ours, figures, strict=True)]
            else:
                said = [f'{ratio:.2g}' for ratio in ratios.values()]
            shown = ', '.join(f'{binding} / it {ratio}' for binding, ratio in zip(ours, said, strict=True))
            print(f'  {peer} {1e9 * times[peer]:.0f} ns; {shown}')


if __name__ == '__main__':
    main()
