#include "krohn/gpu/automata/word_tables.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

std::uint64_t bytes_of(const Dfa& dfa, const SymbolCut& cut, std::uint32_t entry_size) {
  return std::uint64_t{dfa.states()} * cut.base * entry_size;
}

SymbolCut best_cut(const Dfa& dfa, std::uint32_t entry_size, std::uint64_t shared_bytes) {
  const Letter letters = dfa.letters();
  const std::uint32_t per_byte = letters > 256 ? 1 : letters_per_byte(letters);
  for (const std::uint64_t most : {shared_bytes, SymbolTable::kGlobalBytes})
    for (std::uint32_t stride = per_byte; stride >= 1; --stride)
      if (const SymbolCut cut = cut_words(letters, stride);
          per_byte % stride == 0 && bytes_of(dfa, cut, entry_size) <= most)
        return cut;
  return cut_words(letters, 1);
}

}  // namespace

State read_symbol(const Dfa& dfa, const SymbolCut& cut, State state, std::uint32_t symbol) {
  std::array<Letter, 8> digits;  // no byte holds more letters
  for (std::uint32_t i = cut.stride; i-- > 0; symbol /= cut.letters) digits[i] = symbol % cut.letters;
  for (std::uint32_t i = 0; i < cut.stride; ++i) state = dfa.next(state, digits[i]);
  return state;
}

SymbolTable::SymbolTable(const Dfa& dfa, std::uint64_t shared_bytes)
    : states(dfa.states()), shared_bytes(shared_bytes) {
  if (dfa.letters() == 0) throw InputError("a random word needs an alphabet of at least one letter");
  if (std::uint64_t{states} * dfa.letters() > UINT32_MAX)
    throw NotOnDevice(
        fmt::format("{} states × {} letters are more transitions than a device's table holds; take "
                    "--device cpu",
                    states, dfa.letters()));
  entry_size = states <= 256 ? 1 : states <= 65'536 ? 2 : 4;
  cut = best_cut(dfa, entry_size, shared_bytes);
  entries.resize(bytes_of(dfa, cut, entry_size));
  std::byte* to = entries.data();
  for (State state = 0; state < states; ++state)
    for (std::uint32_t symbol = 0; symbol < cut.base; ++symbol, to += entry_size) {
      const State target = read_symbol(dfa, cut, state, symbol);
      std::memcpy(to, &target, entry_size);  // the low bytes: devices and their hosts are little-endian
    }
}

std::vector<std::uint64_t> byte_cuts(Letter letters, std::uint32_t stride) {
  const std::uint32_t per_byte = letters_per_byte(letters) / stride, base = cut_words(letters, stride).base;
  std::vector<std::uint64_t> cuts(combinations_per_byte(letters));
  for (std::uint32_t byte = 0; byte < cuts.size(); ++byte)
    for (std::uint32_t i = per_byte, rest = byte; i-- > 0; rest /= base)
      cuts[byte] |= std::uint64_t{rest % base} << 8 * i;
  return cuts;
}

std::uint32_t best_stride(Letter letters, std::uint64_t states, std::uint32_t entry, std::uint64_t most) {
  const std::uint32_t all = letters_per_byte(letters);
  for (std::uint32_t stride = all; stride > 1; --stride)
    if (all % stride == 0 && states * cut_words(letters, stride).base * entry <= most) return stride;
  return 1;
}

std::vector<std::uint32_t> byte_states(const Dfa& dfa) {
  const SymbolCut cut = cut_words(dfa.letters(), letters_per_byte(dfa.letters()));
  const std::vector<std::uint64_t> digits = byte_cuts(dfa.letters(), 1);
  const std::uint32_t width = std::bit_ceil(cut.stride);
  std::vector<std::uint32_t> table((dfa.states() * digits.size() * width + 3) / 4);
  auto* entry = reinterpret_cast<unsigned char*>(table.data());
  for (State from = 0; from < dfa.states(); ++from)
    for (const std::uint64_t letters : digits) {
      State state = from;
      for (std::uint32_t i = 0; i < cut.stride; ++i) {
        state = dfa.next(state, static_cast<Letter>(letters >> 8 * i & 0xff));
        entry[i] = static_cast<unsigned char>(state);
      }
      entry += width;
    }
  return table;
}

