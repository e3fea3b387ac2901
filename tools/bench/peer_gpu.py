#!/usr/bin/env python3
"""PyTorch's rates on a CUDA device, for tools/bench/gpu to print beside krohn's of the same run: pip install torch

    tools/bench/peer_gpu.py KROHN RATES.json              # networks over words, and steps of training
    tools/bench/peer_gpu.py KROHN RATES.json --device cpu # few words and small models: every way runs, and is right

Networks: the weights that `krohn compile` writes, 2^18 words of 200 letters in fp32, by the fastest way of peer_pytorch.py,
plainly and compiled with ten letters to a graph; the final states are compared with the automaton's. Training: the models and
ways of peer_train.py in the sizes that bench_gpu measures, and reflections by flash-linear-attention's kernels where that is
installed, AdamW fused, one step recorded as a CUDA graph, plainly and compiled. All ways of a model are given the same
weights first and must answer alike. Of each subject the fastest way counts: RATES.json has its rate, in letters or steps a
second, under the name that bench_gpu gives the work. A way that fails is said and passed over."""
import json
import sys
import time

import peer_pytorch
import peer_train

if not hasattr(peer_pytorch, "torch"):
    sys.exit(2)
torch = peer_pytorch.torch
F = torch.nn.functional

# The names in peer_pytorch.py and in bench_gpu, and the way that was fastest on an H100, of modarith5 on a processor.
NETWORKS = {"S5 by reflections": ("S5 by reflections, 10 letters", "elementwise, words last"),
            "Z60 by rotations": ("Z60 by rotations", "elementwise"),
            "modarith5 by a one-hot cascade": ("modarith5 by a one-hot cascade", "gathers")}
PRODUCTS = ["a matrix gathered a word", "one product, chosen by index", "spread by one-hot, one product"]
SYSTEMS = ["all tokens at once", "letters' tables, by one-hot"]
KERNELS = ["fla's chunks, bf16", "fla's recurrence, fp32"]


class ReflectionsByKernels(peer_train.Reflections):
    """The recurrence by flash-linear-attention, of rows that are made once a letter."""

    def mixed(self, letters, x):
        if self.way not in KERNELS:
            return super().mixed(letters, x)
        from fla.ops.delta_rule import chunk_delta_rule, fused_recurrent_delta_rule

        q, k, v, beta = (rows[letters][:, :, None] for rows in self.rows(self.embedding.weight))  # one head
        if self.way == KERNELS[1]:
            return fused_recurrent_delta_rule(q, k, v, beta[..., 0], scale=1.0)[0][:, :, 0]
        narrow = [tensor.bfloat16() for tensor in (q, k, v, beta[..., 0])]
        return chunk_delta_rule(*narrow, scale=1.0)[0][:, :, 0].float()


class Clock:
    def __init__(self, device):
        self.waits = device == "cuda"

    def __call__(self):
        if self.waits:
            torch.cuda.synchronize()
        return time.perf_counter()


def tell(subject, way, rate, unit):
    print(f"PyTorch {torch.__version__}  {subject}, {way:55} {rate:10.3e} {unit}", flush=True)


