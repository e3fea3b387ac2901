#include "krohn/simulate/prove/claims/certificate.h"

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

}  // namespace krohn
