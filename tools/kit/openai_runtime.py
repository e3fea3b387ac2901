"""Servers that speak the OpenAI protocol, such as vLLM and SGLang: `--runtime openai:http://host:port`. Token ids go in; the
greatest of the log-probabilities, or the token that is generated, comes out. Serve a folder of models/, or several, under its
name, at temperature 0 and in float32 where the model needs it (`formats` in its tracker.json):

    vllm serve models/s5 --dtype float32
    python -m sglang.launch_server --model-path models/s5 --dtype float32

A server shows no states, and reads and caches as it is told to by its own options. Every way below is read by requests alone."""
import concurrent.futures
import json
import os
import re
import urllib.error
import urllib.request

from ways import SHORT, Answer, Ways

DTYPES = ("served",)
MODELS = ()
"""Those of the kit that the server has; `connect` finds them."""
SERVER = {}
"""The address, and the server's own names of the models."""
TURNS = [(7, 5), (16, 3), (21, 17), (30, 1), (12, 33)]
"""So many tokens are generated, and so many more are given."""
PADDINGS = (8, 16, 32, 64)
"""Servers that have recorded their kernels fill requests up to such sizes; padding is token 0, which is a letter."""


def connect(address):
    """Asks the server which models it has."""
    global MODELS
    SERVER["address"] = address.rstrip("/").removesuffix("/v1")
    if not re.match(r"https?://[^/]", address):
        raise ValueError(f"{address or 'nothing'} is no address; write --runtime openai:http://localhost:8000")
    served = [model["id"] for model in ask("models")["data"]]
    SERVER["models"] = {name.rstrip("/").rpartition("/")[2]: name for name in served}
    MODELS = tuple(SERVER["models"])


def ask(what, **body):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")}
    request = urllib.request.Request(f"{SERVER['address']}/v1/{what}", json.dumps(body).encode() if body else None, headers)
    try:
        with urllib.request.urlopen(request, timeout=600) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        raise ValueError(f"{request.full_url} answers {error.code}: {error.read(500).decode(errors='replace')}") from error
    except urllib.error.URLError as error:
        raise ValueError(f"{request.full_url} does not answer: {error.reason}") from error


def about():
    return f"OpenAI protocol at {SERVER['address']}, models {', '.join(MODELS)}"


def token_of(text):
    """"t12", as the kit's tokenizer has it, or "token_id:12"."""
    match = re.fullmatch(r"\s*(?:token_id:|t)(\d+)\s*", text)
    if not match:
        raise ValueError(f"the server speaks of a token {text!r}: serve the model with the tokenizer in its folder")
    return int(match[1])


def answer_of(said, likely):
    """The likeliest token, or the one that was generated, and by how much it is likelier than the next."""
    best = sorted(likely.values(), reverse=True)
    said = max(likely, key=likely.get) if said is None else said
    return Answer(token_of(said), best[0] - best[1] if len(best) > 1 else float("inf"))


