#include "krohn/simulate/models/stock/stock_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/models/cells/cell_network.h"

namespace krohn {
namespace {

constexpr float kOpen = 64;  ///< σ(64) is 1 in fp32 and in fp64: silu(64) is 64

/// All tensors of the one layer as zeros, to be filled in.
class Weights {
 public:
  Weights(StockShape shape, const Dfa& automaton)
      : shape_(std::move(shape)), letters_(automaton.letters()), labels_(automaton.output_names().size()) {
    for (StockTensor& tensor : stock_tensors(shape_, letters_, labels_)) {
      std::uint64_t count = 1;
      for (const std::uint64_t extent : tensor.shape) count *= extent;
      if (count > 0) numbers_.emplace(tensor.name, Filled{std::vector<float>(count, 0), std::move(tensor.shape)});
    }
    for (std::size_t letter = 0; letter < letters_; ++letter) at("embedding.weight", letter, letter) = 1;
  }

  float& at(const std::string& name, std::size_t row, std::size_t column = 0) {
    Filled& filled = numbers_.at(name);
    return filled.numbers[row * (filled.numbers.size() / filled.shape[0]) + column];
  }
  float& in_layer(const std::string& name, std::size_t row, std::size_t column = 0) {
    return at("layers.0.mixer." + name, row, column);
  }
  void fill(const std::string& name, float number) { std::ranges::fill(numbers_.at(name).numbers, number); }
  void unit_matrix(const std::string& name) {
    for (std::size_t i = 0; i < shape_.width; ++i) in_layer(name, i, i) = 1;
  }

  ExactStock made() && {
    ExactStock stock{std::move(shape_), {}};
    for (auto& [name, filled] : numbers_)
      stock.tensors.tensors.emplace(name, make_tensor(filled.numbers, std::move(filled.shape)));
    return stock;
  }

 private:
  struct Filled {
    std::vector<float> numbers;
    Shape shape;
  };

