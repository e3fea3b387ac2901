// gpu/networks/ordered_blocks.cuh — words through a layer in an order that composes letters
// (simulate/arithmetic/order.h), a block of a word's positions an item. A block's total is made without knowing where
// it starts; once the starts are known, each block is read letter by letter in the same order of operations. For the
// processor and for CUDA devices.
//
//   scan       Letter t (from 1) is position t − 1; blocks have 2^m positions. Within a block the levels below m are a
//              binary counter's; a block starts from the state that the levels above give it, and ends in the next
//              one's start. Where a word is scanned in short segments, a block is a segment, and its total a map for
//              each bit of its length, the highest first; it starts where the segment before ends.
//   doubling   H_0 is position 0 and letter t is position t. A letter's map is composed with the totals to its left of
//              the levels below m, made in the block, then of those above, and applied to the state at 2^a − 1
//              positions, a the highest bit of t.
//   chunked    A block is a chunk: every map is composed after the one before it, and applied to the block's start.
#pragma once

#include <cstdint>

#include "krohn/gpu/device/team.h"
#include "krohn/gpu/networks/ordered_positions.cuh"
#include "krohn/simulate/evaluate/affine_layer.h"

namespace krohn {

enum class BlockOrder : std::uint8_t { kChunked, kScan, kDoubling };

/// The place of the highest bit of x > 0.
KROHN_HOST_DEVICE inline std::uint32_t highest_bit(std::uint64_t x) {
  std::uint32_t highest = 0;
  while (x >> (highest + 1) != 0) ++highest;
  return highest;
}

/// Maps one after another, entry e of map i at [e · count + i].
template <class Number>
struct MapArray {
  Number* numbers = nullptr;
  std::uint32_t* targets = nullptr;
  std::uint32_t count = 0;
};

template <class Number>
using MapView = AffineView<Column<Number>, Column<std::uint32_t>>;

/// All that blocks share.
template <class D>
struct OrderedWord : LayerWord<D> {
  using Number = typename D::Number;
  using LayerWord<D>::letters;

  AffineShape shape;
  std::uint32_t entries = 0;     ///< of a map's blocks
  MapArray<Number> letter_maps;  ///< by action
  BlockOrder order = BlockOrder::kScan;
  std::uint32_t log_block = 0;  ///< m; chunks and segments have `block` letters, segments levels up to m
  std::uint64_t block = 1;
  MapArray<Number> totals[40];  ///< of level k, word after word; of chunks, level 0
  /// `states_each()` of every word: before each block, and after the last one; for doubling, at positions 2^a − 1.
  Number* states = nullptr;

