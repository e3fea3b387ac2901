"""The conformance kit's diagnosis: faults whose place and kind are known, and what is said of them; and the kit itself where
transformers is installed."""
import importlib.util
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import stub_server

KIT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "kit"
sys.dont_write_bytecode = True  # nothing is left in the sources
sys.path.insert(0, str(KIT))
import run as kit_run  # noqa: E402
from diagnosis import LATE_DECAY, NO_FAULT, ONE_STEP, RINGS, SCALED, SEVERAL_LAYERS  # noqa: E402
from diagnosis import Diagnosis, Reading, first_wrong, kinds_of  # noqa: E402
from tracker import Tracker  # noqa: E402
from ways import Ways  # noqa: E402

KROHN = os.environ.get("KROHN_COMMAND")
HAS_TRANSFORMERS = all(importlib.util.find_spec(name) is not None for name in ("torch", "transformers"))
ELEMENTS = list(itertools.permutations(range(3)))
LETTERS = [(1, 2, 0), (1, 0, 2)]  # a turn of order 3 and a swap
BEGIN, NOTHING = 2, 9


def after(element, letter):
    return tuple(element[point] for point in letter)


def tracker_of(name, letters, table, delay=0, as_input=()):
    """Its tokens are the letters, the beginning, and the states."""
    n = len(letters)
    facts = {
        "name": name, "about": "", "initial": 0, "letters": letters, "begin": [n], "letter_tokens": list(range(n)), "table": table,
        "state_tokens": list(range(n + 1, n + 1 + len(table))), "as_input": as_input, "delay": delay, "layers": 1,
    }
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "tracker.json").write_text(json.dumps(facts))
        return Tracker(folder)


def tracker(delay=0):
    """S_3: tokens 0 and 1 are the letters, 2 begins, 3 to 8 are the states."""
    table = [[ELEMENTS.index(after(element, letter)) for letter in LETTERS] for element in ELEMENTS]
    return tracker_of("s3", ["turn", "swap"], table, delay, as_input=[0, 1, 0, 1, 0, 1])


def said(moves, lost_memory_at=None):
    """Answers of a runtime that makes these moves before each answer: letters, or "begin". By permutations, not by tables."""
    element, answers = None, []
    for t, move in enumerate(moves):
        for step in move:
            element = ELEMENTS[0] if step == "begin" else after(element, LETTERS[step])
        gone = lost_memory_at is not None and t >= lost_memory_at
        answers.append(NOTHING if gone else 3 + ELEMENTS.index(element))
    return answers


def moves_of(word):
    return [["begin"]] + [[letter] for letter in word]


FAULTS = {
    "lost": lambda moves, p: moves[:p] + [[]] + moves[p + 1 :],
    "doubled": lambda moves, p: moves[:p] + [moves[p] * 2] + moves[p + 1 :],
    "exchanged": lambda moves, p: moves[:p] + [moves[p + 1], moves[p]] + moves[p + 2 :] if p + 1 < len(moves) else moves,
    "reset": lambda moves, p: moves[:p] + [["begin", *moves[p]]] + moves[p + 1 :],
}


