"""One graph of coupled nodes under random events: compares every torque of every node with the reference models."""

import time
from collections import Counter
from pathlib import Path
from random import Random

from support import graph

import numpy as np
from rclpy.serialization import serialize_message

from coupled_nodes.following import ControllerModel, FeedforwardModel
from coupled_nodes.judge import NAMED, Judge
from coupled_nodes.messages import LONG, Messages
from coupled_nodes.model import LOADS, GravityModel, State
from coupled_nodes.rules import Findings
from coupled_nodes.server import ServerModel
from coupled_nodes.server_watch import ServerWatch
from coupled_nodes.settings import CONTROLLER, FEEDFORWARD, GRAVITY_NODE, SERVER, TORQUE_NODES, Settings

SECOND = graph.SECOND
FOLLOWERS = FEEDFORWARD, CONTROLLER
LOOK = 0.005
"""Time between two checks of the timeout, s."""
CPU = 0.1
"""Largest CPU time of a state, s, also the first state of a long trajectory (a short one: 0.0003)."""
MOST_REPAIRS = 25
"""Largest number of repairs of one node in an episode."""
RELAYS = ('before', 'before', 'before', 'after', 'lost')
"""When the controller gets the feedforward torque of a state: before that state, after it, or never."""
UNDER_WAY = 0.1
"""Latency of a message between processes, s."""


class NotUpError(Exception):
    """A node can't be activated: this episode ends."""


