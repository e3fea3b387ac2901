#!/usr/bin/env python3
"""Models of other libraries, imported by their weights (docs/verify.md), beside the libraries themselves: every answer of
`krohn run FOLDER --trace` is compared with the library's, on words of random letters.

    pip install torch transformers flash-linear-attention xlstm safetensors
    tools/bench/peer_imports.py                                    # every kind, as it begins and after some training
    tools/bench/peer_imports.py mamba slstm --steps 0 --words 64 --length 500
    tools/bench/peer_imports.py --golden tests/data/stock          # writes the small models that the tests read
    tools/bench/peer_imports.py --targets                          # exact layers of `krohn compile`, in the libraries

One line a model: answers compared, answers that differ, how many of the library's are right, and the least difference of its
two logits. Layers of
flash-linear-attention run in Triton's interpreter where there is no GPU, which is slow: their words are shorter.
transformers takes those kernels for gated-deltanet where it finds them: run that kind where flash-linear-attention is not
installed. Exit status: 0 when no answer differs, 1 otherwise."""
import argparse
import json
import pathlib
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402
from peers import ROOT, kernel_device, krohn  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

kernel_device()
LANGUAGE, LETTERS = "regex:(a|b|c)*a(b|c)", "abc"


class Layered(torch.nn.Module):
    """A layer between an embedding and a read-out. `unwrap` takes what the layer gives to its output."""

    def __init__(self, layer, width, unwrap=lambda given: given):
        super().__init__()
        self.embed = torch.nn.Embedding(len(LETTERS), width)
        self.layer = layer
        self.head = torch.nn.Linear(width, 2)
        self.unwrap = unwrap

    def forward(self, words):
        return self.head(self.unwrap(self.layer(self.embed(words))))


class Bilinear(torch.nn.Module):
    """h <- torch.nn.Bilinear(h, x), from h0."""

    def __init__(self, hidden, width):
        super().__init__()
        self.embed = torch.nn.Embedding(len(LETTERS), width)
        self.bilinear = torch.nn.Bilinear(hidden, width, hidden)
        self.head = torch.nn.Linear(hidden, 2)

    def forward(self, words):
        state = torch.zeros(len(words), self.bilinear.out_features)
        states = []
        for letters in words.T:
            state = self.bilinear(state, self.embed(letters))
            states.append(state)
        return self.head(torch.stack(states, 1))


def mamba(size):
    from transformers import MambaConfig, MambaForCausalLM
    return MambaForCausalLM(MambaConfig(
        vocab_size=len(LETTERS), hidden_size=size, state_size=4, num_hidden_layers=2, time_step_rank=2,
        tie_word_embeddings=False)), []


def mamba2(size):
    from transformers import Mamba2Config, Mamba2ForCausalLM
    return Mamba2ForCausalLM(Mamba2Config(
        vocab_size=len(LETTERS), hidden_size=size, state_size=4, num_hidden_layers=2, num_heads=4, head_dim=size // 2,
        n_groups=2, tie_word_embeddings=False)), ["--with", "groups=2"]


def mlstm(size):
    import transformers.utils
    transformers.utils.is_xlstm_available = lambda: False  # transformers' own layers in torch, and no kernels
    from transformers import xLSTMConfig, xLSTMForCausalLM
    return xLSTMForCausalLM(xLSTMConfig(
        vocab_size=len(LETTERS), hidden_size=size, embedding_dim=size, num_hidden_layers=2, num_blocks=2, num_heads=2,
        qk_dim_factor=0.5, v_dim_factor=1.0, use_cache=False, ffn_round_up_to_multiple_of=4,
        ffn_proj_factor=1.5, chunk_size=16, tie_word_embeddings=False)), []


def slstm(size):
    from xlstm.blocks.slstm.layer import sLSTMLayer, sLSTMLayerConfig
    layer = sLSTMLayer(sLSTMLayerConfig(embedding_dim=size, num_heads=2, conv1d_kernel_size=3, backend="vanilla",
                                        recurrent_weight_init="standard", bias_init="standard", dtype="float32"))
    return Layered(layer, size), []


def gated_deltanet(size):
    from transformers import OlmoHybridConfig
    from transformers.models.olmo_hybrid.modeling_olmo_hybrid import OlmoHybridGatedDeltaNet
    layer = OlmoHybridGatedDeltaNet(OlmoHybridConfig(
        hidden_size=size, linear_num_value_heads=2, linear_num_key_heads=2, linear_key_head_dim=4, linear_value_head_dim=3,
        linear_conv_kernel_dim=3, linear_allow_neg_eigval=True), 0)
    return Layered(layer, size), ["--with", "heads=2,negative"]


