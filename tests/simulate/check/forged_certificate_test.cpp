// Certificates that somebody wrote by hand to be believed: each starts from a true one and claims more, or something
// else.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "krohn/groups/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/certify_codewords.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"
#include "krohn/simulate/prove/steps.h"
#include "tests/simulate/check/sample_certificates.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

struct Forgery {
  const char* name;
  std::function<void(Certificate&, Network&)> forge;
};

template <class Kind>
Kind& proof_of(Certificate& certificate) {
  return std::get<Kind>(certificate.proof);
}

std::vector<ReachedPair>& pairs(Certificate& certificate) { return proof_of<ReachedPairs>(certificate).list; }

std::vector<LabelTuple>& tuples(Certificate& certificate) { return proof_of<ClosedCodewords>(certificate).tuples; }

ClosedTable& table(Certificate& certificate, std::size_t layer = 0) {
  return proof_of<ClosedCodewords>(certificate).layers.at(layer);
}

/// Each forgery of a certificate that is itself established must be found out.
void reject_all(const Network& network, const Certificate& good, const std::vector<Forgery>& forgeries) {
  const Certificate whole = with_steps(good, network);
  const Recheck honest = recheck(whole, network);
  REQUIRE_MESSAGE(honest.established, honest.finding);
  for (const auto& [name, forge] : forgeries) {
    CAPTURE(std::string(name));
    Network forged_network = network;
    Certificate forged = whole;
    forge(forged, forged_network);
    CHECK_FALSE(recheck(forged, forged_network).established);
  }
}

Word& word_of(Certificate& certificate) { return *std::get<Refuted>(certificate.claim).word; }

const std::vector<Forgery> kOfAnyKind = {
    {"no proof", [](auto& c, auto&) { c.proof = {}; }},
    {"another order", [](auto& c, auto&) { c.order = parse_order("scan"); }},
    {"in chunks", [](auto& c, auto&) { c.order = parse_order("chunked:64"); }},
    {"every order", [](auto& c, auto&) { c.claim = Proved{.every_association = true}; }},
};

}  // namespace

TEST_CASE("forged tables of closed codewords") {
  const Network network = symmetric(3, 2, Swap::kUnnormalised);
  const Certificate good = *certify_closed_codewords(network, in_format(Precision::kBf16));
  reject_all(network, good, kOfAnyKind);
  reject_all(
      network, good,
      {{"claimed up to a length", [](auto& c, auto&) { c.claim = ProvedUpTo{5}; }},
       {"claimed refuted", [](auto& c, auto&) { c.claim = Refuted{}; }},
       {"claimed sampled", [](auto& c, auto&) { c.claim = Sampled{}; }},
       {"no layers", [](auto& c, auto&) { proof_of<ClosedCodewords>(c).layers.clear(); }},
       {"a layer too many",
        [](auto& c, auto&) { proof_of<ClosedCodewords>(c).layers.push_back(ClosedTable(table(c))); }},
       {"no codewords", [](auto& c, auto&) { table(c).codewords.clear(); }},
       {"no codewords and no places",
        [](auto& c, auto&) {
          table(c).codewords.clear();
          for (auto& next : table(c).next) next.clear();
        }},
       {"a codeword that is none", [](auto& c, auto&) { table(c).codewords[1] = 6; }},
       {"codewords exchanged", [](auto& c, auto&) { std::swap(table(c).codewords[1], table(c).codewords[2]); }},
       {"another start", [](auto& c, auto&) { std::swap(table(c).codewords[0], table(c).codewords[1]); }},
       {"a codeword twice", [](auto& c, auto&) { table(c).codewords[1] = table(c).codewords[0]; }},
       {"places exchanged", [](auto& c, auto&) { std::swap(table(c).next[0][0], table(c).next[0][1]); }},
       {"moves exchanged", [](auto& c, auto&) { std::swap(table(c).next[0], table(c).next[1]); }},
       {"actions exchanged", [](auto& c, auto&) { std::swap(table(c).moves[0].action, table(c).moves[1].action); }},
       {"a place that is none", [](auto& c, auto&) { table(c).next[0][0] = 6; }},
       {"a huge place", [](auto& c, auto&) { table(c).next[2][5] = UINT32_MAX; }},
       {"a row too short", [](auto& c, auto&) { table(c).next[1].pop_back(); }},
       {"a move without a row", [](auto& c, auto&) { table(c).next.pop_back(); }},
       {"a move missing",
        [](auto& c, auto&) {
          table(c).next.pop_back();
          table(c).moves.pop_back();
        }},
       {"a move twice", [](auto& c, auto&) { table(c).moves[1] = table(c).moves[0]; }},
       {"an action that is none", [](auto& c, auto&) { table(c).moves[0].action = 3; }},
       {"a code book that is none", [](auto& c, auto&) { table(c).moves[0].book = 1; }},
       {"codewords left out that words reach",
        [](auto& c, auto&) {
          table(c).codewords.resize(1);
          for (auto& next : table(c).next) next = {0};
        }},
       {"weights of another letter",
        [](auto&, auto& n) { std::swap(n.layers[0].transitions[0], n.layers[0].transitions[1]); }},
       {"a weight a little off",
        [](auto&, auto& n) { std::get<ReflectionProduct>(n.layers[0].transitions[2].a).factors[0].beta = 0.9921875; }},
       {"a codeword a little off", [](auto&, auto& n) { n.layers[0].decoder.codewords[3](0, 0) += 0.0078125; }},
       {"a codeword that ties",
        [](auto&, auto& n) { n.layers[0].decoder.codewords[3] = n.layers[0].decoder.codewords[4]; }},
       {"another automaton",
        [](auto&, auto& n) {
          std::vector<State> states(n.automaton.table().begin(), n.automaton.table().end());
          std::swap(states[1], states[2]);
          n.automaton = automaton(3, states);
        }},
       {"another readout", [](auto&, auto& n) { std::swap(n.readout.next[0][1], n.readout.next[0][2]); }}});
}

