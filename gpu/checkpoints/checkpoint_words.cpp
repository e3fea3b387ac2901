#include "krohn/gpu/checkpoints/checkpoint_words.h"

#include <algorithm>

#include "krohn/groups/base/float_environment.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMemoryNumbers = std::uint64_t{1} << 29;
constexpr std::uint64_t kMostWords = std::uint64_t{1} << 16, kMostBlocks = 1024;
/// Products between two looks at the clock and the user.
constexpr std::uint64_t kProductsAtOnce = std::uint64_t{1} << 36;

std::uint64_t products_of(const CheckpointModel& model) {
  const auto of = [](const CheckpointModel::Projection& p) { return std::uint64_t{p.rows} * p.columns; };
  std::uint64_t products = of(model.head());
  for (const CheckpointModel::Layer& layer : model.layers())
    for (const auto* p :
         {&layer.query, &layer.key, &layer.value, &layer.beta, &layer.output, &layer.gate, &layer.up, &layer.down})
      products += of(*p);
  return products;
}

}  // namespace

CheckpointReader::CheckpointReader(Place place, const Checkpoint& checkpoint, const CheckpointModel& model,
                                   std::uint64_t seed, bool stops)
    : place_(place),
      of_letter_(place, checkpoint.tokens.of_letter),
      of_state_(place, checkpoint.tokens.of_state),
      next_(place, checkpoint.automaton->table()),
      layers_(place),
      memories_(place),
      work_(place),
      answers_(place),
      records_(place) {
  const CheckpointConfig& config = model.config();
  PlacedCheckpoint& placed = job_.model;
  placed.hidden = config.hidden_size;
  placed.layer_count = config.layers;
  placed.heads = config.heads;
  placed.key_dim = config.key_dim;
  placed.value_dim = config.value_dim;
  placed.householders = config.householders;
  placed.inner = config.intermediate_size;
  placed.vocabulary = config.vocabulary;
  placed.taps = config.convolution_taps;
  placed.doubles_beta = config.negative_eigenvalues;
  placed.silu_keys = config.silu_keys;
  placed.is_bf16 = model.is_bf16();
  placed.fused_norm = model.config().fused_norm;
  placed.norm_epsilon = static_cast<float>(config.norm_epsilon);
  std::vector<float> embeddings;
  for (const std::vector<float>& row : model.embeddings()) embeddings.insert(embeddings.end(), row.begin(), row.end());
  placed.embeddings = place_numbers(embeddings);
  placed.final_norm = place_numbers(model.final_norm());
  placed.head = place_matrix(model.head());
  std::vector<PlacedCheckpointLayer> layers;
  for (const CheckpointModel::Layer& layer : model.layers()) {
    std::vector<float> taps = layer.query_taps;
    taps.insert(taps.end(), layer.key_taps.begin(), layer.key_taps.end());
    taps.insert(taps.end(), layer.value_taps.begin(), layer.value_taps.end());
    layers.push_back({place_numbers(layer.attention_norm), place_numbers(layer.output_norm),
                      place_numbers(layer.mlp_norm), place_matrix(layer.query), place_matrix(layer.key),
                      place_matrix(layer.value), place_matrix(layer.beta), place_matrix(layer.output),
                      place_matrix(layer.gate), place_matrix(layer.up), place_matrix(layer.down),
                      config.convolution_taps == 0 ? nullptr : place_numbers(taps)});
  }
  layers_ = Buffer<PlacedCheckpointLayer>(place, layers);
  placed.layers = layers_.data();
  job_.tokens = {of_letter_.data(),
                 of_state_.data(),
                 next_.data(),
                 checkpoint.automaton->letters(),
                 checkpoint.automaton->initial(),
                 checkpoint.tokens.begin.value_or(0),
                 checkpoint.tokens.begin.has_value()};
  job_.seed = seed;
  job_.stops = stops;
}

