// simulate/evaluate/nearest_codeword.h — decoding: the label of the nearest codeword, in fp64, a tie being a failure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/constructions/network/network.h"

namespace krohn {

/// One code book of a layer, prepared for decoding. The squared distance of H to a codeword is Σ (h − c)² over the
/// entries in column-major order, every operation rounded to fp64; the label is that of the strictly least one. A tie,
/// a non-finite number, or a distance that overflows is a failure: kNoLabel.
class NearestCodeword {
 public:
  /// Remembers which codeword was near a region of space. Only a hint: it is taken when the state is so near to it that
  /// no other codeword can be as near. One per thread.
  using Hints = std::vector<std::uint32_t>;

  /// The codewords of `layer` in `book`. O(codewords · n·d) when they are stored, and O(codewords² · n·d) up to 10^8
  /// for the margin.
  NearestCodeword(const Layer& layer, std::uint32_t book);

  Hints make_hints() const { return Hints(hint_count_, 0); }

  /// The definition, by looking at every codeword. O(codewords · n·d).
  Label reference(std::span<const double> state) const;

  /// The same label, usually in O(n·d): by an exact codeword, or a hint within the margin; otherwise by reference.
  Label decode(std::span<const double> state, Hints& hints) const {
    const std::uint32_t codeword = nearest(state, hints);
    return codeword == kNoCodeword ? kNoLabel : labels_[codeword];
  }

  /// The nearest codeword itself, or kNoCodeword.
  static constexpr std::uint32_t kNoCodeword = UINT32_MAX;
  std::uint32_t nearest(std::span<const double> state, Hints& hints) const;

  std::uint32_t size() const { return static_cast<std::uint32_t>(labels_.size()); }
  Label label(std::uint32_t codeword) const { return labels_[codeword]; }
  /// Entry i, in column-major order, of a codeword.
  double entry(std::uint32_t codeword, std::size_t i) const {
    if (unit_position_.empty()) return codewords_[codeword * state_size_ + i];
    return i % unit_stride_ == unit_position_[codeword] ? 1 : 0;
  }

  /// Half the least distance between two codewords, or a lower bound of it: what lies nearer to a codeword than this
  /// has that codeword as its only nearest one. 0 when two coincide, or when it is not known: it is known to a relative
  /// (n·d + 2)·2⁻⁵³ or not at all. Infinite where there are no two codewords.
  double radius() const { return radius_; }

 private:
  double squared_distance(std::span<const double> state, std::size_t codeword) const;
  std::uint32_t reference_nearest(std::span<const double> state) const;
  std::uint32_t nearest_unit(std::span<const double> state) const;
  std::uint32_t nearest_unhinted(std::span<const double> state) const;
  std::uint32_t exact_unit(std::span<const double> state) const;
  void store_codewords(const Layer& layer, std::uint32_t book);
  void name_unit_copies(const Layer& layer, std::uint32_t book);
  void collect_units();
  double find_radius() const;
  double measured_radius() const;
  void index_codewords();
  std::size_t place_of(std::span<const double> numbers) const;
  std::uint32_t exact_codeword(std::span<const double> state) const;
  std::size_t hint_of(std::span<const double> state) const;

  std::size_t state_size_ = 0;     ///< n·d
  std::vector<double> codewords_;  ///< one after another; empty when all are unit vectors
  /// When every codeword is a different unit vector, or copies of one: codeword ↦ where its first 1 is, the next ones
  /// being unit_stride_ further each. Empty otherwise.
  std::vector<std::uint32_t> unit_position_;
  std::vector<std::uint32_t> unit_at_;  ///< the inverse; kNoCodeword where none is
  std::size_t unit_stride_ = 0;
  std::vector<Label> labels_;  ///< codeword ↦ label
  double radius_ = 0;
  double accepted_ = 0;  ///< squared distances below this need no comparison; 0: all do
  double cells_per_unit_ = 0;
  std::size_t hint_count_ = 0;         ///< a power of two, or 0: not worth it
  std::vector<std::uint32_t> places_;  ///< hash of its numbers ↦ codeword; empty: not worth it, or not for certain
};

/// The books of a layer: one more than the greatest that a codeword or a context names. O(codewords + contexts).
std::uint32_t books_of(const Layer& layer);

}  // namespace krohn
