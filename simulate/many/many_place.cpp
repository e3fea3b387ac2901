#include "krohn/simulate/many/many_place.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {

Recheck recheck_on_ranks(Ranks& ranks, const Certificate& certificate, const CheckedModel& model,
                         const RecheckOptions& options) {
  Recheck mine;
  together(ranks, [&] {
    if (options.shares != 1) throw InputError("the ranks share out a whole certificate");
    RecheckOptions own = options;
    own.share = ranks.rank();
    own.shares = ranks.size();
    mine = recheck(certificate, model, own);
  });
  // Everybody's finding: the first one that is against it is that of one process.
  std::vector<Ranks::Words> to(ranks.size()), from;
  for (Ranks::Words& words : to) {
    words.assign(mine.finding.begin(), mine.finding.end());
    words.push_back(mine.established ? 1 : 0);
  }
  ranks.exchange(to, from);
  Recheck found;
  for (const Ranks::Words& words : from) {
    found = {words.back() == 1, {}};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) found.finding.push_back(static_cast<char>(words[i]));
    if (!found.established) return found;
  }
  return found;
}

namespace {

/// Between two looks at what others say, where nothing happens.
constexpr std::chrono::microseconds kShortestNap{50}, kLongestNap{2000};

class Nap {
 public:
  std::chrono::microseconds next(bool has_news) {
    now_ = has_news ? kShortestNap : std::min(2 * now_, kLongestNap);
    return now_;
  }

 private:
  std::chrono::microseconds now_ = kShortestNap;
};

// ---- What is said

enum class Say : std::uint8_t {
  kItems,   ///< rank 0: make the lines of `numbers`
  kStop,    ///< rank 0: begin no more; numbers[0]: the user asked for it
  kLine,    ///< of item numbers[0]
  kFailed,  ///< as RankFailure::Kind numbers[0] says
  kEnded,   ///< nothing is under way any more
};

struct Message {
  Say say;
  std::vector<std::uint64_t> numbers{};
  std::string text{};
};

Ranks::Bytes to_bytes(const Message& message) {
  const std::uint64_t head[] = {static_cast<std::uint64_t>(message.say), message.numbers.size()};
  const std::size_t numbers = message.numbers.size() * sizeof(std::uint64_t);
  Ranks::Bytes bytes(sizeof head + numbers + message.text.size());
  std::memcpy(bytes.data(), head, sizeof head);
  if (numbers > 0) std::memcpy(bytes.data() + sizeof head, message.numbers.data(), numbers);
  if (!message.text.empty())
    std::memcpy(bytes.data() + sizeof head + numbers, message.text.data(), message.text.size());
  return bytes;
}

Message message_of(const Ranks::Bytes& bytes) {
  std::uint64_t head[2];
  std::memcpy(head, bytes.data(), sizeof head);
  Message message{static_cast<Say>(head[0])};
  message.numbers.resize(head[1]);
  const std::size_t numbers = message.numbers.size() * sizeof(std::uint64_t);
  if (numbers > 0) std::memcpy(message.numbers.data(), bytes.data() + sizeof head, numbers);
  message.text.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof head + numbers,
                      bytes.size() - sizeof head - numbers);
  return message;
}

/// The threads of a rank when `asked` were wanted; 0: no number was given.
unsigned threads_of(const Ranks& ranks, unsigned asked) { return asked != 0 ? asked : ranks.processors(); }

/// Those of all ranks.
std::vector<std::uint64_t> gather_threads(Ranks& ranks, unsigned asked) {
  const std::uint64_t mine[] = {threads_of(ranks, asked)};
  return ranks.gather(mine);
}

// ---- Rank 0

class Master {
 public:
  Master(Ranks& ranks, const ListDuty& duty)
      : ranks_(ranks),
        duty_(duty),
        threads_(gather_threads(ranks, duty.threads)),
        open_(ranks.size(), 0),
        own_(static_cast<unsigned>(threads_[0]), duty.line_of) {
    for (const std::uint64_t threads : threads_) all_threads_ += threads;
  }

