// --time and --memory are kept by every verb, whatever it is given, and nothing is silent for long.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>

#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

/// A command that is waited for by itself, for its time and its memory.
struct Timed {
  int status = -1;
  double seconds = 0;
  std::uint64_t peak = 0;  ///< bytes
  std::string out, err;
};

Timed timed(const Workplace& place, const std::string& line) {
  const std::string script =
      "cd '" + place.path().string() + "' && exec '" KROHN_COMMAND "' " + line + " >.out 2>.err </dev/null";
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    _exit(127);
  }
  int raw = 0;
  rusage used{};
  wait4(child, &raw, 0, &used);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, spent.count(), static_cast<std::uint64_t>(used.ru_maxrss) * 1024,
          contents(place / ".out"), contents(place / ".err")};
}

template <class Wrong>
void check_kept(const Workplace& place, const std::string& line, double seconds, const Wrong& wrong) {
  const auto run = [&](double given) {
    std::filesystem::remove_all(place / "run");
    return timed(place, line + fmt::format(" --time {}", given));
  };
  CHECK_MESSAGE(broken_promises(seconds, run, wrong) == "", line);
}

/// An expression of a million letters, each of which may be the last.
constexpr const char* kEndless = "'regex:(a{0,1000}){0,1000}'";

}  // namespace