TEST_CASE("forged tables of several layers") {
  const Network network = flip_flop_toggle();
  const Certificate good = *certify_closed_codewords(network, in_format(Precision::kFp32));
  reject_all(network, good, kOfAnyKind);
  reject_all(network, good,
             {{"layers exchanged", [](auto& c, auto&) { std::swap(table(c, 0), table(c, 1)); }},
              {"the upper layer never moves",
               [](auto& c, auto&) {
                 table(c, 1).next = {{0, 1}, {0, 1}};
               }},
              {"another wiring", [](auto&, auto& n) { n.layers[0].wiring.next[1] = 0; }},
              {"wiring that ends", [](auto&, auto& n) { n.layers[0].wiring.next[1] = kNoContext; }},
              {"a readout with a hole", [](auto&, auto& n) { n.readout.next[1][3] = kNoContext; }},
              {"another B", [](auto&, auto& n) { n.layers[0].transitions[0].b(1, 0) = 0.5; }}});
  Certificate by_tuples = good;
  proof_of<ClosedCodewords>(by_tuples).by_induction = false;
  reject_all(network, by_tuples,
             {{"no tuples", [](auto& c, auto&) { tuples(c).clear(); }},
              {"a tuple fewer", [](auto& c, auto&) { tuples(c).pop_back(); }},
              {"another start", [](auto& c, auto&) { std::swap(tuples(c)[0], tuples(c)[1]); }},
              {"another state", [](auto& c, auto&) { tuples(c)[1].state ^= 1; }},
              {"another place", [](auto& c, auto&) { tuples(c)[1].places[1] ^= 1; }},
              {"a place that is none", [](auto& c, auto&) { tuples(c)[1].places[1] = 77; }},
              {"a place too few", [](auto& c, auto&) { tuples(c)[1].places.pop_back(); }},
              {"next tuples exchanged", [](auto& c, auto&) { std::swap(tuples(c)[0].next[0], tuples(c)[0].next[1]); }},
              {"a next tuple that is none", [](auto& c, auto&) { tuples(c)[0].next[0] = 77; }},
              {"a next tuple too few", [](auto& c, auto&) { tuples(c)[0].next.pop_back(); }},
              {"another wiring, by tuples", [](auto&, auto& n) { n.layers[0].wiring.next[1] = 0; }},
              {"wiring that ends, by tuples", [](auto&, auto& n) { n.layers[0].wiring.next[1] = kNoContext; }},
              {"a hole, by tuples", [](auto&, auto& n) { n.readout.next[1][3] = kNoContext; }}});
}

