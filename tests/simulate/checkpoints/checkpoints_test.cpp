#include <Eigen/Core>

#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/checkpoints/export_checkpoint.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "tests/simulate/checkpoints/random_checkpoint.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::contains;

// The operations that certificates list of a checkpoint are the checkpoint, number for number.

using krohn::test::certify;
using krohn::test::named;
using krohn::test::random_checkpoint;

namespace {

/// A Z_3 over tokens 0, 1, 2, whose states have those tokens too.
void give_automaton(Checkpoint& checkpoint, bool has_begin) {
  checkpoint.automaton = named_language("Z3", {});
  checkpoint.tokens = {{0, 1, 2}, {0, 1, 2}, {}, {}};
  checkpoint.tokens.of_letter.resize(checkpoint.automaton->letters());
  if (has_begin) checkpoint.tokens.begin = 3;
}

/// So many taps of every convolution, the first ones, become zeros, as far as one is left.
void forget_first_taps(Checkpoint& checkpoint, std::size_t count) {
  const std::size_t taps = checkpoint.config.convolution_taps;
  for (auto& [name, tensor] : checkpoint.tensors.tensors) {
    if (!contains(name, "conv1d")) continue;
    const std::vector<double> stored = floating_numbers(tensor).value();
    std::vector<float> numbers(stored.begin(), stored.end());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (i % taps < std::min(count, taps - 1)) numbers[i] = 0;
    tensor = make_tensor(numbers, tensor.shape);
  }
}

}  // namespace

