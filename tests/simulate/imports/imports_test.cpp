// Layers of other libraries (tests/data/stock, written by tools/bench/peer_imports.py): bit for bit the stated
// arithmetic as NumPy computes it (tests/python/stated_layers.py), and up to rounding what the libraries themselves
// gave on the same words; and what is refused.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/simulate/imports/import_model.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stock_model.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/train/evaluate_model.h"
#include "tests/simulate/plain_model.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::test;

namespace {

constexpr std::uint64_t kWords = 6, kLength = 40, kLabels = 2;

using Settings = std::map<std::string, double>;
struct Kind {
  std::string name;
  Settings settings = {};
};
const std::vector<Kind> kKinds = {{"bilinear"},
                                  {"mamba"},
                                  {"mamba2", {{"groups", 2}}},
                                  {"mlstm"},
                                  {"slstm"},
                                  {"deltanet", {{"negative", 0}}},
                                  {"deltaproduct", {{"heads", 2}, {"negative", 1}}},
                                  {"gated-deltanet", {{"heads", 2}, {"negative", 1}}},
                                  {"gla"},
                                  {"rwkv7"},
                                  {"m2rnn", {{"q-heads", 1}, {"k-heads", 1}}}};

struct Golden {
  TensorFile tensors;
  std::vector<std::int64_t> words;
  std::vector<float> library, stated;  ///< logits after every letter
};

Golden golden(const std::string& kind) {
  Golden result{read_safetensors(std::string(KROHN_TEST_DATA) + "/stock/" + kind + ".safetensors"), {}, {}, {}};
  TensorReader reader(result.tensors);
  result.words = reader.values<std::int64_t>("words", {kWords, kLength});
  result.library = reader.values<float>("logits32", {kWords, kLength, kLabels});
  result.stated = reader.values<float>("stated32", {kWords, kLength, kLabels});
  for (const char* extra : {"words", "logits32", "stated32"}) result.tensors.tensors.erase(extra);
  return result;
}

/// Tensors along which, in a direction drawn for each, the loss has another slope than its gradient says.
std::vector<std::string> wrong_slopes(SequenceModel<double>& model,
                                      const std::function<BatchLoss(std::span<double>)>& loss) {
  std::vector<double> gradient(model.parameters().size(), 0);
  loss(gradient);
  std::vector<std::string> wrong;
  Random random(5);
  for (const ParameterPart& part : model.tensor_parts()) {
    const std::span<double> own = model.tensor(part.name);
    const std::vector<double> kept(own.begin(), own.end());
    const std::size_t begin = own.empty() ? 0 : model.begin_of(part.name);
    double along = 0;
    std::vector<double> direction;
    for (std::size_t i = 0; i < own.size(); ++i) {
      direction.push_back(random.next() % 2 == 0 ? 1 : -1);
      along += direction[i] * gradient[begin + i];
    }
    const auto loss_at = [&](double step) {
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = kept[i] + step * direction[i];
      const double found = loss({}).loss;
      std::ranges::copy(kept, own.begin());
      return found;
    };
    constexpr double kStep = 1e-6;
    const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    if (!(std::abs(slope - along) < 1e-7 + 1e-5 * std::abs(along)))
      wrong.push_back(fmt::format("{}: {} is not {}", part.name, along, slope));
  }
  return wrong;
}

const Task& task() {
  static const auto made = make_task("regex:(a|b|c)*a");
  return *made;
}

ImportOptions options_of(const Kind& kind) {
  ImportOptions options{.kind = kind.name, .settings = kind.settings};
  options.classes = {0, 1};  // language models have a row for every token
  return options;
}

std::unique_ptr<SequenceModel<float>> imported(const TensorFile& tensors, const Kind& kind) {
  return import_model(tensors, options_of(kind), task(), "m.safetensors");
}

/// After every letter of every word; `letter_of_token` is empty where a token is a letter's number.
template <class Real>
std::vector<Real> logits_of(const SequenceModel<float>& model, const std::vector<std::int64_t>& words,
                            const std::vector<Letter>& letter_of_token = {}) {
  const auto plain = plain_model<Real>(model);
  std::vector<Real> all;
  for (std::uint64_t word = 0; word < kWords; ++word) {
    std::vector<Real> memory = plain->start(), logits(kLabels);
    for (std::uint64_t t = 0; t < kLength; ++t) {
      const auto token = static_cast<std::size_t>(words[word * kLength + t]);
      plain->read(letter_of_token.empty() ? static_cast<Letter>(token) : letter_of_token[token], memory, logits);
      all.insert(all.end(), logits.begin(), logits.end());
    }
  }
  return all;
}

std::vector<float> numbers(const TensorFile& file, const std::string& name) {
  TensorReader reader(file);
  return reader.values<float>(name, reader.shape(name));
}

std::string refusal(const TensorFile& tensors, const Kind& kind, const std::string& cell = "") {
  ImportOptions options = options_of(kind);
  options.cell = cell;
  return error_of([&] { import_model(tensors, options, task(), "m.safetensors"); });
}

TensorFile with(TensorFile file, const std::string& name, Shape shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  file.tensors[name] = make_tensor(std::vector<float>(count, 0), shape);
  return file;
}

TensorFile without(TensorFile file, const std::string& name) {
  REQUIRE(file.tensors.erase(name) == 1);
  return file;
}

const Kind& kind(const std::string& name) { return *std::ranges::find(kKinds, name, &Kind::name); }

}  // namespace

TEST_CASE("imported layers compute the stated arithmetic bit for bit, and their library's logits up to rounding") {
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    const Golden truth = golden(kind.name);
    const auto model = imported(truth.tensors, kind);
    const auto narrow = logits_of<float>(*model, truth.words);
    const auto wide = logits_of<double>(*model, truth.words);
    for (std::size_t i = 0; i < narrow.size(); ++i) {
      CAPTURE(i);
      REQUIRE(narrow[i] == truth.stated[i]);
      REQUIRE(std::abs(narrow[i] - truth.library[i]) <= 1e-4 * std::max(1.f, std::abs(narrow[i])));
      REQUIRE(std::abs(wide[i] - truth.library[i]) <= 1e-4 * std::max(1., std::abs(wide[i])));
    }
  }
}

