"""Random events of a graph: one function each, with its frequency."""

from collections.abc import Callable

from support.nodes import graph

import numpy as np
from in_process import WORDS
from load import SECOND
from node_settings import CONTROLLER, FEEDFORWARD, FOLLOWERS, NAMED, SERVER, TORQUE_NODES
from rclpy.serialization import serialize_message
from torques import read

from coupled_nodes.episode import Episode
from robot_dynamics_interfaces.msg import PayloadState, TorqueInfo

WAYS = ('deactivated',) * 3 + ('cleaned up', 'ended')
"""Events between the deactivation and the activation of a node."""
LOOK = 0.005
"""Time between two checks of the timeout, s."""
SETTLED = 2.0
"""Time after which a leap of the arm hides no velocity of the other sign, s."""
COMMENT = '<!-- published again -->'
STRANGER = bytes(range(24))
"""GID of the publishers of another process."""


MOVES: dict[Callable[[Episode], None], float] = {}
"""Functions that cause an event, with its relative frequency."""


def move(often: float, table: dict = MOVES):
    """Add a function to a table."""

    def add(cause):
        table[cause] = often
        return cause

    return add


def cause(episode: Episode, event: Callable[[Episode], None]) -> None:
    """Cause an event."""
    episode.found.counts[f'move {event.__name__}'] += 1
    event(episode)


def random_moves(episode: Episode, end: int, table: dict) -> None:
    """Cause random events of a table until that many messages were sent."""
    while episode.found.index < end:
        cause(episode, *episode.random.choices(list(table), table.values()))


def in_turn(episode: Episode, names, end: int) -> None:
    """Cause the events of these names in their order, all where none is named; again until ``end`` messages."""
    by_name = {event.__name__: event for event in MOVES}
    while True:
        for name in names or by_name:
            cause(episode, by_name[name])
        if episode.found.index >= end:
            return


@move(60.0)
def states(e: Episode) -> None:
    """Valid states."""
    e.states()


@move(3.0)
def wrong_state(e: Episode) -> None:
    """A state that must get no torque: incomplete, too old, from the future, or out of order."""
    e.pass_by(0.002)
    kind = e.random.choice(('incomplete',) * 2 + ('too old', 'from the future', 'out of order', 'no stamp'))
    if kind == 'too old':
        _fall_still(e, 1.3 * e.limit)  # or it would be out of order, too
    for name in TORQUE_NODES:
        watch, now = e.watches[name], e.nodes.now
        answered, limit = watch.answered, round(1.2 * watch.limits[1] * SECOND)
        if not watch.active or (answered is None and (kind == 'out of order' or not watch.settings.age_limit)):
            continue  # a state that is estimated from changes the period
        stamps = {'too old': now - limit, 'from the future': now + limit, 'no stamp': 0}
        stamp = (answered or now) - SECOND // 1000 if kind == 'out of order' else stamps.get(kind, now)
        draw = e.messages.wrong_state if kind == 'incomplete' else e.messages.state
        e.state(name, *draw(max(stamp, 0), e.q, e.qd))
        e.absence(name)


@move(0.5)
def degrees(e: Episode) -> None:
    """A state whose positions are in degrees, beyond the limits; the arm is where it was."""
    e.pass_by(0.002)
    limited = [k for k in range(e.arm.n) if not e.arm.continuous[k]]
    q = np.where(np.arange(e.arm.n) == e.random.choice(limited), 60.0, e.q)
    for name in TORQUE_NODES:
        e.state(name, *e.messages.state(e.nodes.now, q, e.qd))
        e.absence(name)
    e.states()


