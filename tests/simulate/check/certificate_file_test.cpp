#include "krohn/simulate/check/certificate_file.h"

#include <doctest/doctest.h>

#include <cstdio>

#include "krohn/groups/error.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/steps.h"
#include "tests/scratch.h"
#include "tests/simulate/check/sample_certificates.h"

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

TEST_CASE("a certificate of each kind survives its file") {
  for (const auto& [name, network, certificate] : sample_certificates()) {
    CAPTURE(name);
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
  const Certificate proved = certify(network, in_format(Precision::kFp16));
  const std::string text = format_certificate(proved, network);
  CHECK(
      text.find(
          R"("arithmetic":"fp16","form":"structured","order":"sequential","claim":"proved","method":"closed codewords"}
{"step":"codewords","layer":0,"codewords":[0,1,2,3]}
{"step":"move","layer":0,"action":0,"book":0,"next":[1,2,3,0]}
{"step":"induction"}
{"step":"end","lines":4}
)") != std::string::npos);
  const Network drifts = rotation(60, {7});
  const Certificate refuted = with_steps(certify(drifts, in_format(Precision::kBf16)), drifts);
  REQUIRE(refuted.is<Refuted>());
  CHECK(format_certificate(refuted, drifts).find(R"(
{"step":"word","letters":["0"],"times":)") != std::string::npos);
  // Numbers in the format's own bits: cos and sin of 7/60 of a turn, of 0, in bf16.
  CHECK(format_certificate(refuted, drifts)
            .find(R"({"step":"pair","depth":0,"state":0,"labels":[0],"bits":["3f800000"],"next":[1]}
{"step":"pair","depth":1,"state":7,"labels":[7],"bits":["3f3e3f2b"],"next":[2]}
)") != std::string::npos);
}

TEST_CASE("bits of every format, at its bounds") {
  struct Fact {
    Precision precision;
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
                           {Precision::kFp64, -0x1.fffffffffffffp1023, "ffefffffffffffff"}}) {
    CAPTURE(fact.bits);
    Certificate certificate;
    certificate.claim = Proved{};
    certificate.arithmetic = fact.precision;
    certificate.method = "closed reachable set";
    certificate.proof = ReachedPairs{1, 0, {ReachedPair{0, 0, {0}, 0, {{fact.number, -0.0}}, {0}}}};
    const std::string text = format_certificate(certificate, network);
    CHECK(text.find(fact.bits + std::string(std::string(fact.bits).size(), '0') + "\"") != std::string::npos);
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
  const std::string good = format_certificate(certify(network, in_format(Precision::kFp16)), network);
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
           Case{with(good, "\"form\":\"structured\"", "\"form\":\"structured\",\"form\":\"dense\""), "repeated key"},
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
           Case{with(good, "[0,1,2,3]", "[0,1,2,NaN]"), "not JSON"},
           Case{with(good, "[0,1,2,3]", "{}"), "expected a JSON array"},
           Case{with(good, "[0,1,2,3]", deep), "nested deeper"},
           Case{with(good, "\"weights\":\"", "\"weights\":\"0"), "other weights"},
           Case{with(good, "\"automaton\":\"", "\"automaton\":\"0"), "give the model"},
       }) {
    CAPTURE(text);
    std::string said;
    try {
      parse_certificate(text, "bad.json", network);
    } catch (const InputError& error) {
      said = error.what();
    }
    CHECK_MESSAGE(said.starts_with("bad.json"), said);
    CHECK_MESSAGE(said.find(message) != std::string::npos, said);
  }
}

TEST_CASE("words are letters of the model's alphabet") {
  const Network network = rotation(60, {7});
  const Certificate refuted = with_steps(certify(network, in_format(Precision::kBf16)), network);
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
  const Certificate certificate = certify(network, in_format(Precision::kFp16));
  save_certificate(certificate, network, path);
  CHECK(load_certificate(path, network).proof == certificate.proof);
  std::remove(path.c_str());
  CHECK_THROWS_AS(load_certificate(path, network), SystemError);
}
