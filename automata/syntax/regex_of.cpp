#include "krohn/automata/syntax/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/nfa_operations.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {
namespace {

using Id = RegexTerms::Id;

// An expression for an automaton, state by state (Brzozowski, McCluskey 1963).

/// The automaton with expressions for letters, one more state to start at and one to end at.
class GeneralisedAutomaton {
 public:
  /// Only states that are reachable and coaccessible stay. The alphabet of `terms` is that of the acceptor.
  GeneralisedAutomaton(const Dfa& dfa, RegexTerms& terms) : terms_(terms) {
    constexpr std::size_t kUseless = std::numeric_limits<std::size_t>::max();
    const Dfa reachable = canonical(dfa);
    const std::vector<bool> useful = coaccessible_states(reachable);
    std::vector<std::size_t> number(reachable.states(), kUseless);
    for (State state = 0; state < reachable.states(); ++state)
      if (useful[state]) number[state] = states_++;
    arcs_.assign(states_ + 2, std::vector<Id>(states_ + 2, RegexTerms::kNothing));
    if (states_ == 0) return;
    const std::size_t start = states_, end = states_ + 1;
    arcs_[start][number[reachable.initial()]] = RegexTerms::kEmptyWord;
    for (State state = 0; state < reachable.states(); ++state) {
      if (!useful[state]) continue;
      if (reachable.accepts(state)) arcs_[number[state]][end] = RegexTerms::kEmptyWord;
      std::vector<std::vector<Letter>> letters(states_);
      for (Letter letter = 0; letter < reachable.letters(); ++letter)
        if (const std::size_t target = number[reachable.next(state, letter)]; target != kUseless)
          letters[target].push_back(letter);
      for (std::size_t target = 0; target < states_; ++target)
        arcs_[number[state]][target] = terms_.letters(std::move(letters[target]));
    }
  }

  /// States that can be eliminated.
  std::size_t states() const { return states_; }

  /// Takes the states out in the order given, each once; nothing when a term passes `max_length` bytes.
  std::optional<Id> eliminate(const std::vector<std::size_t>& order, std::uint64_t max_length) const {
    Arcs arcs = arcs_;
    std::vector<bool> gone(arcs.size(), false);
    for (const std::size_t state : order)
      if (!take_out(arcs, gone, state, max_length)) return std::nullopt;
    return arcs[states_][states_ + 1];
  }

  /// Always takes out the state whose going lengthens the arcs least (Delgado, Morais, CIAA 2004), its weight blurred
  /// by a factor from 1 to `blur`.
  std::optional<Id> eliminate_lightest(std::mt19937& random, double blur, std::uint64_t max_length) const {
    Arcs arcs = arcs_;
    std::vector<bool> gone(arcs.size(), false);
    for (std::size_t left = states_; left > 0; --left) {
      std::size_t lightest = states_;
      double least = 0;
      for (std::size_t state = 0; state < states_; ++state) {
        if (gone[state]) continue;
        const double share = static_cast<double>(random()) / 4294967296.0;
        const double own = (weight(arcs, gone, state) + 1e-3) * (1 + (blur - 1) * share);
        if (lightest == states_ || own < least) lightest = state, least = own;
      }
      if (!take_out(arcs, gone, lightest, max_length)) return std::nullopt;
    }
    return arcs[states_][states_ + 1];
  }

 private:
  using Arcs = std::vector<std::vector<Id>>;
  /// False when an arc passes `max_length`.
  bool take_out(Arcs& arcs, std::vector<bool>& gone, std::size_t state, std::uint64_t max_length) const {
    TimeLimit::check();
    gone[state] = true;
    const Id loop = terms_.star(arcs[state][state]);
    for (std::size_t source = 0; source < arcs.size(); ++source) {
      if (gone[source] || arcs[source][state] == RegexTerms::kNothing) continue;
      for (std::size_t target = 0; target < arcs.size(); ++target) {
        if (gone[target] || arcs[state][target] == RegexTerms::kNothing) continue;
        const Id detour = terms_.concatenation(std::vector<Id>{arcs[source][state], loop, arcs[state][target]});
        arcs[source][target] = terms_.union_of(arcs[source][target], detour);
        if (terms_.length(arcs[source][target]) > max_length) return false;
      }
    }
    return true;
  }

