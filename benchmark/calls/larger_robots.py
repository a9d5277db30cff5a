"""What do MuJoCo and frax (JAX, compiled for the processor) need from Python for an arm of 9 joints and a humanoid?

A call of frax ends when its result is a NumPy array.
"""

import os
import tempfile
from functools import partial
from pathlib import Path

os.environ |= {
    # as frax recommends for one robot; read when JAX is imported
    'JAX_PLATFORMS': 'cpu',
    'JAX_ENABLE_X64': '1',
    'XLA_FLAGS': '--xla_cpu_multi_thread_eigen=false --xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED',
}

import numpy as np

from benchmark.known_robots import Known, panda, talos_reduced
from benchmark.measure import heading, interleaved
from benchmark.peers import mujoco_calls_at

AGREEMENT = 1e-6
ARGUMENTS = {'inverse_dynamics': 3, 'mass_matrix': 1, 'forward_dynamics': 3, 'gravity_torque': 1}


def mujoco_calls(known: Known) -> dict:
    import mujoco

    return mujoco_calls_at(known.robot, mujoco.MjModel.from_xml_string(known.robot.to_urdf()), known.state())


def frax_calls(known: Known) -> dict:
    import frax
    import jax

    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / 'robot.urdf'
        urdf.write_text(known.robot.to_urdf())
        robot = frax.Robot(str(urdf), joint_ordering=list(known.robot.joint_names))
    upwards = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    programs = {
        'inverse_dynamics': lambda q, qd, qdd: robot.rnea(q, qd, qdd, upwards, None),
        'mass_matrix': robot.crba,
        'forward_dynamics': lambda q, qd, tau: robot.forward_dynamics(q, qd, tau, None),
        'gravity_torque': robot.gravity_vector,
    }
    compiled = {name: jax.jit(program) for name, program in programs.items()}
    state = known.state()
    return {
        name: lambda program=program, name=name: np.asarray(program(*state[: ARGUMENTS[name]]))
        for name, program in compiled.items()
    }


PEERS = {'mujoco': mujoco_calls, 'frax': frax_calls}


def peers_of(known: Known) -> dict[str, dict]:
    """Return the calls of each library; AssertionError where one does not agree."""
    found = {}
    for peer, calls_of in PEERS.items():
        try:
            found[peer] = calls_of(known)
        except ImportError as error:
            print(f'{peer}: missing, pip install -r requirements/benchmark.txt ({error})')
            continue
        largest = 0.0
        for program, call in found[peer].items():
            expected = getattr(known.robot, program)(*known.state()[: ARGUMENTS[program]])
            difference = np.abs(np.asarray(call()) - expected).max() / np.abs(expected).max()
            assert difference < AGREEMENT, f'{peer}, {known.name}, {program}: off by {difference:.1e}'
            largest = max(largest, difference)
        print(f'{known.name}: {peer} agrees to {largest:.0e}')
    return found


def main():
    print(heading())
    for known in (panda(), talos_reduced()):
        peers = peers_of(known)
        for program, arguments in ARGUMENTS.items():
            ours = partial(getattr(known.robot, program), *known.state()[:arguments])
            times = interleaved({'ours': ours} | {peer: calls[program] for peer, calls in peers.items()})
            others = (f'{peer} {1e6 * times[peer]:.2f} us, / it {times["ours"] / times[peer]:.3f}' for peer in peers)
            print(f'  {program}: {1e6 * times["ours"]:.2f} us; ' + '; '.join(others))


if __name__ == '__main__':
    main()
