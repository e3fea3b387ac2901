#include "krohn/simulate/check/certificate_file.h"

#include <fmt/format.h>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/constructions/files/strict_json.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/check/sha256.h"

namespace krohn {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "krohn.certificate";
constexpr std::uint32_t kVersion = 1;

constexpr const char* kClosedCodewords = "closed codewords";
constexpr const char* kReachableSet = "closed reachable set";
constexpr const char* kFailingWord = "failing word";
constexpr const char* kSampledWords = "sampled";
constexpr const char* kLinearHorizon = "linear horizon";

// ---- Writing

struct Written {
  const char* method;
  Json evidence;
};

Json table_json(const ClosedTable& table) {
  Json moves = Json::array();
  for (std::size_t move = 0; move < table.moves.size(); ++move)
    moves.push_back(
        {{"action", table.moves[move].action}, {"book", table.moves[move].book}, {"next", table.next[move]}});
  return {{"codewords", table.codewords}, {"moves", std::move(moves)}};
}

Json word_json(const Word& word, const Alphabet& alphabet) {
  Json names = Json::array();
  for (const Letter letter : word) names.push_back(alphabet.name(letter));
  return names;
}

/// One case per method.
struct WriteProof {
  const Certificate& certificate;
  const Alphabet& alphabet;

  Written operator()(const std::monostate&) const {
    throw InputError("this outcome has no proof that a file could hold");
  }

  Written operator()(const ClosedCodewords& proof) const {
    Json layers = Json::array();
    for (const ClosedTable& table : proof.layers) layers.push_back(table_json(table));
    return {kClosedCodewords,
            {{"emulation", proof.by_induction ? "induction" : "reachable"}, {"layers", std::move(layers)}}};
  }

  Written operator()(const ReachedPairs& proof) const {
    return {kReachableSet, {{"pairs", proof.pairs}, {"depth", proof.depth}}};
  }

  Written operator()(const FailingRun& run) const {
    Json evidence;
    if (run.random)
      evidence["random"] = {
          {"seed", run.random->seed}, {"stream", run.random->stream}, {"letters", run.random->letters}};
    else if (certificate.failing_word())
      evidence["word"] = word_json(*certificate.failing_word(), alphabet);
    else
      throw InputError("the failing word was too long to keep");
    evidence["expected"] = run.expected;
    evidence["given"] = run.given ? Json(*run.given) : Json(nullptr);
    evidence["shortest"] = certificate.is_shortest();
    return {kFailingWord, std::move(evidence)};
  }

  Written operator()(const SampledWords& proof) const {
    return {kSampledWords, {{"seed", proof.seed}, {"words", proof.words}, {"length", proof.length}}};
  }

