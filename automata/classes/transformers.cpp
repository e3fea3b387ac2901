#include "krohn/automata/classes/classes.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "krohn/automata/dfa/graph.h"

namespace krohn {
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
