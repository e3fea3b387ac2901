#include "krohn/simulate/run/run_dfa.h"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <cassert>

#include "krohn/groups/base/error.h"

namespace krohn {

ByteCutter::ByteCutter(Letter letters, std::uint32_t stride)
    : letters_per_byte_(krohn::letters_per_byte(letters)), per_byte_(letters_per_byte_ / stride) {
  assert(stride != 0 && letters_per_byte_ % stride == 0);
  std::uint32_t base = 1;
  for (std::uint32_t i = 0; i < stride; ++i) base *= letters;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    Symbols& symbols = symbols_.emplace_back();
    std::uint32_t value = byte;
    for (std::size_t symbol = per_byte_; symbol-- > 0; value /= base)
      symbols[symbol] = static_cast<std::uint8_t>(value % base);
  }
}

/// The number of symbols is known to the compiler, so that a byte is one copy.
template <std::size_t kPerByte>
void ByteCutter::cut_fixed(std::span<const std::uint8_t> bytes, std::uint8_t* out) const {
  for (const std::uint8_t byte : bytes) {
    std::memcpy(out, symbols_[byte].data(), kPerByte);
    out += kPerByte;
  }
}

void ByteCutter::cut(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> out) const {
  switch (per_byte_) {
    case 1:
      return cut_fixed<1>(bytes, out.data());
    case 2:
      return cut_fixed<2>(bytes, out.data());
    case 3:
      return cut_fixed<3>(bytes, out.data());
    case 4:
      return cut_fixed<4>(bytes, out.data());
    case 5:
      return cut_fixed<5>(bytes, out.data());
    default:
      return cut_fixed<8>(bytes, out.data());
  }
}

namespace {

/// Bytes, or letters of large alphabets, below which a part costs more than it gains.
constexpr std::uint64_t kSmallestPart = 1 << 14;
/// A part whose states meet in at most so many places is run from each of them.
constexpr std::size_t kMaxPlaces = 4;
/// Images of points that the enumeration of a monoid may compute, and elements that it may find.
constexpr std::uint64_t kMonoidImages = std::uint64_t{1} << 23, kMonoidElements = 4096;
/// One-byte entries for all bytes of so many elements fit into a first-level cache of 32 kB: as fast as a shuffle.
constexpr std::uint64_t kFirstLevel = std::uint64_t{1} << 15;

void require_letters(std::span<const Letter> word, Letter letters) {
  const auto bad = std::find_if(word.begin(), word.end(), [&](Letter letter) { return letter >= letters; });
  if (bad != word.end())
    throw InputError(fmt::format("position {} of the word is letter {} of an alphabet of {}", bad - word.begin() + 1,
                                 *bad, letters));
}

void require_alphabet(const PackedWord& word, Letter letters) {
  if (word.letters() != letters)
    throw InputError(
        fmt::format("the packed word is over {}, the automaton over {}", counted(word.letters(), "letter"), letters));
}

StrideTable letter_table(const Dfa& dfa) {
  if (StrideTable::entries(dfa.states(), dfa.letters(), 1) >= UINT32_MAX ||
      StrideTable::bytes(dfa.states(), dfa.letters(), 1) >= std::uint64_t{1} << 34)
    throw LimitError(fmt::format("{} states × {} letters are more transitions than the runner's limit of 2^32 − 2",
                                 dfa.states(), dfa.letters()));
  return StrideTable(dfa, 1);
}

/// The most letters a step that divide the letters of a packed byte and keep the table small; 0 if none.
std::uint32_t best_stride(State states, Letter letters, std::uint64_t max_bytes, std::uint64_t max_entries) {
  const std::uint32_t per_byte = letters_per_byte(letters);
  for (std::uint32_t stride = per_byte; stride >= 1; --stride)
    if (per_byte % stride == 0 && StrideTable::bytes(states, letters, stride) <= max_bytes &&
        StrideTable::entries(states, letters, stride) <= max_entries)
      return stride;
  return 0;
}

std::uint64_t half_of_second_level_cache() {
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 19;
#if defined(_SC_LEVEL2_CACHE_SIZE)
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) / 2 : kUnknown;
#else
  return kUnknown;
#endif
}

