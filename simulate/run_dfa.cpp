#include "simulate/run_dfa.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "groups/error.h"

namespace krohn {
namespace {

/// Symbols that are fetched at once: eight streams of them fit into the first-level cache.
constexpr std::size_t kBuffer = 2048;
/// Bytes below which splitting a word costs more than it gains.
constexpr std::uint64_t kSmallestPart = 1 << 16;

// A source gives letters or packed bytes of its i-th word, whichever the loop wants.

struct StoredWords {
  Letter letters;
  std::span<const std::span<const Letter>> words;

  std::uint64_t size(std::size_t i) const { return words[i].size(); }
  void fetch(std::size_t i, std::uint64_t first, std::span<Letter> out) const {
    std::memcpy(out.data(), words[i].data() + first, out.size_bytes());
  }
  void fetch(std::size_t i, std::uint64_t first, std::span<std::uint8_t> out) const {
    pack(letters, words[i].subspan(first * letters_per_byte(letters)), out);
  }
};

struct PackedWords {
  std::span<const PackedWord> words;

  std::uint64_t size(std::size_t i) const { return words[i].size(); }
  void fetch(std::size_t i, std::uint64_t first, std::span<Letter> out) const { words[i].copy(first, out); }
  void fetch(std::size_t i, std::uint64_t first, std::span<std::uint8_t> out) const {
    std::memcpy(out.data(), words[i].bytes().data() + first, out.size());
  }
};

/// Word i is a slice of stream `first_stream + i` that starts with a whole byte.
struct RandomWords {
  Letter letters;
  std::uint64_t seed, first_stream, length;

  std::uint64_t size(std::size_t) const { return length; }
  template <class Symbol>
  void fetch(std::size_t i, std::uint64_t first, std::span<Symbol> out) const {
    const RandomWord word(letters, seed, first_stream + i);
    if constexpr (sizeof(Symbol) == 1)
      fill_packed(word, first, out);
    else
      word.fill(first, out);
  }
};

/// Letters [first, first + length) of one random word, where `first` begins a byte.
struct RandomSlice {
  const RandomWord& word;
  std::uint64_t first, length;

  std::uint64_t size(std::size_t) const { return length; }
  void fetch(std::size_t, std::uint64_t from, std::span<Letter> out) const { word.fill(first + from, out); }
  void fetch(std::size_t, std::uint64_t from, std::span<std::uint8_t> out) const {
    fill_packed(word, first / letters_per_byte(word.letters()) + from, out);
  }
};

/// Runs word `i` through symbols [first, end) from `row`.
template <class Symbol, class Source>
StrideTable::Row run_alone(const StrideTable& table, const Source& source, std::size_t i, std::uint64_t first,
                           std::uint64_t end, StrideTable::Row row) {
  std::array<Symbol, kBuffer> buffer;
  while (first < end) {
    const std::span<Symbol> symbols(buffer.data(), std::min<std::uint64_t>(kBuffer, end - first));
    source.fetch(i, first, symbols);
    row = table.run(std::span<const Symbol>(symbols), row);
    first += symbols.size();
  }
  return row;
}

/// Runs eight words through their first `end` symbols, side by side.
template <class Symbol, class Source>
void run_abreast(const StrideTable& table, const Source& source, std::span<const std::size_t> words, std::uint64_t end,
                 std::array<StrideTable::Row, kStreams>& rows) {
  std::array<std::array<Symbol, kBuffer>, kStreams> buffers;
  std::array<const Symbol*, kStreams> streams;
  for (std::uint64_t first = 0; first < end; first += kBuffer) {
    const std::size_t count = std::min<std::uint64_t>(kBuffer, end - first);
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      source.fetch(words[stream], first, std::span<Symbol>(buffers[stream].data(), count));
      streams[stream] = buffers[stream].data();
    }
    table.run(streams, count, rows);
  }
}

/// Runs up to eight words from `initial` to their last whole symbol and writes the states reached. Words of one group
/// are of like length, so that little is left after the shortest.
template <class Symbol, class Source>
void run_group(const StrideTable& table, const Source& source, std::span<const std::size_t> words, State initial,
               std::vector<State>& states) {
  const auto symbols = [&](std::size_t i) { return source.size(i) / table.stride(); };
  std::array<StrideTable::Row, kStreams> rows;
  rows.fill(table.row(initial));
  std::uint64_t common = 0;
  if (words.size() == kStreams) {
    common = symbols(words[0]);
    for (const std::size_t i : words) common = std::min(common, symbols(i));
    run_abreast<Symbol>(table, source, words, common, rows);
  }
  for (std::size_t stream = 0; stream < words.size(); ++stream) {
    const std::size_t i = words[stream];
    states[i] = table.state(run_alone<Symbol>(table, source, i, common, symbols(i), rows[stream]));
  }
}

void require_letters(std::span<const Letter> word, Letter letters) {
  const auto bad = std::find_if(word.begin(), word.end(), [&](Letter letter) { return letter >= letters; });
  if (bad != word.end())
    throw InputError(fmt::format("position {} of the word is letter {} of an alphabet of {}", bad - word.begin() + 1,
                                 *bad, letters));
}

void require_alphabet(const PackedWord& word, Letter letters) {
  if (word.letters() != letters)
    throw InputError(fmt::format("the packed word is over {} letters, the automaton over {}", word.letters(), letters));
}

StrideTable letter_table(const Dfa& dfa) {
  if (StrideTable::entries(dfa.states(), dfa.letters(), 1) >= UINT32_MAX)
    throw LimitError(fmt::format("{} states × {} letters are more transitions than the runner's limit of 2^32 − 2",
                                 dfa.states(), dfa.letters()));
  return StrideTable(dfa, 1);
}

}  // namespace

