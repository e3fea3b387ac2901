"""krohn.test and krohn.extract: models whose faults are known, and what is found of them."""
import importlib.util
import itertools
import random
import re
import unittest

import numpy as np

import krohn
from krohn.aimed_words import AimedWords, all_words, short_lengths

HAS_TORCH = importlib.util.find_spec("torch") is not None
LATCH = krohn.Automaton.from_table([[0, 0, 1], [1, 0, 1]], letters="-ab", accepting=[1])
"""The last letter that is not "-": a or b."""


def states(automaton, word):
    """The states after every letter, by the table alone."""
    table, state, seen = automaton.table, automaton.initial, []
    for letter in word:
        state = int(table[state][letter])
        seen.append(state)
    return seen


def answers_of(automaton):
    """The model that is right, for words in rows."""
    outputs = automaton.outputs
    return lambda words: [[int(outputs[state]) for state in states(automaton, word)] for word in words]


def whole(positions):
    return lambda words: [answers[-1] for answers in positions(words)]


def brute_force(model, automaton, longest):
    """A shortest word that a model of whole words gets wrong, in lexicographic order."""
    for length in range(1, longest + 1):
        for word in itertools.product(range(len(automaton.letters)), repeat=length):
            if model([word])[0] != automaton.outputs[states(automaton, word)[-1]]:
                return list(word)
    return None


def expand(text):
    """A word of one-character letters, its powers multiplied out."""
    text = re.sub(r"\(([^()]*)\)\^(\d+)", lambda part: part[1] * int(part[2]), text)
    return re.sub(r"(.)\^(\d+)", lambda part: part[1] * int(part[2]), text).replace(" ", "")


class Words(unittest.TestCase):
    def test_all_words_are_all_words(self):
        for letters in (1, 2, 3, 5):
            for length in (1, 2, 3, 4):
                got = [tuple(word) for block in all_words(letters, length, block=7) for word in block.tolist()]
                self.assertEqual(got, list(itertools.product(range(letters), repeat=length)))

    def test_lengths_that_fit(self):
        self.assertEqual([short_lengths(2, most, 100) for most in (1, 2, 5, 6, 13, 14, 15)], [0, 1, 1, 2, 2, 3, 3])
        self.assertEqual(short_lengths(1, 9, 100), 9)
        self.assertEqual(short_lengths(2, 10**9, 4), 4)
        self.assertEqual(short_lengths(0, 9, 4), 0)

    def test_kinds_of_words(self):
        for source in ("name:S3", "regex:(a|b)*abb", "name:tomita7", "name:modarith5", "regex:ab"):
            automaton = krohn.Automaton(source)
            letters = len(automaton.letters)
            made = AimedWords(automaton.table, automaton.outputs, automaton.initial, 90, np.random.default_rng(3))
            for kind in (made.powers, made.waits, made.tours, made.relations, made.rare_letters, made.random_words):
                words = kind(20)
                self.assertLessEqual(len(words), 20)
                for word in words:
                    self.assertEqual(len(word), 90, (source, kind.__name__))
                    self.assertTrue(all(0 <= letter < letters for letter in word))
            for word in made.detours(50):
                self.assertTrue(0 < len(word) <= 90)
            # Where a tour can come back to everything, it has seen everything.
            if source in ("name:S3", "regex:(a|b)*abb"):
                word = made.tours(1)[0]
                seen = set(zip([automaton.initial] + states(automaton, word)[:-1], word))
                self.assertEqual(len(seen), automaton.states * letters)
            for p, q in itertools.combinations(range(automaton.minimise().states), 2):
                least = automaton.minimise()
                told = AimedWords(least.table, least.outputs, least.initial, 90, np.random.default_rng(3))
                word = told.separating(p, q)
                self.assertNotEqual(least.outputs[told.run(word, p)], least.outputs[told.run(word, q)])

    def test_orders_of_words(self):
        s3 = krohn.Automaton("name:S3")
        made = AimedWords(s3.table, s3.outputs, s3.initial, 90, np.random.default_rng(3))
        orders = sorted(made.order((letter,)) for letter in range(6))
        self.assertEqual(orders, [1, 2, 2, 2, 3, 3])

    def test_waits_stay_where_they_are(self):
        made = AimedWords(LATCH.table, LATCH.outputs, 0, 500, np.random.default_rng(5))
        longest = 0
        for word in made.waits(8):
            for letter, run in itertools.groupby(word):
                longest = max(longest, len(list(run)))
        self.assertGreater(longest, 400)

    def test_powers_are_written_short(self):
        draw, letters = random.Random(4), krohn.Automaton.from_table([[0, 0, 0]], letters="abc", accepting=[0])
        for _ in range(300):
            word = [draw.randrange(3) for _ in range(draw.randrange(1, 6))] * draw.randrange(1, 9)
            word += [draw.randrange(3) for _ in range(draw.randrange(0, 6))]
            self.assertEqual(expand(letters.in_powers(word)), "".join("abc"[letter] for letter in word))
        self.assertEqual(letters.in_powers([0, 1] * 20 + [0, 0]), "(ab)^20 aa")
        self.assertEqual(letters.in_powers([1] * 41), "b^41")
        self.assertEqual(letters.in_powers("abab" * 9), "(ab)^18")


