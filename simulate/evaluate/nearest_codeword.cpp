#include "krohn/simulate/evaluate/nearest_codeword.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace krohn {
namespace {

constexpr double kMaxMarginWork = 1e8;
/// Two different numbers that are 0 or at least this differ by at least 2⁻⁴⁵³, and the square of that is no zero.
constexpr double kLeastIndexed = 0x1p-400;

/// A hint saves comparisons by this argument. Let r be half the least distance between two codewords and d a computed
/// squared distance below (1 − s) r², s = 10⁻⁶. Computed squares of distances are good to a relative (N + 2)·2⁻⁵³ with
/// N numbers in a state, and r to as much; so the codeword is nearer than (1 − s/3) r, every other one is farther than
/// (1 + s/3) r, and the square computed for it is above (1 + s/3) r² > d: what the reference finds. That takes a small
/// N, and that no square of a coordinate that matters underflows or overflows. Distances that overflow are no nearer.
constexpr double kHintSlack = 1e-6;
constexpr std::size_t kMaxHintedState = std::size_t{1} << 24;
constexpr double kLeastRadius = 0x1p-400, kMaxRadius = 0x1p400;

bool is_integer(double value) { return std::nearbyint(value) == value; }

}  // namespace

std::uint32_t books_of(const Layer& layer) {
  std::uint32_t books = 1;
  for (const std::uint32_t book : layer.decoder.book) books = std::max(books, book + 1);
  for (const std::uint32_t book : layer.book_of_context) books = std::max(books, book + 1);
  return books;
}

NearestCodeword::NearestCodeword(const Layer& layer, std::uint32_t book)
    : state_size_(std::size_t{layer.dimension} * layer.columns) {
  if (layer.decoder.unit_copies > 0)
    name_unit_copies(layer, book);
  else
    store_codewords(layer, book);
  radius_ = find_radius();
  if (radius_ > kLeastRadius && radius_ < kMaxRadius && state_size_ <= kMaxHintedState)
    accepted_ = radius_ * radius_ * (1 - kHintSlack);
  // Below a handful of numbers the reference is as fast as a hint.
  if (unit_position_.empty() && labels_.size() * state_size_ > 16 && accepted_ > 0) {
    cells_per_unit_ = 1 / radius_;
    hint_count_ = std::min(std::bit_ceil(4 * labels_.size()), std::size_t{1} << 20);
  }
  if (unit_position_.empty() && labels_.size() * state_size_ > 16) index_codewords();
}

void NearestCodeword::store_codewords(const Layer& layer, std::uint32_t book) {
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    if (codeword_book(layer, i) != book) continue;
    labels_.push_back(codeword_label(layer, i));
    const Eigen::MatrixXd& codeword = layer.decoder.codewords[i];
    codewords_.insert(codewords_.end(), codeword.data(), codeword.data() + codeword.size());
  }
  collect_units();
}

void NearestCodeword::name_unit_copies(const Layer& layer, std::uint32_t book) {
  if (book != 0) return;
  unit_stride_ = layer.labels;
  unit_at_.assign(state_size_, kNoCodeword);
  for (Label label = 0; label < layer.labels; ++label) {
    labels_.push_back(label);
    unit_position_.push_back(label);
    unit_at_[label] = label;
  }
}

/// When every codeword is a different unit vector, only the positions of the ones are kept.
void NearestCodeword::collect_units() {
  std::vector<std::uint32_t> positions, at(state_size_, kNoCodeword);
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const double* codeword = codewords_.data() + i * state_size_;
    const auto nonzeros = state_size_ - static_cast<std::size_t>(std::count(codeword, codeword + state_size_, 0.0));
    const auto position = static_cast<std::size_t>(std::find(codeword, codeword + state_size_, 1.0) - codeword);
    if (nonzeros != 1 || position == state_size_ || at[position] != kNoCodeword) return;
    at[position] = static_cast<std::uint32_t>(i);
    positions.push_back(static_cast<std::uint32_t>(position));
  }
  unit_position_ = std::move(positions);
  unit_at_ = std::move(at);
  unit_stride_ = state_size_;
  codewords_ = {};
}

/// A radius that squares cannot have measured, because they underflow, is not known.
double NearestCodeword::find_radius() const {
  if (labels_.size() < 2) return std::numeric_limits<double>::infinity();
  const double radius = measured_radius();
  return radius > kLeastRadius ? std::min(radius, kMaxRadius) : 0;
}

/// Exact where that is affordable. Distinct integer codewords differ by at least 1; otherwise the pairs are measured.
double NearestCodeword::measured_radius() const {
  if (!unit_position_.empty()) return std::sqrt(0.5 * static_cast<double>(state_size_ / unit_stride_));
  const auto count = static_cast<double>(labels_.size());
  if (count * count * static_cast<double>(state_size_) > kMaxMarginWork) {
    if (!std::all_of(codewords_.begin(), codewords_.end(), is_integer)) return 0;
    std::vector<std::span<const double>> sorted;
    for (std::size_t i = 0; i < labels_.size(); ++i)
      sorted.emplace_back(codewords_.data() + i * state_size_, state_size_);
    const auto less = [](auto a, auto b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    };
    const auto equal = [](auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin()); };
    std::sort(sorted.begin(), sorted.end(), less);
    return std::adjacent_find(sorted.begin(), sorted.end(), equal) == sorted.end() ? 0.5 : 0;
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < labels_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      least = std::min(least, squared_distance({codewords_.data() + i * state_size_, state_size_}, j));
  return std::sqrt(least) / 2;
}

