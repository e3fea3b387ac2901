#include "krohn/simulate/prove/certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/exact_network.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

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
  ClosedExactLayer(const ExactLayer& layer, const Layer& description)
      : layer_(layer), machine_(wired_layer(description, moves_)) {
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
  std::vector<LayerMove> moves_;
  LabelLayer machine_;
  States states_;
  std::vector<States::const_iterator> order_;  ///< by number
};

/// By induction when that succeeds: it needs no search over tuples, of which there may be very many.
bool is_proved_by_induction(const LabelMachine& machine, const Dfa& automaton) {
  try {
    return prove_emulation(machine, automaton).holds;
  } catch (const LimitError&) {
    return false;
  }
}

void conclude(Certificate& certificate, const LabelMachine& machine, const Dfa& automaton,
              const CertifyOptions& options) {
  if (is_proved_by_induction(machine, automaton)) {
    certificate.claim = Proved{};
    certificate.evidence += ", and the labels so found emulate the automaton by induction over the wiring";
    return;
  }
  PairLimits limits;
  limits.max_pairs = options.max_pairs;
  limits.progress = options.progress;
  limits.pairs_at_once = 1;
  limits.ends_levels = false;
  PairSearchEnd end = reach_pairs(LabelReader(machine, automaton.letters()), every_state(automaton), limits);
  if (end.kind == PairSearchEnd::Kind::kWrong) {
    certificate.evidence += fmt::format("; a search over them met a wrong answer after {}", counted(end.pairs, "pair"));
    certificate.claim = Refuted{std::move(end.word), /*shortest=*/true};
  } else if (end.kind == PairSearchEnd::Kind::kClosed) {
    certificate.claim = Proved{};
    certificate.evidence += fmt::format(", and all {} tuples of them that words reach are right", end.pairs);
  } else {
    certificate.claim = ProvedUpTo{end.length};
    certificate.limit = end.limit;
    try {
      TimeLimit::check();
    } catch (const LimitError& over) {
      certificate.limit = over.what();  // as where layers do not close
    }
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
    conclude(certificate, machine, network.automaton, options);
  } catch (const LimitError& limit) {
    return undecided(limit.what());
  }
  return certificate;
}

}  // namespace krohn
