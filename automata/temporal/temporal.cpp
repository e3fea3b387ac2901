#include "krohn/automata/temporal/temporal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/temporal/temporal_formula.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"

namespace krohn {
namespace {

using Operator = TemporalOperator;
using Index = std::uint32_t;
using Bits = std::vector<bool>;

/// The letters, and which propositions each of them makes true.
struct Reading {
  Alphabet alphabet;
  std::vector<Bits> holds;  ///< by letter, by proposition
};

Reading reading_of(const TemporalFormula& formula, const TemporalOptions& options, std::string_view what) {
  const std::vector<std::string>& names = formula.propositions;
  Reading reading;
  if (options.propositions == Propositions::kValuations) {
    constexpr std::size_t kMost = 10;
    if (names.size() > kMost)
      throw InputError(
          fmt::format("{}: {} propositions have more valuations than krohn takes letters ({} have); without "
                      "--alphabet valuations each position is one proposition",
                      what, names.size(), kMost));
    // By their names, not by where the formula names them: formulas over the same propositions have the same letters.
    std::vector<std::size_t> sorted(names.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::ranges::sort(sorted, {}, [&](std::size_t i) { return names[i]; });
    std::vector<std::string> letters;
    for (std::size_t set = 0; set < std::size_t{1} << names.size(); ++set) {
      Bits holds(names.size(), false);
      std::string letter;
      for (std::size_t i = 0; i < names.size(); ++i) {
        holds[sorted[i]] = (set >> i & 1) != 0;
        if (holds[sorted[i]]) letter += (letter.empty() ? "" : ",") + names[sorted[i]];
      }
      letters.push_back("{" + letter + "}");
      reading.holds.push_back(std::move(holds));
    }
    reading.alphabet = Alphabet::from_names(letters);
    return reading;
  }
  const Alphabet named = Alphabet::from_names(names);
  reading.alphabet = options.alphabet ? *options.alphabet : named;
  if (reading.alphabet.size() == 0)
    throw InputError(std::string(what), "the formula names no letter; --alphabet says which there are");
  for (const std::string& name : names)
    if (!reading.alphabet.find(name))
      throw InputError(std::string(what), fmt::format("\"{}\" is no letter of the alphabet", name));
  // A character that is named is a letter of its own, out of the class that holds it.
  reading.alphabet = refine(reading.alphabet, named).merged;
  reading.holds.assign(reading.alphabet.size(), Bits(names.size(), false));
  for (std::size_t i = 0; i < names.size(); ++i) reading.holds[*reading.alphabet.find(names[i])][i] = true;
  return reading;
}

/// The values of all parts without a future at one position, from the letter and from what is remembered of the one
/// before: of Y its part's value there, of O and S their own.
class Past {
 public:
  explicit Past(const TemporalFormula& formula) : formula_(formula) {}

  /// Before the first position.
  Bits start() const { return Bits(formula_.nodes.size(), false); }

  Bits values(const Bits& remembered, const Bits& holds) const {
    Bits values(formula_.nodes.size(), false);
    for (Index i = 0; i < values.size(); ++i) {
      const TemporalFormula::Node& node = formula_.nodes[i];
      if (node.has_future) continue;
      values[i] = value(node, i, values, remembered, holds);
    }
    return values;
  }

  Bits remembered(const Bits& values) const {
    Bits remembered = start();
    for (Index i = 0; i < values.size(); ++i) {
      const TemporalFormula::Node& node = formula_.nodes[i];
      if (node.operation == Operator::kYesterday) remembered[i] = values[node.first];
      if (node.operation == Operator::kOnce || node.operation == Operator::kSince) remembered[i] = values[i];
    }
    return remembered;
  }

  /// Of the empty word.
  bool without_positions(Index i) const {
    const TemporalFormula::Node& node = formula_.nodes[i];
    switch (node.operation) {
      case Operator::kTrue:
        return true;
      case Operator::kNot:
        return !without_positions(node.first);
      case Operator::kAnd:
        return without_positions(node.first) && without_positions(node.second);
      case Operator::kOr:
        return without_positions(node.first) || without_positions(node.second);
      default:
        return false;
    }
  }

 private:
  bool value(const TemporalFormula::Node& node, Index i, const Bits& values, const Bits& remembered,
             const Bits& holds) const {
    switch (node.operation) {
      case Operator::kTrue:
        return true;
      case Operator::kProposition:
        return holds[node.first];
      case Operator::kNot:
        return !values[node.first];
      case Operator::kAnd:
        return values[node.first] && values[node.second];
      case Operator::kOr:
        return values[node.first] || values[node.second];
      case Operator::kYesterday:
        return remembered[i];
      case Operator::kOnce:
        return values[node.first] || remembered[i];
      default:  // kSince
        return values[node.second] || (values[node.first] && remembered[i]);
    }
  }

  const TemporalFormula& formula_;
};

/// What the rest of the word owes: a formula, or its negation, at the next position, which has to be there unless the
/// promise is weak.
struct Promise {
  Index part;
  bool is_negated, is_weak;
  friend auto operator<=>(const Promise&, const Promise&) = default;
};
/// All of these.
using Promises = std::vector<Promise>;
/// One of these: no one holds another. None: false.
using Choices = std::set<Promises>;

/// Drops what asks for more than another choice.
Choices least(const Choices& choices) {
  Choices kept;
  for (const Promises& promises : choices) {
    const bool is_more = std::any_of(choices.begin(), choices.end(), [&](const Promises& other) {
      return other.size() < promises.size() &&
             std::includes(promises.begin(), promises.end(), other.begin(), other.end());
    });
    if (!is_more) kept.insert(promises);
  }
  return kept;
}

class Future {
 public:
  explicit Future(const TemporalFormula& formula) : formula_(formula), past_(formula) {}

  struct State {
    Choices choices;
    Bits remembered;
    friend auto operator<=>(const State&, const State&) = default;
  };

  State start() const {
    const bool holds_of_nothing = past_.without_positions(formula_.root);
    return {{{{formula_.root, false, holds_of_nothing}}}, past_.start()};
  }

  State step(const State& state, const Bits& holds) const {
    const Bits values = past_.values(state.remembered, holds);
    std::map<std::pair<Index, bool>, Choices> known;
    Choices all;
    for (const Promises& promises : state.choices) {
      Choices these{{}};
      for (const Promise& promise : promises) these = both(these, now(promise.part, promise.is_negated, values, known));
      all.merge(these);
    }
    return {least(all), past_.remembered(values)};
  }

  static bool accepts(const State& state) {
    return std::any_of(state.choices.begin(), state.choices.end(), [](const Promises& promises) {
      return std::all_of(promises.begin(), promises.end(), [](const Promise& promise) { return promise.is_weak; });
    });
  }

 private:
  static Choices both(const Choices& a, const Choices& b) {
    constexpr std::size_t kMost = 100'000;
    if (a.size() * b.size() > kMost)
      throw LimitError(fmt::format("a state of the formula's automaton has more than {} choices", kMost));
    TimeLimit::check();
    Choices all;
    for (const Promises& x : a)
      for (const Promises& y : b) {
        Promises joined;
        std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(joined));
        all.insert(std::move(joined));
      }
    return least(all);
  }
  static Choices either(Choices a, Choices b) {
    a.merge(b);
    return least(a);
  }

  /// What a part, or its negation, asks of the rest of the word at a position with these values.
  Choices now(Index i, bool negated, const Bits& values, std::map<std::pair<Index, bool>, Choices>& known) const {
    const TemporalFormula::Node& node = formula_.nodes[i];
    if (!node.has_future) return values[i] != negated ? Choices{{}} : Choices{};
    if (const auto found = known.find({i, negated}); found != known.end()) return found->second;
    const auto of = [&](Index part, bool is_negated) { return now(part, is_negated, values, known); };
    const auto later = [&](Index part) { return Choices{{Promise{part, negated, negated}}}; };
    Choices choices;
    switch (node.operation) {
      case Operator::kNot:
        choices = of(node.first, !negated);
        break;
      case Operator::kAnd:
      case Operator::kOr: {
        const bool is_both = (node.operation == Operator::kAnd) != negated;
        choices = is_both ? both(of(node.first, negated), of(node.second, negated))
                          : either(of(node.first, negated), of(node.second, negated));
        break;
      }
      case Operator::kNext:
        choices = later(node.first);
        break;
      default:  // f U g is g | f & X(f U g), and its negation !g & (!f | N!(f U g))
        choices = negated ? both(of(node.second, true), either(of(node.first, true), later(i)))
                          : either(of(node.second, false), both(of(node.first, false), later(i)));
    }
    return known[{i, negated}] = choices;
  }

  const TemporalFormula& formula_;
  Past past_;
};

/// Breadth-first over the states that `step` reaches.
template <class State, class Step, class Accepts>
Dfa explored(const State& start, const Reading& reading, std::uint64_t max_states, Step step, Accepts accepts) {
  std::map<State, krohn::State> numbers{{start, 0}};
  std::vector<const State*> states{&numbers.begin()->first};
  std::vector<krohn::State> table;
  for (std::size_t i = 0; i < states.size(); ++i)
    for (const Bits& holds : reading.holds) {
      TimeLimit::check();
      const auto [found, is_new] =
          numbers.try_emplace(step(*states[i], holds), static_cast<krohn::State>(states.size()));
      if (is_new) states.push_back(&found->first);
      if (states.size() > max_states)
        throw LimitError(fmt::format("the formula's automaton has more than {} states (--max-states)", max_states));
      table.push_back(found->second);
    }
  std::vector<bool> accepting;
  for (const State* state : states) accepting.push_back(accepts(*state));
  return minimise(Dfa::acceptor(reading.alphabet, std::move(table), 0, accepting));
}

}  // namespace

Dfa ltlf_automaton(std::string_view text, const TemporalOptions& options) {
  const TemporalFormula formula = parse_temporal(text, "ltlf");
  const Reading reading = reading_of(formula, options, "ltlf");
  const Future future(formula);
  return explored(
      future.start(), reading, options.max_states,
      [&](const Future::State& state, const Bits& holds) { return future.step(state, holds); }, Future::accepts);
}

Dfa past_ltl_automaton(std::string_view text, const TemporalOptions& options) {
  const TemporalFormula formula = parse_temporal(text, "pltl");
  if (formula.nodes[formula.root].has_future)
    throw InputError("pltl", "a formula of the past has no X, N, F, G, U, R, W, M; ltlf: takes them");
  const Reading reading = reading_of(formula, options, "pltl");
  const Past past(formula);
  struct State {
    Bits remembered;
    bool holds;
    auto operator<=>(const State&) const = default;
  };
  return explored(
      State{past.start(), past.without_positions(formula.root)}, reading, options.max_states,
      [&](const State& state, const Bits& holds) {
        const Bits values = past.values(state.remembered, holds);
        return State{past.remembered(values), values[formula.root]};
      },
      [](const State& state) { return state.holds; });
}

}  // namespace krohn
