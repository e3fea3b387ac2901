"""Testing anything that answers words."""

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from krohn._krohn import counted
from krohn.aimed_words import AimedWords, all_words, short_lengths
from krohn.arrays import require_counts
from krohn.automaton import Automaton, Language
from krohn.black_box import UNKNOWN, Asker, BlackBox, Outputs, box_of
from krohn.picture import card, table


@dataclass(frozen=True)
class Tried:
    """Words of one kind that were read, and whether one of them failed."""

    kind: str
    words: int
    letters: int
    longest: int
    failed: bool


@dataclass(frozen=True)
class Trial:
    """The result of a test. It is no proof: it speaks of the words that were read."""

    language: str
    passed: bool
    all_up_to: int
    """Every word of 1 to so many letters was answered rightly."""
    tried: List[Tried]
    seed: int
    failing_word: Optional[np.ndarray] = None
    """The letters of a word that is answered wrongly, after `position` of them."""
    position: Optional[int] = None
    expected: Optional[str] = None
    answered: Optional[str] = None
    is_shortest: bool = False
    """No shorter word fails: all of them were read."""
    text: str = ""
    """The failing word, repeated parts as powers."""
    notes: List[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.passed

    @property
    def right_up_to(self) -> int:
        """None of the words that were read fails after so many letters or fewer."""
        if self.position is not None:
            return max(0, self.position - 1)
        return max((row.longest for row in self.tried), default=0)

    @property
    def confidence(self) -> str:
        """The conclusions that the words that were read allow, and those that they do not."""
        known = "No length was read completely"
        if self.all_up_to:
            known = f"Every word of {'1 to ' if self.all_up_to > 1 else ''}{counted(self.all_up_to, 'letter')} is right"
        if not self.passed:
            if self.is_shortest:
                return f"{known}; no shorter word fails." if self.all_up_to else "No shorter word fails."
            return (f"{known}. The words that were read are right up to {counted(self.right_up_to, 'letter')}; a shorter word than "
                    "this one may fail.")
        random = [row for row in self.tried if row.kind == RANDOM]
        if not random:
            return f"{known}. This is a test, not a proof: longer words were not read."
        bound = 1 - 0.05 ** (1 / random[0].words)
        return (f"{known}. This is a test, not a proof: with 95 % confidence fewer than {100 * bound:.2g} % of the random words "
                f"of {counted(random[0].longest, 'letter')} fail, and nothing follows for words that were not drawn at random.")

    def __repr__(self) -> str:
        rows = [f"  {row.kind:42} {counted(row.words, 'word'):>13}, up to {counted(row.longest, 'letter')}{'  wrong' if row.failed else ''}"
                for row in self.tried]
        return "\n".join([f"krohn.test of {self.language}: {self._headline()}"] + self._facts() + rows + ["  " + self.confidence])

    def _headline(self) -> str:
        if self.passed:
            return "nothing wrong was found (a test, not a proof)"
        shortest = "a shortest failing word has" if self.is_shortest else "a failing word has"
        return f"refuted, {shortest} {counted(len(self.failing_word), 'letter')}"

    def _facts(self) -> List[str]:
        if self.passed:
            return ["  " + note for note in self.notes]
        where = "" if self.position == len(self.failing_word) else f" after {counted(self.position, 'letter')}"
        return [f"  word      {self.text}", f"  expected  {self.expected}{where}", f"  answered  {self.answered}"] + [
            "  " + note for note in self.notes]

    def _repr_html_(self) -> str:
        facts = [(name, rest) if rest else ("", name) for name, _, rest in (fact.strip().partition("  ") for fact in self._facts())]
        rows = [(row.kind, counted(row.words, "word"), "up to " + counted(row.longest, "letter"), "wrong" if row.failed else "right")
                for row in self.tried]  # fmt: skip
        return (card(f"{self.language}: {self._headline()}", [*facts, ("", self.confidence)], "good" if self.passed else "bad")
                + table((), rows))  # fmt: skip


SHORT, RANDOM = "every word", "random letters"


def test(
    f: Union[BlackBox, Callable[..., Any]],
    language: Language,
    *,
    form: Optional[str] = None,
    words: Optional[str] = None,
    initial: Any = None,
    empty: bool = False,
    short: int = 20_000,
    length: int = 1_000,
    letters: int = 500_000,
    batch: Optional[int] = None,
    seed: int = 1,
) -> Trial:
    """Looks for a word on which `f` answers otherwise than the language's automaton.

    `f` is a `BlackBox` (`krohn.adapters` makes them from models of PyTorch), a `torch.nn.Module` with logits for every
    position, a `Network`, a `Run`, or a function; then `form`, `words`, `initial` and `batch` are those of `BlackBox`. The right answer to a
    word is the output of the state that it leads to.

    First every word of 1, 2, … letters is read, as long as these are at most `short` words: what fails there is a
    shortest failing word. Then words of up to `length` letters that are made to fail models, some `letters` letters of
    them: powers of short words, long waits in a state, tours through all transitions, relations of the group, rare
    letters, random ones; the failing word that is found is shortened. `empty` asks for the empty word too. The same
    seed reads the same words."""
    automaton = Automaton.of(language)
    box = box_of(f, names=automaton.output_names, form=form, words=words, initial=initial, batch=batch)
    if empty and box.form != "words":
        raise ValueError(f'form="{box.form}" has no answer to the empty word')
    require_counts(short=short, length=length, letters=letters, seed=seed)
    asker = Asker(box, automaton.letters, Outputs(automaton.output_names))
    return Tester(asker, automaton, length, letters, seed).run(short, empty)


@dataclass
class Found:
    """A wrong answer: after `position` letters of the word."""

    word: Tuple[int, ...]
    position: int


class Tester:
    """One test. `asker` has the automaton's letters."""

    def __init__(self, asker: Asker, automaton: Automaton, length: int, letters: int, seed: int) -> None:
        self.asker, self.automaton = asker, automaton
        self.length, self.letters, self.seed = length, letters, seed
        self.table, self.outputs = automaton.table, automaton.outputs
        self.tried: List[Tried] = []
        self.found: Optional[Found] = None
        self.batch_of_found = 1

    def run(self, short: int, empty: bool = False) -> Trial:
        all_up_to = self.search(short, empty)
        if self.found is not None and len(self.found.word) > all_up_to + 1:
            self._shorten()
        return self._trial(all_up_to)

    def search(self, short: int, empty: bool = False) -> int:
        """Looks for a word that is `found`. Returns the length up to which every word was right."""
        all_up_to = self._short_words(short, empty)
        if self.found is None:
            self._long_words(all_up_to)
        return all_up_to

    # ---- Reading words

    def _wanted(self, words: np.ndarray) -> np.ndarray:
        """The outputs after every letter, or after whole words where the model answers those alone."""
        if words.shape[1] == 0:
            return np.full((len(words), 1), self.outputs[self.automaton.initial])
        wanted = self.outputs[self.automaton.run(words)]
        return wanted[:, -1:] if self.asker.box.form == "words" else wanted

    def _read(self, words: np.ndarray) -> bool:
        """Reads words of one length; the first wrong answer of all is `found`, if it comes earlier than that."""
        wrong = self.asker.ask(words) != self._wanted(words)
        if not wrong.any():
            return False
        if self.asker.box.form == "words":
            row, position = int(np.flatnonzero(wrong[:, 0])[0]), words.shape[1]
        else:
            first = np.where(wrong.any(axis=1), wrong.argmax(axis=1), words.shape[1])
            row = int(first.argmin())
            position = int(first[row]) + 1
        if self.found is None or position < self.found.position:
            self.found = Found(tuple(words[row].tolist()), position)
            self.batch_of_found = min(len(words), self.asker.box.batch)
        return True

    def _note(self, kind: str, words: int, letters: int, longest: int, failed: bool) -> None:
        if words:
            self.tried.append(Tried(kind, words, letters, longest, failed))

    def _short_words(self, short: int, empty: bool) -> int:
        size = len(self.automaton.letters)
        if empty and self._read(np.zeros((1, 0), dtype=np.int64)):
            self._note(SHORT, 1, 0, 0, True)
            return 0
        count, letters, longest = int(empty), 0, short_lengths(size, short, self.length)
        for length in range(1, longest + 1):
            failed = False
            for words in all_words(size, length):
                count, letters = count + len(words), letters + words.size
                failed = self._read(words)
                if failed and self.found.position == len(self.found.word):
                    break
            if self.found is not None:
                self._note(SHORT, count, letters, length, True)
                return length - 1
        self._note(SHORT, count, letters, longest, False)
        return longest

    def _long_words(self, all_up_to: int) -> None:
        size = len(self.automaton.letters)
        if size == 0 or self.length <= all_up_to:
            return
        makers = AimedWords(self.table, self.outputs, self.automaton.initial, self.length, np.random.default_rng(self.seed))
        short_ones = 10 * (all_up_to + 8)
        for kind, make, share, letters in [
            ("from state to state, and what tells apart", makers.detours, 0.1, short_ones),
            ("powers of short words", makers.powers, 0.25, self.length),
            ("long waits in a state", makers.waits, 0.2, self.length),
            ("tours through all transitions", makers.tours, 0.1, self.length),
            ("relations", makers.relations, 0.1, self.length),
            ("rare letters", makers.rare_letters, 0.1, self.length),
            (RANDOM, makers.random_words, 0.15, self.length),
        ]:
            self._read_kind(kind, make(max(1, int(share * self.letters / letters))), all_up_to)

    def _read_kind(self, kind: str, made: Sequence[Tuple[int, ...]], all_up_to: int) -> None:
        by_length: Dict[int, List[Tuple[int, ...]]] = {}
        for i, word in enumerate(made):
            cut = self._cut(i, len(word), all_up_to) if kind != RANDOM else len(word)
            if self.found is not None:  # only what is shorter is of use
                cut = min(cut, self.found.position - 1)
            if cut > all_up_to:
                by_length.setdefault(cut, []).append(word[:cut])
        count = letters = 0
        failed = False
        for length, words in sorted(by_length.items()):
            if self.found is not None and length >= self.found.position:
                continue
            array = np.array(words, dtype=np.int64)
            count, letters = count + len(words), letters + array.size
            failed = self._read(array) or failed
        self._note(kind, count, letters, max(by_length, default=0), failed)

    def _cut(self, i: int, length: int, all_up_to: int) -> int:
        """Where whole words alone have answers, words of many lengths are read: about n, n/2, n/4, …, and one more or
        less. Answers after every letter make them needless."""
        if self.asker.box.form != "words":
            return length
        halvings = max(1, int(np.log2(max(1, length / (all_up_to + 1)))))
        return max(1, min(length, (length >> (i // 3 % halvings)) - 1 + i % 3))

    # ---- What was found

    def _shorten(self) -> None:
        """Leaves parts out, smaller and smaller ones, as long as the rest fails; again from the start while that helps."""
        most = max(self.letters, 50 * len(self.found.word)) + self.asker.letters
        length = len(self.found.word) + 1
        while self.found.position < length:
            length = part = self.found.position
            while part >= 1:
                tries = self._without_parts(self.found.word[: self.found.position], part)
                left = most - self.asker.letters
                if left < 0:
                    return
                tries = tries[:: sum(map(len, tries)) // max(1, left) + 1]
                if not tries or not self._read(np.array(tries, dtype=np.int64)):
                    part //= 2
                part = min(part, self.found.position)

    def _without_parts(self, word: Tuple[int, ...], part: int) -> List[Tuple[int, ...]]:
        if part >= len(word):
            return []
        return list(dict.fromkeys(word[:at] + word[at + part :] for at in range(0, len(word) - part + 1, max(1, part // 2))))

    def _trial(self, all_up_to: int) -> Trial:
        source = self.automaton.source or "the automaton"
        if self.found is None:
            return Trial(source, True, all_up_to, self.tried, self.seed)
        word, position, answered, notes = self._alone()
        names = self.automaton.output_names
        wanted = self._wanted(np.array([word], dtype=np.int64))[0]
        expected = names[int(wanted[-1 if self.asker.box.form == "words" else position - 1])]
        is_shortest = position == len(word) <= all_up_to + 1
        return Trial(source, False, all_up_to, self.tried, self.seed, np.array(word, dtype=np.int64), position, expected,
                     answered, is_shortest, self.automaton.in_powers(word), notes)

    def _alone(self) -> Tuple[Tuple[int, ...], int, str, List[str]]:
        """The word asked once more, and by itself: a model may look ahead, at the rest of a batch, or at a random number."""
        found, form = self.found, self.asker.box.form

        def answer(word: Tuple[int, ...], position: int) -> int:
            said = self.asker.ask(np.array([word], dtype=np.int64).reshape(1, len(word)))[0]
            return int(said[-1 if form == "words" else position - 1])

        def is_wrong(word: Tuple[int, ...], position: int, said: int) -> bool:
            wanted = self._wanted(np.array([word], dtype=np.int64).reshape(1, len(word)))[0]
            return said != int(wanted[-1 if form == "words" else position - 1])

        prefix = found.word[: found.position]
        said = answer(prefix, found.position)
        if is_wrong(prefix, found.position, said):
            again = answer(prefix, found.position)
            notes = [] if again == said else ["asked twice, it gave two answers: it does not depend on the word alone"]
            return prefix, found.position, self._name(said), notes
        said = answer(found.word, found.position)
        if is_wrong(found.word, found.position, said):
            note = f"the first {found.position:,} letters alone are answered rightly: the answer depends on what follows"
            return found.word, found.position, self._name(said), [note]
        if self.batch_of_found > 1:
            note = f"it failed in a batch of {self.batch_of_found} words and is right alone: words in a batch disturb each other, or answers are random"
        else:
            note = "it failed once and is right when asked again: the answer does not depend on the word alone"
        return found.word, found.position, "the right answer, when asked again", [note]

    def _name(self, number: int) -> str:
        return "nothing that is an output" if number == UNKNOWN else self.asker.outputs.names[number]
