"""The stock classes of transformers, read in every way that text is served."""
import copy
import importlib.util
import inspect
import io
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402
import transformers  # noqa: E402

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
from diagnosis import Reading  # noqa: E402

torch.set_num_threads(1)
DTYPES = ("float32", "bfloat16")
MODELS = None
"""All of the kit's."""
DRAFT = 3
"""Tokens read beyond the next one, as with speculation."""


def about():
    return f"transformers {transformers.__version__}, torch {torch.__version__}"


def advice(error):
    """Of an error of the library: transformers takes the kernels of flash-linear-attention wherever that is installed."""
    if importlib.util.find_spec("fla") is not None and not torch.cuda.is_available():
        return ("flash-linear-attention (fla) is installed and no GPU is there, which its kernels need: uninstall it, and "
                "transformers reads the models on the processor")
    return ""


def cache_argument(model):
    """What this version calls the state that a model takes and gives."""
    names = inspect.signature(model.forward).parameters
    return next(name for name in ("cache", "past_key_values", "cache_params") if name in names)


def copy_of(cache):
    """A cache to go back to. A function of its own: runtimes that share a prefix between requests have one like it."""
    return copy.deepcopy(cache)


def before_draft(cache):
    """What is needed to go back to before a draft. A recurrent state has no positions that could be cut off."""
    return copy_of(cache)


def after_draft(runtime, cache, kept, accepted, rejected):
    """The cache after the accepted tokens of a draft alone."""
    return runtime.call([accepted], kept)[1] if rejected else cache