  void work() {
    Nap nap;
    bool has_news = true;
    while (lines_ < duty_.items.size() && !failed_) {
      hand_out();
      has_news = take(nap.next(has_news));
      guarded([&] {
        if (duty_.tell) duty_.tell(lines_);
      });
    }
    stop();
    while (ended_ + 1 < ranks_.size() || own_.open() > 0) take(kLongestNap);
    ranks_.gather(threads_);  // nobody goes on before all messages have come
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (...) {
      if (!failed_) failed_ = std::current_exception();
    }
  }

  /// A rank that has less than half of what it may have is given the rest of that.
  void hand_out() {
    constexpr std::uint64_t kMax = 1024, kParts = 8;
    for (unsigned rank = 0; rank < ranks_.size() && next_ < duty_.items.size(); ++rank) {
      const std::uint64_t left = duty_.items.size() - next_;
      const std::uint64_t each = std::clamp<std::uint64_t>(left / (kParts * all_threads_), 1, kMax);
      const std::uint64_t most = threads_[rank] * each;
      if (open_[rank] >= most || (each > 1 && 2 * open_[rank] > most)) continue;
      const std::uint64_t count = std::min(left, most - open_[rank]);
      const auto items = duty_.items.subspan(next_, count);
      if (rank == 0)
        own_.add(items);
      else
        ranks_.send(rank, to_bytes({Say::kItems, {items.begin(), items.end()}}));
      next_ += count;
      open_[rank] += count;
    }
  }

  /// True if anything came.
  bool take(std::chrono::microseconds nap) {
    bool has_news = false;
    for (const ItemWorkers::Finished& made : own_.take(nap)) {
      keep(0, made.item, made.line);
      has_news = true;
    }
    if (!failed_) failed_ = own_.failure();
    while (const auto received = ranks_.receive()) {
      hear(received->from, message_of(received->bytes));
      has_news = true;
    }
    return has_news;
  }

  void hear(unsigned from, const Message& message) {
    if (message.say == Say::kLine) return keep(from, message.numbers[0], message.text);
    if (message.say == Say::kEnded) {
      ++ended_;
      return;
    }
    guarded([&] { throw_again({static_cast<RankFailure::Kind>(message.numbers[0]), message.text}); });
  }

  void keep(unsigned rank, std::uint64_t item, const std::string& line) {
    guarded([&] { duty_.keep(item, line); });
    ++lines_;
    --open_[rank];
  }

  void stop() {
    own_.drop_waiting();
    const RankFailure failure = failed_ ? failure_of(failed_, 0) : RankFailure{};
    const std::uint64_t is_interrupted = failure.kind == RankFailure::Kind::kInterrupted;
    for (unsigned rank = 1; rank < ranks_.size(); ++rank) ranks_.send(rank, to_bytes({Say::kStop, {is_interrupted}}));
    if (is_interrupted != 0) Interruption::requested = true;
  }

  Ranks& ranks_;
  const ListDuty& duty_;
  std::vector<std::uint64_t> threads_, open_;  ///< by rank: of it, and items that it has
  std::uint64_t all_threads_ = 0, next_ = 0, lines_ = 0;
  unsigned ended_ = 0;
  std::exception_ptr failed_;
  ItemWorkers own_;
};

}  // namespace

void work_on_list(Ranks& ranks, const ListDuty& duty) { Master(ranks, duty).work(); }

