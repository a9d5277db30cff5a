"""For tests of the client: an arm that is simulated, and calls that last while the test goes on."""

import threading
from contextlib import contextmanager

import numpy as np
from sensor_msgs.msg import JointState

IMPEDANCE = {
    'control_law': 'cartesian_impedance',
    'translational_stiffness': '[800.0, 800.0, 800.0]',
    'rotational_stiffness': '[60.0, 60.0, 60.0]',
    'translational_damping': '[60.0, 60.0, 60.0]',
    'stiffness': '[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]',
    'damping': '[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]',
    'force_limit': 15.0,
    'age_limit': 1.0,
}
"""Nothing may press with a moment."""
START = [0.1, -0.4, 1.4, 0.2, 1.2, 0.0]
PLANT = {'start': START, 'rate': 125.0, 'longest_delay': 0.1}
MOVES = 0.03
"""Speed of a joint of an arm that moves, rad/s."""


def run(graph, diagnostics_period):
    """Start arm and controller in one process, whose statuses come each ``diagnostics_period`` s."""
    graph.processes.diagnostics_period = diagnostics_period
    values = {'torque_controller': IMPEDANCE, 'simulated_arm': PLANT}
    given = [f'{node}:{name}:={value}' for node, table in values.items() for name, value in table.items()]
    graph.bring_up('simulated_arm', 'torque_controller', arguments=[word for it in given for word in ('-p', it)])
    graph.diagnostics('torque_controller', lambda status: status.message == 'publishing')
    return graph


class Call(threading.Thread):
    """A call in a thread of its own."""

    def __init__(self, function):
        super().__init__(daemon=True)
        self._function, self.error, self.returned = function, None, None

    def run(self):
        try:
            self.returned = self._function()
        except Exception as error:
            self.error = error

    def result(self):
        if self.error is not None:
            raise self.error
        return self.returned


def ended(graph, function) -> Call:
    """Return a call that has ended, while the graph was listened to."""
    call = Call(function)
    call.start()
    graph.until(lambda: not call.is_alive(), 'the end of the call')
    return call


@contextmanager
def moving(graph, function):
    """Yield a call while the arm that it leads moves; afterwards it has ended."""
    with graph.record(JointState, 'joint_states', 10) as states:
        call = Call(function)
        call.start()
        graph.until(lambda: call.error or (states and np.abs(states[-1].velocity).max() > MOVES), 'a motion')
        if call.error:
            call.result()
        yield call
    graph.until(lambda: not call.is_alive(), 'the end of the call')
