#include "krohn/automata/classes/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/monoid/properties.h"
#include "krohn/automata/monoid/witness_check.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/primes.h"
#include "krohn/groups/base/time_limit.h"

namespace krohn {

std::optional<Word> telling_word(const Dfa& dfa, State p, State q) {
  const auto started_at = [&](State state) {
    return Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, state,
                         {dfa.outputs().begin(), dfa.outputs().end()});
  };
  return distinguishing_word(started_at(p), started_at(q));
}

// Languages that the beginning or the end of a word decides, and finite ones.

namespace {

/// A state that comes again though some word leaves it for good or for another.
std::string lasting_doubt(const Dfa& dfa, State state, Letter first, Letter away) {
  const State next = dfa.next(state, first);
  Word loop = word_between(dfa, next, state);
  loop.insert(loop.begin(), first);
  const Word to = word_between(dfa, dfa.initial(), state),
             tells = telling_word(dfa, state, dfa.next(state, away)).value();
  Word with{away};
  with.insert(with.end(), tells.begin(), tells.end());
  require_witness(dfa.run(loop, state) == state, "reverse definite");
  require_witness(dfa.accepts(dfa.run(tells, state)) != dfa.accepts(dfa.run(with, state)), "reverse definite");
  return fmt::format("for every n, after {} the ends {} and {} have different answers",
                     product_of_words(dfa.alphabet(), {{to}, {loop, true}}), quoted_letters(dfa.alphabet(), tells),
                     quoted_letters(dfa.alphabet(), with));
}

/// The least k such that the last k letters decide, or two words that any number of further letters keeps apart. `dfa`
/// is minimal. The longest path among the pairs of states. O(n² · letters). Throws LimitError past 4,000 states.
ClassOrder definite_order(const Dfa& dfa) {
  const PairPaths paths = pair_paths(dfa, std::vector<bool>(dfa.states(), true));
  if (!paths.cycle) return {paths.has_pairs ? paths.longest + 1 : 0, {}};
  const auto& [p, q, x] = *paths.cycle;
  const Word to_p = word_between(dfa, dfa.initial(), p), to_q = word_between(dfa, dfa.initial(), q),
             tells = telling_word(dfa, p, q).value();
  require_witness(dfa.run(x, p) == p && dfa.run(x, q) == q, "definite");
  require_witness(dfa.accepts(dfa.run(tells, p)) != dfa.accepts(dfa.run(tells, q)), "definite");
  return {std::nullopt, fmt::format("for every n, {} and {} have different answers",
                                    product_of_words(dfa.alphabet(), {{to_p}, {x, true}, {tells}}),
                                    product_of_words(dfa.alphabet(), {{to_q}, {x, true}, {tells}}))};
}

/// The least k such that the first k letters decide, or words that matter after any number of letters. `dfa` is
/// minimal. O(n · letters).
ClassOrder reverse_definite_order(const Dfa& dfa) {
  const Components components = strongly_connected_components(dfa);
  const auto moving_letter = [&](State state) -> std::optional<Letter> {
    for (Letter letter = 0; letter < dfa.letters(); ++letter)
      if (dfa.next(state, letter) != state) return letter;
    return std::nullopt;
  };
  for (State state = 0; state < dfa.states(); ++state) {
    const std::optional<Letter> away = moving_letter(state);
    for (Letter letter = 0; letter < dfa.letters() && away; ++letter)
      if (components.of[dfa.next(state, letter)] == components.of[state])
        return {std::nullopt, lasting_doubt(dfa, state, letter, *away)};
  }
  return {automaton_depth(dfa), {}};
}

Dfa restricted_to(const Dfa& dfa, const std::vector<Letter>& letters) {
  std::vector<Symbol> symbols;
  for (const Letter letter : letters) symbols.push_back(dfa.alphabet()[letter]);
  std::vector<State> table;
  for (State state = 0; state < dfa.states(); ++state)
    for (const Letter letter : letters) table.push_back(dfa.next(state, letter));
  std::vector<bool> accepting;
  for (State state = 0; state < dfa.states(); ++state) accepting.push_back(dfa.accepts(state));
  return Dfa::acceptor(Alphabet::from_symbols(std::move(symbols)), std::move(table), dfa.initial(), accepting);
}

}  // namespace

