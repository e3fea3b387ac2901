"""The rivals against their papers' equations, written out here another way in double precision; the words and rates of their training."""

import sys
import types
import unittest
from unittest import mock

try:
    import safetensors  # noqa: F401
    import torch
except ImportError:
    raise unittest.SkipTest("the rivals need torch and safetensors")

from krohn import _krohn
from krohn.rivals import fla, mixers, models, rwkv, state_spaces, tables, training


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

    def test_rwkv_4_is_its_sum(self):
        layer, x = double(rwkv.RWKV4(8)), words()
        before = torch.cat([torch.zeros(3, 1, 8), x[:, :-1]], 1)
        r, k, v = (part(x * mix + before * (1 - mix)) for part, mix in zip((layer.r, layer.k, layer.v), layer.mix))
        w, outputs = torch.exp(layer.decay), []
        for t in range(12):
            weights = [torch.exp(-(t - 1 - s) * w + k[:, s]) for s in range(t)] + [torch.exp(layer.bonus + k[:, t])]
            outputs.append(sum(weight * v[:, s] for s, weight in enumerate(weights)) / sum(weights))
        self.near(layer(x), layer.out(torch.sigmoid(r) * torch.stack(outputs, 1)))

    def test_rwkv_7_is_its_recurrence_with_dense_transitions(self):
        layer, x = double(rwkv.RWKV7(8, 2)), words()
        last = torch.cat([torch.zeros(3, 1, 8), x[:, :-1]], 1)
        r, w, k, v, a, g = (x * (1 - layer.mix[i]) + last * layer.mix[i] for i in range(6))
        r, k, v = layer.r(r), layer.k(k), layer.v(v)
        decay = layer.decay.up(torch.tanh(w @ layer.decay.down.weight.T))
        w = torch.exp(-torch.exp(torch.tensor(-0.5)) / (1 + torch.exp(-decay)))
        a = 1 / (1 + torch.exp(-layer.rate.up(a @ layer.rate.down.weight.T)))
        gate = torch.sigmoid(g @ layer.gate[0].weight.T) @ layer.gate[2].weight.T
        outputs = torch.zeros_like(x)
        for word in range(3):
            for head in (slice(0, 4), slice(4, 8)):
                state = torch.zeros(4, 4)
                for t in range(12):
                    kappa = k[word, t, head] * layer.removed[head]
                    kappa = kappa / kappa.norm()
                    step = torch.diag(w[word, t, head]) - torch.outer(kappa, a[word, t, head] * kappa)
                    key = k[word, t, head] * (1 + (a[word, t, head] - 1) * layer.replaced[head])
                    state = state @ step + torch.outer(v[word, t, head], key)
                    y = state @ r[word, t, head]
                    y = (y - y.mean()) / torch.sqrt(y.var(unbiased=False) + layer.norm.eps)
                    y = y * layer.norm.weight[head] + layer.norm.bias[head]
                    bonus = (r[word, t, head] * layer.bonus.flatten()[head] * key).sum()
                    outputs[word, t, head] = y + bonus * v[word, t, head]
        self.near(layer(x), layer.out(gate * outputs))

    def test_dense_recurrence_is_a_sum_of_powers(self):
        layer, x = double(state_spaces.LinearRecurrence(3, 5)), words(9, 3)
        for t in range(9):
            right = layer.d(x[:, t])
            for s in range(t + 1):
                kernel = layer.c.weight @ torch.linalg.matrix_power(layer.a, t - s) @ layer.b.weight
                right = right + x[:, s] @ kernel.T
            self.near(layer(x)[:, t], right)
        fresh = state_spaces.LinearRecurrence(3, 5).a
        self.near(fresh @ fresh.T, torch.eye(5), 1e-6)

    def test_full_matrix_multiplies_and_stays_in_the_unit_ball(self):
        model = models.build("full-matrix:size=3", 4, 2, seed=1).double()
        with torch.no_grad():
            model.matrices[3] = 0.1 * torch.eye(3)  # whose norm is below 1: read as it is
        tokens = torch.tensor([[0, 2, 1, 1, 0], [3, 0, 0, 1, 2]])
        for word in range(2):
            state = torch.eye(3)
            for t in range(5):
                state = model.matrices[tokens[word, t]] @ state
                norm = state.square().sum().sqrt().item()
                self.near(model(tokens)[word, t], model.head(state.flatten() / max(1, norm)))

    def test_scan_is_the_recurrence(self):
        for length in (*range(1, 10), 31, 40):
            a, b = torch.randn(2, length, 3, 3) / 2, torch.randn(2, length, 3, 1)
            state, states = torch.zeros(2, 3, 1), []
            for t in range(length):
                state = a[:, t] @ state + b[:, t]
                states.append(state)
            self.near(state_spaces.scanned(a, b), torch.stack(states, 1))

    def test_block_diagonal_recurrence_both_ways(self):
        layer, x = double(state_spaces.BlockDiagonal(4, 2, 3)), words(7, 4)
        states = torch.zeros(3, 6)
        for t in range(7):
            dense = torch.zeros(3, 6, 6)
            for word in range(3):
                for block, columns in enumerate(layer.a(x[word, t]).view(3, 2, 2)):
                    for column in range(2):
                        v = columns[:, column]
                        dense[word, 2 * block : 2 * block + 2, 2 * block + column] = v / max(1, float((v.abs() ** 1.2).sum() ** (1 / 1.2)))
            states = (dense @ states.unsqueeze(-1)).squeeze(-1) + layer.b(x[:, t])
            for by_scan in (False, True):
                self.near(layer(x, by_scan)[:, t], states)

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

    def test_the_derivative_of_the_selective_scan_is_that_of_its_recurrence(self):
        torch.set_grad_enabled(True)
        for length, signed in ((1, False), (1, True), (2, False), (5, False), (5, True)):
            torch.manual_seed(length)
            shapes = ((2, length, 3), (4, 3), (2, length, 3), (2, length, 4), (2, length, 4))
            delta, rates, u, b, c = ends = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
            state, outputs = torch.zeros(2, 4, 3, dtype=torch.float64), []
            for t in range(length):
                decay = torch.exp(rates * delta[:, t].unsqueeze(1))
                state = (2 * decay - 1 if signed else decay) * state + b[:, t].unsqueeze(-1) * u[:, t].unsqueeze(1)
                outputs.append((c[:, t].unsqueeze(-1) * state).sum(1))
            dense = torch.stack(outputs, 1)
            weights = torch.randn_like(dense)
            wanted = torch.autograd.grad((dense * weights).sum(), ends, allow_unused=True)
            for scan in (mixers.CompiledScan.apply, mixers.recorded_scan):
                scanned = scan(*ends, signed)
                self.assertLess((dense - scanned).abs().max().item(), 1e-12)
                given = torch.autograd.grad((scanned * weights).sum(), ends, allow_unused=True)
                for one, other in zip(wanted, given):
                    self.assertLess(((0 if one is None else one) - (0 if other is None else other)).abs().max().item(), 1e-11)

    def test_a_scan_of_other_shapes_is_refused_and_of_other_numbers_recorded(self):
        wide, narrow = torch.randn(2, 5, 3), torch.randn(2, 5, 4)
        given = [each.numpy() for each in (wide, torch.randn(4, 3), wide, narrow, narrow)]
        for states, outputs in ((torch.empty(2, 5, 4, 3), torch.empty(5, 2, 3)), (torch.empty(2, 5, 3, 4), torch.empty(2, 5, 3))):
            with self.assertRaisesRegex(ValueError, "selective_scan"):
                _krohn.selective_scan(*given, False, states.numpy(), outputs.numpy())
        layer = mixers.Mamba(8, 4).bfloat16()
        self.assertEqual(layer(torch.randn(2, 5, 8, dtype=torch.bfloat16)).dtype, torch.bfloat16)

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
        sizes = {"width": 16, "heads": 2, "states": 8, "hidden": 16}
        for name, family in models.FAMILIES.items():
            if models.obstacle(name):
                continue
            with self.subTest(name):
                options = (f"{key}={value}" for key, value in sizes.items() if key in family.options)
                model = models.build(f"{name}:{','.join(options)}", 3, 2, seed=1)
                with torch.no_grad():
                    self.assertLess(float((model(tokens) - model(other))[:, :17].abs().max()), 1e-4)
                    self.assertGreater(float((model(tokens) - model(other))[:, 17:].abs().max()), 1e-4)
                optimiser = torch.optim.AdamW(model.parameters(), 1e-2)
                targets = (tokens == 1).long()  # what any of them can say of a token
                first = training.loss_of(model, tokens, targets)
                for _ in range(25):
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

    def test_layers_of_fla_where_it_is_and_what_to_do_where_it_is_not(self):
        for name in ("deltanet", "deltaproduct"):
            with mock.patch.dict(sys.modules, {"fla": None, "fla.layers": None}):
                self.assertIn("pip install flash-linear-attention", models.obstacle(name))
                with self.assertRaisesRegex(ValueError, "flash-linear-attention"):
                    models.build(name, 3, 2, seed=1)
        self.assertEqual(models.obstacle("lstm"), "")

        asked = []

        class Layer(torch.nn.Module):  # says what it was asked for; only as causal and as deep as it has to be
            def __init__(self, **options):
                super().__init__()
                asked.append(options)
                self.map = torch.nn.Linear(options["hidden_size"], options["hidden_size"])

            def forward(self, x):
                assert x.shape[1] >= fla.LEAST_LENGTH, x.shape
                return self.map(x).cumsum(1), None, None

        fake = types.ModuleType("fla")
        fake.layers = types.ModuleType("fla.layers")
        fake.layers.DeltaNet = fake.layers.GatedDeltaProduct = Layer
        with mock.patch.dict(sys.modules, {"fla": fake, "fla.layers": fake.layers}):
            with mock.patch("torch.cuda.is_available", return_value=False):
                self.assertIn("CUDA", models.obstacle("deltanet"))
            with mock.patch("torch.cuda.is_available", return_value=True), mock.patch.object(torch.nn.Module, "cuda", lambda self: self):
                model = models.build("deltanet:width=8,heads=2,signed", 3, 2, seed=1)
                self.assertEqual(model(torch.zeros(2, 5, dtype=torch.long)).shape, (2, 5, 2))
                self.assertEqual(model(torch.zeros(2, 70, dtype=torch.long)).shape, (2, 70, 2))
                models.build("deltaproduct:width=8,heads=2,reflections=3,taps=0", 3, 2, seed=1)
        self.assertEqual(asked[0], {"hidden_size": 8, "num_heads": 2, "use_short_conv": True, "conv_size": 4, "allow_neg_eigval": True})
        self.assertEqual(asked[1], {"hidden_size": 8, "head_dim": 4, "num_heads": 2, "expand_v": 1, "use_short_conv": False, "conv_size": 1,
                                    "use_forget_gate": False, "allow_neg_eigval": False, "num_householder": 3})  # fmt: skip

    def test_words_of_a_fixed_set_come_again(self):
        options = training.Options(words=4, samples=10)
        self.assertEqual([training.words_of_step(step, options) for step in range(4)], [(4, 0), (4, 4), (4, 0), (4, 4)])
        self.assertEqual(training.words_of_step(7, training.Options(words=4, samples=3)), (3, 0))
        self.assertEqual(training.words_of_step(7, training.Options(words=4)), (4, 28))

    def test_seeds_share_their_words_where_that_is_asked(self):
        for sample_seed, first_seeds in ((None, {4, 5}), (9, {9})):
            with mock.patch.object(training, "batch_of", wraps=training.batch_of) as drawn:
                runs = [training.train_one("rnn:hidden=3", "parity", 1e-2, seed, training.Options(
                    length=(2, 5), words=4, steps=2, sample_seed=sample_seed, validation_words=4, test_lengths=()))[0] for seed in (4, 5)]
                asked = {call.args[3] for call in drawn.call_args_list if call.args[1] == 4 and call.args[3] != training.VALIDATION_SEED}
            self.assertEqual(asked, first_seeds)
            self.assertFalse(torch.equal(next(runs[0].parameters()), next(runs[1].parameters())))

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


if __name__ == "__main__":
    unittest.main()
