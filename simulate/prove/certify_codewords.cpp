#include <fmt/format.h>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/prove/certify_codewords.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/claims/unit_moves.h"

namespace krohn {
namespace {

/// The machine of labels that evaluation finds, and its tables.
struct Found {
  LabelMachine machine;
  ClosedCodewords proof;
};

/// Nothing when a layer does not close.
template <class Arithmetic>
std::optional<Found> find_machine(const Network& network, const CertifyOptions& options, std::uint64_t& pairs) {
  const RoundedNetwork<Arithmetic> rounded(network, options.form);
  Found found;
  const auto tick = [&] {
    if (++pairs % (1 << 16) == 0 && options.progress) options.progress(pairs);
  };
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    ClosedLayer<Arithmetic> layer(rounded, k, network.layers[k]);
    const auto move = [&](Action action, const auto& from, auto& to) {
      tick();
      rounded.layers()[k].move(action, from.data(), to.data());
    };
    const UnitMoves<Arithmetic> unit_moves(rounded.layers()[k], network.layers[k]);
    const auto jump = [&](Action action, std::uint32_t codeword) {
      const std::optional<std::uint32_t> reached = unit_moves(action, codeword);
      if (reached) tick();
      return reached;
    };
    if (!layer.close(move, jump)) return std::nullopt;
    found.proof.layers.push_back(layer.table(network.layers[k]));
    found.machine.layers.push_back(layer.take_machine());
  }
  found.machine.readout = network.readout.next;
  return found;
}

}  // namespace

std::optional<std::string> emulation_evidence(const LabelMachine& machine, const Network& network,
                                              const CertifyOptions& options, bool* by_induction) {
  try {
    const EmulationResult induction = prove_emulation(machine, network.automaton);
    if (by_induction != nullptr) *by_induction = induction.holds;
    if (induction.holds)
      return fmt::format("by induction over {} of context and readout nodes", counted(induction.checked, "triple"));
  } catch (const LimitError&) {
    // The reachable tuples may still be few.
  }
  try {
    const EmulationResult search = explore_emulation(machine, network.automaton, options.max_pairs);
    if (search.holds) return fmt::format("on all {} reachable pairs of a label tuple and a letter", search.checked);
  } catch (const LimitError&) {
    // Then this certificate has nothing to say.
  }
  return std::nullopt;
}

std::optional<Certificate> certify_closed_codewords(const Network& network, const CertifyOptions& options) {
  std::uint64_t pairs = 0;
  std::optional<Found> found = with_arithmetic(
      options.arithmetic, [&](auto type) { return find_machine<decltype(type)>(network, options, pairs); });
  if (!found) return std::nullopt;
  const std::optional<std::string> emulation =
      emulation_evidence(found->machine, network, options, &found->proof.by_induction);
  if (!emulation) return std::nullopt;
  Certificate certificate;
  certificate.claim = Proved{};
  certificate.arithmetic = options.arithmetic;
  certificate.form = options.form;
  certificate.method = "closed codewords";
  certificate.pairs = pairs;
  certificate.proof = std::move(found->proof);
  certificate.evidence = fmt::format(
      "every action takes every codeword to a codeword bit for bit ({} in {}), and the labels "
      "so found emulate the automaton {}",
      counted(pairs, "pair"), counted(network.layers.size(), "layer"), *emulation);
  return certificate;
}

}  // namespace krohn
