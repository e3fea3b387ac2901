#include "krohn/automata/cascades/position_cascade.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <utility>

#include "krohn/automata/cascades/trim.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/algebra.h"
#include "krohn/automata/monoid/stamp.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

/// The t of the header, for an automaton all of whose states are reachable.
Label position_period(const Dfa& dfa, std::uint64_t max_elements) {
  TransformationMonoid::Options options;
  options.max_elements = max_elements;
  const auto monoid = TransformationMonoid::enumerate(letter_maps(dfa), dfa.states(), options);
  if (!monoid.complete())
    throw LimitError(
        fmt::format("whether a position signal helps is decided up to {} of the transition "
                    "monoid, which has more",
                    counted(max_elements, "element")));
  const Stamp stamp(monoid);
  if (stamp.stability_index() == 0) throw LimitError("the powers of the alphabet did not repeat in time");
  if (const auto cycle = stamp.stable_cycle())
    throw InputError(
        fmt::format("the stamp is not quasi-aperiodic: {} acts with a cycle, and so do words of every multiple of {}",
                    quoted_letters(dfa.alphabet(), monoid.word(*cycle)), counted(stamp.stability_index(), "letter")));
  return static_cast<Label>(stamp.position_period());
}

/// The automaton over pairs (letter, position), numbered letter · t + position.
class Positioned {
 public:
  Positioned(const Dfa& dfa, Label period) : dfa_(dfa), period_(period), some_state_(period) {
    number({0, dfa.initial()});
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const auto [position, state] = states_[i];
      for (Letter letter = 0; letter < dfa.letters(); ++letter)
        number({(position + 1) % period, dfa.next(state, letter)});
    }
  }

  Dfa automaton() const {
    std::vector<std::string> names;
    for (Letter letter = 0; letter < dfa_.letters(); ++letter)
      for (Label i = 0; i < period_; ++i) names.push_back(fmt::format("{}:{}", i, dfa_.alphabet().name(letter)));
    std::vector<State> table;
    for (const auto& [position, state] : states_)
      for (Letter letter = 0; letter < dfa_.letters(); ++letter)
        for (Label i = 0; i < period_; ++i) {
          const State from = position == i ? state : some_state_[i];
          table.push_back(number_.at({(i + 1) % period_, dfa_.next(from, letter)}));
        }
    return Dfa::acceptor(Alphabet::from_names(names), std::move(table), 0, std::vector<bool>(states_.size(), false));
  }

  /// The state of the pair; kNoContext when its position is another.
  Context state_at(Label position, State pair) const {
    return states_[pair].first == position ? states_[pair].second : kNoContext;
  }

 private:
  void number(std::pair<Label, State> pair) {
    const auto [entry, fresh] = number_.try_emplace(pair, static_cast<State>(states_.size()));
    if (!fresh) return;
    states_.push_back(pair);
    some_state_[pair.first] = pair.second;
  }

  const Dfa& dfa_;
  Label period_;
  std::map<std::pair<Label, State>, State> number_;
  std::vector<std::pair<Label, State>> states_;
  std::vector<State> some_state_;  ///< per position, a state that is reached there
};

/// Every letter adds 1; the context below is the letter with the position before it.
CascadeLayer counter(Letter letters, Label period) {
  CascadeLayer layer;
  layer.width = period;
  std::vector<Point> images;
  for (Label x = 0; x < period; ++x) images.push_back((x + 1) % period);
  layer.actions.push_back(Transformation::from_images(std::move(images)));
  layer.wiring.action_of.assign(letters, 0);
  for (Context c = 0; c < letters * period; ++c) layer.wiring.next.push_back(c);
  return layer;
}

/// The readout below a counter: nodes node · t + position, so that only labels that agree on the position are decoded.
Readout below_counter(const Readout& readout, const std::vector<CascadeLayer>& layers, const Positioned& positioned,
                      Label period) {
  Readout result;
  result.next.emplace_back(period);
  std::iota(result.next[0].begin(), result.next[0].end(), Context{0});
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const Label width = layers[k].width;
    const std::vector<Context>& old = readout.next[k];
    std::vector<Context>& level = result.next.emplace_back();
    for (std::size_t node = 0; node < old.size() / width; ++node)
      for (Label position = 0; position < period; ++position)
        for (Label label = 0; label < width; ++label) {
          const Context to = old[node * width + label];
          if (to == kNoContext)
            level.push_back(kNoContext);
          else
            level.push_back(k + 1 < layers.size() ? to * period + position : positioned.state_at(position, to));
        }
  }
  return result;
}

}  // namespace

Cascade position_cascade(const Dfa& dfa, const PositionCascadeOptions& options) {
  const Label period = position_period(canonical(dfa), options.max_elements);
  if (period == 1) return holonomy_decomposition(dfa, options.holonomy);
  const Positioned positioned(dfa, period);
  const Cascade below = holonomy_decomposition(positioned.automaton(), options.holonomy);
  Cascade cascade;
  cascade.alphabet = dfa.alphabet();
  cascade.method = "holonomy below positions";
  cascade.layers.push_back(counter(dfa.letters(), period));
  cascade.layers.insert(cascade.layers.end(), below.layers.begin(), below.layers.end());
  cascade.initial.push_back(0);
  cascade.initial.insert(cascade.initial.end(), below.initial.begin(), below.initial.end());
  cascade.readout = below_counter(below.readout, below.layers, positioned, period);
  return trim(cascade);
}

}  // namespace krohn
