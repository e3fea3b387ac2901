// tools/krohn/shards/list_work.h — a list worked through: several items at a time, each to one line of JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "krohn/simulate/shards/part_file.h"

namespace krohn {

/// The lines of `file` (-: standard input) but empty ones and those that begin with "#". Throws InputError when there
/// are none.
std::vector<std::string> lines_listed(const std::string& file);

/// Of an item that a file is: what takes longer is larger, and there is some work for the smallest, or for no file.
std::uint64_t cost_of_file(const std::string& file);

/// What one item comes to: one JSON object, without a line break. Called from several threads.
using LineOf = std::function<std::string(std::uint64_t item)>;

/// Gives every line to `keep`, one at a time and in the order in which they are ready. After an interrupt, or when
/// anything throws, what is under way is finished and kept; then throws. `threads` 0: every core. `participle` says
/// what is being done: "classifying languages".
void work_through(const std::vector<std::uint64_t>& items, unsigned threads, const std::string& participle,
                  const LineOf& line_of, const std::function<void(std::uint64_t, const std::string&)>& keep);

/// The same for a shard of a list, kept in the part `output`; says in the end how much was there before. `noun` is one
/// item: "language". Returns kDone when the part is whole, whatever its lines say: `krohn merge` has the status of the
/// whole list.
int work_on_shard(const WorkList& list, Shard shard, const std::string& output, unsigned threads,
                  const std::string& participle, const std::string& noun, const LineOf& line_of);

}  // namespace krohn
