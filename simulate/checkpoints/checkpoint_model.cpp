#include "krohn/simulate/checkpoints/checkpoint_model.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "krohn/constructions/checkpoints/checkpoint_parts.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/checkpoints/checkpoint_letters.h"
#include "krohn/simulate/operations/operations_reader.h"

namespace krohn {
namespace {

/// A matrix by rows.
struct Rows {
  Rows(std::size_t height, std::size_t width) : width(width), numbers(height * width, 0) {}
  Rows(std::size_t width, std::vector<float> numbers) : width(width), numbers(std::move(numbers)) {}
  float* operator[](std::size_t row) { return numbers.data() + row * width; }
  const float* operator[](std::size_t row) const { return numbers.data() + row * width; }
  std::size_t height() const { return width == 0 ? 0 : numbers.size() / width; }
  std::size_t width;
  std::vector<float> numbers;
};

class Reader {
 public:
  Reader(const DeltaChunk& chunk, std::span<float> state, bool is_bf16)
      : chunk_(chunk), state_(state), is_bf16_(is_bf16), rows_(chunk.beta.size()), updates_(rows_, chunk.value_dim) {}

  std::vector<float> read() {
    const Rows before = rounded(Rows(chunk_.value_dim, {state_.begin(), state_.end()}));
    for (std::size_t first = 0; first < rows_; first += kDeltaChunk)
      read_block(first, std::min(kDeltaChunk, rows_ - first));
    return answers(before);
  }

 private:
  float round(float value) const { return is_bf16_ ? static_cast<float>(Eigen::bfloat16(value)) : value; }
  Rows rounded(Rows rows) const {
    for (float& number : rows.numbers) number = round(number);
    return rows;
  }
  const float* key(std::size_t row) const { return chunk_.key.data() + row * chunk_.key_dim; }
  const float* value(std::size_t row) const { return chunk_.value.data() + row * chunk_.value_dim; }

  float dot(const float* a, const float* b) const {
    float sum = 0;
    for (std::size_t i = 0; i < chunk_.key_dim; ++i) sum += a[i] * b[i];
    return sum;
  }

  static Rows product(const Rows& a, const Rows& b) {
    Rows c(a.height(), b.width);
    for (std::size_t i = 0; i < a.height(); ++i)
      for (std::size_t k = 0; k < a.width; ++k)
        for (std::size_t j = 0; j < b.width; ++j) c[i][j] += a[i][k] * b[k][j];
    return c;
  }

  /// Row by row of β, rounded.
  template <class Row>
  Rows scaled(std::size_t first, std::size_t count, std::size_t width, const Row& row) const {
    Rows scaled(count, width);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < width; ++j) scaled[i][j] = round(row(first + i)[j] * chunk_.beta[first + i]);
    return scaled;
  }

  /// (I + tril(βk · kᵀ, −1))⁻¹ by forward substitution, rounded.
  Rows inverse(std::size_t first, const Rows& scaled_keys) const {
    const std::size_t count = scaled_keys.height();
    Rows inverse(count, count);
    for (std::size_t i = 0; i < count; ++i) {
      inverse[i][i] = 1;
      for (std::size_t j = 0; j < i; ++j) {
        const float factor = dot(scaled_keys[i], key(first + j));
        for (std::size_t column = 0; column <= j; ++column) inverse[i][column] -= factor * inverse[j][column];
      }
    }
    return rounded(std::move(inverse));
  }

  void read_block(std::size_t first, std::size_t count) {
    const Rows keys = scaled(first, count, chunk_.key_dim, [this](std::size_t row) { return key(row); });
    const Rows values = scaled(first, count, chunk_.value_dim, [this](std::size_t row) { return value(row); });
    const Rows solved = inverse(first, keys);
    const Rows w = rounded(product(solved, keys)), u = rounded(product(solved, values));
    const Rows state = rounded(Rows(chunk_.value_dim, {state_.begin(), state_.end()}));
    const Rows seen = product(w, state);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < chunk_.value_dim; ++j) updates_[first + i][j] = round(u[i][j] - seen[i][j]);
    for (std::size_t row = 0; row < chunk_.key_dim; ++row)
      for (std::size_t j = 0; j < chunk_.value_dim; ++j) {
        float sum = 0;
        for (std::size_t i = first; i < first + count; ++i) sum += key(i)[row] * updates_[i][j];
        state_[row * chunk_.value_dim + j] += sum;
      }
  }

