"""Options of the tests: full matrices, random order; and the default order of the files."""

from random import Random, SystemRandom

import pytest

LONGEST = (
    'test_robot_facade',
    'test_dynamics_pinocchio',
    'test_robot_motions',
    'test_dynamics_rotors',
    'test_codegen_specialised',
    'test_dynamics_regressors',
    'test_importers_dh',
    'test_codegen_bits',
    'test_nodes_faults',
    'test_nodes_fuzz',
    'test_nodes_envelope',
    'test_tools_demo',
    'test_nodes_rejoin',
    'test_nodes_feedforward',
    'test_nodes_torque_controller',
    'test_nodes_controller_state',
    'test_nodes_crash',
    'test_nodes_start_up',
    'test_nodes_description',
)
"""Files that take longest run first: no process of xdist is left with a long one at the end."""

UNMEASURED = (
    'test_nodes_activation',
    'test_nodes_coupled',
    'test_nodes_faults',
    'test_nodes_fleet',
    'test_nodes_graph_fuzz',
    'test_nodes_guarded',
    'test_nodes_load_first',
    'test_nodes_rate_limit',
    'test_nodes_rejoin',
    'test_nodes_security_policy',
    'test_nodes_start_time',
    'test_nodes_start_tolerance',
    'test_nodes_start_up',
    'test_tools_demo',
)
"""Files whose node processes pass no line that those of other files do not: measuring takes a third of a start."""

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


def pytest_configure(config):
    config.addinivalue_line('markers', 'exhaustive: part of a long matrix, run with --exhaustive only')
    seed = config.option.random_order
    if hasattr(config, 'workerinput'):
        seed = config.workerinput['random_order']
    config.stash[SEED] = SystemRandom().randrange(1, 1 << 32) if seed == 0 else seed


@pytest.fixture(scope='module', autouse=True)
def measured(request):
    """Measure the coverage of a file's node processes, or not."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem in UNMEASURED:
            patch.delenv('MEASURE_NODES', raising=False)
        yield


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
    if not config.option.exhaustive:
        rare = [item for item in items if item.get_closest_marker('exhaustive')]
        config.hook.pytest_deselected(items=rare)
        items[:] = [item for item in items if not item.get_closest_marker('exhaustive')]
    files: dict = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files)
    if config.stash[SEED] is None:
        order.sort(key=lambda path: LONGEST.index(path.stem) if path.stem in LONGEST else len(LONGEST))
    else:
        random = Random(config.stash[SEED])
        random.shuffle(order)
        for path in order:
            random.shuffle(files[path])
    items[:] = [item for path in order for item in files[path]]