class DiagnosisTest(unittest.TestCase):
    def explained(self, word, answers, delay=0, **facts):
        """None where every answer is right. A delay puts the answers later, before they are compared."""
        tracks = tracker(delay)
        shown = {t + delay: answer for t, answer in enumerate(answers) if t + delay < len(answers)}
        reading = Reading("s3", "a way", "a word", [BEGIN, *word], shown, **facts)
        found = first_wrong(tracks, reading)
        return None if found is None else Diagnosis(tracks, reading, found[0]).explanation()

    def test_right_answers_are_right(self):
        draw = random.Random(1)
        for delay in (0, 1, 3):
            word = [draw.randrange(2) for _ in range(30)]
            self.assertIsNone(self.explained(word, said(moves_of(word)), delay))

    def test_every_fault_at_every_place_is_named(self):
        draw = random.Random(2)
        seen = 0
        for _ in range(4):
            word = [draw.randrange(2) for _ in range(24)]
            moves = moves_of(word)
            right = said(moves)
            for kind, plant in FAULTS.items():
                for p in range(1, len(moves)):
                    answers = said(plant(moves, p))
                    for delay in (0, 3):
                        shown = answers[: len(answers) - delay]
                        text = self.explained(word, answers, delay, borders=[p + delay])
                        if shown == right[: len(shown)]:
                            self.assertIsNone(text)
                            continue
                        seen += 1
                        # One place that fits has to be the true one, unless a nearer one fits as well.
                        self.assertNotIn("no single fault", text)
                        if answers[p] != right[p]:
                            self.assertIn(f"token {p + delay + 1}", text, (kind, p, delay))
                            self.assertTrue(kind in text or "; or " in text or len(shown) - p < 6, (kind, p, text))
        self.assertGreater(seen, 300)

    def test_kinds_that_can_be_told_apart_are(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0]
        moves = moves_of(word)
        p = 8
        for kind, plant in FAULTS.items():
            at = p if kind != "exchanged" else 5
            text = self.explained(word, said(plant(moves, at)), borders=[0])
            self.assertIn(kind, text)
            self.assertIn(f"token {at + 1}", text)

    def test_a_memory_that_is_empty(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1]
        for p in range(1, len(word) + 1):
            text = self.explained(word, said(moves_of(word), lost_memory_at=p), borders=[p])
            self.assertEqual(text, f"the state was empty before token {p + 1} (the first of a call): lost, or never written")

    def test_an_empty_memory_that_answers_always_the_same(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1]
        for p in range(1, len(word) - 5):
            answers = said(moves_of(word))[:p] + [3] * (len(word) + 1 - p)
            text = self.explained(word, answers, borders=[p])
            self.assertIn(f"the state was empty before token {p + 1} (the first of a call)", text)
        # Four equal answers may be chance.
        answers = said(moves_of(word))[:-4] + [3] * 4
        self.assertNotIn("empty", self.explained(word, answers, borders=[len(word) - 3]))

    def test_an_empty_memory_that_a_letter_writes_anew(self):
        """Letters 0 and 1 take every state to themselves, letter 2 does nothing."""
        tracks = tracker_of("latch", ["a", "b", "c"], [[0, 1, 0], [0, 1, 1]])
        tokens = [3, 0, 1, 2, 2, 2, 1, 0, 2, 1, 2]
        answers = dict(enumerate([4, 4, 5, 5, 9, 9, 5, 4, 4, 5, 5]))  # empty before position 4, written at 6
        reading = Reading("latch", "a way", "a word", tokens, answers, [4])
        self.assertEqual(first_wrong(tracks, reading)[0], 4)
        self.assertEqual(Diagnosis(tracks, reading, 4).explanation(),
                         "the state was empty before token 5 (the first of a call): lost, or never written")

    def test_going_back_is_said_where_nothing_else_fits(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0]
        for back in range(2, 8):
            p = 10
            answers = said(moves_of(word))[:p] + said(moves_of(word[: p - 1 - back] + word[p - 1 :]))[p - back :]
            text = self.explained(word, answers, borders=[p])
            if text is not None:
                self.assertTrue("rolled back too far" in text or "reset" in text or "update" in text, text)
                self.assertFalse("rolled back too far" in text and "reset" in text, text)

    def test_a_convolution_that_forgets(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0]
        for p in range(1, 10):  # the call at p + 3 finds nothing of the three tokens before it
            moves = moves_of(word)
            moves[p : p + 3] = [[], [], []]
            text = self.explained(word, said(moves), 3, borders=[p + 3])
            self.assertIn(f"tokens {p + 1} to {p + 3} took no effect: the convolution's state was lost", text)

    def test_a_strangers_state(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0]
        for p in range(1, 8):
            for other in range(6):
                moves = moves_of(word)
                path = next(path for n in range(4) for path in itertools.product(range(2), repeat=n)
                            if said([["begin"], list(path)])[-1] == 3 + other)
                moves[p] = ["begin", *path, *moves[p]]
                text = self.explained(word, said(moves), borders=[p], others={"row 2 of the batch": other})
                if said(moves) == said(moves_of(word)):
                    self.assertIsNone(text)
                else:
                    self.assertIn("row 2 of the batch", text)

    def test_only_what_is_shown_is_judged(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0]
        tracks = tracker()
        for p in range(1, 10):
            answers = said(FAULTS["lost"](moves_of(word), p))
            reading = Reading("s3", "a way", "a word", [BEGIN, *word], {t: answers[t] for t in range(10, 17)}, [0])
            found = first_wrong(tracks, reading)
            if found is None:
                self.assertEqual(answers[10:], said(moves_of(word))[10:])
                continue
            self.assertGreaterEqual(found[0], 10)
            self.assertNotIn("no single fault", Diagnosis(tracks, reading, found[0]).explanation())

    def test_what_nothing_explains_is_said(self):
        word = [0, 1] * 30
        answers = said(moves_of(word))
        answers = answers[:20] + [3 + (answer - 2) % 6 if t % 2 else answer for t, answer in enumerate(answers[20:])]
        self.assertEqual(self.explained(word, answers), "no single fault that the kit knows explains it")
        self.assertIn("from the beginning", self.explained(word, [8, 8, 3, 5, 7, 4] * 10))


    def test_a_beta_that_is_clamped_where_tokens_are_read_alone(self):
        """A flip with β = 1 in place of 2 projects: the mean of the state and of what it should be."""
        parity = tracker_of("parity", ["0", "1"], [[0, 1], [1, 0]])
        for then in ([1, 0, 1, 1, 0, 1, 0, 1, 1], [0, 0, 1, 1, 0, 1, 0, 1, 1], [1] * 9):
            tokens = [2, 0, 1, 1, 0, 1, *then]
            answers, projected = parity.answers(tokens), False
            for t in range(6, len(tokens)):
                projected = projected or tokens[t] == 1
                answers[t] = 3 if projected else answers[t]
            reading = Reading("parity", "a way", "a word", tokens, dict(enumerate(answers)), [0, *range(6, len(tokens))])
            position = first_wrong(parity, reading)[0]
            kinds = kinds_of(Diagnosis(parity, reading, position).explanation())
            self.assertEqual(kinds[0], ONE_STEP)
            self.assertLessEqual(set(kinds), {ONE_STEP, "lost, or never written", "lost"})
        # In S_3 nothing that the automaton does explains it; the place does.
        word, tracks = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1], tracker()
        for alone in range(2, 10):
            matrix, answers = np.eye(3), []
            for t, letter in enumerate([None, *word]):
                if letter is not None:
                    moved = matrix[:, np.argsort(LETTERS[letter])]
                    is_clamped = t >= alone and letter == 1
                    matrix = (matrix + moved) / 2 if is_clamped else moved
                fits = [sum(matrix[i, point] for i, point in enumerate(element)) for element in ELEMENTS]
                answers.append(3 + int(np.argmax(np.array(fits) + 1e-9 * np.arange(6))))
            reading = Reading("s3", "a way", "a word", [BEGIN, *word], dict(enumerate(answers)), [0, *range(alone, len(word) + 1)])
            found = first_wrong(tracks, reading)
            if alone == 2:
                self.assertIsNotNone(found)
            if found is not None:
                text = Diagnosis(tracks, reading, found[0]).explanation()
                self.assertNotEqual(kinds_of(text), ["lost, or never written"])
                self.assertNotIn("tokens that were read alone", text)

    def test_several_tokens_read_alone_with_one_fault_each(self):
        """The step of every 20th decoded token, as faults are planted in runtimes: what it moves before its answer and after."""
        draw = random.Random(3)
        for delay in (0, 3):
            for before, after, kind in (([], None, "lost"), (None, [], "lost"), (2, None, "doubled"), (None, 2, "doubled")):
                word = [draw.randrange(2) for _ in range(120)]
                alone, moves = 40, moves_of(word)
                faulty = range(alone + 6, len(moves), 20)
                kept = list(moves)
                for p in faulty:
                    kept[p] = moves[p] * 2 if 2 in (before, after) else []
                answers = said(kept)
                for p in faulty if before is None else ():
                    answers[p] = said([*kept[:p], moves[p]])[-1]
                text = self.explained(word, answers, delay, borders=[0, *range(alone + delay, len(moves))])
                self.assertEqual(kinds_of(text), [kind], text)
                last = max(p for p in faulty if p + delay < len(moves))
                self.assertIn(f"tokens that were read alone, {faulty[0] + delay + 1} to {last + delay + 1}, were", text)

    def test_rings_that_are_flushed_wrongly(self):
        """Tokens from position 30 on are read alone; what is written to the state every `size` of them is not what they did."""
        draw, named = random.Random(4), 0
        for size, delay, _ in itertools.product(RINGS, (0, 3), range(3)):
            word = [draw.randrange(2) for _ in range(200)]
            for kind in ("lost", "made twice", "added to an older state"):
                moves, written = moves_of(word), [word[:29]]  # the letters of what was written: moves[t] is that of word[t - 1]
                for t in range(30 + size, len(moves), size):
                    block = word[t - 1 - size : t - 1]
                    written.append(written[-1] + (block * 2 if kind == "made twice" else []) if kind != "added to an older state"
                                   else written[-2:][0] + block)
                    moves[t] = ["begin", *written[-1], word[t - 1]]
                text = self.explained(word, said(moves), delay, borders=[0, *range(30 + delay, len(moves) + delay)]) or ""
                if f"a ring of inputs whose flush is {kind}" not in text and size == 16:
                    self.fail(f"{kind}, delay {delay}: {text}")
                named += f"a ring of inputs whose flush is {kind}" in text
        self.assertGreater(named, 35)  # of 54: where few flushes are wrong, a swap may do the same

    def test_turns_that_begin_with_another_state(self):
        """Calls of one token each, then one of several, and so on: each turn lacks what waits in a ring, or all since the last."""
        draw, calls = random.Random(5), [(30, 21), (5, 7), (3, 18), (16, 19), (9, 30)]
        for delay in (0, 3):
            word = [draw.randrange(2) for _ in range(sum(map(sum, calls)))]
            borders, turns, at = [0], [], 1
            for more, alone in calls:
                turns.append(at)
                borders += [*([at] if at > 1 else []), *range(at + more, at + more + alone)]
                at += more + alone
            for kind, lacking in (("a ring of inputs that is not copied with the state", [alone % 16 for _, alone in calls]),
                                  ("a turn that begins with the state of the turn before",
                                   [calls[0][1], *(more + alone for more, alone in calls[1:])])):
                moves, done = moves_of(word), {}
                letters = []  # those of the state
                for t in range(1, len(moves)):
                    if t in turns[1:]:
                        letters = done[t - lacking[turns.index(t) - 1] - 1]
                        moves[t] = ["begin", *letters, word[t - 1]]
                    letters = done[t] = [*letters, word[t - 1]]
                shifted = [border + delay if border else 0 for border in borders]
                self.assertEqual(kinds_of(self.explained(word, said(moves), delay, borders=shifted)), [kind])

    def test_tokens_that_are_not_of_the_text(self):
        """At one place, at some or at all of them letters are read that are not of the text; at others none."""
        draw = random.Random(6)
        for delay, places in itertools.product((0, 3), ([20], [20, 60], [20, 40, 60, 80])):
            word = [draw.randrange(2) for _ in range(110)]
            moves = moves_of(word)
            for t in places:
                moves[t] = [0, 1, 0, *moves[t]]
            strays = {t + delay: [[1], [0, 1, 0]] for t in (20, 40, 60, 80)} if delay == 0 else {}
            text = self.explained(word, said(moves), delay, borders=[0], strays=("padding", strays))
            self.assertEqual(kinds_of(text) == ["padding, read as text"], delay == 0)
        self.assertIsNone(self.explained(word, said(moves_of(word)), strays=("padding", {20: [[1]]})))

    def test_a_loss_after_the_answer_is_named_before_going_back(self):
        word = [0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0]
        for p in range(8, 14):
            moves = moves_of(word)
            answers = said(moves)[: p + 1] + said(moves[:p] + [[]] + moves[p + 1 :])[p + 1 :]
            self.assertIn("lost", kinds_of(self.explained(word, answers, borders=[0, *range(8, 21)])))

    def test_a_decay_that_comes_one_token_late(self):
        """The beginning empties the state a token later: what the token after it wrote is gone, and nothing is there."""
        tracks, word = tracker(), [0, 1, 0, 0, 1, 0, 1, 1, 0]
        tokens = [BEGIN, *word, BEGIN, *word]
        for borders in ([0], [0, 4], [0, 10]):
            answers = [right if token == BEGIN else NOTHING for token, right in zip(tokens, tracks.answers(tokens))]
            reading = Reading("s3", "a way", "a word", tokens, dict(enumerate(answers)), borders)
            kinds = kinds_of(Diagnosis(tracks, reading, 1).explanation())
            self.assertEqual(kinds[0], LATE_DECAY)
        # Before the first token of a call, and there alone, it is a state that was lost between calls.
        answers = answers[:10] + tracks.answers(tokens)[10:]
        reading = Reading("s3", "a way", "a word", tokens, dict(enumerate(answers)), [0, 1])
        self.assertEqual(kinds_of(Diagnosis(tracks, reading, 1).explanation()), ["lost, or never written"])


