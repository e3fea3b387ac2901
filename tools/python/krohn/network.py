"""Networks: the weights of linear recurrences."""

import os
from typing import Any, Dict, List, Mapping, Optional, Union

import numpy as np

from krohn import _krohn
from krohn._krohn import counted
from krohn.arrays import as_reals, as_words, own
from krohn.automaton import Automaton, Language
from krohn.asking import Facts, ask, facts_of
from krohn.picture import Picture, frame

_LARGEST_STEPPER = 2_000_000
NUMPY_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U64": "<u8", "U32": "<u4",
               "I16": "<i2", "U16": "<u2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1"}


def _with_columns(values: Any, what: str, dimensions: int) -> np.ndarray:
    """Vectors are matrices of one column."""
    array = as_reals(values, what, np.ndim(values))
    if array.ndim == dimensions - 1:
        array = array[..., np.newaxis]
    return as_reals(array, what, dimensions)


class Network:
    """Layers of H_t = A(c_t) H_{t−1} + B(c_t), wired by tables, with the automaton that they stand for. The file that it is
    saved in, and with it `state_dict`, is described in docs/reference/network-file.md."""

    as_file = ".safetensors", "the network"

    def __init__(self, core: "_krohn.Network") -> None:
        self._core = core

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Network":
        return cls(_krohn.Network.load(os.fspath(path)))

    @classmethod
    def from_arrays(
        cls, language: Language, a: Any, b: Optional[Any] = None, *, initial: Any, codewords: Any
    ) -> "Network":
        """One layer of H_t = a[letter] H_{t−1} + b[letter], of weights from anywhere.

        a [letters, n, n]; b [letters, n, d] or [letters, n]; initial [n, d] or [n]; codewords [states, n, d] or
        [states, n]: the network's answer is the state of the automaton whose codeword is nearest, no answer when two are."""
        return cls(_krohn.Network.from_arrays(
            Automaton.of(language)._core, as_reals(a, "a", 3), None if b is None else _with_columns(b, "b", 3),
            _with_columns(initial, "initial", 2), _with_columns(codewords, "codewords", 3)))

    def with_weights(self, weights: Mapping[str, Any]) -> "Network":
        """The same layers with other numbers, such as trained ones: `layers.K.A` [actions, n, n], `layers.K.H0` [n, d] and
        where the layer adds something `layers.K.B` [actions, n, d], for any of the layers, as `state_dict` names them. What is
        not given stays."""
        given, network = dict(weights), self._core
        for layer in range(self.facts()["layers"]):
            name = f"layers.{layer}"
            parts = {part: given.pop(f"{name}.{part}", None) for part in ("A", "B", "H0")}
            if parts["A"] is None and parts["H0"] is None and parts["B"] is None:
                continue
            if parts["A"] is None or parts["H0"] is None:
                raise ValueError(f"{name}.A and {name}.H0 have to be given together")
            network = network.with_layer(
                layer, as_reals(parts["A"], f"{name}.A", 3),
                None if parts["B"] is None else as_reals(parts["B"], f"{name}.B", 3),
                as_reals(parts["H0"], f"{name}.H0", 2))
        if given:
            raise ValueError(f"weights that the network does not have: {', '.join(given)}")
        return Network(network)

    @property
    def automaton(self) -> Automaton:
        """The automaton that the network has to compute."""
        return Automaton._of(self._core.automaton(), self.facts()["source"])

    def facts(self) -> Facts:
        """The construction and its theorem, layers, state size, reflections per token (None: no such form)."""
        return facts_of(self._core.facts())

    def state_dict(self) -> Dict[str, np.ndarray]:
        """All tensors of the file by name: `layers.0.A`, `layers.0.H0`, `automaton.table`, …"""
        return {name: np.frombuffer(data, dtype=NUMPY_TYPES[dtype]).reshape(shape).copy()
                for name, dtype, shape, data in self._core.tensors()[0]}

    @property
    def metadata(self) -> Dict[str, str]:
        """The texts of the file: `layers`, `automaton`, `provenance`, … as JSON."""
        return self._core.tensors()[1]

    def run(self, words: Any, *, precision: str = "fp32", order: str = "sequential") -> np.ndarray:
        """The state that the network reads out after every letter, −1 where it reads none, in the shape of the words.
        `precision` and `order` are those of `verify`."""
        batch, single = as_words(words, self.automaton.encode)
        states = own(self._core.run(batch, precision, order))
        return states[0] if single else states

    def hidden(self, word: Any, *, precision: str = "fp32", order: str = "sequential") -> List[np.ndarray]:
        """Every layer's H before the first letter of a word and after each: [length + 1, n, d]. The very numbers of that
        arithmetic, as float64."""
        batch, single = as_words(word, self.automaton.encode)
        if not single:
            raise ValueError("give one word")
        numbers, layers, at = self._core.numbers(batch, precision, order), [], 0
        tensors = self.state_dict()
        for k in range(self.facts().layers):
            rows, columns = tensors[f"layers.{k}.H0"].shape
            part = numbers[:, at : at + rows * columns]
            layers.append(np.swapaxes(part.reshape(len(part), columns, rows), 1, 2))
            at += rows * columns
        return layers

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """As krohn's own .safetensors file, which `Network.load` and the command read."""
        self._core.write("krohn", os.fspath(path))

    def picture(self) -> Picture:
        return Picture(self._core.svg())

    def stepper(self, precision: str = "fp32") -> str:
        """A page that steps automaton and network side by side, letter by letter, bit for bit in that arithmetic: the one of
        `krohn report` without the rest. It loads nothing."""
        return _krohn.stepper_page(self._core, precision)

    def _repr_html_(self) -> Optional[str]:
        """The stepper; of a network that is too large for one, the picture."""
        page = self.stepper()
        return frame(page) if len(page) <= _LARGEST_STEPPER else None

    def _repr_svg_(self) -> str:
        return self._core.svg()

    def __repr__(self) -> str:
        facts = self.facts()
        return (f"<krohn.Network of {facts['source'] or 'an automaton'} by {facts['construction']}: "
                f"{counted(facts['layers'], 'layer')}, {counted(facts['state_numbers'], 'number')} of state>")


