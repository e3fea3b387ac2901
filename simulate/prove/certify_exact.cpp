#include "krohn/simulate/prove/certify_exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/messages.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/exact_network.h"

namespace krohn {
namespace {

constexpr std::size_t kMaxNumbers = 5'000'000;  ///< of all states of a layer
constexpr std::size_t kMaxBits = 4096;          ///< of a numerator or denominator

bool is_long(const ExactNumber& number) {
  return std::any_of(number.begin(), number.end(), [](const Rational& coefficient) {
    return coefficient != 0 &&
           (msb(abs(numerator(coefficient))) > kMaxBits || msb(denominator(coefficient)) > kMaxBits);
  });
}

/// The states of one layer that its actions reach from H_0. A state is its numbers and the label that they show: code
/// books may show several labels for the same numbers. A move is an action with the book that decodes after it.
class ClosedExactLayer {
 public:
  ClosedExactLayer(const ExactLayer& layer, const Layer& description) : layer_(layer) {
    machine_.labels = description.labels;
    machine_.next = description.wiring.next;
    std::map<std::pair<Action, std::uint32_t>, std::uint32_t> numbers;
    for (Context context = 0; context < description.wiring.action_of.size(); ++context) {
      const std::pair move{description.wiring.action_of[context],
                           description.book_of_context.empty() ? 0 : description.book_of_context[context]};
      const auto [found, fresh] = numbers.try_emplace(move, static_cast<std::uint32_t>(moves_.size()));
      if (fresh) moves_.push_back(move);
      machine_.move_of.push_back(found->second);
    }
    machine_.moves.resize(moves_.size());
    machine_.initial = number_of(layer.initial(), description.initial_label);
  }

  /// `tick` is called once a (state, move). Throws LimitError.
  template <class Tick>
  LabelLayer close(std::uint64_t max_states, Tick&& tick) {
    for (std::size_t state = 0; state < order_.size(); ++state) {
      if (order_.size() > max_states) throw LimitError(fmt::format("{} exact states in a layer", max_states));
      for (std::size_t move = 0; move < moves_.size(); ++move) {
        tick();
        ExactState reached = layer_.move(moves_[move].first, order_[state]->first.first);
        const Label label = layer_.decode(reached, moves_[move].second);
        machine_.moves[move].push_back(number_of(std::move(reached), label));
      }
    }
    machine_.states = static_cast<Label>(order_.size());
    return std::move(machine_);
  }

 private:
  using States = std::map<std::pair<ExactState, Label>, Label>;

  Label number_of(ExactState numbers, Label label) {
    if (std::any_of(numbers.begin(), numbers.end(), is_long))
      throw LimitError(fmt::format("fractions of {} bits", kMaxBits));
    if ((order_.size() + 1) * numbers.size() > kMaxNumbers)
      throw LimitError(fmt::format("{} exact numbers in a layer", kMaxNumbers));
    const auto [found, fresh] = states_.try_emplace({std::move(numbers), label}, static_cast<Label>(order_.size()));
    if (fresh) {
      order_.push_back(found);
      machine_.shown.push_back(label);
    }
    return found->second;
  }

  const ExactLayer& layer_;
  LabelLayer machine_;
  std::vector<std::pair<Action, std::uint32_t>> moves_;  ///< (action, book)
  States states_;
  std::vector<States::const_iterator> order_;  ///< by number
};

/// The label machine's own states, layer by layer, beside the automaton's: what the search walks.
class TupleSearch {
 public:
  TupleSearch(const LabelMachine& machine, const Dfa& automaton) : machine_(machine), automaton_(automaton) {}

  struct Outcome {
    std::optional<Word> failing_word;
    std::uint64_t pairs = 0, depth = 0;
    bool ended = false;
    std::string limit;  ///< that it met, where it did not end
  };

  /// Breadth first, up to so many pairs, while there is time.
  Outcome run(std::uint64_t max_pairs) {
    Tuple start{automaton_.initial()};
    for (const LabelLayer& layer : machine_.layers) start.push_back(layer.initial);
    if (!is_right(start)) return {Word{}, 0, 0, false, {}};
    std::vector<std::map<Tuple, Origin>::const_iterator> order{seen_.emplace(start, Origin{}).first};
    std::size_t level_end = 1;
    Outcome outcome;
    for (std::size_t next = 0; next < order.size() && order.size() <= max_pairs; ++next) {
      outcome.limit = time_met();
      if (!outcome.limit.empty()) return outcome;
      if (next == level_end) {
        level_end = order.size();
        ++outcome.depth;
      }
      for (Letter letter = 0; letter < automaton_.letters(); ++letter) {
        Tuple reached = step(order[next]->first, letter);
        outcome.pairs = order.size();
        if (!is_right(reached)) {
          outcome.failing_word = word_to(order, next);
          outcome.failing_word->push_back(letter);
          return outcome;
        }
        const auto [found, fresh] = seen_.emplace(std::move(reached), Origin{next, letter});
        if (fresh) order.push_back(found);
      }
    }
    outcome.ended = order.size() <= max_pairs;
    if (!outcome.ended) outcome.limit = fmt::format("{} pairs", max_pairs);
    return outcome;
  }

