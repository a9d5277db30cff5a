"""A stand-in for the controller manager of ros2_control: what controllers see of each distribution, without ROS.

It calls a controller as the manager does: in one thread, controllers above first; a switch deactivates, sets chained
modes, then activates. The interfaces are numbers.
"""

import ctypes
from typing import NamedTuple

from support.controllers.controllers_core import OUTCOMES, Law, core

import numpy as np

MICROSECOND = 1_000
MILLISECOND = 1_000_000


class Distribution(NamedTuple):
    """What a controller can see of the distribution, from a version of ros2_control and ros2_controllers on."""

    name: str
    resets_chained_mode: bool
    """set_chained_mode(false) at configure and at each deactivation (Jazzy 4.39, Kilted 5.8)."""
    reads_effort_command: bool
    """A joint_trajectory_controller with effort commands takes what is there as its measured effort (Jazzy 4.23)."""
    deactivates_on_error: bool


HUMBLE = Distribution('humble 2.54', False, False, False)
JAZZY_EARLY = Distribution('jazzy 4.38', False, True, True)
JAZZY = Distribution('jazzy 4.46', True, True, True)
KILTED = Distribution('kilted 5.16', True, True, True)
ROLLING = Distribution('rolling 6.8', True, True, True)
DISTRIBUTIONS = (HUMBLE, JAZZY_EARLY, JAZZY, KILTED, ROLLING)


class EffortController:
    """What is behind FeedforwardEffortController: an EffortCycle with its references."""

    def __init__(self, law: Law, joints, interfaces=('position', 'velocity', 'acceleration'), torque_scale=1.0):
        """Take over ``law``; ValueError with the text of a C++ exception."""
        self.core, self.n, said = core(), len(joints), ctypes.create_string_buffer(2000)
        self.core.controller_new.restype = ctypes.c_void_p
        handle, law.handle = law.handle, None
        made = self.core.controller_new(
            handle, '\n'.join(joints).encode(), '\n'.join(interfaces).encode(), ctypes.c_double(torque_scale), said,
            ctypes.c_size_t(len(said)),
        )  # fmt: skip
        if not made:
            raise ValueError(said.value.decode())
        self.law, self._handle = handle, ctypes.c_void_p(made)
        self.positions, self.velocities, self.commands = (
            self._array(f'controller_{name}', self.n) for name in ('positions', 'velocities', 'commands')
        )
        self.references = self._array('controller_reference', self.n * len(interfaces), 0).reshape(-1, self.n)
        self.outcome, self.is_active, self.is_chained = 'inactive', False, False

    def __del__(self):
        if hasattr(self, '_handle'):
            self.core.controller_delete(self._handle)

    def activate(self, now: int, simulated: bool = False) -> bool:
        return bool(self.core.controller_activate(self._handle, ctypes.c_int64(now), int(simulated)))

    def deactivate(self, now: int) -> None:
        self.core.controller_deactivate(self._handle, ctypes.c_int64(now))

    def set_chained_mode(self, chained: bool) -> None:
        self.is_chained = chained
        self.core.controller_chained(self._handle, int(chained))

    def update(self, now: int, period: float, time: int | None = None) -> bool:
        """Return whether the update is no error; ``now``: steady clock, ns; ``time``: ROS time, if it is another."""
        times = ctypes.c_int64(now if time is None else time), ctypes.c_double(period), ctypes.c_int64(now)
        self.outcome = OUTCOMES[self.core.controller_update(self._handle, *times)]
        return not self.core.controller_gave_up(self._handle)

    def request_stop(self) -> None:
        self.core.law_request_stop(self.law, ctypes.c_int64(0))

    @property
    def unused_references(self) -> str:
        said = ctypes.create_string_buffer(2000)
        self.core.controller_unused(self._handle, said, ctypes.c_size_t(len(said)))
        return said.value.decode()

    def _array(self, function: str, length: int, *arguments) -> np.ndarray:
        function = getattr(self.core, function)
        function.restype = ctypes.POINTER(ctypes.c_double)
        return np.ctypeslib.as_array(function(self._handle, *arguments), (length,))


class TrajectoryController:
    """A joint_trajectory_controller with effort commands and gains: holds a position, or goes to another one.

    As there, a segment begins at the measured state. Its effort is interpolated, too, from the measured one, which from
    some version on is what the command interface holds, to that of the point, which is 0.
    """

    def __init__(self, stiffness, damping, commands: np.ndarray, reads_effort_command: bool):
        """Write into ``commands`` (n), the references of a controller below."""
        self._gains, self._commands, self._reads = (stiffness, damping), commands, reads_effort_command
        self.hold: np.ndarray | None = None
        self._segment: tuple | None = None
        self.is_broken = self.is_silent = False
        self.written: list[np.ndarray] = []

    def activate(self) -> None:
        """Hold the position that is measured next."""
        self.hold = self._segment = None

    def go(self, target: np.ndarray, duration: float) -> None:
        """Begin a segment to ``target`` (n) in the next update."""
        self._segment = target, duration, None

    def update(self, time: float, q: np.ndarray, qd: np.ndarray) -> None:
        """Write efforts at ``time`` (s) for the measured q and qd (n)."""
        effort = self._commands.copy() if self._reads else np.zeros_like(q)
        if self.hold is None:
            self.hold = q.copy()
        desired, velocity, added = self.hold, np.zeros_like(q), np.zeros_like(q)
        if self._segment:
            target, duration, began = self._segment
            if began is None:
                began = time, q.copy(), effort
                self._segment = target, duration, began
            share = min(1.0, (time - began[0]) / duration)
            desired = began[1] + share * (target - began[1])
            velocity = (target - began[1]) / duration if share < 1.0 else velocity
            added = (1.0 - share) * began[2] if share < 1.0 else velocity
            if share >= 1.0:
                self.hold, self._segment = target, None
        written = self._gains[0] * (desired - q) + self._gains[1] * (velocity - qd) + added
        if not self.is_silent:
            self._commands[:] = np.nan if self.is_broken else written
        self.written.append(self._commands.copy())


