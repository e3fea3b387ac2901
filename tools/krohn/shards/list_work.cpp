#include "tools/krohn/shards/list_work.h"

#include <fmt/format.h>

#include <filesystem>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/verb.h"

namespace krohn {

std::uint64_t cost_of_file(const std::string& file) {
  constexpr std::uint64_t kLeast = 4096;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return kLeast + (error ? 0 : bytes);
}

std::vector<std::string> lines_listed(const std::string& file) {
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

void work_through(const std::vector<std::uint64_t>& items, unsigned threads, const std::string& participle,
                  const LineOf& line_of, const std::function<void(std::uint64_t, const std::string&)>& keep) {
  Progress progress(participle);
  std::atomic<std::size_t> next = 0, finished = 0;
  std::atomic<bool> stop = false;
  std::exception_ptr failed;
  std::mutex keeping;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < items.size() && !stop; i = next++) {
        const std::string line = line_of(items[i]);
        const std::lock_guard lock(keeping);
        keep(items[i], line);
        ++finished;
      }
    } catch (...) {
      const std::lock_guard lock(keeping);
      if (!failed) failed = std::current_exception();
      stop = true;
    }
  };
  const std::size_t count =
      std::min<std::size_t>(threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads, items.size());
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < count; ++i) workers.emplace_back(work);
  try {
    while (finished < items.size() && !stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(finished == 0 ? 1 : 20));
      progress.update(finished, items.size());
    }
  } catch (...) {
    stop = true;
    const std::lock_guard lock(keeping);
    if (!failed) failed = std::current_exception();
  }
  for (std::thread& worker : workers) worker.join();
  if (failed) std::rethrow_exception(failed);
}

int work_on_shard(const WorkList& list, Shard shard, const std::string& output, unsigned threads,
                  const std::string& participle, const std::string& noun, const LineOf& line_of) {
  if (output.empty() || output == "-") throw InputError("--shard", "writes a file; name it with -o");
  PartFile part(output, list, shard);
  const std::size_t before = part.lines().size();
  if (!part.is_whole()) {
    work_through(part.missing(), threads, participle, line_of,
                 [&part](std::uint64_t item, const std::string& line) { part.add(item, line); });
    part.finish();
  }
  fmt::print("{}: shard {} is whole, {} of {}{}\n", visible(output), to_string(shard),
             with_thousands(part.items().size()), counted(list.items.size(), noun),
             before == 0 ? "" : fmt::format("; {} of them done before", with_thousands(before)));
  return kDone;
}

}  // namespace krohn
