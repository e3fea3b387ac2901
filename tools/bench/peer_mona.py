"""Temporal formulas beside MONA (apt-get install mona), which reads them in M2L-str.

    python3 tools/bench/peer_mona.py agree KROHN [formulas] [seed]
    python3 tools/bench/peer_mona.py times KROHN

`agree` compares random formulas over valuations: every word of at most four letters, and the number of states. MONA reads
the values of variables without positions first, one state more, and may not care about the empty word, which is then a
third answer. `times` takes formulas of the shapes in published sets, with 10 to 20 propositions, and asks both for the
same: the minimal automaton, its states, whether a word is accepted, and a shortest one. What `krohn info` tells without
--max-letters, a letter for each class of valuations and counts of words, MONA does not; its time stands behind. Times
are of the processor, with the start of both programs.
"""

import functools
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile

from peers import processor_seconds

PAST = "YO"


def text(f):
    if isinstance(f, str):
        return f
    return f"{f[0]} ({text(f[1])})" if len(f) == 2 else f"(({text(f[1])}) {f[0]} ({text(f[2])}))"


def in_mona(f, at, fresh):
    """The formula at the position `at`."""
    if isinstance(f, str):
        return f if f in ("true", "false") else f"({at} in {f.upper()})"
    operator, parts = f[0], f[1:]
    if operator in ("!", "&", "|", "->", "<->"):
        inner = [in_mona(part, at, fresh) for part in parts]
        sign = {"->": "=>", "<->": "<=>"}.get(operator, operator)
        return f"(~{inner[0]})" if operator == "!" else f"({inner[0]} {sign} {inner[1]})"
    x, y = f"x{next(fresh)}", f"y{next(fresh)}"
    last = in_mona(parts[-1], x, fresh)
    if operator in ("X", "N", "Y"):
        a, b = (x, at) if operator == "Y" else (at, x)
        beside = f"{a} < {b} & ~(ex1 {y}: {a} < {y} & {y} < {b})"
        return f"(all1 {x}: ({beside}) => {last})" if operator == "N" else f"(ex1 {x}: {beside} & {last})"
    if operator in ("F", "O"):
        return f"(ex1 {x}: {at} <= {x} & {last})" if operator == "F" else f"(ex1 {x}: {x} <= {at} & {last})"
    if operator == "G":
        return f"(all1 {x}: {at} <= {x} => {last})"
    first = in_mona(parts[0], y, fresh)  # U
    return f"(ex1 {x}: {at} <= {x} & {last} & (all1 {y}: ({at} <= {y} & {y} < {x}) => {first}))"


def ask_mona(f, propositions, options=()):
    with tempfile.NamedTemporaryFile("w", suffix=".mona") as file:
        names = ", ".join(p.upper() for p in propositions)
        file.write(f"m2l-str;\nvar2 {names};\n{in_mona(f, '0', itertools.count())};\n")
        file.flush()
        return subprocess.run(["mona", *options, file.name], capture_output=True, text=True, check=True).stdout


def random_formula(dice, depth, propositions, past=True):
    if depth == 0:
        return dice.choice(propositions + ["true"])
    operator = dice.choice(["!", "&", "|", "->", "<->", "X", "N", "F", "G", "U"] + (list(PAST) if past else []))
    def part(deeper=past):
        return random_formula(dice, depth - 1, propositions, deeper)
    if operator in PAST:  # over no future
        return (operator, dice.choice(propositions + [("!", dice.choice(propositions)), ("Y", dice.choice(propositions))]))
    return (operator, part(), part()) if operator in ("&", "|", "->", "<->", "U") else (operator, part())


def holds(name, valuation):
    """Tells whether a class of valuations has one, given by its propositions."""
    if name == "true":
        return True
    if name.startswith("{"):
        return set(filter(None, name[1:-1].split(","))) == {p for p in valuation if p in holds.named}
    return any(all((literal.lstrip("!") in valuation) != literal.startswith("!") for literal in product.split("&"))
               for product in name.split("|"))


def minimal_states(table, answers, start):
    reached, queue = {start}, [start]
    for state in queue:
        for target in table[state]:
            if target not in reached:
                reached.add(target)
                queue.append(target)
    block = {state: answers[state] for state in reached}
    while True:
        signature = {state: (block[state], *(block[target] for target in table[state])) for state in reached}
        numbers = {s: i for i, s in enumerate(dict.fromkeys(signature.values()))}
        finer = {state: numbers[signature[state]] for state in reached}
        if len(set(finer.values())) == len(set(block.values())):
            return len(numbers)
        block = finer


