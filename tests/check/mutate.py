#!/usr/bin/env python3
"""Mutants of certificates and of models, read by krohn_check.py. What it still establishes has to be true: an evaluator that
shares no code with it (tests/python/second_evaluator.py) reads words for it.

    python3 mutate.py [--mutants N] [--seed S] [--minutes M] [--of TEXT] [--krohn COMMAND [--every K]]

TEXT: only subjects whose name has it: "answers" for operations and languages in certificates.

With COMMAND, models that it compiles and certificates that it writes take part, and `COMMAND check` reads every K-th mutant:
the two checkers have to agree on what is established. Prints what was counted; exit status 1 when a false claim was
established, a checker broke down, or the two differ."""
import argparse
import collections
import contextlib
import copy
import io
import itertools
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import certificates  # noqa: E402
import models  # noqa: E402
import operations  # noqa: E402
import second_evaluator  # noqa: E402
from certificates import check  # noqa: E402

COMPILED = [("regex:(a|b)*abb", "cascade-holonomy-reflections"), ("name:Z5", "permutation-reflections"),
            ("name:Z6", "two-layer-reflections"), ("name:V4", "real-diagonal"), ("name:Z4", "factored"), ("name:Z4", "rotation"),
            ("name:Z5", "rotation"), ("name:Z6", "integral-cyclotomic"), ("name:S3", "permutation-base"), ("name:parity", "one-hot"),
            ("regex:(a|b)*abb", "diagonal-unit-interval"), ("name:Z5", "rotation-snapped"), ("name:Z6", "orthogonal-blocks")]


# ---- what is mutated: a model's file in parts, and the lines of a certificate


def read_model(data):
    size = int.from_bytes(data[:8], "little")
    header, tensors = json.loads(data[8:8 + size]), {}
    metadata = header.pop("__metadata__")
    for name, about in header.items():
        begin, end = about["data_offsets"]
        count = 1
        for n in about["shape"]:
            count *= n
        tensors[name] = (about["dtype"], about["shape"],
                         list(struct.unpack_from(f"<{count}{models.CODES[about['dtype']]}", data, 8 + size + begin)))
    return metadata, tensors


def without_dense(data):
    """Without A, so that it is not A that betrays a weight."""
    metadata, tensors = read_model(data)
    return models.written(metadata, {name: t for name, t in tensors.items() if not name.endswith(".A")})


def with_dense(data, folder):
    """With the A of its structured forms."""
    path = folder / "dense.safetensors"
    path.write_bytes(without_dense(data))
    metadata, tensors = read_model(without_dense(data))
    for k, layer in enumerate(check.Model(str(path)).layers):
        entries = [check.nearest(x, check.FP64) for m in layer.matrices for row in m.entries(layer.n) for x in row]
        exact = [check.Fraction(x, 1 << check.UNIT) for x in entries]
        tensors[f"layers.{k}.A"] = models.real(exact, len(layer.matrices), layer.n, layer.n)
    return models.written(metadata, tensors)


def subjects(folder, krohn, of):
    """(name, model, certificate), all established. A text that names subjects of operations asks for no network."""
    described = [(f"answers, {name}", data, certificate) for name, data, certificate in operations.subjects(folder)]
    yield from described
    if of and any(of in name for name, _, _ in described):
        return
    half = check.Fraction(1, 2)
    by_hand = {"resets": models.resets((1, 127), (128, 0)), "turn 4": models.turn(4), "turn 5": models.turn(5),
               "snapping turn": models.turn(5, snap_every=2), "cascade": models.cascade(), "swap": models.swap(),
               "halves": models.matrices([[[0, half], [0, 0]]], [[[0], [half]], [[half / 2], [0]], [[0], [0]]], [[1], [2], [2]]),
               "factored": models.doubled_sum([50, 45, -31], "factored"), "dense": models.doubled_sum([50, 45, -31], "dense")}
    for name, data in by_hand.items():
        yield from made(folder, name, data)
    for i, (language, construction) in enumerate(COMPILED if krohn else ()):
        path = folder / f"compiled{i}.safetensors"
        done = subprocess.run([krohn, "compile", language, "--construction", construction, "-o", path], capture_output=True)
        if done.returncode not in (0, 1, 3) or not path.exists():
            raise SystemExit(f"{krohn} does not compile {language} by {construction}: {done.stderr.decode()}")
        yield from made(folder, f"{language}, {construction}", path.read_bytes())
        for j, more in enumerate((["--precision", "bf16"], ["--precision", "fp16"], ["--precision", "fp32", "--any-order"])):
            certificate = folder / f"compiled{i}.{j}.json"
            subprocess.run([krohn, "verify", path, "--max-pairs", "300", "--time", "1", "--certificate", certificate, *more],
                           capture_output=True)
            if certificate.exists() and certificate.stat().st_size < 100_000:
                yield f"{language}, {construction}, {more[1]} by krohn", without_dense(path.read_bytes()), certificate.read_text()


