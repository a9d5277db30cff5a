"""Random events of a graph, and their frequencies."""

from support import graph

import numpy as np
from load import SECOND
from node_settings import CONTROLLER, FEEDFORWARD, SERVER, TORQUE_NODES

from coupled_nodes.disturbances import LOOK, Disturbances
from coupled_nodes.episode import Episode
from robot_dynamics_interfaces.msg import GravityState, PayloadState

WAYS = ('deactivated',) * 3 + ('cleaned up', 'ended')
"""Events between the deactivation and the activation of a node."""
SPREADS = 2.5
"""Time within which the server may publish its ramps again after the clock was set back, s."""
ONE_PROCESS = 'disagreement', 'wait_for_load', 'other_clock', 'clock_back_in_silence', 'burst'
"""Events that need constant clocks, or delivery without the middleware."""


class Moves:
    """Moves of one episode."""

    def __init__(self, episode: Episode):
        self.episode, self.random, self.nodes = episode, episode.random, episode.nodes
        self._moves = {
            self.states: 60.0,
            self.wrong_state: 3.0,
            self.trajectory: 5.0,
            self.gap: 3.0,
            self.burst: 1.0,
            self.silence: 1.5,
            self.restart: 1.2,
            self.restart_server: 0.5,
            self.clock_back: 0.7,
            self.clock_back_in_silence: 0.3,
            self.payload: 1.2,
            self.gravity: 0.8,
            self.diagnose: 1.0,
            self.other_clock: 0.5,
            self.disagreement: 0.3,
            self.wait_for_load: 0.15,
            self.wrong_feedforward: 0.3,
            self.compute: 0.5,
        }
        if self.nodes.real_time:
            self._moves = {move: often for move, often in self._moves.items() if move.__name__ not in ONE_PROCESS}
        else:
            self._moves |= Disturbances(episode, self.states).moves

    def until(self, end: int) -> None:
        """Cause random events until that many messages were sent."""
        while self.episode.found.index < end:
            (move,) = self.random.choices(list(self._moves), self._moves.values())
            self._cause(move)

    def in_turn(self, names, end: int) -> None:
        """Cause the events of these names in their order, all where none is named; again until ``end`` messages."""
        known = {move.__name__: move for move in self._moves}
        while True:
            for name in names or known:
                self._cause(known[name])
            if self.episode.found.index >= end:
                return

    def _cause(self, move) -> None:
        self.episode.found.counts[f'move {move.__name__}'] += 1
        move()

    def states(self) -> None:
        for _ in range(self.random.randint(3, 15)):
            self.episode.pass_by(self.episode.settings.period)
            self.episode.round()

    def wrong_state(self) -> None:
        """A state that must get no torque: incomplete, too old, from the future, or out of order."""
        episode = self.episode
        episode.pass_by(0.002)
        kind = self.random.choice(('incomplete',) * 2 + ('too old', 'from the future', 'out of order', 'no stamp'))
        for name in TORQUE_NODES:
            watch, now = episode.watches[name], self.nodes.now
            answered, limit = watch.answered, round(watch.limits[1] * SECOND)
            if not watch.active or (answered is None and (kind == 'out of order' or not watch.settings.age_limit)):
                continue  # a state that is estimated from changes the period
            stamps = {'too old': now - 6 * limit // 5, 'from the future': now + 6 * limit // 5, 'no stamp': 0}
            stamp = (answered or now) - SECOND // 1000 if kind == 'out of order' else stamps.get(kind, now)
            draw = episode.messages.wrong_state if kind == 'incomplete' else episode.messages.state
            episode.state(name, *draw(max(stamp, 0), episode.q, episode.qd))
            episode.absence(name)

    def trajectory(self) -> None:
        self.episode.pass_by(0.001)
        self.episode.trajectory()
        self.states()

    def gap(self) -> None:
        self.episode.pass_by(self.random.uniform(0.1, 0.9) * self._limit())
        self.episode.round()

    def burst(self) -> None:
        """Many states at once."""
        for _ in range(self.random.randint(2, 12)):
            self.episode.pass_by(1e-5)
            self.episode.round()

    def silence(self) -> None:
        """States are interrupted while the arm is displaced or continues to move."""
        episode = self.episode
        self._fall_still(self.random.choice((1.5, 3.0, 10.0, 60.0)) * self._limit())
        if self.random.random() < 0.4:
            self.diagnose()
        choice = self.random.random()
        if choice < 0.4:
            episode.q = episode.q + episode.messages.vector(self.random.choice((0.05, 0.3, 1.0)))
        episode.tracks = episode.tracks and choice >= 0.6
        self.states()

    def restart(self) -> None:
        self.episode.restart(self.random.choice(TORQUE_NODES), self.random.choice(WAYS))
        self._begin_again()

    def restart_server(self) -> None:
        """The server is restarted, during a ramp or not."""
        if self.random.random() < 0.5:
            self.payload()
        self.episode.restart(SERVER, self.random.choice(WAYS))
        self.states()

    def clock_back(self) -> None:
        """The ROS time is set back; all nodes read it just before and just after."""
        self.episode.pass_by(0.001)
        self._exact_round()
        self._set_back((0.02, 0.3, 5.0, 300.0) if self.nodes.simulated_time else (5.0, 300.0))
        self._exact_round()
        self.states()

    def clock_back_in_silence(self) -> None:
        """The ROS time is set back during an interruption; only a state that is too old arrives."""
        episode = self.episode
        self._fall_still(self._limit() + 0.05)
        self._set_back((5.0, 300.0))  # or a node that sees states alone would not notice
        for name, watch in episode.watches.items():
            if watch.active and watch.settings.age_limit:
                old = self.nodes.now - round(2 * watch.age_limit * SECOND)
                episode.state(name, *episode.messages.state(old, episode.q, episode.qd))
        self._fall_still(0.1)
        self._exact_round()
        self.states()

    def payload(self) -> None:
        self.episode.server.set_load('set_payload')
        self.states()

    def gravity(self) -> None:
        self.episode.server.set_load('set_gravity')
        self.states()

    def diagnose(self) -> None:
        for name in TORQUE_NODES:
            self.episode.diagnose(name)

    def other_clock(self) -> None:
        """The first state after a restart has the stamp of another clock; then all stop."""
        episode, name = self.episode, self.random.choice(TORQUE_NODES)
        if not episode.settings.nodes[name].age_limit:
            return
        episode.restart(name, 'deactivated')
        episode.pass_by(0.6)
        episode.state(name, *episode.messages.state(self.nodes.now - 50 * SECOND, episode.q, episode.qd))
        self.states()
        episode.pass_by(4.0)
        episode.diagnose(name)
        self.states()

    def disagreement(self) -> None:
        """One node receives another payload or gravity than the others."""
        name = self.random.choice((FEEDFORWARD, CONTROLLER))
        payload = PayloadState(mass=0.7, frame=self.episode.arm.tip)
        payload.stamp.sec, payload.stamp.nanosec = divmod(self.nodes.now, SECOND)
        gravity = graph.stamped(GravityState(), self.nodes.now)
        gravity.header.frame_id, gravity.gravity.z, gravity.before.z = self.episode.arm.base, -9.0, -9.0
        self.nodes.inject(name, *self.random.choice((('payload_state', payload), ('gravity_state', gravity))))
        for _ in range(self.random.randint(1, 30)):
            self.episode.pass_by(0.01)
            self.states()
            if self.random.random() < 0.2:
                self.trajectory()

    def wait_for_load(self) -> None:
        """A node starts while a publisher of its load has not published anything yet."""
        episode, name = self.episode, self.random.choice(TORQUE_NODES)
        episode.unconfigure_server()
        episode.restart(name, 'cleaned up')
        self._begin_again()
        episode.pass_by(self.random.choice((0.1, 1.0, 6.0)))
        episode.round()
        if self.random.random() < 0.5:
            episode.diagnose(name)
        episode.bring_up(SERVER)
        self.states()

    def wrong_feedforward(self) -> None:
        """A feedforward torque that is not finite."""
        names = self.episode.arm.names
        effort = self.episode.messages.vector(1.0)
        effort[self.random.randrange(len(names))] = np.nan
        self.episode.feedforward(graph.joint_state(names, self.nodes.now, [], [], effort))
        self.states()

    def compute(self) -> None:
        self.episode.server.compute()

    def _fall_still(self, duration: float) -> None:
        """Send no state for so many s, and check each node at each of its timeouts."""
        looked = 0.0 if self.nodes.real_time else min(duration, self._limit() + 0.5)
        for _ in range(int(looked / LOOK)):
            self.episode.wait(LOOK)
        self.episode.pass_by(duration - looked)
        for name in TORQUE_NODES:
            self.episode.absence(name)

    def _begin_again(self) -> None:
        """Send states to nodes that have just been activated."""
        if self.random.random() < 0.5:
            self.episode.round()
        self.episode.pass_by(self.random.choice((0.01, 0.1, 0.6)))
        self.states()
        self.episode.pass_by(0.1)
        self.states()

    def _exact_round(self) -> None:
        self.episode.round(exact=True)
        self.episode.server.compute()

    def _set_back(self, distances) -> None:
        """Set the ROS time back; for ramps, less than 0.1 s of the system clock does not count as set back."""
        episode, last = self.episode, self.nodes.now
        self.nodes.set_back(round(min(self.random.choice(distances), last / SECOND - 1.0) * SECOND))
        for watch in episode.watches.values():
            watch.set_back(last, self.nodes.now, self.nodes.steady)
        episode.server.spreads_until = self.nodes.steady + SPREADS

    def _limit(self) -> float:
        return max(watch.age_limit for watch in self.episode.watches.values())
