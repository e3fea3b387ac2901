"""The layers of other libraries in NumPy, in the arithmetic that krohn states for them (simulate/models/stock/): every
product and every sum rounded to fp32 by itself, sums from the first term to the last, functions computed in double and
rounded once. From the tensors as their libraries name them, with none of krohn's code."""
import numpy as np

F = np.float32


def of_double(function):
    return lambda x: F(function(np.asarray(x, np.float64)))


exp, tanh = of_double(np.exp), of_double(np.tanh)
sigmoid = of_double(lambda x: 1 / (1 + np.exp(-x)))
log_sigmoid = of_double(lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))))


def softplus(x):
    return np.where(x > 20, x, F(np.log1p(np.exp(np.minimum(np.asarray(x, np.float64), 20)))))


def silu(x):
    return x * sigmoid(x)


def total(terms, start=F(0)):
    """Along the first axis, one after another."""
    for term in terms:
        start = start + term
    return start


def linear(x, weight, bias=None):
    start = np.zeros(len(weight), F) if bias is None else bias
    return total((weight[:, i] * x[i] for i in range(len(x))), start)


def rms_norm(x, gain, epsilon, width=None):
    rows = x.reshape(-1, width or len(x))
    scale = F(1) / np.sqrt(total(rows.T * rows.T) / F(rows.shape[1]) + F(epsilon))
    scaled = (rows * scale[:, None]).reshape(-1)
    return scaled * np.resize(gain, len(x))


def layer_norm(x, gain, epsilon, width):
    rows = x.reshape(-1, width)
    rows = rows - (total(rows.T) / F(width))[:, None]
    scale = F(1) / np.sqrt(total(rows.T * rows.T) / F(width) + F(epsilon))
    return (rows * scale[:, None]).reshape(-1) * gain


class Convolution:
    """Convolves every channel by itself; the last tap is the present token's."""

    def __init__(self, taps, bias=None):
        self.taps, self.bias = taps.reshape(len(taps), -1), bias
        self.rows = [np.zeros(len(taps), F)] * self.taps.shape[1]

    def __call__(self, x):
        self.rows = [*self.rows[1:], x]
        start = np.zeros(len(x), F) if self.bias is None else self.bias
        return total((self.taps[:, i] * row for i, row in enumerate(self.rows)), start)


class Mamba:
    def __init__(self, t):
        self.t, self.convolution = t, Convolution(t["conv1d.weight"], t.get("conv1d.bias"))
        self.h = np.zeros(t["A_log"].shape, F)

    def __call__(self, x):
        t, (inner, states) = self.t, self.h.shape
        u, z = np.split(linear(x, t["in_proj.weight"], t.get("in_proj.bias")), 2)
        u = silu(self.convolution(u))
        rank = t["dt_proj.weight"].shape[1]
        delta, b, c = np.split(linear(u, t["x_proj.weight"]), [rank, rank + states])
        step = softplus(linear(delta, t["dt_proj.weight"], t["dt_proj.bias"]))[:, None]
        self.h = exp(step * -exp(t["A_log"])) * self.h + step * b * u[:, None]
        y = (total((self.h * c).T) + t["D"] * u) * silu(z)
        return linear(y, t["out_proj.weight"], t.get("out_proj.bias"))


