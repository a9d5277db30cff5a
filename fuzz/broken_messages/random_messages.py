"""Random joint states, trajectories and references: valid, invalid and malformed.

Everything is drawn from one ``random.Random``, so that a seed gives the same messages again.
"""

from random import Random

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from broken_messages.bytes import ODD_NUMBERS, WAYS, serialized

SECOND = 1_000_000_000
ODD_NAMES = ('', ' ', 'shoulder_joint ', 'SHOULDER_JOINT', 'élan', 'a\nb', '\x00', '../joint', '%s{0}', 'x' * 300)
ODD_SECONDS = (-(2**31), -1, 0, 1, 2**31 - 1)
FIELDS = ('position', 'velocity', 'effort')
RATES = ('positions', 'velocities', 'accelerations')


class Messages:
    """Draws messages for a robot's joints; ``now`` (ns) is the time they are sent at."""

    def __init__(self, random: Random, joint_names):
        """Draw from ``random``."""
        self.random = random
        self.names = list(joint_names)
        self.now = 0
        self._stamps = [0]
        # of a controller's states
        self._rates, self._order, self._factor = 3, self.names, 1.0
        self._walk: dict[str, float] = {}
        self._bytes = [serialized(self.state())]

    def state(self) -> JointState:
        """Return a good state of now: joints in any order, others between them, velocities and efforts or none."""
        names = list(self.names)
        if self.random.random() < 0.2:
            names += self.random.sample(['gripper', 'rail', 'élan'], self.random.randrange(3))
            self.random.shuffle(names)
        message = JointState(name=names, position=self.numbers(len(names), 2.0))
        for field in FIELDS[1:]:
            if self.random.random() < 0.8:
                setattr(message, field, self.numbers(len(names), 1.0))
        self._stamp(message, self.now - self.random.randrange(SECOND // 1000))
        return message

    def wrong_state(self) -> JointState:
        """Return a state with up to three unusual changes; it may still be valid."""
        message = self.state()
        for _ in range(self.random.randint(1, 3)):
            self.random.choice((self._odd_names, self._odd_numbers, self._odd_lengths, self._odd_stamp))(message)
        return message

    def broken(self, data: bytes) -> bytes:
        """Return the bytes of a message with up to four defects."""
        kept = data
        for _ in range(self.random.randint(1, 4)):
            data = self.random.choice(WAYS)(self.random, data, self.random.choice(self._bytes))
        # something of other messages is spliced in
        self._bytes = [*self._bytes[-20:], kept]
        return data

    def trajectory(self) -> JointTrajectory:
        """Return a good trajectory of none to 50 points, from around now on."""
        order = self.random.sample(range(len(self.names)), len(self.names))
        message = JointTrajectory(joint_names=[self.names[k] for k in order])
        rates = self.random.randint(1, 3)
        time = self.random.choice((0.0, 0.0, self.random.uniform(0.0, 2.0)))
        for _ in range(self.random.choice((0, 1, 2, 2, 3, 5, self.random.randint(0, 50)))):
            point = JointTrajectoryPoint(**{rate: self.numbers(len(order), 0.5) for rate in RATES[:rates]})
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(int(time * SECOND), SECOND)
            message.points.append(point)
            time += self.random.uniform(0.01, 1.0)
        if self.random.random() < 0.7:
            self._stamp(message, self.now + self.random.randint(-SECOND, SECOND // 10))
        return message

    def wrong_trajectory(self) -> JointTrajectory:
        """Return a trajectory with up to three unusual changes."""
        message = self.trajectory()
        for _ in range(self.random.randint(1, 3)):
            self.random.choice((self._odd_joints, self._odd_points, self._odd_times, self._odd_stamp))(message)
        return message

    def reference(self, kind):
        """Return a good message of type ``kind``, a controller's state, that goes on from the last one for a while."""
        if self.random.random() < 0.05:
            self._rates, self._order = self.random.randint(1, 3), self.random.sample(self.names, len(self.names))
            self._factor = self.random.choice((1.0, 1.0, 0.0, self.random.random()))
        names = [*self._order, *self.random.choice(((), (), ('rail',)))]
        for name in names:
            self._walk[name] = self._walk.get(name, 0.0) + self.random.uniform(-0.001, 0.001)
        rows = [[self._walk[name] for name in names], self.numbers(len(names), 0.05), self.numbers(len(names), 0.5)]
        point = JointTrajectoryPoint(**dict(zip(RATES[: self._rates], rows, strict=False)))
        message = kind(joint_names=names, reference=point)
        if hasattr(message, 'speed_scaling_factor'):  # releases before had none
            message.speed_scaling_factor = self._factor
        self._stamp(message, self.now - self.random.randrange(SECOND // 1000))
        return message

    def wrong_reference(self, kind):
        """Return a controller's state with up to three unusual changes; it may still be valid."""
        message = self.reference(kind)
        for _ in range(self.random.randint(1, 3)):
            odd = (self._odd_joints, self._odd_reference, self._odd_stamp, self._odd_factor)
            self.random.choice(odd)(message)
        return message

    def numbers(self, count: int, largest: float) -> list[float]:
        """Return ``count`` numbers between -largest and largest."""
        return [self.random.uniform(-largest, largest) for _ in range(count)]

    def _stamp(self, message, stamp: int) -> None:
        """Write ns into the header."""
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
        self._stamps = [*self._stamps[-5:], stamp]

    def _odd_stamp(self, message) -> None:
        """Set an earlier stamp again, a near one, a distant one or an invalid one."""
        odd = self.random.randrange(5)
        if odd == 0:
            self._stamp(message, self.random.choice(self._stamps))
        elif odd == 1:
            self._stamp(message, self.now + self.random.choice((-1, 1)) * 10 ** self.random.randint(0, 13))
        elif odd == 2:
            message.header.stamp.sec = self.random.choice(ODD_SECONDS)
        elif odd == 3:
            message.header.stamp.nanosec = self.random.choice((0, SECOND - 1, SECOND, 2**32 - 1))
        else:
            self._stamp(message, 0)

    def renamed(self, names: list[str]) -> list[str]:
        """Return names with one removed, repeated, foreign or unusual, or in another order."""
        if not names:
            return [self.random.choice(ODD_NAMES)]
        k = self.random.randrange(len(names))
        return self.random.choice(
            (
                names[:k] + names[k + 1 :],
                [*names, names[k]],
                [*names[:k], self.random.choice(names), *names[k + 1 :]],
                [*names[:k], self.random.choice(ODD_NAMES), *names[k + 1 :]],
                self.random.sample(names, len(names)),
                [],
            )
        )

    def _odd_names(self, message: JointState) -> None:
        """Change joint names or frame_id, but no numbers."""
        if self.random.random() < 0.2:
            message.header.frame_id = self.random.choice(ODD_NAMES)
        elif self.random.random() < 0.1:
            message.name = [*message.name, *map(str, range(self.random.randint(100, 500)))]
            message.position = self.numbers(len(message.name), 2.0)
        else:
            message.name = self.renamed(list(message.name))

    def _odd_numbers(self, message: JointState) -> None:
        """Change one number, or all of a field."""
        values = getattr(message, self.random.choice(FIELDS))
        every = self.random.random() < 0.2
        for k in range(len(values)) if every else self.random.sample(range(len(values)), min(len(values), 1)):
            values[k] = self.random.choice(ODD_NUMBERS)

    def _odd_lengths(self, message: JointState) -> None:
        """Make one field empty, shorter or longer."""
        field = self.random.choice(FIELDS)
        values = list(getattr(message, field))
        longer = [*values, *self.numbers(self.random.randint(1, 9), 1.0)]
        setattr(message, field, self.random.choice(([], values[: self.random.randint(0, len(values))], longer)))

    def _odd_joints(self, message) -> None:
        """Change names."""
        message.joint_names = self.renamed(list(message.joint_names))

    def _odd_points(self, message: JointTrajectory) -> None:
        """Make a field of one point unusual, empty, shorter or longer, or the point distant."""
        if not message.points:
            return
        self._odd_point(self.random.choice(message.points))

    def _odd_reference(self, message) -> None:
        """Make a field of a controller's reference unusual, empty, shorter or longer, or the reference distant."""
        self._odd_point(message.reference)

    def _odd_factor(self, message) -> None:
        """Set an unusual speed scaling factor."""
        if hasattr(message, 'speed_scaling_factor'):
            message.speed_scaling_factor = self.random.choice((0.0, 0.5, -1.0, *ODD_NUMBERS))

    def _odd_point(self, point: JointTrajectoryPoint) -> None:
        """Make a field of a point unusual, empty, shorter or longer, or the point distant."""
        rate = self.random.choice((*RATES, 'effort'))
        values = list(getattr(point, rate))
        odd = self.random.randrange(4)
        if odd == 0 and values:
            values[self.random.randrange(len(values))] = self.random.choice(ODD_NUMBERS)
        elif odd == 1:
            values = [100.0 * value for value in values]
        elif odd == 2:
            values = values[: self.random.randint(0, len(values))]
        else:
            values += self.numbers(self.random.randint(1, 9), 1.0)
        setattr(point, rate, values)

    def _odd_times(self, message: JointTrajectory) -> None:
        """Make the times of points negative, huge, decreasing or a nanosecond apart."""
        if not message.points:
            return
        k = self.random.randrange(len(message.points))
        time = message.points[k].time_from_start
        odd = self.random.randrange(4)
        if odd == 0:
            time.sec = self.random.choice(ODD_SECONDS)
        elif odd == 1:
            time.nanosec = self.random.choice((0, 1, SECOND, 2**32 - 1))
        elif odd == 2:
            message.points = self.random.sample(message.points, len(message.points))
        elif k:
            last = message.points[k - 1].time_from_start
            time.sec, time.nanosec = last.sec, min(last.nanosec + self.random.randint(0, 1), 2**32 - 1)