def deltanet(size):
    from fla.layers import DeltaNet
    layer = DeltaNet(hidden_size=size, num_heads=2, use_short_conv=True, conv_size=3, mode="fused_recurrent")
    return Layered(layer, size, lambda given: given[0]), ["--with", "negative=0"]


def deltaproduct(size):
    from fla.layers import GatedDeltaProduct
    layer = GatedDeltaProduct(hidden_size=size, num_heads=2, head_dim=4, expand_v=1, num_householder=2, conv_size=3,
                              use_output_gate=True, use_forget_gate=True, allow_neg_eigval=True, mode="fused_recurrent")
    return Layered(layer, size, lambda given: given[0]), ["--with", "heads=2,negative"]


def gla(size):
    from fla.layers import GatedLinearAttention
    layer = GatedLinearAttention(hidden_size=size, num_heads=2, expand_k=0.5, expand_v=1.0, gate_low_rank_dim=3,
                                 mode="fused_recurrent")
    return Layered(layer, size, lambda given: given[0]), []


def rwkv7(size):
    from fla.layers import RWKV7Attention
    layer = RWKV7Attention(mode="fused_recurrent", hidden_size=size, head_dim=4, decay_low_rank_dim=3, gate_low_rank_dim=5,
                           a_low_rank_dim=2, v_low_rank_dim=2, layer_idx=0, num_hidden_layers=2)
    return Layered(layer, size, lambda given: given[0]), []


class M2rnn(torch.nn.Module):
    """lm-engine's module M2RNN, in its names, shapes and order of operations: the package is on no index. Queries and keys
    are those of one head."""

    def __init__(self, width, heads, keys, values, taps):
        super().__init__()
        self.sizes = [keys, keys, heads * values]
        wide = sum(self.sizes)
        self.split = [wide, heads, heads * values]
        self.input_projection = torch.nn.Linear(width, sum(self.split), bias=False)
        self.conv1d = torch.nn.Conv1d(wide, wide, taps, padding=taps - 1, groups=wide, bias=False)
        self.decay_gate = torch.nn.ParameterDict({"A_log": torch.rand(heads).log(), "dt_bias": torch.randn(heads)})
        self.state_weight = torch.nn.Parameter(torch.randn(heads, values, values))
        self.D = torch.nn.Parameter(torch.randn(heads, values))
        self.g_norm = torch.nn.RMSNorm(heads * values, eps=1e-5)
        self.output_projection = torch.nn.Linear(heads * values, width, bias=False)

    def forward(self, x):
        silu, length = torch.nn.functional.silu, x.shape[1]
        heads, values = self.D.shape
        x, f, g = self.input_projection(x).split(self.split, -1)
        f = (-self.decay_gate["A_log"].exp() * torch.nn.functional.softplus(f + self.decay_gate["dt_bias"])).exp()
        q, k, v = silu(self.conv1d(x.mT)[..., :length].mT).split(self.sizes, -1)
        v = v.unflatten(-1, (heads, values))
        state, read = torch.zeros(len(x), heads, q.shape[-1], values), []
        for t in range(length):
            forget = f[:, t, :, None, None]
            new = torch.tanh(state @ self.state_weight + k[:, t, None, :, None] * v[:, t, :, None, :])
            state = forget * state + (1 - forget) * new
            read.append((q[:, t, None, None, :] @ state).squeeze(-2))
        y = torch.stack(read, 1) + v * self.D
        return self.output_projection(self.g_norm(y.flatten(-2) * silu(g)))