/// Cuts word 0 into tracks of about equal length for `threads` times kWidth of the kernel, each beginning at a byte.
template <class Kernel, class View>
std::vector<Track<typename Kernel::Value>> cut_into_parts(const View& view, unsigned threads,
                                                          const typename Kernel::Value& value) {
  const std::uint64_t units = view.count(0) / view.unit();
  const std::uint64_t parts = std::clamp<std::uint64_t>(units / kSmallestPart, 1, threads * Kernel::kWidth);
  std::vector<Track<typename Kernel::Value>> tracks;
  for (std::uint64_t part = 0; part < parts; ++part)
    tracks.push_back({0, units / parts * part * view.unit(), units / parts * (part + 1) * view.unit(), value});
  tracks.back().end = view.count(0);
  return tracks;
}

}  // namespace

Runner::Runner(const Dfa& dfa, const RunnerOptions& options)
    : states_(dfa.states()),
      initial_(dfa.initial()),
      letters_(dfa.letters()),
      threads_(options.threads != 0 ? options.threads : static_cast<unsigned>(omp_get_max_threads())),
      by_letter_(letter_table(dfa)) {
  if (letters_ == 0) return;
  const std::uint64_t max_bytes = options.max_table_bytes != 0 ? options.max_table_bytes : half_of_second_level_cache();
  if (const std::uint32_t stride = best_stride(states_, letters_, max_bytes, options.expected_letters); stride > 0) {
    by_symbol_.emplace(dfa, stride);
    cutter_.emplace(letters_, stride);
  }
  choose_split(dfa, options, max_bytes);
}

void Runner::choose_split(const Dfa& dfa, const RunnerOptions& options, std::uint64_t max_bytes) {
  const bool packable = letters_ <= 256, has_maps = packable && StateMapTable::fits(states_, letters_) &&
                                                    StateMapTable::is_accelerated(states_, options.instructions);
  words_by_maps_ = has_maps && states_ <= 16;
  if (!words_by_maps_ && options.split_long_words && packable) {
    elements_ = enumerate_elements(dfa, max_bytes, std::min(kMonoidImages, options.expected_letters));
    const bool is_fast = elements_ && (elements_->monoid.size() << 8) <= kFirstLevel;
    if (has_maps && !is_fast) elements_.reset();
  }
  if (words_by_maps_ || (has_maps && options.split_long_words && !elements_)) {
    maps_.emplace(dfa, options.instructions);
    whole_.emplace(letters_, letters_per_byte(letters_));
  }
  if (options.split_long_words) split_ = elements_ ? Split::kElements : maps_ ? Split::kMaps : Split::kMerging;
}

std::optional<Runner::Elements> Runner::enumerate_elements(const Dfa& dfa, std::uint64_t max_bytes,
                                                           std::uint64_t max_images) const {
  const std::uint64_t images = std::uint64_t{states_} * letters_;
  const std::uint64_t limit = std::min(kMonoidElements, max_images / images);
  std::optional<MonoidGraph> found = monoid_graph(dfa, limit);
  if (!found) return std::nullopt;
  const std::uint32_t stride = best_stride(found->graph.states(), letters_, max_bytes, UINT64_MAX);
  if (stride == 0) return std::nullopt;
  return Elements{std::move(found->monoid), StrideTable(found->graph, stride), ByteCutter(letters_, stride)};
}

std::string Runner::description() const {
  const char* const split[] = {"on one thread", "split by maps of all states", "split by elements of the monoid",
                               "split where their states meet"};
  return fmt::format("{} a step, {}, {}, long words {}", counted(by_symbol_ ? by_symbol_->stride() : 1, "letter"),
                     counted(kStreams, "stream"), counted(threads_, "thread"), split[static_cast<std::size_t>(split_)]);
}

template <class Source, class Body>
auto Runner::with_table(const Source& source, Body&& body) const {
  if (by_symbol_) return body(StateKernel<std::uint8_t>{*by_symbol_}, ByteView<Source>(source, *cutter_));
  return body(StateKernel<Letter>{by_letter_}, LetterView<Source>{source});
}

template <class Source>
State Runner::run_letters(const Source& source, std::size_t i, std::uint64_t first, State from) const {
  Track<State> track{i, first, source.size(i), from};
  run_alone(StateKernel<Letter>{by_letter_}, LetterView<Source>{source}, track);
  return track.value;
}

