"""The ways in which text is served, for runtimes that give a state and take it back: a runner says how one call is made."""
import itertools

from diagnosis import Reading

SHORT, MIDDLE = 300, 600
"""Tokens of a prompt: what is read often takes short ones."""
DRAFT = 3
"""Tokens read beyond the next one, as with speculation."""
TURNS = [(7, 5), (3, 17), (16, 2), (9, 3), (12, 33)]
"""Of a conversation: so many tokens one by one, then so many in one call."""


class Answer(int):
    """A token, and by how much its logit is greater than the next one."""

    def __new__(cls, token, margin):
        answer = super().__new__(cls, token)
        answer.margin = margin
        return answer


class Ways:
    """`call(rows, state)` gives answers, [rows][length], and the state after; it may change the state that it takes, which is
    None at the beginning of a text."""

    def __init__(self, tracker):
        self.tracker = tracker
        self.long_ways = {"in pieces of 1024": lambda words: self.decoded(words[:1], 1024),
                          "token by token": lambda words: self.decoded(words[:1], 1),
                          "one call, then token by token": lambda words: self.decoded(words[1:])}

    def readings(self, words):
        for way, read in self.ways.items():
            for reading in read(words):
                reading.model, reading.way = self.tracker.name, way
                yield reading

    def reading(self, word, tokens, answers, borders, **others):
        answers = enumerate(answers) if isinstance(answers, list) else answers
        return Reading("", "", word["name"], tokens, dict(answers), borders, **others)

    # ---- What a server does with states. Methods of their own, so that faults can be planted in them.

    def copy_of(self, state):
        raise NotImplementedError

    def before_draft(self, state):
        """What is needed to go back to before a draft. A recurrent state has no positions that could be cut off."""
        return self.copy_of(state)

    def after_draft(self, state, kept, accepted, rejected):
        """The state after the accepted tokens of a draft alone."""
        return self.call([accepted], kept)[1] if rejected else state

    def of_turn(self, kept):
        """The state that a turn begins with, of those that were kept when the turns before it began."""
        return self.copy_of(kept[-1])

    # ---- Parts

    def prefill(self, tokens, piece=None):
        state, answers, borders = None, [], []
        for at in range(0, len(tokens), piece or len(tokens)):
            said, state = self.call([tokens[at : at + (piece or len(tokens))]], state)
            answers += said[0]
            borders.append(at)
        return answers, state, borders

    def continued(self, tokens, state):
        answers = []
        for token in tokens:
            said, state = self.call([[token]], state)
            answers += said[0]
        return answers, state

    def state_after(self, *tokens):
        return self.tracker.states(list(itertools.chain(*tokens)))[-1]

    # ---- Ways

    def whole(self, words):
        for word in words:
            tokens = word["prompt"] + word["then"]
            yield self.reading(word, tokens, self.prefill(tokens)[0], [0])

    def decoded(self, words, piece=None):
        for word in words:
            answers, state, borders = self.prefill(word["prompt"], piece)
            answers += self.continued(word["then"], state)[0]
            yield self.reading(word, word["prompt"] + word["then"], answers,
                               borders + list(range(len(word["prompt"]), len(answers))))

    def pieces(self, size):
        """Pieces that are no divisor of anything are read of shorter prompts."""
        return lambda words: self.decoded([word for word in words if size == 64 or len(word["prompt"]) < MIDDLE], size)

    def turns(self, words):
        """Two requests, a token of one and a token of the other."""
        short = [word for word in words if len(word["prompt"]) < SHORT][:4]
        for one, other in zip(short[::2], short[1::2]):
            both = [[word, *self.prefill(word["prompt"])[:2]] for word in (one, other)]
            for t in range(min(len(one["then"]), len(other["then"]))):
                for entry in both:
                    said, entry[2] = self.continued([entry[0]["then"][t]], entry[2])
                    entry[1] += said
            for i, (word, answers, _) in enumerate(both):
                yield self.reading(word, (word["prompt"] + word["then"])[: len(answers)], answers,
                                   [0, *range(len(word["prompt"]), len(answers))],
                                   others={"the other request": self.state_after(both[1 - i][0]["prompt"])})

    def resumed(self, words):
        """A prompt is continued; then the copy of its state, in another way."""
        for word in [word for word in words if len(word["prompt"]) < MIDDLE][::3]:
            answers, state, borders = self.prefill(word["prompt"])
            kept = self.copy_of(state)
            for then in (word["then"], word["then"][::-1]):
                said = answers + self.continued(then, state)[0]
                yield self.reading(word, word["prompt"] + then, said, borders + list(range(len(word["prompt"]), len(said))),
                                   others={"the continuation that was given up": self.state_after(word["prompt"], word["then"])})
                state = kept

    def preempted(self, words):
        """After half of the tokens the state is given up; prompt and tokens are read again, in one call, and it goes on."""
        for word in [word for word in words if len(word["prompt"]) < MIDDLE][2::3]:
            half = len(word["then"]) // 2
            self.continued(word["then"][:half], self.prefill(word["prompt"])[1])
            answers, state, _ = self.prefill(word["prompt"] + word["then"][:half])
            answers += self.continued(word["then"][half:], state)[0]
            yield self.reading(word, word["prompt"] + word["then"], answers,
                               [0, *range(len(word["prompt"]) + half, len(answers))])

    def drafted(self, words):
        """As with speculation: a token and a draft of three are read in one call, 0 to 3 of the draft are right, and the
        others are taken back."""
        letters = list(self.tracker.letter_of)
        for word in [word for word in words if len(word["prompt"]) < SHORT][::-2]:
            answers, state, borders = self.prefill(word["prompt"])
            at, turn, strays = 0, 0, {}
            while at + 1 + DRAFT <= len(word["then"]):
                right = turn % (DRAFT + 1)
                turn += 1
                draft = word["then"][at : at + 1 + DRAFT]
                for i in range(1 + right, 1 + DRAFT):  # another letter than the one that follows
                    draft[i] = letters[(letters.index(draft[i]) + 1) % len(letters)]
                borders.append(len(answers))
                kept = self.before_draft(state)
                said, state = self.call([draft], state)
                state = self.after_draft(state, kept, draft[: 1 + right], DRAFT - right)
                answers += said[0][: 1 + right]
                at += 1 + right
                strays[len(answers)] = [draft[1 + right :]]
            yield self.reading(word, word["prompt"] + word["then"][:at], answers, borders,
                               strays=("tokens of drafts that were given up", strays))

    def conversation(self, words):
        """Some tokens one by one, then several in one call, and so on. Before each such call the state is kept; other tokens
        are read, and given up; and the turn goes on from what was kept."""
        for word in [word for word in words if len(word["prompt"]) < SHORT and len(word["then"]) > 100]:
            answers, state, borders = self.prefill(word["prompt"])
            tokens, strays, kept = word["prompt"] + word["then"], {}, [self.copy_of(state)]
            for alone, more in TURNS:
                at = len(answers)
                answers += self.continued(tokens[at : at + alone], state)[0]
                turn = tokens[at + alone : at + alone + more]
                kept.append(self.copy_of(state))
                other = [*turn[::-1], turn[0]]
                strays[at + alone] = [other]
                self.call([other], state)
                said, state = self.call([turn], self.of_turn(kept))
                answers += said[0]
                borders += range(at, at + alone + 1)
            yield self.reading(word, tokens[: len(answers)], answers, borders, strays=("tokens of a turn that was given up", strays))

    def generated(self, words, tokens=40):
        """The model reads its own answers, which are letters too."""
        for word in [word for word in words if len(word["prompt"]) < SHORT and self.tracker.reads_answers]:
            answers, state, _ = self.prefill(word["prompt"])
            text = list(word["prompt"])
            while len(text) < len(word["prompt"]) + tokens and answers[-1] in self.tracker.letter_of:
                text.append(answers[-1])
                said, state = self.continued(text[-1:], state)
                answers += said
            yield self.reading(word, text, answers, [0, *range(len(word["prompt"]), len(text))])
