#!/usr/bin/env python3
"""Certificates of every kind, judged by every checker there is: `krohn check`, krohn_check.py and, where it is built and the claim
is one of its kinds, the one extracted from a proof. All have to say what krohn claims.

    python3 agree.py KROHN [--verified CHECKER] [--most N] [--minutes M]

Goes through constructions x languages x arithmetics x orders. Prints a table; exit status 1 where two checkers differ."""
import argparse
import collections
import contextlib
import io
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "check"))
import krohn_check  # noqa: E402

LANGUAGES = (["name:parity", "name:S3", "name:S4 --generators adjacent", "name:S5 --generators transpositions", "name:D4", "name:Q8",
              "name:A4", "name:V4", "name:modarith3", "name:sum5", "name:evenpair5", "regex:(a|b)*abb", "regex:a*b*",
              "regex:(ab|ba)*", "regex:~((a|b)*aa(a|b)*)"]
             + [f"name:Z{m}" for m in (2, 3, 4, 5, 6, 7, 8, 10, 12, 30, 60)] + [f"name:tomita{i}" for i in range(1, 8)]
             + [f"name:random:m={m},seed={s}" for m in (3, 5, 8) for s in (1, 2, 3)])
ARITHMETICS = ["bf16", "fp16", "fp32", "fp64", "bf16+fma", "fp32+fma", "bf16/fp32", "fp16/fp32", "tf32", "u8", "i8", "u16-saturating", "i32-saturating"]
WRAPPING = ["wrapping-cells", "diagonal-wrapping"]
ORDERS = [[], ["--any-order"], ["--form", "dense"], ["--test-only", "--length", "200", "--words", "3"]]


# Languages over a and b, each held against each: words that tell them apart, and proofs for other automata of the same
# language.
OVER_A_AND_B = ["(a|b)*abb", "a*b*", "(ab|ba)*", "~((a|b)*aa(a|b)*)", "((a|b)(a|b))*", "a*", "b*", "(a|b)*", "(aa)*", "(a|b)*a",
                "(b*ab*a)*b*", "(a|b)*ab(a|b)*", "a(a|b)*", "(a|b)*b(a|b)", "(ab)*", "(aab|b)*", "b*(ab*ab*ab*)*", "(a|b)*aa(a|b)*",
                "((a|b)(a|b)(a|b))*", "(a|bb)*", "~((a|b)*bab(a|b)*)", "(ba|a)*b?", "a?(ba)*b?", "(a*b)*", "(b*a*)*", "(a|b)*ba|b",
                "(bb|a(ba)*a)*", "a(a|b)*b|b(a|b)*a", "(a|b)?(a|b)?(a|b)?", "(abb?)*", "~(a*b*)", "(b|ab)*(a|ab)?"]


def questions(krohn):
    """Everything that is asked: a language, a construction or None for the first, an arithmetic, options; in another order than
    the lists', so that a run that is cut short has seen something of everything."""
    models = [(language, construction) for language in LANGUAGES for construction in constructions(krohn, language)]
    cases = [(*model, arithmetic, order) for model, arithmetic, order in itertools.product(models, ARITHMETICS, ORDERS)]
    cases += [(f"regex:{a}", None, ARITHMETICS[(i + j) % 4], ["--against", f"regex:{b}"])
              for (i, a), (j, b) in itertools.product(enumerate(OVER_A_AND_B), repeat=2) if i != j]
    cases += [(f"name:Z{m}", "rotation", arithmetic, ["--max-pairs", str(pairs)])
              for m in range(3, 41) for arithmetic in ("bf16", "fp16", "fp32") for pairs in (60, 300, 1500)]
    step = 7919 % len(cases) or 1
    while math.gcd(len(cases), step) > 1:
        step += 1
    return [cases[number * step % len(cases)] for number in range(len(cases))]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def python_says(certificate, model):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        return krohn_check.main([str(certificate), str(model)]), said.getvalue()


def constructions(krohn, language):
    """Those that the table calls possible."""
    done = subprocess.run([krohn, "compile", *language.split(), "--explain", "--json"], capture_output=True, text=True)
    return [plan["construction"] for plan in json.loads(done.stdout)["plans"] if plan["possible"]] if done.returncode == 0 else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("krohn")
    parser.add_argument("--verified")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    asked = parser.parse_args()
    counts, different = collections.defaultdict(collections.Counter), []
    end = time.time() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        compiled = {}
        for language, construction, arithmetic, order in questions(asked.krohn)[: asked.most]:
            if time.time() > end:
                break
            if order == ["--any-order"] and arithmetic not in ("bf16", "fp16", "fp32", "fp64", "u8"):
                continue
            model = compiled.get((language, construction))
            if model is None:
                model = folder / f"{len(compiled)}.safetensors"
                if run(asked.krohn, "compile", *language.split(), *(["--construction", construction] if construction else []),
                       *(["--precision", "u8"] if construction in WRAPPING else []), "-o", str(model))[0] != 0:
                    continue
                compiled[language, construction] = model
            certificate = folder / "c.cert"
            certificate.unlink(missing_ok=True)
            run(asked.krohn, "verify", str(model), "--precision", arithmetic, "--max-pairs", "2000", "--long-letters", "2000",
                "--certificate", str(certificate), *order)
            if not certificate.exists():
                counts["no certificate"]["none"] += 1
                continue
            claim = json.loads(certificate.open().readline())
            kind = f"{claim['method']}, {claim['claim']}"
            by_krohn, by_python = run(asked.krohn, "check", str(certificate), str(model)), python_says(certificate, model)
            counts[kind]["certificates"] += 1
            counts[kind]["krohn check"] += by_krohn[0] == 0
            counts[kind]["krohn_check.py"] += by_python[0] == 0
            if "by way of fp64" in by_python[1]:  # an entry of the dense form that the page leaves open
                counts[kind]["left open"] += 1
            elif by_krohn[0] != 0 or by_python[0] != 0:
                different.append((language, construction, arithmetic, order, by_krohn, by_python))
            if asked.verified:
                status, text = run(asked.verified, str(certificate), str(model))
                counts[kind]["verified"] += status == 0
                beyond = status == 2 or status == 1 and construction == "factored" and order == ["--any-order"]
                counts[kind]["not of its kinds"] += beyond
                if status != 0 and not beyond:
                    different.append((language, construction, arithmetic, order, (status, text), by_python))
    columns = ["certificates", "krohn check", "krohn_check.py", "left open"] + (["verified", "not of its kinds"] if asked.verified else [])
    print("| kind | " + " | ".join(columns) + " |\n|---" * (1) + "|---" * len(columns) + "|")
    for kind, row in sorted(counts.items()):
        if kind != "no certificate":
            print(f"| {kind} | " + " | ".join(str(row[column]) for column in columns) + " |")
    print(f"{counts['no certificate']['none']} questions whose answer has no file; {len(different)} differ")
    for case in different[:20]:
        print(*case, sep="\n  ")
    return 1 if different or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