def compile(
    language: Language,
    *,
    construction: Optional[str] = None,
    precision: Optional[str] = None,
    keys: Optional[str] = None,
    max_reflections: Optional[int] = None,
    max_dimension: Optional[int] = None,
    exact: bool = False,
    any_order: bool = False,
    max_pairs: int = 1_000_000,
) -> Network:
    """Exact weights for a language: a text as `Automaton` takes it, or an automaton, of which every state is tracked.

    The wishes are those of `krohn compile`: a construction's name (`plan` lists them), a precision that the weights are
    rounded to ("fp32", "bf16", …), `keys` ("unit", "unnormalised", "doubled"), limits, only exact constructions, and
    only those that no order of evaluation changes, proved over at most `max_pairs` (`any_order`; in fp32 where no precision
    is given). Acceptors that are given as a text are minimised first."""
    automaton = _subject(language)
    return Network(_krohn.Network.compile(
        automaton._core, automaton.source, construction, precision, keys, max_reflections, max_dimension, exact,
        any_order, max_pairs))


def plan(
    language: Language,
    *,
    construction: Optional[str] = None,
    precision: Optional[str] = None,
    keys: Optional[str] = None,
    max_reflections: Optional[int] = None,
    max_dimension: Optional[int] = None,
    exact: bool = False,
) -> List[Facts]:
    """All constructions with their cost, or why they do not fit; at most one has `chosen`. The wishes are `compile`'s."""
    return facts_of(_krohn.plan(
        _subject(language)._core, construction, precision, keys, max_reflections, max_dimension, exact))


def targets() -> List[str]:
    """The targets that `export` takes."""
    return _krohn.targets()


def export(model: Union[Network, Language], target: str, path: Union[str, "os.PathLike[str]"]) -> None:
    """Writes a network, or the one that `compile` gives for a language, for another framework: a file, or for "torch" and
    the targets of flash-linear-attention a folder, as `krohn compile --target` does."""
    if target not in targets():
        raise ValueError(f"\"{target}\" is not one of {', '.join(targets())}")
    if _krohn.is_checkpoint_target(target):
        automaton = model.automaton if isinstance(model, Network) else _subject(model)
        return _krohn.export_checkpoint(automaton._core, target, os.fspath(path))
    if _krohn.is_cell_target(target):
        ask("compile", model.automaton if isinstance(model, Network) else model, target=target, output=path)
        return None
    network = model if isinstance(model, Network) else compile(model, construction=_construction_for(model, target))
    return network._core.write(target, os.fspath(path))


def _construction_for(language: Language, target: str) -> Optional[str]:
    """The first construction that the target's architecture holds; None where it holds all."""
    names = _krohn.target_constructions(target)
    rows = {row["construction"]: row for row in plan(language)} if names else {}
    reasons = []
    for name in names:
        if rows[name]["possible"]:
            return name
        reasons.append(f"{name}: {rows[name]['reason']}")
    if reasons:
        raise _krohn.InputError(f"{target} cannot hold it; {'; '.join(reasons)}")
    return None


def _subject(language: Language) -> Automaton:
    if isinstance(language, Automaton):
        return language
    automaton = Automaton(language)
    return automaton.minimise() if automaton.is_acceptor else automaton.canonical()
