// simulate/evaluate/lanes/lanes_portable.h — vectors in plain C++: short arrays, a loop per operation, left to the
// compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krohn/simulate/evaluate/lanes/lane_program.h"

namespace krohn {
namespace {

template <class T>
T bit_copy(auto from) {
  static_assert(sizeof(T) == sizeof(from));
  T to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

template <class T>
struct PortableLanes {
  using Number = T;
  using Integer = LaneIndex<T>;
  static constexpr std::size_t width = 32;  ///< long enough that the compiler keeps the loops
  static constexpr std::uint32_t in_registers = 0;

  struct Vector {
    T at[width];
  };
  struct Index {
    Integer at[width];
  };
  struct Mask {
    Integer at[width];  ///< 0 or −1
  };

  template <class Result, class Body>
  static Result each(Body body) {
    Result result;
    for (std::size_t i = 0; i < width; ++i) result.at[i] = body(i);
    return result;
  }

  static Vector load(const T* from) {
    return each<Vector>([&](std::size_t i) { return from[i]; });
  }
  static void store(T* to, const Vector& a) {
    for (std::size_t i = 0; i < width; ++i) to[i] = a.at[i];
  }
  static Vector set(T a) {
    return each<Vector>([&](std::size_t) { return a; });
  }
  static Vector add(const Vector& a, const Vector& b) {
    return each<Vector>([&](std::size_t i) { return a.at[i] + b.at[i]; });
  }
  static Vector subtract(const Vector& a, const Vector& b) {
    return each<Vector>([&](std::size_t i) { return a.at[i] - b.at[i]; });
  }
  static Vector multiply(const Vector& a, const Vector& b) {
    return each<Vector>([&](std::size_t i) { return a.at[i] * b.at[i]; });
  }
  static Vector negate(const Vector& a) {
    return each<Vector>([&](std::size_t i) { return -a.at[i]; });
  }
  static Vector add_where(const Mask& m, const Vector& a, const Vector& b) { return select(m, add(a, b), a); }
  static Vector subtract_where(const Mask& m, const Vector& a, const Vector& b) { return select(m, subtract(a, b), a); }
  static Vector select(const Mask& m, const Vector& a, const Vector& b) {
    return each<Vector>([&](std::size_t i) { return m.at[i] != 0 ? a.at[i] : b.at[i]; });
  }
  static Mask less(const Vector& a, const Vector& b) {
    return each<Mask>([&](std::size_t i) { return a.at[i] < b.at[i] ? Integer{-1} : Integer{0}; });
  }

  static Index load_index(const Integer* from) {
    return each<Index>([&](std::size_t i) { return from[i]; });
  }
  static void store_index(Integer* to, const Index& a) {
    for (std::size_t i = 0; i < width; ++i) to[i] = a.at[i];
  }
  static Index set_index(Integer a) {
    return each<Index>([&](std::size_t) { return a; });
  }
  static Index widen(const std::uint32_t* from) {
    return each<Index>([&](std::size_t i) { return static_cast<Integer>(from[i]); });
  }
  static void narrow(std::uint32_t* to, const Index& a) {
    for (std::size_t i = 0; i < width; ++i) to[i] = static_cast<std::uint32_t>(a.at[i]);
  }
  static Index and_index(const Index& a, const Index& b) {
    return each<Index>([&](std::size_t i) { return a.at[i] & b.at[i]; });
  }
  static Index add_index(const Index& a, const Index& b) {
    return each<Index>([&](std::size_t i) { return a.at[i] + b.at[i]; });
  }
  /// The low 32 bits of the product.
  static Index multiply_index(const Index& a, std::uint32_t b) {
    return each<Index>([&](std::size_t i) {
      return static_cast<Integer>(static_cast<std::uint32_t>(static_cast<std::uint32_t>(a.at[i]) * b));
    });
  }
  static Index shift_right(const Index& a, std::uint32_t by) {
    return each<Index>([&](std::size_t i) { return static_cast<Integer>(static_cast<std::uint32_t>(a.at[i]) >> by); });
  }
  static Index set_bit_where(const Mask& m, const Index& a, Integer bit) {
    return each<Index>([&](std::size_t i) { return a.at[i] | (m.at[i] & bit); });
  }
  static Index select_index(const Mask& m, const Index& a, const Index& b) {
    return each<Index>([&](std::size_t i) { return m.at[i] != 0 ? a.at[i] : b.at[i]; });
  }
  static Mask equal(const Index& a, const Index& b) {
    return each<Mask>([&](std::size_t i) { return a.at[i] == b.at[i] ? Integer{-1} : Integer{0}; });
  }
  static Mask has_bit(const Index& a, Integer bit) {
    return each<Mask>([&](std::size_t i) { return (a.at[i] & bit) != 0 ? Integer{-1} : Integer{0}; });
  }
  static Mask both(const Mask& a, const Mask& b) {
    return each<Mask>([&](std::size_t i) { return a.at[i] & b.at[i]; });
  }
  static std::uint32_t lanes_of(const Mask& m) {
    std::uint32_t lanes = 0;
    for (std::size_t i = 0; i < width; ++i) lanes |= m.at[i] != 0 ? 1U << i : 0U;
    return lanes;
  }

  static Vector lookup_1(const T* t, const Index& i) { return gather(t, i); }
  static Vector lookup_2(const T* t, const Index& i) { return gather(t, i); }
  static Vector lookup_4(const T* t, const Index& i) { return gather(t, i); }
  static Vector lookup_8(const T* t, const Index& i) { return gather(t, i); }
  static Vector gather(const T* t, const Index& i) {
    return each<Vector>([&](std::size_t lane) { return t[i.at[lane]]; });
  }
  static Index bits(const Vector& a) {
    return each<Index>([&](std::size_t i) { return bit_copy<Integer>(a.at[i]); });
  }
  static Vector bits_to_numbers(const Index& a) {
    return each<Vector>([&](std::size_t i) { return bit_copy<T>(a.at[i]); });
  }

  static Vector round_bf16(const Vector& a) {
    return each<Vector>([&](std::size_t i) {
      const auto u = bit_copy<std::uint32_t>(a.at[i]);
      return bit_copy<T>((u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000U);
    });
  }
  /// Subnormal numbers of fp16 round at 2^−24, as a sum with a number whose last place is that; the others at the bit
  /// 13 places up. From 65520 on the nearest is infinity.
  static Vector round_fp16(const Vector& a) {
    return each<Vector>([&](std::size_t i) {
      const auto u = bit_copy<std::uint32_t>(a.at[i]);
      const std::uint32_t sign = u & 0x80000000U, magnitude = u & 0x7fffffffU;
      constexpr float kSubnormal = 0.75F;  // 2^23 quanta of 2^−24, and half as many again
      const float subnormal = (bit_copy<float>(magnitude) + kSubnormal) - kSubnormal;
      std::uint32_t rounded = (magnitude + 0xfff + ((magnitude >> 13) & 1)) & ~std::uint32_t{0x1fff};
      if (rounded >= 0x47800000U && magnitude <= 0x7f800000U) rounded = 0x7f800000U;
      if (magnitude < 0x38800000U) rounded = bit_copy<std::uint32_t>(subnormal);
      return bit_copy<T>(rounded | sign);
    });
  }
};

}  // namespace
}  // namespace krohn
