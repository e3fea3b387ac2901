#include "krohn/simulate/many/pair_parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "krohn/groups/atomic_file.h"
#include "krohn/groups/error.h"
#include "krohn/groups/pending_path.h"
#include "krohn/groups/record_set.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/many/varint.h"

namespace krohn {
namespace {

constexpr const char* kFormat = "krohn pairs 3";
constexpr const char* kEnding = ".pairs";
constexpr std::size_t kLargestList = std::size_t{1} << 28;

/// Before the records and coded keys of a piece.
struct PieceHead {
  std::uint64_t first = 0, count = 0, key_bytes = 0, sum = 0;
};

std::uint64_t sum_of(const PieceHead& head, std::span<const std::uint32_t> records,
                     std::span<const std::uint8_t> coded_keys) {
  std::vector<std::uint32_t> key_words((coded_keys.size() + 3) / 4);
  std::memcpy(key_words.data(), coded_keys.data(), coded_keys.size());
  const std::uint64_t sums[] = {head.first, head.count, head.key_bytes, RecordSet::hash(records),
                                RecordSet::hash(key_words)};
  return RecordSet::hash({reinterpret_cast<const std::uint32_t*>(sums), 10});
}

/// Keys ascend: each is coded as what it is more than the one before.
std::vector<std::uint8_t> code_keys(std::span<const std::uint64_t> keys) {
  std::vector<std::uint8_t> coded;
  std::uint64_t last = 0;
  for (const std::uint64_t key : keys) {
    put_varint(coded, key - last);
    last = key;
  }
  return coded;
}

std::string damaged(const std::string& path) {
  return fmt::format("{}: the pairs in it are damaged; remove the folder and start again", path);
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

/// The pieces of one part, up to the bytes that count.
class PartReader {
 public:
  PartReader(std::string path, std::uint64_t bytes, std::uint64_t words)
      : path_(std::move(path)), left_(bytes), words_(words), file_(std::fopen(path_.c_str(), "rb")) {
    if (!file_) fail_at(path_, "open", errno);
  }

  bool next(PairPiece& piece) {
    if (left_ == 0) return false;
    PieceHead head;
    read(&head, sizeof head);
    if (head.count > left_ / (4 * words_ + 1) || head.key_bytes > left_) throw InputError(damaged(path_));
    piece.first = head.first;
    piece.records.resize(head.count * words_);
    coded_.resize(head.key_bytes);
    read(piece.records.data(), piece.records.size() * sizeof(std::uint32_t));
    read(coded_.data(), coded_.size());
    if (sum_of(head, piece.records, coded_) != head.sum) throw InputError(damaged(path_));
    piece.keys.resize(head.count);
    std::size_t at = 0;
    std::uint64_t last = 0;
    for (std::uint64_t& key : piece.keys) key = last += take_varint(coded_, at);
    if (at != coded_.size()) throw InputError(damaged(path_));
    return true;
  }

 private:
  void read(void* to, std::uint64_t bytes) {
    if (bytes > left_ || std::fread(to, 1, bytes, file_.get()) != bytes) throw InputError(damaged(path_));
    left_ -= bytes;
  }

  std::string path_;
  std::uint64_t left_, words_;
  File file_;
  std::vector<std::uint8_t> coded_;
};

std::uint64_t number(const nlohmann::ordered_json& json, const std::string& path, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned())
    throw InputError(path, fmt::format("\"{}\" is not a count; remove the folder and start again", name));
  return found->get<std::uint64_t>();
}

nlohmann::ordered_json to_json(const PairSearchQuestion& question) {
  return {{"format", kFormat},     {"model", question.model}, {"arithmetic", question.arithmetic},
          {"form", question.form}, {"words", question.words}, {"letters", question.letters}};
}

/// Of a list, without its own sum: one digit of it says how far a proof reaches.
std::string sum_of(nlohmann::ordered_json list) {
  list.erase("sum");
  return sha256(list.dump());
}

}  // namespace

class PairParts::Writer {
 public:
  explicit Writer(std::string path) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail_at(path_, "create", errno);
    file_.reset(::fdopen(descriptor, "wb"));
    if (!file_) fail_at(path_, "create", errno);
  }

  void append(std::uint64_t first, std::span<const std::uint32_t> records, std::span<const std::uint64_t> keys) {
    const std::vector<std::uint8_t> coded = code_keys(keys);
    PieceHead head{first, keys.size(), coded.size(), 0};
    head.sum = sum_of(head, records, coded);
    write(&head, sizeof head);
    write(records.data(), records.size_bytes());
    write(coded.data(), coded.size());
  }

  std::uint64_t flush() {
    if (error_ == 0 && (std::fflush(file_.get()) != 0 || ::fsync(::fileno(file_.get())) != 0)) error_ = errno;
    if (error_ != 0) throw LimitError(fmt::format("{}: cannot write: {}", path_, std::strerror(error_)));
    return bytes_;
  }

  std::uint64_t bytes() const { return bytes_; }
  int error() const { return error_; }

 private:
  void write(const void* from, std::size_t bytes) {
    if (error_ == 0 && std::fwrite(from, 1, bytes, file_.get()) != bytes) error_ = errno;
    bytes_ += bytes;
  }

  std::string path_;
  File file_;
  std::uint64_t bytes_ = 0;
  int error_ = 0;
};

