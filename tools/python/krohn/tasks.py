"""The tasks of the literature as arrays."""

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from krohn import _krohn
from krohn.arrays import own
from krohn.automaton import Automaton


@dataclass(frozen=True)
class Dataset:
    """Samples in rows, filled up to the longest."""

    inputs: np.ndarray
    """[samples, length]: indices of `tokens`; 0 after the end."""
    targets: np.ndarray
    """[samples, length]: indices of `labels`; −100, which PyTorch's losses ignore, where no answer is due."""
    lengths: np.ndarray
    """[samples]: how many tokens a sample has."""
    tokens: List[str]
    labels: List[str]
    chance: float
    """The accuracy of a uniform guess."""

    def __len__(self) -> int:
        return len(self.lengths)


def tasks() -> Dict[str, List[Dict[str, Any]]]:
    """The tasks and the languages that have names, as `krohn tasks --list --json` prints them."""
    return json.loads(_krohn.tasks())


def dataset(
    task: Union[str, Automaton],
    samples: int,
    *,
    length: Union[int, Tuple[int, int]] = 40,
    seed: int = 1,
    first_index: int = 0,
    generators: Optional[str] = None,
) -> Dataset:
    """Samples of a task of `tasks()`, or of any language ("name:parity", "regex:(a|b)*abb", a file, an `Automaton`) with an
    answer after every letter. Lengths are uniform in the range given. Sample `first_index + i` depends on nothing but
    the seed and its index."""
    least, greatest = (length, length) if isinstance(length, int) else length
    drawn = (samples, least, greatest, seed, first_index)
    if isinstance(task, Automaton):
        if generators is not None:
            raise ValueError("generators are chosen for a group by its name, not for an automaton")
        inputs, targets, lengths, *rest = _krohn.dataset_of(task._core, *drawn)
    else:
        inputs, targets, lengths, *rest = _krohn.dataset(task, generators, *drawn)
    return Dataset(own(inputs), own(targets), own(lengths), *rest)