  StockShape shape_;
  std::size_t letters_, labels_;
  std::map<std::string, Filled> numbers_;
};

StockShape shape_of(std::string_view kind, std::size_t width, const std::map<std::string, double>& numbers) {
  StockShape shape = usual_stock_shape(*find_stock_kind(kind));
  shape.width = static_cast<std::uint32_t>(width);
  for (const auto& [name, number] : numbers) shape.numbers[name] = number;
  return shape;
}

/// The values of a head's 1 and −1 after a layer norm of `width` numbers, two of which are 1.
struct Normed {
  double on, off;
};
Normed normed(std::size_t width, double epsilon) {
  const double mean = (4 - static_cast<double>(width)) / static_cast<double>(width);
  const double scale = 1 / std::sqrt(1 - mean * mean + epsilon);
  return {(1 - mean) * scale, (-1 - mean) * scale};
}

/// By letter: the state that it takes all others to, or none: it keeps all.
std::vector<std::optional<State>> latch_letters(const Dfa& automaton, const char* layer) {
  std::vector<std::optional<State>> letters;
  for (Letter letter = 0; letter < automaton.letters(); ++letter) {
    bool is_identity = true, is_reset = true, is_permutation = true;
    std::vector<bool> hit(automaton.states(), false);
    for (State state = 0; state < automaton.states(); ++state) {
      const State next = automaton.next(state, letter);
      is_identity &= next == state;
      is_reset &= next == automaton.next(0, letter);
      is_permutation &= !hit[next];
      hit[next] = true;
    }
    if (!is_identity && !is_reset)
      throw InputError(fmt::format(
          "letter {} {}, and one layer of {} keeps its state or overwrites it; {}",
          in_quotes(automaton.alphabet().name(letter)),
          is_permutation ? "permutes states" : "takes some states to one and others elsewhere", layer,
          is_permutation ? "its decays lie between 0 and 1, which over the reals hold no permutation: take olmo-hybrid"
                         : "take qwen3-next, which is written with several layers"));
    letters.push_back(is_identity ? std::nullopt : std::optional(automaton.next(0, letter)));
  }
  return letters;
}

}  // namespace

ExactStock exact_slstm(const Dfa& given) {
  const Dfa automaton = minimise(given);
  const SaturatedCell cell = saturated_cell(automaton, "rnn");
  const std::size_t units = cell.shape.hidden, letters = automaton.letters();
  TensorReader reader(cell.tensors);
  const auto input = reader.values<float>(cell_tensor("weight_ih", 0), {units, letters}),
             state = reader.values<float>(cell_tensor("weight_hh", 0), {units, units}),
             bias = reader.values<float>(cell_tensor("bias_ih", 0), {units});
  Weights weights(shape_of("stock-slstm", units, {}), automaton);
  for (std::size_t unit = 0; unit < units; ++unit) {
    // [gate, to, from] of the one head; the gates are i, f, z, o.
    for (std::size_t letter = 0; letter < letters; ++letter)
      weights.in_layer("zgate.weight", 0, unit * units + letter) = input[unit * letters + letter];
    for (std::size_t from = 0; from < units; ++from)
      weights.in_layer("slstm_cell._recurrent_kernel_", 0, (2 * units + unit) * units + from) =
          state[unit * units + from];
    weights.in_layer("slstm_cell._bias_", units + unit) = -1000;
    weights.in_layer("slstm_cell._bias_", 2 * units + unit) = bias[unit];
    weights.in_layer("slstm_cell._bias_", 3 * units + unit) = 1000;
  }
  // After every letter two units are on: that of the letter and its state, and the last, which tells the start.
  const double off = normed(units, 1e-5).off;
  for (std::size_t unit = 0; unit + 1 < units; ++unit) {
    const Output label =
        automaton.output(automaton.next(static_cast<State>(unit / letters), static_cast<Letter>(unit % letters)));
    weights.at("head.weight", label, unit) = 1;
    weights.at("head.bias", label) -= static_cast<float>(off);
  }
  return std::move(weights).made();
}

ExactStock exact_mamba2(const Dfa& given) {
  const Dfa automaton = minimise(given);
  const auto letters = latch_letters(automaton, "Mamba-2");
  const std::size_t width = std::max<std::size_t>(automaton.states(), letters.size());
  Weights weights(
      shape_of("stock-mamba2", width, {{"heads", static_cast<double>(width)}, {"taps", 4}, {"conv-bias", 1}}),
      automaton);
  const std::size_t u = width, b = 2 * width, c = b + 1, steps = c + 1;  // rows behind those of z
  for (std::size_t letter = 0; letter < letters.size(); ++letter) {
    for (std::size_t i = 0; i < width; ++i) {
      weights.in_layer("in_proj.weight", i, letter) = kOpen;
      weights.in_layer("in_proj.weight", steps + i, letter) = letters[letter] ? 1024 : -1000;
    }
    weights.in_layer("in_proj.weight", b, letter) = weights.in_layer("in_proj.weight", c, letter) = kOpen;
    if (letters[letter]) weights.in_layer("in_proj.weight", u + *letters[letter], letter) = kOpen;
  }
  for (std::size_t channel = 0; channel < width + 2; ++channel) weights.in_layer("conv1d.weight", channel, 3) = 1;
  weights.fill("layers.0.mixer.norm.weight", 1);
  weights.unit_matrix("out_proj.weight");
  // The state's own number is √width after the norm; before the first reset all are 0.
  for (State state = 0; state < automaton.states(); ++state)
    weights.at("head.weight", automaton.output(state), state) = 1;
  weights.at("head.bias", automaton.output(automaton.initial())) = 0.5F;
  return std::move(weights).made();
}

ExactStock exact_mlstm(const Dfa& given) {
  const Dfa automaton = minimise(given);
  const auto letters = latch_letters(automaton, "mLSTM");
  const std::size_t states = automaton.states(), width = std::max<std::size_t>({states + 1, letters.size(), 4});
  const auto size = static_cast<double>(width);
  Weights weights(shape_of("stock-mlstm", width, {{"keys", size}, {"values", size}, {"cap", 15}}), automaton);
  for (std::size_t letter = 0; letter < letters.size(); ++letter) {
    weights.in_layer("q.weight", 0, letter) = 1;
    weights.in_layer("igate_preact.weight", 0, letter) = 1000;
    weights.in_layer("fgate_preact.weight", 0, letter) = letters[letter] ? -1000 : 1000;
    for (std::size_t i = 0; i < width; ++i) {
      weights.in_layer("ogate_preact.weight", i, letter) = kOpen;
      // Two values are 1, the state's and the one behind them all, and the others −1: after a number of size 1 the
      // rest of the one before is a few units in the last place, whatever was before that.
      if (letters[letter]) weights.in_layer("v.weight", i, letter) = i == *letters[letter] || i == states ? 1 : -1;
    }
    if (letters[letter]) weights.in_layer("k.weight", 0, letter) = 1;
  }
  weights.fill("layers.0.mixer.multihead_norm.weight", 1);
  weights.unit_matrix("out_proj.weight");
  const Normed after = normed(width, 1e-6);
  for (State state = 0; state < states; ++state) {
    const Output label = automaton.output(state);
    weights.at("head.weight", label, state) = 1;
    weights.at("head.weight", label, states) -= static_cast<float>(after.off / after.on);
  }
  weights.at("head.bias", automaton.output(automaton.initial())) = 0.5F;
  return std::move(weights).made();
}

}  // namespace krohn