TEST_CASE("the operations of a checkpoint give its memory and its answers, bit for bit") {
  using Family = CheckpointConfig::Family;
  const auto none = OutputGate::kNone;
  CheckpointConfig plain{Family::kDeltaNet, 8, 1, 2, 4, 3, 1, 6, 5, 0, false, false, none, 1e-6, 1e-3, 0,
                         "float32",         0, {}};
  CheckpointConfig convolved{Family::kDeltaNet, 6, 2, 1, 3, 2, 1, 5, 5, 4, true, true, none, 1e-5, 1e-6, 0,
                             "float32",         0, {}};
  CheckpointConfig product{
      Family::kGatedDeltaProduct, 8, 2, 2, 2, 2, 3, 4, 5, 2, true, true, none, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig one_tap{
      Family::kGatedDeltaProduct, 4, 1, 2, 2, 1, 2, 4, 5, 1, true, false, none, 1e-6, 1e-6, 0, "float32", 0, {}};
  const auto silu = OutputGate::kSilu, logistic = OutputGate::kSigmoid;
  CheckpointConfig gated{
      Family::kGatedDeltaNet, 6, 2, 2, 3, 2, 1, 4, 5, 4, true, true, silu, 1e-6, 1e-5, 0, "float32", 0, {}};
  CheckpointConfig ungated{
      Family::kGatedDeltaNet, 4, 1, 2, 2, 3, 1, 4, 5, 0, false, false, none, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig channels{Family::kKda, 6,    2,        2,    3,    2, 1,         4, 5, 2,
                            true,         true, logistic, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig both{Family::kGdn2, 6,     2,        2,    3,    2, 1,         4, 5, 4,
                        true,          false, logistic, 1e-6, 1e-6, 0, "float32", 0, {}};
  CheckpointConfig olmo{Family::kOlmoHybrid, 6, 2,     2, 3, 2, 1, 4, 5, 4, true, true, silu, 1e-6, 1e-5, 0,
                        "float32",           4, {1, 2}};
  CheckpointConfig qwen{Family::kQwen3Next, 6, 2,     2, 3, 2, 1, 4, 5, 4, false, true, silu, 1e-6, 1e-5, 0,
                        "float32",          3, {0, 2}};
  CheckpointConfig bounded = channels;
  bounded.gate_lower_bound = -2;
  CheckpointConfig kimi{Family::kKimiLinear, 6, 2,     2, 3, 3, 1, 4, 5, 3, false, true, logistic, 1e-6, 1e-6, 0,
                        "float32",           3, {0, 2}};
  CheckpointConfig glm{Family::kGlm5Next, 6,    2,    2, 3,         3, 1,     4, 5, 3, false, true,
                       logistic,          1e-6, 1e-6, 0, "float32", 3, {0, 2}};
  glm.gate_lower_bound = -2;
  glm.streams = 2;
  glm.sinkhorn_rounds = 3;
  glm.stream_epsilon = 1e-3;
  glm.swiglu_limit = 1;
  std::uint64_t seed = 20;
  for (const CheckpointConfig& config :
       {plain, convolved, product, one_tap, gated, ungated, channels, both, olmo, qwen, bounded, kimi, glm})
    for (const Precision precision : {Precision::kFp32, Precision::kBf16})
      for (const bool has_begin : {false, true}) {
        CAPTURE(seed);
        CAPTURE(to_string(precision));
        Checkpoint checkpoint = random_checkpoint(config, ++seed);
        if (seed % 3 == 0) forget_first_taps(checkpoint, seed % 2 + 1);
        checkpoint.config.fused_norm = seed % 2 == 0;
        give_automaton(checkpoint, has_begin);
        const CheckpointModel model(checkpoint, precision);
        const auto reader = checkpoint_reader(checkpoint, model);
        TensorFile file = with_file_names(checkpoint.config, checkpoint.tensors);
        if (config.householders > 1 && seed % 2 == 0) {  // as older files have them
          for (const char* part : {"k_proj", "v_proj", "b_proj", "k_conv1d", "v_conv1d"})
            for (std::uint32_t layer = 0; layer < config.layers; ++layer)
              for (std::uint32_t j = 0; j < config.householders; ++j) {
                const std::string prefix = "model.layers." + std::to_string(layer) + ".attn." + part;
                if (file.tensors.contains(prefix + ".weight"))
                  checkpoint.parts[prefix + ".weight"].push_back(prefix + "s." + std::to_string(j) + ".weight");
              }
          file = part_householders(std::move(file), checkpoint.parts);
          TensorFile joined = file;
          CHECK(join_householders(joined, config.householders, "") == checkpoint.parts);
          CHECK(format_safetensors(joined) == format_safetensors(checkpoint.tensors));
        }
        const auto again = rechecked_operations(checkpoint_operations(checkpoint, model), file);
        LetterReader::Memory memory = reader->start();
        RecheckedReader::Moment moment = again->start();
        const auto is_same = [&] {
          std::vector<double> numbers;
          for (const std::uint32_t bits : memory) numbers.push_back(std::bit_cast<float>(bits));
          return numbers == moment.numbers.at(0);
        };
        REQUIRE(is_same());
        if (has_begin) CHECK(again->read(moment) == reader->answer_at_start().output);
        std::mt19937_64 random(seed);
        for (int t = 0; t < 30; ++t) {
          const auto letter = static_cast<Letter>(random() % reader->letters());
          const LetterReader::Answer answer = reader->step(letter, memory, true);
          moment = again->step(moment, letter);
          REQUIRE(is_same());
          REQUIRE(again->read(moment).value_or(LetterReader::kNoAnswer) == answer.output);
        }
      }
}

TEST_CASE("a fused norm is of the sum before it is rounded") {
  using Family = CheckpointConfig::Family;
  const CheckpointConfig config{Family::kDeltaNet, 8,    1,    2, 4,         3, 1, 6, 5, 0, false, false,
                                OutputGate::kNone, 1e-6, 1e-3, 0, "float32", 0, {}};
  std::size_t different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Checkpoint checkpoint = random_checkpoint(config, seed);
    const auto logits = [&](bool fused, Precision precision) {
      checkpoint.config.fused_norm = fused;
      const CheckpointModel model(checkpoint, precision);
      CheckpointModel::Memory memory = model.start();
      return model.step(1, memory);
    };
    CHECK(logits(false, Precision::kFp32) == logits(true, Precision::kFp32));
    different += logits(false, Precision::kBf16) != logits(true, Precision::kBf16) ? 1 : 0;
  }
  CHECK(different > 0);
}

// Checkpoints of flash-linear-attention: what krohn writes is proved in the emulation of the library's layers, reads
// back as it was, and hostile folders are refused.

using krohn::test::Scratch;

namespace {

namespace fs = std::filesystem;
using Family = CheckpointConfig::Family;

Checkpoint exported(const Dfa& automaton, Family family) {
  return family == Family::kDeltaNet ? delta_net_checkpoint(automaton) : gated_delta_product_checkpoint(automaton);
}

}  // namespace

TEST_CASE("exported group automata are proved in fp32 and bf16, one pair per state") {
  struct Fact {
    const char* name;
    const char* generators;
    Family family;
    std::uint32_t heads, key_dim, householders;
    std::uint64_t pairs;
  };
  for (const Fact& fact : {Fact{"S3", "transpositions", Family::kDeltaNet, 6, 8, 1, 6},
                           {"S5", "transpositions", Family::kDeltaNet, 20, 12, 1, 120},
                           {"Z2", "", Family::kDeltaNet, 2, 6, 1, 2},
                           {"S4", "", Family::kGatedDeltaProduct, 12, 32, 6, 24},
                           {"S5", "", Family::kGatedDeltaProduct, 20, 32, 8, 120},
                           {"A5", "", Family::kGatedDeltaProduct, 15, 32, 8, 60},
                           {"Z5", "", Family::kGatedDeltaProduct, 5, 32, 8, 5}}) {
    CAPTURE(fact.name);
    const Dfa automaton = named(fact.name, fact.generators);
    const Checkpoint checkpoint = exported(automaton, fact.family);
    CHECK(checkpoint.config.heads == fact.heads);
    CHECK(checkpoint.config.key_dim == fact.key_dim);
    CHECK(checkpoint.config.householders == fact.householders);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      const Certificate certificate = certify(checkpoint, precision);
      CHECK(certificate.is<Proved>());
      CHECK(certificate.pairs == fact.pairs);
    }
  }
}

TEST_CASE("flip-flops are proved in both families") {
  // The last of three letters read; "d" changes nothing.
  const Dfa last =
      Dfa::moore(Alphabet::of_characters("abcd"), {0, 1, 2, 0, 0, 1, 2, 1, 0, 1, 2, 2}, 1, {0, 1, 2}, {"a", "b", "c"});
  for (const Family family : {Family::kDeltaNet, Family::kGatedDeltaProduct}) {
    const Checkpoint checkpoint = exported(last, family);
    CHECK(checkpoint.config.heads == 1);
    const Certificate certificate = certify(checkpoint, Precision::kBf16);
    CHECK(certificate.is<Proved>());
    CHECK(certificate.pairs == 3);
  }
}

TEST_CASE("cascades are proved in several layers") {
  struct Fact {
    const char* name;
    Family family;
    std::uint32_t layers;
    std::uint64_t pairs;
  };
  for (const Fact& fact : {Fact{"tomita2", Family::kDeltaNet, 3, 7},
                           {"tomita3", Family::kDeltaNet, 11, 79},
                           {"tomita3", Family::kGatedDeltaProduct, 11, 79},
                           {"tomita4", Family::kGatedDeltaProduct, 5, 16},
                           {"tomita7", Family::kDeltaNet, 9, 14},
                           {"Z3", Family::kDeltaNet, 7, 163},
                           {"tomita6", Family::kDeltaNet, 7, 61},
                           {"T3", Family::kGatedDeltaProduct, 9, 205}}) {
    CAPTURE(fact.name);
    const Checkpoint checkpoint = exported(minimise(named(fact.name)), fact.family);
    CHECK(checkpoint.config.layers == fact.layers);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      const Certificate certificate = certify(checkpoint, precision);
      CHECK(certificate.is<Proved>());
      CHECK(certificate.pairs == fact.pairs);
    }
  }
}

