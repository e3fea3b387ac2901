// The validator cannot be fooled: every single bit of the tensors of 200 small networks, and of the bytes of
// certificates of every kind, is flipped in turn. `ctest` takes every 101st bit; tests/bit_flips takes every one.

#include <deque>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/constructions/build/builders.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/check/recheck_network.h"
#include "tests/simulate/check/sample_certificates.h"
#include "tests/simulate/prove/judged_claims.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

constexpr std::size_t kNetworks = 200;
constexpr std::uint64_t kMaxPairs = 60;

bool every_bit() { return std::getenv("KROHN_EVERY_BIT") != nullptr; }
std::uint64_t stride() { return every_bit() ? 1 : 101; }

/// Every construction that takes the automaton, each once, and its cascades.
void add_constructions(std::vector<Network>& networks, const Dfa& dfa) {
  for (const std::string& construction : construction_names()) {
    BuildOptions wishes{.construction = construction};
    try {
      networks.push_back(build(dfa, wishes));
    } catch (const Error&) {
      continue;  // not for this automaton
    }
  }
  networks.push_back(cascade_network(dfa, holonomy_decomposition(dfa), {KeyStyle::kUnnormalised}));
}

std::vector<Network> small_networks() {
  std::vector<Network> networks{symmetric(3, 2, Swap::kUnnormalised),
                                symmetric(3, 1, Swap::kDoubled),
                                symmetric(3, 1, Swap::kUnit),
                                symmetric(3, 2, Swap::kMap),
                                rotation(3, {0, 1}),
                                rotation(4, {1, 2}),
                                rotation(12, {1}),
                                rotation(10, {3}),
                                two_reflections(2),
                                two_reflections(3),
                                flip_flop_toggle(),
                                delayed_toggle()};
  for (const std::uint32_t m : {2U, 3U, 4U}) add_constructions(networks, counter(m, {0, 1}));
  std::mt19937_64 random(2026);
  while (networks.size() < kNetworks)
    add_constructions(networks, random_automaton(random, static_cast<State>(2 + random() % 3),
                                                 1 + static_cast<Letter>(random() % 2)));
  networks.erase(networks.begin() + kNetworks, networks.end());
  return networks;
}

/// Breadth-first over the automaton's state, all numbers and all labels, by the evaluation of the re-checker, which
/// shares no code with the prover's.
ReplayedSearch plain_search(const Network& network, ArithmeticName arithmetic, Form form) {
  const RecheckedNetwork plain(network, to_string(arithmetic), form);
  using Node = std::pair<State, RecheckedNetwork::Moment>;
  std::deque<std::pair<Node, Word>> waiting{{{network.automaton.initial(), plain.start()}, {}}};
  if (plain.read(waiting.front().first.second) != network.automaton.initial()) return {false, 0, Word{}};
  std::map<std::pair<State, std::vector<double>>, bool> seen;
  const auto is_new = [&](const Node& node) {
    std::vector<double> key;
    for (const RecheckedNumbers& numbers : node.second.numbers)
      for (const double number : numbers) key.push_back(number + 0.0);
    for (const auto& label : node.second.labels) key.push_back(label ? *label : -1.0);
    return seen.emplace(std::pair(node.first, key), true).second;
  };
  is_new(waiting.front().first);
  for (; !waiting.empty() && seen.size() <= kMaxPairs; waiting.pop_front())
    for (Letter letter = 0; letter < network.automaton.letters(); ++letter) {
      const auto& [node, word] = waiting.front();
      Word longer = word;
      longer.push_back(letter);
      const State right = network.automaton.next(node.first, letter);
      Node after{right, plain.step(node.second, letter)};
      if (plain.read(after.second) != right) return {false, seen.size(), longer};
      if (is_new(after)) waiting.emplace_back(std::move(after), std::move(longer));
    }
  return {waiting.empty(), seen.size(), std::nullopt};
}

struct NetworkFlips {
  std::uint64_t flips = 0, refused = 0, same_content = 0;
  Tally judged;
};

/// One flipped file: refused, or the certificates of what it holds are true and the old certificate is not for it.
void judge_file(const TensorFile& file, const std::string& tensor, const std::string& content,
                ArithmeticName arithmetic, Form form, NetworkFlips& tally) {
  ++tally.flips;
  std::optional<Network> network;
  try {
    network = from_tensors(file, "flipped");
  } catch (const InputError&) {
    ++tally.refused;
    return;
  }
  const bool is_same = canonical_weights(*network) + canonical_automaton(network->automaton) == content;
  // Derived numbers may change by a last place, and a zero that stands for no B its sign, without a change of content.
  if (is_same) CHECK((tensor.ends_with(".A") || tensor.ends_with(".B")));
  if (is_same) ++tally.same_content;
  if (!is_same) judge(*network, arithmetic, form, kMaxPairs, plain_search(*network, arithmetic, form), tally.judged);
}