  Written operator()(const LinearHorizon& proof) const {
    return {kLinearHorizon, {{"table", table_json(proof.table)}}};
  }
};

/// One member a line; what is below is not broken, so that tables stay short.
std::string one_member_a_line(const Json& json) {
  std::string text = "{";
  for (const auto& [key, value] : json.items())
    text += fmt::format("{}\n  {}: {}", text.size() > 1 ? "," : "", Json(key).dump(), value.dump());
  return text + "\n}\n";
}

// ---- Reading

/// What the text names, with the place in the message.
template <class Parse>
auto named(const StrictJson& json, Parse&& parse) {
  try {
    return parse(json.text());
  } catch (const InputError& error) {
    throw InputError(json.place(), error.what());
  }
}

Claim read_claim(const StrictJson& json) {
  const std::string text = json.text();
  for (Claim claim : {Claim{Proved{}}, Claim{ProvedUpTo{}}, Claim{Refuted{}}, Claim{Sampled{}}})
    if (text == to_string(claim)) return claim;
  throw InputError(json.place(), "unknown claim " + json.quoted());
}

ClosedTable read_table(const StrictJson& json) {
  json.require_keys({"codewords", "moves"});
  ClosedTable table{json["codewords"].numbers(), {}, {}};
  for (const StrictJson& move : json["moves"].items()) {
    move.require_keys({"action", "book", "next"});
    table.moves.push_back({move["action"].number(), move["book"].number()});
    table.next.push_back(move["next"].numbers());
  }
  return table;
}

ClosedCodewords read_closed_codewords(const StrictJson& json) {
  json.require_keys({"emulation", "layers"});
  const std::string emulation = json["emulation"].text();
  if (emulation != "induction" && emulation != "reachable")
    throw InputError(json.place(),
                     fmt::format("unknown emulation {}; known are induction, reachable", json["emulation"].quoted()));
  ClosedCodewords proof{{}, emulation == "induction"};
  for (const StrictJson& table : json["layers"].items()) proof.layers.push_back(read_table(table));
  return proof;
}

ReachedPairs read_reached_pairs(const StrictJson& json) {
  json.require_keys({"pairs", "depth"});
  return {json["pairs"].large_number(), json["depth"].large_number()};
}

LinearHorizon read_linear_horizon(const StrictJson& json, std::uint64_t length) {
  json.require_keys({"table"});
  return {read_table(json["table"]), length};
}

Word read_word(const StrictJson& json, const Alphabet& alphabet) {
  Word word;
  for (const StrictJson& name : json.items()) {
    const std::optional<Letter> letter = alphabet.find(name.text());
    if (!letter || alphabet.name(*letter) != name.text())
      throw InputError(name.place(), fmt::format("{} is not a letter of {}", name.quoted(), to_string(alphabet)));
    word.push_back(*letter);
  }
  return word;
}

void read_failing_run(const StrictJson& json, const Network& network, Certificate& certificate) {
  const bool is_random = json.has("random");
  json.require_keys({is_random ? "random" : "word", "expected", "given", "shortest"});
  FailingRun run;
  run.expected = json["expected"].number();
  if (!json["given"].is_null()) run.given = json["given"].number();
  Refuted refuted{{}, json["shortest"].truth()};
  if (is_random) {
    const StrictJson random = json["random"];
    random.require_keys({"seed", "stream", "letters"});
    run.random = {random["seed"].large_number(), random["stream"].large_number(), random["letters"].large_number()};
  } else {
    refuted.word = read_word(json["word"], network.automaton.alphabet());
  }
  certificate.claim = std::move(refuted);
  certificate.proof = run;
}

SampledWords read_sampled_words(const StrictJson& json) {
  json.require_keys({"seed", "words", "length"});
  return {json["seed"].large_number(), json["words"].large_number(), json["length"].large_number()};
}

void read_proof(const StrictJson& json, const Network& network, Certificate& certificate) {
  const std::string method = certificate.method;
  if (method == kClosedCodewords && certificate.is<Proved>())
    certificate.proof = read_closed_codewords(json);
  else if (method == kReachableSet && (certificate.is<Proved>() || certificate.is<ProvedUpTo>()))
    certificate.proof = read_reached_pairs(json);
  else if (method == kLinearHorizon && certificate.is<ProvedUpTo>())
    certificate.proof = read_linear_horizon(json, certificate.length());
  else if (method == kFailingWord && certificate.is<Refuted>())
    read_failing_run(json, network, certificate);
  else if (method == kSampledWords && certificate.is<Sampled>())
    certificate.proof = read_sampled_words(json);
  else
    throw InputError(json.place(),
                     fmt::format("the stated method does not give a claim \"{}\"", to_string(certificate.claim)));
}

void require_hash(const StrictJson& json, const std::string& hash, const char* what) {
  if (json.text() != hash)
    throw InputError(json.place(), fmt::format("the certificate is about other {} (SHA-256 {}) than the model's ({}); "
                                               "give the model that it was made for",
                                               what, json.quoted(), hash));
}

void require_members(const StrictJson& json) {
  if (json.has("claim") && json["claim"].text() == to_string(ProvedUpTo{}))
    json.require_keys({"format", "version", "weights", "automaton", "arithmetic", "form", "order", "claim", "length",
                       "method", "evidence"});
  else
    json.require_keys(
        {"format", "version", "weights", "automaton", "arithmetic", "form", "order", "claim", "method", "evidence"});
  if (json["format"].text() != kFormat) throw InputError(json.place(), "not a certificate of krohn");
  if (json["version"].number() != kVersion)
    throw InputError(json.place(),
                     fmt::format("version {}; this program reads {}", json["version"].number(), kVersion));
}

}  // namespace

std::uint64_t length_in_file(const Certificate& certificate) {
  const auto* horizon = std::get_if<LinearHorizon>(&certificate.proof);
  return horizon == nullptr ? certificate.length() : horizon->length;
}

std::string format_certificate(const Certificate& certificate, const Network& network) {
  const FloatEnvironment environment;
  Written proof = std::visit(WriteProof{certificate, network.automaton.alphabet()}, certificate.proof);
  Json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["weights"] = sha256(canonical_weights(network));
  json["automaton"] = sha256(canonical_automaton(network.automaton));
  json["arithmetic"] = to_string(certificate.arithmetic);
  json["form"] = to_string(certificate.form);
  json["order"] = to_string(certificate.order);
  json["claim"] = to_string(certificate.claim);
  if (certificate.is<ProvedUpTo>()) json["length"] = length_in_file(certificate);
  json["method"] = proof.method;
  json["evidence"] = std::move(proof.evidence);
  return one_member_a_line(json);
}

Certificate parse_certificate(const std::string& text, const std::string& where, const Network& network) {
  const FloatEnvironment environment;
  const StrictJson json = StrictJson::parse(text, where);
  require_members(json);
  require_hash(json["weights"], sha256(canonical_weights(network)), "weights");
  require_hash(json["automaton"], sha256(canonical_automaton(network.automaton)), "states");
  Certificate certificate;
  certificate.arithmetic = named(json["arithmetic"], ArithmeticName::parse);
  certificate.form = named(json["form"], parse_form);
  certificate.order = named(json["order"], parse_order);
  certificate.claim = read_claim(json["claim"]);
  if (certificate.is<ProvedUpTo>()) certificate.claim = ProvedUpTo{json["length"].large_number()};
  certificate.method = json["method"].text();
  read_proof(json["evidence"], network, certificate);
  return certificate;
}

void save_certificate(const Certificate& certificate, const Network& network, const std::string& path) {
  write_file(path, format_certificate(certificate, network));
}

Certificate load_certificate(const std::string& path, const Network& network) {
  return parse_certificate(read_text_file(path), path, network);
}

}  // namespace krohn