TEST_CASE("forged reachable sets") {
  const Network network = rotation(3, {0, 1, 2});
  const Certificate good = certify_reachable_set(network, in_format(Precision::kBf16));
  REQUIRE(good.is<Proved>());
  reject_all(network, good, kOfAnyKind);
  reject_all(network, good,
             {{"no pairs", [](auto& c, auto&) { pairs(c).clear(); }},
              {"a pair fewer", [](auto& c, auto&) { pairs(c).pop_back(); }},
              {"another start", [](auto& c, auto&) { std::swap(pairs(c)[0], pairs(c)[1]); }},
              {"another state", [](auto& c, auto&) { pairs(c)[5].state = (pairs(c)[5].state + 1) % 3; }},
              {"a state that is none", [](auto& c, auto&) { pairs(c)[5].state = 3; }},
              {"another label", [](auto& c, auto&) { pairs(c)[5].labels[0] = (pairs(c)[5].labels[0] + 1) % 3; }},
              {"no label", [](auto& c, auto&) { pairs(c)[5].labels.clear(); }},
              {"a last place more", [](auto& c, auto&) { pairs(c)[5].numbers[0][0] *= 1.0078125; }},
              {"a number that is none", [](auto& c, auto&) { pairs(c)[5].numbers[0][0] = std::nan(""); }},
              {"a number too few", [](auto& c, auto&) { pairs(c)[5].numbers[0].pop_back(); }},
              {"another phase", [](auto& c, auto&) { pairs(c)[5].phase = 1; }},
              {"another depth", [](auto& c, auto&) { pairs(c)[0].depth = 1; }},
              {"next pairs exchanged", [](auto& c, auto&) { std::swap(pairs(c)[5].next[0], pairs(c)[5].next[1]); }},
              {"a next pair that is none", [](auto& c, auto&) { pairs(c)[5].next[0] = 77; }},
              {"a next pair too few", [](auto& c, auto&) { pairs(c)[5].next.pop_back(); }},
              {"no next pairs", [](auto& c, auto&) { pairs(c)[5].next.clear(); }},
              {"in another arithmetic", [](auto& c, auto&) { c.arithmetic = Precision::kFp16; }},
              {"refuted", [](auto& c, auto&) { c.claim = Refuted{}; }},
              {"another turn", [](auto&, auto& n) {
                 n.layers[0].transitions[1].a = RotationBlocks{{{false, Turn{34, 100}}}};
               }}});
}

TEST_CASE("forged lengths") {
  const Network network = rotation(60, {7, 0});
  const Certificate refuted = certify(network, in_format(Precision::kBf16));
  REQUIRE(refuted.failing_word());
  const std::uint64_t failing = refuted.failing_word()->size();
  CertifyOptions few = in_format(Precision::kBf16, failing / 2);
  const Certificate good = certify_reachable_set(network, few);
  REQUIRE(good.is<ProvedUpTo>());
  REQUIRE(good.length() + 1 < failing);
  reject_all(network, good, kOfAnyKind);
  reject_all(network, good,
             {{"a letter more", [](auto& c, auto&) { c.claim = ProvedUpTo{c.length() + 1}; }},
              {"a letter fewer", [](auto& c, auto&) { c.claim = ProvedUpTo{c.length() - 1}; }},
              {"no letters", [](auto& c, auto&) { c.claim = ProvedUpTo{0}; }},
              {"2^64 − 1 letters", [](auto& c, auto&) { c.claim = ProvedUpTo{UINT64_MAX}; }},
              {"a letter more and deeper",
               [](auto& c, auto&) {
                 c.claim = ProvedUpTo{c.length() + 1};
                 for (ReachedPair& pair : pairs(c)) ++pair.depth;
                 pairs(c)[0].depth = 0;
               }},
              {"the last pairs go on to themselves",
               [](auto& c, auto&) {
                 c.claim = ProvedUpTo{c.length() + 1};
                 for (std::uint32_t i = 0; i < pairs(c).size(); ++i)
                   if (pairs(c)[i].next.empty()) pairs(c)[i].next = {i, i};
               }},
              {"less deep than their words are long",
               [](auto& c, auto&) {
                 c.claim = ProvedUpTo{c.length() + 1};
                 for (ReachedPair& pair : pairs(c)) pair.depth = 0;
               }},
              {"every length", [](auto& c, auto&) { c.claim = Proved{}; }}});
}