class Forms(unittest.TestCase):
    def test_a_right_model_passes_in_every_form(self):
        for source in ("name:S3", "regex:(a|b)*abb", "name:Z5", "name:tomita3"):
            automaton = krohn.Automaton(source)
            right, names, outputs = answers_of(automaton), automaton.letters, automaton.output_names
            table = automaton.table

            def step(state, letter):
                state = int(table[state, letter])
                return state, int(automaton.outputs[state])

            def step_by_name(state, letter):
                state = int(table[state, names.index(letter)])
                return state, outputs[automaton.outputs[state]]

            def of_names(words):
                return whole(right)([[names.index(letter) for letter in word] for word in words])

            def of_texts(texts):
                return [automaton.output(text) for text in texts]

            quick = {"short": 60, "length": 40, "letters": 4000}
            for trial in (
                krohn.test(whole(right), automaton, **quick),
                krohn.test(right, automaton, form="positions", **quick),
                krohn.test(of_names, automaton, words="names", **quick),
                krohn.test(of_texts, automaton, words="text", **quick),
                krohn.test(step, automaton, form="step", initial=automaton.initial, **quick),
                krohn.test(step_by_name, automaton, form="step", words="names", initial=lambda: automaton.initial, **quick),
            ):
                self.assertTrue(trial.passed, trial)
                self.assertIsNone(trial.failing_word)
                self.assertIn("not a proof", repr(trial))

    def test_batches_hold_words_of_one_length_and_no_more_than_asked(self):
        seen = []

        def model(words):
            seen.append(words.shape)
            return whole(answers_of(LATCH))(words)

        krohn.test(model, LATCH, batch=10, short=50, length=30, letters=600)
        self.assertLessEqual(max(rows for rows, _ in seen), 10)
        self.assertEqual(max(length for _, length in seen), 30)
        self.assertEqual([shape for shape in seen if shape[1] == 1], [(3, 1)])

    def test_answers_of_other_kinds(self):
        parity = krohn.Automaton("name:parity")
        for model in (
            lambda words: words.sum(1) % 2 == 1,
            lambda words: [["reject", "accept"][int(word.sum()) % 2] for word in words],
            lambda words: np.asarray(words.sum(1) % 2, dtype=np.uint8),
        ):
            self.assertTrue(krohn.test(model, parity, length=30, letters=1000))
        turned = krohn.BlackBox(lambda words: 1 - words.sum(1) % 2, outputs=["accept", "reject"])
        self.assertTrue(krohn.test(turned, parity, length=30, letters=1000))
        shifted = krohn.BlackBox(lambda words: (words - 7).sum(1) % 2, letters={"0": 7, "1": 8})
        self.assertTrue(krohn.test(shifted, parity, length=30, letters=1000))
        for nothing in (None, "maybe", 2, -1):
            trial = krohn.test(lambda words: [nothing] * len(words), parity)
            self.assertEqual(trial.failing_word.tolist(), [0])
            self.assertEqual(trial.answered, "nothing that is an output")

    def test_a_state_of_a_step_is_new_for_every_word(self):
        def step(state, letter):
            state.append(letter)  # changes the state in place
            return state, sum(state) % 2

        self.assertTrue(krohn.test(step, "name:parity", form="step", initial=[], short=30, length=20, letters=400))

    def test_what_is_wrong_with_the_question_is_said(self):
        parity = "name:parity"
        for call, words in (
            (lambda: krohn.test(lambda words: words, parity), "form='positions'"),
            (lambda: krohn.test(lambda words: words.sum(1), parity, form="positions"), "form='words'"),
            (lambda: krohn.test(lambda words: words.sum(1) * 1.0, parity), "krohn.adapters"),
            (lambda: krohn.test(lambda state, letter: 1, parity, form="step"), "returns (state, answer)"),
            (lambda: krohn.test(3, parity), "not a function"),
            (lambda: krohn.test(len, parity, form="step", empty=True), "empty word"),
            (lambda: krohn.test(len, parity, form="whole"), "words, positions, step"),
            (lambda: krohn.test(len, parity, initial=0), "initial state"),
            (lambda: krohn.test(krohn.BlackBox(len), parity, form="words"), "says itself"),
            (lambda: krohn.test(krohn.BlackBox(len, letters={"0": 1}), parity), "no number to '1'"),
            (lambda: krohn.test(len, parity, length=-1), "length is -1, not a whole number from 0 on"),
            (lambda: krohn.extract(len, ""), "no letter"),
            (lambda: krohn.extract(len, "ab", length=0), "length is 0, not a whole number from 1 on"),
        ):
            with self.assertRaisesRegex((ValueError, TypeError), re.escape(words)):
                call()


