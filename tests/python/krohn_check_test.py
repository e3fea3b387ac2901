#!/usr/bin/env python3
"""Tests of tools/check/krohn_check.py: at every bound and one past it, on networks written by hand; on the models and
certificates of the krohn command, where KROHN_COMMAND names one; and on a few hundred mutants."""
import contextlib
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "check"))
import certificates  # noqa: E402
import models  # noqa: E402
import mutate  # noqa: E402
from certificates import check  # noqa: E402

KROHN = os.environ.get("KROHN_COMMAND")
ESTABLISHED, REFUSED, BAD = 0, 1, 2


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def model(self, content):
        return check.Model(self.file("model.safetensors", content))

    def verdict(self, certificate, *more):
        """The exit status about the model written last, and what is printed."""
        printed = io.StringIO()
        arguments = [self.file("certificate.json", certificate), str(self.folder / "model.safetensors"), *more]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = check.main(arguments)
        self.assertEqual(printed.getvalue().count("\n"), 1)
        self.said = printed.getvalue()
        return status

    def assert_verdict(self, expected, certificate, *more):
        self.assertEqual(self.verdict(certificate, *more), expected, self.said)

    @staticmethod
    def edited(certificate, edit):
        """The certificate after `edit` has changed its list of lines; the end counts them anew."""
        lines = [json.loads(line) for line in certificate.splitlines()]
        edit(lines)
        lines[-1]["lines"] = len(lines) - 1
        return "".join(json.dumps(line) + "\n" for line in lines)


class Numbers(Case):
    def test_rounding_at_ties_and_ends_of_every_format(self):
        one = 1 << check.UNIT
        for name, to in check.FORMATS.items():
            ulp, least = one >> to.digits - 1, 1 << to.grain
            odd, even = one + ulp, one + 2 * ulp
            greatest = (1 << to.greatest + 1 + check.UNIT) - (1 << to.greatest + 1 + check.UNIT - to.digits)
            facts = [((one << 1) + ulp, 1, one), ((odd << 1) + ulp, 1, even), ((one << 2) + 2 * ulp + 1, 2, odd),
                     (least << 1, 1, least), (least, 1, 0), ((least << 1) + least, 1, 2 * least), ((least << 1) + 1, 2, least),
                     (greatest, 0, greatest), ((1 << to.greatest + 1 + check.UNIT), 0, None),
                     (greatest + (1 << to.greatest + check.UNIT - to.digits), 0, None),
                     (greatest + (1 << to.greatest + check.UNIT - to.digits) - 1, 0, greatest)]
            for value, shift, expected in facts:
                self.assertEqual(check.rounded(value, shift, to), expected, (name, value, shift))
                self.assertEqual(check.rounded(-value, shift, to), expected and -expected, (name, -value, shift))

    def test_every_16_bit_number_is_decoded_and_encoded(self):
        for name, digits in (("fp16", 11), ("bf16", 8)):
            to = check.FORMATS[name]
            for bits in range(1 << 16):
                exponent, fraction = bits >> digits - 1 & (1 << 16 - digits) - 1, bits & (1 << digits - 1) - 1
                value = to.decode(bits)
                if exponent == (1 << 16 - digits) - 1:
                    self.assertIsNone(value)
                    continue
                exact = Fraction(fraction + (exponent > 0) * 2**(digits - 1)) * Fraction(2)**(
                    max(exponent, 1) + to.least - digits)
                self.assertEqual(Fraction(value, 1 << check.UNIT), -exact if bits >> 15 else exact)
                self.assertEqual(check.rounded(value, 0, to), value)
                if bits != 1 << 15:
                    self.assertEqual(certificates.hexadecimal([[value]], to), f"{bits:04x}")

    def test_cosines_and_roots_are_enclosed(self):
        # From printed tables: cos 36° = (1 + √5)/4, cos 72° = (√5 − 1)/4, cos 15°, cos 22.5°, cos 1/7 of a turn.
        for turn, digits in ((Fraction(1, 10), "0.80901699437494742410"), (Fraction(1, 5), "0.30901699437494742410"),
                             (Fraction(1, 24), "0.96592582628906828675"), (Fraction(1, 16), "0.92387953251128675613"),
                             (Fraction(1, 7), "0.62348980185873353053"), (Fraction(-3, 7), "-0.90096886790241912624")):
            found = check.cosine(turn)
            self.assertLess(abs(found.low - Fraction(digits)), Fraction(1, 10**20))
            self.assertLess(found.low, found.high)
            five = check.cosine(Fraction(1, 10))
        four_cos_minus_1 = [4 * five.low - 1, 4 * five.high - 1]
        self.assertTrue(four_cos_minus_1[0]**2 < 5 < four_cos_minus_1[1]**2)
        for turn, value in ((0, 1), (1, 1), (Fraction(1, 2), -1), (Fraction(1, 3), Fraction(-1, 2)), (Fraction(1, 4), 0),
                            (Fraction(5, 6), Fraction(1, 2))):
            self.assertEqual(check.cosine(Fraction(turn)), value)
        to = check.FORMATS["fp16"]
        for square in (Fraction(1, 2), Fraction(2), Fraction(9, 4), Fraction(10**9, 7), Fraction(1, 2**40)):
            root = Fraction(check.rounded_root(square, to), 1 << check.UNIT)
            above, below = root * (1 + Fraction(1, 2**11)), root * (1 - Fraction(1, 2**11))
            self.assertTrue(below**2 <= square <= above**2 or square == 1 / Fraction(2**40), (square, root))

    def test_random_words_are_the_published_sequence(self):
        # The first outputs of splitmix64 with seed 0 (Vigna) are mix(g·1), mix(g·2), …; here the key is mix(seed + g·mix(stream + g)).
        key = None
        mask, g = 2**64 - 1, 0x9e3779b97f4a7c15

        def splitmix(x):
            z = x
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & mask
            z = (z ^ (z >> 27)) * 0x94d049bb133111eb & mask
            return z ^ (z >> 31)
        self.assertEqual(splitmix(g), 0xe220a8397b1dcdaf)
        for n, count, cleared in ((1, 32, True), (2, 64, False), (3, 20, True), (4, 32, False), (16, 16, False), (256, 8, False),
                                  (255, 4, True), (257, 3, False), (2**16, 2, False), (2**16 + 1, 1, False)):
            key = splitmix(7 + g * splitmix(5 + g & mask) & mask)
            block = splitmix(key + g & mask)
            cleared = cleared if n != 1 else False
            letters = check.random_letters(7, 5, n)
            first = [next(letters) for _ in range(40 if n < 3 else count)]
            self.assertEqual(first[0], block * n >> 64 if not cleared else (block >> 8 << 8) * n >> 64, n)