def made(folder, name, data):
    """The certificates of one network."""
    data = without_dense(data)
    path = folder / "subject.safetensors"
    path.write_bytes(data)
    model = check.Model(str(path))
    dense = with_dense(data, folder)
    ways = [(lambda **c: certificates.closed_codewords(model, **c), [{"arithmetic": x} for x in ("bf16", "fp32+fma", "exact", "i8")]),
            (lambda **c: certificates.closed_codewords(model, "tuples", **c), [{"arithmetic": "fp16"}, {"form": "dense"}]),
            (lambda **c: certificates.closed_reachable_set(model, **c), [{"arithmetic": "fp16"}, {"arithmetic": "bf16/fp32"}, {"arithmetic": "i8-saturating"}]),
            (lambda **c: certificates.closed_reachable_set(model, 4, **c), [{"arithmetic": "tf32"}]),
            (lambda **c: certificates.exact_in_any_order(model, True, **c), [{"arithmetic": "bf16"}]),
            (lambda **c: certificates.exact_in_any_order(model, False, **c), [{"arithmetic": "fp16"}]),
            (lambda **c: certificates.linear_horizon(model, 20, **c), [{"arithmetic": "fp32"}, {"arithmetic": "fp64+fma"}]),
            (lambda **c: certificates.sampled(model, 3, 2, 20, **c), [{"arithmetic": "fp32"}]),
            (lambda **c: certificates.failing_word(model, [(certificates.shortest_failing_word(model, 300, **c), 1)], True, **c),
             [{"arithmetic": "bf16"}, {"arithmetic": "fp16"}])]
    for way, claims in ways:
        for claim in claims:
            with contextlib.suppress(ValueError, TypeError, check.Refused):
                certificate = way(**claim)
                own = dense if claim.get("form") == "dense" else data
                if len(certificate) < 100_000 and verdict(folder, own, certificate) == "established":
                    yield f"{name}, {json.loads(certificate.splitlines()[0])['method']}, {claim}", own, certificate


# ---- mutations