void help_with_list(Ranks& ranks, unsigned threads, const LineOf& line_of, const std::function<void()>& check) {
  const std::vector<std::uint64_t> all = gather_threads(ranks, threads);
  ItemWorkers workers(static_cast<unsigned>(all[ranks.rank()]), line_of);
  Nap nap;
  bool is_stopped = false, has_failed = false;
  const auto fail = [&](const std::exception_ptr& thrown) {
    const RankFailure failure = failure_of(thrown, ranks.rank());
    workers.drop_waiting();
    if (!std::exchange(has_failed, true))
      ranks.send(0, to_bytes({Say::kFailed, {static_cast<std::uint64_t>(failure.kind)}, failure.what}));
  };
  for (bool has_news = true; !is_stopped || workers.open() > 0;) {
    const auto made = workers.take(nap.next(has_news));
    has_news = !made.empty();
    for (const ItemWorkers::Finished& line : made) ranks.send(0, to_bytes({Say::kLine, {line.item}, line.line}));
    if (const std::exception_ptr thrown = workers.failure(); thrown && !has_failed) fail(thrown);
    try {
      if (!has_failed) check();
    } catch (...) {
      fail(std::current_exception());
    }
    while (const auto received = ranks.receive()) {
      const Message message = message_of(received->bytes);
      has_news = true;
      if (message.say == Say::kItems) {
        if (!has_failed) workers.add(message.numbers);
        continue;
      }
      is_stopped = true;
      workers.drop_waiting();
      if (message.numbers[0] != 0) Interruption::requested = true;
    }
  }
  ranks.send(0, to_bytes({Say::kEnded}));
  ranks.gather(all);
}

namespace {

using Counts = std::vector<std::uint64_t>;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// ---- Reports as numbers

Counts to_numbers(const SampleReport& report) {
  Counts numbers{report.letters, report.failing_at.has_value(), report.failing_at.value_or(0),
                 report.failing_word_index.value_or(0)};
  for (const LengthReport& row : report.lengths)
    numbers.insert(numbers.end(),
                   {row.length, row.words, row.right_state, row.right_output, row.letters, row.right_letters});
  return numbers;
}

SampleReport report_of(std::span<const std::uint64_t> numbers) {
  SampleReport report;
  report.letters = numbers[0];
  if (numbers[1] != 0) report.failing_at = numbers[2], report.failing_word_index = numbers[3];
  for (std::size_t i = 4; i < numbers.size(); i += 6)
    report.lengths.push_back(
        {numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3], numbers[i + 4], numbers[i + 5]});
  return report;
}

SampleReport nothing_read(const std::vector<std::uint64_t>& lengths) {
  SampleReport report;
  for (const std::uint64_t length : lengths) report.lengths.emplace_back().length = length;
  return report;
}

}  // namespace

void RoundLength::adapt(Ranks& ranks, double seconds) {
  constexpr std::uint64_t kEnough = 1000, kMax = std::uint64_t{1} << 32;  // milliseconds; words
  const std::uint64_t mine[] = {static_cast<std::uint64_t>(seconds * 1000)};
  const Counts all = ranks.gather(mine);
  if (*std::ranges::max_element(all) < kEnough / 2) words_ = std::min(2 * words_, kMax);
}

SampleReport sample_on_ranks(Ranks& ranks, const Network& network, ArithmeticName arithmetic,
                             const SampleOptions& options, const SampleWords& here) {
  const std::vector<std::uint64_t> lengths = sample_lengths(network, options);
  SampleReport sum = nothing_read(lengths);
  const std::uint64_t letters = lengths.back() * options.words;
  RoundLength round;
  for (std::uint64_t done = 0; done < options.words;) {
    const Stopwatch watch;
    const std::uint64_t end = done + std::min(options.words - done, round.words() * ranks.size());
    const Share mine = share_of(done, end, ranks.rank(), ranks.size());
    SampleReport part = nothing_read(lengths);
    together(ranks, [&] {
      SampleOptions own = options;
      own.words = mine.end - mine.begin;
      if (options.progress)
        own.progress = [&](std::uint64_t read, std::uint64_t) {
          options.progress(std::min(sum.letters + read * ranks.size(), letters), letters);
        };
      if (own.words > 0) part = here(mine.begin, network, arithmetic, own);
    });
    const Counts numbers = to_numbers(part), all = ranks.gather(numbers);
    for (unsigned rank = 0; rank < ranks.size(); ++rank)
      add_report(sum, report_of(std::span(all).subspan(rank * numbers.size(), numbers.size())));
    done = end;
    round.adapt(ranks, watch.seconds());
  }
  keep_failing_word(sum, network.automaton.letters(), options.seed);
  return sum;
}

