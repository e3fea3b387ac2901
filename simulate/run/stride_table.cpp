#include "krohn/simulate/run/stride_table.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace krohn {
namespace {

/// The largest multiplier of x86-64 addresses is eight.
constexpr std::uint32_t kFreeScale = 3;
/// Tables of two-byte entries that leave room for the words in a first-level cache of 32 kB.
constexpr std::uint64_t kSmallTable = std::uint64_t{1} << 14;

/// One byte where states fit, or two where the table stays small and an entry can hold its row's address.
std::uint32_t entry_size_for(State states, std::uint64_t width) {
  if (states > 65'536) return 4;
  return states > 256 || states * width * 2 <= kSmallTable ? 2 : 1;
}

std::uint64_t padded_width(Letter letters, std::uint32_t stride) {
  const std::uint64_t width = StrideTable::entries(1, letters, stride);
  return width > (std::uint64_t{1} << 40) ? UINT64_MAX : std::bit_ceil(std::max<std::uint64_t>(width, 1));
}

/// The loops for entries of one type. `kScale` is the scale when it is known to the compiler, otherwise −1.
template <class Entry, int kScale>
struct Loop {
  const std::byte* table;
  std::uint32_t scale;

  template <class Symbol>
  Entry next(Entry entry, Symbol symbol) const {
    const std::byte* const column = table + std::size_t{symbol} * sizeof(Entry);
    Entry target;
    std::memcpy(&target, column + (std::size_t{entry} << (kScale >= 0 ? static_cast<std::uint32_t>(kScale) : scale)),
                sizeof target);
    return target;
  }
};

}  // namespace

std::uint64_t StrideTable::entries(State states, Letter letters, std::uint32_t stride) {
  std::uint64_t result = states;
  for (std::uint32_t i = 0; i < stride; ++i) {
    if (letters != 0 && result > UINT64_MAX / letters) return UINT64_MAX;
    result *= letters;
  }
  return result;
}

std::uint64_t StrideTable::bytes(State states, Letter letters, std::uint32_t stride) {
  const std::uint64_t width = padded_width(letters, stride);
  if (width > UINT64_MAX / 4 / states) return UINT64_MAX;
  return states * width * entry_size_for(states, width);
}

StrideTable::StrideTable(const Dfa& dfa, std::uint32_t stride) : stride_(stride), entry_size_(0) {
  assert(stride >= 1 && bytes(dfa.states(), dfa.letters(), stride) < std::uint64_t{1} << 34);
  std::vector<State> targets;
  for (State state = 0; state < dfa.states(); ++state) targets.push_back(state);
  // Words of one letter more: the last digit is the new letter.
  for (std::uint32_t length = 1; length <= stride; ++length) {
    std::vector<State> longer;
    longer.reserve(targets.size() * dfa.letters());
    for (const State before : targets)
      for (const State after : dfa.row(before)) longer.push_back(after);
    targets = std::move(longer);
  }
  const std::size_t width = padded_width(dfa.letters(), stride);
  entry_size_ = entry_size_for(dfa.states(), width);
  const auto row_bits = static_cast<std::uint32_t>(std::countr_zero(width * entry_size_));
  const std::uint32_t state_bits = static_cast<std::uint32_t>(std::bit_width(dfa.states() - 1));
  room_ = std::min(row_bits - std::min(row_bits, kFreeScale), 8 * entry_size_ - state_bits);
  scale_ = row_bits - room_;
  table_.resize(dfa.states() * width * entry_size_);
  if (entry_size_ == 1) fill<std::uint8_t>(targets, width);
  if (entry_size_ == 2) fill<std::uint16_t>(targets, width);
  if (entry_size_ == 4) fill<std::uint32_t>(targets, width);
}

template <class Entry>
void StrideTable::fill(const std::vector<State>& targets, std::size_t width) {
  const std::size_t states = table_.size() / (width * sizeof(Entry)), used = targets.size() / states;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto entry = static_cast<Entry>(targets[i] << room_);
    std::memcpy(table_.data() + (i / used * width + i % used) * sizeof(Entry), &entry, sizeof entry);
  }
}

template <class Body>
void StrideTable::with_loop(Body&& body) const {
  const auto with_entry = [&](auto entry) {
    using Entry = decltype(entry);
    if (scale_ == kFreeScale)
      body(Loop<Entry, static_cast<int>(kFreeScale)>{table_.data(), scale_}, entry);
    else
      body(Loop<Entry, -1>{table_.data(), scale_}, entry);
  };
  if (entry_size_ == 1) return with_entry(std::uint8_t{});
  if (entry_size_ == 2) return with_entry(std::uint16_t{});
  with_entry(std::uint32_t{});
}

template <class Symbol>
State StrideTable::run_one(std::span<const Symbol> symbols, State state) const {
  with_loop([&](auto loop, auto entry) {
    entry = static_cast<decltype(entry)>(state << room_);
    for (const Symbol symbol : symbols) entry = loop.next(entry, symbol);
    state = State{entry} >> room_;
  });
  return state;
}

template <class Symbol>
void StrideTable::run_streams(const std::array<const Symbol*, kStreams>& streams, std::size_t count,
                              Streams& states) const {
  with_loop([&](auto loop, auto entry) {
    using Entry = decltype(entry);
    std::array<Entry, kStreams> current;  // a copy that no store can alias, so that it stays in registers
    for (std::size_t stream = 0; stream < kStreams; ++stream)
      current[stream] = static_cast<Entry>(states[stream] << room_);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t stream = 0; stream < kStreams; ++stream)
        current[stream] = loop.next(current[stream], streams[stream][i]);
    for (std::size_t stream = 0; stream < kStreams; ++stream) states[stream] = State{current[stream]} >> room_;
  });
}

State StrideTable::run(std::span<const std::uint8_t> symbols, State state) const { return run_one(symbols, state); }
State StrideTable::run(std::span<const Letter> symbols, State state) const { return run_one(symbols, state); }

void StrideTable::run(const std::array<const std::uint8_t*, kStreams>& streams, std::size_t count,
                      Streams& states) const {
  run_streams(streams, count, states);
}
void StrideTable::run(const std::array<const Letter*, kStreams>& streams, std::size_t count, Streams& states) const {
  run_streams(streams, count, states);
}

}  // namespace krohn
