"""Random parameters of right and wrong types: each is set as it was sent, or refused with a reason."""

from random import Random

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import parameter_value_to_python

from broken_messages.spoil import ODD_NAMES, ODD_NUMBERS

FIELDS = ['', *list(ParameterValue.get_fields_and_field_types())[1:]]
"""Fields of ParameterValue, by type."""
NUMBERS = (0.0, 0.5, 1.0, 100.0, *ODD_NUMBERS)
INTEGERS = (0, 1, -1, 50, 2**63 - 1, -(2**63))
WORDS = (
    *('silent', 'gravity_only', 'ramp_to_zero', 'franka', 'kuka_fri', 'monitor_only', 'node', 'robot', 'desired'),
    *('measured', 'joint_trajectory', 'controller_state', 'gravity', 'friction', 'pd', 'computed_torque', '<robot/>'),
    *('own', 'generic', *ODD_NAMES),
)
ITEMS = [(), (False, True), INTEGERS, NUMBERS, WORDS, [bytes([k]) for k in range(256)], (False, True), INTEGERS[:3]]
ITEMS += [NUMBERS, WORDS]
"""Values, or items of arrays, by type."""
NOT_TRIED = {'realtime_priority', 'cores', 'lock_memory'}
"""Set and checked, but no node is configured with them: they affect the whole machine."""


class Parameters:
    """The parameters of one node."""

    def __init__(self, found, node, random: Random):
        # a generator of its own: a new parameter of the nodes does not change what else a seed draws
        self._found, self._node, self._random = found, node, Random(random.random())
        # another clock would end every ramp, rightly
        self._names = sorted({*node.get_parameters_by_prefix('')} - {'', 'use_sim_time'})

    def draw(self) -> SetParameters.Request:
        """Return a request for up to three parameters."""
        random, request = self._random, SetParameters.Request()
        for _ in range(random.randint(1, 3)):
            name = random.choice(self._names)
            kind = self._node.get_parameter(name).type_.value
            value = self._value(kind if random.random() < 0.8 else random.randrange(len(FIELDS)))
            if random.random() < 0.05:
                value.type = random.choice((len(FIELDS), 255))
            name = random.choice(ODD_NAMES) if random.random() < 0.05 else name
            request.parameters.append(ParameterMessage(name=name, value=value))
        return request

    def values(self) -> dict[str, str]:
        return {name: _plain(self._node.get_parameter(name).value) for name in self._names}

    def look_at(self, request, response, before: dict[str, str]) -> set[str]:
        """Check the response to a request; return the names of the parameters that were changed."""
        expected = dict(before)
        for sent, result in zip(request.parameters, response.results, strict=False):
            if not sent.name:
                continue  # rclpy sets what has no name
            right = bool(result.reason)
            if result.successful:
                descriptor = self._node.describe_parameter(sent.name) if self._node.has_parameter(sent.name) else None
                right = descriptor is not None and not descriptor.read_only and sent.value.type == descriptor.type
                right = right and (not result.reason or 'acts' in result.reason)
            self._check(right, f'{sent.name} = {sent.value}: {result.reason or "set"}')
            if result.successful and sent.name in expected:
                expected[sent.name] = _plain(parameter_value_to_python(sent.value))
        after = self.values()
        self._check(after == expected, f'{after}, expected {expected}')
        return {name for name in before if after[name] != before[name]}

    def configure(self, changed: set[str]) -> None:
        """Configure the node with parameters that it has accepted: it is up, or says why it is not."""
        if self._node.active:
            self._node.trigger_deactivate()
        if self._node.robot is not None:
            self._node.trigger_cleanup()
        self._node.start()
        reason = self._node.silence
        right = self._node.active or reason.startswith(('not configured: ', 'not activated: '))
        self._check(right and 'internal error' not in reason, f'{sorted(changed)}: {reason}')

    def _check(self, holds, what: str) -> None:
        self._found.check('SET', holds, what)

    def _value(self, kind: int) -> ParameterValue:
        """Return a value of a type, by its number."""
        value, items = ParameterValue(type=kind), ITEMS[kind]
        if kind:
            many = self._random.choices(items, k=self._random.choice((0, 1, 1, 3, 6, 6, 7)))
            setattr(value, FIELDS[kind], many if 'array' in FIELDS[kind] else self._random.choice(items))
        return value


def _plain(value):
    return repr(value if isinstance(value, bool | int | float | str | type(None)) else list(value))
