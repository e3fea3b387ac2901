#include "krohn/simulate/learned/deterministic_mixer.h"

#include <algorithm>
#include <cmath>

#include "krohn/groups/stated_functions.h"
#include "krohn/simulate/learned/deterministic_layers.h"

namespace krohn {
namespace {

template <class Real>
class DeterministicReflections : public DeterministicMixer<Real> {
 public:
  using Part = typename DeterministicModel<Real>::Part;

  DeterministicReflections(const ReflectionShape& shape, const TensorFile& tensors, const std::string& prefix)
      : shape_(shape),
        in_(plain_numbers<Real>(tensors, prefix + "in")),
        taps_(plain_numbers<Real>(tensors, prefix + "taps")),
        norm_(plain_numbers<Real>(tensors, prefix + "norm")),
        out_(plain_numbers<Real>(tensors, prefix + "out")) {}

  std::size_t memory() const override {
    return shape_.heads * shape_.state_size() + kept_rows() * shape_.beta_column();
  }

  std::vector<Part> states() const override {
    std::vector<Part> parts;
    for (std::size_t head = 0; head < shape_.heads; ++head)
      parts.push_back({head * shape_.state_size(), shape_.state_size()});
    return parts;
  }

  std::vector<StateBlock> blocks() const override {
    std::vector<StateBlock> all;
    for (const Part& part : states()) all.push_back({part.first, shape_.keys, shape_.values});
    return all;
  }

  /// Of every head: Π (I − β k kᵀ), the first reflection rightmost.
  LetterMaps maps(std::span<const Real> looked) const override {
    std::vector<Real> row(looked.begin(), looked.begin() + static_cast<std::ptrdiff_t>(shape_.beta_column()));
    if (shape_.taps > 0) {
      row = plain_steady<Real>(row, taps_);
      activate(row);
    }
    LetterMaps result;
    const auto keys = static_cast<Eigen::Index>(shape_.keys);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      Eigen::MatrixXd map = Eigen::MatrixXd::Identity(keys, keys);
      for (std::size_t j = 0; j < shape_.reflections; ++j) {
        const Eigen::VectorXd k = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(
                                      row.data() + shape_.k_column(head) + j * shape_.keys, keys)
                                      .template cast<double>();
        const auto beta = static_cast<double>(looked[shape_.beta_column(head) + j]);
        map -= beta * k * (k.transpose() * map);
        result.betas.push_back(beta);
      }
      result.matrices.push_back(std::move(map));
    }
    return result;
  }

  std::vector<Real> look(std::span<const Real> x) const override {
    std::vector<Real> row = plain_product(x, in_);
    for (std::size_t i = shape_.beta_column(); i < row.size(); ++i)
      row[i] = (shape_.negative ? Real{2} : Real{1}) / (Real{1} + plain_exp(-row[i]));
    if (shape_.taps == 0) activate(std::span(row).first(shape_.beta_column()));
    return row;
  }

  void run(std::span<const Real> looked, std::span<Real> memory, std::span<Real> y) const override {
    std::vector<Real> row(looked.begin(), looked.begin() + static_cast<std::ptrdiff_t>(shape_.beta_column()));
    if (shape_.taps > 0) {
      row = plain_convolution<Real>(row, taps_, memory.subspan(shape_.heads * shape_.state_size()));
      activate(row);
    }
    std::vector<Real> read(std::size_t{shape_.heads} * shape_.values, 0), lack(shape_.values);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      Real* const state = memory.data() + head * shape_.state_size();
      for (std::size_t j = 0; j < shape_.reflections; ++j)
        reflect(row.data() + shape_.k_column(head) + j * shape_.keys,
                row.data() + shape_.v_column(head) + j * shape_.values, looked[shape_.beta_column(head) + j], state,
                lack);
      const Real* const q = row.data() + head * shape_.keys;
      for (std::size_t i = 0; i < shape_.keys; ++i)
        for (std::size_t c = 0; c < shape_.values; ++c)
          read[head * shape_.values + c] += q[i] * state[i * shape_.values + c];
    }
    if (y.empty()) return;
    plain_rms_norm<Real>(read, norm_);
    add_plain_product<Real>(read, out_, y);
  }

