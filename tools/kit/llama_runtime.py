"""llama.cpp through its C interface, read in every way that it serves text: batches, sequences, saved states, roll-backs."""
import contextlib
import pathlib
import tempfile

import numpy
from llama_cpp_py_sync import __version__
from llama_cpp_py_sync._cffi_bindings import get_ffi, get_lib

import llama_gguf
from diagnosis import Reading

DTYPES = ("float32", "bfloat16")
MODELS = ("latch", "latch-late", "ticks")
"""llama.cpp has no layer with negative eigenvalues: of the kit's models, those of Qwen3-Next's class."""

C, LIB = get_ffi(), get_lib()
MOST, ROWS, BACK = 1 << 17, 8, 3
"""Tokens of a context, sequences side by side, and tokens that can be taken back."""


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
        wishes.n_seq_max, wishes.n_rs_seq, wishes.n_threads, wishes.n_threads_batch = ROWS, BACK, 1, 1
        wishes.kv_unified, wishes.no_perf = True, True
        self.handle = C.gc(LIB.llama_init_from_model(model.handle, wishes), LIB.llama_free)
        if self.handle == C.NULL:
            raise RuntimeError("llama.cpp makes no context for the model")
        self.model, self.memory = model, LIB.llama_get_memory(self.handle)
        self.lengths = [0] * ROWS

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
        if count == 0:
            return True
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


class Model:
    def __init__(self, path):
        LIB.llama_log_set(_silent, C.NULL)
        wishes = LIB.llama_model_default_params()
        wishes.n_gpu_layers = 0
        self.handle = C.gc(LIB.llama_model_load_from_file(str(path).encode(), wishes), LIB.llama_model_free)
        if self.handle == C.NULL:
            raise RuntimeError(f"llama.cpp does not load {path}")
        self.tokens = LIB.llama_vocab_n_tokens(LIB.llama_model_get_vocab(self.handle))


