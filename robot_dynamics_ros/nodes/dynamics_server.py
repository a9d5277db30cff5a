"""Answers questions about the robot's dynamics, each for many states; takes its payload and its mounting."""

import array
from collections import deque
from contextlib import suppress
from functools import partial

import numpy as np

from robot_dynamics_interfaces.srv import (
    CheckTrajectory,
    GetForwardDynamics,
    GetInverseDynamics,
    GetJacobian,
    GetMassMatrix,
    SetGravity,
    SetPayload,
)
from robot_dynamics_ros.compiler.batch_layout import LANES
from robot_dynamics_ros.control.payload_ramp import LONGEST
from robot_dynamics_ros.control.queries import Query
from robot_dynamics_ros.control.static_torque import largest_static_torque
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.control.trajectory_check import check
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.load import load_report
from robot_dynamics_ros.nodes.dynamics_node import NOW, DynamicsNode
from robot_dynamics_ros.nodes.load_service import LoadService
from robot_dynamics_ros.nodes.load_topics import KINDS, LoadPublisher
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.trajectory_service import check_trajectory

REPUBLISH_DELAY = 0.5
"""s after a clock went back, in which the other nodes see that, too: states are of the new time."""


class DynamicsServer(DynamicsNode):
    """Private services, one for each callback below; ``payload_state`` and ``gravity_state`` tell what was set.

    A wrong request gets ``success=false`` and the culprit's name in ``message``; the node goes on.
    """

    def __init__(self, **options):
        """Declare the parameters."""
        super().__init__('dynamics_server', **options)
        self.declare(
            'payload_file', '', 'path of a YAML file that keeps the payload over a restart; empty: it is not kept'
        )
        self.declare(
            'payload_limit',
            0.0,
            'largest mass that set_payload accepts, kg; 0: what the effort limits hold against gravity at the worst '
            'position',
            low=0.0,
            high=1e6,
            acts=NOW,
        )
        self.declare(
            'load_ramp_time',
            0.5,
            'of set_payload and set_gravity requests whose ramp_time is 0, s; 0: at once',
            low=0.0,
            high=LONGEST,
            acts=NOW,
        )
        self._set_backs: deque[tuple[int, int]] = deque()  # any thread appends, the executor removes
        self._set_back_signal = self.create_guard_condition(self.guarded(self._follow_clock))
        self._served: list = []
        self._load: LoadService | None = None
        self._load_publishers = {topic: LoadPublisher(self, topic) for topic in KINDS}
        self._answered = self._refused = 0

    def setup(self) -> None:
        """Create the services."""
        self._answered = self._refused = 0
        self._load = LoadService(self, self._load_publishers, self.value('payload_file'))
        self._republish = self.create_timer(REPUBLISH_DELAY, self._on_republish, clock=self.steady_clock)
        self._republish.cancel()
        for service, name, answer in (
            (GetMassMatrix, '~/get_mass_matrix', self._mass_matrix),
            (GetForwardDynamics, '~/get_forward_dynamics', self._forward_dynamics),
            (GetInverseDynamics, '~/get_inverse_dynamics', self._inverse_dynamics),
            (GetJacobian, '~/get_jacobian', self._jacobian),
            (CheckTrajectory, '~/check_trajectory', self._check_trajectory),
            (SetGravity, '~/set_gravity', self._load.set_gravity),
            (SetPayload, '~/set_payload', self._load.set_payload),
        ):
            self._served.append(self.create_service(service, name, self._guarded(answer)))

    def warm_ups(self) -> dict:
        """Return every program that a request may need, for one state and for a batch."""

        def both(answer):
            for count in (1, LANES):
                rest = np.zeros(count * self.robot.nv)
                answer(Query(self.robot, [], positions=rest, velocities=rest, accelerations=rest, efforts=rest))

        def jacobian(query):
            query.jacobian(self.robot.link_names[-1], 'local')

        def refusal():
            # why numbers are too large is found out by another program
            rest, huge = np.zeros(self.robot.nv), np.full(self.robot.nv, np.finfo(float).max)
            with suppress(DynamicsError):
                Query(self.robot, [], positions=rest, velocities=huge, efforts=huge).forward_dynamics()

        answers = (Query.mass_matrix, Query.forward_dynamics, Query.inverse_dynamics, jacobian)
        rest = Trajectory([0.0, 1.0], np.zeros((2, self.robot.nv)))
        return {
            **{answer.__name__: partial(both, answer) for answer in answers},
            'check_trajectory': lambda: check(self.robot, rest),
            'largest static torque': lambda: largest_static_torque(self.robot),
            'refusal': refusal,
        }

    def teardown(self) -> None:
        """Destroy the services."""
        for service in self._served:
            self.destroy_service(service)
        self._served.clear()
        if self._load is not None:
            self._load = None
            self.destroy_timer(self._republish)

    def clock_set_back(self, before: int, after: int) -> None:
        """Have the executor keep the progress of ramps, before it does anything else with the load."""
        self._set_backs.append((before, after))
        self._set_back_signal.trigger()

    def on_activate(self, state):
        """Answer from now on; a server has nothing to be silent about."""
        result = super().on_activate(state)
        self._follow_clock()
        self.silence = ''
        self._load.begin()
        return result

    def report(self) -> dict[str, str]:
        """Return counts of requests, payload and gravity."""
        self._follow_clock()
        if self.active:
            self._load.compare_clocks()
        return {
            'requests answered': str(self._answered),
            'requests refused': str(self._refused),
            **load_report(self._load.load.payload.mass, self._load.load.gravity.after),
        }

    def _follow_clock(self) -> None:
        """Keep the progress of ramps on a clock that was set back; publish them later, for late joiners."""
        self.clock_watch.look()
        while self._set_backs:
            before, after = self._set_backs.popleft()
            if self._load is not None:
                self._load.clock_set_back(before, after)
                self._republish.reset()

    def _on_republish(self) -> None:
        self._republish.cancel()
        if self.active:
            self._load.publish()

    def _guarded(self, answer):
        """Return the service callback of ``answer``, which fills a response or raises."""

        def callback(request, response):
            try:
                if not self.active:
                    raise ArgumentError(f'{self.get_name()} is not active')
                self._follow_clock()  # the load is that of now
                answer(request, response)
                response.success = True
                self._answered += 1
            except DynamicsError as error:
                response.message = str(error)
                self._refused += 1
            except Exception as error:  # no exception leaves a callback
                response.message = f'internal error: {error!r}'
                self._refused += 1
                self.get_logger().error(response.message)
            return response

        return callback

    def _mass_matrix(self, request, response) -> None:
        query = Query(self._load.robot, request.joint_names, self.locked_joint_names, positions=request.positions)
        # into the message's own memory: the larger the answer, the longer a copy would keep other threads waiting
        numbers = array.array('d', bytes(8 * query.count * self.robot.nv**2))
        query.mass_matrix(out=np.frombuffer(numbers).reshape(-1, self.robot.nv, self.robot.nv))
        response.mass_matrix = numbers
        response.joint_names = query.joint_names

    def _forward_dynamics(self, request, response) -> None:
        query = Query(
            self._load.robot,
            request.joint_names,
            self.locked_joint_names,
            positions=request.positions,
            velocities=request.velocities,
            efforts=request.efforts,
        )
        response.accelerations = _flat(query.forward_dynamics())
        response.joint_names = query.joint_names

    def _inverse_dynamics(self, request, response) -> None:
        query = Query(
            self._load.robot,
            request.joint_names,
            self.locked_joint_names,
            positions=request.positions,
            velocities=request.velocities,
            accelerations=request.accelerations,
        )
        terms = query.inverse_dynamics()
        for term, torque in terms.items():
            setattr(response, term, _flat(torque))
        response.efforts = _flat(sum(terms.values()))
        response.joint_names = query.joint_names

    def _jacobian(self, request, response) -> None:
        query = Query(self.robot, request.joint_names, self.locked_joint_names, positions=request.positions)
        response.jacobian = _flat(query.jacobian(request.link, request.reference_frame))
        response.joint_names = query.joint_names

    def _check_trajectory(self, request, response) -> None:
        check_trajectory(self._load.robot, request, response, self.locked_joint_names)


def _flat(values: np.ndarray) -> array.array:
    """Return ``values`` row-major in the form that messages hold without conversion."""
    return array.array('d', np.ascontiguousarray(values).tobytes())


def main():
    """Run the node."""
    run(DynamicsServer)


if __name__ == '__main__':
    main()
