"""Random parameters of right and wrong types, and the result that each must have."""

import math
from random import Random

import numpy as np
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter, parameter_value_to_python

from broken_messages.bytes import ODD_NUMBERS, understood
from broken_messages.oracle import ROBOT
from broken_messages.random_messages import ODD_NAMES
from broken_messages.rules import NET, SET, Findings

SERVICE = 'set_parameters'
FIELDS = (
    *('', 'bool_value', 'integer_value', 'double_value', 'string_value'),
    *('byte_array_value', 'bool_array_value', 'integer_array_value', 'double_array_value', 'string_array_value'),
)
"""Fields of ParameterValue, by type."""
WORDS = (
    *('silent', 'gravity_only', 'ramp_to_zero', 'franka', 'kuka_fri', 'monitor_only', 'node', 'robot', 'desired'),
    *('measured', 'joint_trajectory', 'controller_state', 'gravity', 'friction', 'pd', 'computed_torque', '<robot/>'),
    *('specialised', 'generic'),
)
CHOICES = {
    'on_stale': ('silent', 'gravity_only', 'ramp_to_zero'),
    'preset': ('', 'sim', 'effort_controller', 'franka', 'ur_direct_torque', 'kuka_fri', 'monitor_only'),
    'on_deactivate': ('silent', 'ramp_to_zero', 'zero'),
    'gravity_owner': ('', 'node', 'robot'),
    'evaluate_at': ('desired', 'measured'),
    'source': ('joint_trajectory', 'controller_state'),
    'binding': ('specialised', 'generic'),
    'model_findings': ('refuse', 'accept'),
    'control_law': ('pd', 'pd_gravity', 'pd_feedforward', 'computed_torque'),
}
NOT_TRIED = {'realtime_priority', 'cores', 'lock_memory'}
"""Set and checked, but no node is configured with them: they affect the whole machine."""
LARGEST_CORE = 65535
CONFIGURED = 0.1
"""Share of requests after which a node is configured with the accepted parameters."""


