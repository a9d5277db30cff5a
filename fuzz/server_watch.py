"""Invariants of dynamics_server: valid requests are served, and the numbers satisfy identities of mechanics."""

import numpy as np
from load import LARGEST_COMPARED, ROUNDING, Load, difference, ramp_of, value_of
from rclpy.serialization import deserialize_message

from robot_dynamics_interfaces.msg import GravityState, PayloadState

COMPARED = 1e3
"""Largest numbers of a request that are compared."""
KINDS = {'payload_state': PayloadState, 'gravity_state': GravityState}
PUBLISHED = {'set_payload': 'payload_state', 'set_gravity': 'gravity_state'}
CHECKED = ('peak_effort', 'effort_limit', 'effort_margin', 'peak_velocity', 'velocity_limit')
SAMPLED = ('positions', 'velocities', 'accelerations', 'effort')
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')


class ServerWatch:
    """One server, with the payload and gravity that it has published last."""

    def __init__(self, found, arm):
        self.check, self.arm = found.check, arm
        self.load = Load()

    def response(self, service: str, request, response, sent, now: int, valid: bool | None) -> None:
        """Check the response to a request and the messages ``sent``.

        A request that is ``valid`` must be served, one that is not (False) must not, and None may be either.
        """
        comparable, served = self.load.size < LARGEST_COMPARED, response.success
        what = f'{request}: {response.message or "served"}'
        self.check('SERVED', served is not bool(response.message) and 'internal error' not in response.message, what)
        finite = all(np.isfinite(getattr(request, name)).all() for name in number_lists(request))
        must = valid and comparable and service != 'check_trajectory'
        self.check('SERVED', finite and valid is not False if served else not must, what)
        load = self.load.at(now) if comparable else None
        if service in PUBLISHED:
            self._set(PUBLISHED[service], request, served, sent)
        elif served and service == 'check_trajectory':
            self._checked(request, response, load)
        elif served:
            self._states(request, response, load)

    def _set(self, topic: str, request, served: bool, sent) -> None:
        """Check that an accepted payload or gravity is published, without a step."""
        published = [deserialize_message(data, KINDS[topic]) for name, data, _ in sent if name == topic]
        right = bool(published) is served
        if served and published:
            ramp, after = ramp_of(published[0], self.arm), value_of(request, self.arm)
            held = self.load.at(ramp.start)
            right = not difference(ramp.after, after) > ROUNDING * (1.0 + difference(after, 0.0))
            if held is not None:
                before = held[list(KINDS).index(topic)]
                right = right and not difference(ramp.before, before) > ROUNDING * (1.0 + difference(before, 0.0))
            self.load.ramps[topic], self.load.until[topic] = ramp, 0
        self.check('LOADED', right, lambda: f'{request} was published as {published}')

    def _checked(self, request, response, load) -> None:
        """Check that the results of check_trajectory are finite, and the efforts of its samples those of the motion."""
        names, what, arm = list(response.joint_names), lambda: f'{request}: {response}', self.arm
        values = [np.array(getattr(response, field)) for field in CHECKED]
        right = names == list(request.trajectory.joint_names) and all(value.shape == (arm.n,) for value in values)
        points = response.resampled.points[:: len(response.resampled.points) // 500 + 1]
        right = self.check('SERVED', right and np.isfinite(values).all() and bool(points) is request.resample, what)
        if right and points and load is not None:
            order = [names.index(name) for name in arm.names]
            q, qd, qdd, effort = (np.array([getattr(point, row) for point in points])[:, order] for row in SAMPLED)
            self._equal('samples', effort, self._needed(q, qd, qdd, load))
            self.check('LOADED', (np.abs(effort) <= np.abs(values[0][order]) * (1.0 + 1e-9) + 1e-9).all(), what)

    def _states(self, request, response, load) -> None:
        """Check shape and numbers of a response to a query of states."""
        arm, n, names = self.arm, self.arm.n, list(request.joint_names) or self.arm.names
        count = len(request.positions) // n
        shapes, got = {'mass_matrix': (count, n, n), 'jacobian': (count, 6, n)}, {}
        for field in number_lists(response):
            values, shape = np.array(getattr(response, field)), shapes.get(field, (count, n))
            if not self.check('SERVED', len(values) == np.prod(shape) and np.isfinite(values).all(), f'{response}'):
                return
            got[field] = values.reshape(shape)
        asked = {field: np.array(getattr(request, field)).reshape(-1, n) for field in number_lists(request)}
        if not count or load is None or max(np.abs(values).max() for values in asked.values()) > COMPARED:
            return
        self.check('SERVED', list(response.joint_names) == names, f'{response.joint_names} for {names}')
        order = [names.index(name) for name in arm.names]
        asked = {field: values[:, order] for field, values in asked.items()}
        got = {field: values[..., order] for field, values in got.items()}
        q, qd = asked['positions'], asked.get('velocities')
        if 'jacobian' in got:
            J = arm.robot.jacobian(q[0], request.link, reference_frame=request.reference_frame)
            self._equal('J', got['jacobian'][0], J)
        elif 'mass_matrix' in got:
            unit = np.broadcast_to(np.eye(n), (count, n, n))
            M = [arm.inverse_dynamics(at, 0.0 * unit[0], unit[0], load) - arm.gravity_torque(at, load) for at in q]
            self._equal('M', got['mass_matrix'][:, order], np.array(M))
        elif 'accelerations' in got:
            needed = arm.inverse_dynamics(q, qd, got['accelerations'], load)
            still = arm.inverse_dynamics(q, qd, np.zeros_like(q), load)
            self._equal('M qdd + h', needed, asked['efforts'], np.abs(still) + np.abs(needed - still))
        else:
            needed, terms = self._needed(q, qd, asked['accelerations'], load), [got[term] for term in TERMS]
            self._equal('efforts', got['efforts'], needed, np.abs(terms))
            self._equal('the sum of all terms', sum(terms), needed, np.abs(terms))
            self._equal('gravity', got['gravity'], arm.gravity_torque(q, load))

    def _needed(self, q, qd, qdd, load) -> np.ndarray:
        return self.arm.inverse_dynamics(q, qd, qdd, load) + self.arm.friction(qd)

    def _equal(self, what: str, values, expected, size=0.0) -> None:
        off, room = np.abs(values - expected).max(), 1e-9 + 1e-7 * max(np.max(size), np.abs(expected).max())
        self.check('LOADED', off <= room, lambda: f'{what}: off by {off}, {values}, expected {expected}')


def number_lists(message) -> list[str]:
    """Return the fields of a message that are lists of numbers."""
    return [name for name, kind in message.get_fields_and_field_types().items() if kind == 'sequence<double>']
