"""A run of random and malformed messages: chooses node and message, and checks the node after each."""

from contextlib import contextmanager
from functools import partial

from support import graph

import numpy as np
import torques
from in_process import InProcess
from load import SECOND
from load import TOPICS as LOADS
from node_settings import CONTROLLER, EXTERNAL, GRAVITY_NODE, SERVER, STIFFNESS
from process import kernels, memory
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from broken_messages.delivery import Delivery
from broken_messages.description import TOPIC as DESCRIPTION_TOPIC
from broken_messages.description import described, drawn
from broken_messages.nodes import AGE, DESCRIBED, DESCRIPTION, NODES, REFERENCE, ROBOT, Settings
from broken_messages.nodes import topics as topics_of
from broken_messages.parameters import NOT_TRIED
from broken_messages.parameters import SERVICE as SET_PARAMETERS
from broken_messages.random_messages import RESET, SERVICES
from broken_messages.spoil import serialized, understood
from robot_dynamics_interfaces.srv import CheckTrajectory, GetMassMatrix

GOOD_EVERY = 250
"""Number of messages after which every node receives valid ones."""
OFTEN = {'server': 4.0, 'external torque': 0.5, 'external torque, tracked': 0.5}
"""Relative frequency of messages by node."""
CALIBRATE, CALIBRATED = '~/calibrate', 0.02
RESTARTED, RESET_ASKED, PARAMETERS_SET, DESCRIBED_ANEW, PAUSED, CONFIGURED = 0.0005, 0.01, 0.03, 0.05, 0.01, 0.1
"""Shares of events other than messages on a node's topics, and of parameters with which a node is configured."""
KILOBYTES, LONG = 0.25, 3000
"""Allowed growth of the allocated memory per message, in so many messages; in less of them noise is larger."""
COUNTED = 'states rejected', 'torques not finite', 'torques saturated', 'torques slowed', 'torques, reasons since reset'
"""Fields of the diagnostics that a reset clears; external_torque_node has the first two."""
LONGEST_CHECK = 999.0
"""Duration of the trajectory with the largest number of samples, s."""
SETTLED = 20
"""States after which an observer has forgotten what came before."""


