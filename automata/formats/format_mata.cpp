#include "krohn/automata/formats/format_mata.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "krohn/automata/formats/format_mata_formula.h"
#include "krohn/groups/error.h"

namespace krohn {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Cuts the text into lines of tokens. Lines that end in a backslash continue; # begins a comment.
class MataLexer {
 public:
  MataLexer(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  /// The next line with a token in it; false at the end.
  bool next(std::vector<MataToken>& line) {
    line.clear();
    int depth = 0;
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        ++at_;
        if (!line.empty()) return true;
      } else if (is_blank(text_[at_])) {
        ++at_;
      } else if (const std::size_t continued = continuation(); continued != 0) {
        at_ += continued;
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        line.push_back(token());
        depth += (line.back().kind == MataToken::kOpen) - (line.back().kind == MataToken::kClose);
        if (depth > kDeepest) fail(line.back().offset, fmt::format("brackets nested deeper than {} levels", kDeepest));
      }
    }
    return !line.empty();
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
    throw InputError(position_in(text_, offset, where_), message);
  }

 private:
  /// The length of a backslash and line end here, or 0.
  std::size_t continuation() const {
    const std::string_view rest = text_.substr(at_, 3);
    if (rest.starts_with("\\\n")) return 2;
    return rest.starts_with("\\\r\n") ? 3 : 0;
  }

  MataToken token() {
    static constexpr std::string_view kOperators = "&|!()";
    static constexpr MataToken::Kind kKinds[] = {MataToken::kAnd, MataToken::kOr, MataToken::kNot, MataToken::kOpen,
                                                 MataToken::kClose};
    if (text_[at_] == '"') return string();
    const std::size_t start = at_;
    if (const std::size_t kind = kOperators.find(text_[at_]); kind != std::string_view::npos) {
      ++at_;
      return {kKinds[kind], false, std::string(1, text_[start]), start};
    }
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n' && text_[at_] != '"' &&
           kOperators.find(text_[at_]) == std::string_view::npos && continuation() == 0)
      ++at_;
    return {MataToken::kName, false, std::string(text_.substr(start, at_ - start)), start};
  }

  MataToken string() {
    const std::size_t start = at_++;
    std::string name;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_++];
    }
    if (at_ == text_.size()) fail(start, "this string is not closed");
    ++at_;
    if (name.empty()) fail(start, "an empty name");
    return {MataToken::kName, true, std::move(name), start};
  }

  static constexpr int kDeepest = 10'000;

  std::string_view text_, where_;
  std::size_t at_ = 0;
};

bool is_key(const MataToken& token, char mark) {
  return token.kind == MataToken::kName && !token.is_quoted && token.name.front() == mark;
}

class MataReader {
 public:
  MataReader(std::string_view text, std::string_view where, const LanguageOptions& options)
      : where_(where), lexer_(text, where), epsilons_(options, where) {}

  Draft run() {
    std::vector<MataToken> line;
    if (!lexer_.next(line)) throw InputError(where_, "nothing but comments; an automaton is expected");
    read_section(line);
    while (lexer_.next(line)) {
      if (is_key(line.front(), '@')) fail(line.front(), "a second section; one automaton per file");
      is_key(line.front(), '%') ? read_key(line) : read_transition(line);
    }
    return finish();
  }

 private:
  struct Transition {
    State source, target;
    MataFormula label;
  };

  [[noreturn]] void fail(const MataToken& token, const std::string& message) const {
    lexer_.fail(token.offset, message);
  }

  void read_section(std::span<const MataToken> line) {
    const std::string& section = line.front().name;
    bits_ = section == "@NFA-bits";
    if (line.size() == 1 && (bits_ || section == "@NFA-explicit")) return;
    if (section.starts_with("@AFA")) fail(line.front(), "an alternating automaton; only @NFA-… can be read");
    fail(line.front(), fmt::format("{} is not a section that can be read; the file must begin with @NFA-explicit or "
                                   "@NFA-bits",
                                   in_quotes(section)));
  }

  // --- Keys