  std::vector<float> answers(const Rows& before) const {
    const float scale = 1 / std::sqrt(static_cast<float>(chunk_.key_dim));
    const Rows query(chunk_.key_dim, chunk_.query);
    Rows answers = product(query, before);
    for (std::size_t token = 0; token < query.height(); ++token) {
      std::vector<float> inside(chunk_.value_dim, 0);
      for (std::size_t row = 0; row < (token + 1) * chunk_.householders; ++row) {
        const float weight = round(dot(query[token], key(row)));
        for (std::size_t j = 0; j < chunk_.value_dim; ++j) inside[j] += weight * updates_[row][j];
      }
      for (std::size_t j = 0; j < chunk_.value_dim; ++j)
        answers[token][j] = answers[token][j] * scale + inside[j] * scale;
    }
    return std::move(answers.numbers);
  }

  const DeltaChunk& chunk_;
  std::span<float> state_;
  bool is_bf16_;
  std::size_t rows_;
  Rows updates_;  ///< v̂
};

}  // namespace

std::vector<float> read_delta_chunk(const DeltaChunk& chunk, std::span<float> state, bool is_bf16) {
  return Reader(chunk, state, is_bf16).read();
}

namespace {

std::vector<float> numbers_of(const Checkpoint& checkpoint, const std::string& name, bool as_bf16) {
  const auto stored = floating_numbers(checkpoint.tensors.tensors.at(name));
  std::vector<float> numbers;
  for (const double number : stored.value()) numbers.push_back(static_cast<float>(number));
  for (float& number : numbers) {
    if (as_bf16) number = static_cast<float>(Eigen::bfloat16(number));
    if (!std::isfinite(number)) throw InputError(name, "holds a number that is not finite");
  }
  return numbers;
}

/// Numbers of the memory of a list in fp32.
std::span<float> numbers_in(LetterReader::Memory& memory, std::size_t first, std::size_t count) {
  static_assert(sizeof(LetterReader::Memory::value_type) == sizeof(float));
  return {reinterpret_cast<float*>(memory.data()) + first, count};
}

}  // namespace

/// The lists, and readers of them, made when they are first asked for.
struct CheckpointModel::Lists {
  Operations token, open;
  TensorFile tensors;
  std::once_flag is_made[2];
  std::unique_ptr<OperationsReader> readers[2];

  const OperationsReader& reader(bool is_open) {
    std::call_once(is_made[is_open], [&] { readers[is_open] = operations_reader(is_open ? open : token, tensors); });
    return *readers[is_open];
  }
};

CheckpointModel::CheckpointModel(const Checkpoint& checkpoint, Precision precision)
    : config_(checkpoint.config), traits_(traits_of(config_.family)), is_bf16_(precision == Precision::kBf16) {
  if (precision != Precision::kFp32 && precision != Precision::kBf16)
    throw InputError("--precision", "checkpoints run in fp32 or bf16, as the library's layers do");
  const std::uint32_t taps = config_.convolution_taps;
  std::uint32_t first = taps == 0 ? 0 : taps - 1;
  for (const auto& [name, tensor] : checkpoint.tensors.tensors) {
    std::vector<float> numbers = numbers_of(checkpoint, name, is_bf16_ && !is_kept_in_fp32(config_, name));
    if (name == "model.embeddings.weight") embeddings_ = std::move(numbers);
    if (taps == 0 || !name.ends_with("_conv1d.weight")) continue;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (const auto tap = static_cast<std::uint32_t>(i % taps); numbers[i] != 0) {
        first = std::min(first, tap);
        if (name == "model.layers.0.attn.k_conv1d.weight" && tap + 1 != taps) keys_look_back_ = true;
      }
  }
  // Tokens that no tap looks at need not be remembered: zero times them adds nothing.
  if (has_gates()) config_.convolution_taps = taps - first;
  lists_ = std::make_shared<Lists>();
  lists_->token = checkpoint_operations(checkpoint, *this, CheckpointForm::kToken);
  lists_->open = checkpoint_operations(checkpoint, *this, CheckpointForm::kOpen);
  lists_->tensors = tensors_in_file(checkpoint);
}

CheckpointModel::Memory CheckpointModel::start() const {
  const CheckpointPlaces places(config_, CheckpointForm::kToken);
  return {std::vector<float>(places.convolution, 0), std::vector<float>(places.embedding - places.convolution, 0)};
}

