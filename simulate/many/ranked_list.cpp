#include "krohn/simulate/many/ranked_list.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "krohn/groups/error.h"
#include "krohn/groups/interruption.h"

namespace krohn {
namespace {

/// Between two looks at what others say, where nothing happens.
constexpr std::chrono::microseconds kShortestNap{50}, kLongestNap{2000};

class Nap {
 public:
  std::chrono::microseconds next(bool has_news) {
    now_ = has_news ? kShortestNap : std::min(2 * now_, kLongestNap);
    return now_;
  }

 private:
  std::chrono::microseconds now_ = kShortestNap;
};

// ---- What is said

enum class Say : std::uint8_t {
  kItems,   ///< rank 0: make the lines of `numbers`
  kStop,    ///< rank 0: begin no more; numbers[0]: the user asked for it
  kLine,    ///< of item numbers[0]
  kFailed,  ///< as RankFailure::Kind numbers[0] says
  kEnded,   ///< nothing is under way any more
};

struct Message {
  Say say;
  std::vector<std::uint64_t> numbers{};
  std::string text{};
};

Ranks::Bytes to_bytes(const Message& message) {
  const std::uint64_t head[] = {static_cast<std::uint64_t>(message.say), message.numbers.size()};
  const std::size_t numbers = message.numbers.size() * sizeof(std::uint64_t);
  Ranks::Bytes bytes(sizeof head + numbers + message.text.size());
  std::memcpy(bytes.data(), head, sizeof head);
  if (numbers > 0) std::memcpy(bytes.data() + sizeof head, message.numbers.data(), numbers);
  if (!message.text.empty())
    std::memcpy(bytes.data() + sizeof head + numbers, message.text.data(), message.text.size());
  return bytes;
}

Message message_of(const Ranks::Bytes& bytes) {
  std::uint64_t head[2];
  std::memcpy(head, bytes.data(), sizeof head);
  Message message{static_cast<Say>(head[0])};
  message.numbers.resize(head[1]);
  const std::size_t numbers = message.numbers.size() * sizeof(std::uint64_t);
  if (numbers > 0) std::memcpy(message.numbers.data(), bytes.data() + sizeof head, numbers);
  message.text.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof head + numbers,
                      bytes.size() - sizeof head - numbers);
  return message;
}

// ---- Rank 0

class Master {
 public:
  Master(Ranks& ranks, const ListDuty& duty)
      : ranks_(ranks),
        duty_(duty),
        threads_(ranks.gather(threads_of(ranks, duty.threads))),
        open_(ranks.size(), 0),
        own_(static_cast<unsigned>(threads_[0]), duty.line_of) {
    for (const std::uint64_t threads : threads_) all_threads_ += threads;
  }

  static std::vector<std::uint64_t> threads_of(const Ranks& ranks, unsigned asked) {
    return {asked != 0 ? asked : ranks.processors()};
  }

  void work() {
    Nap nap;
    bool has_news = true;
    while (lines_ < duty_.items.size() && !failed_) {
      hand_out();
      has_news = take(nap.next(has_news));
      guarded([&] {
        if (duty_.tell) duty_.tell(lines_);
      });
    }
    stop();
    while (ended_ + 1 < ranks_.size() || own_.open() > 0) take(kLongestNap);
    ranks_.gather(threads_);  // nobody goes on before all messages have come
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (...) {
      if (!failed_) failed_ = std::current_exception();
    }
  }

  /// A rank that has less than half of what it may have is given the rest of that.
  void hand_out() {
    constexpr std::uint64_t kMost = 1024, kParts = 8;
    for (unsigned rank = 0; rank < ranks_.size() && next_ < duty_.items.size(); ++rank) {
      const std::uint64_t left = duty_.items.size() - next_;
      const std::uint64_t each = std::clamp<std::uint64_t>(left / (kParts * all_threads_), 1, kMost);
      const std::uint64_t most = threads_[rank] * each;
      if (open_[rank] >= most || (each > 1 && 2 * open_[rank] > most)) continue;
      const std::uint64_t count = std::min(left, most - open_[rank]);
      const auto items = duty_.items.subspan(next_, count);
      if (rank == 0)
        own_.add(items);
      else
        ranks_.send(rank, to_bytes({Say::kItems, {items.begin(), items.end()}}));
      next_ += count;
      open_[rank] += count;
    }
  }

