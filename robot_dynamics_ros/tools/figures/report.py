"""Tables and plots of the demo."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('Agg')
from matplotlib import pyplot

COLOURS = ('tab:gray', 'tab:orange', 'tab:blue')


def tracking_table(joint_names, records: dict, slides) -> str:
    """Return RMS and peak tracking errors: one row per joint, two columns for each of ``records``.

    They are in degrees, or in mm for joints that ``slides`` (n,).
    """
    any_slides = any(slides)
    names = [f'{name} (mm)' if slide else name for name, slide in zip(joint_names, slides, strict=True)]
    head = 'error, degrees'
    width = max(map(len, (*names, head if any_slides else '')))
    lines = [' ' * width + ''.join(f'{label:>20}' for label in records) + f'{"ratio":>9}']
    lines.append(f'{head:<{width}}' + f'{"RMS":>12}{"peak":>8}' * len(records))
    *_, before, last = records.values()
    for j, name in enumerate(names):
        scale = _scale(slides[j])
        figures = ''.join(f'{scale * r.rms[j]:12.3f}{scale * r.peak[j]:8.3f}' for r in records.values())
        lines.append(f'{name:<{width}}{figures}{last.rms[j] / before.rms[j]:9.3f}')
    return '\n'.join(lines)


def tracking_plot(path: Path, title: str, joint_names, records: dict, effort_limit, slides) -> None:
    """Save a plot of tracking error and torque of every joint over time; joints that ``slides`` (n,) in mm and N."""
    figure, axes = pyplot.subplots(
        len(joint_names), 2, figsize=(11, 1.9 * len(joint_names)), sharex=True, squeeze=False
    )
    for j, name in enumerate(joint_names):
        for (label, record), colour in zip(records.items(), COLOURS, strict=True):
            axes[j, 0].plot(record.time, _scale(slides[j]) * record.error[:, j], color=colour, label=label)
            axes[j, 1].plot(record.time, record.torque[:, j], color=colour, label=label)
        axes[j, 0].set_ylabel(f'{name}\nerror, {"mm" if slides[j] else "deg"}')
        axes[j, 1].set_ylabel('force, N' if slides[j] else 'torque, N m')
        reach = max(np.abs(record.torque[:, j]).max() for record in records.values())
        if reach > 0.9 * effort_limit[j]:
            axes[j, 1].axhspan(-effort_limit[j], effort_limit[j], color='tab:green', alpha=0.08)
        for axis in axes[j]:
            axis.axhline(0.0, color='black', linewidth=0.5)
            axis.grid(alpha=0.3)
    axes[0, 0].legend(loc='upper right', fontsize='small')
    for axis in axes[-1]:
        axis.set_xlabel('time, s')
    _save(figure, path, title)


def comparison_table(joint_names, comparison) -> str:
    """Return R2 and RMS difference between published and measured torques: one row per joint."""
    width = max(map(len, joint_names))
    lines = [f'{"":<{width}}{"R2":>9}{"RMS, N m":>11}{"measured, N m":>21}']
    for j, name in enumerate(joint_names):
        low, high = comparison.measured[:, j].min(), comparison.measured[:, j].max()
        lines.append(f'{name:<{width}}{comparison.r2[j]:9.4f}{comparison.rms[j]:11.3f}{f"{low:.1f} to {high:.1f}":>21}')
    return '\n'.join(lines)


def comparison_plot(path: Path, title: str, joint_names, comparison) -> None:
    """Save a plot of measured and published torque of every joint over time."""
    rows = (len(joint_names) + 1) // 2
    figure, axes = pyplot.subplots(rows, 2, figsize=(11, 2.4 * rows), sharex=True, squeeze=False)
    for j, name in enumerate(joint_names):
        axis = axes.flat[j]
        axis.plot(comparison.time, comparison.measured[:, j], color='tab:gray', label='measured')
        axis.plot(
            comparison.time, comparison.published[:, j], color='tab:blue', linewidth=1.0, label='feedforward_node'
        )
        axis.set_title(f'{name}: R2 = {comparison.r2[j]:.4f}', fontsize='medium')
        axis.set_ylabel('torque, N m')
        axis.grid(alpha=0.3)
    axes[0, 0].legend(loc='upper right', fontsize='small')
    for axis in axes[-1]:
        axis.set_xlabel('time, s')
    _save(figure, path, title)


def _scale(slide: bool) -> float:
    """Return mm per m for a joint that slides, else degrees per rad."""
    return 1000.0 if slide else float(np.degrees(1.0))


def _save(figure, path: Path, title: str) -> None:
    """Write a figure as PNG."""
    figure.suptitle(title)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
