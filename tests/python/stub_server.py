"""A STUB: a server of the OpenAI protocol for tests of the kit's runner, not a runtime that anybody would serve with. It computes
the kit's models of one layer with NumPy, token by token, and keeps states as servers do: a ring of inputs beside the state that is
written, a cache of prefixes, drafts. Each of these can be wrong on purpose, by the name of a fault."""

import contextlib
import http.server
import json
import pathlib
import threading

import numpy as np

FAULTS = {
    "flush-lost": "a ring of inputs whose flush is lost",
    "flush-twice": "a ring of inputs whose flush is made twice",
    "flush-to-older": "a ring of inputs whose flush is added to an older state",
    "draft-flushed": "a draft that was given up",
    "cache-without-ring": "a ring of inputs that is not copied with the state",
    "padding-later": "padding, read as text",
    "padding-of-one": "padding, read as text",
    "beta-decode": "whose β bf16 does not have",
    "beta-prompt": "whose β bf16 does not have",
    "neighbour": "a stranger's",
}
"""Name -> a part of what the kit has to say of it."""
RING, BUCKET, PADDING = 16, 16, 0


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -80, 80, dtype=np.float32)))


def silu(x):
    return x * sigmoid(x)


def in_bf16(x):
    bits = np.asarray(x, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


class Model:
    """Olmo Hybrid's layer, or Qwen3-Next's; the attention layer behind it is zero."""

    def __init__(self, folder):
        data = (folder / "model.safetensors").read_bytes()
        size = int.from_bytes(data[:8], "little")
        self.w = {name: np.frombuffer(data[8 + size :][slice(*about["data_offsets"])], "<f4").reshape(about["shape"])
                  for name, about in json.loads(data[8 : 8 + size]).items() if name != "__metadata__"}
        config = json.loads((folder / "config.json").read_text())
        self.heads, self.keys, self.values = (config[f"linear_{name}"] for name in (
            "num_value_heads", "key_head_dim", "value_head_dim"))
        self.is_qwen = config["model_type"] == "qwen3_next"
        self.known = {}
        self.mixer = {name.rpartition("linear_attn.")[2]: value for name, value in self.w.items() if "linear_attn" in name}

    def empty(self):
        return np.zeros((3, self.heads * (2 * self.keys + self.values)), np.float32), np.zeros(
            (self.heads, self.keys, self.values), np.float32)

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean() + np.float32(1e-6)) * (self.w[name] + self.is_qwen)

    def inputs(self, token, convolution):
        """What a token writes, and how it is read; the convolution's new state. Few tokens come in few orders: each is computed once."""
        key = token, convolution.tobytes()
        if key not in self.known:
            self.known[key] = self.new_inputs(token, convolution)
        return self.known[key]

    def new_inputs(self, token, convolution):
        h, k, v, m = self.heads, self.keys, self.values, self.mixer
        x = self.w["model.embed_tokens.weight"][token]
        a = self.norm(x, "model.layers.0.input_layernorm.weight")
        if self.is_qwen:
            parts = np.split((m["in_proj_qkvz.weight"] @ a).reshape(h, -1), [k, 2 * k, 2 * k + v], axis=1)
            *qkv, gate = (part.ravel() for part in parts)
            beta, decay = (m["in_proj_ba.weight"] @ a).reshape(h, 2).T
            qkv, beta = np.concatenate(qkv), sigmoid(beta)
        else:
            qkv = np.concatenate([m[f"{name}_proj.weight"] @ a for name in "qkv"])
            gate, decay, beta = m["g_proj.weight"] @ a, m["a_proj.weight"] @ a, 2 * sigmoid(m["b_proj.weight"] @ a)
        rows = np.concatenate([convolution, qkv[None]])
        q, key, value = np.split(silu((rows * m["conv1d.weight"][:, 0].T).sum(0)), [h * k, 2 * h * k])
        q, key = (part / np.sqrt((part * part).sum(1, keepdims=True) + 1e-6) for part in (q.reshape(h, k), key.reshape(h, k)))
        alpha = np.exp(-np.exp(m["A_log"]) * np.logaddexp(0, decay + m["dt_bias"])).astype(np.float32)
        return (x, gate, q, key, value.reshape(h, v), beta, alpha), rows[1:]

    def write(self, state, inputs):
        _, _, _, key, value, beta, alpha = inputs
        state = state * alpha[:, None, None]
        new = beta[:, None] * (value - np.einsum("hkv,hk->hv", state, key))
        return state + key[:, :, None] * new[:, None, :]

    def logits(self, state, inputs):
        x, gate, q = inputs[:3]
        out = np.einsum("hkv,hk->hv", state, q) / np.sqrt(np.float32(self.keys))
        out = out / np.sqrt((out * out).mean(1, keepdims=True) + (1e-6 if self.is_qwen else 1e-5))
        out = out * self.mixer["norm.weight" if self.is_qwen else "o_norm.weight"] * silu(gate.reshape(out.shape))
        x = x + self.mixer["out_proj.weight" if self.is_qwen else "o_proj.weight"] @ out.ravel()
        layer = "model.layers.0."
        y = self.norm(x, layer + "post_attention_layernorm.weight")
        gate, up, down = (self.w[f"{layer}mlp.{name}_proj.weight"] for name in ("gate", "up", "down"))
        x = x + down @ (silu(gate @ y) * (up @ y))
        return self.w["lm_head.weight"] @ self.norm(x, "model.norm.weight")