class Parameters:
    """The parameters of one node."""

    def __init__(self, findings: Findings, node, random: Random):
        """Draw parameters for ``node`` from ``random``."""
        self._check, self._node, self._random = findings.check, node, random
        # another clock would end every ramp, rightly
        self._names = sorted({*node.get_parameters_by_prefix('')} - {'use_sim_time'})

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

    def before(self) -> dict[str, Parameter]:
        """Return all parameters by their names."""
        return {name: self._node.get_parameter(name) for name in self._names}

    def look_at(self, data: bytes, response, before: dict[str, Parameter]) -> set[str]:
        """Check the response to a serialised request; return the names of the parameters that were set."""
        request = understood(data, SetParameters.Request)
        results = response.results
        kinds = [parameter.value.type < len(FIELDS) for parameter in request.parameters]
        known = kinds.index(False) if False in kinds else len(kinds)  # rclpy ends where a type is none
        self._check(SET, len(results) == known, f'{len(results)} results for {request}')
        now = {name: _plain(parameter.value) for name, parameter in before.items()}
        gravity_limit = before['gravity_limit'].value
        for sent, result in zip(request.parameters, results, strict=False):
            settable = self._is_settable(sent, gravity_limit)
            told = f'{sent.name} = {sent.value}: {result.reason or "taken"}'
            acts = not result.reason or 'acts' in result.reason
            self._check(SET, acts if result.successful else bool(result.reason), told)
            self._check(SET, settable is None or result.successful is settable, told)
            if result.successful and sent.name in now:
                now[sent.name] = _plain(parameter_value_to_python(sent.value))
                if sent.name == 'gravity_limit':
                    gravity_limit = sent.value.double_value
        after = {name: _plain(self._node.get_parameter(name).value) for name in before}
        self._check(SET, after == now, f'{after}, expected {now}')
        return {name for name in before if after[name] != _plain(before[name].value)}

    def configure(self, changed: set[str]) -> bool:
        """Occasionally configure the node with the parameters that it accepted; return whether this was done."""
        if changed & NOT_TRIED or self._random.random() > CONFIGURED:
            return False
        node = self._node
        node.down()
        node.start()
        told = f'{sorted(changed)}: {node.reason}'
        self._check(NET, 'internal error' not in node.reason, told)
        self._check(SET, node.active or node.reason.startswith(('not configured: ', 'not activated: ')), told)
        node.down()
        return True

    def compile_all(self) -> None:
        """Configure the node with specialised and with generic kernels: memory of the compiler is not released."""
        before = self.before()
        for binding in ('specialised', 'generic'):
            self._node.down()
            self._node.set_parameters([Parameter('binding', value=binding)])
            self._node.start()
        self._node.down()
        self.restore(before, {'binding'}, down=True)

    def restore(self, before: dict[str, Parameter], changed: set[str], down: bool) -> None:
        """Set parameters to what they were, and configure the node that is down."""
        node = self._node
        for name in sorted(changed, key=lambda name: (name != 'gravity_limit', name)):  # which bounds gravity
            (result,) = node.set_parameters([before[name]])
            self._check(SET, result.successful, f'{name} back to {before[name].value}: {result.reason}')
        if down:
            node.start()
            self._check(SET, node.active, f'{sorted(changed)} are as they were, but {node.reason}')

    def _is_settable(self, sent: ParameterMessage, gravity_limit: float) -> bool | None:
        """Return whether a parameter must be accepted (True), rejected (False), or may be either (None)."""
        name = sent.name
        if not name:
            return None  # rclpy takes what has no name, declared or not
        if not self._node.has_parameter(name):
            return False
        descriptor = self._node.describe_parameter(name)
        if descriptor.read_only or sent.value.type != descriptor.type:
            return False
        value = parameter_value_to_python(sent.value)
        for bounds in (*descriptor.integer_range, *descriptor.floating_point_range):
            near = any(math.isclose(value, bound) for bound in (bounds.from_value, bounds.to_value))
            return None if near else bounds.from_value < value < bounds.to_value
        if name in CHOICES:
            return value in CHOICES[name]
        if name == 'gravity':
            if list(value) == [0.0]:
                return True
            if len(value) != 3 or not np.isfinite(value).all():
                return False
            size = np.linalg.norm(value)
            return None if math.isclose(size, gravity_limit, rel_tol=1e-3) else bool(size < gravity_limit)
        if name in ('stiffness', 'damping'):
            return len(value) == ROBOT.nv and bool(np.isfinite(value).all() and (np.array(value) >= 0.0).all())
        if name == 'cores':
            return all(-1 <= core <= LARGEST_CORE for core in value)
        if name in ('effort_limit', 'rate_limit'):
            return len(value) in (1, ROBOT.nv) and bool((np.array(value) >= 0.0).all())
        return None if name in ('command_joints', 'compensation', 'locked_joints') else True

    def _value(self, kind: int) -> ParameterValue:
        """Return a value of a type, by its number."""
        random, value = self._random, ParameterValue(type=kind)
        many = random.choice((0, 1, 1, 3, ROBOT.nv, ROBOT.nv, ROBOT.nv + 1))
        draw = (
            lambda: None,
            lambda: random.random() < 0.5,
            lambda: random.choice((0, 1, -1, 50, 2**63 - 1, -(2**63))),
            self._number,
            lambda: random.choice((*WORDS, *ODD_NAMES)),
            lambda: [bytes([random.randrange(256)]) for _ in range(many)],
            lambda: [random.random() < 0.5 for _ in range(many)],
            lambda: [random.choice((-1, 0, 1, 2**40)) for _ in range(many)],
            lambda: [self._number() for _ in range(many)],
            lambda: [random.choice((*WORDS, *ROBOT.joint_names, *ODD_NAMES)) for _ in range(many)],
        )[kind]
        if kind:
            setattr(value, FIELDS[kind], draw())
        return value

    def _number(self) -> float:
        """Return a number, odd or not."""
        random = self._random
        return random.choice((random.random(), random.uniform(0.0, 100.0), random.choice(ODD_NUMBERS)))


def _plain(value):
    """Return a value in a form in which NaN equals NaN."""
    return repr(value if isinstance(value, bool | int | float | str | type(None)) else list(value))
