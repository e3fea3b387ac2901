#include "krohn/gpu/automata/long_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/run/state_maps.h"

namespace krohn {
namespace {

class ReferenceReader final : public SliceReader {
 public:
  ReferenceReader(const SliceTables& tables, std::uint64_t slices) : tables_(tables), slices_(slices) {}

  std::uint64_t slices() const override { return slices_; }

  std::vector<std::uint32_t> read(const WordSlices& word) override {
    std::vector<std::uint32_t> numbers(word.slices * tables_.numbers_per_slice());
    if (tables_.kind() == SliceTables::Kind::kMaps) {
      switch (tables_.map_words()) {
        case 2:
          compose<2>(word, numbers);
          break;
        case 4:
          compose<4>(word, numbers);
          break;
        default:
          compose<8>(word, numbers);
      }
      return numbers;
    }
    const SymbolTable& table = tables_.table();
    with_entries(table.entry_size, table.entries.data(), [&](const auto* entries) {
      if (tables_.kind() == SliceTables::Kind::kLed) {
        for (std::uint64_t item = 0; item < word.slices; ++item)
          read_led_slice(word, table.cut, entries, tables_.lead(), item, numbers.data());
        return;
      }
      for (std::uint64_t item = 0; item < numbers.size(); ++item)
        read_slice(word, table.cut, entries, tables_.starts(), item, numbers.data());
    });
    return numbers;
  }

 private:
  template <std::uint32_t kWords>
  void compose(const WordSlices& word, std::vector<std::uint32_t>& numbers) const {
    const auto* maps = reinterpret_cast<const SymbolMap<kWords>*>(tables_.symbol_maps().data());
    for (std::uint64_t slice = 0; slice < word.slices; ++slice)
      compose_slice(word, tables_.cut(), maps, slice, numbers.data());
  }