  /// Whether anything came.
  bool take(std::chrono::microseconds nap) {
    bool has_news = false;
    for (const ItemWorkers::Finished& made : own_.take(nap)) {
      keep(0, made.item, made.line);
      has_news = true;
    }
    if (!failed_) failed_ = own_.failure();
    while (const auto received = ranks_.receive()) {
      hear(received->from, message_of(received->bytes));
      has_news = true;
    }
    return has_news;
  }

  void hear(unsigned from, const Message& message) {
    if (message.say == Say::kLine) return keep(from, message.numbers[0], message.text);
    if (message.say == Say::kEnded) {
      ++ended_;
      return;
    }
    guarded([&] { throw_again({static_cast<RankFailure::Kind>(message.numbers[0]), message.text}); });
  }

  void keep(unsigned rank, std::uint64_t item, const std::string& line) {
    guarded([&] { duty_.keep(item, line); });
    ++lines_;
    --open_[rank];
  }

  void stop() {
    own_.drop_waiting();
    const RankFailure failure = failed_ ? failure_of(failed_, 0) : RankFailure{};
    const std::uint64_t is_interrupted = failure.kind == RankFailure::Kind::kInterrupted;
    for (unsigned rank = 1; rank < ranks_.size(); ++rank) ranks_.send(rank, to_bytes({Say::kStop, {is_interrupted}}));
    if (is_interrupted != 0) Interruption::requested = true;
  }

  Ranks& ranks_;
  const ListDuty& duty_;
  std::vector<std::uint64_t> threads_, open_;  ///< by rank: of it, and items that it has
  std::uint64_t all_threads_ = 0, next_ = 0, lines_ = 0;
  unsigned ended_ = 0;
  std::exception_ptr failed_;
  ItemWorkers own_;
};

}  // namespace

void work_on_list(Ranks& ranks, const ListDuty& duty) { Master(ranks, duty).work(); }

void help_with_list(Ranks& ranks, unsigned threads, const LineOf& line_of, const std::function<void()>& check) {
  const std::vector<std::uint64_t> all = ranks.gather(Master::threads_of(ranks, threads));
  ItemWorkers workers(static_cast<unsigned>(all[ranks.rank()]), line_of);
  Nap nap;
  bool is_stopped = false, has_failed = false;
  const auto fail = [&](const std::exception_ptr& thrown) {
    const RankFailure failure = failure_of(thrown, ranks.rank());
    workers.drop_waiting();
    if (!std::exchange(has_failed, true))
      ranks.send(0, to_bytes({Say::kFailed, {static_cast<std::uint64_t>(failure.kind)}, failure.what}));
  };
  for (bool has_news = true; !is_stopped || workers.open() > 0;) {
    const auto made = workers.take(nap.next(has_news));
    has_news = !made.empty();
    for (const ItemWorkers::Finished& line : made) ranks.send(0, to_bytes({Say::kLine, {line.item}, line.line}));
    if (const std::exception_ptr thrown = workers.failure(); thrown && !has_failed) fail(thrown);
    try {
      if (!has_failed) check();
    } catch (...) {
      fail(std::current_exception());
    }
    while (const auto received = ranks.receive()) {
      const Message message = message_of(received->bytes);
      has_news = true;
      if (message.say == Say::kItems) {
        if (!has_failed) workers.add(message.numbers);
        continue;
      }
      is_stopped = true;
      workers.drop_waiting();
      if (message.numbers[0] != 0) Interruption::requested = true;
    }
  }
  ranks.send(0, to_bytes({Say::kEnded}));
  ranks.gather(all);
}

}  // namespace krohn