TEST_CASE("what is measured is what is judged, and the file says all of it") {
  for (const Kind& kind : kKinds) {
    if (kind.name == "bilinear") continue;  // its readers are those of linear models
    CAPTURE(kind.name);
    const Golden truth = golden(kind.name);
    const auto model = imported(truth.tensors, kind);
    CHECK(to_string(parse_stock_shape(model->name())) == model->name());
    const auto again = make_model<float>(model->name(), task(), 0);
    again->load(model->tensors());
    CHECK(logits_of<float>(*again, truth.words) == truth.stated);

    TrainingBatch batch{.words = kWords, .positions = kLength, .letters = {}, .lengths = {}, .targets = {}};
    batch.lengths.assign(kWords, kLength);
    for (std::uint32_t t = 0; t < kLength; ++t)
      for (std::uint32_t word = 0; word < kWords; ++word) {
        batch.letters.push_back(static_cast<Letter>(truth.words[word * kLength + t]));
        if ((t + word) % 3 != 0) batch.targets.push_back({t, word, 1});
      }
    std::vector<TaskLabel> answers(batch.targets.size());
    model_readers(*again, false)(kWords)->read(batch, answers);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::size_t at = (batch.targets[i].word * kLength + batch.targets[i].position) * kLabels;
      REQUIRE(answers[i] == (truth.stated[at + 1] > truth.stated[at]));
    }
    const auto exact = make_model<double>(model->name(), task(), 0);
    std::ranges::copy(model->parameters(), exact->parameters().begin());
    for (const bool twice : {false, true}) {
      const auto loss = [&](std::span<double> gradient) {
        return twice ? exact->twin_loss(batch, {3, 0.1, 4}, gradient) : exact->loss(batch, gradient);
      };
      CAPTURE(twice);
      CHECK(wrong_slopes(*exact, loss) == std::vector<std::string>{});
    }
  }
}

TEST_CASE("numbers that a file does not have are fixed, and stay so in files") {
  const auto fixed_of = [](const SequenceModel<float>& model) {
    std::string fixed;
    for (const ParameterPart& part : model.tensor_parts()) {
      const std::span<const float> own = model.tensor(part.name);
      std::size_t count = 0;
      for (const auto& range : model.fixed())
        for (std::size_t i = 0; i < range.numbers.size(); ++i) {
          const float* const at = &model.parameters()[range.first + i];
          CHECK(*at == range.numbers[i]);
          count += at >= own.data() && at < own.data() + own.size() ? 1 : 0;
        }
      if (count > 0) fixed += fmt::format("{}: {} of {}; ", part.name, count, own.size());
    }
    return fixed;
  };
  // A read-out of one logit, whose other row is 0, without a bias, behind torch.nn.RNN without biases.
  const TensorFile tensors{{{"emb.weight", make_tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})},
                            {"rnn.weight_ih_l0", make_tensor(std::vector<float>{0, 1, 1, 0}, {2, 2})},
                            {"rnn.weight_hh_l0", make_tensor(std::vector<float>{1, 0, 0, 1}, {2, 2})},
                            {"norm.weight", make_tensor(std::vector<float>{2, 0}, {2})},
                            {"head.weight", make_tensor(std::vector<float>{0, 1}, {1, 2})}},
                           {}};
  ImportOptions options{.kind = "rnn", .settings = {{"rms-norm", 1}, {"norm-eps", 1e-5}}, .modules = {"emb", "layer-norm", "rnn", "norm", "head"}};
  const auto model = import_model(tensors, options, task(), "m.safetensors");
  const std::string wanted =
      "steps.0.weight: 2 of 2; steps.0.bias: 2 of 2; steps.1.bias_ih: 2 of 2; steps.1.bias_hh: 2 of 2; "
      "head.weight: 2 of 4; head.bias: 2 of 2; ";
  CHECK(fixed_of(*model) == wanted);
  TensorFile large = tensors;  // more numbers than fp32 counts in halves, of letters that the language lacks
  large.tensors["emb.weight"] = make_tensor(std::vector<float>(1 << 23, 1), {1 << 22, 2});
  options.tokens = {0, 1, 2};
  CHECK(fixed_of(*import_model(large, options, task(), "m.safetensors")) == wanted);
  const std::string path = std::string(KROHN_TEST_TMP) + "/fixed.safetensors";
  save_model("t", *model, path);
  CHECK(fixed_of(*load_model(path).model) == wanted);
  for (const char* text : {"1", "+", "3+99", "99+1", "1+2,", "x+1", "1+2;3", "1+2,2+1"}) {
    save_model("t", *model, path, {{"other", text}});
    TensorFile file = read_safetensors(path);
    file.metadata["fixed"] = text;
    write_safetensors(file, path);
    if (std::string(text) == "1+2,")
      CHECK_NOTHROW(load_model(path));
    else
      CHECK(contains(error_of([&] { load_model(path); }), "metadata \"fixed\""));
  }
  for (const Kind& kind : kKinds) {
    const bool has_bias = kind.name.find('m') != 0 || kind.name == "m2rnn";  // a read-out of a language model has none
    CHECK(fixed_of(*imported(golden(kind.name).tensors, kind)) ==
          (kind.name == "bilinear" ? "initial: 4 of 4; " : has_bias ? "" : "head.bias: 2 of 2; "));
  }
}

TEST_CASE("trained as a list of operations, cells have the loss and the gradient of their own kernels") {
  const auto task = make_task("Z3");
  const TrainingBatch batch = draw_batch(*task, {1, 9}, 3, 0, 37);
  for (const std::string cell : {"rnn", "rnn-relu", "gru", "lstm"})
    for (const std::string layers : {"1", "2"}) {
      CAPTURE(cell);
      CAPTURE(layers);
      const auto own = make_model<double>(cell + ":hidden=5,inputs=3,layers=" + layers, *task, 7);
      const auto listed = make_model<double>(
          "stock-" + cell + ":width=3,forward=layer-5" + (layers == "2" ? "/layer-5" : ""), *task, 0);
      REQUIRE(listed->parameters().size() == own->parameters().size());
      std::ranges::copy(own->parameters(), listed->parameters().begin());
      std::vector<double> wanted(own->parameters().size(), 1), gradient = wanted;
      for (const unsigned threads : {1U, 2U}) {
        listed->use_threads(threads);
        for (const double weight : {0.0, 2.0}) {  // without noise both readings are one
          std::ranges::fill(gradient, 1);
          std::ranges::fill(wanted, 1);
          const BatchLoss by_kernels = weight == 0 ? own->loss(batch, wanted) : own->twin_loss(batch, {weight, 0, 1}, wanted),
                          by_list =
                              weight == 0 ? listed->loss(batch, gradient) : listed->twin_loss(batch, {weight, 0, 1}, gradient);
          CHECK(by_list.loss == doctest::Approx(by_kernels.loss).epsilon(1e-12));
          CHECK(by_list.right == by_kernels.right);
          CHECK(by_list.targets == by_kernels.targets);
          for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(std::abs(gradient[i] - wanted[i]) < 1e-11);
        }
      }
    }
}

TEST_CASE("a convolution remembers no token that only zeros look at") {
  const Golden truth = golden("mamba");
  TensorFile padded = truth.tensors;
  for (const char* layer : {"0", "1"}) {
    const std::string name = std::string("backbone.layers.") + layer + ".mixer.conv1d.weight";
    const std::vector<float> taps = numbers(padded, name);
    std::vector<float> wider;
    for (std::size_t channel = 0; channel < taps.size() / 4; ++channel) {
      wider.insert(wider.end(), {0, 0});
      wider.insert(wider.end(), taps.begin() + 4 * static_cast<std::ptrdiff_t>(channel),
                   taps.begin() + 4 * static_cast<std::ptrdiff_t>(channel + 1));
    }
    padded.tensors[name] = make_tensor(wider, {taps.size() / 4, 1, 6});
  }
  const auto model = imported(padded, kind("mamba"));
  CHECK(logits_of<float>(*model, truth.words) == truth.stated);
  CHECK(plain_model<float>(*model)->start().size() ==
        plain_model<float>(*imported(truth.tensors, kind("mamba")))->start().size());
}

