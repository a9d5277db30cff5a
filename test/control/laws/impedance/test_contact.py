"""A Cartesian impedance that touches something: where the limit of sampling accepts its gains, no motion grows."""

from support.control.delayed_loop import growth
from support.matrices import matrix
from support.robots.small_robots import AUBO, seven_joints

import numpy as np
import pytest

from robot_dynamics_ros.algorithms.sampling_limit import counted_period
from robot_dynamics_ros.control.laws.gain_limits import lightest_configurations
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import Impedance
from robot_dynamics_ros.control.laws.impedance.impedance_limits import ImpedanceLimit

pytestmark = pytest.mark.compiled  # long without

COUNT = 200
KINDS = 'a spring', 'a mass on a spring to the ground', 'a mass that hangs on a spring'


class Touching:
    """An arm without friction, whose last link touches springs and masses; its gains are scaled to a limit."""

    def __init__(self, arm, ratio):
        self.arm = arm.with_friction(viscous=0.0)
        posture = np.full(arm.nv, 2.0), np.full(arm.nv, 0.2)
        self.limit = ImpedanceLimit(self.arm, Impedance([20.0, 20.0, 20.0, 300.0, 400.0, 500.0], *posture, ratio))
        self.lightest = lightest_configurations(self.arm, self.limit._eigenvalues)

    def gains(self, q, period):
        """Return K and D (n, n) at q of gains of which ``period`` is the limit: it falls with the root of K."""
        scale = self.limit.period / period
        (K,), (D,), _ = self.limit._of_joints(q[None])
        return scale**2 * K, scale * D

    def environment(self, q, kind, m, k, ratio):
        """Return mass, stiffness and damping (N, N) of the arm with what it touches: m (kg), k (N/m)."""
        n, J = self.arm.nv, self.arm.jacobian(q, self.arm.link_names[-1])[3:]
        M, D = self.arm.mass_matrix(q), 2.0 * ratio * np.sqrt(k * m)
        if kind == KINDS[0]:
            return M, k * J.T @ J, D * J.T @ J
        if kind == KINDS[1]:
            return M + m * J.T @ J, k * J.T @ J, D * J.T @ J
        between = np.hstack([J, -np.eye(3)])
        both = np.zeros((n + 3, n + 3))
        both[:n, :n], both[n:, n:] = M, m * np.eye(3)
        return both, k * between.T @ between, D * between.T @ between


@pytest.fixture(scope='module', params=matrix(['six joints', 'seven joints'], ['seven joints']))
def touching(request):
    arm = AUBO if request.param == 'six joints' else seven_joints()
    return {ratio: Touching(arm, ratio) for ratio in (0.5, 0.7, 1.0)}


def contacts(touching, delay, counted, ratio=0.0):
    """Yield the growth of motions in ``COUNT`` contacts, and whether these vibrate by themselves so fast.

    Gains are up to the limit that ``counted(period)`` sets. What is touched has a ``ratio`` of critical damping. Fast
    is an undamped vibration that turns by more than 0.7 rad in half of a period and the delay.
    """
    rng = np.random.default_rng(11)
    for _ in range(COUNT):
        arm, kind, period = touching[rng.choice(list(touching))], rng.choice(KINDS), rng.choice([1e-3, 2e-3])
        q = rng.choice(arm.lightest) if rng.uniform() < 0.5 else rng.uniform(-2.5, 2.5, arm.arm.nv)
        m, k = 10.0 ** rng.uniform((-1.0, 2.0), (1.0, 5.0))
        K, D = arm.gains(q, 1.001 * counted(period) * 10.0 ** rng.uniform(0.0, 1.0))
        M, stiffness, damping = arm.environment(q, kind, m, k, ratio)
        fastest = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, stiffness)).real.max())
        yield growth(M, stiffness, K, D, period, delay, damping), fastest * (0.5 * period + delay) > 0.7


@pytest.mark.parametrize('delay', matrix([0.0, 1e-3, 2.5e-3, 5e-3], [2.5e-3]))
def test_where_the_limit_accepts_its_gains_no_contact_grows(touching, delay):
    """Undamped springs of 1e2 to 1e5 N/m and masses of 0.1 to 10 kg; fast ones damped to 10 % where a delay is."""

    def counted(period):
        return counted_period(period, delay)

    slow = [found for found, is_fast in contacts(touching, delay, counted) if not is_fast]
    assert max(slow) < 1.0 + 1e-9 and len(slow) > 0.5 * COUNT
    assert max(found for found, _ in contacts(touching, delay, counted, 0.1)) < 1.0 + 1e-9
    if not delay:
        assert len(slow) == COUNT
    else:  # the limit without the delay
        assert sum(found > 1.0 + 1e-4 for found, _ in contacts(touching, delay, lambda period: period)) > 0.2 * COUNT
