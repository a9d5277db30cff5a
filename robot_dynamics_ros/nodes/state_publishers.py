"""Publishers of ``joint_states``: how many a node knows, and the warning where several may move the same arm."""


def count_publishers(node) -> int:
    """Return how many publishers of ``joint_states`` the graph of ``node`` has."""
    return node.count_publishers(node.resolve_topic_name('joint_states'))


def warnings(count: int) -> list[str]:
    """Return a warning if ``joint_states`` has several publishers, whose joints are not known."""
    if count < 2:
        return []
    return [f'{count} publishers of joint_states: where two have joints of this arm, stop the others']
