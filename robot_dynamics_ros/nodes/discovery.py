"""Settings of Fast DDS with which a new participant discovers existing ones at once.

By default Fast DDS (3.2) announces a new participant from the thread that then begins to receive. The others respond
once, within a millisecond. A response that comes too early is lost, and the next announcement of that participant comes
up to 3 s later: measured on 2026-11-22 on an idle machine, in half of all starts. ``fastdds.xml`` has a thread of its
own send what discovery sends; then every participant was discovered within 0.4 s.
"""

import os
from pathlib import Path

VARIABLE = 'FASTDDS_DEFAULT_PROFILES_FILE'
"""Names the profiles that Fast DDS 3 reads before the first participant of a process is created."""
PROFILES = Path(__file__).with_name('fastdds.xml')
OF_FOLDER = Path('DEFAULT_FASTDDS_PROFILES.xml')
"""The file that Fast DDS reads in the working folder."""


def discover_at_once() -> None:
    """Use ``PROFILES`` in this process and in those that it starts, unless the user has profiles."""
    if not OF_FOLDER.exists() and not os.environ.get(VARIABLE):
        os.environ[VARIABLE] = str(PROFILES)