def m2rnn(size):
    return Layered(M2rnn(size, 2, 3, size // 4, 3), size), ["--with", "q-heads=1,k-heads=1"]


def bilinear(size):
    return Bilinear(size // 2, size), []


KINDS = {"bilinear": bilinear, "mamba": mamba, "mamba2": mamba2, "mlstm": mlstm, "slstm": slstm,
         "gated-deltanet": gated_deltanet, "deltanet": deltanet, "deltaproduct": deltaproduct, "gla": gla, "rwkv7": rwkv7,
         "m2rnn": m2rnn}
ON_DEVICE = {"deltanet", "deltaproduct", "gla", "rwkv7"}  # kernels: without a GPU in Triton's interpreter, and not trained there


def make(kind, size, seed):
    torch.manual_seed(seed)
    model, options = KINDS[kind](size)
    with torch.no_grad():
        for parameter in model.parameters():  # those that begin as zeros or ones would hide a mistake
            parameter.add_(0.3 * torch.randn_like(parameter))
        if kind == "bilinear":
            model.bilinear.weight.mul_(0.3)  # or its states grow without bound
    return model.eval(), options


def logits_of(model, words):
    given = model(words)
    return given.logits if hasattr(given, "logits") else given


def automaton(language=LANGUAGE):
    return json.loads(krohn("convert", language, "-", "--to", "json"))


def labels_of(words, language):
    outputs = language.get("outputs") or [int(state in language["accepting"]) for state in range(language["states"])]
    outputs = torch.tensor(outputs)
    table = torch.tensor(language["transitions"])
    state, given = torch.full((len(words),), language["initial"]), []
    for letters in words.T:
        state = table[state, letters]
        given.append(outputs[state])
    return torch.stack(given, 1)


def train(model, kind, steps, language):
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3 if kind != "bilinear" else 3e-4)
    for _ in range(steps):
        words = torch.randint(len(LETTERS), (16, 16))
        loss = torch.nn.functional.cross_entropy(logits_of(model, words)[..., :2].flatten(0, 1),
                                                 labels_of(words, language).flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.eval()


def state_dict(model):
    return {name: tensor.detach().clone().contiguous() for name, tensor in model.state_dict().items()}


def import_model(model, kind, options, folder):
    save_file(state_dict(model), folder / "weights.safetensors")
    krohn("import", folder / "weights.safetensors", "--as", kind, "--against", LANGUAGE, "--letters", "a=0,b=1,c=2", "--classes",
          "reject=0,accept=1", *options, "-o", folder / "run")
    return folder / "run"


def answers_of(run, words):
    texts = ["".join(LETTERS[letter] for letter in word) for word in words.tolist()]
    rows = json.loads(krohn("run", run, *texts, "--trace", "--json", statuses=(0, 1)))["words"]
    number = {"reject": 0, "accept": 1, None: -1}
    return torch.tensor([[number[step["model"] and step["model"]["output"]] for step in row["trace"]] for row in rows])


def compare(kind, options, language):
    size, words = (8, options.words) if kind not in ON_DEVICE else (8, min(options.words, 8))
    length = options.length if kind not in ON_DEVICE else min(options.length, 40)
    compared = differing = 0
    for steps in sorted({0, 0 if kind in ON_DEVICE else options.steps}):
        model, flags = make(kind, size, options.seed)
        model = train(model, kind, steps, language)
        draw = torch.randint(len(LETTERS), (words, length))
        with torch.no_grad():
            logits = logits_of(model, draw)[..., :2].float()
        with tempfile.TemporaryDirectory() as folder:
            given = answers_of(import_model(model, kind, flags, pathlib.Path(folder)), draw)
        wanted = torch.where(logits.isfinite().all(-1) & (logits[..., 0] != logits[..., 1]), logits.argmax(-1), -1)
        wrong = given != wanted
        compared += wrong.numel()
        differing += int(wrong.sum())
        right = float((wanted == labels_of(draw, language)).float().mean())
        least = float((logits[..., 1] - logits[..., 0]).abs().min())
        print(f"{kind}, {steps} steps: {wrong.numel()} answers, {int(wrong.sum())} differ; the library's are right in "
              f"{right:.4f} and clear by at least {least:.1e}", flush=True)
    return compared, differing


def golden(folder, kinds):
    """Tensors, words, and after every letter the logits of the library and, bit by bit, those of the stated arithmetic."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    import stated_layers
    folder.mkdir(exist_ok=True, parents=True)
    for kind in kinds:
        model, _ = make(kind, 8, 1)
        words = torch.randint(len(LETTERS), (6, 40))
        with torch.no_grad():
            logits = logits_of(model, words)[..., :2].float().contiguous()
        tensors = state_dict(model)
        stated = torch.tensor(stated_layers.logits_of(kind, {name: each.numpy() for name, each in tensors.items()},
                                                      words.numpy()))
        assert stated.dtype == torch.float32
        save_file({**tensors, "words": words, "logits32": logits, "stated32": stated}, folder / f"{kind}.safetensors")
        print(f"{folder / kind}.safetensors: the stated logits differ from the library's by at most "
              f"{float((stated - logits).abs().max()):.1e}, logits up to {float(logits.abs().max()):.1f}")


class Tracker(torch.nn.Module):
    """The models whose state dicts `krohn compile --target transformers-mamba2` and its kin write (docs/verify.md)."""

    def __init__(self, layer, letters, width, labels):
        super().__init__()
        self.embedding = torch.nn.Embedding(letters, width)
        self.layers = torch.nn.ModuleList([torch.nn.ModuleDict({"mixer": layer})])
        self.head = torch.nn.Linear(width, labels)

    def forward(self, words, unwrap):
        return self.head(unwrap(self.layers[0]["mixer"](self.embedding(words))))

    def by_step(self, words):
        """One token at a time, with the layer's own cache."""
        layer, state, rows = self.layers[0]["mixer"], None, []
        for letters in words.T:
            x = self.embedding(letters)[:, None]
            if hasattr(layer, "mlstm_backend"):
                y, state = layer(x, state)
            elif hasattr(layer, "slstm_cell"):
                y, last = layer(x, **(state or {}), return_last_state=True)
                state = {"slstm_state": last["slstm_state"]}
            else:
                if state is None:
                    from transformers import DynamicCache
                    state = DynamicCache(config=layer.config_for_cache)
                y = layer(x, cache_params=state)
            rows.append(self.head(y)[:, 0])
        return torch.stack(rows, 1)


def exact_layer(target, width):
    if target == "xlstm-slstm":
        from xlstm.blocks.slstm.layer import sLSTMLayer, sLSTMLayerConfig
        return sLSTMLayer(sLSTMLayerConfig(embedding_dim=width, num_heads=1, conv1d_kernel_size=0, backend="vanilla",
                                           dtype="float32")), lambda given: given
    if target == "transformers-mamba2":
        from transformers import Mamba2Config
        from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer
        config = Mamba2Config(hidden_size=width, expand=1, num_heads=width, head_dim=1, state_size=1, n_groups=1,
                              num_hidden_layers=1)
        layer = Mamba2Mixer(config, 0)
        layer.config_for_cache = config
        return layer, lambda given: given
    import transformers.utils
    transformers.utils.is_xlstm_available = lambda: False
    from transformers import xLSTMConfig
    from transformers.models.xlstm.modeling_xlstm import xLSTMLayer
    return xLSTMLayer(xLSTMConfig(hidden_size=width, embedding_dim=width, num_heads=1, qk_dim_factor=1.0, v_dim_factor=1.0,
                                  num_hidden_layers=1, num_blocks=1)), lambda given: given[0]


def targets(options):
    """Answers of the libraries' own layers with krohn's weights, against the automaton."""
    from safetensors.torch import load_file
    wrong = 0
    for target, languages in (("xlstm-slstm", ["name:S3", "regex:(a|b)*abb"]),
                              ("transformers-mamba2", ["name:tomita1", "regex:(a|b|c)*(a|b)c*"]),
                              ("transformers-mlstm", ["name:tomita1", "regex:(a|b|c)*(a|b)c*"])):
        for language in languages:
            with tempfile.TemporaryDirectory() as folder:
                krohn("compile", language, "--target", target, "-o", folder + "/run")
                weights = load_file(folder + "/run/parameters.safetensors")
            letters, width = weights["embedding.weight"].shape
            layer, unwrap = exact_layer(target, width)
            tracker = Tracker(layer, letters, width, len(weights["head.bias"]))
            tracker.load_state_dict(weights)
            tracker.eval()
            words = torch.randint(letters, (options.words, options.length))
            words[0] = words[0].clamp(max=0)  # one letter all the way
            words[1, 1:] = letters - 1
            wanted = labels_of(words, automaton(language))
            with torch.no_grad():
                for way, logits in (("whole", tracker(words, unwrap)), ("by step", tracker.by_step(words))):
                    differing = int((logits.argmax(-1) != wanted).sum())
                    wrong += differing
                    print(f"{target}, {language}, {way}: {wanted.numel() - differing} right of {wanted.numel()}",
                          flush=True)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--golden", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--targets", action="store_true")
    parser.add_argument("--words", type=int, default=64)
    parser.add_argument("--length", type=int, default=500)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    kinds = options.kinds or list(KINDS)
    if options.golden:
        golden(options.golden, kinds)
        return 0
    if options.targets:
        return targets(options)
    language = automaton()
    counts = [compare(kind, options, language) for kind in kinds]
    print(f"{sum(each for each, _ in counts)} answers, {sum(wrong for _, wrong in counts)} differ")
    return 1 if any(wrong for _, wrong in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
