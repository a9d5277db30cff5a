"""Tries the mistakes of mutants.py, one at a time; scripts/mutation is the way to call it.

Each is tried in a process of its own, forked from this one, which has loaded everything but the package. There the
test files run that execute the changed line, those of the module first, until a test fails. A mistake for which no
test fails, but a file of tests cannot even be loaded, is told apart and proves nothing of the tests.
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

# What tests and package import, loaded once.
import coverage
import defusedxml.ElementTree  # noqa: F401
import hypothesis  # noqa: F401
import mujoco  # noqa: F401
import numba.extending  # noqa: F401
import pytest
import scipy.optimize  # noqa: F401
import yaml  # noqa: F401
from mutants import Mutant, changed, mutants

PACKAGE = 'robot_dynamics_ros'
FOLDERS = {'control': ('control',), 'formats': ('formats', 'model'), 'model': ('formats', 'model')}
"""Folders of the package, each with those of the tests that have to notice mistakes in it."""
LEAST = 0.85
"""Share of mistakes that has to be noticed."""
PATIENCE = 30
"""CPU s on top of five times what the tests take: a loop without an end is noticed too."""
MEMORY = 8 << 30
"""Bytes of a process's address space: an array without bounds fails, and the machine goes on."""
LONG = 1.0
"""CPU s; a test that takes longer, watched, or fails without compiled kernels is left out."""
OPTIONS = ['-q', '-p', 'no:cacheprovider', '-m', 'not compiled', '--continue-on-collection-errors']
IMPORT = 'import'
"""Stands for a test file where a line is executed before any test."""
NOT_NOTICED, NOTICED, NOT_LOADED, KILLED, UNTRIED = range(5)
TOLD = {NOT_NOTICED: 'not noticed', NOTICED: 'noticed', NOT_LOADED: 'fails before any test', KILLED: 'without an end'}
"""What becomes of a mistake: the tests of one without an end are killed when their time is over."""


class Survey(NamedTuple):
    """What the tests do where there is no mistake."""

    files: dict[tuple[str, int], set[str]]  # test files by the line that they execute
    seconds: dict[str, float]  # by test file
    left_out: list[str]  # tests


class _Surveyor:
    """Tells coverage which test file is at work, and remembers what fails and how long a file takes."""

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
        answer = yield
        taken = time.process_time() - began
        if taken > LONG:
            self.left_out.append(item.nodeid)
        else:
            self.seconds[item.location[0]] += taken
        return answer

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.left_out.append(report.nodeid)


class _Witness:
    """Ends the tests with the first that fails, and remembers what was seen."""

    def __init__(self):
        self.seen = NOT_NOTICED

    def pytest_collectreport(self, report):
        if report.failed:
            self.seen = NOT_LOADED

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.failed:
            self.seen = NOTICED
            item.session.shouldstop = 'noticed'
        return report


class _Loader(SourceFileLoader):
    """Loads a module with a mistake."""

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
    """Try the mistakes that the command line asks for; return 1 where too few are noticed."""
    parser = argparse.ArgumentParser(prog='scripts/mutation', description=__doc__.splitlines()[0])
    parser.add_argument('folders', nargs='*', help=f'among {" ".join(FOLDERS)}; all where none is named')
    parser.add_argument('--sample', type=int, help='mistakes of each folder, drawn by chance; all where left out')
    parser.add_argument('--seed', type=int, default=0, help='of the sample')
    options = parser.parse_args()
    if set(options.folders) - set(FOLDERS):
        parser.error(f'expected folders among {" ".join(FOLDERS)}, got {" ".join(options.folders)}')
    return max([_judge(folder, options.sample, options.seed) for folder in options.folders or FOLDERS])


