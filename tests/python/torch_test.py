"""krohn.torch beside the automata, when PyTorch is there."""
import importlib.util
import os
import tempfile
import unittest

import krohn

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_SAFETENSORS = importlib.util.find_spec("safetensors") is not None


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Modules(unittest.TestCase):
    def test_modules_give_the_states_of_their_automata(self):
        import torch
        from krohn.torch import ExactLRNN

        for name in ("name:S3", "name:modarith5", "regex:(a|b)*abb", "name:tomita5"):
            module = ExactLRNN.from_network(krohn.compile(name))
            letters = torch.randint(0, len(module.letters), (4, 60), generator=torch.Generator().manual_seed(6))
            expected = module.expected_states(letters)
            self.assertTrue(torch.equal(module.sequential(letters), expected), name)
            for chunk in (1, 2, 59, 60, 61):
                self.assertTrue(torch.equal(module(letters, chunk=chunk), expected), (name, chunk))

    def test_scans_are_the_recurrence_at_every_length(self):
        import torch
        from krohn.torch import scan

        draw = torch.Generator().manual_seed(3)
        for length in range(34):
            for has_b in (False, True):
                a = torch.randn(2, length, 3, 3, generator=draw, dtype=torch.float64) / 2
                b = torch.randn(2, length, 3, 2, generator=draw, dtype=torch.float64) if has_b else None
                state = start = torch.randn(2, 3, 2, generator=draw, dtype=torch.float64)
                found = scan(a, b, start)
                self.assertEqual(found.shape, (2, length, 3, 2))
                for t in range(length):
                    state = a[:, t] @ state if b is None else a[:, t] @ state + b[:, t]
                    self.assertTrue(torch.allclose(found[:, t], state, rtol=1e-12, atol=1e-12), (length, has_b, t))

    def test_layers_read_what_those_below_say(self):
        import torch
        from krohn.torch import ExactLRNN

        network = krohn.compile("name:modarith5", construction="cascade-holonomy")
        module = ExactLRNN.from_network(network)
        self.assertGreater(len(module.layers), 1)
        letters = torch.randint(0, len(module.letters), (3, 300), generator=torch.Generator().manual_seed(1))
        self.assertTrue(torch.equal(module(letters), module.sequential(letters)))
        self.assertTrue(torch.equal(module(letters), torch.from_numpy(network.run(letters))))
        self.assertEqual(module(letters[:, :0]).shape, (3, 0))

    def test_gradients_are_those_of_the_sequential_reading(self):
        import torch
        from krohn.torch import ExactLRNN

        module = ExactLRNN.from_network(krohn.compile("name:S3", precision="fp64")).double()
        with torch.no_grad():
            module.layers[0].a.mul_(0.99)
        letters = torch.randint(0, 6, (4, 150), generator=torch.Generator().manual_seed(2))
        parameters = list(module.parameters())

        def gradients(states):
            return torch.autograd.grad((states * torch.linspace(0, 1, 150, dtype=torch.float64)[:, None, None]).sum(), parameters)

        layer, state, states = module.layers[0], module.layers[0].start(4), []
        for t in range(150):
            state = layer.step(state, letters[:, t])
            states.append(state)
        expected = gradients(torch.stack(states, 1))
        for chunk in (16, 256):
            for found, true in zip(gradients(module.hidden_states(letters, chunk)), expected):
                self.assertTrue(torch.allclose(found, true, rtol=1e-9, atol=1e-9), chunk)

    def test_compiling_traces_few_steps(self):
        import torch
        from krohn.torch import ExactLRNN

        if not hasattr(torch, "compile"):
            self.skipTest("this PyTorch compiles nothing")
        module = ExactLRNN.from_network(krohn.compile("name:S3"))
        graphs = []

        def count(graph, _):
            graphs.append(len(graph.graph.nodes))
            return graph.forward

        letters = torch.randint(0, 6, (2, 1000), generator=torch.Generator().manual_seed(4))
        compiled = torch.compile(module, backend=count, fullgraph=True, dynamic=False)
        self.assertTrue(torch.equal(compiled(letters), module.expected_states(letters)))
        self.assertEqual(len(graphs), 1)
        self.assertLess(graphs[0], 1500)  # letter after letter there would be several for each of 1,000 letters

    def test_weights_train_and_are_verified_again(self):
        import torch
        from krohn.torch import ExactLRNN

        network = krohn.compile("name:parity", construction="one-hot")
        module = ExactLRNN.from_network(network)
        letters = torch.tensor([[0, 1, 1, 0, 1]])
        before = krohn.verify(network.with_weights(module.weights()))
        self.assertTrue(before.proved)
        optimiser = torch.optim.SGD(module.parameters(), lr=1.0)
        module.hidden_states(letters).sum().backward()
        self.assertGreater(float(module.layers[0].a.grad.abs().sum()), 0)
        optimiser.step()
        self.assertFalse(krohn.verify(network.with_weights(module.weights()), max_pairs=1000).proved)
        self.assertTrue(krohn.verify(network).proved)

    def test_tensors_are_taken_like_arrays(self):
        import torch

        parity = krohn.Automaton("name:parity")
        a = torch.tensor([[[1.0]], [[-1.0]]], dtype=torch.bfloat16, requires_grad=True)
        network = krohn.Network.from_arrays(parity, a, initial=torch.ones(1), codewords=torch.tensor([[1.0], [-1.0]]))
        self.assertTrue(krohn.verify(network, precision="bf16").proved)
        self.assertEqual(parity.run(torch.tensor([1, 1, 1], dtype=torch.int32)).tolist(), [1, 0, 1])

    @unittest.skipUnless(HAS_SAFETENSORS, "safetensors is not installed")
    def test_files_and_networks_make_the_same_module(self):
        import torch
        from krohn.torch import ExactLRNN

        with tempfile.TemporaryDirectory() as folder:
            network = krohn.compile("name:S3")
            path = os.path.join(folder, "s3.safetensors")
            network.save(path)
            read, made = ExactLRNN.from_file(path).state_dict(), ExactLRNN.from_network(network).state_dict()
            self.assertEqual(read.keys(), made.keys())
            for name, tensor in made.items():
                self.assertTrue(torch.equal(tensor, read[name]), name)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Contracting(unittest.TestCase):
    def test_a_cell_that_learns_a_small_distance_is_proved(self):
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(2, 8)
                self.rnn = nn.GRU(8, 12, batch_first=True)
                self.head = nn.Linear(12, 2)

            def forward(self, ids):
                return self.head(self.rnn(self.embedding(ids))[0])

        torch.manual_seed(1)
        language, steps = krohn.Automaton("regex:(a|b)*abb"), 400
        net = Net()
        adam = torch.optim.Adam(net.parameters(), lr=1e-2)
        for step in range(steps):
            ids = torch.randint(0, 2, (32, 16))
            labels = torch.zeros_like(ids)
            labels[:, 2:] = (ids[:, :-2] == 0) & (ids[:, 1:-1] == 1) & (ids[:, 2:] == 1)
            grown = min(1, step / (0.3 * steps))
            outputs, distance = krohn.contract_loss(net.rnn, net.embedding(ids), 0.1 * grown)
            answers = net.head(outputs).flatten(0, 1)
            loss = nn.functional.cross_entropy(answers, labels.repeat(2, 1).flatten()) + 3 * grown * distance
            adam.zero_grad()
            loss.backward()
            adam.step()
        run = krohn.import_model(net, kind="gru", against=language, classes={"reject": 0, "accept": 1})
        self.assertTrue(krohn.verify(run).proved)

    def test_both_readings_are_the_cell_and_their_distance(self):
        import torch
        from torch import nn

        for make, layers in ((nn.RNN, 1), (nn.GRU, 2), (nn.LSTM, 2)):
            for batch_first in (False, True):
                torch.manual_seed(2)
                rnn = make(3, 4, num_layers=layers, batch_first=batch_first)
                inputs = torch.randn(5, 7, 3)
                outputs, distance = krohn.contract_loss(rnn, inputs, 0)
                plain = rnn(inputs)[0]
                self.assertTrue(torch.allclose(outputs, torch.cat([plain, plain], 0 if batch_first else 1), atol=1e-6))
                self.assertLess(distance.item(), 1e-12)  # PyTorch may add up the two halves of a batch in other orders
                outputs, distance = krohn.contract_loss(rnn, inputs, 0.1)
                one, other = outputs.chunk(2, 0 if batch_first else 1)
                seen = (one - other).square().sum(-1).mean().item()  # of the last layer's outputs alone
                self.assertGreater(distance.item(), seen if make is not nn.RNN else seen * 0.999)
                if make is nn.RNN:
                    self.assertAlmostEqual(distance.item(), seen, places=6)
        self.assertRaises(krohn.InputError, krohn.contract_loss, nn.GRU(3, 4, bidirectional=True), inputs)


if __name__ == "__main__":
    unittest.main()
