#include "krohn/simulate/check/certificate_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/check/certificate_lines.h"
#include "krohn/simulate/check/sha256.h"

namespace krohn {
namespace {

using Json = nlohmann::ordered_json;

/// For operations: the format of their numbers; what they round further they say themselves.
ArithmeticName arithmetic_of(const Certificate& certificate) {
  return certificate.operations ? certificate.operations->format : certificate.arithmetic;
}

/// One case per method: the name of the method, and the steps.
class Steps {
 public:
  Steps(const Certificate& certificate, const CheckedModel& model)
      : certificate_(certificate),
        network_(model.network),
        bits_(certificate.arithmetic.is_exact() ? ArithmeticName(Precision::kFp64) : arithmetic_of(certificate)) {
    if (network_ != nullptr)
      outputs_ = network_->automaton.output_names();
    else if (!certificate.operations || !certificate.language)
      throw InputError("the certificate states no operations, or no language");
    if (certificate.operations)
      for (const Json& step : steps_of(*certificate.operations, bits_)) add(step);
    if (certificate.language) add(step_of(*certificate.language, outputs_));
  }

  std::vector<std::string> take() { return std::move(lines_); }

  const char* operator()(const std::monostate&) {
    throw InputError("this outcome has no proof that a file could hold");
  }

  const char* operator()(const ClosedCodewords& proof) {
    for (std::size_t k = 0; k < proof.layers.size(); ++k) add(proof.layers[k], k);
    if (proof.by_induction) add({{"step", "induction"}});
    if (!proof.by_induction && proof.tuples.empty()) throw InputError("the tuples of the certificate were not listed");
    for (const LabelTuple& tuple : proof.tuples)
      add({{"step", "tuple"}, {"state", tuple.state}, {"places", tuple.places}, {"next", tuple.next}});
    return kClosedCodewords;
  }

  const char* operator()(const AnyOrder& proof) {
    (*this)(proof.codewords);
    for (std::size_t k = 0; k < proof.layers.size(); ++k) {
      const LayerMaps& maps = proof.layers[k];
      if (maps.only_moves)
        add({{"step", "moves"}, {"layer", k}});
      else
        add({{"step", "maps"}, {"layer", k}, {"letters", maps.letters}});
      for (const LayerMaps::Map& map : maps.maps) {
        Json json{{"step", maps.only_moves ? "addition" : "map"}, {"layer", k}};
        if (!maps.only_moves) json["a"] = bits_.write(map.a);
        json["b"] = bits_.write(map.b);
        json["next"] = map.next;
        add(json);
      }
    }
    return kAnyOrder;
  }

  const char* operator()(const ReachedPairs& proof) {
    if (proof.list.empty()) throw InputError("the pairs of the certificate were not listed");
    for (const ReachedPair& pair : proof.list) add(pair, certificate_.is<ProvedUpTo>());
    return kReachableSet;
  }

  const char* operator()(const FailingRun& run) {
    if (run.random)
      add({{"step", "random"},
           {"seed", run.random->seed},
           {"stream", run.random->stream},
           {"letters", run.random->letters}});
    else if (certificate_.failing_word() == nullptr)
      throw InputError("the failing word was too long to keep");
    else
      add_word(*certificate_.failing_word());
    Json given;
    const bool is_named = certificate_.language && network_ != nullptr;
    if (run.given && !is_named) given = *run.given;
    if (run.given && is_named && *run.given < outputs_.size()) given = outputs_[*run.given];
    add({{"step", "answer"}, {"expected", run.expected}, {"given", given}});
    if (certificate_.is_shortest() && run.shorter.empty() && !certificate_.failing_word()->empty())
      throw InputError("the pairs of shorter words were not listed");
    for (const ReachedPair& pair : run.shorter) add(pair, true);
    return kFailingWord;
  }

  const char* operator()(const SampledWords& proof) {
    add({{"step", "words"}, {"seed", proof.seed}, {"words", proof.words}, {"length", proof.length}});
    return kSampledWords;
  }

  const char* operator()(const LinearHorizon& proof) {
    add(proof.table, 0);
    return kLinearHorizon;
  }

  const char* operator()(const ClosedRegions& proof) {
    add({{"step", "regions"}, {"start", proof.start}, {"letters", proof.letters}});
    for (const ClosedRegions::Region& region : proof.list)
      add({{"step", "region"},
           {"state", region.state},
           {"lower", bits_.write(region.lower)},
           {"upper", bits_.write(region.upper)}});
    return kClosedRegions;
  }

 private:
  void add(const Json& json) { lines_.push_back(json.dump()); }

  void add(const ClosedTable& table, std::size_t layer) {
    add({{"step", "codewords"}, {"layer", layer}, {"codewords", table.codewords}});
    for (std::size_t move = 0; move < table.moves.size(); ++move)
      add({{"step", "move"},
           {"layer", layer},
           {"action", table.moves[move].action},
           {"book", table.moves[move].book},
           {"next", table.next[move]}});
  }

  void add(const ReachedPair& pair, bool has_depth) {
    Json json{{"step", "pair"}};
    if (has_depth) json["depth"] = pair.depth;
    json["state"] = pair.state;
    if (network_ != nullptr) json["labels"] = pair.labels;
    if (network_ != nullptr && network_->snap_every > 0) json["phase"] = pair.phase;
    json["bits"] = Json::array();
    for (const auto& numbers : pair.numbers) json["bits"].push_back(bits_.write(numbers));
    if (!has_depth || !pair.next.empty()) json["next"] = pair.next;
    add(json);
  }

