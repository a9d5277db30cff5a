"""What dynamics_server may respond: valid requests are served, and the numbers satisfy identities of mechanics."""

import numpy as np
from load import LARGEST_COMPARED, ROUNDING, Load, difference, ramp_of, value_of
from rclpy.serialization import deserialize_message

from broken_messages.random_messages import LISTS
from robot_dynamics_interfaces.msg import GravityState, PayloadState

COMPARED = 1e3
"""Largest numbers of a request that are compared."""
PUBLISHED = {'~/set_payload': ('payload_state', PayloadState), '~/set_gravity': ('gravity_state', GravityState)}
CHECKED = ('peak_effort', 'effort_limit', 'effort_margin', 'peak_velocity', 'velocity_limit')
SAMPLED = ('positions', 'velocities', 'accelerations', 'effort')
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')
FASTEST, SLOWEST = 0.1, 100.0
"""Time scalings that make a trajectory feasible."""


class Server:
    """One server."""

    def __init__(self, found, arm):
        self._check, self._arm = found.check, arm
        self.load = Load()

    def response(self, service: str, request, response, sent, now: int, valid: bool) -> None:
        """Check the response to a request and the messages ``sent``; ``valid``: the request has nothing unusual."""
        comparable, served = self.load.size < LARGEST_COMPARED, response.success
        what = f'{request}: {response.message or "served"}'
        self._check('SERVED', served is not bool(response.message) and 'internal error' not in response.message, what)
        finite = all(np.isfinite(getattr(request, name)).all() for name in _numbers(request))
        must = valid and comparable and service != '~/check_trajectory'
        self._check('SERVED', finite if served else not must, what)
        load = self.load.options(now)[0] if comparable else None
        if service in PUBLISHED:
            self._set(service, request, served, sent)
        elif served and service == '~/check_trajectory':
            self._checked(request, response, load)
        elif served:
            self._states(request, response, load)

    def _set(self, service: str, request, served: bool, sent) -> None:
        """Check that an accepted payload or gravity is published, without a step."""
        topic, kind = PUBLISHED[service]
        published = [deserialize_message(data, kind) for name, data, _ in sent if name == topic]
        right = len(published) == served
        if served and published:
            ramp, after = ramp_of(published[0]), value_of(request, self._arm)
            held = self.load.ramps[topic][0].at(ramp.start)
            right = not difference(ramp.after, after) > ROUNDING * (1.0 + difference(after, ()))
            right = right and not difference(ramp.before, held) > ROUNDING * (1.0 + difference(held, ()))
            self.load.ramps[topic] = [ramp]
        self._check('LOADED', right, lambda: f'{request} was published as {published}')

    def _checked(self, request, response, load) -> None:
        """Check that the results of a checked trajectory agree with each other and with its samples."""
        names, what = list(response.joint_names), lambda: f'{request}: {response}'
        values = [np.array(getattr(response, field)) for field in CHECKED]
        right = names == list(request.trajectory.joint_names) and all(value.shape == (self._arm.n,) for value in values)
        if not self._check('SERVED', right and np.isfinite(values).all(), what):
            return
        order, factor = [names.index(name) for name in self._arm.names], response.time_scaling
        peak, limit, margin, fastest, velocity = (value[order] for value in values)
        right = np.array_equal(limit, self._arm.effort) and np.array_equal(velocity, self._arm.velocity)
        right = right and np.allclose(margin, limit - np.abs(peak), rtol=1e-12, atol=1e-9)
        right = right and response.feasible is (FASTEST <= factor <= SLOWEST)
        right = right and (not response.feasible or (fastest / factor <= velocity * (1.0 + 1e-9)).all())
        points = response.resampled.points[:: len(response.resampled.points) // 500 + 1]
        self._check('LOADED', right and bool(points) is request.resample, what)
        if points and load is not None:
            q, qd, qdd, effort = (np.array([getattr(point, row) for point in points])[:, order] for row in SAMPLED)
            self._equal('samples', effort, self._needed(q, qd, qdd, load))
            right = (np.abs(effort) <= np.abs(peak) * (1.0 + 1e-9) + 1e-9).all()
            if response.feasible:
                scaled = self._needed(q, qd / factor, qdd / factor**2, load)
                right = right and (np.abs(scaled) <= limit * (1.0 + 1e-6)).all()
            self._check('LOADED', right, what)

    def _states(self, request, response, load) -> None:
        """Check shape and numbers of a response to a query of states."""
        n, names = self._arm.n, list(request.joint_names) or self._arm.names
        count = len(request.positions) // n
        shapes, got = {'mass_matrix': (count, n, n), 'jacobian': (count, 6, n)}, {}
        for field in _numbers(response):
            values, shape = np.array(getattr(response, field)), shapes.get(field, (count, n))
            if not self._check('SERVED', len(values) == np.prod(shape) and np.isfinite(values).all(), f'{response}'):
                return
            got[field] = values.reshape(shape)
        asked = {field: np.array(getattr(request, field)).reshape(-1, n) for field in _numbers(request)}
        if not count or load is None or max(np.abs(values).max() for values in asked.values()) > COMPARED:
            return
        self._check('SERVED', list(response.joint_names) == names, f'{response.joint_names} for {names}')
        order = [names.index(name) for name in self._arm.names]
        asked = {field: values[:, order] for field, values in asked.items()}
        got = {field: values[..., order] for field, values in got.items()}
        q, qd = asked['positions'], asked.get('velocities')
        if 'jacobian' in got:
            J = self._arm.robot.jacobian(q[0], request.link, reference_frame=request.reference_frame)
            self._equal('J', got['jacobian'][0], J)
        elif 'mass_matrix' in got:
            M = self._arm.sum(lambda robot: robot.mass_matrix(q), *load)
            self._equal('M', got['mass_matrix'][:, order], M)
        elif 'accelerations' in got:
            needed = self._arm.inverse_dynamics(q, qd, got['accelerations'], load)
            still = self._arm.inverse_dynamics(q, qd, np.zeros_like(q), load)
            self._equal('M qdd + h', needed, asked['efforts'], np.abs(still) + np.abs(needed - still))
        else:
            needed, terms = self._needed(q, qd, asked['accelerations'], load), [got[term] for term in TERMS]
            self._equal('efforts', got['efforts'], needed, np.abs(terms))
            self._equal('the sum of all terms', sum(terms), needed, np.abs(terms))

    def _needed(self, q, qd, qdd, load) -> np.ndarray:
        return self._arm.inverse_dynamics(q, qd, qdd, load) + self._arm.friction(qd)

    def _equal(self, what: str, values, expected, size=0.0) -> None:
        off, room = np.abs(values - expected).max(), 1e-9 + 1e-7 * max(np.max(size), np.abs(expected).max())
        self._check('LOADED', off <= room, lambda: f'{what}: off by {off}, {values}, expected {expected}')


def _numbers(message) -> list[str]:
    return [name for name, kind in message.get_fields_and_field_types().items() if kind == LISTS]
