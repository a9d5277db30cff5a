"""Phrases that readers stumbled over do not come back: each stands beside what the field says instead."""

import re
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
}
TEXTS = [
    *(ROOT / 'robot_dynamics_ros').rglob('*.py'),
    *(ROOT / 'robot_dynamics_ros').rglob('*.c'),
    *(ROOT / 'fuzz').rglob('*.py'),
    *(ROOT / 'doc').rglob('*.md'),
    *(path for folder in ('config', 'examples', 'launch') for path in (ROOT / folder).rglob('*.*') if path.is_file()),
    *ROOT.glob('*.md'),
]


def lines_of(path: Path) -> str:
    """Return the text of a file; a phrase may go on in the next line, behind its indentation or mark of a comment."""
    return re.sub(r'\s*\n\s*(#|//|\*)?\s*', ' ', path.read_text(errors='replace'))


@pytest.mark.parametrize('phrase', INSTEAD)
def test_a_phrase_does_not_come_back(phrase):
    found = [f'{path.relative_to(ROOT)}: {it[0]!r}' for path in TEXTS for it in re.finditer(phrase, lines_of(path))]
    assert not found, f'say: {INSTEAD[phrase]}'


def test_texts_are_read():
    assert len(TEXTS) > 300 and any('rigid-body' in lines_of(path) for path in TEXTS)
