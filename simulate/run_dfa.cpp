#include "simulate/run_dfa.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <numeric>

#include "groups/error.h"
#include "simulate/symbol_source.h"

namespace krohn {
namespace {

/// Bytes below which splitting a word costs more than it gains.
constexpr std::uint64_t kSmallestPart = 1 << 16;

/// Runs word `i` through symbols [first, end) from `row`.
template <class View>
StrideTable::Row run_alone(const StrideTable& table, const View& view, std::size_t i, std::uint64_t first,
                           std::uint64_t end, StrideTable::Row row) {
  using Symbol = typename View::Symbol;
  std::array<Symbol, kSymbolBuffer> buffer;
  while (first < end) {
    const std::span<Symbol> symbols(buffer.data(), std::min<std::uint64_t>(kSymbolBuffer, end - first));
    view.fetch(i, first, symbols);
    row = table.run(std::span<const Symbol>(symbols), row);
    first += symbols.size();
  }
  return row;
}

/// Runs eight words through their first `end` symbols, side by side.
template <class View>
void run_abreast(const StrideTable& table, const View& view, std::span<const std::size_t> words, std::uint64_t end,
                 std::array<StrideTable::Row, kStreams>& rows) {
  using Symbol = typename View::Symbol;
  std::array<std::array<Symbol, kSymbolBuffer>, kStreams> buffers;
  std::array<const Symbol*, kStreams> streams;
  for (std::uint64_t first = 0; first < end; first += kSymbolBuffer) {
    const std::size_t count = std::min<std::uint64_t>(kSymbolBuffer, end - first);
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      view.fetch(words[stream], first, std::span<Symbol>(buffers[stream].data(), count));
      streams[stream] = buffers[stream].data();
    }
    table.run(streams, count, rows);
  }
}

/// Runs up to eight words from `initial` to their last symbol and writes the states reached. Words of one group are of
/// like length, so that little is left after the shortest.
template <class View>
void run_group(const StrideTable& table, const View& view, std::span<const std::size_t> words, State initial,
               std::vector<State>& states) {
  std::array<StrideTable::Row, kStreams> rows;
  rows.fill(table.row(initial));
  std::uint64_t common = 0;
  if (words.size() == kStreams) {
    common = view.count(words[0]);
    for (const std::size_t i : words) common = std::min(common, view.count(i));
    run_abreast(table, view, words, common, rows);
  }
  for (std::size_t stream = 0; stream < words.size(); ++stream) {
    const std::size_t i = words[stream];
    states[i] = table.state(run_alone(table, view, i, common, view.count(i), rows[stream]));
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

/// The most letters a step that cut a packed byte into one, two or four symbols and keep the table small; 1 if none.
std::uint32_t best_stride(State states, Letter letters, const RunnerOptions& options) {
  const std::uint32_t per_byte = letters_per_byte(letters);
  const std::uint64_t limit =
      std::min<std::uint64_t>({options.max_table_entries, options.expected_letters, UINT32_MAX - 1});
  for (std::uint32_t stride = per_byte; stride > 1; stride /= 2) {
    if (StrideTable::entries(states, letters, stride) <= limit) return stride;
    if (stride % 2 != 0) break;
  }
  return 1;
}

}  // namespace

Runner::Runner(const Dfa& dfa, const RunnerOptions& options)
    : states_(dfa.states()),
      initial_(dfa.initial()),
      letters_(dfa.letters()),
      threads_(options.threads != 0 ? options.threads : static_cast<unsigned>(omp_get_max_threads())),
      by_letter_(letter_table(dfa)) {
  if (letters_ == 0) return;
  const std::uint32_t stride = best_stride(states_, letters_, options);
  if (stride > 1) by_symbol_.emplace(dfa, stride);
  if (!options.split_long_words || !StateMapTable::fits(states_, letters_)) return;
  maps_.emplace(dfa);
  // Without the instruction a map costs as many loads as there are states: only many threads make up for it.
  if (!maps_->is_accelerated() && threads_ < states_) maps_.reset();
}

std::string Runner::description() const {
  return fmt::format("{} letters a step, {} streams, {} threads, long words {}", by_symbol_ ? by_symbol_->stride() : 1,
                     kStreams, threads_, maps_ ? "split by composition" : "on one thread");
}

template <class Source>
State Runner::run_letters(const Source& source, std::size_t i, std::uint64_t first, State from) const {
  const LetterView<Source> view{source};
  return by_letter_.state(run_alone(by_letter_, view, i, first, source.size(i), by_letter_.row(from)));
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
    if (!by_symbol_) {
      run_group(by_letter_, LetterView<Source>{source}, words, initial_, states);
      continue;
    }
    run_group(*by_symbol_, ByteView<Source>(source, letters_, by_symbol_->stride()), words, initial_, states);
    const std::uint64_t per_byte = letters_per_byte(letters_);
    for (const std::size_t i : words)
      states[i] = run_letters(source, i, source.size(i) / per_byte * per_byte, states[i]);
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
  constexpr std::size_t kParts = StateMapTable::kParts;
  StateMapTable::Maps maps;
  maps.fill(maps_->identity());
  std::array<std::array<std::uint8_t, kSymbolBuffer>, kParts> buffers;
  StateMapTable::Parts parts;
  const std::uint64_t length = (end - first) / kParts;
  for (std::uint64_t done = 0; done < length; done += kSymbolBuffer) {
    const std::size_t count = std::min<std::uint64_t>(kSymbolBuffer, length - done);
    for (std::size_t part = 0; part < kParts; ++part) {
      source.fetch(0, first + part * length + done, std::span(buffers[part]).first(count));
      parts[part] = buffers[part].data();
    }
    maps_->compose(parts, count, maps);
  }
  // Up to three bytes are left over: they go through the map of the last part, whose neighbours are done with.
  StateMap result = maps_->identity();
  StateMapTable::Maps last = maps;
  const std::span<std::uint8_t> rest(buffers[0].data(), end - first - kParts * length);
  source.fetch(0, end - rest.size(), rest);
  parts.fill(rest.data());
  maps_->compose(parts, rest.size(), last);
  maps[kParts - 1] = last[kParts - 1];
  for (State state = 0; state < states_; ++state)
    for (const StateMap& map : maps) result[state] = map[result[state]];
  return result;
}

template <class Source>
State Runner::run_long(const Source& source, State from) const {
  if (!maps_ && !by_symbol_) return run_letters(source, 0, 0, from);
  const std::uint64_t per_byte = letters_per_byte(letters_), bytes = source.size(0) / per_byte;
  if (maps_) {
    const std::uint64_t parts = std::clamp<std::uint64_t>(bytes / kSmallestPart, 1, threads_);
    std::vector<StateMap> maps(parts);
#pragma omp parallel for num_threads(static_cast <int>(parts))
    for (std::uint64_t part = 0; part < parts; ++part)
      maps[part] = composed(source, bytes / parts * part, part + 1 == parts ? bytes : bytes / parts * (part + 1));
    for (const StateMap& map : maps) from = map[from];
  } else {
    const ByteView<Source> view(source, letters_, by_symbol_->stride());
    from = by_symbol_->state(run_alone(*by_symbol_, view, 0, 0, view.count(0), by_symbol_->row(from)));
  }
  return run_letters(source, 0, bytes * per_byte, from);
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
