"""Playback of a motion in a browser: the robot's shapes, payloads and torques, with a slider and a play button."""

import threading
import time
from html import escape
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.formats.description import found_description
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.figures.description_shapes import shapes_of
from robot_dynamics_ros.tools.figures.shapes import LeftOut, Shapes
from robot_dynamics_ros.validation import finite, increasing

PERIOD = 1.0 / 30.0
"""Time between two pictures of a playback, s."""


def view(robot: Robot, t, q, torque=None, urdf: str | Path | None = None, port: int = 8080) -> None:
    """Serve a page that plays a motion back, print its address, and return when interrupted (Ctrl-C).

    It also prints what of the description is not drawn. The arguments are those of ``MotionView``.
    """
    try:
        with MotionView(robot, t, q, torque, urdf, port) as shown:
            for sentence in shown.left_out:
                print(f'not drawn: {sentence}')
            print(f'{robot.name}: open {shown.url} in a browser; Ctrl-C ends it', flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        print()


class MotionView:
    """A page of this machine, on a local address only, that plays a motion back; a context manager.

    Parameters
    ----------
    robot : Robot
        Its payloads are shown as spheres.
    t : array_like, (m,)
        Times in ascending order, s.
    q : array_like, (m, nq)
        Positions at these times. Between two of them the robot moves at constant velocity.
    torque : array_like, (m, nv), optional
        Torques at these times, N m (prismatic: N), shown as arrows along the joint axes.
    urdf : str or Path, optional
        Description of the robot for its shapes, URDF, SDF or MJCF: path or text, a xacro file without arguments, or a
        name that ``Robot.from_description`` accepts. Lines between the origins of links are shown where moving links
        have no shape.
    port : int
        TCP port of the page. If it is in use, the next free one.

    Attributes
    ----------
    left_out : tuple of str
        What of the description is not drawn, a sentence each; the page has them, too.

    Raises
    ------
    ArgumentError, ModelError
        For arrays of wrong shape, times not in ascending order, a description of another robot or one that cannot be
        read, and a number that is no port.
    DynamicsError
        Without the Python package viser.
    """

    def __init__(self, robot: Robot, t, q, torque=None, urdf: str | Path | None = None, port: int = 8080):
        """Check the motion, build the scene and start the server."""
        try:
            from viser import ViserServer  # noqa: PLC0415  (slow to import, needed here only)

            from robot_dynamics_ros.tools.figures.robot_scene import RobotScene  # noqa: PLC0415
        except ModuleNotFoundError as error:
            missing = f'viewing a motion needs {error.name}, which is not installed'
            raise DynamicsError(f'{missing}: pip install viser') from error
        if not robot.nv:
            raise ArgumentError(f'robot: {robot.name} has no joint that moves')
        self._t = increasing('t', t, 1)
        if not isinstance(port, int) or not 0 < port < 65536:
            raise ArgumentError(f'port: expected a number from 1 to 65535, got {port!r:.80}')
        count = len(self._t)
        self._robot, self._q = robot, finite('q', q, (count, robot.nq))
        self._torque = np.zeros((count, robot.nv)) if torque is None else finite('torque', torque, (count, robot.nv))
        shapes = Shapes([], []) if urdf is None else _shapes(robot, urdf)
        self._server = ViserServer('127.0.0.1', port, label=robot.name, verbose=False)
        try:
            self.scene = RobotScene(self._server.scene, robot, self._q, shapes.drawn, _largest(robot, self._torque))
        except BaseException:
            self._server.stop()
            raise
        self.left_out: tuple[str, ...] = tuple(map(str, (*shapes.left_out, *self.scene.left_out)))
        self._lock = threading.Lock()  # of what is shown: the slider and the player change it
        self._closed = threading.Event()
        self._arrange()
        self._add_switches(torque is not None)
        self._add_player()
        self._add_left_out()
        self.show(self._t[0])
        self._player = threading.Thread(target=self._run, daemon=True)
        self._player.start()

    def __enter__(self) -> 'MotionView':
        """Return the view."""
        return self

    def __exit__(self, *_) -> None:
        """Close the view."""
        self.close()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f'http://127.0.0.1:{self._server.get_port()}'

    def close(self) -> None:
        """End the playback and the server."""
        self._closed.set()
        self._player.join()
        self._server.stop()

    def show(self, moment: float) -> None:
        """Show the robot at a time, s; before and after the motion it is at its start and end."""
        moment = float(finite('moment', moment, ()))
        with self._lock, self._server.atomic():
            moment = float(np.clip(moment, self._t[0], self._t[-1]))
            self.scene.show(*self.at(moment))
            self._slider.value = moment

    def at(self, moment: float) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (nq,) and torques (nv,) at a time of the motion, s."""
        i = int(np.clip(np.searchsorted(self._t, moment, 'right') - 1, 0, max(len(self._t) - 2, 0)))
        j = min(i + 1, len(self._t) - 1)
        part = (moment - self._t[i]) / (self._t[j] - self._t[i]) if j > i else 0.0
        step = self._robot.difference(self._q[i], self._q[j])
        q = self._robot.integrate(self._q[i], part * step)
        return q, (1.0 - part) * self._torque[i] + part * self._torque[j]

    def _arrange(self) -> None:
        """Set camera, light, floor and the look of the page."""
        server, size = self._server, self.scene.size
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        server.gui.main_panel.dock_right()
        server.initial_camera.position = (size, -1.2 * size, 0.9 * size)
        server.initial_camera.look_at = (0.0, 0.0, 0.35 * size)
        # an environment map takes seconds without a graphics card
        server.scene.configure_environment_map(None)
        server.scene.add_light_hemisphere('/sky', ground_color=(130, 130, 130), intensity=2.5)
        server.scene.add_grid('/floor', 4.0 * size, 4.0 * size, cell_size=0.1 * size, section_size=0.5 * size)

    def _add_switches(self, with_torque: bool) -> None:
        """Add check boxes for lines, payloads and torques."""
        scene = self.scene
        for arrow in scene.arrows:
            arrow.visible = with_torque
        switches = [('lines between links', [scene.lines])]
        if scene.payloads:
            mass = sum(payload.mass for payload in self._robot.payloads.values())
            switches.append((f'payload, {mass:.4g} kg', scene.payloads))
        if with_torque:
            switches.append((f'torques, up to {self._peaks()}', scene.arrows))
        for label, nodes in switches:
            box = self._server.gui.add_checkbox(label, nodes[0].visible)

            @box.on_update
            def _(event, nodes=nodes) -> None:
                for node in nodes:
                    node.visible = event.target.value

    def _peaks(self) -> str:
        """Return the largest torque about an axis and the largest force along one, as text."""
        rotates = _rotates(self._robot)
        of_units = (('N m', self._torque[:, rotates]), ('N', self._torque[:, ~rotates]))
        return ', '.join(f'{np.abs(part).max():.4g} {unit}' for unit, part in of_units if part.size)

    def _add_player(self) -> None:
        """Add slider, play button and speed."""
        gui, (start, end) = self._server.gui, (float(self._t[0]), float(self._t[-1]))
        self._slider = gui.add_slider('time, s', start, max(end, start + 1e-3), 1e-3, start)
        self._play = gui.add_button('Play')
        self._speed = gui.add_slider('speed', 0.1, 2.0, 0.1, 1.0)
        self._plays = False

        @self._slider.on_update
        def _(event) -> None:
            if event.client is not None:  # the player sets the slider, too
                self.show(event.target.value)

        @self._play.on_click
        def _(_) -> None:
            self._plays = not self._plays
            self._play.label = 'Pause' if self._plays else 'Play'

    def _add_left_out(self) -> None:
        """Add the sentences about what is not drawn, in a folder that is closed at first."""
        if self.left_out:
            with self._server.gui.add_folder(f'not drawn: {len(self.left_out)}', expand_by_default=False):
                for sentence in self.left_out:
                    self._server.gui.add_html(f'<p>{escape(sentence)}</p>')

    def _run(self) -> None:
        """Show one moment after another while playing; after the end begin again."""
        before = time.monotonic()
        while not self._closed.wait(PERIOD):
            now = time.monotonic()
            if self._plays:
                moment = self._slider.value + self._speed.value * (now - before)
                self.show(moment if self._slider.value < self._t[-1] else self._t[0])
            before = now


def _shapes(robot: Robot, description: str | Path) -> Shapes:
    """Return the shapes of those links that the robot has; ArgumentError for shapes of none of them."""
    found = shapes_of(found_description(description))
    drawn = [shape for shape in found.drawn if shape.link in robot.frame_names]
    left_out = [it for it in found.left_out if not it.link or it.link in robot.frame_names]
    if found.drawn and not drawn:
        other = found.drawn[0].link
        raise ArgumentError(f'urdf: it has shapes of {other!r} and others, but of no link of {robot.name}')
    if not drawn and not left_out:
        left_out = [LeftOut('', 'the description has no shapes: lines show the links')]
    return Shapes(drawn, left_out)


def _largest(robot: Robot, torque: np.ndarray) -> np.ndarray:
    """Return the torque (nv,) of the longest arrow: the largest one about any axis, and the largest force along one."""
    rotates = _rotates(robot)
    peaks = np.abs(torque).max(axis=0)
    largest = np.where(rotates, peaks[rotates].max(initial=0.0), peaks[~rotates].max(initial=0.0))
    return np.where(largest > 0.0, largest, 1.0)


def _rotates(robot: Robot) -> np.ndarray:
    """Return whether each velocity rotates (nv,), alone or as a screw does."""
    return robot.model.arrays.S[1:, :3].any(axis=1)
