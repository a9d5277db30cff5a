"""The publishers of a torque topic, as their info messages describe them, and the choice of one."""

import time
from collections import Counter

import numpy as np

from robot_dynamics_interfaces.msg import TorqueInfo
from robot_dynamics_ros.control.law import Outcome, Result
from robot_dynamics_ros.control.terms.feedforward_terms import TorqueTerms, lacking, mismatch, payload_gravity_mismatch
from robot_dynamics_ros.messages.payload_gravity import payload_messages
from robot_dynamics_ros.messages.stamps import nanoseconds
from robot_dynamics_ros.nodes.process.publishers import PARTICIPANT, nodes_that_publish, several

SPREAD = 1.0
"""s in which a change of payload or gravity reaches both nodes, and the producer's info this one."""
DDS = ('rmw_fastrtps', 'rmw_cyclonedds', 'rmw_connextdds')


def _refusal(why: str) -> Result:
    return Result(Outcome.INCOMPLETE, f'feedforward torque not added: {why}')


class Needed:
    """Terms that a feedforward torque has to contain, required ``since`` a time of the steady clock (s)."""

    def __init__(self, terms: TorqueTerms, since: float):
        """Set the terms."""
        self.terms, self.since = terms, since


class Producer:
    """What the newest info of one publisher says, and whether its torques may be added.

    ``identity`` and ``start`` (ns) name the trajectory of its torques; ``gid`` is that of the info's publisher.
    ``fault`` is why none may be added; ``late``, from which steady time (s) on payload or gravity are a fault, why.
    """

    def __init__(self, message: TorqueInfo, gid: bytes, before: 'Producer | None', since: float):
        """Read ``message``, received at ``since`` (steady, s); ``before`` is what the same publisher said before."""
        self.gid, self.terms = gid, _terms_of(message)
        self.identity, self.start = message.trajectory, nanoseconds(message.trajectory_start)
        self._since = since
        self.needed: Needed | None = None
        self.fault: Result | None = None
        self.late: tuple[float, Result] | None = before.late if before else None
        self._fitted = before is not None and before._fitted

    def compare(self, needed: Needed) -> None:
        """Compare the terms with those that are needed, after either has changed."""
        why = mismatch(self.terms, needed.terms)
        self.fault = _refusal(why) if why else None
        why = payload_gravity_mismatch(self.terms, needed.terms)
        if not why:
            self.late = None
        elif self._fitted:
            self.late = max(self._since, needed.since) + SPREAD, _refusal(why)
        else:
            self.late = (self.late[0] if self.late else 0.0), _refusal(why)
        self._fitted = not why
        self.needed = needed  # last, for another thread that looks at it

    def why(self, now: float) -> Result | None:
        """Return why no torque may be added at ``now`` (steady, s), None where nothing is against it."""
        if self.fault is None and self.late is not None and now >= self.late[0]:
            return self.late[1]
        return self.fault