ReducedAutomaton reduce(const Dfa& dfa) {
  std::map<std::vector<State>, std::size_t> number;
  std::vector<Letter> kept;
  std::vector<std::vector<Letter>> alike;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::vector<State> column;
    for (State state = 0; state < dfa.states(); ++state) column.push_back(dfa.next(state, letter));
    const auto [found, fresh] = number.emplace(std::move(column), kept.size());
    if (fresh) {
      kept.push_back(letter);
      alike.emplace_back();
    }
    alike[found->second].push_back(letter);
  }
  return {restricted_to(dfa, kept), std::move(alike)};
}

ReducedAutomaton on_tier(const ReducedAutomaton& reduced) {
  std::vector<Letter> moving;
  std::vector<std::vector<Letter>> alike;
  for (Letter letter = 0; letter < reduced.dfa.letters(); ++letter) {
    if (reduced.dfa.letter_map(letter).is_identity()) continue;
    moving.push_back(letter);
    alike.push_back(reduced.alike[letter]);
  }
  return {restricted_to(reduced.dfa, moving), std::move(alike)};
}

namespace {

struct Name {
  const char* name;
  const char* meaning;
};

constexpr Name kClasses[] = {
    {"finite", "finitely many words"},
    {"cofinite", "all words but finitely many"},
    {"definite", "the last k letters decide"},
    {"reverse definite", "the first k letters decide"},
    {"SL", "strictly local: forbidden factors of at most k letters, ends included"},
    {"coSL", "the complement is strictly local: some of these factors is required"},
    {"TSL", "strictly local on a tier, the letters that count"},
    {"TcoSL", "the complement is strictly local on a tier"},
    {"LT", "locally testable: ends and the set of factors of k letters decide"},
    {"TLT", "locally testable on a tier"},
    {"LTT", "locally threshold testable: ends and the numbers of factors of k letters, up to t, decide"},
    {"TLTT", "locally threshold testable on a tier"},
    {"SP", "strictly piecewise: forbidden subsequences of at most k letters"},
    {"coSP", "the complement is strictly piecewise: some of these subsequences is required"},
    {"PT", "piecewise testable: the set of subsequences of at most k letters decides; J-trivial"},
    {"PLT", "piecewise locally testable: ends and the sequences of factors of k letters decide; dot-depth one"},
    {"TPLT", "piecewise locally testable on a tier"},
    {"SF", "star-free: aperiodic, first-order definable"},
    {"Z_p", "counts letters modulo a prime p: the syntactic monoid is the group Z_p"}};

struct Implication {
  const char* from;
  const char* to;
};

/// Each also says, the other way round, that no follows from no.
constexpr Implication kImplications[] = {
    {"definite", "LT"}, {"reverse definite", "LT"}, {"SL", "LT"},  {"coSL", "LT"}, {"SL", "TSL"},   {"coSL", "TcoSL"},
    {"TSL", "TLT"},     {"TcoSL", "TLT"},           {"LT", "TLT"}, {"LT", "LTT"},  {"TLT", "TLTT"}, {"LTT", "TLTT"},
    {"LTT", "PLT"},     {"TLTT", "TPLT"},           {"SP", "PT"},  {"coSP", "PT"}, {"PT", "PLT"},   {"PLT", "TPLT"},
    {"finite", "SL"},   {"cofinite", "coSL"},       {"TPLT", "SF"}};

class Classifier {
 public:
  Classifier(const Dfa& dfa, const Algebra& algebra, const ClassOptions& options)
      : dfa_(dfa), algebra_(algebra), options_(options), all_(reduce(dfa)), tier_(on_tier(all_)) {
    for (const Name& name : kClasses) {
      verdicts_.emplace_back();
      verdicts_.back().name = name.name;
      verdicts_.back().meaning = name.meaning;
    }
  }

