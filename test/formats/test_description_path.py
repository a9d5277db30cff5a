"""Paths of descriptions by a URI or from the home folder, and what is said of those that are none."""

import os
import sys

from support.robots.facade_robots import TREE

import pytest

from robot_dynamics_ros.control.arm.described_arm import described
from robot_dynamics_ros.errors import DynamicsError, ModelError
from robot_dynamics_ros.formats.description_path import description_path, package_folders
from robot_dynamics_ros.formats.xacro import urdf_of_xacro
from robot_dynamics_ros.tools import check_model


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return the same arm in the home folder, in a package and in a folder with a blank, as a model names it."""
    folders = [tmp_path / 'home', tmp_path / 'prefix' / 'share' / 'my_arm' / 'urdf', tmp_path / 'a b']
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / 'arm.urdf').write_text(TREE.replace('effort="0"', 'effort="9"'))
    monkeypatch.setenv('HOME', str(folders[0]))
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(['/nowhere', '', str(tmp_path / 'prefix')]))
    return {
        '~/arm.urdf': folders[0],
        'package://my_arm/urdf/arm.urdf': folders[1],
        f'file://{str(folders[2]).replace(" ", "%20")}/arm.urdf': folders[2],
        f'file://localhost{folders[0]}/arm.urdf': folders[0],
    }


def test_nodes_and_check_model_find_a_description_by_its_uri(places, capsys):
    for uri, folder in places.items():
        assert description_path(uri) == str(folder / 'arm.urdf')
        assert described(uri)[0].joint_names == ('z_turn', 'm_slide', 'a_wag')
        with pytest.raises(SystemExit) as ended:
            check_model.main([uri])
        assert ended.value.code == 0, capsys.readouterr().out


@pytest.mark.parametrize('text', ['aubo_i5', '/a/arm.urdf', 'arm.yaml', '<robot name="package://a"/>', ''])
def test_anything_else_stays_as_it_is(text):
    assert description_path(text) == text


WRONG = {
    'package://no_arm/arm.urdf': "package 'no_arm' is not on AMENT_PREFIX_PATH or ROS_PACKAGE_PATH: source its",
    'package://my_arm/urdf/leg.urdf': 'share/my_arm/urdf/leg.urdf: cannot be read: No such file',
    'http://somewhere/arm.urdf': 'expected a path, package://PACKAGE/PATH or file:///PATH',
    'file://somewhere/arm.urdf': 'expected a path, package://PACKAGE/PATH or file:///PATH',
    '/nowhere/arm.urdf': '/nowhere/arm.urdf: cannot be read: No such file or directory',
    'arm.stl': "'arm.stl' is not part of the package, and is no path of a URDF, SDF, MJCF (.xml) or YAML file",
}


@pytest.mark.parametrize(('uri', 'why'), WRONG.items(), ids=WRONG)
def test_what_is_no_description_is_said(places, uri, why):
    with pytest.raises(DynamicsError) as error:
        described(uri)
    assert why in str(error.value) and 'Errno' not in str(error.value)


def test_xacro_files_have_uris_too(places, monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(ModelError, match=r"^model: no file '/\S+/share/my_arm/urdf/arm.urdf.xacro'"):
        urdf_of_xacro('package://my_arm/urdf/arm.urdf.xacro', {})


def test_folders_of_a_package_come_in_their_order(tmp_path, monkeypatch):
    clone, workspace, other = tmp_path / 'clone', tmp_path / 'ws', tmp_path / 'other'
    by_file, beside = clone / 'urdf', clone / 'arm'
    prefix = workspace / 'share' / 'arm'
    for folder in (by_file, beside, prefix, other / 'arm'):
        folder.mkdir(parents=True)
    (clone / 'package.xml').write_text('<package format="3">\n  <name> arm </name></package>')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(workspace))
    monkeypatch.setenv('ROS_PACKAGE_PATH', os.pathsep.join(['', str(other)]))
    assert list(package_folders('arm', by_file)) == [clone, beside, prefix, other / 'arm']
    assert list(package_folders('arm')) == [prefix, other / 'arm']
    assert not [*package_folders('leg', by_file), *package_folders('..', by_file), *package_folders('', by_file)]
