"""A thread that requests payload, gravity and mounting pose from an AUBO controller once a second."""

import threading
from contextlib import closing

from robot_dynamics_ros.aubo.frames import shown
from robot_dynamics_ros.aubo.rpc import RpcClient
from robot_dynamics_ros.aubo.settings import NOTHING, Settings, read_settings
from robot_dynamics_ros.errors import ControllerError

PERIOD = 1.0
TIMEOUT = 2.0
"""s for connecting, and for each answer."""
NOT_ASKED = 'not asked yet'


class SettingsPoller:
    """``settings`` are those of the newest answers, ``NOTHING`` while there is no connection, and ``fault`` says why.

    ``controller`` names the arm's type and the controller's software, '' before they are known.
    """

    def __init__(self, address: tuple[str, int]):
        """Ask ``address`` (host, port)."""
        self._host, self._port = address
        self._stopped = threading.Event()
        self.settings: Settings = NOTHING
        self.fault = NOT_ASKED
        self.controller = ''

    def start(self) -> None:
        """Start the thread."""
        self._stopped = threading.Event()
        threading.Thread(target=self._run, args=(self._stopped,), name='aubo settings', daemon=True).start()

    def stop(self) -> None:
        """End the thread after the question that is being asked."""
        self._stopped.set()
        self._forget(NOT_ASKED)

    def _run(self, stopped: threading.Event) -> None:
        while not stopped.is_set():
            try:
                with closing(RpcClient(self._host, TIMEOUT, self._port)) as client:
                    self._poll(client, stopped)
            except ControllerError as error:
                if not stopped.is_set():
                    self._forget(str(error))
            except Exception as error:  # an answer that nobody thought of ends no thread
                if not stopped.is_set():
                    self._forget(f'an answer of {self._host}:{self._port} cannot be read: {type(error).__name__}')
            stopped.wait(PERIOD)

    def _poll(self, client: RpcClient, stopped: threading.Event) -> None:
        """Ask until the thread is stopped or the connection ends, which a ControllerError says."""
        names = client.ask('getRobotNames')
        if not isinstance(names, list) or not names:
            raise ControllerError(f'getRobotNames: expected names, got {names!r:.100}')
        robot = str(names[0])
        kind = client.ask('RobotConfig.getRobotType', robot)
        software = client.ask('SystemInfo.getControlSoftwareFullVersion')
        self.controller = f'{shown(kind)}, software {shown(software)}'
        while not stopped.is_set():
            settings = read_settings(client, robot)
            if not stopped.is_set():
                self.settings, self.fault = settings, '; '.join(settings.refused)
            stopped.wait(PERIOD)

    def _forget(self, fault: str) -> None:
        self.settings = NOTHING
        self.fault = fault