TEST_CASE("every verb ends with its time, with status 3 and what it has found") {
  const Workplace place("limits");
  place.make("krohn compile name:S5 -o s5.safetensors");
  place.make("krohn compile name:Z5 --construction rotation -o z5.safetensors");
  place.make("krohn compile name:S7 -o s7.safetensors");
  place.make("krohn compile name:parity --target torch-gru -o gru");
  place.make("krohn verify s5.safetensors --certificate s5.cert");
  place.make("mkdir deep && yes 's5.cert\ts5.safetensors' | head -300000 > list.tsv");
  place.write("deep/config.json",
              R"({"model_type": "retnet", "num_heads": 8, "hidden_size": 1024, "num_hidden_layers": 1000000})");
  std::string rows;  // telling what classify has found of so many states takes seconds
  for (int state = 0; state < 400'000; ++state)
    rows += fmt::format("{}[{},{}]", state == 0 ? "" : ",", (state * 7 + 1) % 400'000, (state * 13 + 5) % 400'000);
  place.write("large.json",
              R"({"format": "krohn automaton", "version": 1, "alphabet": ["a", "b"], "states": 400000, "initial": 0, )"
              R"("accepting": [1], "transitions": [)" +
                  rows + "]}");
  std::string expected;
  for (int word = 0; word < 20; ++word)
    expected += fmt::format("{{\"word\": \"{}\", \"answer\": \"reject\"}}\n", std::string(100'000, '0'));
  place.write("words.jsonl", expected);
  place.make(
      "krohn verify z5.safetensors --test-only --length 10 --certificate short.cert; "
      "sed s/:10}/:1000000000000}/ short.cert > long.cert; "
      "krohn compile name:tomita1 --target qwen3-next -o ck");
  struct Fact {
    std::string line;
    const char* found = "";  ///< on standard output, whatever the time was spent on afterwards
    double seconds = 0.4;
  };
  const std::string endless = kEndless;
  std::string delays = "ltlf:";  // 4,096 letters, and a monoid of as many elements
  for (int i = 1; i <= 6; ++i) delays += fmt::format("{}G (p{} | !X p{})", i == 1 ? "" : " & ", i, i + 6);
  const std::vector<Fact> facts{
      {"info " + endless},
      {"info name:T12 --monoid", "states", 1},
      {"classify 'regex:a{1000}'", "aperiodic", 3},
      {"classify '" + delays + "' --alphabet valuations", "right regular idempotents", 1},
      {"classify large.json", "", 3},
      {"decompose " + endless},
      {"compile name:S9 -o s9.safetensors"},
      {"smallest 'regex:a{5000}'"},
      {"run z5.safetensors 0 random:1e12", "0", 1},
      {"verify s5.safetensors --length 1e13", "proved for words of every length", 4},
      {"verify z5.safetensors --precision bf16 --against " + endless},
      {"draw " + endless + " -o x.svg"},
      {"convert " + endless + " x.dot"},
      {"equal " + endless + " name:parity"},
      {"included " + endless + " name:parity"},
      {"disjoint " + endless + " name:parity"},
      {"empty " + endless},
      {"combine \"" + endless + " | regex:b\" -o x.dot"},
      {"words 'regex:(a|b)*' --length 60", "aaaaaaaa"},
      {"elements name:T9 --max-elements 1e9"},
      {"tasks " + endless + " --length 10 --count 10 -o x.jsonl"},
      {"train name:S5 --model gru --steps 1e9 -o run"},
      {"extract z5.safetensors -o x.dot --beyond 1e8 --length 2", "", 2},
      {"check --list list.tsv", "established", 1},
      {"probe --terms 256"},
      {"eval gru --lengths 1e5 --words 1e6"},
      {"compare s7.safetensors s7.safetensors"},
      {"table ebrahimi2 -o run"},
      {"snap z5.safetensors -o snapped.safetensors --against " + endless},
      {"report " + endless + " -o x.html"},
      {"check long.cert z5.safetensors --max-letters 1e13"},
      {"eval ck --lengths 1e9 --words 16"},
      {"import gru/parameters.safetensors --as gru --against name:parity --expect words.jsonl -o imported"},
      {"audit deep"},
  };
  const std::vector<std::string> before = place.files();
  const std::set<std::string> made(before.begin(), before.end());
  for (const auto& [line, found, seconds] : facts)
    check_kept(place, line, seconds, [&](const Timed& outcome, double given) -> std::string {
      if (outcome.status != 3) return "another status";
      if (outcome.seconds > 1.1 * given + (given < 1 ? 0.2 : 0)) return fmt::format("too late, {:.2f} s", outcome.seconds);
      if (!contains(outcome.out + outcome.err, fmt::format("--time {}", given))) return "the limit is not named";
      if (!contains(outcome.out, found)) return std::string("nothing of ") + found;
      return "";
    });
  for (const std::string& name : place.files())
    CHECK_MESSAGE((made.contains(name) || name == "run" || name == "x.dot"), name);
}

TEST_CASE("memory is kept too") {
  const Workplace place("memory");
  const std::string server = data("aalpy/tcp_server_bsd_trans.dot");
  constexpr std::uint64_t kMemory = std::uint64_t{128} << 20;
  for (const auto& [line, found] :
       std::vector<std::pair<std::string, std::string>>{{"classify " + server, "commutative"},
                                                        {"smallest " + server, "127 states"},
                                                        {"compile name:S8 -o s8.safetensors", "proved"},
                                                        {"compile name:S9 -o s9.safetensors", ""},
                                                        {"elements name:T9 --max-elements 1e9 --word 0", ""},
                                                        {"decompose " + server, ""}}) {
    check_kept(place, line + " --memory 128M", 60, [&](const Timed& outcome, double) -> std::string {
      if (outcome.status != 3) return "another status";
      if (!contains(outcome.out, found)) return "nothing of " + found;
      if (outcome.peak > kMemory + kMemory / 8)  // ended past a tenth more, with a look before it can be reached
        return fmt::format("too much memory, {} MB", outcome.peak >> 20);
      if (!contains(outcome.out + outcome.err, "--memory 128M")) return "the limit is not named";
      return "";
    });
  }
  CHECK(place.files() == std::vector<std::string>{"s8.safetensors"});
}

TEST_CASE("nothing is silent for two seconds") {
  const Workplace place("silence");
  check_kept(place, "compile name:S9 -o s9.safetensors", 7, [](const Timed& outcome, double given) -> std::string {
    if (!contains(outcome.err, fmt::format("the time is over (--time {})", given))) return "no end";
    // The seconds that its lines name are rounded; a busy machine may be late.
    double last = 0;
    const std::regex line(", after ([0-9]+) s\n");
    for (std::sregex_iterator at(outcome.err.begin(), outcome.err.end(), line), end; at != end; ++at) {
      const double now = std::stod((*at)[1]);
      if (now - last > 3) return fmt::format("silent from {} to {} s", last, now);
      last = now;
    }
    return given - last > 3 ? fmt::format("silent from {} s", last) : "";
  });
}
