"""What all tests share: a random order on request, garbage collection, and what a failed graph says."""

import gc
import sys
from random import Random, SystemRandom

import pytest

SEED = pytest.StashKey[int | None]()
"""Of the random order of this run."""


def pytest_addoption(parser):
    parser.addoption(
        '--random-order',
        metavar='SEED',
        type=int,
        help='shuffle files, and tests within a file, by a seed; 0 draws one, which is printed',
    )


def pytest_configure(config):
    seed = config.option.random_order
    if hasattr(config, 'workerinput'):
        seed = config.workerinput['random_order']
    config.stash[SEED] = SystemRandom().randrange(1, 1 << 32) if seed == 0 else seed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Name processes that cannot receive messages where a test with a ROS graph has failed: they are the reason."""
    report = yield
    started = sys.modules.get('support.nodes.started_processes')
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
    _freeze()
    # what Numba makes while it compiles lives long: looking at it so often took 9 % of that time (2026-11-27)
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Likewise what the tests of a file have left, such as what is compiled once."""
    if nextitem is None or nextitem.path != item.path:
        _freeze()


def _freeze():
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Send the seed to a process of xdist."""
    node.workerinput['random_order'] = node.config.stash[SEED]


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[SEED] is not None:
        terminalreporter.write_line(f'the order of this run: --random-order={config.stash[SEED]}')


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Shuffle the files; tests of a file stay together, for its fixtures."""
    if config.stash[SEED] is None:
        return
    files: dict = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    random, order = Random(config.stash[SEED]), list(files)
    random.shuffle(order)
    for path in order:
        random.shuffle(files[path])
    items[:] = [item for path in order for item in files[path]]