template <std::uint32_t kWords>
std::vector<std::uint32_t> map_table(const Dfa& dfa) {
  const SymbolCut cut = cut_words(dfa.letters(), letters_per_byte(dfa.letters()));
  std::vector<std::uint32_t> table;
  for (std::uint32_t byte = 0; byte < cut.base; ++byte) {
    auto map = PackedMap<kWords>::identity();  // states that there are not stay where they are
    for (State state = 0; state < dfa.states(); ++state) {
      const std::uint32_t shift = 8 * (state % 4);
      map.words[state / 4] = (map.words[state / 4] & ~(0xffU << shift)) | read_symbol(dfa, cut, state, byte) << shift;
    }
    const MapChoices<kWords> choices = choices_of(map);
    table.insert(table.end(), std::begin(choices.selectors), std::end(choices.selectors));
  }
  return table;
}

template std::vector<std::uint32_t> map_table<2>(const Dfa& dfa);
template std::vector<std::uint32_t> map_table<4>(const Dfa& dfa);
template std::vector<std::uint32_t> map_table<8>(const Dfa& dfa);

template <class Entry>
std::vector<std::uint32_t> packed_entries(const Dfa& graph, std::uint32_t stride) {
  const SymbolCut cut = cut_words(graph.letters(), stride);
  std::vector<Entry> entries;
  for (State element = 0; element < graph.states(); ++element)
    for (std::uint32_t symbol = 0; symbol < cut.base; ++symbol)
      entries.push_back(static_cast<Entry>(read_symbol(graph, cut, element, symbol)));
  std::vector<std::uint32_t> words((entries.size() * sizeof(Entry) + 3) / 4);
  std::memcpy(words.data(), entries.data(), entries.size() * sizeof(Entry));
  return words;
}

template std::vector<std::uint32_t> packed_entries<std::uint8_t>(const Dfa& graph, std::uint32_t stride);
template std::vector<std::uint32_t> packed_entries<std::uint16_t>(const Dfa& graph, std::uint32_t stride);

std::vector<std::uint16_t> product_table(const Dfa& graph) {
  struct Step {
    State parent = 0;
    Letter letter = 0;
  };
  std::vector<State> order{0};
  std::vector<Step> steps(graph.states());
  std::vector<bool> seen(graph.states(), false);
  seen[0] = true;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (Letter letter = 0; letter < graph.letters(); ++letter) {
      const State target = graph.next(order[i], letter);
      if (seen[target]) continue;
      seen[target] = true;
      steps[target] = {order[i], letter};
      order.push_back(target);
    }
  std::vector<std::uint16_t> products(std::size_t{graph.states()} * graph.states());
  for (State first = 0; first < graph.states(); ++first) {
    std::uint16_t* const row = products.data() + std::size_t{first} * graph.states();
    row[0] = static_cast<std::uint16_t>(first);
    for (std::size_t i = 1; i < order.size(); ++i)
      row[order[i]] = static_cast<std::uint16_t>(graph.next(row[steps[order[i]].parent], steps[order[i]].letter));
  }
  return products;
}

std::vector<std::uint64_t> reference_final_state_counts(const Dfa& dfa, const RandomSample& sample) {
  const SymbolTable table(dfa);
  std::vector<std::uint64_t> counts(dfa.states(), 0);
  with_entries(table.entry_size, table.entries.data(), [&](const auto* entries) {
    for (std::uint64_t word = 0; word < sample.words; ++word)
      ++counts[read_word(entries, dfa.table().data(), table.cut, random_key(sample.seed, word), sample.length,
                         dfa.initial())];
  });
  return counts;
}

}  // namespace krohn
