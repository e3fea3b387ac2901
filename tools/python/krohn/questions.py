"""Languages: put together, compared, listed, decomposed."""

from typing import Any, Dict, List, Optional

import numpy as np

from krohn._krohn import counted
from krohn.asking import Facts, ask, drawn
from krohn.automaton import Automaton, Language
from krohn.picture import Picture, card, inline, table
from krohn.progress import Progress


class Answer(Facts):
    """Yes or no, and the word that decides: true where `answer` is. A shortest `word` that says no, `in_first`,
    `in_second`, or the two `outputs` of machines; `pairs` of states that were met."""

    def __bool__(self) -> bool:
        return bool(self.answer)

    def __repr__(self) -> str:
        if self.answer:
            return f"<krohn.Answer: {self.question}>"
        return f"<krohn.Answer: not {self.question}; {repr(self.word) if self.word else 'the empty word'} tells>"

    def _repr_html_(self) -> str:
        told = {name: self.get(name) for name in ("first", "second", "word", "word_length")}
        return card(self.question if self.answer else f"not {self.question}", told.items(), "good" if self.answer else "bad")


def equal(first: Language, second: Language, *, progress: Progress = None, **options: Any) -> Answer:
    """Tells whether two languages have the same words, or two machines the same outputs. Files and expressions are compared
    without being determinised. `options` are max_pairs, time (in seconds), alphabet, …: past a limit LimitError says up to
    which length the two agree."""
    return ask("equal", first, second, kind=Answer, progress=progress, **options)


def included(first: Language, second: Language, *, progress: Progress = None, **options: Any) -> Answer:
    """Tells whether every word of the first language is one of the second."""
    return ask("included", first, second, kind=Answer, progress=progress, **options)


def disjoint(first: Language, second: Language, *, progress: Progress = None, **options: Any) -> Answer:
    """Tells whether no word is in both languages."""
    return ask("disjoint", first, second, kind=Answer, progress=progress, **options)


def empty(language: Language, *, progress: Progress = None, **options: Any) -> Answer:
    """Tells whether a language has no word."""
    return ask("empty", language, kind=Answer, progress=progress, **options)


def combine(expression: str, **options: Any) -> Automaton:
    """The minimal automaton of an expression over languages, "zp.att & ~(zp.att | regex:a*)": docs/languages.md. `options`
    are those of `Automaton`."""
    return Automaton(f"expr:{expression}", **options).minimise()


def words(
    language: Language,
    *,
    shortest: Optional[int] = None,
    length: Optional[int] = None,
    random: Optional[int] = None,
    seed: Optional[int] = None,
) -> List[str]:
    """Accepted words: the `shortest` (20), or all of one length, or `random` ones of one length, each as likely as any other.
    `Automaton.count` says how many there are."""
    return ask("words", language, shortest=shortest, length=length, random=random, seed=seed, progress=False)["words"]


def info(language: Language, **options: Any) -> Facts:
    """The facts of `krohn info --json`: states, letters, outputs, the language's size, the group of a permutation automaton."""
    return ask("info", language, progress=False, **options)


def elements(language: Language, *, word: Optional[str] = None, **options: Any) -> Facts:
    """The transformations that words make of the states, `elements`, each with its shortest word and image; with `word` that of
    the word, with relations=True a complete presentation, `relations`. `options`: idempotents, minimal, max_elements."""
    return ask("elements", language, word=word, progress=False, **options)


def _least(row: Facts) -> str:
    """The parameters of a class: "k = 3"."""
    return ", ".join(f"{name} = {value}" for name, value in row.items() if isinstance(value, int))


class Classification(list):
    """The jobs that a language gives, one or two, as Facts; in a notebook their tables."""

    def __repr__(self) -> str:
        held = [f"{job.job}, {[row.answer for row in job.get('architectures', ())].count('yes')} architectures"
                for job in self]  # fmt: skip
        return f"<krohn.Classification: {'; '.join(held)}>"

    def _repr_html_(self) -> str:
        parts = []
        for job in self:
            size = f"a monoid of {job.monoid.size:,} elements" if job.monoid else job.get("limit", "")
            groups = ", ".join(group.name for group in job.groups) or "no group"
            rows = [(row.family, row.answer, row.construction or row.reason) for row in job.get("architectures", ())]
            parts.append(table(("architecture", "holds it", "construction, or why not"), rows,
                                    f"{job.job}: {job.states} states, {size}, {groups}"))
            if "classes" in job:
                rows = [(row["class"], row.answer, _least(row) or row.get("witness", "")) for row in job.classes]
                parts.append(table(("class", "lies in it", "least parameters, or why not"), rows))
        return "".join(parts)


def classify(language: Language, *, time: float = 60, progress: Progress = None, **options: Any) -> Classification:
    """Which architectures can hold a language, and why not the smaller ones: what `krohn classify --json` says.

    One entry for each job, state tracking and acceptance, or one for both when they have the same automaton: `job`,
    `states`, `monoid`, `groups`, `verdicts`, `architectures`; of an acceptor's words also `classes`, each with its least
    parameters and its defining words or a witness, and `transformers`. Where a limit or the `time`, in seconds, is met, `monoid`
    is None, `limit` says which, and the verdicts that need no monoid are there. `options`: max_elements, max_classes, …"""
    return Classification(ask("classify", language, time=time, progress=progress, **options)["jobs"])


class Decomposition(Facts):
    """A cascade of permutation-reset layers, and the proof that it emulates the automaton: `layers`, `method`, `emulation`,
    `complexity`, and `limits` that were met."""

    @property
    def proved(self) -> bool:
        """Tells whether the cascade was proved to emulate the automaton, for all tuples of labels."""
        return bool(self.emulation) and self.emulation.holds

    def arrays(self) -> Dict[str, np.ndarray]:
        """Arrays over the layers, from the first: width, actions, contexts, and group, by name."""
        return {name: np.array([layer[name] for layer in self.layers]) for name in ("width", "actions", "contexts", "group")}

    def picture(self) -> Picture:
        language, options = self._asked  # type: ignore[attr-defined]
        return drawn("decompose", language, option="draw", **options)

    def __repr__(self) -> str:
        groups = ", ".join(layer.group for layer in self.layers)
        return f"<krohn.Decomposition by {self.method}: {counted(len(self.layers), 'layer')} ({groups}){', proved' if self.proved else ''}>"

    def _repr_html_(self) -> str:
        rows = [(k + 1, layer.width, layer.group, layer.actions, f"{layer.contexts:,}") for k, layer in enumerate(self.layers)]
        return inline(self.picture().svg) + table(("layer", "labels", "group", "actions", "contexts"), rows, f"{self!r}"[1:-1])


def decompose(
    language: Language, *, method: str = "smaller", primes: bool = False, progress: Progress = None, **options: Any
) -> Decomposition:
    """The Krohn–Rhodes cascade of an automaton: by "holonomy", by the "chain", or the "smaller" of the two, checked. With
    `primes` groups are cut into simple ones. `options`: minimal, tables (every action, the wiring and the readout), time."""
    asked = {"method": method, "primes": primes, **options}
    found = ask("decompose", language, kind=Decomposition, progress=progress, **asked)
    found._asked = language, {name: value for name, value in asked.items() if name != "tables"}
    return found
