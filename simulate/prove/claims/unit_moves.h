// simulate/prove/claims/unit_moves.h — where the actions of a layer take one-hot states, without writing their zeros: a
// layer of n states is then proved in n small steps an action instead of n².
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {

/// For a layer of unit codewords (Decoder::unit_copies), what an action makes of one of them by the operations of
/// simulate/arithmetic/apply.h, done only where a number is not zero or is mixed with such a one. All else stays zero,
/// whatever the arithmetic: zeros add up to zero, and a reflection whose key meets zeros alone adds finite weights
/// times zero to them. Signs of zeros do not count in states (state_bits), and never reach a number that is not zero.
class UnitMoves {
 public:
  /// O(weights of the layer's reflections and maps).
  UnitMoves(const Layer& layer, ArithmeticName arithmetic, Form form)
      : rounding_(arithmetic), stride_(layer.labels), copies_(layer.decoder.unit_copies), one_(rounding_.round(1)) {
    if (copies_ == 0) return;
    for (const Transition& transition : layer.transitions) {
      targets_.emplace_back();
      reflections_.emplace_back();
      if (transition.b.size() > 0 || form != Form::kStructured) continue;
      if (const auto* map = std::get_if<MapMatrix>(&transition.a)) targets_.back() = targets_of(gather_of(map->map));
      if (const auto* product = std::get_if<ReflectionProduct>(&transition.a))
        reflections_.back() = meetings_of(*product);
    }
  }

  /// The unit codeword that the action takes this one to, bit for bit. Nothing when it leads elsewhere or the action is
  /// of another form: then the numbers have to be written out.
  std::optional<std::uint32_t> operator()(Action action, std::uint32_t codeword) const {
    if (copies_ == 0) return std::nullopt;
    if (!targets_[action].empty()) return gathered(targets_[action], codeword);
    if (!reflections_[action].first.empty()) return reflected(reflections_[action], codeword);
    return std::nullopt;
  }

 private:
  using Factors = RoundedReflections<double>;
  using State = std::vector<std::pair<std::uint32_t, double>>;  ///< coordinates with their numbers; all others are zero

  /// The factors of a product, and by coordinate those whose keys meet it, in order.
  struct Meetings {
    Factors product;
    std::vector<std::size_t> first;  ///< empty: the action is of another form, or has a weight that overflowed
    std::vector<std::uint32_t> met;
  };

  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  /// The row that a coordinate is summed into; nothing where one is summed into several or into none.
  static std::vector<std::uint32_t> targets_of(const Gather& gather) {
    std::vector<std::uint32_t> targets(gather.first.size() - 1, kNowhere);
    for (std::uint32_t row = 0; row + 1 < gather.first.size(); ++row)
      for (std::uint32_t at = gather.first[row]; at < gather.first[row + 1]; ++at) {
        std::uint32_t& target = targets[gather.sources[at]];
        if (target != kNowhere) return {};
        target = row;
      }
    if (std::find(targets.begin(), targets.end(), kNowhere) != targets.end()) return {};
    return targets;
  }

  Meetings meetings_of(const ReflectionProduct& exact) const {
    Meetings meetings{{exact.dimension, {}}, std::vector<std::size_t>(std::size_t{exact.dimension} + 1, 0), {}};
    Factors& product = meetings.product;
    const auto round = [&](auto weight) { return rounding_.round(weight); };
    for (const Reflection& factor : exact.factors) product.factors.push_back(round_factor<double>(factor, round));
    for (const auto& factor : product.factors) {
      if (!std::isfinite(factor.beta)) return {};
      for (const auto& entry : factor.entries) {
        if (!std::isfinite(entry.key)) return {};
        ++meetings.first[entry.position + 1];
      }
    }
    for (std::size_t i = 0; i < product.dimension; ++i) meetings.first[i + 1] += meetings.first[i];
    meetings.met.resize(meetings.first.back());
    std::vector<std::size_t> filled(meetings.first.begin(), meetings.first.end() - 1);
    for (std::uint32_t f = 0; f < product.factors.size(); ++f)
      for (const auto& entry : product.factors[f].entries) meetings.met[filled[entry.position]++] = f;
    return meetings;
  }

  /// Each 1 moves alone: a row with one of them sums it and zeros.
  std::optional<std::uint32_t> gathered(const std::vector<std::uint32_t>& targets, std::uint32_t codeword) const {
    std::vector<std::uint32_t> ones;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) ones.push_back(targets[copy * stride_ + codeword]);
    return codeword_at(std::move(ones));
  }

  std::optional<std::uint32_t> reflected(const Meetings& meetings, std::uint32_t codeword) const {
    State state;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) state.emplace_back(copy * stride_ + codeword, one_);
    std::optional<std::uint32_t> next = next_factor(meetings, state, 0);
    while (next) {
      reflect(meetings.product.factors[*next], state);
      next = next_factor(meetings, state, *next + 1);
    }
    std::vector<std::uint32_t> ones;
    for (const auto& [position, sum] : state) {
      const double stored = rounding_.store(sum);
      if (stored == 0) continue;
      if (stored != one_) return std::nullopt;
      ones.push_back(position);
    }
    return codeword_at(std::move(ones));
  }

  /// The first factor from `from` on whose key meets a coordinate of the state.
  static std::optional<std::uint32_t> next_factor(const Meetings& meetings, const State& state, std::uint32_t from) {
    std::optional<std::uint32_t> next;
    for (const auto& [position, sum] : state) {
      const auto begin = meetings.met.begin() + static_cast<std::ptrdiff_t>(meetings.first[position]);
      const auto end = meetings.met.begin() + static_cast<std::ptrdiff_t>(meetings.first[position + 1]);
      const auto found = std::lower_bound(begin, end, from);
      if (found != end && (!next || *found < *next)) next = *found;
    }
    return next;
  }

  /// One factor, as apply.h has it.
  void reflect(const Factors::Factor& factor, State& state) const {
    const auto at = [&](std::uint32_t position) -> double& {
      for (auto& [known, sum] : state)
        if (known == position) return sum;
      return state.emplace_back(position, 0.0).second;
    };
    double dot = rounding_.product(factor.entries[0].key, at(factor.entries[0].position));
    for (std::size_t e = 1; e < factor.entries.size(); ++e)
      dot = rounding_.add_product(dot, factor.entries[e].key, at(factor.entries[e].position));
    const double scaled = rounding_.product(factor.beta, dot);
    for (const auto& entry : factor.entries) {
      double& sum = at(entry.position);
      sum = rounding_.add_product(sum, -entry.key, scaled);
    }
    std::erase_if(state, [](const auto& known) { return known.second == 0.0; });
  }

  /// The codeword whose ones are exactly at these coordinates.
  std::optional<std::uint32_t> codeword_at(std::vector<std::uint32_t> ones) const {
    std::sort(ones.begin(), ones.end());
    if (ones.size() != copies_ || ones[0] >= stride_) return std::nullopt;
    for (std::uint32_t copy = 1; copy < copies_; ++copy)
      if (ones[copy] != ones[0] + copy * stride_) return std::nullopt;
    return ones[0];
  }

  RoundedOperations rounding_;
  std::uint32_t stride_, copies_;
  double one_;
  std::vector<std::vector<std::uint32_t>> targets_;  ///< of actions that gather; empty for others
  std::vector<Meetings> reflections_;                ///< of actions that reflect
};