@move(0.5)
def wrong_velocities(e: Episode) -> None:
    """Velocities of fifteen times their limit, or of the other sign in a motion, after which nodes begin anew."""
    e.pass_by(0.002)
    if e.random.random() < 0.5:
        fast = 15.0 * e.arm.velocity * e.random.choice((-1.0, 1.0))
        for name in TORQUE_NODES:
            e.state(name, *e.messages.state(e.nodes.now, e.q, fast))
        e.states()
        return
    rate = np.where(e.q > 0.0, -0.5, 0.5)
    for name in FOLLOWERS:
        e.watches[name].unknown = True
    lasts = 0.4 if e.nodes.steady - e.leapt > SETTLED else SETTLED
    for _ in range(round(lasts / e.settings.period)):
        e.pass_by(e.settings.period)
        e.q, e.tracks = e.q + e.settings.period * rate, False
        state, data = e.messages.state(e.nodes.now, e.q, -rate)
        for name in TORQUE_NODES:
            e.state(name, state, data)
    for name in FOLLOWERS:
        watch, why = e.watches[name], e.nodes.why(name)
        judged = watch.active and watch.ready and watch.needs_velocity and state.qd is not None
        found = not judged or 'contradicts its position' in why
        e.found.check('REJECTED', found, f'{name}: velocities of the other sign: {why!r}')
        e.restart(name, 'deactivated')
    e.states()


@move(5.0)
def trajectory(e: Episode) -> None:
    """A trajectory, also a wrong one."""
    e.pass_by(0.001)
    e.trajectory()
    e.states()


@move(4.0)
def gap(e: Episode) -> None:
    """A pause that is shorter than the age limit, or many states at once."""
    if e.random.random() < 0.75:
        e.rounds(1, e.random.uniform(0.1, 0.9) * e.limit)
    else:
        e.rounds(e.random.randint(2, 12), 1e-5)


@move(1.5)
def silence(e: Episode) -> None:
    """States are interrupted while the arm is displaced or continues to move."""
    _fall_still(e, e.random.choice((1.5, 3.0, 10.0, 60.0)) * e.limit)
    if e.random.random() < 0.4:
        diagnose(e)
    choice = e.random.random()
    if choice < 0.4:
        e.q = e.q + e.messages.vector(e.random.choice((0.05, 0.3, 1.0)))
    e.tracks = e.tracks and choice >= 0.6
    e.states()


@move(1.2)
def restart(e: Episode) -> None:
    """A torque node is restarted."""
    e.restart(e.random.choice(TORQUE_NODES), e.random.choice(WAYS))
    _begin_again(e)


@move(1.0)
def restart_server(e: Episode) -> None:
    """The server is restarted, during a ramp or not; without a file it forgets the payload."""
    load(e)
    e.pass_by(e.random.choice((0.0, 1.0)))
    e.states()
    e.nodes.delayed = e.random.choice(((), WORDS))  # it may hear later what nodes hold
    e.restart(SERVER, e.random.choice(WAYS))
    e.nodes.delayed = ()
    e.during(0.3)
    e.states()


@move(1.0)
def clock_back(e: Episode) -> None:
    """The ROS time is set back; all nodes read it just before and just after."""
    e.pass_by(0.001)
    _read_clocks(e)
    _set_back(e, (0.02, 0.3, 5.0, 300.0) if e.nodes.simulated_time else (5.0, 300.0))
    _read_clocks(e)
    e.states()


@move(0.3)
def clock_back_in_silence(e: Episode) -> None:
    """The ROS time is set back during an interruption; only a state that is too old arrives."""
    _fall_still(e, e.limit + 0.05)
    _set_back(e, (5.0, 300.0))  # or a node that sees states alone would not notice
    for name, watch in e.watches.items():
        if watch.settings.age_limit:
            old = e.nodes.now - round(2.0 * watch.settings.age_limit * SECOND)
            e.state(name, *e.messages.state(old, e.q, e.qd))
    _fall_still(e, 0.1)
    _read_clocks(e)
    e.states()


@move(2.0)
def load(e: Episode) -> None:
    """Another payload or gravity."""
    e.server.set_load(e.random.choice(('set_payload', 'set_payload', 'set_gravity')))


@move(1.0)
def diagnose(e: Episode) -> None:
    """Diagnostics of all nodes."""
    for name in TORQUE_NODES:
        e.diagnose(name)


@move(0.3)
def disagreement(e: Episode) -> None:
    """One node receives another payload than the others."""
    message = PayloadState(mass=0.7, frame=e.arm.tip)
    message.stamp.sec, message.stamp.nanosec = divmod(e.nodes.now, SECOND)
    name = e.random.choice(FOLLOWERS)
    e.received(name, 'payload_state', message)
    e.nodes.give(name, 'payload_state', serialize_message(message))
    for _ in range(e.random.randint(1, 30)):
        e.states()
        if e.random.random() < 0.2:
            trajectory(e)


