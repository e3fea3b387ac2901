"""The rivals against their papers' equations, written out here another way in double precision, and the command."""

import contextlib
import io
import json
import math
import os
import subprocess
import tempfile
import unittest

try:
    import safetensors  # noqa: F401
    import torch
except ImportError:
    raise unittest.SkipTest("the rivals need torch and safetensors")

import krohn
from krohn.rivals import mixers, models, state_spaces, tables, training
from krohn.rivals.__main__ import main

KROHN = os.environ.get("KROHN_COMMAND")


def double(module, seed=0):
    """The module in double precision with random parameters, none of which is zero."""
    torch.manual_seed(seed)
    module = module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module


def words(length=12, width=8, seed=1):
    torch.manual_seed(seed)
    return torch.randn(3, length, width, dtype=torch.float64)


class EquationTest(unittest.TestCase):
    def setUp(self):
        torch.set_default_dtype(torch.float64)
        self.addCleanup(torch.set_default_dtype, torch.float32)
        self.enterContext(torch.no_grad()) if hasattr(self, "enterContext") else torch.set_grad_enabled(False)
        self.addCleanup(torch.set_grad_enabled, True)

    def near(self, found, right, tolerance=1e-9):
        self.assertLess(float((found - right).abs().max()), tolerance * (1 + float(right.abs().max())))

    def test_hippo_is_diagonal_plus_low_rank(self):
        for size in (1, 2, 5, 8):
            eigenvalues, p, _ = state_spaces.diagonal_plus_low_rank(size)
            found = torch.linalg.eigvals(torch.diag(eigenvalues) - torch.outer(p, p.conj()))
            right = -torch.arange(1.0, size + 1)  # those of the triangle A
            self.near(torch.sort(found.real).values, torch.sort(right).values, 1e-5)
            self.near(found.imag, torch.zeros(size), 1e-5)

    def test_s4_is_the_dense_bilinear_system(self):
        layer = double(state_spaces.S4(3, 8))
        kernel, x = layer.kernel(20), words(20, 3)
        for channel in range(3):
            values = torch.complex(-torch.exp(layer.log_decay[channel]), layer.frequency[channel])
            p, b, c = (torch.view_as_complex(part[channel]) for part in (layer.p, layer.b, layer.c))
            a, step = torch.diag(values) - torch.outer(p, p.conj()), torch.exp(layer.log_step[channel])
            left = torch.linalg.inv(torch.eye(8) - step / 2 * a)
            discrete, enters = left @ (torch.eye(8) + step / 2 * a), step * left @ b
            state, output = torch.zeros(3, 8, dtype=torch.complex128), []
            for t in range(20):
                state = state @ discrete.T + x[:, t, channel, None] * enters
                output.append((state @ c).real + layer.d[channel] * x[:, t, channel])
            self.near(kernel[channel][0], (c * enters).sum().real)
            self.near(layer(x)[..., channel], torch.stack(output, 1))

    def test_s4d_and_liquid_s4_are_their_recurrences(self):
        for kind, is_liquid in ((state_spaces.S4D, False), (state_spaces.LiquidS4, True)):
            layer, x = double(kind(2, 8)), words(15, 2) / 4
            for channel in range(2):
                values = torch.complex(-torch.exp(layer.log_decay[channel]), layer.frequency[channel])
                step = torch.exp(values * torch.exp(layer.log_step[channel]))
                c, state, output = torch.view_as_complex(layer.c[channel]), torch.zeros(3, 4, dtype=torch.complex128), []
                for t in range(15):
                    u = x[:, t, channel, None]
                    written = (step - 1) / values * u
                    state = (step + (written if is_liquid else 0)) * state + written
                    output.append(2 * (state @ c).real + layer.d[channel] * u[:, 0])
                self.near(layer(x)[..., channel], torch.stack(output, 1))

    def test_linear_attention_is_a_recurrence(self):
        layer, x = double(mixers.LinearAttention(8, 2)), words()
        q, k, v = (part.unflatten(-1, (2, 4)) for part in layer.qkv(x).chunk(3, -1))
        q, k = 1 + torch.nn.functional.elu(q), 1 + torch.nn.functional.elu(k)
        memory, total, outputs = torch.zeros(3, 2, 4, 4), torch.zeros(3, 2, 4), []
        for t in range(12):
            memory, total = memory + k[:, t, :, :, None] * v[:, t, :, None, :], total + k[:, t]
            outputs.append((torch.einsum("bhk,bhkv->bhv", q[:, t], memory) / (q[:, t] * total).sum(-1, keepdim=True)).flatten(1))
        self.near(layer(x), layer.out(torch.stack(outputs, 1)))

    def test_mlstm_is_its_recurrence_without_stabiliser(self):
        layer, x = double(mixers.MLSTM(8, 2)), words()
        q, k, v = (part.unflatten(-1, (2, 4)) for part in layer.qkv(x).chunk(3, -1))
        gates = layer.gates(x)
        write, keep = torch.exp(gates[..., :2]), torch.sigmoid(gates[..., 2:])
        memory, total, outputs = torch.zeros(3, 2, 4, 4), torch.zeros(3, 2, 4), []
        for t in range(12):
            key = k[:, t] / 2
            memory = keep[:, t, :, None, None] * memory + write[:, t, :, None, None] * v[:, t, :, :, None] * key[:, :, None, :]
            total = keep[:, t, :, None] * total + write[:, t, :, None] * key
            size = (total * q[:, t]).sum(-1, keepdim=True).abs().clamp(min=1)
            outputs.append((torch.einsum("bhvk,bhk->bhv", memory, q[:, t]) / size).flatten(1))
        h = layer.norm(torch.stack(outputs, 1).flatten(0, 1)).view_as(x)
        self.near(layer(x), layer.out(torch.sigmoid(layer.o(x)) * h))

    def test_slstm_is_its_recurrence_without_stabiliser(self):
        layer, x = double(mixers.SLSTM(8, 2)), words()
        inputs, h, c, n, outputs = layer.inputs(x), torch.zeros(3, 2, 4), torch.zeros(3, 2, 4), torch.zeros(3, 2, 4), []
        for t in range(12):
            parts = []
            for gate in range(4):
                own = torch.stack([h[:, head] @ layer.recurrent[head, gate] for head in range(2)], 1)
                parts.append(inputs[:, t].view(3, 2, 4, 4)[:, :, gate] + own)
            i, f, z, o = parts
            c, n = torch.sigmoid(f) * c + torch.exp(i) * torch.tanh(z), torch.sigmoid(f) * n + torch.exp(i)
            h = torch.sigmoid(o) * c / n
            outputs.append(h.flatten(1))
        y = torch.stack(outputs, 1)
        self.near(layer(x), layer.out(layer.norm(y.flatten(0, 1)).view_as(y)))

    def test_rwkv_is_its_sum(self):
        layer, x = double(mixers.RWKV4(8)), words()
        before = torch.cat([torch.zeros(3, 1, 8), x[:, :-1]], 1)
        r, k, v = (part(x * mix + before * (1 - mix)) for part, mix in zip((layer.r, layer.k, layer.v), layer.mix))
        w, outputs = torch.exp(layer.decay), []
        for t in range(12):
            weights = [torch.exp(-(t - 1 - s) * w + k[:, s]) for s in range(t)] + [torch.exp(layer.bonus + k[:, t])]
            outputs.append(sum(weight * v[:, s] for s, weight in enumerate(weights)) / sum(weights))
        self.near(layer(x), layer.out(torch.sigmoid(r) * torch.stack(outputs, 1)))

    def test_mamba_is_that_of_transformers(self):
        try:
            from transformers import MambaConfig
            from transformers.models.mamba.modeling_mamba import MambaMixer
        except ImportError:
            self.skipTest("transformers is not installed")
        layer = double(mixers.Mamba(8, 4, 2, 4))
        config = MambaConfig(hidden_size=8, state_size=4, expand=2, conv_kernel=4, use_mambapy=False)
        theirs = MambaMixer(config, layer_idx=0).double()
        theirs.load_state_dict(layer.state_dict())
        self.near(layer(words()), theirs(words()), 1e-6)  # which takes e^A in single precision

    def test_signed_mamba_has_eigenvalues_down_to_minus_one(self):
        plain, signed = double(mixers.Mamba(8, 4)), mixers.Mamba(8, 4, signed=True).double()
        signed.load_state_dict(plain.state_dict())
        x = words()
        u, gate = plain.in_proj(x).chunk(2, -1)
        u = torch.nn.functional.silu(plain.conv1d(u))
        step, b, c = plain.x_proj(u).split([plain.rank, 4, 4], -1)
        step = torch.nn.functional.softplus(plain.dt_proj(step))
        for layer, decay in ((plain, lambda d: d), (signed, lambda d: 2 * d - 1)):
            state, outputs = torch.zeros(3, 16, 4), []
            for t in range(12):
                factor = decay(torch.exp(-step[:, t, :, None] * torch.exp(plain.A_log)))
                state = factor * state + (step * u)[:, t, :, None] * b[:, t, None, :]
                outputs.append((state * c[:, t, None, :]).sum(-1))
            right = plain.out_proj((torch.stack(outputs, 1) + plain.D * u) * torch.nn.functional.silu(gate))
            self.near(layer(x), right)


