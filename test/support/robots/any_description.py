"""What every reader of descriptions does with any text or values: a model of finite numbers, or ModelError."""

import numpy as np

from robot_dynamics_ros.errors import ModelError


def check(read, *arguments) -> None:
    """Let ``read`` make a model, or a model and gravity, of ``arguments``, or refuse them."""
    try:
        result = read(*arguments)
    except ModelError:
        return
    model, *gravity = result if isinstance(result, tuple) else (result,)
    assert all(np.isfinite(array).all() for array in (*model.arrays, *gravity))


def edited(text: str, edits) -> str:
    """Return ``text`` in which, one edit (start, length, scrap) after another, a scrap has replaced some characters."""
    for start, length, scrap in edits:
        text = text[:start] + scrap + text[start + length :]
    return text