  std::vector<ClassVerdict> verdicts() {
    on_the_automaton();
    from_the_algebra();
    draw();
    if (verdict("SF").answer != Answer::kNo) on_the_semigroup();
    draw();
    for (const char* name : {"LT", "TLT"}) find_order(name, is_locally_testable_of_order);
    for (const char* name : {"LTT", "TLTT"}) order_of_threshold(name);
    for (const char* name : {"PLT", "TPLT"}) find_order(name, is_dot_depth_one_of_width);
    return std::move(verdicts_);
  }

 private:
  ClassVerdict& verdict(std::string_view name) {
    return *std::find_if(verdicts_.begin(), verdicts_.end(),
                         [&](const ClassVerdict& candidate) { return candidate.name == name; });
  }
  bool has_tier() const { return tier_.dfa.letters() < all_.dfa.letters(); }
  static bool speaks_of_tier(std::string_view name) { return name.starts_with("T"); }
  const ReducedAutomaton& reduced(std::string_view name) const { return speaks_of_tier(name) ? tier_ : all_; }

  /// A limit that is met leaves the verdict open and says so.
  void decide(const char* name, const std::function<void(ClassVerdict&)>& work) {
    ClassVerdict& row = verdict(name);
    if (row.answer != Answer::kUnknown) return;
    try {
      TimeLimit::check();
      work(row);
    } catch (const LimitError& error) {
      row.remark = error.what();
    }
  }

  /// The remark beside a yes; a limit leaves it out and says so.
  static void add(ClassVerdict& row, const std::function<void()>& work) {
    try {
      TimeLimit::check();
      work();
    } catch (const LimitError& error) {
      remark(row, error.what());
    }
  }

  static void remark(ClassVerdict& row, const std::string& what) {
    row.remark += (row.remark.empty() ? "" : "; ") + what;
  }

  static void answer(ClassVerdict& row, const std::optional<std::string>& violation) {
    row.answer = violation ? Answer::kNo : Answer::kYes;
    if (violation) row.witness = *violation;
  }
  static void answer(ClassVerdict& row, const ClassOrder& order) {
    row.answer = order.k ? Answer::kYes : Answer::kNo;
    row.witness = order.witness;
    if (order.k) row.parameters = {{"k", *order.k}};
  }

  void name_tier(ClassVerdict& row) {
    if (!speaks_of_tier(row.name) || row.answer != Answer::kYes || row.tier) return;
    row.tier.emplace();
    for (const std::vector<Letter>& alike : tier_.alike) row.tier->insert(row.tier->end(), alike.begin(), alike.end());
    std::sort(row.tier->begin(), row.tier->end());
  }

  void on_the_automaton() {
    const auto finite = [](ClassVerdict& row, const Dfa& dfa) {
      row.witness = endless_words(dfa);
      row.answer = row.witness.empty() ? Answer::kYes : Answer::kNo;
    };
    decide("finite", [&](ClassVerdict& row) { finite(row, dfa_); });
    decide("cofinite", [&](ClassVerdict& row) { finite(row, with_other_answer(dfa_)); });
    decide("definite", [&](ClassVerdict& row) { answer(row, definite_order(all_.dfa)); });
    decide("reverse definite", [&](ClassVerdict& row) { answer(row, reverse_definite_order(all_.dfa)); });
    for (const char* name : {"SL", "coSL", "TSL", "TcoSL"}) {
      const bool co = std::string_view(name).find("co") != std::string_view::npos;
      const Dfa& dfa = reduced(name).dfa;
      decide(name, [&](ClassVerdict& row) { strictly_local(row, co ? with_other_answer(dfa) : dfa, co); });
    }
    decide("SP", [&](ClassVerdict& row) { strictly_piecewise(row, all_.dfa, false); });
    decide("coSP", [&](ClassVerdict& row) { strictly_piecewise(row, with_other_answer(all_.dfa), true); });
    decide("PT", [&](ClassVerdict& row) {
      answer(row, piecewise_violation(all_.dfa));
      if (row.answer != Answer::kYes) return;
      add(row, [&] { row.parameters = {{"k", piecewise_order(all_.dfa)}}; });
      if (row.parameters.empty()) row.remark += fmt::format("; k is at most {}", automaton_depth(all_.dfa));
    });
    for (const char* name : {"LT", "TLT"}) {
      if (speaks_of_tier(name) && !has_tier()) continue;
      decide(name, [&](ClassVerdict& row) { answer(row, local_violation(reduced(name).dfa)); });
    }
    decide("Z_p", [&](ClassVerdict& row) { counts_modulo(row); });
  }