template <class Source>
std::vector<State> Runner::run_all(const Source& source, std::size_t count) const {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return source.size(i) > source.size(j); });
  std::vector<State> states(count);
  const auto run_with = [&](const auto& kernel, const auto& view, const auto& start, const auto& state_of) {
    std::vector<Track<typename std::decay_t<decltype(kernel)>::Value>> tracks;
    for (const std::size_t i : order) tracks.push_back({i, 0, view.count(i), start});
    run_tracks(kernel, view, std::span(tracks), threads_);
    for (const auto& track : tracks) states[track.word] = state_of(track.value);
  };
  if (words_by_maps_)
    run_with(MapKernel{*maps_}, ByteView<Source>(source, *whole_), maps_->identity(),
             [&](const StateMap& map) { return State{map[initial_]}; });
  else
    with_table(source, [&](const auto& kernel, const auto& view) {
      run_with(kernel, view, initial_, [](State state) { return state; });
    });
  if (!words_by_maps_ && !by_symbol_) return states;
  const std::uint64_t per_byte = letters_per_byte(letters_);
#pragma omp parallel for num_threads(static_cast <int>(threads_))
  for (std::size_t i = 0; i < count; ++i)
    states[i] = run_letters(source, i, source.size(i) / per_byte * per_byte, states[i]);
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

template <class View>
void Runner::apply_maps(const View& view, std::span<State> states) const {
  auto parts = cut_into_parts<MapKernel>(view, threads_, maps_->identity());
  run_tracks(MapKernel{*maps_}, view, std::span(parts), threads_);
  for (const auto& part : parts)
    for (State& state : states) state = part.value[state];
}

template <class View>
void Runner::apply_elements(const View& view, std::span<State> states) const {
  using Kernel = StateKernel<std::uint8_t>;
  auto parts = cut_into_parts<Kernel>(view, threads_, State{0});
  run_tracks(Kernel{elements_->table}, view, std::span(parts), threads_);
  for (const auto& part : parts) {
    const Transformation element = elements_->monoid.element(part.value);
    for (State& state : states) state = element[state];
  }
}

/// Where all states go at the beginning of each part; nothing when a part leaves too many places.
template <class Kernel, class View>
std::optional<std::vector<MergedStates>> Runner::merge_parts(const Kernel& kernel, const View& view,
                                                             std::span<const Track<State>> parts) const {
  std::vector<std::optional<MergedStates>> merged(parts.size());
  const auto merge = [&](std::size_t part) {
    const std::uint64_t budget = (parts[part].end - parts[part].first) / kStreams;
    merged[part] = merge_states(kernel.table, view, states_, parts[part].first, budget, kMaxPlaces);
  };
  merge(0);
  if (!merged[0]) return std::nullopt;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(threads_))
  for (std::size_t part = 1; part < parts.size(); ++part) merge(part);
  std::vector<MergedStates> all;
  for (std::optional<MergedStates>& part : merged) {
    if (!part) return std::nullopt;
    all.push_back(*std::move(part));
  }
  return all;
}

namespace {

/// The tracks that merged parts go on as: from each of their places.
void go_on_from(const std::vector<MergedStates>& merged, std::span<const Track<State>> parts,
                std::vector<Track<State>>& tracks) {
  for (std::size_t part = 0; part < parts.size(); ++part)
    for (const State state : merged[part].states)
      tracks.push_back({0, parts[part].first + merged[part].symbols, parts[part].end, state});
}

/// Through all merged parts, whose tracks were run.
State follow(const std::vector<MergedStates>& merged, std::span<const Track<State>> tracks, State from) {
  for (const MergedStates& part : merged) {
    from = tracks[part.index_of(from)].value;
    tracks = tracks.subspan(part.states.size());
  }
  return from;
}

}  // namespace