TEST_CASE("exported models read chunks as they read tokens, bit for bit") {
  for (const Family family : {Family::kDeltaNet, Family::kGatedDeltaProduct})
    for (const char* name : {"S3", "tomita3"})
      for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
        CAPTURE(name);
        const Checkpoint checkpoint = exported(minimise(named(name, *name == 'S' ? "transpositions" : "")), family);
        const CheckpointModel model(checkpoint, precision);
        CheckpointModel::Memory one_by_one = model.start(), in_chunks = model.start();
        std::mt19937 random(7);
        for (std::size_t chunk = 0; chunk < 3; ++chunk) {
          std::vector<std::uint32_t> tokens(kDeltaChunk);
          for (std::uint32_t& token : tokens)
            token = static_cast<std::uint32_t>(random() % checkpoint.automaton->letters());
          if (chunk == 0) tokens[0] = *checkpoint.tokens.begin;
          std::vector<std::vector<float>> expected;
          for (const std::uint32_t token : tokens) expected.push_back(model.step(token, one_by_one));
          CHECK(model.read_chunk(tokens, in_chunks) == expected);
        }
        CHECK(in_chunks == one_by_one);
        CHECK_THROWS_AS(model.read_chunk(std::vector<std::uint32_t>(kDeltaChunk + 1), in_chunks), InputError);
      }
}

