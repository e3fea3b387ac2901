#include "krohn/simulate/shards/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/check/sha256.h"

namespace krohn {

// The lines of a part as they stand in its file.

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kItem = "{\"item\":";

}  // namespace

/// With its line break.
std::string header_line(const PartHeader& header) {
  Json json{{"part", header.kind},          {"krohn", header.maker}, {"options", header.options},
            {"list", header.list},          {"items", header.items}, {"shard", header.shard.number},
            {"shards", header.shard.count}, {"lines", header.lines}};
  if (!header.digest.empty()) json["sha256"] = header.digest;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns nothing when the line is no header.
std::optional<PartHeader> parse_header(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  for (const char* name : {"part", "krohn", "options", "list"})
    if (!json.contains(name) || !json[name].is_string()) return std::nullopt;
  for (const char* name : {"items", "shard", "shards", "lines"})
    if (!json.contains(name) || !json[name].is_number_unsigned()) return std::nullopt;
  PartHeader header{json["part"],    json["krohn"],
                    json["options"], json["list"],
                    json["items"],   {json["shard"], json["shards"]},
                    json["lines"],   {}};
  if (json.contains("sha256")) {
    if (!json["sha256"].is_string()) return std::nullopt;
    header.digest = json["sha256"];
  }
  if (header.shard.number < 1 || header.shard.number > header.shard.count || header.shard.count > kMaxShards)
    return std::nullopt;
  return header;
}

/// {"subject":…} as item 17: {"item":17,"subject":…} with a line break.
std::string numbered(std::uint64_t item, std::string_view line) {
  assert(line.size() > 2 && line.front() == '{' && line.find('\n') == std::string_view::npos);
  return fmt::format("{}{},{}\n", kItem, item, line.substr(1));
}

/// The item, and the line as it was before. Nothing when it is no such line, whole and of JSON.
std::optional<std::pair<std::uint64_t, std::string>> parse_numbered(std::string_view line) {
  if (!line.starts_with(kItem) || !Json::accept(line)) return std::nullopt;
  const char* const end = line.data() + line.size();
  std::uint64_t item = 0;
  const auto [stop, error] = std::from_chars(line.data() + kItem.size(), end, item);
  if (error != std::errc() || stop == end || *stop != ',') return std::nullopt;
  return std::pair(item, "{" + std::string(stop + 1, end));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegun = ".begun";

std::string digest_of(const WorkList& list) {
  std::vector<std::string> texts = list.items;
  for (const std::uint64_t cost : list.costs) texts.push_back(std::to_string(cost));
  return digest_of_work(texts, list.files);
}

/// For the header too, as it was before it had a digest.
std::string digest_of(PartHeader header, std::string_view lines) {
  header.digest.clear();
  return sha256(header_line(header) + std::string(lines));
}

std::string text_of(const std::map<std::uint64_t, std::string>& lines) {
  std::string text;
  for (const auto& [item, line] : lines) text += numbered(item, line);
  return text;
}

/// The next line of `text` without its break, and `text` after it; nothing when there is no whole line.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

/// Lengths before the bytes: no two lists give the same text.
std::string digest_of_work(const std::vector<std::string>& texts, const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& text : texts) all += fmt::format("{}:{}\n", text.size(), text);
  for (const std::string& file : std::set(files.begin(), files.end())) {
    std::ifstream opened(file, std::ios::binary);
    std::ostringstream bytes;
    std::error_code error;
    const bool is_file = fs::is_regular_file(file, error) && bytes << opened.rdbuf();
    all += is_file ? sha256(bytes.view()) : "none";
    all += fmt::format(" {}:{}\n", file.size(), file);
  }
  return sha256(all);
}

PartHeader header_of(const WorkList& list, Shard shard) {
  assert(list.items.size() == list.costs.size());
  PartHeader header{list.kind, list.maker, list.options, digest_of(list), list.items.size(), shard, 0, {}};
  header.lines = items_of(shard, list.costs).size();
  return header;
}

std::string difference(const PartHeader& one, const PartHeader& other) {
  if (one.kind != other.kind) return fmt::format("one is of `krohn {}`, the other of `krohn {}`", one.kind, other.kind);
  if (one.maker != other.maker) return fmt::format("one was made by {}, the other by {}", one.maker, other.maker);
  if (one.options != other.options)
    return fmt::format("one was made with {}, the other with {}", one.options, other.options);
  if (one.items != other.items) return fmt::format("one list has {} items, the other {}", one.items, other.items);
  if (one.list != other.list)
    return fmt::format(
        "the lists have {} items each, but not the same ones, or not of the same sizes, or files "
        "that one of them was made from have changed since",
        one.items);
  if (one.shard.count != other.shard.count)
    return fmt::format("one is of {} shards, the other of {}", one.shard.count, other.shard.count);
  return {};
}

Part read_part(const std::string& path) {
  const std::string text = read_text_file(path, kMaxBytes);
  std::string_view rest = text;
  const auto first = next_line(rest);
  const std::optional<PartHeader> header = first ? parse_header(*first) : std::nullopt;
  if (!header) throw InputError(path, "no part of a list: its first line is not what --shard writes");
  const std::string again = fmt::format("remove it and run shard {} again", to_string(header->shard));
  if (header->digest.empty())
    throw InputError(path,
                     "this part is not finished; run the command that began it again, and it writes the whole one");
  if (digest_of(*header, rest) != header->digest)
    throw InputError(path, fmt::format("was cut or changed after it was written; {}", again));
  Part part{*header, {}};
  while (const auto line = next_line(rest)) {
    auto numbered_line = parse_numbered(*line);
    if (!numbered_line || numbered_line->first >= header->items || !part.lines.insert(std::move(*numbered_line)).second)
      throw InputError(path, fmt::format("line {} is not a line of a part; {}", part.lines.size() + 2, again));
  }
  if (part.lines.size() != header->lines || !rest.empty())
    throw InputError(path,
                     fmt::format("has {} and not {}; {}", counted(part.lines.size(), "line"), header->lines, again));
  return part;
}

PartFile::PartFile(const std::string& path, PartHeader header, std::vector<std::uint64_t> items)
    : path_(path), begun_(path + std::string(kBegun)), header_(std::move(header)), items_(std::move(items)) {}

// The other constructor is done by then: whatever throws here, the destructor gives the lock back.
PartFile::PartFile(const std::string& path, const WorkList& list, Shard shard)
    : PartFile(path, header_of(list, shard), items_of(shard, list.costs)) {
  // A writer removes PATH.begun only after PATH is there: whoever holds the first and does not find the second is
  // alone.
  while (!is_finished_before())
    if (begin()) {
      take_up();
      return;
    }
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool PartFile::is_finished_before() {
  if (!exists(path_)) return false;
  Part part = read_part(path_);
  PartHeader expected = header_;
  expected.digest = part.header.digest;
  if (const std::string other = difference(part.header, header_); !other.empty())
    throw InputError(path_,
                     fmt::format("is there already and part of another list: {}. Give another name, or remove the "
                                 "file",
                                 other));
  if (part.header != expected)
    throw InputError(path_, fmt::format("is there already and shard {}; give another name, or remove the file",
                                        to_string(part.header.shard)));
  lines_ = std::move(part.lines);
  (void)unlink(begun_.c_str());  // of a process that was killed in between
  return true;
}

/// Opens and locks PATH.begun. False when its writer finished in the meantime.
bool PartFile::begin() {
  const int descriptor = open(begun_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_at(begun_, "write", errno);
  descriptor_ = descriptor;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw SystemError(fmt::format("{}: another krohn is at work on this shard; wait for it, or stop it", begun_));
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_at(begun_, "read", errno);
  if (status.st_nlink > 0 && !exists(path_)) return true;
  close(descriptor);
  descriptor_ = -1;
  return false;
}

/// Takes the whole lines that stand in PATH.begun, and cuts off what a kill or a power failure left behind them.
void PartFile::take_up() {
  const std::string text = read_file(begun_), header = header_line(header_);
  const bool is_cut_in_header = text.size() < header.size() && header.starts_with(text);
  if (is_cut_in_header) {
    if (ftruncate(descriptor_, 0) != 0) fail_at(begun_, "write", errno);
    return write(header);
  }
  std::string_view rest = text;
  const auto first = next_line(rest);
  const std::optional<PartHeader> found = first ? parse_header(*first) : std::nullopt;
  if (!found) throw InputError(begun_, "is no part of a list; give another name, or remove the file");
  if (*found != header_) {
    const std::string other = difference(*found, header_);
    throw InputError(begun_,
                     fmt::format("was begun {}. Give another name, or remove the file",
                                 other.empty() ? "as shard " + to_string(found->shard) : "for another list: " + other));
  }
  std::size_t whole = text.size() - rest.size();
  while (const auto line = next_line(rest)) {
    auto numbered_line = parse_numbered(*line);
    if (!numbered_line || !std::ranges::binary_search(items_, numbered_line->first)) break;
    lines_.insert(std::move(*numbered_line));
    whole = text.size() - rest.size();
  }
  if (whole < text.size() && ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) fail_at(begun_, "write", errno);
}

std::vector<std::uint64_t> PartFile::missing() const {
  std::vector<std::uint64_t> items;
  for (const std::uint64_t item : items_)
    if (!lines_.contains(item)) items.push_back(item);
  return items;
}

void PartFile::write(std::string_view bytes) {
  if (const int error = write_bytes(descriptor_, bytes); error != 0) fail_at(begun_, "write", error);
}

void PartFile::add(std::uint64_t item, const std::string& line) {
  assert(std::ranges::binary_search(items_, item) && !lines_.contains(item));
  write(numbered(item, line));
  lines_.emplace(item, line);
}

void PartFile::finish() {
  assert(missing().empty());
  const std::string text = text_of(lines_);
  header_.digest = digest_of(header_, text);
  AtomicFile file(path_);
  file.write(header_line(header_));
  file.write(text);
  file.commit();
  if (unlink(begun_.c_str()) != 0 && errno != ENOENT) fail_at(begun_, "remove", errno);
  close(descriptor_);  // with it goes the lock
  descriptor_ = -1;
}

MergedParts merge_parts(const std::vector<std::string>& paths) {
  assert(!paths.empty());
  MergedParts merged;
  std::map<std::uint64_t, std::string> path_of;  // by shard
  std::map<std::uint64_t, std::string> lines;
  for (const std::string& path : paths) {
    Part part = read_part(path);
    if (path_of.empty()) merged.header = part.header;
    if (const std::string other = difference(merged.header, part.header); !other.empty())
      throw InputError(path, fmt::format("does not belong to {}: {}", paths.front(), other));
    const auto [entry, fresh] = path_of.emplace(part.header.shard.number, path);
    if (!fresh)
      throw InputError(
          path, fmt::format("is shard {} as {} is; give one of the two", to_string(part.header.shard), entry->second));
    const std::size_t before = lines.size(), more = part.lines.size();
    lines.merge(std::move(part.lines));
    if (lines.size() != before + more)
      throw InputError(path, "has items that another part has too: the parts were not cut by the same rule");
  }
  for (std::uint64_t number = 1; number <= merged.header.shard.count; ++number)
    if (!path_of.contains(number)) merged.missing.push_back(number);
  if (!merged.missing.empty()) return merged;
  if (lines.size() != merged.header.items)  // disjoint and in range: then these are all of them
    throw InputError(paths.front(), fmt::format("all {} shards are there, but hold {} of {} items; run them again",
                                                merged.header.shard.count, lines.size(), merged.header.items));
  for (auto& [item, line] : lines) merged.lines.push_back(std::move(line));
  return merged;
}

namespace {

constexpr std::uint64_t kMaxCost = std::uint64_t{1} << 40;  // no sum of 2^23 of them overflows

}  // namespace

Shard parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto number = number_in<std::uint64_t>(text.substr(0, slash)),
               count = number_in<std::uint64_t>(text.substr(slash + 1));
    if (number && count && *number >= 1 && *number <= *count && *count <= kMaxShards) return {*number, *count};
  }
  throw InputError("--shard", fmt::format("\"{}\" is no shard; write 3/100 for the third of a hundred (at most {})",
                                          text, kMaxShards));
}

std::string to_string(Shard shard) { return fmt::format("{}/{}", shard.number, shard.count); }

std::vector<std::uint64_t> items_of(Shard shard, const std::vector<std::uint64_t>& costs) {
  assert(shard.number >= 1 && shard.number <= shard.count);
  const auto cost_of = [&costs](std::uint64_t item) { return std::clamp<std::uint64_t>(costs[item], 1, kMaxCost); };
  std::vector<std::uint64_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::stable_sort(order, [&](std::uint64_t a, std::uint64_t b) { return cost_of(a) > cost_of(b); });
  using Load = std::pair<std::uint64_t, std::uint64_t>;  // cost so far, shard: the least comes first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint64_t number = 1; number <= shard.count; ++number) loads.emplace(0, number);
  std::vector<std::uint64_t> items;
  for (const std::uint64_t item : order) {
    const auto [load, number] = loads.top();
    loads.pop();
    loads.emplace(load + cost_of(item), number);
    if (number == shard.number) items.push_back(item);
  }
  std::ranges::sort(items);
  return items;
}

std::string ranges_of(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
    for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
  }
  return text;
}

