#include "krohn/gpu/networks/device_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "krohn/gpu/networks/network_image.h"
#include "krohn/gpu/networks/pair_search.cuh"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {
namespace {

/// A search on the processor notes a failure before it has inserted the successors of this many pairs: so it is here,
/// so that both count the same.
constexpr std::uint64_t kBlock = kPairsAtOnce;
constexpr std::uint64_t kMaxCandidates = std::uint64_t{1} << 21;
constexpr std::uint64_t kWorkBytes = std::uint64_t{1} << 29;
constexpr std::uint64_t kMaxPairs = (std::uint64_t{1} << 31) - 2;

template <class A, class D>
class PairSearch {
 public:
  using Number = typename D::Number;

  PairSearch(Place place, const Network& network, const CertifyOptions& options)
      : place_(place), options_(options), automaton_(network.automaton), image_(network, options.form), bytes_(place) {
    make_.network = image_.put(place, bytes_);
    find_sizes();
    take_memory();
  }

  PairSearchEnd run() {
    const DeviceNetwork<Number>& network = make_.network;
    if (network.initial_answer != network.initial_state)
      return PairSearchEnd::wrong(0, {}, network.initial_state, network.initial_answer);
    write_first_pair();
    std::uint64_t depth = 0;
    for (std::uint64_t begin = 0; begin < pairs_; ++depth) {
      const std::uint64_t end = pairs_;
      for (std::uint64_t first = begin; first < end; first += chunk_) {
        if (const auto failing = expand(first, std::min(end, first + chunk_))) {
          Word word = word_to(first + *failing / memory_.letters);
          word.push_back(static_cast<Letter>(*failing % memory_.letters));
          return wrong(std::move(word));
        }
        if (const std::string late = TimeLimit::met(); depth > 0 && !late.empty())
          return PairSearchEnd::stopped(pairs_, depth, begin, late);
      }
      if (full_) return PairSearchEnd::stopped(pairs_, depth + 1, end, limit());
      begin = end;
    }
    return PairSearchEnd::closed(pairs_, depth - 1);
  }

 private:
  void find_sizes() {
    const DeviceNetwork<Number>& network = make_.network;
    memory_.key_words = network.layer_count + kWordsPerNumber<Number> * network.numbers;
    memory_.words = memory_.key_words + network.layer_count;
    memory_.letters = std::max<Letter>(1, automaton_.letters());
    const std::uint64_t column = (network.numbers + network.scratch) * sizeof(Number) +
                                 (2 * network.layer_count + memory_.words) * sizeof(std::uint32_t);
    const std::uint64_t candidates = std::min(kMaxCandidates, kWorkBytes / column);
    chunk_ = std::max<std::uint64_t>(1, candidates / memory_.letters / kBlock) * kBlock;
    // No chunk is longer than a search that is over soon.
    chunk_ = std::min(chunk_, std::max<std::uint64_t>(1, options_.max_pairs / kBlock + 1) * kBlock);
    std::uint64_t most_bytes = options_.max_bytes;
    if (place_ == Place::kDevice) most_bytes = std::min(most_bytes, bytes_for_pairs(cuda_free_bytes(), kWorkBytes));
    const std::uint64_t pair = (memory_.words + 1) * sizeof(std::uint32_t) + 4 * sizeof(std::uint32_t);
    memory_.most_pairs = std::clamp<std::uint64_t>(std::min(options_.max_pairs, most_bytes / pair), 1, kMaxPairs);
  }

  void take_memory() {
    const DeviceNetwork<Number>& network = make_.network;
    const std::uint64_t candidates = chunk_ * memory_.letters;
    records_ = Buffer<std::uint32_t>(place_, memory_.most_pairs * memory_.words);
    parents_ = Buffer<std::uint32_t>(place_, memory_.most_pairs);
    table_ = Buffer<std::uint32_t>(place_, std::bit_ceil(2 * (memory_.most_pairs + candidates)));
    candidate_records_ = Buffer<std::uint32_t>(place_, candidates * memory_.words);
    slots_ = Buffer<std::uint64_t>(place_, candidates);
    winners_ = Buffer<std::uint32_t>(place_, (candidates + 31) / 32);
    numbers_ = Buffer<std::uint64_t>(place_, winners_.size());
    failing_candidate_ = Buffer<unsigned long long>(place_, 1);
    work_numbers_ = Buffer<Number>(place_, (network.numbers + network.scratch) * candidates);
    work_words_ = Buffer<std::uint32_t>(place_, 2 * network.layer_count * candidates);
    memory_.records = records_.data();
    memory_.parents = parents_.data();
    memory_.table = table_.data();
    memory_.table_mask = table_.size() - 1;
    memory_.candidate_records = candidate_records_.data();
    memory_.slots = slots_.data();
    memory_.winners = winners_.data();
    memory_.numbers = numbers_.data();
    memory_.failing = failing_candidate_.data();
    make_.numbers = work_numbers_.data();
    make_.columns = static_cast<std::uint32_t>(candidates);
    make_.codewords = work_words_.data();
    make_.labels = work_words_.data() + network.layer_count * candidates;
  }

