#include "tools/krohn/models/asked_model.h"

#include <fmt/format.h>

#include <optional>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_place.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
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

namespace {

std::optional<Language> language_of(const ModelOptions& options) {
  if (options.against.empty()) return std::nullopt;
  return Language{options.against, load_language(options.against, options.reading)};
}

bool is_on_device(const CertifyOptions& how) { return dynamic_cast<const DevicePlace*>(how.place) != nullptr; }

class AskedNetwork final : public AskedModel {
 public:
  explicit AskedNetwork(const ModelOptions& options)
      : options_(options), network_(load_network(options.model)), language_(language_of(options)) {}

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

/// A language model that is read token by token, or in the library's chunks of 64 tokens: there are too many of those
/// to try them all, so that random words have to do.
class AskedCheckpoint final : public AskedModel {
 public:
  explicit AskedCheckpoint(const ModelOptions& options)
      : options_(options), checkpoint_(load_checkpoint(options.model)), language_(language_of(options)) {
    if (!checkpoint_.automaton && language_) {
      checkpoint_ = load_checkpoint(options.model, language_->automaton);
      language_.reset();
    }
    const Order& order = options.how.order;
    in_chunks_ = order == Order{Order::Kind::kChunked, Order::kDefaultChunk};
    if (!in_chunks_ && !order.is_sequential())
      throw InputError("--order", "checkpoints are read token by token, or in the library's chunks of 64 tokens");
    if (in_chunks_ && options.device == "cuda")
      throw InputError("--order", "checkpoints are read in chunks on the processor only; take --device cpu");
    network_.emplace(checkpoint_, precision_of(options));
    if (in_chunks_ && network_->has_gates())
      throw InputError("--order", "layers that forget are read token by token; take --order sequential");
    if (network_->has_gates()) chunks_ = bound_in_chunks(checkpoint_, *network_);
    model_.emplace(subject_of(checkpoint_, *network_));
    model_->is_only_tested = in_chunks_;
    if (in_chunks_)
      model_->operations.reset();
    else
      model_->files = digests_of_files(options.model);
  }

  const Alphabet& alphabet() const override { return checkpoint_.automaton->alphabet(); }
  const ReadModel* reader() const override { return &*model_; }
  std::string without_certificate() const override {
    return in_chunks_ ? "certificates of checkpoints are of tokens read one by one" : "";
  }
  void ask_in(Question& question) const override {
    if (in_chunks_)
      model_->first_failure = [this, &question](const RandomTest& asked) { return failure_in_chunks(asked, question); };
    question.subject = &*model_;
    question.against = language_;
  }
  std::vector<std::string> about(const Question& question) const override {
    std::vector<std::string> lines{
        fmt::format("{}, {} {}{}", to_string(question.how.arithmetic), traits_of(checkpoint_.config.family).model_type,
                    in_chunks_ ? "in chunks of 64 tokens" : "token by token",
                    as_loaded(to_string(question.how.arithmetic))),
        checkpoint_.tokens.begin
            ? fmt::format("every word after token {}, which begins it; the empty word is that token alone",
                          *checkpoint_.tokens.begin)
            : "words begin with their first letter, so that nothing is asked of the empty word"};
    if (!chunks_) return lines;
    lines.push_back(chunks_->is_exact
                        ? fmt::format("in chunks of 64 tokens, all in fp32, with sums in any order, its recurrence has "
                                      "the same bits: no sum exceeds {} grains, and 2^24 = 16,777,216 are exact",
                                      with_thousands(static_cast<std::uint64_t>(chunks_->grains)))
                        : fmt::format("of chunks of tokens nothing is claimed: {}", chunks_->why_not));
    return lines;
  }
  void about(nlohmann::ordered_json& json) const override {
    json["family"] = traits_of(checkpoint_.config.family).model_type;
    json["begin_token"] = checkpoint_.tokens.begin ? nlohmann::json(*checkpoint_.tokens.begin) : nlohmann::json();
    if (chunks_) json["same_in_chunks"] = chunks_->is_exact;
    json["dtype"] = checkpoint_.config.dtype;
    json["loaded_in_this_arithmetic"] = loaded_otherwise(checkpoint_, to_string(options_.how.arithmetic)).empty();
  }

 private:
  std::string as_loaded(const std::string& arithmetic) const {
    const std::string otherwise = loaded_otherwise(checkpoint_, arithmetic);
    return arithmetic == "bf16" && otherwise.empty() ? ", as it is loaded" : otherwise;
  }

  std::optional<RandomFailure> failure_in_chunks(const RandomTest& asked, const Question& question) const {
    CheckpointSampleOptions how{asked.length, asked.words, asked.seed, {}};
    if (question.progress)
      how.progress = [&](std::uint64_t done, std::uint64_t all) { question.progress("testing letters", done, all); };
    return first_failure_in_chunks(checkpoint_, *network_, how);
  }

  ModelOptions options_;
  Checkpoint checkpoint_;
  std::optional<Language> language_;
  bool in_chunks_ = false;
  std::optional<CheckpointModel> network_;
  std::optional<ChunkBound> chunks_;
  mutable std::optional<ReadModel> model_;
};

}  // namespace

std::unique_ptr<AskedModel> load_asked_model(const ModelOptions& given) {
  ModelOptions options = given;
  options.model = file_of_torch_folder(file_of_run(given.model));
  const bool is_checkpoint = is_checkpoint_folder(options.model);
  if (!is_checkpoint) require_model(options.model, "verify");
  if (!is_checkpoint && is_trained_model(options.model)) return load_asked_trained_model(options);
  if (!options.expect.empty()) throw InputError("--expect", "is for models of `krohn import` and `krohn train`");
  if (is_checkpoint) return std::make_unique<AskedCheckpoint>(options);
  return std::make_unique<AskedNetwork>(options);
}

}  // namespace krohn