def mutated_value(r, value, others):
    """A value that differs: a neighbour, another of the same place, or anything."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        other = r.choice(others) if others else 0
        return r.choice([value + 1, max(value - 1, 0), other, r.randrange(8), 2**32 - 1, value ^ 1 << r.randrange(4)])
    if isinstance(value, str) and value and set(value) <= set("0123456789abcdef"):
        at = r.randrange(len(value))
        return value[:at] + format(int(value[at], 16) ^ 1 << r.randrange(4), "x") + value[at + 1:]
    if isinstance(value, list) and value:
        value, kind = list(value), r.randrange(5)
        at = r.randrange(len(value))
        if kind == 0 and len(value) > 1:
            other = r.randrange(len(value))
            value[at], value[other] = value[other], value[at]
        elif kind == 1:
            del value[at]
        elif kind == 2:
            value.insert(at, value[r.randrange(len(value))])
        else:
            value[at] = mutated_value(r, value[at], [x for x in value if not isinstance(x, (list, str))])
        return value
    return r.choice([None, 0, 1, "", [], {}])


def mutated_certificate(r, certificate):
    lines = [json.loads(line) for line in certificate.splitlines()]
    claim, steps = lines[0], lines[1:-1]
    kind = r.randrange(10)
    if kind == 0:
        claim["arithmetic"] = r.choice([*check.ARITHMETICS, "exact"])
    elif kind == 1:
        name = r.choice(["form", "order", "claim", "method"])
        claim[name] = r.choice({"form": ["dense", "structured"], "order": ["any", "sequential"], "claim": list(check.CLAIMS),
                                "method": list(check.METHODS)}[name])
        for member, value in (("length", r.choice([1, 3, 5, 19, 21, 2**40])), ("shortest", r.random() < 0.5)):
            claim.pop(member, None)
            if claim["claim"] == {"length": "proved up to a length", "shortest": "refuted"}[member]:
                claim[member] = value
    elif kind == 2 and ("length" in claim or "shortest" in claim):
        name = "length" if "length" in claim else "shortest"
        claim[name] = mutated_value(r, claim[name], [1, 2**63, 10**r.randrange(18)])
    elif kind == 3 and steps:
        at = r.randrange(len(steps))
        steps[at:at + 1] = r.choice([[], [steps[at], copy.deepcopy(steps[at])], steps[at:at + 2][::-1]])
    elif kind == 4 and any(step.get("layer") for step in steps):
        layer = r.choice([step["layer"] for step in steps if "layer" in step])
        steps = [step for step in steps if step.get("layer") != layer]
    else:
        step = r.choice(steps)
        if claim["form"] == "operations" and "shape" in step and r.random() < 0.3:
            alike = [x for x in check.COMPUTED if check.COMPUTED[x][0] == len(step["of"])]
            step["step"] = r.choice(alike or list(check.COMPUTED))
        name = r.choice([x for x in step if x != "step"] or ["step"])
        others = [s[name] for s in steps if name in s and isinstance(s[name], int)]
        step[name] = mutated_value(r, step[name], others)
        if r.random() < 0.1:
            step[r.choice(["layer", "depth", "phase", "step", "extra"])] = 0
    end = {"step": "end", "lines": len(steps) + 1 if r.random() < 0.95 else len(lines)}
    return "".join(json.dumps(line) + "\n" for line in [claim, *steps, end])


def mutated_model(r, data, certificate, folder):
    """A model with another weight, table or wiring; the certificate's hashes follow, where it still is a model."""
    metadata, tensors = read_model(data)
    dense = any(name.endswith(".A") for name in tensors)
    name = r.choice([x for x in tensors if tensors[x][2] and not x.endswith(".A")])
    kind, shape, values = tensors[name]
    at, width = r.randrange(len(values)), 8 * struct.calcsize(models.CODES[kind])
    if kind[0] == "F":
        values[at] ^= 1 << r.randrange(width) if r.random() < 0.8 else values[at] ^ values[r.randrange(len(values))]
    elif kind == "I8":
        values[at] = -values[at]
    elif r.random() < 0.3:
        other = r.randrange(len(values))
        values[at], values[other] = values[other], values[at]
    else:
        values[at] = r.choice([r.choice(values), values[at] ^ 1 << r.randrange(3), (values[at] + 1) % 2**31, 0])
    if "layers" in metadata and r.random() < 0.1:
        layers = json.loads(metadata["layers"])
        one = r.choice(layers)
        member = r.choice(["initial_label", "labels", "columns", "dimension", "unit_copies"])
        one[member] = max(0, one[member] + r.choice([1, -1]))
        metadata["layers"] = json.dumps(layers)
    with contextlib.suppress(check.BadInput, check.Refused, struct.error):
        data = models.written(metadata, tensors)
        if dense:
            data = with_dense(data, folder)
        path = folder / "mutated.safetensors"
        path.write_bytes(data)
        lines = certificate.splitlines(keepends=True)
        claim = json.loads(lines[0])
        if claim["form"] == "operations":
            file = check.File(str(path))
            names = {step["name"] for step in map(json.loads, lines[1:]) if step["step"] == "tensor"}
            claim["weights"] = file.hashed([(x, *file.tensors[x]) for x in names], [])
        else:
            model = check.Model(str(path))
            claim.update(weights=model.weights, automaton=model.automaton)
        certificate = json.dumps(claim) + "\n" + "".join(lines[1:])
    return data, certificate


