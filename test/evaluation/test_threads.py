"""A robot is used by several threads and processes."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen import object_files
from robot_dynamics_ros.codegen.object_files import lanes
from robot_dynamics_ros.jit import decorators
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.rnea import rnea

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')


AFTER_A_THREAD = """
import threading
import numpy as np
from robot_dynamics_ros import Robot

robot = Robot.named('aubo_i5').with_binding('generic')
states = np.random.default_rng(7).normal(size=(3, 200, robot.nv))
first = threading.Thread(target=robot.inverse_dynamics, args=states[:, 0])
first.start()
first.join()
others = [np.full(size, np.nan) for size in (7, 36, 42, 49, 63, 100, 252) * 200]
expected = Robot.named('aubo_i5').with_binding('generic').inverse_dynamics(*states)
assert (robot.inverse_dynamics(*states) == expected).all()
assert all(np.isnan(other).all() for other in others)
"""


def test_code_chosen_by_a_thread_serves_others_after_its_end():
    subprocess.run([sys.executable, '-c', AFTER_A_THREAD], check=True, timeout=120)


IN_A_CHILD = """
import os
import signal
import threading
import time
import numpy as np
from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen import object_files
from robot_dynamics_ros.codegen.machine_code import MachineCode
from robot_dynamics_ros.evaluation.tiered_compilation import SMALLEST_PART

robot = Robot.named('aubo_i5').compiled('gravity_torque')
many = np.random.default_rng(7).normal(size=(4 * SMALLEST_PART, robot.nv))
expected = robot.gravity_torque(many)
constant = 'define double @f() {{ ret double {} }}'
text = '\\n'.join(constant.format(float(k)).replace('@f', f'@f{k}') for k in range(2_000))
forked = threading.Event()


def compile_until_forked():
    while not forked.is_set():
        with object_files.LLVM:
            object_files.compiled(text)
        time.sleep(0.01)  # or this thread could take the lock again at once, for ever


busy = threading.Thread(target=compile_until_forked)
busy.start()
while object_files.LLVM.acquire(blocking=False):
    object_files.LLVM.release()
child = os.fork()
if not child:
    signal.alarm(30)
    with object_files.LLVM:
        code = MachineCode(object_files.compiled(constant.format(1.0)))
    same = code.address('f') and (robot.gravity_torque(many) == expected).all()
    os._exit(0 if same else 1)
forked.set()
busy.join()
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_process_computes_many_states_and_compiles():
    subprocess.run([sys.executable, '-c', IN_A_CHILD], check=True, timeout=120)


FORKS = """
import os
import threading
import time
from robot_dynamics_ros.codegen.object_files import LLVM

holding, forking = threading.Event(), threading.Event()


def work():
    with LLVM:
        {imports}
        holding.set()
        forking.wait()
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            {locks}


worker = threading.Thread(target=work)
worker.start()
holding.wait()
os.register_at_fork(before=forking.set)  # hooks before a fork run in reverse order of registration
child = os.fork()
if not child:
    os._exit(0)
worker.join()
os.waitpid(child, 0)
"""


def test_threads_make_python_functions_of_kernels_without_a_lock(monkeypatch):
    """Or a child that is forked meanwhile would wait for it for ever."""
    begun, end, made = threading.Event(), threading.Event(), decorators.with_fused_multiply_adds

    def slow(function):
        begun.set()
        assert end.wait(60.0)
        return made(function)

    one, other = decorators.Kernel(rnea.source), decorators.Kernel(crba.source)
    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(decorators, 'with_fused_multiply_adds', slow)
        waiting = pool.submit(lambda: one.py_func)
        begun.wait()
        monkeypatch.setattr(decorators, 'with_fused_multiply_adds', made)
        try:
            assert pool.submit(lambda: other.py_func).result(timeout=30.0)
        finally:
            end.set()
        assert waiting.result()


@pytest.mark.parametrize(
    ('imports', 'locks'),
    [
        ('import logging', "logging.getLogger('robot_dynamics_ros')"),
        (
            'from robot_dynamics_ros.jit import fused_multiply_add; from robot_dynamics_ros.kernels.rnea import rnea',
            'fused_multiply_add.with_fused_multiply_adds(rnea.source)',
        ),
    ],
    ids=['logging', 'rewriting sources'],
)
def test_a_fork_waits_for_llvm_before_it_takes_a_lock_that_compiling_takes(imports, locks):
    subprocess.run([sys.executable, '-c', FORKS.format(imports=imports, locks=locks)], check=True, timeout=60)


AT_ONCE = """
import sys
import threading
import numpy as np
from robot_dynamics_ros import Robot

sys.setswitchinterval(1e-6)
together, robots = threading.Barrier(8), []

def first_call():
    together.wait()
    robots.append(Robot.named('aubo_i5').with_binding(BINDING))
    results.append(robots[-1].gravity_torque(np.ones(6)))

results = []
threads = [threading.Thread(target=first_call) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
results += [robot.gravity_torque(np.ones(6)) for robot in robots]
assert len(results) == 16 and all((result == results[0]).all() for result in results)
"""


@pytest.mark.parametrize('binding', ['generic', 'specialised'])
def test_threads_may_make_the_first_robots_of_a_process_at_once(binding):
    text = AT_ONCE.replace('BINDING', repr(binding))
    subprocess.run([sys.executable, '-c', text], check=True, timeout=120)


AFTER_THE_END = """
import threading
import numpy as np
from support import random_trees as trees
from robot_dynamics_ros import Robot
from robot_dynamics_ros.evaluation import tiered_compilation

tiered_compilation.BREAK_EVEN = 100
joints = trees.random_joints(int(np.random.default_rng().integers(1 << 30)), count=3)
robot = Robot(trees.Model.of('never seen', trees.BASE, joints))
other = robot.with_binding('generic')
ready = robot.compiled('mass_matrix')
other.gravity_torque(np.zeros(robot.nq))
main = threading.main_thread()

def work():
    main.join()
    one, many = np.ones(robot.nq), np.ones((4 * tiered_compilation.SMALLEST_PART, robot.nq))
    for _ in range(300):
        assert (robot.gravity_torque(one) == other.gravity_torque(one)).all()
    assert (ready.mass_matrix(many) == other.mass_matrix(one)).all()
    print('done')

threading.Thread(target=work).start()
"""


def test_a_thread_may_go_on_after_the_main_thread():
    paths = os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)}
    command = [sys.executable, '-c', AFTER_THE_END]
    result = subprocess.run(command, check=False, timeout=120, capture_output=True, text=True, env=paths)
    assert (result.stdout, result.returncode) == ('done\n', 0), result.stderr


@pytest.mark.parametrize('binding', ['generic', 'specialised'])
def test_another_gravity_does_not_wait_for_a_compiler(binding):
    robot, q = Robot.named('aubo_i5').with_binding(binding), np.ones(6)
    expected = robot.gravity_torque(q)
    robot.gravity_torque(np.ones((lanes(), 6)))
    with ThreadPoolExecutor(1) as other, object_files.LLVM:  # as if this thread compiled
        turned = other.submit(lambda: robot.with_gravity(-robot.gravity).gravity_torque(q))
        np.testing.assert_allclose(turned.result(timeout=10.0), -expected)
