"""Options of the tests: full matrices, random order; and the default order of the files."""

import gc
import sys
from pathlib import Path
from random import Random, SystemRandom

from support import matrices, unhurried

import pytest

LONGEST = (
    'evaluation/test_facade',
    'kernels/test_scratch',  # compiles the generic kernels, as the one before; each process about half of them
    'robot/test_export_c',
    'kernels/test_pinocchio',
    'kernels/test_wrenches',
    'evaluation/test_reference_frames',
    'evaluation/test_motions',
    'kernels/test_rotors',
    'codegen/test_specialised',
    'kernels/test_regressors',
    'formats/test_dh',
    'codegen/test_bits',
    'nodes/test_faults',
    'nodes/test_message_fuzz',
    'nodes/test_safety_rules',
    'tools/test_demo',
    'nodes/test_rejoin',
    'nodes/test_feedforward',
    'nodes/test_torque_controller',
    'nodes/test_controller_state',
    'nodes/test_crash',
    'nodes/test_start_up',
    'nodes/test_description',
)
"""Files that take longest run first: no process of xdist is left with a long one at the end."""

UNMEASURED = (
    'nodes/test_activation',
    'nodes/test_bringup',
    'nodes/test_check_trajectory',
    'nodes/test_coupled',
    'nodes/test_crash',
    'nodes/test_diagnostics',
    'nodes/test_faults',
    'nodes/test_feedforward',
    'nodes/test_fleet',
    'nodes/test_graph_fuzz',
    'nodes/test_gravity_compensation',
    'nodes/test_guarded',
    'nodes/test_humanoid',
    'nodes/test_loops',
    'nodes/test_lost_time',
    'nodes/test_on_deactivate',
    'nodes/test_payload_gravity',
    'nodes/test_payload_gravity_first',
    'nodes/test_payload_gravity_restart',
    'nodes/test_rate_limit',
    'nodes/test_rejoin',
    'nodes/test_security_policy',
    'nodes/test_simulated_arm',
    'nodes/test_simulated_time',
    'nodes/test_start_time',
    'nodes/test_start_tolerance',
    'nodes/test_start_up',
    'nodes/test_transport_watch',
    'tools/test_demo',
)
"""Files whose node processes add hardly a line to the coverage; measuring it takes a third of a start."""

SEED = pytest.StashKey[int | None]()
"""Of the random order of this run."""


def pytest_addoption(parser):
    parser.addoption('--exhaustive', action='store_true', help='run long matrices of seeds and robots in full')
    parser.addoption(
        '--random-order',
        metavar='SEED',
        type=int,
        help='shuffle files, and tests within a file, by a seed; 0 draws one, which is printed',
    )
    parser.addoption(
        '--compiled-only',
        action='append',
        default=[],
        metavar='PATH',
        help='of this file or folder, run the tests marked as compiled only: the others run as plain Python elsewhere',
    )


def pytest_configure(config):
    config.addinivalue_line('markers', 'exhaustive: part of a long matrix, run with --exhaustive only')
    if config.option.exhaustive:
        matrices.exhaustive, unhurried.share = True, 1.0
    seed = config.option.random_order
    if hasattr(config, 'workerinput'):
        seed = config.workerinput['random_order']
    config.stash[SEED] = SystemRandom().randrange(1, 1 << 32) if seed == 0 else seed


def pytest_ignore_collect(collection_path, config):
    """Leave a file without marked tests out, of which only these would run: it need not be imported."""
    of_tests = collection_path.name.startswith('test_') and collection_path.suffix == '.py'
    if of_tests and _is_compiled_only(collection_path, config) and b'mark.compiled' not in collection_path.read_bytes():
        return True
    return None


@pytest.fixture(scope='module', autouse=True)
def measured(request):
    """Measure the coverage of a file's node processes, or not."""
    with pytest.MonkeyPatch.context() as patch:
        if _name(request.path) in UNMEASURED:
            patch.delenv('MEASURE_NODES', raising=False)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Name processes that cannot receive messages where a test with a ROS graph has failed: they are the reason."""
    report = yield
    started = sys.modules.get('support.started_processes')
    if report.failed and started and (lost := started.processes_without_transport()):
        lines = (f'process {process} has lost {", ".join(ports)}' for process, ports in lost.items())
        report.sections.append(('shared memory of DDS', '\n'.join(lines)))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage while tests are imported and collected: it would take a sixth of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Let the garbage collector ignore what the tests have imported: a collection would look at all of it."""
    gc.collect()
    gc.freeze()
    # what Numba makes while it compiles lives long: looking at it so often took 9 % of that time (2026-11-27)
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Send the seed to a process of xdist."""
    node.workerinput['random_order'] = node.config.stash[SEED]


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[SEED] is not None:
        terminalreporter.write_line(f'the order of this run: --random-order={config.stash[SEED]}')


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Deselect the rest of long matrices and order the files; tests of a file stay together, for its fixtures."""
    elsewhere = {path for path in {item.path for item in items} if _is_compiled_only(path, config)}

    def is_left_out(item) -> bool:
        if not config.option.exhaustive and item.get_closest_marker('exhaustive'):
            return True
        return item.path in elsewhere and not item.get_closest_marker('compiled')

    left_out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    dropped = set(left_out)
    items[:] = [item for item in items if item not in dropped]
    files: dict = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files)
    if config.stash[SEED] is None:
        order.sort(key=lambda path: LONGEST.index(_name(path)) if _name(path) in LONGEST else len(LONGEST))
    else:
        random = Random(config.stash[SEED])
        random.shuffle(order)
        for path in order:
            random.shuffle(files[path])
    items[:] = [item for path in order for item in files[path]]


def _is_compiled_only(path: Path, config) -> bool:
    """Return whether only the tests of a file that are marked as compiled run."""
    paths = [] if config.option.exhaustive else config.option.compiled_only
    return any(path.is_relative_to(config.rootpath / it) for it in paths)


def _name(path: Path) -> str:
    """Return folder and name of a test file."""
    return f'{path.parent.name}/{path.stem}'
