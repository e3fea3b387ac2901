#!/usr/bin/env python3
"""Reads the kit's models through a runtime and compares every token with the right one.

    python run.py --runtime transformers                    # all models, float32 and bfloat16
    python run.py --runtime transformers --model s5 --quick
    python run.py --runtime transformers --planted          # the kit's own test: faults on purpose, all found
    python run.py --runtime onnx; python run.py --runtime llama
    python run.py --runtime openai:http://localhost:8000    # a server that speaks the OpenAI protocol, such as vLLM or SGLang
    python run.py --runtime mine                            # mine_runtime.py beside this file; or a path, ../mine.py

A line for each model and way of reading; the first wrong token, and which fault of the runtime's state explains it. Exit
status: 0 all answers are right, 1 some are not, 2 the kit or the runtime cannot be read."""
import argparse
import collections
import fractions
import importlib
import json
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from diagnosis import EMPTIED, LATE_DECAY, NO_FAULT, ROLLED_BACK, SCALED, SEVERAL_LAYERS  # noqa: E402
from diagnosis import Diagnosis, first_wrong, kinds_of  # noqa: E402
from tracker import Tracker  # noqa: E402

PACKAGES = {
    "transformers": "pip install torch transformers",
    "onnx": "pip install numpy onnxruntime",
    "llama": "pip install numpy gguf llama-cpp-py-sync",
}
ALONE = {
    "shares": "whose β bf16 does not have: β is kept, or computed, in fewer digits than fp32",
    "fades": "of decays between 0 and 1: their products overflow or vanish, or a decay is cut off",
}


def stop(text):
    print(f"kit: {text}", file=sys.stderr)
    raise SystemExit(2)


def modules_of(name):
    """The runner NAME_runtime.py beside this file, or a file by its path, and the name of the module with its faults."""
    name, _, address = name.partition(":")
    path = pathlib.Path(name)
    if path.suffix != ".py":
        path = HERE / f"{name}_runtime.py"
    there = sorted(file.name.removesuffix("_runtime.py") for file in HERE.glob("*_runtime.py"))
    if not path.is_file():
        stop(f"there is no runtime {name}: {path} is not there; beside run.py there are {', '.join(there)}")
    sys.path.insert(0, str(path.resolve().parent))
    try:
        runtime = importlib.import_module(path.stem)
        if hasattr(runtime, "connect"):
            runtime.connect(address)
        return runtime, path.stem.removesuffix("_runtime") + "_faults"
    except Exception as error:  # whatever a library raises when it is loaded
        stop(f"{type(error).__name__}: {error}" + (f"; {PACKAGES[name]}" if name in PACKAGES else ""))


def trackers(names, able):
    """Those of the models named, or all that the runtime can hold. The words' own answers have to be the automaton's."""
    try:
        index = json.loads((HERE / "kit.json").read_text(encoding="utf-8"))
        unknown = sorted(set(names) - set(index["models"]))
        if unknown:
            stop(f"there is no model {unknown[0]}; the kit has {', '.join(index['models'])}")
        able = index["models"] if able is None else able
        cannot = [name for name in names if name not in able]
        if cannot:
            stop(f"the runtime cannot hold {cannot[0]}; it has {', '.join(able)}")
        made = [Tracker(HERE / "models" / name) for name in able if not names or name in names]
        for tracker in made:
            for word in tracker.words():
                answers = [-1 if answer is None else answer for answer in tracker.answers(word["prompt"] + word["then"])]
                if answers != word["answers"]:
                    stop(f"models/{tracker.name}/words.jsonl, {word['name']}: not the automaton's answers; write the kit again")
    except (OSError, ValueError, KeyError) as error:
        stop(f"{error}; write the kit again with `krohn kit`")
    return made


def long_words(tracker, length):
    """Random letters: so many, and prompts at 65,536, as far as that."""
    letters = random.Random(1).choices([token for token in tracker.letter_of if token not in tracker.state_tokens], k=length)
    words = [{"name": f"{length} letters", "prompt": tracker.begin + letters, "then": []}]
    return words + [{"name": f"prompt of {size}", "prompt": (tracker.begin + letters)[:size], "then": letters[-4:]}
                    for size in (65_535, 65_536, 65_537) if size <= length]


