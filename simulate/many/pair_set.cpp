#include "krohn/simulate/many/pair_set.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/simulate/check/sha256.h"

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

/// For a list, without its own sum: one digit of it says how far a proof reaches.
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
  if (!parse_strict_json(text, path).is_object())
    throw InputError(path, "not the list of a search of pairs; name another folder");
  const auto json = nlohmann::ordered_json::parse(text);
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

namespace {

/// For a block, at least: a page of a disk, and so many records that the first of them, in memory, is little.
std::size_t block_bytes(std::size_t width) { return std::max<std::size_t>(4096, 256 * width); }

bool is_less(PairRun::Record a, PairRun::Record b) { return std::ranges::lexicographical_compare(a, b); }

/// Records as rows of words, for a quicksort that looks at one word at a time: those that are less than a pivot's
/// there, then those that share it, which are sorted by the next word, then the others.
class RowSort {
 public:
  RowSort(std::uint32_t* rows, std::size_t width) : rows_(rows), width_(width) {}

  void sort(std::size_t begin, std::size_t end, std::size_t word) {
    while (end - begin > 1 && word < width_) {
      const std::uint32_t pivot = middle(any(begin, end, word), any(begin, end, word), any(begin, end, word));
      std::size_t less = begin, greater = end;
      for (std::size_t row = begin; row < greater;) {
        const std::uint32_t here = at(row, word);
        if (here < pivot)
          swap(less++, row++);
        else if (here > pivot)
          swap(row, --greater);
        else
          ++row;
      }
      // The longest of the three goes on here, so that the depth is at most log₂ of the rows and the words.
      Part parts[] = {{begin, less, word}, {less, greater, word + 1}, {greater, end, word}};
      std::ranges::sort(parts, {}, [](const Part& part) { return part.end - part.begin; });
      sort(parts[0].begin, parts[0].end, parts[0].word);
      sort(parts[1].begin, parts[1].end, parts[1].word);
      begin = parts[2].begin, end = parts[2].end, word = parts[2].word;
    }
  }

 private:
  struct Part {
    std::size_t begin, end, word;
  };

  std::uint32_t at(std::size_t row, std::size_t word) const { return rows_[row * width_ + word]; }
  /// Returns a number of a row drawn at random, since a search meets its records in some order of its own.
  std::uint32_t any(std::size_t begin, std::size_t end, std::size_t word) {
    drawn_ = drawn_ * 6364136223846793005u + 1442695040888963407u;
    return at(begin + (drawn_ >> 33) % (end - begin), word);
  }
  static std::uint32_t middle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
  }
  void swap(std::size_t a, std::size_t b) {
    if (a != b) std::swap_ranges(rows_ + a * width_, rows_ + (a + 1) * width_, rows_ + b * width_);
  }

  std::uint32_t* rows_;
  std::size_t width_;
  std::uint64_t drawn_ = 1;
};

}  // namespace

std::uint64_t HashFilter::bits_of(std::uint64_t hash) {
  std::uint64_t bits = 0;
  std::uint64_t from = mixed(hash);
  from ^= from >> 32;
  for (int bit = 0; bit < 5; ++bit, from >>= 6) bits |= std::uint64_t{1} << (from & 63);
  return bits;
}

void sort_records(std::span<std::uint32_t> records, std::size_t width) {
  RowSort(records.data(), width).sort(0, records.size() / width, 0);
}

PairRun::PairRun(DiskSpace& space, std::size_t width, std::uint64_t count)
    : width_(width), filter_(count), file_(space) {}

void PairRun::append(Record record) {
  filter_.add(RecordSet::hash(record));
  ++size_;
  if (coded_.size() >= block_bytes(width_)) close_block();
  if (firsts_.size() == blocks_.size() * width_) {
    firsts_.insert(firsts_.end(), record.begin(), record.end());
  } else {
    const auto word = static_cast<std::size_t>(std::ranges::mismatch(record, last_).in1 - record.begin());
    if (word == width_ || record[word] < last_[word])
      throw SystemError("a search has lost the order of its pairs; please report this");
    const std::uint64_t step = std::uint64_t{record[word]} - last_[word] - 1;
    if (word + 1 == width_) {
      put_varint(coded_, step * 2);
    } else {
      put_varint(coded_, word * 2 + 1);
      put_varint(coded_, step);
      const auto* const rest = reinterpret_cast<const std::uint8_t*>(record.data() + word + 1);
      coded_.insert(coded_.end(), rest, rest + (width_ - word - 1) * sizeof(std::uint32_t));
    }
  }
  last_.assign(record.begin(), record.end());
}