class Faults(unittest.TestCase):
    def test_every_single_wrong_short_word_is_found(self):
        automaton = krohn.Automaton("regex:(a|b)*abb")
        right = answers_of(automaton)
        for length in range(1, 6):
            for wrong in itertools.product(range(2), repeat=length):
                def positions(words):
                    answers = right(words)
                    for word, said in zip(words, answers):
                        if tuple(word[:length]) == wrong:
                            said[length - 1] = 1 - said[length - 1]
                    return answers

                for model, form in ((positions, "positions"), (whole(positions), "words")):
                    trial = krohn.test(model, automaton, form=form, short=62, length=30, letters=2000)
                    self.assertEqual(trial.failing_word.tolist(), list(wrong))
                    self.assertTrue(trial.is_shortest)
                    self.assertEqual((trial.all_up_to, trial.position), (length - 1, length))
                    self.assertNotEqual(trial.expected, trial.answered)
                    self.assertIn("shortest", repr(trial))

    def test_one_letter_past_what_was_read_nothing_is_claimed(self):
        parity = krohn.Automaton("name:parity")
        wrong = (0, 1, 1, 0, 1)  # of 5 letters, and read in none of so few words

        def model(words):
            return [int(sum(word)) % 2 if tuple(word) != wrong else 2 for word in words]

        trial = krohn.test(model, parity, short=30, length=4)
        self.assertTrue(trial.passed)
        self.assertEqual(trial.all_up_to, 4)
        self.assertEqual(krohn.test(model, parity, short=62, length=5).failing_word.tolist(), list(wrong))

    def test_the_shortest_word_is_that_of_brute_force(self):
        found = 0
        for seed in range(1, 25):
            right = krohn.Automaton(f"name:random:m=5,seed={seed}")
            table = right.table.copy()
            table[seed % 5, 0] = (table[seed % 5, 0] + 1) % 5
            other = krohn.Automaton.from_table(table, letters=right.letters, initial=right.initial, outputs=right.outputs,
                                               output_names=right.output_names)
            model = whole(answers_of(other))
            want = brute_force(model, right, 6)
            trial = krohn.test(model, right, short=2 * 3**6, length=20, letters=2000)
            if want is None:
                self.assertTrue(trial.passed or len(trial.failing_word) > 6)
                continue
            found += 1
            self.assertEqual(trial.failing_word.tolist(), want)
        self.assertGreater(found, 10)

    def test_a_model_of_sums_knows_no_order(self):
        s3 = krohn.Automaton("name:S3")
        sign = {name: letter for letter, name in enumerate(s3.letters)}

        def by_sorting(words):
            return whole(answers_of(s3))([sorted(word) for word in words])

        trial = krohn.test(by_sorting, s3)
        self.assertEqual(trial.failing_word.tolist(), brute_force(by_sorting, s3, 3))
        self.assertEqual(len(trial.failing_word), 2)
        self.assertIn(trial.expected, sign)

    def test_counters_that_saturate(self):
        parity = krohn.Automaton("name:parity")
        for top in (14, 40, 63, 64, 255, 700):
            trial = krohn.test(lambda words: np.minimum(words.cumsum(1), top) % 2, parity, form="positions")
            self.assertEqual(trial.failing_word.tolist(), [1] * (top + 1))
            self.assertEqual(trial.text, f"1^{top + 1}")
            self.assertFalse(trial.is_shortest)
            of_words = krohn.test(lambda words: np.minimum(words.sum(1), top) % 2, parity)
            self.assertFalse(of_words.passed)
            self.assertGreater(of_words.failing_word.sum(), top)

    def test_models_that_forget(self):
        for reach in (9, 40, 300, 900):
            def model(words):
                answers = []
                for word in words:
                    letters = [letter for letter in word[-reach:] if letter > 0]
                    answers.append(letters[-1] == 2 if letters else False)
                return answers

            trial = krohn.test(model, LATCH)
            self.assertFalse(trial.passed, reach)
            self.assertEqual(trial.text, f"b -^{reach}")
            self.assertEqual(trial.expected, "accept")

    def test_models_that_are_wrong_after_a_number_of_letters(self):
        s3 = krohn.Automaton("name:S3")
        for last in (1, 2, 5, 6, 100, 999):
            def model(words):
                return [[said if t < last else 0 for t, said in enumerate(answers)] for answers in answers_of(s3)(words)]

            trial = krohn.test(model, s3, form="positions")
            self.assertEqual(len(trial.failing_word), last + 1)
            self.assertEqual(trial.is_shortest, last < 6)

    def test_the_same_seed_reads_the_same_words(self):
        def words_of(seed):
            seen = []

            def model(words):
                seen.extend(map(tuple, words))
                return whole(answers_of(LATCH))(words)

            krohn.test(model, LATCH, short=20, length=50, letters=3000, seed=seed)
            return seen

        self.assertEqual(words_of(1), words_of(1))
        self.assertNotEqual(words_of(1), words_of(2))

    def test_models_whose_answers_depend_on_more_than_the_word(self):
        parity = krohn.Automaton("name:parity")

        def ahead(words):
            answers = words.cumsum(1) % 2
            if words.shape[1] > 2:
                answers[:, 0] ^= words[:, 2]  # looks at what comes
            return answers

        trial = krohn.test(ahead, parity, form="positions")
        self.assertFalse(trial.passed)
        self.assertEqual((len(trial.failing_word), trial.position), (3, 1))
        self.assertFalse(trial.is_shortest)
        self.assertIn("depends on what follows", trial.notes[0])

        def beside(words):
            answers = words.sum(1) % 2
            if len(words) > 1:
                answers[0] = answers[1]  # a neighbour's answer
            return answers

        trial = krohn.test(beside, parity)
        self.assertFalse(trial.passed)
        self.assertIn("disturb each other", trial.notes[0])
        calls = itertools.count()
        trial = krohn.test(lambda words: (words.sum(1) + next(calls)) % 2, parity, batch=1)
        self.assertFalse(trial.passed)
        self.assertTrue(trial.notes)

    def test_the_empty_word(self):
        language = krohn.Automaton("regex:(ab)*")
        self.assertTrue(krohn.test(lambda words: [bool(len(w)) and language.accepts(w) for w in words], language))
        trial = krohn.test(lambda words: [bool(len(w)) and language.accepts(w) for w in words], language, empty=True)
        self.assertEqual((trial.failing_word.tolist(), trial.expected, trial.is_shortest), ([], "accept", True))

    def test_it_shows_itself(self):
        trial = krohn.test(lambda words: np.minimum(words.cumsum(1), 40) % 2, "name:parity", form="positions")
        for text in ("name:parity: refuted", "1^41", "expected  accept", "answered  reject", "powers of short words"):
            self.assertIn(text, repr(trial))
        page = trial._repr_html_()
        self.assertIn("1^41", page)
        self.assertEqual(page.count("<table"), page.count("</table>"))
        self.assertIn("&lt;", krohn.test(lambda texts: [t == "<" for t in texts], krohn.Automaton("regex:<a"), words="text")._repr_html_())