double NearestCodeword::squared_distance(std::span<const double> state, std::size_t codeword) const {
  double sum = 0;
  if (unit_position_.empty()) {
    const double* c = codewords_.data() + codeword * state_size_;
    for (std::size_t i = 0; i < state_size_; ++i) sum += (state[i] - c[i]) * (state[i] - c[i]);
    return sum;
  }
  std::size_t one = unit_position_[codeword];
  for (std::size_t i = 0; i < state_size_; ++i) {
    const bool is_one = i == one;
    if (is_one) one += unit_stride_;
    const double difference = is_one ? state[i] - 1 : state[i];
    sum += difference * difference;
  }
  return sum;
}

Label NearestCodeword::reference(std::span<const double> state) const {
  const std::uint32_t codeword = reference_nearest(state);
  return codeword == kNoCodeword ? kNoLabel : labels_[codeword];
}

std::uint32_t NearestCodeword::reference_nearest(std::span<const double> state) const {
  if (!std::all_of(state.begin(), state.end(), [](double h) { return std::isfinite(h); })) return kNoCodeword;
  double least = std::numeric_limits<double>::infinity();
  std::uint32_t nearest = kNoCodeword;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const double distance = squared_distance(state, i);
    if (distance < least) {
      least = distance;
      nearest = i;
    } else if (distance == least) {
      nearest = kNoCodeword;
    }
  }
  return nearest;
}

std::uint32_t NearestCodeword::nearest(std::span<const double> state, Hints& hints) const {
  if (!unit_position_.empty()) return nearest_unit(state);
  if (hint_count_ == 0) return nearest_unhinted(state);
  std::uint32_t& hint = hints[hint_of(state)];
  if (squared_distance(state, hint) < accepted_) return hint;
  const std::uint32_t nearest = nearest_unhinted(state);
  if (nearest != kNoCodeword) hint = nearest;
  return nearest;
}

std::uint32_t NearestCodeword::nearest_unhinted(std::span<const double> state) const {
  const std::uint32_t exact = exact_codeword(state);
  return exact == kNoCodeword ? reference_nearest(state) : exact;
}

/// Every codeword under its own numbers, when those tell it from all others for certain: no two are equal, and unequal
/// ones have a squared distance above 0 as it is computed. A state that is a codeword then has that one as its nearest.
void NearestCodeword::index_codewords() {
  const auto fits = [](double entry) {
    return entry == 0 || (std::isfinite(entry) && std::fabs(entry) >= kLeastIndexed);
  };
  if (!std::all_of(codewords_.begin(), codewords_.end(), fits)) return;
  places_.assign(std::bit_ceil(2 * labels_.size()), kNoCodeword);
  for (std::uint32_t i = 0; i < size(); ++i) {
    std::uint32_t& place = places_[place_of({codewords_.data() + i * state_size_, state_size_})];
    if (place != kNoCodeword) {
      places_ = {};
      return;
    }
    place = i;
  }
}

/// Where the codeword of these numbers is, or would be.
std::size_t NearestCodeword::place_of(std::span<const double> numbers) const {
  std::uint64_t hash = 0;
  for (const double number : numbers) {
    hash = (hash ^ std::bit_cast<std::uint64_t>(number + 0.0)) * 0xbf58476d1ce4e5b9ULL;  // −0 + 0 = +0
    hash ^= hash >> 32;
  }
  const std::size_t mask = places_.size() - 1;
  std::size_t place = hash & mask;
  const auto holds_another = [&] {
    return places_[place] != kNoCodeword &&
           !std::equal(numbers.begin(), numbers.end(), codewords_.data() + places_[place] * state_size_);
  };
  while (holds_another()) place = (place + 1) & mask;
  return place;
}

std::uint32_t NearestCodeword::exact_codeword(std::span<const double> state) const {
  return places_.empty() ? kNoCodeword : places_[place_of(state)];
}

std::uint32_t NearestCodeword::nearest_unit(std::span<const double> state) const {
  if (const std::uint32_t exact = exact_unit(state); exact != kNoCodeword) return exact;
  const auto end = state.begin() + static_cast<std::ptrdiff_t>(unit_stride_);
  const std::uint32_t guess = unit_at_[static_cast<std::size_t>(std::max_element(state.begin(), end) - state.begin())];
  if (guess != kNoCodeword && squared_distance(state, guess) < accepted_) return guess;
  return reference_nearest(state);
}

/// The codeword that the state is, or kNoCodeword. Its distance is 0 and every other's is at least 2.
std::uint32_t NearestCodeword::exact_unit(std::span<const double> state) const {
  std::size_t nonzeros = 0, first = 0;
  for (std::size_t i = state_size_; i-- > 0;)
    if (state[i] != 0) {
      ++nonzeros;
      first = i;
    }
  if (nonzeros != state_size_ / unit_stride_ || first >= unit_stride_) return kNoCodeword;
  for (std::size_t i = first; i < state_size_; i += unit_stride_)
    if (state[i] != 1) return kNoCodeword;
  return unit_at_[first];
}

/// The cell of a grid as fine as the margin, hashed. Numbers too large for a grid share a cell.
std::size_t NearestCodeword::hint_of(std::span<const double> state) const {
  std::uint64_t hash = 0;
  for (const double h : state) {
    const double cell = std::floor(h * cells_per_unit_ + 0.5);
    if (!(std::fabs(cell) < 1e15)) return 0;
    hash = (hash ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(cell))) * 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 32;
  }
  return hash & (hint_count_ - 1);
}

}  // namespace krohn
