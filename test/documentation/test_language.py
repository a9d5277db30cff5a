"""Phrases that readers stumbled over do not come back: each stands beside what the field says instead."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTEAD = {
    r'as the frame of its tool feels|feels? them': 'the operational-space dynamics of a frame',
    r'better code as soon as|as soon as that pays': 'tiered compilation',
    r'these functions stand for': 'intrinsics for compiled functions',
    r'as far as the other (rows|constraints) meet': 'dependent constraints get a zero multiplier',
    r'that knows no|robot that knows no|who knows of': 'independent of; without',
    r'knows? of (no|nothing)': 'reset; without a message, assume none',
    r'takes in that\b|takes? up what|puts? down': 'records; blends between two payloads',
    r'sees no change': 'the lock blocks updates',
    r'arrays apart\b': 'arrays that do not overlap',
    r'(what|which) takes (less|the least) time': 'whichever is faster',
    r'(is|are) forgotten': 'is cleared',
    r'a joint of its own, and a finding': 'imported as an independent joint; reported as a finding',
    r'errors fit together': 'errors are correlated',
    r'is no safety function|belongs? into': 'is not a safety function; belong in',
    r'because its torques are known': 'thanks to feedforward torques',
    r'rows of (closed )?loops|closing torque|square of effect': 'constraints, closure torque, effective mobility',
    r'in so many s\b': 'over ramp_time seconds',
    r'the way of (numbers|a batch)': 'memory layout; SIMD transpose',
    r'beyond all numbers|what no body can be': 'overflow; physically inconsistent inertia',
    r'be told apart': 'be distinguished; identifiable',
    r'fall(s|ing)? silent|answers? nothing more': 'stop publishing',
    r'in whose frame': 'expressed in the frame of',
    r'figures of unknown origin': 'validation of untrusted values',
    r'not come from a node once more': 'compensated by the robot itself',
    r'goes down and up again': 'reconfigures',
    r'was over before it came': 'ended before it was received',
    r'thousand million operations': 'GFLOP/s',
    'what a robot answers|a file a subject': 'dynamics quantities of a robot',
    'whatever its last link weighs': "the last link's inertia is a run-time argument",
    "as one link's frame feels": 'operational-space dynamics of a frame',
    'where links are, how they move': 'forward and differential kinematics',
    'no derivatives of coordinates': 'qd is not the time derivative of q',
    'two robots alike': 'hash of all model parameters',
    "facade's gate": 'argument validation',
    'what a robot is to the kernels': 'model arrays and caller-owned workspace',
    'what kinds of joints there are': 'joint types',
    "Numba's own way": "bypasses Numba's unboxing",
    'handing a part pays': 'minimum number of states per thread',
    'takes? up or puts?|what it carries; handover': 'blends a control law between two payloads',
    'states stop that it should answer': 'joint-state timeout',
    'carried on to other stamps': "extrapolated to the state's stamp",
    'what a published torque holds': 'torque terms',
    'out of which no exception comes': 'callback guard',
    'reading its audit out': "log the model check's findings",
    'how bad things are': 'diagnostic level',
    'a torque without input': 'torque on timeout',
    'the arm is met': 'from the measured state',
    'friction at rest beyond': 'Stribeck friction',
    'without a torque between': 'reconfigures and publishes nothing meanwhile',
    'takes its motion along': 'for a moving base pass base_velocity',
    'its mass counts to|its name goes on': 'lumped into the parent link; the name stays as a frame',
    'its target is met': 'dependent constraints get a zero multiplier',
    'what leaves a torque node': 'torque, command and info publishers',
    'who holds the lock': 'the lock blocks updates',
    'without a reference nothing is done|without_a_reference_nothing': 'a node without a reference publishes nothing',
    r'of an effort limit of|state another one\b': 'gravity needs 30 of 40 N m in mid-range; raise effort_limit',
    'it is for the joints': 'residual model is for joints a b; the robot has c d',
    'stamp is not later than': 'sample stamp did not increase',
    'return inertia, which joint': 'return the inertia seen by joint i',
    'turn of a continuous joint is no motion': 'differences of continuous joints are modulo 2 pi',
    'so much later than the motion': 'efforts lag the motion by 1.8 ms',
    "words of a machine|template fields|XML's attributes": 'argument words, substitutions, attributes',
    'so that the value makes no step': 'bumpless transfer from the present value',
    'it or its link': 'duplicate joint or link name',
    'CarryingRobot|await_load|load_ramp_time': 'RobotWithPayload; payload_gravity',
    'load refused last': 'payload or gravity message rejected',
    'torques slowed': 'torques rate-limited',
}
TEXTS = [
    *(ROOT / 'robot_dynamics_ros').rglob('*.py'),
    *(ROOT / 'robot_dynamics_ros').rglob('*.c'),
    *(ROOT / 'robot_dynamics_controllers' / 'src').rglob('*.cpp'),
    *(ROOT / 'fuzz').rglob('*.py'),
    *(ROOT / 'doc').rglob('*.md'),
    *(path for folder in ('config', 'examples', 'launch') for path in (ROOT / folder).rglob('*.*') if path.is_file()),
    *ROOT.glob('*.md'),
]


@cache
def lines_of(path: Path) -> str:
    """Return the text of a file; a phrase may go on in the next line, behind its indentation or mark of a comment."""
    return re.sub(r'\s*\n\s*(#|//|\*)?\s*', ' ', path.read_text(errors='replace')).lower()


@pytest.mark.parametrize('phrase', INSTEAD)
def test_a_phrase_does_not_come_back(phrase):
    found = [
        f'{path.relative_to(ROOT)}: {it[0]!r}' for path in TEXTS for it in re.finditer(phrase.lower(), lines_of(path))
    ]
    assert not found, f'say: {INSTEAD[phrase]}'


def test_texts_are_read():
    assert len(TEXTS) > 300 and any('rigid-body' in lines_of(path) for path in TEXTS)