void PairRun::finish() {
  if (firsts_.size() > blocks_.size() * width_) close_block();
  last_ = {};
  coded_ = {};
}

/// A block ends with its length in bytes, so that the padding is not read.
void PairRun::close_block() {
  const auto bytes = static_cast<std::uint32_t>(coded_.size());
  std::vector<std::uint32_t> words((bytes + 3) / 4 + 1);
  if (bytes > 0) std::memcpy(words.data(), coded_.data(), bytes);
  words.back() = bytes;
  blocks_.push_back(file_.append(words));
  disk_bytes_ += words.size() * sizeof(std::uint32_t);
  coded_.clear();
}

std::uint64_t PairRun::bytes() const {
  return filter_.bytes() + blocks_.capacity() * sizeof(SpilledWords) + firsts_.capacity() * sizeof(std::uint32_t);
}

PairRun::Cursor::Cursor(const PairRun& run) : run_(run), record_(run.width_) {
  if (!run.blocks_.empty()) open(0);
}

void PairRun::Cursor::open(std::size_t block) {
  block_ = block;
  if (is_at_end()) return;
  coded_.resize(run_.blocks_[block].words);
  run_.file_.read(run_.blocks_[block], coded_);
  at_ = 0;
  std::ranges::copy(run_.first_of(block), record_.begin());
}

void PairRun::Cursor::next() {
  if (at_ >= coded_.back())
    open(block_ + 1);
  else
    decode();
}

void PairRun::Cursor::decode() {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(coded_.data()), coded_.back());
  const std::uint64_t tag = take_varint(bytes, at_);
  if (tag % 2 == 0) {
    record_.back() += static_cast<std::uint32_t>(tag / 2 + 1);
    return;
  }
  const std::size_t word = tag / 2;
  record_[word] += static_cast<std::uint32_t>(take_varint(bytes, at_) + 1);
  const std::size_t rest = (run_.width_ - word - 1) * sizeof(std::uint32_t);
  std::memcpy(record_.data() + word + 1, bytes.data() + at_, rest);
  at_ += rest;
}

void PairRun::Cursor::seek(Record record) {
  if (is_at_end() || !is_less(record_, record)) return;
  // The last block whose first record is not greater.
  std::size_t low = block_, high = run_.blocks_.size();
  while (high - low > 1) {
    const std::size_t between = low + (high - low) / 2;
    (is_less(record, run_.first_of(between)) ? high : low) = between;
  }
  if (low != block_) open(low);
  while (!is_at_end() && is_less(record_, record)) next();
}

std::unique_ptr<PairRun> merge(const PairRun& a, const PairRun& b, DiskSpace& space, std::size_t width) {
  auto merged = std::make_unique<PairRun>(space, width, a.size() + b.size());
  PairRun::Cursor left(a), right(b);
  while (!left.is_at_end() || !right.is_at_end()) {
    const bool from_left = right.is_at_end() || (!left.is_at_end() && is_less(left.record(), right.record()));
    PairRun::Cursor& least = from_left ? left : right;
    merged->append(least.record());
    least.next();
  }
  merged->finish();
  return merged;
}

namespace {

/// Records whose memory is asked for in advance.
constexpr std::size_t kBlock = 64;

}  // namespace

void PairSet::insert(std::span<const std::uint32_t> records, Ranks::Words& fresh) {
  const std::size_t count = records.size() / width_;
  const auto record = [&](std::size_t i) { return records.subspan(i * width_, width_); };
  const auto is_fresh = [&](std::size_t i) { fresh[i / 32] |= 1u << i % 32; };
  fresh.assign((count + 31) / 32, 0);
  suspects_.clear();
  std::uint64_t hashes[kBlock];
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t here = std::min(kBlock, count - first);
    for (std::size_t i = 0; i < here; ++i) {
      young_.prefetch_entry(hashes[i] = RecordSet::hash(record(first + i)));
      if (old_) old_->prefetch_entry(hashes[i]);
    }
    for (std::size_t i = 0; i < here; ++i) {
      young_.prefetch_record(hashes[i]);
      if (old_) old_->prefetch_record(hashes[i]);
    }
    for (std::size_t i = 0; i < here; ++i) {
      if (old_ || !runs_.empty()) {
        if (is_in_memory(record(first + i))) continue;
        if (may_be_on_disk(hashes[i])) {
          suspects_.push_back(static_cast<std::uint32_t>(first + i));
          continue;
        }
      }
      if (young_.insert(record(first + i), hashes[i]).fresh) is_fresh(first + i);
    }
  }
  if (suspects_.empty()) return;
  look_up(records);
  for (std::size_t i = 0; i < suspects_.size(); ++i)
    if (!is_known_[i] && young_.insert(record(suspects_[i])).fresh) is_fresh(suspects_[i]);
}

