"""A reference of three joints, fed with samples of an analytic motion."""

import numpy as np
import pytest

from robot_dynamics_ros.control.trajectories.reference import Reference

NAMES = ('base', 'elbow', 'wrist')
START = 1_800_000_000_000_000_000  # ns
AGE_LIMIT, CUTOFF = 0.1, 20.0
POSITIONS, VELOCITIES, ALL = range(3)  # rates that the samples state
STATED = pytest.mark.parametrize('stated', [POSITIONS, VELOCITIES, ALL], ids=['positions', 'velocities', 'all'])
UNKNOWN = 'the rates of the reference are not known yet'


def ns(t):
    return START + np.rint(np.asarray(t) * 1e9).astype(int)


class Followed:
    """A reference with the motion that it writes."""

    def __init__(self, names=NAMES, age_limit=AGE_LIMIT, cutoff=CUTOFF):
        self.desired = np.full((3, len(names)), np.nan)
        self.reference = Reference(names, age_limit, cutoff, self.desired)

    def add(self, t, rows, stated=ALL, factor=1.0):
        self.reference.add(int(ns(t)), *rows[: stated + 1], speed_scaling=factor)

    def at(self, t):
        assert self.reference.follow(int(ns(t))) == ''
        return self.desired.copy()

    def reason(self, t):
        return self.reference.follow(int(ns(t)))


# Motions: q, dq/ds, d2q/ds2 at the time s of a trajectory; the speed scaling is f = ds/dt.
WAVES = np.array([3.0, 5.0, 2.0])


def along(s):
    s = np.asarray(s, float)[..., None]
    return np.array([np.sin(WAVES * s + 0.3), WAVES * np.cos(WAVES * s + 0.3), -(WAVES**2) * np.sin(WAVES * s + 0.3)])


def fed(times, stated=VELOCITIES, factors=None):
    """A reference that has taken samples at ``times``."""
    followed = Followed()
    for k, t in enumerate(times):
        followed.add(t, along(t), stated, 1.0 if factors is None else factors[k])
    return followed