  KROHN_HOST_DEVICE std::uint32_t size() const { return shape.dimension * shape.columns; }
  KROHN_HOST_DEVICE MapView<Number> map(const MapArray<Number>& maps, std::uint64_t i) const {
    const Column<Number> numbers{maps.numbers + i, maps.count};
    return {{maps.targets + i, maps.count}, numbers, numbers + entries};
  }
  /// How far a position is from its letter, counted from 0.
  KROHN_HOST_DEVICE std::uint64_t shift() const { return order == BlockOrder::kDoubling ? 1 : 0; }
  KROHN_HOST_DEVICE std::uint64_t positions() const { return letters + shift(); }
  KROHN_HOST_DEVICE std::uint64_t whole_blocks() const { return positions() / block; }
  KROHN_HOST_DEVICE std::uint64_t all_blocks() const { return (positions() + block - 1) / block; }
  KROHN_HOST_DEVICE std::uint64_t states_each() const {
    return order == BlockOrder::kDoubling ? highest_bit(positions()) + 1 : all_blocks() + 1;
  }
  KROHN_HOST_DEVICE Number* states_of(std::uint64_t which) const { return states + which * states_each() * size(); }
  /// The levels of a block's total.
  KROHN_HOST_DEVICE std::uint64_t total_bits() const { return order == BlockOrder::kChunked ? 1 : block; }
};

// Called from many places, and long: kept apart, so that they are compiled once for each arithmetic.
template <class D, class Number = typename D::Number>
KROHN_DO_NOT_INLINE KROHN_HOST_DEVICE void compose_views(const AffineShape& shape, const MapView<Number>& second,
                                                         const MapView<Number>& first, const MapView<Number>& out,
                                                         const Column<Number>& sums) {
  compose_maps<D>(shape, second, first, out, sums);
}
template <class D, class Number = typename D::Number>
KROHN_DO_NOT_INLINE KROHN_HOST_DEVICE void apply_view(const AffineShape& shape, const MapView<Number>& map,
                                                      const Column<Number>& from, const Column<Number>& to,
                                                      const Column<Number>& sums) {
  apply_map<D>(shape, map, from, to, sums);
}
template <class D, class Number = typename D::Number>
KROHN_DO_NOT_INLINE KROHN_HOST_DEVICE void copy_view(const OrderedWord<D>& word, const MapView<Number>& from,
                                                     const MapView<Number>& to) {
  if (word.shape.only_moves)
    for (std::uint32_t j = 0; j < word.shape.dimension; ++j) to.targets[j] = from.targets[j];
  const std::uint32_t numbers = word.entries + (word.shape.adds ? word.size() : 0);
  for (std::uint32_t e = 0; e < numbers; ++e) to.entries[e] = from.entries[e];
}

/// Room for the blocks in work, place by place: of maps, the one at hand, a spare one, and totals of levels 0 … m; of
/// states, sums, the start, the one at hand, and those of levels 0 … m.
template <class Number>
struct BlockRoom {
  static constexpr std::uint32_t kMaps = 3, kStates = 4;  ///< and m more of each

  MapArray<Number> maps;
  Number* states = nullptr;
  std::uint32_t items = 0;
};

/// One block being read. Level maps lie in the room; states are made too, or the total alone.
template <class D>
class BlockReader {
 public:
  using Number = typename D::Number;

  /// A block of word `which`, in the room's place `item`.
  KROHN_HOST_DEVICE BlockReader(const OrderedWord<D>& word, const BlockRoom<Number>& room, std::uint64_t which,
                                std::uint64_t item, bool makes_states)
      : word_(word),
        room_(room),
        which_(which),
        states_(word.states_of(which)),
        item_(static_cast<std::uint32_t>(item)),
        makes_states_(makes_states),
        map_(room_map(0)),
        spare_(room_map(1)),
        sums_(state_place(0)) {}

  /// The state that the block starts from is in `start()`.
  KROHN_HOST_DEVICE Column<Number> start() const { return state_place(1); }
  /// The state after the letter read last.
  KROHN_HOST_DEVICE Column<Number> state() const { return state_place(2); }
  /// After the last letter of a block, the map of its letters; of a segment, of those that bit k of its length counts.
  KROHN_HOST_DEVICE MapView<Number> total(std::uint32_t k) const {
    return word_.order == BlockOrder::kChunked ? map_ : level(k);
  }

  /// Reads the letter at `position`, from 0 on in the segment, the next one of this block, in its context.
  KROHN_DO_NOT_INLINE KROHN_HOST_DEVICE void read(std::uint64_t position, std::uint32_t context) {
    const MapView<Number> own = word_.map(word_.letter_maps, word_.actions[context]);
    if (word_.order == BlockOrder::kChunked) return read_chunked(own);
    copy_view(word_, own, map_);
    word_.order == BlockOrder::kScan ? read_scan() : read_doubling(position);
  }

 private:
  KROHN_HOST_DEVICE MapView<Number> room_map(std::uint32_t place) const {
    return word_.map(room_.maps, std::uint64_t{place} * room_.items + item_);
  }
  KROHN_HOST_DEVICE MapView<Number> level(std::uint32_t k) const { return room_map(k + 2); }
  KROHN_HOST_DEVICE Column<Number> state_place(std::uint32_t place) const {
    return {room_.states + std::uint64_t{place} * word_.size() * room_.items + item_, room_.items};
  }
  KROHN_HOST_DEVICE Column<Number> level_state(std::uint32_t k) const { return state_place(k + 3); }