def margin(least):
    """By how much the greatest logit was greater than the next one, where that was closest."""
    if least is None:
        return ", no logits shown"
    return f", closest logits {least[0]:.4g} apart" + (f": a TIE in {least[1]}, token {least[2] + 1}" if least[0] == 0 else "")


def check(runtime_module, tracker, dtype, words, report):
    """Reads one model in all ways. Returns [(reading, first wrong position, explanation)], the first of each way. A runtime
    that raises cannot be read. `report`, a set: prints nothing where it is empty; "long": the ways for long texts."""
    wrong = []
    counts, started = collections.OrderedDict(), time.monotonic()
    try:
        runtime = runtime_module.Runtime(tracker, dtype)
        if "long" in report:
            runtime.ways = runtime.long_ways
        for reading in runtime.readings(words):
            count = counts.setdefault(reading.way, [0, 0, None, 0, None])
            count[0] += 1
            promised = [t for t, answer in enumerate(tracker.answers(reading.tokens)) if answer is not None and t in reading.answers]
            count[3] += len(promised)
            margins = [(reading.answers[t].margin, reading.word, t) for t in promised if hasattr(reading.answers[t], "margin")]
            count[4] = min([*margins, *([count[4]] if count[4] else [])], default=None)
            found = first_wrong(tracker, reading)
            if found is None:
                continue
            count[1] += 1
            if count[2] is None:
                position, right, said, _ = found
                explanation = Diagnosis(tracker, reading, position).explanation()
                count[2] = (reading, position, right, said, explanation)
                wrong.append((reading, position, explanation))
    except Exception as error:
        advice = getattr(runtime_module, "advice", lambda error: "")(error)
        stop(f"{tracker.name} in {dtype} cannot be read: {type(error).__name__}: {error}" + (f"; {advice}" if advice else ""))
    if report:
        for way, (texts, failed, first, answers, least) in counts.items():
            print(f"{tracker.name:10} {dtype:9} {way:40} {texts - failed:>3} of {texts:>3} texts right, {answers:>7,} answers"
                  + (margin(least) if "margins" in report else ""), flush=True)
            if first:
                reading, position, right, said, explanation = first
                print(f"    first wrong: {reading.word}, token {position + 1} of {len(reading.tokens)}: {said} instead of {right}"
                      f"\n    {explanation}", flush=True)
        print(f"{tracker.name:10} {dtype:9} {time.monotonic() - started:.0f} s", flush=True)
    return wrong


def hardly_by_chance(wrong):
    """Kinds that explain answers at many places at once, where in some model no other kind explains more than twice as many texts."""
    found = set()
    for model in {reading.model for reading, _, _ in wrong}:
        counts = collections.Counter(kind for reading, _, said in wrong if reading.model == model for kind in kinds_of(said))
        rare = {kind for kind in counts if kind.startswith(("a ring", "a turn")) or kind.endswith("read as text")}
        most = max((counts[kind] for kind in counts if kind not in rare and kind not in (ROLLED_BACK, NO_FAULT)), default=0)
        found |= {kind for kind in rare if 2 * counts[kind] >= most}
    return found