 private:
  std::size_t kept_rows() const { return shape_.taps > 0 ? shape_.taps - 1 : 0; }

  /// SiLU of q, k and v; then q and k get norm 1.
  void activate(std::span<Real> row) const {
    if (!shape_.plain)
      for (Real& x : row) x = plain_silu(x);
    plain_unit_norm<Real>(row.first(shape_.v_column(0)), shape_.keys);
  }

  /// S ← S + k (β (v − Sᵀk))ᵀ
  void reflect(const Real* k, const Real* v, Real beta, Real* state, std::vector<Real>& lack) const {
    const std::size_t values = shape_.values;
    std::ranges::fill(lack, Real{0});
    for (std::size_t i = 0; i < shape_.keys; ++i)
      for (std::size_t c = 0; c < values; ++c) lack[c] += k[i] * state[i * values + c];
    for (std::size_t c = 0; c < values; ++c) lack[c] = beta * (v[c] - lack[c]);
    for (std::size_t i = 0; i < shape_.keys; ++i)
      for (std::size_t c = 0; c < values; ++c) state[i * values + c] += k[i] * lack[c];
  }

  ReflectionShape shape_;
  std::vector<Real> in_, taps_, norm_, out_;
};

template <class Real>
class DeterministicDiagonal : public DeterministicMixer<Real> {
 public:
  using Part = typename DeterministicModel<Real>::Part;

  DeterministicDiagonal(const DiagonalShape& shape, const TensorFile& tensors, const std::string& prefix)
      : shape_(shape),
        in_(plain_numbers<Real>(tensors, prefix + "in")),
        taps_(plain_numbers<Real>(tensors, prefix + "taps")),
        select_(plain_numbers<Real>(tensors, prefix + "select")),
        step_(plain_numbers<Real>(tensors, prefix + "step")),
        rates_(plain_numbers<Real>(tensors, prefix + "decay")),
        angles_(plain_numbers<Real>(tensors, prefix + "angle")),
        skip_(plain_numbers<Real>(tensors, prefix + "skip")),
        out_(plain_numbers<Real>(tensors, prefix + "out")) {
    for (Real& rate : rates_) rate = plain_exp(rate);
  }

  std::size_t memory() const override { return state_size() + kept_rows() * shape_.channels; }
  std::vector<Part> states() const override { return {{0, state_size()}}; }

  std::vector<StateBlock> blocks() const override {
    std::vector<StateBlock> all;
    for (std::size_t i = 0; i < state_size(); i += parts()) all.push_back({i, parts(), 1});
    return all;
  }

  LetterMaps maps(std::span<const Real> looked) const override {
    std::vector<Real> chosen(looked.begin() + static_cast<std::ptrdiff_t>(shape_.channels), looked.end());
    if (shape_.taps > 0) chosen = choose(plain_steady<Real>(chosen, taps_));
    LetterMaps result;
    for (std::size_t i = chosen.size() - state_size(); i < chosen.size(); i += parts()) {
      const double a = static_cast<double>(chosen[i]);
      if (shape_.complex) {
        const double turn = static_cast<double>(chosen[i + 1]);
        result.matrices.push_back((Eigen::MatrixXd(2, 2) << a, -turn, turn, a).finished());
      } else {
        result.matrices.push_back(Eigen::MatrixXd::Constant(1, 1, a));
      }
    }
    return result;
  }

  /// The gate, and then either the raw input of the convolution or all that `choose` says.
  std::vector<Real> look(std::span<const Real> x) const override {
    const std::vector<Real> both = plain_product(x, in_);
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(shape_.channels);
    std::vector<Real> looked;
    for (auto gate = middle; gate != both.end(); ++gate) looked.push_back(plain_silu(*gate));
    const std::vector<Real> raw(both.begin(), middle);
    const std::vector<Real> rest = shape_.taps > 0 ? raw : choose(raw);
    looked.insert(looked.end(), rest.begin(), rest.end());
    return looked;
  }

