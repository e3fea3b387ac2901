#include "krohn/simulate/many/many_place.h"

#include <cstring>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "krohn/automata/dfa/tabulate.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
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

// ---- Runs of automata

Request to_request(const Dfa& dfa, std::uint64_t number, unsigned threads) {
  const std::span<const State> table = dfa.table();
  return {{{"kind", "automaton"},
           {"number", number},
           {"threads", threads},
           {"letters", dfa.letters()},
           {"states", dfa.states()},
           {"initial", dfa.initial()}},
          {reinterpret_cast<const char*>(table.data()), table.size_bytes()}};
}

/// Its transitions; what it says is rank 0's business.
Dfa transitions_of(const Request& request) {
  const auto states = request.asked["states"].get<State>();
  std::vector<State> table(request.bytes.size() / sizeof(State));
  std::memcpy(table.data(), request.bytes.data(), request.bytes.size());
  return Dfa::acceptor(Alphabet::from_names(numerals(request.asked["letters"].get<Letter>())), std::move(table),
                       request.asked["initial"].get<State>(), std::vector<bool>(states));
}

std::unique_ptr<Runner> runner_on_rank(Ranks& ranks, const Dfa& dfa, unsigned threads) {
  std::unique_ptr<Runner> runner;
  together(ranks, [&] {
    runner = std::make_unique<Runner>(dfa, RunnerOptions{.threads = threads != 0 ? threads : ranks.processors()});
  });
  return runner;
}

/// Rank 0's hold on an automaton that all ranks have.
class SharedRunner {
 public:
  SharedRunner(Ranks& ranks, const Dfa& dfa, unsigned threads)
      : ranks_(ranks), number_(next_number++), letters_(dfa.letters()) {
    ask(ranks, to_request(dfa, number_, threads));
    runner_ = runner_on_rank(ranks, dfa, threads);
  }
  ~SharedRunner() { ask(ranks_, {{{"kind", "forget"}, {"number", number_}}, ""}); }
  SharedRunner(const SharedRunner&) = delete;
  SharedRunner& operator=(const SharedRunner&) = delete;

  State run(const WordSlice& slice, State from) const {
    ask(ranks_, {{{"kind", "slice"},
                  {"number", number_},
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
  static inline std::uint64_t next_number = 0;
  Ranks& ranks_;
  std::uint64_t number_;
  Letter letters_;
  std::unique_ptr<Runner> runner_;
};

using Runners = std::map<std::uint64_t, std::unique_ptr<Runner>>;

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
  const std::span<const char> bytes(request.bytes);
  const Network network = parse_network(std::as_bytes(bytes), "the network of a search over ranks");
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

/// What all ranks throw together, or only this one may, whose command is told.
void serve_request(Ranks& ranks, const Request& request, Runners& runners, const std::function<void()>& check) {
  const std::string kind = request.asked["kind"].get<std::string>();
  if (kind == "pairs") {
    search(ranks, request, [&](std::uint64_t) { check(); });
    return;
  }
  const auto number = request.asked["number"].get<std::uint64_t>();
  if (kind == "automaton")
    runners[number] = runner_on_rank(ranks, transitions_of(request), request.asked["threads"].get<unsigned>());
  else if (kind == "slice")
    run_slice(ranks, *runners.at(number), request.asked);
  else
    runners.erase(number);
}

}  // namespace

Certificate ManyPlace::search_pairs(const Network& network, const CertifyOptions& options) const {
  if (ranks_.size() == 1 && kept_.folder.empty() && (kept_.max_disk_bytes == 0 || fits_in_memory(network, options)))
    return certify_reachable_set(network, options);
  const Request request = to_request(network, options, kept_);
  try {
    ask(ranks_, request);
    return search(ranks_, request, options.progress);
  } catch (const std::bad_alloc&) {
    ranks_.abort(kUndecided, "rank 0 is out of memory; take more machines");
    throw;
  }
}

RunSlice run_on_ranks(Ranks& ranks, const Dfa& dfa, unsigned threads) {
  return [shared = std::make_shared<const SharedRunner>(ranks, dfa, threads)](const WordSlice& slice, State from) {
    return shared->run(slice, from);
  };
}

int serve(Ranks& ranks, const std::function<void()>& check) {
  const FloatEnvironment environment;
  Runners runners;
  for (;;) {
    try {
      const Request request = hear(ranks);
      if (request.asked["kind"] == "release") return request.asked["status"].get<int>();
      serve_request(ranks, request, runners, check);
    } catch (const Error&) {
      // All ranks threw it together, and rank 0 says it.
    } catch (const std::bad_alloc&) {
      ranks.abort(kUndecided, "rank " + std::to_string(ranks.rank()) + " is out of memory; take more machines");
    }
  }
}

void release(Ranks& ranks, int status) { ask(ranks, {{{"kind", "release"}, {"status", status}}, ""}); }

}  // namespace krohn
