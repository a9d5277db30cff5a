"""Invariants of dynamics_server: it serves valid requests, its numbers satisfy identities of mechanics.

It keeps, publishes and uses the payload and gravity that it has accepted.
"""

import numpy as np
from load import LARGEST_COMPARED, ROUNDING, SECOND, TOPICS, Load, difference, ramp_of, value_of
from node_settings import SERVER
from robots import GRAVITY, NO_PAYLOAD

from robot_dynamics_interfaces.srv import GetInverseDynamics

COMPARED = 1e3
"""Largest numbers of a request that are compared."""
SPREADS = 2.5
"""Time within which the server may publish its ramps again after the clock was set back, s."""
PUBLISHED = {'set_payload': 'payload_state', 'set_gravity': 'gravity_state'}
CHECKED = ('peak_effort', 'effort_limit', 'effort_margin', 'peak_velocity', 'velocity_limit')
SAMPLED = ('positions', 'velocities', 'accelerations', 'effort')
TERMS = ('inertia', 'coriolis', 'gravity', 'friction')


class ServerWatch:
    """The server of a graph, with the payload and gravity that it has accepted, and those that it publishes."""

    def __init__(self, nodes, found, messages):
        self._nodes, self._found, self._messages, self.arm = nodes, found, messages, nodes.settings.arm
        self.check, self.active = found.check, False
        self.load = Load()
        self._spreads_until = 0.0  # steady time until which messages may be from before the clock was set back
        self._accepted: dict = {}
        self._assumed: set[str] = set()  # topics whose value nobody has set since the start
        self._of_nodes: dict[str, list] = {topic: [] for topic in TOPICS}  # all that nodes were told
        self._told: dict[str, list] = {topic: [] for topic in TOPICS}  # all that this server or one before has accepted

    def configure(self) -> None:
        """Reset, as the server that is configured, which may read the payload from its file."""
        kept = self._accepted.get('payload_state', NO_PAYLOAD) if self._nodes.settings.payload_file else NO_PAYLOAD
        self._accepted, self._assumed = {'payload_state': kept, 'gravity_state': GRAVITY}, set(TOPICS)

    def known_to_nodes(self, topic: str, message) -> None:
        """Record a payload or gravity that a node was told, which a server that was told none may continue."""
        if not message.assumed:
            self._of_nodes[topic].append(ramp_of(message, self.arm).after)

    def set_back(self, last: int) -> None:
        """Record that the clock was set back from ``last``."""
        self._spreads_until = self._nodes.steady + SPREADS

    def activated(self, published: set, held: dict) -> None:
        """Check that both topics are among those ``published`` at the activation; nodes have ``held`` values by topic.

        A server that was told nothing continues a value that was set and that a node holds.
        """
        self.active = True
        self.check('LOADED', published >= set(TOPICS), f'activation published {published}')
        for topic in TOPICS:
            message, accepted = self._nodes.latched(topic), self._accepted[topic]
            others = [value for value in held[topic] if not not_far(value, accepted)]
            if message is None:
                continue
            must = any(not_far(value, told) for value in others for told in self._told[topic])
            adopts = message.assumed and must
            self.check('LOADED', not adopts, f'{message} is assumed, nodes hold {held[topic]}')
        self.compute()

    def set_load(self, service: str) -> None:
        """Request another payload or gravity."""
        request, valid = getattr(self._messages, PUBLISHED[service].partition('_')[0])()
        self.ask(service, request, valid if self.active else False)
        self.compute()

    def compute(self) -> None:
        """Check that the server computes with the payload and gravity that it accepted last and publishes."""
        if self.active:
            q, still = self._messages.vector(1.0), [0.0] * self.arm.n
            request = GetInverseDynamics.Request(positions=q.tolist(), velocities=still, accelerations=still)
            self.ask('get_inverse_dynamics', request, True)

    def ask(self, service: str, request, valid: bool | None) -> None:
        """Send a request and check the response.

        A request that is ``valid`` must be served, one that is not (False) must not, and None may be either.
        """
        nodes = self._nodes
        self._found.index += 1
        self._found.counts[service] += 1
        for topic in TOPICS:
            self._look_at(topic)
        nodes.take(SERVER)
        response = nodes.request(SERVER, service, request)
        if response is None:
            return
        comparable, served = self.load.size < LARGEST_COMPARED, response.success
        what = f'{request}: {response.message or "served"}'
        self.check('SERVED', served is not bool(response.message) and 'internal error' not in response.message, what)
        finite = all(np.isfinite(getattr(request, name)).all() for name in number_lists(request))
        must = valid and comparable and service != 'check_trajectory'
        self.check('SERVED', finite and valid is not False if served else not must, what)
        load = self.load.at(nodes.now) if comparable else None
        if service in PUBLISHED:
            self._set(PUBLISHED[service], request, served)
        elif served and service == 'check_trajectory':
            self._checked(request, response, load)
        elif served:
            self._states(request, response, load)

    def _look_at(self, topic: str) -> None:
        """Check that a topic has the payload or gravity that was accepted last."""
        nodes, message = self._nodes, self._nodes.latched(topic)
        if message is not None:
            self.load.ramps[topic] = ramp_of(message, self.arm)
        unsure = message is None or nodes.steady < self._spreads_until
        self.load.until[topic] = nodes.now + SECOND if unsure else 0
        value = self.load.ramps[topic].after
        if message is not None and not message.assumed and topic in self._assumed:
            self._assumed.discard(topic)
            if any(not_far(value, each) for each in self._of_nodes[topic]):
                self._accepted[topic] = value
        kept = unsure or not_far(value, self._accepted[topic])
        self.check('LOADED', kept, lambda: f'{message}, accepted {self._accepted}')

    def _set(self, topic: str, request, served: bool) -> None:
        """Check that an accepted payload or gravity is published, without a step."""
        published = any(name == topic for name, *_ in self._nodes.take(SERVER))
        right, message = published is served, self._nodes.latched(topic)
        if served and right:
            self._accepted[topic] = value_of(request, self.arm)
            self._assumed.discard(topic)
            self._told[topic].append(self._accepted[topic])
            ramp, duration = (
                ramp_of(message, self.arm),
                request.ramp_time or self._nodes.settings.payload_gravity_ramp_time,
            )
            held = self.load.at(ramp.start)
            right = ramp.duration == round(duration * SECOND) and not_far(ramp.after, self._accepted[topic])
            right = right and (held is None or not_far(ramp.before, held[TOPICS.index(topic)]))
        self.check('LOADED', right, lambda: f'{request} was published as {message}: {published}')

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


def not_far(value, expected) -> bool:
    """Return whether two payloads or gravities are equal up to rounding, or are no numbers."""
    return not difference(value, expected) > ROUNDING * (1.0 + difference(expected, 0.0))


def number_lists(message) -> list[str]:
    """Return the fields of a message that are lists of numbers."""
    return [name for name, kind in message.get_fields_and_field_types().items() if kind == 'sequence<double>']
