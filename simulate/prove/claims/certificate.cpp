#include "krohn/simulate/prove/claims/certificate.h"

#include <fmt/format.h>

#include "krohn/automata/dfa/graph.h"

namespace krohn {

std::string to_string(const Claim& claim) {
  if (std::holds_alternative<Proved>(claim)) return "proved";
  if (std::holds_alternative<ProvedUpTo>(claim)) return "proved up to a length";
  return std::holds_alternative<Refuted>(claim) ? "refuted" : "sampled";
}

std::uint64_t Certificate::length() const {
  const auto* up_to = std::get_if<ProvedUpTo>(&claim);
  return up_to == nullptr ? 0 : up_to->length;
}

const Word* Certificate::failing_word() const {
  const auto* refuted = std::get_if<Refuted>(&claim);
  return refuted == nullptr || !refuted->word ? nullptr : &*refuted->word;
}

bool Certificate::is_shortest() const {
  const auto* refuted = std::get_if<Refuted>(&claim);
  return refuted != nullptr && refuted->shortest;
}

bool Certificate::holds_in_any_order() const {
  const auto* proved = std::get_if<Proved>(&claim);
  return proved != nullptr && proved->any_order;
}

bool Certificate::holds_in_every_association() const {
  const auto* proved = std::get_if<Proved>(&claim);
  return proved != nullptr && (proved->every_association || proved->any_order);
}

namespace {

std::string refutation(const Certificate& certificate, const Alphabet& alphabet) {
  if (certificate.failing_word() == nullptr) return "refuted";
  return fmt::format("refuted: wrong on {}{}", quoted_word(alphabet, *certificate.failing_word()),
                     certificate.is_shortest() ? ", and no shorter word fails" : "");
}

std::string claim_of_asked_words(const Certificate& certificate) {
  if (std::holds_alternative<ClosedRegions>(certificate.proof) && certificate.is<Proved>())
    return fmt::format(
        "proved for words of every length, {}sums in any order, with or without FMA, functions within 8 units",
        certificate.arithmetic == Precision::kFp32
            ? "with "
            : fmt::format("in {}, with fp32 ", to_string(certificate.arithmetic)));
  if (certificate.holds_in_any_order() && certificate.arithmetic.is_integer())
    return "proved for words of every length, in any order of evaluation, fused or not, with sums in any wider "
           "integers";
  if (certificate.holds_in_any_order())
    return "proved for words of every length, in any order of evaluation, with or without FMA, in this or any wider "
           "format";
  if (certificate.holds_in_every_association())
    return "proved for words of every length, in every association of the letters' stored matrices";
  if (certificate.is<Proved>()) return "proved for words of every length";
  if (certificate.length() > 0)
    return fmt::format("proved for words of up to {}; undecided beyond", counted(certificate.length(), "letter"));
  return certificate.is<ProvedUpTo>() ? "undecided: nothing was proved within the limits"
                                      : "undecided: no disagreement found, which proves nothing";
}

}  // namespace

std::optional<Word> shortest_word_not_asked(const Certificate& certificate) {
  if (!certificate.language) return std::nullopt;
  const auto& [automaton, wanted] = *certificate.language;
  const auto is_asked_after = [&](State state, Letter letter) {
    const Output is_wanted = wanted[automaton.next(state, letter)];
    return is_wanted != TrackedAutomaton::kNotAsked && is_wanted != TrackedAutomaton::kNoSuchWord;
  };
  const auto asks_nothing_after = [&](State state) {
    Letter letter = 0;
    while (letter < automaton.letters() && is_asked_after(state, letter)) ++letter;
    return letter;
  };
  std::optional<Word> word = shortest_word(
      automaton, automaton.initial(), [&](State state) { return asks_nothing_after(state) < automaton.letters(); });
  if (word) word->push_back(asks_nothing_after(automaton.run(*word)));
  return word;
}

std::string claim_in_words(const Certificate& certificate, const Alphabet& alphabet) {
  if (certificate.is<Refuted>()) return refutation(certificate, alphabet);
  std::string text = claim_of_asked_words(certificate);
  if (const auto word = shortest_word_not_asked(certificate);
      word && (certificate.is<Proved>() || certificate.length() > 0))
    text += fmt::format("; not of words that are not asked about, such as {}", quoted_word(alphabet, *word));
  return text;
}

}  // namespace krohn
