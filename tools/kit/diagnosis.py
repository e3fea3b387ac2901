"""Which fault of a runtime's memory explains wrong answers: the automaton is run with each fault at each place, and what
says exactly what the runtime said is named."""
import itertools
from dataclasses import dataclass, field

EMPTY = "empty"
"""The state of a model whose memory is zero: letters leave it so, and what it answers is no state's token, or always the same."""
ALWAYS = 6
"""So many equal answers, where others are right, are not chance."""
ROLLED_BACK = "rolled back too far"
ONE_STEP = "the step of one token loses an update, or computes a factor otherwise (β clamped to 1 or not doubled, a decay, a norm)"
LATE_DECAY = "a decay is applied one token late"
EMPTIED = "lost, or never written"
RINGS = (16, 32, 64)
"""So many tokens are kept beside the state before they are written into it, where a runtime does that."""
SCALED = "scaled (a factor, a norm or a gate is computed otherwise), or digits are lost"
NO_FAULT = "no single fault that the kit knows explains it"
SEVERAL_LAYERS = "no fault of the whole state explains it; several layers hold a part of it each: see what the other models say"


def kinds_of(explanation):
    """What an explanation says beside the place, each once."""
    return list(dict.fromkeys(text.split(": ", 1)[-1] for text in explanation.split("; or ")))


@dataclass
class Reading:
    """A text as a runtime read it: its answers by position, and the places where the text was cut."""

    model: str
    way: str
    word: str
    tokens: list
    answers: dict
    """position -> token; positions that the runtime does not show are absent"""
    borders: list = field(default_factory=list)
    """positions whose token was the first of a call"""
    others: dict = field(default_factory=dict)
    """name -> state, of other texts that the runtime had in hand"""
    strays: tuple = ("", {})
    """what they are, and position -> [tokens that the runtime may have had in hand just before, and that are not of the text]"""


def first_wrong(tracker, reading):
    right = tracker.answers(reading.tokens)
    wrong = [t for t, answer in sorted(reading.answers.items()) if right[t] is not None and answer != right[t]]
    return (wrong[0], right[wrong[0]], reading.answers[wrong[0]], len(wrong)) if wrong else None


