"""For tests of torque_controller that holds a frame: its process, and the arm at its place."""

from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER, ROBOT, command

import numpy as np

LINK, BASE = ROBOT.link_names[-1], ROBOT.link_names[0]
BENT = np.array([0.1, -0.7, 0.9, -0.1, 0.8, 0.0])


def run(graph, of_frame, **parameters):
    """Start the controller with the stiffness ``of_frame`` (6; rotation first); states of any time count."""
    parameters |= {
        'age_limit': ros.DAY,
        'control_law': 'cartesian_impedance',
        'rotational_stiffness': list(of_frame[:3]),
        'translational_stiffness': list(of_frame[3:]),
    }
    graph.start(CONTROLLER, arguments=[word for it in parameters.items() for word in ('-p', '{}:={}'.format(*it))])
    return graph


def hold(graph):
    """Activate the controller again and hold the arm; return the time of its first state."""
    graph.reactivate(CONTROLLER)
    found = graph.now()
    command(graph, found, BENT)
    return found
