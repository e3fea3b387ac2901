#include <fmt/format.h>

#include <optional>

#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/checkpoints/checkpoint_model.h"
#include "tools/krohn/models/asked_model.h"
#include "tools/krohn/models/model_in_motion.h"
#include "tools/krohn/report/output.h"

namespace krohn {
namespace {

/// A language model that is read token by token, or in the library's chunks of 64 tokens: there are too many of those
/// to try them all, so that random words have to do.
class AskedCheckpoint final : public AskedModel {
 public:
  explicit AskedCheckpoint(const ModelOptions& options)
      : options_(options), checkpoint_(load_checkpoint(options.model)), language_(language_against(options)) {
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

std::unique_ptr<AskedModel> load_asked_checkpoint(const ModelOptions& options) {
  return std::make_unique<AskedCheckpoint>(options);
}

std::unique_ptr<ModelInMotion> checkpoint_in_motion(Checkpoint checkpoint, Precision precision) {
  std::unique_ptr<LetterReader> reader = checkpoint_reader(checkpoint, CheckpointModel(checkpoint, precision));
  const std::vector<std::uint32_t>& tokens = checkpoint.tokens.of_state;
  return std::make_unique<ModelInMotion>(
      ReadBeside{std::move(reader), tracked_by(checkpoint), *checkpoint.automaton, {tokens.begin(), tokens.end()}});
}

}  // namespace krohn
