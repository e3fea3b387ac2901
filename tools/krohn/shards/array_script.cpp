#include "tools/krohn/shards/array_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "krohn/groups/error.h"
#include "tools/krohn/command.h"
#include "tools/krohn/report/count.h"

namespace krohn {
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

int print_array_script(const ArrayScript& script, const ShardOptions& options) {
  if (script.output.empty() || script.output == "-") throw InputError("--slurm", "name the output with -o");
  const std::uint64_t shards = options.shards.value_or(std::min<std::uint64_t>(kUsualShards, script.items));
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
      script.verb, counted(script.items, script.noun), counted(shards, "shard"), KROHN_VERSION, shards,
      shell_word(fs::current_path().string()), shell_word(this_program()), shell_word(stem), shell_word(merged),
      script.is_folder ? fmt::format("\n    \"$krohn\"{}{}", words(command), threads) : "", words(command), threads,
      script.is_folder ? "" : fmt::format(" -o {}-\"$SLURM_ARRAY_TASK_ID\"-of-{}.jsonl", shell_word(stem), shards));
  return kDone;
}

}  // namespace krohn