class SummaryTest(unittest.TestCase):
    ALL = {"parity", "s3", "s5", "s5-late", "digits", "z4", "latch", "latch-late", "ticks", "shares", "fades"}

    def said(self, wrong, models=None):
        entries = [(Reading(model, "a way", "a word", [], {}), 7, text) for model, text in wrong]
        return kit_run.summary(entries, models or self.ALL)

    def test_what_several_models_say_together(self):
        lost, alone = "the state was empty before token 7: lost, or never written", f"{NO_FAULT}, and it begins where: {ONE_STEP}"
        layers = "only the model of several layers: states of layers are exchanged or shared"
        convolution = "only models that need the convolution's state"
        for wrong, models, text in (
            ([], None, "all answers are right"),
            ([("z4", SEVERAL_LAYERS)], None, layers),
            ([("z4", SEVERAL_LAYERS)], {"s3", "z4"}, layers + ", or the convolution's state is lost"),
            ([("s5-late", lost)], None, convolution),
            ([("s5-late", lost), ("z4", SEVERAL_LAYERS)], None, convolution),
            ([("latch-late", lost), ("z4", SEVERAL_LAYERS)], None, convolution),
            ([("digits", lost), ("ticks", lost)], None, "fewer digits"),
            ([("digits", lost), ("ticks", lost), ("shares", lost)], None, "only models whose states need more digits"),
            ([("shares", lost)], None, "whose β bf16 does not have"),
            ([("fades", lost)], None, "a decay is cut off"),
            # A ring, or padding, that explains everything is no chance.
            ([("s3", "a: a ring of inputs whose flush is lost"), ("s5", "b: doubled"), ("ticks", "b: doubled")], None,
             "hardly by chance: a ring of inputs whose flush is lost"),
            ([("parity", f"token 9 empties it: {ONE_STEP}; or {lost}"), ("digits", f"token 9 empties it: {ONE_STEP}; or {lost}"),
              ("s3", alone), ("s5", alone), ("s5-late", alone)], None, f"what fits most often: {ONE_STEP}"),
            # One model that fails in many ways has one vote.
            ([("parity", lost)] * 9 + [("s3", NO_FAULT), ("s5", NO_FAULT), ("z4", SEVERAL_LAYERS)], None, f"in most models {NO_FAULT}"),
            ([(model, f"after a beginning: {LATE_DECAY}; or {lost}") for model in ("parity", "s3", "s5")], None,
             f"what fits most often: {LATE_DECAY}"),
            # What explains all texts of a model beats what explains some of them.
            ([("s3", "a: doubled; or b: lost"), ("s3", "a: doubled"), ("s5", "b: lost; or a: doubled")], None,
             "what fits most often: doubled"),
            # Models that cannot tell a late decay, or a factor, from a loss do not outvote one that can.
            ([("parity", lost), ("s3", lost), ("s5", f"after a beginning: {LATE_DECAY}; or {lost}")], None,
             f"what fits most often: {LATE_DECAY}"),
            ([("parity", lost), ("digits", lost), ("s5", f"after a beginning: {LATE_DECAY}; or {lost}"),
              ("s3", f"wrong from the beginning: {SCALED}")], None, f"what fits most often: {SCALED}"),
            ([(model, lost) for model in ("parity", "s3", "s5")], None, "what fits most often: lost, or never written"),
        ):
            with self.subTest(text):
                found = self.said(wrong, models)
                self.assertIn(text, found)
                self.assertEqual("convolution" in found, "convolution" in text)
                self.assertEqual("lost" in found, "lost" in text or text == convolution)