TEST_CASE("one convolution for queries, keys and values is three") {
  const Golden truth = golden("gated-deltanet");
  TensorFile apart = truth.tensors;
  const std::vector<float> taps = numbers(apart, "layer.conv1d.weight");
  apart.tensors.erase("layer.conv1d.weight");
  std::ptrdiff_t first = 0;
  for (const auto& [name, rows] : {std::pair{"q", 8}, {"k", 8}, {"v", 6}}) {
    apart.tensors[std::string("layer.") + name + "_conv1d.weight"] =
        make_tensor(std::vector<float>(taps.begin() + 3 * first, taps.begin() + 3 * (first + rows)),
                    {static_cast<std::uint64_t>(rows), 1, 3});
    first += rows;
  }
  CHECK(logits_of<float>(*imported(apart, kind("gated-deltanet")), truth.words) == truth.stated);
}

TEST_CASE("the two layouts of the sLSTM's recurrent weights are one") {
  // The package keeps R as [heads, gate, to, from] on a processor and as [heads, from, gate, to] on a device, b as
  // [gate, heads, to] and [heads, gate, to].
  const Golden truth = golden("slstm");
  constexpr std::size_t kHeads = 2, kSize = 4;
  const std::vector<float> kernel = numbers(truth.tensors, "layer.slstm_cell._recurrent_kernel_"),
                           bias = numbers(truth.tensors, "layer.slstm_cell._bias_");
  std::vector<float> turned, moved;
  for (std::size_t head = 0; head < kHeads; ++head)
    for (std::size_t from = 0; from < kSize; ++from)
      for (std::size_t gate = 0; gate < 4; ++gate)
        for (std::size_t to = 0; to < kSize; ++to)
          turned.push_back(kernel[((head * 4 + gate) * kSize + to) * kSize + from]);
  for (std::size_t head = 0; head < kHeads; ++head)
    for (std::size_t gate = 0; gate < 4; ++gate)
      for (std::size_t to = 0; to < kSize; ++to) moved.push_back(bias[(gate * kHeads + head) * kSize + to]);
  TensorFile device = truth.tensors;
  device.tensors["layer.slstm_cell._recurrent_kernel_"] = make_tensor(turned, {kHeads, kSize, 4 * kSize});
  device.tensors["layer.slstm_cell._bias_"] = make_tensor(moved, {4 * kHeads * kSize});
  CHECK(logits_of<float>(*imported(device, kind("slstm")), truth.words) == truth.stated);
}

TEST_CASE("a bilinear recurrence by torch.nn.Bilinear in either order, and by a matrix a letter") {
  const Golden truth = golden("bilinear");
  constexpr std::size_t kHidden = 4, kInputs = 8, kLetters = 3;
  const std::vector<float> weight = numbers(truth.tensors, "bilinear.weight"),
                           bias = numbers(truth.tensors, "bilinear.bias"),
                           embedding = numbers(truth.tensors, "embed.weight");
  std::vector<float> swapped, matrices(kLetters * kHidden * kHidden, 0), added;
  for (std::size_t i = 0; i < kHidden; ++i)
    for (std::size_t d = 0; d < kInputs; ++d)
      for (std::size_t j = 0; j < kHidden; ++j) swapped.push_back(weight[(i * kHidden + j) * kInputs + d]);
  for (std::size_t letter = 0; letter < kLetters; ++letter) {
    for (std::size_t entry = 0; entry < kHidden * kHidden; ++entry)
      for (std::size_t d = 0; d < kInputs; ++d)
        matrices[letter * kHidden * kHidden + entry] += embedding[letter * kInputs + d] * weight[entry * kInputs + d];
    added.insert(added.end(), bias.begin(), bias.end());
  }
  TensorFile other = truth.tensors;
  other.tensors["bilinear.weight"] = make_tensor(swapped, {kHidden, kInputs, kHidden});
  CHECK(logits_of<float>(*imported(other, kind("bilinear")), truth.words) == truth.stated);

  TensorFile by_letter;
  for (const char* name : {"head.weight", "head.bias"}) by_letter.tensors[name] = truth.tensors.tensors.at(name);
  by_letter.tensors["A"] = make_tensor(matrices, {kLetters, kHidden, kHidden});
  by_letter.tensors["b"] = make_tensor(added, {kLetters, kHidden});
  CHECK(logits_of<float>(*imported(by_letter, kind("bilinear")), truth.words) == truth.stated);
  by_letter.tensors["h0"] = make_tensor(std::vector<float>{1, 0, 0, 0}, {kHidden});
  CHECK(logits_of<float>(*imported(by_letter, kind("bilinear")), truth.words) != truth.stated);

  CHECK(contains(refusal(with(truth.tensors, "A", {2, 4, 4}), {"bilinear"}), "name it with --cell"));
  CHECK(contains(refusal(with(by_letter, "A", {3, 4, 5}), {"bilinear"}), "[letters, H, H]"));
  CHECK(contains(refusal(with(other, "bilinear.weight", {4, 5, 6}), {"bilinear"}), "must be the state"));
  CHECK(contains(refusal(without(by_letter, "A"), {"bilinear"}), "no tensor has three extents"));
}

TEST_CASE("the state before the first letter is h0, beside the recurrence or anywhere") {
  const Golden truth = golden("bilinear");
  const auto started = [&](const std::string& name) {
    TensorFile file = truth.tensors;
    file.tensors[name] = make_tensor(std::vector<float>{1, 0, 0, 0}, {4});
    return logits_of<float>(*imported(file, kind("bilinear")), truth.words);
  };
  CHECK(started("h0") != truth.stated);
  for (const char* name : {"bilinear.h0", "start.h0"}) CHECK(started(name) == started("h0"));
  CHECK(contains(refusal(with(with(truth.tensors, "h0", {4}), "start.h0", {4}), {"bilinear"}), "h0 or start.h0"));
  CHECK(contains(refusal(with(truth.tensors, "h0", {5}), {"bilinear"}), "\"h0\" has shape [5]"));
}

TEST_CASE("whether several bare layers add their inputs has to be said") {
  std::uint64_t stacks = 0;
  for (const Kind& each : kKinds) {
    TensorFile two;
    for (const auto& [name, tensor] : golden(each.name).tensors.tensors)
      if (name.starts_with("layer."))
        for (const std::string layer : {"layers.0.", "layers.1."}) two.tensors[layer + name.substr(6)] = tensor;
      else
        two.tensors[name] = tensor;
    Kind said = each;
    if (each.name == "rwkv7") continue;  // one first layer alone is read
    if (std::ranges::none_of(two.tensors, [](const auto& named) { return named.first.starts_with("layers.1."); }))
      continue;
    CAPTURE(each.name);
    ++stacks;
    CHECK(contains(refusal(two, said), "say --with residual=1 or residual=0"));
    said.settings["residual"] = 1;
    CHECK(contains(imported(two, said)->name(), "forward=(/layer/)/(/layer/)"));
    said.settings["residual"] = 0;
    CHECK(contains(imported(two, said)->name(), "layers=2"));
  }
  CHECK(stacks >= 5);
  CHECK(contains(refusal(golden("mamba").tensors, {"mamba", {{"residual", 1}}}), "\"residual\" is no setting"));
}

