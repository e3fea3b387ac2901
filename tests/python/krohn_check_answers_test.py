#!/usr/bin/env python3
"""Tests of tools/check/krohn_check.py on what certificates say of answers: languages that they bring along, and operations."""
import contextlib
import io
import json
import math
import random
import struct
import subprocess
import unittest
from fractions import Fraction

from krohn_check_case import BAD, Case, ESTABLISHED, KROHN, REFUSED, UNDECIDED, as_its_own

import certificates  # noqa: E402
import models  # noqa: E402
import mutate  # noqa: E402
import operations  # noqa: E402
from certificates import check  # noqa: E402


def units(x):
    """A double as the checker has it."""
    return check.FP64.decode(struct.unpack("<Q", struct.pack("<d", x))[0])


def of(function, x, *more):
    """What a function of the checker gives for a double, as a double."""
    return float(Fraction(function(int(Fraction(x) * 2**check.UNIT), *more), 1 << check.UNIT))


class Languages(Case):
    def language(self, **changes):
        about = {"format": "krohn automaton", "version": 1, "alphabet": ["1", {"name": "0", "characters": [[48, 48]]}], "states": 4,
                 "initial": 1, "output_names": ["q3", "q0", "q1", "q2"], "outputs": [0, 1, 2, 3],
                 "transitions": [[1, 0], [2, 1], [3, 2], [0, 3]], **changes}
        return self.file("language.json", json.dumps(about))

    def test_letters_and_outputs_go_by_name(self):
        certificate = certificates.closed_codewords(self.model(models.cascade()))
        self.assert_verdict(ESTABLISHED, certificate, "--against", self.language())
        self.assert_verdict(REFUSED, certificate, "--against", self.language(initial=2))
        self.assert_verdict(REFUSED, certificate, "--against", self.language(transitions=[[1, 0], [2, 1], [3, 2], [0, 2]]))
        self.assertIn("'1 1 0'", self.said)
        # The same names for other characters; and names that Unicode's tables would have to be asked about.
        self.assert_verdict(BAD, certificate, "--against", self.language(alphabet=["1", {"name": "0", "characters": [[50, 50]]}]))
        self.assertIn("other characters", self.said)
        self.assertEqual([check.characters_of(x) for x in ("a", "\\n", "\n", "ab", "\\x{01}")], [[[97, 97]], [[10, 10]], [[10, 10]], [], None])
        self.assert_verdict(ESTABLISHED, certificate, "--against", self.language(
            alphabet=[{"name": "one", "characters": [[49, 49]]}, "0"]))  # by its characters
        for changes in ({"alphabet": ["1", "1"]}, {"alphabet": ["1", "2"]}, {"alphabet": ["1"]}, {"version": 2}, {"initial": 4}, {"transitions": [[1, 0]]},
                        {"alphabet": [1, 2]}, {"outputs": [0, 1, 2, 4]}, {"states": None}, {"alphabet": None},
                        {"transitions": [[1, [0, 1]], [2, 1], [3, 2], [0, 3]]}, {"outputs": [0, 1, 2, -1]}):
            self.assert_verdict(BAD, certificate, "--against", self.language(**changes))

    def test_characters_that_do_not_print_have_a_name_and_are_themselves(self):
        names = {"\n": "\\n", "\t": "\\t", "\r": "\\r", " ": " ", "\x01": "\\x{01}", "\x7f": "\\x{7F}", "\ufeff": "\\x{FEFF}",
                 "\u202e": "\\x{202E}", "\u0301": "\\x{301}", "\u00a0": "\\x{A0}", "\ue000": "\\x{E000}", "A": "A", "é": "é"}
        for character, name in names.items():
            with self.subTest(name=name):
                self.assertEqual(check.written_out(character), name)
                self.assertTrue(check.same_letter(name, None, character, [[ord(character)] * 2]))
        self.assertFalse(check.same_letter("\\x{41}", None, "A", [[65, 65]]))
        self.assertFalse(check.same_letter("\\x{41}", [], "A", [[65, 65]]))
        if KROHN:
            for character in names:
                language = {"format": "krohn automaton", "version": 1, "alphabet": [character, "x"], "states": 2, "initial": 0,
                            "accepting": [1], "transitions": [[1, 0], [0, 1]]}
                path, model, certificate = self.file("odd.json", json.dumps(language)), self.folder / "odd.safetensors", self.folder / "odd.cert"
                subprocess.run([KROHN, "compile", path, "-o", model], check=True, capture_output=True)
                subprocess.run([KROHN, "verify", model, "--certificate", certificate], check=True, capture_output=True)
                for says in ([KROHN, "check", certificate, model, "--against", path],
                             ["python3", check.__file__, certificate, model, "--against", path]):
                    with self.subTest(character=character, by=str(says[0])):
                        self.assertEqual(subprocess.run(says, capture_output=True).returncode, 0)

    def test_acceptors(self):
        tables = [[0, 1], [1, 0]]
        layer = models.layer(1, 1, [[[1]], [[-1]]], "signed-permutation", {
            "structured.signed.map": ("U32", [2, 1], [0, 0]), "structured.signed.sign": ("I8", [2, 1], [1, -1])}, [0, 1])
        certificate = certificates.closed_codewords(self.model(models.network(
            ["0", "1"], tables, [layer], [[[0, 1]]], outputs=[0, 1], names=["reject", "accept"])))
        about = {"format": "krohn automaton", "version": 1, "alphabet": ["0", "1"], "states": 4, "initial": 0,
                 "accepting": [1, 3], "transitions": [[2, 1], [3, 2], [0, 3], [1, 0]]}
        self.assert_verdict(ESTABLISHED, certificate, "--against", self.file("language.json", json.dumps(about)))
        about["transitions"][3] = [None, 0]
        self.assert_verdict(REFUSED, certificate, "--against", self.file("language.json", json.dumps(about)))


