#include "krohn/gpu/automata/stored_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "krohn/gpu/automata/word_tables.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/run/state_maps.h"

namespace krohn {
namespace {

constexpr std::uint32_t kSharedBytes = 48 * 1024;  ///< of a block, granted by every device without asking
constexpr std::uint32_t kTableBytes = 32 * 1024;
/// Bytes of a word that are copied to the place at once.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxImages = std::uint64_t{1} << 24;

using Kind = StoredWordRunner::Kind;

template <class Algebra>
BankedLayout layout_for(std::uint32_t table_bytes, std::uint32_t entry) {
  BankedLayout layout;
  constexpr auto kRest = static_cast<std::uint32_t>(sizeof(TileMemory<typename Algebra::Element>));
  while (layout.width() / 2 >= std::max(entry, 4U) &&
         BankedLayout{layout.log_width - 1}.size(table_bytes) <= std::min(kTableBytes, kSharedBytes - kRest))
    --layout.log_width;
  return layout;
}

}  // namespace

PlacedWord::PlacedWord(Place place, const PackedWord& word, std::uint64_t first, std::uint64_t count)
    : letters_(word.letters()), vectors_(place) {
  constexpr std::size_t kStaged = std::size_t{1} << 20;  // vectors
  const std::uint64_t per_byte = letters_per_byte(letters_), all = word.bytes().size();
  first = std::min(first, all);
  bytes_ = std::min(count, all - first);
  size_ = std::min(word.size() - std::min(word.size(), first * per_byte), bytes_ * per_byte);
  tail_.resize(size_ % per_byte);
  word.copy(first * per_byte + size_ - tail_.size(), tail_);
  const std::uint64_t vectors = (bytes_ + PackedVector::kBytes - 1) / PackedVector::kBytes;
  vectors_ = Buffer<PackedVector>(place, vectors);
  std::vector<PackedVector> staged;
  for (std::uint64_t at = 0; at < vectors; at += staged.size()) {
    staged.assign(std::min<std::uint64_t>(kStaged, vectors - at), PackedVector{});
    const std::uint64_t begin = at * PackedVector::kBytes;
    std::memcpy(staged.data(), word.bytes().data() + first + begin,
                std::min<std::uint64_t>(staged.size() * PackedVector::kBytes, bytes_ - begin));
    vectors_.write(staged, at);
  }
}

std::vector<std::uint8_t> PlacedStates::values() const {
  const std::vector<StatesVector> all = vectors.values();
  std::vector<std::uint8_t> states(size);
  if (size > 0) std::memcpy(states.data(), all.data(), size);
  return states;
}

/// One kind of algebra at work.
class StoredWordRunner::Reader {
 public:
  virtual ~Reader() = default;
  virtual Kind kind() const = 0;
  virtual std::string description() const = 0;
  /// The state after the word's whole bytes.
  virtual State read(const PlacedWord& word, State from) const = 0;
  /// The states after every letter of its bytes, of which there are some.
  virtual void write_states(const PlacedWord& word, State from, StatesVector* states, TileOrder order) const = 0;
};

template <class Algebra>
class StoredWordRunner::Scanner final : public Reader {
 public:
  using Element = typename Algebra::Element;

  Scanner(Place place, const Dfa& dfa, Kind kind, std::string description, std::span<const std::uint32_t> table,
          std::span<const std::uint16_t> products, std::span<const std::uint32_t> images,
          std::span<const std::uint64_t> cuts)
      : place_(place),
        kind_(kind),
        description_(std::move(description)),
        table_(place, table),
        products_(place, products),
        images_(place, images),
        images_here_(images.begin(), images.end()),
        cuts_(place, cuts),
        byte_states_(place) {
    if (dfa.states() <= 256) byte_states_ = Buffer<std::uint32_t>(place, byte_states(dfa));
    const std::uint32_t per_byte = letters_per_byte(dfa.letters());
    scan_.steps = {byte_states_.data(), static_cast<std::uint32_t>(4 * byte_states_.size()),
                   static_cast<std::uint32_t>(std::bit_width(per_byte - 1)), combinations_per_byte(dfa.letters()),
                   per_byte};
    scan_.algebra.table = table_.data();
  }

  StoredScan<Algebra>& scan() { return scan_; }
  const std::uint16_t* products() const { return products_.data(); }
  const std::uint32_t* images() const { return images_.data(); }
  const std::uint64_t* cuts() const { return cuts_.data(); }

  Kind kind() const override { return kind_; }
  std::string description() const override { return description_; }