TEST_CASE("what a layer cannot hold is refused with the layer") {
  const auto qwen = [](const char* name) { return cascade_checkpoint(named(name), Family::kQwen3Next); };
  CHECK_THROWS_WITH_AS(qwen("Z5"), doctest::Contains("a group Z_5 on 5 labels, takes reflections"), InputError);
  CHECK_THROWS_WITH_AS(qwen("tomita6"), doctest::Contains("on 3 labels"), InputError);
  CHECK_THROWS_WITH_AS(delta_net_checkpoint(named("S6", "standard")), doctest::Contains("gated-deltaproduct"),
                       LimitError);
  CHECK_THROWS_AS(gated_delta_product_checkpoint(named("Z97")), LimitError);
}

TEST_CASE("a wrong weight is refuted by a shortest word") {
  Checkpoint checkpoint = delta_net_checkpoint(named("S3", "transpositions"));
  Tensor& beta = checkpoint.tensors.tensors.at("model.layers.0.attn.b_proj.weight");
  std::vector<float> logits(beta.elements());
  std::memcpy(logits.data(), beta.bytes.data(), beta.bytes.size());
  for (float& logit : logits) logit *= 9.f / 32;  // β = 2·sigmoid(9): contracts at every swap
  beta = make_tensor(logits, beta.shape);
  const Certificate drifting = certify(checkpoint, Precision::kFp32, 20'000);
  CHECK(drifting.is<ProvedUpTo>());  // its states never repeat, and the first thousands are right
  CHECK(!drifting.limit.empty());
  for (float& logit : logits) logit = 0;  // β = 1: projections
  beta = make_tensor(logits, beta.shape);
  const Certificate broken = certify(checkpoint);
  CHECK(broken.is<Refuted>());
  CHECK(broken.failing_word()->size() == 1);
}

TEST_CASE("older checkpoints keep every Householder apart") {
  const Checkpoint checkpoint = gated_delta_product_checkpoint(minimise(named("tomita3")));
  std::map<std::string, std::vector<std::string>> parts;
  for (const std::string kind : {"k_proj", "v_proj", "b_proj", "k_conv1d", "v_conv1d"})
    for (std::uint32_t j = 0; j < checkpoint.config.householders; ++j) {
      const std::string name = "model.layers.0.attn." + kind;
      parts[name + ".weight"].push_back(fmt::format("{}s.{}.weight", name, j));
    }
  const TensorFile older = part_householders(checkpoint.tensors, parts);
  TensorFile joined = older;
  join_householders(joined, checkpoint.config.householders, "older");
  CHECK(joined == checkpoint.tensors);
  joined = older;
  joined.tensors.erase("model.layers.0.attn.k_projs.0.weight");
  CHECK_THROWS_WITH_AS(join_householders(joined, 2, "older"), doctest::Contains("parts"), InputError);
  joined = older;
  joined.tensors.at("model.layers.0.attn.k_projs.1.weight").shape.back() += 1;
  CHECK_THROWS_WITH_AS(join_householders(joined, 2, "older"), doctest::Contains("unlike"), InputError);
}

TEST_CASE("shards are joined") {
  const Scratch folder("checkpoint-shards");
  const Checkpoint checkpoint = delta_net_checkpoint(named("S3", "transpositions"));
  save_checkpoint(checkpoint, folder.path().string());
  TensorFile first, second;
  std::string map;
  for (const auto& [name, tensor] : checkpoint.tensors.tensors) {
    const bool is_first = name < "model.layers.0.attn.q";
    (is_first ? first : second).tensors.emplace(name, tensor);
    map += (map.empty() ? "\"" : ", \"") + name + (is_first ? "\": \"a.safetensors\"" : "\": \"b.safetensors\"");
  }
  write_safetensors(first, (folder / "a.safetensors"));
  write_safetensors(second, (folder / "b.safetensors"));
  fs::remove((folder / "model.safetensors"));
  write_file((folder / "model.safetensors.index.json"), "{\"weight_map\": {" + map + "}}");
  CHECK(load_checkpoint(folder.path().string()).tensors.tensors == checkpoint.tensors.tensors);
  write_file((folder / "model.safetensors.index.json"), R"({"weight_map": {"lm_head.weight": "../a.safetensors"}})");
  CHECK_THROWS_WITH_AS(load_checkpoint(folder.path().string()), doctest::Contains("not a name in this folder"),
                       InputError);
}

TEST_CASE("folders that do not fit are refused with the reason") {
  const Checkpoint checkpoint = delta_net_checkpoint(named("S3", "transpositions"));
  const auto refusal = [&](const auto& spoil) {
    const Scratch folder("checkpoint-hostile");
    save_checkpoint(checkpoint, folder.path().string());
    spoil(folder);
    return test::error_of([&] {
      const Checkpoint read = load_checkpoint(folder.path().string());
      CheckpointModel(read, Precision::kFp32);
    });
  };
  const auto with_config = [&](const char* from, const char* to) {
    return [=](const Scratch& folder) {
      std::string text = read_file((folder / "config.json"));
      const std::size_t at = text.find(from);
      REQUIRE(at != std::string::npos);
      write_file((folder / "config.json"), text.replace(at, std::string(from).size(), to));
    };
  };
  const auto with_tensor = [&](const char* name, const auto& change) {
    return [=](const Scratch& folder) {
      TensorFile file = read_safetensors((folder / "model.safetensors"));
      change(file, name);
      write_safetensors(file, (folder / "model.safetensors"));
    };
  };
  CHECK(refusal([](const Scratch&) {}) == "no error");
  CHECK(contains(refusal(with_config("\"delta_net\"", "\"mamba\"")), "model_type"));
  CHECK(contains(refusal(with_config("\"hidden_size\": 16", "\"hidden_size\": -16")), "hidden_size"));
  CHECK(contains(refusal(with_config("\"use_gate\": false", "\"use_gate\": true")), "gates"));
  CHECK(contains(refusal(with_config("\"expand_k\": 3.0", "\"expand_k\": 0.33")), "expand_k"));
  CHECK(contains(refusal(with_config("{", "[")), "JSON"));
  CHECK(contains(refusal(with_config("\"vocab_size\": 10", "\"vocab_size\": 11")), "shape"));
  CHECK(contains(
      refusal(with_tensor("lm_head.weight", [](TensorFile& file, const char* name) { file.tensors.erase(name); })),
      "missing"));
  CHECK(contains(refusal(with_tensor("another",
                                     [](TensorFile& file, const char* name) {
                                       file.tensors.emplace(name, make_tensor(std::vector<float>{1}, {1}));
                                     })),
                 "no layer"));
  CHECK(contains(refusal(with_tensor("model.norm.weight",
                                     [](TensorFile& file, const char* name) {
                                       Tensor& tensor = file.tensors.at(name);
                                       tensor = make_tensor(std::vector<float>(tensor.elements(), NAN), tensor.shape);
                                     })),
                 "not finite"));
  CHECK(contains(refusal([](const Scratch& folder) {
                   fs::rename((folder / "model.safetensors"), (folder / "pytorch_model.bin"));
                 }),
                 "pickled"));
  CHECK(refusal([](const Scratch& folder) {
          write_file((folder / "tokens.json"), R"({"letters": [], "begin": null, "states": []})");
        }).find("has no token") != std::string::npos);
}

// The bound on sums in chunks: exact models have it, one that misses a condition has not, and a chunked evaluation in
// fp32, written out as the library's, gives the recurrence's bits.

namespace {

Checkpoint swaps(const std::string& name, CheckpointFamily family = CheckpointFamily::kOlmoHybrid) {
  return gated_checkpoint(named(name, "transpositions"), family);
}

void change(Checkpoint& checkpoint, const std::string& name, const std::function<float(float)>& how) {
  Tensor& tensor = checkpoint.tensors.tensors.at("model.layers.0.attn." + name);
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    float value = 0;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(float), sizeof(float));
    value = how(value);
    std::memcpy(tensor.bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
}

std::string why_not(const Checkpoint& checkpoint) {
  const ChunkBound bound = bound_in_chunks(checkpoint, CheckpointModel(checkpoint, Precision::kFp32));
  CHECK(bound.is_exact == bound.why_not.empty());
  return bound.why_not;
}

/// Chunks of 64 tokens as transformers' torch_chunk_gated_delta_rule has them, in floats; the rows of the answers.
Eigen::MatrixXf in_chunks(const CheckpointModel& model, const std::vector<std::uint32_t>& tokens, std::size_t head,
                          std::mt19937_64& random) {
  const auto keys = static_cast<Eigen::Index>(model.config().key_dim),
             values = static_cast<Eigen::Index>(model.config().value_dim);
  Eigen::MatrixXf state = Eigen::MatrixXf::Zero(keys, values), answers(tokens.size(), values);
  for (std::size_t first = 0; first < tokens.size(); first += 64) {
    const auto count = static_cast<Eigen::Index>(std::min<std::size_t>(64, tokens.size() - first));
    Eigen::MatrixXf k(count, keys), q(count, keys), v(count, values);
    Eigen::VectorXf beta(count), sums(count);
    float sum = 0;
    for (Eigen::Index t = 0; t < count; ++t) {
      const auto step = model.first_step(tokens[first + static_cast<std::size_t>(t)]);
      for (Eigen::Index i = 0; i < keys; ++i) {
        k(t, i) = step.key[head * static_cast<std::size_t>(keys) + static_cast<std::size_t>(i)];
        q(t, i) = step.query[head * static_cast<std::size_t>(keys) + static_cast<std::size_t>(i)] /
                  std::sqrt(static_cast<float>(keys));
      }
      for (Eigen::Index i = 0; i < values; ++i)
        v(t, i) = step.value[head * static_cast<std::size_t>(values) + static_cast<std::size_t>(i)];
      beta(t) = step.beta[head];
      sums(t) = sum += step.log_decay[head];
    }
    Eigen::MatrixXf a = (beta.asDiagonal() * k) * k.transpose(), attention = q * k.transpose();
    for (Eigen::Index i = 0; i < count; ++i)
      for (Eigen::Index j = 0; j < count; ++j) {
        const float decay = j > i ? 0 : std::exp(sums(i) - sums(j));
        a(i, j) = i == j ? 1 : a(i, j) * decay;
        attention(i, j) *= decay;
      }
    // Solved as a whole, or in two blocks: another order of sums.
    const Eigen::MatrixXf lower = a.triangularView<Eigen::UnitLower>();
    // Eigen's own exp stops at e^-88, which is not zero.
    const auto exponential = [](float x) { return std::exp(x); };
    const Eigen::VectorXf decays = sums.unaryExpr(exponential);
    Eigen::MatrixXf right(count, values + keys);
    right << beta.asDiagonal() * v, decays.asDiagonal() * (beta.asDiagonal() * k);
    Eigen::MatrixXf solved = right;
    if (random() % 2 == 0) {
      solved = lower.triangularView<Eigen::UnitLower>().solve(right);
    } else {
      const Eigen::MatrixXf inverse =
          lower.triangularView<Eigen::UnitLower>().solve(Eigen::MatrixXf(Eigen::MatrixXf::Identity(count, count)));
      solved = inverse * right;
    }
    const Eigen::MatrixXf update = solved.leftCols(values) - solved.rightCols(keys) * state;
    answers.middleRows(static_cast<Eigen::Index>(first), count) = decays.asDiagonal() * q * state + attention * update;
    const Eigen::VectorXf left = (sums(count - 1) - sums.array()).matrix().unaryExpr(exponential);
    state = state * decays(count - 1) + (left.asDiagonal() * k).transpose() * update;
  }
  return answers;
}

/// Token by token.
Eigen::MatrixXf recurrence(const CheckpointModel& model, const std::vector<std::uint32_t>& tokens, std::size_t head) {
  const std::size_t keys = model.config().key_dim, values = model.config().value_dim;
  std::vector<double> state(keys * values, 0);
  Eigen::MatrixXf answers(tokens.size(), values);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const auto step = model.first_step(tokens[t]);
    for (std::size_t j = 0; j < values; ++j) {
      double seen = 0, answer = 0;
      for (std::size_t i = 0; i < keys; ++i) {
        state[i * values + j] *= std::exp(double{step.log_decay[head]});
        seen += state[i * values + j] * double{step.key[head * keys + i]};
      }
      const double update = double{step.beta[head]} * (double{step.value[head * values + j]} - seen);
      for (std::size_t i = 0; i < keys; ++i) {
        state[i * values + j] += double{step.key[head * keys + i]} * update;
        answer += state[i * values + j] * double{step.query[head * keys + i]} / std::sqrt(double(keys));
      }
      answers(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(j)) = static_cast<float>(answer);
    }
  }
  return answers;
}

}  // namespace

