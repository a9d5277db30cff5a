"""How long do a batch and its gradient take in JAX and PyTorch, against the functions of JAX of adam and frax?

Batches of 4,096 states of arms of 6 and 7 joints without rotors, in double precision, compiled by ``jax.jit``. A
gradient is that of the sum of squares, by positions, velocities, and accelerations or torques. adam has no fixed base:
its torques are M qdd + h of the joints, and its accelerations solve that equation by Cholesky's decomposition. frax has
the gravity (0, 0, -9.81) m/s^2.
"""

import tempfile
import warnings
from functools import partial
from pathlib import Path

import jax
import numpy as np
from jax import numpy as jnp

from benchmark.frameworks.casadi_instructions import arms
from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Robot

PROGRAMS = ('inverse_dynamics', 'forward_dynamics')
COUNT = 4096
"""States of a batch."""
AT_MOST = 0.5
"""Time, as a part of a peer's."""
AGREEMENT = 1e-9


def adam_functions(robot: Robot) -> dict:
    """Return adam's functions of batches by program."""
    from adam.jax import KinDynComputations

    of_arm = KinDynComputations(robot.to_urdf(), list(robot.joint_names), gravity=np.r_[robot.gravity, np.zeros(3)])
    base, at_rest = jnp.eye(4), jnp.zeros(6)

    def terms(q, qd):
        return of_arm.mass_matrix(base, q)[6:, 6:], of_arm.bias_force(base, q, at_rest, qd)[6:]

    def inverse_dynamics(q, qd, qdd):
        M, h = terms(q, qd)
        return M @ qdd + h

    def forward_dynamics(q, qd, tau):
        M, h = terms(q, qd)
        return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(M), tau - h)

    return {it.__name__: jax.vmap(it) for it in (inverse_dynamics, forward_dynamics)}


def frax_functions(robot: Robot) -> dict:
    """Return frax's functions of batches by program."""
    with warnings.catch_warnings(action='ignore'):  # of settings of the environment
        from frax.core.robot import Robot as FraxRobot

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'arm.urdf'
        path.write_text(robot.to_urdf())
        of_arm = FraxRobot(str(path), joint_ordering=list(robot.joint_names))
    upwards = jnp.r_[-jnp.asarray(robot.gravity), jnp.zeros(3)]

    def inverse_dynamics(q, qd, qdd):
        return of_arm.rnea(q, qd, qdd, upwards, None)

    def forward_dynamics(q, qd, tau):
        return of_arm.forward_dynamics(q, qd, tau, None)

    return {it.__name__: jax.vmap(it) for it in (inverse_dynamics, forward_dynamics)}


PEERS = {'adam': adam_functions, 'frax': frax_functions}


def functions_of_peers(robot: Robot) -> dict[str, dict]:
    """Return the functions of the peers that are installed, by peer and program."""
    found = {}
    for name, functions in PEERS.items():
        try:
            found[name] = functions(robot)
        except ImportError as error:
            print(f'{name}: missing, pip install -r requirements/benchmark.txt ({error})')
    return found


def calls_of(function, states) -> dict:
    """Return the calls for the values and for the gradient of a function of JAX."""
    gradient = jax.grad(lambda *vectors: (function(*vectors) ** 2).sum(), argnums=(0, 1, 2))
    compiled = {'values': jax.jit(function), 'gradient': jax.jit(gradient)}
    return {what: partial(lambda call: jax.block_until_ready(call(*states)), call) for what, call in compiled.items()}


def torch_calls(robot: Robot, program: str, rows: np.ndarray) -> dict:
    """Return the same calls of a function of PyTorch; none if it is not installed."""
    try:
        import torch
    except ModuleNotFoundError:
        return {}
    function = robot.torch(program)
    states = [torch.tensor(row, requires_grad=True) for row in rows]

    def values():
        with torch.no_grad():
            return function(*states)

    return {
        'values': values,
        'gradient': lambda: torch.autograd.grad(function(*states).square().sum(), states),
    }


def main():
    jax.config.update('jax_enable_x64', True)
    print(heading())
    for arm, robot in arms().items():
        peers = functions_of_peers(robot)
        for program in PROGRAMS:
            rows = np.random.default_rng(0).normal(size=(3, COUNT, robot.nv))
            states = [jnp.asarray(row) for row in rows]
            ours, torch = calls_of(robot.jax(program), states), torch_calls(robot, program, rows)
            theirs = {name: calls_of(functions[program], states) for name, functions in peers.items()}
            for what, call in ours.items():
                of_peers = {name: calls[what] for name, calls in theirs.items()}
                for name, of_peer in of_peers.items():
                    expected, result = np.asarray(call()), np.asarray(of_peer())
                    difference = np.abs(result - expected).max() / np.abs(expected).max()
                    assert difference < AGREEMENT, f'{name}, {program}, {what}: off by {difference:.1e}'
                of_torch = {'torch': torch[what]} if what in torch else {}
                times = interleaved({'ours': call, **of_torch, **of_peers})
                in_torch = f', in PyTorch {1e3 * times["torch"]:.2f} ms' if of_torch else ''
                print(f'{arm}, {program}, {what}: {1e3 * times["ours"]:.2f} ms{in_torch}')
                for name in of_peers:
                    ratio = verdict(times['ours'] / times[name], AT_MOST)
                    print(f'  {name} {1e3 * times[name]:.2f} ms; ours / it {ratio}')


if __name__ == '__main__':
    main()
