"""The nodes that publish a topic or subscribe to it, and the warning where several may publish states of one arm."""

STATES = 'joint_states'
PARTICIPANT = 12
"""Bytes of a GID of DDS that all endpoints of a process share (RTPS 2.5, section 8.2.4: GuidPrefix_t)."""
NAMELESS = '', '_NODE_NAME_UNKNOWN_'
"""Names of a node that the graph does not know yet."""
UNKNOWN = 'a node of unknown name'


def publishers_of(node, topic: str) -> list[tuple[bytes, str]]:
    """Return process and node of each publisher of a topic, which has its name before remapping."""
    return _nodes(node.get_publishers_info_by_topic(node.resolve_topic_name(topic)))


def nodes_that_publish(node, topic: str) -> list[tuple[bytes, str]]:
    """Return process and name of each node that publishes a topic; while it is configured again it has two publishers.

    A node whose name is not known yet counts for each publisher.
    """
    publishers = publishers_of(node, topic)
    named = {it for it in publishers if it[1] != UNKNOWN}
    return sorted(named, key=lambda it: it[1]) + [it for it in publishers if it[1] == UNKNOWN]


def subscribers_of(node, topic: str) -> list[tuple[bytes, str]]:
    """Return process and node of each subscription to a topic, likewise."""
    return _nodes(node.get_subscriptions_info_by_topic(node.resolve_topic_name(topic)))


def several(publishers: list[tuple[bytes, str]], topic: str) -> str:
    """Return how many publishers a topic has, and of which nodes."""
    return f'{len(publishers)} publishers of {topic} ({", ".join(name for _, name in publishers)})'


def command_warnings(node, topic: str, kind: str) -> list[str]:
    """Return a warning if several nodes publish commands of a kind, as 'wrench', on a topic of ``node``."""
    nodes = publishers_of(node, topic)
    if len(nodes) < 2:
        return []
    return [f'{several(nodes, topic)}: the newest {kind} counts, whoever sent it; stop the others']


def state_warnings(publishers: list[tuple[bytes, str]]) -> list[str]:
    """Return a warning if ``joint_states`` has several publishers, whose joints are not known."""
    if len(publishers) < 2:
        return []
    return [f'{several(publishers, STATES)}: where two have joints of this arm, stop the others']


def _nodes(endpoints) -> list[tuple[bytes, str]]:
    found = [
        (
            bytes(it.endpoint_gid[:PARTICIPANT]),
            UNKNOWN if it.node_name in NAMELESS else f'{it.node_namespace.rstrip("/")}/{it.node_name}',
        )
        for it in endpoints
    ]
    return sorted(found, key=lambda it: it[1])
