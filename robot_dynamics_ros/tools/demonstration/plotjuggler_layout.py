"""A layout of PlotJuggler for an arm: effort and torque of each joint over time, positions, velocities and commands.

PlotJuggler names the series of a JointState after its joints, /joint_states/<joint>/effort for instance, so a layout
belongs to one arm.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

COLOURS = ('#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#17becf')
TORQUES = ('joint_states', 'feedforward_torque', 'gravity_torque', 'external_torque')
"""Topics of JointState whose effort is drawn in one plot for each joint."""
COMMANDS = 'effort_commands'


def plotjuggler_layout(joint_names: Sequence[str]) -> str:
    """Return a layout as XML text.

    Parameters
    ----------
    joint_names : sequence of str
        Of the joint states, in the order of the commands.

    Returns
    -------
    str
    """
    root = Element('root')
    tabs = SubElement(root, 'tabbed_widget', parent='main_window', name='Main Window')
    torques = {name: [f'/{topic}/{name}/effort' for topic in TORQUES] for name in joint_names}
    _add_tab(tabs, 'torques', torques)
    motion = {each: [f'/joint_states/{name}/{each}' for name in joint_names] for each in ('position', 'velocity')}
    commands = {'commands': [f'/{COMMANDS}/data[{k}]' for k in range(len(joint_names))]}
    _add_tab(tabs, 'motion and commands', motion | commands)
    SubElement(tabs, 'currentTabIndex', index='0')
    SubElement(root, 'use_relative_time_offset', enabled='1')
    indent(root, ' ')
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{tostring(root, encoding='unicode')}\n"


def _add_tab(tabs: Element, title: str, plots: dict[str, list[str]]) -> None:
    """Add a tab with plots below each other: the series of each by its title."""
    tab = SubElement(tabs, 'Tab', tab_name=title, containers='1')
    size = ';'.join([f'{1.0 / len(plots):.6f}'] * len(plots))
    splitter = SubElement(
        SubElement(tab, 'Container'), 'DockSplitter', orientation='-', sizes=size, count=f'{len(plots)}'
    )
    for name, series in plots.items():
        area = SubElement(splitter, 'DockArea', name=name)
        plot = SubElement(area, 'plot', mode='TimeSeries', style='Lines', flip_x='false', flip_y='false')
        SubElement(plot, 'limitY')
        for k, one in enumerate(series):
            SubElement(plot, 'curve', name=one, color=COLOURS[k % len(COLOURS)])
