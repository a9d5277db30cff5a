"""The page of figures in a real browser: values under the pointer, zoom, legend, colours, no network."""

import re

from support.project.browser import Watched, playwright

import numpy as np
import pytest

from robot_dynamics_ros.tools.figures.figure_page import write_page
from robot_dynamics_ros.tools.figures.figures import Axis, Curve, Figure, joint_colours, joint_curves

JOINTS = ('shoulder', 'elbow', 'wrist')
T = np.linspace(0.0, 2.0, 201)
TORQUE = 40.0 * np.sin(np.outer(T, [1.0, 2.0, 3.0])) + [5.0, 0.0, -5.0]
HOSTILE = '<img src=x onerror=alert(1)></script> $x$ %{y} &lt; "it\'s"'
BETWEEN_CLICKS = 350  # ms; two within 300 ms are a double-click


def expect(locator):
    return playwright().expect(locator)


@pytest.fixture(scope='module')
def watched(browser, tmp_path_factory):
    time = Axis('time', 's')
    steps = T[1:] ** 2
    figures = [
        Figure('torque', 'Torque', time, Axis('torque', 'N m'), joint_curves(JOINTS, T, TORQUE)),
        Figure('position', 'Position', time, Axis('position', 'rad'), joint_curves(JOINTS, T, TORQUE / 40.0)),
        Figure(
            'error',
            f'Error {HOSTILE}',
            time,
            Axis('error', '', logarithmic=True),
            [Curve('Euler', '#1f77b4', T[1:], 1e-3 * steps), Curve(HOSTILE, '#ff7f0e', T[1:], 1e-9 * steps, 'dash')],
        ),
    ]
    path = tmp_path_factory.mktemp('page') / 'index.html'
    write_page(path, f'Comparison {HOSTILE}', figures)
    watched = Watched(browser, offline=True, color_scheme='light')
    watched.url = path.as_uri()
    watched.page.goto(watched.url)
    return watched


@pytest.fixture(autouse=True)
def page(watched):
    """The page, which has to be silent and alone with itself after every test."""
    yield watched.page
    assert watched.requests == [watched.url]
    assert watched.console == []


def point(page, figure, x, y=0.5):
    """Return the pixel at a part of the axes' width and height."""
    page.locator(f'#{figure}').scroll_into_view_if_needed()
    box = page.locator(f'#{figure} .nsewdrag').bounding_box()
    return box['x'] + x * box['width'], box['y'] + y * box['height']


def read(page, figure, x):
    """Return the line above and the values by name that the page shows at a part of the axes' width."""
    page.mouse.move(1, 1)
    page.mouse.move(*point(page, figure, x))
    texts = page.locator(f'#{figure} .hoverlayer .legend text')
    texts.first.wait_for()
    head, *values = texts.all_text_contents()
    return head, dict(text.split(' : ') for text in values)


def ticks(page, figure, axis='x'):
    """Return the numbers along an axis in ascending order, as they are written."""
    return sorted(page.locator(f'#{figure} .{axis}tick text').all_text_contents(), key=float)


def strokes(page, figure):
    """Return the colours of the curves that are drawn."""
    lines = page.locator(f'#{figure} .scatterlayer .js-line').all()
    return [line.evaluate('line => getComputedStyle(line).stroke') for line in lines]


def rgb(colour):
    return 'rgb({}, {}, {})'.format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


def test_the_pointer_reads_the_values_of_all_curves_with_units(page):
    for x in (0.25, 0.7):
        head, values = read(page, 'torque', x)
        time = float(re.fullmatch(r'time = ([\d.]+) s', head)[1])
        assert time == pytest.approx(2.0 * x, abs=0.01)
        row = TORQUE[np.flatnonzero(np.isclose(T, time))[0]]
        assert values == {name: f'{value:.5g} N m' for name, value in zip(JOINTS, row, strict=True)}


def test_numbers_on_a_logarithmic_axis_are_read_too(page):
    _, values = read(page, 'error', 0.5)
    assert float(values['Euler']) == pytest.approx(1e-3, rel=0.03)
    assert float(values[HOSTILE]) == pytest.approx(1e-9, rel=0.03)
    assert page.locator('#error .ytick text').first.text_content().startswith('10')


def test_dragging_zooms_and_a_double_click_resets(page):
    before, end = ticks(page, 'torque'), page.locator('#torque .xtick').get_by_text('2', exact=True)
    assert (before[0], before[-1]) == ('0', '2')
    page.mouse.move(*point(page, 'torque', 0.25, 0.3))
    page.mouse.down()
    page.mouse.move(*point(page, 'torque', 0.5, 0.3), steps=4)
    page.mouse.up()
    expect(end).to_have_count(0)
    shown = [float(text) for text in ticks(page, 'torque')]
    assert 0.5 <= shown[0] < shown[-1] <= 1.01
    head, _ = read(page, 'torque', 0.5)
    assert float(head.split()[2]) == pytest.approx(0.75, abs=0.01)
    assert ticks(page, 'position') == before
    page.wait_for_timeout(BETWEEN_CLICKS)
    page.mouse.dblclick(*point(page, 'torque', 0.5))
    expect(end).to_have_count(1)
    assert ticks(page, 'torque') == before


def test_a_click_in_the_legend_hides_a_curve_and_another_shows_it(page):
    colours = [rgb(colour) for colour in joint_colours(JOINTS).values()]
    assert strokes(page, 'torque') == colours
    elbow = page.locator('#torque .legendtoggle').nth(1)
    lines = page.locator('#torque .scatterlayer .js-line')
    elbow.click()
    expect(lines).to_have_count(2)
    assert strokes(page, 'torque') == [colours[0], colours[2]]
    assert list(read(page, 'torque', 0.5)[1]) == ['shoulder', 'wrist']
    page.wait_for_timeout(BETWEEN_CLICKS)
    elbow.click()
    expect(lines).to_have_count(3)
    assert strokes(page, 'torque') == colours


def test_a_joint_has_the_same_colour_in_every_figure(page):
    assert strokes(page, 'torque') == strokes(page, 'position')
    for figure in ('torque', 'position'):
        assert page.locator(f'#{figure} .legendtext').all_text_contents() == list(JOINTS)


def test_the_colours_follow_the_scheme_of_the_system(page):
    def paper_and_ink():
        paper = page.evaluate('getComputedStyle(document.body).backgroundColor')
        ink = page.locator('#torque .xtick text').first.evaluate('text => getComputedStyle(text).fill')
        return [sum(map(int, re.findall(r'\d+', colour)[:3])) for colour in (paper, ink)]

    light = paper_and_ink()
    page.emulate_media(color_scheme='dark')
    expect(page.locator('#torque .xtick text').first).not_to_have_css('fill', rgb('#222222'))
    dark = paper_and_ink()
    page.emulate_media(color_scheme='light')
    assert light[0] > 600 > 200 > light[1]
    assert dark[0] < 200 < 600 < dark[1]


def test_names_are_shown_as_they_are(page):
    assert page.locator('h1').text_content() == f'Comparison {HOSTILE}'
    assert page.title() == f'Comparison {HOSTILE}'
    assert page.locator('#error .legendtext').all_text_contents() == ['Euler', HOSTILE]
    assert page.locator('img').count() == 0
