"""How many instructions have functions of CasADi, and how long do they take, against those of Pinocchio and adam?

Arms of 6 and 7 joints without rotors, one state after the other in the virtual machine of CasADi. Pinocchio's are its
algorithms with CasADi's numbers (``casadi_pinocchio.cpp``), as in ``pinocchio.casadi``, which pip's wheels lack. g++
compiles them in some minutes, and needs Eigen: ``apt install libeigen3-dev``. adam has no fixed base: its torques are
M qdd + h of the joints, and its accelerations solve that equation by LDL'.
"""

import subprocess
import tempfile
from functools import partial
from importlib.metadata import files
from pathlib import Path

import numpy as np

from benchmark.measure import heading, interleaved, verdict
from robot_dynamics_ros import Robot

PROGRAMS = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix')
AT_MOST = 0.80
"""Instructions, as a part of those of a peer after CasADi's elimination of common subexpressions."""
COUNT = 1000
"""States of a call."""
AGREEMENT = 1e-9
# the lists of joint types are longer than Boost's default
DEFINED = ('BOOST_FUSION_INVOKE_MAX_ARITY=10', 'BOOST_MPL_LIMIT_LIST_SIZE=30', 'BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS')
EIGEN = '/usr/include/eigen3'


def arms() -> dict[str, Robot]:
    """Return the arms without rotors, which adam lacks."""
    panda = next(path.locate() for path in files('example-robot-data') if path.name == 'panda.urdf')
    found = [Robot.named('aubo_i5'), Robot.from_urdf(str(panda), tip_link='panda_link8')]
    return {robot.name: robot.with_rotor_inertia(np.zeros(robot.nv)) for robot in found}


def pinocchio_functions(robots: dict[str, Robot]) -> dict:
    """Return Pinocchio's functions by arm and program."""
    import casadi
    import pinocchio

    prefix = next(it for it in Path(pinocchio.__file__).parents if (it / 'include' / 'pinocchio').is_dir())
    wheel = Path(casadi.__file__).parent
    with tempfile.TemporaryDirectory() as name:
        program, arguments = Path(name) / 'casadi_pinocchio', []
        for arm, robot in robots.items():
            folder = Path(name) / arm
            folder.mkdir()
            (folder / 'arm.urdf').write_text(robot.to_urdf())
            arguments += [folder / 'arm.urdf', folder]
        options = [f'-I{path}' for path in (prefix / 'include', wheel / 'include', EIGEN)]
        for path in (prefix / 'lib', wheel):
            options += [f'-L{path}', f'-Wl,-rpath,{path}']
        options += ['-lpinocchio_default', '-lpinocchio_parsers', '-lcasadi']
        source = Path(__file__).with_name('casadi_pinocchio.cpp')
        flags = ('-std=c++17', '-O0', '-w', *(f'-D{it}' for it in DEFINED))
        subprocess.run(['g++', *flags, str(source), *options, '-o', str(program)], check=True)
        subprocess.run([program, *arguments], check=True)
        return {
            arm: {it: casadi.Function.load(str(Path(name) / arm / f'{it}.casadi')) for it in PROGRAMS} for arm in robots
        }


def adam_functions(robots: dict[str, Robot]) -> dict:
    """Return adam's functions by arm and program."""
    import casadi
    from adam.casadi import KinDynComputations

    functions = {}
    for arm, robot in robots.items():
        gravity = np.concatenate([robot.gravity, np.zeros(3)])
        of_arm = KinDynComputations(robot.to_urdf(), list(robot.joint_names), gravity=gravity)
        q, qd, x = (casadi.SX.sym(name, robot.nv) for name in ('q', 'qd', 'x'))
        base, at_rest = casadi.SX.eye(4), casadi.SX.zeros(6)
        M, h = of_arm.mass_matrix(base, q)[6:, 6:], of_arm.bias_force(base, q, at_rest, qd)[6:]
        results = M @ x + h, casadi.ldl_solve(x - h, *casadi.ldl(M)), M
        functions[arm] = {
            name: casadi.Function(name, [q] if name == 'mass_matrix' else [q, qd, x], [result])
            for name, result in zip(PROGRAMS, results, strict=True)
        }
    return functions


def shortened(function):
    """Return a function without common subexpressions."""
    import casadi

    arguments = function.sx_in()
    return casadi.Function(function.name(), arguments, [function(*arguments)], {'cse': True})


def main():
    print(heading())
    robots, peers = arms(), {}
    for name, functions in (('pinocchio', pinocchio_functions), ('adam', adam_functions)):
        try:
            peers[name] = functions(robots)
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            print(f'{name}: missing, pip install -r requirements/benchmark.txt ({error})')
    for arm, robot in robots.items():
        for program in PROGRAMS:
            ours = robot.casadi(program)
            rows = np.random.default_rng(0).normal(size=(ours.n_in(), COUNT, robot.nv))
            columns = [row.T for row in rows]
            expected = getattr(robot, program)(*rows)
            calls = {'ours': partial(ours.map(COUNT), *columns)}
            lines = {}
            for name, functions in peers.items():
                theirs = functions[arm][program]
                shorter = shortened(theirs)
                found = shorter.map(COUNT)(*columns).full().T.reshape(expected.shape)
                difference = np.abs(found - expected).max() / np.abs(expected).max()
                assert difference < AGREEMENT, f'{name}, {program}: off by {difference:.1e}'
                calls[name] = partial(shorter.map(COUNT), *columns)
                part = ours.n_instructions() / shorter.n_instructions()
                lines[name] = (
                    f'  {name} {shorter.n_instructions()}, {theirs.n_instructions()} as it is; '
                    f'ours / it {verdict(part, AT_MOST)}'
                )
            times = interleaved(calls)
            print(f'{arm}, {program}: {ours.n_instructions()} instructions, {1e6 * times["ours"] / COUNT:.2f} us')
            for name, line in lines.items():
                print(f'{line}, time {times["ours"] / times[name]:.3f}')


if __name__ == '__main__':
    main()