class StandInManager:
    """Cycles of an effort controller, below a trajectory controller or alone, on the joints of a plant."""

    def __init__(self, distribution: Distribution, controller: EffortController, plant, above=None):
        """``plant(command, period)`` returns q and qd (n each) after a cycle with effort commands (n)."""
        self.distribution, self.controller, self.above = distribution, controller, above
        self._plant = plant
        self.command = np.zeros(controller.n)
        self.above_is_active, self.now = False, 1_700_000_000_000_000_000
        self.efforts: list[np.ndarray] = []
        self.positions: list[np.ndarray] = []
        if distribution.resets_chained_mode:
            controller.set_chained_mode(False)

    def switch(self, activate=(), deactivate=(), takes=100 * MICROSECOND) -> None:
        """Deactivate and activate 'below' and 'above' in one request, which ``takes`` some ns of the cycle."""
        below, begins, ends = self.controller, 'above' in activate, 'above' in deactivate and self.above_is_active
        to_chained = begins and not below.is_chained
        from_chained = ends and not (begins and below.is_chained)
        if (to_chained or from_chained) and below.is_active and 'below' not in deactivate:
            deactivate, activate = (*deactivate, 'below'), (*activate, 'below')
        if 'below' in deactivate and below.is_active:
            below.deactivate(self.now)
            below.is_active = False
            if self.distribution.resets_chained_mode:
                below.set_chained_mode(False)
        for changes, chained in ((to_chained, True), (from_chained, False)):
            if changes:
                below.set_chained_mode(chained)
        self.now += takes
        if 'below' in activate and not below.is_active:
            below.commands[:] = self.command
            if below.activate(self.now):
                self.command[:] = below.commands
            below.is_active = True
        self.above_is_active = begins or (self.above_is_active and not ends)
        if begins:
            self.above.activate()

    def cycles(self, count: int, period: int = MILLISECOND) -> None:
        """Read, update and write ``count`` times."""
        below = self.controller
        for _ in range(count):
            self.now += period
            q, qd = self._plant(self.command, 1e-9 * period)
            if self.above_is_active and self.above:
                self.above.update(1e-9 * (self.now % 10**12), q, qd)
            if below.is_active:
                below.positions[:], below.velocities[:] = q, qd
                is_fine = below.update(self.now, 1e-9 * period)
                self.command[:] = below.commands
                if not is_fine and self.distribution.deactivates_on_error:
                    self.switch(deactivate=('below', 'above') if self.above_is_active else ('below',))
            self.efforts.append(self.command.copy())
            self.positions.append(q.copy())


class ArmPlant:
    """A robot that executes efforts by semi-implicit Euler steps, from rest at q; it moves once it has been read."""

    def __init__(self, robot, q, damping=0.0):
        """``damping`` (N m s/rad) of the joints is that of their bearings."""
        self._robot, self.q, self.qd = robot, np.array(q, float), np.zeros(len(q))
        self._damping, self._was_read = damping, False

    def __call__(self, command, period):
        """Advance by ``period`` (s), and return q and qd."""
        if not self._was_read:
            self._was_read = True
            return self.q, self.qd
        self.qd += period * self._robot.forward_dynamics(self.q, self.qd, command - self._damping * self.qd)
        self.q += period * self.qd
        return self.q, self.qd


class StillPlant:
    """Joints that stand at q, whatever the efforts are."""

    def __init__(self, q):
        """Stand at ``q`` (n)."""
        self.q, self.qd = np.array(q, float), np.zeros(len(q))

    def __call__(self, command, period):
        """Return q and zero velocities."""
        return self.q, self.qd


class RampTopic:
    """The messages of a topic for a law, and the lines that they log."""

    def __init__(self, law: Law):
        """Messages of payload_state."""
        self.core, self._law, self.log = core(), law, []
        self.core.topic_new.restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self.core.topic_new(law.handle))

    def __del__(self):
        if hasattr(self, '_handle'):
            self.core.topic_delete(self._handle)

    def receive(self, mass: float, start: int, duration: int, now: int) -> None:
        numbers = ctypes.c_double(mass), *map(ctypes.c_int64, (start, duration, now))
        self._logged(self.core.topic_receive, *numbers)

    def retry(self, now: int) -> None:
        self._logged(self.core.topic_retry, ctypes.c_int64(now))

    @property
    def is_applied(self) -> bool:
        return bool(self.core.topic_is_applied(self._handle))

    def _logged(self, function, *arguments) -> None:
        said = ctypes.create_string_buffer(2000)
        function(self._handle, *arguments, said, ctypes.c_size_t(len(said)))
        self.log += [said.value.decode()] if said.value else []


def server_waits(topic, other, since_participant: float, since_begin: float) -> bool:
    """Return ``ServerWait::waits`` for topics (publisher known, message in force, settled, refused)."""
    flags = [(ctypes.c_int * 4)(*it) for it in (topic, other)]
    return bool(core().server_waits(*flags, ctypes.c_double(since_participant), ctypes.c_double(since_begin)))


def server_texts(topic) -> list[str]:
    """Return what a topic warns of, and why an activation that requires it is refused."""
    said = ctypes.create_string_buffer(2000)
    core().server_texts((ctypes.c_int * 4)(*topic), said, ctypes.c_size_t(len(said)))
    return said.value.decode().split('\n')
