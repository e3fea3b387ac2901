#include "tools/krohn/models/asked_model.h"

#include <fmt/format.h>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"

namespace krohn {

Precision precision_of(const ModelOptions& options) {
  if (options.how.any_order) return Precision::kFp32;  // regions hold runtimes in bf16, too
  if (options.how.arithmetic.kind() == ArithmeticName::Kind::kSeparate) return options.how.arithmetic.storage();
  throw InputError("--precision", fmt::format("{} is an arithmetic of networks; {} is read in fp32, or a trained model "
                                              "in fp64 and a checkpoint in bf16",
                                              to_string(options.how.arithmetic), options.model));
}

std::optional<Language> language_against(const ModelOptions& options) {
  if (options.against.empty()) return std::nullopt;
  return Language{options.against, load_language(options.against, options.reading)};
}

namespace {

bool is_on_device(const CertifyOptions& how) { return dynamic_cast<const DevicePlace*>(how.place) != nullptr; }

class AskedNetwork final : public AskedModel {
 public:
  explicit AskedNetwork(const ModelOptions& options)
      : options_(options), network_(load_network(options.model)), language_(language_against(options)) {}

  const Alphabet& alphabet() const override { return network_.automaton.alphabet(); }
  const Network* network() const override { return &network_; }
  void ask_in(Question& question) const override {
    question.subject = &network_;
    question.against = language_;
  }
  std::vector<std::string> about(const Question& question) const override {
    const CertifyOptions& how = question.how;
    return {fmt::format("{}, {} weights, {} evaluation{}, against {}", to_string(how.arithmetic), to_string(how.form),
                        how.any_order ? "any" : to_string(how.order),
                        is_on_device(how) ? ", long work on " + cuda_status() : "", name_of_language())};
  }
  void about(nlohmann::ordered_json& json) const override {
    json["language"] = name_of_language();
    json["construction"] = network_.provenance.construction;
    json["form"] = to_string(options_.how.form);
    json["device"] = device_name(is_on_device(options_.how));
  }

 private:
  std::string name_of_language() const {
    if (!options_.against.empty()) return options_.against;
    const std::string source = source_in_words(network_, options_.reading);
    return source.empty() ? "the automaton in the file" : source;
  }

  ModelOptions options_;
  Network network_;
  std::optional<Language> language_;
};

}  // namespace

std::unique_ptr<AskedModel> load_asked_model(const ModelOptions& given) {
  ModelOptions options = given;
  options.model = file_of_torch_folder(file_of_run(given.model));
  const bool is_checkpoint = is_checkpoint_folder(options.model);
  if (!is_checkpoint) require_model(options.model, "verify");
  if (!is_checkpoint && is_trained_model(options.model)) return load_asked_trained_model(options);
  if (!options.expect.empty()) throw InputError("--expect", "is for models of `krohn import` and `krohn train`");
  if (is_checkpoint) return load_asked_checkpoint(options);
  return std::make_unique<AskedNetwork>(options);
}

}  // namespace krohn
