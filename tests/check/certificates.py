"""Certificates of version 2, made for the tests by the checker's own evaluator: nothing here is trusted.

    python3 certificates.py MODEL CERTIFICATE METHOD [ARITHMETIC [FORM]]"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "check"))
import krohn_check as check  # noqa: E402


def written(model, claim, steps):
    """The text of a certificate; `claim` has what differs from a proof in fp32, letter after letter."""
    first = {"format": "krohn.certificate", "version": 2, "weights": model.weights, "automaton": model.automaton,
             "arithmetic": "fp32", "form": "structured", "order": "sequential", **claim}
    lines = [first, *steps]
    return "".join(json.dumps(line) + "\n" for line in [*lines, {"step": "end", "lines": len(lines)}])


def network(model, claim):
    if claim.get("arithmetic") == "exact":
        return check.Exact(model)
    return check.Network(model, check.Arithmetic(claim.get("arithmetic", "fp32")), claim.get("form", "structured"))


def hexadecimal(columns, to):
    """The bits of numbers of the format `to`."""
    text = ""
    if isinstance(to, check.Integers):
        return "".join(format((x >> check.UNIT) % (1 << to.width), f"0{to.width // 4}x") for x in check.flat(columns))
    for x in check.flat(columns):
        size = abs(x) >> to.grain
        extra = max(size.bit_length() - to.digits, 0)
        bits = size if size < 1 << to.digits - 1 else (extra << to.digits - 1) + (size >> extra)
        text += format(bits | (x < 0) << to.width - 1, f"0{to.width // 4}x")
    return text


def codeword_steps(net, exact=True):
    """The codewords that the start can become, and their moves. ValueError where a letter leads to no codeword."""
    steps, machine = [], []
    for k, layer in enumerate(net.model.layers):
        kinds = sorted(set(zip(layer.action_of, layer.book_of)))
        start = [i for i, c in enumerate(net.words[k]) if c == net.start[2][k] and layer.label[i] == layer.initial_label]
        if not exact:
            start = [net.nearest(k, net.start[2][k], layer.book[layer.label.index(layer.initial_label)])]
        places, moves = start[:1], {kind: [] for kind in kinds}
        if not places or places[0] is None:
            raise ValueError(f"layer {k} does not begin in a codeword")
        for i in places:
            for action, book in kinds:
                moved = net.moved(k, action, net.words[k][i])
                if isinstance(net, check.Exact):
                    if any(x != int(x) for x in check.flat(moved)):
                        raise ValueError("a number that fp64 does not have")
                    moved = tuple(tuple(map(int, column)) for column in moved)
                found = net.nearest(k, moved, book)
                if found is None or exact and moved != net.words[k][found]:
                    raise ValueError(f"layer {k}: no codeword after action {action}")
                if found not in places:
                    places.append(found)
                moves[action, book].append(places.index(found))
        steps.append({"step": "codewords", "layer": k, "codewords": places})
        steps += [{"step": "move", "layer": k, "action": a, "book": b, "next": after} for (a, b), after in moves.items()]
        machine.append((places, moves))
    return steps, machine


def tuple_steps(net, machine):
    model = net.model
    tuples, states, steps = [(0,) * len(machine)], [model.initial], []
    for places, state in zip(tuples, states):
        after = []
        for letter in range(len(model.letters)):
            context, moved = letter, []
            for p, layer, (codewords, moves) in zip(places, model.layers, machine):
                moved.append(moves[layer.action_of[context], layer.book_of[context]][p])
                context = layer.next and layer.next[context][layer.label[codewords[p]]]
            if tuple(moved) not in tuples:
                tuples.append(tuple(moved))
                states.append(model.table[state][letter])
            after.append(tuples.index(tuple(moved)))
        steps.append({"step": "tuple", "state": state, "places": list(places), "next": after})
    return steps


def closed_codewords(model, emulation="induction", **claim):
    net = network(model, claim)
    steps, machine = codeword_steps(net)
    emulated = tuple_steps(net, machine) if emulation == "tuples" else [{"step": "induction"}]
    return written(model, {"claim": "proved", "method": "closed codewords", **claim}, steps + emulated)


def remembered(net, memory):
    """The memory as a pair states it."""
    if isinstance(memory, check.Memory):
        return {"bits": [hexadecimal([memory.numbers], net.stored)]}
    if None in memory[0] or None in check.flat(check.flat(memory[2])):
        raise ValueError("a state without a label")
    bits = [hexadecimal(h, net.stored) for h in memory[2]]
    return {"labels": list(memory[0]), "bits": bits, **({"phase": memory[1]} if net.model.snap_every else {})}


def pair_steps(net, T=None, limit=5000):
    truth = net.truth
    pairs, number, steps = [(net.start, truth.initial, 0)], {(net.start, truth.initial): 0}, []
    for memory, state, depth in pairs:
        step = {"step": "pair", "state": state, **remembered(net, memory)}
        step.update({} if T is None else {"depth": depth})
        if T is None or depth < T - 1:
            step["next"] = []
            for letter, state_after in enumerate(truth.table[state]):
                if state_after is None:
                    step["next"].append(check.NOWHERE)
                    continue
                after = net.step(memory, letter)[0]
                if (after, state_after) not in number:
                    number[after, state_after] = len(pairs)
                    pairs.append((after, state_after, depth + 1))
                step["next"].append(number[after, state_after])
        steps.append(step)
        if len(pairs) > limit:
            raise ValueError("too many pairs")
    return steps


def closed_reachable_set(model, T=None, **claim):
    net = network(model, claim)
    of = {"claim": "proved"} if T is None else {"claim": "proved up to a length", "length": T}
    return written(model, {**of, "method": "closed reachable set", **claim}, pair_steps(net, T))


def linear_horizon(model, T, **claim):
    steps, _ = codeword_steps(network(model, claim), exact=False)
    return written(model, {"claim": "proved up to a length", "length": T, "method": "linear horizon", **claim}, steps)


def exact_in_any_order(model, maps, **claim):
    """With `maps` or moves in every layer."""
    net = network(model, claim)
    steps, machine = codeword_steps(net)
    steps += tuple_steps(net, machine)
    for k, layer in enumerate(model.layers):
        n, zero, has_b = layer.n, ((0,) * layer.n,) * layer.d, any(net.B[k])
        given = [b or zero for b in net.B[k]]
        matrices = [tuple(zip(*check.exact_entries(m, n))) for m in net.matrices[k]]

        def times(a, columns):
            return tuple(tuple(sum(w * x for w, x in zip(row, c)) >> check.UNIT for row in zip(*a)) for c in columns)

        def after(a, m, b):
            return (times(matrices[a], m) if maps else (),
                    tuple(tuple(x + y for x, y in zip(s, t)) for s, t in zip(times(matrices[a], b), given[a])))
        listed = list(dict.fromkeys(zip(matrices, given))) if maps else [((), zero)] if has_b else []
        steps.append({"step": "maps", "layer": k, "letters": [listed.index(x) for x in zip(matrices, given)]} if maps else
                     {"step": "moves", "layer": k})
        for m, b in listed:
            new = [after(a, m, b) for a in range(len(matrices))]
            listed += [x for x in dict.fromkeys(new) if x not in listed]
            if len(listed) > 3000:
                raise ValueError("too many maps")
            step = {"step": "map", "layer": k, "a": hexadecimal(zip(*m), net.stored)} if maps else {"step": "addition"}
            step.update({"layer": k, "b": hexadecimal(b, net.stored) if has_b else "", "next": [listed.index(x) for x in new]})
            steps.append(step)
    return written(model, {"claim": "proved", "method": "exact in any order", "order": "any", **claim}, steps)


def failing_word(model, words, shortest=False, **claim):
    """`words`: (letters, times), …, or the seed, stream and length of a random word."""
    net, model_ = network(model, claim), model
    if isinstance(words, dict):
        letters = check.random_letters(words["seed"], words["stream"], len(model.letters))
        letters, steps = [next(letters) for _ in range(words["letters"])], [{"step": "random", **words}]
    else:
        letters = [x for word, times in words for _ in range(times) for x in word]
        steps = [{"step": "word", "letters": [model.letters[x] for x in word], "times": times} for word, times in words]
    memory, state = net.start, model.initial
    for letter in letters:
        memory, state = net.step(memory, letter)[0], model_.table[state][letter]
    steps.append({"step": "answer", "expected": state, "given": net.read(memory)})
    if shortest and letters:
        steps += pair_steps(net, len(letters) - 1)
    return written(model, {"claim": "refuted", "shortest": shortest, "method": "failing word", **claim}, steps)


def shortest_failing_word(model, limit=5000, **claim):
    """The first word in breadth that is read wrongly; None where pairs run out or pass the limit."""
    net = network(model, claim)
    if net.read(net.start) != model.initial:
        return []
    todo, seen = [(net.start, model.initial, [])], {(net.start, model.initial)}
    for memory, state, word in todo:
        for letter in range(len(model.letters)):
            (after, read), state_after = net.step(memory, letter), model.table[state][letter]
            if read != state_after:
                return word + [letter]
            if (after, state_after) not in seen:
                seen.add((after, state_after))
                todo.append((after, state_after, word + [letter]))
        if len(todo) > limit:
            return None
    return None


def sampled(model, seed, words, length, **claim):
    return written(model, {"claim": "sampled", "method": "sampled", **claim},
                   [{"step": "words", "seed": seed, "words": words, "length": length}])


if __name__ == "__main__":
    path, certificate, method, arithmetic, form = [*sys.argv[1:], *["fp32", "structured"][len(sys.argv) - 4:]]
    of = {"codewords": closed_codewords, "pairs": closed_reachable_set,
          "maps": lambda m, **c: exact_in_any_order(m, True, **c), "moves": lambda m, **c: exact_in_any_order(m, False, **c),
          "refuted": lambda m, **c: failing_word(m, [(shortest_failing_word(m, **c), 1)], True, **c)}[method]
    text = of(check.Model(path), arithmetic=arithmetic, form=form)
    pathlib.Path(certificate).write_text(text)
