"""A checkpoint that `krohn compile --target fla-…` wrote, in plain PyTorch: the recurrences are flash-linear-attention's
own naive.py, everything around them is written out as its layers have it. For peer_targets.py and peer_emulation.py."""
import json
import os
import pathlib

os.environ.setdefault("TRITON_INTERPRET", "1")  # so that the library imports without a GPU; no kernel of it runs here

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from fla.ops.delta_rule.naive import delta_rule_chunkwise, delta_rule_recurrence  # noqa: E402
from fla.ops.gated_delta_product.naive import naive_recurrent_gated_delta_product  # noqa: E402
from fla.ops.gated_delta_rule.naive import naive_recurrent_gated_delta_rule  # noqa: E402
from fla.ops.gdn2.naive import naive_recurrent_gdn2  # noqa: E402
from fla.ops.kda.naive import naive_recurrent_kda  # noqa: E402
from safetensors.torch import load_file  # noqa: E402


def norm(x, weight, epsilon):
    return x * (1 / torch.sqrt(x.square().mean(-1, keepdim=True) + epsilon)) * weight


def unit(x):
    return x * (1 / torch.sqrt(x.square().sum(-1, keepdim=True) + 1e-6))


class NaiveCheckpoint:
    """fp32. Reads words in segments, so that memory does not grow with their length. With `chunked`, for DeltaNet, by
    naive.py's chunkwise form: whole words of a multiple of 64 tokens at once."""

    def __init__(self, folder, chunked=False):
        folder = pathlib.Path(folder)
        self.chunked = chunked
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = load_file(folder / "model.safetensors")
        self.type = self.config["model_type"]
        self.is_product = self.type == "gated_deltaproduct"
        self.heads = self.config["num_heads"]
        self.householders = self.config.get("num_householder", 1)
        self.layers = self.config["num_hidden_layers"]

    def convolve(self, name, x, memory):
        """Depthwise, causal; the last tap is the present token's. `memory` holds the rows of the tokens before."""
        weight = self.weights[name + ".weight"][:, 0]
        taps = weight.shape[1]
        before = memory.get(name, x.new_zeros(x.shape[0], taps - 1, x.shape[2]))
        rows = torch.cat([before, x], 1)
        memory[name] = rows[:, rows.shape[1] - (taps - 1):]
        return sum(rows[:, tap:tap + x.shape[1]] * weight[:, tap] for tap in range(taps))

    def mix(self, layer, x, memory):
        batch, length, _ = x.shape
        name = f"model.layers.{layer}.attn."
        parts = {}
        for part in ("q", "k", "v"):
            parts[part] = F.linear(x, self.weights[f"{name}{part}_proj.weight"])
            if self.config["use_short_conv"]:
                parts[part] = self.convolve(f"{name}{part}_conv1d", parts[part], memory)
            if part == "v" or self.config.get("qk_activation", "silu") == "silu":
                parts[part] = F.silu(parts[part])
        beta = torch.sigmoid(F.linear(x, self.weights[name + "b_proj.weight"]))
        if self.config["allow_neg_eigval"]:
            beta = beta * 2
        if self.type in ("gated_deltanet", "kda", "gdn2"):
            return self.mix_gated(name, x, parts, beta, memory)
        n, heads = self.householders, self.heads
        q = unit(parts["q"].view(batch, length, heads, -1))
        k = unit(parts["k"].view(batch, length, n, heads, -1))
        v = parts["v"].view(batch, length, n, heads, -1)
        state = memory.get(name)
        if self.is_product:
            o, state = naive_recurrent_gated_delta_product(
                q, k.flatten(1, 2), v.flatten(1, 2), None, beta.view(batch, length * n, heads), q.shape[-1] ** -0.5,
                initial_state=state, num_householder=n)
        elif self.chunked:
            o, state = delta_rule_chunkwise(q.transpose(1, 2), k[:, :, 0].transpose(1, 2), v[:, :, 0].transpose(1, 2),
                                            beta.transpose(1, 2), chunk_size=64)
            o = o.transpose(1, 2)
        else:
            o, state = delta_rule_recurrence(q.transpose(1, 2), k[:, :, 0].transpose(1, 2), v[:, :, 0].transpose(1, 2),
                                             beta.transpose(1, 2), initial_state=state)
            o = o.transpose(1, 2)
        memory[name] = state
        o = norm(o, self.weights[name + "o_norm.weight"], self.config["norm_eps"])
        return F.linear(o.flatten(2), self.weights[name + "o_proj.weight"])

    def mix_gated(self, name, x, parts, beta, memory):
        """Layers that forget: the gates as the layer's module has them, the recurrence of naive.py."""
        batch, length, _ = x.shape

        def heads(rows):
            return rows.view(batch, length, self.heads, -1)

        def low_rank(part):
            inner = F.linear(x, self.weights[f"{name}{part}_proj.0.weight"])
            return F.linear(inner, self.weights[f"{name}{part}_proj.1.weight"],
                            self.weights.get(f"{name}{part}_proj.1.bias"))

        q, k, v = unit(heads(parts["q"])), unit(heads(parts["k"])), heads(parts["v"])
        rate, bias = self.weights[name + "A_log"].exp(), self.weights[name + "dt_bias"]
        keywords = {"initial_state": memory.get(name), "output_final_state": True}
        if self.type == "gated_deltanet":
            g = -rate * F.softplus(F.linear(x, self.weights[name + "a_proj.weight"]) + bias)
            o, state = naive_recurrent_gated_delta_rule(q, k, v, beta, g, **keywords)
        else:
            g = -rate[:, None] * F.softplus(heads(low_rank("f") + bias))
            if self.type == "kda":
                o, state = naive_recurrent_kda(q, k, v, g, beta, **keywords)
            else:
                w = heads(torch.sigmoid(F.linear(x, self.weights[name + "w_proj.weight"])))
                o, state = naive_recurrent_gdn2(q, k, v, g, heads(beta), w, **keywords)
        memory[name] = state
        o = norm(o, self.weights[name + "o_norm.weight"], self.config["norm_eps"])
        if self.type != "gated_deltanet":
            o = o * torch.sigmoid(heads(low_rank("g")))
        elif self.config["use_gate"]:
            o = o * F.silu(heads(F.linear(x, self.weights[name + "g_proj.weight"])))
        return F.linear(o.flatten(2), self.weights[name + "o_proj.weight"])

    @torch.no_grad()
    def logits(self, tokens, memory=None):
        """tokens: [batch, length]. Returns [batch, length, vocabulary]; `memory` (a dict) goes on from where it stopped."""
        memory = {} if memory is None else memory
        epsilon = self.config["norm_eps"]
        x = self.weights["model.embeddings.weight"][tokens]
        for layer in range(self.layers):
            name = f"model.layers.{layer}."
            x = x + self.mix(layer, norm(x, self.weights[name + "attn_norm.weight"], epsilon), memory)
            y = norm(x, self.weights[name + "mlp_norm.weight"], epsilon)
            gate = F.silu(F.linear(y, self.weights[name + "mlp.gate_proj.weight"]))
            x = x + F.linear(gate * F.linear(y, self.weights[name + "mlp.up_proj.weight"]),
                             self.weights[name + "mlp.down_proj.weight"])
        return F.linear(norm(x, self.weights["model.norm.weight"], epsilon), self.weights["lm_head.weight"])

    def answers(self, tokens, segment=64):
        """The arg max after every token."""
        memory = {}
        return torch.cat([self.logits(part, memory).argmax(-1) for part in tokens.split(segment, 1)], 1)
