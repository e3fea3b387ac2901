#include "krohn/gpu/networks/device_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_network.cuh"
#include "krohn/gpu/networks/network_image.h"
#include "krohn/gpu/operations/operation_words.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/lanes/sample.h"

namespace krohn {

Certificate past_memory(Certificate found, const CertifyOptions& options, const std::function<Certificate()>& further) {
  if (found.limit.empty() || found.pairs >= options.max_pairs || !TimeLimit::met().empty()) return found;
  try {
    Certificate more = further();
    const bool is_less = !more.is<Proved>() && !more.is<Refuted>() && more.length() < found.length();
    return is_less ? found : more;
  } catch (const LimitError&) {
    return found;
  }
}

Certificate DevicePlace::search_pairs(const Network& network, const CertifyOptions& options) const {
  CertifyOptions there = options;
  there.max_bytes = UINT64_MAX;  // the device's memory is the limit
  const auto here = [&] {
    return processor_ ? processor_->search_pairs(network, options) : ProvingPlace::search_pairs(network, options);
  };
  const auto on_cuda = [&] {
    const Certificate found = krohn::search_pairs(Place::kDevice, network, there);
    return past_memory(found, options, [&] {
      note_(
          fmt::format("the device's memory holds {}, all right for words of up to {}; a search from the start, with "
                      "the disk",
                      counted(found.pairs, "pair"), counted(found.length(), "letter")));
      return here();
    });
  };
  return on_device(insists_, note_, on_cuda, here);
}

namespace {

/// Words of a model that a device is worth: one takes it longer than the processor, which reads a letter in a tenth of
/// the time.
constexpr std::uint64_t kManyWordsOfModel = 128;

}  // namespace

WordReading DevicePlace::word_reading(const ReadModel& model, unsigned threads) const {
  const WordReading here = ProvingPlace::word_reading(model, threads);
  return on_device(
      insists_, note_,
      [&]() -> WordReading {
        return [here, there = krohn::word_reading(Place::kDevice, model, here)](std::span<const Word> words,
                                                                                const HeardAnswer& heard) {
          (words.size() < kManyWordsOfModel ? here : there)(words, heard);
        };
      },
      [&] { return here; });
}

std::optional<RandomFailure> DevicePlace::first_failure(
    const ReadModel& model, const RandomTest& asked,
    const std::function<void(std::uint64_t, std::uint64_t)>& told) const {
  const auto here = [&] { return ProvingPlace::first_failure(model, asked, told); };
  if (asked.words < kManyWordsOfModel) {
    if (insists_)
      note_(fmt::format("words of a model are read on a device side by side, from --words {} on", kManyWordsOfModel));
    return here();
  }
  return on_device(
      insists_, note_, [&] { return krohn::first_failure(Place::kDevice, model, asked, told); }, here);
}

SampleReport DevicePlace::sample_from(std::uint64_t first, const Network& network, ArithmeticName arithmetic,
                                      const SampleOptions& options) const {
  // A device is worth it for many words side by side, and in orders that compose letters for many letters in all: a
  // judgement, which no device has confirmed yet.
  constexpr std::uint64_t kManyWords = 1024, kManyLetters = 10'000'000;
  const std::uint64_t length = options.lengths.empty() ? 0 : *std::ranges::max_element(options.lengths);
  const bool many = !options.order.is_sequential() || options.words >= kManyWords;
  const bool pays = many && length > kManyLetters / std::max<std::uint64_t>(options.words, 1);
  if (!pays && !insists_) return krohn::sample_from(first, network, arithmetic, options);
  return on_device(
      insists_, note_,
      [&] {
        return options.order.is_sequential()
                   ? sample_words(Place::kDevice, network, arithmetic, options, first)
                   : sample_words_in_order(Place::kDevice, network, arithmetic, options, first);
      },
      [&] { return krohn::sample_from(first, network, arithmetic, options); });
}

namespace {

/// Letters of all words between two looks at the clock and the user: about a second of a device.
constexpr std::uint64_t kLettersAtOnce = std::uint64_t{1} << 34;
constexpr std::uint64_t kMaxWordsAtOnce = std::uint64_t{1} << 20;

template <class A, class D>
class WordSampler {
 public:
  using Number = typename D::Number;

