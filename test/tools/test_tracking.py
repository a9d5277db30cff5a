"""A record of the demo that lacks samples is no record: it would say whatever the missing ones did not."""

import numpy as np
import pytest

from robot_dynamics_ros.tools.motions import LECTURE
from robot_dynamics_ros.tools.processes import ProcessError
from robot_dynamics_ros.tools.tracking import Tracking

START = 5_000_000_000


def record(times):
    tracking = Tracking.__new__(Tracking)  # without its graph
    tracking._samples = [(START + round(t * 1e9), np.zeros(6), np.ones(6)) for t in times]
    return tracking._record(LECTURE, START)


def test_a_whole_record_holds_the_desired_motion_of_an_arm_that_stands_still_at_zero():
    whole = record(np.linspace(0.0, 2.2, 111))
    assert len(whole.time) == 111
    assert whole.error[-1] == pytest.approx(LECTURE.positions[-1])


@pytest.mark.parametrize('times', [[], [2.2], [0.0, 0.1, 0.9, 1.0], [-0.2, -0.1]])
def test_a_record_with_a_gap_is_refused(times):
    with pytest.raises(ProcessError, match='joint states with gaps'):
        record(times)