TEST_CASE("forged refutations") {
  const Network network = rotation(60, {7, 0});
  const Certificate good = certify(network, in_format(Precision::kBf16));
  reject_all(network, good, kOfAnyKind);
  reject_all(
      network, good,
      {{"a letter fewer", [](auto& c, auto&) { word_of(c).pop_back(); }},
       {"the empty word", [](auto& c, auto&) { word_of(c) = Word{}; }},
       {"another first letter", [](auto& c, auto&) { word_of(c).front() ^= 1; }},
       {"expected and given exchanged",
        [](auto& c, auto&) {
          FailingRun& run = proof_of<FailingRun>(c);
          const State given = run.given.value_or(0);
          run.given = std::exchange(run.expected, given);
        }},
       {"nothing given",
        [](auto& c, auto&) {
          FailingRun& run = proof_of<FailingRun>(c);
          run.given = run.given ? std::nullopt : std::optional<State>(1);
        }},
       {"given as expected", [](auto& c, auto&) { proof_of<FailingRun>(c).given = proof_of<FailingRun>(c).expected; }},
       {"in a finer arithmetic", [](auto& c, auto&) { c.arithmetic = Precision::kFp32; }},
       {"shorter words not shown", [](auto& c, auto&) { proof_of<FailingRun>(c).shorter.clear(); }},
       {"a shorter pair fewer", [](auto& c, auto&) { proof_of<FailingRun>(c).shorter.pop_back(); }},
       {"claimed proved", [](auto& c, auto&) { c.claim = Proved{}; }}});
  Certificate longer = good;
  word_of(longer).push_back(1);  // turns by nothing: still wrong, but not a shortest word
  std::get<Refuted>(longer.claim).shortest = false;
  REQUIRE(recheck(longer, network).established);
  std::get<Refuted>(longer.claim).shortest = true;
  CHECK_FALSE(recheck(with_steps(longer, network), network).established);

  const Certificate random = random_refutation(network, Precision::kBf16, 4);
  reject_all(network, random,
             {{"another seed", [](auto& c, auto&) { ++proof_of<FailingRun>(c).random->seed; }},
              {"another stream", [](auto& c, auto&) { proof_of<FailingRun>(c).random->stream += 2; }},
              {"a letter fewer", [](auto& c, auto&) { --proof_of<FailingRun>(c).random->letters; }},
              {"no letters", [](auto& c, auto&) { proof_of<FailingRun>(c).random->letters = 0; }},
              {"called shortest", [](auto& c, auto&) { std::get<Refuted>(c.claim).shortest = true; }}});
}