LetterReader::Memory CheckpointModel::begun(std::uint32_t token, CheckpointForm form) const {
  const CheckpointPlaces places(config_, form);
  LetterReader::Memory memory(places.size, 0);
  std::ranges::copy(std::span(embeddings_).subspan(std::size_t{token} * config_.hidden_size, config_.hidden_size),
                    numbers_in(memory, places.embedding, config_.hidden_size).begin());
  return memory;
}

CheckpointModel::FirstStep CheckpointModel::first_step(std::uint32_t token) const {
  const CheckpointPlaces places(config_, CheckpointForm::kOpen);
  LetterReader::Memory memory = begun(token, CheckpointForm::kOpen);
  lists_->reader(true).step(0, memory, false);
  const auto part = [&](std::size_t first, std::size_t end) {
    const auto numbers = numbers_in(memory, first, end - first);
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  return {part(places.query, places.key), part(places.key, places.value), part(places.value, places.beta),
          part(places.beta, places.decay), part(places.decay, places.layer)};
}

std::vector<float> CheckpointModel::step(std::uint32_t token, Memory& memory) const {
  const CheckpointPlaces places(config_, CheckpointForm::kToken);
  LetterReader::Memory own = begun(token, CheckpointForm::kToken);
  const auto recurrent = numbers_in(own, 0, places.convolution),
             convolution = numbers_in(own, places.convolution, places.embedding - places.convolution);
  std::ranges::copy(memory.recurrent, recurrent.begin());
  std::ranges::copy(memory.convolution, convolution.begin());
  lists_->reader(false).step(0, own, false);
  memory.recurrent.assign(recurrent.begin(), recurrent.end());
  memory.convolution.assign(convolution.begin(), convolution.end());
  const auto logits = numbers_in(own, places.logits, config_.vocabulary);
  return {logits.begin(), logits.end()};
}

std::vector<std::vector<float>> CheckpointModel::read_chunk(std::span<const std::uint32_t> tokens,
                                                            Memory& memory) const {
  if (has_gates()) throw InputError("layers that forget are read token by token, not in chunks");
  if (tokens.size() > kDeltaChunk)
    throw InputError(fmt::format("a chunk has at most {} tokens, not {}", kDeltaChunk, tokens.size()));
  const CheckpointPlaces places(config_, CheckpointForm::kOpen);
  const std::size_t keys = config_.key_dim, values = config_.value_dim, heads = config_.heads,
                    kept = config_.convolution_taps == 0 ? 0 : config_.convolution_taps - 1,
                    older = memory.convolution.size() / config_.layers;
  std::vector<LetterReader::Memory> given, made;
  for (const std::uint32_t token : tokens) given.push_back(begun(token, CheckpointForm::kOpen));
  // All tokens with what is known of each; layer after layer knows more.
  const auto run = [&] {
    made = given;
    std::vector<LetterReader::Answer> answers(made.size());
    lists_->reader(true).step_many(std::vector<Letter>(made.size(), 0), made, false, answers);
  };
  for (std::size_t layer = 0; layer < config_.layers; ++layer) {
    const auto part = [&](LetterReader::Memory& of, std::size_t first, std::size_t count) {
      return numbers_in(of, layer * places.layer + first, count);
    };
    if (older > 0) {
      run();
      const auto rows = std::span(memory.convolution).subspan(layer * older, older);
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        std::ranges::copy(rows, numbers_in(given[t], places.convolution + layer * older, older).begin());
        const auto newest = numbers_in(made[t], places.convolution + layer * older, older);
        for (std::size_t i = 0; i < older; ++i) rows[i] = (i + 1) % kept == 0 ? newest[i] : rows[i + 1];
      }
    }
    run();
    for (std::size_t head = 0; head < heads; ++head) {
      DeltaChunk chunk{keys, values, config_.householders, {}, {}, {}, {}};
      const auto append = [](std::vector<float>& all, std::span<const float> more) {
        all.insert(all.end(), more.begin(), more.end());
      };
      for (LetterReader::Memory& token : made) {
        append(chunk.query, part(token, places.query + head * keys, keys));
        for (std::size_t at = head; at < config_.householders * heads; at += heads) {
          append(chunk.key, part(token, places.key + at * keys, keys));
          append(chunk.value, part(token, places.value + at * values, values));
          append(chunk.beta, part(token, places.beta + at, 1));
        }
      }
      const std::size_t numbers = keys * values;
      const std::vector<float> answers = read_delta_chunk(
          chunk, std::span(memory.recurrent).subspan((layer * heads + head) * numbers, numbers), is_bf16_);
      for (std::size_t t = 0; t < tokens.size(); ++t)
        std::ranges::copy(std::span(answers).subspan(t * values, values),
                          part(given[t], head * values, values).begin());
    }
  }
  run();
  std::vector<std::vector<float>> logits;
  for (LetterReader::Memory& token : made) {
    const auto own = numbers_in(token, places.logits, config_.vocabulary);
    logits.emplace_back(own.begin(), own.end());
  }
  return logits;
}