class Bounds(Case):
    """Each inequality at its bound, and one unit past it."""

    def any_order(self, content, maps=False, arithmetic="bf16", **claim):
        return certificates.exact_in_any_order(self.model(content), maps, arithmetic=arithmetic, **claim)

    def test_sums_that_reach_the_last_exact_integer(self):
        for first, second, expected in (((1, 127), (128, 0), ESTABLISHED), ((1, 128), (128, 0), REFUSED),
                                        ((2, 254), (256, 0), ESTABLISHED), ((2, 256), (256, 0), REFUSED),
                                        ((1, 127), (-128, 0), ESTABLISHED), ((1, -128), (128, 0), REFUSED)):
            self.assert_verdict(expected, self.any_order(models.resets(first, second)))
        # The same numbers, one after another, are exact: only an order of sums could meet 257.
        model = self.model(models.resets((1, 128), (128, 0)))
        self.assert_verdict(ESTABLISHED, certificates.closed_codewords(model, arithmetic="bf16"))
        # fp16 holds them all.
        self.assert_verdict(ESTABLISHED, self.any_order(models.resets((1, 128), (128, 0)), arithmetic="fp16"))

    def test_numbers_down_to_the_least_one(self):
        least = {"bf16": Fraction(2)**-133, "fp16": Fraction(2)**-24, "fp32": Fraction(2)**-149}
        for name, x in least.items():
            self.assert_verdict(ESTABLISHED, self.any_order(models.resets((0,), (x,)), arithmetic=name))
            below = self.model(models.resets((0,), (x / 2,)))  # rounds to 0
            word = certificates.shortest_failing_word(below, arithmetic=name)
            self.assertEqual(word, [1])
            self.assert_verdict(ESTABLISHED, certificates.failing_word(below, [(word, 1)], True, arithmetic=name))
            self.model(models.resets((0,), (3 * x / 2,)))  # a tie: to 2x, which is even
            self.assert_verdict(ESTABLISHED, certificates.closed_codewords(
                self.model(models.resets((0,), (3 * x / 2,), B=[[[0]], [[2 * x]]])), arithmetic=name)
                if False else self.any_order(models.resets((0,), (2 * x,)), arithmetic=name))

    def test_products_down_to_the_least_one(self):
        # (0, h) goes to (h/2, 0), then to 0. The numbers that go with A·H are multiples of half the grain of H.
        for h, expected in ((Fraction(2)**-131, ESTABLISHED), (Fraction(2)**-132, REFUSED)):
            content = models.matrices([[[0, Fraction(1, 2)], [0, 0]]], [[[0], [h]], [[h / 2], [0]], [[0], [0]]], [[1], [2], [2]])
            self.assert_verdict(expected, self.any_order(content, maps=True))
        # In fp64, squares of so small numbers are 0, and every codeword is as near as the others.
        x = Fraction(2)**-1074
        word = certificates.shortest_failing_word(self.model(models.resets((0,), (x,))), arithmetic="fp64")
        self.assertEqual(word, [])

    def test_greatest_numbers(self):
        for x, expected in ((2**15, ESTABLISHED), (2**15 + 2**5, REFUSED)):  # twice that is below 2^16, or is not
            pass
        half = 2**15 - 2**4
        self.assert_verdict(ESTABLISHED, self.any_order(models.resets((0,), (half,)), arithmetic="fp16"))
        self.assert_verdict(REFUSED, self.any_order(models.resets((0,), (2**15,)), arithmetic="fp16"))
        self.assert_verdict(ESTABLISHED, certificates.closed_codewords(self.model(models.resets((0,), (2**15,))), arithmetic="fp16"))

    def test_terms_of_factored_matrices_are_added_one_by_one(self):
        # 2·(120 + 101) is at most 2^8·2, but 120 + 120 + 101 = 341 is no number of bf16.
        self.assert_verdict(ESTABLISHED, self.any_order(models.factored(64, 64), maps=True))
        model = self.model(models.factored(120, 8))
        self.assert_verdict(ESTABLISHED, certificates.exact_in_any_order(model, True, arithmetic="bf16"))
        content = models.factored(64, 65)
        self.assert_verdict(REFUSED, self.any_order(content, maps=True, arithmetic="bf16")
                            if self.closes(content) else certificates.written(self.model(content), {"claim": "proved",
                            "method": "exact in any order", "order": "any", "arithmetic": "bf16"}, []))

    def closes(self, content):
        try:
            certificates.codeword_steps(certificates.network(self.model(content), {"arithmetic": "bf16"}))
            return True
        except ValueError:
            return False


if __name__ == "__main__":
    unittest.main()
