"""Random events of a graph: random and broken messages, requests, parameters and robot descriptions for one node."""

from functools import partial

from support.nodes import graph

import numpy as np
import torques
from coupled_nodes.episode import Episode
from coupled_nodes.moves import move
from load import SECOND, TOPICS
from node_settings import (
    CONTROLLER,
    DESCRIBED,
    DESCRIPTION_TOPIC,
    EXTERNAL,
    FEEDFORWARD,
    FOLLOWERS,
    GRAVITY_NODE,
    REFERENCE,
    SERVER,
)
from process import has_compiler
from rcl_interfaces.srv import SetParameters
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from broken_messages.description import described, drawn
from broken_messages.parameters import NOT_TRIED, Parameters
from broken_messages.random_messages import SERVICES, read_state
from broken_messages.spoil import serialized, understood
from robot_dynamics_interfaces.msg import GravityState, PayloadState

BROKEN_MOVES: dict = {}
broken = partial(move, table=BROKEN_MOVES)
OFTEN = {
    GRAVITY_NODE: {'joint_states': 1.0},
    DESCRIBED: {'joint_states': 1.0},
    FEEDFORWARD: {'joint_states': 0.8, 'joint_trajectory': 0.2},
    REFERENCE: {'joint_states': 0.5, 'controller_state': 0.5},
    CONTROLLER: {'joint_states': 0.6, 'joint_trajectory': 0.15, 'feedforward_torque': 0.25},
    EXTERNAL: {'joint_states': 1.0},
}
"""How often each node gets a message on a topic, payloads and gravity apart."""
MESSAGES = 20
"""Number of messages of a move."""
LOADS = 0.3
"""Share of moves with payloads and gravities, and of these among their messages."""
COUNTED = (
    'states rejected',
    'torques not finite',
    'torques saturated',
    'torques rate-limited',
    'torques, reasons since reset',
)
"""Fields of the diagnostics that a reset clears; external_torque_node has the first two."""


@broken(60.0)
def messages(e: Episode) -> None:
    """Messages to one node, which afterwards is activated again where it may follow any of them."""
    name = e.random.choice(list(OFTEN))
    loads = name != DESCRIBED and e.random.random() < LOADS
    e.pass_by(0.05)  # a node looks again for a missing payload or gravity soon after its activation
    for _ in range(MESSAGES):
        e.nodes.sleep(round(0.002 * SECOND * e.random.random()))
        (topic,) = e.random.choices(list(OFTEN[name]), OFTEN[name].values())
        if loads and e.random.random() < LOADS:
            _load(e, name, e.random.choice(TOPICS))
        elif topic == 'joint_states':
            data, _ = e.messages.perhaps_wrong(e.messages.draw(topic))
            e.state(name, read_state(data, e.arm.names), data)
        else:
            # a motion needs three good references
            data, _ = e.messages.perhaps_wrong(e.messages.draw(topic), 0.2 if topic == 'controller_state' else 0.5)
            _motion(e, name, topic, data)
    if loads:
        e.restart(name, 'ended')
    elif name in FOLLOWERS:
        e.restart(name, 'deactivated')


@broken(15.0)
def requests(e: Episode) -> None:
    """Requests to the server."""
    for _ in range(MESSAGES):
        e.pass_by(0.001)
        service = e.random.choice(list(SERVICES))
        data, valid = e.messages.perhaps_wrong(e.messages.draw(service))
        request = understood(data, SERVICES[service].Request)
        if request is None:
            e.found.counts['refused by rclpy'] += 1
        else:
            e.server.ask(service, request, True if valid and service.startswith('get') else None)


@broken(4.0)
def reset(e: Episode) -> None:
    """A node resets its counters; another one learns thresholds, or refuses that with a reason."""
    name = e.random.choice(list(OFTEN))
    if name == EXTERNAL and e.random.random() < 0.5:
        response = e.nodes.request(name, 'calibrate', e.messages.draw('calibrate'))
        e.found.check('SERVED', response.message, f'{name}: {response}')
    response, (_, fields) = e.nodes.request(name, 'reset', e.messages.draw('reset')), e.nodes.diagnose(name)
    cleared = all(fields[key] in ('', '0') for key in (COUNTED[:2] if name == EXTERNAL else COUNTED))
    e.found.check('SERVED', response.success and cleared, f'{name} after reset: {fields}')
    e.found.counts['reset'] += 1