class Runtime:
    def __init__(self, tracker, dtype):
        self.tracker = tracker
        self.model = transformers.AutoModelForCausalLM.from_pretrained(tracker.folder, dtype=getattr(torch, dtype)).eval()
        self.cache = cache_argument(self.model)
        self.ways = {
            "the text in one call": self.whole,
            "prompt, then token by token": self.decoded,
            "prompt in pieces of 64": lambda words: self.decoded(words, 64),
            "prompt in pieces of 100": lambda words: self.decoded([w for w in words if len(w["prompt"]) < 600], 100),
            "padded batches": self.batches,
            "batches, rows reordered": lambda words: self.batches(words, reorder=True),
            "requests in turns": self.turns,
            "from a copied cache": self.resumed,
            "from a cache on disk": self.stored,
            "preempted and read again": self.preempted,
            "drafts, some taken back": self.drafted,
            "generate()": self.generated,
        }
        self.long_ways = {"in pieces of 1024": lambda words: self.decoded(words, 1024),
                          "token by token": lambda words: self.decoded(words, 1)}

    def readings(self, words):
        with torch.no_grad():
            for way, read in self.ways.items():
                for reading in read(words):
                    reading.model, reading.way = self.tracker.name, way
                    yield reading

    # ---- One call of the model

    def call(self, rows, cache=None, mask=None):
        """Answers [rows, length] and the cache."""
        said = self.model(torch.tensor(rows), attention_mask=mask, use_cache=True, **{self.cache: cache})
        return said.logits.argmax(-1).tolist(), getattr(said, self.cache)

    def prefill(self, tokens, piece=None):
        cache, answers, borders = None, [], []
        for at in range(0, len(tokens), piece or len(tokens)):
            said, cache = self.call([tokens[at : at + (piece or len(tokens))]], cache)
            answers += said[0]
            borders.append(at)
        return answers, cache, borders

    def reading(self, word, tokens, answers, borders, **others):
        return Reading("", "", word["name"], tokens, dict(answers), borders, **others)

    # ---- Ways

    def whole(self, words):
        for word in words:
            tokens = word["prompt"] + word["then"]
            yield self.reading(word, tokens, enumerate(self.prefill(tokens)[0]), [0])

    def decoded(self, words, piece=None):
        for word in words:
            answers, cache, borders = self.prefill(word["prompt"], piece)
            answers += self.continued(word["then"], cache)
            yield self.reading(word, word["prompt"] + word["then"], enumerate(answers),
                               borders + list(range(len(word["prompt"]), len(answers))))

    def continued(self, tokens, cache):
        answers = []
        for token in tokens:
            said, cache = self.call([[token]], cache)
            answers += said[0]
        return answers

    def batches(self, words, rows=4, reorder=False):
        """Four prompts of different lengths, padded on the left; the mask says so. `reorder`: before every tenth token the
        cache's rows change places, as beams do."""
        short = [word for word in words if len(word["prompt"]) < 600]
        for at in range(0, len(short) - 1, rows):
            batch = short[at : at + rows]
            width = max(len(word["prompt"]) for word in batch)
            gaps = [width - len(word["prompt"]) for word in batch]
            pad = self.tracker.begin[0]
            mask = torch.tensor([[0] * gap + [1] * (width - gap) for gap in gaps])
            said, cache = self.call([[pad] * gap + word["prompt"] for gap, word in zip(gaps, batch)], None, mask)
            answers = [row[gap:] for gap, row in zip(gaps, said)]
            order = list(range(len(batch)))
            for t in range(min(len(word["then"]) for word in batch)):
                if reorder and t % 10 == 9:
                    turned = [*range(1, len(batch)), 0]
                    cache.reorder_cache(torch.tensor(turned))
                    mask, order = mask[turned], [order[i] for i in turned]
                mask = torch.cat([mask, torch.ones(len(batch), 1, dtype=mask.dtype)], 1)
                said, cache = self.call([[batch[i]["then"][t]] for i in order], cache, mask)
                for i, more in zip(order, said):
                    answers[i] += more
            ends = [self.tracker.states(word["prompt"])[-1] for word in batch]
            for i, (word, row) in enumerate(zip(batch, answers)):
                others = {f"row {j + 1} of the batch": end for j, end in enumerate(ends) if j != i}
                tokens = (word["prompt"] + word["then"])[: len(row)]
                yield self.reading(word, tokens, enumerate(row), [0, *range(len(word["prompt"]), len(row))], others=others)

    def turns(self, words):
        """Two requests, a token of one and a token of the other."""
        short = [word for word in words if len(word["prompt"]) < 300][:4]
        for one, other in zip(short[::2], short[1::2]):
            both = [[word, *self.prefill(word["prompt"])[:2]] for word in (one, other)]
            for t in range(min(len(one["then"]), len(other["then"]))):
                for entry in both:
                    said, entry[2] = self.call([[entry[0]["then"][t]]], entry[2])
                    entry[1] += said[0]
            ends = [self.tracker.states(word["prompt"])[-1] for word in (one, other)]
            for i, (word, answers, _) in enumerate(both):
                tokens = (word["prompt"] + word["then"])[: len(answers)]
                yield self.reading(word, tokens, enumerate(answers), [0, *range(len(word["prompt"]), len(answers))],
                                   others={"the other request": ends[1 - i]})

    def resumed(self, words):
        """A prompt is continued; then the copy of its cache, in another way."""
        for word in [word for word in words if len(word["prompt"]) < 600][::3]:
            answers, cache, borders = self.prefill(word["prompt"])
            kept = copy_of(cache)
            for then in (word["then"], word["then"][::-1]):
                tokens = word["prompt"] + then
                said = answers + self.continued(then, cache)
                end = self.tracker.states(word["prompt"] + word["then"])[-1]
                yield self.reading(word, tokens, enumerate(said), borders + list(range(len(word["prompt"]), len(said))),
                                   others={"the continuation that was given up": end})
                cache = kept

    def stored(self, words):
        """A prompt's cache is written, and read again."""
        for word in [word for word in words if len(word["prompt"]) < 600][1::3]:
            answers, cache, borders = self.prefill(word["prompt"])
            file = io.BytesIO()
            torch.save(cache, file)
            file.seek(0)
            answers += self.continued(word["then"], torch.load(file, weights_only=False))
            yield self.reading(word, word["prompt"] + word["then"], enumerate(answers),
                               borders + list(range(len(word["prompt"]), len(answers))))

    def preempted(self, words):
        """After half of the tokens the cache is given up; prompt and tokens are read again, in one call, and it goes on."""
        for word in [word for word in words if len(word["prompt"]) < 600][2::3]:
            half = len(word["then"]) // 2
            answers, cache, _ = self.prefill(word["prompt"])
            self.continued(word["then"][:half], cache)
            answers, cache, _ = self.prefill(word["prompt"] + word["then"][:half])
            answers += self.continued(word["then"][half:], cache)
            yield self.reading(word, word["prompt"] + word["then"], enumerate(answers),
                               [0, *range(len(word["prompt"]) + half, len(answers))])

    def drafted(self, words):
        """As with speculation: a token and a draft of three are read in one call, 0 to 3 of the draft are right, and the
        others are taken back."""
        letters = list(self.tracker.letter_of)
        for word in [word for word in words if len(word["prompt"]) < 300][::2]:
            answers, cache, borders = self.prefill(word["prompt"])
            at, turn = 0, 0
            while at + 1 + DRAFT <= len(word["then"]):
                right = turn % (DRAFT + 1)
                turn += 1
                draft = word["then"][at : at + 1 + DRAFT]
                for i in range(1 + right, 1 + DRAFT):  # another letter than the one that follows
                    draft[i] = letters[(letters.index(draft[i]) + 1) % len(letters)]
                borders.append(len(answers))
                kept = before_draft(cache)
                said, cache = self.call([draft], cache)
                cache = after_draft(self, cache, kept, draft[: 1 + right], DRAFT - right)
                answers += said[0][: 1 + right]
                at += 1 + right
            yield self.reading(word, word["prompt"] + word["then"][:at], enumerate(answers), borders)

    def generated(self, words, tokens=40):
        """The model reads its own answers, which are letters too; nothing else is shown."""
        for word in [word for word in words if len(word["prompt"]) < 300 and self.tracker.reads_answers]:
            prompt = word["prompt"]
            ids = torch.tensor([prompt])  # with a mask: none is made up where a token could be padding
            out = self.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False,
                                      pad_token_id=self.tracker.begin[0])[0].tolist()
            known = {**self.tracker.letter_of, **dict.fromkeys(self.tracker.begin)}
            end = next((t for t in range(len(prompt), len(out)) if out[t] not in known), len(out) - 1)
            answers = {t: out[t + 1] for t in range(len(prompt) - 1, end)} or {len(prompt) - 1: out[len(prompt)]}
            yield self.reading(word, out[: max(answers) + 1], answers.items(), [0, *range(len(prompt), len(out))])