  /// The word as powers of its least period, where it has one, and its rest.
  void add_word(const Word& word) {
    std::size_t period = 1;
    const auto repeats = [&] {
      for (std::size_t t = period; t < word.size(); ++t)
        if (word[t] != word[t - period]) return false;
      return true;
    };
    while (period < std::min<std::size_t>(word.size(), 64) && !repeats()) ++period;
    if (!repeats() || word.size() < period) period = word.size();
    if (period == 0) return;
    const std::size_t times = word.size() / period;
    add_letters(std::span(word).first(period), times);
    if (times * period < word.size()) add_letters(std::span(word).subspan(times * period), 1);
  }

  void add_letters(std::span<const Letter> letters, std::uint64_t times) {
    Json names = Json::array();
    const Dfa& automaton = certificate_.language ? certificate_.language->automaton : network_->automaton;
    for (const Letter letter : letters) names.push_back(automaton.alphabet().name(letter));
    add({{"step", "word"}, {"letters", std::move(names)}, {"times", times}});
  }

  const Certificate& certificate_;
  const Network* network_;  ///< or null
  CertificateBits bits_;
  std::span<const std::string> outputs_;
  std::vector<std::string> lines_;
};

Json claim_of(const Certificate& certificate, const CheckedModel& model, const char* method) {
  Json json;
  json["format"] = kFormat;
  json["version"] = version_of(certificate.operations.get(), method);
  json["weights"] = hash_of_weights(model, certificate.operations.get());
  if (model.network != nullptr) json["automaton"] = hash_of_automaton(model);
  for (const auto& [name, digest] : certificate.files) json[name] = digest;
  const bool is_of_regions = std::holds_alternative<ClosedRegions>(certificate.proof);
  json["arithmetic"] = to_string(is_of_regions ? certificate.arithmetic : arithmetic_of(certificate));
  json["form"] = certificate.operations ? kOperationsForm : to_string(certificate.form);
  const bool is_any = certificate.holds_in_any_order() && !certificate.arithmetic.is_integer();  // a ring's: sequential
  json["order"] = is_any ? "any" : to_string(certificate.order);
  json["claim"] = to_string(certificate.claim);
  if (certificate.is<ProvedUpTo>()) json["length"] = length_in_file(certificate);
  if (certificate.is<Refuted>()) json["shortest"] = certificate.is_shortest();
  if (certificate.language) json["against"] = kLanguage;
  json["method"] = method;
  return json;
}

}  // namespace

std::uint64_t length_in_file(const Certificate& certificate) {
  const auto* horizon = std::get_if<LinearHorizon>(&certificate.proof);
  return horizon == nullptr ? certificate.length() : horizon->length;
}

std::string format_certificate(const Certificate& certificate, const CheckedModel& model) {
  const FloatEnvironment environment;
  if (certificate.arithmetic.is_exact() && !std::holds_alternative<ClosedCodewords>(certificate.proof))
    throw InputError("certificates of exact arithmetic are of closed codewords");
  Steps steps(certificate, model);
  const char* method = std::visit(steps, certificate.proof);
  const std::vector<std::string> lines = steps.take();
  std::string text = claim_of(certificate, model, method).dump() + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + Json({{"step", "end"}, {"lines", lines.size() + 1}}).dump() + "\n";
}

Certificate parse_certificate(const std::string& text, const std::string& where, const CheckedModel& model) {
  const FloatEnvironment environment;
  return read_certificate(text, where, model);
}

void save_certificate(const Certificate& certificate, const CheckedModel& model, const std::string& path) {
  write_file(path, format_certificate(certificate, model));
}

Certificate load_certificate(const std::string& path, const CheckedModel& model) {
  return parse_certificate(read_text_file(path), path, model);
}

std::string file_of_model(const std::string& path) {
  std::error_code error;
  for (const char* name : {"parameters.safetensors", "model.safetensors"})
    if (const auto file = std::filesystem::path(path) / name; std::filesystem::is_regular_file(file, error))
      return file.string();
  return path;
}

std::map<std::string, std::string> digests_of_files(const std::string& path) {
  std::error_code error;
  const std::filesystem::path given(path),
      base = std::filesystem::is_directory(given, error) ? given : given.parent_path();
  std::map<std::string, std::string> digests;
  for (const char* name : kBoundFiles)
    if (const auto file = base / name; std::filesystem::is_regular_file(file, error))
      digests[name] = sha256(read_text_file(file.string()));
  return digests;
}

void require_files(const Certificate& certificate, const std::string& path) {
  if (certificate.files.empty()) return;
  const std::map<std::string, std::string> digests = digests_of_files(path);
  for (const auto& [name, digest] : certificate.files) {
    const auto found = digests.find(name);
    if (found == digests.end())
      throw InputError(path, fmt::format("has no {}, which the certificate names; give the folder of the model", name));
    if (found->second != digest)
      throw InputError(path,
                       fmt::format("the certificate is about another {} (SHA-256 {}) than the model's ({}); give the "
                                   "model that it was made for, or let `krohn verify` make a new one",
                                   name, digest, found->second));
  }
}

}  // namespace krohn
