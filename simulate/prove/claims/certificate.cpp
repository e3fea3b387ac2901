#include "krohn/simulate/prove/claims/certificate.h"

#include <fmt/format.h>

namespace krohn {
namespace {

constexpr std::size_t kLettersShown = 60;

std::string shown_word(const Word& word, const Alphabet& alphabet) {
  if (word.empty()) return "the empty word";
  if (word.size() <= kLettersShown) return fmt::format("the word {}", alphabet.format_word(word));
  return fmt::format("the word {}…", alphabet.format_word(std::span(word).first(kLettersShown)));
}

}  // namespace

std::string to_string(Claim claim) {
  switch (claim) {
    case Claim::kProved:
      return "proved";
    case Claim::kProvedUpTo:
      return "proved up to a length";
    case Claim::kRefuted:
      return "refuted";
    default:
      return "sampled";
  }
}

std::string headline(const Certificate& certificate, const Alphabet& alphabet) {
  switch (certificate.claim) {
    case Claim::kProved:
      return certificate.every_association ? "proved for all lengths, in every association order"
                                           : "proved for words of every length";
    case Claim::kProvedUpTo:
      return fmt::format("proved for words of up to {} letters", certificate.length);
    case Claim::kRefuted:
      if (!certificate.failing_word) return "refuted";
      return fmt::format("refuted: {} of {} letters is read wrongly{}", shown_word(*certificate.failing_word, alphabet),
                         certificate.failing_word->size(), certificate.shortest ? ", and no shorter one" : "");
    default:
      return fmt::format("no disagreement in {} letters; not a proof", certificate.letters_tested);
  }
}

}  // namespace krohn