void compare_words_on_ranks(Ranks& ranks, const LongComparison& here, std::uint64_t words, LongComparisonState& state,
                            RoundLength& round, const std::function<void()>& check) {
  const Stopwatch watch;
  const std::uint64_t end = state.word + std::min(words - state.word, round.words() * ranks.size());
  const Share mine = share_of(state.word, end, ranks.rank(), ranks.size());
  LongComparisonState own = here.start();
  own.word = mine.begin;
  together(ranks, [&] {
    while (!own.failing_at && own.word < mine.end) {
      here.read_piece(own);
      check();
    }
  });
  const Counts numbers{own.word,
                       own.position,
                       own.machine,
                       own.automaton,
                       own.comparisons,
                       own.failing_at.has_value(),
                       own.failing_at.value_or(0)};
  const Counts all = ranks.gather(numbers);
  // One process ends at the first word that fails, and compares nothing behind it.
  for (unsigned rank = 0; rank < ranks.size() && !state.failing_at; ++rank) {
    const auto of = std::span(all).subspan(rank * numbers.size(), numbers.size());
    state.word = of[0];
    state.position = of[1];
    state.machine = static_cast<State>(of[2]);
    state.automaton = static_cast<State>(of[3]);
    state.comparisons += of[4];
    if (of[5] != 0) state.failing_at = of[6];
  }
  round.adapt(ranks, watch.seconds());
}

State run_on_ranks(Ranks& ranks, const Runner& runner, const RandomWord& word, std::uint64_t first,
                   std::uint64_t length, State from) {
  /// Letters below which a share costs more than it gains.
  constexpr std::uint64_t kSmallestShare = std::uint64_t{1} << 16;
  std::optional<std::vector<State>> effect;
  const bool is_cut = ranks.size() > 1 && length / ranks.size() >= kSmallestShare;
  if (is_cut)
    together(ranks, [&] {
      const Share share = share_of(first, first + length, ranks.rank(), ranks.size());
      effect = runner.effect(word, share.begin, share.end - share.begin);
    });
  const std::uint64_t has_effect[] = {effect.has_value()};
  bool all_have = is_cut;
  if (is_cut)
    for (const std::uint64_t has : ranks.gather(has_effect)) all_have = all_have && has != 0;
  std::uint64_t end[] = {0};
  if (all_have) {
    const std::vector<State> before = ranks.compose_before(*effect);
    end[0] = (*effect)[before[from]];
    return static_cast<State>(ranks.gather(end).back());
  }
  together(ranks, [&] {
    if (ranks.rank() == 0) end[0] = runner.run(word, first, length, from);
  });
  return static_cast<State>(ranks.gather(end).front());
}

