"""Checkpoints of flash-linear-attention on the processor."""

import json
import os
from typing import Any, Dict, Union

import numpy as np

from krohn import _krohn
from krohn.arrays import as_indices


class Checkpoint:
    """A folder with a DeltaNet or gated DeltaProduct language model, as `from_pretrained` reads it, evaluated as the
    library's layers do (simulate/checkpoints/checkpoint_model.h states the order): in "fp32" or "bf16"."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"], *, precision: str = "fp32") -> None:
        self._core = _krohn.Checkpoint.load(os.fspath(folder), precision)

    def logits(self, tokens: Any, *, chunked: bool = False) -> np.ndarray:
        """[length, vocabulary]: the logits after every token; token by token, or with `chunked` as the library's chunked
        kernels read a word, 64 tokens at a time."""
        word = as_indices(tokens, "tokens")
        if word.ndim != 1:
            raise ValueError(f"tokens have {word.ndim} dimensions, not one")
        return self._core.logits(word, chunked)

    def facts(self) -> Dict[str, Any]:
        """The family, layers, and the sizes of the model."""
        return json.loads(self._core.facts())