class Reader(Ways):
    """The automaton itself as a runtime, whose state is the text of every row; `fault` changes those of a prompt. Notes the rows and
    the tokens of every call."""

    def __init__(self, tracks, fault=lambda states: states):
        super().__init__(tracks)
        self.fault, self.calls = fault, []
        self.ways = {"whole": self.whole, "decoded": self.decoded, "pieces": self.pieces(64), "turns": self.turns,
                     "resumed": self.resumed, "preempted": self.preempted, "drafted": self.drafted,
                     "conversation": self.conversation, "generated": self.generated}

    def call(self, rows, state=None):
        self.calls.append((len(rows), len(rows[0])))
        texts = [before + row for before, row in zip(state or [[] for _ in rows], rows)]
        answers = [self.tracker.answers(text)[-len(row) :] for text, row in zip(texts, rows)]
        return [[-1 if said is None else said for said in row] for row in answers], texts if state else self.fault(texts)

    def copy_of(self, state):
        return list(state)


OWN_RUNTIME = """
from diagnosis import Reading

DTYPES, MODELS = ("float32",), ("parity", "s3")
FAULT = None


def about():
    return "a runtime of one's own"


def advice(error):
    return "plug it in" if "socket" in str(error) else ""


class Runtime:
    def __init__(self, tracker, dtype):
        self.tracker = tracker

    def readings(self, words):
        if FAULT == "raises":
            raise AssertionError("no socket")
        for word in words:
            tokens = word["prompt"] + word["then"]
            answers = self.tracker.answers(tokens)
            if FAULT == "wrong":
                answers[-1] = -5
            yield Reading(self.tracker.name, "in one call", word["name"], tokens, dict(enumerate(answers)), [0])
"""


