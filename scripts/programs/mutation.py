"""Runs the tests against the mutants of mutants.py, one at a time; called by scripts/mutation.

Each mutant has a process, forked from this one, which has imported everything but the package. It runs the test files
that execute the changed line, those of the module first, until a test fails. A mutant with which a test file cannot
be imported is counted separately, since it shows nothing about the tests.
"""

import argparse
import importlib.util
import os
import pickle
import random
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import NamedTuple

# Imports of tests and package, loaded once.
import coverage
import hypothesis  # noqa: F401
import mujoco  # noqa: F401
import numba.extending  # noqa: F401
import pytest
import scipy.optimize  # noqa: F401
import yaml  # noqa: F401
from mutants import Mutant, changed, mutants

PACKAGE = 'robot_dynamics_ros'
FOLDERS = {
    'control': ('control',),
    'formats': ('formats', 'model'),
    'model': ('formats', 'model', 'robot'),
}
"""Folders of the package, each with the test folders that have to detect its mutants."""
LEAST = 0.85
"""Smallest share of detected mutants."""
LONG = 1.0
"""CPU s; a test that is slower under coverage, or that fails without compiled kernels, is left out."""
PATIENCE = 10.0 * LONG
"""s that a test may take with a mutant; then it is in an endless loop, which counts as detected."""
STUCK = 3.0 * PATIENCE
"""CPU s, beside five times the duration of the tests, after which a process is killed: no signal ends its loop."""
MEMORY = 8 << 30
"""Largest address space of a process, bytes, so that a huge array fails without harm to the machine."""
OPTIONS = [
    *('-q', '-p', 'no:cacheprovider', '-m', 'not compiled and not slow', '--continue-on-collection-errors'),
    f'--timeout={PATIENCE}',
]
IMPORT = 'import'
"""Used instead of a test file for lines that are executed on import."""
UNDETECTED, DETECTED, IMPORT_FAILED, KILLED, UNTRIED = range(5)
TEXTS = {UNDETECTED: 'not detected', DETECTED: 'detected', IMPORT_FAILED: 'fails on import', KILLED: 'endless loop'}
"""Outcome of a mutant; the tests of one with an endless loop end at the time limit."""


class Survey(NamedTuple):
    """Result of the tests without a mutant."""

    files: dict[tuple[str, int], set[str]]  # test files by the line that they execute
    seconds: dict[str, float]  # by test file
    left_out: list[str]  # tests


class _Surveyor:
    """Sets the coverage context to the test file, and records failures and durations."""

    def __init__(self, measured: coverage.Coverage):
        self._measured = measured
        self.seconds: dict[str, float] = defaultdict(float)
        self.left_out: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectstart(self, collector):
        if isinstance(collector, pytest.Module):
            self._measured.switch_context(IMPORT)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._measured.switch_context(item.location[0])
        began = time.process_time()
        result = yield
        seconds = time.process_time() - began
        if seconds > LONG:
            self.left_out.append(item.nodeid)
        else:
            self.seconds[item.location[0]] += seconds
        return result

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.left_out.append(report.nodeid)


class _Detector:
    """Stops the tests at the first failure and records the outcome."""

    def __init__(self):
        self.outcome = UNDETECTED

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcome = IMPORT_FAILED

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.failed:
            self.outcome = KILLED if 'Timeout (>' in report.longreprtext else DETECTED
            item.session.shouldstop = 'detected'
        return report


class _Loader(SourceFileLoader):
    """Loads a mutated module."""

    def __init__(self, mutant: Mutant):
        self._mutant = mutant
        super().__init__(_module(mutant.path), mutant.path)

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_code(self, fullname):
        return changed(self._mutant)


def main() -> int:
    """Run the mutants that the command line selects; return 1 if too few are detected."""
    parser = argparse.ArgumentParser(prog='scripts/mutation', description=__doc__.splitlines()[0])
    parser.add_argument('folders', nargs='*', help=f'among {" ".join(FOLDERS)}; default: all')
    parser.add_argument('--sample', type=int, help='size of the random sample of each folder; default: all mutants')
    parser.add_argument('--seed', type=int, default=0, help='seed of the sample')
    options = parser.parse_args()
    if set(options.folders) - set(FOLDERS):
        parser.error(f'expected folders among {" ".join(FOLDERS)}, got {" ".join(options.folders)}')
    return max([_judge(folder, options.sample, options.seed) for folder in options.folders or FOLDERS])


