#include <cstdio>

#include "krohn/constructions/network/matrix.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/check/recheck_network.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/pair_search.h"
#include "krohn/simulate/prove/self_check.h"
#include "tests/simulate/check/sample_certificates.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;

using krohn::test::Scratch;

namespace {

/// `text` with the first `old_part` replaced.
std::string with(std::string text, const std::string& old_part, const std::string& new_part) {
  const std::size_t at = text.find(old_part);
  REQUIRE_MESSAGE(at != std::string::npos, old_part);
  return text.replace(at, old_part.size(), new_part);
}

}  // namespace

TEST_CASE("a certificate of each kind is established and survives its file") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    CAPTURE(name);
    const Recheck found = recheck(certificate, network);
    CHECK_MESSAGE(found.established, found.finding);
    const std::string text = format_certificate(certificate, network);
    const Certificate again = parse_certificate(text, "memory", network);
    CHECK((again.claim == certificate.claim));
    CHECK(again.arithmetic == certificate.arithmetic);
    CHECK(again.form == certificate.form);
    CHECK(again.order == certificate.order);
    CHECK(again.proof == certificate.proof);
    CHECK(format_certificate(again, network) == text);
  }
}

TEST_CASE("the file of a certificate, written out") {
  const Network network = rotation(4, {1});
  const Certificate proved = certify(network, in(Precision::kFp16));
  const std::string text = format_certificate(proved, network);
  CHECK(test::contains(
      text,
      R"("arithmetic":"fp16","form":"structured","order":"sequential","claim":"proved","method":"closed codewords"}
{"step":"codewords","layer":0,"codewords":[0,1,2,3]}
{"step":"move","layer":0,"action":0,"book":0,"next":[1,2,3,0]}
{"step":"induction"}
{"step":"end","lines":4}
)"));
  const Network drifts = rotation(60, {7});
  const Certificate refuted = with_steps(certify(drifts, in(Precision::kBf16)), drifts);
  REQUIRE(refuted.is<Refuted>());
  CHECK(test::contains(format_certificate(refuted, drifts), R"(
{"step":"word","letters":["0"],"times":)"));
  // Numbers in the format's own bits: cos and sin of 7/60 of a turn, of 0, in bf16.
  CHECK(format_certificate(refuted, drifts)
            .find(R"({"step":"pair","depth":0,"state":0,"labels":[0],"bits":["3f800000"],"next":[1]}
{"step":"pair","depth":1,"state":7,"labels":[7],"bits":["3f3e3f2b"],"next":[2]}
)") != std::string::npos);
}

TEST_CASE("bits of every format, at its bounds") {
  struct Fact {
    ArithmeticName arithmetic;
    double number;
    const char* bits;
  };
  const Network network = rotation(4, {1});
  for (const Fact& fact : {Fact{Precision::kBf16, 1, "3f80"},
                           {Precision::kBf16, -0x1p-133, "8001"},
                           {Precision::kBf16, 0x1.fep127, "7f7f"},
                           {Precision::kFp16, 0x1p-14, "0400"},
                           {Precision::kFp16, -0x1p-24, "8001"},
                           {Precision::kFp16, 65504, "7bff"},
                           {Precision::kFp32, 0x1p-149, "00000001"},
                           {Precision::kFp32, -0x1p-126, "80800000"},
                           {Precision::kFp64, 0x1p-1074, "0000000000000001"},
                           {Precision::kFp64, -0x1.fffffffffffffp1023, "ffefffffffffffff"},
                           {IntegerType{8, false, false}, 255, "ff"},
                           {IntegerType{8, true, true}, -128, "80"},
                           {IntegerType{16, true, false}, -2, "fffe"},
                           {IntegerType{32, false, true}, 0x1p31, "80000000"}}) {
    CAPTURE(fact.bits);
    Certificate certificate{.claim = Proved{}, .arithmetic = fact.arithmetic, .method = "closed reachable set"};
    certificate.proof = ReachedPairs{1, 0, {ReachedPair{0, 0, {0}, 0, {{fact.number, -0.0}}, {0}}}};
    const std::string text = format_certificate(certificate, network);
    CHECK(test::contains(text, fact.bits + std::string(std::string(fact.bits).size(), '0') + "\""));
    CHECK(parse_certificate(text, "memory", network).proof == certificate.proof);
  }
}

TEST_CASE("what names the model changes with the weights and the automaton and with nothing else") {
  Network network = rotation(4, {1});
  const std::string text = format_certificate(certify(network, {}), network);
  Network renamed = network;
  renamed.provenance.note = "another note";
  renamed.automaton = Dfa(network.automaton).with_state_names({"a", "b", "c", "d"});
  CHECK(format_certificate(certify(renamed, {}), renamed) == text);
  Network turned = network;
  turned.layers[0].transitions[0].a = RotationBlocks{{{false, Turn{3, 4}}}};
  Network nudged = network;
  nudged.layers[0].decoder.codewords[2](0, 0) -= 0x1p-50;
  Network other_outputs = network;
  other_outputs.automaton = Dfa::acceptor(network.automaton.alphabet(), {1, 2, 3, 0}, 0, {true, true, false, true});
  for (const Network& other : {turned, nudged, other_outputs})
    CHECK_THROWS_AS(parse_certificate(text, "memory", other), InputError);
}

TEST_CASE("a file that is not exactly a certificate is refused by place") {
  const Network network = rotation(4, {1});
  const std::string good = format_certificate(certify(network, in(Precision::kFp16)), network);
  CHECK_NOTHROW(parse_certificate(good, "good.json", network));
  struct Case {
    std::string text, message;
  };
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  for (const auto& [text, message] : {
           Case{"", "breaks off"},
           Case{"{}\n", "not a certificate"},
           Case{good + "x", "something follows the end"},
           Case{good.substr(0, good.size() - 1), "breaks off"},
           Case{good.substr(0, good.size() / 2), "breaks off"},
           Case{with(good, "{\"step\":\"induction\"}\n", ""), "3 lines come before"},
           Case{with(good, "\"lines\":4", "\"lines\":5"), "4 lines come before"},
           Case{with(good, "\"step\":\"induction\"", "\"step\":\"faith\""), "does not belong here: \"faith\""},
           Case{with(good, "{\"step\":\"codewords\"", "{\"step\":\"pair\""), "expected the step \"codewords\""},
           Case{with(good, "{\"step\":\"induction\"}", "[]"), "expected a step"},
           Case{with(good, "\"layer\":0", "\"layer\":1"), "a step of another layer"},
           Case{with(good, "\"form\"", "\"shape\""), "\"form\" is missing"},
           Case{with(good, "\"form\"", "\"note\":\"!\",\"form\""), "the unknown member \"note\""},
           Case{with(good, "\"form\":\"structured\"", "\"form\":\"structured\",\"form\":\"dense\""), "is given twice"},
           Case{with(good, "\"action\":0", "\"action\":0,\"note\":0"), "the unknown member \"note\""},
           Case{with(good, "krohn.certificate", "krohn.network"), "not a certificate"},
           Case{with(good, "\"version\":2", "\"version\":1"), "another version"},
           Case{with(good, "\"version\":2", "\"version\":2.0"), "expected an integer"},
           Case{with(good, "\"version\":2", "\"version\":true"), "expected an integer"},
           Case{with(good, "fp16", "fp8"), "fp8"},
           Case{with(with(good, "fp16", "exact"), "closed codewords", "closed reachable set"),
                "are of closed codewords"},
           Case{with(good, "structured", "sparse"), "sparse"},
           Case{with(good, "sequential", "scan"), "\"sequential\" and \"any\""},
           Case{with(good, "sequential", "any"), "does not give a claim"},
           Case{with(with(good, "sequential", "any"), "fp16", "fp16+fma"), "is of fp64, fp32, fp16 and bf16"},
           Case{with(good, "\"proved\"", "\"certain\""), "unknown claim"},
           Case{with(good, "\"proved\"", "\"sampled\""), "does not give a claim"},
           Case{with(good, "\"proved\"", "\"proved up to a length\""), "\"length\" is missing"},
           Case{with(good, "\"method\"", "\"length\":5,\"method\""), "the unknown member \"length\""},
           Case{with(good, "\"proved\"", "\"proved up to a length\",\"length\":0"), "at least one letter"},
           Case{with(good, "closed codewords", "faith"), "does not give a claim"},
           Case{with(good, "[0,1,2,3]", "[0,1,2,-3]"), "expected an integer"},
           Case{with(good, "[0,1,2,3]", "[0,1,2,3e0]"), "expected an integer"},
           Case{with(good, "[0,1,2,3]", "[0,1,2,4294967296]"), "expected an integer"},
           Case{with(good, "[0,1,2,3]", "[0,1,2,1e999]"), "too large"},
           Case{with(good, "[0,1,2,3]", "[0,1,2,NaN]"), "bad.json, line 2, column 50: not valid JSON"},
           Case{with(good, "[0,1,2,3]", "{}"), "expected a JSON array"},
           Case{with(good, "[0,1,2,3]", deep), "nested deeper"},
           Case{with(good, "\"weights\":\"", "\"weights\":\"0"), "other weights"},
           Case{with(good, "\"automaton\":\"", "\"automaton\":\"0"), "give the model"},
       }) {
    CAPTURE(text);
    const std::string said = test::error_of([&] { parse_certificate(text, "bad.json", network); });
    CHECK_MESSAGE(said.starts_with("bad.json"), said);
    CHECK_MESSAGE(test::contains(said, message), said);
  }
}

TEST_CASE("words are letters of the model's alphabet") {
  const Network network = rotation(60, {7});
  const Certificate refuted = with_steps(certify(network, in(Precision::kBf16)), network);
  const std::string good = format_certificate(refuted, network);
  for (const char* wrong : {"[\"1\"]", "[0]", "[]"})
    CHECK_THROWS_AS(parse_certificate(with(good, "[\"0\"]", wrong), "memory", network), InputError);
  CHECK_THROWS_AS(parse_certificate(with(good, "\"times\":", "\"times\":0,\"was\":"), "memory", network), InputError);
  CHECK_THROWS_AS(parse_certificate(with(good, "\"times\":", "\"times\":9999999999999"), "memory", network),
                  LimitError);
}

TEST_CASE("an outcome without a proof is not written") {
  const Network network = rotation(4, {1});
  Certificate certificate;
  CHECK_THROWS_AS(format_certificate(certificate, network), InputError);
  certificate.claim = Refuted{};
  certificate.proof = FailingRun{};
  CHECK_THROWS_AS(format_certificate(certificate, network), InputError);
}

TEST_CASE("the file is whole or absent") {
  const Network network = rotation(4, {1});
  const Scratch scratch("saved-certificate");
  const std::string path = (scratch / "saved.cert.json").string();
  const Certificate certificate = certify(network, in(Precision::kFp16));
  save_certificate(certificate, network, path);
  CHECK(load_certificate(path, network).proof == certificate.proof);
  std::remove(path.c_str());
  CHECK_THROWS_AS(load_certificate(path, network), SystemError);
}

// Certificates that somebody wrote by hand to be believed: each starts from a true one and claims more, or something
// else.

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
  const Certificate good = *certify_closed_codewords(network, in(Precision::kBf16));
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
  const Certificate good = *certify_closed_codewords(network, in(Precision::kFp32));
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
  const Certificate good = certify_reachable_set(network, in(Precision::kBf16));
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
  const Certificate refuted = certify(network, in(Precision::kBf16));
  REQUIRE(refuted.failing_word());
  const std::uint64_t failing = refuted.failing_word()->size();
  CertifyOptions few = in(Precision::kBf16, failing / 2);
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
  const Certificate good = certify(network, in(Precision::kBf16));
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
  const Certificate good = certify(network, in(Precision::kFp32, 100'000, {}, Form::kDense));
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
    const Certificate good = *certify_closed_codewords(network, in(Precision::kBf16, 1000, {}, form));
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

// The checker's cosines beside those of the networks: two ways through the integers that share no line.

TEST_CASE("weights of rotations are the checker's in every format") {
  for (const Precision precision : {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16})
    with_format(precision, [&](auto format) {
      using Format = decltype(format);
      const DeterministicArithmetic in(to_string(precision));
      const auto agree = [&](const Turn& turn) {
        CAPTURE(turn.numerator);
        CAPTURE(turn.denominator);
        const double cosine = to_double(round_weight<Format>(turn.cosine()));
        const double sine = to_double(round_weight<Format>(turn.sine()));
        const Turn t = turn.normalised();
        if (in.cosine(t.numerator, t.denominator) != cosine) CHECK(in.cosine(t.numerator, t.denominator) == cosine);
        if (in.sine(t.numerator, t.denominator) != sine) CHECK(in.sine(t.numerator, t.denominator) == sine);
      };
      for (std::int64_t q = 1; q <= 60; ++q)
        for (std::int64_t p = 0; p < q; ++p) agree({p, q});
      // Sines below the least numbers of fp16, some of them near to half of the least; and the least turn.
      for (std::int64_t q = std::int64_t{1} << 12; q <= std::int64_t{1} << 56; q *= 2)
        for (const std::int64_t p : {1, 3, 5, 11}) agree({p, q + 1 <= std::int64_t{1} << 56 ? q + 1 : q});
    });
}

TEST_CASE("an enclosure is made narrower until one number is nearest") {
  // cos(2π/q) = 1 − 2π²/q² is near to 1, and to the number below it, half-way between them at q = 2π 2^27 …; one
  // number on each side of that.
  const double edge = 2 * M_PI * 0x1p26 * std::sqrt(2.0);
  for (const double factor : {0.999999, 1.000001}) {
    const auto q = static_cast<std::int64_t>(edge * factor);
    const double given = nearest_cosine(1, q, 53, -1022);
    CHECK(given == (factor < 1 ? 1 - 0x1p-53 : 1));
  }
  CHECK(nearest_cosine(0, 1, 53, -1022) == 1);
  CHECK(nearest_cosine(1, 2, 53, -1022) == -1);
  CHECK(nearest_cosine(1, 3, 53, -1022) == -0.5);
  CHECK(nearest_cosine(5, 6, 53, -1022) == 0.5);
  CHECK(nearest_cosine(3, 4, 53, -1022) == 0);
  CHECK(nearest_cosine(-7, 6, 53, -1022) == 0.5);
}

namespace {

/// RecheckedNumbers of all sizes, many of them halfway between two of a small format.
double random_number(std::mt19937_64& random) {
  const auto mantissa = static_cast<double>(static_cast<std::int64_t>(random() >> 40) - (1 << 23));
  const int exponent = static_cast<int>(random() % 60) - 50;
  return std::ldexp(std::round(mantissa / 8192) + static_cast<double>(random() % 3) / 2, exponent);
}

float random_float(std::mt19937_64& random) {
  const auto mantissa = static_cast<float>(static_cast<std::int32_t>(random() >> 40) - (1 << 23));
  return std::ldexp(mantissa, static_cast<int>(random() % 40) - 40);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

TEST_CASE("the re-checker's arithmetic is the prover's") {
  std::mt19937_64 random(11);
  for (const ArithmeticName name : ArithmeticName::all()) {
    CAPTURE(to_string(name));
    const DeterministicArithmetic plain(to_string(name));
    with_arithmetic(name, [&](auto type) {
      using A = decltype(type);
      for (int i = 0; i < 20'000; ++i) {
        const long double weight = static_cast<long double>(random_number(random)) * (1 + 0x1p-60L);
        const auto a = round_weight<A>(weight);
        const auto b = A::load(round_weight<A>(random_number(random)));
        const auto c = A::add(b, A::load(round_weight<A>(random_number(random))));
        CAPTURE(to_double(a));
        CAPTURE(to_double(b));
        CAPTURE(to_double(c));
        REQUIRE(plain.weight(weight) == to_double(a));
        REQUIRE(same(plain.product(to_double(a), to_double(b)), to_double(A::product(a, b))));
        REQUIRE(same(plain.sum(to_double(b), to_double(c)), to_double(A::add(b, c))));
        REQUIRE(
            same(plain.sum_of_product(to_double(c), to_double(a), to_double(b)), to_double(A::add_product(c, a, b))));
        REQUIRE(same(plain.store(to_double(c)), to_double(A::store(c))));
      }
    });
  }
}

TEST_CASE("the re-checker's integers are the prover's, at both ends of every type") {
  std::mt19937_64 random(13);
  for (const ArithmeticName name : kIntegerTypes) {
    CAPTURE(to_string(name));
    const DeterministicArithmetic plain(to_string(name));
    const RoundedOperations in(name);
    const auto least = static_cast<double>(name.integer().least()),
               most = static_cast<double>(name.integer().greatest());
    std::vector<double> numbers{
        least, least + 1, most - 1, most, 0, 1, 2, std::floor(most / 2), std::floor(most / 2) + 1};
    for (int i = 0; i < 12; ++i)
      numbers.push_back(static_cast<double>(name.integer().least() +
                                            static_cast<std::int64_t>(random() >> (64 - name.integer().bits))));
    for (const double a : numbers) {
      REQUIRE(plain.weight(a) == a);
      REQUIRE(in.round(a) == a);
      REQUIRE(plain.store(-a) == in.store(-a));
      for (const double b : numbers) {
        REQUIRE(plain.product(a, b) == in.product(a, b));
        REQUIRE(plain.sum(-a, b) == in.add(-a, b));
        for (const double c : numbers) REQUIRE(plain.sum_of_product(c, -a, b) == in.add_product(c, -a, b));
      }
    }
    for (const double none : {least - 1, most + 1, 0.5, 0x1p200, std::nan("")}) {
      CHECK(std::isnan(in.round(none)));
      CHECK_THROWS_AS(static_cast<void>(plain.weight(none)), NotEstablished);
    }
    CHECK(plain.cosine(1, 1) == 1);
    CHECK_THROWS_AS(static_cast<void>(plain.cosine(1, std::int64_t{1} << 50)), NotEstablished);
  }
  for (const char* name : {"u9", "u8-", "i-saturating", "u8+fma", "i64", "u8-saturated", "", "fp8", "fp32+",
                           "fp32/fp32", "fp64/fp32", "tf32+fma", "bf16/fp64", "fp16+fma+fma"}) {
    CHECK_THROWS_AS(ArithmeticName::parse(name), InputError);
    CHECK_THROWS_AS(DeterministicArithmetic{name}, InputError);
  }
}

TEST_CASE("fused operations round once") {
  std::mt19937_64 random(12);
  const DeterministicArithmetic fp64("fp64+fma"), fp32("fp32+fma"), apart("fp32");
  int differ = 0;
  for (int i = 0; i < 20'000; ++i) {
    const float a = random_float(random), b = random_float(random);
    const float c = i % 2 == 0 ? random_float(random) : -std::nextafter(a * b, 0.0F);
    REQUIRE(fp32.sum_of_product(c, a, b) == std::fma(a, b, c));
    REQUIRE(fp64.sum_of_product(c, a, b) == std::fma(double{a}, double{b}, double{c}));
    differ += fp32.sum_of_product(c, a, b) != apart.sum_of_product(c, a, b);
  }
  CHECK(differ > 1000);
  const double halfway = 0x1.000001p0;
  for (const double tiny : {0x1p-100, -0x1p-100})  // 1.0625² is halfway in bf16
    CHECK(DeterministicArithmetic("bf16+fma").sum_of_product(tiny, 1.0625, 1.0625) == (tiny > 0 ? 0x1.22p0 : 0x1.2p0));
  CHECK(DeterministicArithmetic("fp32").weight(halfway) == 1);
  CHECK(DeterministicArithmetic("fp32").weight(static_cast<long double>(halfway) + 0x1p-60L) == 0x1.000002p0);
}

TEST_CASE("limits are said, not taken for an answer") {
  const Network network = rotation(60, {7, 0});
  const Certificate refuted = certify(network, in(Precision::kBf16));
  const std::uint64_t letters = refuted.failing_word()->size();
  CHECK_THROWS_AS(recheck(refuted, network, {letters - 1}), LimitError);
  CHECK_THROWS_AS(with_steps(refuted, network, {.max_steps = letters / 2}), LimitError);
  CHECK_THROWS_AS(recheck(sampled_certificate(Precision::kFp32, {1, UINT64_MAX, UINT64_MAX}), network), LimitError);
}

TEST_CASE("random beginnings are those of RandomWord, for alphabets of all kinds") {
  // The automaton remembers the last letter, so the state after a word tells how the word was drawn.
  for (const Letter letters : {2U, 3U, 5U, 16U, 17U, 257U}) {
    CAPTURE(letters);
    std::vector<State> table;
    for (State q = 0; q < letters; ++q)
      for (State letter = 0; letter < letters; ++letter) table.push_back(letter);
    const Dfa dfa = automaton(letters, table);
    Network wrong = one_hot(dfa);
    for (Context& state : wrong.readout.next[0]) state = kNoContext;
    Certificate certificate{.claim = Refuted{}};
    const RandomWord word(letters, 9, 1);
    for (std::uint64_t length = 1; length < 40; ++length) {
      certificate.proof = FailingRun{RandomBeginning{9, 1, length}, word.at(length - 1), std::nullopt};
      CHECK(recheck(certificate, wrong).established);
    }
  }
}

TEST_CASE("the re-checker reads states as the definition does, by a table of integers or by distances") {
  // Codewords of one book or two: integers, integers with a twin, and one that is no integer.
  const std::vector<std::vector<double>> codes[] = {
      {{0, 0}, {1, 0}, {0, 1}, {-2, 3}}, {{0, 0}, {1, 0}, {-0.0, 0}, {1, 0}}, {{0, 0}, {1, 0.5}, {0, 1}, {-2, 3}}};
  std::vector<std::vector<double>> states;
  for (const double x : {-2.0, -1.0, -0.0, 0.0, 0.25, 0.5, 1.0, 2.0})
    for (const double y : {-1.0, -0.0, 0.0, 0.5, 0.75, 1.0, 3.0}) states.push_back({x, y});
  states.push_back({std::numeric_limits<double>::infinity(), 0});
  states.push_back({0, std::numeric_limits<double>::quiet_NaN()});
  for (const auto& code : codes)
    for (const std::vector<std::uint32_t>& books : {std::vector<std::uint32_t>{}, {0, 1, 1, 0}, {0, 1, 0, 1}}) {
      Network network = rotation(4, {1});
      Layer& layer = network.layers[0];
      for (std::size_t i = 0; i < 4; ++i)
        layer.decoder.codewords[i] = Eigen::Map<const Eigen::MatrixXd>(code[i].data(), 2, 1);
      layer.decoder.book = books;
      const RecheckedNetwork plain(network, "fp64", Form::kStructured);
      for (std::uint32_t book = 0; book < (books.empty() ? 1U : 2U); ++book) {
        const NearestCodeword definition(layer, book);
        for (const std::vector<double>& state : states) {
          const Label expected = definition.reference(state);
          const std::optional<Label> found = plain.decode(0, book, state);
          REQUIRE(found.value_or(kNoLabel) == expected);
        }
      }
    }
}

TEST_CASE("SHA-256 of the standard's examples and of every length around a block") {
  struct Fact {
    std::string bytes;
    const char* digest;
  };
  const auto so_many = [](std::size_t length) { return std::string(length, 'x'); };
  // FIPS 180-2, appendix B, the empty message, and NIST's SHA256ShortMsg vector of one byte; and sha256sum of so many
  // bytes 'x', whose padding takes one block or two.
  for (const auto& [bytes, digest] :
       {Fact{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        Fact{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        Fact{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        Fact{"\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
        Fact{std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        Fact{so_many(55), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        Fact{so_many(56), "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        Fact{so_many(63), "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        Fact{so_many(64), "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        Fact{so_many(65), "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        Fact{so_many(119), "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        Fact{so_many(120), "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"}})
    CHECK_MESSAGE(sha256(bytes) == digest, bytes.size());
}
