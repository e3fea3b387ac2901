// simulate/arithmetic/order.h — evaluation orders and forms of weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krohn {

/// Which form of A is multiplied with: the structured form (a permutation moves numbers, a reflection is two updates)
/// or the dense matrix derived from it. Where weights round, the two are different arithmetics of one network.
enum class Form : std::uint8_t { kStructured, kDense };

/// "structured", "dense".
std::string to_string(Form form);

/// Throws InputError listing the names.
Form parse_form(std::string_view name);

struct Order {
  enum class Kind : std::uint8_t { kSequential, kChunked, kScan, kDoubling };

  Kind kind = Kind::kSequential;
  /// Letters in a chunk of `chunked`, or in a block of a scan; 0 for a scan over the whole word, and for `sequential`.
  std::uint32_t block = 0;

  static constexpr std::uint32_t kDefaultChunk = 64;  ///< flash-linear-attention's
  static constexpr std::uint32_t kMaxBlock = std::uint32_t{1} << 20;

  bool is_sequential() const { return kind == Kind::kSequential; }
  friend bool operator==(const Order&, const Order&) = default;
};

/// "sequential", "chunked:64", "scan", "scan:1024", "doubling", "doubling:1024".
std::string to_string(Order order);

/// The inverse; "chunked" alone is chunked:64. Throws InputError listing the names, and where a size is not in
/// 1 … 2^20.
Order parse_order(std::string_view name);

}  // namespace krohn