bool PairSet::may_be_on_disk(std::uint64_t hash) const {
  return std::ranges::any_of(runs_, [&](const auto& run) { return run->may_have(hash); });
}

/// Which of the suspects are on disk, in the order of their records.
void PairSet::look_up(std::span<const std::uint32_t> records) {
  const auto record = [&](std::uint32_t suspect) {
    return records.subspan(std::size_t{suspects_[suspect]} * width_, width_);
  };
  std::vector<std::uint32_t> order(suspects_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(record(a), record(b));
  });
  is_known_.assign(suspects_.size(), false);
  for (const auto& run : runs_) {
    PairRun::Cursor cursor(*run);
    for (const std::uint32_t suspect : order) {
      if (is_known_[suspect] || !run->may_have(RecordSet::hash(record(suspect)))) continue;
      cursor.seek(record(suspect));
      if (cursor.is_at_end()) break;
      is_known_[suspect] = std::ranges::equal(cursor.record(), record(suspect));
    }
  }
}

std::uint64_t PairSet::size() const {
  std::uint64_t size = young_.size() + (old_ ? old_->size() : 0);
  for (const auto& run : runs_) size += run->size();
  return size;
}

std::uint64_t PairSet::run_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& run : runs_) bytes += run->bytes();
  return bytes;
}

void PairSet::make_room(std::uint64_t most, DiskSpace& space) {
  const std::uint64_t fixed = run_bytes(), left = most > fixed ? most - fixed : 0;
  // Beside two generations the records of one are there once more while they are sorted.
  if (young_.size() == 0 || young_.bytes() <= left / 8 * 3) return;
  if (old_) write_old(space);
  old_ = std::exchange(young_, RecordSet(width_));
}

void PairSet::write_old(DiskSpace& space) {
  std::unique_ptr<PairRun> run;
  {
    std::vector<std::uint32_t> records;
    records.reserve(std::size_t{old_->size()} * width_);
    for (RecordSet::Index i = 0; i < old_->size(); ++i)
      records.insert(records.end(), (*old_)[i].begin(), (*old_)[i].end());
    sort_records(records, width_);
    run = std::make_unique<PairRun>(space, width_, old_->size());
    for (std::size_t at = 0; at < records.size(); at += width_)
      run->append(std::span<const std::uint32_t>(records).subspan(at, width_));
    run->finish();
  }
  old_.reset();
  runs_.push_back(std::move(run));
  while (runs_.size() > 1 && runs_[runs_.size() - 2]->size() <= 2 * runs_.back()->size()) {
    auto merged = merge(*runs_[runs_.size() - 2], *runs_.back(), space, width_);
    runs_.pop_back();
    runs_.back() = std::move(merged);
  }
}

namespace {

/// One that is not there is a limit of the disk where the disk is needed, and nothing where it is not.
std::string folder_of_system() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const char* const named = std::getenv("TMPDIR");
  if (error) return named != nullptr ? named : "/tmp";
  return folder.string();
}

}  // namespace

std::string RoomLimit::text(std::size_t rank, std::uint64_t most, std::uint64_t most_on_disk,
                            const std::string& folder) const {
  if (kind == kMemory) return fmt::format("{} bytes of pairs on a rank", most);
  if (error == 0) return fmt::format("{} bytes of disk on a rank", most_on_disk);
  return fmt::format("the disk of rank {} ({}: {})", rank, folder.empty() ? "temporary files" : folder,
                     DiskFull::said_of(static_cast<int>(error)));
}

HeldPairs::HeldPairs(std::size_t width, std::uint64_t most, const std::string& folder, std::uint64_t most_on_disk)
    : most_(most),
      space_(folder.empty() ? folder_of_system() : folder, most_on_disk),
      owned_(width),
      now_(width),
      next_(width),
      keys_(1) {}

void HeldPairs::start_level() {
  std::swap(now_, next_);
  next_.clear();
}

