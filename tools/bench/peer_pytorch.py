#!/usr/bin/env python3
"""Times PyTorch's CPU on what bench_networks times, in one run: pip install torch numpy

    tools/bench/peer_pytorch.py [--compile] build/tools/krohn/krohn [build-bench/tools/bench/bench_networks]

S_5 by reflections, a one-hot cascade and the rotation by a 60th of a turn, 4096 words of 1000 letters in fp32, the final
states decoded once. The weights are those that `krohn compile` writes. Every way that a user of PyTorch would write the
recurrence is run, one thread, processor time; the fastest counts. With --compile each is also run under torch.compile,
ten letters to a graph. With the path of bench_networks the ratio is printed too.
"""
import json
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import torch
except ImportError:
    print("skipped: torch and numpy are not installed")
    sys.exit(0)

WORDS, LENGTH, UNROLLED = 4096, 1000, 10
SUBJECTS = {
    "S5 by reflections": ["name:S5", "--generators", "transpositions", "--construction", "permutation-base-reflections",
                          "--keys", "unnormalised"],
    "modarith5 by a one-hot cascade": ["name:modarith5", "--construction", "cascade-holonomy"],
    "Z60 by rotations": ["name:Z60", "--construction", "rotation"],
}

# A contender has a state, a step that takes the letters of all words, and the labels at the end. The recurrences
# compute A x in the order of the structured form: no step multiplies with zeros where the structure is known, but bmm.


def reflections(model):
    a, start = model["layers.0.A"], model["layers.0.H0"]
    n, columns = start.shape
    excess = torch.eye(n) - a  # k kᵀ, with entries of k in {0, 1, −1}
    first = (excess.diagonal(dim1=1, dim2=2) != 0).int().argmax(1)
    keys = excess[torch.arange(len(a)), first]
    assert torch.equal(excess, keys[:, :, None] * keys[:, None, :])
    by_position = keys.T.contiguous()

    def words_first(h, letters):
        k = keys[letters].unsqueeze(-1)
        return h - k * (k * h).sum(1, keepdim=True)

    def words_last(h, letters):
        k = by_position.index_select(1, letters).unsqueeze(1)
        return h - k * (k * h).sum(0, keepdim=True)

    def products(h, letters):
        return torch.bmm(a[letters], h)

    h_first = start.repeat(WORDS, 1, 1)
    h_last = start.unsqueeze(-1).repeat(1, 1, WORDS)
    codewords = model["layers.0.codewords"].flatten(1)
    nearest = lambda h: torch.cdist(h.reshape(WORDS, -1), codewords).argmin(1)  # noqa: E731
    return {"elementwise, words first": (h_first, words_first, nearest),
            "elementwise, words last": (h_last, words_last, lambda h: nearest(h.permute(2, 0, 1))),
            "bmm of gathered matrices": (h_first, products, nearest)}


def rotations(model):
    a, start = model["layers.0.A"], model["layers.0.H0"]
    cosine, sine = a[:, 0, 0].contiguous(), a[:, 1, 0].contiguous()

    def coordinates(h, letters):
        c, s = cosine[letters], sine[letters]
        x, y = h
        return c * x - s * y, s * x + c * y

    turns = torch.complex(cosine, sine)

    def complex_numbers(h, letters):
        return turns[letters] * h

    def products(h, letters):
        return torch.bmm(a[letters], h)

    codewords = model["layers.0.codewords"].flatten(1)
    nearest = lambda h: torch.cdist(h.reshape(WORDS, 2), codewords).argmin(1)  # noqa: E731
    x, y = start[0, 0].repeat(WORDS), start[1, 0].repeat(WORDS)
    return {"elementwise": ((x, y), coordinates, lambda h: nearest(torch.stack(h, 1))),
            "complex numbers": (torch.complex(x, y), complex_numbers, lambda h: nearest(torch.view_as_real(h))),
            "bmm of gathered matrices": (start.repeat(WORDS, 1, 1), products, nearest)}