@unittest.skipUnless(KROHN, "KROHN_COMMAND does not name the command")
class KitTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.kit = pathlib.Path(scratch.name) / "kit"
        subprocess.run([KROHN, "kit", "-o", str(self.kit)], check=True, capture_output=True)

    def tracker(self, name):
        return Tracker(self.kit / "models" / name)

    def read(self, runtime, *arguments, status=0):
        """What the kit says of the runtime, first to stdout and then to stderr."""
        done = subprocess.run([sys.executable, str(self.kit / "run.py"), "--runtime", runtime, *arguments],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def test_the_kit_reads_its_own_words(self):
        for name in json.loads((self.kit / "kit.json").read_text())["models"]:
            tracks = self.tracker(name)
            for word in tracks.words():
                answers = [-1 if answer is None else answer for answer in tracks.answers(word["prompt"] + word["then"])]
                self.assertEqual(answers, word["answers"], (name, word["name"]))

    def test_words_of_one_shape_are_read_side_by_side_and_most_words_alone(self):
        for name, longest in (("s5", 129), ("ticks", 257)):  # ticks has a letter that does nothing, and one more word of 257
            tracks = self.tracker(name)
            words = [word for word in tracks.words() if len(word["prompt"]) < 300]
            reader, calls = Reader(tracks), {}
            for way in [way for way in reader.ways if way != "generated" or tracks.reads_answers]:
                for reading in reader.ways[way](words):
                    self.assertIsNone(first_wrong(tracks, reading), (name, way, reading.word))
                calls[way], reader.calls = reader.calls, []
            alone = {way: {tokens for rows, tokens in made if rows == 1} for way, made in calls.items()}
            self.assertLessEqual({63, 64, 65, 127, 128, 255, 256, 33, 1}, alone["decoded"])
            self.assertEqual(max(calls["decoded"]), (2, longest))
            for way in ("decoded", "drafted", "conversation"):
                self.assertEqual(sum(made == (2, 1) for made in calls[way]) >= 40, way != "drafted", (name, way))
                self.assertIn(33, alone[way])
            self.assertEqual(alone["pieces"], {64, 63, 8, 1})
            self.assertLess(sum(map(len, calls.values())), 1500)
            # A row with its neighbour's state is found wherever there is more than one.
            faulty = Reader(tracks, lambda states: states[1:] + states[:1])
            wrong = kit_run.check(type("", (), {"Runtime": lambda tracks, dtype: faulty}), tracks, "float32", words, set())
            self.assertEqual({reading.way for reading, _, _ in wrong} - {"pieces"}, {"decoded", "drafted", "conversation"})
            self.assertIn("a stranger's", kit_run.summary(wrong, {name}))

    def test_a_runtime_of_ones_own(self):
        own = self.kit.parent / "elsewhere" / "my.py"
        own.parent.mkdir()
        for fault, status, text in (("None", 0, "all answers are right"), ("'wrong'", 1, "wrong in parity, s3"),
                                    ("'raises'", 2, "parity in float32 cannot be read: AssertionError: no socket; plug it in")):
            for path, name in ((self.kit / "mine_runtime.py", "mine"), (own, str(own))):
                path.write_text(OWN_RUNTIME.replace("FAULT = None", f"FAULT = {fault}"))
                self.assertIn(text, self.read(name, "--quick", status=status))
        own.write_text("raise ZeroDivisionError('a library that does not load')")
        for name, text, *options in (("nobodys", "there is no runtime nobodys"), (str(own.parent / "no.py"), "is not there"),
                                     ("nobodys", "llama, mine, onnx, openai, transformers"), (str(own), "does not load"),
                                     ("mine", "mine_faults.py", "--planted")):  # fmt: skip
            self.assertIn(text, self.read(name, "--quick", *options, status=2))

    def test_a_server_that_speaks_the_openai_protocol(self):
        """The server is a stub of ours (stub_server.py); vLLM and SGLang are not here."""
        few = {"prompt of 65", "140 tokens after a prompt of 33", "140 tokens after a prompt of 65"}
        trackers = [self.tracker(name) for name in ("s3", "shares")]
        folders = [tracker.folder for tracker in trackers]
        for fault, named in {None: "all answers are right", **stub_server.FAULTS}.items():
            with self.subTest(fault), stub_server.serving(folders, fault) as address:
                runtime, _ = kit_run.modules_of("openai:" + address)
                self.assertEqual(set(runtime.MODELS), {"s3", "shares"})
                wrong = [found for tracks in trackers for found in kit_run.check(
                    runtime, tracks, "served", [word for word in tracks.words() if word["name"] in few], set())]
                self.assertEqual(bool(wrong), fault is not None)
                self.assertIn(named, kit_run.summary(wrong, {"s3", "shares"}))
        with stub_server.serving(folders[:1]) as address:
            self.assertIn("closest logits", self.read(f"openai:{address}/v1/", "--quick", "--report", "margins"))
        for runtime, text in (("openai:" + address, "does not answer"), ("openai", "is no address"), ("openai:x", "is no address")):
            self.assertIn(text, self.read(runtime, "--quick", status=2))

    @unittest.skipUnless(HAS_TRANSFORMERS, "PyTorch and transformers are not installed")
    def test_a_sound_runtime_passes_and_a_faulty_one_is_found(self):
        self.assertIn("all answers are right",
                      self.read("transformers", "--quick", "--model", "s3", "--dtypes", "float32"))
        self.read("transformers", "--model", "s7", status=2)
        # A damaged word is not the runtime's fault.
        words = self.kit / "models" / "s3" / "words.jsonl"
        words.write_text(words.read_text().replace('"answers":[', '"answers":[-1,', 1))
        self.read("transformers", "--model", "s3", status=2)

    def test_onnx_runtime_is_sound_and_faults_of_what_carries_its_memory_are_found(self):
        if importlib.util.find_spec("onnxruntime") is None:
            self.skipTest("onnxruntime is not installed")
        onnx = ["onnx", "--quick", "--model"]
        self.assertIn("joined and parted batches", self.read(*onnx, "s3"))
        faulty = self.read(*onnx, "s3", "--planted")
        self.assertEqual(faulty.count("found by s3"), 9, faulty)
        self.assertRegex(faulty, r"token is lost: found by s3 .*(\n    .*)*\n    what fits most often: lost\b")
        self.assertIn("cannot hold digits", self.read(*onnx, "digits", status=2))

    def test_llama_cpp_is_sound(self):
        if any(importlib.util.find_spec(name) is None for name in ("gguf", "llama_cpp_py_sync")):
            self.skipTest("gguf and llama-cpp-py-sync are not installed")
        sound = self.read("llama", "--quick", "--model", "ticks", "--dtypes", "float32")
        self.assertIn("drafts, some taken back", sound)

    @unittest.skipIf(HAS_TRANSFORMERS, "transformers is installed")
    def test_without_the_runtime_it_says_what_to_install(self):
        self.assertIn("pip install", self.read("transformers", status=2))


if __name__ == "__main__":
    unittest.main()