  /// A transitive commutative group moves every state to every other by exactly one element; of prime order it is Z_p.
  void counts_modulo(ClassVerdict& row) {
    const Verdict &group = algebra_.verdict("group"), &commutative = algebra_.verdict("commutative");
    for (const Verdict* premise : {&group, &commutative})
      if (premise->answer == Answer::kNo) return answer(row, premise->witness);
    if (group.answer == Answer::kUnknown || commutative.answer == Answer::kUnknown)
      throw LimitError(group.witness + commutative.witness);
    if (!is_prime(dfa_.states()))
      return answer(row, fmt::format("the group has {}, no prime", counted(dfa_.states(), "element")));
    row.answer = Answer::kYes;
    row.parameters = {{"p", dfa_.states()}};
  }

  void strictly_local(ClassVerdict& row, const Dfa& dfa, bool co) {
    const ClassOrder order = strictly_local_order(dfa);
    answer(row, order);
    if (!order.witness.empty() && co) row.witness = "of the complement: " + order.witness;
    if (!order.k) return;
    row.data_name = co ? "required factors" : "forbidden factors";
    add(row, [&] {
      row.data = minimal_forbidden_factors(dfa, options_.most_listed);
      if (std::max<std::uint64_t>(row.data.longest, 1) != *order.k)
        throw Error(fmt::format("{} of order {}, but the longest forbidden factor has {}; please report this", row.name,
                                *order.k, counted(row.data.longest, "letter")));
    });
  }

  void strictly_piecewise(ClassVerdict& row, const Dfa& dfa, bool co) {
    answer(row, lost_subsequence(dfa));
    if (row.answer == Answer::kNo) {
      if (co) row.witness = "of the complement: " + row.witness;
      return;
    }
    row.data_name = co ? "required subsequences" : "forbidden subsequences";
    add(row, [&] {
      row.data = minimal_forbidden_subsequences(dfa, options_.most_listed);
      row.parameters = {{"k", std::max<std::uint64_t>(row.data.longest, 1)}};
    });
  }

  void from_the_algebra() {
    const Verdict& aperiodic = algebra_.verdict("aperiodic");
    ClassVerdict& row = verdict("SF");
    row.answer = aperiodic.answer;
    (aperiodic.answer == Answer::kUnknown ? row.remark : row.witness) = aperiodic.witness;
  }

  const SyntacticSemigroup& semigroup(bool of_tier) {
    std::optional<SyntacticSemigroup>& held = of_tier && has_tier() ? tier_semigroup_ : semigroup_;
    std::string& failed = of_tier && has_tier() ? no_tier_semigroup_ : no_semigroup_;
    if (!failed.empty()) throw LimitError(failed);
    if (!held) try {
        held.emplace(of_tier && has_tier() ? tier_.dfa : all_.dfa, options_.max_elements);
      } catch (const LimitError& error) {
        failed = error.what();
        throw;
      }
    return *held;
  }

  void on_the_semigroup() {
    decide("SF", [&](ClassVerdict& row) {
      if (semigroup(false).is_aperiodic()) row.answer = Answer::kYes;
    });
    if (verdict("SF").answer == Answer::kUnknown) return;  // Thérien and Weiss speak of aperiodic semigroups
    decide("LTT", [&](ClassVerdict& row) { answer(row, threshold_violation(semigroup(false))); });
    decide("PLT", [&](ClassVerdict& row) { answer(row, dot_depth_one_violation(semigroup(false))); });
    draw();
    if (!has_tier()) return;
    decide("TLTT", [&](ClassVerdict& row) { answer(row, threshold_violation(semigroup(true))); });
    decide("TPLT", [&](ClassVerdict& row) { answer(row, dot_depth_one_violation(semigroup(true))); });
  }

