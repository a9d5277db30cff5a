"""A robot is used by several threads and processes."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from robot_dynamics_ros.jit import decorators
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.rnea import rnea

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')


AFTER_A_THREAD = """
import threading
import numpy as np
from robot_dynamics_ros import Robot

robot = Robot.named('aubo_i5')
states = np.random.default_rng(7).normal(size=(3, 200, robot.nv))
first = threading.Thread(target=robot.inverse_dynamics, args=states[:, 0])
first.start()
first.join()
others = [np.full(size, np.nan) for size in (7, 36, 42, 49, 63, 100, 252) * 200]
expected = Robot.named('aubo_i5').inverse_dynamics(*states)
assert (robot.inverse_dynamics(*states) == expected).all()
assert all(np.isnan(other).all() for other in others)
"""


def test_code_chosen_by_a_thread_serves_others_after_its_end():
    subprocess.run([sys.executable, '-c', AFTER_A_THREAD], check=True, timeout=120)


IN_A_CHILD = """
import os
import signal
import numpy as np
from robot_dynamics_ros import Robot

robot = Robot.named('aubo_i5').compiled('gravity_torque')
many = np.random.default_rng(7).normal(size=(100_000, robot.nv))
expected = robot.gravity_torque(many)
child = os.fork()
if not child:
    signal.alarm(30)
    same = (robot.gravity_torque(many) == expected).all() and robot.mass_matrix(many[0]).all()
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_process_computes_many_states_and_compiles():
    subprocess.run([sys.executable, '-c', IN_A_CHILD], check=True, timeout=120)


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


AT_ONCE = """
import sys
import threading
import numpy as np
from robot_dynamics_ros import Robot

sys.setswitchinterval(1e-6)
together, robots = threading.Barrier(8), []

def first_call():
    together.wait()
    robots.append(CHOOSE(Robot.named('aubo_i5')))
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


@pytest.mark.parametrize('binding', ['generic', 'own'])
def test_threads_may_make_the_first_robots_of_a_process_at_once(binding):
    text = AT_ONCE.replace('CHOOSE', 'Robot.compiled' if binding == 'own' else '')
    subprocess.run([sys.executable, '-c', text], check=True, timeout=120)


AFTER_THE_END = """
import threading
import numpy as np
from support.robots import random_trees as trees
from robot_dynamics_ros import Robot

joints = trees.random_joints(int(np.random.default_rng().integers(1 << 30)), count=3)
robot = Robot(trees.Model.of('never seen', trees.BASE, joints))
own = robot.compiled('mass_matrix')
main = threading.main_thread()

def work():
    main.join()
    one, many = np.ones(robot.nq), np.ones((100_000, robot.nq))
    assert (own.mass_matrix(many) == robot.mass_matrix(one)).all()
    assert (own.gravity_torque(one) == robot.gravity_torque(one)).all()
    print('done')

threading.Thread(target=work).start()
"""


def test_a_thread_may_go_on_after_the_main_thread():
    paths = os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)}
    command = [sys.executable, '-c', AFTER_THE_END]
    result = subprocess.run(command, check=False, timeout=120, capture_output=True, text=True, env=paths)
    assert (result.stdout, result.returncode) == ('done\n', 0), result.stderr