  State read(const PlacedWord& word, State from) const override {
    StoredScan<Algebra> scan = scan_;
    scan.word = word.vectors();
    scan.bytes = word.whole_bytes();
    if (scan.bytes == 0) return from;
    const std::uint32_t blocks = block_count(scan);
    Buffer<Element> totals(place_, blocks);
    scan.block_totals = totals.data();
    run_blocks(scan, blocks);
    for (const Element& total : totals.values()) from = apply(total, from);
    return from;
  }

  void write_states(const PlacedWord& word, State from, StatesVector* states, TileOrder order) const override {
    StoredScan<Algebra> scan = scan_;
    scan.word = word.vectors();
    scan.bytes = word.bytes();
    scan.start = from;
    Buffer<Element> totals(place_, scan.tiles());
    Buffer<std::uint32_t> status(place_, scan.tiles()), next_tile(place_, 1);
    scan.states = states;
    scan.totals = totals.data();
    scan.status = status.data();
    scan.next_tile = next_tile.data();
    write_tiles(scan, order);
    status.values();  // before it goes
  }

 private:
  /// On the processor, once for every block of the device.
  State apply(const Element& total, State from) const {
    if constexpr (std::is_same_v<Element, std::uint32_t>)
      return images_here_[std::size_t{total} * scan_.algebra.states + from];
    else
      return Algebra::apply(total, from);
  }

  std::uint32_t block_count(const StoredScan<Algebra>& scan) const {
    constexpr std::uint32_t kOnProcessor = 5;
    std::uint32_t most = kOnProcessor;
#ifdef KROHN_WITH_CUDA
    if (place_ == Place::kDevice) most = cuda_stored_blocks(scan);
#endif
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(scan.tiles(), most));
  }

  void run_blocks(const StoredScan<Algebra>& scan, std::uint32_t blocks) const {
#ifdef KROHN_WITH_CUDA
    if (place_ == Place::kDevice) return cuda_read_stored(scan, blocks);
#endif
    HostBlock block(scan);
    for (std::uint32_t i = 0; i < blocks; ++i)
      scan.read_block(HostThreads{kTileThreads}, block.table, block.memory, i, scan.tiles() * i / blocks,
                      scan.tiles() * (i + 1) / blocks);
  }

  void write_tiles(const StoredScan<Algebra>& scan, TileOrder order) const {
#ifdef KROHN_WITH_CUDA
    if (place_ == Place::kDevice) return cuda_write_states(scan);
#endif
    HostBlock block(scan);
    const HostThreads threads{kTileThreads};
    scan.load_steps(threads, block.behind_table);
    const auto finish = [&](std::uint64_t tile) {
      scan.look_back(threads, block.memory, tile);
      scan.write_tile(threads, block.memory, scan.writer(block.behind_table), tile);
    };
    const auto read = [&](std::uint64_t tile) { scan.read_tile(threads, block.table, block.memory, tile); };
    for (std::uint64_t tile = 0; tile < scan.tiles(); ++tile) {
      read(tile);
      scan.tell_total(threads, block.memory, tile);
      if (order == TileOrder::kInOrder) finish(tile);
    }
    if (order == TileOrder::kInOrder) return;
    for (std::uint64_t tile = scan.tiles(); tile-- > 0;) {
      read(tile);
      finish(tile);
    }
  }

  /// A block's memory on the processor.
  struct HostBlock {
    explicit HostBlock(const StoredScan<Algebra>& scan)
        : shared(scan.shared_size() / sizeof(PackedVector) + 1),
          table(scan.load_table(HostThreads{kTileThreads}, reinterpret_cast<unsigned char*>(shared.data()))),
          behind_table(reinterpret_cast<unsigned char*>(shared.data()) + scan.table_size()) {}

    std::vector<PackedVector> shared;
    const unsigned char* table;
    unsigned char* behind_table;
    TileMemory<Element> memory;
  };

  Place place_;
  Kind kind_;
  std::string description_;
  Buffer<std::uint32_t> table_;
  Buffer<std::uint16_t> products_;
  Buffer<std::uint32_t> images_;
  std::vector<std::uint32_t> images_here_;
  Buffer<std::uint64_t> cuts_;
  Buffer<std::uint32_t> byte_states_;
  StoredScan<Algebra> scan_;
};

class StoredWordRunner::EndsReader final : public Reader {
 public:
  EndsReader(Place place, const Dfa& dfa)
      : place_(place),
        states_(dfa.states()),
        stride_(best_stride(dfa.letters(), dfa.states(), 4, SymbolTable::kGlobalBytes)),
        letters_(place, dfa.table()),
        table_(place, table_of(dfa, stride_)),
        cuts_(place, byte_cuts(dfa.letters(), stride_)),
        letter_cuts_(place, byte_cuts(dfa.letters(), 1)) {
    const std::uint32_t per_byte = letters_per_byte(dfa.letters());
    by_symbols_ = {cuts_.data(), per_byte / stride_, cut_words(dfa.letters(), stride_).base};
    by_letters_ = {letter_cuts_.data(), per_byte, dfa.letters()};
  }

