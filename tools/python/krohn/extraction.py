"""The automaton behind anything that answers words."""

from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Union

import numpy as np

from krohn import _krohn
from krohn._krohn import counted
from krohn.automaton import Automaton
from krohn.arrays import own, require_counts
from krohn.black_box import Asker, BlackBox, OutputsAsTheyCome, box_of
from krohn.trial import Tester, Trial

NO_ANSWER = "no answer"
"""The initial state's answer where nothing was asked about the empty word, and no other state could stand there."""


@dataclass(frozen=True)
class Extracted:
    """An automaton learned by asking, and how far it was held against what it was learned from."""

    automaton: Automaton
    length: int
    """Words up to this length define it."""
    questions: int
    """Words that the learner asked about."""
    refuted_guesses: int
    trial: Trial
    """The automaton tested on longer words. A failing word is one where the model leaves it."""
    limit: str = ""
    """Why no longer words define it."""

    def __repr__(self) -> str:
        return (f"krohn.extract: {counted(self.automaton.states, 'state')}, {counted(len(self.automaton.letters), 'letter')}, defined by words of up to "
                f"{self.length:,} letters{f' ({self.limit})' if self.limit else ''}; {self.questions:,} questions, "
                f"{self.refuted_guesses} guesses refuted\n{self.trial!r}")

    def _repr_html_(self) -> str:
        return f"{self.automaton._repr_svg_()}{self.trial._repr_html_()}"


def extract(
    f: Union[BlackBox, Callable[..., Any]],
    alphabet: Union[str, Sequence[str], Automaton],
    *,
    form: Optional[str] = None,
    words: Optional[str] = None,
    initial: Any = None,
    empty: bool = False,
    outputs: Optional[Sequence[str]] = None,
    batch: Optional[int] = None,
    length: int = 64,
    beyond: int = 1_000,
    short: int = 5_000,
    letters: int = 200_000,
    max_states: int = 250,
    seed: int = 1,
) -> Extracted:
    """Learns the least automaton that answers as `f` does, by asking (Angluin 1987, Rivest and Schapire 1993).

    `f`, `form`, `words`, `initial` and `batch` are as `test` takes them; `alphabet` is a text of one-character letters, a
    list of names, or an automaton with the letters. Answers get names as they come: False and True are "reject" and
    "accept", numbers their digits, texts themselves, and with `outputs` numbers are indices of it.

    A guess is held against the model as `test` does it, first on words of up to 8 letters, then of twice as many, up to
    `length`; what disagrees makes the guess finer. Then `trial` tries words of up to `beyond` letters. A model that
    tells more than `max_states` states apart raises LimitError when words of 8 letters show it, and later ends the
    learning with what shorter words said.

    The empty word is asked about with `empty` alone. Without it the initial state is one that goes on as it does, if
    there is one, and otherwise says "no answer"."""
    names = list(alphabet.letters if isinstance(alphabet, Automaton) else alphabet)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"the alphabet {names} has no letter, or one twice")
    box = box_of(f, outputs=outputs, form=form, words=words, initial=initial, batch=batch)
    if empty and box.form != "words":
        raise ValueError(f'form="{box.form}" has no answer to the empty word')
    require_counts(1, length=length, max_states=max_states)
    require_counts(beyond=beyond, short=short, letters=letters, seed=seed)
    return _Extractor(box, names, empty, max_states).run(length, beyond, short, letters, seed)


class _Questions:
    """The answers after whole words, asked in batches of one length."""

    def __init__(self, asker: Asker, empty: bool) -> None:
        self.asker, self.empty = asker, empty

    def __call__(self, letters: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The words stand one behind the other. Without `empty` the empty word has the answer 0, which no other has."""
        letters, lengths = own(letters), own(lengths)
        ends = np.cumsum(lengths)
        said = np.zeros(len(lengths), dtype=np.int64)
        for length in np.unique(lengths):
            if length == 0 and not self.empty:
                continue
            rows = np.flatnonzero(lengths == length)
            words = letters[(ends[rows] - length)[:, None] + np.arange(length)]
            said[rows] = self.asker.ask(words)[:, -1]
        return said


class _Extractor:
    def __init__(self, box: BlackBox, letters: List[str], empty: bool, max_states: int) -> None:
        self.empty, self.letters = empty, letters
        self.answers = OutputsAsTheyCome([] if empty else [NO_ANSWER])
        self.asker = Asker(box, letters, self.answers)
        self.questions = _Questions(self.asker, empty)
        self.learner = _krohn.Learner(len(letters), self.questions, max_states)
        self.refuted = 0

    def run(self, length: int, beyond: int, short: int, letters: int, seed: int) -> Extracted:
        reached, stage, limit, automaton = 0, min(8, length), "", None
        while reached < length:
            try:
                self._learn(stage, short, letters, seed)
            except _krohn.LimitError as error:
                if automaton is None:
                    raise
                limit = f"on words of up to {stage} letters, {error}"
                break
            automaton, reached, stage = self._guess(), stage, min(2 * stage, length)
        final = self._settled(automaton)
        asker = Asker(self.asker.box, self.letters, OutputsAsTheyCome(final.output_names, closed=True))
        trial = Tester(asker, final, max(beyond, reached), letters, seed + 1).run(short)
        return Extracted(final, reached, self.learner.questions, self.refuted, trial, limit)

    def _guess(self) -> Automaton:
        return Automaton._of(self.learner.hypothesis(self.letters, self.answers.names), "the automaton extracted")

    def _learn(self, stage: int, short: int, letters: int, seed: int) -> None:
        while True:
            guess = self._guess()
            tester = Tester(self.asker, guess, stage, letters, seed)
            tester.search(short)
            if tester.found is None:
                return
            word = np.array(tester.found.word[: tester.found.position], dtype=np.int64)
            said = int(self.questions(word, np.array([len(word)]))[0])
            before = self.learner.states
            if said != int(guess.outputs[guess.final_state(word)]):
                self.refuted += 1
                self.learner.refine(word)
            if self.learner.states == before:
                raise ValueError(
                    f"the answer after {len(word)} letters depends on more than these letters: on what follows, on the other "
                    "words of a batch, or on chance; no automaton can be learned from it")

    def _settled(self, automaton: Automaton) -> Automaton:
        """Without a state for the empty word alone, where another goes on as it does; and minimal."""
        if self.empty:
            return automaton.minimise()
        table, outputs, initial = automaton.table, automaton.outputs, automaton.initial
        twins = [state for state in range(len(table)) if state != initial and np.array_equal(table[state], table[initial])]
        names = automaton.output_names
        if twins:
            table = np.where(table == initial, twins[0], table)
            initial = twins[0]
        least = Automaton._of(_krohn.Automaton.moore(table, initial, outputs, names, self.letters)).minimise()
        used = {names[output] for output in least.outputs}
        named = ["reject", "accept"] if used <= {"reject", "accept"} else [name for name in names if name in used]
        outputs = np.array([named.index(names[output]) for output in least.outputs], dtype=np.int64)
        made = _krohn.Automaton.moore(least.table, least.initial, outputs, named, self.letters)
        return Automaton._of(made, "the automaton extracted")
