// tools/krohn/shards/array_script.h — a list as an array job of Slurm.
#pragma once

#include <string>
#include <vector>

#include "tools/krohn/shards/shard_options.h"

namespace krohn {

/// One task for every shard, and one for what follows when all of them are whole.
struct ArrayScript {
  std::string verb, noun;  ///< "classify", "language"
  std::size_t items = 0;   ///< of the list
  std::string output;      ///< the file of the merged lines, or the folder of the verb
  bool is_folder = false;  ///< every shard writes `part_in` of it; then the verb runs once more without --shard
};

/// Prints the script. The shards run this very command line (`given_arguments`) with --shard in place of --slurm.
/// Throws InputError when `output` is empty, or when a list comes from standard input, which no task can read again.
int print_array_script(const ArrayScript& script, const ShardOptions& options);

/// The arguments without these options (each a short or long name) and their values, in every form that the command
/// line takes: "-o x", "-ox", "-o=x", "--output x", "--output=x". Those in `flags` have no values.
std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& valued, const std::vector<std::string>& flags);

/// The options as they were typed, for the shell, but these and -o, --shard and --threads: no other is left out that
/// may decide what a shard does.
std::string options_typed(std::vector<std::string> valued, const std::vector<std::string>& flags);

/// For the shell, quoted where it has to be.
std::string shell_word(const std::string& text);

}  // namespace krohn