  /// The record of the start, inserted as if it were a candidate.
  void write_first_pair() {
    std::vector<Number> numbers = image_.initial_numbers();
    std::vector<std::uint32_t> codewords = image_.initial_codewords(), labels = image_.initial_labels();
    std::vector<std::uint32_t> record(memory_.words);
    const WordPlace<Number> start{{numbers.data(), 1}, {}, {codewords.data(), 1}, {labels.data(), 1}};
    make_.store(automaton_.initial(), start, record.data());
    candidate_records_.write(record);
    number_candidates(1);
  }

  /// Inserts the first candidates of the chunk and numbers those that are new.
  void number_candidates(std::uint64_t candidates) {
    memory_.candidates = candidates;
    launch(place_, InsertCandidates{memory_}, candidates);
    const std::uint64_t groups = (candidates + 31) / 32;
    launch(place_, FindWinners{memory_}, groups);
    std::vector<std::uint32_t> winners(groups);
    winners_.read(winners);
    std::vector<std::uint64_t> numbers(groups);
    std::uint64_t next = pairs_;
    for (std::uint64_t group = 0; group < groups; ++group) {
      numbers[group] = next;
      next += static_cast<std::uint64_t>(std::popcount(winners[group]));
    }
    numbers_.write(numbers);
    launch(place_, NumberWinners{memory_}, candidates);
    full_ = full_ || next > memory_.most_pairs;
    pairs_ = std::min(next, memory_.most_pairs);
  }

  /// The least candidate that is read wrongly, if there is one; otherwise all successors are pairs now, as far as there
  /// is room.
  std::optional<std::uint64_t> expand(std::uint64_t first, std::uint64_t last) {
    if (automaton_.letters() == 0) return std::nullopt;
    memory_.first = first;
    make_.memory = memory_;
    const unsigned long long none = ~0ULL;
    failing_candidate_.write({&none, 1});
    const std::uint64_t candidates = (last - first) * memory_.letters;
    launch(place_, make_, candidates);
    unsigned long long failing = none;
    failing_candidate_.read({&failing, 1});
    const std::uint64_t right =
        failing == none ? candidates : failing / memory_.letters / kBlock * kBlock * memory_.letters;
    if (!full_ && right > 0) number_candidates(right);
    if (options_.progress) options_.progress(pairs_);
    if (failing == none) return std::nullopt;
    return failing;
  }

  std::string limit() const {
    return memory_.most_pairs == options_.max_pairs ? fmt::format("{} pairs", options_.max_pairs)
                                                    : fmt::format("{} pairs in memory", memory_.most_pairs);
  }

  /// Each letter is the first that leads from a pair to the next.
  Word word_to(std::uint64_t pair) {
    Word word;
    while (pair != 0) {
      std::uint32_t parent = 0;
      parents_.read({&parent, 1}, pair);
      memory_.first = parent;
      make_.memory = memory_;
      launch(place_, make_, memory_.letters);
      std::vector<std::uint32_t> successors(std::size_t{memory_.letters} * memory_.words), wanted(memory_.words);
      candidate_records_.read(successors);
      records_.read(wanted, pair * memory_.words);
      Letter letter = 0;
      while (!std::equal(wanted.begin(), wanted.begin() + memory_.key_words,
                         successors.begin() + std::ptrdiff_t{letter} * memory_.words))
        ++letter;
      word.push_back(letter);
      pair = parent;
    }
    std::reverse(word.begin(), word.end());
    return word;
  }

  /// The answers of the automaton and the network at the word's end: the last letter once more, on the processor.
  PairSearchEnd wrong(Word word) const {
    const auto evaluator = make_evaluator(image_.network(), options_.arithmetic, options_.form);
    std::optional<State> given;
    for (const Letter letter : word) given = evaluator->step(letter);
    const State expected = automaton_.run(word);
    if (given == expected)
      throw SystemError("CUDA: the device read a word wrongly that the processor reads rightly; please report this");
    return PairSearchEnd::wrong(pairs_, std::move(word), expected, given.value_or(kNoState));
  }

  Place place_;
  const CertifyOptions& options_;
  const Dfa& automaton_;
  NetworkImage<A> image_;
  Buffer<std::byte> bytes_;
  PairMemory memory_;
  MakeSuccessors<D> make_;
  std::uint64_t chunk_ = kBlock, pairs_ = 0;
  bool full_ = false;
  Buffer<std::uint32_t> records_{place_}, parents_{place_}, table_{place_}, candidate_records_{place_},
      winners_{place_}, work_words_{place_};
  Buffer<std::uint64_t> slots_{place_}, numbers_{place_};
  Buffer<unsigned long long> failing_candidate_{place_};
  Buffer<Number> work_numbers_{place_};
};

}  // namespace

std::uint64_t bytes_for_pairs(std::uint64_t free, std::uint64_t work) {
  const std::uint64_t most = free / 8 * 7;
  if (most <= work)
    throw NoDevice(
        fmt::format("CUDA: a search of pairs needs more than {} MB of device memory, and {} are free; "
                    "--device cpu does without",
                    work / 7 * 8 >> 20, free >> 20));
  return most - work;
}

Certificate search_pairs(Place place, const Network& network, const CertifyOptions& options) {
  const FloatEnvironment environment;
  return with_device_arithmetic(options.arithmetic, [&](auto format, auto device) {
    return certificate_of(PairSearch<decltype(format), decltype(device)>(place, network, options).run(), options);
  });
}

}  // namespace krohn
