#include "krohn/simulate/evaluate/affine_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/rounded_matrix.h"

namespace krohn {
namespace {

/// ends[i]: no letter so far has a block that goes over from coordinate i to coordinate i + 1.
using BlockEnds = std::vector<bool>;

/// Clears the ends that lie inside a block of the matrix.
template <class Number>
void join_blocks(const RoundedMatrix<Number>& matrix, BlockEnds& ends) {
  const auto join = [&](std::size_t first, std::size_t size) {
    for (std::size_t i = first; i + 1 < first + size; ++i) ends[i] = false;
  };
  const auto* const gather = std::get_if<Gather>(&matrix);
  if (gather != nullptr && gather->is_zero()) return;
  const auto* const blocks = std::get_if<RoundedBlocks<Number>>(&matrix);
  if (blocks == nullptr) return join(0, ends.size());
  std::size_t first = 0;
  for (const auto& block : blocks->blocks) {
    join(first, block.size);
    first += block.size;
  }
}

std::vector<std::uint32_t> sizes_of(const BlockEnds& ends) {
  std::vector<std::uint32_t> sizes;
  std::uint32_t size = 0;
  for (const bool end : ends) {
    ++size;
    if (end) sizes.push_back(std::exchange(size, 0));
  }
  return sizes;
}

/// Column j of a matrix: what it makes of the unit vector, stored.
template <class A>
class Columns {
 public:
  using Number = typename A::Number;

  Columns(const RoundedMatrix<Number>& matrix, std::uint32_t n)
      : matrix_(matrix), unit_(n, A::load(Number(0))), sums_(n), column_(n) {}

  const std::vector<Number>& operator[](std::uint32_t j) {
    const auto n = static_cast<std::uint32_t>(unit_.size());
    if (const auto* blocks = std::get_if<RoundedBlocks<Number>>(&matrix_); blocks != nullptr && blocks->is_dense) {
      for (std::uint32_t i = 0; i < n; ++i) column_[i] = blocks->entries[std::size_t{i} * n + j];
      return column_;
    }
    unit_[j] = A::load(Number(1));
    apply<A>(matrix_, n, 1, unit_.data(), sums_.data());
    unit_[j] = A::load(Number(0));
    std::transform(sums_.begin(), sums_.end(), column_.begin(), [](auto sum) { return A::store(sum); });
    return column_;
  }

 private:
  const RoundedMatrix<Number>& matrix_;
  std::vector<typename A::Sum> unit_, sums_;
  std::vector<Number> column_;
};

/// The column's one ±1, kNoTarget when it is zero, nothing when it is neither.
template <class Number>
std::optional<SignedTarget> target_of(const std::vector<Number>& column) {
  SignedTarget target = kNoTarget;
  for (std::uint32_t i = 0; i < column.size(); ++i) {
    if (column[i] == Number(0)) continue;
    if (target != kNoTarget || (column[i] != Number(1) && column[i] != Number(-1))) return std::nullopt;
    target = 2 * i + (column[i] == Number(-1) ? 1 : 0);
  }
  return target;
}

template <class A>
std::optional<std::vector<SignedTarget>> targets_of(const RoundedMatrix<typename A::Number>& matrix, std::uint32_t n) {
  Columns<A> columns(matrix, n);
  std::vector<SignedTarget> targets;
  for (std::uint32_t j = 0; j < n; ++j) {
    const auto target = target_of(columns[j]);
    if (!target) return std::nullopt;
    targets.push_back(*target);
  }
  return targets;
}

template <class A>
std::vector<typename A::Number> entries_of(const RoundedMatrix<typename A::Number>& matrix, std::uint32_t n,
                                           const std::vector<std::uint32_t>& blocks) {
  Columns<A> columns(matrix, n);
  std::vector<typename A::Number> entries;
  std::uint32_t first = 0;
  for (const std::uint32_t size : blocks) {
    const std::size_t block = entries.size();
    entries.resize(block + std::size_t{size} * size);
    for (std::uint32_t j = 0; j < size; ++j) {
      const auto& column = columns[first + j];
      for (std::uint32_t i = 0; i < size; ++i) entries[block + std::size_t{i} * size + j] = column[first + i];
    }
    first += size;
  }
  return entries;
}

}  // namespace

template <class A>
AffineLayer<A>::AffineLayer(const Layer& layer, Form form)
    : dimension_(layer.dimension), columns_(layer.columns), letters_(layer.transitions.size()) {
  for (const Transition& transition : layer.transitions) adds_ = adds_ || transition.b.size() > 0;
  read_matrices(layer, form);
  if (!adds_) return;
  for (std::size_t i = 0; i < letters_.size(); ++i) {
    letters_[i].addition.assign(size(), Number(0));
    const Eigen::MatrixXd& b = layer.transitions[i].b;
    std::transform(b.data(), b.data() + b.size(), letters_[i].addition.begin(),
                   [](double entry) { return round_weight<A>(entry); });
  }
}

template <class A>
void AffineLayer<A>::read_matrices(const Layer& layer, Form form) {
  std::vector<RoundedMatrix<Number>> matrices;
  BlockEnds ends(dimension_, form == Form::kStructured);
  if (!ends.empty()) ends.back() = true;
  bool moves = form == Form::kStructured;
  for (std::size_t i = 0; i < letters_.size(); ++i) {
    matrices.push_back(round_matrix<typename A::Format>(layer.transitions[i].a, form));
    join_blocks(matrices.back(), ends);
    const auto targets = moves ? targets_of<A>(matrices.back(), dimension_) : std::nullopt;
    moves = targets.has_value();
    if (targets) letters_[i].targets = *targets;
  }
  if (moves) return;
  blocks_ = sizes_of(ends);
  std::uint64_t numbers = 0;
  for (const std::uint64_t size : blocks_) numbers += size * size;
  if (numbers > kMaxMap)
    throw LimitError(
        fmt::format("a letter's matrix has {} numbers, more than the {} that orders other than "
                    "sequential compose; take --order sequential",
                    numbers, kMaxMap));
  for (std::size_t i = 0; i < letters_.size(); ++i) {
    letters_[i].targets.clear();
    letters_[i].entries = entries_of<A>(matrices[i], dimension_, blocks_);
  }
}

template <class A>
typename AffineLayer<A>::Map AffineLayer<A>::make_map() const {
  return letters_.empty() ? Map{} : letters_[0];
}

template <class A>
AffineShape AffineLayer<A>::shape() const {
  return {dimension_, columns_, static_cast<std::uint32_t>(blocks_.size()), blocks_.data(), only_moves(), adds_};
}

template <class A>
void AffineLayer<A>::compose(const Map& second, const Map& first, Map& out, std::vector<Sum>& sums) const {
  const AffineView<Number*, SignedTarget*> to{out.targets.data(), out.entries.data(), out.addition.data()};
  compose_maps<A>(shape(), view(second), view(first), to, sums.data());
}

template <class A>
void AffineLayer<A>::apply(const Map& map, const Number* from, Number* to, std::vector<Sum>& sums) const {
  apply_map<A>(shape(), view(map), from, to, sums.data());
}

#define KROHN_AFFINE(A) template class AffineLayer<A>;
KROHN_FORMATS(KROHN_AFFINE) KROHN_OTHER_ARITHMETICS(KROHN_AFFINE)

}  // namespace krohn