PairParts::PairParts(Ranks& ranks, const std::string& folder, PairSearchQuestion question)
    : ranks_(ranks), folder_(folder), question_(std::move(question)) {
  std::string text;
  together(ranks_, [&] {
    if (ranks_.rank() != 0) return;
    make_folder(folder_);
    lock();
    if (const std::string list = folder_ + "/pairs.json"; std::filesystem::exists(list)) {
      text = read_file(list, kLargestList);
      if (text.empty()) throw InputError(damaged(list));
    }
    open(text);
    remove_strays();
    job_ = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  });
  const std::uint64_t mine[] = {job_};
  job_ = ranks_.gather(mine).front();
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  const Ranks::Bytes told = ranks_.broadcast({first, first + text.size()});
  together(ranks_, [&] {
    if (ranks_.rank() != 0) open({reinterpret_cast<const char*>(told.data()), told.size()});
    writer_ = std::make_unique<Writer>(fmt::format("{}/{:016x}-{}{}", folder_, job_, ranks_.rank(), kEnding));
  });
}

PairParts::~PairParts() = default;

PairParts::Lock::~Lock() {
  if (descriptor >= 0) ::close(descriptor);
}

void PairParts::lock() {
  const std::string path = folder_ + "/lock";
  lock_.descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_.descriptor < 0) fail_at(path, "open", errno);
  if (::flock(lock_.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw SystemError(fmt::format("{}: another job works on it; wait for it, or name another folder", folder_));
}

/// Empty: nothing was committed yet.
void PairParts::open(const std::string& text) {
  if (text.empty()) return;
  const std::string path = folder_ + "/pairs.json";
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!json.is_object()) throw InputError(path, "not the list of a search of pairs; name another folder");
  const nlohmann::ordered_json wanted = to_json(question_);
  for (const auto& [name, value] : wanted.items())
    if (const auto found = json.find(name); found == json.end() || *found != value)
      throw InputError(path, fmt::format("\"{}\" is {}, but this search has {}; name another folder", name,
                                         found == json.end() ? "missing" : found->dump(), value.dump()));
  if (const auto sum = json.find("sum"); sum == json.end() || *sum != sum_of(json)) throw InputError(damaged(path));
  stand_ =
      PairSearchStand{number(json, path, "pairs"), number(json, path, "expanded"), number(json, path, "level_begin"),
                      number(json, path, "level_end"), number(json, path, "depth")};
  const PairSearchStand& at = *stand_;
  if (at.level_begin > at.expanded || at.expanded > at.level_end || at.level_end > at.pairs || at.pairs == 0)
    throw InputError(damaged(path));
  const auto parts = json.find("parts");
  if (parts == json.end() || !parts->is_array()) throw InputError(damaged(path));
  for (const nlohmann::ordered_json& part : *parts) {
    const std::string file = part.is_object() ? part.value("file", "") : "";
    if (file.empty() || file.find('/') != std::string::npos) throw InputError(damaged(path));
    earlier_.push_back({file, number(part, path, "bytes")});
  }
}

/// Parts of jobs that were killed before they committed anything.
void PairParts::remove_strays() const {
  std::set<std::string> listed;
  for (const Part& part : earlier_) listed.insert(part.file);
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    if (entry.path().extension() == kEnding && !listed.contains(entry.path().filename().string()))
      std::filesystem::remove(entry.path());
}

void PairParts::read(const std::function<void(const PairPiece*)>& take) {
  std::size_t part = ranks_.rank();
  std::optional<PartReader> reader;
  PairPiece piece;
  for (bool any = true; any;) {
    bool has = false;
    together(ranks_, [&] {
      for (; !has && part < earlier_.size();) {
        if (!reader) reader.emplace(folder_ + "/" + earlier_[part].file, earlier_[part].bytes, question_.words);
        has = reader->next(piece);
        if (has) break;
        reader.reset();
        part += ranks_.size();
      }
    });
    const std::uint64_t mine[] = {has};
    any = false;
    for (const std::uint64_t other : ranks_.gather(mine)) any = any || other != 0;
    if (any) take(has ? &piece : nullptr);
  }
}

void PairParts::append(std::uint64_t first, std::span<const std::uint32_t> records,
                       std::span<const std::uint64_t> keys) {
  if (!keys.empty()) writer_->append(first, records, keys);
}

std::string PairParts::text_of(const PairSearchStand& stand, const std::vector<Part>& parts) const {
  nlohmann::ordered_json json = to_json(question_);
  json["pairs"] = stand.pairs;
  json["expanded"] = stand.expanded;
  json["level_begin"] = stand.level_begin;
  json["level_end"] = stand.level_end;
  json["depth"] = stand.depth;
  json["parts"] = nlohmann::ordered_json::array();
  for (const Part& part : parts)
    if (part.bytes > 0) json["parts"].push_back({{"file", part.file}, {"bytes", part.bytes}});
  json["sum"] = sum_of(json);
  return json.dump(1) + "\n";
}

void PairParts::commit(const PairSearchStand& stand) {
  std::uint64_t bytes[] = {0};
  together(ranks_, [&] { bytes[0] = writer_->flush(); });
  const std::vector<std::uint64_t> written = ranks_.gather(bytes);
  together(ranks_, [&] {
    if (ranks_.rank() != 0) return;
    flush_directory(folder_);
    std::vector<Part> parts = earlier_;
    for (std::size_t rank = 0; rank < written.size(); ++rank)
      parts.push_back({fmt::format("{:016x}-{}{}", job_, rank, kEnding), written[rank]});
    try {
      write_file(folder_ + "/pairs.json", text_of(stand, parts));
    } catch (const SystemError& error) {
      throw LimitError(error.what());
    }
  });
}

std::uint64_t PairParts::bytes() const { return writer_->bytes(); }
int PairParts::error() const { return writer_->error(); }

}  // namespace krohn
