"""Words on which models go wrong: all short ones, and long ones that are made for it."""

import random as python_random
from typing import Dict, Iterator, List, Sequence, Tuple

import numpy as np

Word = Tuple[int, ...]


def short_lengths(letters: int, most: int, longest: int) -> int:
    """The greatest length up to which there are at most `most` words."""
    length = words = 0
    while length < longest and letters > 0 and words + letters ** (length + 1) <= most:
        length += 1
        words += letters**length
    return length


def all_words(letters: int, length: int, block: int = 4096) -> Iterator[np.ndarray]:
    """Every word of that length in lexicographic order, in rows, block by block."""
    count = letters**length
    for first in range(0, count, block):
        numbers = np.arange(first, min(first + block, count))
        yield np.stack(np.unravel_index(numbers, (letters,) * length), axis=1)


class AimedWords:
    """Long words for one automaton, given as its table and outputs. Every kind is a list of words of `length` letters."""

    def __init__(self, table: np.ndarray, outputs: np.ndarray, initial: int, length: int, random: np.random.Generator) -> None:
        self.table, self.outputs, self.initial = table, outputs, initial
        self.states, self.letters = table.shape
        self.length, self.random = length, random
        # For what goes letter by letter, where a call of NumPy's takes twenty times as long.
        self._next: List[List[int]] = table.tolist()
        self._quick = python_random.Random(int(random.integers(2**62)))
        self.access = self._access()
        self._suffixes: Dict[Tuple[int, int], Word] = {}

    def _below(self, count: int) -> int:
        return int(self._quick.random() * count)

    # ---- The automaton

    def _access(self) -> Dict[int, Word]:
        """A shortest word to every state that words reach."""
        words: Dict[int, Word] = {self.initial: ()}
        queue = [self.initial]
        for state in queue:
            for letter, successor in enumerate(self._next[state]):
                if successor not in words:
                    words[successor] = words[state] + (letter,)
                    queue.append(successor)
        return words

    def _path(self, start: int, wanted: Sequence[bool]) -> Word:
        """A shortest word of at least one letter from `start` to a wanted state; the empty word where none is reached."""
        come: Dict[int, Tuple[int, int]] = {}
        queue, letters = [start], list(range(self.letters))
        for state in queue:
            turn = self._below(self.letters)
            for letter in letters[turn:] + letters[:turn]:
                successor = self._next[state][letter]
                if successor in come:
                    continue
                come[successor] = (state, letter)
                if wanted[successor]:
                    word: List[int] = []
                    at = successor
                    while True:
                        at, letter = come[at]
                        word.append(letter)
                        if at == start:
                            return tuple(reversed(word))
                queue.append(successor)
        return ()

    def run(self, word: Sequence[int], state: int) -> int:
        for letter in word:
            state = self._next[state][letter]
        return state

    def order(self, word: Word) -> int:
        """The least n ≥ 1 at which word^n maps every state as word^(n+m) does for some m: for letters that permute, the
        order, and word^n does nothing. 0 where that is past the length."""
        mapping = np.arange(self.states)
        for letter in word:
            mapping = self.table[mapping, letter]
        power, n = mapping, 1
        while not np.array_equal(power[power], power):
            power, n = mapping[power], n + 1
            if n * len(word) > self.length:
                return 0
        return n

    # ---- Kinds of words

    def _filled(self, word: List[int]) -> Word:
        """Exactly `length` letters: cut, or random ones added."""
        missing = self.length - len(word)
        if missing > 0:
            word = word + self.random.integers(0, self.letters, missing).tolist()
        return tuple(word[: self.length])

    def powers(self, count: int) -> List[Word]:
        """u v v v …, v of 1, 2, … letters and no power itself, u to different states."""
        beginnings = list(self.access.values())
        words: List[Word] = []
        for period in range(1, 7):
            for number in range(self.letters**period):
                if len(words) == count:
                    return words
                v = tuple(int(x) for x in np.unravel_index(number, (self.letters,) * period))
                if any(period % part == 0 and v == v[:part] * (period // part) for part in range(1, period)):
                    continue
                u = () if number % 2 == 0 else beginnings[len(words) % len(beginnings)]
                words.append((u + v * (self.length // period + 1))[: self.length])
        return words

    def waits(self, count: int) -> List[Word]:
        """To a state and around it to the end. Or around it for long, on by a few letters, and again: what is forgotten in
        between is seen; the rounds are short at first and fill the rest of the word at last."""
        here = np.zeros(self.states, dtype=bool)
        states = list(self.access)
        words = []
        for i in range(count):
            start = states[i % len(states)]
            word, state = list(self.access[start]), start
            rounds = int(self.random.integers(1, 5))
            if i // len(states) % 2 == 0:
                here[:] = False
                here[state] = True
                around = self._path(state, here)
                word += list(around) * (self.length // max(1, len(around)) if around else 0)
            while len(word) < self.length:
                here[:] = False
                here[state] = True
                around = self._path(state, here) or (self._below(self.letters),)
                kept = 16
                room = max(0, self.length - len(word) - kept)
                turns = max(1, (room if len(word) >= self.length // 2 or i % 2 else min(room, rounds)) // len(around))
                rounds *= 2
                word += list(around) * turns
                word += self.random.integers(0, self.letters, int(self.random.integers(1, kept))).tolist()
                state = self.run(word, self.initial)
            words.append(self._filled(word))
        return words

    def tours(self, count: int) -> List[Word]:
        """Through every transition, and back to the initial state where a word leads there, again and again."""
        words = []
        at_start = [state == self.initial for state in range(self.states)]
        for _ in range(count):
            word: List[int] = []
            state = self.initial
            left = [list(range(self.letters)) for _ in range(self.states)]
            while len(word) < self.length:
                if left[state]:
                    step: Word = (left[state][self._below(len(left[state]))],)
                else:
                    step = self._path(state, [bool(letters) for letters in left])
                    if not step:  # all that can be reached from here was seen
                        left = [list(range(self.letters)) for _ in range(self.states)]
                        step = self._path(state, at_start) or (self._below(self.letters),)
                for letter in step:
                    if letter in left[state]:
                        left[state].remove(letter)
                    state = self._next[state][letter]
                word += step
            words.append(self._filled(word))
        return words

    def relations(self, count: int) -> List[Word]:
        """Words v^n that do nothing, or nothing a second time, with single letters between them: in a group its relations."""
        relations = []
        for period in range(1, 5):
            if self.letters**period > 512:
                numbers: Sequence[int] = self.random.integers(0, self.letters**period, 64).tolist()
            else:
                numbers = range(self.letters**period)
            for number in numbers:
                v = tuple(int(x) for x in np.unravel_index(number, (self.letters,) * period))
                n = self.order(v)
                if n > 0:
                    relations.append(v * n)
        words = []
        for _ in range(count if relations else 0):
            word: List[int] = []
            while len(word) < self.length:
                word += relations[self._below(len(relations))]
                word.append(self._below(self.letters))
            words.append(self._filled(word))
        return words

    def rare_letters(self, count: int) -> List[Word]:
        """One letter nearly always, the others now and then: a hundredth of the letters, or a tenth."""
        words = []
        for i in range(count if self.letters > 1 else 0):
            rare = self.random.random(self.length) < (0.01 if i // self.letters % 2 == 0 else 0.1)
            others = self.random.integers(0, self.letters, self.length)
            words.append(tuple(np.where(rare, others, i % self.letters).tolist()))
        return words

    def random_words(self, count: int) -> List[Word]:
        return [tuple(word) for word in self.random.integers(0, self.letters, (count, self.length)).tolist()]

    def detours(self, count: int) -> List[Word]:
        """Short ones: to a state, one letter and a few random ones, and what tells the state that is reached from another."""
        states = list(self.access)
        words = []
        for i in range(count):
            word = list(self.access[states[i % len(states)]])
            word.append(i // len(states) % self.letters)
            word += self.random.integers(0, self.letters, int(self.random.integers(0, 4))).tolist()
            word += self.separating(self.run(word, self.initial), states[self._below(len(states))])
            words.append(tuple(word[: self.length]))
        return words

    def separating(self, p: int, q: int) -> Word:
        """A shortest word after which the two states have different outputs; the empty word also where there is none."""
        key = (min(p, q), max(p, q))
        if key not in self._suffixes:
            self._suffixes[key] = self._separate(*key)
        return self._suffixes[key]

    def _separate(self, p: int, q: int, most: int = 20_000) -> Word:
        words: Dict[Tuple[int, int], Word] = {(p, q): ()}
        queue = [(p, q)]
        for a, b in queue:
            if self.outputs[a] != self.outputs[b]:
                return words[a, b]
            for letter in range(self.letters):
                pair = (self._next[a][letter], self._next[b][letter])
                if pair[0] != pair[1] and pair not in words and len(words) < most:
                    words[pair] = words[a, b] + (letter,)
                    queue.append(pair)
        return ()
