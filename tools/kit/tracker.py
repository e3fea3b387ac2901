"""What the tokens of one of the kit's models mean, and the right answer to every text of them."""
import json
import pathlib


class Tracker:
    """`answers` is what a sound runtime says after every token; None where nothing is promised."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        facts = json.loads((self.folder / "tracker.json").read_text(encoding="utf-8"))
        self.name, self.about, self.delay = facts["name"], facts["about"], facts["delay"]
        self.layers, self.formats = facts["layers"], facts.get("formats", [])
        self.table, self.initial, self.begin = facts["table"], facts["initial"], facts["begin"]
        self.state_tokens = facts["state_tokens"]
        self.letter_of = {token: letter for letter, token in enumerate(facts["letter_tokens"])}
        self.letter_of.update(zip(self.state_tokens, facts["as_input"]))
        self.reads_answers = len(facts["as_input"]) > 0

    def words(self):
        """Dictionaries with name, prompt, then, and answers, -1 where nothing is promised."""
        with open(self.folder / "words.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def busiest(self):
        """The token of the letter that moves the most states."""
        moved = {token: sum(row[letter] != state for state, row in enumerate(self.table)) for token, letter in self.letter_of.items()}
        return max(moved, key=moved.get)

    def states(self, tokens):
        """The state after every token; None while a beginning is being read. They are `delay` tokens ahead of answers."""
        state, begun, states = None, 0, []
        for token in tokens:
            if token in self.begin:
                place = self.begin.index(token)
                begun = place + 1 if place in (0, begun) else 0
                state = self.initial if begun == len(self.begin) else None
            elif state is not None:
                state = self.table[state][self.letter_of[token]] if token in self.letter_of else None
            states.append(state)
        return states

    def shown(self, states, tokens):
        """Answers out of states: late, and none while a beginning is on its way."""
        answers = []
        for t in range(len(states)):
            early = tokens[max(0, t - self.delay + 1) : t + 1] if self.delay else []
            known = t >= self.delay and self.begin[0] not in early and states[t - self.delay] is not None
            answers.append(states[t - self.delay] if known else None)
        return answers

    def answers(self, tokens):
        return [None if state is None else self.state_tokens[state] for state in self.shown(self.states(tokens), tokens)]