def cascade(model, layers):
    """Layers of one-hot states: permutations, and resets A = 0, B = e_c."""
    a = [model[f"layers.{k}.A"] for k in range(layers)]
    b = [model.get(f"layers.{k}.B", torch.zeros(len(a[k]), a[k].shape[1], 1)) for k in range(layers)]
    source = [matrix.argmax(2) for matrix in a]
    kept = [matrix.sum(2) for matrix in a]
    action_of = [model[f"layers.{k}.action_of"] for k in range(layers)]
    following = [model[f"layers.{k}.next"].flatten() for k in range(layers - 1)]
    width = [matrix.shape[1] for matrix in a]

    def layer_by_layer(step):
        def move(state, letters):
            context, after = letters, []
            for k in range(layers):
                action = action_of[k][context]
                h = state[k]
                if k + 1 < layers:
                    context = following[k][context * width[k] + h.argmax(1)]
                after.append(step(k, action, h))
            return tuple(after)

        return move

    gathers = layer_by_layer(lambda k, action, h: h.gather(1, source[k][action]) * kept[k][action] + b[k][action].squeeze(2))
    products = layer_by_layer(lambda k, action, h: torch.baddbmm(b[k][action], a[k][action], h.unsqueeze(2)).squeeze(2))

    def states(state):
        node = torch.zeros(WORDS, dtype=torch.long)
        for k in range(layers):
            node = model[f"readout.{k}"].flatten()[node * width[k] + state[k].argmax(1)]
        return node

    start = tuple(model[f"layers.{k}.H0"].T.repeat(WORDS, 1) for k in range(layers))
    return {"gathers": (start, gathers, states), "bmm of gathered matrices": (start, products, states)}


def contenders(name, model, metadata):
    if name.startswith("S5"):
        return reflections(model)
    if name.startswith("Z60"):
        return rotations(model)
    return cascade(model, len(json.loads(metadata["layers"])))


def final_states(model, metadata, letters):
    state = torch.full((WORDS,), json.loads(metadata["automaton"])["initial"])
    for row in letters:
        state = model["automaton.table"][state, row]
    return state


def nanoseconds(state, step, letters, clock=time.process_time):
    best = float("inf")
    for _ in range(3):
        h, start = state, clock()
        for row in letters:
            h = step(h, row)
        best = min(best, clock() - start)
    return best * 1e9 / (WORDS * LENGTH), h


def compiled(step):
    def several(h, rows):
        for t in range(UNROLLED):
            h = step(h, rows[t])
        return h

    return torch.compile(several)


def compiled_network(krohn, name):
    """The tensors and the metadata of a network (docs/reference/network-file.md)."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/network.npz"
        subprocess.run([krohn, "compile", *SUBJECTS[name], "--target", "numpy", "-o", path], check=True, capture_output=True)
        with numpy.load(path) as file:
            arrays = {name: file[name] for name in file.files}
    metadata = {part: bytes(arrays.pop(f"metadata.{part}")) for part in ("automaton", "layers")}
    kinds = {"f": numpy.float32, "u": numpy.int64, "i": numpy.int64}
    return {name: torch.from_numpy(array.astype(kinds[array.dtype.kind])) for name, array in arrays.items()}, metadata


def ours(program, name):
    command = [program, f"--benchmark_filter=networks/{name}/lanes, fp32", "--benchmark_format=json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    report = json.loads(output[: output.rindex("}") + 1])
    return min(row["ns_per_letter"] for row in report["benchmarks"])


def main():
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    with_compile = "--compile" in sys.argv
    programs = [argument for argument in sys.argv[1:] if argument != "--compile"]
    for name in SUBJECTS:
        model, metadata = compiled_network(programs[0], name)
        torch.manual_seed(1)
        letters = torch.randint(model["automaton.table"].shape[1], (LENGTH, WORDS))
        expected, best = final_states(model, metadata, letters), float("inf")
        for way, (state, step, decode) in contenders(name, model, metadata).items():
            runs = {way: (step, letters)}
            if with_compile:
                runs[way + ", compiled"] = (compiled(step), letters.reshape(-1, UNROLLED, WORDS))
            for title, (run, rows) in runs.items():
                try:
                    time_of_way, h = nanoseconds(state, run, rows)
                except Exception as error:  # torch.compile needs a compiler that works
                    print(f"PyTorch {torch.__version__}  {name}, {title}: {type(error).__name__}")
                    continue
                assert torch.equal(decode(h), expected), title
                best = min(best, time_of_way)
                print(f"PyTorch {torch.__version__}  {name}, {title:45} {time_of_way:10.2f} ns a letter", flush=True)
        if len(programs) > 1:
            time_of_ours = ours(programs[1], name)
            print(f"krohn  {name}, lanes {time_of_ours:10.3f} ns a letter   {best / time_of_ours:.1f} times as fast")


if __name__ == "__main__":
    main()