def agree(krohn, count=300, seed=1):
    dice = random.Random(int(seed))
    words = states = differences = 0
    for i in range(int(count)):
        propositions = ["a", "b", "c"][: 2 + i % 2]
        f = random_formula(dice, 1 + i % 4, propositions)
        automaton = json.loads(subprocess.run(
            [krohn, "convert", f"ltlf:{text(f)}", "-", "--to", "json", "--alphabet", "valuations"],
            capture_output=True, text=True, check=True).stdout)
        table, accepting, start = automaton["transitions"], set(automaton["accepting"]), automaton["initial"]
        holds.named = set(re.findall(r"[abc]", " ".join(automaton["alphabet"]).replace("true", "")))
        valuations = [frozenset(v) for n in range(len(propositions) + 1) for v in itertools.combinations(propositions, n)]
        column = {v: next(j for j, name in enumerate(automaton["alphabet"]) if holds(name, v)) for v in valuations}

        said = ask_mona(f, propositions, ["-w"])
        its_states = re.search(r"Automaton has (\d+) state", said)
        its_accepting = {int(n) for n in re.search(r"Accepting states: ([\d ]*)", said).group(1).split()}
        arcs = {}
        for source, bits, target in re.findall(r"State (\d+): ([01X]*) -> state (\d+)", said):
            arcs.setdefault(int(source), []).append((bits, int(target)))

        def step(state, valuation):
            bits = ["1" if p in valuation else "0" for p in propositions]
            return next(t for pattern, t in arcs[state] if all(p in ("X", b) for p, b in zip(pattern, bits)))

        level = [(start, step(0, frozenset()))]
        for _ in range(4):
            level = [(table[ours][column[v]], step(theirs, v)) for ours, theirs in level for v in valuations]
            words += len(level)
            wrong = sum((ours in accepting) != (theirs in its_accepting) for ours, theirs in level)
            if wrong:
                differences += wrong
                print("differs on", wrong, "words:", text(f))
        careless = {int(n) for n in re.search(r"Don't-care states: ([\d ]*)|$", said).group(1).split()}
        empty = step(0, frozenset())
        answers = [state in accepting for state in range(len(table))]
        answers.append(None if empty in careless else empty in its_accepting)
        expected = 1 + minimal_states(table + [table[start]], answers, len(table))
        if int(its_states.group(1)) != expected:
            differences += 1
            print("states:", expected, "MONA", its_states.group(1), text(f))
        states += len(table)
    print(f"{count} formulas, {states} states, {words} words, {differences} differences")


def every(parts):
    return functools.reduce(lambda a, b: ("&", a, b), parts)


def shapes(k):
    """A formula of 2k propositions: each that holds next needs one now; the same with one at a time, and with fairness."""
    now, then = [f"p{i}" for i in range(1, k + 1)], [f"p{k + i}" for i in range(1, k + 1)]
    needs = every(("G", ("|", ("!", ("X", b)), a)) for a, b in zip(now, then))
    alone = ("G", every(("|", ("!", ("X", a)), ("!", ("X", b))) for a in then for b in then if a != b))
    often = every(("G", ("F", ("X", b))) for b in then)
    fair = every(("->", ("G", ("F", a)), ("G", ("F", ("X", b)))) for a, b in zip(now, then))
    answered = every(("G", ("->", a, ("F", b))) for a, b in zip(now, then))
    first = every(("U", ("!", b), a) for a, b in zip(now, then))
    return {"needs": needs, "often": every([needs, alone, often]), "fair": every([needs, alone, fair]),
            "answered": answered, "first": first}


def times(krohn):
    def of_children(call):
        return min((processor_seconds(call) for _ in range(3)), key=lambda found: found[0])

    print("shape, propositions: seconds and states of krohn info --max-letters 1, of MONA; of krohn info with letters")
    for k in range(5, 11):
        for name, f in shapes(k).items():
            propositions = sorted(f"p{i}" for i in range(1, 2 * k + 1))  # as LTLf2DFA does
            def info(*options):
                command = [krohn, "info", f"ltlf:{text(f)}", "--alphabet", "valuations", "--json", *options]
                return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

            ours, facts = of_children(lambda: info("--max-letters", "1"))
            with_letters, _ = of_children(info)
            theirs, said = of_children(lambda: ask_mona(f, propositions))
            its_states = re.search(r"Automaton has (\d+) state", said)
            print(f"  {name:9} {2 * k}: {ours:.3f} {facts['states']:6}   {theirs:.3f} {its_states and its_states.group(1):>6}"
                  f"   {ours / max(theirs, 0.001):.1f} times   {with_letters:.3f}", flush=True)


if __name__ == "__main__":
    {"agree": agree, "times": times}[sys.argv[1]](*sys.argv[2:])