def _judge(folder: str, sample: int | None, seed: int) -> int:
    """Try the mistakes in a folder; return 1 where too few are noticed."""
    sources = sorted(Path(PACKAGE, folder).glob('*.py'))
    tests = sorted(str(path) for name in FOLDERS[folder] for path in Path('test', name).glob('test_*.py'))
    tried = [mutant for source in sources for mutant in mutants(str(source))]
    total = len(tried)
    if sample is not None and sample < total:
        tried = random.Random(seed).sample(tried, sample)
    survey = _surveyed(folder, tests)
    _check(survey)
    print(f'{folder}: {len(tried)} of {total} mistakes, seed {seed}, {len(survey.left_out)} tests left out', flush=True)
    became: dict[str, Counter] = defaultdict(Counter)  # by path
    for mutant, outcome in _tried(tried, survey):
        became[mutant.path][outcome] += 1
        if outcome != NOTICED:
            print(f'  {TOLD[outcome]}: {mutant}', flush=True)
    for path, counts in sorted(became.items()):
        print(f'  {counts[NOTICED] + counts[KILLED]:4} of {counts.total() - counts[NOT_LOADED]:4}  {path}')
    counts = sum(became.values(), Counter())
    share = (counts[NOTICED] + counts[KILLED]) / (counts.total() - counts[NOT_LOADED])
    apart = f'{counts[KILLED]} of them without an end; {counts[NOT_LOADED]} that fail before any test not counted'
    print(f'{folder}: {share:.1%} noticed, {LEAST:.0%} needed; {apart}', flush=True)
    return int(share < LEAST)


def _check(survey: Survey) -> None:
    """Raise SystemExit for a test file that fails as it is when it runs alone: it would notice every mistake."""
    for file in sorted(survey.seconds):
        if os.waitstatus_to_exitcode(os.waitpid(_forked(lambda file=file: _outcome([file], survey)), 0)[1]):
            raise SystemExit(f'{file}: fails without a mistake')


def _surveyed(folder: str, tests: list[str]) -> Survey:
    """Return what the tests execute, fail and take as they are."""
    with tempfile.TemporaryFile() as file:

        def survey() -> int:
            measured = coverage.Coverage(data_file=None, include=[f'{PACKAGE}/{folder}/*'], config_file=False)
            surveyor = _Surveyor(measured)
            measured.start()
            pytest.main([*OPTIONS, f'--timeout={10 * LONG}', *tests], plugins=[surveyor])
            measured.stop()
            files = {}
            data = measured.get_data()
            for path in data.measured_files():
                for line, contexts in data.contexts_by_lineno(path).items():
                    files[os.path.relpath(path), line] = set(contexts) - {''}
            pickle.dump(Survey(files, dict(surveyor.seconds), surveyor.left_out), file)
            return 0

        pid = _forked(survey)
        if os.waitpid(pid, 0)[1]:
            raise SystemExit(f'{folder}: its tests could not be run')
        file.seek(0)
        return pickle.load(file)


def _tried(tried: list[Mutant], survey: Survey):
    """Yield each mutant with whether a test fails, as many at a time as there are cores."""
    waiting, running = list(reversed(tried)), {}
    while waiting or running:
        while waiting and len(running) < len(os.sched_getaffinity(0)):
            mutant = waiting.pop()
            running[_forked(lambda mutant=mutant: _verdict(mutant, survey))] = mutant
        pid, status = os.wait()
        code, mutant = os.waitstatus_to_exitcode(status), running.pop(pid)
        outcome = KILLED if code < 0 else code
        if outcome not in TOLD:
            raise SystemExit(f'{mutant}: could not be tried, exit code {code}')
        yield mutant, outcome


def _verdict(mutant: Mutant, survey: Survey) -> int:
    """Return what becomes of a mutant; here, in a process of its own, the package is yet to be imported."""
    own = f'test_{Path(mutant.path).stem}'
    found = set().union(*(survey.files.get((mutant.path, line), ()) for line in (mutant.line, *mutant.executed_with)))
    if IMPORT in found:
        found = set().union(*(files for (path, _), files in survey.files.items() if path == mutant.path)) - {IMPORT}
    files = sorted(found, key=lambda file: (Path(file).stem != own, survey.seconds.get(file, 0.0)))
    if not files:
        return NOT_NOTICED
    limit = int(PATIENCE + 5.0 * sum(survey.seconds.get(file, 0.0) for file in files))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.meta_path.insert(0, _Loader(mutant))
    return _outcome(files, survey)


def _outcome(files: list[str], survey: Survey) -> int:
    """Run tests; return what they notice."""
    witness = _Witness()
    pytest.main([*OPTIONS, *(f'--deselect={test}' for test in survey.left_out), *files], plugins=[witness])
    return witness.seen


def _forked(action) -> int:
    """Return the process that does ``action()``, silently, and ends with the status it returns."""
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
