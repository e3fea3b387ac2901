#include "tools/krohn/shards/list_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/command.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"

namespace krohn {

namespace {

template <class Summary>
ListSummary summarised(const std::vector<std::string>& lines) {
  Summary summary;
  for (const std::string& line : lines) summary.add(line);
  return {summary.text(), summary.status()};
}

}  // namespace

ListSummary summary_of(const std::string& kind, const std::vector<std::string>& lines) {
  if (kind == "classify") return summarised<ClassSummary>(lines);
  if (kind == "check") return summarised<CheckSummary>(lines);
  return {};  // a table and training say what came out themselves, from their folders
}

namespace {

using Keep = std::function<void(std::uint64_t, const std::string&)>;

/// Lines given on in the order of their items, as soon as those before them are there.
class LinesInOrder {
 public:
  LinesInOrder(const std::vector<std::uint64_t>& items, LineOrder order, const Keep& keep)
      : items_(items), keep_(keep), waits_(order == LineOrder::kOfItems) {}

  void add(std::uint64_t item, const std::string& line) {
    if (!waits_) return keep_(item, line);
    ready_.emplace(item, line);
    for (; next_ < items_.size(); ++next_) {
      const auto found = ready_.find(items_[next_]);
      if (found == ready_.end()) return;
      keep_(found->first, found->second);
      ready_.erase(found);
    }
  }

  /// From now on lines wait for no other.
  void end() {
    waits_ = false;
    for (const auto& [item, line] : std::exchange(ready_, {})) keep_(item, line);
  }

 private:
  const std::vector<std::uint64_t>& items_;
  const Keep& keep_;
  bool waits_;
  std::size_t next_ = 0;
  std::map<std::uint64_t, std::string> ready_;
};

/// By the threads of this process.
void work_alone(const ListWork& work, const std::vector<std::uint64_t>& items, const Keep& keep,
                const std::function<void(std::uint64_t)>& tell) {
  const unsigned threads = work.threads != 0 ? work.threads : std::max(1U, std::thread::hardware_concurrency());
  ItemWorkers workers(static_cast<unsigned>(std::min<std::size_t>(threads, items.size())), work.line_of);
  workers.add(items);
  std::uint64_t lines = 0;
  std::exception_ptr failed;
  const auto take = [&] {
    for (const ItemWorkers::Finished& made : workers.take(std::chrono::milliseconds(20))) {
      keep(made.item, made.line);
      ++lines;
    }
    if (!failed) failed = workers.failure();
  };
  try {
    while (lines < items.size() && !failed) {
      take();
      tell(lines);
    }
  } catch (...) {
    failed = std::current_exception();
  }
  workers.drop_waiting();
  while (workers.open() > 0) take();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace

std::uint64_t cost_of_file(const std::string& file) {
  constexpr std::uint64_t kLeast = 4096;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return kLeast + (error ? 0 : bytes);
}

std::vector<std::string> lines_listed(const std::string& file) {
  if (file == "-" && has_ranks() && !has_helpers())
    throw InputError("--list", "standard input is that of one process; under mpirun name a file instead of \"-\"");
  std::vector<std::string> lines;
  const std::string text = read_text_file(file);
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && line.front() != '#') lines.push_back(std::move(line));
    begin = end + 1;
  }
  if (lines.empty()) throw InputError(file, "lists nothing; a line each is expected");
  return lines;
}

void help_with(const ListWork& work) { help_with_ranks_list(work.participle, work.threads, work.line_of); }

void work_through(const ListWork& work, const std::vector<std::uint64_t>& items, LineOrder order, const Keep& keep) {
  help_with(work);
  if (items.empty()) return;
  Progress progress(work.participle);
  LinesInOrder lines(items, order, keep);
  const auto add = [&lines](std::uint64_t item, const std::string& line) { lines.add(item, line); };
  const auto tell = [&](std::uint64_t done) {
    try {
      progress.update(done, items.size());
    } catch (...) {
      lines.end();
      throw;
    }
  };
  try {
    if (has_helpers())
      list_on_helpers(work.participle, items, work.threads, work.line_of, add, tell);
    else
      work_alone(work, items, add, tell);
  } catch (...) {
    lines.end();
    throw;
  }
}

void ShardOptions::check() const {
  if (shard && slurm) throw InputError("--slurm", "its script says --shard itself; leave one of the two out");
  if (shards && !slurm) throw InputError("--shards", "is for --slurm; a single share is --shard I/N");
  if (shards && (*shards == 0 || *shards > kMaxShards))
    throw InputError("--shards", fmt::format("from 1 to {}", kMaxShards));
}

void add_shard_options(Verb& verb, ShardOptions& options) {
  verb.begin_group("Shards of a list (docs/reference/many-machines.md)");
  verb.add_option(
          "--shard", [&options](const std::string& text) { options.shard = parse_shard(text); },
          "Do the I-th of N shares; `krohn merge` puts their files together")
      .type_name("I/N");
  verb.add_flag("--slurm", options.slurm, "Do nothing but print a script for sbatch that does all shards");
  add_optional_count(verb, "--shards", options.shards, "Of that script; without it as many as items, up to 100");
}

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUsualShards = 100;  // below every cluster's limit on arrays that we know of

std::string this_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "krohn" : path.string();
}