  double weight(const Arcs& arcs, const std::vector<bool>& gone, std::size_t state) const {
    double in = 0, out = 0, length_in = 0, length_out = 0;
    for (std::size_t other = 0; other < arcs.size(); ++other) {
      if (gone[other] || other == state) continue;
      const Id to = arcs[other][state], from = arcs[state][other];
      if (to != RegexTerms::kNothing) ++in, length_in += static_cast<double>(terms_.length(to));
      if (from != RegexTerms::kNothing) ++out, length_out += static_cast<double>(terms_.length(from));
    }
    const Id loop = arcs[state][state];
    const double length_loop = loop == RegexTerms::kNothing ? 0 : static_cast<double>(terms_.length(loop));
    return length_in * (out - 1) + length_out * (in - 1) + length_loop * (in * out - 1);
  }

  RegexTerms& terms_;
  std::size_t states_ = 0;
  Arcs arcs_;  ///< start is number states_, end states_ + 1
};

using Kind = RegexTerms::Kind;

constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;

/// The binding strength of operators in a text.
enum Strength : int { kAlternatives, kSequence, kRepeated };

std::string escaped(char32_t character, std::u32string_view special) {
  if (character == U'\n') return "\\n";
  if (character == U'\t') return "\\t";
  if (character == U'\r') return "\\r";
  if (is_unseen(character)) return fmt::format("\\x{{{:X}}}", static_cast<std::uint32_t>(character));
  const std::string text = to_utf8(character);
  return special.find(character) == std::u32string_view::npos ? text : "\\" + text;
}

/// A ^ means something at the front only.
std::string in_class(char32_t character, bool first) { return escaped(character, first ? U"]\\-[^" : U"]\\-["); }

std::string ranges_text(const CharacterSet& characters) {
  std::string text;
  for (const CodePointRange& range : joined_across_surrogates(characters)) {
    text += in_class(range.first, text.empty());
    if (range.last > range.first + 1) text += '-';
    if (range.last > range.first) text += in_class(range.last, false);
  }
  return text;
}

/// A run of one and the same part in a sequence.
struct Run {
  Id part;
  std::size_t times;
};

std::vector<Run> runs_of(std::span<const Id> parts) {
  std::vector<Run> runs;
  for (const Id part : parts) {
    if (runs.empty() || runs.back().part != part) runs.push_back({part, 0});
    ++runs.back().times;
  }
  return runs;
}

}  // namespace

std::string regex_character(char32_t character) { return escaped(character, U"\\()[]{}|&~*+?.^$\""); }

std::string regex_class(const CharacterSet& characters) {
  if (cardinality(characters) == 1) return regex_character(characters.front().first);
  const std::string plain = "[" + ranges_text(characters) + "]";
  const CharacterSet others = complement(characters);
  if (others.empty()) return plain;
  const std::string negated = "[^" + ranges_text(others) + "]";
  return negated.size() < plain.size() && 2 * cardinality(characters) > cardinality(all_characters()) ? negated : plain;
}

RegexTerms::RegexTerms(Alphabet alphabet) : alphabet_(std::move(alphabet)) {
  number(Kind::kNothing, {});
  number(Kind::kEmptyWord, {});
}

Id RegexTerms::letters(std::vector<Letter> letters) {
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  return letters.empty() ? kNothing : number(Kind::kLetters, std::move(letters));
}

std::vector<Id> RegexTerms::factors(Id id) const {
  if (kind(id) == Kind::kConcatenation) return nodes_[id].parts;
  return id == kEmptyWord ? std::vector<Id>{} : std::vector<Id>{id};
}