class Request:
    """The states of one text: the convolution's, those that were written last and before, and the inputs that wait."""

    def __init__(self, model, fault):
        self.model, self.fault = model, fault
        self.convolution, state = model.empty()
        self.state = state
        self.written, self.ring = [state], []

    def copy(self):
        other = Request(self.model, self.fault)
        other.convolution, other.state, other.written, other.ring = self.convolution, self.state, list(self.written), list(self.ring)
        if self.fault == "cache-without-ring":
            other.state, other.ring = self.written[-1], []
        return other

    def read(self, token, alone):
        inputs, self.convolution = self.model.inputs(token, self.convolution)
        if self.fault == ("beta-decode" if alone else "beta-prompt"):
            inputs = (*inputs[:5], in_bf16(inputs[5]), inputs[6])
        if alone and len(self.ring) == RING:
            self.flush()
        self.state = self.model.write(self.state, inputs)
        self.ring.append(inputs)
        if not alone:
            self.written, self.ring = [self.state], []
        return self.model.logits(self.state, inputs)

    def flush(self):
        def replayed(state):
            for inputs in self.ring:
                state = self.model.write(state, inputs)
            return state

        if self.fault == "flush-lost":
            self.state = self.written[-1]
        elif self.fault == "flush-twice":
            self.state = replayed(self.state)
        elif self.fault == "flush-to-older":
            self.state = replayed(self.written[0])
        elif self.fault == "draft-flushed":  # the draft: the first letter
            self.state = self.model.write(self.state, self.model.inputs(PADDING, self.convolution)[0])
        self.written, self.ring = [*self.written[-1:], self.state], []


class Server:
    def __init__(self, folders, fault=None):
        self.fault = fault
        self.models = {pathlib.Path(folder).name: Model(pathlib.Path(folder)) for folder in folders}
        self.prefixes = {name: {} for name in self.models}
        self.lock = threading.Lock()

    def complete(self, name, prompts, tokens, echo):
        found, requests, rests = [], [], []
        for prompt in prompts:
            prefixes = self.prefixes[name]
            known = next((end for end in range(len(prompt) - 1, 0, -1) if not echo and tuple(prompt[:end]) in prefixes), 0)
            requests.append(prefixes[tuple(prompt[:known])].copy() if known else Request(self.models[name], self.fault))
            rests.append(prompt[known:])
        before = None
        for prompt, request, rest in zip(prompts, requests, rests):
            known = len(prompt) - len(rest)
            padding = (-len(rest) % BUCKET if len(prompts) == 1 and self.fault == "padding-of-one" else
                       max(map(len, rests)) - len(rest) if self.fault == "padding-later" else 0)
            for _ in range(padding if known else 0):
                request.read(PADDING, alone=False)
            logits = [request.read(token, alone=False) for token in rest]
            text = list(prompt)
            if self.fault == "neighbour" and before is not None and not known:
                request.state, before = before, request.state
            before = request.state if before is None else before
            self.prefixes[name][tuple(text)] = request.copy()
            while len(text) < len(prompt) + tokens:
                text.append(int(logits[-1].argmax()))
                if len(text) < len(prompt) + tokens:
                    logits.append(request.read(text[-1], alone=True))
            self.prefixes[name][tuple(text[:-1])] = request.copy()
            found.append((text, [None] * (1 + known) + logits, len(prompt)))
        return found


def logs(text, logits, start):
    def likely(row):
        if row is None:
            return None
        row = row.astype(np.float64) - row.max()
        row = row - np.log(np.exp(row).sum())
        return {f"token_id:{token}": float(row[token]) for token in np.argsort(-row, kind="stable")[:2]}
    tops = [likely(row) for row in logits[: len(text)]]
    return {"tokens": [f"token_id:{token}" for token in text[start:]], "top_logprobs": tops[start:],
            "token_logprobs": [top and top.get(f"token_id:{token}") for token, top in zip(text, tops)][start:]}


@contextlib.contextmanager
def serving(folders, fault=None):
    """The address of a server with these models."""
    server = Server(folders, fault)

    class Handler(http.server.BaseHTTPRequestHandler):
        def reply(self, status, content):
            text = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):
            self.reply(200, {"object": "list", "data": [{"id": name} for name in server.models]})

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if asked["model"] not in server.models:
                return self.reply(404, {"error": {"message": f"no model {asked['model']}"}})
            with server.lock:
                found = server.complete(asked["model"], asked["prompt"], asked["max_tokens"], asked["echo"])
            self.reply(200, {"choices": [{"index": i, "logprobs": logs(text, logits, 0 if asked["echo"] else start)}
                                         for i, (text, logits, start) in enumerate(found)]})

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()