void flip_bits(const Network& network, ArithmeticName arithmetic, Form form, std::uint64_t& turn, NetworkFlips& tally) {
  TensorFile file = to_tensors(network);
  const std::string content = canonical_weights(network) + canonical_automaton(network.automaton);
  for (auto& [name, tensor] : file.tensors)
    for (std::size_t byte = 0; byte < tensor.bytes.size(); ++byte)
      for (int bit = 0; bit < 8; ++bit) {
        if (turn++ % stride() != 0) continue;
        CAPTURE(name);
        CAPTURE(byte);
        CAPTURE(bit);
        const auto mask = static_cast<std::byte>(1 << bit);
        tensor.bytes[byte] ^= mask;
        judge_file(file, name, content, arithmetic, form, tally);
        tensor.bytes[byte] ^= mask;
      }
}

/// The claims of a certificate, without the evidence.
std::string claim_of(const Certificate& certificate) {
  return fmt::format("{} {} {} {} {}", to_string(certificate.claim), certificate.length(),
                     to_string(certificate.arithmetic), to_string(certificate.form), to_string(certificate.order));
}

struct CertificateFlips {
  std::uint64_t flips = 0, refused = 0, not_established = 0, undecided = 0, same_claim = 0;
};

void judge_text(const std::string& text, const SampleCertificate& sample, CertificateFlips& tally) {
  ++tally.flips;
  Certificate certificate;
  try {
    certificate = parse_certificate(text, "flipped", sample.network);
  } catch (const InputError&) {
    ++tally.refused;
    return;
  }
  try {
    if (!recheck(certificate, sample.network, {20'000}).established) {
      ++tally.not_established;
      return;
    }
  } catch (const LimitError&) {
    ++tally.undecided;
    return;
  }
  ++tally.same_claim;
  CHECK(claim_of(certificate) == claim_of(sample.certificate));
}

}  // namespace

TEST_CASE("no bit of a network makes a wrong one proved") {
  NetworkFlips tally;
  std::uint64_t turn = 0;
  const std::vector<Network> networks = small_networks();
  const std::span<const ArithmeticName> arithmetics = ArithmeticName::all();
  for (std::size_t i = 0; i < networks.size(); ++i) {
    CAPTURE(i);
    CAPTURE(networks[i].provenance.construction);
    flip_bits(networks[i], arithmetics[i % arithmetics.size()],
              i / arithmetics.size() % 2 == 0 ? Form::kStructured : Form::kDense, turn, tally);
  }
  const Tally& judged = tally.judged;
  CHECK(tally.refused > 0);
  CHECK(judged.proved_by_codewords > 0);
  CHECK(judged.proved_by_search > 0);
  CHECK(judged.refuted > 0);
  CHECK(tally.refused + tally.same_content + judged.valid == tally.flips);
  if (every_bit())
    fmt::print(
        "{} networks, {} flipped bits: {} files refused, {} of the same content; {} networks judged: "
        "{} proved by codewords, {} by search, {} refuted, {} undecided within {} pairs; none wrongly\n",
        networks.size(), tally.flips, tally.refused, tally.same_content, judged.valid, judged.proved_by_codewords,
        judged.proved_by_search, judged.refuted, judged.open, kMaxPairs);
}

TEST_CASE("no bit of a certificate makes another claim established") {
  CertificateFlips all;
  std::uint64_t turn = 0;
  for (const SampleCertificate& sample : sample_certificates()) {
    CAPTURE(sample.name);
    CertificateFlips tally;
    std::string text = format_certificate(sample.certificate, sample.network);
    for (char& byte : text)
      for (int bit = 0; bit < 8; ++bit) {
        if (turn++ % (every_bit() ? 1 : 11) != 0) continue;
        CAPTURE(bit);
        byte = static_cast<char>(byte ^ 1 << bit);
        judge_text(text, sample, tally);
        byte = static_cast<char>(byte ^ 1 << bit);
      }
    CHECK(tally.refused > 0);
    if (every_bit())
      fmt::print("{}: {} flipped bits: {} refused, {} not established, {} undecided, {} the same claim again\n",
                 sample.name, tally.flips, tally.refused, tally.not_established, tally.undecided, tally.same_claim);
    all.not_established += tally.not_established;
  }
  CHECK(all.not_established > 0);
}
