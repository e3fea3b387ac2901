"""llama.cpp through its C interface, read in every way that it serves text: batches, sequences, saved states, roll-backs."""
import pathlib
import tempfile

import numpy
from llama_cpp_py_sync import __version__
from llama_cpp_py_sync._cffi_bindings import get_ffi, get_lib

import llama_gguf
from ways import DRAFT, MIDDLE, Ways, brief

DTYPES = ("float32", "bfloat16")
MODELS = ("latch", "latch-late", "ticks")
"""llama.cpp has no layer with negative eigenvalues: of the kit's models, those of Qwen3-Next's class."""

C, LIB = get_ffi(), get_lib()
MOST, ROWS = 1 << 17, 32
"""Tokens of a context, and sequences side by side."""


@C.callback("void(enum ggml_log_level, const char *, void *)")
def _silent(level, text, data):
    """A failure is an exception; all else that the library says is of no interest."""


def about():
    return f"llama.cpp, by llama-cpp-py-sync {__version__}"


class Context:
    """Sequences of one model. Positions are counted here, as servers do."""

    def __init__(self, model, piece=2048):
        """`piece`: tokens of one pass through the layers (n_ubatch)."""
        wishes = LIB.llama_context_default_params()
        wishes.n_ctx, wishes.n_batch, wishes.n_ubatch = MOST, 8192, piece
        wishes.n_seq_max, wishes.n_rs_seq, wishes.n_threads, wishes.n_threads_batch = ROWS, DRAFT, 1, 1
        wishes.kv_unified, wishes.no_perf = True, True
        self.handle = C.gc(LIB.llama_init_from_model(model.handle, wishes), LIB.llama_free)
        if self.handle == C.NULL:
            raise RuntimeError("llama.cpp makes no context for the model")
        self.model, self.memory, self.piece = model, LIB.llama_get_memory(self.handle), piece
        self.lengths, self.free = [0] * ROWS, list(range(ROWS))

    def decode(self, rows):
        """`rows`: pairs of a sequence and the tokens that are read next in it, all in one batch. Their answers."""
        entries = [(token, self.lengths[row] + t, row) for row, tokens in rows for t, token in enumerate(tokens)]
        batch = LIB.llama_batch_init(len(entries), 0, 1)
        try:
            batch.n_tokens = len(entries)
            for i, (token, position, row) in enumerate(entries):
                batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, position, 1, 1
                batch.seq_id[i][0] = row
            if LIB.llama_decode(self.handle, batch) != 0:
                raise RuntimeError("llama_decode failed")
        finally:
            LIB.llama_batch_free(batch)
        logits = numpy.frombuffer(C.buffer(LIB.llama_get_logits(self.handle), 4 * len(entries) * self.model.tokens), "f4")
        said = logits.reshape(len(entries), -1).argmax(1).tolist()
        for row, tokens in rows:
            self.lengths[row] += len(tokens)
        ends = numpy.cumsum([len(tokens) for _, tokens in rows])
        return [said[end - len(tokens) : end] for (_, tokens), end in zip(rows, ends)]

    def forget(self, row):
        LIB.llama_memory_seq_rm(self.memory, row, -1, -1)
        self.lengths[row] = 0

    def copy(self, row, to):
        LIB.llama_memory_seq_cp(self.memory, row, to, -1, -1)
        self.lengths[to] = self.lengths[row]

    def take_back(self, row, count):
        """Whether it can."""
        if not LIB.llama_memory_seq_rm(self.memory, row, self.lengths[row] - count, -1):
            return False
        self.lengths[row] -= count
        return True

    def save(self, row):
        size = LIB.llama_state_seq_get_size(self.handle, row)
        state = C.new("uint8_t[]", size)
        if LIB.llama_state_seq_get_data(self.handle, state, size, row) != size:
            raise RuntimeError("llama_state_seq_get_data failed")
        return bytes(C.buffer(state)), self.lengths[row]

    def load(self, row, saved):
        state, length = saved
        if LIB.llama_state_seq_set_data(self.handle, C.from_buffer("uint8_t[]", state), len(state), row) != len(state):
            raise RuntimeError("llama_state_seq_set_data failed")
        self.lengths[row] = length


