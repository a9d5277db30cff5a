"""Expected responses of the server: valid requests, and identities of mechanics. Times are ns."""

import numpy as np

from broken_messages.bytes import understood
from broken_messages.load import Load, is_gravity, is_payload
from broken_messages.oracle import MODERATE, ROBOT
from broken_messages.requests import LISTS, RESET, SERVICES
from broken_messages.rules import LOADED, NET, SERVED, Findings
from broken_messages.trajectory_check import is_trajectory, wrong_check

COMPARED = 1e3
"""Largest numbers that are compared; beyond, rounding errors of the two implementations differ too much."""
FRAMES = ('world', 'local_world_aligned', 'local')
STEP = 1e-5
"""Step of the finite differences, rad."""
FORGOTTEN = (
    *('states rejected', 'states rejected, reasons', 'torques saturated', 'torques slowed', 'torques not finite'),
    'torques, reasons since reset',
)
PAYLOAD_FIELDS = ('mass', 'com', 'inertia', 'ramp_time')


class Server:
    """Expected responses of one server; call ``begin`` when it is configured."""

    def __init__(self, findings: Findings, node):
        """Check the responses of ``node``."""
        self._check, self._node = findings.check, node
        self.begin()

    def begin(self) -> None:
        """Begin without payload, under the gravity of an upright arm."""
        self.load = Load()

    def response(self, service: str, data: bytes, response, now: int) -> None:
        """Check the response to a serialised request."""
        request = understood(data, SERVICES[service].Request)
        self._check(NET, 'internal error' not in response.message, response.message)
        consistent = response.success is not bool(response.message)
        self._check(SERVED, consistent, f'success is {response.success}, the message {response.message!r}')
        good = {
            '~/set_payload': is_payload,
            '~/set_gravity': is_gravity,
            '~/check_trajectory': is_trajectory,
        }.get(service, is_answerable)(request)
        told = f'{request}: {response.message or "taken"}'
        undecided = good is None or (good and not response.success and not self.load.moderate)
        self._check(SERVED, undecided or response.success is good, told)
        if service == '~/set_payload':
            self._payload(request, response.success, now)
        elif service == '~/set_gravity':
            if response.success:
                self.load.pull(request, now)
            told = [(told.gravity.x, told.gravity.y, told.gravity.z) for told in self._node.announced]
            vector = request.gravity.vector
            taken = [(vector.x, vector.y, vector.z)] if response.success else []
            self._check(LOADED, told == taken, f'told {told}, taken {taken}')
        elif service == '~/check_trajectory':
            wrong = wrong_check(request, response, self.load, now) if response.success else ''
            self._check(LOADED, not wrong, wrong)
        else:
            self._states(service, request, response, now)

    def _payload(self, request, taken: bool, now: int) -> None:
        """Check the payload and gravity that the server publishes, and adopt them."""
        told = self._node.announced
        self._check(LOADED, len(told) == taken, f'{len(told)} times told what was taken {taken:d} times')
        if taken and told:
            fields = PAYLOAD_FIELDS if request.mass else ('mass', 'ramp_time')
            same = all(np.allclose(getattr(told[0], field), getattr(request, field)) for field in fields)
            self._check(LOADED, bool(same) and told[0].frame != '', f'{told[0]} is told of {request}')
        if taken:
            self.load.carry(request, now)

    def _states(self, service: str, request, response, now: int) -> None:
        """Check the numbers of a response to a query of states."""
        n = ROBOT.nv
        names = list(request.joint_names) or list(ROBOT.joint_names)
        count = len(request.positions) // n if response.success else 0
        shapes = {'mass_matrix': (n, n), 'jacobian': (6, n)}
        numbers = {}
        for field in _lists(response):
            shape = (count, *shapes.get(field, (n,)))
            values = np.array(getattr(response, field))
            if len(values) != np.prod(shape) or not np.isfinite(values).all():
                self._check(SERVED, False, f'{field}: {values}, expected {shape} finite ones; {response.message}')
                return
            numbers[field] = values.reshape(shape)
        asked = {field: np.array(getattr(request, field)).reshape(-1, n) for field in _lists(request) if count}
        if not count or max(np.abs(values).max() for values in asked.values()) > COMPARED:
            return
        order = [names.index(name) for name in ROBOT.joint_names]
        self._check(SERVED, list(response.joint_names) == names, f'{response.joint_names} for {names}')
        asked = {field: values[:, order] for field, values in asked.items()}
        numbers = {field: values[..., order] for field, values in numbers.items()}
        if service == '~/get_jacobian':
            wrong = _wrong_jacobian(request, asked['positions'][0], numbers['jacobian'][0])
            self._check(SERVED, not wrong, wrong)
            return
        if 'mass_matrix' in numbers:
            numbers['mass_matrix'] = numbers['mass_matrix'][:, order]
        for what, residual, size in self._residuals(asked, numbers, now):
            right = np.abs(residual).max() <= 1e-9 + 1e-8 * size.max()
            self._check(LOADED, bool(right), f'{what} is off by {np.abs(residual).max()} of {size.max()}')

    def _residuals(self, asked, numbers, now: int):
        """Return residuals that should be zero: name, value, and magnitude of the terms."""
        q, qd = asked['positions'], asked.get('velocities')
        if 'mass_matrix' in numbers:
            M, size = self.load.answer(now, lambda robot: robot.mass_matrix(q))
            return [('M', numbers['mass_matrix'] - M, size)]
        if 'accelerations' in numbers:
            qdd, tau = numbers['accelerations'], asked['efforts']
            M, size = self.load.answer(now, lambda robot: robot.mass_matrix(q))
            h, h_size = self.load.answer(now, lambda robot: robot.bias_torque(q, qd))
            needed = (M @ qdd[..., None])[..., 0] + h
            size = (size @ np.abs(qdd)[..., None])[..., 0] + h_size + np.abs(tau)
            return [('M qdd + h - tau', needed - tau, size)]
        rigid, size = self.load.answer(now, lambda robot: robot.inverse_dynamics(q, qd, asked['accelerations']))
        gravity, _ = self.load.answer(now, lambda robot: robot.gravity_torque(q))
        friction = ROBOT.friction_torque(qd, rigid)
        terms = sum(numbers[term] for term in ('inertia', 'coriolis', 'gravity', 'friction'))
        return [
            ('the sum of efforts', numbers['efforts'] - rigid - friction, size + np.abs(friction)),
            ('efforts less the terms', numbers['efforts'] - terms, size + np.abs(friction)),
            ('gravity', numbers['gravity'] - gravity, size),
        ]


