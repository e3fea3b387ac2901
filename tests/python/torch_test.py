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
            self.assertTrue(torch.equal(module(letters), module.expected_states(letters)), name)

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


if __name__ == "__main__":
    unittest.main()
