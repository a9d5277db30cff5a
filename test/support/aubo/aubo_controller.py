"""An AUBO controller with an arm behind it: what the manufacturer's client, and aubo_node, talk to.

``python -m support.aubo.aubo_controller`` runs one until it is interrupted, for a node that is started by hand.
"""

import argparse
import contextlib
import json
import socket
import threading
import time
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.aubo import cbor
from robot_dynamics_ros.aubo.frames import FrameReader, frame, value_of

PERIOD = 0.005
"""s between two samples of the arm."""
SECONDS = 20.0
"""Duration of the motion, which begins again then."""
REACH = np.array([0.6, 0.4, 0.5, 0.6, 0.5, 0.8])
CENTRE = np.array([0.2, -0.4, 0.9, 0.3, 0.7, 0.1])
PAYLOAD = Payload(1.5, (0.0, 0.02, 0.05))
TEMPERATURES = [31.5, 33.0, 32.25, 35.0, 36.5, 34.75]
OUTPUTS = (
    'timestamp', 'R1_actual_q', 'R1_actual_qd', 'R1_actual_current', 'R1_joint_torque', 'R1_joint_gravity_torque',
    'R1_joint_temperatures', 'R1_robot_mode', 'R1_safety_mode', 'R1_is_simulation_enabled', 'R1_actual_payload',
)  # fmt: skip


class Arm:
    """An arm that follows sums of sines, and the torque that this takes: 5 % heavier than its model, with noise."""

    def __init__(self, robot: Robot | None = None, payload: Payload = PAYLOAD):
        """Compute the motion of ``robot``, the AUBO-i5 by default, that carries ``payload``."""
        robot = robot or Robot.named('aubo_i5')
        loaded = robot.with_payload(payload)
        t = np.arange(round(SECONDS / PERIOD)) * PERIOD
        n = robot.nv
        base = 2.0 * np.pi / SECONDS
        rates = base * np.array([[3 + k, 7 + 2 * k] for k in range(n)])  # whole periods
        share = np.array([0.7, 0.3])
        reach = np.resize(REACH, n)
        phase = np.multiply.outer(t, rates)  # (samples, n, 2)
        self.q = np.resize(CENTRE, n) + reach * (share * np.sin(phase)).sum(-1)
        self.qd = reach * (share * rates * np.cos(phase)).sum(-1)
        qdd = -reach * (share * rates**2 * np.sin(phase)).sum(-1)
        noise = np.random.default_rng(0).normal(scale=0.3, size=self.q.shape)
        friction = np.array([robot.friction_torque(row) for row in self.qd])
        self.torque = 1.05 * loaded.inverse_dynamics(self.q, self.qd, qdd) + 1.1 * friction + noise
        self.current = np.array([robot.motor_current(row) for row in self.torque])
        self.gravity = loaded.gravity_torque(self.q)


class Sent(NamedTuple):
    """One sample that was sent: when it was taken and sent (steady time, ns), and where the arm was (n, rad)."""

    taken: int
    sent: int
    position: tuple