  void run(std::span<const Real> looked, std::span<Real> memory, std::span<Real> y) const override {
    const std::size_t channels = shape_.channels, states = shape_.states;
    std::vector<Real> chosen;
    std::span<const Real> choice = looked.subspan(channels);
    if (shape_.taps > 0) {
      chosen = choose(plain_convolution<Real>(choice, taps_, memory.subspan(state_size())));
      choice = chosen;
    }
    const auto input = choice.first(channels), scaled = choice.subspan(channels, channels),
               k = choice.subspan(2 * channels, states), q = choice.subspan(2 * channels + states, parts() * states),
               decays = choice.subspan(2 * channels + (1 + parts()) * states);
    std::vector<Real> read(channels, 0);
    for (std::size_t i = 0; i < states; ++i)
      for (std::size_t c = 0; c < channels; ++c) {
        if (shape_.complex) {
          const std::size_t at = 2 * (i * channels + c), turned = at + 1;
          const Real real = decays[at] * memory[at] - decays[turned] * memory[turned] + k[i] * scaled[c];
          memory[turned] = decays[at] * memory[turned] + decays[turned] * memory[at];
          memory[at] = real;
          read[c] += q[2 * i] * real;
          read[c] += q[2 * i + 1] * memory[turned];
          continue;
        }
        Real& h = memory[i * channels + c];
        h = decays[i * channels + c] * h + k[i] * scaled[c];
        read[c] += q[i] * h;
      }
    if (y.empty()) return;
    for (std::size_t c = 0; c < channels; ++c) read[c] = (read[c] + skip_[c] * input[c]) * looked[c];
    add_plain_product<Real>(read, out_, y);
  }

 private:
  /// Numbers of a state: its real and its imaginary part, side by side.
  std::size_t parts() const { return shape_.complex ? 2 : 1; }
  std::size_t state_size() const { return parts() * shape_.states * shape_.channels; }
  std::size_t kept_rows() const { return shape_.taps > 0 ? shape_.taps - 1 : 0; }

  /// u, Δ ∘ u, k, q and a, one after another.
  std::vector<Real> choose(std::vector<Real> input) const {
    const std::size_t channels = shape_.channels;
    for (Real& x : input) x = plain_silu(x);
    const std::vector<Real> selected = plain_product<Real>(input, select_);
    std::vector<Real> steps(channels), chosen = input;
    for (std::size_t c = 0; c < channels; ++c) {
      const Real raw = selected[c] + step_[c];
      const double tail = stated::log1p(stated::exp(-std::abs(static_cast<double>(raw))));
      steps[c] = std::max(raw, Real{0}) + static_cast<Real>(tail);
      chosen.push_back(steps[c] * input[c]);
    }
    chosen.insert(chosen.end(), selected.begin() + static_cast<std::ptrdiff_t>(channels), selected.end());
    const std::size_t decays = chosen.size();
    chosen.resize(decays + state_size());
    for (std::size_t i = 0; i < shape_.states * channels; ++i) {
      const Real step = shape_.fixed ? Real{1} : steps[i % channels], a = plain_exp(-rates_[i] * step);
      const std::size_t at = decays + i * parts();
      chosen[at] = shape_.negative ? Real{2} * a - Real{1} : a;
      if (!shape_.complex) continue;
      const double angle = static_cast<double>(angles_[i] * step);
      chosen[at] = a * static_cast<Real>(stated::cos(angle));
      chosen[at + 1] = a * static_cast<Real>(stated::sin(angle));
    }
    return chosen;
  }

  DiagonalShape shape_;
  std::vector<Real> in_, taps_, select_, step_, rates_, angles_, skip_, out_;
};

template <class Real>
class DeterministicBlocks : public DeterministicMixer<Real> {
 public:
  using Part = typename DeterministicModel<Real>::Part;