std::optional<std::uint32_t> arg_max(std::span<const float> logits) {
  std::uint32_t best = 0;
  bool is_shared = false;
  for (std::uint32_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) return std::nullopt;
    if (i == 0 || logits[i] < logits[best]) continue;
    is_shared = logits[i] == logits[best];
    if (!is_shared) best = i;
  }
  if (logits.empty() || is_shared) return std::nullopt;
  return best;
}

namespace {

constexpr double kWhole = 0x1p24;          ///< whole numbers up to here are floats
constexpr double kLeastNormal = 0x1p-126;  ///< whole numbers of grains from here on neither vanish nor are flushed
constexpr double kLargestGrain = 0x1p103;  ///< 2^24 of these are finite floats
constexpr double kEmpties = -128;  ///< e^x is zero in fp32 from −104 on, and by whatever algorithm from here on
constexpr std::uint64_t kMaxProducts = std::uint64_t{1} << 30;

bool is_whole(double x) { return x == std::floor(x); }

/// The greatest power of two of which the number is a multiple. Not of zero.
double grain_of(double x) {
  int exponent = 0;
  double mantissa = std::frexp(std::abs(x), &exponent);
  while (!is_whole(mantissa)) mantissa *= 2, --exponent;
  double grain = std::ldexp(1.0, exponent);
  while (is_whole(x / (2 * grain))) grain *= 2;
  return grain;
}

/// The least grain and the greatest size of some numbers; zero has neither.
struct Extent {
  double grain = INFINITY, size = 0;
  void add(double x) {
    if (x == 0) return;
    grain = std::min(grain, grain_of(x));
    size = std::max(size, std::abs(x));
  }
  double grains() const { return size == 0 ? 0 : size / grain; }
};

/// One head of the first layer, token by token.
struct Step {
  std::uint32_t token = 0;
  std::span<const float> key, value, query;
  double beta = 0, log_decay = 0;
  bool empties() const { return log_decay != 0; }
  bool writes() const {
    const auto is_not_zero = [](float x) { return x != 0; };
    return beta != 0 && std::ranges::any_of(key, is_not_zero) && std::ranges::any_of(value, is_not_zero);
  }
};

/// Numbers are dyadic floats of few bits here, or the sum of products is not exact and not whole either way: then it is
/// refused.
std::optional<double> product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double term = double{a[i]} * double{b[i]}, next = sum + term;
    if (next - sum != term || next - term != sum) return std::nullopt;
    sum = next;
  }
  return sum;
}

std::string refusal(const Step& step, const std::string& what) {
  return fmt::format("of token {} {}", step.token, what);
}

/// The condition among 1 to 4 that fails; empty when all hold.
std::string refusal_of(const std::vector<Step>& steps, std::uint32_t chunk) {
  bool reflects = false, keeps_writing = false;
  for (const Step& step : steps) {
    if (step.beta != 0 && step.beta != 1 && step.beta != 2) return refusal(step, "β is neither 0, 1 nor 2");
    if (!is_whole(step.log_decay) || step.log_decay > 0 || -step.log_decay * chunk >= kWhole)
      return refusal(step, "the decay's logarithm is no whole number, or too large for a chunk");
    if (step.empties() && step.log_decay > kEmpties) return refusal(step, "the decay is neither 1 nor safely 0");
    const auto length = product(step.key, step.key);
    if (!length || *length > 1) return refusal(step, "the key is longer than 1, or rounds");
    reflects = reflects || (step.beta != 0 && step.beta != 1 && *length != 0) || (*length != 0 && *length != 1);
    keeps_writing = keeps_writing || (step.writes() && !step.empties());
  }
  for (const Step& step : steps) {
    if (step.empties()) continue;
    for (const Step& other : steps) {
      const auto both = product(step.key, other.key);
      if (!both || !is_whole(step.beta * *both))
        return refusal(step, fmt::format("the key meets that of token {} in no whole number", other.token));
      if (keeps_writing && (reflects || (*both != 0 && *both != 1)))
        return refusal(step, "the head is written to without being emptied, and its keys are not orthonormal");
    }
  }
  return {};
}

