"""The model of a robot: records, joint types, inertial parameters, editing, audit (NumPy, not compiled)."""
