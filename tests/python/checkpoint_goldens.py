#!/usr/bin/env python3
"""Writes tests/data/checkpoints: small models of transformers' Kimi Linear and GLM-5.3-Flash, random, of KDA layers alone, as
save_pretrained writes them, with a word and the library's own logits after every token, loaded in fp32 and in bf16:

    pip install torch safetensors transformers==5.24 && tests/python/checkpoint_goldens.py
"""
import pathlib

import torch
import transformers
from safetensors.torch import save_file

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "checkpoints"
SHARED = {"vocab_size": 7, "hidden_size": 8, "intermediate_size": 6, "num_hidden_layers": 2, "num_attention_heads": 1,
          "num_key_value_heads": 1, "layer_types": ["linear_attention"] * 2, "mlp_layer_types": ["dense"] * 2,
          "linear_head_dim": 3, "linear_num_heads": 2, "linear_conv_kernel_dim": 3, "pad_token_id": None, "bos_token_id": 0,
          "eos_token_id": None, "use_cache": False}
TOWER = {"depth": 0, "hidden_size": 1, "num_heads": 1, "intermediate_size": 1, "out_hidden_size": 8, "image_size": 1,
         "projection_intermediate_size": 1, "in_channels": 1, "patch_size": 1, "temporal_patch_size": 1, "spatial_merge_size": 1}


def glm(**changes):
    text = {**SHARED, "swiglu_limit": 0.75, **changes}
    return transformers.Glm5NextForConditionalGeneration(transformers.Glm5NextConfig(text_config=text, vision_config=TOWER))


MODELS = {
    "kimi_linear": lambda: transformers.KimiLinearForCausalLM(transformers.KimiLinearConfig(**SHARED)),
    "glm5_next": glm,  # four streams, a bound of −5
    "glm5_next-unbounded": lambda: glm(linear_lower_bound=None, hc_mult=2, hc_sinkhorn_iters=3, hc_eps=0.01),
}


def main():
    for seed, (name, make) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        model = make().eval()
        with torch.no_grad():
            for part, tensor in model.named_parameters():
                gain = part.endswith("norm.weight")
                tensor.copy_(torch.randn_like(tensor) * (0.25 if gain else 0.5) + (1 if gain else 0))
        folder = DATA / name
        model.save_pretrained(folder)
        (folder / "generation_config.json").unlink(missing_ok=True)  # nobody reads it
        word = torch.randint(0, SHARED["vocab_size"], (1, 80))
        golden = {"word": word[0].to(torch.int32)}
        for dtype in ("float32", "bfloat16"):
            loaded = type(model).from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
            with torch.no_grad():
                golden[dtype] = loaded(word, use_cache=False).logits[0].float().contiguous()
        save_file(golden, folder / "golden.safetensors")


if __name__ == "__main__":
    main()
