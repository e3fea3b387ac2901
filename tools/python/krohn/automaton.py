"""Automata."""

import html
import os
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from krohn import _krohn
from krohn._krohn import counted
from krohn.arrays import as_indices, as_words, own, require_counts
from krohn.asking import Facts, facts_of
from krohn.picture import Picture, inline

Language = Union[str, "os.PathLike[str]", "Automaton"]


class Automaton:
    """A complete deterministic automaton with an output per state.

    `language` is what the command takes: `regex:…`, `name:…`, or the path of a DOT, AT&T, mata, JFLAP or JSON file or of
    a krohn network. Without either prefix it is a path. `alphabet` ("ab", "a-z", "bytes") and `generators`
    ("transpositions", "(1 2),(1 2 3)") are those of regular expressions and of groups."""

    def __init__(
        self,
        language: Union[str, "os.PathLike[str]"],
        *,
        alphabet: Optional[str] = None,
        symbols: Optional[str] = None,
        format: Optional[str] = None,
        generators: Optional[str] = None,
        max_states: int = 10_000_000,
    ) -> None:
        self._core = _krohn.Automaton.load(
            os.fspath(language), alphabet=alphabet, symbols=symbols, format=format, generators=generators,
            max_states=max_states)
        self.source = os.fspath(language)

    @classmethod
    def _of(cls, core: "_krohn.Automaton", source: str = "") -> "Automaton":
        automaton = cls.__new__(cls)
        automaton._core = core
        automaton.source = source
        return automaton

    @classmethod
    def of(cls, language: Language) -> "Automaton":
        """The automaton itself, or the one that `language` names."""
        return language if isinstance(language, Automaton) else cls(language)

    @classmethod
    def parse(cls, text: str, format: str) -> "Automaton":
        """From the text of a file: "dot", "att", "mata", "jff" or "json"."""
        return cls._of(_krohn.Automaton.parse(text, format))

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        letters: Union[str, Sequence[str]],
        initial: int = 0,
        accepting: Optional[Sequence[int]] = None,
        outputs: Optional[Any] = None,
        output_names: Optional[Sequence[str]] = None,
    ) -> "Automaton":
        """From `table[state, letter]`, the next state. Either `accepting` lists states, or `outputs[state]` is an index of
        `output_names`."""
        entries = as_indices(table, "table")
        if entries.ndim != 2:
            raise ValueError(f"the table has {entries.ndim} dimensions, not two: states and letters")
        if (accepting is None) == (outputs is None):
            raise ValueError("give either the accepting states or the outputs")
        if accepting is not None:
            states = as_indices(list(accepting), "accepting")
            if states.size and (states.min() < 0 or states.max() >= len(entries)):
                raise ValueError(f"accepting holds a state that is not one of 0 to {len(entries) - 1}")
            given = np.zeros(len(entries), dtype=np.int64)
            given[states] = 1
            names = ["reject", "accept"]
        else:
            given = as_indices(outputs, "outputs")
            names = list(output_names) if output_names is not None else [str(i) for i in range(int(given.max()) + 1)]
        return cls._of(_krohn.Automaton.moore(entries, initial, given, names, list(letters)))

    # ---- What it is

    @property
    def states(self) -> int:
        return self._core.states

    @property
    def initial(self) -> int:
        return self._core.initial

    @property
    def letters(self) -> List[str]:
        """The letters by name; a letter in an array is an index of this list."""
        return self._core.letters()

    @property
    def is_acceptor(self) -> bool:
        return self._core.is_acceptor

    @property
    def output_names(self) -> List[str]:
        return self._core.output_names()

    @property
    def table(self) -> np.ndarray:
        """[states, letters]: the next state. A copy."""
        return own(self._core.table())

    @property
    def outputs(self) -> np.ndarray:
        """[states]: an index of `output_names`. A copy."""
        return own(self._core.outputs())

    # ---- Words

    def encode(self, text: str) -> np.ndarray:
        """The letters of a text: characters, or names separated by white space when letters have longer names."""
        return own(self._core.parse_word(text))

    def decode(self, word: Any) -> str:
        """The text of a word of letters."""
        return self._core.format_word(as_words(word, self.encode)[0])

    def in_powers(self, word: Any) -> str:
        """The text of one word on one line, parts that repeat as powers: `b^11 abba (abb)^5`."""
        return self._core.in_powers(as_words(word, self.encode)[0])

    def run(self, words: Any) -> np.ndarray:
        """The state after every letter, in the shape of the words."""
        batch, single = as_words(words, self.encode)
        states = own(self._core.run(batch))
        return states[0] if single else states

    def final_state(self, words: Any) -> Any:
        """The state after a whole word; an array of them for words in rows."""
        batch, single = as_words(words, self.encode)
        states = own(self._core.run(batch))[:, -1] if batch.shape[1] else np.full(len(batch), self.initial)
        return int(states[0]) if single else states

    def output(self, words: Any) -> Any:
        """The name of the output after a word; a list of them for words in rows."""
        names, outputs, states = self.output_names, self.outputs, self.final_state(words)
        return names[outputs[states]] if np.ndim(states) == 0 else [names[output] for output in outputs[states]]

    def accepts(self, words: Any) -> Any:
        """Whether an acceptor accepts a word; an array of them for a list of texts or words in rows."""
        if not self.is_acceptor:
            raise ValueError(f"not an acceptor: its outputs are {', '.join(self.output_names)}; see `output`")
        if isinstance(words, (list, tuple)) and words and all(isinstance(word, str) for word in words):
            return np.array([self.accepts(word) for word in words])
        accepted = self.outputs[self.final_state(words)] == 1
        return bool(accepted) if np.ndim(accepted) == 0 else accepted

    def shortest_words(self, count: int) -> List[str]:
        """The first accepted words, shorter ones first."""
        require_counts(count=count)
        return self._core.shortest_words(count)

    def count(self, length: int) -> int:
        """How many words of this length are accepted, exactly."""
        require_counts(length=length)
        return int(self._core.count(length))

    @property
    def is_empty(self) -> bool:
        """Whether no word is accepted."""
        return self._core.is_empty()

    @property
    def is_finite(self) -> bool:
        """Whether finitely many words are accepted."""
        return self._core.is_finite()

    @property
    def is_universal(self) -> bool:
        """Whether every word over the letters is accepted."""
        return self._core.is_universal()

    def regex(self, longest: int = 2000) -> str:
        """A short regular expression, proved equal; a LimitError when none of at most `longest` bytes was found."""
        return self._core.regex(longest)

    # ---- Other automata

    def minimise(self) -> "Automaton":
        """The least automaton with the same outputs, its states numbered in breadth-first order."""
        return Automaton._of(self._core.minimise(), self.source)

    def canonical(self) -> "Automaton":
        """The states that words reach, numbered in breadth-first order."""
        return Automaton._of(self._core.canonical(), self.source)

    def __or__(self, other: "Automaton") -> "Automaton":
        return Automaton._of(self._core.union(other._core))

    def __and__(self, other: "Automaton") -> "Automaton":
        return Automaton._of(self._core.intersection(other._core))

    def __sub__(self, other: "Automaton") -> "Automaton":
        return Automaton._of(self._core.difference(other._core))

    def __invert__(self) -> "Automaton":
        return Automaton._of(self._core.complement())

    def __add__(self, other: "Automaton") -> "Automaton":
        """Words of this language followed by words of the other."""
        return Automaton._of(self._core.concatenation(other._core))

    def star(self) -> "Automaton":
        return Automaton._of(self._core.star())

    def plus(self) -> "Automaton":
        """Words of this language in a row, at least one."""
        return Automaton._of(self._core.plus())

    def reverse(self) -> "Automaton":
        return Automaton._of(self._core.reverse())

    def __xor__(self, other: "Automaton") -> "Automaton":
        """Words of exactly one of the two."""
        return Automaton._of(self._core.symmetric_difference(other._core))

    def shuffle(self, other: "Automaton") -> "Automaton":
        """Words of the two interleaved in every way."""
        return Automaton._of(self._core.shuffle(other._core))

    def left_quotient(self, prefixes: "Automaton") -> "Automaton":
        """The rests of words behind a word of `prefixes`."""
        return Automaton._of(self._core.left_quotient(prefixes._core))

    def right_quotient(self, suffixes: "Automaton") -> "Automaton":
        """The beginnings of words before a word of `suffixes`."""
        return Automaton._of(self._core.right_quotient(suffixes._core))

    def prefixes(self) -> "Automaton":
        """Beginnings of words."""
        return Automaton._of(self._core.prefixes())

    def suffixes(self) -> "Automaton":
        """Ends of words."""
        return Automaton._of(self._core.suffixes())

    def factors(self) -> "Automaton":
        """The factors of words: u is one of xuy."""
        return Automaton._of(self._core.factors())

    def subwords(self) -> "Automaton":
        """Words with any letters struck out."""
        return Automaton._of(self._core.subwords())

    def projection(self, letters: str) -> "Automaton":
        """Words with all letters but these struck out; `letters` as in the command's --alphabet."""
        return Automaton._of(self._core.projection(letters))

    def excess_word(self, other: "Automaton") -> Optional[str]:
        """A shortest word of this language that is not one of the other; None when it is included."""
        return self._core.excess_word(other._core)

    def __le__(self, other: "Automaton") -> bool:
        """Whether every word is one of the other language."""
        return self.excess_word(other) is None

    def common_word(self, other: "Automaton") -> Optional[str]:
        """A shortest word of both; None when they are disjoint."""
        return self._core.common_word(other._core)

    def distinguishing_word(self, other: "Automaton") -> Optional[str]:
        """A shortest word on which the two differ; None when they compute the same."""
        return self._core.distinguishing_word(other._core)

    def equivalent(self, other: "Automaton") -> bool:
        return self.distinguishing_word(other) is None

    def __eq__(self, other: object) -> bool:
        """The same table, letters and outputs; see `equivalent` for the same language."""
        return self._core == other._core if isinstance(other, Automaton) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    # ---- Algebra

    def monoid(self, *, max_elements: int = 20_000, max_classes: int = 2_000_000) -> Facts:
        """Facts about the transition monoid: its size, groups, and verdicts ("aperiodic", …), each no with a witness."""
        return facts_of(self._core.monoid(max_elements, max_classes))

    # ---- Files and pictures

    def format(self, format: str) -> str:
        """The text of a file: "dot", "att", "jff" or "json"."""
        return self._core.format(format)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """In the format of the extension: .dot, .att, .jff, .json."""
        self._core.save(os.fspath(path))

    @property
    def as_file(self) -> Tuple[str, str]:
        return ".json", self.source or "the automaton"

    def picture(self, title: str = "") -> Picture:
        return Picture(self._core.svg(title))

    def egg_box(self) -> Picture:
        """The D-classes of the transition monoid."""
        return Picture(self._core.egg_box_svg())

    def _repr_svg_(self) -> str:
        return self._core.svg("")

    def _repr_html_(self) -> str:
        caption = html.escape(repr(self)[1:-1])
        return f"<figure style='margin:0'>{inline(self._core.svg(''))}<figcaption>{caption}</figcaption></figure>"

    def __repr__(self) -> str:
        what = f" of {self.source}" if self.source else ""
        return f"<krohn.Automaton{what}: {counted(self.states, 'state')}, {counted(len(self.letters), 'letter')}>"

    def __reduce__(self) -> Any:
        return Automaton.parse, (self.format("json"), "json")