  WordSampler(Place place, const Network& network, const SampleOptions& options)
      : place_(place), options_(options), image_(network, options.form), automaton_(network.automaton) {
    job_.network = image_.put(place, bytes_);
    const auto few = image_.few_layers(bytes_);
    job_.has_few = few.has_value();
    if (few) job_.few = *few;
  }

  SampleReport run(const std::vector<std::uint64_t>& lengths, std::uint64_t first_word) {
    for (const std::uint64_t length : lengths) report_.lengths.emplace_back().length = length;
    const std::uint64_t at_once = std::min(options_.words, kMaxWordsAtOnce);
    Buffer<Number> numbers(place_, job_.network.numbers * at_once);
    Buffer<std::uint32_t> codewords(place_, job_.network.layer_count * at_once), labels(place_, codewords.size());
    outcomes_ = Buffer<WordOutcome>(place_, at_once);
    job_.numbers = numbers.data();
    job_.codewords = codewords.data();
    job_.labels = labels.data();
    job_.outcomes = outcomes_.data();
    job_.seed = options_.seed;
    for (std::uint64_t first = 0; first < options_.words; first += at_once) {
      job_.first_stream = first_word + first;
      job_.words = std::min(at_once, options_.words - first);
      read_group(lengths);
    }
    return report_;
  }

 private:
  /// One group of words to the greatest length.
  void read_group(const std::vector<std::uint64_t>& lengths) {
    job_.position = 0;
    job_.count = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      do {
        job_.count = std::min(std::max<std::uint64_t>(kLettersAtOnce / job_.words, 1), lengths[i] - job_.position);
        read();
        job_.position += job_.count;
        report_.letters += job_.count * job_.words;
        if (options_.progress) options_.progress(report_.letters, lengths.back() * options_.words);
      } while (job_.position < lengths[i]);
      add_outcomes(report_.lengths[i], i + 1 == lengths.size());
    }
  }

  void read() {
#ifdef KROHN_WITH_CUDA
    if (place_ == Place::kDevice) {
      cuda_read_words(job_);
      outcomes_.read({&first_outcome_, 1});  // waits, so that progress is not told in advance
      return;
    }
#endif
    std::vector<Number> numbers(job_.work_numbers());
    std::vector<std::uint32_t> words(job_.work_words());
    const auto read_all = [&](const auto& layers) {
      for (std::uint64_t item = 0; item < job_.words; ++item)
        job_.read(layers, item, {numbers.data(), 1}, {words.data(), 1});
    };
    if (job_.has_few)
      read_all(job_.few);
    else
      read_all(job_.network);
  }

  void add_outcomes(LengthReport& row, bool is_last) {
    std::vector<WordOutcome> outcomes(job_.words);
    outcomes_.read(outcomes);
    for (std::uint64_t word = 0; word < job_.words; ++word) {
      const WordOutcome& outcome = outcomes[word];
      add_word(row, automaton_, {outcome.state, outcome.answer, row.length, outcome.right_letters});
      if (is_last && outcome.failing_at != ~std::uint64_t{0})
        note_failure(report_, outcome.failing_at, job_.first_stream + word);
    }
  }

  Place place_;
  const SampleOptions& options_;
  NetworkImage<A> image_;
  const Dfa& automaton_;
  Buffer<std::byte> bytes_{Place::kProcessor};
  Buffer<WordOutcome> outcomes_{Place::kProcessor};
  NetworkWordsJob<D> job_;
  WordOutcome first_outcome_;
  SampleReport report_;
};

}  // namespace

SampleReport sample_words(Place place, const Network& network, ArithmeticName arithmetic, const SampleOptions& options,
                          std::uint64_t first) {
  const FloatEnvironment environment;
  const std::vector<std::uint64_t> lengths = sample_lengths(network, options);
  if (!options.order.is_sequential())
    throw NotOnDevice("--order", fmt::format("many words run in the sequential order on a device, not {}; take "
                                             "--device cpu",
                                             to_string(options.order)));
  SampleReport report = with_device_arithmetic(arithmetic, [&](auto format, auto device) {
    return WordSampler<decltype(format), decltype(device)>(place, network, options).run(lengths, first);
  });
  keep_failing_word(report, network.automaton.letters(), options.seed);
  return report;
}

}  // namespace krohn