  DeterministicBlocks(const BlockShape& shape, const TensorFile& tensors, const std::string& prefix)
      : shape_(shape),
        generator_in_(plain_numbers<Real>(tensors, prefix + "generator_in")),
        generator_out_(plain_numbers<Real>(tensors, prefix + "generator_out")),
        bias_(plain_numbers<Real>(tensors, prefix + "generator_bias")),
        input_(plain_numbers<Real>(tensors, prefix + "input")),
        start_(plain_numbers<Real>(tensors, prefix + "start")) {}

  std::size_t memory() const override { return shape_.width(); }
  void start(std::span<Real> memory) const override { std::ranges::copy(start_, memory.begin()); }
  std::vector<Part> states() const override { return {{0, shape_.width()}}; }

  std::vector<StateBlock> blocks() const override {
    std::vector<StateBlock> all;
    for (std::size_t block = 0; block < shape_.blocks; ++block) all.push_back({block * shape_.size, shape_.size, 1});
    return all;
  }

  LetterMaps maps(std::span<const Real> looked) const override {
    LetterMaps result;
    const auto size = static_cast<Eigen::Index>(shape_.size);
    for (std::size_t block = 0; block < shape_.blocks; ++block)
      result.matrices.push_back(Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>>(
                                    looked.data() + block * shape_.size * shape_.size, size, size)
                                    .template cast<double>());
    return result;
  }

  /// The blocks, columns one after another, and what is added.
  std::vector<Real> look(std::span<const Real> x) const override {
    std::vector<Real> looked = bias_;
    if (shape_.generator > 0) {
      std::vector<Real> hidden = plain_product(x, generator_in_);
      for (Real& h : hidden) h = plain_silu(h);
      add_plain_product<Real>(hidden, generator_out_, looked);
    } else {
      add_plain_product<Real>(x, generator_out_, looked);
    }
    for (std::size_t first = 0; first < looked.size(); first += shape_.size)
      divide(std::span(looked).subspan(first, shape_.size));
    const std::vector<Real> added = plain_product(x, input_);
    looked.insert(looked.end(), added.begin(), added.end());
    return looked;
  }

  void run(std::span<const Real> looked, std::span<Real> memory, std::span<Real> y) const override {
    const std::size_t size = shape_.size, width = shape_.width();
    std::vector<Real> next(looked.end() - static_cast<std::ptrdiff_t>(width), looked.end());
    for (std::size_t column = 0; column < width; ++column)
      for (std::size_t row = 0; row < size; ++row)
        next[column / size * size + row] += looked[column * size + row] * memory[column];
    std::ranges::copy(next, memory.begin());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += next[i];
  }

 private:
  /// By max(1, its p-norm).
  void divide(std::span<Real> column) const {
    double sum = 0;
    for (const Real x : column) sum += stated::pow(std::abs(static_cast<double>(x)), shape_.norm);
    const auto norm = static_cast<Real>(stated::pow(sum, 1 / shape_.norm));
    if (norm <= 1) return;
    for (Real& x : column) x = x / norm;
  }

  BlockShape shape_;
  std::vector<Real> generator_in_, generator_out_, bias_, input_, start_;
};

}  // namespace

template <class Real>
std::unique_ptr<DeterministicMixer<Real>> plain_mixer(
    const std::variant<ReflectionShape, DiagonalShape, BlockShape>& shape, const TensorFile& tensors,
    const std::string& prefix) {
  if (const auto* reflections = std::get_if<ReflectionShape>(&shape))
    return std::make_unique<DeterministicReflections<Real>>(*reflections, tensors, prefix);
  if (const auto* diagonal = std::get_if<DiagonalShape>(&shape))
    return std::make_unique<DeterministicDiagonal<Real>>(*diagonal, tensors, prefix);
  return std::make_unique<DeterministicBlocks<Real>>(std::get<BlockShape>(shape), tensors, prefix);
}

template std::unique_ptr<DeterministicMixer<float>> plain_mixer(
    const std::variant<ReflectionShape, DiagonalShape, BlockShape>&, const TensorFile&, const std::string&);
template std::unique_ptr<DeterministicMixer<double>> plain_mixer(
    const std::variant<ReflectionShape, DiagonalShape, BlockShape>&, const TensorFile&, const std::string&);

}  // namespace krohn