  Kind kind() const override { return Kind::kEnds; }
  std::string description() const override { return "every state by itself"; }

  State read(const PlacedWord& word, State from) const override {
    const StoredSlices slices = cut(word, word.whole_bytes());
    for (const std::uint32_t start : starts(slices, from)) from = start;
    return from;
  }

  void write_states(const PlacedWord& word, State from, StatesVector* states, TileOrder) const override {
    StoredSlices slices = cut(word, word.bytes());
    std::vector<std::uint32_t> from_states = starts(slices, from);
    from_states.pop_back();  // where the last one ends
    const Buffer<std::uint32_t> starts(place_, from_states);
    slices.table = letters_.data();
    slices.cut = by_letters_;
    launch(place_, WriteSliceStates{slices, starts.data(), reinterpret_cast<std::uint8_t*>(states)},
           from_states.size());
    starts.values();  // before they go
  }

 private:
  static std::vector<std::uint32_t> table_of(const Dfa& dfa, std::uint32_t stride) {
    const SymbolCut cut = cut_words(dfa.letters(), stride);
    std::vector<std::uint32_t> table;
    for (State state = 0; state < dfa.states(); ++state)
      for (std::uint32_t symbol = 0; symbol < cut.base; ++symbol) table.push_back(read_symbol(dfa, cut, state, symbol));
    return table;
  }

  StoredSlices cut(const PlacedWord& word, std::uint64_t bytes) const {
    constexpr std::uint64_t kOnProcessor = 7;
    std::uint64_t most = kOnProcessor;
    if (place_ == Place::kDevice) most = std::max<std::uint64_t>(cuda_resident_threads() / states_, 1);
    StoredSlices slices;
    slices.word = word.vectors();
    slices.bytes = bytes;
    // Whole vectors, so that no two slices write into one word of states.
    const std::uint64_t vectors = (bytes + PackedVector::kBytes - 1) / PackedVector::kBytes;
    slices.bytes_per_slice = std::max<std::uint64_t>((vectors + most - 1) / most, 1) * PackedVector::kBytes;
    slices.table = table_.data();
    slices.cut = by_symbols_;
    return slices;
  }

  /// The state before every slice, and after the last one.
  std::vector<std::uint32_t> starts(const StoredSlices& slices, State from) const {
    const std::uint64_t count = (slices.bytes + slices.bytes_per_slice - 1) / slices.bytes_per_slice;
    Buffer<std::uint32_t> ends(place_, count * states_);
    launch(place_, ReadSliceEnds{slices, states_, ends.data()}, ends.size());
    const std::vector<std::uint32_t> all = ends.values();
    std::vector<std::uint32_t> starts{from};
    for (std::uint64_t slice = 0; slice < count; ++slice) starts.push_back(all[slice * states_ + starts.back()]);
    return starts;
  }

  Place place_;
  State states_;
  std::uint32_t stride_;
  Buffer<std::uint32_t> letters_, table_;
  Buffer<std::uint64_t> cuts_, letter_cuts_;
  ByteCuts by_symbols_, by_letters_;
};

