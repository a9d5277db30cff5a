"""How long do a batch and its gradient take in JAX and PyTorch, against adam's functions of JAX?

Batches of 4,096 states of arms of 6 and 7 joints without rotors, in double precision, compiled by ``jax.jit``. A
gradient is that of the sum of squares, by positions, velocities, and accelerations or torques. adam has no fixed base:
its torques are M qdd + h of the joints, and its accelerations solve that equation by Cholesky's decomposition.
"""

from functools import partial

import jax
import numpy as np
from casadi_instructions import arms
from jax import numpy as jnp
from measure import heading, interleaved, verdict

from robot_dynamics_ros import Robot

PROGRAMS = ('inverse_dynamics', 'forward_dynamics')
COUNT = 4096
"""States of a batch."""
AT_MOST = {'values': 0.25, 'gradient': 0.40}
"""Time, as a part of adam's."""
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
        try:
            peer = adam_functions(robot)
        except ImportError as error:
            peer = {}
            print(f'adam: missing, pip install -r requirements/benchmark.txt ({error})')
        for program in PROGRAMS:
            rows = np.random.default_rng(0).normal(size=(3, COUNT, robot.nv))
            states = [jnp.asarray(row) for row in rows]
            ours, torch = calls_of(robot.jax(program), states), torch_calls(robot, program, rows)
            theirs = calls_of(peer[program], states) if peer else {}
            for what, call in ours.items():
                calls = {'ours': call}
                if what in torch:
                    calls['torch'] = torch[what]
                if what in theirs:
                    calls['adam'] = theirs[what]
                    expected, result = np.asarray(call()), np.asarray(theirs[what]())
                    difference = np.abs(result - expected).max() / np.abs(expected).max()
                    assert difference < AGREEMENT, f'adam, {program}, {what}: off by {difference:.1e}'
                times = interleaved(calls)
                of_torch = f', in PyTorch {1e3 * times["torch"]:.2f} ms' if 'torch' in times else ''
                print(f'{arm}, {program}, {what}: {1e3 * times["ours"]:.2f} ms{of_torch}')
                if 'adam' in times:
                    ratio = verdict(times['ours'] / times['adam'], AT_MOST[what])
                    print(f'  adam {1e3 * times["adam"]:.2f} ms; ours / it {ratio}')


if __name__ == '__main__':
    main()
