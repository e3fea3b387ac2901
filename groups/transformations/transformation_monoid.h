// groups/transformations/transformation_monoid.h — a monoid of transformations, element by element (Froidure & Pin
// 1997).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "krohn/groups/base/record_set.h"
#include "krohn/groups/transformations/transformation.h"

namespace krohn {

/// A growing array in blocks that never move: appending copies nothing, so peak memory is what is held.
template <class T>
class Blocks {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return blocks_[i >> kBits][i & kMask]; }
  const T& operator[](std::size_t i) const { return blocks_[i >> kBits][i & kMask]; }
  void push_back(T value) {
    if ((size_ & kMask) == 0) blocks_.push_back(std::make_unique_for_overwrite<T[]>(std::size_t{1} << kBits));
    (*this)[size_++] = value;
  }
  std::uint64_t bytes() const { return blocks_.size() * (sizeof(T) << kBits); }

 private:
  static constexpr unsigned kBits = 16;
  static constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<T[]>> blocks_;
};

// Sets of transformations in few bits a point, and their products
// with fixed generators.

/// Degree at most 8: three bits a point, 24 in all, found by direct address in a table of 8^degree entries.
class TinyTransformations {
 public:
  static constexpr Point kMaxDegree = 8;

  TinyTransformations(std::span<const Transformation> generators, Point degree);

  std::uint32_t size() const { return static_cast<std::uint32_t>(packed_.size()); }
  Transformation operator[](std::uint32_t element) const;
  std::optional<std::uint32_t> find(const Transformation& transformation) const;
  RecordSet::Insertion insert(const Transformation& transformation) { return insert(pack(transformation)); }
  /// Adds element · generator.
  RecordSet::Insertion insert_product(std::uint32_t element, std::uint32_t generator) {
    return insert(product(packed_[element], generator));
  }
  /// Hints that `insert_product(element, generator)` will come.
  void prefetch(std::uint32_t element, std::uint32_t generator) const {
    __builtin_prefetch(&address_[product(packed_[element], generator) & mask_]);
  }
  std::uint64_t bytes() const { return packed_.bytes() + 4 * address_.size(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  static std::uint32_t pack(const Transformation& transformation);
  /// Four points at a time: the images of twelve bits are one look-up.
  std::uint32_t product(std::uint32_t packed, std::uint32_t generator) const {
    const std::uint16_t* table = images_.data() + std::size_t{generator} * 4096;
    return std::uint32_t{table[packed & 4095]} | std::uint32_t{table[packed >> 12]} << 12;
  }
  RecordSet::Insertion insert(std::uint32_t packed);

  Point degree_;
  std::uint32_t mask_;
  std::vector<std::uint16_t> images_;
  std::vector<std::uint32_t> address_;
  Blocks<std::uint32_t> packed_;
};

/// Any degree up to 65,536: four, eight or sixteen bits a point in records of a hash table.
class WideTransformations {
 public:
  static constexpr Point kMaxDegree = 65'536;

  WideTransformations(std::span<const Transformation> generators, Point degree);

  std::uint32_t size() const { return records_.size(); }
  Transformation operator[](std::uint32_t element) const;
  std::optional<std::uint32_t> find(const Transformation& transformation) const;
  RecordSet::Insertion insert(const Transformation& transformation);
  RecordSet::Insertion insert_product(std::uint32_t element, std::uint32_t generator);
  void prefetch(std::uint32_t, std::uint32_t) const {}
  std::uint64_t bytes() const { return records_.bytes(); }

 private:
  static std::uint32_t bits_for(Point degree) { return degree <= 16 ? 4 : degree <= 256 ? 8 : 16; }
  Point get(RecordSet::Record record, Point point) const {
    const std::uint32_t position = point * bits_;
    return (record[position / 32] >> (position % 32)) & mask_;
  }
  void put(Point point, Point image) {
    const std::uint32_t position = point * bits_;
    scratch_[position / 32] |= image << (position % 32);
  }

  Point degree_;
  std::uint32_t bits_, mask_;
  std::vector<Point> images_;
  RecordSet records_;
  std::vector<std::uint32_t> scratch_;
};

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
    /// Time or memory that are used up (groups/base/time_limit.h) end the enumeration as `max_elements` does, instead
    /// of throwing LimitError.
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
  /// e · generator. Needs `complete()`, like everything that follows but `word`, `prefix` and `last`.
  Element right(Element e, std::uint32_t generator) const { return right_[std::size_t{e} * generators_ + generator]; }

  /// The short-lex least word of an element. O(length).
  Word word(Element e) const;
  /// The element of that word without its last letter, and that letter; of no identity.
  Element prefix(Element e) const { return prefix_[e]; }
  std::uint32_t last(Element e) const { return last_[e]; }
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
  Blocks<Element> prefix_;
  Blocks<std::uint16_t> last_;
};

/// Two words of generators that are one element; `right` is the short-lex least of its words.
struct Relation {
  TransformationMonoid::Word left, right;
};

/// The relations of Froidure and Pin (1997): u·g = v for every least word u and generator g whose product has another
/// least word v, and for which every proper factor of u·g is a least word already. They present the monoid, and as
/// rewriting rules from left to right they are confluent and end in least words. None can be left out as a rule. In
/// short-lex order. O(elements · generators · length). Needs `complete()`.
std::vector<Relation> complete_presentation(const TransformationMonoid& monoid);

// All monoids of maps of at most three points, up to the names of the points.

/// A monoid of maps with the identity, and letters that generate it: none of them can be left out.
struct SmallMonoid {
  std::vector<Transformation> elements;    ///< in increasing order of their images
  std::vector<Transformation> generators;  ///< without the identity
};

/// One of each class under renaming of the points, by increasing size: every one is reached from {1} by adding an
/// element at a time. Throws InputError unless `degree` is 1, 2 or 3; four points have more than 10^8.
std::vector<SmallMonoid> monoids_on(Point degree);

}  // namespace krohn
