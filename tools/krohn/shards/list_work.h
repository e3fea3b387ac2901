// tools/krohn/shards/list_work.h — a list worked through: several items at a time, each to one line of JSON; under
// mpirun by all ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "krohn/simulate/shards/part_file.h"
#include "tools/krohn/verb.h"

namespace krohn {

struct ListSummary {
  std::string text;  ///< lines, each with its break; may be empty
  int status = 0;    ///< the exit status that the verb would have had for the whole list
};

/// `kind` is the verb that made the lines. Throws InputError for a line that it does not make.
ListSummary summary_of(const std::string& kind, const std::vector<std::string>& lines);

/// The lines of `file` (-: standard input) but empty ones and those that begin with "#". Throws InputError when there
/// are none.
std::vector<std::string> lines_listed(const std::string& file);

/// For an item that a file is: what takes longer is larger, and there is some work for the smallest, or for no file.
std::uint64_t cost_of_file(const std::string& file);

/// In which order lines are kept.
enum class LineOrder {
  kAsReady,
  kOfItems,  ///< when the work ends early, what is ready behind an item that is not
};

/// A list to be worked through, by this process or by all that mpirun started.
struct ListWork {
  std::string participle;  ///< the activity, "classifying languages"; a command's lists have different ones
  unsigned threads = 0;    ///< of each process; 0: every core
  LineOf line_of = {};
};

/// Under mpirun, on the ranks that help with this list (joined_ranks.h), makes lines and does not come back; elsewhere
/// does nothing. The functions below begin with it; what writes anything before them does, too.
void help_with(const ListWork& work);

/// Gives every line to `keep`, in this thread. After an interrupt, or when anything throws, what is under way is
/// finished and kept; then throws. Under mpirun all ranks make lines.
void work_through(const ListWork& work, const std::vector<std::uint64_t>& items, LineOrder order,
                  const std::function<void(std::uint64_t, const std::string&)>& keep);

// The options of verbs that work through lists: a share of the list, or the script that gives the shares to a cluster.

struct ShardOptions {
  std::optional<Shard> shard;
  bool slurm = false;
  std::optional<std::uint64_t> shards;  ///< of the script

  bool any() const { return shard || slurm || shards; }
  /// Throws InputError where they do not go together.
  void check() const;
};

void add_shard_options(Verb& verb, ShardOptions& options);

/// A list that is worked through in shares.
struct SharedList {
  ListWork work;
  std::string noun;  ///< one item: "language"
  WorkList list;     ///< of which the maker is this krohn
  std::string output;
  bool is_folder = false;  ///< every shard has a part of its own in it; then the verb runs once more without --shard
};

/// Works through one shard, kept in a part, and says in the end how much was there before; or prints the script with a
/// task for every shard, which runs this very command line (`given_arguments`) with --shard in place of --slurm, and
/// one for what follows when all of them are whole. Returns kDone when that is done, whatever the lines say: `krohn
/// merge` has the status of the whole list. Throws InputError where nothing names the output, and for a script whose
/// list comes from standard input, which no task can read again.
int work_in_shards(SharedList shared, const ShardOptions& options);

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
