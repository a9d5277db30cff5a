"""Joint order: names, never positions in a message, decide which joint a number belongs to."""

from itertools import permutations

import numpy as np
import pytest

from robot_dynamics_ros.control.joints.joint_order import duplicates, gather, permutation, places_of
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError

NAMES = ('shoulder', 'elbow', 'wrist')


@pytest.mark.parametrize(
    ('names', 'twice'),
    [([], []), (['a', 'b'], []), (['b', 'a', 'b', 'a', 'b', 'c'], ['b', 'a']), (('a', 'a'), ['a'])],
)
def test_duplicates_in_order_of_their_first_occurrence(names, twice):
    assert duplicates(names) == twice


class Name(str):
    """A name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


def test_many_names_are_not_compared_each_with_each():
    """A message may hold any number of them, and its reader has a state to answer."""
    names = [Name(f'joint_{k}') for k in range(1000)]
    assert duplicates([*names, Name('joint_7')]) == ['joint_7']
    assert Name.compared < 10 * len(names)


@pytest.mark.parametrize('given', list(permutations(NAMES)), ids='-'.join)
@pytest.mark.parametrize('function', [places_of, permutation])
def test_numbers_follow_their_names(function, given):
    number = {'shoulder': 10.0, 'elbow': 20.0, 'wrist': 30.0}
    places = function(NAMES, list(given))
    assert np.take([number[name] for name in given], places).tolist() == [10.0, 20.0, 30.0]
    assert places.dtype == np.intp and places.shape == (3,)


def test_other_joints_are_left_out():
    given = ['gripper', 'wrist', 'shoulder', 'wheel', 'elbow']
    assert places_of(NAMES, given).tolist() == [2, 4, 1]
    assert places_of([], given).tolist() == []


@pytest.mark.parametrize('function', [places_of, permutation])
def test_a_missing_joint_is_named(function):
    with pytest.raises(UnknownNameError, match=r"^joint 'elbow' is missing; given: wrist, shoulder$"):
        function(NAMES, ['wrist', 'shoulder'])
    with pytest.raises(UnknownNameError, match=r"^joint 'shoulder' is missing; given: none$"):
        function(NAMES, [])


def test_of_many_names_the_first_ones_are_in_the_message():
    with pytest.raises(
        UnknownNameError, match=r"^joint 'elbow' is missing; given: joint_0, .*, joint_19 and 980 more$"
    ):
        places_of(['elbow'], [f'joint_{k}' for k in range(1000)])


@pytest.mark.parametrize('function', [places_of, permutation])
def test_a_joint_given_twice_is_named(function):
    with pytest.raises(ArgumentError, match=r"^joint 'wrist' is given twice$"):
        function(NAMES, ['wrist', 'shoulder', 'elbow', 'wrist'])


def test_a_joint_of_another_robot_is_named():
    with pytest.raises(UnknownNameError, match=r"^unknown joint 'gripper'; there are shoulder, elbow, wrist$"):
        permutation(NAMES, ['wrist', 'gripper', 'shoulder', 'elbow'])
    with pytest.raises(UnknownNameError, match=r"^unknown joint 'Elbow'; did you mean 'elbow'\? There are shoulder, "):
        permutation(NAMES, ['wrist', 'Elbow', 'shoulder'])


def test_locked_joints_may_be_there_or_not():
    assert permutation(NAMES, ['wrist', 'finger', 'shoulder', 'elbow'], ('finger', 'thumb')).tolist() == [2, 3, 0]
    assert permutation(NAMES, ['wrist', 'shoulder', 'elbow'], ('finger', 'thumb')).tolist() == [1, 2, 0]
    with pytest.raises(UnknownNameError, match=r"^unknown joint 'gripper'"):
        permutation(NAMES, ['wrist', 'gripper', 'shoulder', 'elbow'], ('finger', 'thumb'))
    with pytest.raises(UnknownNameError, match=r"^joint 'elbow' is missing"):
        permutation(NAMES, ['wrist', 'finger', 'shoulder'], ('finger',))


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_gathered_numbers_are_validated(value):
    values, out = np.array([1.0, value, 3.0]), np.zeros(2)
    assert gather(values, np.array([2, 0]), out)
    assert out.tolist() == [3.0, 1.0]
    assert not gather(values, np.array([1, 0]), out)
    assert out[1] == 1.0
