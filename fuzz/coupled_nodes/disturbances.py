"""Disturbances of a graph from outside its nodes: a process that pauses, a clock that crawls, other publishers."""

from contextlib import contextmanager

from support import graph

from load import SECOND
from node_settings import CONTROLLER, FEEDFORWARD, NAMED, SERVER, TORQUE_NODES
from rclpy.serialization import serialize_message

from coupled_nodes.episode import FOLLOWERS, RELAYS, Episode
from robot_dynamics_interfaces.msg import TorqueInfo

LOOK = 0.005
"""Time between two checks of the timeout, s."""
STRANGER = bytes(range(24))
"""GID of the publishers of another process."""
REQUESTS = 20
"""Largest number of requests until a payload is accepted."""


class Disturbances:
    """Disturbances of one episode in one process; ``states()`` sends some states."""

    def __init__(self, episode: Episode, states):
        self.episode, self.random, self.nodes, self.states = episode, episode.random, episode.nodes, states
        self.moves = {
            self.pause_of_one: 0.8,
            self.push_in_a_pause: 0.5,
            self.crawl: 0.5,
            self.gripper: 0.6,
            self.trajectory_arrives_late: 0.6,
            self.second_feedforward: 0.6,
            self.lose_feedforward: 0.5,
            self.replace_trajectory: 0.5,
            self.replace_while_one_waits: 0.5,
            self.forget_payload: 0.5,
        }

    def pause_of_one(self) -> None:
        """The process of one node pauses in mid-motion and gets no states, while the others go on."""
        episode, name = self.episode, self.random.choice(TORQUE_NODES)
        episode.trajectory()
        self.states()
        episode.paused = name
        self._rounds(self.random.choice((0.015, 0.05, 0.2, 0.5, 1.0)))
        episode.paused = ''
        episode.absence(name)
        while episode.undelivered:
            episode.feedforward(episode.undelivered.pop())
        self.states()

    def push_in_a_pause(self) -> None:
        """The arm is moved in mid-motion, in a pause of the states that is shorter than a stated age limit."""
        episode = self.episode
        self._follow()
        episode.pass_by(0.7 * max(watch.age_limit for watch in episode.watches.values()))
        episode.q = episode.q + 1.0
        episode.tracks = False
        self.states()

    def crawl(self) -> None:
        """Simulated time crawls or stands still: nothing is overdue by the steady clock."""
        episode = self.episode
        if not self.nodes.simulated_time:
            return
        episode.round()
        self.nodes.ros_rate = self.random.choice((0.0, 0.0, 0.05, 0.5))
        for _ in range(self.random.randint(5, 60)):
            episode.wait(LOOK)
            if self.random.random() < 0.1:
                episode.round(exact=True)
        self.nodes.ros_rate = 1.0
        self.states()

    def gripper(self) -> None:
        """A gripper publishes states of its own, between those of the arm or when they have stopped."""
        episode = self.episode
        for _ in range(self.random.randint(2, 6)):
            episode.pass_by(episode.settings.period)
            episode.round()
            self._finger()
        if self.random.random() < 0.3:
            episode.pass_by(2.0)
            self._finger()
        self.states()

    def trajectory_arrives_late(self) -> None:
        """A trajectory without a stamp reaches one follower, and the other one some states later."""
        episode, (one, other) = self.episode, self.random.sample(FOLLOWERS, 2)
        message = episode.messages.trajectory(self.nodes.now, episode.q, 0.1)
        graph.stamped(message, 0)
        sent = self.nodes.now
        episode.give_trajectory(one, message, True)
        self._rounds(self.random.choice((0.005, 0.02, 0.1)))
        episode.give_trajectory(other, message, True, (self.nodes.now - sent) / SECOND)
        self.states()

    def second_feedforward(self) -> None:
        """Another process publishes feedforward torques that do not fit."""
        names, nodes = self.episode.arm.names, self.nodes
        is_robot = self.episode.settings.nodes[CONTROLLER].gravity_owner == 'robot'
        info = TorqueInfo(joint_names=names, terms=['friction'], gravity_owner='node' if is_robot else 'robot')
        self._follow()
        nodes.give(CONTROLLER, f'{NAMED[FEEDFORWARD]}/info', serialize_message(info), gid=STRANGER)
        with self._relay('after'):  # or the torque of the usual publisher would always be the newest
            for _ in range(self.random.randint(3, 20)):
                torque = graph.joint_state(names, nodes.now, [], [], self.episode.messages.vector(20.0))
                nodes.give(CONTROLLER, NAMED[FEEDFORWARD], serialize_message(torque), gid=STRANGER)
                self._rounds(0.0)
        self.states()

    def lose_feedforward(self) -> None:
        """The feedforward torques of a motion are lost for longer than their age limit."""
        self._follow()
        with self._relay('lost'):
            self._rounds(self.random.choice((0.1, 0.3)))
        self.states()

    def replace_trajectory(self) -> None:
        """A trajectory replaces another one in mid-motion, and its first feedforward torques are lost."""
        self._follow()
        self._follow('lost')
        self.states()

    def replace_while_one_waits(self) -> None:
        """Trajectories that begin later follow each other, some of them shortly before the one before begins."""
        self._follow()
        for _ in range(3):
            self._follow(ahead=0.1, during=self.random.choice((0.03, 0.07)))
        self._rounds(0.2)

    def forget_payload(self) -> None:
        """The server restarts and has no file from which it continues with the payload."""
        episode = self.episode
        if episode.settings.payload_file:
            return
        for _ in range(REQUESTS):
            episode.server.set_load('set_payload')
            if episode.nodes.latched('payload_state').mass:
                break
        self._rounds(0.1)
        episode.pass_by(1.0)  # the ramp is over
        self.states()
        episode.restart(SERVER, 'ended')
        self._rounds(0.3)
        self.states()

    def _follow(self, relay: str = 'before', ahead: float = 0.0, during: float = 0.1) -> None:
        """Send both followers a valid trajectory from where the arm is, and states ``during`` so many s.

        ``relay``: when the controller gets the feedforward torques; the trajectory begins ``ahead`` s from now.
        """
        episode = self.episode
        message = episode.messages.motion(self.nodes.now + round(ahead * SECOND), episode.q)
        for name in FOLLOWERS:
            episode.give_trajectory(name, message, True)
        episode.tracks = True
        with self._relay(relay):
            self._rounds(during)

    @contextmanager
    def _relay(self, when: str):
        """Have the controller get every feedforward torque at this time, one of ``RELAYS``."""
        episode = self.episode
        episode.relay, episode.relays = when, (when,)
        yield
        episode.relay, episode.relays = 'before', RELAYS

    def _rounds(self, duration: float) -> None:
        """Send states for so many s, one at least."""
        period = self.episode.settings.period
        for _ in range(max(1, round(duration / period))):
            self.episode.pass_by(period)
            self.episode.round()

    def _finger(self) -> None:
        """Send a state of other joints alone to each node that publishes nothing for it."""
        episode, nodes = self.episode, self.nodes
        data = serialize_message(graph.joint_state(['finger'], nodes.now, [0.25]))
        for name in TORQUE_NODES:
            watch = episode.watches[name]
            if not (watch.active and watch.ready) or watch.falls_back:
                continue
            episode.found.index += 1
            skipped = watch.skips(nodes.steady)
            nodes.give_state(name, data)
            sent, status = nodes.take(name), nodes.diagnose(name)
            named = status is not None and 'is missing' in status.message
            right = not sent and named is not skipped
            episode.found.check('SKIPPED', right, f'{name}, expected to be skipped: {skipped}; {status}')
