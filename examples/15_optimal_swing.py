"""A swing from rest to rest with a payload, within the torque limits: direct transcription, solved by CasADi and IPOPT.

The unknowns are positions and velocities at 21 knots, and torques between them. The equation of motion holds at the
midpoint of each interval. CasADi derives the first and second derivatives from ``robot.casadi``.
"""

import casadi
import numpy as np

from robot_dynamics_ros import Payload, Robot

robot = Robot.named('aubo_i5')
payload, intervals, duration, n = Payload(4.0, (0.0, 0.0, 0.08)), 20, 0.9, 6
h = duration / intervals
start, end = np.radians([0, -45, 60, 0, 30, 0]), np.radians([80, 20, 40, 30, -20, 0])
inverse_dynamics = robot.casadi('inverse_dynamics', inputs=['payload'])

problem = casadi.Opti()
q, qd, tau = problem.variable(n, intervals + 1), problem.variable(n, intervals + 1), problem.variable(n, intervals)
middle, mean_qd, qdd = (q[:, 1:] + q[:, :-1]) / 2, (qd[:, 1:] + qd[:, :-1]) / 2, (qd[:, 1:] - qd[:, :-1]) / h
problem.subject_to(q[:, 1:] - q[:, :-1] == h * mean_qd)
parameters = casadi.repmat(casadi.DM(payload.ten_parameters), 1, intervals)
problem.subject_to(inverse_dynamics.map(intervals)(middle, mean_qd, qdd, parameters) == tau)
for place, rest in ((0, start), (intervals, end)):
    problem.subject_to(q[:, place] == rest)
    problem.subject_to(qd[:, place] == 0.0)
limits = robot.limits
problem.subject_to(problem.bounded(limits.lower, q, limits.upper))
problem.subject_to(problem.bounded(-limits.velocity, qd, limits.velocity))
problem.subject_to(problem.bounded(-limits.effort, tau, limits.effort))
problem.minimize(0.5 * h * casadi.sumsqr(tau))
part = np.linspace(0.0, 1.0, intervals + 1)
problem.set_initial(q, start[:, None] + np.outer(end - start, part**2 * (3 - 2 * part)))
problem.solver('ipopt', {'print_time': False, 'ipopt.print_level': 0, 'ipopt.sb': 'yes'})
found = problem.solve()

states = [found.value(it).T for it in (middle, mean_qd, qdd)]
torques = robot.with_payload(payload).inverse_dynamics(*states)
error = np.abs(torques - found.value(tau).T).max()
print(f'torques against those of the robot with the payload: within 1e-6 N m: {error < 1e-6}')
share = np.abs(torques).max(axis=0) / limits.effort
print('largest torques as part of the limits:', ' '.join(f'{it:.2f}' for it in share))
print(f'cost {found.value(problem.f):.1f} N^2 m^2 s after {found.stats()["iter_count"]} iterations')