def verdict(folder, data, certificate):
    """The verdict of krohn_check.py: "established", "not established", "bad input", "undecided", or what broke it."""
    (folder / "mutant.safetensors").write_bytes(data)
    (folder / "mutant.json").write_text(certificate)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        status = check.main([str(folder / "mutant.json"), str(folder / "mutant.safetensors")])
    if "broke down" in printed.getvalue():
        return "broken: " + printed.getvalue()
    return ("established", "not established", "bad input", "undecided")[status]


# ---- whether what is claimed is so


def falsehood(folder, data, certificate):
    """The fault of the claim, as far as reading words can tell; None where there is none."""
    path = folder / "claimed.safetensors"
    lines = [json.loads(line) for line in certificate.splitlines()]
    claim, kind = lines[0], lines[0]["claim"]
    brought = next((s for s in lines[1:] if s["step"] == "language"), None)
    if claim["arithmetic"] == "exact":  # as far as fp64 tells
        claim["arithmetic"] = "fp64"
    arithmetics = [claim["arithmetic"]] + [claim["arithmetic"] + "+fma"] * (claim["order"] == "any")
    orders = ["sequential", "scan", "doubling", "chunked:2"] if claim["order"] == "any" else ["sequential"]
    if claim["form"] == "operations":
        described = operations.Evaluator(lines, operations.numbers_of(data))
        names = brought["letters"]

        def run(word, *_):
            wanted = brought["logits"]
            return [(state, said, wanted[state] in (None, said)) for state, said in described.answers(word)]
    else:
        path.write_bytes(with_dense(data, folder) if claim["form"] == "dense" else data)
        metadata, tensors = read_model(data)
        about, evaluator = json.loads(metadata["automaton"]), second_evaluator.Evaluator(str(path))
        names, outputs = [x["name"] for x in about["alphabet"]], tensors["automaton.outputs"][2]
        table = brought["table"] if brought else check.rows_of(tensors["automaton.table"][2], len(names))

        def run(word, arithmetic=claim["arithmetic"], order="sequential"):
            """State, answer and whether it is right after 0, 1, … letters, as far as letters can stand."""
            result, state = [], 0 if brought else about["initial"]
            for letter, (_, answer) in zip([*word, None], evaluator.readings(arithmetic, claim["form"], order, word)):
                wanted = brought["outputs"][state] if brought else state
                said = about["output_names"][outputs[answer]] if brought and answer is not None else answer
                result.append((state, said, said == wanted or brought and wanted is None))
                state = None if letter is None else table[state][letter]
                if state == models.NOWHERE:
                    break
            return result
    letters = len(names)

    def wrong(word, arithmetic=claim["arithmetic"], order="sequential", first=0):
        """The number of letters, at least `first`, after which the answer is wrong."""
        return next((t for t, (_, _, right) in enumerate(run(word, arithmetic, order)) if not right and t >= first), None)

    def words(up_to, budget=150):
        """All short words by their extensions: each word of the greatest length that the budget allows; and random ones."""
        length = 0
        while letters > 1 and letters**(length + 1) <= budget and length < up_to:
            length += 1
        length = min(up_to, 40) if letters == 1 else length
        yield from map(list, itertools.product(range(letters), repeat=length))
        r = random.Random(1)
        for _ in range(4):
            yield [r.randrange(letters) for _ in range(min(up_to, 30))]
    if kind == "refuted":
        word = [names.index(x) for s in lines[1:] if s["step"] == "word" for x in s["letters"] * s["times"]]
        readings = run(word)
        state, said, right = readings[-1]
        answers = [s for s in lines[1:] if s["step"] == "answer"]
        if len(readings) <= len(word) or right or {"step": "answer", "expected": state, "given": said} not in answers:
            return f"the word is read as {said}, the automaton is in {state}"
        at = wrong(word)
        if not claim["shortest"]:
            return None
        if at != len(word):
            return "the word fails before its end"
        return next((f"{w} is shorter" for w in words(len(word) - 1) if word and wrong(w) is not None), None)
    up_to = claim.get("length", 10**9)
    if kind == "sampled":  # that these are the words of the seed is another test's matter
        sample = lines[-2]
        for stream in range(min(sample["words"], 3)):
            random_word = check.random_letters(sample["seed"], stream, letters)
            word = [next(random_word) for _ in range(min(sample["length"], 60))]
            if wrong(word, first=1) is not None:
                return f"{word}, of stream {stream}, is read wrongly after {wrong(word, first=1)} letters"
        return None
    for word in words(up_to):
        for arithmetic, order in itertools.product(arithmetics, orders):
            at = wrong(word, arithmetic, order)
            if at is not None:
                return f"{word} is read wrongly after {at} letters, {arithmetic}, {order}"
    return None


