"""A model of the kit, of Qwen3-Next's class, as a GGUF file for llama.cpp. There Qwen3-Next has experts and Qwen3.5, `qwen35`, the
same layer without them: the file is one of those. It has no tokenizer; tokens are numbers."""
import json
import math
import pathlib

import gguf
import numpy


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    tensors = {}
    for name, about in header.items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            tensors[name] = numpy.frombuffer(body[begin:end], dtype="<f4").reshape(about["shape"])
    return tensors


def padded(rows, heads, size):
    """Every head's rows, with zeros up to `size` of them."""
    rows = rows.reshape(heads, -1, *rows.shape[1:])
    return numpy.concatenate([rows, numpy.zeros((heads, size - rows.shape[1], *rows.shape[2:]), "f4")], 1).reshape(
        heads * size, *rows.shape[2:])


def recurrent(tensors, name, config):
    """The layer's tensors under llama.cpp's names. Its states are square: what is smaller, keys or values, is filled up."""
    heads, keys, values = (config[f"linear_{what}"] for what in ("num_value_heads", "key_head_dim", "value_head_dim"))
    if heads != config["linear_num_key_heads"]:
        raise ValueError(f"{name}: value heads that share keys are not written")
    size = max(keys, values)
    # q, k, v, z of a head, then of the next; in llama.cpp all q, all k, all v, and z apart.
    cuts = [keys, 2 * keys, 2 * keys + values]
    parts = numpy.split(tensors[name + "in_proj_qkvz.weight"].reshape(heads, 2 * (keys + values), -1), cuts, axis=1)
    q, k, v, z = (padded(part.reshape(-1, part.shape[2]), heads, size) for part in parts)
    ba = tensors[name + "in_proj_ba.weight"].reshape(heads, 2, -1)
    taps = tensors[name + "conv1d.weight"][:, 0, :]
    taps = [padded(part, heads, size) for part in numpy.split(taps, [heads * keys, 2 * heads * keys])]
    out = tensors[name + "out_proj.weight"].reshape(-1, heads, values)
    # The norm of a head's values divides by the root of their number.
    out = numpy.concatenate([out, numpy.zeros((out.shape[0], heads, size - values), "f4")], 2) * math.sqrt(values / size)
    return {
        "attn_qkv.weight": numpy.concatenate([q, k, v]), "attn_gate.weight": z, "ssm_conv1d.weight": numpy.concatenate(taps),
        "ssm_dt.bias": tensors[name + "dt_bias"], "ssm_a": -numpy.exp(tensors[name + "A_log"]),
        "ssm_beta.weight": ba[:, 0], "ssm_alpha.weight": ba[:, 1],
        "ssm_norm.weight": padded(tensors[name + "norm.weight"], 1, size), "ssm_out.weight": out.reshape(out.shape[0], -1),
    }


def model_tensors(folder):
    """All tensors under llama.cpp's names, and the configuration."""
    config = json.loads((pathlib.Path(folder) / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "qwen3_next" or config["num_experts"] != 0:
        raise ValueError(f"{folder}: llama.cpp has no layer like that of {config['model_type']}")
    tensors = read_safetensors(pathlib.Path(folder) / "model.safetensors")
    named = {"token_embd.weight": tensors["model.embed_tokens.weight"], "output.weight": tensors["lm_head.weight"],
             "output_norm.weight": tensors["model.norm.weight"] + 1}
    for i, kind in enumerate(config["layer_types"]):
        layer = f"model.layers.{i}."
        own = {"attn_norm.weight": tensors[layer + "input_layernorm.weight"] + 1,
               "post_attention_norm.weight": tensors[layer + "post_attention_layernorm.weight"] + 1}
        for part in ("gate", "up", "down"):
            own[f"ffn_{part}.weight"] = tensors[f"{layer}mlp.{part}_proj.weight"]
        if kind == "linear_attention":
            own.update(recurrent(tensors, layer + "linear_attn.", config))
        else:
            for theirs, ours in (("attn_q", "q_proj"), ("attn_k", "k_proj"), ("attn_v", "v_proj"), ("attn_output", "o_proj")):
                own[theirs + ".weight"] = tensors[f"{layer}self_attn.{ours}.weight"]
            for norm in ("q_norm", "k_norm"):
                own[f"attn_{norm}.weight"] = tensors[f"{layer}self_attn.{norm}.weight"] + 1
        named.update({f"blk.{i}.{name}": tensor for name, tensor in own.items()})
    return named, config


def write_gguf(folder, path, dtype="float32"):
    """`dtype`: that of the matrices; all else is float32."""
    tensors, config = model_tensors(folder)
    writer = gguf.GGUFWriter(path, "qwen35")
    size = max(config["linear_key_head_dim"], config["linear_value_head_dim"])
    heads = config["linear_num_value_heads"]
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["head_dim"] // 4)
    writer.add_array("qwen35.rope.dimension_sections", [1, 1, 0, 0])
    writer.add_ssm_conv_kernel(config["linear_conv_kernel_dim"])
    writer.add_ssm_state_size(size)
    writer.add_ssm_group_count(heads)
    writer.add_ssm_time_step_rank(heads)
    writer.add_ssm_inner_size(heads * size)
    writer.add_array("qwen35.attention.recurrent_layers", [kind == "linear_attention" for kind in config["layer_types"]])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")
    for name, tensor in tensors.items():
        tensor = numpy.ascontiguousarray(tensor, dtype="f4")
        matrix = tensor.ndim == 2 and "conv1d" not in name
        if matrix and dtype == "bfloat16":
            writer.add_tensor(name, gguf.quants.quantize(tensor, gguf.GGMLQuantizationType.BF16),
                              raw_dtype=gguf.GGMLQuantizationType.BF16)
        else:
            writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