Runner::Runner(const Dfa& dfa, const RunnerOptions& options)
    : states_(dfa.states()),
      initial_(dfa.initial()),
      letters_(dfa.letters()),
      threads_(options.threads != 0 ? options.threads : static_cast<unsigned>(omp_get_max_threads())),
      by_letter_(letter_table(dfa)) {
  const std::uint32_t per_byte = letters_ == 0 ? 0 : letters_per_byte(letters_);
  if (per_byte == 0) return;
  const std::uint64_t entries = StrideTable::entries(states_, letters_, per_byte);
  if (entries <= std::min({options.max_table_entries, options.expected_letters, std::uint64_t{UINT32_MAX - 1}}))
    by_byte_.emplace(dfa, per_byte);
  if (!options.split_long_words || !StateMapTable::fits(states_, letters_)) return;
  maps_.emplace(dfa);
  // Without the instruction a map costs as many loads as there are states: only many threads make up for it.
  if (!maps_->is_accelerated() && threads_ < states_) maps_.reset();
}

std::string Runner::description() const {
  return fmt::format("{} letters a step, {} streams, {} threads, long words {}", by_byte_ ? by_byte_->stride() : 1,
                     kStreams, threads_, maps_ ? "split by composition" : "on one thread");
}

template <class Source>
std::vector<State> Runner::run_all(const Source& source, std::size_t count) const {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return source.size(i) > source.size(j); });
  std::vector<State> states(count);
  const std::size_t groups = (count + kStreams - 1) / kStreams;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads_))
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * kStreams;
    const auto words = std::span<const std::size_t>(order).subspan(first, std::min(kStreams, count - first));
    if (!by_byte_) {
      run_group<Letter>(by_letter_, source, words, initial_, states);
      continue;
    }
    run_group<std::uint8_t>(*by_byte_, source, words, initial_, states);
    for (const std::size_t i : words) {
      const std::uint64_t whole = source.size(i) / by_byte_->stride() * by_byte_->stride();
      states[i] =
          by_letter_.state(run_alone<Letter>(by_letter_, source, i, whole, source.size(i), by_letter_.row(states[i])));
    }
  }
  return states;
}

std::vector<State> Runner::run_words(std::span<const Word> words) const {
  std::vector<std::span<const Letter>> spans;
  for (const Word& word : words) {
    require_letters(word, letters_);
    spans.emplace_back(word);
  }
  return run_all(StoredWords{letters_, spans}, words.size());
}

std::vector<State> Runner::run_words(std::span<const PackedWord> words) const {
  for (const PackedWord& word : words) require_alphabet(word, letters_);
  return run_all(PackedWords{words}, words.size());
}

std::vector<State> Runner::run_random_words(std::uint64_t seed, std::uint64_t first_stream, std::uint64_t count,
                                            std::uint64_t length) const {
  if (length == 0) return std::vector<State>(count, initial_);
  if (letters_ == 0) throw InputError("a random word needs an alphabet of at least one letter");
  return run_all(RandomWords{letters_, seed, first_stream, length}, count);
}

template <class Source>
StateMap Runner::composed(const Source& source, std::uint64_t first, std::uint64_t end) const {
  StateMap map = maps_->identity();
  std::array<std::uint8_t, 2 * kBuffer> buffer;
  while (first < end) {
    const std::span<std::uint8_t> bytes(buffer.data(), std::min<std::uint64_t>(buffer.size(), end - first));
    source.fetch(0, first, bytes);
    maps_->compose(bytes, map);
    first += bytes.size();
  }
  return map;
}

template <class Source>
State Runner::run_long(const Source& source, State from) const {
  const std::uint64_t size = source.size(0);
  if (!maps_ && !by_byte_)
    return by_letter_.state(run_alone<Letter>(by_letter_, source, 0, 0, size, by_letter_.row(from)));
  const std::uint32_t per_byte = letters_per_byte(letters_);
  const std::uint64_t bytes = size / per_byte;
  if (maps_) {
    const std::uint64_t parts = std::clamp<std::uint64_t>(bytes / kSmallestPart, 1, threads_);
    std::vector<StateMap> maps(parts);
#pragma omp parallel for num_threads(static_cast <int>(parts))
    for (std::uint64_t part = 0; part < parts; ++part)
      maps[part] = composed(source, bytes / parts * part, part + 1 == parts ? bytes : bytes / parts * (part + 1));
    for (const StateMap& map : maps) from = map[from];
  } else {
    from = by_byte_->state(run_alone<std::uint8_t>(*by_byte_, source, 0, 0, bytes, by_byte_->row(from)));
  }
  return by_letter_.state(run_alone<Letter>(by_letter_, source, 0, bytes * per_byte, size, by_letter_.row(from)));
}

State Runner::run(const PackedWord& word, State from) const {
  require_alphabet(word, letters_);
  return run_long(PackedWords{{&word, 1}}, from);
}

State Runner::run(std::span<const Letter> word, State from) const {
  require_letters(word, letters_);
  return run_long(StoredWords{letters_, {&word, 1}}, from);
}

State Runner::run(const RandomWord& word, std::uint64_t first, std::uint64_t length, State from) const {
  if (word.letters() != letters_)
    throw InputError(
        fmt::format("the random word is over {} letters, the automaton over {}", word.letters(), letters_));
  // The packed form of the word has its own bytes: letters up to the next of them are read one by one.
  const std::uint64_t per_byte = std::max<std::uint64_t>(letters_per_byte(letters_), 1);
  const std::uint64_t head = std::min(length, (per_byte - first % per_byte) % per_byte);
  const Word letters = word.slice(first, head);
  from = by_letter_.state(by_letter_.run(std::span<const Letter>(letters), by_letter_.row(from)));
  return run_long(RandomSlice{word, first + head, length - head}, from);
}

}  // namespace krohn
