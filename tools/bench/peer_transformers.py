#!/usr/bin/env python3
"""Runs folders that `krohn compile --target olmo-hybrid`, `qwen3-next`, `kimi-linear` or `glm5-next` wrote in the stock classes
of transformers, and compares every position with the automaton: whole prompts, prompts in pieces, decoding token by token with
the cache, and generate(), which reads its own answers and goes on from state to state, where they do (`as_input` in tokens.json).

    pip install torch transformers
    tools/bench/peer_transformers.py s5-olmo/                                   # a folder
    tools/bench/peer_transformers.py --target olmo-hybrid "name:S5 --generators transpositions" name:parity
    tools/bench/peer_transformers.py s5-olmo/ --long 100000 --piece 4096 --dtypes bfloat16

One line for each model, number format and way of reading: positions that are right, of all, and the first that is not.
Exit status: 0 when all are right, 1 otherwise. On a processor no kernels are needed."""
import argparse
import json
import pathlib
import random
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402
import transformers  # noqa: E402
from peers import Tracker, krohn  # noqa: E402


def load(folder, dtype):
    name = json.loads((pathlib.Path(folder) / "config.json").read_text())["architectures"][0]
    return getattr(transformers, name).from_pretrained(folder, dtype=getattr(torch, dtype)).eval()


def in_pieces(model, text, piece):
    cache, given = None, []
    for at in range(0, len(text), piece):
        out = model(torch.tensor([text[at:at + piece]]), past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        given += out.logits[0].argmax(-1).tolist()
    return given


def generated(model, tracker, draw):
    """Prompts of several lengths in one batch, padded on the left."""
    prompts = [tracker.word(length, draw) for length in (1, 63, 64, 65, 130, 257)]
    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    out = model.generate(ids, attention_mask=mask, max_new_tokens=250, do_sample=False, pad_token_id=0)[:, width:].tolist()
    given, wanted = [], []
    for prompt, row in zip(prompts, out):
        text = list(prompt)
        for _ in row:
            text.append(tracker.answers(text)[-1])
        given += row
        wanted += text[len(prompt):]
    return given, wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="+", help="folders, or languages for --target")
    parser.add_argument("--target", default="olmo-hybrid")
    parser.add_argument("--length", type=int, default=10_000, help="of the prompt that is read at once")
    parser.add_argument("--decode", type=int, default=1500, help="tokens read one by one; 0: none")
    parser.add_argument("--long", type=int, default=0, help="of a prompt read in pieces; 0: none")
    parser.add_argument("--piece", type=int, default=4096)
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--no-generate", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, seed {options.seed}")
    all_right = True
    with tempfile.TemporaryDirectory() as scratch, torch.no_grad():
        for i, subject in enumerate(options.subjects):
            folder = subject
            if not pathlib.Path(subject).is_dir():
                folder = f"{scratch}/{i}"
                krohn("compile", *subject.split(), "--target", options.target, "-o", folder)
            tracker = Tracker(folder)
            for dtype in options.dtypes.split(","):
                model = load(folder, dtype)
                draw = random.Random(options.seed)

                def report(way, given, wanted, started):
                    nonlocal all_right
                    wrong = [at for at in range(len(wanted)) if given[at] != wanted[at]]
                    all_right &= not wrong
                    print(f"{subject:45} {type(model).__name__} {dtype:9} {way:24} {len(wanted) - len(wrong):>8,} of "
                          f"{len(wanted):>8,} right{f', first wrong at {wrong[0]}' if wrong else ''}  "
                          f"{time.monotonic() - started:6.1f} s", flush=True)

                ways = [(f"prompt of {options.length}", options.length, options.length + 1)]
                if options.long:
                    ways.append((f"in pieces of {options.piece}", options.long, options.piece))
                if options.decode:
                    ways.append(("token by token", options.decode, 1))
                for way, length, piece in ways:
                    text, started = tracker.word(length, draw), time.monotonic()
                    report(way, in_pieces(model, text, piece), tracker.answers(text), started)
                if not options.no_generate and tracker.walks:
                    started = time.monotonic()
                    report("generate(), 6 prompts", *generated(model, tracker, draw), started)
    sys.exit(0 if all_right else 1)


if __name__ == "__main__":
    main()
