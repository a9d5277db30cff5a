"""Answers questions about the robot's dynamics, each for many states; takes its payload and its mounting."""

import array
from contextlib import suppress
from functools import partial

import numpy as np
from geometry_msgs.msg import Vector3, Vector3Stamped

from robot_dynamics_interfaces.srv import (
    CheckTrajectory,
    GetForwardDynamics,
    GetInverseDynamics,
    GetJacobian,
    GetMassMatrix,
    SetGravity,
    SetPayload,
)
from robot_dynamics_ros.codegen.blocks import LANES
from robot_dynamics_ros.control.queries import Query
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.control.trajectory_check import check
from robot_dynamics_ros.dynamics.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.dynamics_node import LATCHED, DynamicsNode
from robot_dynamics_ros.nodes.load_messages import gravity_of, load_report
from robot_dynamics_ros.nodes.payload_service import PayloadService
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.trajectory_service import check_trajectory


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
        self._served: list = []
        self._payload: PayloadService | None = None
        self._answered = self._refused = 0

    def setup(self) -> None:
        """Create the services."""
        self._answered = self._refused = 0
        self._payload = PayloadService(self, self.value('payload_file'))
        self._gravity_publisher = self.create_lifecycle_publisher(Vector3Stamped, 'gravity_state', LATCHED)
        for service, name, answer in (
            (GetMassMatrix, '~/get_mass_matrix', self._mass_matrix),
            (GetForwardDynamics, '~/get_forward_dynamics', self._forward_dynamics),
            (GetInverseDynamics, '~/get_inverse_dynamics', self._inverse_dynamics),
            (GetJacobian, '~/get_jacobian', self._jacobian),
            (CheckTrajectory, '~/check_trajectory', self._check_trajectory),
            (SetGravity, '~/set_gravity', self._set_gravity),
            (SetPayload, '~/set_payload', self._payload.set),
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
            'refusal': refusal,
        }

    def teardown(self) -> None:
        """Destroy the services."""
        for service in self._served:
            self.destroy_service(service)
        self._served.clear()
        if self._payload is not None:
            self._payload.destroy()
            self._payload = None
            self.destroy_lifecycle_publisher(self._gravity_publisher)

    def on_activate(self, state):
        """Answer from now on; a server has nothing to be silent about."""
        result = super().on_activate(state)
        self.silence = ''
        self._payload.publish()
        return result

    def report(self) -> dict[str, str]:
        """Return counts of requests, payload and gravity."""
        return {
            'requests answered': str(self._answered),
            'requests refused': str(self._refused),
            **load_report(self.robot, self._payload.mass),
        }

    def _guarded(self, answer):
        """Return the service callback of ``answer``, which fills a response or raises."""

        def callback(request, response):
            try:
                if not self.active:
                    raise ArgumentError(f'{self.get_name()} is not active')
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
        query = Query(self._payload.robot, request.joint_names, positions=request.positions)
        # into the message's own memory: the larger the answer, the longer a copy would keep other threads waiting
        numbers = array.array('d', bytes(8 * query.count * self.robot.nv**2))
        query.mass_matrix(out=np.frombuffer(numbers).reshape(-1, self.robot.nv, self.robot.nv))
        response.mass_matrix = numbers
        response.joint_names = query.joint_names

    def _forward_dynamics(self, request, response) -> None:
        query = Query(
            self._payload.robot,
            request.joint_names,
            positions=request.positions,
            velocities=request.velocities,
            efforts=request.efforts,
        )
        response.accelerations = _flat(query.forward_dynamics())
        response.joint_names = query.joint_names

    def _inverse_dynamics(self, request, response) -> None:
        query = Query(
            self._payload.robot,
            request.joint_names,
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
        query = Query(self.robot, request.joint_names, positions=request.positions)
        response.jacobian = _flat(query.jacobian(request.link, request.frame))
        response.joint_names = query.joint_names

    def _check_trajectory(self, request, response) -> None:
        check_trajectory(self._payload.robot, request, response)

    def _set_gravity(self, request, response) -> None:
        self.robot = self.robot.with_gravity(gravity_of(self.robot, request.gravity))
        x, y, z = self.robot.gravity.tolist()
        told = Vector3Stamped(vector=Vector3(x=x, y=y, z=z))
        told.header.stamp = self.get_clock().now().to_msg()
        told.header.frame_id = self.robot.link_names[0]
        self._gravity_publisher.publish(told)
        self.get_logger().info(f'gravity: {x:g}, {y:g}, {z:g} m/s^2')


def _flat(values: np.ndarray) -> array.array:
    """Return ``values`` row-major in the form that messages hold without conversion."""
    return array.array('d', np.ascontiguousarray(values).tobytes())


def main():
    """Run the node."""
    run(DynamicsServer)


if __name__ == '__main__':
    main()
