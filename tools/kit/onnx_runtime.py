"""ONNX Runtime, whose models take and give their memory by name: what a server carries from one call to the next, it carries
itself. The models are the automata's own networks (`krohn compile --target onnx`), with one more letter that begins words."""
import json

import numpy
import onnxruntime

from ways import MIDDLE, SHORT, Ways

DTYPES = ("float32",)
MODELS = ("parity", "s3", "s5", "z4", "latch")
MEMORY = ".last"
"""`H0.k.last` is an output, and `H0.k` the input that takes it."""
LEVELS = {"no optimisations": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
          "all optimisations": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}


def about():
    return f"ONNX Runtime {onnxruntime.__version__}, {onnxruntime.get_available_providers()[-1]}"


class Session:
    """One model. `run` reads letters, row by row, after what `memory` holds of each."""

    def __init__(self, path, level):
        wishes = onnxruntime.SessionOptions()
        wishes.graph_optimization_level = level
        wishes.intra_op_num_threads = wishes.inter_op_num_threads = 1
        wishes.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(path, wishes, providers=["CPUExecutionProvider"])
        self.outputs = [output.name for output in self.session.get_outputs()]
        if not any(name.endswith(MEMORY) for name in self.outputs):
            raise ValueError(f"{path} gives no memory to go on with; write the kit again")

    def run(self, rows, memory=None):
        feeds = {"letters": numpy.array(rows, dtype=numpy.int64), **(memory or {})}
        said = dict(zip(self.outputs, self.session.run(self.outputs, feeds)))
        memory = {name[: -len(MEMORY)]: value for name, value in said.items() if name.endswith(MEMORY)}
        return said["states"].tolist(), memory


class Runtime(Ways):
    def __init__(self, tracker, dtype):
        super().__init__(tracker)
        path = str(tracker.folder / "model.onnx")
        sessions = {level: Session(path, value) for level, value in LEVELS.items()}
        self.session = sessions["all optimisations"]
        letters = json.loads(self.session.session.get_modelmeta().custom_metadata_map["alphabet"])
        self.letter = {**tracker.letter_of, tracker.begin[0]: len(letters) - 1}
        self.ways = {
            **{f"the text in one call, {level}": self.by(self.whole, session=session) for level, session in sessions.items()},
            "prompt, then token by token": self.decoded,
            "prompt in pieces of 64": self.pieces(64),
            "prompt in pieces of 100": self.pieces(100),
            "padded batches": self.batches,
            "requests in turns": self.turns,
            "joined and parted batches": self.joined,
            "from a saved memory": self.resumed,
            "preempted and read again": self.preempted,
            "drafts, some taken back": self.drafted,
            "a conversation of several turns": self.conversation,
            "greedy generation": self.generated,
        }

    # ---- One call of the model

    def call(self, rows, memory=None):
        """Answers [rows][length], and the memory of every row."""
        states, after = self.session.run([[self.letter[token] for token in row] for row in rows], memory)
        if memory is None:
            memory = after
        memory.update(after)  # as a server does that keeps one buffer for each request
        return [[self.tracker.state_tokens[state] for state in row] for row in states], memory

    def copy_of(self, memory):
        return {name: value.copy() for name, value in memory.items()}

    # ---- Ways

    def batches(self, words, rows=4):
        """Prompts of different lengths, filled up on the left with the token that begins words."""
        short = [word for word in words if len(word["prompt"]) < MIDDLE]
        for at in range(0, len(short) - 1, rows):
            batch = short[at : at + rows]
            width = max(len(word["prompt"]) for word in batch)
            gaps = [width - len(word["prompt"]) for word in batch]
            said, memory = self.call([self.tracker.begin * gap + word["prompt"] for gap, word in zip(gaps, batch)])
            answers = [row[gap:] for gap, row in zip(gaps, said)]
            self.continued(answers, [word["then"] for word in batch], memory)
            yield from self.shown(batch, answers)

    def joined(self, words):
        """Two requests decode alone, then in one batch, then alone again, as with continuous batching."""
        short = [word for word in words if len(word["prompt"]) < SHORT][:8]
        for one, other in zip(short[::2], short[1::2]):
            both = [[word, *self.prefill(word["prompt"])[:2]] for word in (one, other)]
            third = min(len(one["then"]), len(other["then"])) // 3
            for entry in both:
                entry[2] = self.continued(entry[1], [entry[0]["then"][:third]], entry[2])
            memory = {name: numpy.concatenate([entry[2][name] for entry in both]) for name in both[0][2]}
            memory = self.continued([entry[1][0] for entry in both], [entry[0]["then"][third : 2 * third] for entry in both], memory)
            ends = [self.tracker.states(word["prompt"] + word["then"][:third])[-1] for word in (one, other)]
            for i, (word, answers, _) in enumerate(both):
                self.continued(answers, [word["then"][2 * third :]], {name: value[i : i + 1] for name, value in memory.items()})
                yield self.reading(word, word["prompt"] + word["then"], answers[0],
                                   [0, *range(len(word["prompt"]), len(answers[0]))], others={"the other request": ends[1 - i]})
