"""The ways in which text is served, for runtimes that give a state and take it back: a runner says how one call is made."""
from diagnosis import Reading

SHORT, MIDDLE, LONG = 300, 600, 2050
"""Tokens of a prompt: what is read often takes short ones."""
BRIEF = 20
"""Tokens after a prompt: what they are many for is read token by token, in drafts and in conversations."""
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


def brief(words, longest=MIDDLE):
    return [word for word in words if len(word["prompt"]) < longest and len(word["then"]) <= BRIEF]


def alike(words):
    """Words of one shape, which are read side by side."""
    groups = {}
    for word in words:
        groups.setdefault((len(word["prompt"]), len(word["then"])), []).append(word)
    return list(groups.values())


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

    def by(self, read, **others):
        """A way that is read with other attributes: another session, or another context."""

        def way(words):
            usual = {name: getattr(self, name) for name in others}
            self.__dict__.update(others)
            yield from read(words)
            self.__dict__.update(usual)

        return way

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
        """The state after the accepted tokens of each row's draft alone."""
        return self.call(accepted, kept)[1] if rejected else state

    def of_turn(self, kept):
        """The state that a turn begins with, of those that were kept when the turns before it began."""
        return self.copy_of(kept[-1])

    # ---- Parts

    def read(self, answers, rows, state):
        """Adds what is said to the answers of each row. The state after."""
        said, state = self.call(rows, state)
        for row, more in zip(answers, said):
            row += more
        return state

    def prefill(self, *rows, piece=None):
        """Rows of one length, from their beginnings: the answers of each, the state, and where the calls began."""
        answers, state, borders = [[] for _ in rows], None, range(0, len(rows[0]), piece or len(rows[0]))
        for at in borders:
            state = self.read(answers, [row[at : at + borders.step] for row in rows], state)
        return answers, state, list(borders)

    def continued(self, answers, rows, state):
        for column in zip(*rows):
            state = self.read(answers, [[token] for token in column], state)
        return state

    def state_after(self, tokens):
        return self.tracker.states(tokens)[-1]

    def shown(self, group, answers, borders=None, strays=None, kind=""):
        """Of words that were rows of one batch; without `borders`, the tokens after a prompt were read alone."""
        for i, (word, row) in enumerate(zip(group, answers)):
            others = {f"row {j + 1} of the batch": self.state_after(other["prompt"]) for j, other in enumerate(group) if j != i}
            yield self.reading(word, (word["prompt"] + word["then"])[: len(row)], row,
                               borders or [0, *range(len(word["prompt"]), len(row))], others=others,
                               strays=(kind, strays[i] if strays else {}))

    # ---- Ways

    def whole(self, words):
        for word in words:
            (answers,), _, borders = self.prefill(word["prompt"] + word["then"])
            yield from self.shown([word], [answers], borders)

    def decoded(self, words, piece=None):
        for group in alike(words):
            answers, state, borders = self.prefill(*(word["prompt"] for word in group), piece=piece)
            self.continued(answers, [word["then"] for word in group], state)
            yield from self.shown(group, answers, borders + list(range(len(group[0]["prompt"]), len(answers[0]))))

    def pieces(self, size):
        """Pieces that are no divisor of anything are read of shorter prompts."""
        return lambda words: self.decoded(
            [word for word in brief(words, LONG if size == 64 else MIDDLE) if len(word["prompt"]) > size], size)

    def turns(self, words):
        """Two requests, a token of one and a token of the other."""
        short = [word for word in words if len(word["prompt"]) < SHORT][:4]
        for one, other in zip(short[::2], short[1::2]):
            both = [[word, *self.prefill(word["prompt"])[:2]] for word in (one, other)]
            for t in range(min(len(one["then"]), len(other["then"]))):
                for entry in both:
                    entry[2] = self.read(entry[1], [[entry[0]["then"][t]]], entry[2])
            for i, (word, (answers,), _) in enumerate(both):
                yield self.reading(word, (word["prompt"] + word["then"])[: len(answers)], answers,
                                   [0, *range(len(word["prompt"]), len(answers))],
                                   others={"the other request": self.state_after(both[1 - i][0]["prompt"])})

    def resumed(self, words):
        """A prompt is continued; then the copy of its state, in another way."""
        for word in brief(words)[::3]:
            answers, state, borders = self.prefill(word["prompt"])
            kept = self.copy_of(state)
            for then in (word["then"], word["then"][::-1]):
                said = [list(answers[0])]
                self.continued(said, [then], state)
                yield self.reading(word, word["prompt"] + then, said[0], borders + list(range(len(word["prompt"]), len(said[0]))),
                                   others={"the continuation that was given up": self.state_after(word["prompt"] + word["then"])})
                state = kept

    def preempted(self, words):
        """After half of the tokens the state is given up; prompt and tokens are read again, in one call, and it goes on."""
        for word in brief(words)[2::3]:
            half = len(word["then"]) // 2
            self.continued([[]], [word["then"][:half]], self.prefill(word["prompt"])[1])
            answers, state, _ = self.prefill(word["prompt"] + word["then"][:half])
            self.continued(answers, [word["then"][half:]], state)
            yield from self.shown([word], answers, [0, *range(len(word["prompt"]) + half, len(answers[0]))])

    def drafted(self, words):
        """As with speculation: a token and a draft of three are read in one call, 0 to 3 of the draft are right, and the
        others are taken back."""
        letters = list(self.tracker.letter_of)
        other = dict(zip(letters, letters[1:] + letters[:1]))  # than the one that follows
        for group in alike([word for word in words if len(word["prompt"]) < SHORT])[::-2]:
            answers, state, borders = self.prefill(*(word["prompt"] for word in group))
            at, strays = 0, [{} for _ in group]
            while at + 1 + DRAFT <= len(group[0]["then"]):
                right = (len(borders) - 1) % (DRAFT + 1)
                taken = [word["then"][at : at + 1 + right] for word in group]
                given_up = [[other[token] for token in word["then"][at + 1 + right : at + 1 + DRAFT]] for word in group]
                borders.append(len(answers[0]))
                kept = self.before_draft(state)
                said, state = self.call([one + two for one, two in zip(taken, given_up)], state)
                state = self.after_draft(state, kept, taken, DRAFT - right)
                at += 1 + right
                for row, more, stray, tokens in zip(answers, said, strays, given_up):
                    row += more[: 1 + right]
                    stray[len(row)] = [tokens]
            yield from self.shown(group, answers, borders, strays, "tokens of drafts that were given up")

    def conversation(self, words):
        """Some tokens one by one, then several in one call, and so on. Before each such call the state is kept; other tokens
        are read, and given up; and the turn goes on from what was kept."""
        for group in alike([word for word in words if len(word["prompt"]) < SHORT and len(word["then"]) > BRIEF]):
            texts = [word["prompt"] + word["then"] for word in group]
            answers, state, borders = self.prefill(*(word["prompt"] for word in group))
            strays, kept = [{} for _ in group], [self.copy_of(state)]
            for alone, more in TURNS:
                at, end = len(answers[0]), len(answers[0]) + alone
                state = self.continued(answers, [text[at:end] for text in texts], state)
                turns = [text[end : end + more] for text in texts]
                kept.append(self.copy_of(state))
                others = [[*turn[::-1], turn[0]] for turn in turns]
                self.call(others, state)
                state = self.read(answers, turns, self.of_turn(kept))
                borders += range(at, end + 1)
                for stray, tokens in zip(strays, others):
                    stray[end] = [tokens]
            yield from self.shown(group, answers, borders, strays, "tokens of a turn that was given up")

    def generating(self, words):
        return [word for word in words if len(word["prompt"]) < SHORT and self.tracker.reads_answers]

    def generated(self, words):
        """The model reads its own answers, which are letters too."""
        for word in self.generating(words):
            answers, state, _ = self.prefill(word["prompt"])
            text, longest = list(word["prompt"]), len(word["prompt"]) + len(word["then"][:40])
            while len(text) < longest and answers[0][-1] in self.tracker.letter_of:
                text.append(answers[0][-1])
                state = self.read(answers, [text[-1:]], state)
            yield self.reading(word, text, answers[0], [0, *range(len(word["prompt"]), len(text))])
