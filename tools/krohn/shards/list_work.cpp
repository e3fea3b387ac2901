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
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/verb.h"

namespace krohn {
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

int work_on_shard(const WorkList& list, Shard shard, const std::string& output, unsigned threads,
                  const std::string& participle, const std::string& noun, const LineOf& line_of) {
  const ListWork work{participle, threads, line_of};
  help_with(work);
  if (output.empty() || output == "-") throw InputError("--shard", "writes a file; name it with -o");
  PartFile part(output, list, shard);
  const std::size_t before = part.lines().size();
  if (!part.is_whole()) {
    work_through(work, part.missing(), LineOrder::kAsReady,
                 [&part](std::uint64_t item, const std::string& line) { part.add(item, line); });
    part.finish();
  }
  fmt::print("{}: shard {} is whole, {} of {}{}\n", visible(output), to_string(shard),
             with_thousands(part.items().size()), counted(list.items.size(), noun),
             before == 0 ? "" : fmt::format("; {} of them done before", with_thousands(before)));
  return kDone;
}

}  // namespace krohn
