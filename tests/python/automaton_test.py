"""Automata, their words and their algebra, from Python."""
import gc
import os
import pathlib
import pickle
import sys
import tempfile
import unittest

import krohn
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "bench"))
import peer_regex  # noqa: E402


class Automata(unittest.TestCase):
    def test_every_way_in_gives_the_same_automaton(self):
        given = krohn.Automaton("regex:(a|b)*abb")
        same = [
            krohn.Automaton.parse(given.format("json"), "json"),
            krohn.Automaton.parse(given.format("dot"), "dot"),
            krohn.Automaton.from_table(given.table, letters="ab", accepting=[3]),
            krohn.Automaton.from_table(given.table, letters=["a", "b"], outputs=given.outputs,
                                       output_names=given.output_names),
            pickle.loads(pickle.dumps(given)),
        ]
        for automaton in same:
            self.assertTrue(automaton == given, automaton)
        self.assertNotEqual(given, krohn.Automaton("name:parity"))

    def test_running_is_following_the_table(self):
        automaton = krohn.Automaton("name:random:m=10,seed=1")
        words = np.random.default_rng(2).integers(0, len(automaton.letters), size=(20, 30))
        expected = np.empty_like(words)
        for row, word in enumerate(words):
            state = automaton.initial
            for t, letter in enumerate(word):
                state = automaton.table[state, letter]
                expected[row, t] = state
        np.testing.assert_array_equal(automaton.run(words), expected)
        np.testing.assert_array_equal(automaton.run(words[0]), expected[0])
        np.testing.assert_array_equal(automaton.run(words.astype(np.uint8)[:, ::2]), automaton.run(words[:, ::2].copy()))
        np.testing.assert_array_equal(automaton.final_state(words), expected[:, -1])
        self.assertEqual(automaton.final_state([]), automaton.initial)
        self.assertEqual(automaton.run(np.zeros((3, 0), dtype=np.int64)).shape, (3, 0))

    def test_anchors_wherever_they_stand_mean_what_they_mean_in_python(self):
        differing, pairs, matches = peer_regex.differences(count=1500, seed=1, longest=3)
        self.assertEqual(differing, [])
        self.assertGreaterEqual(pairs, 1500 * 39)
        self.assertGreater(matches, 10_000)

    def test_words_become_texts_and_texts_words(self):
        for name, text in (("regex:(a|b)*abb", "abba"), ("name:S3", "(1 2) (1 2 3)")):
            automaton = krohn.Automaton(name)
            word = automaton.encode(text)
            self.assertEqual(automaton.decode(word), text)
            self.assertEqual([automaton.letters[letter] for letter in word[:1]], [automaton.decode(word[:1])])

    def test_operations_agree_with_membership(self):
        a, b = krohn.Automaton("regex:(a|b)*ab"), krohn.Automaton("regex:a(a|b)*")
        words = np.random.default_rng(3).integers(0, 2, size=(200, 6))
        in_a, in_b = a.accepts(words), b.accepts(words)
        np.testing.assert_array_equal((a | b).accepts(words), in_a | in_b)
        np.testing.assert_array_equal((a & b).accepts(words), in_a & in_b)
        np.testing.assert_array_equal((a - b).accepts(words), in_a & ~in_b)
        np.testing.assert_array_equal((~a).accepts(words), ~in_a)
        np.testing.assert_array_equal(a.reverse().accepts(words), a.accepts(words[:, ::-1].copy()))
        self.assertTrue(krohn.Automaton("regex:(ab)*").equivalent(krohn.Automaton("regex:ab").star()))
        self.assertTrue((krohn.Automaton("regex:a") + krohn.Automaton("regex:b")).equivalent(krohn.Automaton("regex:ab")))

    def test_outputs_other_than_accept_and_reject(self):
        machine = krohn.Automaton("name:sum5")
        self.assertFalse(machine.is_acceptor)
        self.assertEqual(machine.output("34"), "2")
        self.assertEqual(machine.output([[1, 2], [4, 4]]), ["3", "3"])
        with self.assertRaises(ValueError):
            machine.accepts("34")

    def test_arrays_outlive_what_they_came_from(self):
        table = krohn.Automaton("name:Z60").table
        gc.collect()
        self.assertEqual(int(table.sum()), 60 * 60 * 59 // 2)
        table[:] = 0  # a copy: nobody else sees it
        self.assertEqual(krohn.Automaton("name:Z60").table[0, 1], 1)

    def test_what_is_wrong_is_refused(self):
        automaton = krohn.Automaton("regex:(a|b)*abb")
        for words in ([2], [-1], [[0, 1], [1, 5]], [2**40], np.array([2**63], dtype=np.uint64), np.zeros((1, 1, 1), int),
                      "abc"):
            with self.subTest(words=words), self.assertRaises(ValueError):
                automaton.run(words)
        for words in ([0.5], np.array(["a"]), [None], object()):
            with self.subTest(words=words), self.assertRaises(TypeError):
                automaton.run(words)
        for call in (
            lambda: krohn.Automaton("regex:("),
            lambda: krohn.Automaton("name:nothing"),
            lambda: krohn.Automaton("name:Z5", generators="(1 2"),
            lambda: krohn.Automaton.from_table([[0, 2]], letters="ab", accepting=[]),
            lambda: krohn.Automaton.from_table([[0, -1]], letters="ab", accepting=[]),
            lambda: krohn.Automaton.from_table([[0, 0]], letters="abc", accepting=[]),
            lambda: krohn.Automaton.from_table([[0, 0]], letters="ab", accepting=[1]),
            lambda: krohn.Automaton.from_table([[0, 0]], letters="ab", outputs=[0, 0]),
            lambda: krohn.Automaton.from_table([[0, 0]], letters="ab", accepting=[], initial=1),
            lambda: krohn.Automaton.from_table([0, 0], letters="ab", accepting=[]),
            lambda: krohn.Automaton.from_table([[0, 0]], letters="ab"),
            lambda: krohn.Automaton.parse("x", "yaml"),
        ):
            with self.assertRaises(ValueError):
                call()
        for name, call in (
            ("count", lambda: automaton.shortest_words(-1)),
            ("length", lambda: automaton.count(-1)),
            ("length", lambda: automaton.count(2.5)),
            ("samples", lambda: krohn.dataset("S3", samples=-1)),
            ("seed", lambda: krohn.dataset("S3", samples=1, seed=-1)),
            ("words", lambda: krohn.sample(krohn.compile("name:Z2"), words=-1)),
            ("length", lambda: krohn.sample(krohn.compile("name:Z2"), lengths=[3, -1])),
        ):
            with self.assertRaisesRegex(ValueError, f"^{name} is .*, not a whole number from 0 on$"):
                call()
        self.assertEqual(automaton.count(np.int64(0)), 0)
        with self.assertRaises(OSError):
            automaton.save("/nowhere/at/all.dot")
        with self.assertRaises(krohn.LimitError):
            krohn.Automaton("regex:(a|b)*a(a|b){20}", max_states=1000)

    def test_pictures_and_algebra(self):
        automaton = krohn.Automaton("regex:(a|b)*abb")
        self.assertIn("<svg", automaton._repr_svg_())
        self.assertIn("<svg", automaton.egg_box().svg)
        self.assertEqual(krohn.Automaton("name:T4").monoid()["monoid"]["size"], 256)
        jobs = krohn.classify("name:A5")
        self.assertEqual([group["name"] for group in jobs[0]["groups"]], ["A_5"])
        self.assertEqual({row["answer"] for row in jobs[0]["architectures"]}, {"yes", "no"})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "semigroup.g")  # which begins in no state of its own
            with open(path, "w", encoding="utf-8") as file:
                file.write("S := Semigroup( Transformation( [ 1, 1, 4, 3 ] ) );\n")
            (job,) = krohn.classify(path)
            self.assertEqual([group["name"] for group in job.groups], ["Z_2"])
            with self.assertRaisesRegex(krohn.InputError, "initial := 1;"):
                krohn.Automaton(path)


if __name__ == "__main__":
    unittest.main()
