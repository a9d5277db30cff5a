"""Nodes of the process of a test, in a context of their own."""

from contextlib import contextmanager

import rclpy
from rclpy.parameter import Parameter


@contextmanager
def nodes_here(arguments=None):
    """Yield a function that makes a node of a class with parameters; all are destroyed afterwards.

    ``arguments`` are those of the context; the nodes log fatal errors alone.
    """
    context, nodes = rclpy.Context(), []
    context.init(args=arguments)

    def make(kind, **values):
        parameters = [Parameter(name, value=value) for name, value in values.items()]
        nodes.append(kind(context=context, parameter_overrides=parameters))
        nodes[-1].get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
        return nodes[-1]

    yield make
    for node in nodes:
        if node.active:
            node.trigger_deactivate()
        node.destroy_node()
    context.try_shutdown()