def is_answerable(request) -> bool | None:
    """Return whether a query of states must succeed (True), fail (False), or may do either (None)."""
    lists = [np.array(getattr(request, name)) for name in _lists(request)]
    good = (
        (not request.joint_names or sorted(request.joint_names) == sorted(ROBOT.joint_names))
        and len({len(values) for values in lists}) == 1
        and len(lists[0]) % ROBOT.nv == 0
        and all(np.isfinite(values).all() for values in lists)
        and getattr(request, 'link', ROBOT.link_names[0]) in ROBOT.frame_names
        and getattr(request, 'reference_frame', FRAMES[0]) in FRAMES
    )
    if not good:
        return False
    return True if all((np.abs(values) <= MODERATE).all() for values in lists) else None


def wrong_reset(response, status) -> str:
    """Return what is wrong with the response to ``RESET`` and the diagnostics after it, '' for nothing."""
    fields = {value.key: value.value for value in status.values if value.key in FORGOTTEN}
    if set(fields) != set(FORGOTTEN):
        return f'diagnostics with {sorted(fields)}, expected {FORGOTTEN}'
    kept = {key: value for key, value in fields.items() if value not in ('', '0')}
    return f'{RESET}: {response}, still told: {kept}' if kept or not response.success else ''


def _wrong_jacobian(request, q, J) -> str:
    """Return what is wrong with J (6, n) at q (n), '' for nothing: against differences of the link's pose."""
    steps = STEP * np.eye(ROBOT.nv)
    robot = ROBOT.with_binding('generic')  # or code would be made for each link
    pose = robot.link_pose(q, request.link)
    before, after = (robot.link_pose(q + sign * steps, request.link) for sign in (-1.0, 1.0))
    R, p = pose[:3, :3], pose[:3, 3]
    turned = (after - before)[:, :3, :3] @ R.T / (2 * STEP)
    angular = np.stack([turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]])
    linear = ((after - before)[:, :3, 3] / (2 * STEP)).T
    if request.reference_frame == 'world':
        linear = linear + np.cross(p, angular, axisb=0, axisc=0)
    elif request.reference_frame == 'local':
        angular, linear = R.T @ angular, R.T @ linear
    off = np.abs(J - np.concatenate([angular, linear])).max()
    return '' if off < 1e-6 else f'{request}: the jacobian is off by {off}'


def _lists(message) -> list[str]:
    """Return the names of a message's fields that are lists of numbers."""
    return [name for name, kind in message.get_fields_and_field_types().items() if kind == LISTS]