template <class Kernel, class View>
State Runner::run_by_merging(const Kernel& kernel, const View& view, State from) const {
  const auto parts = cut_into_parts<Kernel>(view, threads_, from);
  const std::span<const Track<State>> later = std::span(parts).subspan(1);
  const auto merged = later.empty() ? std::nullopt : merge_parts(kernel, view, later);
  if (!merged) {
    Track<State> whole{0, 0, view.count(0), from};
    run_alone(kernel, view, whole);
    return whole.value;
  }
  std::vector<Track<State>> tracks{parts[0]};
  go_on_from(*merged, later, tracks);
  run_tracks(kernel, view, std::span(tracks), threads_);
  return follow(*merged, std::span<const Track<State>>(tracks).subspan(1), tracks[0].value);
}

template <class Kernel, class View>
bool Runner::apply_by_merging(const Kernel& kernel, const View& view, std::span<State> states) const {
  const auto parts = cut_into_parts<Kernel>(view, threads_, State{0});
  const auto merged = merge_parts(kernel, view, std::span<const Track<State>>(parts));
  if (!merged) return false;
  std::vector<Track<State>> tracks;
  go_on_from(*merged, parts, tracks);
  run_tracks(kernel, view, std::span(tracks), threads_);
  for (State& state : states) state = follow(*merged, tracks, state);
  return true;
}

template <class Source>
State Runner::run_long(const Source& source, State from) const {
  if (letters_ == 0) return from;
  const bool by_bytes = split_ == Split::kMaps || split_ == Split::kElements || by_symbol_;
  if (split_ == Split::kMaps)
    apply_maps(ByteView<Source>(source, *whole_), {&from, 1});
  else if (split_ == Split::kElements)
    apply_elements(ByteView<Source>(source, elements_->cutter), {&from, 1});
  else
    from = with_table(source, [&](const auto& kernel, const auto& view) {
      if (split_ == Split::kMerging) return run_by_merging(kernel, view, from);
      Track<State> whole{0, 0, view.count(0), from};
      run_alone(kernel, view, whole);
      return whole.value;
    });
  if (!by_bytes) return from;
  const std::uint64_t per_byte = letters_per_byte(letters_);
  return run_letters(source, 0, source.size(0) / per_byte * per_byte, from);
}

State Runner::run(const PackedWord& word, State from) const {
  require_alphabet(word, letters_);
  return run_long(PackedWords{{&word, 1}}, from);
}

State Runner::run(std::span<const Letter> word, State from) const {
  require_letters(word, letters_);
  return run_long(StoredWords{letters_, {&word, 1}}, from);
}

Word Runner::unaligned_head(const RandomWord& word, std::uint64_t first, std::uint64_t length) const {
  if (word.letters() != letters_)
    throw InputError(
        fmt::format("the random word is over {}, the automaton over {}", counted(word.letters(), "letter"), letters_));
  const std::uint64_t per_byte = std::max<std::uint64_t>(letters_per_byte(letters_), 1);
  return word.slice(first, std::min(length, (per_byte - first % per_byte) % per_byte));
}

State Runner::run(const RandomWord& word, std::uint64_t first, std::uint64_t length, State from) const {
  const Word head = unaligned_head(word, first, length);
  from = by_letter_.run(std::span<const Letter>(head), from);
  return run_long(RandomSlice{word, first + head.size(), length - head.size()}, from);
}

std::optional<std::vector<State>> Runner::effect(const RandomWord& word, std::uint64_t first,
                                                 std::uint64_t length) const {
  const Word head = unaligned_head(word, first, length);
  const RandomSlice rest{word, first + head.size(), length - head.size()};
  std::vector<State> images(states_);
  for (State state = 0; state < states_; ++state) images[state] = by_letter_.run(std::span<const Letter>(head), state);
  if (split_ == Split::kMaps)
    apply_maps(ByteView<RandomSlice>(rest, *whole_), images);
  else if (split_ == Split::kElements)
    apply_elements(ByteView<RandomSlice>(rest, elements_->cutter), images);
  else if (split_ == Split::kNone || !with_table(rest, [&](const auto& kernel, const auto& view) {
             return apply_by_merging(kernel, view, images);
           }))
    return std::nullopt;
  if (split_ == Split::kMerging && !by_symbol_) return images;  // letters were read one by one
  const std::uint64_t per_byte = letters_per_byte(letters_), tail = rest.size(0) / per_byte * per_byte;
  for (State& image : images) image = run_letters(rest, 0, tail, image);
  return images;
}

}  // namespace krohn
