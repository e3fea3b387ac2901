#include "tools/krohn/verdict.h"

#include <fmt/format.h>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "tools/krohn/count.h"
#include "tools/krohn/table.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kShownLetters = 60, kShownBytes = 400;

std::string refutation(const Certificate& certificate, const Alphabet& alphabet) {
  if (!certificate.failing_word) return "refuted";
  const Word& word = *certificate.failing_word;
  return fmt::format("refuted: wrong on {}{}", quoted_word(alphabet, word),
                     certificate.shortest ? ", and no shorter word fails" : "");
}

}  // namespace

std::string quoted_word(const Alphabet& alphabet, std::span<const Letter> word) {
  if (word.empty()) return "the empty word";
  const std::string text =
      visible(cut_short(alphabet.format_word(word.first(std::min(word.size(), kShownLetters))), kShownBytes));
  if (word.size() <= kShownLetters)
    return fmt::format("\"{}\" ({} letter{})", text, word.size(), word.size() > 1 ? "s" : "");
  return fmt::format("\"{}…\" ({} letters)", text, with_thousands(word.size()));
}

std::string claim_in_words(const Certificate& certificate, const Alphabet& alphabet) {
  switch (certificate.claim) {
    case Claim::kProved:
      return certificate.every_association ? "proved for all lengths, in every association order"
                                           : "proved for words of every length";
    case Claim::kProvedUpTo:
      return fmt::format("proved for words of up to {} letters; undecided beyond", with_thousands(certificate.length));
    case Claim::kRefuted:
      return refutation(certificate, alphabet);
    case Claim::kSampled:
      return "undecided: no disagreement found, which proves nothing";
  }
  return "";
}

nlohmann::ordered_json verdict_to_json(const Certificate& certificate, const Alphabet& alphabet) {
  nlohmann::ordered_json json;
  json["claim"] = to_string(certificate.claim);
  json["arithmetic"] = to_string(certificate.arithmetic);
  json["order"] = to_string(certificate.order);
  if (certificate.every_association) json["every_association"] = true;
  json["method"] = certificate.method;
  json["evidence"] = certificate.evidence;
  if (certificate.claim == Claim::kProvedUpTo) json["length"] = certificate.length;
  json["pairs"] = certificate.pairs;
  if (certificate.failing_word) {
    json["failing_word"] = alphabet.format_word(*certificate.failing_word);
    json["failing_word_length"] = certificate.failing_word->size();
    json["shortest"] = certificate.shortest;
  }
  json["letters_tested"] = certificate.letters_tested;
  if (certificate.letters_tested > 0) json["seed"] = certificate.seed;
  if (!certificate.limit.empty()) json["limit"] = certificate.limit;
  return json;
}

int exit_status(const Certificate& certificate, std::uint64_t wanted_length) {
  switch (certificate.claim) {
    case Claim::kProved:
      return kDone;
    case Claim::kProvedUpTo:
      return wanted_length > 0 && wanted_length <= certificate.length ? kDone : kUndecided;
    case Claim::kRefuted:
      return kRefuted;
    case Claim::kSampled:
      return kUndecided;
  }
  return kUndecided;
}

}  // namespace krohn