namespace {

using nlohmann::json;

/// The status of what met a limit.
constexpr int kUndecided = 3;

/// A request of rank 0: a line of JSON, and bytes after it.
struct Request {
  json asked;
  std::string bytes;
};

void ask(Ranks& ranks, const Request& request) {
  const std::string line = request.asked.dump() + "\n", text = line + request.bytes;
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  ranks.broadcast({first, first + text.size()});
}

Request hear(Ranks& ranks) {
  const Ranks::Bytes bytes = ranks.broadcast({});
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = text.find('\n');
  return {json::parse(text.substr(0, end)), text.substr(end + 1)};
}

Network network_of(const Request& request, const char* where) {
  return parse_network(std::as_bytes(std::span<const char>(request.bytes)), where);
}

// ---- Automata in messages: transitions and outputs, numbers for names

json facts_of(const Dfa& dfa) {
  return {{"letters", dfa.letters()}, {"states", dfa.states()}, {"initial", dfa.initial()}};
}

std::string bytes_of(const Dfa& dfa) {
  const auto bytes = [](const auto& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  };
  return bytes(dfa.table()) + bytes(dfa.outputs());
}

template <class Number>
std::vector<Number> take_numbers(std::string_view& bytes, std::size_t count) {
  std::vector<Number> numbers(count);
  std::memcpy(numbers.data(), bytes.data(), count * sizeof(Number));
  bytes.remove_prefix(count * sizeof(Number));
  return numbers;
}

/// Takes its bytes away.
Dfa take_automaton(const json& facts, std::string_view& bytes) {
  const auto states = facts["states"].get<State>();
  const auto letters = facts["letters"].get<Letter>();
  std::vector<State> table = take_numbers<State>(bytes, std::size_t{states} * letters);
  std::vector<Output> outputs = take_numbers<Output>(bytes, states);
  const std::uint64_t names = std::uint64_t{*std::ranges::max_element(outputs)} + 1;
  return Dfa::moore(Alphabet::from_names(numerals(letters)), std::move(table), facts["initial"].get<State>(),
                    std::move(outputs), numerals(names));
}

// ---- Runs of automata

Request to_request(const Dfa& dfa, std::uint64_t number, unsigned threads) {
  return {{{"kind", "automaton"}, {"number", number}, {"threads", threads}, {"automaton", facts_of(dfa)}},
          bytes_of(dfa)};
}

std::unique_ptr<Runner> runner_on_rank(Ranks& ranks, const Dfa& dfa, unsigned threads) {
  std::unique_ptr<Runner> runner;
  together(ranks,
           [&] { runner = std::make_unique<Runner>(dfa, RunnerOptions{.threads = threads_of(ranks, threads)}); });
  return runner;
}

/// The number of something that all ranks have, on rank 0; when it goes, the others forget theirs.
class SharedNumber {
 public:
  explicit SharedNumber(Ranks& ranks) : ranks_(ranks), number_(next_number++) {}
  ~SharedNumber() { ask(ranks_, {{{"kind", "forget"}, {"number", number_}}, ""}); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  operator std::uint64_t() const { return number_; }

 private:
  static inline std::uint64_t next_number = 0;
  Ranks& ranks_;
  std::uint64_t number_;
};

/// Rank 0's hold on an automaton that all ranks have.
class SharedRunner {
 public:
  SharedRunner(Ranks& ranks, const Dfa& dfa, unsigned threads)
      : ranks_(ranks), number_(ranks), letters_(dfa.letters()) {
    ask(ranks, to_request(dfa, number_, threads));
    runner_ = runner_on_rank(ranks, dfa, threads);
  }

  State run(const WordSlice& slice, State from) const {
    ask(ranks_, {{{"kind", "slice"},
                  {"number", std::uint64_t{number_}},
                  {"letters", letters_},
                  {"seed", slice.seed},
                  {"stream", slice.stream},
                  {"first", slice.first},
                  {"length", slice.length},
                  {"from", from}},
                 ""});
    return run_on_ranks(ranks_, *runner_, RandomWord(letters_, slice.seed, slice.stream), slice.first, slice.length,
                        from);
  }