void HeldPairs::keep_keys(std::uint64_t first, std::span<const std::uint64_t> keys) {
  const auto high = [](std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); };
  std::vector<std::uint32_t> low;
  for (std::size_t i = 0; i < keys.size();) {
    const std::uint64_t begin = first + i;
    const std::uint32_t tag = high(keys[i]);
    low.clear();
    for (; i < keys.size() && high(keys[i]) == tag; ++i) low.push_back(static_cast<std::uint32_t>(keys[i]));
    keys_.append(begin, low, tag);
  }
}

void HeldPairs::take_up(const PairPiece& piece, const PairSearchStand& stand) {
  keep_keys(piece.first, piece.keys);
  const std::size_t width = now_.width();
  const auto take = [&](NumberedPieces& pieces, std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, piece.first);
    end = std::min(end, piece.first + piece.keys.size());
    if (begin < end)
      pieces.append(begin, std::span(piece.records).subspan((begin - piece.first) * width, (end - begin) * width));
  };
  take(now_, stand.expanded, stand.level_end);
  take(next_, stand.level_end, stand.pairs);
}

void HeldPairs::sort() {
  keys_.sort();
  now_.sort();
  next_.sort();
}

std::optional<std::uint64_t> HeldPairs::key(std::uint64_t pair) {
  std::optional<std::uint64_t> key;
  keys_.overlapping(pair, pair + 1, [&](std::uint64_t, NumberedPieces::Words low, std::uint32_t high) {
    key = std::uint64_t{high} << 32 | low[0];
  });
  return key;
}

RoomLimit HeldPairs::make_room(std::uint64_t committed) {
  if (space_.most() == 0) {
    if (owned_.bytes() + piece_bytes() > most_) return {RoomLimit::kMemory};
    return {};
  }
  try {
    for (NumberedPieces* pieces : {&now_, &next_, &keys_})
      if (pieces->bytes() > most_ / 8) pieces->spill(space_);
    owned_.make_room(most_ - std::min(most_, piece_bytes()), space_);
  } catch (const DiskFull& full) {
    return {RoomLimit::kDisk, static_cast<std::uint64_t>(full.error())};
  }
  if (space_.used() + committed > space_.most()) return {RoomLimit::kDisk};
  // The part that cannot go to the disk has to leave the search some memory to work with.
  if (owned_.run_bytes() > most_ / 2) return {RoomLimit::kMemory};
  return {};
}

std::string DiskFull::said_of(int error) { return error == 0 ? "the limit of the disk is met" : std::strerror(error); }

void DiskSpace::take(std::uint64_t bytes) {
  if (bytes > most_ - used_) throw DiskFull(0);
  used_ += bytes;
}

SpillFile::SpillFile(DiskSpace& space) : space_(space) {
  std::string path = space.folder() + "/.krohn-pairs-XXXXXX";
  descriptor_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw DiskFull(errno);
  ::unlink(path.c_str());
}

SpillFile::~SpillFile() {
  space_.give_back(bytes_);
  ::close(descriptor_);
}

SpilledWords SpillFile::append(std::span<const std::uint32_t> words) {
  const SpilledWords place{bytes_, RecordSet::hash(words), static_cast<std::uint32_t>(words.size())};
  const std::uint64_t bytes = words.size_bytes();
  space_.take(bytes);
  const auto* const from = reinterpret_cast<const char*>(words.data());
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t count = ::pwrite(descriptor_, from + done, bytes - done, static_cast<off_t>(place.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      space_.give_back(bytes);
      throw DiskFull(error);
    }
    done += static_cast<std::uint64_t>(count);
  }
  bytes_ += bytes;
  return place;
}

void SpillFile::read(const SpilledWords& place, std::span<std::uint32_t> words) const {
  auto* const to = reinterpret_cast<char*>(words.data());
  std::uint64_t done = 0;
  while (done < words.size_bytes()) {
    const ssize_t count =
        ::pread(descriptor_, to + done, words.size_bytes() - done, static_cast<off_t>(place.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::uint64_t>(count);
  }
  if (done < words.size_bytes() || RecordSet::hash(words) != place.sum)
    throw SystemError(space_.folder() +
                      ": the disk does not give back what was written to it; take a folder on another one");
}

void SpillFile::clear() {
  space_.give_back(bytes_);
  bytes_ = 0;
  (void)!::ftruncate(descriptor_, 0);  // best effort: what follows is written over it
}

}  // namespace krohn