@broken(8.0)
def parameters(e: Episode) -> None:
    """Parameters are set; the node is configured with them, and then begins anew with its own."""
    name, changed = e.random.choice([*OFTEN, SERVER]), set()
    known = Parameters(e.found, e.nodes.nodes[name], e.random)
    for _ in range(MESSAGES // 4):
        before, (data, _) = known.values(), e.messages.perhaps_wrong(known.draw(), 0.0)
        request = understood(data, SetParameters.Request)
        e.found.index += 1
        e.found.counts['set_parameters'] += request is not None
        if request is not None:
            changed |= known.look_at(request, e.nodes.request(name, 'set_parameters', request), before)
    if changed and not changed & NOT_TRIED:
        known.configure(changed)
        e.found.counts['configured anew'] += 1
    e.parts[name].active = False
    e.restart(name, 'ended')


@broken(5.0)
def description(e: Episode) -> None:
    """Another description is published, perhaps a malformed one, which changes nothing; then the node begins anew."""
    text, node = drawn(e.random), e.nodes.nodes[DESCRIBED]
    e.found.counts[DESCRIPTION_TOPIC] += 1
    e.nodes.give(DESCRIBED, DESCRIPTION_TOPIC, serialized(String(data=text)))
    e.pass_by(1.0)
    robot, refused = described(text, node.needs), node.description.refused
    right = bool(refused) is (robot is None)
    e.found.check('DESCRIBED', node.active and right, f'{DESCRIBED}: {node.silence!r}, {refused!r}')
    robot = robot or e.arm.robot
    if not node.task._payload_gravity.missing:  # a payload may not fit the robot
        q = np.array([e.random.uniform(-0.5, 0.5) for _ in range(robot.nv)])
        e.nodes.take(DESCRIBED)
        e.nodes.give_state(DESCRIBED, serialized(graph.joint_state(robot.joint_names, e.nodes.now, q)))
        sent = torques.read(e.nodes.take(DESCRIBED))
        fits = len(sent) == 1 and sent[0].effort.shape == q.shape and np.isfinite(sent[0].effort).all()
        e.found.check('DESCRIBED', fits, f'{DESCRIBED}: {sent}')
    e.parts[DESCRIBED].active = False
    e.restart(DESCRIBED, 'ended')


def _motion(e: Episode, name: str, topic: str, data: bytes) -> None:
    """Send a message about the motion; after it any torque may follow, but none for it."""
    source = getattr(e.nodes.nodes[name].task, 'trajectory', None)
    if topic == 'joint_trajectory':
        source.verdicts.refused = ''
    if _give(e, name, topic, data) and topic == 'joint_trajectory':
        message = understood(data, JointTrajectory)
        if message is not None and serialized(message) == data:  # a string may lack its end, for instance
            good = all(np.isfinite(point.positions).all() for point in message.points)
            good = good and (not message.points or set(e.arm.names) <= set(message.joint_names))
            e.found.check('REFUSED', source.verdicts.refused or good, lambda: f'{name}: {message} was not refused')
    e.watches[name].unknown = True


def _load(e: Episode, name: str, topic: str) -> None:
    """Send a payload or gravity and check whether it was refused; the node follows it otherwise."""
    data, valid = e.messages.perhaps_wrong(e.messages.draw(topic))
    source = e.nodes.nodes[name].task._payload_gravity
    source.rejected = ''
    if not _give(e, name, topic, data):
        return
    message = understood(data, PayloadState if topic == 'payload_state' else GravityState)
    if topic == 'payload_state':
        rows = [(body.mass, *body.com, *body.inertia) for body in (message, *message.before)]
    else:
        rows = [(vector.x, vector.y, vector.z) for vector in (message.gravity, message.before)]
    numbers, refused = np.array([message.ramp_time, *np.ravel(rows)]), source.rejected
    good = bool(np.isfinite(numbers).all() and message.ramp_time >= 0.0)
    right = not (refused and valid) if good else bool(refused)
    e.found.check('REFUSED', right, lambda: f'{name}: {message} was {refused or "not refused"}')
    if good and (not refused or 'later than now' in refused):
        e.received(name, topic, message)


def _give(e: Episode, name: str, topic: str, data: bytes) -> bool:
    """Return whether rclpy passes bytes to a node, which must publish nothing for it."""
    (subscription, *_), node = e.nodes.subscriptions(name, topic), e.nodes.nodes[name]
    e.found.index += 1
    e.found.counts[topic] += 1
    if not subscription.raw and understood(data, subscription.kind) is None:
        e.found.counts['refused by rclpy'] += 1
        return False
    node._refusal, before = '', has_compiler()
    e.nodes.take(name)
    e.nodes.give(name, topic, data)
    e.found.context = f'{e.context}; {name}, {topic}, message {data.hex()}'
    said, sent = f'{e.nodes.why(name)!r}, refused: {node._refusal!r}', torques.read(e.nodes.take(name))
    e.found.check('CALLBACK', 'internal error' not in said, f'{name}: {said}')
    e.found.check('ONCE', not sent, lambda: f'{name}: {sent} published for {topic}')
    e.found.check('PROMPT', has_compiler() is before, f'{name}: compiled for {topic}')
    return True
