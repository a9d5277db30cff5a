"""Program: prints digests of models, and of what README's lines and batches compute, as JSON.

``scripts/compatibility --arm`` compares them between processors; ``model_bits`` prints more, in minutes of compilation.
"""

import json
import re
from pathlib import Path

from support.code.model_bits import bits, made_robots, model_bits
from support.robots.example_robots import example_urdfs

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.library import model_names

README = Path(__file__).parents[3] / 'README.md'
STATES = 1000


def models() -> dict[str, list[str]]:
    """Return the digests of robots of every origin but MJCF: MuJoCo compiles that, with other bits on ARM64."""
    found = {name: model_bits(robot) for name, robot in made_robots().items() if name != 'MJCF'}
    found |= {name: model_bits(Robot.named(name)) for name in model_names()}
    for path in example_urdfs():
        try:
            found[Path(path).name] = model_bits(Robot.from_urdf(path))
        except ModelError as error:  # an empty robot
            found[Path(path).name] = [type(error).__name__]
    return found


def readme() -> dict[str, str]:
    """Return the digests of the arrays that the Python lines of README make."""
    (lines,) = re.findall(r'^```python\n(.*?)^```', README.read_text(encoding='utf-8'), flags=re.MULTILINE | re.DOTALL)
    made: dict = {}
    exec(compile(lines, README, 'exec'), made)
    return {f'README: {name}': bits(value) for name, value in made.items() if isinstance(value, np.ndarray)}


def batches() -> dict[str, str]:
    """Return the digests of batches by specialised code, and of their first states one by one."""
    robot, random = Robot.named('aubo_i5'), np.random.default_rng(20261126)
    q, qd, qdd, tau = random.uniform(-3.0, 3.0, (4, STATES, robot.nv))
    asked = {
        'inverse_dynamics': (q, qd, qdd),
        'forward_dynamics': (q, qd, tau),
        'mass_matrix': (q,),
        'gravity_torque': (q,),
    }
    found = {}
    for name, inputs in asked.items():
        quantity = getattr(robot, name)
        found[name] = bits(quantity(*inputs))
        found[f'{name}, one by one'] = bits(*(quantity(*state) for state in zip(*inputs, strict=True)))
    return found


if __name__ == '__main__':
    print(json.dumps({**models(), **readme(), **batches()}, indent=0))  # noqa: T201 (what the caller reads)