 private:
  Ranks& ranks_;
  SharedNumber number_;
  Letter letters_;
  std::unique_ptr<Runner> runner_;
};

void run_slice(Ranks& ranks, const Runner& runner, const json& asked) {
  const auto number = [&](const char* name) { return asked[name].get<std::uint64_t>(); };
  const RandomWord word(asked["letters"].get<Letter>(), number("seed"), number("stream"));
  run_on_ranks(ranks, runner, word, number("first"), number("length"), asked["from"].get<State>());
}

// ---- Searches of pairs

/// All pairs that the search may find, in that of one process.
bool fits_in_memory(const Network& network, const CertifyOptions& options) {
  const std::uint64_t words =
      1 + network_reader(network, options.arithmetic, options.form, NetworkReading::kPairs)->start().size();
  return options.max_pairs <= options.max_bytes / (4 * words + 20);
}

Request to_request(const Network& network, const CertifyOptions& options, const KeptSearch& kept) {
  return {{{"kind", "pairs"},
           {"arithmetic", to_string(options.arithmetic)},
           {"form", to_string(options.form)},
           {"max_pairs", options.max_pairs},
           {"max_bytes", options.max_bytes},
           {"max_seconds", options.max_seconds},
           {"folder", kept.folder},
           {"seconds", kept.seconds},
           {"max_disk_bytes", kept.max_disk_bytes}},
          format_safetensors(to_tensors(network))};
}

/// Every rank, rank 0 too, searches the network of the message.
Certificate search(Ranks& ranks, const Request& request, std::function<void(std::uint64_t)> progress) {
  const Network network = network_of(request, "the network of a search over ranks");
  CertifyOptions options;
  options.arithmetic = ArithmeticName::parse(request.asked["arithmetic"].get<std::string>());
  options.form = parse_form(request.asked["form"].get<std::string>());
  options.max_pairs = request.asked["max_pairs"].get<std::uint64_t>();
  options.max_bytes = request.asked["max_bytes"].get<std::uint64_t>();
  options.max_seconds = request.asked["max_seconds"].get<double>();
  options.progress = std::move(progress);
  KeptSearch kept{request.asked["folder"].get<std::string>(), request.asked["seconds"].get<double>()};
  kept.max_disk_bytes = request.asked["max_disk_bytes"].get<std::uint64_t>();
  return search_pairs_on_ranks(ranks, network, options, kept);
}

// ---- Whole words of a comparison

struct ComparedWords {
  Dfa machine, automaton;
  std::uint64_t words;
  std::shared_ptr<const LongComparison> comparison;
  RoundLength round = {};
};

std::shared_ptr<ComparedWords> words_on_rank(Ranks& ranks, const json& asked, std::string_view bytes) {
  std::shared_ptr<ComparedWords> made;
  together(ranks, [&] {
    Dfa machine = take_automaton(asked["machine"], bytes), automaton = take_automaton(asked["automaton"], bytes);
    const auto number = [&](const char* name) { return asked[name].get<std::uint64_t>(); };
    made =
        std::make_shared<ComparedWords>(ComparedWords{std::move(machine), std::move(automaton), number("words"), {}});
    made->comparison =
        std::make_shared<LongComparison>(made->machine, made->automaton, made->words, number("length"), number("seed"),
                                         threads_of(ranks, asked["threads"].get<unsigned>()));
  });
  return made;
}

// ---- Random words through a network

Request to_request(const Network& network, ArithmeticName arithmetic, const SampleOptions& options, bool on_device) {
  return {{{"kind", "sample"},
           {"arithmetic", to_string(arithmetic)},
           {"lengths", options.lengths},
           {"words", options.words},
           {"seed", options.seed},
           {"threads", options.threads},
           {"form", to_string(options.form)},
           {"order", to_string(options.order)},
           {"device", on_device}},
          format_safetensors(to_tensors(network))};
}

void sample_here(Ranks& ranks, const Request& request, const RankService& service) {
  std::optional<Network> network;
  SampleWords here = sample_from;
  SampleOptions options;
  const json& asked = request.asked;
  together(ranks, [&] {
    network = network_of(request, "the network of a test over ranks");
    if (service.sampler) here = service.sampler(asked["device"].get<bool>());
    options.lengths = asked["lengths"].get<std::vector<std::uint64_t>>();
    options.words = asked["words"].get<std::uint64_t>();
    options.seed = asked["seed"].get<std::uint64_t>();
    options.threads = threads_of(ranks, asked["threads"].get<unsigned>());
    options.form = parse_form(asked["form"].get<std::string>());
    options.order = parse_order(asked["order"].get<std::string>());
    options.progress = [&](std::uint64_t, std::uint64_t) { service.check(); };
  });
  sample_on_ranks(ranks, *network, ArithmeticName::parse(asked["arithmetic"].get<std::string>()), options, here);
}

// ---- Certificates

Request to_request(const Certificate& certificate, const CheckedModel& model, const RecheckOptions& options) {
  const std::string text = format_certificate(certificate, model);
  return {{{"kind", "check"},
           {"max_letters", options.max_letters},
           {"certificate", text.size()},
           {"network", model.network != nullptr}},
          text + (model.network != nullptr ? format_safetensors(to_tensors(*model.network))
                                           : format_safetensors(*model.tensors))};
}

void check_here(Ranks& ranks, const Request& request) {
  std::optional<Network> network;
  TensorFile tensors;
  Certificate certificate;
  std::optional<CheckedModel> model;
  RecheckOptions options;
  together(ranks, [&] {
    const auto size = request.asked["certificate"].get<std::size_t>();
    const auto bytes = std::as_bytes(std::span<const char>(request.bytes).subspan(size));
    const char* const where = "the model of a certificate over ranks";
    if (request.asked["network"].get<bool>())
      model.emplace(network.emplace(parse_network(bytes, where)));
    else
      model.emplace(tensors = parse_safetensors(bytes, where));
    certificate = parse_certificate(request.bytes.substr(0, size), "a certificate over ranks", *model);
    options.max_letters = request.asked["max_letters"].get<std::uint64_t>();
  });
  recheck_on_ranks(ranks, certificate, *model, options);
}

// ---- Lists

void help_here(Ranks& ranks, const json& asked, const RankService& service) {
  bool has_met = false;
  const auto help = [&](unsigned threads, const LineOf& line_of) {
    has_met = true;
    together(ranks, [] {});
    help_with_list(ranks, threads, line_of, service.check);
  };
  const auto name = asked["list"].get<std::string>();
  std::exception_ptr failed;
  try {
    if (service.take_list) service.take_list(asked["arguments"].get<std::vector<std::string>>(), name, help);
  } catch (...) {
    failed = std::current_exception();
  }
  if (has_met) return;
  together(ranks, [&] {
    if (failed) std::rethrow_exception(failed);
    throw SystemError("a rank finds nothing to do for the list of \"" + name + "\"");
  });
}

// ---- Whatever rank 0 asks

/// The objects that a rank keeps from one request to the next, by number.
struct Kept {
  std::map<std::uint64_t, std::unique_ptr<Runner>> runners;
  std::map<std::uint64_t, std::shared_ptr<ComparedWords>> comparisons;
};

/// An error that all ranks throw together, or that this one alone throws, whose command is told.
void serve_request(Ranks& ranks, const Request& request, Kept& kept, const RankService& service) {
  const json& asked = request.asked;
  const std::string kind = asked["kind"].get<std::string>();
  if (kind == "pairs") {
    search(ranks, request, [&](std::uint64_t) { service.check(); });
    return;
  }
  if (kind == "sample") return sample_here(ranks, request, service);
  if (kind == "check") return check_here(ranks, request);
  if (kind == "list") return help_here(ranks, asked, service);
  const auto number = asked["number"].get<std::uint64_t>();
  std::string_view bytes = request.bytes;
  if (kind == "automaton") {
    const Dfa dfa = take_automaton(asked["automaton"], bytes);
    kept.runners[number] = runner_on_rank(ranks, dfa, asked["threads"].get<unsigned>());
  } else if (kind == "slice") {
    run_slice(ranks, *kept.runners.at(number), asked);
  } else if (kind == "comparison") {
    kept.comparisons[number] = words_on_rank(ranks, asked, bytes);
  } else if (kind == "words") {
    ComparedWords& compared = *kept.comparisons.at(number);
    LongComparisonState state = compared.comparison->start();
    state.word = asked["word"].get<std::uint64_t>();
    compare_words_on_ranks(ranks, *compared.comparison, compared.words, state, compared.round, service.check);
  } else {
    kept.runners.erase(number);
    kept.comparisons.erase(number);
  }
}

/// Where it throws out of memory, the others cannot be told.
template <class Work>
auto on_rank_0(Ranks& ranks, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    ranks.abort(kUndecided, "rank 0 is out of memory; take more machines");
    throw;
  }
}

}  // namespace

