"""What dynamics_server must do: refuse or publish a payload or gravity, without a step, and compute with it."""

import numpy as np
from load import ROUNDING, SECOND, TOPICS, Load, difference, ramp_of, value_of, vector_of
from node_settings import SERVER
from robots import GRAVITY
from torques import is_within

from robot_dynamics_interfaces.srv import GetInverseDynamics

TOPIC = {'set_payload': 'payload_state', 'set_gravity': 'gravity_state'}
LARGEST_GRAVITY = 12.0
"""m/s^2, default of the parameter gravity_limit."""
LIGHT, HEAVY = 1.5, 100.0
"""kg: the arm can hold a payload up to LIGHT in every position, and none above HEAVY."""


class ServerWatch:
    """One server; it is judged by its responses and by what it publishes."""

    def __init__(self, settings, nodes, found, messages):
        self._arm, self._settings, self._nodes, self._messages = settings.arm, settings, nodes, messages
        self._found, self.active = found, False
        self.spreads_until = 0.0  # steady time until which messages may be from before the clock was set back
        self.accepted: dict = {}  # payload and gravity that were accepted last

    def configure(self, steady: float) -> None:
        kept = self.accepted.get('payload_state', ()) if self._settings.payload_file else ()
        self.accepted = {'payload_state': kept, 'gravity_state': ((1.0, GRAVITY),)}

    def activated(self, published: set) -> None:
        self._check(published >= set(TOPICS), lambda: f'activation published {published}')
        self.compute()

    def set_load(self, service: str) -> None:
        """Request another payload or gravity."""
        nodes, topic = self._nodes, TOPIC[service]
        request = self._messages.payload() if service == 'set_payload' else self._messages.gravity()
        self._found.index += 1
        self._found.counts[service] += 1
        before = nodes.latched(topic)
        nodes.take(SERVER)
        response = nodes.request(SERVER, service, request)
        if response is None:
            return
        right = self.active and self._is_good(request)
        self._check(right is None or response.success is right, lambda: f'{request}: {response}, expected {right}')
        published, message = {name for name, *_ in nodes.take(SERVER)}, nodes.latched(topic)
        self._check((topic in published) is response.success, lambda: f'{request}: {response}, published {published}')
        if response.success and message is not None:
            self.accepted[topic] = after = value_of(request, self._arm)
            ramp, duration = ramp_of(message), request.ramp_time or self._settings.load_ramp_time
            right = difference(ramp.after, after) <= ROUNDING and ramp.duration == round(duration * SECOND)
            if before is not None and nodes.steady >= self.spreads_until:
                right = right and difference(ramp.before, ramp_of(before).at(ramp.start)) <= ROUNDING
            self._check(right, lambda: f'{request} was published as {message} after {before}')
        self.compute()

    def compute(self) -> None:
        """Check that the server computes with what a late joiner receives from it, which it has accepted last."""
        nodes, load = self._nodes, Load()
        if not self.active:
            return
        self._found.index += 1
        q, still = self._messages.vector(1.0), [0.0] * self._arm.n
        request = GetInverseDynamics.Request(positions=q.tolist(), velocities=still, accelerations=still)
        request.joint_names = list(self._arm.names)
        torque = np.array(nodes.request(SERVER, 'get_inverse_dynamics', request).gravity)
        messages = {topic: nodes.latched(topic) for topic in TOPICS}
        if None in messages.values() or nodes.steady < self.spreads_until:
            return
        load.ramps = {topic: [ramp_of(message)] for topic, message in messages.items()}
        right = self._arm.gravity_torque(q, load.options(nodes.now)[0])
        kept = all(difference(load.ramps[topic][0].after, self.accepted[topic]) <= ROUNDING for topic in TOPICS)
        what = f'computes {torque}, expected {right}; published {messages}, accepted {self.accepted}'
        self._check(kept and is_within(torque, right, right), what)

    def _check(self, holds, what) -> None:
        self._found.check('SERVER', holds, what)

    def _is_good(self, request) -> bool | None:
        """Return whether a request must be accepted, None where it may be either."""
        if hasattr(request, 'gravity'):
            vector = np.array(vector_of(request.gravity.vector))
            return bool(np.isfinite(vector).all() and np.linalg.norm(vector) <= LARGEST_GRAVITY)
        if not 0.0 <= request.mass <= HEAVY or request.frame not in ('', self._arm.tip, self._arm.robot.link_names[-1]):
            return False
        return True if request.mass <= LIGHT else None