class Mamba2:
    def __init__(self, t, groups):
        self.t, self.groups = t, groups
        self.heads, self.inner = len(t["A_log"]), len(t["norm.weight"])
        self.states = (len(t["conv1d.weight"]) - self.inner) // (2 * groups)
        self.convolution = Convolution(t["conv1d.weight"], t.get("conv1d.bias"))
        self.s = np.zeros((self.heads, self.inner // self.heads, self.states), F)

    def __call__(self, x):
        t, heads, inner, across = self.t, self.heads, self.inner, self.groups * self.states
        z, convolved, delta = np.split(linear(x, t["in_proj.weight"], t.get("in_proj.bias")), [inner, inner * 2 + 2 * across])
        u, b, c = np.split(silu(self.convolution(convolved)), [inner, inner + across])
        b, c = (np.repeat(each.reshape(self.groups, -1), heads // self.groups, 0)[:, None] for each in (b, c))
        u = u.reshape(heads, -1)
        step = softplus(delta + t["dt_bias"])
        self.s = self.s * exp(step * -exp(t["A_log"]))[:, None, None] + step[:, None, None] * b * u[..., None]
        y = total(np.moveaxis(self.s * c, -1, 0)) + u * t["D"][:, None]
        y = rms_norm(y.reshape(-1) * silu(z), t["norm.weight"], 1e-5, inner // self.groups)
        return linear(y, t["out_proj.weight"], t.get("out_proj.bias"))


class Delta:
    def __init__(self, t, heads, negative=False):
        self.t, self.heads, self.factor = t, heads, F(2) if negative else F(1)
        taps = [t["conv1d.weight"]] if "conv1d.weight" in t else [t[f"{each}_conv1d.weight"] for each in "qkv"]
        self.convolution = Convolution(np.concatenate(taps))
        self.keys, self.values = len(t["q_proj.weight"]) // heads, t["o_proj.weight"].shape[1] // heads
        self.s = np.zeros((heads, self.keys, self.values), F)

    def unit(self, rows):
        rows = rows.reshape(-1, self.heads, self.keys)
        scale = F(1) / np.sqrt(total(np.moveaxis(rows * rows, -1, 0)) + F(1e-6))
        return rows * scale[..., None]

    def __call__(self, x):
        t, ends = self.t, np.cumsum([len(self.t[f"{each}_proj.weight"]) for each in "qk"])
        q, k, v = np.split(silu(self.convolution(np.concatenate([linear(x, t[f"{e}_proj.weight"]) for e in "qkv"]))), ends)
        q, k, v = self.unit(q)[0] / np.sqrt(F(self.keys)), self.unit(k), v.reshape(-1, self.heads, self.values)
        beta = (sigmoid(linear(x, t["b_proj.weight"])) * self.factor).reshape(-1, self.heads)
        if "a_proj.weight" in t:
            decay = exp(-exp(t["A_log"]) * softplus(linear(x, t["a_proj.weight"]) + t["dt_bias"]))
            self.s = self.s * decay[:, None, None]
        for j in range(len(k)):
            seen = total(np.moveaxis(self.s * k[j][..., None], 1, 0))
            self.s = self.s + k[j][..., None] * ((v[j] - seen) * beta[j][:, None])[:, None]
        read = total(np.moveaxis(self.s * q[..., None], 1, 0)).reshape(-1)
        read = rms_norm(read, t["o_norm.weight"], 1e-5, self.values)
        if "g_proj.weight" in t:
            read = read * silu(linear(x, t["g_proj.weight"]))
        return linear(read, t["o_proj.weight"])


class Gla:
    def __init__(self, t):
        self.t, self.values = t, len(t["g_norm_swish_gate.weight"])
        self.heads = t["o_proj.weight"].shape[1] // self.values
        self.s = np.zeros((self.heads, len(t["q_proj.weight"]) // self.heads, self.values), F)

    def __call__(self, x):
        t, shape = self.t, self.s.shape
        q, k, v, g = (linear(x, t[f"{each}_proj.weight"]) for each in "qkvg")
        gates = linear(linear(x, t["gk_proj.0.weight"]), t["gk_proj.1.weight"], t["gk_proj.1.bias"])
        q = (q * (F(1) / np.sqrt(F(shape[1])))).reshape(shape[:2])
        decay = exp(log_sigmoid(gates) / F(16)).reshape(shape[:2])
        self.s = self.s * decay[..., None] + k.reshape(shape[:2])[..., None] * v.reshape(self.heads, 1, -1)
        read = total(np.moveaxis(self.s * q[..., None], 1, 0)).reshape(-1)
        return linear(rms_norm(read, t["g_norm_swish_gate.weight"], 1e-5, self.values) * silu(g), t["o_proj.weight"])


class Mlstm:
    def __init__(self, t):
        self.t, self.heads = t, len(t["igate_preact.bias"])
        keys, values = (len(t[f"{each}.weight"]) // self.heads for each in "qv")
        self.c, self.n = np.zeros((self.heads, keys, values), F), np.zeros((self.heads, keys), F)
        self.m = np.zeros(self.heads, F)

    def __call__(self, x):
        t, keys = self.t, self.n.shape[1]
        q, k, v = (linear(x, t[f"{each}.weight"]).reshape(self.heads, -1) for each in "qkv")
        i, f = (F(15) * tanh(linear(x, t[f"{each}gate_preact.weight"], t[f"{each}gate_preact.bias"]) / F(15)) for each in "if")
        older = log_sigmoid(f) + self.m
        self.m = np.maximum(older, i)
        kept, taken = exp(older - self.m), exp(i - self.m)
        q = q * (F(1) / np.sqrt(F(keys)))
        self.c = kept[:, None, None] * self.c + taken[:, None, None] * (k[..., None] * v[:, None])
        self.n = kept[:, None] * self.n + taken[:, None] * k
        divisor = np.maximum(np.abs(total((q * self.n).T)), exp(-self.m)) + F(1e-6)
        read = (total(np.moveaxis(q[..., None] * self.c, 1, 0)) / divisor[:, None]).reshape(-1)
        read = layer_norm(read, t["multihead_norm.weight"], 1e-6, len(read) // self.heads)
        return linear(sigmoid(linear(x, t["ogate_preact.weight"])) * read, t["out_proj.weight"])


class Slstm:
    def __init__(self, t):
        self.t, (self.heads, _, self.size) = t, t["slstm_cell._recurrent_kernel_"].shape
        self.convolution = Convolution(t["conv1d.conv.weight"], t["conv1d.conv.bias"])
        self.y, self.c, self.n, self.m = np.zeros((4, self.heads * self.size), F)

    def blocks(self, x, weights):
        return np.concatenate([linear(part, weight) for part, weight in zip(x.reshape(self.heads, -1), weights)])

    def __call__(self, x):
        t, u = self.t, silu(self.convolution(x))
        kernel = t["slstm_cell._recurrent_kernel_"].reshape(self.heads, 4, self.size, self.size)
        raw = [self.blocks(given, t[f"{name}gate.weight"]) + self.blocks(self.y, kernel[:, gate])
               for gate, (name, given) in enumerate(zip("fizo", (u, u, x, x)))]
        i, f, z, o = np.stack(raw) + t["slstm_cell._bias_"].reshape(4, -1)
        older = self.m + log_sigmoid(f)
        self.m = np.where(self.n == 0, i, np.maximum(i, older))
        taken, kept = np.minimum(exp(i - self.m), F(1)), np.minimum(exp(older - self.m), F(1))
        self.c = kept * self.c + taken * tanh(z)
        self.n = kept * self.n + taken
        self.y = sigmoid(o) * self.c / self.n
        return layer_norm(self.y, F(1) + t["group_norm.weight"], 1e-5, self.size)


class M2rnn:
    """Queries and keys are those of one head, which all share."""

    def __init__(self, t):
        self.t, (self.heads, self.values, _) = t, t["state_weight"].shape
        wide = len(t["conv1d.weight"])
        self.keys, self.convolution = (wide - self.heads * self.values) // 2, Convolution(t["conv1d.weight"])
        self.h = np.zeros((self.heads, self.keys, self.values), F)

    def __call__(self, x):
        t, heads, keys = self.t, self.heads, self.keys
        rows, f, g = np.split(linear(x, t["input_projection.weight"]), np.cumsum([len(t["conv1d.weight"]), heads]))
        q, k, v = np.split(silu(self.convolution(rows)), [keys, 2 * keys])
        v = v.reshape(heads, -1)
        f = exp(-exp(t["decay_gate.A_log"]) * softplus(f + t["decay_gate.dt_bias"]))[:, None, None]
        moved = total(self.h[:, :, i, None] * t["state_weight"][:, None, i] for i in range(self.values))
        self.h = self.h * f + tanh(moved + k[None, :, None] * v[:, None]) * (F(1) - f)
        y = total(self.h[:, i] * q[i] for i in range(keys)) + v * t["D"]
        return linear(rms_norm(y.reshape(-1) * silu(g), t["g_norm.weight"], 1e-5), t["output_projection.weight"])


class Rwkv7:
    def __init__(self, t):
        self.t, (self.heads, keys) = t, t["r_k"].shape
        self.before = np.zeros(t["r_proj.weight"].shape[1], F)
        self.s = np.zeros((self.heads, keys, len(t["v_proj.weight"]) // self.heads), F)

    def low_rank(self, name, x, activation=lambda x: x):
        first, second = self.t[f"{name}_lora.lora.0.weight"], self.t[f"{name}_lora.lora.2.weight"]
        return linear(activation(linear(x, first)), second, self.t.get(f"{name}_lora.lora.2.bias"))

    def __call__(self, x):
        t, heads = self.t, self.heads
        mixed = {each: x + (self.before - x) * t[f"x_{each}"].reshape(-1) for each in "rwkvag"}
        self.before = x
        r, k, v = (linear(mixed[each], t[f"{each}_proj.weight"]) for each in "rkv")
        decay = exp(F(-0.6065306597126334) * sigmoid(self.low_rank("w", mixed["w"], tanh))).reshape(heads, -1, 1)
        rate, gate = sigmoid(self.low_rank("a", mixed["a"])), self.low_rank("g", mixed["g"], sigmoid)
        away = (k * t["k_k"]).reshape(heads, -1)
        away = away / np.maximum(np.sqrt(total((away * away).T)), F(1e-12))[:, None]
        k = k + k * (rate - F(1)) * t["k_a"]
        r, k, v, rate = (each.reshape(heads, -1) for each in (r, k, v, rate))
        seen = total(np.moveaxis(away[..., None] * self.s, 1, 0))
        self.s = (decay * self.s - (away * rate)[..., None] * seen[:, None]) + k[..., None] * v[:, None]
        read = total(np.moveaxis(self.s * r[..., None], 1, 0)).reshape(-1)
        read = layer_norm(read, t["g_norm.weight"], r.shape[1] * 1e-5, v.shape[1]) + t["g_norm.bias"]
        bonus = (total((r * k * t["r_k"]).T)[:, None] * v).reshape(-1)
        return linear((read + bonus) * gate, t["o_proj.weight"])


class Bilinear:
    """As simulate/learned/model_operations.cpp: the letter's matrix first, and then its product with the state."""

    def __init__(self, t):
        self.t, self.h = t, np.zeros(len(t["bias"]), F)

    def __call__(self, x):
        weight = self.t["weight"]  # [H, H, D]
        matrix = total(weight[..., d] * x[d] for d in range(len(x)))
        self.h = linear(self.h, matrix) + self.t["bias"]
        return self.h


def part(tensors, prefix):
    return {name[len(prefix):]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


class Model:
    """By the kind's name. `read` takes a letter and gives the logits."""

    LAYERS = {"mamba": Mamba, "mamba2": lambda t: Mamba2(t, 2), "mlstm": Mlstm, "slstm": Slstm, "bilinear": Bilinear,
              "deltanet": lambda t: Delta(t, 2), "deltaproduct": lambda t: Delta(t, 2, True),
              "gated-deltanet": lambda t: Delta(t, 2, True), "gla": Gla, "rwkv7": Rwkv7, "m2rnn": M2rnn}

    def __init__(self, kind, tensors):
        self.tensors, self.blocks = tensors, []
        make = self.LAYERS[kind]
        if kind not in ("mamba", "mamba2", "mlstm"):
            self.layer = make(part(tensors, "bilinear." if kind == "bilinear" else "layer."))
            return
        self.epsilon = 1e-6 if kind == "mlstm" else 1e-5
        mixer, stem = ("mlstm_layer.", "backbone.blocks.") if kind == "mlstm" else ("mixer.", "backbone.layers.")
        for number in range(2):
            block = part(tensors, f"{stem}{number}.")
            self.blocks.append((block, make(part(block, mixer))))

    def read(self, letter):
        t = self.tensors
        if not self.blocks:
            return linear(self.layer(t["embed.weight"][letter]), t["head.weight"], t["head.bias"])
        x = t["backbone.embeddings.weight"][letter]
        for block, layer in self.blocks:
            x = x + layer(rms_norm(x, block.get("norm.weight", block.get("norm_mlstm.weight")), self.epsilon))
            if "norm_ffn.weight" in block:
                y = rms_norm(x, block["norm_ffn.weight"], self.epsilon)
                units = silu(linear(y, block["ffn.proj_up_gate.weight"])) * linear(y, block["ffn.proj_up.weight"])
                x = x + linear(units, block["ffn.proj_down.weight"])
        is_mlstm = "backbone.out_norm.weight" in t
        x = rms_norm(x, t["backbone.out_norm.weight" if is_mlstm else "backbone.norm_f.weight"], self.epsilon)
        logits = linear(x, t["lm_head.weight"][:2])
        return F(30) * tanh(logits / F(30)) if is_mlstm else logits


def logits_of(kind, tensors, words):
    """After every letter of every word."""
    rows = []
    with np.errstate(over="ignore"):
        for word in words:
            model = Model(kind, tensors)
            rows.append([model.read(letter) for letter in word])
    return np.array(rows)