class Fuzz(Delivery):
    """One run: starts nodes and sends them messages drawn from a seed."""

    def __init__(self, nodes, reference_kind, seed: int):
        super().__init__(nodes, reference_kind, seed)
        self._largest_check()
        for program in (ROBOT.gravity_torque, ROBOT.mass_matrix):
            program(np.zeros(ROBOT.nv))
        self._kernels = kernels()

    def run(self, messages: int, progress=lambda fuzz: None) -> None:
        """Send as many messages, or a few more."""
        part = max(messages // 20, 1)
        while self.found.index < messages:
            sent = self.found.index
            for _ in range(GOOD_EVERY):
                self._one()
            for _ in range(2):  # at the second time no ramp from what was held is left
                self._good_ones()
            self.arm.forget()
            self.allocated.append((self.found.index, memory()))
            if self.found.index // part > sent // part:
                progress(self)
        if len(self.allocated) > 3:
            grown, allowed = growth(self.allocated), KILOBYTES * max(1.0, LONG / self.found.index)
            self.check('MEMORY', grown <= allowed, f'grown by {grown:.2f} kB per message')

    def _largest_check(self) -> None:
        """Request the largest number of samples first: the allocator does not release their memory."""
        ends = (0.0, np.zeros(ROBOT.nv)), (LONGEST_CHECK, np.ones(ROBOT.nv))
        request = CheckTrajectory.Request(trajectory=graph.trajectory(ROBOT.joint_names, 0, *ends), resample=True)
        self._request('~/check_trajectory', serialized(request))

    def _one(self) -> None:
        """Advance the time and send one random message to one node."""
        draw = self.random.random
        pause = draw()
        self._pass(round(SECOND * (10.0 * draw() if pause < 0.002 else 0.002 * pause)))
        (name,) = self.random.choices(list(NODES), [OFTEN.get(name, 1.0) for name in NODES])
        node, (kind, _, further), wrong = self.nodes.nodes[name], NODES[name], self.messages.perhaps_wrong
        if draw() < RESTARTED:
            node.trigger_deactivate()
            node.trigger_activate()
            self._begin(name)
        if draw() < PARAMETERS_SET:
            self._set(name)
        elif kind == SERVER:
            service = self.random.choice(list(SERVICES))
            self._request(service, *wrong(self.messages.draw(service)))
        elif draw() < RESET_ASKED:
            self._reset(name)
        elif kind == EXTERNAL and draw() < CALIBRATED:
            self._calibrate(name)
        elif further is DESCRIBED and draw() < DESCRIBED_ANEW:
            self._describe(name)
        elif draw() < PAUSED:
            self._fall_still(name)
        else:
            topics = topics_of(name)
            (topic,) = self.random.choices(list(topics), topics.values())
            message = self.messages.draw('joint_states' if topic == 'feedforward_torque' else topic)
            # a motion needs three good references
            self._message(name, topic, *wrong(message, 0.2 if topic == 'controller_state' else 0.5))

    def _fall_still(self, name: str) -> None:
        """Send no state for some time."""
        watch, nodes = self._watches[name], self.nodes
        for _ in range(self.random.randint(1, 6)):
            self._pass(round(SECOND * self.random.choice((0.005, 0.02, AGE, 0.3)) * self.random.random()))
            self.found.context = f'{name}, no state'
            expected = watch.timeout(nodes.now, nodes.steady)
            nodes.take(name)
            nodes.pause(name)
            sent = torques.read(nodes.take(name))
            self.found.counts['torques without a state'] += len(sent)
            watch.judge(expected, sent, None, nodes.now, nodes.steady)

    def _reset(self, name: str) -> None:
        """Reset the counters of a node and check them."""
        response = self._give(name, RESET, self.messages.perhaps_wrong(self.messages.draw(RESET), 0.0)[0])
        if response is not None:
            counted = COUNTED[:2] if NODES[name][0] == EXTERNAL else COUNTED
            fields = {value.key: value.value for value in self._diagnose(name).values if value.key in counted}
            cleared = len(fields) == len(counted) and all(value in ('', '0') for value in fields.values())
            self.check('SERVED', response.success and cleared, f'{name} after reset: {fields}')

    def _calibrate(self, name: str) -> None:
        """Let a node learn thresholds, which it does or refuses with a reason."""
        response = self._give(name, CALIBRATE, self.messages.perhaps_wrong(self.messages.draw(RESET), 0.0)[0])
        if response is not None:
            self.check('SERVED', response.message, f'{name}: {response}')

    def _set(self, name: str) -> None:
        """Set parameters, check the result, and restore them."""
        parameters = self._parameters[name]
        before, data = parameters.values(), self.messages.perhaps_wrong(parameters.draw(), 0.0)[0]
        response = self._give(name, SET_PARAMETERS, data)
        if response is None:
            return
        changed = parameters.look_at(data, response, before)
        configured = self.random.random() < CONFIGURED and changed and not changed & NOT_TRIED
        if configured:
            parameters.configure(changed)
        parameters.restore(before, changed)
        if configured:
            self.found.counts['configured anew'] += 1
            self._begin(name, anew=True)

    def _describe(self, name: str) -> None:
        """Publish another description, or a malformed one, and then that of all nodes."""
        data = self.messages.perhaps_wrong(String(data=drawn(self.random)), 0.0)[0]
        for description in (data, serialized(String(data=DESCRIPTION))):
            self._pass(SECOND // 10)  # later than what got a torque, which may have come from the future
            if self._give(name, DESCRIPTION_TOPIC, description, prompt=False):
                self._pass(SECOND)
                self.nodes.tick(name)
                self._described(name, understood(description, String).data)
        self._pass(SECOND // 10)
        self._begin(name, anew=True)

    def _described(self, name: str, text: str) -> None:
        """Check that a node is the robot of a description, or says why it is none."""
        node = self.nodes.nodes[name]
        robot = described(text, node.needs)
        right = node.active or node.silence.startswith(('not configured: ', 'waiting for a robot description'))
        self.check('DESCRIBED', right and node.active is (robot is not None), f'{name}: {node.silence}')
        if node.active and robot is not None:
            q = np.array(self.messages.numbers(robot.nv, 0.5))
            self.nodes.take(name)
            self.nodes.give(name, 'joint_states', serialized(graph.joint_state(robot.joint_names, self.nodes.now, q)))
            sent = torques.read(self.nodes.take(name))
            with np.errstate(all='ignore'):
                right = np.clip(robot.gravity_torque(q), -robot.limits.effort, robot.limits.effort)
            fits = len(sent) == 1 and torques.is_within(sent[0].effort, right, right)
            self.check('DESCRIBED', fits, f'{name}: {sent}, expected {right}')

    def _good_ones(self) -> None:
        """Send every node valid messages and check that its torques are right, whatever was sent before."""
        for name, (kind, _, further) in NODES.items():
            self._pass(SECOND)  # later than what got a torque, which may have come from the future
            self._diagnose(name)
            q, qd, qdd = (np.array(self.messages.numbers(ROBOT.nv, 0.5)) for _ in range(3))
            if kind == SERVER:
                self._request('~/get_mass_matrix', serialized(GetMassMatrix.Request(positions=q.tolist())))
                continue
            for topic in [topic for topic in LOADS if topic in topics_of(name)]:
                self._message(name, topic, serialized(self.messages.good_load(topic)))
            self._pass(SECOND)  # the ramp from what was held is over
            self._state_along(name, kind, further is REFERENCE, q, qd, qdd)

    def _state_along(self, name: str, kind: str, is_reference: bool, q, qd, qdd) -> None:
        """Send a good motion and a state on it, or, for a controller, close to it."""
        now, arm, names = self.nodes.now, self.arm, list(ROBOT.joint_names)
        torque, met = (lambda load: arm.inverse_dynamics(q, qd, qdd, load) + arm.friction(qd)), q
        if is_reference:
            reference = self.messages.reference_of(names, [q.tolist(), qd.tolist(), qdd.tolist()], 1.0)
            self._message(name, 'controller_state', serialized(reference))
        elif kind == GRAVITY_NODE:
            torque = None
        elif kind == EXTERNAL:
            self._at_rest(name, q)
            return
        else:
            nobody = f'nobody_{self.found.index}'
            wrong = JointTrajectory(joint_names=[nobody], points=[JointTrajectoryPoint(positions=[0.0])])
            self._give(name, 'joint_trajectory', serialized(wrong))
            self.check('REFUSED', nobody in str(self._diagnose(name)), f'{name} does not name {nobody}')
            followed = graph.trajectory(names, now, (0.0, q, qd, qdd), (2.0, q, 0.0 * q, 0.0 * q))
            self._give(name, 'joint_trajectory', serialized(followed))
            if kind == CONTROLLER:
                added, met = np.array(self.messages.numbers(ROBOT.nv, 5.0)), q - 0.01
                self._inform(name, followed)
                self._give(name, 'feedforward_torque', serialized(graph.joint_state(names, now, [], [], added)))
                torque = partial(_constant, STIFFNESS * 0.01 + added)
        self._state(name, serialized(graph.joint_state(names, now, met, qd)), torque)

    def _at_rest(self, name: str, q) -> None:
        """Send good states of an arm at rest under any torques, and check the external torque of the last."""
        effort, names = np.array(self.messages.numbers(ROBOT.nv, 5.0)), list(ROBOT.joint_names)
        offset = ROBOT.friction.offset

        def external(load):
            return self.arm.gravity_torque(q, load) + offset - effort

        for k in range(SETTLED):
            self._pass(SECOND // 200)
            # friction that is tracked is another one, and efforts without gravity need it added
            known = external if k == SETTLED - 1 and name == 'external torque' else None
            self._state(name, serialized(graph.joint_state(names, self.nodes.now, q, 0.0 * q, effort)), known)


def _constant(torque, load):
    return torque


def growth(allocated: list[tuple[int, float]]) -> float:
    """Return the growth of ``allocated``, kB per message, in the second half: before, caches fill for the first time.

    Each item is a number of messages and the allocated memory after them, MB.
    """
    messages, megabytes = np.array(allocated[len(allocated) // 2 :]).T
    return 1e3 * np.polyfit(messages, megabytes, 1)[0]


@contextmanager
def fuzzed(seed: int, reference_kind):
    """Create the nodes and a run with them."""
    with InProcess(Settings()) as nodes:
        nodes.coupled = False
        yield Fuzz(nodes, reference_kind, seed)
