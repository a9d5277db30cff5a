"""Calls services of dynamics_server for payloads, gravities and torques, and compares the responses with its model."""

from coupled_nodes.messages import Messages
from coupled_nodes.model import LOADS
from coupled_nodes.rules import Findings
from coupled_nodes.server import ServerModel
from coupled_nodes.settings import SERVER

TOPICS = {'set_payload': 'payload_state', 'set_gravity': 'gravity_state'}


class ServerWatch:
    """One server and its model."""

    def __init__(self, model: ServerModel, nodes, found: Findings, messages: Messages, repair):
        """Call the server of ``nodes``; ``repair()`` restarts one that deviates from its model."""
        self._model, self._nodes, self._found, self._messages = model, nodes, found, messages
        self._repair, self._repairing = repair, False
        self.spreads_until = 0.0  # steady time until which what a late joiner is told may be from before

    def set_load(self, service: str) -> None:
        """Request another payload or gravity (R8), which the server must publish (R5)."""
        model, now = self._model, self._nodes.now
        model.look(now)
        request = self._messages.payload() if service == 'set_payload' else self._messages.gravity()
        self._found.index += 1
        self._found.counts[service] += 1
        right = (model.set_payload if service == 'set_payload' else model.set_gravity)(request, now)
        self._nodes.take(SERVER)
        response = self._nodes.request(SERVER, service, request)
        if response is None:
            return
        good = right is None or response.success is right
        self._found.check('R8', good, SERVER, lambda: f'{request}: {response}, expected success: {right}')
        if response.success:
            (model.carry if service == 'set_payload' else model.pull)(request, now)
        topics = {topic for topic, *_ in self._nodes.take(SERVER)}
        self.told(topics, (TOPICS[service],) if response.success else ())
        if not good:
            self._repair()

    def told(self, topics: set, expected) -> None:
        """Check the server's messages and torques."""
        self._found.check('R5', topics >= set(expected), SERVER, lambda: f'published {topics}, expected {expected}')
        self.compute()

    def compute(self) -> None:
        """Check the server's gravity torques, and the messages for a late joiner (R7)."""
        now, model = self._nodes.now, self._model
        model.look(now)
        if not model.active:
            return
        self._found.index += 1
        q = self._messages.vector(1.0)
        wrong = model.wrong_torques(q, self._nodes.gravity_torque(q), now)
        right = self._found.check('SERVER', not wrong, SERVER, wrong)
        for topic in LOADS:
            message = self._nodes.latched(topic)
            # what nobody publishes is R5
            if message is not None and self._nodes.steady >= self.spreads_until:
                wrong = model.wrong_message(topic, message, q, now)
                right &= self._found.check('R7', not wrong, SERVER, wrong)
        if not right and not self._repairing:
            self._repairing = True
            self._repair()
            self._repairing = False
