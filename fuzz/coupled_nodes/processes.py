"""The coupled nodes as separate processes over DDS, with simulated time, synchronised after each message.

Each node has a separate topic of joint states, and the controller one of feedforward torques, so that this module
determines the order of messages. It waits for each node to which it sends a state. ``InProcess`` documents the methods.
"""

import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from support import graph

import yaml
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from node_settings import COMMANDS, CONTROLLER, FEEDFORWARD, NAMED, SERVER, TORQUE_NODES
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from coupled_nodes.settings import Settings
from robot_dynamics_interfaces.msg import GravityState, PayloadState, TorqueInfo
from robot_dynamics_interfaces.srv import GetInverseDynamics, SetGravity, SetPayload
from robot_dynamics_ros.tools.processes import ProcessError

SECOND = graph.SECOND
BEGINNING = 1000 * SECOND
ANSWER_TIMEOUT, PERHAPS, SILENCE = 3.0, 0.2, 0.03
"""Time to wait for a torque that must come, that may, and that must not, s."""
LONGEST_PAUSE = 0.7
"""Real time of a step of simulated time, s."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SERVICES = {'set_payload': SetPayload, 'set_gravity': SetGravity, 'get_inverse_dynamics': GetInverseDynamics}
LOADS = {'payload_state': PayloadState, 'gravity_state': GravityState}


class Processes:
    """A graph of node processes, with the methods of ``InProcess``."""

    real_time, simulated_time, lag = True, True, 2.0
    received = failed = staticmethod(lambda *_: None)

    def __init__(self, settings: Settings, folder: Path):
        self.settings, self._folder = settings, folder
        self.now = BEGINNING
        self._sent: dict[str, list] = {name: [] for name in (SERVER, *TORQUE_NODES)}
        self._latched: dict = {}
        self._publishers: dict = {}
        self.nodes: dict = {}

    def __enter__(self):
        self._graph = graph.Graph(self._folder).__enter__()
        node = self._graph.node
        self._clock = node.create_publisher(Clock, '/clock', 10)
        for topic, kind in LOADS.items():
            keep = self._keep_latched(topic, kind)
            node.create_subscription(kind, topic, keep, LATCHED, raw=True)
        for name in TORQUE_NODES:
            self._publishers[name, 'joint_states'] = node.create_publisher(JointState, f'states/{name}', 10)
            for topic, kind in (NAMED.get(name), JointState), (COMMANDS[name], Float64MultiArray):
                if topic:
                    node.create_subscription(kind, topic, self._keep(name, topic), 100, raw=True)
        for name in (FEEDFORWARD, CONTROLLER):
            self._publishers[name, 'joint_trajectory'] = node.create_publisher(JointTrajectory, f'plans/{name}', 10)
        # torque and info come from one process
        self._publishers[CONTROLLER, NAMED[FEEDFORWARD]] = node.create_publisher(JointState, 'handed_over', 10)
        infos = node.create_publisher(TorqueInfo, 'handed_over/info', LATCHED)
        node.create_subscription(TorqueInfo, f'{NAMED[FEEDFORWARD]}/info', infos.publish, LATCHED)
        return self

    def __exit__(self, *exception):
        self._graph.__exit__(*exception)

    @property
    def steady(self) -> float:
        return time.monotonic()

    def make(self, name: str, parameters: dict) -> None:
        path = self._folder / f'{name}.yaml'
        path.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
        remaps = [] if name == SERVER else [f'joint_states:=states/{name}']
        if name in (FEEDFORWARD, CONTROLLER):
            remaps.append(f'joint_trajectory:=plans/{name}')
        if name == CONTROLLER:
            remaps += [f'{NAMED[FEEDFORWARD]}:=handed_over', f'{NAMED[FEEDFORWARD]}/info:=handed_over/info']
        arguments = ['--params-file', str(path), *(word for remap in remaps for word in ('-r', remap))]
        self._graph.start(name, arguments=arguments, active=False)
        self.nodes[name] = name
        self._tell_time()

    def destroy(self, name: str) -> None:
        process = self._graph.forget(name)
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(graph.TIMEOUT)
        process.kill()
        if status := process.wait():
            self.failed(name, ProcessError(f'ended with status {status}'))
        self._graph.until(
            lambda: not self._graph.node.count_publishers(f'/{name}/transition_event'), f'the end of {name}'
        )
        del self.nodes[name]
        if name == SERVER:
            self._latched.clear()

    def state(self, name: str) -> str:
        return self._graph.client.call(GetState, f'{name}/get_state', GetState.Request()).current_state.label

    def why(self, name: str) -> str:
        return self._graph.log(name)[-300:]

    def transition(self, name: str, transition: str) -> None:
        if name == SERVER and transition == 'activate':
            self._latched.clear()
        request = ChangeState.Request(transition=Transition(id=getattr(Transition, f'TRANSITION_{transition.upper()}')))
        self._graph.client.call(ChangeState, f'{name}/change_state', request, graph.START_TIMEOUT)
        if transition == 'configure':
            for (owner, topic), publisher in self._publishers.items():
                if owner == name:
                    self._graph.until(publisher.get_subscription_count, f'{name} at {topic}')
        if name == SERVER and transition == 'activate':
            self._graph.client.spin_while_waiting(lambda: len(self._latched) == len(LOADS), ANSWER_TIMEOUT)
        self._spin(0.1)

    def pass_by(self, duration: int) -> None:
        self.now += duration
        self._tell_time()
        self._spin(min(duration / SECOND, LONGEST_PAUSE))
        if duration > SECOND // 20:
            self._barrier()

    def set_back(self, duration: int) -> None:
        self.now -= duration
        for _ in range(3):
            self._tell_time()
            self._spin(0.05)
        self._barrier()

    def give(self, name: str, topic: str, data: bytes, late: int = 0) -> None:
        self._publishers[name, topic].publish(data)
        self._barrier(name)
        self._spin(0.002)

    def give_state(self, name: str, data: bytes, expected=None) -> None:
        self.take(name)
        parts = 2 if name in NAMED and self.settings.nodes[name].preset != 'monitor_only' else 1
        self._publishers[name, 'joint_states'].publish(data)
        patience = (
            ANSWER_TIMEOUT if expected and expected.must else PERHAPS if expected and expected.options else SILENCE
        )
        self._graph.client.spin_while_waiting(lambda: len(self._sent[name]) >= parts, patience)
        # the one of both topics that comes first is looked at first
        self._sent[name].sort(key=lambda sent: sent[0] != NAMED.get(name))

    def request(self, name: str, service: str, request):
        self._sent[SERVER].clear()
        response = self._graph.client.call(SERVICES[service], f'{name}/{service}', request)
        if response.success and service.startswith('set'):
            self._graph.client.spin_while_waiting(lambda: self._sent[SERVER], ANSWER_TIMEOUT)
        self._barrier()
        self._spin(0.05)
        return response

    def pause(self, name: str) -> None:
        self._spin(SILENCE)

    def diagnose(self, name: str):
        self._graph.listen(DiagnosticArray, '/diagnostics', 100)
        self._spin(0.05)  # older ones may still be under way, with the same stamp where time stands still
        return self._graph.diagnostics(name, since=self.now - 1)

    def diagnosed(self, name: str, field: str) -> str:
        return self.diagnose(name).fields.get(field, '')

    def take(self, name: str) -> list:
        sent, self._sent[name] = self._sent[name], []
        return sent

    def count(self, topic: str) -> int:
        return self._graph.node.count_publishers(topic)

    def latched(self, topic: str):
        return self._latched.get(topic)

    def known(self, name: str, topic: str):
        return self.latched(topic)

    def subscribed(self, name: str, topic: str) -> float:
        return self.steady

    def _keep(self, name: str, topic: str):
        return lambda data: self._sent[name].append((topic, bytes(data), self.steady))

    def _keep_latched(self, topic: str, kind):
        def keep(data) -> None:
            message = deserialize_message(bytes(data), kind)
            self._latched[topic] = message
            self._sent[SERVER].append((topic, bytes(data), self.steady))
            for name in TORQUE_NODES:
                self.received(name, topic, message)

        return keep

    def _tell_time(self) -> None:
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(self.now, SECOND)
        self._clock.publish(message)

    def _spin(self, duration: float) -> None:
        until = time.monotonic() + duration
        while (left := until - time.monotonic()) > 0.0:
            self._graph.client._executor.spin_once(timeout_sec=left)

    def _barrier(self, *names: str) -> None:
        for name in names or list(self.nodes):
            self.state(name)
