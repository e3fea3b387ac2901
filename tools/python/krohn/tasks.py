"""The tasks of the literature as arrays."""

import json
import os
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from krohn import _krohn
from krohn._krohn import counted
from krohn.arrays import own, require_counts
from krohn.automaton import Automaton


@dataclass(frozen=True, repr=False)
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

    @property
    def mask(self) -> np.ndarray:
        """[samples, length]: True at the tokens of a sample, False where it is filled up. A filler has the id 0, which is a
        token too: a model that looks ahead, or at the end of the row, needs the mask or the lengths."""
        return np.arange(self.inputs.shape[1]) < self.lengths[:, None]

    def filled(self, padding: int) -> np.ndarray:
        """The inputs with `padding` where they are filled up, such as the id after the last token's, `len(tokens)`."""
        return np.where(self.mask, self.inputs, padding)

    def balanced(self, seed: int = 1) -> "Dataset":
        """As many samples for each answer to the whole word: of each as many as there are of the rarest, drawn at random, in their
        order. Answers that no sample has are left out; ValueError where samples end without one."""
        last = self.targets[np.arange(len(self)), self.lengths - 1]
        if (last < 0).any():
            raise ValueError("no answer is due at the end of a sample: there are no classes to balance")
        if len(self) == 0:
            return self
        _, classes, counts = np.unique(last, return_inverse=True, return_counts=True)
        drawn = np.random.default_rng(seed).permutation(len(self))
        chosen = np.sort(np.concatenate([drawn[classes[drawn] == kind][: counts.min()] for kind in range(len(counts))]))
        return replace(self, inputs=self.inputs[chosen], targets=self.targets[chosen], lengths=self.lengths[chosen])

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Tuple[np.ndarray, np.ndarray]:
        """The inputs and the targets of one sample, filled up: what a `torch.utils.data.DataLoader` asks for and stacks.
        `list(zip(data.inputs, data.targets, data.mask))` is a data set with the mask as well."""
        return self.inputs[index], self.targets[index]

    def __repr__(self) -> str:
        shortest, longest = (int(self.lengths.min()), int(self.lengths.max())) if len(self) else (0, 0)
        lengths = counted(longest, "token") if shortest == longest else f"{shortest:,} to {longest:,} tokens"
        return (f"<krohn.Dataset: {counted(len(self), 'sample')} of {lengths}, {counted(len(self.tokens), 'token')}, "
                f"{counted(len(self.labels), 'label')}>")

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes arrays and vocabulary: to a NumPy archive (.npz), or with pyarrow to a table (.parquet, .arrow, .feather)
        with a row for each sample, lists of its own length, and the vocabulary in the schema's metadata."""
        name = os.fspath(path)
        ending = os.path.splitext(name)[1]
        if ending == ".npz":
            np.savez(name, inputs=self.inputs, targets=self.targets, lengths=self.lengths,
                     tokens=np.array(self.tokens), labels=np.array(self.labels), chance=self.chance)  # fmt: skip
            return
        if ending not in (".parquet", ".arrow", ".feather"):
            raise ValueError(f"{name}: the name of a data set ends in .npz, .parquet, .arrow or .feather")
        table = self.to_arrow()
        if ending == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, name)
        else:
            from pyarrow import feather

            feather.write_feather(table, name)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`: the columns `inputs` and `targets`, lists of ids of each sample's own length."""
        try:
            import pyarrow
        except ImportError as error:
            raise ImportError("tables of Arrow need pyarrow: pip install pyarrow; .npz needs nothing") from error
        columns = {
            name: pyarrow.array([row[:length] for row, length in zip(rows, self.lengths)], pyarrow.list_(pyarrow.int64()))
            for name, rows in (("inputs", self.inputs), ("targets", self.targets))
        }
        facts = {"tokens": json.dumps(self.tokens), "labels": json.dumps(self.labels), "chance": str(self.chance)}
        return pyarrow.table(columns).replace_schema_metadata(facts)


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
    require_counts(samples=samples, seed=seed, first_index=first_index, least=least, greatest=greatest)
    drawn = (samples, least, greatest, seed, first_index)
    if isinstance(task, Automaton):
        if generators is not None:
            raise ValueError("generators are chosen for a group by its name, not for an automaton")
        inputs, targets, lengths, *rest = _krohn.dataset_of(task._core, *drawn)
    else:
        inputs, targets, lengths, *rest = _krohn.dataset(task, generators, *drawn)
    return Dataset(own(inputs), own(targets), own(lengths), *rest)