Certificate ManyPlace::search_pairs(const Network& network, const CertifyOptions& options) const {
  if (ranks_.size() == 1 && kept_.folder.empty() && (kept_.max_disk_bytes == 0 || fits_in_memory(network, options)))
    return certify_reachable_set(network, options);
  const Request request = to_request(network, options, kept_);
  return on_rank_0(ranks_, [&] {
    ask(ranks_, request);
    return search(ranks_, request, options.progress);
  });
}

SampleReport ManyPlace::sample(const Network& network, ArithmeticName arithmetic, const SampleOptions& options) const {
  SampleOptions own = options;
  own.threads = threads_of(ranks_, options.threads);
  return on_rank_0(ranks_, [&] {
    ask(ranks_, to_request(network, arithmetic, options, on_device_));
    together(ranks_, [] {});
    return sample_on_ranks(ranks_, network, arithmetic, own, here_ ? here_ : SampleWords(sample_from));
  });
}

RunSlice run_on_ranks(Ranks& ranks, const Dfa& dfa, unsigned threads) {
  return [shared = std::make_shared<const SharedRunner>(ranks, dfa, threads)](const WordSlice& slice, State from) {
    return shared->run(slice, from);
  };
}

SharedComparison compare_on_ranks(Ranks& ranks, const Dfa& machine, const Dfa& automaton, std::uint64_t words,
                                  std::uint64_t length, std::uint64_t seed, unsigned threads) {
  const auto number = std::make_shared<const SharedNumber>(ranks);
  const Request request{{{"kind", "comparison"},
                         {"number", std::uint64_t{*number}},
                         {"machine", facts_of(machine)},
                         {"automaton", facts_of(automaton)},
                         {"words", words},
                         {"length", length},
                         {"seed", seed},
                         {"threads", threads}},
                        bytes_of(machine) + bytes_of(automaton)};
  ask(ranks, request);
  const auto compared = words_on_rank(ranks, request.asked, request.bytes);
  return {compared->comparison,
          [&ranks, number, compared](LongComparisonState& state, const std::function<void()>& check) {
            if (state.position > 0) return compared->comparison->read_piece(state);
            ask(ranks, {{{"kind", "words"}, {"number", std::uint64_t{*number}}, {"word", state.word}}, ""});
            compare_words_on_ranks(ranks, *compared->comparison, compared->words, state, compared->round, check);
          }};
}