  void find_order(const char* name, bool (*holds)(const SyntacticSemigroup&, std::uint64_t)) {
    ClassVerdict& row = verdict(name);
    if (row.answer != Answer::kYes) return;
    add(row, [&] {
      std::uint64_t k = 1;
      while (!holds(semigroup(speaks_of_tier(name)), k)) ++k;
      row.parameters = {{"k", k}};
    });
  }

  void order_of_threshold(const char* name) {
    ClassVerdict& row = verdict(name);
    if (row.answer != Answer::kYes) return;
    const ClassVerdict& testable = verdict(speaks_of_tier(name) ? "TLT" : "LT");
    if (testable.answer == Answer::kYes) {
      if (!testable.parameters.empty()) row.parameters = {testable.parameters[0], {"t", 1}};
      return;
    }
    if (speaks_of_tier(name) && !has_tier()) return void(row.parameters = verdict("LTT").parameters);
    add(row, [&] {
      const ThresholdOrder order = threshold_order(reduced(name).dfa);
      row.parameters = {{"k", order.k}, {"t", order.t}};
    });
  }

  /// Moves `what` from one verdict to the other, when the first has it and the second is open.
  static bool conclude(const ClassVerdict& from, ClassVerdict& to, Answer what) {
    const Answer other = what == Answer::kYes ? Answer::kNo : Answer::kYes;
    if (from.answer == what && to.answer == other)
      throw Error(fmt::format("{} and {} contradict each other; please report this", from.name, to.name));
    if (from.answer != what || to.answer != Answer::kUnknown) return false;
    to.answer = what;
    to.remark.clear();
    if (what == Answer::kYes)
      to.remark = "follows from " + from.name;
    else
      to.witness = from.witness.starts_with("not ") ? from.witness : fmt::format("not {}: {}", from.name, from.witness);
    return true;
  }

  void draw() {
    for (bool drawn = true; drawn;) {
      drawn = false;
      for (const auto& [from, to] : kImplications) {
        drawn = conclude(verdict(from), verdict(to), Answer::kYes) || drawn;
        drawn = conclude(verdict(to), verdict(from), Answer::kNo) || drawn;
      }
      if (has_tier()) continue;
      for (const char* plain : {"SL", "coSL", "LT", "LTT", "PLT"}) {
        const ClassVerdict& row = verdict(plain);
        ClassVerdict& tiered = verdict(std::string("T") + plain);
        if (tiered.answer != Answer::kUnknown || row.answer == Answer::kUnknown) continue;
        const Name name{tiered.name.c_str(), tiered.meaning.c_str()};
        ClassVerdict copy = row;
        copy.name = name.name;
        copy.meaning = name.meaning;
        tiered = std::move(copy);
        drawn = true;
      }
    }
    for (ClassVerdict& row : verdicts_) name_tier(row);
  }

  const Dfa& dfa_;
  const Algebra& algebra_;
  const ClassOptions& options_;
  ReducedAutomaton all_, tier_;
  std::vector<ClassVerdict> verdicts_;
  std::optional<SyntacticSemigroup> semigroup_, tier_semigroup_;
  std::string no_semigroup_, no_tier_semigroup_;
};

}  // namespace

std::vector<ClassVerdict> language_classes(const Dfa& dfa, const Algebra& algebra, const ClassOptions& options) {
  return Classifier(dfa, algebra, options).verdicts();
}

void complete(Algebra& algebra, const std::vector<ClassVerdict>& classes) {
  constexpr std::pair<const char*, const char*> kSame[] = {{"definite", "definite"},
                                                           {"reverse definite", "reverse definite"},
                                                           {"LT", "locally testable"},
                                                           {"PT", "J-trivial"},
                                                           {"SF", "aperiodic"}};
  for (const auto& [name, property] : kSame)
    for (const ClassVerdict& row : classes)
      for (Verdict& verdict : algebra.verdicts)
        if (row.name == name && verdict.property == property && verdict.answer == Answer::kUnknown &&
            row.answer != Answer::kUnknown) {
          verdict.answer = row.answer;
          verdict.witness = row.witness;
        }
  draw_conclusions(algebra.verdicts);
}