def network_rates(krohn, device, clock, rates):
    with torch.no_grad():
        for name, (ours, fastest) in NETWORKS.items():
            model, metadata = peer_pytorch.compiled_network(krohn, name)
            model = {key: tensor.to(device) for key, tensor in model.items()}
            letters = torch.randint(model["automaton.table"].shape[1], (peer_pytorch.LENGTH, peer_pytorch.WORDS))
            expected = peer_pytorch.final_states(model, metadata, letters)
            in_tens = letters.reshape(-1, peer_pytorch.UNROLLED, peer_pytorch.WORDS)
            state, step, decode = peer_pytorch.contenders(name, model, metadata)[fastest]
            for way, run, rows in ((fastest, step, letters), (fastest + ", compiled", peer_pytorch.compiled(step), in_tens)):
                try:
                    nanoseconds, h = peer_pytorch.nanoseconds(state, run, rows, clock)
                except Exception as error:  # memory, or a compiler that does not work
                    print(f"{ours}, {way}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                    continue
                if not torch.equal(decode(h), expected):
                    sys.exit(f"{ours}, {way}: wrong states")
                tell(ours, way, 1e9 / nanoseconds, "letters/s")
                rates[ours] = max(rates.get(ours, 0), 1e9 / nanoseconds)


def recorded(step):
    """A CUDA graph of a step, which has run on a stream of its own before, as PyTorch asks for."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def step_seconds(model, letters, targets, device, clock, compiled):
    labels = model.read.out_features
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True, capturable=device == "cuda")
    loss = lambda letters: F.cross_entropy(model(letters).view(-1, labels), targets)  # noqa: E731
    loss = torch.compile(loss, dynamic=False) if compiled else loss

    def step():
        optimiser.zero_grad(set_to_none=False)
        loss(letters).backward()
        optimiser.step()

    step = recorded(step) if device == "cuda" else step
    best = float("inf")
    for _ in range(4):  # the first is no measurement
        start = clock()
        for _ in range(30 if device == "cuda" else 1):
            step()
        best = min(best, (clock() - start) / (30 if device == "cuda" else 1))
    return best


def training_rates(device, clock, rates):
    small = device == "cpu"
    size = 16 if small else 256
    letters = torch.randint(0, 5, (peer_train.WORDS, 12))
    letters[:, 0], letters[:, -1] = 5, 6
    every = torch.randint(0, 120, (peer_train.WORDS, 40))
    every[:, 0] = 120
    try:
        import fla.ops.delta_rule  # noqa: F401

        kernels = [] if small else KERNELS
    except Exception:  # not installed, or for another device
        kernels = []
    subjects = [
        ("Ebrahimi, full, H = 256", PRODUCTS, lambda way: peer_train.Bilinear(way, size=size), letters,
         torch.randint(0, 5, (peer_train.WORDS,))),
        ("reflections, n = 32", SYSTEMS + kernels, lambda way: ReflectionsByKernels(way, letters=121, labels=120, mlp=False), every,
         torch.randint(0, 120, every.shape).view(-1)),
    ]
    for name, ways, make, words, targets in subjects:
        weights = make(ways[0]).state_dict()
        answers = None
        for way in ways:
            for compiled in (False, True) if way not in kernels else (False,):
                title = way + (", compiled" if compiled else "") + ("" if small else ", in a CUDA graph")
                try:
                    torch._dynamo.reset()
                    model = make(way)
                    model.load_state_dict(weights)
                    said = model(model.prepare(words)).detach()
                    answers = said if answers is None else answers
                    loose = 0.05 if "bf16" in way else 2e-3
                    torch.testing.assert_close(said, answers, rtol=loose, atol=loose / 4)
                    rate = 1 / step_seconds(model, words, targets, device, clock, compiled)
                except Exception as error:  # a compiler that is absent, a kernel that refuses
                    print(f"{name}, {title}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                    continue
                tell(name, title, rate, "steps/s")
                rates[name] = max(rates.get(name, 0), rate)


def main():
    krohn, file = sys.argv[1:3]
    device = "cpu" if sys.argv[3:] == ["--device", "cpu"] else "cuda"
    torch.set_default_device(device)
    torch.manual_seed(1)
    if device == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = False
        peer_pytorch.WORDS, peer_pytorch.LENGTH = 1 << 18, 200
    else:
        peer_pytorch.WORDS, peer_pytorch.LENGTH = 32, 20
    clock, rates = Clock(device), {}
    training_rates(device, clock, rates)
    network_rates(krohn, device, clock, rates)
    about = torch.cuda.get_device_name() if device == "cuda" else "the processor, few words and small models"
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"torch": torch.__version__, "device": about, "rates": rates}, out, indent=2)


if __name__ == "__main__":
    main()