Id RegexTerms::concatenation(std::span<const Id> given) {
  std::vector<Id> parts;
  const auto base = [&](Id id) { return kind(id) >= Kind::kStar ? nodes_[id].parts[0] : id; };
  // x behind the last part: x*x* = x*, x*x+ = x+, x?x* = x*, xx* = x+ and the like, where x is the same.
  const auto absorb = [&](Id next) {
    if (parts.empty()) return false;
    const Id last = parts.back();
    const Kind a = kind(last), b = kind(next);
    const bool a_loops = a == Kind::kStar || a == Kind::kPlus, b_loops = b == Kind::kStar || b == Kind::kPlus;
    if (base(last) != base(next) || (!a_loops && !b_loops)) return false;
    const bool a_may_be_empty = a == Kind::kStar || a == Kind::kOptional;
    const bool b_may_be_empty = b == Kind::kStar || b == Kind::kOptional;
    if (!a_may_be_empty && !b_may_be_empty && a_loops && b_loops) return false;  // x+x+ asks for two
    if (!a_may_be_empty && !b_may_be_empty) return false;                        // so does xx+
    parts.back() = a_may_be_empty && b_may_be_empty ? star(base(last)) : plus(base(last));
    return true;
  };
  std::vector<Id> flat;
  for (const Id part : given) {
    if (part == kNothing) return kNothing;
    const std::vector<Id> pieces = factors(part);
    flat.insert(flat.end(), pieces.begin(), pieces.end());
  }
  for (const Id part : flat) {
    if (absorb(part)) continue;
    parts.push_back(part);
    // uv(uv)* = (uv)+, for sequences; (uv)*uv likewise.
    if (kind(part) == Kind::kStar && kind(nodes_[part].parts[0]) == Kind::kConcatenation) {
      const std::vector<Id> body = nodes_[nodes_[part].parts[0]].parts;
      if (parts.size() > body.size() &&
          std::equal(body.begin(), body.end(), parts.end() - 1 - static_cast<std::ptrdiff_t>(body.size()))) {
        parts.resize(parts.size() - 1 - body.size());
        parts.push_back(plus(nodes_[part].parts[0]));
      }
    }
    for (std::size_t at = 0; at + 1 < parts.size(); ++at) {
      if (kind(parts[at]) != Kind::kStar || kind(nodes_[parts[at]].parts[0]) != Kind::kConcatenation) continue;
      const std::vector<Id> body = nodes_[nodes_[parts[at]].parts[0]].parts;
      if (parts.size() - at - 1 != body.size() ||
          !std::equal(body.begin(), body.end(), parts.begin() + static_cast<std::ptrdiff_t>(at) + 1))
        continue;
      parts[at] = plus(nodes_[parts[at]].parts[0]);
      parts.resize(at + 1);
    }
  }
  if (parts.size() <= 1) return parts.empty() ? kEmptyWord : parts[0];
  return number(Kind::kConcatenation, std::move(parts));
}

Id RegexTerms::union_of(std::span<const Id> given) {
  std::vector<Id> parts;
  std::vector<Letter> read;
  bool empty_word = false;
  const auto add = [&](auto& self, Id id) -> void {
    if (id == kNothing) return;
    if (id == kEmptyWord) {
      empty_word = true;
    } else if (kind(id) == Kind::kUnion) {
      const std::vector<Id> inner = nodes_[id].parts;
      for (const Id part : inner) self(self, part);
    } else if (kind(id) == Kind::kOptional) {
      empty_word = true;
      self(self, nodes_[id].parts[0]);
    } else if (kind(id) == Kind::kLetters) {
      read.insert(read.end(), nodes_[id].parts.begin(), nodes_[id].parts.end());
    } else {
      parts.push_back(id);
    }
  };
  for (const Id id : given) add(add, id);
  if (!read.empty()) parts.push_back(letters(std::move(read)));
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  // x|x* = x*, x|x+ = x+, x+|x* = x*, and the empty word with x+ is x*.
  if (empty_word)
    for (Id& part : parts)
      if (kind(part) == Kind::kPlus &&
          std::none_of(parts.begin(), parts.end(), [&](Id id) { return accepts_empty(id); }))
        part = star(nodes_[part].parts[0]);
  const std::vector<Id> all = parts;
  std::erase_if(parts, [&](Id part) {
    return std::any_of(all.begin(), all.end(), [&](Id other) {
      if (other == part) return false;
      if (kind(other) == Kind::kStar)
        return nodes_[other].parts[0] == part ||
               (kind(part) == Kind::kPlus && nodes_[part].parts[0] == nodes_[other].parts[0]);
      return kind(other) == Kind::kPlus && nodes_[other].parts[0] == part;
    });
  });
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  Id result = kNothing;
  if (parts.size() == 1)
    result = parts[0];
  else if (parts.size() > 1)
    result = join(std::move(parts), /*at_front=*/true);
  if (!empty_word) return result;
  return result == kNothing ? Id{kEmptyWord} : optional(result);
}

