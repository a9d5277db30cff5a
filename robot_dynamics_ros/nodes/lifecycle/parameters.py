"""Parameters of a node, declared, described, and checked when they are set."""

from collections.abc import Callable, Iterable, Mapping

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import Definition, definitions_of


class Parameters:
    """The parameters of one node, declared.

    rclpy enforces ranges. Choices and the node's functions check a value that is set for a configured node; before it
    is configured, configuring checks all values at once.
    """

    def __init__(self, node, kind: str, checks: Mapping[str, Callable]):
        """Declare the parameters of the node ``kind``.

        ``checks`` are the functions that the file names: ``check(value)`` raises DynamicsError for a value that the
        configured node could not use.
        """
        self._node, self._checks = node, checks
        self._known = {found.name: found for found in definitions_of(kind)}
        for found in self._known.values():
            node.declare_parameter(found.name, found.default, _descriptor(found))
        node.add_on_set_parameters_callback(self._on_set)

    def when_they_act(self, names: Iterable[str]) -> str:
        """Return when values that have been set act, in words."""
        return '; '.join(f'{name} acts {self._known[name].acts}' for name in names if name in self._known)

    def check_choices(self) -> None:
        """Refuse a value that is none of its choices; ArgumentError names the parameter."""
        for name in self._known:
            self._check_choice(name, self._node.value(name))

    def _check_choice(self, name: str, value) -> None:
        choices = self._known[name].choices if name in self._known else ()
        if choices and value not in choices:
            validation.choice(name, value, [choice for choice in choices if choice])

    def _on_set(self, parameters) -> SetParametersResult:
        """Refuse values that the configured node could not use."""
        for parameter in parameters if self._node.robot is not None else ():
            name = self._known[parameter.name].check if parameter.name in self._known else parameter.name
            try:
                self._check_choice(parameter.name, parameter.value)
                if name in self._checks:
                    self._checks[name](parameter.value)
            except Exception as error:  # rclpy would return no result
                reason = str(error) if isinstance(error, DynamicsError) else f'internal error: {error!r}'
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)


def _descriptor(found: Definition) -> ParameterDescriptor:
    """Return what ROS tools show, and the range that rclpy enforces."""
    text = f'{found.description}, {found.unit}' if found.unit else found.description
    descriptor = ParameterDescriptor(description=text)
    if found.bounds and found.type == 'int':
        descriptor.integer_range = [IntegerRange(from_value=found.bounds[0], to_value=found.bounds[1])]
    elif found.bounds:
        descriptor.floating_point_range = [FloatingPointRange(from_value=found.bounds[0], to_value=found.bounds[1])]
    else:
        descriptor.additional_constraints = found.limits
    return descriptor
