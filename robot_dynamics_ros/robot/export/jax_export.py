"""Quantities as functions of JAX: compiled code computes values, and exact derivatives, outside of XLA."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot.export.differentiable import Differentiable, Function


def function_of(quantity: Differentiable) -> Callable[..., jax.Array]:
    """Return a quantity as a function of arrays of JAX; see ``Robot.jax``."""
    count, size = len(quantity.lengths), int(np.prod(quantity.shape, dtype=int))
    (nv,) = {*quantity.lengths.values()}
    derivatives = jax.custom_jvp(_called(quantity.derivatives, (count, size, nv)))
    value = jax.custom_jvp(_called(quantity.value, quantity.shape))

    @derivatives.defjvp
    def second_derivatives(vectors, tangents):
        raise quantity.no_second_derivatives()

    @value.defjvp
    def value_and_change(vectors, tangents):
        # linear in the tangents: JAX transposes it for derivatives backward
        change = jnp.einsum('...ksn,...kn->...s', derivatives(*vectors), jnp.stack(tangents, -2))
        result = value(*vectors)
        return result, change.reshape(result.shape)

    def function(*vectors) -> jax.Array:
        arrays = [jnp.asarray(vector) for vector in vectors]
        batch = quantity.broadcast_shape([array.shape for array in arrays])
        for name, array in zip(quantity.lengths, arrays, strict=True):
            check(name, array)
        return value(*(jnp.broadcast_to(array, (*batch, array.shape[-1])) for array in arrays))

    return quantity.named(function)


def check(name: str, array: jax.Array) -> None:
    """Raise ArgumentError for an array that is not of float64 on the processor; what jit traces has no device yet."""
    if array.dtype != jnp.float64:
        raise ArgumentError(
            f"{name}: expected float64, got {array.dtype}: call jax.config.update('jax_enable_x64', True) before "
            "arrays are created, or convert it by .astype('float64')"
        )
    if isinstance(array, jax.core.Tracer):
        return
    for device in array.devices():
        if device.platform != 'cpu':
            raise ArgumentError(
                f'{name}: is on {device}, the results are computed on the processor: '
                f"move it by jax.device_put({name}, jax.devices('cpu')[0])"
            )


def _called(function: Function, shape: tuple[int, ...]) -> Callable[..., jax.Array]:
    """Return a function of vectors (..., n) with one batch shape, with results (..., shape), as one of JAX."""

    def computed(*vectors) -> np.ndarray:
        return np.asarray(function(*(np.asarray(vector) for vector in vectors)))

    def called(*vectors) -> jax.Array:
        if not any(isinstance(vector, jax.core.Tracer) for vector in vectors):
            return jnp.asarray(computed(*vectors))  # raises the errors of the method
        result = jax.ShapeDtypeStruct((*vectors[0].shape[:-1], *shape), jnp.float64)
        return jax.pure_callback(computed, result, *vectors, vmap_method='broadcast_all')

    return called
