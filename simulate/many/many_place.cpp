#include "krohn/simulate/many/many_place.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "krohn/automata/dfa/tabulate.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/many/pair_machine.h"
#include "krohn/simulate/many/ranked_words.h"
#include "krohn/simulate/prove/pairs/certify_reachable.h"

namespace krohn {
namespace {

using nlohmann::json;

/// The status of what met a limit.
constexpr int kUndecided = 3;

/// What rank 0 asks for: a line of JSON, and bytes behind it.
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

/// Those of a rank of which `asked` were wanted; 0: nobody said how many.
unsigned threads_of(const Ranks& ranks, unsigned asked) { return asked != 0 ? asked : ranks.processors(); }

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
  const std::uint64_t words = 1 + make_pair_machine(network, options.arithmetic, options.form)->words();
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

/// What a rank keeps from one request to the next, by number.
struct Kept {
  std::map<std::uint64_t, std::unique_ptr<Runner>> runners;
  std::map<std::uint64_t, std::shared_ptr<ComparedWords>> comparisons;
};

/// What all ranks throw together, or only this one may, whose command is told.
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
