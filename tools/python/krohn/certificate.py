"""Proofs and refutations."""

import os
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from krohn import _krohn
from krohn.arrays import own
from krohn.automaton import Automaton, Language
from krohn.asking import Facts, facts_of
from krohn.network import Network
from krohn.picture import card
from krohn.progress import Progress, told


class Certificate:
    """What is claimed of a network in one arithmetic and one order of evaluation, and the evidence."""

    def __init__(self, core: "_krohn.Verdict") -> None:
        self._core = core
        self._facts: Facts = facts_of(core.facts())

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

    def text(self) -> str:
        """The certificate file, which names the network by hash. `krohn check` re-checks it."""
        return self._core.text()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._core.save(os.fspath(path))

    def __str__(self) -> str:
        return self._core.headline()

    def _repr_html_(self) -> str:
        names = ("arithmetic", "order", "method", "evidence", "limit", "failing_word")
        facts = [(name.replace("_", " "), self._facts.get(name)) for name in names]
        return card(str(self), facts, "good" if self.proved else "bad" if self.refuted else "open")

    def __repr__(self) -> str:
        return f"<krohn.Certificate: {self._core.headline()}; {self._facts['arithmetic']}, {self.method}>"


def verify(
    model: Union[Network, str, "os.PathLike[str]"],
    *,
    against: Optional[Language] = None,
    precision: str = "fp32",
    order: str = "sequential",
    dense: bool = False,
    max_pairs: int = 20_000_000,
    max_seconds: float = 0,
    progress: Progress = None,
) -> Certificate:
    """Proves that a network computes its automaton for words of every length, or up to a length, or shows a shortest word
    on which it does not.

    `model` is a network, the path of one, a folder of `krohn train` or `krohn import`, or one with a checkpoint of
    flash-linear-attention. `against` is the language
    that it has to compute instead of trusting the automaton that it brings; of a checkpoint without one, it is what words
    are read beside. The verdict is that of `krohn verify` with the same options, in the same words. `precision` may be any of fp64,
    fp32, fp16, bf16, each also with +fma, bf16/fp32, fp16/fp32, tf32, exact; `order` is sequential, chunked:64, scan or doubling, or "any": that no order of
    evaluation, FMA or wider format changes a bit. With `dense` the matrices of the
    weights are multiplied in full, not in their structured form. For checkpoints: fp32 or bf16, sequential; for trained models fp32
    or fp64, and bf16 for nonlinear cells."""
    limits = max_pairs, max_seconds
    if not isinstance(model, Network):
        path = os.fspath(model)
        if os.path.isfile(os.path.join(path, "parameters.safetensors")):
            if order != "sequential" or dense:
                raise ValueError("trained models are verified letter after letter")
            with told(progress) as tell:
                return Certificate(_krohn.verify_trained(path, _named(against), precision, *limits, tell))
        if os.path.isdir(path):
            if order != "sequential" or dense:
                raise ValueError("checkpoints are verified token by token, in the layers' own form")
            with told(progress) as tell:
                return Certificate(_krohn.verify_checkpoint(path, _named(against), precision, *limits, tell))
        model = Network.load(path)
    with told(progress) as tell:
        return Certificate(_krohn.verify(model._core, _named(against), precision, order, dense, *limits, tell))


def _named(language: Optional[Language]) -> "Optional[Tuple[str, _krohn.Automaton]]":
    if language is None:
        return None
    automaton = Automaton.of(language)
    return automaton.source or "the language", automaton._core


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
    with told(progress) as tell:
        return facts_of(_krohn.sample(network._core, precision, order, list(lengths), words, seed, tell))
