"""Descriptions of the Python package robot_descriptions by name: of a stand-in for it, and of the real one offline."""

import re
import sys

from support.project.project_files import ROOT
from support.robots.facade_robots import TREE

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.formats.description import found_description
from robot_dynamics_ros.formats.public_descriptions import is_public_description
from robot_dynamics_ros.tools import check_model

XACRO = TREE.replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ').replace(
    'name="tree"', 'name="$(arg name)"'
)
MODULES = {
    'tree_description': "URDF_PATH, XACRO_PATH, MJCF_PATH = FOLDER + 'tree.urdf', FOLDER + 'no.xacro', FOLDER",
    'made_description': "XACRO_PATH, MJCF_PATH = FOLDER + 'tree.xacro', FOLDER\nXACRO_ARGS = {'name': 'made'}",
    'tree_mj_description': "MJCF_PATH = FOLDER + 'tree.xml'",
    'empty_description': '',
    'lost_description': "raise OSError('no route\\nto host')",
}


def forget(monkeypatch):
    """Let the next import of robot_descriptions look for it."""
    for name in [it for it in sys.modules if it.partition('.')[0] == 'robot_descriptions']:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Put a package with the attributes of robot_descriptions first, and return its folder of descriptions."""
    package, folder = tmp_path / 'robot_descriptions', tmp_path / 'descriptions'
    package.mkdir()
    folder.mkdir()
    (package / '__init__.py').write_text(f'DESCRIPTIONS = {dict.fromkeys(MODULES)!r}\n')
    for name, text in MODULES.items():
        (package / f'{name}.py').write_text(f'FOLDER = {f"{folder}/"!r}\n{text}\n')
    (folder / 'tree.urdf').write_text(TREE.replace('effort="0"', 'effort="9"'))
    (folder / 'tree.xacro').write_text(XACRO)
    forget(monkeypatch)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    forget(monkeypatch)


def test_the_urdf_comes_first_then_xacro_then_mjcf(stand_in):
    assert found_description('tree_description') == str(stand_in / 'tree.urdf')
    assert found_description('tree_mj_description') == str(stand_in / 'tree.xml')
    assert Robot.from_description('tree_description').joint_names == ('z_turn', 'm_slide', 'a_wag')


def test_arguments_are_added_to_those_of_the_description(stand_in):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    assert Robot.from_description('made_description').name == 'made'
    assert Robot.from_description('made_description', xacro_args={'name': 'other'}).name == 'other'
    with pytest.raises(ArgumentError, match=r'^xacro_args: tree_description is no xacro file$'):
        found_description('tree_description', {'name': 'other'})


def test_commands_have_the_same_rule(stand_in, capsys):
    with pytest.raises(SystemExit) as ended:
        check_model.main(['tree_description'])
    printed = capsys.readouterr().out
    assert ended.value.code == 0 and 'm_slide' in printed, printed


WRONG = {
    'tre_description': (
        UnknownNameError,
        "robot_descriptions has no 'tre_description'; did you mean 'tree_description'",
    ),
    'empty_description': (ModelError, 'robot_descriptions has neither URDF, xacro nor MJCF of it'),
    'lost_description': (ModelError, 'robot_descriptions cannot load it: no route to host'),
}


@pytest.mark.parametrize(('name', 'error', 'said'), [(name, *it) for name, it in WRONG.items()], ids=WRONG)
def test_what_cannot_be_had_is_said(stand_in, name, error, said):
    with pytest.raises(error) as refused:
        found_description(name)
    assert said in str(refused.value)


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'robot_descriptions', None)
    with pytest.raises(ModelError) as refused:
        Robot.from_description('panda_description')
    assert str(refused.value).endswith('not installed: pip install robot_descriptions xacro')


def test_which_names_are_meant():
    assert all(map(is_public_description, ('panda_description', 'tiago++_mj_description')))
    others = ('aubo_i5', 'my_description.urdf', '/a/my_description', 'a.my_description', '<robot name="a_description')
    assert not any(map(is_public_description, others))


def test_the_real_package_has_the_attributes_of_the_stand_in(tmp_path, monkeypatch):
    forget(monkeypatch)
    real = pytest.importorskip('robot_descriptions', reason='the Python package robot_descriptions is not installed')
    assert all(map(is_public_description, real.DESCRIPTIONS))
    # what it would clone
    monkeypatch.setattr('robot_descriptions._cache.clone_to_cache', lambda *_, **__: str(tmp_path))
    forget_modules = [f'robot_descriptions.{name}_description' for name in ('panda', 'ur5e', 'panda_mj')]
    for name in forget_modules:
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert found_description('panda_description') == f'{tmp_path}/robots/panda_description/urdf/panda.urdf'
    assert found_description('panda_mj_description') == f'{tmp_path}/franka_emika_panda/panda.xml'
    with pytest.raises(ModelError, match=rf"^model: no file '{tmp_path}/urdf/ur\.urdf\.xacro'"):
        found_description('ur5e_description')
    for name in forget_modules:
        del sys.modules[name]


def test_the_page_names_descriptions_that_exist(monkeypatch):
    forget(monkeypatch)
    real = pytest.importorskip('robot_descriptions', reason='the Python package robot_descriptions is not installed')
    page = (ROOT / 'doc' / 'concepts' / 'public_descriptions.md').read_text(encoding='utf-8')
    named = re.findall(r'`(\w+_description)` \|', page)
    assert len(named) > 10 and set(named) <= set(real.DESCRIPTIONS)
