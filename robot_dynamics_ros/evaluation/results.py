"""Types of results: arrays with their shapes and units."""

from typing import Annotated

import numpy as np

Torques = Annotated[np.ndarray, '(..., nv)', 'N m (prismatic: N).']
Accelerations = Annotated[np.ndarray, '(..., nv)', 'rad/s^2 (prismatic: m/s^2).']
Velocities = Annotated[np.ndarray, '(..., nv)', 'rad/s (prismatic: m/s).']
Currents = Annotated[np.ndarray, '(..., nv)', 'A.']
Position = Annotated[np.ndarray, '(nq,)', 'rad (prismatic: m).']
Positions = Annotated[np.ndarray, '(..., nq)', 'rad (prismatic: m).']
Steps = Annotated[np.ndarray, '(..., nv)', 'rad (prismatic: m).']
Energy = Annotated[np.ndarray, '(...)', 'J.']
MassMatrix = Annotated[np.ndarray, '(..., nv, nv)', 'kg m^2 (prismatic: kg).']
InverseMassMatrix = Annotated[np.ndarray, '(..., nv, nv)', '1/(kg m^2) (prismatic: 1/kg).']
CoriolisMatrix = Annotated[np.ndarray, '(..., nv, nv)', 'N m s/rad (prismatic: N s/m).']
TorqueDerivatives = Annotated[
    np.ndarray,
    '(..., 3, nv, nv)',
    'N m/rad, N m s/rad, kg m^2 (prismatic: N for N m, m for rad). Column k belongs to velocity k.',
]
AccelerationDerivatives = Annotated[
    np.ndarray,
    '(..., 3, nv, nv)',
    '1/s^2, 1/s, 1/(kg m^2) (prismatic: rad for 1, m for rad). Column k belongs to velocity k.',
]
TorqueRegressor = Annotated[np.ndarray, '(..., nv, 10 n)', 'N m (prismatic: N) per kg, kg m, kg m^2.']
EnergyRegressor = Annotated[np.ndarray, '(..., 10 n)', 'J per kg, kg m, kg m^2.']
Pose = Annotated[np.ndarray, '(..., 4, 4)', 'Homogeneous transformation; translation in m.']
Velocity = Annotated[np.ndarray, '(..., 6)', 'rad/s, m/s.']
Acceleration = Annotated[np.ndarray, '(..., 6)', 'rad/s^2, m/s^2.']
Jacobian = Annotated[np.ndarray, '(..., 6, nv)', 'rad, m per rad (prismatic: m).']
Point = Annotated[np.ndarray, '(..., 3)', 'm, in the base frame.']
PointJacobian = Annotated[np.ndarray, '(..., 3, nv)', 'm per rad (prismatic: m).']
Momentum = Annotated[np.ndarray, '(..., 6)', 'N m s, N s.']
MomentumMatrix = Annotated[np.ndarray, '(..., 6, nv)', 'N m s, N s per rad/s (prismatic: m/s).']
Wrench = Annotated[np.ndarray, '(..., 6)', 'N m, N.']
FrameWrench = Annotated[np.ndarray, '(..., 6 F)', 'N m, N of each frame.']
FrameInertia = Annotated[np.ndarray, '(..., 6 F, 6 F)', 'kg m^2 (angular), kg m (coupling), kg (linear).']
InverseFrameInertia = Annotated[
    np.ndarray, '(..., 6 F, 6 F)', '1/(kg m^2) (angular), 1/(kg m) (coupling), 1/kg (linear).'
]
ConsistentInverse = Annotated[np.ndarray, '(..., nv, 6 F)', 'rad (prismatic: m) per rad, m.']
TorqueProjector = Annotated[np.ndarray, '(..., nv, nv)', 'N m (prismatic: N) per N m (prismatic: N).']
Residuals = Annotated[np.ndarray, '(..., m)', 'rad for rotations, m for others; per s, s^2. Closures, then couplings.']
LoopJacobian = Annotated[np.ndarray, '(..., m, nv)', 'rad, m per rad (prismatic: m).']
LoopForces = Annotated[np.ndarray, '(..., m)', 'N m for rotations, N for others. Closures, then couplings.']
Mobility = Annotated[np.ndarray, '(...)', 'Integers, without unit.']
