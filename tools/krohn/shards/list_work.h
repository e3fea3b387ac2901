// tools/krohn/shards/list_work.h — a list worked through: several items at a time, each to one line of JSON; under
// mpirun by all ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "krohn/simulate/shards/item_workers.h"
#include "krohn/simulate/shards/part_file.h"

namespace krohn {

/// The version that works, as kept work has it.
inline constexpr char kThisKrohn[] = "krohn " KROHN_VERSION;

/// The lines of `file` (-: standard input) but empty ones and those that begin with "#". Throws InputError when there
/// are none.
std::vector<std::string> lines_listed(const std::string& file);

/// Of an item that a file is: what takes longer is larger, and there is some work for the smallest, or for no file.
std::uint64_t cost_of_file(const std::string& file);

/// In which order lines are kept.
enum class LineOrder {
  kAsReady,
  kOfItems,  ///< when the work ends early, what is ready behind an item that is not
};

/// A list to be worked through, by this process or by all that mpirun started.
struct ListWork {
  std::string participle;  ///< what is being done, "classifying languages"; a command's lists have different ones
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

/// The same for a shard of a list, kept in the part `output`; says in the end how much was there before. `noun` is one
/// item: "language". Returns kDone when the part is whole, whatever its lines say: `krohn merge` has the status of the
/// whole list.
int work_on_shard(const WorkList& list, Shard shard, const std::string& output, unsigned threads,
                  const std::string& participle, const std::string& noun, const LineOf& line_of);

}  // namespace krohn
