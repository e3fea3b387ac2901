"""Exact trackers in transformers' Kimi Linear and GLM-5.3-Flash, run by the library's own classes where it is installed: whole
words, in pieces, and token by token with the cache, in fp32 and bf16. Many long words:

    KROHN_COMMAND=build/tools/krohn/krohn KROHN_WORDS=1000 KROHN_LENGTH=200 python3 tests/python/checkpoint_test.py
"""
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

KROHN = os.environ.get("KROHN_COMMAND")
HAS_TRANSFORMERS = all(importlib.util.find_spec(name) is not None for name in ("torch", "transformers"))
WORDS = int(os.environ.get("KROHN_WORDS", "4"))  # of each kind
LENGTH = int(os.environ.get("KROHN_LENGTH", "66"))
CLASSES = {"kimi-linear": "KimiLinearForCausalLM", "glm5-next": "Glm5NextForConditionalGeneration"}


def models():
    """(target, language, folder, class of transformers), one after the other."""
    import transformers
    for target, name in CLASSES.items():
        if not hasattr(transformers, name):
            continue
        for language in ("name:tomita1", "regex:(a|b)*abb"):  # one layer, several layers
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch) / "model"
                subprocess.run([KROHN, "compile", language, "--target", target, "-o", folder], check=True, stdout=subprocess.DEVNULL)
                yield target, language, folder, getattr(transformers, name)


@unittest.skipUnless(HAS_TRANSFORMERS and KROHN, "PyTorch and transformers are not installed")
class StockClasses(unittest.TestCase):
    def words(self, folder, count, length, draw):
        """Words as token ids, and the token of the automaton's state after each letter."""
        automaton = json.loads((folder / "automaton.json").read_text())
        tokens = json.loads((folder / "tokens.json").read_text())
        token_of = {row["state"]: row["token"] for row in tokens["states"]}
        for _ in range(count):
            state, word, wanted = automaton["initial"], [tokens["begin"]], [token_of[automaton["initial"]]]
            for _ in range(length):
                letter = draw.randrange(len(tokens["letters"]))
                state = automaton["transitions"][state][letter]
                word.append(tokens["letters"][letter]["token"])
                wanted.append(token_of[state])
            yield word, wanted

    def answers(self, model, words, piece):
        import torch
        ids, cache, given = torch.tensor(words), None, []
        for at in range(0, ids.shape[1], piece):
            out = model(ids[:, at:at + piece], past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            given.append(out.logits.argmax(-1))
        return torch.cat(given, 1).tolist()

    def test_answers_are_the_automaton_s_in_one_call_in_pieces_and_token_by_token(self):
        import torch
        draw, right = random.Random(47), 0
        for target, language, folder, kind in models():
            for dtype in (torch.float32, torch.bfloat16):
                model = kind.from_pretrained(folder, dtype=dtype).eval()
                for count, length, piece in ((WORDS, LENGTH, LENGTH + 1), (1, 20 * LENGTH, 20 * LENGTH + 1), (2, 300, 33), (WORDS, LENGTH, 1)):
                    for first in range(0, count, 250):
                        with self.subTest(target=target, language=language, dtype=dtype, length=length, piece=piece), torch.no_grad():
                            words, wanted = zip(*self.words(folder, min(250, count - first), length, draw))
                            self.assertEqual(self.answers(model, words, piece), list(wanted))
                            right += len(words) * (length + 1)
        print(f"{right:,} answers of transformers are right")

    def test_a_changed_weight_is_seen(self):
        import torch
        made = models()
        target, language, folder, kind = next(made)
        model = kind.from_pretrained(folder).eval()
        with torch.no_grad():
            model.model.layers[0].self_attn.v_proj.weight.mul_(-1)
            word, wanted = next(self.words(folder, 1, 100, random.Random(1)))
            self.assertNotEqual(model(torch.tensor([word]), use_cache=False).logits[0].argmax(-1).tolist(), wanted)

    def test_what_transformers_saves_of_them_is_proved_again(self):
        for target, language, folder, kind in models():
            with self.subTest(target=target, language=language), tempfile.TemporaryDirectory() as again:
                kind.from_pretrained(folder).save_pretrained(again)
                for name in ("automaton.json", "tokens.json"):
                    (pathlib.Path(again) / name).write_bytes((folder / name).read_bytes())
                done = subprocess.run([KROHN, "verify", again], capture_output=True, text=True)
                self.assertIn("proved for words of every length", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