TEST_CASE("krohn's own models of one layer are exact in chunks, in fp32 and bf16") {
  std::vector<Checkpoint> checkpoints{
      swaps("S3"), swaps("S5"), swaps("S4", CheckpointFamily::kGatedDeltaNet),
      gated_checkpoint(minimise(named_language("tomita1", {})), CheckpointFamily::kQwen3Next),
      gated_checkpoint(minimise(named_language("tomita1", {})), CheckpointFamily::kOlmoHybrid)};
  for (const Checkpoint& checkpoint : checkpoints)
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      const ChunkBound bound = bound_in_chunks(checkpoint, CheckpointModel(checkpoint, precision));
      CAPTURE(bound.why_not);
      CHECK(bound.is_exact);
      CHECK(bound.grains < 0x1p24);
      CHECK(bound.grains >= 1);
    }
  // The bound of longer chunks grows past what floats hold.
  const Checkpoint s3 = swaps("S3");
  const CheckpointModel model(s3, Precision::kFp32);
  CHECK(bound_in_chunks(s3, model, 64).is_exact);
  CHECK(!bound_in_chunks(s3, model, 256).is_exact);
}

TEST_CASE("each condition that is missed is named") {
  struct Fact {
    const char* tensor;
    std::function<float(float)> how;
    const char* why;  ///< "": exact
  };
  for (const auto& [tensor, how, why] : std::vector<Fact>{
           {"b_proj.weight", [](float x) { return x / 4; }, "β is neither"},  // 2·sigmoid(8)
           {"dt_bias", [](float) { return -4.f; }, "logarithm is no whole number"},
           {"a_proj.weight", [](float x) { return x * 255 / 1024; }, "neither 1 nor safely 0"},  // g = −127
           {"a_proj.weight", [](float x) { return x / 4; }, ""},                                 // g = −128
           // g = −262,143, 64 times below 2^24, and −262,144.
           {"a_proj.weight", [](float x) { return x * (262'271.f / 1024); }, ""},
           {"a_proj.weight", [](float x) { return x * (262'272.f / 1024); }, "too large for a chunk"},
           {"k_proj.weight", [](float x) { return x / 64; }, "meets that of token 0 in no whole number"},
           {"a_proj.weight", [](float) { return 0.f; }, "without being emptied"}}) {
    CAPTURE(std::string(tensor));
    Checkpoint checkpoint = swaps("S3");
    change(checkpoint, tensor, how);
    const std::string said = why_not(checkpoint);
    CHECK_MESSAGE((*why == 0 ? said.empty() : contains(said, why)), "wanted: " << why << ", said: " << said);
  }
  CHECK(contains(why_not(gated_checkpoint(minimise(named_language("tomita3", {})), CheckpointFamily::kOlmoHybrid)),
                 "several layers"));
  CHECK(contains(why_not(swaps("S3", CheckpointFamily::kKda)), "one decay for each head"));
}

TEST_CASE("products that would leave the normal numbers are refused, one power of two from those that would not") {
  for (const double end : {-1.0, 1.0}) {
    // Powers of two by which values may be scaled: from here on SiLU only halves them, or changes nothing.
    int last = end < 0 ? -60 : 20;
    const auto scaled = [&](int power) {
      Checkpoint checkpoint = swaps("S3");
      change(checkpoint, "v_proj.weight", [&](float x) { return std::ldexp(x, power); });
      return checkpoint;
    };
    while (why_not(scaled(last + static_cast<int>(end))).empty()) last += static_cast<int>(end);
    CHECK(contains(why_not(scaled(last + static_cast<int>(end))), "leave the range of fp32"));
    // The finest and the coarsest grain that the accepted one has, by the definition.
    const Checkpoint checkpoint = scaled(last);
    const CheckpointModel model(checkpoint, Precision::kFp32);
    double key = INFINITY, value = INFINITY, query = INFINITY;
    const auto grain = [](double& least, float x, double factor) {
      if (x == 0) return;
      int exponent = 0;
      long long mantissa = std::llround(std::frexp(double{x} * factor, &exponent) * 0x1p24);
      exponent -= 24;
      while (mantissa % 2 == 0) mantissa /= 2, ++exponent;
      least = std::min(least, std::ldexp(1.0, exponent));
    };
    std::vector<std::uint32_t> tokens = checkpoint.tokens.of_letter;
    tokens.push_back(*checkpoint.tokens.begin);
    for (const std::uint32_t token : tokens) {
      const auto step = model.first_step(token);
      for (const float x : step.key) grain(key, x, 1);
      for (const float x : step.query) grain(query, x, 1 / std::sqrt(model.config().key_dim));
      for (std::size_t i = 0; i < step.value.size(); ++i)
        grain(value, step.value[i], step.beta[i / model.config().value_dim]);
    }
    const double all = std::pow(key, 4) * std::min(query, 1.0) * value;
    if (end < 0) CHECK((all >= 0x1p-126 && all / 2 < 0x1p-126));
    if (end > 0) CHECK((value <= 0x1p103 && 2 * value > 0x1p103));
  }
}

TEST_CASE("chunks computed in floats, in two orders, have the bits of the recurrence") {
  for (const auto& [checkpoint, length] :
       {std::pair{swaps("S3"), 500u},
        {swaps("S5"), 300u},
        {gated_checkpoint(minimise(named_language("tomita1", {})), CheckpointFamily::kQwen3Next), 300u}}) {
    const CheckpointModel model(checkpoint, Precision::kFp32);
    std::mt19937_64 random(3);
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t t = 0; t < length; ++t)
      tokens.push_back(t % 97 == 0 ? *checkpoint.tokens.begin
                                   : checkpoint.tokens.of_letter[random() % checkpoint.automaton->letters()]);
    for (std::size_t head = 0; head < model.config().heads; ++head) {
      const Eigen::MatrixXf chunked = in_chunks(model, tokens, head, random), right = recurrence(model, tokens, head);
      Eigen::Index wrong = 0;
      while (wrong < right.rows() && chunked.row(wrong) == right.row(wrong)) ++wrong;
      CHECK(wrong == right.rows());
    }
  }
}
