"""Proofs and refutations."""

import os
import tempfile
from typing import Any, Dict, Optional, Sequence, Union

import numpy as np

from krohn import _krohn
from krohn.arrays import own, require_counts
from krohn.asking import Facts, ask, facts_of
from krohn.automaton import Language
from krohn.network import Network
from krohn.picture import card
from krohn.progress import Progress, told


class Certificate:
    """A claim about a model in one arithmetic and one order of evaluation, and the evidence."""

    as_file = ".cert", "the certificate"

    def __init__(self, answer: Facts) -> None:
        self._core: "_krohn.Verdict" = answer.verdict_core
        self._facts: Facts = answer.verdict
        self._forward: Optional[Facts] = answer.get("forward")

    @property
    def claim(self) -> str:
        """ "proved", "proved up to a length", "refuted" or "sampled"."""
        return self._facts["claim"]

    @property
    def proved(self) -> bool:
        """For words of every length."""
        return self.claim == "proved"

    @property
    def refuted(self) -> bool:
        return self.claim == "refuted"

    @property
    def length(self) -> Optional[int]:
        """The length that a claim "proved up to a length" reaches."""
        return self._facts.get("length")

    @property
    def failing_word(self) -> Optional[np.ndarray]:
        """The letters of a word on which a refuted network is wrong."""
        word = self._core.failing_word()
        return None if word is None else own(word)

    @property
    def is_shortest(self) -> bool:
        """Whether no shorter word fails."""
        return bool(self._facts.get("shortest", False))

    @property
    def method(self) -> str:
        return self._facts["method"]

    @property
    def evidence(self) -> str:
        """One sentence: what was checked, and how much of it."""
        return self._facts["evidence"]

    def to_dict(self) -> Dict[str, Any]:
        """As `krohn verify --json` prints it."""
        return dict(self._facts)

    @property
    def compared_words(self) -> Optional[int]:
        """The number of words on which an imported model's own forward pass was found to say the same; 0 means that it was not
        compared, and the claim may be about another model than the one that its tensors came from. None of other models."""
        return None if self._forward is None else self._forward.compared_words

    def text(self) -> str:
        """The certificate file, which names the model by hash. `krohn check` re-checks it."""
        with tempfile.TemporaryDirectory(prefix="krohn-") as folder:
            path = os.path.join(folder, "certificate")
            self.save(path)
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes that file, for whatever `krohn verify --certificate` writes one for."""
        self._core.save(os.fspath(path))

    def __str__(self) -> str:
        return self._core.headline()

    def _repr_html_(self) -> str:
        names = ("arithmetic", "order", "method", "evidence", "limit", "failing_word")
        facts = [(name.replace("_", " "), self._facts.get(name)) for name in names]
        if self._forward is not None:
            facts.append(("own forward pass", f"the same on {self.compared_words:,} words" if self.compared_words else "not compared"))
        return card(str(self), facts, "good" if self.proved else "bad" if self.refuted else "open")

    def __repr__(self) -> str:
        return f"<krohn.Certificate: {self._core.headline()}; {self._facts['arithmetic']}, {self.method}>"


def verify(
    model: Union[Network, str, "os.PathLike[str]"],
    *,
    against: Optional[Language] = None,
    precision: Optional[str] = None,
    progress: Progress = None,
    **options: Any,
) -> Certificate:
    """Proves that a model computes its language for words of every length, or up to a length, or shows a shortest word
    on which it does not: the verdict of `krohn verify`, in the same words.

    `model` is a network, the path of one, a run or its folder, or a folder with a checkpoint of flash-linear-attention or
    transformers. `against` is the language that it has to compute instead of trusting the automaton that it brings; of a
    checkpoint without one, it is what words are read beside. `precision` may be any of fp64, fp32, fp16, bf16, each also
    with +fma, bf16/fp32, fp16/fp32, tf32, exact, or integers: u8, i8, u16, i16, u32, i32, also with -saturating; for
    checkpoints fp32 or bf16; for trained models fp32 or fp64, and bf16 for nonlinear cells. Without it, it is bf16 for a
    checkpoint whose config says bfloat16, and fp32 otherwise.

    `options` are the command's others (`krohn help verify`): order, which is sequential, chunked:64, scan or doubling;
    any_order=True: that no order of evaluation, FMA or wider format changes a bit, or of a trained model that closed
    regions hold whatever these compute; form="dense": the matrices of the weights
    are multiplied in full, not in their structured form; max_pairs, time (in seconds), long_letters, length, words, expect,
    …"""
    return Certificate(ask("verify", model, against=against, precision=precision, progress=progress, **options))


def sample(
    network: Network,
    *,
    lengths: Sequence[int] = (100,),
    words: int = 16,
    precision: str = "fp32",
    order: str = "sequential",
    seed: int = 1,
    progress: Progress = None,
) -> Facts:
    """How often the network agrees with its automaton on random words: `lengths`, a row for each length, and
    `first_error`, the first letter after which it was wrong, or None."""
    require_counts(words=words, seed=seed)
    for length in lengths:
        require_counts(length=length)
    with told(progress) as tell:
        return facts_of(_krohn.sample(network._core, precision, order, list(lengths), words, seed, tell))
