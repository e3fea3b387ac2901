#include "krohn/automata/language.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "tests/testing.h"

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
      CHECK(error.starts_with("config.json:"));
      CHECK(test::contains(error, name));
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
  CheckpointConfig config{.hidden_size = 16, .vocabulary = 4};
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
    CHECK(error.starts_with("config.json:"));
    CHECK(error.size() < 250);
  }
}

// The maps of one step of a delta rule, against all maps of a few points; and the walk through the states.

namespace {

/// The map of a step, point by point.
std::vector<Point> images_of(const PointStep& step, Point points) {
  std::vector<Point> images;
  for (Point point = 0; point < points; ++point) {
    Point image = point;
    if (step.kind == PointStep::Kind::kReset) image = step.second;
    if (step.kind != PointStep::Kind::kKeep && point == step.first) image = step.second;
    if (step.kind == PointStep::Kind::kSwap && point == step.second) image = step.first;
    images.push_back(image);
  }
  return images;
}

}  // namespace

TEST_CASE("steps are found for the maps that are steps, and for no others") {
  for (const Point n : {1u, 2u, 3u, 4u}) {
    std::set<std::vector<Point>> steps{images_of({}, n)};
    for (Point i = 0; i < n; ++i) {
      steps.insert(images_of({PointStep::Kind::kReset, 0, i}, n));
      for (Point j = 0; j < n; ++j) {
        if (i == j) continue;
        steps.insert(images_of({PointStep::Kind::kSwap, i, j}, n));
        steps.insert(images_of({PointStep::Kind::kMerge, i, j}, n));
      }
    }
    std::uint64_t maps = 1, found = 0;
    for (Point i = 0; i < n; ++i) maps *= n;
    for (std::uint64_t map = 0; map < maps; ++map) {
      std::vector<Point> images;
      for (std::uint64_t i = 0, rest = map; i < n; ++i, rest /= n) images.push_back(static_cast<Point>(rest % n));
      CAPTURE(images);
      const auto step = step_of(Transformation::from_images(images));
      CHECK(step.has_value() == steps.contains(images));
      if (step) CHECK(images_of(*step, n) == images);
      found += step ? 1 : 0;
    }
    CHECK(found == steps.size());
  }
}

TEST_CASE("groups are followed on few points, others on their states, and merges only where they can be made") {
  const Dfa s5 = named_language("S5", LanguageOptions{.generators = "transpositions"});
  const auto five = point_steps(s5, tracked_states(s5), false);
  REQUIRE(five);
  CHECK(five->points == 5);
  const Dfa z3 = named_language("Z3", {});
  CHECK(!point_steps(z3, tracked_states(z3), true));
  // a: 0 goes to 1; b: all go to 0.
  const Dfa merging = Dfa::moore(Alphabet::of_characters("ab"), {1, 0, 1, 0, 2, 0}, 0, {0, 1, 0}, {"0", "1"});
  const TrackedStates tracked = tracked_states(merging);
  REQUIRE(tracked.count() == 2);  // a reset of two states
  CHECK(point_steps(merging, tracked, false)->points == 2);
}

TEST_CASE("the walk of S5 by swaps meets most states before it comes back to one, and every state has a letter") {
  const Dfa s5 = named_language("S5", LanguageOptions{.generators = "transpositions"});
  const auto walk = state_walk(s5);
  std::set<State> met;
  State state = s5.initial();
  for (; met.insert(state).second; state = s5.next(state, walk[state])) CHECK(walk[state] < s5.letters());
  CHECK(met.size() >= 60);
  for (const char* name : {"parity", "tomita3", "Z2"}) {
    const Dfa dfa = named_language(name, {});
    for (const Letter letter : state_walk(dfa)) CHECK(letter < dfa.letters());
  }
}
