#include "krohn/automata/regex/regex_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>

#include "krohn/automata/operations/determinise.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/regex/regex.h"
#include "krohn/automata/regex/regex_derivatives.h"
#include "krohn/automata/regex/state_elimination.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

using Id = RegexTerms::Id;
using Kind = RegexTerms::Kind;
using Clock = std::chrono::steady_clock;

/// The shortest of the terms that several orders of elimination give.
std::optional<Id> shortest_by_elimination(const GeneralisedAutomaton& automaton, const RegexTerms& terms,
                                          const RegexOfOptions& options, Clock::time_point end) {
  constexpr std::size_t kAllOrders = 6;  // 720 of them
  constexpr std::uint64_t kSlack = 8;    // what lies between may be longer than what comes out
  std::optional<Id> best;
  const auto offer = [&](std::optional<Id> term) {
    if (term && (!best || terms.length(*term) < terms.length(*best))) best = term;
  };
  const auto most = [&] {
    return kSlack * (best ? std::min(options.max_length, terms.length(*best)) : options.max_length);
  };
  std::mt19937 random(1);
  offer(automaton.eliminate_lightest(random, 1, most()));
  std::uint64_t tried = 1;
  if (automaton.states() <= kAllOrders) {
    std::vector<std::size_t> order(automaton.states());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do offer(automaton.eliminate(order, most()));
    while (++tried < options.orders && Clock::now() < end && std::next_permutation(order.begin(), order.end()));
    return best;
  }
  for (; tried < options.orders && Clock::now() < end; ++tried)
    offer(automaton.eliminate_lightest(random, tried % 2 == 0 ? 1.5 : 4, most()));
  return best;
}

/// Replaces parts of a term by smaller ones as long as the language stays the same.
class Shortener {
 public:
  Shortener(RegexTerms& terms, const Dfa& minimal, std::uint64_t changes, Clock::time_point end)
      : terms_(terms), minimal_(minimal), changes_(changes), end_(end) {}

  Id shorten(Id term) {
    while (const auto shorter = improvement(term)) term = *shorter;
    return term;
  }

 private:
  /// Every part of the term once, itself included.
  void collect(Id term, std::vector<Id>& parts, std::set<Id>& seen) const {
    if (!seen.insert(term).second) return;
    parts.push_back(term);
    if (terms_.kind(term) > Kind::kLetters)
      for (const Id part : terms_.parts(term)) collect(part, parts, seen);
  }

  /// The term with `part` replaced everywhere.
  Id replaced(Id term, Id part, Id by) {
    if (term == part) return by;
    const Kind kind = terms_.kind(term);
    if (kind <= Kind::kLetters) return term;
    std::vector<Id> parts(terms_.parts(term).begin(), terms_.parts(term).end());
    bool same = true;
    for (Id& inner : parts) {
      const Id now = replaced(inner, part, by);
      same = same && now == inner;
      inner = now;
    }
    if (same) return term;
    switch (kind) {
      case Kind::kConcatenation:
        return terms_.concatenation(parts);
      case Kind::kUnion:
        return terms_.union_of(parts);
      case Kind::kStar:
        return terms_.star(parts[0]);
      case Kind::kPlus:
        return terms_.plus(parts[0]);
      default:
        return terms_.optional(parts[0]);
    }
  }

  /// What may stand in place of a part: the part with one of its own parts left out, and anything smaller at hand.
  std::vector<Id> substitutes(Id part, const std::vector<Id>& all) {
    std::vector<Id> list;
    const Kind kind = terms_.kind(part);
    const std::vector<Id> inner(terms_.parts(part).begin(), terms_.parts(part).end());
    if (kind == Kind::kConcatenation || kind == Kind::kUnion)
      for (std::size_t i = 0; i < inner.size(); ++i) {
        std::vector<Id> fewer = inner;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        list.push_back(kind == Kind::kUnion ? terms_.union_of(fewer) : terms_.concatenation(fewer));
      }
    for (const Id other : all) {
      list.push_back(other);
      if (terms_.kind(other) == Kind::kLetters) list.push_back(terms_.star(other));
    }
    add_pairs(part, list);
    std::erase_if(list, [&](Id id) { return terms_.length(id) >= terms_.length(part); });
    std::sort(list.begin(), list.end(),
              [&](Id a, Id b) { return std::pair(terms_.length(a), a) < std::pair(terms_.length(b), b); });
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  /// Two of the part's own parts, perhaps repeated, one after the other or as alternatives.
  void add_pairs(Id part, std::vector<Id>& list) {
    constexpr std::size_t kMostParts = 10;
    std::vector<Id> own;
    std::set<Id> seen;
    collect(part, own, seen);
    std::ranges::sort(own, {}, [&](Id id) { return std::pair(terms_.length(id), id); });
    own.resize(std::min(own.size(), kMostParts));
    for (std::size_t i = own.size(); i-- > 0;) {
      own.push_back(terms_.optional(own[i]));
      own.push_back(terms_.star(own[i]));
    }
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const Id left : own)
      for (const Id right : own) {
        if (terms_.length(left) + terms_.length(right) >= terms_.length(part)) continue;
        list.push_back(terms_.concatenation(left, right));
        if (left < right) list.push_back(terms_.union_of(left, right));
      }
  }