 private:
  static std::string time_met() {
    try {
      TimeLimit::check();
      return {};
    } catch (const LimitError& limit) {
      return limit.what();
    }
  }

  /// The automaton's state, then one state a layer; kNoLabel where a layer's context is unknown.
  using Tuple = std::vector<std::uint32_t>;
  struct Origin {
    std::size_t from = 0;
    Letter letter = 0;
  };

  Tuple step(const Tuple& from, Letter letter) const {
    Tuple to{automaton_.next(from[0], letter)};
    Context context = letter;
    for (std::size_t k = 0; k < machine_.layers.size(); ++k) {
      const LabelLayer& layer = machine_.layers[k];
      const std::uint32_t state = from[k + 1];
      to.push_back(context == kNoContext ? kNoLabel : layer.moves[layer.move_of[context]][state]);
      if (context == kNoContext || k + 1 == machine_.layers.size()) continue;
      context = layer.next[std::size_t{context} * layer.labels + layer.shown[state]];
    }
    return to;
  }

  bool is_right(const Tuple& tuple) const {
    Context node = 0;
    for (std::size_t k = 0; k < machine_.layers.size(); ++k) {
      const LabelLayer& layer = machine_.layers[k];
      const Label label = tuple[k + 1] == kNoLabel ? kNoLabel : layer.shown[tuple[k + 1]];
      if (label == kNoLabel) return false;
      node = machine_.readout[k][std::size_t{node} * layer.labels + label];
      if (node == kNoContext) return false;
    }
    return node == tuple[0];
  }

  static Word word_to(const std::vector<std::map<Tuple, Origin>::const_iterator>& order, std::size_t at) {
    Word word;
    for (; at != 0; at = order[at]->second.from) word.push_back(order[at]->second.letter);
    std::reverse(word.begin(), word.end());
    return word;
  }

  const LabelMachine& machine_;
  const Dfa& automaton_;
  std::map<Tuple, Origin> seen_;
};

/// By induction when that succeeds: it needs no search over tuples, of which there may be very many.
bool is_proved_by_induction(const LabelMachine& machine, const Dfa& automaton) {
  try {
    return prove_emulation(machine, automaton).holds;
  } catch (const LimitError&) {
    return false;
  }
}

void conclude(Certificate& certificate, const LabelMachine& machine, const Dfa& automaton, std::uint64_t max_pairs) {
  if (is_proved_by_induction(machine, automaton)) {
    certificate.claim = Proved{};
    certificate.evidence += ", and the labels so found emulate the automaton by induction over the wiring";
    return;
  }
  TupleSearch::Outcome outcome = TupleSearch(machine, automaton).run(max_pairs);
  if (outcome.failing_word) {
    certificate.evidence +=
        fmt::format("; a search over them met a wrong answer after {}", counted(outcome.pairs, "pair"));
    certificate.claim = Refuted{std::move(outcome.failing_word), /*shortest=*/true};
  } else if (outcome.ended) {
    certificate.claim = Proved{};
    certificate.evidence += fmt::format(", and all {} tuples of them that words reach are right", outcome.pairs);
  } else {
    certificate.claim = ProvedUpTo{outcome.depth};
    certificate.limit = outcome.limit;
  }
}

}  // namespace

Certificate certify_exact(const Network& network, const CertifyOptions& options) {
  Certificate certificate;
  certificate.arithmetic = ArithmeticName::exact();
  certificate.form = options.form;
  certificate.method = "closed exact states";
  const TimeLimit time(options.max_seconds, fmt::format("--time {:g}", options.max_seconds));
  const auto tick = [&] {
    TimeLimit::check();
    if (++certificate.pairs % (1 << 12) == 0 && options.progress) options.progress(certificate.pairs);
  };
  const auto undecided = [&](const char* limit) {
    certificate.claim = ProvedUpTo{};
    certificate.evidence = "the exact states of a layer did not close";
    certificate.limit = limit;
    return certificate;
  };
  try {
    const CyclotomicField field = field_of(network);
    LabelMachine machine;
    std::uint64_t states = 0;
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
      const ExactLayer layer(network.layers[k], field, fmt::format("layer {}", k));
      machine.layers.push_back(ClosedExactLayer(layer, network.layers[k]).close(options.max_pairs, tick));
      states += machine.layers.back().states;
    }
    machine.readout = network.readout.next;
    certificate.evidence = fmt::format("exact arithmetic reaches {} in {}, each nearest to one codeword for certain",
                                       counted(states, "state"), counted(network.layers.size(), "layer"));
    conclude(certificate, machine, network.automaton, options.max_pairs);
  } catch (const LimitError& limit) {
    return undecided(limit.what());
  }
  return certificate;
}

}  // namespace krohn
