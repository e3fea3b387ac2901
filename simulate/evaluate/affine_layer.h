// simulate/evaluate/affine_layer.h — the letters of one layer as maps H ↦ A H + B that can be composed, in one
// arithmetic: what every order but the sequential one works with. simulate/arithmetic/order.h defines the operations
// and their order.
#pragma once

#include <cstdint>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/form.h"
#include "krohn/simulate/evaluate/affine_operations.h"

namespace krohn {

/// The letters of a layer are its actions. Immutable once made; shared by threads.
template <class A>
class AffineLayer {
 public:
  using Number = typename A::Number;
  using Sum = typename A::Sum;

  /// A stored map. A is given by `targets`, a column each, or by the `entries` of its diagonal blocks, row-major, one
  /// block after another. `addition` is B, column-major; empty when no letter of the layer has one.
  struct Map {
    std::vector<SignedTarget> targets;
    std::vector<Number> entries, addition;
    friend bool operator==(const Map&, const Map&) = default;
  };

  /// O(letters · n²) for structured forms. Throws LimitError when a map would take more than kGreatestMap numbers.
  AffineLayer(const Layer& layer, Form form);

  static constexpr std::uint64_t kGreatestMap = std::uint64_t{1} << 24;

  std::uint32_t dimension() const { return dimension_; }
  std::uint32_t columns() const { return columns_; }
  std::size_t size() const { return std::size_t{dimension_} * columns_; }
  Action letters() const { return static_cast<Action>(letters_.size()); }
  const Map& letter(Action action) const { return letters_[action]; }
  /// Matrices are composed as maps, without a multiplication.
  bool only_moves() const { return blocks_.empty(); }
  /// Sizes of the diagonal blocks; empty when only_moves().
  const std::vector<std::uint32_t>& blocks() const { return blocks_; }
  bool adds() const { return adds_; }
  AffineShape shape() const;

  /// A map of the right size, and room for accumulators.
  Map make_map() const;
  std::vector<Sum> make_sums() const { return std::vector<Sum>(dimension_); }

  /// out = second after first. `out` is another map, from make_map(). O(Σ block³ + cost of d products).
  void compose(const Map& second, const Map& first, Map& out, std::vector<Sum>& sums) const;

  /// to = A from + B. The two do not overlap.
  void apply(const Map& map, const Number* from, Number* to, std::vector<Sum>& sums) const;

 private:
  using View = AffineView<const Number*, const SignedTarget*>;
  static View view(const Map& map) { return {map.targets.data(), map.entries.data(), map.addition.data()}; }
  void read_matrices(const Layer& layer, Form form);

  std::uint32_t dimension_, columns_;
  std::vector<std::uint32_t> blocks_;
  bool adds_ = false;
  std::vector<Map> letters_;
};

}  // namespace krohn