TEST_CASE("a forward pass that is written down is compared, whatever the layer, and one changed number is found") {
  for (const Kind& kind : kKinds) {
    CAPTURE(kind.name);
    const Golden truth = golden(kind.name);
    const auto model = imported(truth.tensors, kind);
    // Numbers of a model's owner: letters 7, 8, 9, and rows 1 and 0 of three for the answers.
    const auto file = [&](bool has_logits, std::size_t changed) {
      std::string text;
      for (std::size_t word = 0; word < kWords; ++word) {
        nlohmann::json line{{"word", nlohmann::json::array()}};
        for (std::size_t t = 0; t < kLength; ++t) {
          const std::size_t at = word * kLength + t;
          line["word"].push_back(truth.words[at] + 7);
          const double moved = at == changed ? (truth.library[2 * at] > truth.library[2 * at + 1] ? -99 : 99) : 0;
          if (has_logits)
            line["logits"].push_back({truth.library[2 * at + 1], truth.library[2 * at] + moved, 1e6});
          else
            line["answers"].push_back(truth.library[2 * at] + moved > truth.library[2 * at + 1] ? 1 : 0);
        }
        text += line.dump() + "\n";
      }
      return text;
    };
    const ImportedNumbers numbers{{7, 8, 9}, {1, 0}};
    for (const bool has_logits : {true, false}) {
      const ComparedAnswers compared =
          compare_with_expected(file(has_logits, kWords * kLength), "words.jsonl", *model, task(), numbers);
      CHECK(compared.words == kWords);
      CHECK(compared.answers == kWords * kLength);
      for (const std::size_t changed : {0, 39, 40, 137, 239}) {
        const std::string refused =
            error_of([&] { compare_with_expected(file(has_logits, changed), "words.jsonl", *model, task(), numbers); });
        Word word;
        for (std::size_t at = changed / kLength * kLength; at <= changed; ++at)
          word.push_back(static_cast<Letter>(truth.words[at]));
        CHECK(contains(refused, fmt::format("words.jsonl:{}: after {} its own forward pass says", changed / kLength + 1,
                                            quoted_letters(task().alphabet(), word))));
      }
    }
  }
}

TEST_CASE("logits agree up to a thousandth of their size") {
  const Golden truth = golden("mamba");
  const auto model = imported(truth.tensors, kind("mamba"));
  const float first = truth.stated[0], second = truth.stated[1];
  const double size = std::max({1.0, std::abs(double{first}), std::abs(double{second})});
  const std::string letter(1, static_cast<char>('a' + truth.words[0]));
  for (const auto& [off, agrees] : {std::pair{0.0, true}, {0.99, true}, {-0.99, true}, {1.1, false}, {-1.1, false}}) {
    CAPTURE(off);
    const std::string line =
        fmt::format(R"({{"word": "{}", "logits": [{}, {}]}})", letter, first + off * kLogitTolerance * size, second);
    CHECK((error_of([&] { compare_with_expected(line, "f", *model, task(), {}); }) == "no error") == agrees);
  }
  // Numbers that are not finite agree with none that is.
  for (const char* row : {"[null, 1]", "[1, null]", "[null, null]"})
    CHECK(contains(error_of([&] {
                     compare_with_expected(fmt::format(R"({{"word": "{}", "logits": {}}})", letter, row), "f", *model,
                                           task(), {});
                   }),
                   "its own forward pass says ["));
}

TEST_CASE("a difference that rounding makes in a recurrence that lets it grow is no disagreement, a greater one is") {
  constexpr std::size_t kUnits = 16, kLetters = 3, kLong = 60;
  Random random(5);
  const auto weights = [&](double size, std::size_t rows, std::size_t columns) {
    std::vector<float> values(rows * columns);
    for (float& value : values) value = static_cast<float>(size * (static_cast<double>(random.below(2001)) / 1000 - 1));
    return make_tensor(values, {rows, columns});
  };
  for (const double size : {0.2, 3.0}) {  // it forgets; a last bit is everything after some 20 letters
    CAPTURE(size);
    TensorFile file;
    file.tensors["rnn.weight_ih_l0"] = weights(1, kUnits, kLetters);
    file.tensors["rnn.weight_hh_l0"] = weights(size, kUnits, kUnits);
    file.tensors["head.weight"] = weights(1, kLabels, kUnits);
    const auto model = import_model(file, {.kind = "rnn"}, task(), "m.safetensors");
    Word word(kLong);
    for (Letter& letter : word) letter = static_cast<Letter>(random.below(kLetters));
    std::vector<double> narrow(kLong * kLabels), wide(kLong * kLabels);
    trained_logits(*model, Precision::kFp32)(word, narrow);
    trained_logits(*model, Precision::kFp64)(word, wide);
    CHECK((std::abs(narrow.back() - wide.back()) > 0.01) == (size > 1));
    const auto compared = [&](std::size_t moved_at, double by) {
      std::vector<std::vector<double>> rows;
      for (std::size_t t = 0; t < kLong; ++t)
        rows.push_back({wide[t * kLabels] + (t == moved_at ? by : 0), wide[t * kLabels + 1]});
      return compare_with_expected(nlohmann::json{{"word", word}, {"logits", rows}}.dump(), "f", *model, task(), {});
    };
    CHECK((compared(0, 0).answers == kLong) == (size < 1));
    CHECK(compared(0, 0).answers >= 5);
    for (const std::size_t at : {0, 2, 4}) CHECK(contains(error_of([&] { compared(at, 0.1); }), "its own forward pass"));
    CHECK((error_of([&] { compared(kLong - 1, 0.1); }) == "no error") == (size > 1));
  }
}

TEST_CASE("letters and answers of a language model are its tokens") {
  const Golden truth = golden("mamba");
  ImportOptions options = options_of(kind("mamba"));
  options.tokens = {2, 0, 1};
  options.classes = {1, 0};
  const auto model = import_model(truth.tensors, options, task(), "m");
  std::vector<std::int64_t> words;
  for (const std::int64_t token : truth.words) words.push_back((token + 1) % 3);
  const auto logits = logits_of<float>(*model, words);
  for (std::size_t i = 0; i < logits.size(); ++i) REQUIRE(logits[i] == truth.stated[i ^ 1]);
}

