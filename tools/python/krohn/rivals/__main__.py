"""The command of the rivals: `python -m krohn.rivals train TASK --model NAME -o FOLDER`, `eval FOLDER`, `table NAME -o FOLDER`,
`page FILE --cells FOLDER`, `time`."""

import argparse
import json
import shlex
import sys
from typing import List, Optional

import torch

from krohn.rivals import models, papers, tables, timing, training


def numbers(text: str) -> List[float]:
    return [float(part) for part in text.split(",")]


def whole_numbers(text: str) -> List[int]:
    values = [float(part) for part in text.split(",")]
    if not all(value.is_integer() for value in values):  # nor is one that is not finite
        raise argparse.ArgumentTypeError(f"{text}: whole numbers")
    return [int(value) for value in values]


def length_range(text: str):
    least, _, greatest = text.partition("..")
    return int(least), int(greatest or least)


def train_arguments(parser: argparse.ArgumentParser) -> None:
    default = training.Options()
    parser.add_argument("--length", type=length_range, default=default.length, help="3..40: lengths of training words")
    parser.add_argument("--words", type=int, default=default.words, help="words a step")
    parser.add_argument("--steps", type=int, default=default.steps)
    parser.add_argument("--rates", type=numbers, default=default.rates, help="the run with the least validation loss is kept")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--sample-seed", type=int, default=default.sample_seed, help="of the words; without it --seed")
    parser.add_argument("--schedule", choices=["constant", "cosine"], default=default.schedule)
    parser.add_argument("--warm-up", "--warmup", type=int, default=default.warm_up, help="steps")
    parser.add_argument("--least-rate", type=float, default=default.least_rate)
    parser.add_argument("--weight-decay", type=float, default=default.weight_decay)
    parser.add_argument("--clip", type=float, default=default.clip, help="norm of gradients; 0: none")
    parser.add_argument("--validate-every", type=int, default=default.validate_every)
    parser.add_argument("--stop-at", type=float, default=default.stop_at)
    parser.add_argument("--test-lengths", type=whole_numbers, default=default.test_lengths)
    parser.add_argument("--test-words", type=int, default=default.test_words)


def options_of(arguments: argparse.Namespace) -> training.Options:
    names = training.Options.__dataclass_fields__
    return training.Options(**{name: value for name, value in vars(arguments).items() if name in names})


def report(facts: dict, folder: str) -> None:
    print(f"{facts['model']} on {facts['task']}, {facts['parameters']:,} parameters, {facts['framework']}")
    for run in facts["runs"]:
        scores = ", ".join(f"{score['scaled_accuracy']:.4f} at {score['length']} ({score['words_right']}/{score['words']} words)"
                           for score in run["test"])  # fmt: skip
        loss = "none" if run["validation_loss"] is None else f"{run['validation_loss']:.3g}"
        print(f"  rate {run['rate']:g}, seed {run['seed']}: {run['state']} after {run['steps']} steps, validation loss {loss}; "
              f"scaled accuracy {scores}{'; kept' if run['best'] else ''}")  # fmt: skip
    family = facts["model"].split(":")[1]
    if models.FAMILIES[family].is_imported:
        print(f"  krohn examines it: krohn import {shlex.quote(folder)}/model.safetensors --as {family} "
              f"--against {shlex.quote(facts['task'])} -o NEW-FOLDER")  # fmt: skip
    else:
        print("  measured by PyTorch; krohn tests such a model as a black box, krohn.test, and proves nothing of it")


def make_table(chosen: argparse.Namespace) -> None:
    table, found = tables.run(chosen.name, chosen.output, chosen.seeds, chosen.seed, chosen.only, chosen.scale, chosen.shard,
                              lambda line: print(line, file=sys.stderr, flush=True))  # fmt: skip
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump({"cells": tables.as_krohn_has_them(table, found, range(chosen.seed, chosen.seed + chosen.seeds))}, file)
    if not (chosen.quiet or chosen.shard):
        print(tables.markdown(table, found))


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m krohn.rivals", description="The models that the papers compare with.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    train = verbs.add_parser("train", help="train one model")
    train.add_argument("task")
    train.add_argument("--model", required=True, help=f"one of {', '.join(models.FAMILIES)}, with options: lstm:hidden=64")
    train.add_argument("-o", "--output", required=True)
    train_arguments(train)
    evaluate = verbs.add_parser("eval", help="measure a trained model by length")
    evaluate.add_argument("run")
    evaluate.add_argument("--lengths", type=whole_numbers, default=[40, 256])
    evaluate.add_argument("--words", type=int, default=100)
    table = verbs.add_parser("table", help="train every model of a table")
    table.add_argument("name", help=f"one of {', '.join(papers.TABLES)}")
    table.add_argument("-o", "--output", required=True, help="folder that keeps the runs; the same command goes on after them")
    table.add_argument("--only", default="", help="cells whose \"row, column\" has this text, or ends with it where it ends with $")
    table.add_argument("--scale", default="small", help="small or paper, with single sizes changed: paper,steps=8000,width=32")
    table.add_argument("--shard", default="", help="I/N: train the I-th of N shares of the runs")
    table.add_argument("--json", default="", help="file for the cells, as `krohn table --json` has them")
    table.add_argument("--quiet", action="store_true", help="print no table")
    written = verbs.add_parser("page", help="put the tables of finished runs into a page that has places for them")
    written.add_argument("page")
    written.add_argument("--cells", required=True, help="folder with a folder of runs for every table")
    for parsed in (table, written):
        parsed.add_argument("--seeds", type=int, default=5)
        parsed.add_argument("--seed", type=int, default=21, help="of the first run")
    timed = verbs.add_parser("time", help="Fan et al.'s recurrence by a parallel scan and letter after letter")
    timed.add_argument("--words", type=int, default=1, help="at once")
    chosen = parser.parse_args(arguments)
    torch.set_flush_denormal(True)  # as krohn's own steps: on some processors a subnormal number takes a hundred cycles
    try:
        if chosen.verb == "train":
            report(training.train(chosen.task, chosen.model, chosen.output, options_of(chosen)), chosen.output)
        elif chosen.verb == "eval":
            if chosen.words < 1 or min(chosen.lengths) < 1:
                raise ValueError("--words and --lengths are at least 1")
            model, facts = training.load(chosen.run)
            for length in chosen.lengths:
                print(json.dumps(vars(training.measure(model, facts["task"], length, chosen.words))))
        elif chosen.verb == "page":
            tables.rewrite(chosen.page, chosen.cells, range(chosen.seed, chosen.seed + chosen.seeds))
        elif chosen.verb == "time":
            print(timing.report(chosen.words))
        else:
            make_table(chosen)
    except (ValueError, OSError) as error:  # krohn's own errors are ValueErrors
        print(f"krohn.rivals: {error}", file=sys.stderr)
        return 2
    except (RuntimeError, LookupError, TypeError, ArithmeticError) as error:  # torch's own, of sizes that it cannot build
        print(f"krohn.rivals: {chosen.verb}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
