#include "krohn/simulate/prove/steps.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <string>
#include <unordered_map>

#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {
namespace {

void require_room(std::uint64_t steps, std::uint64_t bytes, const StepLimits& limits) {
  if (steps > limits.max_steps)
    throw LimitError(fmt::format("the certificate would have more than {} steps", limits.max_steps));
  if (bytes > limits.max_bytes)
    throw LimitError(fmt::format("the certificate would take more than {} MiB", limits.max_bytes >> 20));
}

// ---- Tuples of labels

/// The machine of labels that closed tables describe, walked from its start.
class Tuples {
 public:
  Tuples(const ClosedCodewords& proof, const Network& network, const StepLimits& limits)
      : proof_(proof), network_(network), limits_(limits) {
    for (std::size_t k = 0; k < proof.layers.size(); ++k) {
      const Layer& layer = network.layers[k];
      std::map<std::pair<Action, std::uint32_t>, std::size_t> move_of;
      for (std::size_t m = 0; m < proof.layers[k].moves.size(); ++m)
        move_of[{proof.layers[k].moves[m].action, proof.layers[k].moves[m].book}] = m;
      auto& moves = move_of_.emplace_back();
      for (Context c = 0; c < layer.wiring.action_of.size(); ++c)
        moves.push_back(
            move_of.at({layer.wiring.action_of[c], layer.book_of_context.empty() ? 0 : layer.book_of_context[c]}));
    }
  }

  std::vector<LabelTuple> list() {
    number({network_.automaton.initial(), std::vector<std::uint32_t>(proof_.layers.size(), 0)});
    for (std::size_t at = 0; at < tuples_.size(); ++at) {
      require_room(tuples_.size(), tuples_.size() * (proof_.layers.size() + network_.automaton.letters()) * 4, limits_);
      std::vector<std::uint32_t> next;
      for (Letter letter = 0; letter < network_.automaton.letters(); ++letter)
        next.push_back(number({network_.automaton.next(tuples_[at].state, letter), after(tuples_[at].places, letter)}));
      tuples_[at].next = std::move(next);
    }
    return std::move(tuples_);
  }

 private:
  using Key = std::pair<State, std::vector<std::uint32_t>>;

  std::uint32_t number(Key key) {
    const auto [known, fresh] = known_.try_emplace(std::move(key), static_cast<std::uint32_t>(tuples_.size()));
    if (fresh) tuples_.push_back({known->first.first, known->first.second, {}});
    return known->second;
  }

  std::vector<std::uint32_t> after(const std::vector<std::uint32_t>& places, Letter letter) const {
    std::vector<std::uint32_t> moved = places;
    Context context = letter;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const Layer& layer = network_.layers[k];
      moved[k] = proof_.layers[k].next[move_of_[k][context]][places[k]];
      if (k + 1 == places.size()) break;
      context =
          layer.wiring
              .next[std::size_t{context} * layer.labels + codeword_label(layer, proof_.layers[k].codewords[places[k]])];
    }
    return moved;
  }

  const ClosedCodewords& proof_;
  const Network& network_;
  const StepLimits& limits_;
  std::vector<std::vector<std::size_t>> move_of_;  ///< by layer and context
  std::map<Key, std::uint32_t> known_;
  std::vector<LabelTuple> tuples_;
};

// ---- Pairs

/// Pairs of a state and a memory, breadth-first, to a depth.
template <class Arithmetic>
class Pairs {
 public:
  using Number = typename Arithmetic::Number;

  Pairs(const Network& network, Form form, const StepLimits& limits)
      : automaton_(network.automaton), network_(network, form), limits_(limits), scratch_(network_.make_scratch()) {}

