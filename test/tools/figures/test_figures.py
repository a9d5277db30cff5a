"""Figures: what their files contain, and what is refused."""

import csv
import sys

import matplotlib.colors
import matplotlib.image
import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.tools.figures import figure_page
from robot_dynamics_ros.tools.figures.figure_files import write_csv, write_figures, write_png
from robot_dynamics_ros.tools.figures.figures import PALETTE, Axis, Curve, Figure, joint_colours, joint_curves

TIME = Axis('time', 's')
TORQUE = Axis('torque', 'N m')
JOINTS = ('base', 'elbow')
T = np.linspace(0.0, 1.0, 5)
TAU = np.column_stack([np.cos(T), 3.0 * T])


def figure(*curves, name='torque', y=TORQUE):
    return Figure(name, 'Torque', TIME, y, curves or joint_curves(JOINTS, T, TAU))


def rows(path):
    with path.open(encoding='utf-8', newline='') as file:
        return list(csv.reader(file))


def test_a_table_has_one_column_of_x_and_one_of_each_curve_with_units_and_every_digit(tmp_path):
    write_csv(tmp_path / 'torque.csv', figure())
    heading, *numbers = rows(tmp_path / 'torque.csv')
    assert heading == ['time [s]', 'base [N m]', 'elbow [N m]']
    assert (np.array(numbers, float) == np.column_stack([T, TAU])).all()


def test_curves_at_other_x_have_their_own_column_of_x(tmp_path):
    short = Curve('adaptive', '#123456', [0.0, 0.7], [1e-3, 2e-7])
    first, second = joint_curves(JOINTS, T, TAU)
    write_csv(tmp_path / 'error.csv', figure(first, short, second, y=Axis('relative error', '', logarithmic=True)))
    heading, *numbers = rows(tmp_path / 'error.csv')
    assert heading == ['time [s]', 'base', 'elbow', 'time [s]', 'adaptive']
    assert [row[3:] for row in numbers] == [['0.0', '0.001'], ['0.7', '2e-07'], *[['', '']] * 3]
    assert (np.array([row[:3] for row in numbers], float) == np.column_stack([T, TAU])).all()


def test_a_picture_shows_each_curve_in_its_colour(tmp_path):
    write_png(tmp_path / 'torque.png', figure(*joint_curves(JOINTS, T, TAU), Curve('_$x$', '#00ff00', T, T)))
    pixels = np.round(255 * matplotlib.image.imread(tmp_path / 'torque.png')[..., :3]).astype(int)
    assert pixels.shape == (550, 1100, 3)
    for colour in (*PALETTE[:2], '#00ff00'):
        rgb = np.round(255 * np.array(matplotlib.colors.to_rgb(colour)))
        columns = np.flatnonzero((pixels == rgb).all(axis=2).any(axis=0))
        assert columns[-1] - columns[0] > 700, colour  # from the axes' left end to the legend


def test_a_legend_of_many_or_long_names_is_on_the_picture_beside_the_curves(tmp_path, monkeypatch):
    """40 joints, one of them with a name of 200 characters."""
    drawn = []
    save = matplotlib.figure.Figure.savefig

    def keep(canvas, *arguments, **options):
        save(canvas, *arguments, **options)
        drawn.append(canvas)

    monkeypatch.setattr(matplotlib.figure.Figure, 'savefig', keep)
    names = [f'joint{i}' for i in range(39)] + ['long' * 50]
    write_png(tmp_path / 'many.png', figure(*joint_curves(names, T, np.outer(T, np.arange(40.0)))))
    (canvas,) = drawn
    legend, axes = (part.get_window_extent() for part in (canvas.legends[0], canvas.axes[0]))
    assert len(canvas.legends[0].get_texts()) == 40
    assert legend.y0 >= 0.0 and legend.x1 <= canvas.bbox.x1 and axes.x1 < legend.x0
    assert axes.width > 0.5 * canvas.bbox.width


def test_a_joint_has_the_same_colour_in_every_figure():
    first = joint_curves(JOINTS, T, TAU)
    second = joint_curves(JOINTS, T, TAU, ', 5 kg', 'dot')
    assert [curve.colour for curve in first] == [curve.colour for curve in second] == list(PALETTE[:2])
    assert [curve.name for curve in second] == ['base, 5 kg', 'elbow, 5 kg']


@pytest.mark.parametrize('count', [10, 11, 30])
def test_joints_have_different_colours(count):
    assert len(set(joint_colours([f'joint{i}' for i in range(count)]).values())) == count


def test_all_files_are_written_where_the_result_says(tmp_path):
    paths = write_figures(tmp_path / 'new' / 'folder', 'Comparison', [figure(), figure(name='torque_5kg')])
    names = ['torque.png', 'torque.csv', 'torque_5kg.png', 'torque_5kg.csv', 'index.html']
    assert [path.relative_to(tmp_path / 'new' / 'folder').name for path in paths] == names
    assert all(path.stat().st_size for path in paths)


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda: Curve('base', '#123456', T, T[:-1]), r"curve 'base': expected x and y \(m,\).*\(5,\) and \(4,\)"),
        (lambda: Curve('base', '#123456', [], []), "curve 'base': expected x and y"),
        (lambda: Curve('base', '#123456', T, ['a'] * 5), "y of curve 'base': expected real numbers"),
        (lambda: Curve('base', 'blue', T, T), "colour of curve 'base': expected '#rrggbb', got 'blue'"),
        (lambda: Curve('base', '#123456', T, T, 'wavy'), "dash of curve 'base': expected one of solid"),
        (lambda: Curve(' ', '#123456', T, T), 'name of a curve'),
        (lambda: joint_curves(JOINTS, T, TAU.T), r'y: expected shape \(m, 2\), got \(2, 5\)'),
        (lambda: figure(name='../torque'), 'name of a figure'),
        (lambda: Figure('torque', 'Torque', TIME, TORQUE, []), "figure 'torque': it has no curves"),
        (lambda: figure(*2 * [Curve('base', '#123456', T, T)]), "figure 'torque': the name 'base' occurs twice"),
        (lambda: write_figures(None, 'Twice', [figure(), figure()]), "the name 'torque' occurs twice"),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'plotly.offline', None)
    with pytest.raises(DynamicsError, match='pip install plotly'):
        figure_page.write_page(tmp_path / 'index.html', 'Comparison', [figure()])
