"""The moving picture of README shows what its script simulates, and is small."""

import runpy

from support.project.project_files import ROOT

import numpy as np
import pytest
from PIL import Image

PICTURE = ROOT / 'doc' / 'tracking.gif'


@pytest.fixture(scope='module')
def script():
    return runpy.run_path(str(ROOT / 'scripts' / 'programs' / 'animation.py'))


@pytest.fixture(scope='module')
def tracked(script):
    return script['tracked']()


def test_the_arm_with_feedforward_follows_within_a_third_of_the_error(tracked):
    t, desired, (gravity, feedforward) = tracked
    assert desired.shape == gravity.origins.shape == (len(t), 7, 3)
    assert 10.0 < gravity.error.max() < 15.0 and feedforward.error.max() < gravity.error.max() / 3.0


def test_an_animation_has_a_picture_for_each_time_but_the_last(script, tracked, tmp_path):
    t, desired, records = tracked
    few = slice(0, 4)
    parts = [it._replace(origins=it.origins[few], error=it.error[few]) for it in records]
    script['draw'](tmp_path / 'few.gif', t[few], desired[few], parts)
    with Image.open(tmp_path / 'few.gif') as drawn:
        assert drawn.n_frames == 3 and drawn.info['loop'] == 0
        first = np.array(drawn.convert('RGB'))
    with Image.open(PICTURE) as shown:
        assert shown.n_frames == len(t) - 1 and np.array(shown.convert('RGB')).shape == first.shape
    assert PICTURE.stat().st_size < 1_500_000
