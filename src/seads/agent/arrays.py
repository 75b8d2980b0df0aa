"""Pytrees as named arrays in safetensors files: nothing that is loaded can run code."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from seads.errors import SeadsError

DTYPES = {
    "bool": "BOOL",
    "int8": "I8",
    "uint8": "U8",
    "int16": "I16",
    "uint16": "U16",
    "int32": "I32",
    "uint32": "U32",
    "int64": "I64",
    "uint64": "U64",
    "float16": "F16",
    "float32": "F32",
    "float64": "F64",
}
"""What safetensors calls the kinds of numbers that are stored."""

Tree = TypeVar("Tree")
Kind = TypeVar("Kind")


def stateful(*names: str) -> Callable[[type[Kind]], type[Kind]]:
    """Makes a class a pytree whose leaves are in these attributes; the others go along."""

    def flatten(one: Any) -> tuple[list[tuple[Any, Any]], Any]:
        return [(jax.tree_util.GetAttrKey(name), getattr(one, name)) for name in names], one

    def unflatten(one: Any, values: Iterable[Any]) -> Any:
        twin = copy.copy(one)
        for name, value in zip(names, values, strict=True):
            setattr(twin, name, value)
        return twin

    def register(kind: type[Kind]) -> type[Kind]:
        jax.tree_util.register_pytree_with_keys(kind, flatten, unflatten)
        return kind

    return register


def to_arrays(tree: Any) -> dict[str, np.ndarray]:
    """Every leaf of a pytree (array or number) under the name of its path."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(like: Tree, arrays: dict[str, np.ndarray], *, take: bool = False) -> Tree:
    """A pytree like `like` with the named arrays as its leaves; raises where they do not fit.

    With `take` the arrays are its own from now on, where they can be written to: a run's episodes
    are too large to be there twice.

    NumPy arrays, which hold what a run has gathered, may be longer or shorter than in `like`.
    Of an array of JAX its shape alone (`jax.ShapeDtypeStruct`) is enough.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    named = {jax.tree_util.keystr(path): leaf for path, leaf in leaves}
    if odd := sorted(named.keys() ^ arrays.keys()):
        raise SeadsError(f"arrays do not fit: {odd[0]!r} is on one side only")
    values = [_restored(name, leaf, arrays[name], take) for name, leaf in named.items()]
    return jax.tree_util.tree_unflatten(structure, values)


def _restored(name: str, like: Any, value: np.ndarray, take: bool) -> Any:
    """The value as the same kind of leaf."""
    of_jax = isinstance(like, jax.Array | jax.ShapeDtypeStruct)
    wanted = like if of_jax else np.asarray(like)
    first = 1 if isinstance(like, np.ndarray) else 0
    fits = value.ndim == wanted.ndim and value.shape[first:] == wanted.shape[first:]
    if not fits or value.dtype != wanted.dtype:
        raise SeadsError(
            f"array {name!r} is {value.dtype}{list(value.shape)}; "
            f"needed is {wanted.dtype}{list(wanted.shape)}"
        )
    if of_jax:
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise SeadsError(f"array {name!r} holds numbers that are not finite")
        return jax.numpy.asarray(value)
    if not isinstance(like, np.ndarray):
        return type(like)(value)
    return np.require(value, requirements="W") if take else np.array(value)


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> str:
    """Write named arrays as one safetensors file; returns the SHA-256 that it must have.

    They go to the file one after the other: a run's episodes are too large to be copied first.
    """
    # np.ascontiguousarray would make a vector of a scalar
    ordered = {name: np.asarray(value, order="C") for name, value in arrays.items()}
    header, end = {}, 0
    for name, value in ordered.items():
        offsets = [end, end := end + value.nbytes]
        kind = DTYPES[value.dtype.name]
        header[name] = {"dtype": kind, "shape": value.shape, "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    digest = hashlib.sha256()
    with path.open("wb") as file:
        octets = [value.reshape(-1).view(np.uint8).data for value in ordered.values()]
        for part in (len(text).to_bytes(8, "little"), text, *octets):
            file.write(part)
            digest.update(part)
    return digest.hexdigest()


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read named arrays; a damaged file raises a sentence."""
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise SeadsError(f"{path} cannot be read as a safetensors file: {error}") from None