class ModelTest(unittest.TestCase):
    def test_every_model_is_causal_and_learns(self):
        tokens = torch.randint(0, 3, (4, 30), generator=torch.Generator().manual_seed(1))
        other = tokens.clone()
        other[:, 17:] = (other[:, 17:] + 1) % 3
        for name in models.FAMILIES:
            with self.subTest(name):
                model = models.build(name, 3, 2, seed=1)
                with torch.no_grad():
                    self.assertLess(float((model(tokens) - model(other))[:, :17].abs().max()), 1e-4)
                    self.assertGreater(float((model(tokens) - model(other))[:, 17:].abs().max()), 1e-4)
                optimiser = torch.optim.AdamW(model.parameters(), 1e-2)
                targets = (tokens == 1).long()  # what any of them can say of a token
                first = training.loss_of(model, tokens, targets)
                for _ in range(20):
                    optimiser.zero_grad()
                    training.loss_of(model, tokens, targets).backward()
                    optimiser.step()
                self.assertLess(training.loss_of(model, tokens, targets).item(), 0.5 * first.item())

    def test_names(self):
        self.assertEqual(models.full_name("lstm:hidden=7"), "lstm:hidden=7,layers=1")
        self.assertEqual(models.parse("mamba:signed")[1]["signed"], 1)
        for wrong in ("lstmm", "lstm:width=3", "lstm:hidden=x", "mlstm:width=10,heads=4"):
            with self.assertRaises(ValueError):
                models.parse(wrong)

    def test_rates(self):
        options = training.Options(steps=100, warm_up=10, schedule="cosine", least_rate=0.1)
        rates = [training.rate_at(step, 1, options) for step in range(100)]
        self.assertEqual(rates[:3], [0.1, 0.2, 0.3])
        self.assertEqual(max(rates), rates[9])
        self.assertAlmostEqual(rates[55], 0.55)
        self.assertTrue(all(a > b for a, b in zip(rates[10:], rates[11:])) and rates[-1] > 0.1)

    def test_intervals(self):
        self.assertAlmostEqual(tables.interval(5, 5)[0], 0.5655, 4)  # by the textbook's formula
        self.assertAlmostEqual(tables.interval(0, 5)[1], 0.4345, 4)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def said(self, *arguments, status=0):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(main(list(arguments)), status, err.getvalue())
        return out.getvalue() + err.getvalue()

    def test_a_run_is_measured_as_krohn_measures(self):
        run = os.path.join(self.folder, "run")
        line = ["train", "parity", "--model", "lstm:hidden=8", "--length", "1..8", "--words", "32", "--rates", "3e-2",
                "--steps", "60", "--test-lengths", "10", "-o", run]  # fmt: skip
        self.assertIn("krohn import", self.said(*line))
        self.assertIn("is there already", self.said(*line, status=2))
        with open(os.path.join(run, "run.json"), encoding="utf-8") as file:
            facts = json.load(file)
        test = facts["runs"][0]["test"][0]
        measured = json.loads(self.said("eval", run, "--lengths", "10"))
        self.assertEqual(measured, test)
        self.assertAlmostEqual(test["scaled_accuracy"], (test["right"] / test["answers"] - 0.5) / 0.5)
        # Once more, from the samples and the model alone.
        model, _ = training.load(run)
        data = krohn.dataset("parity", 100, length=10, seed=training.TEST_SEED)
        with torch.no_grad():
            answers = model(torch.as_tensor(data.inputs).long()).argmax(-1).numpy()
        asked = data.targets >= 0
        self.assertEqual(int(((answers == data.targets) & asked).sum()), test["right"])
        self.assertEqual(test["answers"], int(asked.sum()))
        if KROHN:  # the command examines the same model, by its weights
            model_file, imported = os.path.join(run, "model.safetensors"), os.path.join(self.folder, "imported")
            subprocess.run([KROHN, "import", model_file, "--as", "lstm", "--against", "parity", "-o", imported], check=True,
                           capture_output=True)  # fmt: skip
            done = subprocess.run([KROHN, "eval", imported, "--lengths", "10", "--words", "100", "--seed", str(training.TEST_SEED), "--json"],
                                  check=True, capture_output=True, text=True)  # fmt: skip
            self.assertLess(abs(json.loads(done.stdout)["lengths"][0]["right"] - test["right"]), 3, done.stdout)  # the last bits differ

    def test_a_table_goes_on_after_its_cells(self):
        small = tables.TABLES["grazzi5"]
        tables.TABLES["tiny"] = tables.replace(small, rows=small.rows[5:7], small=tables.replace(
            small.small, steps=3, words=4, length=(1, 4), test_lengths=(4, 6), test_words=4))
        self.addCleanup(tables.TABLES.pop, "tiny")
        folder = os.path.join(self.folder, "tiny")
        first = tables.run("tiny", folder, 2, 1, "", "small")
        self.assertEqual(len(os.listdir(folder)), 4)
        before = {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}
        self.assertEqual(tables.run("tiny", folder, 2, 1, "", "small"), first)
        self.assertEqual({name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}, before)
        tables.TABLES["tiny"] = tables.replace(tables.TABLES["tiny"], small=tables.replace(tables.TABLES["tiny"].small, steps=4))
        with self.assertRaises(ValueError):
            tables.run("tiny", folder, 2, 1, "", "small")

    def test_mistakes(self):
        self.assertIn("no rival", self.said("train", "parity", "--model", "nosuch", "-o", os.path.join(self.folder, "x"), status=2))
        self.assertIn("parity", self.said("train", "paritty", "--model", "gru", "-o", os.path.join(self.folder, "x"), status=2))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
