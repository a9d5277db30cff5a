"""The two kinds of code of a robot, for tests that compare them."""

BINDINGS = ('generic', 'own')


def of_binding(robot, binding: str):
    """Return a robot that uses generic code, or code of its own."""
    return robot.compiled() if binding == 'own' else shared(robot)


def shared(robot):
    """Return a robot without code of its own."""
    return robot._changed(compiled=None)