/// Takes out what alternatives share at the front, then at the end: ab|ac = a(b|c).
Id RegexTerms::join(std::vector<Id> alternatives, bool at_front) {
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    const std::vector<Id> own = factors(alternatives[i]);
    const Id shared = at_front ? own.front() : own.back();
    std::vector<Id> rests;
    std::vector<std::size_t> sharing;
    for (std::size_t j = i; j < alternatives.size(); ++j) {
      std::vector<Id> other = factors(alternatives[j]);
      if ((at_front ? other.front() : other.back()) != shared) continue;
      sharing.push_back(j);
      other.erase(at_front ? other.begin() : other.end() - 1);
      rests.push_back(concatenation(other));
    }
    if (sharing.size() < 2) continue;
    const Id rest = union_of(rests);
    for (std::size_t j = sharing.size(); j-- > 0;)
      alternatives.erase(alternatives.begin() + static_cast<std::ptrdiff_t>(sharing[j]));
    alternatives.push_back(at_front ? concatenation(shared, rest) : concatenation(rest, shared));
    return union_of(alternatives);
  }
  if (at_front) return join(std::move(alternatives), false);
  return number(Kind::kUnion, std::move(alternatives));
}

/// The parts of the term without what a star around them makes superfluous.
void RegexTerms::strip_into(Id id, std::vector<Id>& parts) {
  const Kind k = kind(id);
  if (id == kEmptyWord) return;
  const std::vector<std::uint32_t> inner = nodes_[id].parts;
  if (k >= Kind::kStar) return strip_into(inner[0], parts);
  const bool all_may_be_empty = k == Kind::kConcatenation && accepts_empty(id);
  if (k == Kind::kUnion || all_may_be_empty) {
    for (const Id part : inner) strip_into(part, parts);
    return;
  }
  parts.push_back(id);
}

Id RegexTerms::star(Id part) {
  if (part == kNothing || part == kEmptyWord) return kEmptyWord;
  std::vector<Id> parts;
  strip_into(part, parts);
  const Id body = union_of(parts);
  if (kind(body) >= Kind::kStar && body != part) return star(body);
  if (kind(body) == Kind::kStar) return body;
  return number(Kind::kStar, {body});
}

Id RegexTerms::plus(Id part) {
  if (part == kNothing) return kNothing;
  if (accepts_empty(part)) return star(part);
  if (kind(part) == Kind::kPlus) return part;
  return number(Kind::kPlus, {part});
}

Id RegexTerms::optional(Id part) {
  if (part == kNothing) return kEmptyWord;
  if (accepts_empty(part)) return part;
  if (kind(part) == Kind::kPlus) return star(nodes_[part].parts[0]);
  return number(Kind::kOptional, {part});
}

