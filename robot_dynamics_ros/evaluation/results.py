"""What quantities are: arrays with their shapes and units."""

from typing import Annotated

import numpy as np

Torques = Annotated[np.ndarray, '(..., nv)', 'N m (prismatic: N).']
Accelerations = Annotated[np.ndarray, '(..., nv)', 'rad/s^2 (prismatic: m/s^2).']
Currents = Annotated[np.ndarray, '(..., nv)', 'A.']
Position = Annotated[np.ndarray, '(nq,)', 'rad (prismatic: m).']
Positions = Annotated[np.ndarray, '(..., nq)', 'rad (prismatic: m).']
Steps = Annotated[np.ndarray, '(..., nv)', 'rad (prismatic: m).']
Energy = Annotated[np.ndarray, '(...)', 'J.']
MassMatrix = Annotated[np.ndarray, '(..., nv, nv)', 'kg m^2 (prismatic: kg).']
InverseMassMatrix = Annotated[np.ndarray, '(..., nv, nv)', '1/(kg m^2) (prismatic: 1/kg).']
CoriolisMatrix = Annotated[np.ndarray, '(..., nv, nv)', 'N m s/rad (prismatic: N s/m).']
Derivatives = Annotated[
    np.ndarray, '(..., 3, nv, nv)', 'By the three arguments, per unit of each; column k is of a step of velocity k.'
]
TorqueRegressor = Annotated[np.ndarray, '(..., nv, 10 n)', 'N m (N) per unit of a parameter.']
EnergyRegressor = Annotated[np.ndarray, '(..., 10 n)', 'J per unit of a parameter.']
Pose = Annotated[np.ndarray, '(..., 4, 4)', 'Homogeneous transform, m.']
Velocity = Annotated[np.ndarray, '(..., 6)', 'rad/s, m/s.']
Acceleration = Annotated[np.ndarray, '(..., 6)', 'rad/s^2, m/s^2.']
Jacobian = Annotated[np.ndarray, '(..., 6, nv)', 'rad, m per unit of q.']
Point = Annotated[np.ndarray, '(..., 3)', 'm, in the base frame.']
PointJacobian = Annotated[np.ndarray, '(..., 3, nv)', 'm per unit of q.']
Momentum = Annotated[np.ndarray, '(..., 6)', 'N m s, N s.']
MomentumMatrix = Annotated[np.ndarray, '(..., 6, nv)', 'N m s, N s per unit of qd.']
Wrench = Annotated[np.ndarray, '(..., 6)', 'N m, N.']
FrameInertia = Annotated[np.ndarray, '(..., 6, 6)', 'kg m^2, kg m, kg.']
ConsistentInverse = Annotated[np.ndarray, '(..., nv, 6)', 'Unit of q per rad, m.']