  const SliceTables& tables_;
  std::uint64_t slices_;
};

/// Random letters after which all states have met, or nothing where they have not within kMaxLetters.
std::optional<std::uint64_t> letters_to_meet(const Dfa& dfa) {
  constexpr std::uint64_t kMaxLetters = std::uint64_t{1} << 20, kMaxSteps = std::uint64_t{1} << 26;
  std::vector<State> states(dfa.states());
  std::iota(states.begin(), states.end(), State{0});
  const RandomWord word(dfa.letters(), /*seed=*/1);
  std::uint64_t read = 0, steps = 0;
  for (std::uint64_t until = 1; until <= kMaxLetters && steps <= kMaxSteps; until *= 2) {
    for (const Letter letter : word.slice(read, until - read))
      for (State& state : states) state = dfa.next(state, letter);
    steps += (until - read) * states.size();
    read = until;
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
    if (states.size() == 1) return read;
  }
  return std::nullopt;
}

/// A block's shared memory that a table for slices may take: three blocks still fill a processor.
constexpr std::uint64_t kSliceTableBytes = 64 * 1024;

}  // namespace

SliceTables::SliceTables(const Dfa& dfa) : states_(dfa.states()) {
  if (dfa.letters() == 0) throw InputError("a random word needs an alphabet of at least one letter");
  const bool has_maps = dfa.states() <= 32 && dfa.letters() <= 256;
  if (has_maps) make_maps(dfa);
  if (make_elements(dfa) && !(has_maps && cost_of_maps() <= cost_of_table())) {
    kind_ = Kind::kElements;
    return;
  }
  if (has_maps) {
    kind_ = Kind::kMaps;
    return;
  }
  table_.emplace(dfa, kSliceTableBytes);
  if (const auto met = letters_to_meet(dfa)) {
    // Hardly one slice in 10^5 that so many times the letters lead is led astray, and has to be read again.
    constexpr std::uint64_t kTimes = 6;
    kind_ = Kind::kLed;
    lead_ = kTimes * *met / letters_per_block(dfa.letters()) + 1;
    return;
  }
  if (dfa.states() > kMaxEnds)
    throw NotOnDevice(
        fmt::format("the {} states of the automaton do not meet on random letters, and a device would read a long word "
                    "from each of them, more slowly than the processor; take --device cpu",
                    dfa.states()));
  starts_ = dfa.states();
}

bool SliceTables::make_elements(const Dfa& dfa) {
  const auto found = monoid_graph(dfa, std::min(kMaxElements, kMaxImages / dfa.states()));
  if (!found) return false;
  table_.emplace(found->graph, kSliceTableBytes);
  for (State element = 0; element < found->monoid.size(); ++element) {
    const Transformation map = found->monoid.element(element);
    for (State state = 0; state < states_; ++state) images_.push_back(map[state]);
  }
  return true;
}

// Picoseconds a letter of one H100, as tools/bench/gpu measured symbols: 8.3, 2.8 and 1.0·10¹¹ a second by maps of 8,
// 16 and 32 states, 10¹² by a table in shared memory, 3·10¹¹ by one in the second-level cache.
double SliceTables::cost_of_maps() const {
  return (map_words_ == 2 ? 1.2 : map_words_ == 4 ? 3.5 : 10) / map_cut_.stride;
}
double SliceTables::cost_of_table() const { return (table_->fits_shared() ? 1.0 : 3.3) / table_->cut.stride; }

void SliceTables::make_maps(const Dfa& dfa) {
  map_cut_ = cut_words(dfa.letters(), letters_per_byte(dfa.letters()));
  map_words_ = dfa.states() <= 8 ? 2 : dfa.states() <= 16 ? 4 : 8;
  symbol_maps_.resize(std::size_t{map_cut_.base} * 2 * map_words_);
  for (std::uint32_t symbol = 0; symbol < map_cut_.base; ++symbol) {
    std::uint32_t* const selectors = symbol_maps_.data() + std::size_t{symbol} * 2 * map_words_;
    std::uint32_t* const pairs = selectors + map_words_;
    for (State state = 0; state < 4 * map_words_; ++state) {  // states that there are not stay where they are
      const State image = state < dfa.states() ? read_symbol(dfa, map_cut_, state, symbol) : state;
      selectors[state / 4] |= (image & 7U) << 4 * (state % 4);
      pairs[state / 4] |= (image >> 3) << 8 * (state % 4);
    }
  }
}

std::string SliceTables::description() const {
  switch (kind_) {
    case Kind::kMaps:
      return "maps of all states in registers";
    case Kind::kElements:
      return fmt::format("the {} of the transition monoid", counted(table_->states, "element"));
    case Kind::kLed:
      return "slices from where the letters before them lead, checked one against the next";
    default:
      return "the ends of all states";
  }
}

std::uint64_t SliceTables::slices_for(std::uint64_t blocks, std::uint64_t most) const {
  constexpr std::uint64_t kLeads = 2;  // that a slice is at least as long as
  return std::clamp<std::uint64_t>(kind_ == Kind::kLed ? blocks / (kLeads * lead_) : blocks, 1, most);
}

std::optional<State> SliceTables::follow(std::span<const std::uint32_t> numbers, State from) const {
  switch (kind_) {
    case Kind::kMaps:
      return numbers[from / 4] >> 8 * (from % 4) & 0xff;
    case Kind::kElements:
      return images_[std::size_t{numbers[0]} * states_ + from];
    case Kind::kLed:
      return numbers[0] == from ? std::optional(numbers[1]) : std::nullopt;
    default:
      return numbers[from];
  }
}

std::unique_ptr<SliceReader> reference_slice_reader(const SliceTables& tables, std::uint64_t slices) {
  return std::make_unique<ReferenceReader>(tables, slices);
}

State SlicedRunner::run(const RandomWord& word, std::uint64_t first, std::uint64_t length, State from) const {
  if (word.letters() != dfa_.letters())
    throw InputError(fmt::format("the random word is over {}, the automaton over {}", counted(word.letters(), "letter"),
                                 dfa_.letters()));
  const auto read_letters = [&](std::uint64_t begin, std::uint64_t end) {
    for (const Letter letter : word.slice(begin, end - begin)) from = dfa_.next(from, letter);
  };
  const std::uint64_t per_block = word.letters_per_block(), end = first + length;
  WordSlices slices{.key = word.key(), .first_block = (first + per_block - 1) / per_block};
  const std::uint64_t begin = std::min(slices.first_block * per_block, end);
  read_letters(first, begin);
  slices.blocks = (end - begin) / per_block;
  if (slices.blocks > 0) {
    const std::uint64_t wanted = tables_.slices_for(slices.blocks, reader_->slices());
    slices.blocks_per_slice = (slices.blocks + wanted - 1) / wanted;
    slices.slices = (slices.blocks + slices.blocks_per_slice - 1) / slices.blocks_per_slice;
    slices.from = from;
    const std::vector<std::uint32_t> numbers = reader_->read(slices);
    const std::size_t each = tables_.numbers_per_slice();
    for (std::uint64_t slice = 0; slice < slices.slices; ++slice) {
      if (const auto end_of_slice = tables_.follow(std::span(numbers).subspan(slice * each, each), from))
        from = *end_of_slice;
      else
        read_letters(slices.begin(slice) * per_block, (slices.begin(slice) + slices.count(slice)) * per_block);
    }
  }
  read_letters(begin + slices.blocks * per_block, end);
  return from;
}

}  // namespace krohn