  /// Pairs that fewer than `length` letters reach; `length` 2^64 − 1: all.
  std::vector<ReachedPair> list(std::uint64_t length) {
    const bool is_closed = length == std::numeric_limits<std::uint64_t>::max();
    std::vector<Number> numbers(network_.size()), to(network_.size());
    std::vector<Label> labels(network_.layers().size()), post(labels.size());
    network_.start(numbers.data(), labels.data());
    number(0, automaton_.initial(), 0, numbers, labels);
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      require_room(pairs_.size(), pairs_.size() * (128 + 16 * network_.size()), limits_);
      const std::uint64_t depth = depths_[at];
      if (!is_closed && depth + 1 >= length) continue;
      load(pairs_[at], numbers);
      std::vector<std::uint32_t> next;
      for (Letter letter = 0; letter < automaton_.letters(); ++letter) {
        network_.step(numbers.data(), pairs_[at].labels.data(), letter, to.data(), post.data(), scratch_);
        std::uint64_t phase = pairs_[at].phase + (network_.snap_every() > 0 ? 1 : 0);
        if (phase == network_.snap_every()) {
          if (phase > 0) network_.snap(to.data(), post.data(), scratch_);
          phase = 0;
        }
        next.push_back(number(depth + 1, automaton_.next(pairs_[at].state, letter), phase, to, post));
      }
      pairs_[at].next = std::move(next);
    }
    if (!is_closed)
      for (std::size_t at = 0; at < pairs_.size(); ++at) pairs_[at].depth = depths_[at];
    return std::move(pairs_);
  }

 private:
  std::uint32_t number(std::uint64_t depth, State state, std::uint64_t phase, const std::vector<Number>& numbers,
                       const std::vector<Label>& labels) {
    std::string key(reinterpret_cast<const char*>(&state), sizeof state);
    key.append(reinterpret_cast<const char*>(&phase), sizeof phase);
    key.append(reinterpret_cast<const char*>(labels.data()), labels.size() * sizeof(Label));
    for (const Number entry : numbers) {
      const auto bits = state_bits<Arithmetic>(entry);
      key.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    const auto [known, fresh] = known_.try_emplace(std::move(key), static_cast<std::uint32_t>(pairs_.size()));
    if (fresh) {
      ReachedPair pair{0, state, labels, phase, {}, {}};
      std::size_t from = 0;
      for (const auto& layer : network_.layers()) {
        auto& list = pair.numbers.emplace_back();
        for (std::size_t i = 0; i < layer.size(); ++i) list.push_back(to_double(numbers[from + i]) + 0.0);
        from += layer.size();
      }
      pairs_.push_back(std::move(pair));
      depths_.push_back(depth);
    }
    return known->second;
  }

  static void load(const ReachedPair& pair, std::vector<Number>& numbers) {
    std::size_t at = 0;
    for (const auto& layer : pair.numbers)
      for (const double number : layer) numbers[at++] = round_weight<Arithmetic>(number);
  }

  const Dfa& automaton_;
  RoundedNetwork<Arithmetic> network_;
  const StepLimits& limits_;
  typename RoundedNetwork<Arithmetic>::Scratch scratch_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::vector<ReachedPair> pairs_;
  std::vector<std::uint64_t> depths_;
};

std::vector<ReachedPair> pairs(const Certificate& certificate, const Network& network, std::uint64_t length,
                               const StepLimits& limits) {
  return with_arithmetic(certificate.arithmetic, [&](auto type) {
    return Pairs<decltype(type)>(network, certificate.form, limits).list(length);
  });
}

}  // namespace

Certificate with_steps(Certificate certificate, const Network& network, const StepLimits& limits) {
  auto* closed = std::get_if<ClosedCodewords>(&certificate.proof);
  if (auto* any = std::get_if<AnyOrder>(&certificate.proof)) closed = &any->codewords;
  if (closed != nullptr && !closed->by_induction) closed->tuples = Tuples(*closed, network, limits).list();
  if (auto* reached = std::get_if<ReachedPairs>(&certificate.proof)) {
    require_room(reached->pairs, 0, limits);
    const bool is_closed = certificate.is<Proved>();
    const std::uint64_t length = is_closed ? std::numeric_limits<std::uint64_t>::max() : certificate.length();
    reached->list = pairs(certificate, network, length, limits);
    reached->pairs = reached->list.size();
    reached->depth = 0;
    for (const ReachedPair& pair : reached->list) reached->depth = std::max(reached->depth, pair.depth);
  }
  if (auto* run = std::get_if<FailingRun>(&certificate.proof); run != nullptr && certificate.is_shortest())
    if (const Word& word = *certificate.failing_word(); !word.empty())
      run->shorter = pairs(certificate, network, word.size() - 1, limits);
  return certificate;
}

}  // namespace krohn
