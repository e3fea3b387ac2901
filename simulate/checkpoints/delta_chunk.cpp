#include "krohn/simulate/checkpoints/delta_chunk.h"

#include <Eigen/Core>
#include <cmath>

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

}  // namespace krohn