std::string name_with_parameters(const ClassVerdict& verdict) {
  if (verdict.parameters.empty()) return verdict.name;
  if (verdict.name == "Z_p") return fmt::format("Z_{}", verdict.parameters[0].second);
  const bool spaced = verdict.name.find(' ') != std::string::npos || verdict.name == "definite";
  if (spaced) return fmt::format("{}, k = {}", verdict.name, verdict.parameters[0].second);
  if (verdict.parameters.size() == 1) return fmt::format("{}_{}", verdict.name, verdict.parameters[0].second);
  return fmt::format("{}_{{{},{}}}", verdict.name, verdict.parameters[0].second, verdict.parameters[1].second);
}

std::string explanation(const ClassVerdict& verdict) {
  if (verdict.answer == Answer::kNo) return verdict.witness;
  std::string text;
  if (verdict.answer == Answer::kYes && !verdict.data_name.empty() && verdict.data.count > 0) {
    text = fmt::format(
        "{} {}: ", verdict.data.count,
        verdict.data.count == 1 ? verdict.data_name.substr(0, verdict.data_name.size() - 1) : verdict.data_name);
    for (std::size_t i = 0; i < verdict.data.words.size(); ++i) {
      if (i > 0) text += ", ";
      text += verdict.data.words[i].empty() ? "ε" : verdict.data.words[i];
    }
    if (!verdict.data.complete) text += ", …";
  }
  if (!verdict.remark.empty()) text += (text.empty() ? "" : "; ") + verdict.remark;
  return text;
}

namespace {

TransformerVerdict like(std::string family, std::string source, const Verdict& verdict) {
  return {std::move(family), verdict.answer, std::move(source), verdict.witness};
}

/// Aperiodic, and no two idempotents in one R-class.
TransformerVerdict r_infinity(const Dfa& dfa, const Verdict& aperiodic) {
  TransformerVerdict row{"R∞", Answer::kUnknown,
                         "Yang et al. 2026 (arXiv 2608.13433), as their program decides it: aperiodic, and no two "
                         "idempotents share an R-class",
                         merging_inside_component(dfa)};
  if (!row.reason.empty())
    row.answer = Answer::kNo;
  else
    row.answer = aperiodic.answer, row.reason = aperiodic.witness;
  return row;
}

}  // namespace

std::string merging_inside_component(const Dfa& dfa) {
  const Components components = strongly_connected_components(dfa);
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::map<State, State> source;
    for (State state = 0; state < dfa.states(); ++state) {
      const State to = dfa.next(state, letter);
      if (components.of[to] != components.of[state]) continue;
      const auto [first, fresh] = source.emplace(to, state);
      if (!fresh)
        return fmt::format("\"{}\" takes the states {} and {} to {}, from where both are reached again",
                           dfa.alphabet().name(letter), dfa.state_name(first->second), dfa.state_name(state),
                           dfa.state_name(to));
    }
  }
  return {};
}

std::vector<TransformerVerdict> transformers(const Dfa& dfa, const Algebra& algebra) {
  const Verdict &aperiodic = algebra.verdict("aperiodic"), &r_trivial = algebra.verdict("R-trivial");
  TransformerVerdict counting{"C-RASP",
                              Answer::kUnknown,
                              "holds the R-trivial languages: its positive fragment is that of fixed-precision "
                              "transformers (Yang et al. 2026, arXiv 2603.02238)",
                              {}};
  if (r_trivial.answer == Answer::kYes)
    counting.answer = Answer::kYes;
  else
    counting.reason = "not decided here for languages that are not R-trivial";
  return {like("unique hard attention, strict future masking, no positions",
               "exactly the star-free languages (Yang, Chiang & Angluin 2024, arXiv 2310.13897)", aperiodic),
          like("leftmost hard attention only, strict future masking, no positions",
               "LTL with past only (Jerad et al. 2025, arXiv 2503.14615): the R-trivial languages", r_trivial),
          like("fixed precision, soft attention, strict future masking, no positions",
               "LTL with past only: the R-trivial languages (Li & Cotterell 2025, arXiv 2505.23623)", r_trivial),
          r_infinity(dfa, aperiodic), std::move(counting)};
}

}  // namespace krohn