class Diagnosis:
    """Of one reading, wrong first at position `first`."""

    def __init__(self, tracker, reading, first):
        self.tracker, self.reading, self.first = tracker, reading, first
        self.tokens = reading.tokens
        self.right = tracker.states(self.tokens)
        self.last = max(reading.answers)
        self.alone = self._alone()
        borders = {*reading.borders, len(self.tokens)}
        self.alone_at = {t for t in borders if t + 1 in borders}
        self.ages = {0: 0}  # position -> so many tokens just before it were read alone
        for t in range(1, len(self.tokens)):
            self.ages[t] = self.ages[t - 1] + 1 if t - 1 in self.alone_at else 0
        self.turns = [t for t in sorted(borders) if t < len(self.tokens) and self.ages[t] and t not in self.alone_at]
        self.kept = [self.turns[0] - self.ages[self.turns[0]], *self.turns] if self.turns else []  # where turns before them began
        letters = range(len(tracker.table[0]))
        self.resets = {letter: tracker.table[0][letter] for letter in letters if len({row[letter] for row in tracker.table}) == 1}

    def explanation(self):
        """A sentence. Of places, one at a border is the likelier, then the one that is nearest to the first wrong answer; of
        what fits there, all is said, as far as three: a swap that is lost and one that is doubled are the same. Going back fits
        by chance, in a small automaton: it is said where nothing else is."""
        if found := self._by_strays():
            return found
        fits = [((p not in self.reading.borders, abs(self.first - p)), text) for p, text in self._fitting()]
        if not fits:
            return self._by_copies() or self._by_rings() or self._by_several() or self._by_place()
        nearest = min(place for place, _ in fits)
        texts = list(dict.fromkeys(text for place, text in fits if place == nearest))
        texts = [text for text in texts if not text.endswith(ROLLED_BACK)] or texts
        return "; or ".join(texts[:3])

    def _alone(self):
        """The first of several tokens at the end of the text, each read in a call of its own, that moves the state; or None."""
        borders = set(self.reading.borders)
        first = len(self.tokens)
        while first - 1 in borders:
            first -= 1
        if len(self.tokens) - first < 2:
            return None
        moving = (t - self.tracker.delay for t in range(first, len(self.tokens)) if t >= self.tracker.delay)
        return next((p for p in moving if p > 0 and self.tokens[p] in self.tracker.letter_of and self.right[p] != self.right[p - 1]), None)

    # ---- One fault at one place

    def _step(self, state, t):
        token = self.tokens[t]
        if token in self.tracker.begin:
            return self.right[t]
        if state is None or state == EMPTY:
            return state
        return self.tracker.table[state][self.tracker.letter_of[token]]

    def _before(self, p):
        return self.right[p - 1] if p > 0 else None

    def _fits(self, p, states):
        """Whether the states from p on, right ones before, say what was said. `states` is a generator and is left early."""
        late, tracker = self.tracker.delay, self.tracker
        changed, constant, empties = False, None, 0
        for t, state in enumerate(states, p):
            at = t + late
            if at > self.last or t >= len(self.tokens):
                break
            if tracker.begin[0] in self.tokens[t + 1 : at + 1] or state is None:
                continue
            said = self.reading.answers.get(at)
            if said is None:
                continue
            if state == EMPTY:
                if said in tracker.state_tokens:
                    constant = said if constant is None else constant
                    if said != constant:
                        return False
                    empties += 1
                    changed = changed or said != tracker.state_tokens[self.right[t]]
                    continue
                changed = True
            elif said != tracker.state_tokens[state]:
                return False
            changed = changed or state != self.right[t]
        return changed and not 0 < empties < ALWAYS

    def _from(self, state, p):
        """Reading on from p with another state."""
        for t in range(p, len(self.tokens)):
            state = self._step(state, t)
            yield state

    def _doubled(self, p):
        yield from self._from(self._step(self._before(p), p), p)

    def _lost(self, p):
        state = self._before(p)
        yield state
        yield from self._from(state, p + 1)

    def _lost_run(self, p, end, state):
        for _ in range(p, end):
            yield state
        yield from self._from(state, end)

    def _written_anew(self, p, end):
        """Empty, until from `end` on a letter comes that takes all states to one: it writes all that there is."""
        state = EMPTY
        for t in range(p, len(self.tokens)):
            anew = self.resets.get(self.tracker.letter_of.get(self.tokens[t])) if state == EMPTY and t >= end else None
            state = self._step(state, t) if anew is None else anew
            yield state

    def _decayed_late(self, p):
        """Empty before every token that comes after a beginning."""
        state = EMPTY
        for t in range(p, len(self.tokens)):
            is_behind = self.tokens[t - 1] in self.tracker.begin and self.tokens[t] not in self.tracker.begin
            state = EMPTY if is_behind else self._step(state, t)
            yield state

    def _exchanged(self, p):
        if p + 1 >= len(self.tokens) or self.tokens[p + 1] in self.tracker.begin:
            return
        state = self._step(self._before(p), p + 1)
        yield state
        state = self._step(state, p)
        yield state
        yield from self._from(state, p + 2)

    def _stored_late(self, p):
        """The update of p is in its own answer, and lost for what follows."""
        yield self._step(self._before(p), p)
        yield from self._from(self._before(p), p + 1)

    def _twice_stored(self, p):
        """The update of p is in its answer once, and twice for what follows."""
        state = self._step(self._before(p), p)
        yield state
        yield from self._from(self._step(state, p), p + 1)

    def _frozen(self, p):
        for t in range(p, len(self.tokens)):
            yield self._step(self._before(p), t)

    def _every(self, p, value):
        """The same before every p-th token of what was read in one call."""
        state, cut = self._before(p), self.tracker.delay
        end = min([b for b in self.reading.borders if b > p], default=len(self.tokens))
        for t in range(p, len(self.tokens)):
            if t % p == 0 and t + cut < end:
                state = value
            state = self._step(state, t)
            yield state

    def _several(self, answered, kept):
        """Where the fewest tokens read alone with one fault, the same at each, explain everything: (their number, the first,
        the last), or None. `answered` and `kept` say how often a faulty token moves the state before its answer and in all.
        Every fourth token that moves the state, at most: with more, anything can be explained."""
        late, borders, tracker = self.tracker.delay, set(self.reading.borders), self.tracker
        ways, moving = {self.tracker.initial: (0, None, None)}, 0

        def moved(state, t, times):
            for _ in range(times):
                state = self._step(state, t)
            return state

        for t in range(min(len(self.tokens), self.last - late + 1)):
            if self.right[t] is None or self.tokens[t] in tracker.begin:
                ways = {self.right[t]: min(ways.values())}
                continue
            is_alone = t + late in borders and t + late + 1 in borders | {len(self.tokens)}
            moving += is_alone and self.right[t] != self._before(t)
            said = None if tracker.begin[0] in self.tokens[t + 1 : t + late + 1] else self.reading.answers.get(t + late)
            after = {}
            for state, (count, first, last) in ways.items():
                step = self._step(state, t)
                steps = [(step, step, (count, first, last))]
                if is_alone and step != state:
                    steps.append((moved(state, t, answered), moved(state, t, kept), (count + 1, t if first is None else first, t)))
                for shown, then, cost in steps:
                    if said is None or tracker.state_tokens[shown] == said:
                        after[then] = min(cost, after.get(then, cost), key=lambda cost: cost[0])
            if not after:
                return None
            ways = after
        fewest = min(ways.values(), key=lambda cost: cost[0])
        return fewest if 1 < fewest[0] <= moving / 4 else None

    def _fitting(self):
        """All (place, sentence) that fit. The place is the first token that shows the fault: a model that answers late takes a
        letter up so much later. Places are those up to the first wrong answer, or near it where a text is long."""
        reading, tracker = self.reading, self.tracker
        last = self.first - tracker.delay
        all_shown = min(reading.answers) == 0
        tokens, is_projected = self.tokens, self.alone is not None and self._fits(self.alone, self._from(EMPTY, self.alone))
        for p in range(last, -1 if len(self.tokens) < 600 or not all_shown else max(-1, last - 64), -1):
            at = p + tracker.delay
            if self._before(p) is None or self.tokens[p] in tracker.begin:
                continue
            said = f"token {at + 1}" + (" (the first of a call)" if at in reading.borders else "")
            if is_projected and p >= self.alone and self._fits(p, self._from(EMPTY, p)):
                yield at, f"token {self.alone + tracker.delay + 1}, the first read alone that moves the state, empties it: {ONE_STEP}"
            if tokens[p - 1] in tracker.begin and at not in reading.borders and self._fits(p, self._decayed_late(p)):
                yield at, f"the state was empty before {said}, the one after a beginning: {LATE_DECAY}"
            for fits, text in [
                (lambda: self._from(EMPTY, p), f"the state was empty before {said}: {EMPTIED}"),
                (lambda: self._lost(p), f"the update at {said} was not made: lost"),
                (lambda: self._doubled(p), f"the update at {said} was made twice: doubled"),
                (lambda: self._exchanged(p), f"the updates at {said} and at the next were made in the wrong order: exchanged"),
            ]:
                if self._fits(p, fits()):
                    yield at, text
            for fits, text in [
                (self._stored_late, f"the update at {said} was not kept for the tokens after it: lost"),
                (self._twice_stored, f"the update at {said} was made once more before the next token: doubled"),
            ]:
                if self._fits(p, fits(p)):
                    yield at + 1, text
            if self.resets and (self._fits(p, self._written_anew(p, p)) or self._fits(p, self._written_anew(p, at))):
                yield at, f"the state was empty before {said}: {EMPTIED}"
            if tracker.delay and at in reading.borders and self._fits(p, self._lost_run(p, at, self._before(p))):
                yield at, f"tokens {p + 1} to {at} took no effect: the convolution's state was lost before {said}"
            for name, state in reading.others.items():
                if state != self._before(p) and self._fits(p, self._from(state, p)):
                    yield at, f"the state was that of {name} before {said}: a stranger's"
            if self._before(p) != tracker.initial and self._fits(p, self._from(tracker.initial, p)):
                yield at, f"the state was that of the beginning before {said}: reset"
            if self._fits(p, self._frozen(p)):
                yield at, f"from {said} on no update was kept: lost"
            for back in range(p - 1, max(0, p - 80), -1) if at in reading.borders else ():
                if back < p - 1 and self._before(back) is not None and self._fits(p, self._from(self._before(back), p)):
                    yield at, f"the updates of tokens {back + 1} to {p} were forgotten before {said}: {ROLLED_BACK}"
        for size in (64, 128, 256, 512):
            if size <= last and self._fits(size, self._every(size, EMPTY)):
                yield size, f"the state was empty before every {size}th token of a call: lost at its borders"

    # ---- Tokens that are not of the text

    def _by_strays(self):
        """Where it explains all answers that they were read: everywhere, in one way, or at some places, each of which explains
        more answers than the ones before it."""
        kind, strays = self.reading.strays
        right = self.tracker.answers(self.tokens)
        wrongs = sum(right[t] not in (None, said) for t, said in self.reading.answers.items())
        for i in range(max(map(len, strays.values()), default=0)):
            everywhere = {at: read[i] for at, read in strays.items() if read[i]}
            if everywhere and self._wrong_with(everywhere) is None:
                return self._named_strays(kind, everywhere)
        chosen, wrong = {}, self.first
        while wrong is not None:
            open_ = [(at, tokens) for at in strays if max(chosen, default=0) < at <= wrong for tokens in strays[at] if tokens]
            further = [(self._wrong_with({**chosen, at: tokens}), at, tokens) for at, tokens in open_]
            best, at, tokens = max(further, key=lambda found: (found[0] is None, found[0] or 0, found[1]), default=(wrong, 0, []))
            chosen[at] = tokens
            if (best is not None and best <= wrong) or wrongs < 4 * len(chosen):
                return None
            wrong = best
        return self._by_copies() or self._named_strays(kind, chosen)  # what leaves less to choose comes first

    def _named_strays(self, kind, places):
        more = f" and in {len(places) - 1} more places" if len(places) > 1 else ""
        return f"{kind} before token {min(places) + 1}{more} stayed in the state: {kind}, read as text"

    def _wrong_with(self, strays):
        """The first answer that is another where these were read."""
        tokens, places = [], []
        for t, token in enumerate(self.tokens):
            tokens += strays.get(t, [])
            places.append(len(tokens))
            tokens.append(token)
        answers = self.tracker.answers(tokens)
        return next((t for t, said in sorted(self.reading.answers.items()) if answers[places[t]] not in (None, said)), None)

    # ---- Where no fault at one place fits

    def _by_rings(self):
        """Tokens that are read alone wait in a ring beside the state. Whenever it is full it is written into the state, which
        fails always, or once; or a copy of the state is made without it."""
        late = self.tracker.delay
        for size in RINGS:
            counted = [t - late for t, count in self.ages.items() if count and count % size == 0]
            for flushes in (counted, list(range(size - late, self.last - late + 1, size))):
                for kind in ("lost", "made twice", "added to an older state"):
                    for chosen in (flushes, *([t] for t in flushes)):
                        if chosen and size < chosen[0] <= self.first - late and self._fits(chosen[0], self._flushed(size, chosen, kind)):
                            return (f"from token {chosen[0] + late + 1} on, every {size} tokens, the updates of the last {size} were "
                                    f"{kind}: a ring of inputs whose flush is {kind}")
                if found := self._strangers(flushes):
                    return (f"before token {found + late + 1}, and so on every {size} tokens, one more letter was read: "
                            f"a ring of inputs that is flushed with tokens of a draft that was given up")
        return None

    def _by_copies(self):
        for size, least in itertools.product(RINGS, (0, 1)):
            if found := self._uncopied({t: (self.ages[t] - least) % size + least for t in self.turns}):
                return f"{found} of tokens read alone were missing: a ring of inputs that is not copied with the state"
        if found := self._uncopied(dict(zip(self.turns, [t - before for before, t in zip(self.kept, self.turns)]))):
            return f"{found} were missing: a turn that begins with the state of the turn before"
        return None

    def _flushed(self, size, flushes, kind):
        """The states from the first flush on. A flush comes before the token at its place."""
        states = self.right[: flushes[0]]
        written = [states[flushes[0] - size - 1]]
        for t in range(flushes[0], len(self.tokens)):
            state = states[t - 1]
            if t in flushes:
                if t - size not in flushes:
                    written = [states[t - size - 1]]
                state = state if kind == "made twice" else written[-1] if kind == "lost" else written[-2:][0]
                for back in range(t - size, t if kind != "lost" else 0):
                    state = self._step(state, back)
                written.append(state)
            states.append(self._step(state, t))
            yield states[-1]

    def _uncopied(self, waiting):
        """Whether it explains everything that turns begin without so many of the last updates."""
        waiting = {t - self.tracker.delay: count for t, count in waiting.items()}
        first = min(waiting, default=self.first + 1)

        def states():
            states = self.right[:first]
            for t in range(first, len(self.tokens)):
                back = waiting.get(t, 0) + 1
                states.append(self._step(states[t - back] if t >= back else None, t))
                yield states[-1]

        is_it = first <= self.first - self.tracker.delay and self._fits(first, states())
        place = f"before token {first + self.tracker.delay + 1}, and before further turns,"
        return f"{place} the last {waiting[first]} updates" if is_it else None

    def _strangers(self, flushes):
        """The first of these places where one more letter, any, is read, if that at some of them explains everything."""
        first = min(flushes, default=len(self.tokens))
        ways = {self._before(first): ()} if first < len(self.tokens) else {}
        for t in range(first, min(len(self.tokens), self.last - self.tracker.delay + 1)):
            said, after = self.reading.answers.get(t + self.tracker.delay), {}
            for state, places in ways.items():
                more = set(self.tracker.table[state]) - {state} if t in flushes and state is not None else ()
                for before, read in [(state, places), *((other, (*places, t)) for other in more)]:
                    then = self._step(before, t)
                    if said in (None, self._shown(then, t)) and len(read) <= len(after.get(then, read)):
                        after[then] = read
            ways = after
        places = min(ways.values(), key=len, default=())
        return places[0] if places else None

    def _shown(self, state, t):
        is_known = state is not None and self.tracker.begin[0] not in self.tokens[t + 1 : t + self.tracker.delay + 1]
        return self.tracker.state_tokens[state] if is_known else self.reading.answers.get(t + self.tracker.delay)

    def _by_several(self):
        for answered, kept, text in [
            (0, 0, "were not made: lost"),
            (1, 0, "were not kept for the tokens after them: lost"),
            (2, 2, "were made twice: doubled"),
            (1, 2, "were made once more before the next token: doubled"),
        ]:
            if found := self._several(answered, kept):
                count, first, last = found
                late = self.tracker.delay + 1
                return f"the updates of {count} tokens that were read alone, {first + late} to {last + late}, {text}"
        return None

    def _by_place(self):
        tracker, tokens = self.tracker, self.tokens
        begins = [t for t, token in enumerate(tokens) if token == tracker.begin[0] and t <= self.first]
        since = self.first - (begins[-1] if begins else 0) - tracker.delay - len(tracker.begin)
        if since < 8 and len(begins) > 1:
            return f"the beginning at token {begins[-1] + 1} did not empty the state: a decay or a gate is ignored, or scaled"
        if since < 8:
            return f"wrong from the beginning: {SCALED}"
        if self.alone is not None and 0 <= self.first - tracker.delay - self.alone < 8:
            return f"{NO_FAULT}, and it begins where tokens are read alone: {ONE_STEP}"
        return SEVERAL_LAYERS if tracker.layers > 1 else NO_FAULT
