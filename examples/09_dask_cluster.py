"""The largest torques in 200,000 random states of the AUBO-i5, computed in chunks by the processes of a Dask cluster.

To use several machines, replace the LocalCluster by a Client with the address of their scheduler.
"""

import sys

from robot_dynamics_ros import Robot

try:
    import dask
    import dask.array as da
    from dask.distributed import Client, LocalCluster
except ImportError as error:
    sys.exit(f"this example needs dask: pip install 'dask[array,distributed]' ({error})")

COUNT, CHUNK, SLICE = 200_000, 50_000, 1000


def main():
    robot = Robot.named('aubo_i5').compiled(threads=1)  # one thread per worker

    # arrays of chunks: nothing is computed yet, and a worker later has a few chunks in memory at a time
    random = da.random.default_rng(0)
    q, qd, qdd = (random.normal(size=(COUNT, robot.nv), chunks=(CHUNK, robot.nv)) for _ in range(3))
    tau = da.apply_gufunc(robot.inverse_dynamics, '(n),(n),(n)->(n)', q, qd, qdd, output_dtypes=float)
    wanted = abs(tau).max(axis=0), tau[:SLICE], q[:SLICE], qd[:SLICE], qdd[:SLICE]

    workers = {'n_workers': 2, 'threads_per_worker': 1, 'host': '127.0.0.1', 'dashboard_address': None}
    with LocalCluster(**workers) as cluster, Client(cluster):
        largest, torques, *states = dask.compute(*wanted)

    for name, torque in zip(robot.joint_names, largest, strict=True):
        print(f'{name:20}{torque:10.2f} N m')
    same = torques.tobytes() == robot.inverse_dynamics(*states).tobytes()
    print(f'the first {SLICE} are bit for bit those of this process: {same}')


if __name__ == '__main__':  # the workers import this file
    main()