  KROHN_HOST_DEVICE void copy_state(const Column<Number>& from, const Column<Number>& to) const {
    for (std::uint32_t e = 0; e < word_.size(); ++e) to[e] = from[e];
  }
  KROHN_HOST_DEVICE Column<Number> end_of(std::uint32_t a) const {
    return {states_ + std::uint64_t{a} * word_.size(), 1};
  }
  KROHN_HOST_DEVICE void swap_maps() {
    const MapView<Number> made = spare_;
    spare_ = map_;
    map_ = made;
  }
  /// map ← map after first.
  KROHN_HOST_DEVICE void compose_after(const MapView<Number>& first) {
    compose_views<D>(word_.shape, map_, first, spare_, sums_);
    swap_maps();
  }

  KROHN_HOST_DEVICE void read_chunked(const MapView<Number>& own) {
    if (count_++ == 0) {
      copy_view(word_, own, map_);
    } else {
      compose_views<D>(word_.shape, own, map_, spare_, sums_);
      swap_maps();
    }
    if (makes_states_) apply_view<D>(word_.shape, map_, start(), state(), sums_);
  }

  KROHN_HOST_DEVICE void read_scan() {
    ++count_;
    const std::uint32_t bit = lowest_bit(count_), earlier = count_ & (count_ - 1);
    for (std::uint32_t k = 0; k < bit; ++k) compose_after(level(k));
    copy_view(word_, map_, level(bit));
    if (makes_states_) {
      apply_view<D>(word_.shape, map_, earlier == 0 ? start() : level_state(lowest_bit(earlier)), state(), sums_);
      copy_state(state(), level_state(bit));
    }
  }

  KROHN_HOST_DEVICE void read_doubling(std::uint64_t position) {
    const std::uint32_t highest = highest_bit(position);
    std::uint32_t trailing = 0;
    while ((position >> trailing & 1) != 0) ++trailing;
    if (trailing == 0) copy_view(word_, map_, level(0));
    for (std::uint32_t k = 0; k < highest; ++k) {
      if ((position >> k & 1) == 0) continue;
      if (k >= word_.log_block) {
        if (makes_states_)
          compose_after(word_.map(word_.totals[k], which_ * (word_.positions() >> k) + (position >> k) - 1));
        continue;
      }
      compose_after(level(k));
      if (k + 1 == trailing || (k + 1 == word_.log_block && trailing > k)) copy_view(word_, map_, level(k + 1));
    }
    if (makes_states_) {
      apply_view<D>(word_.shape, map_, end_of(highest), state(), sums_);
      // In the first block, which is read before the others, these ends are met on the way.
      if (highest < word_.log_block && trailing == highest + 1) copy_state(state(), end_of(trailing));
    }
  }

  const OrderedWord<D>& word_;
  BlockRoom<Number> room_;
  std::uint64_t which_;
  Number* states_;
  std::uint32_t item_, count_ = 0;
  bool makes_states_;
  MapView<Number> map_, spare_;
  Column<Number> sums_;
};

/// Totals of whole blocks.
template <class D>
struct MakeTotals {
  using Number = typename D::Number;

  OrderedWord<D> word;
  BlockRoom<Number> room;
  PartsOfWords blocks;

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t which = blocks.word(item), number = blocks.part(item), begin = number * word.block;
    // The block of doubling's position 0 holds the start, and is never composed.
    if (begin < word.shift()) return;
    BlockReader<D> reader(word, room, which, item, false);
    ContextReader<D> contexts(word, which, begin - word.shift());
    for (std::uint64_t i = 0; i < word.block; ++i) reader.read(begin + i, contexts.next());
    for (std::uint64_t bits = word.total_bits(); bits != 0; bits &= bits - 1) {
      const std::uint32_t k = lowest_bit(static_cast<std::uint32_t>(bits));
      copy_view(word, reader.total(k), word.map(word.totals[k], which * word.whole_blocks() + number));
    }
  }
};

/// Totals of a level from those below, of every word: above[i] = below[2i + 1] after below[2i].
template <class D>
struct JoinTotals {
  using Number = typename D::Number;

