#include "krohn/simulate/prove/verify_built.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/arithmetic_name.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {
namespace {

constexpr std::uint64_t kQuickPairs = 65'536;
constexpr std::uint64_t kReplayedLetters = 1'000;  ///< the proof is what counts; `verify` replays more

/// Numbers that the proof for all orders looks at: every codeword under every action. Past so many, which take a
/// second, networks are proved letter after letter.
constexpr std::uint64_t kNumbersForOrders = 4'000'000;

bool is_small(const Network& network) {
  std::uint64_t numbers = 0;
  for (const Layer& layer : network.layers)
    numbers += std::uint64_t{codeword_count(layer)} * layer.dimension * layer.columns * layer.transitions.size();
  return numbers <= kNumbersForOrders;
}

Certificate ask(const Network& network, CertifyOptions how, Precision precision, Order order,
                const std::function<void(std::string_view, std::uint64_t, std::uint64_t)>& progress) {
  how.arithmetic = precision;
  how.order = order;
  Question question;
  question.subject = &network;
  question.name = network.provenance.construction;
  question.how = std::move(how);
  question.progress = progress;
  question.replayed_letters = kReplayedLetters;
  Certificate certificate = verify(question).certificate;
  if (certificate.is<Refuted>())
    throw Contradiction(fmt::format(
        "the construction \"{}\" of {} is {} in {}. This is a mistake in krohn: please report it; nothing was written",
        network.provenance.construction, network.provenance.source,
        claim_in_words(certificate, network.automaton.alphabet()), to_string(certificate.arithmetic)));
  return certificate;
}

/// One-hot states that 0/1 maps move, without a B. What is proved of them in one format by closed codewords holds in
/// every format: sums of 0s and 1s in any format never fall as terms are added, so that one which ends at 0 or 1 met
/// nothing else on the way, and the numbers that are decoded are the same.
bool has_only_ones(const Network& network) {
  const auto moves = [](const Transition& transition) {
    return std::holds_alternative<MapMatrix>(transition.a) && transition.b.size() == 0;
  };
  return std::all_of(network.layers.begin(), network.layers.end(), [&](const Layer& layer) {
    return layer.decoder.unit_copies > 0 && std::all_of(layer.transitions.begin(), layer.transitions.end(), moves);
  });
}

/// Letter after letter first, then, of what is small, in every association. Whether codewords closed.
bool ask_about_exactness(KeptPromise& kept, const Network& network, const CertifyOptions& how, Precision precision,
                         bool asks_orders,
                         const std::function<void(std::string_view, std::uint64_t, std::uint64_t)>& progress) {
  const Certificate sequential = ask(network, how, precision, {}, progress);
  if (!sequential.is<Proved>()) {
    kept.promised_only.push_back(precision);
    if (kept.limit.empty()) kept.limit = sequential.limit;
    return false;
  }
  const bool everywhere =
      asks_orders && ask(network, how, precision, parse_order("scan"), progress).holds_in_every_association();
  (everywhere ? kept.every_order : kept.sequential).push_back(precision);
  return std::holds_alternative<ClosedCodewords>(sequential.proof);
}

/// Why this construction has no such proof; empty when it has one, and then here is its network.
std::string refusal(const Dfa& automaton, BuildOptions wishes, const PlanRow& row, const CertifyOptions& how,
                    std::optional<Network>& network) try {
  if (row.exact_in.empty() && !row.wraps_in) return "its numbers round";
  wishes.construction = row.construction;
  network = build(automaton, wishes);
  const Certificate found = certify(wishes.precision ? quantise(*network, *wishes.precision) : *network, how);
  if (found.is<Proved>()) return "";
  return found.is<Sampled>() ? found.evidence : claim_in_words(found, automaton.alphabet());
} catch (const Error& error) {
  return error.what();
}

}  // namespace

KeptPromise verify_built(const Network& network, const Promise& promise, const CertifyOptions& limits,
                         const std::function<void(std::string_view, std::uint64_t, std::uint64_t)>& progress) {
  KeptPromise kept;
  CertifyOptions how = limits;
  how.long_letters = 0;
  const bool asks_orders = network.snap_every == 0 && is_small(network);
  bool holds_in_all = false;
  for (const Precision precision : promise.exact_in)
    if (holds_in_all)
      kept.sequential.push_back(precision);
    else
      holds_in_all = ask_about_exactness(kept, network, how, precision, asks_orders, progress) && !asks_orders &&
                     has_only_ones(network);
  for (const Precision precision : promise.locked_in)
    ask_about_exactness(kept, network, how, precision, /*asks_orders=*/false, progress);
  if (promise.exact_in.empty() && promise.locked_in.empty()) {
    how.max_pairs = std::min(how.max_pairs, kQuickPairs);
    const Certificate searched = ask(network, how, Precision::kFp64, {}, progress);
    kept.right_up_to = searched.is<Proved>() ? UINT64_MAX : searched.length();
  }
  return kept;
}

std::optional<WrappingIntegers> wrapping_integers(const ArithmeticName& arithmetic) {
  if (!arithmetic.is_integer() || arithmetic.integer().saturates) return std::nullopt;
  return WrappingIntegers{static_cast<unsigned>(arithmetic.integer().bits), arithmetic.integer().is_signed};
}

Choice choose_by_proof(const Dfa& automaton, BuildOptions wishes, const CertifyOptions& how, PlanRows rows,
                       const std::function<void(const PlanRow& row, const std::string& refusal)>& told) {
  Choice choice{plan(automaton, wishes), {}, {}};
  std::vector<PlanRow*> tried;
  for (PlanRow& row : choice.rows)
    if (wishes.construction ? row.construction == *wishes.construction : row.possible) tried.push_back(&row);
  if (how.arithmetic.is_integer())
    std::ranges::stable_sort(tried, {}, [](const PlanRow* row) { return std::pair(row->layers, row->state_numbers); });
  else
    std::ranges::stable_partition(tried, [](const PlanRow* row) { return row->chosen; });
  for (PlanRow& row : choice.rows) row.chosen = false;
  std::string reasons;
  for (PlanRow* row : tried) {
    std::optional<Network> network;
    const std::string why_not = refusal(automaton, wishes, *row, how, network);
    if (told) told(*row, why_not);
    if (!why_not.empty()) {
      reasons += fmt::format("\n{}: {}", row->construction, why_not);
    } else if (choice.chosen() == nullptr) {
      row->chosen = true;
      choice.network = std::move(network);
      if (rows == PlanRows::kNeeded) return choice;
    }
  }
  if (choice.chosen() == nullptr)
    choice.failure = std::make_exception_ptr(InputError(
        fmt::format("no construction is {} in {}{}", how.any_order ? "exact in any order of evaluation" : "proved",
                    to_string(how.arithmetic), reasons)));
  return choice;
}

}  // namespace krohn
