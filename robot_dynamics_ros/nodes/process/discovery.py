"""Settings of Fast DDS: fast discovery of existing participants, and messages by UDP.

By default Fast DDS (3.2) announces a new participant from the thread that then begins to receive. The others respond
once, within a millisecond. A response that comes too early is lost, and the next announcement of that participant comes
up to 3 s later: measured on 2026-11-22 on an idle machine, in half of all starts. With ``fastdds.xml`` every process
announces itself each 0.25 s; then every participant was discovered within 0.43 s, for 2.5 ms of processor time a second
(2026-11-23). A flow controller for discovery, with a thread of its own, is faster (0.19 s) and a trap: in Fast DDS 3.2
that thread waits for itself for good where endpoints are destroyed while other participants leave.

By default messages between processes of one machine go through shared memory. A process that pauses for 2 s while it
starts may then receive nothing for as long as it lives (``transport_watch``). ``fastdds.xml`` lists UDP as the only way
to the process. Measured on 2026-11-23, interleaved, at 500 Hz: a torque's round trip is 0.99 to 1.10 (p50) times that
through shared memory, the CPU time of feedforward_node 1.05 to 1.20 times, most of it in the thread that sends.
``fastdds_shared_memory.xml`` leaves this as Fast DDS has it.

By default a participant that discovers an endpoint of a type it does not use itself requests this type from the
endpoint's process, and adds the endpoint after the response. Fast DDS (3.2) never repeats the request. If the process
ends before it responds, all endpoints of that type which this participant discovers before it uses the type, whichever
process they belong to, are never added: a subscription made afterwards receives nothing, although publishers run. Both
profiles switch type propagation off; endpoints match by the names of topic and type. Measured on 2026-11-23 beside two
busy loops, with processes that end soon after their start: 5 of 406 new participants never had all services and topics
of five nodes (10 to 40 s were waited); without type propagation 0 of 492.

Where discovery is limited to this machine, rmw_fastrtps announces a participant to the first ``DISCOVERED`` processes
of its domain: the others discover these, but not each other. No profile changes that: a second UDP transport with a
larger ``maxInitialPeersRange`` sends every message twice.
"""

import os
from collections.abc import Iterator
from pathlib import Path

VARIABLES = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
"""Name the profiles that Fast DDS reads before the first participant of a process is created: version 3 (Kilted), and
version 2 (Humble, Jazzy)."""
PROFILES = Path(__file__).with_name('fastdds.xml')
OF_FOLDER = Path('DEFAULT_FASTDDS_PROFILES.xml'), Path('DEFAULT_FASTRTPS_PROFILES.xml')
"""The file that each of them reads in the working folder."""
DISCOVERED = 32
"""Processes of a domain that all others of the machine discover, with discovery limited to the machine."""
NEAR = 28
"""Processes from which on the limit is worth a warning."""
FIRST_PORT, DOMAIN_GAIN, PROCESS_GAIN = 7410, 250, 2
"""UDP ports of discovery (RTPS 2.5, 9.6.2.3): of the first process of domain 0; between domains; between processes."""


def use_profiles() -> None:
    """Use ``PROFILES`` in this process and in those that it starts, unless the user has profiles."""
    if not any(file.exists() for file in OF_FOLDER) and not any(map(os.environ.get, VARIABLES)):
        os.environ[variable()] = str(PROFILES)


def variable() -> str:
    """Return the one of ``VARIABLES`` that the installed Fast DDS reads; version 3 warns about the other one."""
    prefixes = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))
    return VARIABLES[any(Path(prefix, 'lib', 'libfastrtps.so').exists() for prefix in prefixes)]


def participant_numbers(domain: int) -> set[int]:
    """Return, for each participant of this process in ``domain``, how many lower ports of discovery the domain has."""
    ports = range(FIRST_PORT + DOMAIN_GAIN * domain, FIRST_PORT + DOMAIN_GAIN * (domain + 1), PROCESS_GAIN)
    return {ports.index(port) for port in _udp_ports() if port in ports}


def process_number(domain: int) -> int | None:
    """Return the lowest of ``participant_numbers``; None where that can't be told."""
    return min(participant_numbers(domain), default=None)


def warning(number: int | None) -> str:
    """Return what to do where the process of this ``process_number`` is near or beyond the limit, else ''."""
    local = (
        os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE') == 'LOCALHOST' or os.environ.get('ROS_LOCALHOST_ONLY') == '1'
    )
    if number is None or number + 1 < NEAR or not local:
        return ''
    return (
        f'this is process {number + 1} of its ROS domain on this machine; with discovery limited to the machine, '
        f'processes after the first {DISCOVERED} do not discover each other: run several nodes in one process '
        '(bringup), use several domains, or set ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET'
    )


def _udp_ports() -> Iterator[int]:
    """Yield the UDP ports of this process."""
    try:
        sockets = {os.readlink(entry.path) for entry in os.scandir('/proc/self/fd') if os.path.islink(entry.path)}
        lines = Path('/proc/self/net/udp').read_text().splitlines()[1:]
    except OSError:
        return
    for fields in map(str.split, lines):
        if f'socket:[{fields[9]}]' in sockets:
            yield int(fields[1].split(':')[1], 16)