class Answers(Case):
    """Operations, and languages that certificates bring along."""

    def edited_at(self, certificate, kind, edit, which=0):
        """The certificate with one step of a kind changed."""
        def change(lines):
            edit([x for x in lines if x.get("step") == kind][which])
        return self.edited(certificate, change)

    def certificate(self, described, steps_of, **claim):
        certificate = described.certificate(self.folder, steps_of, **claim)
        self.file("model.safetensors", described.data)
        return certificate

    def proved(self, described, arithmetic="fp32"):
        return self.certificate(described, certificates.pair_steps, arithmetic=arithmetic, claim="proved",
                                method="closed reachable set")

    def refuse(self, certificate, kind, which=0, status=REFUSED, **members):
        self.assert_verdict(status, self.edited_at(certificate, kind, lambda step: step.update(members), which))

    def test_every_subject_is_established_and_right(self):
        for name, data, certificate in operations.subjects(self.folder):
            with self.subTest(name):
                self.file("model.safetensors", data)
                self.assert_verdict(ESTABLISHED, certificate)
                self.assertIsNone(mutate.falsehood(self.folder, data, certificate))

    def test_functions_against_floats(self):
        of = {"fp32": operations.single, "fp64": float}
        r = random.Random(7)
        for name, o in of.items():
            to = check.FORMATS[name]
            for i in range(3000):
                a, b = (o(r.choice([-1, 1]) * r.random() * 2.0**r.randrange(-40, 40)) for _ in range(2))
                facts = {"add": o(a + b), "subtract": o(a - b), "multiply": o(a * b), "divide": o(a / b), "greater": max(a, b)}
                for kind, right in facts.items():
                    self.assertEqual(check.COMPUTED[kind][1](to, units(a), units(b)), units(right), (kind, a, b))
                self.assertEqual(check.square_root(units(abs(a)), to), units(o(math.sqrt(abs(a)))))
                if name == "fp32":
                    self.assertEqual(check.COMPUTED["bf16"][1](to, units(a)), units(operations.bfloat(a)))
        # Quotients and roots at ties and among the least numbers: half a unit more or less decides.
        least = 1 << check.FP32.grain
        self.assertEqual(check.quotient(least, 2 << check.UNIT, check.FP32), 0)  # a tie, to even
        self.assertEqual(check.quotient(least + 1, 2 << check.UNIT, check.FP32), least)
        self.assertEqual(check.quotient(3 * least, 2 << check.UNIT, check.FP32), 2 * least)
        self.assertEqual(check.quotient(-3 * least, 2 << check.UNIT, check.FP32), -2 * least)
        with self.assertRaises(check.Refused):
            check.quotient(1, 0, check.FP32)
        with self.assertRaises(check.Refused):
            check.square_root(-1, check.FP32)

    def test_exponentials_are_within_a_unit_and_end_where_they_should(self):
        r = random.Random(8)
        for i in range(2000):
            x = r.uniform(-700, 700) if i % 2 else r.gauss(0, 2)
            value = of(check.exp64, x)
            self.assertLessEqual(abs(value - math.exp(x)), 1.1 * math.ulp(value))
            x = operations.single(r.uniform(-87, 88))
            value = of(check.exp32, x)
            self.assertLessEqual(abs(value - math.exp(x)), 0.51 * math.ulp(value) * 2**29)
        for function, low, high in ((check.exp64, -746 << check.UNIT, 710 << check.UNIT),
                                    (check.exp32, check.FP64.decode(0xC059FE3680000000), check.FP64.decode(0x40562E42E0000000))):
            self.assertIsNotNone(function(high) or function(high - (1 << check.UNIT)))
            self.assertIsNone(function(high + 1))
            self.assertEqual(function(low - 1), 0)
        self.assertEqual(check.sigmoid(1 << check.UNIT, None, check.FP32), 0)

    def test_logarithms_are_within_a_unit_and_softplus_is_what_it_says(self):
        r = random.Random(10)
        roots = [2.0**k * 1.4142135623730951 - 1 + near * 2.0**(k - 52) for k in range(30) for near in (-1, 0, 1)]
        for x in [0.0, 2.0**-60, 2.0**-61, 1.0, 1e300, *roots, *(r.random() * 2.0**r.randrange(-70, 70) for _ in range(2000))]:
            log = of(check.log1p64, x)
            self.assertLessEqual(abs(log - math.log1p(x)), 1.1 * math.ulp(log))
        for _ in range(500):
            x = operations.single(r.uniform(-110, 110))
            right = max(x, 0) + math.log1p(math.exp(-abs(x)))
            for function in (check.softplus, check.softplus32):
                value = of(function, x, check.FP32)
                self.assertEqual(value, operations.single(value))
                self.assertLessEqual(abs(value - right), 2e-7 * right + 1e-44)
        self.assertEqual([of(check.softplus32, x, check.FP32) for x in (20.5, -105)], [20.5, 0])

    def test_tanh_and_the_logistic_function_are_within_three_units(self):
        r = random.Random(9)
        sizes = [r.choice([-1, 1]) * r.random() * 2.0**r.randrange(-60, 7) for _ in range(3000)]
        borders = [0.17328679513998632 * odd * (1 + near * 2.0**-52) for odd in range(1, 40, 2) for near in range(-5, 6)]
        for x in [*sizes, *borders, 19.99, 20.0, 20.01, 2.0**-1060, 5e-324]:
            tanh, logistic = of(check.tanh64, x), of(check.logistic64, x)
            self.assertLessEqual(abs(tanh - math.tanh(x)), 4 * math.ulp(tanh))
            self.assertEqual(of(check.tanh64, -x), -tanh)
            self.assertLessEqual(abs(logistic - 1 / (1 + math.exp(-x))), 2 * math.ulp(logistic))
        self.assertEqual(check.tanh64(0), 0)
        self.assertEqual([of(check.tanh64, x) for x in (-40.5, 23, 1e300)], [-1, 1, 1])
        self.assertEqual([of(check.logistic64, x) for x in (-711, 0, 40)], [0, 0.5, 1])

    def test_newer_functions_are_within_a_unit(self):
        def near(value, right):
            self.assertLessEqual(abs(value - right), 1.6 * math.ulp(right), (value, right))
        r = random.Random(11)
        angles = [eighth * math.pi / 4 for eighth in range(-20, 21)] + [2.0**20, 2.0**20 - 1, 1e22, 1e300, -1e300, 5e-324]
        for x in [*angles, *(r.choice([-1, 1]) * 2.0**r.uniform(-40, 60) for _ in range(500))]:
            near(of(check.cosine64, x, 0), math.cos(x))
            near(of(check.cosine64, x, -1), math.sin(x))
        for _ in range(500):
            x, p = 2.0**r.uniform(-60, 60), r.choice([1.0, 1.2, 1 / 1.2, 2.0, r.uniform(1, 16)])
            near(of(check.power64, x, int(Fraction(p) * 2**check.UNIT)), x**p)
            x = r.uniform(-110, 110)
            near(of(check.log_sigmoid, x, check.FP64), min(x, 0) - math.log1p(math.exp(-abs(x))))
            near(of(check.softplus64, x, check.FP64), x if x > 20 else math.log1p(math.exp(x)))
        one = 1 << check.UNIT
        self.assertEqual([check.power64(x, 2 * one) for x in (0, one, None, 1 << check.UNIT + 600)], [0, one, None, None])
        self.assertEqual(check.power64(1 << check.UNIT - 600, 2 * one), 0)
        self.assertEqual([check.cosine64(0, quarters) for quarters in (0, -1)], [one, 0])
        self.assertEqual(check.p_norm([3 * one, -4 * one, 0], 2 * one, check.FP32), 5 * one)

    def test_versions_and_exponents(self):
        certificate = self.proved(operations.parity(newer=True))
        self.assert_verdict(ESTABLISHED, certificate)
        self.assert_verdict(BAD, certificate.replace('"version": 3', '"version": 2'))
        self.assert_verdict(BAD, certificate.replace('"version": 3', '"version": 4'))
        for exponent in ("3fefffffffffffff", "4090000000000001", "7ff0000000000000", "bff0000000000000", "3ff", 1):
            self.refuse(certificate, "norm", status=BAD, exponent=exponent)
        self.refuse(certificate, "norm", status=BAD, terms=0)
        self.refuse(certificate, "norm", terms=2)  # a number that the list does not have
        self.refuse(certificate, "norm", of=[[23, 0, 1]])
        self.refuse(certificate, "norm", of=[[23, 0, 1, 1], [23, 0, 1, 1]])
        self.assert_verdict(ESTABLISHED, self.edited_at(certificate, "norm", lambda s: s.update(exponent="4090000000000000")))
        # What is greater grows, or falls.
        self.refuse(certificate, "sine", step="cosine")
        older = self.proved(operations.parity())
        self.assert_verdict(BAD, older.replace('"version": 2', '"version": 3'))
        network = certificates.closed_codewords(self.model(models.cascade()))
        self.assert_verdict(BAD, network.replace('"version": 2', '"version": 3'))

    def test_one_bit_of_what_is_remembered(self):
        for described, arithmetic in ((operations.parity(), "fp32"), (operations.parity(bits=64), "fp64")):
            certificate = self.proved(described, arithmetic)
            self.assert_verdict(ESTABLISHED, certificate)
            for which in range(2):
                bits = json.loads(certificate.splitlines()[-3 + which])["bits"][0]
                for at in range(len(bits)):
                    other = format(int(bits[at], 16) ^ 1, "x")
                    text = self.edited_at(certificate, "pair", lambda s: s.update(bits=[bits[:at] + other + bits[at + 1:]]), which)
                    self.assertIn(self.verdict(text), (REFUSED, BAD))

    def test_numbers_that_other_lists_have_and_one_past(self):
        certificate = self.proved(operations.parity())
        # A h: [2, 2] of a row of four numbers and of the memory's two.
        self.refuse(certificate, "dot", of=[[2, 1, 2, 1], [1, 0, 0, 1]])
        self.refuse(certificate, "dot", of=[[2, 0, 3, 1], [1, 0, 0, 1]])
        self.refuse(certificate, "dot", terms=3)
        self.refuse(certificate, "dot", shape=[3])
        self.refuse(certificate, "dot", of=[[2, 0, 2, 1], [1, 0, 0]])
        self.refuse(certificate, "dot", of=[[2, 0, 2, 1]])
        self.refuse(certificate, "dot", of=[[3, 0, 2, 1], [1, 0, 0, 1]])  # itself
        self.refuse(certificate, "copy", of=[[18, 1, 1]])
        self.refuse(certificate, "copy", of=[[18, 0]])
        self.refuse(certificate, "row", size=3)  # then the dot has not enough
        self.refuse(certificate, "row", of=1)  # of the memory
        self.refuse(certificate, "operations", tokens=[0, 2])  # two rows
        self.refuse(certificate, "operations", tokens=[0])
        self.refuse(certificate, "memory", size=1)
        self.refuse(certificate, "memory", size=3)
        self.refuse(certificate, "answer by", start=[3])  # depends on a token
        self.refuse(certificate, "answer by", keep=[3, 3])
        self.refuse(certificate, "answer by", logits=20)
        self.refuse(certificate, "tensor", status=BAD, name="b")
        self.refuse(certificate, "operations", tokens=[0, 1, 1])  # more tokens than letters
        for kind, members in (("memory", {"size": 0}), ("row", {"size": 0}), ("numbers", {"times": 0}), ("numbers", {"bits": ""}),
                              ("dot", {"terms": 0}), ("copy", {"shape": [0]})):
            self.refuse(certificate, kind, status=BAD, **members)
        self.refuse(certificate, "root", status=BAD, step="sine")
        # Another order of the two numbers that are remembered is another model.
        self.refuse(certificate, "dot", of=[[2, 0, 2, 1], [1, 1, 0, 0]])

    def test_limits(self):
        for described in (operations.parity(), operations.counter(5, 6)):
            certificate = self.proved(described)
            evaluator = operations.Evaluator([json.loads(x) for x in certificate.splitlines()], operations.numbers_of(described.data))
            size = next(s["size"] for s in evaluator.steps if s["step"] == "memory")
            self.assert_limit("MOST_NUMBERS", sum(len(x) for x in evaluator.lists(0, [1.0] * size)), certificate)
            self.assert_limit("MOST_PRODUCTS", max(math.prod(s["shape"]) * s.get("terms", 1) for s in evaluator.steps if "shape" in s),
                              certificate)
        # The limits themselves, which krohn's checker has, too.
        certificate = self.proved(operations.parity())
        for kind, members in (("memory", {"size": 2**26 + 1}), ("numbers", {"times": 2**26 + 1}), ("dot", {"shape": [2**26 + 1]}),
                              ("dot", {"shape": [2**20], "terms": 2**16 + 1})):
            self.refuse(certificate, kind, status=UNDECIDED, **members)
            self.assertIn(str(2**36 if "terms" in members else 2**26), self.said)
            if KROHN:
                certificate_and_model = [str(self.folder / "certificate.json"), str(self.folder / "model.safetensors")]
                self.assertEqual(subprocess.run([KROHN, "check", *certificate_and_model], capture_output=True).returncode, UNDECIDED)

    def test_numbers_that_are_not_finite(self):
        certificate = self.proved(operations.parity())
        self.refuse(certificate, "divide", of=[[3, 0, 1], [5, 0, 1]])  # by (1, 0)
        # √(h·h − 1) is 0, and of half that a negative number has no root.
        self.refuse(certificate, "root", of=[[5, 1]])  # √0, by which the next step divides

    def test_greatest_logits_and_ties(self):
        after = check.FP32.decode(0x40A00001)  # the number after 5
        for past, status in ((5, REFUSED), (Fraction(after, 1 << check.UNIT), ESTABLISHED), (6, ESTABLISHED)):
            certificate = self.proved(operations.counter(5, past))
            self.assert_verdict(status, certificate)

    def test_letters_that_cannot_stand(self):
        certificate = self.proved(operations.counter(4, 9))
        self.refuse(certificate, "pair", which=4, next=[4])  # the last state has no letter
        self.refuse(certificate, "pair", which=3, next=[check.NOWHERE])  # the one before has
        # A language that goes on: its state after the last letter has no pair, and `next` is missing.
        self.refuse(certificate, "language", table=[[1], [2], [3], [4], [4]])
        word = self.certificate(operations.counter(4, 3), lambda net: operations.answer_of(net, [0] * 3, True), claim="refuted",
                                shortest=True, method="failing word")
        self.assert_verdict(ESTABLISHED, word)
        self.refuse(word, "word", times=4)  # another answer than the one that is stated
        self.refuse(word, "word", times=5)  # cannot stand

    def test_what_is_right_in_the_certificate(self):
        certificate = self.proved(operations.parity())
        self.refuse(certificate, "language", logits=[1, 0])
        self.refuse(certificate, "language", logits=[0, 2])  # never given
        self.refuse(certificate, "language", status=BAD, logits=[1, 1])  # one logit, two outputs
        self.refuse(certificate, "language", table=[[1, 0], [1, 0]])
        self.refuse(certificate, "language", status=BAD, logits=[None, 1])
        self.refuse(certificate, "language", status=BAD, logits=[0])
        self.refuse(certificate, "language", status=BAD, table=[[0, 2], [1, 0]])
        self.refuse(certificate, "language", status=BAD, letters=["0", "0"])
        self.refuse(certificate, "language", status=BAD, table=[[0], [1]])
        nothing = self.edited_at(certificate, "language", lambda s: s.update(outputs=[None, "odd"], logits=[None, 1]))
        self.assert_verdict(ESTABLISHED, nothing)  # less is claimed
        self.assertIn("asks in 1 of its 2 states", self.said)
        other = self.edited(certificate, lambda lines: lines[0].update(weights="0" * 64))
        self.assertNotEqual(self.verdict(other), ESTABLISHED)
        self.assert_verdict(BAD, self.edited(certificate, lambda lines: lines[0].update(method="closed codewords")))
        self.assert_verdict(BAD, self.edited(certificate, lambda lines: lines[0].pop("against")))
        self.assert_verdict(BAD, self.edited(certificate, lambda lines: lines[0].update(order="any")))
        self.assert_verdict(BAD, self.edited(certificate, lambda lines: lines[0].update(arithmetic="fp16")))
        self.assert_verdict(BAD, self.edited(certificate, lambda lines: lines[0].update(form="structured")))

    def test_a_language_of_its_own_beside_a_network(self):
        data, right = operations.coarse_parity()
        model = self.model(data)
        proved = operations.of_network(model, right, certificates.pair_steps, claim="proved", method="closed reachable set")
        self.assert_verdict(ESTABLISHED, proved)
        self.refuse(proved, "language", outputs=["odd", "even"])
        self.refuse(proved, "language", outputs=["even", "even"])
        self.refuse(proved, "language", outputs=["even", "other"])
        self.refuse(proved, "language", table=[[0, 0], [1, 1]])
        self.refuse(proved, "language", status=BAD, logits=[0, 1])
        self.refuse(proved, "language", status=BAD, outputs=["even", None])  # every word is asked about
        self.refuse(proved, "language", status=BAD, table=[[0, 1], [1, check.NOWHERE]])
        self.assertNotEqual(self.verdict(self.edited_at(proved, "language", lambda s: s.update(letters=["1", "0"]))), ESTABLISHED)
        self.refuse(proved, "pair", next=[0, 0])
        without = self.edited(proved, lambda lines: (lines[0].pop("against"), lines.pop(1)))
        self.assert_verdict(REFUSED, without)  # its own automaton says something else
        up_to = {T: operations.of_network(model, right, lambda net: certificates.pair_steps(net, T), claim="proved up to a length",
                                          length=T, method="closed reachable set") for T in (1, 2)}
        self.assert_verdict(ESTABLISHED, up_to[1])
        self.assert_verdict(ESTABLISHED, up_to[2])
        self.assertNotEqual(self.verdict(up_to[2].replace('"length": 2', '"length": 3')), ESTABLISHED)
        modulo_3 = {"table": [[0, 1], [1, 2], [2, 0]], "outputs": ["even", "odd", "odd"]}
        for word, shortest, status in (([1, 1], True, ESTABLISHED), ([0, 1, 1], True, REFUSED), ([0, 1, 1], False, ESTABLISHED),
                                       ([1], False, REFUSED)):
            text = operations.of_network(model, modulo_3, lambda net: operations.answer_of(net, word, shortest), claim="refuted",
                                         shortest=shortest, method="failing word")
            self.assert_verdict(status, text)
        self.refuse(text, "answer", status=REFUSED, given=0)  # a state instead of a name

    def test_languages_are_compared_where_something_is_asked(self):
        certificate = self.proved(operations.counter(2, 9))
        language = {"format": "krohn automaton", "version": 1, "alphabet": ["a"], "states": 4, "initial": 0,
                    "transitions": [[1], [2], [3], [3]], "output_names": ["below", "nothing"], "outputs": [1, 0, 0, 1]}
        for outputs, status in (([1, 0, 0, 1], ESTABLISHED), ([0, 0, 0, 0], ESTABLISHED), ([0, 0, 1, 0], REFUSED)):
            path = self.file("language.json", json.dumps({**language, "outputs": outputs}))
            self.assert_verdict(status, certificate, "--against", path)

    def regions(self, status, saying="", arithmetic="fp32", **about):
        described = operations.flip_flop(**about)
        certificate = operations.closed_regions(described, self.folder, arithmetic)
        self.file("model.safetensors", described.data)
        self.assert_verdict(status, certificate)
        self.assertIn(saying, self.said)
        return certificate

    def test_regions_one_unit_too_small(self):
        def after(x, units):
            bits, = struct.unpack("<i", struct.pack("<f", x))
            return struct.unpack("<f", struct.pack("<i", bits + units))[0]

        # x = (−u − 1) z + 1, but for what a runtime may be off by: 2^−21 of z and of n, and some roundings; in bf16 2^−8 of z and of
        # n, and of three results; in fp16 2^−11.
        for arithmetic, u, least, most in (("fp32", 1.001, 0, 5 * 2.0**-21), ("bf16", 1.05, 4 * 2.0**-8, 10 * 2.0**-8),
                                        ("fp16", 1.006, 4 * 2.0**-11, 10 * 2.0**-11)):
            def ask(status, x, y, saying=""):
                self.regions(status, saying, arithmetic, on=(x, u), off=(-u, -y))

            def is_closed(x):
                with contextlib.suppress(AssertionError):
                    ask(ESTABLISHED, x, x)
                    return True
                return False
            closed, open_end = operations.single(0.7), operations.single(0.8)
            while after(closed, 1) != open_end:
                middle = operations.single((closed + open_end) / 2)
                closed, open_end = (middle, open_end) if is_closed(middle) else (closed, middle)
            exact = 1 - (1 + u) / (1 + math.exp(2))
            self.assertLess(closed, exact - least)
            self.assertGreater(closed, exact - most)
            ask(ESTABLISHED, closed, closed)
            ask(REFUSED, open_end, open_end, "a word leads into no region")
            ask(REFUSED, open_end, closed, "a word leads into no region")

    def test_regions_that_prove_nothing(self):
        self.regions(ESTABLISHED, "in any order of evaluation, with functions within 2^-21")
        self.regions(ESTABLISHED, "in bf16, in any order of evaluation, with sums in fp32", "bf16", on=(0.7, 1.05), off=(-1.05, -0.7))
        self.regions(REFUSED, "a word leads into no region", "bf16")
        self.regions(ESTABLISHED, "in fp16, in any order of evaluation, with sums in fp32", "fp16", on=(0.73, 1.006), off=(-1.006, -0.73))
        self.regions(REFUSED, "a word leads into no region", "fp16", on=(0.7, 1.0001), off=(-1.0001, -0.7))
        self.regions(REFUSED, "no region", on=(0.85, 1.001))                       # by one letter
        self.regions(REFUSED, "no region", off=(-0.99, -0.7), start=0)             # the start is outside
        self.regions(ESTABLISHED, off=(-1.001, -0.7), start=3)
        self.regions(REFUSED, "no region", on=operations.OFF, off=operations.ON)   # of the other state
        self.regions(REFUSED, "read wrongly", on=(-1.001, 1.001), off=(-1.001, 1.001))
        self.regions(REFUSED, "read wrongly", on=(0.0, 1.001))                     # `keep` may tie
        self.regions(REFUSED, "read wrongly", weights=(16.0, -16.0, 1.0), letters=3, off=(-1.001, -0.1))
        self.regions(REFUSED, "an end above the other", on=(1.001, 0.7))
        self.regions(REFUSED, "read wrongly", fields={"logits": [1, 0]})
        self.regions(REFUSED, "read wrongly", fields={"table": [[1, 0, 0], [1, 0, 0]]})
        self.regions(REFUSED, "no region", letters=0)
        certificate = self.regions(ESTABLISHED)
        self.refuse(certificate, "region", state=2)
        self.refuse(certificate, "region", lower=operations.hexadecimal([-1.001, 0.0]), status=BAD)
        self.refuse(certificate, "tanh", step="cosine")
        for change in ({"order": "sequential"}, {"arithmetic": "fp64"}, {"arithmetic": "fp16/fp32"}, {"version": 3}, {"claim": "sampled"}):
            self.assert_verdict(BAD, self.edited(certificate, lambda lines, change=change: lines[0].update(change)))
        without = self.edited(certificate, lambda lines: lines.__setitem__(slice(None), [
            x for x in lines if x.get("step") != "region"]))
        self.assert_verdict(REFUSED, without)

    def test_enclosures_end_where_they_should(self):
        """One unit on each side of every bound of the page."""
        enclosed, one = check.Enclosed, 1 << check.Q
        for made in (lambda by: enclosed(0, (1 << check.Q + 126) - 1 + by), lambda by: enclosed(0, one, (1 << 20) + by),
                     lambda by: enclosed(one, one) / enclosed((one >> 60) - by, one), lambda by: enclosed(one, one) / enclosed(-one, -(one >> 60) + by),
                     lambda by: enclosed(-by, one).root()):
            made(0)
            with self.assertRaises(check.Refused):
                made(1)
        for low, high in ((check.TINY, one), (-one, -check.TINY)):
            self.assertEqual((enclosed(low, high).computed().low, enclosed(low, high).computed().high), (low, high))
        self.assertEqual(enclosed(check.TINY - 1, one).computed().low, 0)
        self.assertEqual(enclosed(-one, 1 - check.TINY).computed().high, 0)

    def test_intervals_hold_what_is_computed(self):
        """Of random numbers in random boxes, by the stated operations: for every one that has intervals."""
        r = random.Random(11)
        down = check.UNIT - check.Q
        for kind, function in check.ENCLOSED.items():
            views, furthest = check.COMPUTED[kind][0], 0.0
            for _ in range(400):
                boxes, points = [], [[] for _ in range(4)]
                for _ in range(views):
                    a = r.choice([-1, 1]) * r.random() * 2.0**r.randrange(-30, 6)
                    a = abs(a) if kind == "root" else a
                    ends = sorted(map(operations.single, (a, a * (1 + r.choice([0, 2.0**-22, 0.1, 0.9])))))
                    boxes.append(check.Enclosed(units(ends[0]) >> down, units(ends[1]) >> down))
                    for point in points:
                        inside = min(max(operations.single(r.uniform(*ends)), ends[0]), ends[1])
                        point.append(units(r.choice([*ends, inside])))
                made = function(*boxes).computed()
                for point in points:
                    value = check.COMPUTED[kind][1](check.FP32, *point)
                    self.assertTrue(made.low << down <= value <= made.high << down, (kind, point))
                    if made.high > made.low:
                        furthest = max(furthest, abs(2 * (value >> down) - made.low - made.high) / (made.high - made.low))
            self.assertGreater(furthest, 0.5, kind)

    def test_exchanged_arguments(self):
        certificate = self.file("certificate.json", self.proved(operations.parity()))
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            self.assertEqual(check.main([str(self.folder / "model.safetensors"), certificate]), BAD)
        self.assertIn("the certificate is the first argument, the model the second", printed.getvalue())


load_tests = as_its_own

if __name__ == "__main__":
    unittest.main()
