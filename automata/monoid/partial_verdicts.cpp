#include "krohn/automata/monoid/partial_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/crossing_idempotents.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/synchronising.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/automata/operations/emptiness.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/time_limit.h"
#include "krohn/groups/transformations/components.h"
#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {
namespace {

constexpr State kMaxPairedStates = 4000;
constexpr std::uint64_t kFirstElements = 20'000;
constexpr std::uint64_t kFirstNumbers = 20'000'000;  ///< elements × states

/// A shortest non-empty word from a state to one that `goal` takes, if there is one.
template <class Goal>
std::optional<Word> shortest_path(const Dfa& dfa, State from, Goal goal) {
  std::vector<std::optional<Word>> words(dfa.states());
  std::vector<State> queue;
  const auto extend = [&](const Word& word, State state) -> std::optional<Word> {
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State to = dfa.next(state, letter);
      if (words[to]) continue;
      words[to] = word;
      words[to]->push_back(letter);
      if (goal(to)) return words[to];
      queue.push_back(to);
    }
    return std::nullopt;
  };
  if (auto found = extend({}, from)) return found;
  for (std::size_t i = 0; i < queue.size(); ++i)
    if (auto found = extend(*words[queue[i]], queue[i])) return found;
  return std::nullopt;
}

/// Depth first over the pairs {p, q} of different states.
class Pairs {
 public:
  explicit Pairs(const Dfa& dfa) : dfa_(dfa), n_(dfa.states()), colour_(std::size_t{n_} * n_, kNew) {}

  std::string recurring() {
    for (State p = 0; p < n_; ++p)
      for (State q = p + 1; q < n_; ++q)
        if (colour_[number(p, q)] == kNew)
          if (std::string word = walk(number(p, q)); !word.empty()) return word;
    return {};
  }

 private:
  enum Colour : std::uint8_t { kNew, kOpen, kDone };
  struct Step {
    std::size_t pair;
    Letter next = 0;  ///< the letter to try next
  };

  std::size_t number(State p, State q) const { return std::size_t{std::min(p, q)} * n_ + std::max(p, q); }

  std::string walk(std::size_t start) {
    std::vector<Step> path{{start}};
    colour_[start] = kOpen;
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next == dfa_.letters()) {
        colour_[step.pair] = kDone;
        path.pop_back();
        continue;
      }
      const Letter letter = step.next++;
      const State p = dfa_.next(static_cast<State>(step.pair / n_), letter),
                  q = dfa_.next(static_cast<State>(step.pair % n_), letter);
      const std::size_t to = number(p, q);
      if (p == q || colour_[to] == kDone) continue;
      if (colour_[to] == kOpen) return describe(path, to);
      colour_[to] = kOpen;
      path.push_back({to});
    }
    return {};
  }

  std::string describe(const std::vector<Step>& path, std::size_t to) const {
    const auto from = std::find_if(path.begin(), path.end(), [&](const Step& step) { return step.pair == to; });
    Word word;
    for (auto step = from; step != path.end(); ++step) word.push_back(step->next - 1);
    return fmt::format("{} takes the states {} and {} to themselves or each other",
                       quoted_letters(dfa_.alphabet(), word), dfa_.state_name(static_cast<State>(to / n_)),
                       dfa_.state_name(static_cast<State>(to % n_)));
  }

  const Dfa& dfa_;
  State n_;
  std::vector<Colour> colour_;
};

struct Cycles {
  std::string any, odd;  ///< witnesses for a cycle, and for one whose length is no power of two
};

std::string describe_cycle(const Dfa& dfa, const Word& word, std::uint64_t length) {
  return fmt::format("{} acts with a cycle of {}", quoted_letters(dfa.alphabet(), word), counted(length, "state"));
}

void note_cycles(const Dfa& dfa, const Word& word, Cycles& cycles) {
  for (const std::uint64_t length : cycle_lengths(images_of_word(dfa, word))) {
    if (length > 1 && cycles.any.empty()) cycles.any = describe_cycle(dfa, word, length);
    if ((length & (length - 1)) != 0 && cycles.odd.empty()) cycles.odd = describe_cycle(dfa, word, length);
  }
}

std::uint64_t first_elements(const Dfa& dfa) { return std::min(kFirstElements, kFirstNumbers / dfa.states() + 1); }

