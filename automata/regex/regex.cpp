// Bottom-up: what is free of & and ~ becomes one nondeterministic automaton and is determinised once; the operands of &
// and ~ are brought to their minimal automata, combined, and put into what surrounds them as finished parts.
#include "krohn/automata/regex/regex.h"

#include <fmt/format.h>

#include <unordered_map>

#include "krohn/automata/dfa/nfa.h"
#include "krohn/automata/operations/determinise.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/regex/regex_syntax.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

/// The automata of the & and ~ in a tree, by their nodes.
using FinishedParts = std::unordered_map<RegexNodeId, Dfa>;

/// Thompson's construction between two given states, on a work list instead of recursion.
class NfaBuilder {
 public:
  NfaBuilder(const RegexTree& tree, const RegexLetters& letters, const FinishedParts& parts, std::uint64_t max_states)
      : tree_(tree), letters_(letters), parts_(parts), max_states_(max_states), nfa_(letters.alphabet) {}

  Nfa build(RegexNodeId root) {
    const State from = add_state(), to = add_state();
    nfa_.add_initial(from);
    nfa_.set_accepting(to);
    work_.push_back({root, from, to});
    while (!work_.empty()) {
      const Part part = work_.back();
      work_.pop_back();
      if (const auto finished = parts_.find(part.node); finished != parts_.end())
        embed(finished->second, part);
      else
        connect(tree_.nodes[part.node], part);
    }
    return boundaries_.empty() ? std::move(nfa_) : with_boundaries();
  }

 private:
  /// To be built: the language of `node` from one state to the other. Nothing else leaves `to` on its own account or
  /// enters `from`, so alternatives may share both.
  struct Part {
    RegexNodeId node;
    State from, to;
  };

  /// \b or \B between two states: a move that reads nothing, where the letters on both sides allow it.
  struct Boundary {
    State from, to;
    bool negated;
  };

  /// The same automaton, each state with what was read last (a character of words or not) and what a boundary that was
  /// passed since then promises of the next letter: nothing, a character of words, or anything else and the end.
  Nfa with_boundaries() const {
    enum Promise : State { kNone, kWord, kOther };
    const auto number = [](State state, bool behind_word, State promise) {
      return 6 * state + (behind_word ? 3 : 0) + promise;
    };
    std::vector<std::vector<Boundary>> leaving(nfa_.states());
    for (const Boundary& boundary : boundaries_) leaving[boundary.from].push_back(boundary);
    Nfa result(letters_.alphabet);
    for (State state = 0; state < nfa_.states(); ++state)
      for (const State promise : {kNone, kWord, kOther, kNone, kWord, kOther})
        result.add_state(nfa_.accepts(state) && promise != kWord);
    for (State state = 0; state < nfa_.states(); ++state)
      for (const bool behind_word : {false, true})
        for (const State promise : {kNone, kWord, kOther}) {
          const State here = number(state, behind_word, promise);
          for (const Nfa::Arc& arc : nfa_.arcs(state)) {
            if (arc.letter == kEpsilon) {
              result.add_epsilon(here, number(arc.target, behind_word, promise));
              continue;
            }
            const bool reads_word = is_word_letter(arc.letter);
            if (promise == kNone || (promise == kWord) == reads_word)
              result.add_arc(here, arc.letter, number(arc.target, reads_word, kNone));
          }
          for (const Boundary& boundary : leaving[state]) {
            const State asked = behind_word == boundary.negated ? kWord : kOther;
            if (promise == kNone || promise == asked) result.add_epsilon(here, number(boundary.to, behind_word, asked));
          }
        }
    for (const State state : nfa_.initial()) result.add_initial(number(state, false, kNone));
    return result;
  }

  bool is_word_letter(Letter letter) const {
    const CharacterSet& characters = letters_.alphabet[letter].characters;
    return !characters.empty() && contains(word_characters(), characters.front().first);
  }

  void connect(const RegexNode& node, const Part& part) {
    switch (node.kind) {
      case RegexKind::kEmptyWord:
        return nfa_.add_epsilon(part.from, part.to);
      case RegexKind::kCharacters:
        return add_letters(letters_.of_set[node.left], part);
      case RegexKind::kToken:
        return add_arc(part.from, letters_.of_token[node.left], part.to);
      case RegexKind::kAny:
        for (Letter letter = 0; letter < letters_.alphabet.size(); ++letter) add_arc(part.from, letter, part.to);
        return;
      case RegexKind::kBoundary:
        boundaries_.push_back({part.from, part.to, node.left == 1});
        return;
      case RegexKind::kConcatenation: {
        const State middle = add_state();
        work_.push_back({node.right, middle, part.to});
        work_.push_back({node.left, part.from, middle});
        return;
      }
      case RegexKind::kUnion:
        work_.push_back({node.right, part.from, part.to});
        work_.push_back({node.left, part.from, part.to});
        return;
      case RegexKind::kRepeat:
        return repeat(node, part);
      case RegexKind::kIntersection:
      case RegexKind::kComplement:
        break;  // finished parts
    }
    throw Error("internal error: an intersection or complement was not finished before its surroundings");
  }

