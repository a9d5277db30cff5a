"""Services of dynamics_server: dynamics quantities, payload and gravity."""

import array
from collections import deque
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
from robot_dynamics_ros.control.guards.torque_limiter import stated_effort_limits
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.terms.dynamics_query import DynamicsQuery
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.payload_gravity import payload_gravity_report
from robot_dynamics_ros.nodes.inputs.effort_input import EffortInput
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import KINDS, PayloadGravityPublisher, publisher_warnings
from robot_dynamics_ros.nodes.lifecycle.lifecycle_task import LifecycleTask
from robot_dynamics_ros.nodes.process.publishers import publishers_of
from robot_dynamics_ros.nodes.tasks.held_values import HeldValues
from robot_dynamics_ros.nodes.tasks.payload_gravity_service import PayloadGravityService
from robot_dynamics_ros.nodes.tasks.trajectory_service import check_trajectory
from robot_dynamics_ros.robot import Robot

REPUBLISH_DELAY = 0.5
"""s after a clock went back, in which the other nodes detect that, too: joint states have the new time."""


class DynamicsServices(LifecycleTask):
    """Private services, one for each callback below; ``payload_state`` and ``gravity_state`` publish what was set.

    A wrong request gets ``success=false`` and the culprit's name in ``message``; the node goes on.
    """

    silence = ''  # a server publishes nothing regularly

    def __init__(self, node, publishers: dict[str, PayloadGravityPublisher]):
        """Create the services of ``node``, a BaseNode; ``publishers`` are those of payload and gravity."""
        self._node, self.robot = node, node.robot
        self._limits = PositionLimits(node.robot, node.value('position_limit_tolerance'))
        self._answered = self._refused = 0
        self._effort_limit = stated_effort_limits(
            node.value('effort_limit'), self.robot.limits.effort, self.robot.joint_names
        )
        before: DynamicsServices | None = node.task  # of another description of the robot
        self.payload_gravity = PayloadGravityService(
            node, publishers, node.value('payload_file'), self._effort_limit, before and before.payload_gravity
        )
        self.effort = EffortInput(node, self.payload_gravity)
        self._set_backs: deque[tuple[int, int]] = deque()  # any thread appends, the executor removes
        self._set_back_signal = node.create_guard_condition(node.guarded(self._follow_clock))
        self._republish = node.create_timer(REPUBLISH_DELAY, self._on_republish, clock=node.steady_clock)
        self._republish.cancel()
        resources = node.resources
        resources.callback(node.destroy_guard_condition, self._set_back_signal)
        resources.callback(node.destroy_timer, self._republish)
        node.follow_clock(self._clock_set_back)
        self._held_values = HeldValues(node, self.payload_gravity, before and before._held_values)
        for service, name, answer in (
            (GetMassMatrix, '~/get_mass_matrix', self._mass_matrix),
            (GetForwardDynamics, '~/get_forward_dynamics', self._forward_dynamics),
            (GetInverseDynamics, '~/get_inverse_dynamics', self._inverse_dynamics),
            (GetJacobian, '~/get_jacobian', self._jacobian),
            (CheckTrajectory, '~/check_trajectory', self._check_trajectory),
            (SetGravity, '~/set_gravity', self.payload_gravity.set_gravity),
            (SetPayload, '~/set_payload', self.payload_gravity.set_payload),
        ):
            resources.callback(node.destroy_service, node.create_service(service, name, self._guarded(answer)))

    def begin(self) -> None:
        """Publish payload and gravity."""
        self._follow_clock()
        self.payload_gravity.begin()
        self._held_values.look()

    def warnings(self) -> list[str]:
        """Return what is wrong with payload, gravity and their publishers, and with the meaning of efforts."""
        return [
            *self.payload_gravity.warnings(),
            *self._held_values.warnings(),
            *publisher_warnings(partial(publishers_of, self._node)),
            *self.effort.warnings(),
        ]

    def report(self) -> dict[str, str]:
        """Return counts of requests, payload, gravity and efforts at rest."""
        self._follow_clock()
        if self._node.active:
            self.payload_gravity.compare_clocks()
        now = self.payload_gravity.current
        return {
            'requests answered': str(self._answered),
            'requests refused': str(self._refused),
            **payload_gravity_report(now.payload.mass, now.gravity.after),
            **{f'publishers of {topic}': str(len(publishers_of(self._node, topic))) for topic in KINDS},
            **self.effort.report(),
        }

    def _follow_clock(self) -> None:
        """Keep the progress of ramps on a clock that was set back; publish them again later, for late joiners."""
        self._node.clock_watch.look()
        while self._set_backs:
            self.payload_gravity.clock_set_back(*self._set_backs.popleft())
            self._republish.reset()

    def _clock_set_back(self, before: int, after: int) -> None:
        """Have the executor keep the progress of ramps, before it does anything else with them; any thread."""
        self._set_backs.append((before, after))
        self._set_back_signal.trigger()

    def _on_republish(self) -> None:
        self._republish.cancel()
        self._follow_clock()
        # a clock that was set back again delays it again
        if self._node.active and self._republish.is_canceled():
            self.payload_gravity.publish()

    def _guarded(self, answer):
        """Return the service callback of ``answer``, which fills a response or raises."""

        def callback(request, response):
            try:
                if not self._node.active:
                    raise ArgumentError(f'{self._node.get_name()} is not active')
                self._follow_clock()  # payload and gravity are those of now
                answer(request, response)
                response.success = True
                self._answered += 1
            except DynamicsError as error:
                response.message = str(error)
                self._refused += 1
            except Exception as error:  # no exception leaves a callback
                response.message = f'internal error: {error!r}'
                self._refused += 1
                self._node.get_logger().error(response.message)
            return response

        return callback

    def _query(self, robot: Robot, request, *fields: str) -> DynamicsQuery:
        """Return the query of ``request`` at the states in its ``fields``."""
        states = {field: getattr(request, field) for field in fields}
        query = DynamicsQuery(robot, request.joint_names, self._node.locked_joint_names, **states)
        self._limits.check('positions: state', query.batch['positions'])
        return query

    def _mass_matrix(self, request, response) -> None:
        query = self._query(self.payload_gravity.robot, request, 'positions')
        # into the message's own memory: the larger the answer, the longer a copy would keep other threads waiting
        numbers = array.array('d', bytes(8 * query.count * self.robot.nv**2))
        query.mass_matrix(out=np.frombuffer(numbers).reshape(-1, self.robot.nv, self.robot.nv))
        response.mass_matrix = numbers
        response.joint_names = query.joint_names

    def _forward_dynamics(self, request, response) -> None:
        query = self._query(self.payload_gravity.robot, request, 'positions', 'velocities', 'efforts')
        response.accelerations = _flat(query.forward_dynamics())
        response.joint_names = query.joint_names

    def _inverse_dynamics(self, request, response) -> None:
        query = self._query(self.payload_gravity.robot, request, 'positions', 'velocities', 'accelerations')
        terms = query.inverse_dynamics()
        for term, torque in terms.items():
            setattr(response, term, _flat(torque))
        response.efforts = _flat(sum(terms.values()))
        response.joint_names = query.joint_names

    def _jacobian(self, request, response) -> None:
        query = self._query(self.robot, request, 'positions')
        response.jacobian = _flat(query.jacobian(request.link, request.reference_frame))
        response.joint_names = query.joint_names

    def _check_trajectory(self, request, response) -> None:
        robot, ignored = self.payload_gravity.robot, self._node.locked_joint_names
        check_trajectory(robot, self._limits, request, response, ignored, self._effort_limit)


def _flat(values: np.ndarray) -> array.array:
    """Return ``values`` row-major, as messages store them without conversion."""
    return array.array('d', np.ascontiguousarray(values).tobytes())