class Extraction(unittest.TestCase):
    def agree(self, automaton, other, longest):
        """On all words of 1 to `longest` letters, by the names of outputs."""
        for length in range(1, longest + 1):
            for word in itertools.product(range(len(automaton.letters)), repeat=length):
                self.assertEqual(automaton.output_names[automaton.outputs[states(automaton, word)[-1]]],
                                 other.output_names[other.outputs[states(other, word)[-1]]], word)

    def test_automata_are_learned(self):
        sources = [f"name:tomita{n}" for n in range(1, 8)] + ["name:Z5", "name:S3", "regex:(a|b)*abb", "regex:ab"]
        sources += [f"name:random:m=7,seed={seed}" for seed in range(1, 6)]
        for source in sources:
            automaton = krohn.Automaton(source)
            positions = answers_of(automaton)

            def by_name(words):
                return [[automaton.output_names[said] for said in answers] for answers in positions(words)]

            def with_empty(words):
                return [automaton.output_names[automaton.outputs[(states(automaton, w) or [automaton.initial])[-1]]] for w in words]

            quick = {"short": 400, "length": 32, "beyond": 100, "letters": 4000}
            for got in (
                krohn.extract(by_name, automaton, form="positions", **quick),
                krohn.extract(whole(positions), automaton.letters, outputs=automaton.output_names, **quick),
            ):
                self.assertTrue(got.trial.passed, source)
                self.agree(got.automaton, automaton, 5)
                self.assertLessEqual(got.automaton.states, automaton.minimise().states + 1)
            exact = krohn.extract(with_empty, automaton, empty=True, **quick)
            self.assertEqual(exact.automaton.states, automaton.minimise().states)
            self.agree(exact.automaton, automaton, 5)

    def test_steps_are_learned(self):
        got = krohn.extract(lambda state, letter: ((state + letter) % 3, (state + letter) % 3 == 0), ["0", "1", "2"], form="step",
                            initial=0, length=16, beyond=50, letters=2000)
        self.assertEqual((got.automaton.states, got.automaton.output_names), (3, ["reject", "accept"]))
        self.assertIn("3 states", repr(got))

    def test_where_nothing_stands_for_the_empty_word_it_has_no_answer(self):
        # After the first letter the model says what that was, for ever.
        first = krohn.extract(lambda texts: [text[0] for text in texts], "ab", words="text", length=16, beyond=50, letters=2000)
        self.assertEqual(first.automaton.states, 3)
        self.assertEqual(first.automaton.output_names[first.automaton.outputs[first.automaton.initial]], "no answer")
        # Parity goes on from the empty word as from an even one.
        even = krohn.extract(lambda words: words.sum(1) % 2, "01", length=16, beyond=50, letters=2000)
        self.assertEqual((even.automaton.states, even.automaton.output_names), (2, ["0", "1"]))

    def test_where_a_model_leaves_its_automaton_is_shown(self):
        got = krohn.extract(lambda words: np.where(words.shape[1] > 90, 0, words.sum(1) % 2), "01", length=64, beyond=300)
        self.assertEqual(got.automaton.states, 2)
        self.assertFalse(got.trial.passed)
        self.assertEqual(len(got.trial.failing_word), 91)

    def test_more_states_than_the_limit(self):
        with self.assertRaises(krohn.LimitError):
            krohn.extract(lambda words: words.sum(1), "01", max_states=5)
        got = krohn.extract(lambda words: np.maximum(words.sum(1) - 10, 0), "01", max_states=15, letters=20_000)
        self.assertEqual(got.length, 8)
        self.assertEqual(got.automaton.states, 1)
        self.assertIn("more than 15 states", got.limit)
        self.assertFalse(got.trial.passed)

    def test_what_is_no_function_of_the_word_is_refused(self):
        calls = itertools.count()
        with self.assertRaisesRegex(ValueError, "or on chance"):
            krohn.extract(lambda words: (words.sum(1) + (next(calls) > 8)) % 2, "01")

    def test_exceptions_of_the_model_come_through(self):
        def model(words):
            raise RuntimeError("no such weight")

        with self.assertRaisesRegex(RuntimeError, "no such weight"):
            krohn.extract(model, "ab")


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Torch(unittest.TestCase):
    def test_modules_with_logits(self):
        import torch
        from krohn import adapters

        language = krohn.Automaton("name:S3")

        class Tracker(torch.nn.Module):
            """Right up to a length; ids 10, 11, … are the letters, 1 begins a word, classes are in another order."""

            def __init__(self, reach):
                super().__init__()
                self.reach = reach

            def forward(self, ids):
                assert (ids[:, 0] == 1).all()
                letters = ids[:, 1:] - 10
                said = torch.tensor(answers_of(language)(letters.tolist())).reshape(len(ids), -1)
                logits = torch.nn.functional.one_hot(5 - said, 7).float()
                logits[:, self.reach:] = 0
                logits[..., 6] = 9  # no answer, and the greatest
                return (torch.cat([torch.zeros(len(ids), 1, 7), logits], 1), "state")

        letters = {name: 10 + letter for letter, name in enumerate(language.letters)}
        outputs = language.output_names[::-1]
        for reach in (3, 50, 10_000):
            box = adapters.module(Tracker(reach).eval(), begin=[1], letters=letters, outputs=outputs, answers=range(6))
            trial = krohn.test(box, language, short=1600, length=100, letters=20_000)
            self.assertEqual(trial.passed, reach > 1000)
            if reach < 1000:
                self.assertEqual(trial.position, reach + 1 if trial.expected != "()" else trial.position)
                self.assertGreater(trial.position, reach)

    def test_nan_is_no_answer(self):
        import torch
        from krohn import adapters

        box = adapters.module(lambda ids: torch.full((*ids.shape, 2), float("nan")))
        self.assertEqual(krohn.test(box, "name:parity").answered, "nothing that is an output")

    def test_causal_models_with_and_without_a_state(self):
        import types

        import torch
        from krohn import adapters

        class Parity:
            """Tokens 3 and 4 are the letters, 0 begins; 5 and 6 are even and odd. `fault` is what becomes of the state."""

            def __init__(self, fault, name="past_key_values"):
                self.fault, self.name = fault, name

            def forward(self, input_ids, use_cache, past_key_values=None, **ignored):
                before = 0 if past_key_values is None or self.fault == "loses" else past_key_values
                if self.fault == "from the third token on" and past_key_values is not None:
                    before = before + 1
                ones = (input_ids == 4).cumsum(1) + before
                logits = torch.nn.functional.one_hot(5 + ones % 2, 8).float()
                return types.SimpleNamespace(logits=logits, **{self.name: ones[:, -1:] if use_cache else None})

            __call__ = forward

        class Renamed(Parity):
            def forward(self, input_ids, use_cache, cache=None, **ignored):  # its output has the old name too
                said = super().forward(input_ids, use_cache, cache)
                said.cache = said.past_key_values
                return said

            __call__ = forward

        class Nameless(Parity):
            def forward(self, input_ids, **everything):
                return super().forward(input_ids, **everything)

        common = {"letters": {"0": 3, "1": 4}, "answers": {"reject": 5, "accept": 6}, "begin": [0]}
        quick = {"short": 62, "length": 60, "letters": 3000}
        wrong = "from the third token on"
        for kind, fault, prefill, passes in ((Parity, "", None, True), (Parity, "", 1, True), (Parity, "", 4, True),
                                             (Renamed, "", None, True), (Renamed, "", 1, True), (Renamed, "", 4, True),
                                             (Parity, "loses", None, True), (Parity, wrong, None, True), (Parity, wrong, 4, False),
                                             (Nameless, "", None, True)):  # fmt: skip
            trial = krohn.test(adapters.causal_model(kind(fault), prefill=prefill, **common), "name:parity", **quick)
            self.assertEqual(trial.passed, passes, (kind, fault, prefill))
            if not passes:  # the begin token and three letters are read at once; the first that comes alone is the fourth
                self.assertEqual(len(trial.failing_word), 4)
        for prefill in (1, 4):
            with self.assertRaisesRegex(ValueError, "the cache is not taken: given 'past_key_values', Parity answers as if"):
                krohn.test(adapters.causal_model(Parity("loses"), prefill=prefill, **common), "name:parity", **quick)
        for work, words in ((lambda: adapters.causal_model(Parity(""), prefill=0, **common), "at least 1"),
                            (lambda: adapters.causal_model(Renamed(""), prefill=3, cache="past_key_values", **common),
                             "has no argument 'past_key_values'"),
                            (lambda: adapters.causal_model(Nameless(""), prefill=3, **common), "takes no cache by the name of"),
                            (lambda: krohn.test(adapters.causal_model(Parity("", "kept"), prefill=3, **common), "name:parity"),
                             "returns has no 'past_key_values'")):  # fmt: skip
            with self.assertRaisesRegex(ValueError, words):
                work()

    def test_modules_are_taken_as_they_are_and_warned_of(self):
        import warnings

        import torch

        class Parity(torch.nn.Module):
            """`classes` logits for each position; a single one says yes above 0."""

            def __init__(self, classes):
                super().__init__()
                self.classes, self.dropout = classes, torch.nn.Dropout(0.5)

            def forward(self, ids):
                odd = ids.cumsum(1) % 2
                if self.classes == 1:
                    return (odd[..., None] * 2 - 1).float()
                return torch.nn.functional.one_hot(odd, self.classes).float()

        quick = {"short": 100, "length": 60, "letters": 3000}
        for classes in (1, 2):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertTrue(krohn.test(Parity(classes).eval(), "name:parity", **quick))
                found = krohn.extract(Parity(classes).eval(), "01", outputs=["reject", "accept"], length=8, beyond=60, letters=2000)
                self.assertEqual(found.automaton.states, 2)
            with self.assertWarnsRegex(UserWarning, "training mode"):
                krohn.test(Parity(classes), "name:parity", **quick)
        self.assertFalse(krohn.test(Parity(1).eval(), "regex:(0|1)*0", **quick))
        with self.assertRaisesRegex(ValueError, "3 classes of logits for 2 outputs"):
            krohn.test(Parity(3).eval(), "name:parity", **quick)
        with self.assertRaisesRegex(ValueError, r"logits of the shape \[\d+, \d+\] to"):
            krohn.test(torch.nn.Identity().eval(), "name:parity", **quick)
        with self.assertRaisesRegex(ValueError, "says itself how it is asked"):
            krohn.test(Parity(2).eval(), "name:parity", form="words")

    def test_an_exact_module_passes_and_one_changed_weight_is_found(self):
        import torch
        from krohn import adapters
        from krohn.torch import ExactLRNN

        network = krohn.compile("name:S3")
        exact = ExactLRNN.from_network(network)

        def logits(ids):
            return torch.nn.functional.one_hot(exact.outputs(exact(ids)), 6).float()

        quick = {"short": 50, "length": 60, "letters": 3000}
        self.assertTrue(krohn.test(adapters.module(logits), "name:S3", **quick))
        with torch.no_grad():
            exact.layers[0].a[2] = exact.layers[0].a[1]
        self.assertFalse(krohn.test(adapters.module(logits), "name:S3", **quick))


if __name__ == "__main__":
    unittest.main()
