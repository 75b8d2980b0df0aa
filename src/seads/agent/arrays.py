"""Pytrees as named arrays in safetensors files: nothing that is loaded can run code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from seads.errors import SeadsError

Tree = TypeVar("Tree")


def to_arrays(tree: Any) -> dict[str, np.ndarray]:
    """Every array of a pytree under the name of its path."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, eqx.is_array))
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(like: Tree, arrays: dict[str, np.ndarray]) -> Tree:
    """A pytree shaped like `like` with the named arrays; raises where they do not fit."""
    dynamic, static = eqx.partition(like, eqx.is_array)
    leaves, structure = jax.tree_util.tree_flatten_with_path(dynamic)
    names = [jax.tree_util.keystr(path) for path, _ in leaves]
    if set(names) != set(arrays):
        odd = sorted(set(names) ^ set(arrays))
        raise SeadsError(f"arrays do not fit this agent: {odd[0]!r} is on one side only")
    for name, (_, leaf) in zip(names, leaves, strict=True):
        if arrays[name].shape != leaf.shape or arrays[name].dtype != leaf.dtype:
            raise SeadsError(
                f"array {name!r} is {arrays[name].dtype}{list(arrays[name].shape)}; "
                f"this agent needs {leaf.dtype}{list(leaf.shape)}"
            )
    values = [jax.numpy.asarray(arrays[name]) for name in names]
    return eqx.combine(jax.tree_util.tree_unflatten(structure, values), static)


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write named arrays as one safetensors file."""
    # np.ascontiguousarray would make a vector of a scalar
    save_file({name: np.asarray(value, order="C") for name, value in arrays.items()}, path)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read named arrays; a damaged file raises a sentence."""
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise SeadsError(f"{path} cannot be read as a safetensors file: {error}") from None