ItemWorkers::ItemWorkers(unsigned threads, LineOf line_of) : line_of_(std::move(line_of)) {
  for (unsigned i = 0; i < std::max(threads, 1u); ++i) threads_.emplace_back([this] { work(); });
}

ItemWorkers::~ItemWorkers() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    is_closing_ = true;
  }
  has_items_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ItemWorkers::add(std::span<const std::uint64_t> items) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) waiting_.insert(waiting_.end(), items.begin(), items.end());
  }
  has_items_.notify_all();
}

void ItemWorkers::drop_waiting() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
}

std::vector<ItemWorkers::Finished> ItemWorkers::take(std::chrono::microseconds patience) {
  std::unique_lock lock(mutex_);
  has_lines_.wait_for(lock, patience, [this] { return !finished_.empty(); });
  return std::exchange(finished_, {});
}

std::size_t ItemWorkers::open() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + under_way_ + finished_.size();
}

std::exception_ptr ItemWorkers::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ItemWorkers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_items_.wait(lock, [this] { return !waiting_.empty() || is_closing_; });
    if (waiting_.empty()) return;
    const std::uint64_t item = waiting_.front();
    waiting_.pop_front();
    ++under_way_;
    lock.unlock();
    Finished made{item, {}};
    std::exception_ptr thrown;
    try {
      made.line = line_of_(item);
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    --under_way_;
    if (!thrown) {
      finished_.push_back(std::move(made));
    } else {
      waiting_.clear();
      if (!failure_) failure_ = thrown;
    }
    has_lines_.notify_all();
  }
}

}  // namespace krohn
