"""One episode: sends messages to the nodes of a graph and checks what they publish."""

import time
from pathlib import Path

from support.nodes import graph

import numpy as np
import torques
from load import SECOND
from messages import LONG, Messages
from node_settings import CONTROLLER, FEEDFORWARD, FOLLOWERS, NAMED, SERVER, TORQUE_NODES
from process import has_compiler
from rclpy.serialization import serialize_message
from torque_watch import State

from coupled_nodes.lifecycle import Graph

CPU = 0.1
"""Largest CPU time of a state, s, also the first state of a long trajectory (a short one: 0.0003)."""
LEAP = 0.1
"""rad or m of one step of the arm that no velocity explains."""
RELAYS = ('before', 'before', 'before', 'after', 'lost')
"""When the controller gets the feedforward torque of a state: before that state, after it, or never."""


class Episode(Graph):
    """A graph, and what can be done with it; the arm is at q and qd."""

    def __init__(self, nodes, found, messages: Messages, folder: Path):
        """Use ``nodes``, still empty; ``folder`` is for their files."""
        super().__init__(nodes, found, messages, folder)
        self.context = found.context
        self.q, self.qd = self.messages.vector(0.5), np.zeros(self.arm.n)
        self._shown = self.q  # in the state before
        self.relay, self.tracks = 'before', True  # whether the arm is on the trajectory
        self.moved, self.leapt = nodes.steady, -np.inf  # steady times of the last state, and of the last leap, s

    @property
    def limit(self) -> float:
        """About the largest age limit, s."""
        settings = self.settings.nodes.values()
        return max(each.age_limit or max(3.0 * self.settings.period, 0.005) for each in settings)

    def begin(self) -> None:
        """Start all nodes, the server first or last."""
        self.make(SERVER)
        first = self.random.random() < 0.8
        if first:
            self.bring_up(SERVER)
        for name in self.random.sample(list(self.settings.nodes), len(self.settings.nodes)):
            self.make(name)
            self.bring_up(name)
        if not first:
            self.rounds(self.random.randint(1, 4), 0.4)
            self.bring_up(SERVER)
        self.pass_by(0.6)

    def restart(self, name: str, way: str) -> None:
        """Deactivate a node and activate it again; ``way``: what happens between."""
        self.deactivate(name)
        if way == 'deactivated':
            if self.random.random() < 0.5:
                self._meanwhile(name)
            self.activate(name)
            return
        if way == 'cleaned up':
            self.transition(name, 'cleanup', 'unconfigured')
        else:
            self.nodes.destroy(name)
            self.pass_by(self.random.choice((0.01, 0.3)))
            self.make(name)
        self.bring_up(name)

    def _meanwhile(self, name: str) -> None:
        """Send an inactive node a trajectory, which it refuses, and a state; the arm may be moved."""
        check = self.found.check
        if name in FOLLOWERS:
            self.give_trajectory(name, self.messages.trajectory(self.q, 0.1))
            refused = self.nodes.diagnose(name)[1].get('trajectory refused last', '')
            check('DEACTIVATED', 'not active' in refused, f'{name}: a trajectory while inactive: {refused!r}')
        if name != SERVER:
            self.nodes.give_state(name, self.messages.state(self.nodes.now, self.q, self.qd)[1])
            sent = torques.read(self.nodes.take(name))
            check('DEACTIVATED', not sent, lambda: f'{name} published {sent} while inactive')
        self.pass_by(self.random.choice((0.02, 0.5, 4.0)))
        if self.random.random() < 0.5:
            self.q = self.q + self.messages.vector(0.5)

    def wait(self, duration: float, each: float) -> None:
        """Advance the time by so many s without a state, and check the nodes whose on_stale may act after ``each``."""
        for _ in range(int(duration / each)):
            self.pass_by(each)
            for name, watch in self.watches.items():
                if watch.falls_back:
                    self.absence(name)

    def rounds(self, count: int, period: float = 0.0, **how) -> None:
        """Send so many states, one each ``period`` s."""
        for _ in range(count):
            self.pass_by(period or self.settings.period)
            self.round(**how)

    def during(self, duration: float, **how) -> None:
        """Send states for so many s, one at least."""
        self.rounds(max(1, round(duration / self.settings.period)), **how)

    def states(self) -> None:
        """Send some states."""
        self.rounds(self.random.randint(3, 15))

    def round(self, exact: bool = False, relay: str = '', without: str = '') -> None:
        """Send a valid state to all nodes; its stamp is the present time if ``exact``.

        ``relay``: when the controller gets the feedforward torque; ``without``: the node that gets nothing.
        """
        age = 0.0 if exact or self.random.random() < 0.5 else self.random.uniform(0.0, 0.001)
        answered = [watch.answered or 0 for watch in self.watches.values() if watch.active]
        earliest = max((stamp for stamp in answered if stamp <= self.nodes.now), default=0)
        stamp = max(self.nodes.now - round(age * SECOND), earliest, 1)
        self._move(stamp)
        if np.abs(self.q - self._shown).max() > LEAP:
            self.leapt = self.nodes.steady
        self._shown = self.q
        state, data = self.messages.state(stamp, self.q, self.qd)
        if self.random.random() < 0.03:
            self.relay = self.random.choice(RELAYS)
        relay = 'lost' if without == CONTROLLER else relay or self.relay
        for name in TORQUE_NODES:
            sent = [] if name == without else self.state(name, state, data)
            if name == FEEDFORWARD:
                later = [] if relay == 'lost' else sent
            if relay == 'before' or name == CONTROLLER:
                while later:
                    self.feedforward(later.pop(0).message)

    def state(self, name: str, state: State, data: bytes) -> list:
        """Send a state to a node and check its output; return the torques with the stamp of the state."""
        watch, nodes = self.watches[name], self.nodes
        if not watch.active:
            return []
        self.found.index += 1
        self.found.counts['states'] += 1
        self.found.context = f'{self.context}; {name}, joint_states, message {data.hex()}'
        sent, reason = watch.judge(lambda: self._give_promptly(name, data), state), nodes.why(name)
        # what has none of the arm's joints is skipped
        self.found.check('DIAGNOSED', sent or reason or state.q is None, f'{name}: no torque and no reason')
        return [torque for torque in sent if torque.stamp == state.stamp]

    def _give_promptly(self, name: str, data: bytes) -> None:
        before, used = has_compiler(), time.thread_time()
        self.nodes.give_state(name, data)
        used = time.thread_time() - used
        prompt = used < CPU and has_compiler() is before
        self.found.check('PROMPT', prompt, lambda: f'{name}: a state took {used:.3f} s, or compiled something')

    def absence(self, name: str) -> None:
        """Check a node that receives no state."""
        watch, nodes = self.watches[name], self.nodes
        if watch.active:
            self.found.index += 1
            nodes.take(name)
            watch.judge(lambda: nodes.pause(name))

    def _move(self, stamp: int) -> None:
        """Set a plausible position of the arm at a stamp: on the trajectory, or drifting."""
        motion = self.watches[CONTROLLER].motion(stamp) if self.tracks else None
        if motion is not None:
            q, qd, _ = motion
            self.q, self.qd = q + self.messages.vector(0.003), qd + self.messages.vector(0.01)
            return
        elapsed, self.moved = self.nodes.steady - self.moved, self.nodes.steady
        self.qd = self.messages.vector(0.1)
        self.q = self.arm.within(self.q + min(elapsed, 0.02) * self.qd)
        if self.random.random() < 0.002:
            self.q = self.messages.vector(1.5)

    def feedforward(self, message) -> None:
        """Pass a feedforward torque to the controller."""
        if self.watches[CONTROLLER].active:
            self.found.index += 1
            self.found.counts['feedforward torques'] += 1
            stamp = graph.nanoseconds(message.header.stamp)
            motion = np.array([message.position, message.velocity])
            self.watches[CONTROLLER].feedforward(stamp, motion, np.array(message.effort))
            self.nodes.give(CONTROLLER, NAMED[FEEDFORWARD], serialize_message(message))

    def trajectory(self) -> None:
        """Send a trajectory to both followers, sometimes a wrong one."""
        good = self.random.random() >= 0.12
        tolerance = self.settings.nodes[self.random.choice(FOLLOWERS)].start_tolerance
        draw = self.messages.trajectory if good else self.messages.wrong_trajectory
        message, self.tracks = draw(self.q, tolerance), self.random.random() < 0.8
        for name in self.random.sample(FOLLOWERS, 2):
            self.give_trajectory(name, message, good)
        if len(message.points) == LONG:
            self.round()

    def give_trajectory(self, name: str, message, good: bool = True, late: int = 0) -> None:
        """Send a trajectory to one node, ``late`` ns after the middleware has received it."""
        watch = self.watches[name]
        if watch.configured:
            self.found.index += 1
            self.found.counts['trajectories'] += 1
            if watch.active and good:
                watch.trajectory(message, late)
            self.nodes.give(name, 'joint_trajectory', serialize_message(message), late)

    def follow(self, ahead: float = 0.0, during: float = 0.1, relay: str = 'before') -> None:
        """Send both followers a valid trajectory from where the arm is, ``ahead`` s from now, and states meanwhile."""
        message = self.messages.motion(self.q, round(ahead * SECOND))
        for name in FOLLOWERS:
            self.give_trajectory(name, message)
        self.tracks = True
        self.during(during, relay=relay)

    def diagnose(self, name: str) -> None:
        """Check a torque node's diagnostics: OK only where torques are published, and never an internal error."""
        watch, (status, _) = self.watches[name], self.nodes.diagnose(name)
        self.found.index += 1
        if not self.found.check('DIAGNOSED', status is not None, f'{name} has no diagnostics'):
            return
        self.found.check('CALLBACK', 'internal error' not in status.message, f'{name}: {status.message}')
        reason = self.nodes.why(name)
        stated = reason in status.message or status.message.startswith('no joint state for ')
        self.found.check('DIAGNOSED', stated, f'{name}: {reason!r} in {status.message!r}')
        if watch.active:
            age = np.inf if watch.sent_at is None else self.nodes.steady - watch.sent_at
            right = status.level != b'\0' or age <= max(watch.limits[1], 1.0)
            self.found.check('DIAGNOSED', right, f'{name}: OK {age} s after the last torque: {status.message!r}')
