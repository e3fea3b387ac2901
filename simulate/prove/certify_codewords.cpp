#include "krohn/simulate/prove/certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/claims/unit_moves.h"
#include "krohn/simulate/prove/orders/exact_order.h"
#include "krohn/simulate/prove/orders/network_in_order.h"
#include "krohn/simulate/prove/orders/ordered_search.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/self_check.h"

namespace krohn {
namespace {

/// The machine of labels that evaluation finds, and its tables.
struct Found {
  LabelMachine machine;
  ClosedCodewords proof;
};

/// Nothing when a layer does not close.
std::optional<Found> find_machine(const Network& network, const CertifyOptions& options, std::uint64_t& pairs) {
  const auto reader = network_reader(network, options.arithmetic, options.form, NetworkReading::kPairs);
  Found found;
  const auto tick = [&] {
    if (++pairs % (1 << 16) == 0 && options.progress) options.progress(pairs);
  };
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    ClosedLayer layer(network.layers[k], reader->books(k), options.arithmetic);
    const auto move = [&](Action action, const std::vector<double>& from, std::vector<double>& to) {
      tick();
      reader->move(k, action, from, to);
    };
    const UnitMoves unit_moves(network.layers[k], options.arithmetic, options.form);
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
  std::optional<Found> found = find_machine(network, options, pairs);
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

namespace {

constexpr std::size_t kMaxNumbers = std::size_t{1} << 22;

/// The maps of all words of a layer, or what words add to 0. Nothing when there are too many, or soon some that round:
/// letters have infinitely many maps, as a rule. Rounding makes them wrong, which the check finds.
std::optional<LayerMaps> list_maps(LayerInOrder& layer) {
  const MapShape& shape = layer.maps();
  LayerMaps maps;
  maps.only_moves = shape.only_moves();
  if (maps.only_moves && !shape.adds()) return maps;
  WordMaps words(layer);
  GrainRange extent;  // of entries and additions, together
  std::size_t numbers = 0;
  const auto add = [&](const std::vector<double>& map) {
    numbers += map.size();
    for (const double entry : map) extent.add(entry);
    maps.maps.emplace_back();
  };
  const int digits = layer.format().digits;
  if (!words.close(
          add, [&] { return numbers <= kMaxNumbers && extent.most.value() <= std::ldexp(extent.grain, digits); },
          [&](std::size_t from, std::uint32_t to) { maps.maps[from].next.push_back(to); }))
    return std::nullopt;
  maps.letters = words.letters();
  const std::size_t n = layer.dimension();
  std::vector<double> map;
  for (std::size_t i = 0; i < words.count(); ++i) {
    words.read(i, map);
    maps.maps[i].b.assign(map.begin() + static_cast<std::ptrdiff_t>(shape.entries), map.end());
    if (maps.only_moves) continue;
    std::vector<double>& a = maps.maps[i].a;
    a.assign(n * n, 0);
    std::size_t first = 0, at = 0;
    for (const std::size_t size : shape.blocks) {
      for (std::size_t row = first; row < first + size; ++row)
        for (std::size_t column = first; column < first + size; ++column) a[row * n + column] = map[at++];
      first += size;
    }
  }
  return maps;
}

std::optional<std::vector<LayerMaps>> list_maps(const Network& network, CertifyOptions options) {
  options.order = parse_order("scan");
  const std::unique_ptr<NetworkInOrder> ordered = network_in_order(network, options);
  std::vector<LayerMaps> layers;
  for (const auto& layer : ordered->layers) {
    std::optional<LayerMaps> maps = list_maps(*layer);
    if (!maps) return std::nullopt;
    layers.push_back(*std::move(maps));
  }
  return layers;
}

/// Chunked kernels meet products of keys, which neither states nor maps show; the file says nothing of them.
bool is_exact_in_chunks(const Network& network, const CertifyOptions& options) {
  const auto reflects = [](const Layer& layer) {
    return std::ranges::any_of(layer.transitions, [](const Transition& transition) {
      return std::holds_alternative<ReflectionProduct>(transition.a);
    });
  };
  if (options.form != Form::kStructured || std::ranges::none_of(network.layers, reflects)) return true;
  CertifyOptions in_chunks = options;
  in_chunks.any_order = false;
  in_chunks.order = parse_order("chunked:64");
  in_chunks.max_pairs = std::min<std::uint64_t>(options.max_pairs, 65'536);
  return certify_order(network, in_chunks).is<Proved>();
}

void require_one_format(const ArithmeticName& arithmetic) {
  for (const Precision precision : {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16})
    if (arithmetic == ArithmeticName(precision)) return;
  if (arithmetic.is_integer())
    throw InputError("--any-order", fmt::format("{} saturates, so that another order gives other numbers: 100 + 100 − "
                                                "100 is 27 or 100 in i8-saturating",
                                                to_string(arithmetic)));
  throw InputError(
      "--any-order",
      fmt::format("is about one format, fp64, fp32, fp16 or bf16, and covers FMA and wider sums; {} is none "
                  "of them",
                  to_string(arithmetic)));
}

}  // namespace

std::variant<Certificate, std::string> certify_any_order(const Network& network, const CertifyOptions& options) {
  require_one_format(options.arithmetic);
  if (network.snap_every > 0) return "a network that snaps is not linear";
  if (!has_weights_of(network, options.arithmetic.storage()))
    return fmt::format("weights are rounded to {}, and a wider format has others", to_string(options.arithmetic));
  std::optional<Certificate> certificate = certify_closed_codewords(network, options);
  if (!certificate) return "letters do not take codewords to codewords bit for bit";
  try {
    std::optional<std::vector<LayerMaps>> maps = list_maps(network, options);
    if (!maps) return "words have too many maps, or infinitely many, or some that would round";
    certificate->claim = Proved{.any_order = true};
    certificate->method = "exact in any order";
    certificate->proof = AnyOrder{std::move(std::get<ClosedCodewords>(certificate->proof)), *std::move(maps)};
    *certificate = with_steps(*std::move(certificate), network);
    const Recheck found = recheck(*certificate, network);
    if (!found.established) return found.finding;
    if (!is_exact_in_chunks(network, options)) return "chunks of its reflections (the UT transform) may round";
    certificate->evidence += "; and no number can round, as the independent checker found: " + found.finding;
    return *std::move(certificate);
  } catch (const LimitError& error) {
    return error.what();
  }
}

}  // namespace krohn