  void read_key(std::span<const MataToken> line) {
    const std::string& key = line.front().name;
    const std::span<const MataToken> values = line.subspan(1);
    if (key == "%Initial") {
      read_states(values, initial_);
    } else if (key == "%Final") {
      read_states(values, final_);
    } else if (key == "%States-enum") {
      declare(values, states_);
      states_declared_ = true;
    } else if (key == "%Alphabet-enum") {
      declare(values, symbols_);
      symbols_declared_ = true;
      alphabet_line_.assign(values.begin(), values.end());
    } else if (key == "%Epsilon") {
      if (!draft_.arcs.empty() || !transitions_.empty())
        fail(line.front(), "%Epsilon comes before the transitions, which it is about");
      std::vector<std::string> names;
      for (const MataToken& value : values) names.push_back(require_name(value));
      epsilons_.declare(names);
    } else if (!is_ignored(key)) {
      fail(line.front(), fmt::format("the key {} is not known", in_quotes(key)));
    }
  }

  /// Typing schemes that positions make superfluous in an NFA.
  static bool is_ignored(std::string_view key) {
    for (const std::string_view thing : {"%Alphabet-", "%States-", "%Nodes-"})
      for (const std::string_view scheme : {"auto", "marked", "markers", "utf", "ascii", "numbers"})
        if (key.starts_with(thing) && key.substr(thing.size()) == scheme) return true;
    return false;
  }

  void read_states(std::span<const MataToken> values, std::vector<MataFormula>& formulas) {
    if (values.empty()) return;
    formulas.push_back(parse_mata_formula(
        values, true, [this](const MataToken& token) { return state(token); },
        [this](std::size_t offset, const std::string& message) { lexer_.fail(offset, message); }));
  }

  void declare(std::span<const MataToken> values, NameTable& names) {
    for (const MataToken& value : values) {
      if (names.find(require_name(value))) fail(value, in_quotes(value.name) + " is declared twice, or used before");
      names.intern(value.name);
    }
  }

  // --- Names

  const std::string& require_name(const MataToken& token) const {
    if (token.kind != MataToken::kName) fail(token, fmt::format("a name is expected, not {}", in_quotes(token.name)));
    return token.name;
  }

  std::uint32_t known(const MataToken& token, NameTable& names, bool declared, const char* what) const {
    if (!declared) return names.intern(require_name(token));
    const auto found = names.find(require_name(token));
    if (!found) fail(token, fmt::format("the {} {} is not declared", what, in_quotes(token.name)));
    return *found;
  }
  State state(const MataToken& token) { return known(token, states_, states_declared_, "state"); }
  bool is_epsilon(const MataToken& token) {
    return epsilons_.contains(token.name, [&](const std::string& message) { fail(token, message); });
  }
  std::uint32_t symbol(const MataToken& token) {
    if (is_epsilon(token)) fail(token, "the empty word is no part of a formula; give it a transition of its own");
    return known(token, symbols_, symbols_declared_, bits_ ? "bit" : "symbol");
  }

  // --- Transitions

  void read_transition(std::span<const MataToken> line) {
    if (line.size() < 3) fail(line.back(), "a transition is: state formula state");
    const State source = state(line.front()), target = state(line.back());
    const std::span<const MataToken> label = line.subspan(1, line.size() - 2);
    if (label.size() == 1 && label.front().kind == MataToken::kName && is_epsilon(label.front())) {
      draft_.arcs.push_back({source, kEpsilon, target});
      return;
    }
    transitions_.push_back(
        {source, target,
         parse_mata_formula(
             label, false, [this](const MataToken& token) { return symbol(token); },
             [this](std::size_t offset, const std::string& message) { lexer_.fail(offset, message); })});
  }

  // --- From formulas to arcs, when every name is known

  /// Whoever declares a name of the empty word as a symbol means one or the other.
  void refuse_declared_epsilon() {
    for (const MataToken& token : alphabet_line_)
      if (is_epsilon(token))
        fail(token,
             fmt::format("{} is declared as a symbol, and is a name of the empty word: add a line %Epsilon before "
                         "the transitions, with its names or none",
                         in_quotes(token.name)));
  }

