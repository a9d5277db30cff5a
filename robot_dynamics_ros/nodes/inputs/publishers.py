"""Publishers of a topic: how many a node knows, and the warning where several may publish states of one arm."""

STATES = 'joint_states'


def count_publishers(node, topic: str) -> int:
    """Return how many publishers of a topic, by its name before remapping, the graph of ``node`` has."""
    return node.count_publishers(node.resolve_topic_name(topic))


def state_warnings(count: int) -> list[str]:
    """Return a warning if ``joint_states`` has several publishers, whose joints are not known."""
    if count < 2:
        return []
    return [f'{count} publishers of joint_states: where two have joints of this arm, stop the others']