def campaign(mutants, seed, minutes=10**6, krohn=None, every=1, of=""):
    """(counts, what is wrong: descriptions). Ends early when the minutes are over."""
    counts, wrong, known = collections.Counter(), [], {}
    check.MOST_LETTERS, check.MOST_BOXES, check.MOST_PRODUCTS = 10_000, 300, 10**6
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        all_subjects = [subject for subject in subjects(folder, krohn, of) if of in subject[0]]
        counts["subjects"] = len(all_subjects)
        r, end = random.Random(seed), time.monotonic() + 60 * minutes
        for i in range(mutants):
            if time.monotonic() > end:
                break
            subject, data, certificate = r.choice(all_subjects)
            part = "certificate" if i % 2 == 0 else "model"
            before = data, [json.loads(x) for x in certificate.splitlines()]
            while before == (data, [json.loads(x) for x in certificate.splitlines()]):
                if part == "certificate":
                    certificate = mutated_certificate(r, certificate)
                else:
                    data, certificate = mutated_model(r, data, certificate, folder)
            said = verdict(folder, data, certificate)
            counts[f"{part}: {said.split(':')[0]}"] += 1
            place = f"mutant {i} of seed {seed}, {part} of {subject}"
            if said.startswith("broken"):
                wrong.append(f"{place}: {said}")
            if said == "established":
                is_about_words = '"refuted"' in certificate or '"sampled"' in certificate
                key = data, certificate if is_about_words else certificate.split("\n")[0]
                if key not in known:
                    known[key] = falsehood(folder, data, certificate)
                    counts["claims whose words were read"] += 1
                if known[key]:
                    wrong.append(f"{place}: established, but {known[key]}")
            if krohn and i % every == 0:
                done = subprocess.run([krohn, "check", folder / "mutant.json", folder / "mutant.safetensors", "--max-letters",
                                       "10000"], capture_output=True)
                counts["compared with krohn check"] += 1
                if (done.returncode == 0) != (said == "established"):
                    counts["verdicts that differ"] += 1
                    text = (done.stdout + done.stderr).decode(errors="replace").strip().replace("\n", " ")
                    wrong.append(f"{place}: {said} here, status {done.returncode} there: {text}")
                    keep = pathlib.Path(tempfile.gettempdir()) / f"krohn-mutant-{seed}-{i}"
                    keep.with_suffix(".json").write_text(certificate)
                    keep.with_suffix(".safetensors").write_bytes(data)
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=int, default=10**6)
    parser.add_argument("--of", default="")
    parser.add_argument("--krohn")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    counts, wrong = campaign(options.mutants, options.seed, options.minutes, options.krohn, options.every, options.of)
    for name, count in sorted(counts.items()):
        print(f"{count:8,}  {name}")
    for line in wrong[:40]:
        print(line)
    print("nothing is wrong" if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