const float* CheckpointReader::place_numbers(const std::vector<float>& numbers) {
  numbers_.emplace_back(place_, numbers);
  return numbers_.back().data();
}

PlacedProjection CheckpointReader::place_matrix(const CheckpointModel::Projection& projection) {
  return {projection.rows, projection.columns, place_numbers(projection.weights)};
}

std::uint64_t CheckpointReader::words_at_once() const {
  return std::clamp<std::uint64_t>(kMemoryNumbers / std::max<std::uint64_t>(job_.model.memory(), 1), 1, kMostWords);
}

void CheckpointReader::start(std::uint64_t first, std::uint64_t words) {
  words_ = words;
  blocks_ = place_ == Place::kDevice ? std::min(words, kMostBlocks) : 1;
  memories_ = Buffer<float>(place_, words * job_.model.memory());
  work_ = Buffer<float>(place_, blocks_ * job_.model.work());
  answers_ = Buffer<std::uint32_t>(place_, blocks_);
  records_ = Buffer<CheckpointRecord>(place_, words);
  job_.memories = memories_.data();
  job_.work = work_.data();
  job_.answers = answers_.data();
  job_.records = records_.data();
  job_.first_word = first;
  job_.end = 0;
}

void CheckpointReader::read(std::uint64_t letters) {
  job_.begin = job_.end;
  job_.end = job_.begin + letters;
#ifdef KROHN_WITH_CUDA
  if (place_ == Place::kDevice) return cuda_read_checkpoint_words(job_, words_, static_cast<std::uint32_t>(blocks_));
#endif
  constexpr std::uint32_t kThreads = 3;
  for (std::uint64_t word = 0; word < words_; ++word) job_.read_word(HostThreads{kThreads}, 0, word);
}

std::vector<CheckpointRecord> CheckpointReader::records() const { return records_.values(); }

CheckpointModel::Memory CheckpointReader::memory(std::uint64_t word) const {
  const PlacedCheckpoint& model = job_.model;
  std::vector<float> all(model.memory());
  memories_.read(all, word * model.memory());
  CheckpointModel::Memory memory;
  const std::uint64_t older = std::uint64_t{model.convolved()} * model.older();
  for (auto at = all.begin(); at != all.end();) {
    const auto middle = at + model.recurrent(), end = middle + static_cast<std::ptrdiff_t>(older);
    memory.recurrent.insert(memory.recurrent.end(), at, middle);
    memory.convolution.insert(memory.convolution.end(), middle, end);
    at = end;
  }
  return memory;
}

std::optional<CheckpointFailure> sample_checkpoint(Place place, const Checkpoint& checkpoint,
                                                   const CheckpointModel& model,
                                                   const CheckpointSampleOptions& options) {
  const FloatEnvironment environment;
  CheckpointReader reader(place, checkpoint, model, options.seed);
  std::optional<CheckpointFailure> failure;
  const std::uint64_t at_once = std::min(reader.words_at_once(), options.words);
  for (std::uint64_t first = 0; first < options.words; first += at_once) {
    const std::uint64_t words = std::min(at_once, options.words - first);
    const std::uint64_t letters = std::max<std::uint64_t>(kProductsAtOnce / (products_of(model) * words), 1);
    reader.start(first, words);
    // Not beyond the least failure so far: a later one would not count.
    for (std::uint64_t at = 0; at < options.length && !(failure && at >= failure->at); at += letters) {
      reader.read(std::min(letters, options.length - at));
      const std::vector<CheckpointRecord> records = reader.records();
      for (std::uint64_t word = 0; word < words; ++word)
        if (records[word].failing_at != ~std::uint64_t{0} && (!failure || records[word].failing_at < failure->at))
          failure = {records[word].failing_at, first + word};
      if (options.progress)
        options.progress(first * options.length + std::min(at + letters, options.length) * words,
                         options.words * options.length);
    }
  }
  return failure;
}

}  // namespace krohn