  OrderedWord<D> word;
  MapArray<Number> below, above;
  std::uint64_t below_each = 0, above_each = 1;  ///< maps of a word
  Number* sums = nullptr;                        ///< columns of `dimension`

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    // The total of doubling's block 0 does not exist.
    if (item % above_each < word.shift()) return;
    const std::uint64_t from = item / above_each * below_each + 2 * (item % above_each);
    compose_views<D>(word.shape, word.map(below, from + 1), word.map(below, from), word.map(above, item),
                     Column<Number>{sums + item, above.count});
  }
};

/// States of every word by totals: states[to + i · step] = totals[total_first + i · total_step] applied to
/// states[from + i · step], for all i below `each`.
template <class D>
struct ApplyTotals {
  using Number = typename D::Number;

  OrderedWord<D> word;
  MapArray<Number> totals;
  std::uint64_t totals_each = 1, total_first = 0, total_step = 1;
  std::uint64_t from = 0, to = 1, step = 1, each = 1;
  Number* sums = nullptr;  ///< `dimension` for each item

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t which = item / each, i = item % each;
    Number* const here = word.states_of(which) + i * step * word.size();
    const Column<Number> x{here + from * word.size(), 1}, y{here + to * word.size(), 1};
    apply_view<D>(word.shape, word.map(totals, which * totals_each + total_first + i * total_step), x, y,
                  Column<Number>{sums + item * word.shape.dimension, 1});
  }
};

/// The states after whole chunks or segments, one after another, from that before the first. A team a word, whose
/// threads share the numbers of a state; they bring the totals of `ahead` blocks near at a time, so that a step does
/// not wait for the device's memory.
template <class D>
struct ChainTotals {
  using Number = typename D::Number;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr std::uint64_t kNearBytes = 40 * 1024, kMaxAhead = 128;

  OrderedWord<D> word;
  Number* spare = nullptr;  ///< near_words() for a team, where one block is too much for its own memory

  KROHN_HOST_DEVICE std::uint32_t numbers_each() const { return word.entries + (word.shape.adds ? word.size() : 0); }
  KROHN_HOST_DEVICE std::uint32_t targets_each() const { return word.shape.only_moves ? word.shape.dimension : 0; }
  /// 8-byte words of a block's totals, and of the states at work.
  KROHN_HOST_DEVICE std::uint64_t words_each() const {
    std::uint64_t maps = 0;
    for (std::uint64_t bits = word.total_bits(); bits != 0; bits &= bits - 1) ++maps;
    return maps * (numbers_each() + targets_each());
  }
  KROHN_HOST_DEVICE std::uint64_t work_words() const { return 2 * std::uint64_t{word.size()}; }
  KROHN_HOST_DEVICE std::uint64_t ahead() const {
    const std::uint64_t room = kNearBytes / 8, work = work_words();
    const std::uint64_t fitting = work < room ? (room - work) / (words_each() + 1) : 0;
    return fitting < 1 ? 1 : fitting < kMaxAhead ? fitting : kMaxAhead;
  }
  KROHN_HOST_DEVICE std::uint64_t near_words() const { return work_words() + ahead() * words_each(); }
  bool fits() const { return near_words() * 8 <= kNearBytes; }
  std::uint32_t threads() const { return kThreads; }
  std::size_t team_numbers() const { return fits() ? 2 * near_words() : 0; }