@move(0.15)
def wait_for_load(e: Episode) -> None:
    """A node starts while a publisher of its load has not published anything yet."""
    name = e.random.choice(TORQUE_NODES)
    e.deactivate(SERVER)
    e.nodes.destroy(SERVER)
    e.make(SERVER)
    e.restart(name, 'cleaned up')
    _begin_again(e)
    e.rounds(1, e.random.choice((0.1, 1.0, 6.0)))
    if e.random.random() < 0.5:
        e.diagnose(name)
    e.bring_up(SERVER)
    e.states()


@move(0.6)
def describe(e: Episode) -> None:
    """The robot is described again: as it is, with a link more that weighs nothing, or by a text that is no URDF."""
    more = (
        f'<link name="more"/><joint name="more" type="fixed"><parent link="{e.arm.tip}"/><child link="more"/></joint>'
    )
    addition = e.random.choice((COMMENT, more, '<'))
    text = e.arm.description.replace('</robot>', f'{addition}</robot>')
    for name in e.random.sample((SERVER, *TORQUE_NODES), 4):
        node = e.nodes.nodes[name]
        task, robot = node.task, node.robot
        is_other = robot is not None and addition != '<' and ('more' in robot.frame_names) is not (addition == more)
        e.found.index += 1
        e.nodes.describe(name, text)
        changed = node.task is not task
        e.found.check('DESCRIBED', changed is is_other, f'{name}: changed {changed}, added {addition!r}')
        if changed:
            e.described(name)
    e.states()


@move(0.3)
def wrong_feedforward(e: Episode) -> None:
    """A feedforward torque that is not finite."""
    effort = e.messages.vector(1.0)
    effort[e.random.randrange(e.arm.n)] = np.nan
    e.feedforward(graph.joint_state(e.arm.names, e.nodes.now, [], [], effort))
    e.states()


@move(0.8)
def pause_of_one(e: Episode) -> None:
    """The process of one node pauses in mid-motion and gets no states, while the others go on."""
    name = e.random.choice(TORQUE_NODES)
    trajectory(e)
    e.during(e.random.choice((0.015, 0.05, 0.2, 0.5, 1.0)), without=name)
    e.absence(name)
    e.states()


@move(0.5)
def push_in_a_pause(e: Episode) -> None:
    """The arm is moved in mid-motion, in a pause of the states that is shorter than a stated age limit."""
    e.follow()
    e.pass_by(0.7 * e.limit)
    e.q, e.tracks = e.q + 1.0, False
    e.states()


@move(0.5)
def crawl(e: Episode) -> None:
    """Simulated time crawls or stands still: nothing is overdue by the steady clock."""
    if e.nodes.simulated_time:
        e.round()
        e.nodes.ros_rate = e.random.choice((0.0, 0.0, 0.05, 0.5))
        for _ in range(e.random.randint(5, 60)):
            e.wait(LOOK, LOOK)
            if e.random.random() < 0.1:
                e.round(exact=True)
        e.nodes.ros_rate = 1.0
        e.states()


@move(0.6)
def gripper(e: Episode) -> None:
    """A gripper publishes joint states between those of the arm, or after the arm's have stopped."""
    e.states()
    for _ in range(e.random.randint(2, 6)):
        e.rounds(1)
        _finger(e, skipped=True)
    if e.random.random() < 0.3:
        e.pass_by(2.0)
        _finger(e, skipped=False)
    e.states()


def _finger(e: Episode, skipped: bool) -> None:
    """Send a state of other joints alone to each node that publishes nothing for it."""
    data = serialize_message(graph.joint_state(['finger'], e.nodes.now, [0.25]))
    for name in TORQUE_NODES:
        watch = e.watches[name]
        if watch.active and watch.ready and not watch.falls_back:
            e.found.index += 1
            e.nodes.give_state(name, data)
            sent, (status, _) = read(e.nodes.take(name)), e.nodes.diagnose(name)
            right = not sent and ('is missing' in status.message) is not skipped
            e.found.check('SKIPPED', right, f'{name}, expected to be skipped: {skipped}; {status}')