TEST_CASE("a read-out may share the embedding's weights") {
  const Golden truth = golden("mamba");
  TensorFile copied = truth.tensors;
  copied.tensors["lm_head.weight"] = copied.tensors.at("backbone.embeddings.weight");
  ImportOptions options = options_of(kind("mamba"));
  options.head = "backbone.embeddings";
  const auto shared = import_model(without(truth.tensors, "lm_head.weight"), options, task(), "m");
  CHECK(logits_of<float>(*shared, truth.words) == logits_of<float>(*imported(copied, kind("mamba")), truth.words));
}

TEST_CASE("what tensors do not show is asked for, and what is not understood is refused by name") {
  const TensorFile mamba = golden("mamba").tensors, mamba2 = golden("mamba2").tensors,
                   delta = golden("deltanet").tensors, gated = golden("gated-deltanet").tensors,
                   product = golden("deltaproduct").tensors;
  CHECK(contains(refusal(mamba2, {"mamba2"}), "--with groups=N"));
  CHECK(contains(refusal(mamba2, {"mamba2", {{"groups", 3}}}), "not 6 equal parts"));
  CHECK(contains(refusal(mamba2, {"mamba2", {{"groups", 1.5}}}), "is not a number from 1"));
  CHECK(contains(refusal(gated, {"gated-deltanet"}), "--with heads=N"));
  CHECK(contains(refusal(gated, {"gated-deltanet", {{"heads", 1}}}), "share keys"));
  CHECK(contains(refusal(product, {"deltaproduct", {{"heads", 4}}}), "share keys"));
  CHECK(contains(refusal(gated, {"deltanet", {{"negative", 0}}}), "--as gated-deltanet"));
  CHECK(contains(refusal(delta, {"gated-deltanet", {{"heads", 2}, {"negative", 0}}}), "--as deltanet"));
  CHECK(contains(refusal(mamba, {"mamba", {{"heads", 2}}}), "\"heads\" is no setting"));
  CHECK(contains(refusal(mamba, {"mamba", {{"eps", 0}}}), "is not a number above 0"));
  CHECK(contains(refusal(delta, {"deltanet", {{"negative", 2}}}), "is so (1) or not (0)"));
  CHECK(contains(refusal(delta, {"deltanet"}), "--with negative=1 or negative=0"));
  CHECK(contains(refusal(mamba, {"retnet"}), "retnet is not read"));
  CHECK(contains(refusal(mamba, {"mamba3"}), "Did you mean"));
  CHECK(contains(refusal(mamba, {"mlstm"}), "igate_preact.weight"));
  CHECK(contains(refusal(mamba, {"mamba"}, "decoder"), "decoder….x_proj.weight"));
  CHECK(contains(refusal(with(mamba, "backbone.layers.0.mixer.dt_norm.weight", {2}), {"mamba"}), "dt_norm"));
  CHECK(contains(refusal(without(mamba, "backbone.layers.1.norm.weight"), {"mamba"}), "layers.1.norm.weight"));
  CHECK(contains(refusal(without(mamba, "backbone.norm_f.weight"), {"mamba"}), "backbone.norm_f.weight"));
  CHECK(contains(refusal(without(mamba, "backbone.layers.0.mixer.x_proj.weight"), {"mamba"}), "layer 0 of"));
  CHECK(contains(refusal(with(mamba, "other.x_proj.weight", {10, 16}), {"mamba"}), "--cell"));
  CHECK(contains(refusal(with(mamba, "backbone.layers.1.mixer.D", {15}), {"mamba"}), "[15]"));
  CHECK(contains(refusal(with(delta, "layer.q_conv1d.bias", {8}), kind("deltanet")), "q_conv1d.bias"));
  CHECK(contains(refusal(with(delta, "layer.o_proj.weight", {8, 7}), kind("deltanet")), "not 2 equal parts"));
  CHECK(contains(error_of([] { parse_stock_shape("stock-mamba2:heads=3,groups=2"); }), "do not divide"));
  CHECK(contains(error_of([] { parse_stock_shape("stock-slstm:heads=3,width=8"); }), "do not divide"));
  CHECK(contains(error_of([] { parse_stock_shape("stock-mamba:gate"); }), "is not known"));
}

// Cells trained elsewhere: PyTorch's own answers on its own weights (tests/data/cells), and what is refused.

namespace {

/// A state dict with words and the logits that PyTorch 2.15 gave after each of their letters, in fp32 and in fp64.
struct CellTruth {
  TensorFile tensors;
  std::vector<std::int64_t> words;  ///< kWords of kLength
  std::vector<float> fp32;
  std::vector<double> fp64;
};

CellTruth cell_truth(const std::string& name) {
  CellTruth result{read_safetensors(std::string(KROHN_TEST_DATA) + "/cells/" + name + ".safetensors"), {}, {}, {}};
  TensorReader reader(result.tensors);
  result.words = reader.values<std::int64_t>("words", {kWords, kLength});
  result.fp32 = reader.values<float>("logits32", {kWords, kLength, kLabels});
  result.fp64 = reader.values<double>("logits64", {kWords, kLength, kLabels});
  for (const char* extra : {"words", "logits32", "logits64"}) result.tensors.tensors.erase(extra);
  return result;
}

std::unique_ptr<SequenceModel<float>> imported(const TensorFile& tensors, const std::string& kind) {
  return import_model(tensors, {kind, {}, {}, {}, {}, {}}, task(), "m.safetensors");
}

std::string refusal(const TensorFile& tensors, const ImportOptions& options) {
  return error_of([&] { import_model(tensors, options, task(), "m.safetensors"); });
}

struct Cell {
  const char *file, *kind;
};
const std::vector<Cell> kCells = {{"rnn", "rnn"},          {"rnn-relu", "rnn-relu"}, {"gru", "gru"},
                                  {"gru-unbiased", "gru"}, {"gru-cell", "gru"},      {"lstm", "lstm"},
                                  {"lstm-one-hot", "lstm"}};

}  // namespace