/// Where 1 to 4 hold: the grains of the greatest sum; infinity where 6 does not.
double grains_of(const std::vector<Step>& steps, double chunk) {
  Extent keys, values, queries;
  for (const Step& step : steps) {
    for (const float x : step.key) keys.add(double{x});
    for (const float x : step.query) queries.add(double{x});
    for (const float x : step.value) values.add(step.beta * double{x});
  }
  if (keys.size == 0) return 0;
  const double width = static_cast<double>(steps.front().key.size());
  // No sum has more factors than four numbers of keys, one of values and one of queries over √K.
  const double four = std::pow(keys.grain, 4), query = queries.size == 0 ? 1 : queries.grain / std::sqrt(width);
  const double value = values.size == 0 ? 1 : values.grain;
  const double finest = std::min(four, 1.0) * std::min(query, 1.0) * std::min(value, 1.0),
               coarsest = std::max(four, 1.0) * std::max(query, 1.0) * std::max(value, 1.0);
  if (finest < kLeastNormal || coarsest > kLargestGrain) return INFINITY;
  const double key = 2 * keys.grains(), written = values.grains();  // of β k, and of β v
  const double met = 2 / (keys.grain * keys.grain);                 // β k·k' in parts
  const double solving = 1 + 2 * chunk * (2 * chunk);            // r_i − Σ A_im x_m, where |x| ≤ 2 · chunk · |r|
  const double inverting = 2 * chunk * solving;                  // and where blocks of T stand for those of A
  const double state = std::sqrt(width) * written / keys.grain;  // S, of grains of keys and values
  const double read = width * (2 * chunk * key) * state;         // Y S in parts, of grains of keys² and values
  const double update = read + inverting * written / (keys.grain * keys.grain);  // X − Y S in parts
  const double u = 2 * (1 + std::sqrt(width)) * written;  // |u| ≤ β (|v| + |S|), whole by the values
  const double added = state + chunk * key * u;           // S + Kᵀ u
  const double answer = width * queries.grains() * (state + chunk * key * u);  // q S + (q·k) u
  return std::max({met, inverting * key, inverting * written, read, update, added, answer});
}

}  // namespace

ChunkBound bound_in_chunks(const Checkpoint& checkpoint, const CheckpointModel& model, std::uint32_t chunk) {
  const CheckpointConfig& config = model.config();
  ChunkBound bound;
  const auto no = [&](std::string why) {
    bound.why_not = std::move(why);
    return bound;
  };
  if (config.layers != 1) return no("there are several layers");
  if (traits_of(config.family).decay != Decay::kHead) return no("its layers do not have one decay for each head");
  if (config.convolution_taps > 1) return no("a convolution looks at tokens before");
  std::set<std::uint32_t> tokens(checkpoint.tokens.of_letter.begin(), checkpoint.tokens.of_letter.end());
  if (checkpoint.tokens.begin) tokens.insert(*checkpoint.tokens.begin);
  const std::size_t keys = config.key_dim, values = config.value_dim;
  if (std::popcount(keys) != 1 || std::countr_zero(keys) % 2 != 0) return no("√K is no power of two");
  if (tokens.size() * tokens.size() * config.heads * keys > kMaxProducts) return no("there are too many letters");
  std::vector<CheckpointModel::FirstStep> rows;
  for (const std::uint32_t token : tokens) rows.push_back(model.first_step(token));
  for (std::size_t head = 0; head < config.heads; ++head) {
    std::vector<Step> steps;
    auto token = tokens.begin();
    for (const CheckpointModel::FirstStep& row : rows) {
      steps.push_back(
          {*token++, std::span(row.key).subspan(head * keys, keys), std::span(row.value).subspan(head * values, values),
           std::span(row.query).subspan(head * keys, keys), double{row.beta[head]}, double{row.log_decay[head]}});
      // A zero key writes nothing, whatever its β.
      if (std::ranges::all_of(steps.back().key, [](float x) { return x == 0; })) steps.back().beta = 0;
    }
    if (std::string why = refusal_of(steps, chunk); !why.empty()) return no(std::move(why));
    bound.grains = std::max(bound.grains, grains_of(steps, chunk));
  }
  bound.is_exact = bound.grains < kWhole;
  if (std::isinf(bound.grains)) return no("its numbers, multiplied, leave the range of fp32");
  if (!bound.is_exact) bound.why_not = fmt::format("a sum may have {:.0f} grains, and 2^24 are exact", bound.grains);
  return bound;
}

}  // namespace krohn