Recheck check_on_ranks(Ranks& ranks, const Certificate& certificate, const CheckedModel& model,
                       const RecheckOptions& options) {
  return on_rank_0(ranks, [&] {
    ask(ranks, to_request(certificate, model, options));
    together(ranks, [] {});
    return recheck_on_ranks(ranks, certificate, model, options);
  });
}

void list_on_ranks(Ranks& ranks, const std::vector<std::string>& arguments, const std::string& name,
                   const ListDuty& duty) {
  ask(ranks, {{{"kind", "list"}, {"list", name}, {"arguments", arguments}}, ""});
  together(ranks, [] {});
  work_on_list(ranks, duty);
}

int serve(Ranks& ranks, const RankService& service) {
  const FloatEnvironment environment;
  Kept kept;
  for (;;) {
    try {
      const Request request = hear(ranks);
      if (request.asked["kind"] == "release") return request.asked["status"].get<int>();
      serve_request(ranks, request, kept, service);
    } catch (const Error&) {
      // All ranks threw it together, and rank 0 says it.
    } catch (const Interrupted&) {
    } catch (const std::bad_alloc&) {
      ranks.abort(kUndecided, "rank " + std::to_string(ranks.rank()) + " is out of memory; take more machines");
    }
  }
}

void release(Ranks& ranks, int status) { ask(ranks, {{{"kind", "release"}, {"status", status}}, ""}); }

}  // namespace krohn
