"""Random valid and invalid requests for the services of the nodes."""

import numpy as np
from std_srvs.srv import Trigger

from broken_messages.bytes import ODD_NUMBERS
from broken_messages.random_messages import ODD_NAMES, Messages
from robot_dynamics_interfaces.msg import GravityState, Payload, PayloadState
from robot_dynamics_interfaces.srv import (
    CheckTrajectory,
    GetForwardDynamics,
    GetInverseDynamics,
    GetJacobian,
    GetMassMatrix,
    SetGravity,
    SetPayload,
)
from robot_dynamics_ros.messages.stamps import set_nanoseconds

SERVICES = {
    '~/get_mass_matrix': GetMassMatrix,
    '~/get_forward_dynamics': GetForwardDynamics,
    '~/get_inverse_dynamics': GetInverseDynamics,
    '~/get_jacobian': GetJacobian,
    '~/check_trajectory': CheckTrajectory,
    '~/set_gravity': SetGravity,
    '~/set_payload': SetPayload,
}
RESET = '~/reset'
LISTS = 'sequence<double>'


class Requests:
    """Draws requests for a robot: its frames, and its links, beside what ``messages`` knows."""

    def __init__(self, messages: Messages, robot):
        """Draw from the random numbers of ``messages``."""
        self._messages, self._random = messages, messages.random
        self._frames = [*robot.frame_names]
        self._last, self._base = robot.link_names[-1], robot.link_names[0]

    def draw(self, service: str):
        """Return a request for one of ``SERVICES`` or ``RESET``, valid or with up to two unusual changes."""
        draw = {
            '~/check_trajectory': self._trajectory,
            '~/set_gravity': self._gravity,
            '~/set_payload': self._payload,
            RESET: Trigger.Request,
        }
        return draw[service]() if service in draw else self._states(SERVICES[service])

    def payload(self) -> PayloadState:
        """Return a payload that was set about now, valid or with up to two unusual changes."""
        request = self._payload()
        fields = {field: getattr(request, field) for field in request.get_fields_and_field_types()}
        message = PayloadState(**fields)
        if self._random.random() < 0.3:
            earlier = self._payload()
            message.before = [Payload(mass=earlier.mass, com=earlier.com, inertia=earlier.inertia, frame=earlier.frame)]
        set_nanoseconds(message.stamp, self._messages.now + self._random.randint(-(10**9), 10**8))
        if self._random.random() < 0.05:
            message.stamp.sec, message.stamp.nanosec = self._random.choice(((-(2**31), 0), (2**31 - 1, 2**32 - 1)))
        return message

    def gravity(self) -> GravityState:
        """Return gravity that was set about now, in any direction; rarely zero."""
        request, earlier = self._gravity(), self._gravity()
        message = GravityState(header=request.gravity.header, gravity=request.gravity.vector)
        message.before = earlier.gravity.vector
        message.ramp_time = request.ramp_time
        set_nanoseconds(message.header.stamp, self._messages.now + self._random.randint(-(10**9), 10**8))
        return message

    def _states(self, kind):
        """Return a request about many states."""
        random, robot_names = self._random, self._messages.names
        count = random.choice((0, 1, 1, 2, 7, 64))
        lists = [name for name, field in kind.Request.get_fields_and_field_types().items() if field == LISTS]
        names = random.choice(([], list(robot_names), random.sample(robot_names, len(robot_names))))
        request = kind.Request(joint_names=names)
        for name in lists:
            setattr(request, name, self._messages.numbers(count * len(robot_names), 2.0))
        if kind is GetJacobian:
            request.link = random.choice(self._frames)
            request.reference_frame = random.choice(('world', 'local_world_aligned', 'local'))
        for _ in range(random.choice((0, 0, 1, 2))):
            self._spoil(request, random.choice(lists))
        return request

    def _spoil(self, request, name: str) -> None:
        """Make the list ``name`` of a request, or another field, unusual."""
        random = self._random
        values = list(getattr(request, name))
        odd = random.randrange(5)
        if odd == 0:
            request.joint_names = self._messages.renamed(list(request.joint_names) or list(self._messages.names))
        elif odd == 1 and values:
            values[random.randrange(len(values))] = random.choice(ODD_NUMBERS)
        elif odd == 2:
            values = values[: random.randint(0, len(values))]
        elif odd == 3 and hasattr(request, 'link'):
            setattr(request, random.choice(('link', 'reference_frame')), random.choice((*ODD_NAMES, 'world')))
        else:
            values += self._messages.numbers(random.randint(1, 13), 1.0)
        setattr(request, name, values)

    def _trajectory(self):
        """Return a request about a short trajectory."""
        draw = self._random.choice((self._messages.trajectory, self._messages.wrong_trajectory))
        trajectory = draw()
        trajectory.points = trajectory.points[:4]
        period = self._random.choice((0.0, 0.1, self._random.uniform(0.02, 1.0), *ODD_NUMBERS))
        return CheckTrajectory.Request(
            trajectory=trajectory, sample_period=period, resample=self._random.random() < 0.7
        )

    def _gravity(self):
        """Return a request for gravity in any direction; rarely zero."""
        random = self._random
        request = SetGravity.Request()
        request.gravity.header.frame_id = random.choice(('', '', self._base, self._last, *ODD_NAMES[:3]))
        for axis in 'xyz':
            setattr(request.gravity.vector, axis, random.uniform(-10.0, 10.0))
        request.ramp_time = random.choice((0.0, 0.0, random.uniform(0.0, 2.0), random.choice(ODD_NUMBERS)))
        if random.random() < 0.3:
            setattr(request.gravity.vector, random.choice('xyz'), random.choice(ODD_NUMBERS))
        return request

    def _payload(self):
        """Return a request for a box, a point mass or no payload, immediately or with a ramp."""
        random = self._random
        mass = random.choice((0.0, random.uniform(0.01, 5.0), random.uniform(0.01, 5.0)))
        size = np.array(self._messages.numbers(3, 0.3))
        inertia = random.choice((0.0, mass / 12.0)) * (size @ size - size**2)
        request = SetPayload.Request(
            mass=mass,
            com=self._messages.numbers(3, 0.2),
            inertia=[*inertia.tolist(), 0.0, 0.0, 0.0],
            frame=random.choice(('', '', self._last, *self._frames)),
            ramp_time=random.choice((0.0, random.uniform(0.0, 0.2), random.uniform(0.0, 2.0))),
        )
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            odd = random.choice((-1.0, *ODD_NUMBERS))
            field = random.choice(('mass', 'com', 'inertia', 'frame', 'ramp_time'))
            if field == 'frame':
                request.frame = random.choice(ODD_NAMES)
            elif field in ('mass', 'ramp_time'):
                setattr(request, field, odd)
            else:
                values = getattr(request, field)
                values[random.randrange(len(values))] = odd
        return request