Id RegexTerms::number(Kind kind, std::vector<std::uint32_t> parts) {
  const auto [place, fresh] = known_.try_emplace({kind, parts}, static_cast<Id>(nodes_.size()));
  if (!fresh) return place->second;
  Node node{kind, std::move(parts), false, 0};
  const auto within = [&](Id id, int strength) {
    const Kind k = nodes_[id].kind;
    bool is_union = k == Kind::kUnion;
    if (k == Kind::kLetters) letters_text(nodes_[id].parts, is_union);
    const int own = is_union ? kAlternatives : k == Kind::kConcatenation ? kSequence : kRepeated;
    // A repeated thing that is itself repeated needs brackets too.
    const bool bare = own > strength || (own == strength && (strength != kRepeated || k < Kind::kStar));
    return nodes_[id].length + (bare ? 0 : 2);
  };
  switch (kind) {
    case Kind::kNothing:
    case Kind::kEmptyWord:
      node.accepts_empty = kind == Kind::kEmptyWord;
      node.length = 2;
      break;
    case Kind::kLetters: {
      bool is_union = false;
      node.length = letters_text(node.parts, is_union).size();
      break;
    }
    case Kind::kConcatenation:
      node.accepts_empty = true;
      for (const Id part : node.parts) {
        node.accepts_empty = node.accepts_empty && nodes_[part].accepts_empty;
        node.length += within(part, kSequence);
      }
      break;
    case Kind::kUnion:
      node.length = node.parts.size() - 1;
      for (const Id part : node.parts) {
        node.accepts_empty = node.accepts_empty || nodes_[part].accepts_empty;
        node.length += within(part, kAlternatives);
      }
      break;
    default:
      node.accepts_empty = kind != Kind::kPlus || nodes_[node.parts[0]].accepts_empty;
      node.length = 1 + within(node.parts[0], kRepeated);
  }
  node.length = std::min(node.length, kLongest);
  nodes_.push_back(std::move(node));
  return place->second;
}

std::string RegexTerms::letters_text(std::span<const Letter> letters, bool& is_union) const {
  std::vector<CodePointRange> ranges;
  std::vector<std::string> alternatives;
  for (const Letter letter : letters) {
    const Symbol& symbol = alphabet_[letter];
    ranges.insert(ranges.end(), symbol.characters.begin(), symbol.characters.end());
    if (symbol.characters.empty()) alternatives.push_back(in_escaped_quotes(symbol.name));
  }
  if (!ranges.empty()) alternatives.insert(alternatives.begin(), regex_class(normalised(std::move(ranges))));
  is_union = alternatives.size() > 1;
  return fmt::format("{}", fmt::join(alternatives, "|"));
}

std::string RegexTerms::text_within(Id id, int strength) const {
  const Node& node = nodes_[id];
  std::string text;
  int own = kRepeated;
  bool repeats = false;
  switch (node.kind) {
    case Kind::kNothing:
      return "[]";
    case Kind::kEmptyWord:
      return "()";
    case Kind::kLetters: {
      bool is_union = false;
      text = letters_text(node.parts, is_union);
      if (is_union) own = kAlternatives;
      break;
    }
    case Kind::kConcatenation:
      own = kSequence;
      for (const Run run : runs_of(node.parts)) {
        std::string once = text_within(run.part, kSequence), all;
        for (std::size_t i = 0; i < run.times; ++i) all += once;
        const bool is_optional = kind(run.part) == Kind::kOptional;
        const std::string body = text_within(is_optional ? nodes_[run.part].parts[0] : run.part, kRepeated);
        const std::string counted = fmt::format("{}{{{}{}}}", body, is_optional ? "0," : "", run.times);
        text += run.times > 1 && counted.size() < all.size() ? counted : all;
      }
      break;
    case Kind::kUnion:
      own = kAlternatives;
      for (const Id part : node.parts) text += (text.empty() ? "" : "|") + text_within(part, kAlternatives);
      break;
    default:
      repeats = true;
      text = text_within(node.parts[0], kRepeated) + (node.kind == Kind::kStar   ? "*"
                                                      : node.kind == Kind::kPlus ? "+"
                                                                                 : "?");
  }
  const bool bare = own > strength || (own == strength && !(strength == kRepeated && repeats));
  return bare ? text : "(" + text + ")";
}

Id RegexTerms::reversed(Id id) {
  const Kind k = kind(id);
  if (k <= Kind::kLetters) return id;
  std::vector<Id> inner = nodes_[id].parts;
  for (Id& part : inner) part = reversed(part);
  switch (k) {
    case Kind::kConcatenation:
      std::reverse(inner.begin(), inner.end());
      return concatenation(inner);
    case Kind::kUnion:
      return union_of(inner);
    case Kind::kStar:
      return star(inner[0]);
    case Kind::kPlus:
      return plus(inner[0]);
    default:
      return optional(inner[0]);
  }
}