class Runtime:
    def __init__(self, tracker, dtype):
        self.tracker = tracker
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.gguf"
            llama_gguf.write_gguf(tracker.folder, path, dtype)
            self.model = Model(path)
        self.context, self.small = Context(self.model), Context(self.model, 64)
        self.ways = {
            "the text in one call": lambda words: self.decoded(words, whole=True),
            "prompt, then token by token": self.decoded,
            "prompt in calls of 64": lambda words: self.decoded(words, piece=64),
            "prompt in calls of 100": lambda words: self.decoded([w for w in words if len(w["prompt"]) < 600], piece=100),
            "one call, n_ubatch 64": lambda words: self.decoded(words, context=self.small, inner=64),
            "parallel sequences": self.batches,
            "parallel, n_ubatch 64": lambda words: self.batches(words, self.small),
            "requests in turns": self.turns,
            "from a copied sequence": self.copied,
            "from a saved state": self.saved,
            "preempted and read again": self.preempted,
            "drafts, some taken back": self.drafted,
            "greedy generation": self.generated,
        }
        self.long_ways = {"in pieces of 1024": lambda words: self.decoded(words[:1], piece=1024),
                          "token by token": lambda words: self.decoded(words[:1], piece=1)}

    def readings(self, words):
        for way, read in self.ways.items():
            for reading in read(words):
                reading.model, reading.way = self.tracker.name, way
                yield reading
            for context in (self.context, self.small):
                for row in range(ROWS):
                    context.forget(row)

    def reading(self, word, tokens, answers, borders, **others):
        return Reading("", "", word["name"], list(tokens), dict(answers), sorted(set(borders)), **others)

    @contextlib.contextmanager
    def row(self, context, *rows):
        for row in rows:
            context.forget(row)
        yield
        for row in rows:
            context.forget(row)

    # ---- Ways

    def prefill(self, context, row, tokens, piece=None):
        answers, borders = [], []
        for at in range(0, len(tokens), piece or len(tokens)):
            borders.append(len(answers))
            answers += context.decode([(row, tokens[at : at + (piece or len(tokens))])])[0]
        return answers, borders

    def continued(self, context, row, tokens):
        return [context.decode([(row, [token])])[0][0] for token in tokens]

    def decoded(self, words, piece=None, context=None, whole=False, inner=None):
        context = context or self.context
        for word in words:
            with self.row(context, 0):
                tokens = word["prompt"] + word["then"]
                answers, borders = self.prefill(context, 0, tokens if whole else word["prompt"], piece)
                borders += range(0, len(answers), inner or len(answers))
                borders += range(len(answers), len(tokens))
                answers += self.continued(context, 0, tokens[len(answers) :])
                yield self.reading(word, tokens, enumerate(answers), borders)

    def batches(self, words, context=None, rows=4):
        """Prompts of different lengths in one batch, then a token of each."""
        context = context or self.context
        short = [word for word in words if len(word["prompt"]) < 600]
        for at in range(0, len(short) - 1, rows):
            batch = short[at : at + rows]
            with self.row(context, *range(rows)):
                answers = context.decode([(row, word["prompt"]) for row, word in enumerate(batch)])
                for t in range(min(len(word["then"]) for word in batch)):
                    said = context.decode([(row, [word["then"][t]]) for row, word in enumerate(batch)])
                    for row, more in zip(answers, said):
                        row += more
                ends = [self.tracker.states(word["prompt"])[-1] for word in batch]
                for i, (word, row) in enumerate(zip(batch, answers)):
                    others = {f"sequence {j + 1} of the batch": end for j, end in enumerate(ends) if j != i}
                    tokens = (word["prompt"] + word["then"])[: len(row)]
                    yield self.reading(word, tokens, enumerate(row), [0, *range(len(word["prompt"]), len(row))], others=others)

    def turns(self, words):
        short = [word for word in words if len(word["prompt"]) < 300][:4]
        for one, other in zip(short[::2], short[1::2]):
            with self.row(self.context, 0, 1):
                both = [(row, word, self.prefill(self.context, row, word["prompt"])[0]) for row, word in ((0, one), (1, other))]
                for t in range(min(len(one["then"]), len(other["then"]))):
                    for row, word, answers in both:
                        answers += self.continued(self.context, row, [word["then"][t]])
                ends = [self.tracker.states(word["prompt"])[-1] for word in (one, other)]
                for row, word, answers in both:
                    tokens = (word["prompt"] + word["then"])[: len(answers)]
                    yield self.reading(word, tokens, enumerate(answers), [0, *range(len(word["prompt"]), len(answers))],
                                       others={"the other request": ends[1 - row]})

    def copied(self, words):
        """A prompt is continued; then the copy that was made of its sequence, in another way."""
        for word in [word for word in words if len(word["prompt"]) < 600][::3]:
            with self.row(self.context, 0, 1):
                answers, borders = self.prefill(self.context, 0, word["prompt"])
                self.context.copy(0, 1)
                end = self.tracker.states(word["prompt"] + word["then"])[-1]
                for row, then in ((0, word["then"]), (1, word["then"][::-1])):
                    said = answers + self.continued(self.context, row, then)
                    yield self.reading(word, word["prompt"] + then, enumerate(said),
                                       borders + list(range(len(answers), len(said))), others={"the other continuation": end})

    def saved(self, words):
        """A prompt's state is saved, another text is read in its place, and the state is loaded into another sequence."""
        short = [word for word in words if len(word["prompt"]) < 600][::3]
        for word, other in zip(short, short[1:] + short[:1]):
            with self.row(self.context, 0, 2):
                answers, borders = self.prefill(self.context, 0, word["prompt"])
                kept = self.context.save(0)
                self.context.forget(0)
                self.prefill(self.context, 2, other["prompt"])
                self.context.load(2, kept)
                answers += self.continued(self.context, 2, word["then"])
                yield self.reading(word, word["prompt"] + word["then"], enumerate(answers),
                                   borders + list(range(len(word["prompt"]), len(answers))),
                                   others={"the text before": self.tracker.states(other["prompt"])[-1]})

    def preempted(self, words):
        """After half of the tokens the sequence is given up; prompt and tokens are read again, in one call, and it goes on."""
        for word in [word for word in words if len(word["prompt"]) < 600][1::3]:
            half = len(word["then"]) // 2
            with self.row(self.context, 0):
                self.prefill(self.context, 0, word["prompt"])
                self.continued(self.context, 0, word["then"][:half])
                self.context.forget(0)
                answers, _ = self.prefill(self.context, 0, word["prompt"] + word["then"][:half])
                answers += self.continued(self.context, 0, word["then"][half:])
                yield self.reading(word, word["prompt"] + word["then"], enumerate(answers),
                                   [0, *range(len(word["prompt"]) + half, len(answers))])

    def drafted(self, words):
        """As with speculation: a token and a draft of three are read in one call, 0 to 3 of the draft are right, and the
        others are taken back."""
        letters = list(self.tracker.letter_of)
        for word in [word for word in words if len(word["prompt"]) < 600]:
            with self.row(self.context, 0):
                answers, borders = self.prefill(self.context, 0, word["prompt"])
                at, turn = 0, 0
                while at + 1 + BACK <= len(word["then"]):
                    right = turn % (BACK + 1)
                    turn += 1
                    draft = word["then"][at : at + 1 + BACK]
                    for i in range(1 + right, 1 + BACK):  # another letter than the one that follows
                        draft[i] = letters[(letters.index(draft[i]) + 1) % len(letters)]
                    borders.append(len(answers))
                    said = self.context.decode([(0, draft)])[0]
                    if not self.context.take_back(0, BACK - right):
                        raise RuntimeError("llama.cpp takes no tokens back: llama_memory_seq_rm said no")
                    answers += said[: 1 + right]
                    at += 1 + right
                tokens = word["prompt"] + word["then"][:at]
                yield self.reading(word, tokens, enumerate(answers), borders)

    def generated(self, words, tokens=40):
        """The model reads its own answers, which are letters too."""
        for word in [word for word in words if len(word["prompt"]) < 300 and self.tracker.reads_answers]:
            with self.row(self.context, 0):
                answers, _ = self.prefill(self.context, 0, word["prompt"])
                text = list(word["prompt"])
                while len(text) < len(word["prompt"]) + tokens and answers[-1] in self.tracker.letter_of:
                    text.append(answers[-1])
                    answers += self.continued(self.context, 0, text[-1:])
                yield self.reading(word, text, enumerate(answers), [0, *range(len(word["prompt"]), len(text))])
