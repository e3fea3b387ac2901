"""The stock classes of transformers, read in every way that text is served."""
import copy
import importlib.util
import inspect
import io
import itertools
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402
import transformers  # noqa: E402

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
from ways import BRIEF, MIDDLE, Answer, Ways, brief  # noqa: E402

torch.set_num_threads(1)
DTYPES = ("float32", "bfloat16")
MODELS = None
"""All of the kit's."""
DEVICE = "cpu"


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


class Runtime(Ways):
    def __init__(self, tracker, dtype):
        super().__init__(tracker)
        model = transformers.AutoModelForCausalLM.from_pretrained(tracker.folder, dtype=getattr(torch, dtype))
        self.model = model.eval().to(DEVICE)
        self.cache = cache_argument(self.model)
        self.ways = {
            "the text in one call": self.whole,
            "prompt, then token by token": self.decoded,
            "prompt in pieces of 64": self.pieces(64),
            "prompt in pieces of 100": self.pieces(100),
            "padded batches": self.batches,
            "batches, rows reordered": lambda words: self.batches(words, reorder=True),
            "padded later turns": self.padded_turns,
            "padded later turns, batches of one": lambda words: self.padded_turns(words, 1),
            "requests in turns": self.turns,
            "from a copied cache": self.resumed,
            "from a cache on disk": self.stored,
            "preempted and read again": self.preempted,
            "drafts, some taken back": self.drafted,
            "a conversation of several turns": self.conversation,
            "generate()": self.generated,
        }

    def readings(self, words):
        with torch.no_grad():
            yield from super().readings(words)

    def call(self, rows, cache=None, mask=None):
        said = self.model(torch.tensor(rows, device=DEVICE), attention_mask=mask, use_cache=True, **{self.cache: cache})
        values, tokens = said.logits.float().topk(2, -1)
        margins = (values[..., 0] - values[..., 1]).tolist()
        answers = [list(map(Answer, *row)) for row in zip(tokens[..., 0].tolist(), margins)]
        return answers, getattr(said, self.cache)

    def copy_of(self, cache):
        return copy.deepcopy(cache)

    # ---- Ways

    def padded(self, rows, token, width=0, mask=None):
        """Rows filled up on the left, and the mask that says so."""
        width = max(width, *map(len, rows))
        now = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=DEVICE)
        return [[token] * (width - len(row)) + row for row in rows], now if mask is None else torch.cat([mask, now], 1)

    def batches(self, words, rows=4, reorder=False):
        """Four prompts of different lengths, padded on the left; the mask says so. `reorder`: before every fifth token the
        cache's rows change places, as beams do."""
        short = [word for word in words if len(word["prompt"]) < MIDDLE]
        for at in range(0, len(short) - 1, rows):
            batch = short[at : at + rows]
            filled, mask = self.padded([word["prompt"] for word in batch], self.tracker.begin[0])
            said, cache = self.call(filled, None, mask)
            answers = [row[-len(word["prompt"]) :] for word, row in zip(batch, said)]
            order = list(range(len(batch)))
            for t in range(min(len(word["then"]) for word in batch)):
                if reorder and t % 5 == 4:
                    turned = [*range(1, len(batch)), 0]
                    cache.reorder_cache(torch.tensor(turned, device=DEVICE))
                    mask, order = mask[turned], [order[i] for i in turned]
                more, mask = self.padded([[batch[i]["then"][t]] for i in order], None, mask=mask)
                said, cache = self.call(more, cache, mask)
                for i, more in zip(order, said):
                    answers[i] += more
            yield from self.shown(batch, answers)

    def padded_turns(self, words, rows=3):
        """Rows of a batch go on by unlike numbers of tokens, filled up on the left with a letter that the mask hides. Read of
        models that need no state of a convolution: transformers puts padding into that, and asks for it before texts alone."""
        if self.tracker.delay or self.tracker.layers > 1:
            return
        letter = self.tracker.busiest()
        long = [word for word in words if len(word["then"]) > BRIEF]
        for at in range(0, len(long), rows):
            batch = long[at : at + rows]
            texts = [word["prompt"] + word["then"] for word in batch]
            answers, strays, borders = [[] for _ in batch], [{} for _ in batch], [[] for _ in batch]
            cache = mask = None
            for sizes in ([len(word["prompt"]) for word in batch], *itertools.permutations([1, 6, 13])):
                turns = [text[len(row) : len(row) + size] for text, row, size in zip(texts, answers, sizes)]
                filled, mask = self.padded(turns, letter, 14, mask)
                said, cache = self.call(filled, cache, mask)
                for row, turn, more, stray, border in zip(answers, turns, said, strays, borders):
                    border.append(len(row))
                    if row:
                        stray[len(row)] = [[letter] * (len(more) - len(turn))]
                    row += more[len(more) - len(turn) :]
            for word, text, row, stray, border in zip(batch, texts, answers, strays, borders):
                yield self.reading(word, text[: len(row)], row, border, strays=("padding", stray))

    def stored(self, words):
        """A prompt's cache is written, and read again."""
        for word in brief(words)[1::3]:
            answers, cache, _ = self.prefill(word["prompt"])
            file = io.BytesIO()
            torch.save(cache, file)
            file.seek(0)
            self.continued(answers, [word["then"]], torch.load(file, weights_only=False))
            yield from self.shown([word], answers)

    def generated(self, words):
        """The model reads its own answers, which are letters too; nothing else is shown."""
        for word in self.generating(words):
            prompt, tokens = word["prompt"], len(word["then"][:40])
            ids = torch.tensor([prompt], device=DEVICE)  # with a mask: none is made up where a token could be padding
            out = self.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False,
                                      pad_token_id=self.tracker.begin[0])[0].tolist()
            known = {**self.tracker.letter_of, **dict.fromkeys(self.tracker.begin)}
            end = next((t for t in range(len(prompt), len(out)) if out[t] not in known), len(out) - 1)
            answers = {t: out[t + 1] for t in range(len(prompt) - 1, end)} or {len(prompt) - 1: out[len(prompt)]}
            yield self.reading(word, out[: max(answers) + 1], answers.items(), [0, *range(len(prompt), len(out))])