std::unique_ptr<StoredWordRunner::Reader> StoredWordRunner::make_reader(Place place, const Dfa& dfa) {
  const auto by_maps = [&]<std::uint32_t kWords>(std::integral_constant<std::uint32_t, kWords>) {
    using Algebra = MapAlgebra<kWords>;
    const std::vector<std::uint32_t> table = map_table<kWords>(dfa);
    auto scanner = std::make_unique<Scanner<Algebra>>(
        place, dfa, Kind::kMaps, "maps of all states in registers", table, std::span<const std::uint16_t>{},
        std::span<const std::uint32_t>{}, std::span<const std::uint64_t>{});
    Algebra& algebra = scanner->scan().algebra;
    algebra.table_bytes = static_cast<std::uint32_t>(table.size() * 4);
    algebra.layout = layout_for<Algebra>(algebra.table_bytes, sizeof(typename Algebra::Choices));
    return std::unique_ptr<Reader>(std::move(scanner));
  };
  const auto by_elements = [&]<class Entry>(const MonoidGraph& found, Entry) {
    using Algebra = ElementAlgebra<Entry>;
    const Dfa& graph = found.graph;
    const std::uint32_t stride = best_stride(dfa.letters(), graph.states(), sizeof(Entry), kTableBytes);
    const SymbolCut cut = cut_words(dfa.letters(), stride);
    std::vector<std::uint32_t> images;
    for (State element = 0; element < found.monoid.size(); ++element) {
      const Transformation map = found.monoid.element(element);
      for (State state = 0; state < dfa.states(); ++state) images.push_back(map[state]);
    }
    auto scanner = std::make_unique<Scanner<Algebra>>(
        place, dfa, Kind::kElements, fmt::format("the {} of the transition monoid", counted(graph.states(), "element")),
        packed_entries<Entry>(graph, stride), product_table(graph), images, byte_cuts(dfa.letters(), stride));
    StoredScan<Algebra>& scan = scanner->scan();
    Algebra& algebra = scan.algebra;
    algebra.table_bytes = static_cast<std::uint32_t>(graph.states() * cut.base * sizeof(Entry));
    scan.in_shared = algebra.table_bytes <= kTableBytes;
    if (scan.in_shared) algebra.layout = layout_for<Algebra>(algebra.table_bytes, sizeof(Entry));
    algebra.cut = {scanner->cuts(), letters_per_byte(dfa.letters()) / stride, cut.base};
    algebra.products = scanner->products();
    algebra.images = scanner->images();
    algebra.elements = graph.states();
    algebra.states = dfa.states();
    return std::unique_ptr<Reader>(std::move(scanner));
  };

  if (dfa.states() <= 8) return by_maps(std::integral_constant<std::uint32_t, 2>{});
  // Up to 32 states, elements are worth it where a byte is one look-up in shared memory.
  const std::uint64_t most_elements = dfa.states() <= 32
                                          ? kTableBytes / combinations_per_byte(dfa.letters())
                                          : std::min<std::uint64_t>(kMaxElements, kMaxImages / dfa.states());
  if (const auto found = monoid_graph(dfa, most_elements))
    return found->graph.states() <= 256 ? by_elements(*found, std::uint8_t{}) : by_elements(*found, std::uint16_t{});
  if (dfa.states() <= 16) return by_maps(std::integral_constant<std::uint32_t, 4>{});
  if (dfa.states() <= 32) return by_maps(std::integral_constant<std::uint32_t, 8>{});
  if (dfa.states() > kMaxEnds)
    throw NotOnDevice(
        fmt::format("an automaton of {} states does not read stored words on a device, where {} is the "
                    "limit; take --device cpu",
                    dfa.states(), kMaxEnds));
  return std::make_unique<EndsReader>(place, dfa);
}

StoredWordRunner::StoredWordRunner(Place place, const Dfa& dfa)
    : place_(place),
      letters_(dfa.letters()),
      state_count_(dfa.states()),
      table_(dfa.table().begin(), dfa.table().end()) {
  if (letters_ == 0 || letters_ > 256)
    throw NotOnDevice(
        fmt::format("words over {} letters are not stored on a device, where 1 to 256 are; take "
                    "--device cpu",
                    letters_));
  reader_ = make_reader(place, dfa);
}

StoredWordRunner::~StoredWordRunner() = default;

Kind StoredWordRunner::kind() const { return reader_->kind(); }
std::string StoredWordRunner::description() const { return reader_->description(); }

void StoredWordRunner::require_letters(Letter letters) const {
  if (letters != letters_)
    throw InputError(fmt::format("the word is over {}, the automaton over {}", counted(letters, "letter"), letters_));
}

State StoredWordRunner::run(const PlacedWord& word, State from) const {
  require_letters(word.letters());
  from = reader_->read(word, from);
  for (const Letter letter : word.tail()) from = table_[std::size_t{from} * letters_ + letter];
  return from;
}

State StoredWordRunner::run(const PackedWord& word, State from) const {
  require_letters(word.letters());
  for (std::uint64_t first = 0; first < word.bytes().size(); first += kPieceBytes)
    from = run(PlacedWord(place_, word, first, kPieceBytes), from);
  return from;
}

PlacedStates StoredWordRunner::states(const PlacedWord& word, State from, TileOrder order) const {
  PlacedStates states{0, Buffer<StatesVector>(place_)};
  write_states(word, from, states, order);
  return states;
}

void StoredWordRunner::write_states(const PlacedWord& word, State from, PlacedStates& states, TileOrder order) const {
  require_letters(word.letters());
  if (state_count_ > 256)
    throw InputError(fmt::format("the states of an automaton of {} states are not written as bytes", state_count_));
  const std::uint64_t positions = word.bytes() * letters_per_byte(letters_);
  const std::uint64_t vectors = (positions + StatesVector::kStates - 1) / StatesVector::kStates;
  if (states.vectors.size() < vectors) states.vectors = Buffer<StatesVector>(place_, vectors);
  states.size = word.size();
  if (vectors > 0) reader_->write_states(word, from, states.vectors.data(), order);
}

}  // namespace krohn
