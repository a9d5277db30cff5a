"""Quantities as functions of PyTorch: compiled code computes values and exact derivatives."""

from collections.abc import Callable

import torch

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot.export.differentiable import Differentiable, Function


def function_of(quantity: Differentiable) -> Callable[..., torch.Tensor]:
    """Return a quantity as a function of tensors of PyTorch; see ``Robot.torch``."""

    def function(*vectors) -> torch.Tensor:
        tensors = [torch.as_tensor(vector) for vector in vectors]
        batch = quantity.broadcast_shape([tuple(tensor.shape) for tensor in tensors])
        for name, tensor in zip(quantity.lengths, tensors, strict=True):
            check(name, tensor)
        return Value.apply(quantity, *(tensor.expand(*batch, tensor.shape[-1]) for tensor in tensors))

    return quantity.named(function)


def check(name: str, tensor: torch.Tensor) -> None:
    """Raise ArgumentError for a tensor that is not of float64 on the processor."""
    if tensor.device.type != 'cpu':
        raise ArgumentError(
            f'{name}: is on {tensor.device}, the results are computed on the processor: move it by .cpu()'
        )
    if tensor.dtype != torch.float64:
        raise ArgumentError(f'{name}: expected torch.float64, got {tensor.dtype}: convert it by .double()')


class _OfQuantity(torch.autograd.Function):
    """A function of a quantity and of its vectors (..., n), which have one batch shape."""

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        """Keep the quantity and the vectors."""
        ctx.quantity, *vectors = inputs
        ctx.save_for_backward(*vectors)
        ctx.save_for_forward(*vectors)

    @classmethod
    def vmap(cls, info, in_dims, quantity: Differentiable, *vectors):
        """Put the axis of ``torch.vmap`` before the others."""
        moved = [
            vector.expand(info.batch_size, *vector.shape) if axis is None else vector.movedim(axis, 0)
            for vector, axis in zip(vectors, in_dims[1:], strict=True)
        ]
        return cls.apply(quantity, *moved), 0


class Value(_OfQuantity):
    """The results (..., shape)."""

    @staticmethod
    def forward(quantity: Differentiable, *vectors) -> torch.Tensor:
        """Compute the results."""
        return _computed(quantity.value, vectors)

    @staticmethod
    def backward(ctx, gradient):
        """Return the gradients by the vectors."""
        derivatives = Derivatives.apply(ctx.quantity, *ctx.saved_tensors)
        # a row times each matrix: einsum would copy the derivatives
        by_entries = gradient.reshape(*derivatives.shape[:-3], 1, 1, derivatives.shape[-2])
        return None, *(by_entries @ derivatives).squeeze(-2).unbind(-2)

    @staticmethod
    def jvp(ctx, _, *tangents):
        """Return the change of the results by changes of the vectors."""
        derivatives = Derivatives.apply(ctx.quantity, *ctx.saved_tensors)
        of_each = zip(derivatives.unbind(-3), tangents, strict=True)
        changes = [torch.einsum('...sn,...n->...s', matrix, it) for matrix, it in of_each if it is not None]
        return torch.stack(changes).sum(0).reshape(*derivatives.shape[:-3], *ctx.quantity.shape)


class Derivatives(_OfQuantity):
    """The derivatives (..., inputs, size, nv)."""

    @staticmethod
    def forward(quantity: Differentiable, *vectors) -> torch.Tensor:
        """Compute the derivatives."""
        return _computed(quantity.derivatives, vectors)

    @staticmethod
    def backward(ctx, *changes):
        """Raise ArgumentError: there are no derivatives of these."""
        raise ctx.quantity.no_second_derivatives()

    jvp = backward


def _computed(function: Function, vectors) -> torch.Tensor:
    """Return the results of a function of arrays for tensors."""
    return torch.as_tensor(function(*(vector.detach().numpy() for vector in vectors)))