class Episode:
    """A graph, its reference models, and the events that it can be exposed to."""

    def __init__(self, nodes, settings: Settings, found: Findings, random: Random, folder: Path):
        """Use ``nodes`` (InProcess or Processes), still empty; ``folder`` is for their files."""
        self.nodes, self.settings, self.found, self.random, self.arm = nodes, settings, found, random, settings.arm
        nodes.told, nodes.failed = self.told, self.failed
        self.messages = Messages(random, self.arm, nodes.real_time)
        self.judge = Judge(found)
        fills_before = nodes.fills_before
        forward = FeedforwardModel(settings, settings.nodes[FEEDFORWARD], fills_before)
        controller = settings.nodes[CONTROLLER]
        self.models = {
            FEEDFORWARD: forward,
            GRAVITY_NODE: GravityModel(settings, settings.nodes[GRAVITY_NODE], fills_before),
            CONTROLLER: ControllerModel(
                settings, controller, fills_before, producer=forward, room=UNDER_WAY if nodes.real_time else 0.0
            ),
        }
        self.server = ServerModel(settings, fills_before)
        self.watch = ServerWatch(self.server, nodes, found, self.messages, lambda: self.repair(SERVER))
        self.q, self.qd = self.messages.vector(0.5), np.zeros(self.arm.n)
        self.relay, self.relays, self.tracks = 'before', RELAYS, True
        self.paused = ''  # the node that gets no states now
        self.undelivered: list = []  # the newest feedforward torque for it
        self._repairs: Counter = Counter()
        self._file = folder / 'payload.yaml' if settings.payload_file else None

    def begin(self) -> None:
        """Start all nodes."""
        order = list(TORQUE_NODES)
        self.random.shuffle(order)
        with_server = self.random.random()
        self.make(SERVER)
        if with_server < 0.8:
            self.bring_up(SERVER)
        for name in order:
            self.make(name)
            self.bring_up(name)
        if with_server >= 0.8:
            for _ in range(self.random.randint(1, 4)):
                self.pass_by(0.4)
                self.round()
            self.bring_up(SERVER)
        self.pass_by(0.6)

    # -- messages between nodes -----------------------------------------------------------------------------------

    def told(self, name: str, topic: str, message) -> None:
        """Record that a node received a payload or gravity."""
        if name in self.models and topic in LOADS and self.models[name].configured:
            self.models[name].told(topic, message, self.nodes.now)
        self.models[CONTROLLER].look_at_loads(self.nodes.steady)

    def failed(self, name: str, error: Exception) -> None:
        """Record an exception that left a callback."""
        self.found.check('R18', False, name, repr(error))

    # -- lifecycle ------------------------------------------------------------------------------------------------

    def make(self, name: str) -> None:
        """Start a node's process."""
        parameters = self.settings.parameters(name)
        if name == SERVER and self._file:
            parameters['payload_file'] = str(self._file)
        self.nodes.make(name, parameters)
        self.nodes.take(name)

    def bring_up(self, name: str) -> None:
        """Configure and activate a node."""
        self.configure(name)
        self.activate(name)

    def configure(self, name: str) -> None:
        """Configure a node."""
        if name == SERVER:
            self.server.configure(self.nodes.now)
        else:
            self.models[name].configure(self.nodes.steady)
            self.judge.begin(name)
        self._transition(name, 'configure', 'inactive')
        if name != SERVER:
            self.models[name].subscribed(self.nodes.subscribed(name, LOADS[0]))
            for topic in LOADS:
                message = self.nodes.known(name, topic)
                if message is not None:
                    self.models[name].told(topic, message, self.nodes.now)

    def activate(self, name: str) -> None:
        """Activate a node."""
        self.nodes.take(name)
        if name != SERVER:
            self.models[name].activate()
            self.judge.begin(name)
        self._transition(name, 'activate', 'active')
        sent = self.nodes.take(name)
        if name == SERVER:
            self.server.active = True
            self.server.look(self.nodes.now)
            self.watch.told({topic for topic, *_ in sent}, LOADS)
        else:
            self.found.check(
                'ANSWER', not self.judge.answers(name, self.models[name], sent), name, 'sent by activation'
            )

    def deactivate(self, name: str) -> None:
        """Deactivate a node."""
        if name == SERVER:
            self.server.active = False
            self._transition(name, 'deactivate', 'inactive')
            return
        model = self.models[name]
        step = model.step(self.nodes.now, self.nodes.steady)[1]
        due = model.sent_at is not None
        model.active = False
        self.nodes.take(name)
        self._transition(name, 'deactivate', 'inactive')
        answers = self.judge.answers(name, model, self.nodes.take(name), ends=True)
        self.judge.deactivated(name, model, due, answers, step)
        if answers:
            model.acted(answers[-1].torque, self.nodes.now, answers[-1].at)

    def restart(self, name: str, way: str) -> None:
        """Deactivate a node and activate it again; ``way``: what happens between."""
        if self._repairs[name] >= MOST_REPAIRS:
            return
        active = self.server.active if name == SERVER else self.models[name].active
        if active:
            self.deactivate(name)
        if way == 'deactivated':
            if self.random.random() < 0.5:
                self._meanwhile(name)
            self.activate(name)
            return
        if way == 'cleaned up':
            self._transition(name, 'cleanup', 'unconfigured')
        else:
            self.nodes.destroy(name)
            self.pass_by(self.random.choice((0.01, 0.3)))
            self.make(name)
        self.bring_up(name)

    def unconfigure(self, name: str) -> None:
        """End a node and start it again, unconfigured."""
        self.nodes.destroy(name)
        if name == SERVER:
            self.server.configured = self.server.active = False
        self.make(name)

    def repair(self, name: str) -> None:
        """Restart a node that deviates from its model; after many times, leave it out."""
        self._repairs[name] += 1
        if self._repairs[name] == MOST_REPAIRS and name != SERVER:
            self.deactivate(name)
        if self._repairs[name] >= MOST_REPAIRS:
            return
        self.restart(name, 'cleaned up')
        self.pass_by(0.6)

    def _meanwhile(self, name: str) -> None:
        """Cause random events while a node is inactive."""
        if name in FOLLOWERS:
            kind, message = self.messages.trajectory(self.nodes.now, self.q, 0.1)
            self.give_trajectory(name, message, True)
            told = self.nodes.diagnosed(name, 'trajectory refused last')
            self.found.check('R1', 'not active' in told, name, lambda: f'{kind} while inactive: told {told!r}')
        self.pass_by(self.random.choice((0.02, 0.5, 4.0)))
        if self.random.random() < 0.5:
            self.q = self.q + self.messages.vector(0.5)

    def _transition(self, name: str, transition: str, state: str) -> None:
        self.found.index += 1
        self.found.counts[transition] += 1
        self.nodes.transition(name, transition)
        came = self.nodes.state(name)
        if not self.found.check(
            'UP', came == state, name, lambda: f'{transition} ends in {came}: {self.nodes.why(name)}'
        ):
            raise NotUpError

    # -- states ---------------------------------------------------------------------------------------------------

    def pass_by(self, duration: float) -> None:
        """Advance the time by so many s."""
        self.nodes.pass_by(round(duration * SECOND))
        self.models[CONTROLLER].look_at_loads(self.nodes.steady)

    def round(self, exact: bool = False) -> None:
        """Send a valid state to all nodes; its stamp is the present time if ``exact``."""
        while self.is_undecided():
            self.pass_by(0.3 * max(model.clock.limit for model in self.models.values()))
        age = 0.0 if exact or self.random.random() < 0.5 else self.random.uniform(0.0, 0.001)
        stamp = self.nodes.now - round(age * SECOND)
        answered = [model.clock.answered for model in self.models.values() if model.active]
        stamp = max(stamp, *(each for each in answered if each is not None and each <= self.nodes.now), 1)
        self._move(stamp)
        state, data = self.messages.state(stamp, self.q, self.qd)
        later, repaired = [], self._repairs.total()
        if self.random.random() < 0.03:
            self.relay = self.random.choice(self.relays)
        for name in TORQUE_NODES:
            answers = [] if name == self.paused else self.state(name, state, data)
            if self._repairs.total() != repaired:
                return  # the time has advanced
            for answer in answers:
                if name == FEEDFORWARD and self.relay != 'lost':
                    later.append(answer)
            if name == FEEDFORWARD and self.relay == 'before':
                self._pass_on(later)
        self._pass_on(later)

    def is_undecided(self) -> bool:
        """Return whether a state now may or may not end an interruption of a node that gets it."""
        models = (model for name, model in self.models.items() if name != self.paused)
        return any(model.active and model.clock.is_near_the_limit(self.nodes.now) for model in models)

    def state(self, name: str, state: State, data: bytes) -> list:
        """Send a state to a node, check the output and return the torques."""
        model, nodes = self.models[name], self.nodes
        if not model.active:
            return []
        self.found.index += 1
        self.found.counts['states'] += 1
        publishers = {topic for topic in LOADS if nodes.count(topic)}
        waits = not self.found.is_tired_of('R6')
        expected = model.state(state, nodes.now, nodes.steady, publishers, waits)
        unsure = expected.low is None or not expected.sure
        carried_on = model.absence(nodes.now, nodes.steady) if unsure else None
        used = time.thread_time()
        nodes.give_state(name, data, expected.low is not None)
        used = time.thread_time() - used
        self.found.check('R19', used < CPU or nodes.real_time, name, lambda: f'a state took {used:.3f} s')
        answers = self.judge.answers(name, model, nodes.take(name))
        goes_on = carried_on is not None and (
            self.judge.is_right(carried_on, answers) or not self.judge.is_right(expected, answers)
        )
        if goes_on and answers:
            right = self.judge.compare(name, carried_on, answers, None)
            model.acted(answers[-1].torque, nodes.now, nodes.steady)
        else:
            right = self.judge.compare(name, expected, answers, state.stamp)
            if answers:
                self.found.counts['torques'] += 1
                model.answered(state, answers[-1].torque, nodes.now, nodes.steady)
            elif expected.low is not None:
                model.unanswered()
        if not right:
            self.repair(name)
            return []
        return [answer for answer in answers if answer.stamp == state.stamp]

    def absence(self, name: str) -> None:
        """Check a node that receives no state."""
        model, nodes = self.models[name], self.nodes
        if not model.active:
            return
        self.found.index += 1
        expected = model.absence(nodes.now, nodes.steady)
        nodes.pause(name)
        answers = self.judge.answers(name, model, nodes.take(name))
        if expected is None:
            nothing = [np.round(answer.torque, 4).tolist() for answer in answers]
            right = self.found.check('R17', not answers, name, lambda: f'no state, but {nothing} sent')
        else:
            self.found.counts['torques without a state'] += len(answers)
            if model.why == 'R3':
                expected.rule = 'R3'
            right = self.judge.compare(name, expected, answers, None)
        if answers:
            model.acted(answers[-1].torque, nodes.now, nodes.steady)
        if not right:
            self.repair(name)

    def _move(self, stamp: int) -> None:
        """Set a plausible position of the arm at a stamp: on the trajectory, or drifting."""
        followed = self.models[CONTROLLER].follower.followed
        if self.tracks and followed is not None and followed.met is not None:
            t = followed.seconds(stamp)
            if t >= followed.motion.times[0]:
                q, qd, _ = followed.motion.at(t)
                self.q, self.qd = q + self.messages.vector(0.003), qd + self.messages.vector(0.01)
                return
        self.q = self.q + self.messages.vector(0.002)
        self.qd = self.messages.vector(0.02)
        if self.random.random() < 0.002:
            self.q = self.messages.vector(1.5)

    def _pass_on(self, answers: list) -> None:
        """Pass feedforward torques to the controller and clear the list."""
        while answers:
            self.feedforward(answers.pop(0).message)

    def feedforward(self, message) -> None:
        """Pass a feedforward torque to the controller."""
        if not self.models[CONTROLLER].active:
            return
        if self.paused == CONTROLLER:
            self.undelivered[:] = [message]
            return
        self.found.index += 1
        self.found.counts['feedforward torques'] += 1
        effort = np.array(message.effort)
        known = np.isfinite(effort).all()
        order = [list(message.name).index(joint) for joint in self.arm.names]
        self.models[CONTROLLER].feedforward(graph.nanoseconds(message.header.stamp), effort[order] if known else None)
        self.nodes.give(CONTROLLER, NAMED[FEEDFORWARD], serialize_message(message))

    # -- trajectories ---------------------------------------------------------------------------------------------

    def trajectory(self) -> None:
        """Send a trajectory to both followers, sometimes to one of them later than it was received."""
        tolerance = self.settings.nodes[self.random.choice(FOLLOWERS)].start_tolerance
        if self.random.random() < 0.12:
            kind, message = self.messages.wrong_trajectory(self.nodes.now, self.q)
            good = False
        else:
            kind, message = self.messages.trajectory(self.nodes.now, self.q, tolerance)
            good = True
        self.tracks = self.random.random() < 0.8
        late = 0.0
        if self.random.random() < 0.1 and good and not graph.nanoseconds(message.header.stamp):
            late = self.random.choice((0.02, 0.06, 3.0))
        order = list(FOLLOWERS)
        self.random.shuffle(order)
        self.give_trajectory(order[0], message, good)
        if late:
            self.pass_by(late)
        self.give_trajectory(order[1], message, good, late)
        if str(LONG) in kind:
            self.round()

    def give_trajectory(self, name: str, message, good: bool, late: float = 0.0) -> None:
        """Send a trajectory to one node, ``late`` s after the middleware has received it."""
        model, late = self.models[name], round(late * SECOND)
        if not model.configured:
            return
        self.found.index += 1
        self.found.counts['trajectories'] += 1
        newest = model.follower.newest
        model.trajectory(message, self.nodes.now - late, self.nodes.now, good)
        if late and model.follower.newest is not newest:
            model.follower.late = True
        self.nodes.give(name, 'joint_trajectory', serialize_message(message), late)

    # -- diagnostics ----------------------------------------------------------------------------------------------

    def diagnose(self, name: str) -> None:
        """Check a torque node's diagnostics (R4)."""
        model = self.models[name]
        status = self.nodes.diagnose(name)
        self.found.index += 1
        if self.found.check('R4', status is not None, name, 'no diagnostics'):
            internal = 'internal error' in status.message
            self.found.check('R18', not internal, name, status.message)
            if model.active:
                said = f'{status.level} {status.message!r}, last torque at {model.sent_at}, now {self.nodes.steady}'
                self.found.check(
                    'R4', status.level != b'\0' or model.answers(self.nodes.steady - self.nodes.lag), name, said
                )
            if internal:
                self.repair(name)
