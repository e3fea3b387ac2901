"""The same question has one answer, from Python as from the command."""
import json
import os
import subprocess
import tempfile
import unittest

import krohn

COMMAND = os.environ.get("KROHN_COMMAND")

# Language, wishes, and the language that it is held against.
SUBJECTS = (
    ("name:Z5", {"construction": "rotation"}, None),
    ("name:Z10", {"construction": "rotation"}, None),
    ("name:Z12", {"construction": "rotation"}, None),
    ("name:Z7", {"construction": "rotation"}, None),
    ("name:A5/points", {"construction": "orthogonal"}, None),
    ("name:S4", {}, None),
    ("name:tomita3", {"construction": "diagonal-signed"}, "name:tomita4"),
    ("name:modarith5", {}, None),
    ("regex:(a|b)*abb", {"construction": "one-hot"}, "regex:(a|b)*bb"),
    ("name:parity", {}, "name:parity"),
)


@unittest.skipUnless(COMMAND, "KROHN_COMMAND does not name the command to compare with")
class OneRoad(unittest.TestCase):
    def asked_by_command(self, path, *how):
        done = subprocess.run([COMMAND, "verify", path, *how, "--json"], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        return json.loads(done.stdout)["verdict"]

    def test_thirty_questions(self):
        asked = 0
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            for language, wishes, against in SUBJECTS:
                krohn.compile(language, **wishes).save(path)
                for precision in ("fp32", "fp16", "bf16"):
                    with self.subTest(language=language, precision=precision):
                        how = ["--precision", precision, "--max-pairs", "5000"]
                        if against:
                            how += ["--against", against]
                        certificate = krohn.verify(path, precision=precision, max_pairs=5000, against=against)
                        self.assertEqual(certificate.to_dict(), self.asked_by_command(path, *how))
                        asked += 1
        self.assertEqual(asked, 30)

    def test_orders_and_exact_arithmetic(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            krohn.compile("name:S3").save(path)
            for precision, order in (("bf16", "scan"), ("fp32", "chunked:64"), ("exact", "sequential")):
                certificate = krohn.verify(path, precision=precision, order=order)
                self.assertEqual(certificate.to_dict(),
                                 self.asked_by_command(path, "--precision", precision, "--order", order))

    def test_any_order(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            for language in ("name:S3", "name:Z5"):
                krohn.compile(language, construction="permutation" if language == "name:S3" else "rotation").save(path)
                certificate = krohn.verify(path, precision="bf16", any_order=True)
                self.assertEqual(certificate.to_dict(), self.asked_by_command(path, "--precision", "bf16", "--any-order"))
                self.assertEqual(certificate.proved, language == "name:S3")

    def test_checkpoints(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint")
            krohn.export("name:parity", "fla-deltanet", path)
            for against in (None, "name:parity"):
                how = ["--against", against] if against else []
                self.assertEqual(krohn.verify(path, max_pairs=500, against=against).to_dict(),
                                 self.asked_by_command(path, "--max-pairs", "500", *how))


if __name__ == "__main__":
    unittest.main()
