"""The file of a residual torque: written and read to the bit; what is wrong in it, by file and key."""

import numpy as np
import pytest
import yaml

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.yaml_files.residual_yaml import WEIGHTS, read_residual, write_residual
from robot_dynamics_ros.model.residual import ResidualModel

MODEL = ResidualModel(
    'digest of a model',
    ('shoulder', 'elbow'),
    np.array([121.0, 0.0]),
    np.array([2.0, 3.0]),
    np.array([30.0, 4.0]),
    np.random.default_rng(4).normal(size=(2, WEIGHTS)),
)


@pytest.fixture
def path(tmp_path):
    found = tmp_path / 'r.yaml'
    write_residual(found, MODEL)
    return found


def test_a_file_is_read_to_the_bit(path):
    found = read_residual(path)
    assert found[:2] == MODEL[:2]
    assert all(np.array_equal(one, other) for one, other in zip(found[2:], MODEL[2:], strict=True))


def test_it_has_the_names_and_numbers_that_its_page_says(path):
    content = yaml.safe_load(path.read_text())
    assert content['model_digest'] == 'digest of a model' and list(content) == ['model_digest', 'joints']
    for k, name in enumerate(MODEL.joint_names):
        row = dict(zip(('gear_ratio', 'fastest', 'bound'), (column[k] for column in MODEL[2:5]), strict=True))
        assert content['joints'][name] == row | {'weights': MODEL.weights[k].tolist()}


@pytest.mark.parametrize(
    ('old', 'new', 'reason'),
    [
        ('gear_ratio: 121.0', 'gear_ratio: -1.0', 'joints: shoulder: gear_ratio: expected at least 0, got -1'),
        (
            'fastest: 2.0',
            'fastest: fast',
            "joints: shoulder: fastest: expected a finite number up to 1e+30, got 'fast'",
        ),
        ('bound: 30.0', 'bound: .nan', 'joints: shoulder: bound: expected a finite number up to 1e+30, got nan'),
        ('gear_ratio: 121.0', 'gear: 121.0', "joints: shoulder: 'gear': unknown; expected some of gear_ratio, fastest"),
        ('weights: [', 'weights: [1.0, ', f'joints: shoulder: weights: expected finite numbers of shape ({WEIGHTS},)'),
        ('model_digest: digest of a model', 'model_digest: 7', 'model_digest: expected a name'),
        ('model_digest', 'digest', "residual: 'digest': unknown; expected some of model_digest, joints"),
        ('shoulder:', '7:', 'joints: expected a name'),
        ('joints:', 'joints: 1\nothers:', "residual: 'others': unknown"),
    ],
)
def test_a_wrong_file_is_refused_by_key(path, old, new, reason):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ModelError) as error:
        read_residual(path)
    assert str(error.value).startswith(f'{path}: {reason}')


def test_a_file_without_joints_or_with_a_list_of_them_is_refused(path):
    for joints in (None, [1, 2]):
        path.write_text(yaml.safe_dump({'model_digest': 'd', 'joints': joints}))
        with pytest.raises(ModelError, match='joints: expected a table'):
            read_residual(path)


def test_a_path_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(ModelError, match='absent'):
        read_residual(tmp_path / 'absent.yaml')
    with pytest.raises(ModelError, match=r'absent.*r\.yaml: cannot be written'):
        write_residual(tmp_path / 'absent' / 'r.yaml', MODEL)
