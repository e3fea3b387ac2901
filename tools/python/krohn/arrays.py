"""Arguments of many types as the arrays that the extension module takes."""

from typing import Any, Tuple

import numpy as np


def as_array(values: Any) -> np.ndarray:
    """A NumPy array; tensors of PyTorch are taken from their device and graph first, bfloat16 as the same reals."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":
            values = values.float()
    return np.asarray(values)


def require_counts(least: int = 0, /, **given: Any) -> None:
    """Raises ValueError that names the first of `given` that is no whole number, or below `least`."""
    for name, value in given.items():
        if not isinstance(value, (int, np.integer)) or value < least:
            raise ValueError(f"{name} is {value!r}, not a whole number from {least} on")


def is_module(value: Any) -> bool:
    """Tells whether it is a `torch.nn.Module`. PyTorch is not imported to find out."""
    return all(hasattr(value, name) for name in ("state_dict", "named_parameters", "forward", "training"))


def as_reals(values: Any, what: str, dimensions: int) -> np.ndarray:
    """Row by row, float64: every float16, bfloat16, float32 and float64 number is kept as it is."""
    array = as_array(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} holds {array.dtype}, not real numbers")
    if array.dtype.itemsize > 8:
        raise TypeError(f"{what} holds {array.dtype}, which has more than 64 bits")
    if array.ndim != dimensions:
        raise ValueError(f"{what} has {array.ndim} dimensions, not {dimensions}")
    return np.asarray(array, dtype=np.float64, order="C")


def as_indices(values: Any, what: str) -> np.ndarray:
    """Row by row, int64, of any number of dimensions."""
    array = as_array(values)
    if array.size == 0 and array.dtype.kind == "f":  # numpy's type for []
        array = array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{what} holds {array.dtype}, not whole numbers")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{what} holds numbers past 2^63")
    return np.asarray(array, dtype=np.int64, order="C")


def own(array: np.ndarray) -> np.ndarray:
    """An array of the extension's as NumPy's own int64: C++ has two types of that size, and NumPy shows which."""
    return array.view(np.int64)


def as_words(words: Any, encode: Any) -> Tuple[np.ndarray, bool]:
    """A batch [words, length], and whether it was one word alone. `encode` reads texts."""
    letters = encode(words) if isinstance(words, str) else as_indices(words, "a word")
    if letters.ndim == 1:
        return letters.reshape(1, -1), True
    if letters.ndim != 2:
        raise ValueError(f"words have {letters.ndim} dimensions, not one (a word) or two (words in rows)")
    return letters, False