  /// `least` copies in a row, then optional ones that may all be skipped, or a loop.
  void repeat(const RegexNode& node, const Part& part) {
    State here = add_state();
    nfa_.add_epsilon(part.from, here);
    const auto advance = [&] {
      const State next = add_state();
      work_.push_back({node.left, here, next});
      here = next;
    };
    const bool unbounded = node.most == kUnbounded;
    for (std::uint32_t i = unbounded ? 1 : 0; i < node.least; ++i) advance();
    if (unbounded) return loop(node, part, here);
    for (std::uint32_t i = node.least; i < node.most; ++i) {
      nfa_.add_epsilon(here, part.to);
      advance();
    }
    nfa_.add_epsilon(here, part.to);
  }

  /// From `here`, one or more times; none at all is as good when no copy is asked for.
  void loop(const RegexNode& node, const Part& part, State here) {
    const State begin = add_state();
    nfa_.add_epsilon(here, begin);
    if (node.least == 0) {
      work_.push_back({node.left, begin, begin});
      return nfa_.add_epsilon(begin, part.to);
    }
    const State end = add_state();
    work_.push_back({node.left, begin, end});
    nfa_.add_epsilon(end, begin);
    nfa_.add_epsilon(end, part.to);
  }

  void embed(const Dfa& dfa, const Part& part) {
    std::vector<State> copy(dfa.states());
    for (State& state : copy) state = add_state();
    nfa_.add_epsilon(part.from, copy[dfa.initial()]);
    for (State state = 0; state < dfa.states(); ++state) {
      if (dfa.accepts(state)) nfa_.add_epsilon(copy[state], part.to);
      for (Letter letter = 0; letter < dfa.letters(); ++letter)
        add_arc(copy[state], letter, copy[dfa.next(state, letter)]);
    }
  }

  void add_letters(const std::vector<Letter>& letters, const Part& part) {
    for (const Letter letter : letters) add_arc(part.from, letter, part.to);
  }

  State add_state() {
    if (nfa_.states() >= max_states_)
      throw LimitError(
          fmt::format("the expression needs more than {} states before it is determinised; repeat less, "
                      "or raise the limit with --max-states",
                      max_states_));
    return nfa_.add_state();
  }

  void add_arc(State source, Letter letter, State target) {
    constexpr std::size_t kMaxArcs = 30'000'000;
    if (nfa_.size() >= kMaxArcs)
      throw LimitError(
          fmt::format("the expression needs more than {} arcs before it is determinised; repeat less, or "
                      "name fewer characters",
                      kMaxArcs));
    nfa_.add_arc(source, letter, target);
  }

  const RegexTree& tree_;
  const RegexLetters& letters_;
  const FinishedParts& parts_;
  std::uint64_t max_states_;
  Nfa nfa_;
  std::vector<Part> work_;
  std::vector<Boundary> boundaries_;
};

class Compiler {
 public:
  Compiler(const RegexTree& tree, const RegexLetters& letters, std::uint64_t max_states)
      : tree_(tree), letters_(letters), max_states_(max_states) {}

  Dfa compile() {
    finish_parts();
    return automaton_of(tree_.root);
  }

  Automaton compile_as_it_is() {
    finish_parts();
    if (const auto finished = parts_.find(tree_.root); finished != parts_.end()) return finished->second;
    return settled(NfaBuilder(tree_, letters_, parts_, max_states_).build(tree_.root));
  }

 private:
  void finish_parts() {
    const std::vector<bool> needed = needed_nodes();
    for (RegexNodeId node = 0; node < tree_.nodes.size(); ++node)
      if (needed[node]) finish(node);
  }

  /// Simplifications leave nodes behind that nothing refers to.
  std::vector<bool> needed_nodes() const {
    std::vector<bool> needed(tree_.nodes.size(), false);
    needed[tree_.root] = true;
    for (RegexNodeId id = tree_.root + 1; id-- > 0;) {
      const RegexNode& node = tree_.nodes[id];
      if (!needed[id] || node.kind < RegexKind::kConcatenation) continue;
      needed[node.left] = true;
      if (node.kind < RegexKind::kComplement) needed[node.right] = true;
    }
    return needed;
  }

  void finish(RegexNodeId id) {
    const RegexNode& node = tree_.nodes[id];
    if (node.kind == RegexKind::kIntersection)
      parts_.emplace(id, intersection_of(automaton_of(node.left), automaton_of(node.right), max_states_));
    else if (node.kind == RegexKind::kComplement)
      parts_.emplace(id, complement(automaton_of(node.left)));
  }

  /// The minimal automaton of a node whose & and ~ are finished.
  Dfa automaton_of(RegexNodeId node) const {
    if (const auto finished = parts_.find(node); finished != parts_.end()) return finished->second;
    const Nfa nfa = NfaBuilder(tree_, letters_, parts_, max_states_).build(node);
    return minimise(determinise(nfa, {.max_states = max_states_}));
  }

  const RegexTree& tree_;
  const RegexLetters& letters_;
  std::uint64_t max_states_;
  FinishedParts parts_;
};

}  // namespace

Dfa parse_regex(std::string_view expression, const RegexOptions& options) {
  const RegexTree tree = parse_regex_syntax(expression, options.alphabet, options.max_expression_size, options.search);
  const RegexLetters letters = letters_of(tree, options.alphabet);
  return Compiler(tree, letters, options.max_states).compile();
}

Automaton parse_regex_as_it_is(std::string_view expression, const RegexOptions& options) {
  const RegexTree tree = parse_regex_syntax(expression, options.alphabet, options.max_expression_size, options.search);
  const RegexLetters letters = letters_of(tree, options.alphabet);
  return Compiler(tree, letters, options.max_states).compile_as_it_is();
}

}  // namespace krohn
