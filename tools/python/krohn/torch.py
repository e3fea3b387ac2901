"""A network that krohn compiled, as a plain PyTorch module. In the package it is krohn.torch; `--target torch` writes this
file as krohn_network.py, for copying. Needs torch, and safetensors to read files.

    from krohn_network import ExactLRNN
    network = ExactLRNN.from_file("model.safetensors")
    states = network(network.encode("abb"))           # the automaton's state after every letter
    outputs = network.outputs(states)                  # "accept", "reject", … as indices of network.output_names

Words are read by a scan: letters are put together in pairs, pairs of pairs, … so that a word of T letters takes 2 log2 T steps,
not T; torch.compile unrolls no more than these. `sequential` reads letter after letter, which is slow and the reference.

The file's format is krohn's own; its document (docs/reference/network-file.md in krohn) names the tensors that are read here."""
import json

import torch
from torch import nn


def _of_signed_type(array):
    """Indices as int64: PyTorch has few operations on unsigned numbers."""
    return array.astype("int64") if array.dtype.kind == "u" else array


def scan(a, b, start):
    """H after every letter: H <- A[t] H + B[t] from `start`. a [batch, length, n, n], b [batch, length, n, d] or None, start
    [batch, n, d]; returns [batch, length, n, d]. Work n^3 per letter, in 2 log2(length) steps."""
    length = a.shape[1]
    if length == 0:
        return start.new_zeros(len(start), 0, *start.shape[1:])
    if length == 1:
        after = a[:, 0] @ start
        return (after if b is None else after + b[:, 0]).unsqueeze(1)
    first, second = a[:, : length - length % 2 : 2], a[:, 1::2]
    added = None if b is None else second @ b[:, : length - length % 2 : 2] + b[:, 1::2]
    after_pairs = scan(second @ first, added, start)
    before = torch.cat([start.unsqueeze(1), after_pairs], 1)[:, : (length + 1) // 2]
    after_firsts = a[:, ::2] @ before
    if b is not None:
        after_firsts = after_firsts + b[:, ::2]
    woven = torch.stack([after_firsts[:, : length // 2], after_pairs], 2).flatten(1, 2)
    return woven if length % 2 == 0 else torch.cat([woven, after_firsts[:, -1:]], 1)


class Layer(nn.Module):
    """H <- A[action] H + B[action]; the label is that of the nearest codeword in the book of the context."""

    def __init__(self, tensors, description):
        super().__init__()
        self.labels = description["labels"]
        self.initial_label = description["initial_label"]
        self.copies = description["unit_copies"]
        self.a = nn.Parameter(tensors["A"])
        self.b = nn.Parameter(tensors["B"]) if "B" in tensors else None
        self.initial = nn.Parameter(tensors["H0"])
        for name in ("action_of", "next", "book_of_context", "codewords", "codewords.label", "codewords.book"):
            tensor = tensors.get(name)
            if tensor is not None and name != "codewords":
                tensor = tensor.long()
            self.register_buffer(name.replace(".", "_"), tensor)
        if self.copies == 0 and self.codewords_label is None:
            self.codewords_label = torch.arange(len(self.codewords))

    def scores(self, state, context=None):
        """One number per codeword, the greatest for the nearest: minus the squared distance, differentiable."""
        if self.copies > 0:
            return state.reshape(*state.shape[:-2], self.copies, self.labels).sum(-2)
        scores = -((state.unsqueeze(-3) - self.codewords) ** 2).sum((-2, -1))
        if self.codewords_book is None:
            return scores
        book = torch.zeros_like(context) if self.book_of_context is None else self.book_of_context[context]
        return scores.masked_fill(self.codewords_book != book.unsqueeze(-1), -torch.inf)

    def decode(self, state, context):
        nearest = self.scores(state, context).argmax(-1)
        return nearest if self.copies > 0 else self.codewords_label[nearest]

    def step(self, state, context):
        action = self.action_of[context]
        state = self.a[action] @ state
        return state if self.b is None else state + self.b[action]

    def start(self, batch):
        return self.initial.expand(batch, *self.initial.shape)

    def states(self, context, chunk):
        """H after every letter, [batch, length, n, d], by scans over so many letters at a time: `chunk` n × n matrices of every
        word are in memory at once."""
        state, parts = self.start(len(context)), []
        for action in self.action_of[context].split(chunk, 1):
            parts.append(scan(self.a[action], None if self.b is None else self.b[action], state))
            state = parts[-1][:, -1]
        return torch.cat(parts, 1)


class ExactLRNN(nn.Module):
    """Layers of linear recurrences, wired by tables; the automaton that they stand for is there as `table`."""

    def __init__(self, tensors, metadata):
        super().__init__()
        automaton = json.loads(metadata["automaton"])
        self.letters = [symbol["name"] for symbol in automaton["alphabet"]]
        self.initial_state = automaton["initial"]
        self.output_names = automaton["output_names"]
        self.provenance = json.loads(metadata["provenance"])
        descriptions = json.loads(metadata["layers"])
        if "layers.0.A" not in tensors:
            raise ValueError("this model has no dense matrices, because they would have more than 8,000,000 numbers")
        # A tensor is F64 only where F32 would lose something; then all layers compute in float64.
        real = torch.float64 if any(tensor.dtype == torch.float64 for tensor in tensors.values()) else torch.float32
        tensors = {name: tensor.to(real) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
        self.layers = nn.ModuleList()
        for k, description in enumerate(descriptions):
            start = f"layers.{k}."
            own = {name[len(start):]: tensor for name, tensor in tensors.items() if name.startswith(start)}
            self.layers.append(Layer(own, description))
            self.register_buffer(f"readout_{k}", tensors[f"readout.{k}"].long())
        self.register_buffer("table", tensors["automaton.table"].long())
        self.register_buffer("output_of_state", tensors["automaton.outputs"].long())

    @classmethod
    def from_network(cls, network):
        """A `krohn.Network`, its weights copied."""
        if "snap_every" in network.metadata:
            raise ValueError("this network snaps to its codewords, which this linear module does not")
        tensors = {name: torch.from_numpy(_of_signed_type(array)) for name, array in network.state_dict().items()}
        return cls(tensors, network.metadata)

    @classmethod
    def from_file(cls, path):
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            if metadata.get("format") != "krohn.network" or metadata.get("version") != "1":
                raise ValueError(f"{path}: not a krohn network of version 1")
            if "snap_every" in metadata:
                raise ValueError(f"{path}: this network snaps to its codewords, which this linear module does not")
            return cls({name: file.get_tensor(name) for name in file.keys()}, metadata)

    def weights(self):
        """The parameters as arrays under the names of the file: what `krohn.Network.with_weights` takes."""
        arrays = {}
        for k, layer in enumerate(self.layers):
            parts = {"A": layer.a, "H0": layer.initial} | ({} if layer.b is None else {"B": layer.b})
            arrays |= {f"layers.{k}.{name}": part.detach().cpu().numpy() for name, part in parts.items()}
        return arrays

    def encode(self, word):
        """Letters by name, or the characters of a text, as a batch of one word."""
        index = {name: letter for letter, name in enumerate(self.letters)}
        return torch.tensor([[index[letter] for letter in word]], device=self.table.device)

    def forward(self, letters, chunk=256):
        """letters: [batch, length]. Returns the state that the readout gives after every letter: [batch, length]. One layer
        after another reads the whole word, by scans; where numbers round, other last bits than `sequential`."""
        if letters.shape[1] == 0:
            return letters.clone()
        context, node = letters, torch.zeros_like(letters)
        for k, layer in enumerate(self.layers):
            parts = zip(layer.states(context, chunk).split(chunk, 1), context.split(chunk, 1))
            label = torch.cat([layer.decode(state, part) for state, part in parts], 1)
            node = getattr(self, f"readout_{k}")[node, label]
            if layer.next is not None:
                before = torch.cat([torch.full_like(label[:, :1], layer.initial_label), label[:, :-1]], 1)
                context = layer.next[context, before]
        return node

    def sequential(self, letters):
        """The same, letter after letter."""
        batch, length = letters.shape
        hidden = [layer.start(batch) for layer in self.layers]
        label = [torch.full_like(letters[:, 0], layer.initial_label) for layer in self.layers]
        states = []
        for t in range(length):
            context, node = letters[:, t], torch.zeros_like(letters[:, 0])
            for k, layer in enumerate(self.layers):
                hidden[k] = layer.step(hidden[k], context)
                before, label[k] = label[k], layer.decode(hidden[k], context)
                node = getattr(self, f"readout_{k}")[node, label[k]]
                if layer.next is not None:
                    context = layer.next[context, before]
            states.append(node)
        return torch.stack(states, 1)

    def hidden_states(self, letters, chunk=256):
        """The first layer's H, whose actions are the letters, after every letter, [batch, length, n, d]. Differentiable."""
        return self.layers[0].states(letters, chunk)

    def expected_states(self, letters):
        """The automaton's own states: [batch, length]."""
        state = torch.full_like(letters[:, 0], self.initial_state)
        states = []
        for t in range(letters.shape[1]):
            state = self.table[state, letters[:, t]]
            states.append(state)
        return torch.stack(states, 1)

    def outputs(self, states):
        return self.output_of_state[states]