/// Cycles of the letters, and of the words that the first elements of the monoid stand for, as far as the time goes.
Cycles early_cycles(const Dfa& dfa) {
  Cycles cycles;
  std::vector<Transformation> letters;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    letters.push_back(dfa.letter_map(letter));
    note_cycles(dfa, {letter}, cycles);
  }
  try {
    TransformationMonoid::Options options;
    options.max_elements = first_elements(dfa);
    const auto monoid = TransformationMonoid::enumerate(letters, dfa.states(), options);
    for (TransformationMonoid::Element e = 0; e < monoid.size() && cycles.odd.empty(); ++e) {
      TimeLimit::check();
      note_cycles(dfa, monoid.word(e), cycles);
    }
  } catch (const LimitError&) {  // what was found stays
  }
  return cycles;
}

}  // namespace

std::string merging_letter(const Dfa& dfa) {
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::vector<State> source(dfa.states(), dfa.states());
    for (State state = 0; state < dfa.states(); ++state) {
      State& first = source[dfa.next(state, letter)];
      if (first != dfa.states())
        return fmt::format("\"{}\" merges states {} and {}", dfa.alphabet().name(letter), dfa.state_name(first),
                           dfa.state_name(state));
      first = state;
    }
  }
  return {};
}

std::string non_commuting_letters(const Dfa& dfa) {
  for (Letter a = 0; a < dfa.letters(); ++a)
    for (Letter b = a + 1; b < dfa.letters(); ++b)
      for (State state = 0; state < dfa.states(); ++state)
        if (dfa.next(dfa.next(state, a), b) != dfa.next(dfa.next(state, b), a))
          return fmt::format("{} and {} differ from state {}", quoted_letters(dfa.alphabet(), std::array{a, b}),
                             quoted_letters(dfa.alphabet(), std::array{b, a}), dfa.state_name(state));
  return {};
}

std::string returning_state(const Dfa& dfa) {
  const std::vector<std::uint32_t> component = strong_components(dfa.states(), dfa.letters(), dfa.table());
  for (State state = 0; state < dfa.states(); ++state)
    for (Letter letter = 0; letter < dfa.letters(); ++letter) {
      const State away = dfa.next(state, letter);
      if (away == state || component[away] != component[state]) continue;
      const std::optional<Word> back = shortest_path(dfa, away, [&](State to) { return to == state; });
      return fmt::format("{} leaves state {}, and {} enters it again",
                         quoted_letters(dfa.alphabet(), std::array{letter}), dfa.state_name(state),
                         quoted_letters(dfa.alphabet(), back.value()));
    }
  return {};
}

Verdict definite(const Dfa& dfa, const std::string& limit) {
  if (dfa.states() > kMaxPairedStates) return undecided("definite", limit);
  return decided("definite", Pairs(dfa).recurring());
}

std::string endless_words(const Dfa& dfa) {
  if (is_finite(dfa)) return {};
  const ShortestWords words(dfa);
  const std::vector<bool> useful = coaccessible_states(dfa);
  for (const State state : words.states()) {
    if (!useful[state]) continue;
    const auto loop = shortest_path(dfa, state, [&](State to) { return to == state; });
    if (!loop) continue;
    Word end;
    if (!dfa.accepts(state)) end = *shortest_path(dfa, state, [&](State to) { return dfa.accepts(to); });
    return product_of_words(dfa.alphabet(), {{*words.to(state)}, {*loop, true}, {end}}) + " for every n";
  }
  throw Error("a language that is not finite has no state that a word brings back");
}

std::vector<Verdict> partial_verdicts(const Dfa& dfa, const std::string& limit) {
  std::map<std::string_view, Verdict> known;
  const auto know = [&](Verdict verdict) {
    const auto name = std::find_if(kProperties.begin(), kProperties.end(),
                                   [&](const Property& property) { return verdict.property == property.name; });
    known.emplace(name->name, std::move(verdict));
  };
  know(decided("group", merging_letter(dfa)));
  know(decided("commutative", non_commuting_letters(dfa)));
  know(decided("R-trivial", returning_state(dfa)));
  know(definite(dfa, limit));
  if (dfa.is_acceptor()) know(decided("finite", endless_words(dfa)));
  const Cycles cycles = early_cycles(dfa);
  if (!cycles.any.empty()) know(decided("aperiodic", cycles.any));
  if (!cycles.odd.empty()) know(decided("2-groups only", cycles.odd));
  know(synchronising(dfa));
  know(right_regular_idempotents(dfa, first_elements(dfa)));
  std::vector<Verdict> verdicts;
  for (const Property& property : kProperties) {
    if (std::string_view(property.name) == "finite" && !dfa.is_acceptor()) continue;
    const auto found = known.find(property.name);
    verdicts.push_back(found == known.end() ? undecided(property.name, limit) : found->second);
  }
  draw_conclusions(verdicts);
  return verdicts;
}

}  // namespace krohn