bool is_without_value(const std::string& argument, const std::vector<std::string>& flags) {
  return std::ranges::count(flags, argument) > 0;
}

bool holds_its_value(const std::string& argument, const std::vector<std::string>& valued) {
  return std::ranges::any_of(valued, [&argument](const std::string& name) {
    const bool is_short = !name.starts_with("--");
    return argument.size() > name.size() && argument.starts_with(is_short ? name : name + "=");
  });
}

std::string words(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += " " + shell_word(argument);
  return text;
}

bool gives_threads(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(arguments,
                             [](const std::string& a) { return a == "--threads" || a.starts_with("--threads="); });
}

}  // namespace

std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& valued,
                                         const std::vector<std::string>& flags) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (std::ranges::count(valued, arguments[i]) > 0)
      ++i;
    else if (!is_without_value(arguments[i], flags) && !holds_its_value(arguments[i], valued))
      left.push_back(arguments[i]);
  }
  return left;
}

std::string shell_word(const std::string& text) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-%@";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string options_typed(std::vector<std::string> valued, const std::vector<std::string>& flags) {
  valued.insert(valued.end(), {"-o", "--output", "--shard", "--threads"});
  std::string typed;
  for (const std::string& argument : without_options(given_arguments(), valued, flags))
    typed += (typed.empty() ? "" : " ") + shell_word(argument);
  return typed;
}

namespace {

int print_array_script(const SharedList& script, const ShardOptions& options) {
  if (script.output.empty() || script.output == "-") throw InputError("--slurm", "name the output with -o");
  const std::size_t items = script.list.items.size();
  const std::uint64_t shards = options.shards.value_or(std::min<std::uint64_t>(kUsualShards, items));
  std::vector<std::string> command = without_options(given_arguments(), {"--shards"}, {"--slurm"});
  if (!script.is_folder) command = without_options(command, {"-o", "--output"}, {});
  if (std::ranges::count(command, "-") > 0)
    throw InputError("--slurm", "standard input is gone when the shards run; name a file instead of \"-\"");
  const fs::path output = script.output;
  const std::string stem =
      script.is_folder ? (output / "part").string() : (output.parent_path() / output.stem()).string() + ".part";
  const std::string threads = gives_threads(command) ? "" : " --threads \"${SLURM_CPUS_PER_TASK:-1}\"";
  const std::string merged = script.is_folder ? (output / "runs.jsonl").string() : script.output;
  fmt::print(
      R"(#!/bin/bash
# {0}, {1} in {2}. Made by krohn {3}.
#   bash FILE [--partition=…]    submits the shards, and behind them what puts them together
#   sbatch FILE                  submits the shards alone
# Submitted again, as after a shard ran out of time, whole shards are skipped and the others do what is missing.
#SBATCH --job-name=krohn-{0}
#SBATCH --array=1-{4}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=krohn-{0}-%A_%a.log
set -eu
script=$(realpath "$0")
cd {5}
krohn=${{KROHN:-{6}}}
case ${{SLURM_ARRAY_TASK_ID:-none}} in
  none)
    shards=$(sbatch --parsable "$@" "$script")
    sbatch --dependency="afterok:${{shards%%;*}}" --kill-on-invalid-dep=yes "$@" --array=0 "$script" ;;
  0)
    "$krohn" merge {7}-*-of-{4}.jsonl -o {8}{9} ;;
  *)
    exec "$krohn"{10}{11} --shard "$SLURM_ARRAY_TASK_ID/{4}"{12} ;;
esac
)",
      script.list.kind, counted(items, script.noun), counted(shards, "shard"), KROHN_VERSION, shards,
      shell_word(fs::current_path().string()), shell_word(this_program()), shell_word(stem), shell_word(merged),
      script.is_folder ? fmt::format("\n    \"$krohn\"{}{}", words(command), threads) : "", words(command), threads,
      script.is_folder ? "" : fmt::format(" -o {}-\"$SLURM_ARRAY_TASK_ID\"-of-{}.jsonl", shell_word(stem), shards));
  return kDone;
}

}  // namespace

int work_in_shards(SharedList shared, const ShardOptions& options) {
  if (options.slurm) return print_array_script(shared, options);
  const Shard shard = options.shard.value();
  if (shared.is_folder) {
    make_folder(shared.output);
    shared.output = (fs::path(shared.output) / fmt::format("part-{}-of-{}.jsonl", shard.number, shard.count)).string();
  }
  help_with(shared.work);
  if (shared.output.empty() || shared.output == "-") throw InputError("--shard", "writes a file; name it with -o");
  shared.list.maker = "krohn " KROHN_VERSION;
  PartFile part(shared.output, shared.list, shard);
  const std::size_t before = part.lines().size();
  if (!part.is_whole()) {
    work_through(shared.work, part.missing(), LineOrder::kAsReady,
                 [&part](std::uint64_t item, const std::string& line) { part.add(item, line); });
    part.finish();
  }
  fmt::print("{}: shard {} is whole, {} of {}{}\n", visible(shared.output), to_string(shard),
             with_thousands(part.items().size()), counted(shared.list.items.size(), shared.noun),
             before == 0 ? "" : fmt::format("; {} of them done before", with_thousands(before)));
  return kDone;
}

}  // namespace krohn
