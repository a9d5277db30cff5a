"""Questions to an AUBO controller (JSON-RPC, port 30004): what its stream does not tell. Nothing is changed."""

import itertools
import json
import time

from robot_dynamics_ros.aubo.connection import connect, received
from robot_dynamics_ros.aubo.frames import START, FrameReader
from robot_dynamics_ros.errors import ControllerError

PORT = 30004
LONGEST = 1 << 20
QUESTIONS = frozenset(
    {
        'getRobotNames',
        'RobotConfig.getGravity',
        'RobotConfig.getMountingPose',
        'RobotConfig.getPayload',
        'RobotConfig.getRobotType',
        'SystemInfo.getControlSoftwareFullVersion',
    }
)
"""Everything that is ever asked; other methods are refused."""


class RefusedError(ControllerError):
    """A question that the controller refuses to answer."""


class RpcClient:
    """Asks one question after the other; each is a JSON text, and so is its answer, in a frame or not.

    Public programs ask so without a login, and the login of the manufacturer's client 0.24.1 contains no password.
    """

    def __init__(self, host: str, timeout: float, port: int = PORT):
        """Connect to ``host`` (name or address) within ``timeout`` (s), which also limits each answer."""
        self._where, self._timeout = f'{host}:{port}', timeout
        self._numbers = itertools.count(1)
        self._socket = connect(host, port, timeout)

    def ask(self, question: str, robot: str = ''):
        """Return the answer to one of ``QUESTIONS``, about ``robot`` where it is asked of one.

        ControllerError says why there is none: a refusal of the controller, silence, or an answer that is not JSON.
        """
        if question not in QUESTIONS:
            raise ControllerError(f'{question} is not asked: this client only reads')
        method, number = f'{robot}.{question}' if robot else question, next(self._numbers)
        request = {'jsonrpc': '2.0', 'method': method, 'params': [], 'id': number}
        try:
            self._socket.sendall(json.dumps(request).encode())
        except OSError as error:
            raise ControllerError(f'{self._where} has closed the connection: {error}') from None
        answer = self._answer(method)
        if not isinstance(answer, dict) or answer.get('id') != number:
            raise ControllerError(f'{method}: expected the answer to question {number}, got {answer!r:.100}')
        if 'result' not in answer:
            reason = answer.get('error')
            if isinstance(reason, dict):
                reason = reason.get('message', reason)
            raise RefusedError(f'{method}: refused by the controller: {reason!s:.200}')
        return answer['result']

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _answer(self, method: str):
        """Return the next answer."""
        deadline, data = time.monotonic() + self._timeout, b''
        while True:
            left = deadline - time.monotonic()
            if left <= 0.0 or len(data) > LONGEST:
                raise ControllerError(f'{method}: no answer from {self._where} within {self._timeout:g} s')
            part = received(self._socket, self._where, left)
            if part is None:
                continue
            if not part:
                raise ControllerError(f'{method}: {self._where} has closed the connection')
            data += part
            whole = FrameReader().feed(data) if data.startswith(START) else [data]
            for text in whole:
                try:
                    return json.loads(text)
                except (ValueError, RecursionError):
                    if data.startswith(START):
                        raise ControllerError(f'{method}: the answer is not JSON: {text!r:.100}') from None
