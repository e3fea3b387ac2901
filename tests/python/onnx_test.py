"""Exported ONNX models say what the automaton says: decoded and run by a few lines written from ONNX's documents."""
import json
import pathlib
import tempfile
import unittest

import krohn
import numpy as np

TYPES = {1: np.float32, 7: np.int64, 11: np.float64}
OPERATORS = {
    "Gather": lambda data, indices: data[indices],
    "MatMul": np.matmul,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "ReduceSum": lambda data, axes: data.sum(tuple(axes)),
    "ArgMin": lambda data: data.argmin(1),
    "ArgMax": lambda data: data.argmax(1),
    "Reshape": np.reshape,
    "Unsqueeze": lambda data, axes: np.expand_dims(data, tuple(axes)),
    "Shape": lambda data: np.array(data.shape),
    "Concat": lambda *parts: np.concatenate(parts),
    "Expand": lambda data, shape: np.broadcast_to(data, np.broadcast_shapes(data.shape, tuple(shape))),
}


def message(data):
    """Every field of a message of Protocol Buffers with its values, numbers or bytes."""
    fields, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value

    while at < len(data):
        field, kind = divmod(varint(), 8)
        value = varint()
        if kind == 2:
            value, at = data[at:at + value], at + value
            assert len(data) >= at
        else:
            assert kind == 0
        fields.setdefault(field, []).append(value)
    return fields


def names(texts):
    return [text.decode() for text in texts]


def names_of_values(messages):
    return [message(text)[1][0].decode() for text in messages]


def scan(node, values):
    attributes = {each[1][0].decode(): each for each in map(message, node[5])}
    assert all(each[8] == [1] for name, each in attributes.items() if name.endswith("axes"))
    body = message(attributes["body"][6][0])
    inputs, outputs = names_of_values(body[11]), names_of_values(body[12])
    assert (len(inputs), len(outputs)) == (len(node[1]), len(node[2]))
    *carried, letters = (values[name] for name in names(node[1]))
    said = []
    for letter in letters.T:
        inner = {**values, **dict(zip(inputs, [*carried, letter]))}
        run(body, inner)
        *carried, found = (inner[name] for name in outputs)
        assert found.shape == letter.shape
        said.append(found)
    values.update(zip(names(node[2]), [*carried, np.stack(said, 1)]))


def run(graph, values):
    for node in map(message, graph[1]):
        operation = node[4][0].decode()
        if operation == "Scan":
            scan(node, values)
            continue
        given = [values[name] for name in names(node[1])]
        if operation == "Gather":
            assert (given[1] >= 0).all()
        values[node[2][0].decode()] = OPERATORS[operation](*given)


class Model:
    def __init__(self, source, construction=None):
        network = krohn.compile(source, construction=construction)
        self.automaton = network.automaton
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            krohn.export(network, "onnx", path)
            self.fields = message(path.read_bytes())
        self.graph = message(self.fields[7][0])
        self.inputs, self.outputs = (names_of_values(self.graph[field]) for field in (11, 12))

    def words(self, rows, length):
        return np.random.default_rng(3).integers(0, len(self.automaton.letters), size=(rows, length))

    def __call__(self, letters, **before):
        """Every value that is computed; `before` is what the model remembers of letters before these."""
        values = {}
        for tensor in map(message, self.graph[5]):
            numbers = np.frombuffer(tensor[9][0], TYPES[tensor[2][0]])
            values[tensor[8][0].decode()] = numbers.reshape(tensor.get(1, []))
        values.update(before, letters=letters)
        run(self.graph, values)
        return values


class Models(unittest.TestCase):
    def test_models_compute_the_automaton_letter_by_letter(self):
        for source, construction in (("regex:(a|b)*abb", "one-hot"), ("name:modarith5", "cascade-holonomy"),
                                     ("name:tomita3", "cascade-chain"), ("name:Z7", "two-layer-reflections"),
                                     ("name:Z5", "rotation"), ("name:S4", "permutation-base-reflections"),
                                     ("name:tomita4", "diagonal-unit-interval"), ("name:Z12", "signed-permutation")):
            model = Model(source, construction)
            for rows in (1, 3):
                words = model.words(rows, 40)
                values, states = model(words), model.automaton.run(words)
                np.testing.assert_array_equal(values["states"], states, source)
                np.testing.assert_array_equal(values["outputs"], model.automaton.outputs[states], source)

    def test_a_word_in_pieces_with_the_memory_carried_on_is_the_word_at_once(self):
        for source in ("name:S4", "name:Z12", "name:modarith5", "regex:(a|b)*abb"):
            model = Model(source)
            words = model.words(3, 30)
            whole = model(words)["states"]
            memory = [name for name in model.inputs if name != "letters"]
            self.assertEqual(sorted(model.outputs), sorted(["states", "outputs", *(name + ".last" for name in memory)]))
            for piece in (1, 7):
                before = {}
                for at in range(0, 30, piece):
                    values = model(words[:, at:at + piece], **before)
                    np.testing.assert_array_equal(values["states"], whole[:, at:at + piece], source)
                    before = {name: values[name + ".last"] for name in memory}

    def test_operator_set_letters_and_outputs_are_named(self):
        model = Model("regex:(a|b)*abb")
        self.assertEqual(message(model.fields[8][0])[2], [13])
        about = {key.decode(): json.loads(value) for key, value in ((*each[1], *each[2]) for each in map(message, model.fields[14]))}
        self.assertEqual(about, {"alphabet": ["a", "b"], "output_names": ["reject", "accept"]})

    def test_too_many_dense_numbers_are_refused(self):
        with self.assertRaisesRegex(krohn.LimitError, "an ONNX model holds dense matrices"):
            Model("name:random:m=3000,letters=2,seed=1", "one-hot")


if __name__ == "__main__":
    unittest.main()