  KROHN_HOST_DEVICE void operator()(const Team& team, std::uint64_t which) const {
    auto* const near = spare != nullptr ? spare + which * near_words() : team.numbers_as<Number>();
    Number* const states = word.states_of(which);
    const std::uint64_t links = word.whole_blocks();
    Number *here = near, *there = here + word.size(), *const maps = there + word.size();
    const auto most = static_cast<std::uint32_t>(ahead());
    const std::uint32_t n = word.shape.dimension, numbers = numbers_each(), targets = targets_each();
    team.each(word.size(), [&](std::uint32_t e) { here[e] = states[e]; });
    for (std::uint64_t first = 0; first < links; first += most) {
      const auto count = static_cast<std::uint32_t>(links - first < most ? links - first : most);
      for_levels([&](std::uint32_t level, std::uint32_t k) {
        Number* const to = maps + std::uint64_t{level} * most * (numbers + targets);
        auto* const moves = static_cast<std::uint32_t*>(static_cast<void*>(to + std::uint64_t{most} * numbers));
        const MapArray<Number>& from = word.totals[k];
        const std::uint64_t begin = which * links + first;
        team.each(numbers * count, [&](std::uint32_t i) {
          to[i / count * most + i % count] = from.numbers[std::uint64_t{i / count} * from.count + begin + i % count];
        });
        team.each(targets * count, [&](std::uint32_t i) {
          moves[i / count * most + i % count] = from.targets[std::uint64_t{i / count} * from.count + begin + i % count];
        });
      });
      for (std::uint32_t link = 0; link < count; ++link)
        for_levels([&](std::uint32_t level, std::uint32_t) {
          Number* const map = maps + std::uint64_t{level} * most * (numbers + targets) + link;
          auto* const moves =
              static_cast<std::uint32_t*>(static_cast<void*>(map - link + std::uint64_t{most} * numbers)) + link;
          Number* const to = states + (first + link + 1) * word.size();  // the last level's stay
          team.each(word.size(), [&](std::uint32_t e) {
            const std::uint32_t row = e % n, at = e - row;
            const Column<Number> entries{map, most};
            const MapView<Number> view{
                {moves, most}, entries, entries + (word.entries + (word.shape.adds ? std::uint64_t{at} : 0))};
            to[e] = there[e] = apply_row<D>(word.shape, view, Column<Number>{here + at, 1}, row);
          });
          Number* const made = there;
          there = here;
          here = made;
        });
    }
  }

 private:
  /// Calls body(number of the level, level) for those of a total, the highest first.
  template <class Body>
  KROHN_HOST_DEVICE void for_levels(Body&& body) const {
    std::uint32_t number = 0;
    for (std::uint32_t k = word.log_block + 1; k-- > 0;)
      if ((word.total_bits() >> k & 1) != 0) body(number++, k);
  }
};

/// Reads blocks from their starts and decodes every position.
template <class D>
struct ReadBlocks {
  using Number = typename D::Number;

  OrderedWord<D> word;
  BlockRoom<Number> room;
  PartsOfWords blocks;
  const std::uint32_t* automaton_states = nullptr;  ///< the automaton's before each item's block; for a layer alone
  OrderedOutcome* outcomes = nullptr;
  Number* ends = nullptr;  ///< the state after a word's last letter

  KROHN_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t which = blocks.word(item), number = blocks.part(item), begin = number * word.block;
    const Number* const start = word.states_of(which) + number * word.size();  // not for doubling
    std::uint64_t stop = begin + word.block;
    if (stop > word.positions()) stop = word.positions();
    BlockReader<D> reader(word, room, which, item, true);
    if (word.order != BlockOrder::kDoubling)
      for (std::uint32_t e = 0; e < word.size(); ++e) reader.start()[e] = start[e];
    std::uint64_t position = begin < word.shift() ? word.shift() : begin;
    ContextReader<D> contexts(word, which, position - word.shift());
    PositionJudge<D> judge(word, which, reader.state(), word.is_alone() ? automaton_states[item] : 0);
    for (; position < stop; ++position) {
      const std::uint32_t context = contexts.next();
      reader.read(position, context);
      // A whole block's end is the next one's start: the levels above have made it, from higher bits.
      if (word.order == BlockOrder::kScan && position + 1 == begin + word.block)
        for (std::uint32_t e = 0; e < word.size(); ++e) reader.state()[e] = start[word.size() + e];
      judge.judge(position - word.shift(), context);
    }
    judge.tell(outcomes, stop == word.positions());
    if (stop != word.positions()) return;
    for (std::uint32_t e = 0; e < word.size(); ++e) ends[which * word.size() + e] = reader.state()[e];
  }
};

}  // namespace krohn