def summary(wrong, models):
    """What several models say together."""
    failing = {reading.model for reading, _, _ in wrong}
    if not wrong:
        return "all answers are right"
    where = f"wrong in {', '.join(sorted(failing))}"
    for name, cause in ALONE.items():
        if failing == {name} and len(models) > 1:
            return where + f"\nonly the model {cause}"
    if "digits" in failing and failing <= {"digits", "ticks", "shares"} and len(models) > len(failing):
        return where + ("\nonly models whose states need more digits than bf16 and fp16 have: the state is kept, or read, in "
                        "fewer digits than fp32, or overflows")
    late = {"s5-late", "latch-late"}
    if failing & late and failing <= late | {"z4"} and {"s5", "latch"} & (models - failing):
        return where + "\nonly models that need the convolution's state: it is lost, emptied or shifted"
    if failing == {"z4"} and len(models) > 1:
        return where + ("\nonly the model of several layers: states of layers are exchanged or shared" + (
            "" if late & models else ", or the convolution's state is lost, which the models that answer late would tell"))
    texts, votes = collections.Counter(reading.model for reading, _, _ in wrong), collections.Counter()
    for reading, _, said in wrong:  # a model has one vote for a kind, or the share of its texts that the kind explains
        for kind in kinds_of(said):
            votes[kind] += fractions.Fraction(1, texts[reading.model])
    del votes[kinds_of(SEVERAL_LAYERS)[0]]
    if rare := hardly_by_chance(wrong):
        return where + f"\nwhat fits, and hardly by chance: {max(sorted(rare), key=votes.get)}"
    likeliest = max(votes, key=lambda kind: (kind != ROLLED_BACK, votes[kind]), default=None)
    if likeliest == EMPTIED and votes[LATE_DECAY]:  # a loss, to models that cannot tell them apart
        likeliest = SCALED if votes[SCALED] else LATE_DECAY
    if likeliest == NO_FAULT:
        return where + f"\nin most models {NO_FAULT}; what is said of the others may be chance"
    others = [kind for kind in votes if kind not in (likeliest, ROLLED_BACK, EMPTIED, NO_FAULT) and votes[kind] == votes[likeliest]]
    return where + (f"\nwhat fits most often: {'; or '.join([likeliest, *others])}" if votes else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", required=True, metavar="NAME", help="NAME_runtime.py beside this file, or the path of one")
    parser.add_argument("--model", action="append", default=[], help="one of the kit's models; again for more")
    parser.add_argument("--dtypes", default="", help="float32,bfloat16")
    parser.add_argument("--quick", action="store_true", help="prompts of at most 300 tokens")
    parser.add_argument("--long", type=int, default=0, metavar="N",
                        help="instead of the words, one of N random letters: in pieces of 1024, and token by token")
    parser.add_argument("--report", choices=["margins"], help="also how close the two greatest logits came, by way of reading")
    parser.add_argument("--device", default="", help="cuda, where the runtime takes one")
    parser.add_argument("--planted", action="store_true", help="plant faults in the runtime, and see that each is found")
    options = parser.parse_args()
    runtime, faults_name = modules_of(options.runtime)
    chosen = trackers(options.model, runtime.MODELS)
    dtypes = [dtype for dtype in options.dtypes.split(",") if dtype] or list(runtime.DTYPES)
    if set(dtypes) - set(runtime.DTYPES):
        stop(f"--dtypes {options.dtypes}: the kit is exact in {', '.join(runtime.DTYPES)}")
    if options.device:
        if not hasattr(runtime, "DEVICE"):
            stop(f"--device {options.device}: the runtime {options.runtime} takes none")
        runtime.DEVICE = options.device
    print(runtime.about())
    if options.planted:
        import planted

        try:
            faults = importlib.import_module(faults_name)
        except Exception as error:
            stop(f"--planted needs {faults_name}.py beside the runner: {type(error).__name__}: {error}")
        few = {"prompt of 65", "prompt of 129", "prompt of 257", "begins again in a prompt of 200"}
        texts = [(tracker, [word for word in tracker.words() if word["name"] in few or word["name"].startswith("140 tokens")])
                 for tracker in chosen]
        return planted.run(runtime, faults.FAULTS, texts, dtypes[0], check, summary, getattr(faults, "ONLY_IN", {}),
                           getattr(faults, "NAMED", {}))
    wrong = []
    for tracker in chosen:
        words = long_words(tracker, options.long) if options.long else [
            word for word in tracker.words() if not options.quick or len(word["prompt"]) < 300]
        for dtype in dtypes:
            if dtype != "bfloat16" or dtype in tracker.formats:
                wrong += check(runtime, tracker, dtype, words, {"lines", *(["long"] if options.long else []), options.report})
    print(summary(wrong, {tracker.name for tracker in chosen}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
