"""The frame of the tests of tools/check/krohn_check.py: a folder with a model and a certificate, and the checkers' verdicts."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "check"))
from certificates import check  # noqa: E402

KROHN = os.environ.get("KROHN_COMMAND")
ESTABLISHED, REFUSED, BAD, UNDECIDED = 0, 1, 2, 3


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

    def verdict_here(self, certificate, *more):
        """The exit status about the model written last; `said` is what is printed."""
        printed = io.StringIO()
        arguments = [self.file("certificate.json", certificate), str(self.folder / "model.safetensors"), *more]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = check.main(arguments)
        self.assertEqual(printed.getvalue().count("\n"), 1, printed.getvalue())
        self.said = printed.getvalue()
        self.assertNotIn("broke down", self.said)
        return status

    def verdict(self, certificate, *more):
        """The same, where krohn's own checker agrees."""
        status = self.verdict_here(certificate, *more)
        if KROHN and not more:
            arguments = [str(self.folder / "certificate.json"), str(self.folder / "model.safetensors")]
            done = subprocess.run([KROHN, "check", *arguments], capture_output=True, text=True)
            if done.returncode != UNDECIDED:  # the command expands words, up to a limit
                self.assertEqual(done.returncode == 0, status == ESTABLISHED, (self.said, done.stdout, done.stderr))
        return status

    def assert_limit(self, name, least, certificate):
        """The checker's limit of this name has to be `least`: with one less the claim is undecided."""
        for most, status in ((least, ESTABLISHED), (least - 1, UNDECIDED)):
            with unittest.mock.patch.object(check, name, most):
                self.assertEqual(self.verdict_here(certificate), status, self.said)

    def assert_verdict(self, expected, certificate, *more):
        self.assertEqual(self.verdict(certificate, *more), expected, self.said)

    @staticmethod
    def edited(certificate, edit):
        """The certificate after `edit` has changed its list of lines; the end counts them anew."""
        lines = [json.loads(line) for line in certificate.splitlines()]
        edit(lines)
        lines[-1]["lines"] = len(lines) - 1
        return "".join(json.dumps(line) + "\n" for line in lines)


def as_its_own(_, tests, pattern):
    """For `load_tests`. It needs no package and is a CTest of its own: who looks for the package's tests, by a pattern, does not
    run it again."""
    return tests if pattern is None else unittest.TestSuite()