  Draft finish() {
    refuse_declared_epsilon();
    epsilons_.check_letters(symbols_.names());
    draft_.outputs.resize(states_.size());
    draft_.state_names = states_.names();
    for_each_state(final_, [this](State state) { draft_.outputs[state] = 1; });
    std::vector<bool> is_initial(states_.size());
    for_each_state(initial_, [&](State state) { is_initial[state] = true; });
    for (State state = 0; state < states_.size(); ++state)
      if (is_initial[state]) draft_.initial.push_back(state);
    if (draft_.initial.empty()) throw InputError(where_, "no initial state; add a line  %Initial STATE");
    bits_ ? finish_bits() : finish_explicit();
    return std::move(draft_);
  }

  template <class Visit>
  void for_each_state(const std::vector<MataFormula>& formulas, Visit visit) const {
    std::size_t visits = 0;  // many lines of "all but one" would be quadratic
    for (const MataFormula& formula : formulas)
      for_each_number(formula, states_.size(), [&](State state) {
        if (++visits > kMaxArcs)
          throw LimitError(
              fmt::format("{}: the formulas of %Initial or %Final stand for more than {} states, counted "
                          "for each line; write them in one",
                          where_, kMaxArcs));
        visit(state);
      });
  }

  template <class Visit>
  static void for_each_number(const MataFormula& formula, std::uint32_t count, Visit visit) {
    if (formula.steps.size() == 1 && formula.steps.front().kind == MataFormula::kName)
      return visit(formula.steps.front().name);
    const MataSet set = numbers_satisfying(formula);
    if (!set.is_complement) {
      std::vector<std::uint32_t> members(set.members.begin(), set.members.end());
      std::sort(members.begin(), members.end());
      for (const std::uint32_t number : members) visit(number);
      return;
    }
    for (std::uint32_t number = 0; number < count; ++number)
      if (set.contains(number)) visit(number);
  }

  void finish_explicit() {
    draft_.alphabet = alphabet_of_names(symbols_.names(), where_);
    for (const Transition& transition : transitions_)
      for_each_number(transition.label, symbols_.size(), [&](Letter letter) {
        add_arc({transition.source, letter, transition.target});
      });
  }

  void finish_bits() {
    const std::vector<std::uint32_t> position = bit_positions();
    std::vector<MataFormula> labels;
    for (Transition& transition : transitions_) {
      for (MataFormula::Step& step : transition.label.steps)
        if (step.kind == MataFormula::kName) step.name = position[step.name];
      labels.push_back(std::move(transition.label));
    }
    const MataClasses classes = distinguish(labels, symbols_.size(), where_);
    draft_.alphabet = alphabet_of_names(classes.names, where_);
    for (std::size_t i = 0; i < transitions_.size(); ++i)
      for (const Letter letter : classes.classes_of[i])
        add_arc({transitions_[i].source, letter, transitions_[i].target});
  }

  void add_arc(const Draft::Arc& arc) {
    if (draft_.arcs.size() >= kMaxArcs)
      throw LimitError(
          fmt::format("{}: the formulas stand for more than {} arcs; the limit protects the memory", where_, kMaxArcs));
    draft_.arcs.push_back(arc);
  }

  /// Most significant bit first: a15 before a2 before a0, so that a valuation reads as a binary number.
  std::vector<std::uint32_t> bit_positions() const {
    std::vector<std::uint32_t> order(symbols_.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [this](std::uint32_t bit) {
      return std::pair(symbols_.names()[bit].size(), symbols_.names()[bit]);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
    std::vector<std::uint32_t> position(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    return position;
  }

  static constexpr std::size_t kMaxArcs = 50'000'000;

  std::string_view where_;
  MataLexer lexer_;
  bool bits_ = false, states_declared_ = false, symbols_declared_ = false;
  NameTable states_, symbols_;
  EpsilonNames epsilons_;
  std::vector<MataToken> alphabet_line_;
  std::vector<MataFormula> initial_, final_;
  std::vector<Transition> transitions_;
  Draft draft_;
};

}  // namespace

Draft read_mata(std::string_view text, std::string_view where, const LanguageOptions& options) {
  return MataReader(checked_text(text, where), where, options).run();
}

}  // namespace krohn
