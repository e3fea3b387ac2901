// Models trained elsewhere: PyTorch's own answers on its own weights (tests/data/cells), and what is refused.

#include "krohn/simulate/imports/import_model.h"

#include <doctest/doctest.h>

#include <cstring>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/error_of.h"
#include "tests/simulate/plain_model.h"

using namespace krohn;
using namespace krohn::test;

namespace {

/// A state dict with words and the logits that PyTorch 2.15 gave after each of their letters, in fp32 and in fp64.
struct Golden {
  TensorFile tensors;
  std::vector<std::int64_t> words;  ///< kWords of kLength
  std::vector<float> fp32;
  std::vector<double> fp64;
};
constexpr std::uint64_t kWords = 6, kLength = 40, kLetters = 3, kLabels = 2;

Golden golden(const std::string& name) {
  Golden result{read_safetensors(std::string(KROHN_TEST_DATA) + "/cells/" + name + ".safetensors"), {}, {}, {}};
  TensorReader reader(result.tensors);
  result.words = reader.values<std::int64_t>("words", {kWords, kLength});
  result.fp32 = reader.values<float>("logits32", {kWords, kLength, kLabels});
  result.fp64 = reader.values<double>("logits64", {kWords, kLength, kLabels});
  for (const char* extra : {"words", "logits32", "logits64"}) result.tensors.tensors.erase(extra);
  return result;
}

const auto& task() {
  static const auto made = make_task("regex:(a|b|c)*a");
  return *made;
}

std::unique_ptr<SequenceModel<float>> imported(const TensorFile& tensors, const std::string& kind) {
  return import_model(tensors, {kind, {}, {}, {}, {}, {}}, task(), "m.safetensors");
}

/// After every letter of every word.
template <class Real>
std::vector<Real> logits_of(const SequenceModel<float>& model, const std::vector<std::int64_t>& words,
                            const std::vector<Letter>& letter_of_token) {
  const auto plain = plain_model<Real>(model);
  std::vector<Real> all;
  for (std::uint64_t word = 0; word < kWords; ++word) {
    std::vector<Real> memory = plain->start(), logits(kLabels);
    for (std::uint64_t t = 0; t < kLength; ++t) {
      plain->read(letter_of_token[static_cast<std::size_t>(words[word * kLength + t])], memory, logits);
      all.insert(all.end(), logits.begin(), logits.end());
    }
  }
  return all;
}

std::string refusal(const TensorFile& tensors, const ImportOptions& options) {
  return error_of([&] { import_model(tensors, options, task(), "m.safetensors"); });
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Kind {
  const char *file, *kind;
};
const std::vector<Kind> kKinds = {{"rnn", "rnn"},          {"rnn-relu", "rnn-relu"}, {"gru", "gru"},
                                  {"gru-unbiased", "gru"}, {"gru-cell", "gru"},      {"lstm", "lstm"},
                                  {"lstm-one-hot", "lstm"}};

}  // namespace

TEST_CASE("imported cells give PyTorch's logits") {
  for (const auto& [file, kind] : kKinds) {
    CAPTURE(file);
    const Golden truth = golden(file);
    const auto model = imported(truth.tensors, kind);
    const auto wide = logits_of<double>(*model, truth.words, {0, 1, 2});
    const auto narrow = logits_of<float>(*model, truth.words, {0, 1, 2});
    for (std::size_t i = 0; i < wide.size(); ++i) {
      REQUIRE(wide[i] == doctest::Approx(truth.fp64[i]).epsilon(1e-11));
      REQUIRE(narrow[i] == doctest::Approx(truth.fp32[i]).epsilon(2e-4));
    }
  }
}

TEST_CASE("letters and answers are numbers of the other model") {
  for (const auto& [file, kind] : kKinds) {
    CAPTURE(file);
    const Golden truth = golden(file);
    // Letter a is token 2, b is 0, c is 1; the answers change places.
    const auto model = import_model(truth.tensors, {kind, {}, {}, {}, {2, 0, 1}, {1, 0}}, task(), "m");
    const auto wide = logits_of<double>(*model, truth.words, {1, 2, 0});
    for (std::size_t i = 0; i < wide.size(); ++i) REQUIRE(wide[i] == doctest::Approx(truth.fp64[i ^ 1]).epsilon(1e-11));
  }
}

TEST_CASE("a read-out of one row answers the second label above 0") {
  Golden truth = golden("gru");
  const std::vector<float> both = TensorReader(truth.tensors).values<float>("fc.weight", {2, 4});
  const std::vector<float> bias = TensorReader(truth.tensors).values<float>("fc.bias", {2});
  truth.tensors.tensors.at("fc.weight") = make_tensor(std::vector<float>(both.begin() + 4, both.end()), {1, 4});
  truth.tensors.tensors.at("fc.bias") = make_tensor(std::vector<float>{bias[1]}, {1});
  const auto wide = logits_of<double>(*imported(truth.tensors, "gru"), truth.words, {0, 1, 2});
  for (std::size_t i = 0; i < wide.size(); i += 2) {
    CHECK(wide[i] == 0);
    CHECK(wide[i + 1] == doctest::Approx(truth.fp64[i + 1]).epsilon(1e-11));
  }
}

TEST_CASE("an embedding without \"emb\" in its name is asked for by the name that it has") {
  std::uint64_t embedded = 0;
  for (const auto& [file, kind] : kKinds) {
    CAPTURE(file);
    const Golden truth = golden(file);
    TensorFile renamed;
    for (const auto& [name, tensor] : truth.tensors.tensors)
      renamed.tensors[name.starts_with("emb") ? "tok.weight" : name] = tensor;
    if (renamed.tensors == truth.tensors.tensors) continue;
    ++embedded;
    ImportOptions options{kind, {}, {}, {}, {}, {}};
    const Shape& shape = renamed.tensors.at("tok.weight").shape;
    CHECK(says(refusal(renamed, options),
               shape[0] == shape[1] ? "named with --embedding PREFIX" : "say --embedding tok;"));
    options.tokens = {0, 1, shape[1] - 1 > 1 ? 2U : 1U};
    CHECK(says(refusal(renamed, options), "named with --embedding PREFIX"));
    options.tokens = {};
    options.embedding = "tok";
    const auto wide = logits_of<double>(*import_model(renamed, options, task(), "m"), truth.words, {0, 1, 2});
    for (std::size_t i = 0; i < wide.size(); ++i) REQUIRE(wide[i] == doctest::Approx(truth.fp64[i]).epsilon(1e-11));
  }
  CHECK(embedded == 5);
}

TEST_CASE("half precision is read as it is, and double only where fp32 has the number") {
  Golden truth = golden("gru");
  Tensor& bias = truth.tensors.tensors.at("fc.bias");
  bias = make_tensor(std::vector<double>{0.5, -0.25}, {2});
  CHECK(TensorReader(imported(truth.tensors, "gru")->tensors()).values<float>("head.bias", {2}) ==
        std::vector<float>{0.5f, -0.25f});
  bias = make_tensor(std::vector<double>{0.5, 0.1}, {2});
  CHECK(says(refusal(truth.tensors, {.kind = "gru"}), "fp32 does not have"));
  const std::uint16_t bf16[] = {0x3F80, 0xC000}, fp16[] = {0x3C00, 0xC000};
  for (const auto& [dtype, bits] : {std::pair{"BF16", bf16}, std::pair{"F16", fp16}}) {
    bias = {dtype, {2}, std::vector<std::byte>(4)};
    std::memcpy(bias.bytes.data(), bits, 4);
    CHECK(TensorReader(imported(truth.tensors, "gru")->tensors()).values<float>("head.bias", {2}) ==
          std::vector<float>{1, -2});
  }
  bias = make_tensor(std::vector<std::int64_t>{1, 2}, {2});
  CHECK(says(refusal(truth.tensors, {.kind = "gru"}), "not floating-point"));
  bias = make_tensor(std::vector<float>{1, INFINITY}, {2});
  CHECK(says(refusal(truth.tensors, {.kind = "gru"}), "not finite"));
}

TEST_CASE("what is not understood is refused, and the message names it") {
  const TensorFile gru = golden("gru").tensors, one_hot = golden("lstm-one-hot").tensors;
  CHECK(says(refusal(gru, {.kind = "lstm"}), "needs 4"));
  CHECK(says(refusal(gru, {.kind = "rnn"}), "needs 1"));
  CHECK(says(refusal(gru, {.kind = "grue"}), "Did you mean \"gru\""));
  CHECK(says(refusal(gru, {.kind = "gru", .cell = "encoder"}), "encoder.weight_ih_l0"));
  CHECK(says(refusal(gru, {.kind = "gru", .tokens = {0, 1, 3}}), "no number 3"));
  CHECK(says(refusal(gru, {.kind = "gru", .classes = {0, 2}}), "no number 2"));
  CHECK(says(refusal(gru, {.kind = "gru", .head = "emb"}), "[3, 3], and the recurrence gives 4"));
  CHECK(says(refusal(gru, {.kind = "gru", .embedding = "nowhere"}), "no tensor \"nowhere.weight\""));
  const auto with = [](TensorFile file, const std::string& name, Shape shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) count *= extent;
    file.tensors[name] = make_tensor(std::vector<float>(count, 0), shape);
    return file;
  };
  CHECK(
      says(refusal(with(gru, "norm.weight", {4}), {.kind = "gru"}), "\"norm.weight\" of shape [4] belongs to nothing"));
  CHECK(says(refusal(with(gru, "other.weight", {2, 4}), {.kind = "gru"}), "name it with --head"));
  CHECK(says(refusal(with(gru, "b.embed.weight", {3, 3}), {.kind = "gru"}), "name it with --embedding"));
  CHECK(says(refusal(with(gru, "b.weight_ih_l0", {3, 3}), {.kind = "gru"}), "--cell"));
  CHECK(says(refusal(with(gru, "core.weight_ih_l0_reverse", {12, 3}), {.kind = "gru"}), "bidirectional"));
  CHECK(says(refusal(with(one_hot, "core.weight_hr_l0", {2, 4}), {.kind = "lstm"}), "projection"));
  CHECK(says(refusal(with(gru, "core.weight_hh_l1", {12, 5}), {.kind = "gru"}), "[12, 5]"));
  CHECK(says(refusal(with(gru, "emb.weight", {4, 3}), {.kind = "gru"}), "--letters"));
  CHECK(says(refusal(with(gru, "emb.weight", {3, 4}), {.kind = "gru"}), "takes 3 inputs"));
  CHECK(says(refusal(with(gru, "fc.weight", {2, 5}), {.kind = "gru"}), "gives 4 numbers"));
  CHECK(says(refusal(with(with(gru, "fc.weight", {3, 4}), "fc.bias", {3}), {.kind = "gru"}), "--classes"));
  TensorFile missing = gru;
  missing.tensors.erase("core.bias_hh_l1");
  CHECK(says(refusal(missing, {.kind = "gru"}), "core.bias_hh_l1"));
  missing = gru;
  missing.tensors.erase("fc.weight");
  CHECK(says(refusal(missing, {.kind = "gru"}), "read-out"));
}
