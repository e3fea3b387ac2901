// groups/transformations/transformation_monoid.h — a monoid of transformations, element by element (Froidure & Pin
// 1997).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "krohn/groups/blocks.h"
#include "krohn/groups/transformations/packed_transformations.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// The monoid that transformations generate, enumerated in short-lex order of the least word of each element; element 0
/// is the identity, the empty word. Holds the right Cayley graph and the least words as a tree; gives the left Cayley
/// graph and a complete presentation. Memory per element: 3 bits a point up to degree 8, where look-up needs no hash;
/// 4, 8 or 16 bits a point and at most 16 bytes of hash table beyond; 4 bytes a generator and 6 for the tree.
class TransformationMonoid {
 public:
  using Element = std::uint32_t;
  using Word = std::vector<std::uint32_t>;  ///< indices of generators

  struct Options {
    std::uint64_t max_elements = 50'000'000;
    /// Time or memory that are used up (groups/time_limit.h) end the enumeration as `max_elements` does, instead of
    /// throwing LimitError.
    bool ends_with_time = false;
    /// Called every 2^20 elements or so with the number found; may throw.
    std::function<void(std::uint64_t)> progress;
  };

  /// Enumerates until closed, or until a limit is met, with more than `max_elements` known for one: then `complete()`
  /// is false, and everything found so far stays. Throws InputError when degrees differ, or past degree 65,536.
  static TransformationMonoid enumerate(std::span<const Transformation> generators, Point degree,
                                        const Options& options);
  static TransformationMonoid enumerate(std::span<const Transformation> generators, Point degree) {
    return enumerate(generators, degree, Options());
  }

  Element size() const;
  bool complete() const { return complete_; }
  Point degree() const { return degree_; }
  std::uint32_t generators() const { return generators_; }

  Transformation element(Element e) const;
  std::optional<Element> find(const Transformation& transformation) const;
  /// e · generator. Needs `complete()`, like everything that follows but `word` and `length`.
  Element right(Element e, std::uint32_t generator) const { return right_[std::size_t{e} * generators_ + generator]; }

  /// The short-lex least word of an element, and its length. O(length).
  Word word(Element e) const;
  std::uint32_t length(Element e) const;
  /// e · f by tracing the word of f from e. O(length of f).
  Element product(Element e, Element f) const;
  bool is_idempotent(Element e) const { return product(e, e) == e; }
  std::uint64_t idempotents() const;

  /// Bytes held.
  std::uint64_t bytes() const;

 private:
  using Store = std::variant<TinyTransformations, WideTransformations>;
  TransformationMonoid(Store store, Point degree, std::uint32_t generators)
      : store_(std::move(store)), degree_(degree), generators_(generators) {}
  template <class Elements>
  void expand(Elements& elements, const Options& options);

  Store store_;
  Point degree_;
  std::uint32_t generators_;
  bool complete_ = false;
  Blocks<Element> right_;
  Blocks<Element> prefix_;      ///< the element of the word without its last letter
  Blocks<std::uint16_t> last_;  ///< the last letter
};

}  // namespace krohn