def _judge(folder: str, sample: int | None, seed: int) -> int:
    """Run the mutants of a folder; return 1 if too few are detected."""
    sources = sorted(Path(PACKAGE, folder).rglob('*.py'))
    tests = sorted(str(path) for name in FOLDERS[folder] for path in Path('test', name).rglob('test_*.py'))
    tried = [mutant for source in sources for mutant in mutants(str(source))]
    total = len(tried)
    if sample is not None and sample < total:
        tried = random.Random(seed).sample(tried, sample)
    survey = _surveyed(folder, tests)
    _check(survey)
    print(f'{folder}: {len(tried)} of {total} mutants, seed {seed}, {len(survey.left_out)} tests left out', flush=True)
    became: dict[str, Counter] = defaultdict(Counter)  # by path
    for mutant, outcome in _tried(tried, survey):
        became[mutant.path][outcome] += 1
        if outcome != DETECTED:
            print(f'  {TEXTS[outcome]}: {mutant}', flush=True)
    for path, counts in sorted(became.items()):
        print(f'  {counts[DETECTED] + counts[KILLED]:4} of {counts.total() - counts[IMPORT_FAILED]:4}  {path}')
    counts = sum(became.values(), Counter())
    share = (counts[DETECTED] + counts[KILLED]) / (counts.total() - counts[IMPORT_FAILED])
    apart = f'{counts[KILLED]} of them in an endless loop; {counts[IMPORT_FAILED]} that fail on import are not counted'
    print(f'{folder}: {share:.1%} detected, {LEAST:.0%} needed; {apart}', flush=True)
    return int(share < LEAST)


def _check(survey: Survey) -> None:
    """Raise SystemExit where no test passes without a mutant, or a test file fails when it runs alone."""
    if not survey.seconds:
        raise SystemExit('no test passes without a mutant')
    for file in sorted(survey.seconds):
        if os.waitstatus_to_exitcode(os.waitpid(_forked(lambda file=file: _outcome([file], survey)), 0)[1]):
            raise SystemExit(f'{file}: fails without a mutant')


def _surveyed(folder: str, tests: list[str]) -> Survey:
    """Return executed lines, failures and durations of the tests without a mutant."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, 'survey')

        def survey() -> int:
            measured = coverage.Coverage(data_file=None, include=[f'{PACKAGE}/{folder}/*'], config_file=False)
            surveyor = _Surveyor(measured)
            measured.start()
            pytest.main([*OPTIONS, *tests], plugins=[surveyor])
            measured.stop()
            files = {}
            data = measured.get_data()
            for path in data.measured_files():
                for line, contexts in data.contexts_by_lineno(path).items():
                    files[os.path.relpath(path), line] = set(contexts) - {''}
            file.write_bytes(pickle.dumps(Survey(files, dict(surveyor.seconds), surveyor.left_out)))
            return 0

        pid = _forked(survey)
        if os.waitpid(pid, 0)[1]:
            raise SystemExit(f'{folder}: its tests do not run without a mutant')
        return pickle.loads(file.read_bytes())


def _tried(tried: list[Mutant], survey: Survey):
    """Yield each mutant with its outcome; as many run at a time as there are cores."""
    waiting, running = list(reversed(tried)), {}
    while waiting or running:
        while waiting and len(running) < len(os.sched_getaffinity(0)):
            mutant = waiting.pop()
            running[_forked(lambda mutant=mutant: _verdict(mutant, survey))] = mutant
        pid, status = os.wait()
        code, mutant = os.waitstatus_to_exitcode(status), running.pop(pid)
        outcome = KILLED if code < 0 else code
        if outcome not in TEXTS:
            raise SystemExit(f'{mutant}: its process failed, exit code {code}')
        yield mutant, outcome


def _verdict(mutant: Mutant, survey: Survey) -> int:
    """Return the outcome of a mutant, in a process that has not imported the package yet."""
    own = f'test_{Path(mutant.path).stem}'
    found = set().union(*(survey.files.get((mutant.path, line), ()) for line in (mutant.line, *mutant.executed_with)))
    if IMPORT in found:
        found = set().union(*(files for (path, _), files in survey.files.items() if path == mutant.path)) - {IMPORT}
    files = sorted(found, key=lambda file: (Path(file).stem != own, survey.seconds.get(file, 0.0)))
    if not files:
        return UNDETECTED
    limit = int(STUCK + 5.0 * sum(survey.seconds.get(file, 0.0) for file in files))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.meta_path.insert(0, _Loader(mutant))
    return _outcome(files, survey)


def _outcome(files: list[str], survey: Survey) -> int:
    """Run test files; return the outcome."""
    detector = _Detector()
    pytest.main([*OPTIONS, *(f'--deselect={test}' for test in survey.left_out), *files], plugins=[detector])
    return detector.outcome


def _forked(action) -> int:
    """Return the process id of a fork that runs ``action()`` without output and exits with its result."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = UNTRIED
    try:
        assert not any(name.split('.')[0] == PACKAGE for name in sys.modules)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        status = action()
    finally:
        os._exit(status)


def _module(path: str) -> str:
    """Return the name of the module in a file."""
    return '.'.join(Path(path).with_suffix('').parts)


if __name__ == '__main__':
    sys.exit(main())
