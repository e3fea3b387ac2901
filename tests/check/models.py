"""Small network files, written by hand for the tests of krohn_check.py: nothing here is trusted."""
import json
import math
import struct
from fractions import Fraction

NOWHERE = 2**32 - 1
CODES = {"U8": "B", "I8": "b", "U32": "I", "I32": "i", "U64": "Q", "I64": "q", "F32": "I", "F64": "Q"}
FP64, FP32 = (64, 53, -1022), (32, 24, -126)


def bits_of(value, width, digits, least):
    """The bits of a rational number in a format that has it; None where the format has it not."""
    value = Fraction(value)
    size, e = abs(value), least
    while size >= Fraction(2)**(e + 1):
        e += 1
    fraction = size / Fraction(2)**(e - digits + 1)
    if fraction.denominator != 1 or e > -least + 1:
        return None
    whole = int(fraction) + (e - least << digits - 1)
    return whole | (value < 0) << width - 1


def flat(values):
    return [y for x in values for y in flat(x)] if isinstance(values, (list, tuple)) else [values]


def real(values, *shape):
    """A tensor of real numbers: F32 where that loses nothing."""
    for kind, form in (("F32", FP32), ("F64", FP64)):
        bits = [bits_of(x, *form) for x in flat(values)]
        if None not in bits:
            return kind, list(shape), bits
    raise ValueError("a number that fp64 does not have")


def written(metadata, tensors):
    """The bytes of a safetensors file; `tensors`: name ↦ (type, shape, integers)."""
    order = sorted(tensors, key=lambda name: (-struct.calcsize(CODES[tensors[name][0]]), name))
    header, data = {"__metadata__": metadata}, b""
    for name in order:
        kind, shape, values = tensors[name]
        assert len(values) == math.prod(shape), name
        packed = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def automaton(letters, table, outputs=None, names=None):
    """Its metadata and tensors; every state has an output of its own where none are given."""
    outputs = outputs or list(range(len(table)))
    about = {"alphabet": [{"characters": [[ord(x)] * 2] if len(x) == 1 else [], "name": x} for x in letters], "initial": 0,
             "output_names": names or [f"q{i}" for i in range(max(outputs) + 1)], "state_names": []}
    return about, {"automaton.table": ("U32", [len(table), len(letters)], flat(table)),
                   "automaton.outputs": ("U32", [len(table)], outputs)}


def network(letters, table, layers, readouts, snap_every=None, outputs=None, names=None):
    """`layers`: (description, name ↦ tensor without `layers.K.`), `readouts`: tables."""
    about, tensors = automaton(letters, table, outputs, names)
    for k, ((_, own), readout) in enumerate(zip(layers, readouts)):
        tensors.update({f"layers.{k}.{name}": tensor for name, tensor in own.items()})
        tensors[f"readout.{k}"] = ("U32", [len(readout), len(readout[0])], flat(readout))
    provenance = {"construction": "", "source": "by hand", "theorem": "", "note": ""}
    metadata = {"automaton": json.dumps(about), "provenance": json.dumps(provenance), "format": "krohn.network", "version": "1",
                "layers": json.dumps([description for description, _ in layers]),
                **({"snap_every": str(snap_every)} if snap_every else {})}
    return written(metadata, tensors)


def layer(n, d, codewords, form, tensors, action_of, H0=None, B=None, labels=None, initial_label=0, copies=0, books=None, code_books=None):
    """A layer of one form; codeword i has label i unless `labels` says otherwise. Codewords and B: n rows of d numbers, or None
    for a letter without B. `copies`: codewords are unit vectors, and not in the file. `books`: the code book of each letter."""
    own = {"action_of": ("U32", [len(action_of)], action_of), "H0": real(H0 or codewords[0], n, d),
           "form": ("U8", [max(action_of) + 1], [0] * (max(action_of) + 1)), **tensors}
    if not copies:
        own["codewords"] = real(codewords, len(codewords), n, d)
    if labels:
        own["codewords.label"] = ("U32", [len(labels)], labels)
    if books:
        own["book_of_context"], own["codewords.book"] = ("U32", [len(books)], books), ("U32", [len(code_books)], code_books)
    if B:
        own["B"] = real([b or [[0] * d] * n for b in B], len(B), n, d)
        own["B.given"] = ("U8", [len(B)], [int(b is not None) for b in B])
    about = {"dimension": n, "columns": d, "labels": max(labels) + 1 if labels else len(codewords),
             "initial_label": initial_label, "unit_copies": copies, "forms": [form]}
    return about, own


def resets(*columns, B=None, snap_every=None):
    """Letter i takes every state to state i, whose codeword is columns[i]; the matrices are zero, so B is the codeword. State 0
    is the start. `B` in place of the codewords makes other networks."""
    count, codewords = len(columns), [[[x] for x in column] for column in columns]
    one = layer(len(columns[0]), 1, codewords, "zero", {}, list(range(count)), B=B or codewords)
    return network([f"to {i}" for i in range(count)], [list(range(count))] * count, [one], [[list(range(count))]], snap_every)