@move(0.6)
def trajectory_arrives_late(e: Episode) -> None:
    """A trajectory without a stamp reaches one follower, and the other one some states later."""
    one, other = e.random.sample(FOLLOWERS, 2)
    message, sent = graph.stamped(e.messages.motion(e.q), 0), e.nodes.now
    e.give_trajectory(one, message)
    e.during(e.random.choice((0.005, 0.02, 0.1, 3.0)))
    e.give_trajectory(other, message, late=e.nodes.now - sent)
    e.states()


@move(0.6)
def second_feedforward(e: Episode) -> None:
    """Another process publishes feedforward torques that do not fit."""
    is_robot = e.settings.nodes[CONTROLLER].gravity_owner == 'robot'
    info = TorqueInfo(joint_names=e.arm.names, terms=['friction'], gravity_owner='node' if is_robot else 'robot')
    e.follow()
    e.nodes.give(CONTROLLER, f'{NAMED[FEEDFORWARD]}/info', serialize_message(info), gid=STRANGER)
    for _ in range(e.random.randint(3, 20)):
        q, qd, _ = e.nodes.reference(CONTROLLER)
        torque = graph.joint_state(e.arm.names, e.nodes.now, q, qd, e.messages.vector(20.0))
        e.nodes.give(CONTROLLER, NAMED[FEEDFORWARD], serialize_message(torque), gid=STRANGER)
        e.rounds(1, relay='after')  # or the torque of the usual publisher would always be the newest
    e.states()


@move(1.0)
def lose_feedforward(e: Episode) -> None:
    """The feedforward torques of a motion are lost, or the first ones of a motion that replaces it."""
    e.follow()
    if e.random.random() < 0.5:
        e.during(e.random.choice((0.1, 0.3)), relay='lost')
    else:
        e.follow(relay='lost')
    e.states()


@move(0.5)
def replace_while_one_waits(e: Episode) -> None:
    """Trajectories that begin later follow each other, some of them shortly before the one before begins."""
    e.follow()
    for _ in range(3):
        e.follow(ahead=0.1, during=e.random.choice((0.03, 0.07)))
    e.during(0.2)


@move(0.8)
def stream(e: Episode) -> None:
    """Points of a motion follow each other, each a trajectory of its own; one node may get them later."""
    rate, origin, size = e.random.choice((20, 30, 50, 100)), e.q, e.messages.vector(0.3)
    rates, ahead = e.random.choice((0, 1, 2)), e.random.choice((0.0, 1.0)) / rate
    late = e.random.choice((0.0, 0.0, 0.01, 0.02))
    e.tracks = True
    for k in range(1, e.random.randint(5, 40)):
        angle, w = 4.0 * k / rate, 4.0
        moving = 0.5 * w * np.sin(angle) * size, 0.5 * w * w * np.cos(angle) * size
        stamp = e.nodes.now if e.random.random() < 0.5 else 0
        message = graph.trajectory(
            e.arm.names, stamp, (ahead, origin + 0.5 * (1.0 - np.cos(angle)) * size, *moving[:rates])
        )
        sent, (one, other) = e.nodes.now, e.random.sample(FOLLOWERS, 2)
        e.give_trajectory(one, message)
        if late:
            e.during(late)
        e.give_trajectory(other, message, late=e.nodes.now - sent)
        e.during(e.random.choice((1.0 / rate - late,) * 9 + (0.001,)))
    e.states()


def _fall_still(e: Episode, duration: float) -> None:
    """Send no state for so many s, and check each node at each of its timeouts, between which its process may pause."""
    looked = min(duration, e.limit + 0.5)
    e.wait(looked, e.random.choice((LOOK, 0.08)))
    e.pass_by(duration - looked)
    for name in TORQUE_NODES:
        e.absence(name)


def _begin_again(e: Episode) -> None:
    """Send states to nodes that have just been activated."""
    if e.random.random() < 0.5:
        e.round()
    e.pass_by(e.random.choice((0.01, 0.1, 0.6)))
    e.states()
    e.pass_by(0.1)
    e.states()


def _read_clocks(e: Episode) -> None:
    e.round(exact=True)
    e.server.compute()


def _set_back(e: Episode, distances) -> None:
    """Set the ROS time back; for ramps, less than 0.1 s of the system clock does not count as set back."""
    last = e.nodes.now
    e.nodes.set_back(round(min(e.random.choice(distances), last / SECOND - 1.0) * SECOND))
    for part in e.parts.values():
        part.set_back(last)
