#include "tools/krohn/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/simulate/prove/verify.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kLongestMessage = 16'000;

int complain(std::string_view message, int status) {
  // Names in messages are quoted where they are put in. A last sieve for what was not: whatever a name holds, no line
  // but the first begins at the margin, where a verdict would.
  std::string shown = visible_lines(cut_short(message, kLongestMessage));
  for (std::size_t at = 0; (at = shown.find('\n', at)) != std::string::npos; at += 3) shown.insert(at + 1, "  ");
  fmt::print(stderr, "krohn: {}\n", shown);
  return status;
}

/// A full disk shows itself on standard output only when the last bytes are flushed.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw SystemError(fmt::format("standard output: cannot write: {}", std::strerror(errno)));
}

/// Help and version are "errors" to CLI11; the rest are mistakes in the arguments.
int usage_outcome(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    const CLI::App* page = &app;
    for (const CLI::App* verb : app.get_subcommands()) page = verb;
    const bool version = error.get_name() == "CallForVersion";
    fmt::print("{}", version ? std::string(error.what()) + "\n" : page->help());
    flush_output();
    return kDone;
  }
  std::string verb;
  for (const CLI::App* chosen : app.get_subcommands()) verb = " " + chosen->get_name();
  return complain(fmt::format("{}\nTry `krohn{} --help`.", error.what(), verb), kBadInput);
}

int parse_and_work(int argc, const char* const* argv) {
  // Threads are given to words and to training runs, as --threads says, not to single products of matrices.
  Eigen::setNbThreads(1);
  CLI::App app;
  Work chosen;
  build_command(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_outcome(app, error);
  }
  const int status = chosen();
  flush_output();
  return status;
}

}  // namespace

int run_command(int argc, const char* const* argv) noexcept try {
  const FloatEnvironment environment;
  return parse_and_work(argc, argv);
} catch (const Contradiction& error) {
  return complain(error.what(), kContradiction);
} catch (const LimitError& error) {
  return complain(error.what(), kUndecided);
} catch (const Interrupted& error) {
  return complain(error.what(), kInterruptedStatus);
} catch (const std::bad_alloc&) {
  return complain("out of memory; lower --max-states or --max-pairs, or take a larger machine", kUndecided);
} catch (const std::exception& error) {
  return complain(error.what(), kBadInput);
}

}  // namespace krohn