def matrices(entries, codewords, table, form="dense", d=1, snap_every=None, H0=None):
    """One layer of dense matrices, one a letter, without a B."""
    n = len(entries[0])
    one = layer(n, d, codewords, form, {"structured.dense": real(entries, len(entries), n, n)}, list(range(len(entries))), H0=H0)
    letters = [chr(97 + i) for i in range(len(entries))]
    return network(letters, table, [one], [[list(range(len(codewords)))]], snap_every)


def adding(m, added, step=1, least=0):
    """Z_m in one number: letter w adds added[w] · step, and codeword q is least + q · step; no matter where numbers end."""
    tensors = {"structured.dense": real([1] * len(added), len(added), 1, 1)}
    one = layer(1, 1, [[[least + q * step]] for q in range(m)], "dense", tensors, list(range(len(added))),
                B=[[[w * step]] for w in added])
    return network([chr(97 + i) for i in range(len(added))], [[(q + w) % m for w in added] for q in range(m)], [one], [[list(range(m))]])


def turn(q, snap_every=None, digits=40):
    """Z_q as a rotation by 1/q of a turn; codewords from decimal cosines, to fp64 by way of `digits` bits."""
    def near(x):
        return Fraction(round(x * (1 << digits)), 1 << digits)
    codewords = [[[near(math.cos(2 * math.pi * i / q))], [near(math.sin(2 * math.pi * i / q))]] for i in range(q)]
    tensors = {"structured.rotation.offsets": ("U64", [3], [0, 1, 2]), "structured.rotation.is_sign": ("U8", [2], [0, 0]),
               "structured.rotation.turn": ("I64", [2, 2], [0, 1, 1, q])}
    one = layer(2, 1, codewords, "rotation", tensors, [0, 1], H0=[[1], [0]])
    return network(["0", "1"], [[i, (i + 1) % q] for i in range(q)], [one], [[list(range(q))]], snap_every)


def cascade():
    """Z_4 in two layers of signs: the low bit flips at each letter 1, the high bit where the low one was 1. Letter 0 rests."""
    sign = {"structured.signed.map": ("U32", [2, 1], [0, 0]), "structured.signed.sign": ("I8", [2, 1], [1, -1])}
    low = layer(1, 1, [[[1]], [[-1]]], "signed-permutation", dict(sign), [0, 1])
    high = layer(1, 1, [[[1]], [[-1]]], "signed-permutation", dict(sign), [0, 1])
    low[1]["next"] = ("U32", [2, 2], [0, 0, 0, 1])
    return network(["0", "1"], [[i, (i + 1) % 4] for i in range(4)], [low, high], [[[0, 1]], [[0, 2], [1, 3]]])


def swap(beta=1, key=1, other=-1):
    """Two points exchanged by one reflection I − β k kᵀ, k = (key, other)."""
    tensors = {"structured.reflections.offsets": ("U64", [3], [0, 0, 1]), "structured.reflections.position": ("U32", [2], [0, 1]),
               "structured.reflections.position.offsets": ("U64", [2], [0, 2]),
               "structured.reflections.value": ("I32", [2], [key, other]),
               "structured.reflections.scale_squared": ("I64", [1, 2], [1, 1]),
               "structured.reflections.plane": ("U32", [1], [0]), "structured.reflections.angle": ("I64", [1, 2], [0, 1]),
               "structured.reflections.beta": real([beta], 1)}
    one = layer(2, 1, [[[1], [0]], [[0], [1]]], "reflections", tensors, [0, 1])
    return network(["e", "s"], [[0, 1], [1, 0]], [one], [[[0, 1]]])


def doubled_sum(numbers, form):
    """One letter: the last of four numbers becomes 2·(x_0 + x_1 + x_2), the others 0. `factored` adds x_0 + x_0 + x_1 + …"""
    terms = {"structured.factored.offsets": ("U64", [2], [0, 6]), "structured.factored.output": ("U32", [6], [3] * 6),
             "structured.factored.output.offsets": ("U64", [7], list(range(7))),
             "structured.factored.input": ("U32", [6], [0, 0, 1, 1, 2, 2]),
             "structured.factored.input.offsets": ("U64", [7], list(range(7))),
             "structured.factored.gate": ("U32", [6], list(range(6))), "structured.factored.gate.offsets": ("U64", [2], [0, 6])}
    dense = {"structured.dense": real([0] * 12 + [2, 2, 2, 0], 1, 4, 4)}
    codewords = [[[x] for x in numbers] + [[0]], [[0], [0], [0], [2 * sum(numbers)]], [[0]] * 4]
    one = layer(4, 1, codewords, form, terms if form == "factored" else dense, [0])
    return network(["a"], [[1], [2], [2]], [one], [[[0, 1, 2]]])