TEST_CASE("forged samples") {
  const Network network = rotation(60, {7, 0});
  const Certificate good = sampled_certificate(Precision::kBf16, {4, 2, 100});
  reject_all(network, good, kOfAnyKind);
  reject_all(network, good,
             {{"no words", [](auto& c, auto&) { proof_of<SampledWords>(c).words = 0; }},
              {"no letters", [](auto& c, auto&) { proof_of<SampledWords>(c).length = 0; }},
              {"more letters than are right", [](auto& c, auto&) { proof_of<SampledWords>(c).length = 20'000; }},
              {"called a proof", [](auto& c, auto&) { c.claim = Proved{}; }},
              {"called a proof up to a length", [](auto& c, auto&) { c.claim = ProvedUpTo{100}; }}});
}

TEST_CASE("a dense form that closes does not vouch for the structured one") {
  const Network network = symmetric(3, 2, Swap::kUnit);
  const Certificate good = certify(network, in_format(Precision::kFp32, 100'000, Form::kDense));
  REQUIRE(std::holds_alternative<ClosedCodewords>(good.proof));
  reject_all(network, good, {{"structured", [](auto& c, auto&) { c.form = Form::kStructured; }}});
}

TEST_CASE("forged claims beside a language of their own") {
  Network network = rotation(3, {0, 1, 2});
  network.automaton = counter(3, {0, 0, 0});
  const Certificate proved = against(network, counter(3, {0, 1, 2}), Precision::kBf16);
  REQUIRE(std::holds_alternative<ReachedPairs>(proved.proof));
  reject_all(
      network, proved,
      {{"without the language", [](auto& c, auto&) { c.language.reset(); }},
       {"another language",
        [](auto& c, auto&) {
          c.language->automaton = counter(3, {0, 2, 1});
        }},
       {"another answer", [](auto& c, auto&) { std::swap(c.language->wanted[1], c.language->wanted[2]); }},
       {"an answer that is never given", [](auto& c, auto&) { c.language->wanted[2] = TrackedAutomaton::kNeverGiven; }},
       {"a state to which no word leads",
        [](auto& c, auto&) { c.language->wanted[2] = TrackedAutomaton::kNoSuchWord; }},
       {"operations", [](auto& c, auto&) { c.operations = std::make_shared<Operations>(); }},
       {"another output of the network's states", [](auto&, auto& n) { n.readout.next[0][0] = 1; }}});
  const Certificate refuted = against(rotation(3, {0, 1, 2}), counter(3, {0, 2, 1}), Precision::kFp32);
  REQUIRE(std::holds_alternative<FailingRun>(refuted.proof));
  reject_all(rotation(3, {0, 1, 2}), refuted,
             {{"its own automaton", [](auto& c, auto&) { c.language.reset(); }},
              {"another state", [](auto& c, auto&) { proof_of<FailingRun>(c).expected ^= 1; }},
              {"no answer", [](auto& c, auto&) { proof_of<FailingRun>(c).given.reset(); }},
              {"a word that is right", [](auto& c, auto&) { word_of(c) = {0}; }},
              {"what is not asked for", [](auto& c, auto&) {
                 c.language->wanted.assign(c.language->wanted.size(), TrackedAutomaton::kNotAsked);
               }}});
}

TEST_CASE("a certificate of one model is none of another") {
  const std::vector<SampleCertificate> samples = sample_certificates();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::string text = format_certificate(samples[i].certificate, samples[i].network);
    for (std::size_t j = 0; j < samples.size(); ++j) {
      const bool same = format_certificate(samples[i].certificate, samples[j].network) == text;
      CAPTURE(samples[i].name);
      CAPTURE(samples[j].name);
      if (same)
        CHECK_NOTHROW(parse_certificate(text, "memory", samples[j].network));
      else
        CHECK_THROWS_AS(parse_certificate(text, "memory", samples[j].network), InputError);
    }
  }
}

namespace {

/// A counter modulo 4 on pairs of ones that are moved by maps, which the re-checker follows one by one.
Network doubled_counter() {
  Layer layer;
  layer.labels = 4;
  layer.dimension = 8;
  layer.decoder.unit_copies = 2;
  layer.initial = codeword(layer, 0);
  layer.transitions.push_back({MapMatrix{Transformation::from_images({1, 2, 3, 0, 5, 6, 7, 4})}, {}});
  layer.transitions.push_back({MapMatrix{Transformation::from_images({6, 7, 4, 5, 2, 3, 0, 1})}, {}});
  layer.wiring = letter_wiring(2);
  return {counter(4, {1, 2}), {std::move(layer)}, Readout{{identity_readout(4)}}, {}};
}

void set_map(Network& network, std::vector<Point> images) {
  network.layers[0].transitions[0].a = MapMatrix{Transformation::from_images(std::move(images))};
}

}  // namespace

TEST_CASE("forged tables of one-hot states that maps move") {
  const Network network = doubled_counter();
  for (const Form form : {Form::kStructured, Form::kDense}) {
    const Certificate good = *certify_closed_codewords(network, in_format(Precision::kBf16, 1000, form));
    reject_all(network, good,
               {{"another target", [](auto& c, auto&) { std::swap(table(c).next[0][0], table(c).next[0][1]); }},
                {"two states to one", [](auto& c, auto&) { table(c).next[0][0] = table(c).next[0][1]; }},
                {"a book that is empty",
                 [](auto& c, auto& n) {
                   table(c).moves[0].book = 1, n.layers[0].book_of_context = {1, 0};
                 }},
                {"a one too far",
                 [](auto&, auto& n) {
                   set_map(n, {1, 2, 3, 0, 6, 5, 7, 4});
                 }},
                {"ones that meet",
                 [](auto&, auto& n) {
                   set_map(n, {1, 2, 3, 0, 1, 2, 3, 0});
                 }},
                {"ones that meet elsewhere",
                 [](auto&, auto& n) {
                   set_map(n, {5, 6, 7, 4, 5, 6, 7, 4});
                 }},
                {"a B beside the map", [](auto&, auto& n) { n.layers[0].transitions[0].b = codeword(n.layers[0], 0); }},
                {"a map that negates",
                 [](auto&, auto& n) {
                   n.layers[0].transitions[0].a = SignedPermutationMatrix{
                       Permutation::from_images({1, 2, 3, 0, 5, 6, 7, 4}), {1, 1, 1, 1, 1, 1, 1, -1}};
                 }},
                {"another oracle", [](auto&, auto& n) {
                   n.automaton = counter(4, {1, 3});
                 }}});
    Network exchanged = network;  // the ones of a pair may change places
    set_map(exchanged, {5, 6, 7, 4, 1, 2, 3, 0});
    CHECK(recheck(good, exchanged).established);
  }
}
