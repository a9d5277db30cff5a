"""Checks of dynamics_server in a graph: it keeps, publishes and uses the payload and gravity that it has accepted."""

from load import ROUNDING, SECOND, TOPICS, difference, ramp_of, value_of
from node_settings import SERVER
from robots import GRAVITY, NO_PAYLOAD
from server_watch import PUBLISHED, ServerWatch

from robot_dynamics_interfaces.srv import GetInverseDynamics

SPREADS = 2.5
"""Time within which the server may publish its ramps again after the clock was set back, s."""


class CoupledServer(ServerWatch):
    """The server of a graph."""

    def __init__(self, nodes, found, messages):
        super().__init__(found, nodes.settings.arm)
        self._nodes, self._found, self._messages, self.active = nodes, found, messages, False
        self._spreads_until = 0.0  # steady time until which messages may be from before the clock was set back
        self._accepted: dict = {}  # payload and gravity that were accepted last

    def configure(self) -> None:
        """Reset, as the server that is configured, which may read the payload from its file."""
        kept = self._accepted.get('payload_state', NO_PAYLOAD) if self._nodes.settings.payload_file else NO_PAYLOAD
        self._accepted = {'payload_state': kept, 'gravity_state': GRAVITY}

    def set_back(self, last: int) -> None:
        """Record that the clock was set back from ``last``."""
        self._spreads_until = self._nodes.steady + SPREADS

    def activated(self, published: set) -> None:
        """Check that both topics are among those ``published`` at the activation."""
        self.active = True
        self.check('LOADED', published >= set(TOPICS), f'activation published {published}')
        self.compute()

    def set_load(self, service: str) -> None:
        """Request another payload or gravity."""
        request, valid = getattr(self._messages, PUBLISHED[service].partition('_')[0])()
        if self.ask(service, request, valid if self.active else False):
            message = self._nodes.latched(PUBLISHED[service])
            ramp, duration = ramp_of(message, self.arm), request.ramp_time or self._nodes.settings.load_ramp_time
            self.check('LOADED', ramp.duration == round(duration * SECOND), f'{request} was published as {message}')
        self.compute()

    def compute(self) -> None:
        """Check that the server computes with the payload and gravity that it accepted last and publishes."""
        if self.active:
            q, still = self._messages.vector(1.0), [0.0] * self.arm.n
            request = GetInverseDynamics.Request(positions=q.tolist(), velocities=still, accelerations=still)
            self.ask('get_inverse_dynamics', request, True)

    def ask(self, service: str, request, valid: bool | None) -> bool:
        """Return whether a request was accepted, and check the response."""
        nodes = self._nodes
        self._found.index += 1
        self._found.counts[service] += 1
        for topic in TOPICS:
            message = nodes.latched(topic)
            if message is not None:
                self.load.ramps[topic] = ramp_of(message, self.arm)
            unsure = message is None or nodes.steady < self._spreads_until
            self.load.until[topic] = nodes.now + SECOND if unsure else 0
            kept = unsure or difference(self.load.ramps[topic].after, self._accepted[topic]) <= ROUNDING
            self.check('LOADED', kept, f'{topic}, accepted {self._accepted}')
        nodes.take(SERVER)
        response = nodes.request(SERVER, service, request)
        if response is None:
            return False
        if service in PUBLISHED and response.success:
            self._accepted[PUBLISHED[service]] = value_of(request, self.arm)
        self.response(service, request, response, nodes.take(SERVER), nodes.now, valid)
        return response.success
