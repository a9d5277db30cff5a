"""The robots that come with the package are found from the source tree and from any installation."""

import os
from shutil import copytree

import pytest

from robot_dynamics_ros.errors import ModelError, UnknownNameError
from robot_dynamics_ros.formats import library
from robot_dynamics_ros.formats.library import model_names, named_model, share_folder

pytestmark = pytest.mark.quick


def test_the_names_are_the_files_of_the_urdf_folder():
    assert {'aubo_i5', 'aubo_i5_lecture'} <= set(model_names())
    assert set(model_names()) == {path.stem for path in (share_folder() / 'urdf').iterdir()}


@pytest.mark.parametrize('name', ['ur5', '', '../urdf/aubo_i5', 'AUBO_i5', None])
def test_an_unknown_name_gets_those_that_exist(name):
    with pytest.raises(UnknownNameError, match='aubo_i5, aubo_i5_lecture') as error:
        named_model(name)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize('file', ['urdf/aubo_i5.urdf', 'config/aubo_i5.yaml'])
def test_a_model_is_read_once_and_again_where_a_file_has_changed(tmp_path, monkeypatch, file):
    for folder in ('urdf', 'config'):
        copytree(share_folder() / folder, tmp_path / folder)
    monkeypatch.setattr(library, 'share_folder', lambda: tmp_path)
    model = named_model('aubo_i5')
    assert named_model('aubo_i5') is model is not named_model('aubo_i5_lecture')
    changed = (tmp_path / file).stat().st_mtime_ns + 1
    os.utime(tmp_path / file, ns=(changed, changed))
    assert named_model('aubo_i5') is not model


@pytest.mark.parametrize(
    'package',
    [
        'prefix/lib/python3.12/site-packages/robot_dynamics_ros',  # pip, colcon
        'prefix/local/lib/python3.10/dist-packages/robot_dynamics_ros',  # colcon on Ubuntu 22.04
    ],
)
def test_installed_the_folder_is_in_share_of_the_prefix(tmp_path, package):
    file = tmp_path / package / 'formats' / 'library.py'
    share = tmp_path / 'prefix' / 'share' / 'robot_dynamics_ros'
    (share / 'urdf').mkdir(parents=True)
    (share / 'urdf' / 'aubo_i5.urdf').touch()
    file.parent.mkdir(parents=True)
    (file.parents[2] / 'urdf').mkdir()  # somebody else's, beside the package
    assert share_folder(file) == share


def test_in_a_source_tree_the_folder_is_its_root(tmp_path):
    (tmp_path / 'urdf').mkdir()
    (tmp_path / 'urdf' / 'aubo_i5.urdf').touch()
    assert share_folder(tmp_path / 'robot_dynamics_ros' / 'formats' / 'library.py') == tmp_path


def test_without_any_robot_the_error_says_so(tmp_path):
    with pytest.raises(ModelError, match='no share folder of robot_dynamics_ros for'):
        share_folder(tmp_path / 'robot_dynamics_ros' / 'formats' / 'library.py')
