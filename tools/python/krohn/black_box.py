"""Anything that answers words, asked in one way."""

import copy
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

from krohn.arrays import as_array, is_module

FORMS = ("words", "positions", "step")
SPELLINGS = ("ids", "names", "text")
UNKNOWN = -1
"""The number of an answer that is no output."""


class BlackBox:
    """A model of which nothing is known but its answers, and how to ask it.

    `form` says what `f` is:

        "words"      f(batch) gives one answer for each word, after the whole of it
        "positions"  f(batch) gives an answer after every letter: [words, length]
        "step"       f(state, letter) gives (state, answer), from `initial` on; where `initial` is a function, it makes
                     a new state for every word, and otherwise each word gets a copy of it

    A batch holds words of one length. `words` says how they are written: "ids", an array [words, length] of indices of
    the letters, or of the numbers that `letters` gives them by name; "names", a list of lists of names; "text", a list
    of strings, as `Automaton.decode` writes them. A step gets one letter in the same spelling. Answers are names of
    outputs, or indices of `outputs` (of the language's output names where there are none); to an acceptor False and
    True are 0 and 1. Anything else, None too, is a wrong answer."""

    def __init__(
        self,
        f: Callable[..., Any],
        *,
        form: str = "words",
        words: str = "ids",
        letters: Optional[Mapping[str, int]] = None,
        outputs: Optional[Sequence[str]] = None,
        initial: Any = None,
        batch: int = 256,
    ) -> None:
        if not callable(f):
            raise TypeError(f"{type(f).__name__} is not a function; a model of PyTorch goes through krohn.adapters")
        if form not in FORMS:
            raise ValueError(f"form is {form!r}, not one of {', '.join(FORMS)}")
        if words not in SPELLINGS:
            raise ValueError(f"words is {words!r}, not one of {', '.join(SPELLINGS)}")
        if letters is not None and words != "ids":
            raise ValueError(f"letters gives numbers to letters, but words are handed over as {words}")
        if initial is not None and form != "step":
            raise ValueError('an initial state belongs to form="step"')
        if batch < 1:
            raise ValueError(f"a batch holds {batch} words")
        self.f, self.form, self.words, self.letters = f, form, words, letters
        self.outputs = None if outputs is None else list(outputs)
        self.initial, self.batch = initial, batch

    def __repr__(self) -> str:
        return f"<krohn.BlackBox: {getattr(self.f, '__name__', type(self.f).__name__)}, form={self.form!r}>"


def says_itself(f: Any) -> bool:
    """Whether it says how it is asked: a BlackBox, a module of PyTorch, a Network or a Run."""
    return isinstance(f, BlackBox) or is_module(f) or _adapter_of(f) is not None


def _adapter_of(f: Any) -> Optional[Callable[[Any], BlackBox]]:
    from krohn import adapters
    from krohn.network import Network
    from krohn.training import Run

    return adapters.network if isinstance(f, Network) else adapters.run if isinstance(f, Run) else None


def box_of(
    f: Any, *, outputs: Optional[Sequence[str]] = None, names: Optional[Sequence[str]] = None, **how: Any
) -> BlackBox:
    """`f` as it says itself how it is asked, or by form, words, initial and batch, which are None where they are not given. A
    module of PyTorch is one with logits for every position; `names` are outputs that it does not know."""
    if says_itself(f):
        if any(value is not None for value in how.values()) or (outputs is not None and not is_module(f)):
            kind = "module of PyTorch" if is_module(f) else type(f).__name__
            raise ValueError(f"a {kind} says itself how it is asked; krohn.adapters has other ways to ask models")
        if isinstance(f, BlackBox):
            return f
        from krohn import adapters

        adapter = _adapter_of(f)
        return adapter(f) if adapter else adapters.module(f, outputs=names if outputs is None else outputs)
    given = {name: value for name, value in how.items() if value is not None}
    return BlackBox(f, outputs=outputs, **given)


