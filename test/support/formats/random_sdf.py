"""Random arms in SDFormat: poses, axes and inertials in every form that states them, of every version."""

import numpy as np
from scipy.spatial.transform import Rotation

KINDS = ('revolute', 'continuous', 'prismatic', 'screw')


def random_sdf(seed: int, version: str = '1.11', count: int = 6) -> str:
    """Return a tree of ``count`` joints on the world; from 1.7 on with frames and quaternions."""
    rng = np.random.default_rng(seed)
    newest = tuple(map(int, version.split('.'))) >= (1, 7)
    known = ['__model__']  # frames that poses may be relative to
    parts, links = [], []

    def pose(default: str, names) -> str:
        attributes = {}
        relative = rng.choice([*names, '']) if newest else ''
        if relative:
            attributes['relative_to'] = relative
        values = [*rng.uniform(-0.4, 0.4, 3)]
        turned = rng.uniform(-2.0, 2.0, 3)
        form = rng.integers(3) if newest else 0
        if form == 1:
            attributes['degrees'] = 'true'
            values += [*np.degrees(turned)]
        elif form == 2:
            attributes['rotation_format'] = 'quat_xyzw'
            values += [*Rotation.from_rotvec(turned).as_quat()]
        else:
            values += [*turned]
        shown = ''.join(f' {name}="{value}"' for name, value in attributes.items())
        return f'<pose{shown}>{" ".join(map(repr, map(float, values)))}</pose>'

    def inertial() -> str:
        mass, moments = rng.uniform(0.5, 3.0), np.sort(rng.uniform(0.05, 0.1, 3))
        R = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
        J = R @ np.diag(moments) @ R.T
        entries = zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), J[np.triu_indices(3)], strict=True)
        inertia = ''.join(f'<{tag}>{float(value)!r}</{tag}>' for tag, value in entries)
        return f'<inertial><mass>{mass}</mass>{pose("", [])}<inertia>{inertia}</inertia></inertial>'

    for k in range(count + 1):
        parts.append(f'<link name="link_{k}">{pose("", known)}{inertial() if k != 2 else ""}</link>')
        links.append(f'link_{k}')
        known.append(f'link_{k}')
        if newest and rng.random() < 0.5:
            attached = rng.choice(links)
            parts.append(f'<frame name="frame_{k}" attached_to="{attached}">{pose("", known)}</frame>')
            known.append(f'frame_{k}')
    parts.append('<joint name="mount" type="fixed"><parent>world</parent><child>link_0</child></joint>')
    for k in range(1, count + 1):
        kind = KINDS[rng.integers(len(KINDS))] if newest else ('revolute', 'prismatic')[rng.integers(2)]
        expressed = ''
        if newest and rng.random() < 0.6:
            expressed = f' expressed_in="{rng.choice(known)}"'
        of_model = version in ('1.5', '1.6') and rng.random() < 0.5
        axis = ' '.join(map(repr, map(float, rng.normal(size=3))))
        spring = rng.random() < 0.5 and kind not in ('screw',)
        more = f'<spring_stiffness>{rng.uniform(1, 9)}</spring_stiffness><spring_reference>0.3</spring_reference>'
        parts.append(
            f'<joint name="joint_{k}" type="{kind}"><parent>link_{rng.integers(k)}</parent><child>link_{k}</child>'
            f'{pose("", known)}<axis><xyz{expressed}>{axis}</xyz>'
            f'{"<use_parent_model_frame>1</use_parent_model_frame>" if of_model else ""}'
            f'<limit><lower>-2</lower><upper>{1 + k}</upper><effort>{10 * k}</effort><velocity>{k}</velocity></limit>'
            f'<dynamics><damping>{0.2 * k}</damping>{more if spring else ""}</dynamics></axis>'
            f'{f"<screw_thread_pitch>{0.1 * k}</screw_thread_pitch>" if kind == "screw" else ""}'
            f'<drake:rotor_inertia>{0.01 * k}</drake:rotor_inertia><drake:gear_ratio>{k}</drake:gear_ratio></joint>'
        )
        known += [f'joint_{k}'] if newest else []
    attributes = f' placement_frame="{rng.choice(known[1:])}"' if newest else ''
    return (
        f'<?xml version="1.0"?><sdf version="{version}"><model name="arm"{attributes}>{pose("", [])}'
        f'{"".join(parts)}</model></sdf>'
    )
