"""Table of identified parameters: as text, in plain sentences, and as the file parameters.yaml of a result."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import read_text
from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import parsed_yaml
from robot_dynamics_ros.identification import IdentifiedParameter
from robot_dynamics_ros.identification.parameter_table import INERTIAL
from robot_dynamics_ros.model import untrusted_values

FILE = 'parameters.yaml'
"""Name of the file in the folder of a result."""
KEYS = ('of', 'parameter', 'unit', 'described', 'identified', 'standard_deviation', 'told_by', 'sum_with')
DIGITS = '.4g'


class Estimate(NamedTuple):
    """A parameter of a result as it is in its file."""

    unit: str
    identified: float
    standard_deviation: float  # infinite: not determined
    sum_with: dict[str, float]  # coefficients of what a sum has in addition


def parameter_text(parameters: Sequence[IdentifiedParameter]) -> str:
    """Return the parameters as a table, one a line."""
    width = max(len(it.of) for it in parameters)
    lines = [f'{"":<{width}}  {"":<21}{"described":>12}{"identified":>12}{"deviation":>12}']
    for it in parameters:
        name = f'{it.name}{" + ..." if it.others else ""}'
        numbers = it.described, it.identified, it.standard_deviation
        cells = ''.join(f'{number:>12{DIGITS}}' if np.isfinite(number) else f'{"-":>12}' for number in numbers)
        lines.append(
            f'{it.of:<{width}}  {name:<21}{cells}  {it.unit:<12} {"" if it.is_told else "by description"}'.rstrip()
        )
    lines.append(f'+ ...: a sum, of which torques tell no part alone; {FILE} has its terms')
    return '\n'.join(lines)


def untold_sentences(parameters: Sequence[IdentifiedParameter]) -> Iterator[str]:
    """Yield which parameters the description decides, and which ones the log tells in a sum with a rotor inertia."""
    untold: dict[tuple[str, ...], list[str]] = {}
    for of, group in itertools.groupby(parameters, lambda it: it.of):
        if names := tuple(f'{it.name}{" + ..." if it.others else ""}' for it in group if not it.is_told):
            untold.setdefault(names, []).append(of)
    for names, owners in untold.items():
        yield f'the log says little about {", ".join(names)} of {", ".join(owners)}: the description decides'
    for it in parameters:
        if it.tied_to:
            text = f'of {it.name} of {it.of} and the rotor inertia of {it.tied_to}'
            yield f'{text} the log tells the sum better than either'


def unseen_sentences(parameters: Sequence[IdentifiedParameter]) -> Iterator[str]:
    """Yield which parameters of links have no effect on any torque of a motion, alone or in a sum."""
    seen = {(it.of, it.name) for it in parameters} | {term[1:] for it in parameters for term in it.others}
    links = dict.fromkeys(link for link, name in seen if name in INERTIAL)
    order = [it.of for it in parameters if it.of in links]
    for link in dict.fromkeys([*order, *sorted(links)]):
        names = [name for name in INERTIAL if (link, name) not in seen]
        if names:
            yield f'no torque depends on {", ".join(names)} of {link}'


def parameter_yaml(parameters: Sequence[IdentifiedParameter]) -> str:
    """Return the file of the parameters."""
    return yaml.safe_dump([_entry(it) for it in parameters], sort_keys=False, default_flow_style=None, width=200)


def read_parameters(path: Path) -> dict[tuple[str, str], Estimate]:
    """Return the parameters of a file by joint or link, and name. ModelError names the file and the entry."""
    try:
        entries = parsed_yaml(read_text(path))
        if not isinstance(entries, list):
            raise ModelError(f'expected a list of parameters, got {untrusted_values.shown(entries)}')
        return dict(_estimate(f'[{k}]', entry) for k, entry in enumerate(entries))
    except ModelError as error:
        raise ModelError(f'{path}: {error}') from None


def _entry(it: IdentifiedParameter) -> dict:
    """Return a parameter as it is written."""
    told = 'log' if it.is_told else 'description'
    numbers = {
        'described': it.described,
        'identified': it.identified,
        'standard_deviation': it.standard_deviation,
    }
    return {
        'of': it.of,
        'parameter': it.name,
        'unit': it.unit,
        **{name: float(f'{value:.6g}') if np.isfinite(value) else None for name, value in numbers.items()},
        'told_by': f'{told}, better in a sum with the rotor inertia of {it.tied_to}' if it.tied_to else told,
        **({'sum_with': {f'{name} of {link}': float(f'{c:.6g}') for c, link, name in it.others}} if it.others else {}),
    }


def _estimate(where: str, entry) -> tuple[tuple[str, str], Estimate]:
    """Return joint or link and name of an entry, and its estimate."""
    content = untrusted_values.table(where, entry, KEYS, KEYS[:-1])
    of, name = (untrusted_values.name(f'{where}: {key}', content[key]) for key in ('of', 'parameter'))
    deviation = content['standard_deviation']
    sums = untrusted_values.table(f'{where}: sum_with', content.get('sum_with', {}))
    return (of, name), Estimate(
        str(content['unit']),
        untrusted_values.number(f'{where}: identified', content['identified']),
        np.inf if deviation is None else untrusted_values.number(f'{where}: standard_deviation', deviation, 0.0),
        {str(key): untrusted_values.number(f'{where}: sum_with: {key}', value) for key, value in sums.items()},
    )
