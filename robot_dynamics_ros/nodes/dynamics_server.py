"""Answers questions about the robot's dynamics; each may hold many states."""

import array
from functools import partial

import numpy as np

from robot_dynamics_interfaces.srv import GetForwardDynamics, GetInverseDynamics, GetMassMatrix
from robot_dynamics_ros.codegen.blocks import LANES
from robot_dynamics_ros.control.queries import Query
from robot_dynamics_ros.dynamics.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.dynamics_node import DynamicsNode
from robot_dynamics_ros.nodes.process import run


class DynamicsServer(DynamicsNode):
    """``~/get_mass_matrix``, ``~/get_forward_dynamics`` and ``~/get_inverse_dynamics``.

    A wrong request gets ``success=false`` and the culprit's name in ``message``; the node goes on.
    """

    def __init__(self, **options):
        """Declare the parameters."""
        super().__init__('dynamics_server', **options)
        self._served: list = []
        self._answered = self._refused = 0

    def setup(self) -> None:
        """Create the services."""
        self._answered = self._refused = 0
        for service, name, answer in (
            (GetMassMatrix, '~/get_mass_matrix', self._mass_matrix),
            (GetForwardDynamics, '~/get_forward_dynamics', self._forward_dynamics),
            (GetInverseDynamics, '~/get_inverse_dynamics', self._inverse_dynamics),
        ):
            self._served.append(self.create_service(service, name, self._guarded(answer)))

    def warm_ups(self) -> dict:
        """Return every program that a request may need, for one state and for a batch."""

        def both(answer):
            for count in (1, LANES):
                rest = np.zeros(count * self.robot.nv)
                answer(Query(self.robot, [], positions=rest, velocities=rest, accelerations=rest, efforts=rest))

        answers = (Query.mass_matrix, Query.forward_dynamics, Query.inverse_dynamics)
        return {answer.__name__: partial(both, answer) for answer in answers}

    def teardown(self) -> None:
        """Destroy the services."""
        for service in self._served:
            self.destroy_service(service)
        self._served.clear()

    def on_activate(self, state):
        """Answer from now on; a server has nothing to be silent about."""
        result = super().on_activate(state)
        self.silence = ''
        return result

    def report(self) -> dict[str, str]:
        """Return counts of requests."""
        return {'requests answered': str(self._answered), 'requests refused': str(self._refused)}

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
        query = Query(self.robot, request.joint_names, positions=request.positions)
        # into the message's own memory: the larger the answer, the longer a copy would keep other threads waiting
        response.mass_matrix = array.array('d', bytes(8 * query.count * self.robot.nv**2))
        query.mass_matrix(out=np.frombuffer(response.mass_matrix).reshape(-1, self.robot.nv, self.robot.nv))
        response.joint_names = query.joint_names

    def _forward_dynamics(self, request, response) -> None:
        query = Query(
            self.robot,
            request.joint_names,
            positions=request.positions,
            velocities=request.velocities,
            efforts=request.efforts,
        )
        response.accelerations = _flat(query.forward_dynamics())
        response.joint_names = query.joint_names

    def _inverse_dynamics(self, request, response) -> None:
        query = Query(
            self.robot,
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


def _flat(values: np.ndarray) -> array.array:
    """Return ``values`` row-major in the form that messages hold without conversion."""
    return array.array('d', np.ascontiguousarray(values).tobytes())


def main():
    """Run the node."""
    run(DynamicsServer)


if __name__ == '__main__':
    main()