TEST_CASE("imported cells give PyTorch's logits") {
  for (const auto& [file, kind] : kCells) {
    CAPTURE(file);
    const CellTruth truth = cell_truth(file);
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
  for (const auto& [file, kind] : kCells) {
    CAPTURE(file);
    const CellTruth truth = cell_truth(file);
    // Letter a is token 2, b is 0, c is 1; the answers change places.
    const auto model = import_model(truth.tensors, {kind, {}, {}, {}, {2, 0, 1}, {1, 0}}, task(), "m");
    const auto wide = logits_of<double>(*model, truth.words, {1, 2, 0});
    for (std::size_t i = 0; i < wide.size(); ++i) REQUIRE(wide[i] == doctest::Approx(truth.fp64[i ^ 1]).epsilon(1e-11));
  }
}

TEST_CASE("a read-out of one row answers the second label above 0") {
  CellTruth truth = cell_truth("gru");
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
  for (const auto& [file, kind] : kCells) {
    CAPTURE(file);
    const CellTruth truth = cell_truth(file);
    TensorFile renamed;
    for (const auto& [name, tensor] : truth.tensors.tensors)
      renamed.tensors[name.starts_with("emb") ? "tok.weight" : name] = tensor;
    if (renamed.tensors == truth.tensors.tensors) continue;
    ++embedded;
    ImportOptions options{kind, {}, {}, {}, {}, {}};
    const Shape& shape = renamed.tensors.at("tok.weight").shape;
    CHECK(contains(refusal(renamed, options),
                   shape[0] == shape[1] ? "named with --embedding PREFIX" : "say --embedding tok;"));
    options.tokens = {0, 1, shape[1] - 1 > 1 ? 2U : 1U};
    CHECK(contains(refusal(renamed, options), "named with --embedding PREFIX"));
    options.tokens = {};
    options.embedding = "tok";
    const auto wide = logits_of<double>(*import_model(renamed, options, task(), "m"), truth.words, {0, 1, 2});
    for (std::size_t i = 0; i < wide.size(); ++i) REQUIRE(wide[i] == doctest::Approx(truth.fp64[i]).epsilon(1e-11));
  }
  CHECK(embedded == 5);
}

TEST_CASE("half precision is read as it is, and double only where fp32 has the number") {
  CellTruth truth = cell_truth("gru");
  Tensor& bias = truth.tensors.tensors.at("fc.bias");
  bias = make_tensor(std::vector<double>{0.5, -0.25}, {2});
  CHECK(TensorReader(imported(truth.tensors, "gru")->tensors()).values<float>("head.bias", {2}) ==
        std::vector<float>{0.5f, -0.25f});
  bias = make_tensor(std::vector<double>{0.5, 0.1}, {2});
  CHECK(contains(refusal(truth.tensors, {.kind = "gru"}), "fp32 does not have"));
  const std::uint16_t bf16[] = {0x3F80, 0xC000}, fp16[] = {0x3C00, 0xC000};
  for (const auto& [dtype, bits] : {std::pair{"BF16", bf16}, std::pair{"F16", fp16}}) {
    bias = {dtype, {2}, std::vector<std::byte>(4)};
    std::memcpy(bias.bytes.data(), bits, 4);
    CHECK(TensorReader(imported(truth.tensors, "gru")->tensors()).values<float>("head.bias", {2}) ==
          std::vector<float>{1, -2});
  }
  bias = make_tensor(std::vector<std::int64_t>{1, 2}, {2});
  CHECK(contains(refusal(truth.tensors, {.kind = "gru"}), "not floating-point"));
  bias = make_tensor(std::vector<float>{1, INFINITY}, {2});
  CHECK(contains(refusal(truth.tensors, {.kind = "gru"}), "not finite"));
}

TEST_CASE("what is not understood of a cell is refused, and the message names it") {
  const TensorFile gru = cell_truth("gru").tensors, one_hot = cell_truth("lstm-one-hot").tensors;
  CHECK(contains(refusal(gru, {.kind = "lstm"}), "needs 4"));
  CHECK(contains(refusal(gru, {.kind = "rnn"}), "needs 1"));
  CHECK(contains(refusal(gru, {.kind = "grue"}), "Did you mean \"gru\""));
  CHECK(contains(refusal(gru, {.kind = "gru", .cell = "encoder"}), "encoder.weight_ih_l0"));
  CHECK(contains(refusal(gru, {.kind = "gru", .tokens = {0, 1, 3}}), "no number 3"));
  CHECK(contains(refusal(gru, {.kind = "gru", .classes = {0, 2}}), "no number 2"));
  CHECK(contains(refusal(gru, {.kind = "gru", .head = "emb"}), "[3, 3], and the recurrence gives 4"));
  CHECK(contains(refusal(gru, {.kind = "gru", .embedding = "nowhere"}), "no tensor \"nowhere.weight\""));
  CHECK(contains(refusal(with(gru, "norm.weight", {4}), {.kind = "gru"}),
                 "\"norm.weight\" of shape [4] belongs to nothing"));
  CHECK(contains(refusal(with(gru, "other.weight", {2, 4}), {.kind = "gru"}), "name it with --head"));
  CHECK(contains(refusal(with(gru, "b.embed.weight", {3, 3}), {.kind = "gru"}), "name it with --embedding"));
  CHECK(contains(refusal(with(gru, "b.weight_ih_l0", {3, 3}), {.kind = "gru"}), "--cell"));
  CHECK(contains(refusal(with(gru, "core.weight_ih_l0_reverse", {12, 3}), {.kind = "gru"}), "bidirectional"));
  CHECK(contains(refusal(with(one_hot, "core.weight_hr_l0", {2, 4}), {.kind = "lstm"}), "projection"));
  CHECK(contains(refusal(with(gru, "core.weight_hh_l1", {12, 5}), {.kind = "gru"}), "[12, 5]"));
  CHECK(contains(refusal(with(gru, "emb.weight", {4, 3}), {.kind = "gru"}), "--letters"));
  CHECK(contains(refusal(with(gru, "emb.weight", {3, 4}), {.kind = "gru"}), "takes 3 inputs"));
  CHECK(contains(refusal(with(gru, "fc.weight", {2, 5}), {.kind = "gru"}), "gives 4 numbers"));
  CHECK(contains(refusal(with(with(gru, "fc.weight", {3, 4}), "fc.bias", {3}), {.kind = "gru"}), "--classes"));
  TensorFile missing = gru;
  missing.tensors.erase("core.bias_hh_l1");
  CHECK(contains(refusal(missing, {.kind = "gru"}), "core.bias_hh_l1"));
  missing = gru;
  missing.tensors.erase("fc.weight");
  CHECK(contains(refusal(missing, {.kind = "gru"}), "read-out"));
}

// Modules around a cell, in the order of the forward pass (tests/python/cell_goldens.py wrote them).

namespace {

struct Listed {
  const char *file, *kind;
  std::vector<std::string> modules;
  Settings settings;
  double wide;  ///< tolerance in fp64: GELU's erf is off by 1.5·10⁻⁷
};
const std::vector<Listed>& listed() {
  static const std::vector<Listed> all{
      {"gru-sequential", "gru", {"0", "1", "2", "3", "4", "relu", "6"}, {}, 1e-11},
      {"lstm-blocks",
       "lstm",
       {"emb", "+blocks.0.norm:blocks.0.rnn", "+blocks.1.norm:blocks.1.rnn", "norm", "head.0", "silu", "head.3"},
       {{"rms-norm", 1}, {"norm-eps", 1e-3}},
       1e-11},
      {"rnn-functions",
       "rnn",
       {"rnn", "layer-norm", "+fc.0:relu", "+fc.1:gelu", "+fc.2:gelu-tanh", "+fc.3:silu", "+fc.4:tanh", "+fc.5:sigmoid",
        "out"},
       {},
       2e-5}};
  return all;
}
ImportOptions options_of(const Listed& model) {
  return {.kind = model.kind, .settings = model.settings, .modules = model.modules};
}
std::string refusal(const TensorFile& tensors, const Listed& model, const std::vector<std::string>& modules) {
  ImportOptions options = options_of(model);
  options.modules = modules;
  return refusal(tensors, options);
}

double furthest(const std::vector<double>& found, const std::vector<double>& expected) {
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    most = std::max(most, std::abs(found[i] - expected[i]) / std::max(1.0, std::abs(expected[i])));
  return most;
}

}  // namespace

TEST_CASE("norms, residuals and heads of several layers around a cell give PyTorch's logits") {
  for (const Listed& each : listed()) {
    CAPTURE(each.file);
    const CellTruth truth = cell_truth(each.file);
    const auto model = import_model(truth.tensors, options_of(each), task(), "m");
    const auto wide = logits_of<double>(*model, truth.words, {0, 1, 2});
    const auto narrow = logits_of<float>(*model, truth.words, {0, 1, 2});
    CHECK(furthest(wide, truth.fp64) <= each.wide);
    CHECK(furthest({narrow.begin(), narrow.end()}, {truth.fp32.begin(), truth.fp32.end()}) <= 2e-5);
    CHECK(to_string(parse_stock_shape(model->name())) == model->name());
    const auto again = make_model<float>(model->name(), task(), 0);
    again->load(model->tensors());
    CHECK(logits_of<float>(*again, truth.words) == narrow);
    // Another activation, another place of a norm, and a residual that is left out are other models.
    for (std::size_t i = 0; i < each.modules.size(); ++i) {
      Listed other = each;
      std::string& changed = other.modules[i];
      if (changed == "relu" || changed == "silu")
        changed = "gelu";
      else if (changed.starts_with('+'))
        changed.erase(0, 1);
      else if (changed == "layer-norm")
        changed = "rms-norm", other.settings["norm-eps"] = 1e-5;
      else
        continue;
      CAPTURE(i);
      const auto moved = import_model(truth.tensors, options_of(other), task(), "m");
      CHECK(furthest(logits_of<double>(*moved, truth.words, {0, 1, 2}), truth.fp64) > 1e-4);
    }
  }
}

TEST_CASE("the ε of norms is the one that is said, or torch.nn.LayerNorm's") {
  const Listed blocks = listed()[1];
  const CellTruth truth = cell_truth(blocks.file);
  const auto distance = [&](double epsilon) {
    Listed other = blocks;
    other.settings["norm-eps"] = epsilon;
    const auto model = import_model(truth.tensors, options_of(other), task(), "m");
    return furthest(logits_of<double>(*model, truth.words, {0, 1, 2}), truth.fp64);
  };
  CHECK(distance(1e-3) <= 1e-11);
  for (const double other : {1.001e-3, 0.999e-3, 1e-5}) CHECK(distance(other) > 1e-8);
  // In the Sequential it is usual, and said it is the same.
  Listed sequential = listed()[0];
  const TensorFile file = cell_truth(sequential.file).tensors;
  const auto usual = import_model(file, options_of(sequential), task(), "m");
  CHECK(contains(usual->name(), "norm-eps=1e-05"));
  sequential.settings["norm-eps"] = 1e-5;
  CHECK(import_model(file, options_of(sequential), task(), "m")->name() == usual->name());
  sequential.settings["norm-eps"] = 0;
  CHECK(contains(refusal(file, options_of(sequential)), "norm-eps=0 is not a number above 0"));
  // A layer's own norm is another one.
  const TensorFile layer = golden("slstm").tensors;
  const auto named = [&](const Settings& settings) {
    const ImportOptions options{
        .kind = "slstm", .settings = settings, .modules = {"embed", "layer", "layer-norm", "head"}};
    return import_model(layer, options, task(), "m")->name();
  };
  CHECK(!contains(named({{"norm-eps", 1e-3}}), "head-eps"));
  CHECK(contains(named({{"norm-eps", 1e-3}, {"head-eps", 1e-4}}), "norm-eps=0.001,heads=2,taps=3,head-eps=0.0001"));
}

TEST_CASE("a layer norm of equal numbers gives its bias") {
  TensorFile file;
  const auto put = [&](const std::string& name, const std::vector<float>& numbers, const Shape& shape) {
    file.tensors[name] = make_tensor(numbers, shape);
  };
  put("emb.weight", {3, 3, -7, -7, 1e30F, 1e30F}, {3, 2});
  put("norm.weight", {2, 5}, {2});
  put("norm.bias", {0.25, 4}, {2});
  put("rnn.weight_ih_l0", {1, 0, 0, 1}, {2, 2});
  put("rnn.weight_hh_l0", {0, 0, 0, 0}, {2, 2});
  put("fc.weight", {1, 0, 0, 1}, {2, 2});
  const ImportOptions options{.kind = "rnn-relu", .modules = {"emb", "norm", "rnn", "fc"}};
  const std::vector<std::int64_t> words(kWords * kLength, 0);
  for (const std::int64_t letter : {0, 1, 2}) {
    const std::vector<std::int64_t> same(kWords * kLength, letter);
    const auto said = logits_of<float>(*import_model(file, options, task(), "m"), same);
    for (std::size_t i = 0; i < said.size(); ++i) REQUIRE(said[i] == (i % 2 == 0 ? 0.25F : 4.F));
  }
  // Of one number likewise.
  TensorFile one;
  one.tensors["emb.weight"] = make_tensor(std::vector<float>{5, -5, 0}, {3, 1});
  one.tensors["norm.weight"] = make_tensor(std::vector<float>{9}, {1});
  one.tensors["norm.bias"] = make_tensor(std::vector<float>{0.75}, {1});
  one.tensors["rnn.weight_ih_l0"] = make_tensor(std::vector<float>{1}, {1, 1});
  one.tensors["rnn.weight_hh_l0"] = make_tensor(std::vector<float>{0}, {1, 1});
  one.tensors["fc.weight"] = make_tensor(std::vector<float>{1, 2}, {2, 1});
  const auto said = logits_of<float>(*import_model(one, options, task(), "m"), words);
  for (std::size_t i = 0; i < said.size(); ++i) REQUIRE(said[i] == (i % 2 == 0 ? 0.75F : 1.5F));
}

TEST_CASE("a list of modules that does not fit is refused by the module or the tensor") {
  const Listed& sequential = listed()[0];
  const Listed& blocks = listed()[1];
  const TensorFile file = cell_truth(sequential.file).tensors, stack = cell_truth(blocks.file).tensors;
  // Without the list nothing of it is guessed.
  CHECK(contains(refusal(file, {.kind = "gru", .embedding = "0", .head = "4"}), "--modules names all"));
  CHECK(contains(refusal(with(cell_truth("gru").tensors, "norm.weight", {4}), {.kind = "gru"}), "--modules names all"));
  CHECK(contains(refusal(stack, {.kind = "lstm"}), "--modules names all"));
  // Heads in another order: where the shapes differ they say so.
  CHECK(contains(refusal(file, sequential, {"0", "1", "2", "3", "6", "relu", "4"}),
                 "tensor \"6.weight\" has shape [2, 7], and the others ask for [2, 6]"));
  CHECK(
      contains(refusal(file, sequential, {"0", "3", "2", "1", "4", "relu", "6"}), "tensor \"3.weight\" has shape [6]"));
  CHECK(contains(refusal(file, sequential, {"0", "1", "2", "3", "4", "relu"}), "\"relu\" comes last"));
  CHECK(
      contains(refusal(file, sequential, {"0", "1", "2", "4", "relu", "6"}), "tensor \"3.bias\" of shape [6] belongs"));
  CHECK(contains(refusal(file, sequential, {"0", "1", "2", "3", "4", "ReLU", "6"}), "\"ReLU\" is no recurrence"));
  CHECK(contains(refusal(file, sequential, {"0", "1", "2", "3", "4", "", "6"}), "\"\" is no recurrence"));
  CHECK(contains(refusal(file, sequential, {"0", "1", "3", "4", "relu", "6"}), "no recurrence of kind gru"));
  CHECK(contains(refusal(file, sequential, {"6"}), "no recurrence of kind gru"));
  CHECK(contains(refusal(file, sequential, {"1", "2", "3", "4", "relu", "6"}), "0.weight"));
  CHECK(contains(refusal(file, sequential, {"0", "1", "+2", "3", "4", "relu", "6"}), "to which 6 numbers come"));
  ImportOptions twice = options_of(sequential);
  twice.head = "6";
  CHECK(contains(refusal(file, twice), "leave out --embedding, --head and --cell"));
  CHECK(contains(refusal(golden("bilinear").tensors, {.kind = "bilinear", .modules = {"embed", "bilinear", "head"}}),
                 "--modules"));
  // Wrong shapes, and tensors that are missing or left over.
  for (const auto& [name, shape] : std::initializer_list<std::pair<std::string, Shape>>{{"1.weight", {4}},
                                                                                        {"1.bias", {6}},
                                                                                        {"3.bias", {6, 1}},
                                                                                        {"4.weight", {7, 5}},
                                                                                        {"4.bias", {6}},
                                                                                        {"2.bias_hh_l1", {17}},
                                                                                        {"2.weight_ih_l1", {18, 5}}}) {
    CAPTURE(name);
    CHECK(contains(refusal(with(file, name, shape), options_of(sequential)),
                   fmt::format("tensor \"{}\" has shape", name)));
  }
  CHECK(contains(refusal(without(file, "2.bias_hh_l1"), options_of(sequential)), "no tensor \"2.bias_hh_l1\""));
  CHECK(contains(refusal(with(file, "7.weight", {2, 2}), options_of(sequential)), "\"7.weight\" of shape [2, 2]"));
  CHECK(contains(refusal(with(file, "4.scale", {7}), options_of(sequential)), "\"4.scale\" of shape [7]"));
  CHECK(contains(refusal(with(file, "2.weight_ih_l0_reverse", {18, 5}), options_of(sequential)), "bidirectional"));
  // A norm without a bias is one of two kinds; whose ε tensors do not show.
  Listed unbiased = sequential;
  CHECK(contains(refusal(without(file, "3.bias"), options_of(unbiased)), "norm \"3\", which has no bias"));
  CHECK(contains(refusal(without(file, "3.bias"), options_of(unbiased)), "--with rms-norm=1 or rms-norm=0"));
  unbiased.settings["rms-norm"] = 1;
  CHECK(contains(refusal(without(file, "3.bias"), options_of(unbiased)), "--with norm-eps=X"));
  unbiased.settings["norm-eps"] = 1e-5;
  CHECK(
      contains(import_model(without(file, "3.bias"), options_of(unbiased), task(), "m")->name(), "/rms-norm/linear-7"));
  unbiased.settings = {{"rms-norm", 0}};
  const auto centred = import_model(without(file, "3.bias"), options_of(unbiased), task(), "m");
  const std::vector<std::int64_t> words = cell_truth(sequential.file).words;
  CHECK(logits_of<float>(*centred, words) ==
        logits_of<float>(*import_model(with(file, "3.bias", {6}), options_of(sequential), task(), "m"), words));
  // A missing bias of a linear layer is 0.
  CHECK(logits_of<float>(*import_model(without(file, "4.bias"), options_of(sequential), task(), "m"), words) ==
        logits_of<float>(*import_model(with(file, "4.bias", {7}), options_of(sequential), task(), "m"), words));
  CHECK(contains(refusal(stack, blocks, {"emb", "norm", "head.0", "head.3"}), "no recurrence of kind lstm"));
}

TEST_CASE("names of stacks by parts are read back, or refused") {
  const auto error = [](const std::string& name) { return error_of([&] { parse_stock_shape(name); }); };
  CHECK(error("stock-gru:width=3,forward=(/layer-norm/layer-3/)/relu") == "no error");
  CHECK(contains(error("stock-gru:width=3,forward=layer"), "there are layer-UNITS"));
  CHECK(contains(error("stock-mamba:width=3,forward=layer-3"), "there are layer, linear-ROWS"));
  for (const char* part :
       {"layer-0", "layer--1", "layer-65537", "layer-3x", "layer-", "linear", "norm", "", ")", "(", "()", "(/)/)"})
    CHECK(contains(error(fmt::format("stock-gru:width=3,forward=layer-3/{}", part)), "model part"));
  CHECK(contains(error("stock-gru:width=3,forward=(/layer-4/)"), "\")\" of"));
  CHECK(contains(error("stock-gru:width=3,layers=2,forward=layer-3"), "\"layers=2\" is not known"));
  CHECK(contains(error("stock-slstm:width=4,heads=2,forward=linear-3/layer"), "do not divide a width of 3"));
}

TEST_CASE("a residual around bare layers of another library adds their input") {
  const Golden truth = golden("deltanet");
  TensorFile two;
  for (const auto& [name, tensor] : truth.tensors.tensors)
    if (name.starts_with("layer."))
      for (const std::string layer : {"layers.0.", "layers.1."}) two.tensors[layer + name.substr(6)] = tensor;
    else
      two.tensors[name] = tensor;
  Kind said{"deltanet", {{"negative", 0}, {"residual", 1}}};
  const auto model = imported(two, said);
  Listed by_list{"", "deltanet", {"embed", "+layers.0", "+layers.1", "head"}, {{"negative", 0}}, 0};
  CHECK(import_model(two, options_of(by_list), task(), "m")->name() == model->name());
  CHECK(logits_of<float>(*import_model(two, options_of(by_list), task(), "m"), truth.words) ==
        logits_of<float>(*model, truth.words));
  // Layers that give zeros leave the embedding's row, whatever they remember.
  for (const std::string layer : {"layers.0.", "layers.1."})
    two = with(two, layer + "o_proj.weight", two.tensors.at(layer + "o_proj.weight").shape);
  const std::vector<float> rows = numbers(two, "embed.weight"), weight = numbers(two, "head.weight"),
                           bias = numbers(two, "head.bias");
  const auto found = logits_of<float>(*imported(two, said), truth.words);
  for (std::size_t i = 0; i < found.size(); ++i) {
    float sum = bias[i % 2];
    for (std::size_t j = 0; j < 8; ++j)
      sum += weight[i % 2 * 8 + j] * rows[static_cast<std::size_t>(truth.words[i / 2]) * 8 + j];
    REQUIRE(found[i] == sum);
  }
}