class AuboController:
    """The two ports of a controller on this machine; ``sent`` has every sample that was sent to any client.

    ``fault`` may be '', ``silent`` (nothing is sent any more), ``half`` (half a message, then the connection ends),
    ``nan``, ``frozen`` (the same sample again and again) or ``garbage`` (bytes that are no frame).
    ``jump`` (s) is by how much its clock was set forward, ``extra`` (bytes) is sent once.
    """

    def __init__(self, arm: Arm, outputs=OUTPUTS, drift: float = 0.0, ports=(0, 0)):
        """Prepare; ``drift`` is by how much the controller's clock is fast."""
        self.arm, self.outputs, self.drift = arm, outputs, drift
        self.payload, self.gravity, self.mounting = PAYLOAD, [0.0, 0.0, -9.81], [0.0] * 6
        self.safety_mode, self.robot_mode, self.simulated, self.refuses = 'Normal', 'Running', False, ''
        self.fault, self.greets, self.jump, self.extra = '', True, 0.0, b''
        self.sent: list[Sent] = []
        self.asked: list[str] = []
        self.rtde_port, self.rpc_port = ports
        self._up = threading.Event()
        self._open: list[socket.socket] = []

    def __enter__(self):
        """Listen on both ports."""
        self.start()
        return self

    def __exit__(self, *exception):
        """Close everything."""
        self.stop()

    def start(self) -> None:
        """Boot: the controller's time begins at 0."""
        self.booted = time.monotonic_ns()
        up = self._up = threading.Event()
        up.set()
        for name, serve in (('rtde_port', self._stream), ('rpc_port', self._questions)):
            listener = socket.create_server(('127.0.0.1', getattr(self, name)))
            setattr(self, name, listener.getsockname()[1])
            self._open.append(listener)
            threading.Thread(target=self._accept, args=(listener, serve, up), daemon=True).start()

    def stop(self) -> None:
        """End every connection, as a controller that is switched off."""
        self._up.clear()
        for open_ in self._open:
            with contextlib.suppress(OSError):
                open_.shutdown(socket.SHUT_RDWR)
            open_.close()
        self._open.clear()

    def disconnect(self) -> None:
        """End the connections, and go on listening."""
        for open_ in self._open[2:]:
            with contextlib.suppress(OSError):
                open_.shutdown(socket.SHUT_RDWR)
            open_.close()
        del self._open[2:]

    def _accept(self, listener, serve, up) -> None:
        while up.is_set():
            try:
                client, _ = listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.append(client)
            threading.Thread(target=self._guarded, args=(serve, client, up), daemon=True).start()

    def _guarded(self, serve, client, up) -> None:
        with contextlib.suppress(OSError):
            serve(client, up)
        client.close()

    def _stream(self, client, up) -> None:
        """Greet, read one recipe, then send samples."""
        while not self.greets:
            time.sleep(0.01)
        greeting = {'protocol': 'rtde', 'version': 1, 'input': {}, 'output': {n: k for k, n in enumerate(self.outputs)}}
        client.sendall(json.dumps(greeting).encode() + b'\n\n')
        reader, requests = FrameReader(), []
        while not requests:
            data = client.recv(4096)
            if not data:
                return
            requests = reader.feed(data)
        channel, recipe = value_of(requests[0])
        assert channel == 100
        assert set(recipe['segments']) <= set(self.outputs)
        self._send_samples(client, up, recipe)

    def _send_samples(self, client, up, recipe) -> None:
        names, stride = recipe['segments'], max(1, round(1.0 / (PERIOD * recipe['frequency'])))
        per_sample = PERIOD / (1.0 + self.drift)  # s of this machine's clock
        k = int((time.monotonic_ns() - self.booted) * 1e-9 / per_sample) + 1
        while up.is_set():
            due = round(k * per_sample * 1e9)
            time.sleep(max(0.0, (self.booted + due - time.monotonic_ns()) * 1e-9))
            fault, row = self.fault, k % len(self.arm.q)
            values = {name: self._value(name, row, k) for name in names}
            if fault == 'silent':
                k += stride
                continue
            if fault == 'nan':
                values['R1_actual_q'][2] = float('nan')
            data = frame(cbor.encode([recipe['chanel'], *values.values()]))
            if fault == 'half':
                client.sendall(data[: len(data) // 2])
                client.shutdown(socket.SHUT_RDWR)
                return
            if fault == 'garbage':
                data = b'?' * len(data)
            self.sent.append(Sent(self.booted + due, time.monotonic_ns(), tuple(self.arm.q[row])))
            extra, self.extra = self.extra, b''
            client.sendall(data + extra)
            if fault != 'frozen':
                k += stride
            else:
                time.sleep(PERIOD)

    def _value(self, name: str, row: int, k: int):
        arm = self.arm
        table = {'R1_actual_q': arm.q, 'R1_actual_qd': arm.qd, 'R1_actual_current': arm.current,
                 'R1_joint_torque': arm.torque, 'R1_joint_gravity_torque': arm.gravity}  # fmt: skip
        if name in table:
            return table[name][row].tolist()
        return {
            'timestamp': k * PERIOD + self.jump,
            'R1_joint_temperatures': TEMPERATURES,
            'R1_robot_mode': self.robot_mode,
            'R1_safety_mode': self.safety_mode,
            'R1_is_simulation_enabled': self.simulated,
        }[name]

    def _questions(self, client, up) -> None:
        """Answer JSON-RPC, in frames or not, as each question came."""
        reader, text = FrameReader(), b''
        while up.is_set() and (data := client.recv(4096)):
            framed = data.startswith(b'SOF') or reader.pending > 0
            for question in reader.feed(data) if framed else [text + data]:
                if question.startswith(b'__login__'):
                    client.sendall(frame(b'SUCCEED', 1))
                    continue
                try:
                    asked = json.loads(question)
                except ValueError:
                    text = question
                    continue
                text = b''
                answer = json.dumps({'jsonrpc': '2.0', 'id': asked['id'], **self._answer(asked['method'])}).encode()
                client.sendall(frame(answer, 1) if framed else answer)

    def _answer(self, method: str) -> dict:
        self.asked.append(method)
        if self.refuses and self.refuses in method:
            return {'error': {'code': -32000, 'message': 'not logged in'}}
        inertia = self.payload.inertia
        answers = {
            'getInterfaceVersionCode': 24000,
            'getRobotNames': ['rob1'],
            'getAxisNames': [],
            'getRobotType': 'aubo_i5H',
            'getControlSoftwareFullVersion': '0.31.0-emulated',
            'getJointPositions': self.arm.q[0].tolist(),
            'getPayload': [
                self.payload.mass,
                list(map(float, self.payload.com)),
                [0.0] * 3,
                [float(inertia[place]) for place in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
            ],
            'getGravity': self.gravity,
            'getMountingPose': self.mounting,
        }
        name = method.rpartition('.')[2]
        return (
            {'result': answers[name]} if name in answers else {'error': {'code': -32601, 'message': 'no such method'}}
        )


def main() -> None:
    """Run a controller on the ports of a real one, or on others."""
    parser = argparse.ArgumentParser(prog='python -m support.aubo.aubo_controller', description=__doc__.splitlines()[0])
    parser.add_argument('--rtde-port', type=int, default=30010)
    parser.add_argument('--rpc-port', type=int, default=30004)
    given = parser.parse_args()
    with AuboController(Arm(), ports=(given.rtde_port, given.rpc_port)), contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()


if __name__ == '__main__':
    main()