std::string RegexTerms::text(Id id) const { return text_within(id, kAlternatives); }

Nfa RegexTerms::automaton(Id root) const {
  struct Part {
    Id id;
    State from, to;
  };
  Nfa nfa(alphabet_);
  const State start = nfa.add_state(), end = nfa.add_state(true);
  nfa.add_initial(start);
  std::vector<Part> work{{root, start, end}};
  while (!work.empty()) {
    const Part part = work.back();
    work.pop_back();
    const Node& node = nodes_[part.id];
    switch (node.kind) {
      case Kind::kNothing:
        break;
      case Kind::kEmptyWord:
        nfa.add_epsilon(part.from, part.to);
        break;
      case Kind::kLetters:
        for (const Letter letter : node.parts) nfa.add_arc(part.from, letter, part.to);
        break;
      case Kind::kConcatenation: {
        State here = part.from;
        for (std::size_t i = 0; i < node.parts.size(); ++i) {
          const State next = i + 1 == node.parts.size() ? part.to : nfa.add_state();
          work.push_back({node.parts[i], here, next});
          here = next;
        }
        break;
      }
      case Kind::kUnion:
        for (const Id alternative : node.parts) work.push_back({alternative, part.from, part.to});
        break;
      case Kind::kOptional:
        nfa.add_epsilon(part.from, part.to);
        work.push_back({node.parts[0], part.from, part.to});
        break;
      case Kind::kStar:
      case Kind::kPlus: {
        const State begin = nfa.add_state(), done = nfa.add_state();
        nfa.add_epsilon(part.from, begin);
        nfa.add_epsilon(done, begin);
        nfa.add_epsilon(done, part.to);
        if (node.kind == Kind::kStar) nfa.add_epsilon(part.from, part.to);
        work.push_back({node.parts[0], begin, done});
        break;
      }
    }
  }
  return nfa;
}

namespace {

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

  /// The replacements for a part: the part with one of its own parts left out, and anything smaller at hand.
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
    constexpr std::size_t kMaxParts = 10;
    std::vector<Id> own;
    std::set<Id> seen;
    collect(part, own, seen);
    std::ranges::sort(own, {}, [&](Id id) { return std::pair(terms_.length(id), id); });
    own.resize(std::min(own.size(), kMaxParts));
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
    return minimal_of(reverse(to_nfa(minimal)), 4 * std::uint64_t{minimal.states()} + 16);
  } catch (const LimitError&) {
    return std::nullopt;
  }
}

/// The one with fewer repetitions of two equally long texts is easier to read.
std::size_t repetitions(const RegexTerms& terms, Id id) {
  const Kind kind = terms.kind(id);
  std::size_t count = kind >= Kind::kStar ? 1 : 0;
  if (kind > Kind::kLetters)
    for (const Id part : terms.parts(id)) count += repetitions(terms, part);
  return count;
}

/// Nothing that is not proved leaves this file.
void prove(const std::string& expression, const Dfa& dfa) {
  constexpr std::uint64_t kMaxPairs = 100'000;
  const auto refuse = [&] {
    throw Error(fmt::format("internal error: the expression {} is not that of its automaton", expression));
  };
  if (distinguishing_word(dfa, parse_regex(expression))) refuse();
  try {
    if (word_against_regex(dfa, expression, kMaxPairs)) refuse();
  } catch (const LimitError&) {  // derivatives of long expressions are many; the first proof stands
  } catch (const InputError&) {  // or nest too deep
  }
}

}  // namespace

std::string regex_of(const Dfa& dfa, const RegexOfOptions& options) {
  constexpr State kMaxStates = 300;
  require_acceptor(dfa, "a regular expression");
  const Dfa minimal = minimise(dfa);
  const auto too_long = [&](const std::string& what) {
    return LimitError(
        fmt::format("{}; raise --longest ({}) for a longer one", what, counted(options.max_length, "byte")));
  };
  if (minimal.states() > kMaxStates)
    throw LimitError(fmt::format("the minimal automaton has {}; expressions are written of at most {}",
                                 counted(minimal.states(), "state"), kMaxStates));
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
