"""How long do a batch and its gradient take in PyTorch, against bard?

Arms of 6 and 7 joints without rotors and with code of their own (``compiled``), in double precision, and the same
number of threads on both sides; the minimum of several rounds. bard is in no package index: it is installed from its
public repository (https://github.com/YueWang996/bard-pytorch-dynamics, commit fd70dc4c, version 0.4.3, for the results
here). A call of it includes ``update_kinematics``. It is measured as it is and with ``enable_compilation``, as its
quick start advises, which compiles its kinematics; the first call then takes up to minutes, and so gradients, which
gain little by it, and other batches are measured as it is.

A gradient is that of the sum of squares. bard has none of torques and accelerations by positions: its gradients are
those by velocities, and accelerations or torques, ours are by positions, too. That of the mass matrix is by positions
on both sides.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

from benchmark.frameworks.casadi_instructions import arms
from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Robot

PROGRAMS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')
COUNT, NEIGHBOURS = 4096, (1, 64, 1024, 65_536)
"""States of a batch, and of other batches of the first arm with one thread."""
THREADS = (1, 2)
AT_MOST = 0.5
"""Time, as a part of bard's."""
AGREEMENT = 1e-9
ROUNDS = 5


def bard_model(robot: Robot, compiled: bool):
    """Return bard's model of a robot."""
    import bard
    import torch

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'arm.urdf'
        path.write_text(robot.to_urdf())
        model = bard.build_model_from_urdf(path, dtype=torch.float64, compile_enabled=compiled)
    assert model.get_joint_names() == list(robot.joint_names)
    return model


def bard_function(model, program: str, count: int, gravity: np.ndarray):
    """Return bard's function of a batch. Each has a workspace: a gradient replaces the arrays there."""
    import bard
    import torch

    data, gravity = bard.create_data(model, max_batch_size=count), torch.tensor(gravity)

    def inverse_dynamics(q, qd, qdd):
        bard.update_kinematics(model, data, q, qd)
        return bard.rnea(model, data, qdd, gravity=gravity)

    def forward_dynamics(q, qd, tau):
        bard.update_kinematics(model, data, q, qd)
        return bard.aba(model, data, tau, gravity=gravity)

    def mass_matrix(q):
        bard.update_kinematics(model, data, q)
        return bard.crba(model, data)

    return {it.__name__: it for it in (inverse_dynamics, forward_dynamics, mass_matrix)}[program]


def calls_of(function, rows: np.ndarray, by: list[bool]) -> dict:
    """Return the calls for the values and for the gradient, which is that by the chosen vectors."""
    import torch

    states = [torch.tensor(row, requires_grad=chosen) for row, chosen in zip(rows, by, strict=True)]

    def values():
        with torch.no_grad():
            return [function(*(state.detach() for state in states))]

    def gradient():
        return torch.autograd.grad(function(*states).square().sum(), [it for it in states if it.requires_grad])

    return {'values': values, 'gradient': gradient}


def check(name: str, results, expected) -> None:
    """Compare with ours the results of bard, whose gradients lack the first."""
    for result, known in zip(results, expected[-len(results) :], strict=True):
        difference = (result - known).abs().max() / known.abs().max()
        assert difference < AGREEMENT, f'{name}: off by {difference:.1e}'


def compare(robot: Robot, count: int, threads: int, forms: dict[str, bool]) -> None:
    """Print times of ours, and of forms of bard, which are compiled or not, for a batch of ``count`` states."""
    models = {form: bard_model(robot, compiled) for form, compiled in forms.items()}
    for program in PROGRAMS:
        rows = np.random.default_rng(0).normal(size=(1 if program == 'mass_matrix' else 3, count, robot.nv))
        by = [program == 'mass_matrix', True, True][: len(rows)]
        for what, ours in calls_of(robot.torch(program), rows, [True] * len(rows)).items():
            peers = {}
            for form, compiled in forms.items():
                if what == 'values' or not compiled:
                    function = bard_function(models[form], program, count, np.array(robot.gravity))
                    peers[form] = calls_of(function, rows, by)[what]
                    check(f'{form}, {program}, {what}', peers[form](), ours())
            times = interleaved({'ours': ours, **peers}, rounds=ROUNDS, of_rounds=min)
            batch = f'{robot.name}, {count} states, {threads} thread{"s" * (threads > 1)}'
            print(f'{batch}, {program}, {what}: {1e3 * times["ours"]:.3f} ms', flush=True)
            for form in peers:
                ratio = verdict(times['ours'] / times[form], AT_MOST)
                print(f'  {form} {1e3 * times[form]:.2f} ms; ours / it {ratio}', flush=True)


def main():
    # read when PyTorch is imported; on a shared machine, threads that spin delay the one that they wait for
    os.environ.setdefault('OMP_WAIT_POLICY', 'passive')
    print(heading())
    try:
        import torch
    except ImportError as error:
        print(f'nothing is measured: {error}')
        return
    try:
        import bard  # noqa: F401
    except ImportError as error:
        print(f'bard: not measured, since it is in no package index ({error})')
        forms = {}
    else:
        forms = {'bard': False, 'bard, kinematics compiled': True}
    for arm in arms().values():
        for threads in THREADS:
            torch.set_num_threads(threads)
            compare(arm.compiled(threads=threads), COUNT, threads, forms)
    threads = THREADS[0]
    torch.set_num_threads(threads)
    first = next(iter(arms().values())).compiled(threads=threads)
    for count in NEIGHBOURS:
        compare(first, count, threads, {form: compiled for form, compiled in forms.items() if not compiled})


if __name__ == '__main__':
    main()