class Sequences:
    """Rows of a context, emptied and given back when nobody uses them any more."""

    def __init__(self, context, count):
        self.context, self.rows = context, [context.free.pop() for _ in range(count)]

    def __del__(self):
        for row in self.rows:
            self.context.forget(row)
            self.context.free.append(row)


class Model:
    def __init__(self, path):
        LIB.llama_log_set(_silent, C.NULL)
        wishes = LIB.llama_model_default_params()
        wishes.n_gpu_layers = 0
        self.handle = C.gc(LIB.llama_model_load_from_file(str(path).encode(), wishes), LIB.llama_model_free)
        if self.handle == C.NULL:
            raise RuntimeError(f"llama.cpp does not load {path}")
        self.tokens = LIB.llama_vocab_n_tokens(LIB.llama_model_get_vocab(self.handle))


class Runtime(Ways):
    def __init__(self, tracker, dtype):
        super().__init__(tracker)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.gguf"
            llama_gguf.write_gguf(tracker.folder, path, dtype)
            model = Model(path)
        self.context, small = Context(model), Context(model, 64)
        self.ways = {
            "the text in one call": self.whole,
            "prompt, then token by token": self.decoded,
            "prompt in pieces of 64": self.pieces(64),
            "prompt in pieces of 100": self.pieces(100),
            "one call, n_ubatch 64": self.by(self.decoded, context=small),
            "parallel sequences": self.batches,
            "parallel, n_ubatch 64": self.by(self.batches, context=small),
            "requests in turns": self.turns,
            "from a copied sequence": self.resumed,
            "from a saved state": self.saved,
            "preempted and read again": self.preempted,
            "drafts, some taken back": self.drafted,
            "a conversation of several turns": self.conversation,
            "greedy generation": self.generated,
        }
        del self.long_ways["one call, then token by token"]  # longer than a batch may be

    def reading(self, word, tokens, answers, borders, **others):
        """A prompt is cut into passes through the layers, too."""
        passes = range(0, len(word["prompt"]), self.context.piece)
        return super().reading(word, tokens, answers, sorted({*borders, *passes}), **others)

    # ---- What a server does with states

    def call(self, rows, state=None):
        state = state or Sequences(self.context, len(rows))
        return state.context.decode(list(zip(state.rows, rows))), state

    def copy_of(self, state):
        copied = Sequences(state.context, len(state.rows))
        for row, to in zip(state.rows, copied.rows):
            state.context.copy(row, to)
        return copied

    def before_draft(self, state):
        """Tokens can be taken back."""

    def after_draft(self, state, kept, accepted, rejected):
        if rejected and not all(state.context.take_back(row, rejected) for row in state.rows):
            raise RuntimeError("llama.cpp takes no tokens back: llama_memory_seq_rm said no")
        return state

    # ---- Ways

    def batches(self, words, rows=4):
        """Prompts of different lengths in one batch, then a token of each."""
        short = [word for word in words if len(word["prompt"]) < MIDDLE]
        for at in range(0, len(short) - 1, rows):
            batch = short[at : at + rows]
            answers, state = self.call([word["prompt"] for word in batch])
            self.continued(answers, [word["then"] for word in batch], state)
            yield from self.shown(batch, answers)

    def saved(self, words):
        """A prompt's state is saved, another text is read, and the state is loaded into that one's sequence."""
        short = brief(words)[::3]
        for word, other in zip(short, short[1:] + short[:1]):
            answers, state, borders = self.prefill(word["prompt"])
            kept = self.context.save(state.rows[0])
            _, state, _ = self.prefill(other["prompt"])
            self.context.load(state.rows[0], kept)
            self.continued(answers, [word["then"]], state)
            yield self.reading(word, word["prompt"] + word["then"], answers[0],
                               borders + list(range(len(word["prompt"]), len(answers[0]))),
                               others={"the text before": self.state_after(other["prompt"])})