  std::optional<Id> improvement(Id term) {
    std::vector<Id> parts;
    std::set<Id> seen;
    collect(term, parts, seen);
    std::stable_sort(parts.begin(), parts.end(), [&](Id a, Id b) { return terms_.length(a) > terms_.length(b); });
    std::vector<Id> at_hand = parts;
    std::vector<Letter> every(minimal_.letters());
    std::iota(every.begin(), every.end(), Letter{0});
    at_hand.push_back(terms_.letters(std::move(every)));
    std::set<Id> tried;
    for (const Id part : parts)
      for (const Id by : substitutes(part, at_hand)) {
        if (changes_ == 0 || Clock::now() >= end_) return std::nullopt;
        const Id candidate = replaced(term, part, by);
        if (terms_.length(candidate) >= terms_.length(term) || !tried.insert(candidate).second) continue;
        --changes_;
        if (is_equal(candidate)) return candidate;
      }
    return std::nullopt;
  }

  bool is_equal(Id candidate) const {
    try {
      return minimise(determinise(terms_.automaton(candidate), {2 * std::uint64_t{minimal_.states()} + 64})) ==
             minimal_;
    } catch (const LimitError&) {
      return false;
    }
  }

  RegexTerms& terms_;
  const Dfa& minimal_;
  std::uint64_t changes_;
  Clock::time_point end_;
};

/// The minimal automaton of the words backwards, where it is no more than some times larger.
std::optional<Dfa> reversed_of(const Dfa& minimal) {
  try {
    return reverse(minimal, 4 * std::uint64_t{minimal.states()} + 16);
  } catch (const LimitError&) {
    return std::nullopt;
  }
}

/// Of two texts as long the one with fewer repetitions is easier to read.
std::size_t repetitions(const RegexTerms& terms, Id id) {
  const Kind kind = terms.kind(id);
  std::size_t count = kind >= Kind::kStar ? 1 : 0;
  if (kind > Kind::kLetters)
    for (const Id part : terms.parts(id)) count += repetitions(terms, part);
  return count;
}

/// Nothing that is not proved leaves this file.
void prove(const std::string& expression, const Dfa& dfa) {
  constexpr std::uint64_t kMostPairs = 100'000;
  const auto refuse = [&] {
    throw Error(fmt::format("internal error: the expression {} is not that of its automaton", expression));
  };
  if (distinguishing_word(dfa, parse_regex(expression))) refuse();
  try {
    if (word_against_regex(dfa, expression, kMostPairs)) refuse();
  } catch (const LimitError&) {  // derivatives of long expressions are many; the first proof stands
  } catch (const InputError&) {  // or nest too deep
  }
}

}  // namespace

std::string regex_of(const Dfa& dfa, const RegexOfOptions& options) {
  constexpr State kMostStates = 300;
  require_acceptor(dfa, "a regular expression");
  const Dfa minimal = minimise(dfa);
  const auto too_long = [&](const std::string& what) {
    return LimitError(
        fmt::format("{}; raise --longest ({}) for a longer one", what, counted(options.max_length, "byte")));
  };
  if (minimal.states() > kMostStates)
    throw LimitError(fmt::format("the minimal automaton has {}; expressions are written of at most {}",
                                 counted(minimal.states(), "state"), kMostStates));
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  RegexTerms terms(minimal.alphabet());
  std::vector<Id> found;
  if (const auto forwards = shortest_by_elimination(GeneralisedAutomaton(minimal, terms), terms, options, end))
    found.push_back(*forwards);
  if (const auto backwards = reversed_of(minimal))
    if (const auto term = shortest_by_elimination(GeneralisedAutomaton(*backwards, terms), terms, options, end))
      found.push_back(terms.reversed(*term));
  if (found.empty()) throw too_long("no order of eliminating states gave a short expression");
  Shortener shortener(terms, minimal, options.changes, end);
  for (Id& term : found) term = shortener.shorten(term);
  const Id shortest =
      *std::ranges::min_element(found, {}, [&](Id id) { return std::pair(terms.length(id), repetitions(terms, id)); });
  std::string text = terms.text(shortest);
  if (text.size() > options.max_length)
    throw too_long(fmt::format("the shortest expression that was found has {}", counted(text.size(), "byte")));
  prove(text, dfa);
  return text;
}

}  // namespace krohn