class Producers:
    """Publishers of a torque and of its info, and ``chosen``, the one whose torques are used.

    A torque belongs to the info of its own publisher: both have the same participant in their GID. Torques of another
    publisher than the chosen one are ignored; it takes the place of the chosen one where that one does not fit, or is
    silent. Where two publishers cannot be distinguished (both in one process, or a middleware without such GIDs), none
    may be added.

    The hot path calls ``tell``, ``accepts`` and ``fault``, the executor the other methods.
    """

    def __init__(self, node, arm, topic: str):
        """Compare with the ControlledArm ``arm`` of a BaseNode; ``topic`` is that of the torque."""
        self._node, self._arm, self._topic = node, arm, topic
        self._nothing = _refusal(f'nothing came on {topic}/info')
        self._twins = _refusal(f'several publishers of {topic} cannot be distinguished; stop all but one')
        self._another = _refusal('it has another publisher')
        self._producers: dict[bytes, Producer] = {}
        self.chosen: Producer | None = None
        self._key, self._gid = b'', b''  # of the chosen one, and of the publisher of its torques
        self._known = False  # whether the latter is known
        self._ambiguous: frozenset[bytes] = frozenset()  # keys of more than one node that publishes
        self._renewed: frozenset[bytes] = frozenset()  # keys with another publisher, until the graph has been looked at
        self._ignored = 0
        self._said: Result | None = None
        self._needed = Needed(self._terms(), 0.0)
        arm.payload_gravity.followers.append(self._on_change)
        self._look = node.create_guard_condition(node.guarded(self.look))
        node.resources.callback(node.destroy_guard_condition, self._look)

    def tell(self, message: TorqueInfo, info: dict) -> None:
        """Record the newest info of a publisher; ``info`` is what rclpy knows of the message."""
        gid = gid_of(info)
        key, now = key_of(gid, info), time.monotonic()
        before = self._producers.get(key)
        if before is not None and before.needed is not self._needed:
            before.compare(self._needed)  # a difference that is older than this info is tolerated no longer for it
        producer = self._producers[key] = Producer(message, gid, before, now)
        producer.compare(self._needed)
        if before is not None and before.gid != gid:
            self._renewed |= {key}
        if before is None or before.gid != gid:
            self._look.trigger()
        if self.chosen is None or key == self._key or (self.chosen.why(now) is not None and producer.why(now) is None):
            self._choose(key, producer)
        if key not in self._renewed:
            self._say(self.fault(now))

    def accepts(self, info: dict, is_silent: bool) -> bool:
        """Return whether a torque is of the chosen publisher; ``is_silent``: that one has sent none for a while."""
        gid = gid_of(info)
        if self._known and gid == self._gid:
            return True
        key = key_of(gid, info)
        if self.chosen is None or key != self._key:
            producer, now = self._producers.get(key), time.monotonic()
            replaces = self.chosen is None or is_silent or self.chosen.why(now) is not None
            if producer is None or not replaces or producer.why(now) is not None:
                self._ignored += 1
                return False
            self._choose(key, producer)
        self._gid, self._known = gid, True
        return True

    def fault(self, now: float) -> Result | None:
        """Return why no torque of the chosen publisher may be added at ``now`` (steady, s), None where one may."""
        chosen = self.chosen
        if chosen is None:
            return self._nothing
        if self._ambiguous and self._key in self._ambiguous:
            return self._twins
        if self._renewed and self._key in self._renewed:
            return self._another
        if chosen.needed is not self._needed:
            chosen.compare(self._needed)
        return chosen.why(now)

    def look(self) -> None:
        """Find on the graph the publishers that cannot be distinguished."""
        keys: Counter = Counter()
        for topic in (self._topic, f'{self._topic}/info'):
            keys |= Counter(key for key, _ in nodes_that_publish(self._node, topic))
        several = {key for key, count in keys.items() if count > 1}
        if b'' in self._producers and len(self.nodes) > 1:
            several.add(b'')
        self._ambiguous, self._renewed = frozenset(several), frozenset()
        gone = [key for key in tuple(self._producers) if key and key not in keys and key != self._key]
        for key in gone:
            self._producers.pop(key, None)

    def warnings(self) -> list[str]:
        """Return why no torque could be added now, and that there are several publishers."""
        self.look()
        fault, nodes = self.fault(time.monotonic()), self.nodes
        found = [fault.reason] if fault is not None else []
        if fault is None and not nodes:
            found.append(f'nothing publishes {self._topic} any more: activate feedforward_node')
        if len(nodes) > 1:
            found.append(f'{several(nodes, self._topic)}: the torques of one are used; stop the others')
        return found

    def report(self) -> dict[str, str]:
        """Return the fields of the diagnostics."""
        chosen = self.chosen
        follows = '' if chosen is None or not chosen.identity else f'{chosen.identity:016x} from {chosen.start} ns on'
        return {
            f'publishers of {self._topic}': str(len(self.nodes)),
            'feedforward torques ignored': str(self._ignored),
            'feedforward terms': '' if chosen is None else ' '.join(chosen.terms.terms),
            'feedforward terms missing': '' if chosen is None else ' '.join(lacking(chosen.terms, self._needed.terms)),
            'feedforward follows': follows,
        }

    def _choose(self, key: bytes, producer: Producer) -> None:
        if key != self._key:
            self._known = False
        self.chosen, self._key = producer, key

    def _say(self, fault: Result | None) -> None:
        """Have a new reason logged."""
        if fault is not None and fault != self._said:
            self._node.refuse(fault.reason)
        self._said = fault

    @property
    def nodes(self) -> list[tuple[bytes, str]]:
        """The nodes that publish the torque, or its info where more do that."""
        return max((nodes_that_publish(self._node, topic) for topic in (self._topic, f'{self._topic}/info')), key=len)

    def _on_change(self) -> None:
        """Need another payload or gravity from now on."""
        self._needed = Needed(self._terms(), time.monotonic())

    def _terms(self) -> TorqueTerms:
        """Return the terms that a torque must have to be added."""
        arm, now = self._arm, self._arm.payload_gravity.current
        return TorqueTerms(
            joint_names=tuple(arm.robot.joint_names),
            terms=arm.policy.terms,
            gravity_owner=arm.policy.gravity_owner,
            model_digest=arm.digest,
            gravity=tuple(map(float, now.gravity.after)),
            payload=_payload_of(payload_messages(now.payload.after)),
        )


def gid_of(info: dict) -> bytes:
    """Return the GID of a message's publisher; b'' where this release of rclpy has none."""
    gid = info.get('publisher_gid')
    return gid['data'] if gid else b''


def key_of(gid: bytes, info: dict) -> bytes:
    """Return what the publishers of one process have in common, b'' where their GIDs have nothing."""
    return gid[:PARTICIPANT] if gid and info['publisher_gid']['implementation_identifier'].startswith(DDS) else b''


def _terms_of(message: TorqueInfo) -> TorqueTerms:
    gravity = message.gravity
    return TorqueTerms(
        joint_names=tuple(message.joint_names),
        terms=tuple(message.terms),
        gravity_owner=message.gravity_owner,
        model_digest=message.model_digest,
        gravity=(gravity.x, gravity.y, gravity.z),
        payload=_payload_of(message.payloads),
    )


def _payload_of(messages) -> tuple:
    """Return frame, mass, centre of mass and inertia of each body with a mass, in the order of the frames."""
    return tuple(
        sorted(
            (body.frame, body.mass, *(tuple(np.asarray(field).tolist()) for field in (body.com, body.inertia)))
            for body in messages
            if body.mass
        )
    )
