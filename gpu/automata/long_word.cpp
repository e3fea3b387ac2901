#include "krohn/gpu/automata/long_word.h"
#include "krohn/groups/base/messages.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

SliceTables::SliceTables(const Dfa& dfa) : states_(dfa.states()) {
  if (dfa.letters() == 0) throw InputError("a random word needs an alphabet of at least one letter");
  if (dfa.states() <= 32 && dfa.letters() <= 256) {
    kind_ = Kind::kMaps;
    make_maps(dfa);
    return;
  }
  if (const auto found = monoid_graph(dfa, std::min(kMostElements, kMostImages / dfa.states()))) {
    kind_ = Kind::kElements;
    table_.emplace(found->graph);
    for (State element = 0; element < found->monoid.size(); ++element) {
      const Transformation map = found->monoid.element(element);
      for (State state = 0; state < states_; ++state) images_.push_back(map[state]);
    }
    return;
  }
  if (dfa.states() > kMostEnds)
    throw NotOnDevice(
        fmt::format("an automaton of {} states is not read in slices on a device, where {} is the limit; "
                    "take --device cpu",
                    dfa.states(), kMostEnds));
  starts_ = dfa.states();
  table_.emplace(dfa);
}

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
    default:
      return "every state by itself";
  }
}

State SliceTables::follow(std::span<const std::uint32_t> numbers, State from) const {
  const std::uint32_t per_slice = numbers_per_slice();
  for (std::size_t at = 0; at < numbers.size(); at += per_slice) switch (kind_) {
      case Kind::kMaps:
        from = numbers[at + from / 4] >> 8 * (from % 4) & 0xff;
        break;
      case Kind::kElements:
        from = images_[std::size_t{numbers[at]} * states_ + from];
        break;
      default:
        from = numbers[at + from];
    }
  return from;
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
  WordSlices slices;
  slices.key = word.key();
  slices.first_block = (first + per_block - 1) / per_block;
  const std::uint64_t begin = std::min(slices.first_block * per_block, end);
  read_letters(first, begin);
  slices.blocks = (end - begin) / per_block;
  if (slices.blocks > 0) {
    slices.blocks_per_slice = (slices.blocks + reader_->slices() - 1) / reader_->slices();
    slices.slices = (slices.blocks + slices.blocks_per_slice - 1) / slices.blocks_per_slice;
    from = tables_.follow(reader_->read(slices), from);
  }
  read_letters(begin + slices.blocks * per_block, end);
  return from;
}

}  // namespace krohn