class Outputs:
    """The outputs of a language: an answer is the name of one, or its index."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names: List[str] = list(names)
        self._numbers: Dict[str, int] = {name: number for number, name in enumerate(self.names)}

    def number(self, answer: Any) -> int:
        if isinstance(answer, str):
            return self._numbers.get(answer, UNKNOWN)
        return int(answer) if isinstance(answer, (bool, int)) and 0 <= answer < len(self.names) else UNKNOWN

    def refuse_others(self, given: Sequence[str]) -> None:
        """ValueError where none of `given`, what a model calls its answers, is an output: every answer would be wrong."""
        if not set(given) & set(self.names):
            raise ValueError(f"the model's answers are {', '.join(given)}, and none is an output of the automaton, which has "
                             f"{', '.join(self.names)}: name these for the answers, in their order, with outputs=[…]")


class OutputsAsTheyCome(Outputs):
    """Outputs named after the answers: new ones get the next numbers, until `closed`."""

    def __init__(self, names: Sequence[str] = (), closed: bool = False) -> None:
        super().__init__(names)
        self.closed = closed

    def number(self, answer: Any) -> int:
        name = ("accept" if answer else "reject") if isinstance(answer, bool) else str(answer)
        if name not in self._numbers and not self.closed:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers.get(name, UNKNOWN)

    def refuse_others(self, given: Sequence[str]) -> None:
        """Any name may come."""


class Asker:
    """A black box with the letters and outputs of one language."""

    def __init__(self, box: BlackBox, letter_names: Sequence[str], outputs: Outputs) -> None:
        self.box, self.letter_names, self.outputs = box, list(letter_names), outputs
        self.words = self.letters = 0
        self._separator = "" if all(len(name) == 1 for name in self.letter_names) else " "
        self._ids = np.arange(len(self.letter_names))
        if box.letters is not None:
            missing = [name for name in self.letter_names if name not in box.letters]
            if missing:
                raise ValueError(f"letters gives no number to {missing[0]!r}")
            self._ids = np.array([box.letters[name] for name in self.letter_names], dtype=np.int64)
        if box.outputs:
            outputs.refuse_others(box.outputs)

    def ask(self, words: np.ndarray) -> np.ndarray:
        """The numbers of the answers to words in rows: [words, length], or [words, 1] where only whole words have one."""
        if len(words) == 0:
            return np.zeros((0, 1), dtype=np.int64)
        parts = [self._ask(words[first : first + self.box.batch]) for first in range(0, len(words), self.box.batch)]
        return np.concatenate(parts)

    def _ask(self, words: np.ndarray) -> np.ndarray:
        self.words += len(words)
        self.letters += words.size
        if self.box.form == "step":
            return np.array([self._walk(word) for word in words], dtype=np.int64).reshape(len(words), -1)
        said = self.box.f(self._spelt(words))
        wanted = (len(words),) if self.box.form == "words" else words.shape
        numbers = self._numbers(said, wanted)
        return numbers.reshape(len(words), -1)

    def _walk(self, word: np.ndarray) -> List[int]:
        initial = self.box.initial
        state = initial() if callable(initial) else copy.deepcopy(initial)
        numbers = []
        for letter in word:
            spelt = self._ids[letter].item() if self.box.words == "ids" else self.letter_names[letter]
            pair = self.box.f(state, spelt)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError(f'a step returns (state, answer), not {type(pair).__name__}; without a state say form="words"')
            state = pair[0]
            numbers.append(int(self._numbers([pair[1]], (1,))[0]))
        return numbers

    def _spelt(self, words: np.ndarray) -> Any:
        if self.box.words == "ids":
            return self._ids[words]
        names = [[self.letter_names[letter] for letter in word] for word in words]
        return names if self.box.words == "names" else [self._separator.join(word) for word in names]

    def _numbers(self, said: Any, wanted: Sequence[int]) -> np.ndarray:
        array = as_array(said)
        if array.shape != tuple(wanted):
            form = self.box.form
            other = {"words": "positions", "positions": "words"}.get(form, form)
            raise ValueError(
                f"answers of the shape {list(array.shape)} to {wanted[0]} words; form={form!r} has {list(wanted)}, "
                f"one {'a word' if form == 'words' else 'after every letter'}; see also form={other!r}")
        if array.dtype.kind == "f":
            raise TypeError("answers are real numbers; a model that returns logits goes through krohn.adapters.module")
        if array.dtype.kind in "biu" and array.size > 64:  # each answer once, in the order in which they come
            values, first, places = np.unique(array, return_index=True, return_inverse=True)
            found = np.zeros(len(values), dtype=np.int64)
            for i in np.argsort(first):
                found[i] = self._number(values[i].item())
            return found[places].reshape(array.shape)
        known: Dict[Any, int] = {}
        numbers = []
        for answer in array.ravel().tolist():
            key = (type(answer), answer)
            if key not in known:
                known[key] = self._number(answer)
            numbers.append(known[key])
        return np.array(numbers, dtype=np.int64).reshape(array.shape)

    def _number(self, answer: Any) -> int:
        given = self.box.outputs
        if given is not None and isinstance(answer, (bool, int)):
            return self.outputs.number(given[answer]) if 0 <= answer < len(given) else UNKNOWN
        return self.outputs.number(answer)
