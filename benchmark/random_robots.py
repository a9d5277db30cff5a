"""Random robots as URDF text: trees that no cache knows."""

import secrets

import numpy as np


def random_urdf(joints: int, seed: int | None = None) -> str:
    """Return a URDF with random geometry and inertias; by default one that has never been seen."""
    random = np.random.default_rng(secrets.randbits(64) if seed is None else seed)
    parts = ['<robot name="random"><link name="link0"/>']
    for i in range(1, joints + 1):
        # at most five links back: a tree with long limbs
        parent = int(random.integers(max(0, i - 5), i)) if random.random() < 0.2 else i - 1
        kind = 'prismatic' if random.random() < 0.1 else 'revolute'
        mass, moments = random.uniform(0.2, 5.0), random.uniform(0.02, 0.03, 3)  # a triangle for certain
        parts.append(f"""
<link name="link{i}"><inertial><origin xyz="{numbers(random.uniform(-0.1, 0.1, 3))}"/><mass value="{mass!r}"/>
  <inertia ixx="{moments[0]}" iyy="{moments[1]}" izz="{moments[2]}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="joint{i}" type="{kind}"><parent link="link{parent}"/><child link="link{i}"/>
  <origin xyz="{numbers(random.uniform(-0.3, 0.3, 3))}" rpy="{numbers(random.uniform(-3.0, 3.0, 3))}"/>
  <axis xyz="{numbers(random.normal(size=3))}"/><limit lower="-3" upper="3" effort="100" velocity="3"/></joint>""")
    return ''.join(parts) + '</robot>'


def numbers(vector) -> str:
    return ' '.join(repr(float(value)) for value in vector)
