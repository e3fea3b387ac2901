#include "krohn/constructions/checkpoints/checkpoint_config.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "krohn/groups/error.h"
#include "tests/error_of.h"

using namespace krohn;

namespace {

constexpr const char* kFamilies[] = {
    R"({"model_type": "delta_net", "hidden_size": 16, "num_heads": 1)",
    R"({"model_type": "gated_deltaproduct", "hidden_size": 16, "num_heads": 1, "head_dim": 4, "use_output_gate": false)"};

std::string error_of(const std::string& text) {
  return test::error_of([&] { parse_config(text, "config.json"); });
}

}  // namespace

TEST_CASE("members of a config that may change the model are refused by name") {
  for (const std::string family : kFamilies) {
    CAPTURE(family);
    REQUIRE(error_of(family + "}") == "no error");
    for (const char* member :
         {R"("quantization_config": {"bits": 4})", R"("auto_map": {"AutoModelForCausalLM": "model.Mine"})",
          R"("logit_scale": 2.0)", R"("final_logit_softcapping": 30.0)", R"("per_layer_config": {"0": {}})",
          R"("foo": 1)", R"("rope_theta": 10000.0)", R"("num_key_value_heads": 1)", R"("use_gate_": false)", R"("": 0)",
          R"("pruned_heads": {"0": [0]})", R"("is_encoder_decoder": true)", R"("add_cross_attention": true)",
          R"("chunk_size_feed_forward": 1)"}) {
      CAPTURE(member);
      const std::string text = member, name = text.substr(0, text.find(':'));
      const std::string error = error_of(family + ", " + member + "}");
      CHECK(error.starts_with("config.json: "));
      CHECK(error.find(name) != std::string::npos);
    }
  }
  CHECK(error_of(std::string(kFamilies[0]) + R"(, "num_householder": 2})").find("num_householder") !=
        std::string::npos);  // DeltaNet has none
  CHECK(error_of(std::string(kFamilies[1]) + R"(, "num_householder": 2})") == "no error");
  CHECK(error_of(std::string(kFamilies[1]) + R"(, "qk_norm": "l2"})") !=
        "");  // and gated DeltaProduct no choice of norm
}

TEST_CASE("members that do not change the logits, or are null, are let pass") {
  for (const std::string family : kFamilies)
    for (const char* member :
         {R"("transformers_version": "4.57.1")", R"("torch_dtype": "bfloat16")", R"("attn_mode": "chunk")",
          R"("max_position_embeddings": 2048)", R"("id2label": {"0": "LABEL_0"})", R"("temperature": 0.7)",
          R"("quantization_config": null)", R"("foo": null)", R"("pruned_heads": {})", R"("is_encoder_decoder": false)",
          R"("chunk_size_feed_forward": 0)", R"("attn": null)", R"("architectures": ["DeltaNetForCausalLM"])"}) {
      CAPTURE(member);
      CHECK(error_of(family + ", " + member + "}") == "no error");
    }
}

TEST_CASE("a config is what format_config wrote, and hostile JSON is refused briefly") {
  CheckpointConfig config;
  config.hidden_size = 16;
  config.vocabulary = 4;
  for (const auto family : {CheckpointConfig::Family::kDeltaNet, CheckpointConfig::Family::kGatedDeltaProduct}) {
    config.family = family;
    config.silu_keys = family == CheckpointConfig::Family::kGatedDeltaProduct;
    CHECK(parse_config(format_config(config), "config.json") == config);
  }
  const std::string long_name(6'400'000, 'x');
  for (const std::string& text : std::vector<std::string>{
           std::string(1'000'000, '['), R"({"model_type": ")" + long_name + R"("})", "{\"" + long_name + "\": 1",
           std::string(kFamilies[0]) + ", \"" + long_name + "\": 1}", R"({"a": 1, "a": 1})", "[]"}) {
    const std::string error = error_of(text);
    CHECK(error.starts_with("config.json: "));
    CHECK(error.size() < 250);
  }
}