class Runtime(Ways):
    def __init__(self, tracker, dtype):
        super().__init__(tracker)
        self.ways = {
            "the text in one request": self.whole,
            "one token more in each request": self.lengthened,
            "generation": self.generated,
            "requests at once": self.at_once,
            "several prompts in a request": self.batches,
            "a conversation of several turns": self.conversation,
            "conversations in batches": self.conversations,
        }
        self.long_ways = {"the text in one request": self.whole}

    def complete(self, prompts, tokens=1, echo=False):
        """For each prompt the answers at its own positions, where `echo` asks for them, and those that were generated."""
        said = ask("completions", model=SERVER["models"][self.tracker.name], prompt=prompts, max_tokens=tokens, temperature=0,
                   logprobs=2, echo=echo, ignore_eos=True, return_tokens_as_token_ids=True)
        found = []
        for choice, prompt in zip(sorted(said["choices"], key=lambda choice: choice["index"]), prompts):
            logs = choice["logprobs"]
            start = len(prompt) if echo else 0
            if len(logs["tokens"]) < start + 1:
                raise ValueError(f"{len(logs['tokens'])} tokens for a prompt of {len(prompt)}: the server does not echo prompts")
            found.append([answer_of(None if t < start else logs["tokens"][t], likely)
                          for t, likely in enumerate(logs["top_logprobs"]) if likely])
        return found

    def generate(self, prompts, tokens):
        """Texts with what was generated, as far as it means anything, and answers by position."""
        texts, answers = [], []
        for prompt, said in zip(prompts, self.complete(prompts, tokens)):
            end = next((i for i, token in enumerate(said) if token not in self.tracker.letter_of), len(said))
            texts.append(prompt + said[:end])
            answers.append(dict(enumerate(said[: end + 1], len(prompt) - 1)))
            answers[-1].pop(len(texts[-1]), None)
        return texts, answers

    def otherwise(self, tokens):
        """Others, from the first on."""
        return [next(token for token in self.tracker.letter_of if token != tokens[0]), *tokens[::-1]]

    # ---- Ways

    def whole(self, words):
        for word in words:
            tokens = word["prompt"] + word["then"]
            yield self.reading(word, tokens, self.complete([tokens], echo=True)[0], [0])

    def lengthened(self, words):
        """What came before is in the server's cache of prefixes, where it has one."""
        for word in [word for word in words if len(word["prompt"]) < SHORT][::-3]:
            prompt, tokens = word["prompt"], word["prompt"] + word["then"]
            answers = {end - 1: self.complete([tokens[:end]])[0][0] for end in range(len(prompt), len(tokens) + 1)}
            strays = {t: [[0] * (size - 1) for size in PADDINGS] for t in range(len(prompt), len(tokens))}
            yield self.reading(word, tokens, answers.items(), [0, *range(len(prompt), len(tokens))], strays=("padding", strays))

    def generated(self, words, tokens=140):
        """The model reads its own answers, which are letters too."""
        for word in self.generating(words):
            (text,), (answers,) = self.generate([word["prompt"]], tokens)
            yield self.reading(word, text, answers.items(), [0, *range(len(word["prompt"]), len(text))])

    def at_once(self, words):
        """Requests that the server has in hand at the same time."""
        chosen = self.generating(words)
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            made = list(threads.map(lambda word: self.generate([word["prompt"]], 40), chosen))
        yield from self.beside(chosen, [(text, answers) for (text,), (answers,) in made])

    def batches(self, words, rows=4):
        chosen = self.generating(words)
        for at in range(0, len(chosen), rows):
            batch = chosen[at : at + rows]
            yield from self.beside(batch, zip(*self.generate([word["prompt"] for word in batch], 40)))

    def beside(self, words, made):
        ends = {word["name"]: self.state_after(word["prompt"]) for word in words}
        for word, (text, answers) in zip(words, made):
            others = {f"the request {name}": end for name, end in ends.items() if name != word["name"]}
            yield self.reading(word, text, answers.items(), [0, *range(len(word["prompt"]), len(text))], others=others)

    def conversation(self, words):
        return self.conversations(words, 1)

    def conversations(self, words, rows=3):
        """Tokens are generated, more are given, and so on; each turn's prompt is all that was said before. Another turn with the
        same beginning comes between."""
        chosen = [word for word in self.generating(words) if len(word["then"]) > 100]
        for at in range(0, len(chosen), rows):
            batch = chosen[at : at + rows]
            texts = [word["prompt"] for word in batch]
            answers, borders, strays = ([{} for _ in batch] for _ in range(3))
            for turn, (alone, more) in enumerate(TURNS):
                before = [len(text) for text in texts]
                texts, said = self.generate(texts, alone)
                given = [(more * (1 + i * turn)) % 40 + 1 for i in range(len(batch))]
                for i, text in enumerate(texts):
                    answers[i].update(said[i])
                    borders[i].update(dict.fromkeys(range(before[i], len(text))))  # the last is read with what is given
                    alike = [[0] * (max(given) - given[i])] if len(batch) > 1 else []
                    strays[i][len(text) - 1] = alike + [[0] * (-(given[i] + 1) % size) for size in PADDINGS]
                self.complete([text + self.otherwise(word["then"])[:more] for text, word in zip(texts, batch)])
                texts = [text + word["then"][:count] for text, word, count in zip(texts, batch, given)]
            ends = {word["name"]: self.state_after(word["prompt"]) for word in batch}
            for word, text, found, border, stray in zip(batch, texts, answers, borders, strays):
                others = {f"the conversation {name}": end for name, end in ends.items() if name != word["name"]}
                yield self.reading(word, text, found.items(), sorted({0, *border}), strays=("padding", stray), others=others)