/// Reads letters as the sequential evaluator does, digit for digit, as long as every layer stays at a unit codeword and
/// simulate/prove/claims/unit_moves.h knows where it goes.
class UnitRun {
 public:
  UnitRun(const Network& network, ArithmeticName arithmetic, Form form)
      : network_(network, form, RoundedOperations(arithmetic)), labels_(network.layers.size()) {
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
      const Layer& layer = network.layers[k];
      const std::optional<std::uint32_t> start = codeword_of_start(network_.layers()[k]);
      if (layer.decoder.unit_copies == 0 || !start) return;
      moves_.emplace_back(layer, arithmetic, form);
      start_.push_back(*start);
    }
    reset();
  }

  /// Every layer has unit codewords, and starts at one.
  bool is_possible() const { return moves_.size() == network_.layers().size(); }

  void reset() { now_ = start_; }

  /// The readout, or kNoState. Nothing once a layer leaves its unit codewords: the numbers have to be written
  /// out then, and this run is over until `reset`.
  std::optional<State> step(Letter letter) {
    Context context = letter;
    for (std::size_t k = 0; k < now_.size(); ++k) {
      const RoundedLayer<RoundedOperations>& layer = network_.layers()[k];
      if (context == kNoContext || layer.book_of(context) != 0) return std::nullopt;
      const auto reached = moves_[k](layer.action_of(context), now_[k]);
      if (!reached) return std::nullopt;
      if (k + 1 < now_.size()) context = layer.next(context, layer.books()[0].label(now_[k]));
      now_[k] = *reached;
      labels_[k] = layer.books()[0].label(*reached);
    }
    return network_.read(labels_.data());
  }

 private:
  static std::optional<std::uint32_t> codeword_of_start(const RoundedLayer<RoundedOperations>& layer) {
    const NearestCodeword& book = layer.books()[0];
    for (std::uint32_t codeword = 0; codeword < book.size(); ++codeword) {
      if (book.label(codeword) != layer.initial_label()) continue;
      for (std::size_t i = 0; i < layer.size(); ++i)
        if (layer.initial()[i] != book.entry(codeword, i)) return std::nullopt;
      return codeword;
    }
    return std::nullopt;
  }

  RoundedNetwork<RoundedOperations> network_;  ///< for the wiring and the code books
  std::vector<UnitMoves> moves_;
  std::vector<std::uint32_t> start_, now_;  ///< codewords
  std::vector<Label> labels_;
};

/// Nothing where some layer has other states.
inline std::unique_ptr<UnitRun> make_unit_run(const Network& network, ArithmeticName arithmetic, Form form) {
  auto run = std::make_unique<UnitRun>(network, arithmetic, form);
  return run->is_possible() ? std::move(run) : nullptr;
}

}  // namespace krohn
