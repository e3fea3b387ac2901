"""The stock classes of transformers, read in every way that text is served."""
import copy
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402
import transformers  # noqa: E402

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
from diagnosis import Reading  # noqa: E402

torch.set_num_threads(1)
DTYPES = ("float32", "bfloat16")


def about():
    return f"transformers {transformers.__version__}, torch {torch.__version__}"


def copy_of(cache):
    """A cache to go back to. A function of its own: runtimes that share a prefix between requests have one like it."""
    return copy.deepcopy(cache)


class Runtime:
    def __init__(self, tracker, dtype):
        self.tracker = tracker
        self.model = transformers.AutoModelForCausalLM.from_pretrained(tracker.folder, dtype=getattr(torch, dtype)).eval()
        self.ways = {
            "the text in one call": self.whole,
            "prompt, then token by token": self.decoded,
            "prompt in pieces of 64": lambda words: self.decoded(words, 64),
            "prompt in pieces of 100": lambda words: self.decoded([w for w in words if len(w["prompt"]) < 600], 100),
            "padded batches": self.batches,
            "requests in turns": self.turns,
            "from a copied cache": self.resumed,
            "generate()": self.generated,
        }

    def readings(self, words):
        with torch.no_grad():
            for way, read in self.ways.items():
                for reading in read(words):
                    reading.model, reading.way = self.tracker.name, way
                    yield reading

    # ---- One call of the model

    def call(self, rows, cache=None, mask=None):
        """Answers [rows, length] and the cache."""
        said = self.model(torch.tensor(rows), attention_mask=mask, past_key_values=cache, use_cache=True)
        return said.logits.argmax(-1).tolist(), said.past_key_values

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

    def batches(self, words, rows=4):
        """Four prompts of different lengths, padded on the left; the mask says so."""
        short = [word for word in words if len(word["prompt"]) < 600]
        for at in range(0, len(short) - 1, rows):
            batch = short[at : at + rows]
            width = max(len(word["prompt"]) for word in batch)
            gaps = [width - len(word["prompt"]) for word in batch]
            pad = self.tracker.begin[0]
            mask = torch.tensor([[0] * gap + [1] * (width - gap) for gap in gaps])
            said, cache = self.call([[pad] * gap + word["prompt"] for gap, word in zip(gaps, batch)], None, mask)
            answers = [row[gap:] for gap, row in zip(gaps, said)]
            for t in range(min(len(word["then"]) for word in batch)):
                mask = torch.cat([mask, torch.ones(len(batch), 1, dtype=mask.dtype)], 1)
                said, cache = self.call([[word["then"][t]] for word in batch], cache, mask)
                for row, more in zip(answers, said):
                    row += more
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
