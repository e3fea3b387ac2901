#include "krohn/simulate/tasks/bracket_task.h"

#include "krohn/automata/families/arithmetic_families.h"
#include "krohn/groups/random.h"

namespace krohn {
namespace {

/// The tokens behind the digits 0 … m−1.
enum Sign : Letter { kPlus, kMinus, kTimes, kOpen, kClose, kEquals };

/// The value of an expression read token by token: a stack of sums with the term that is being multiplied.
class RunningValue {
 public:
  explicit RunningValue(std::uint64_t m) : m_(m), frames_{{0, 1 % m}} {}

  void read(Letter letter) {
    Frame& top = frames_.back();
    if (letter < m_) return operand(letter);
    switch (letter - m_) {
      case kOpen:
        frames_.push_back({0, 1 % m_});
        return;
      case kClose:
        return close();
      case kTimes:
        after_operand_ = false;
        return;
      case kMinus:
        if (after_operand_) return finish_term(top, m_ - 1);
        top.term = (m_ - top.term) % m_;
        return;
      default:
        return finish_term(top, 1 % m_);
    }
  }
  std::uint64_t value() const { return (frames_.back().sum + frames_.back().term) % m_; }

 private:
  struct Frame {
    std::uint64_t sum, term;
  };
  void operand(std::uint64_t value) {
    frames_.back().term = frames_.back().term * value % m_;
    after_operand_ = true;
  }
  void close() {
    const std::uint64_t inner = value();
    frames_.pop_back();
    operand(inner);
  }
  void finish_term(Frame& frame, std::uint64_t next_term) {
    frame = {(frame.sum + frame.term) % m_, next_term % m_};
    after_operand_ = false;
  }
  std::uint64_t m_;
  std::vector<Frame> frames_;
  bool after_operand_ = false;
};

class BracketStream : public SampleStream {
 public:
  BracketStream(std::uint64_t m, std::uint64_t length, std::uint64_t seed, std::uint64_t index)
      : m_(static_cast<Letter>(m)), random_(sample_seed(seed, index)), value_(m) {
    push_token(m_ + kEquals);
    pending_.push_back({length - 1, true});
  }

  std::optional<TaskToken> next() override {
    if (pending_.empty()) return std::nullopt;
    while (pending_.back().length > 0) expand();
    const Letter letter = pending_.back().token;
    pending_.pop_back();
    if (letter == m_ + kEquals) return TaskToken{letter, static_cast<TaskLabel>(value_.value())};
    value_.read(letter);
    return TaskToken{letter, std::nullopt};
  }

 private:
  /// An expression that is still to be made, or (length 0) a token.
  struct Pending {
    std::uint64_t length = 0;
    bool outermost = false;
    Letter token = 0;
  };

  static std::uint64_t sample_seed(std::uint64_t seed, std::uint64_t index) {
    constexpr std::uint64_t kOdd = 0xd1342543de82ef95ULL;
    return Random(seed).next() + kOdd * Random(index).next();
  }

  void push_token(Letter token) { pending_.push_back({0, false, token}); }
  void push_digit() { push_token(static_cast<Letter>(random_.below(m_))); }

  /// Replaces the expression on top by its parts; what is read first is pushed last.
  void expand() {
    const Pending top = pending_.back();
    pending_.pop_back();
    const bool binary = top.length >= (top.outermost ? 3u : 5u);
    const bool bracketed = top.length >= 3 && !top.outermost;
    if (bracketed) push_token(m_ + kClose);
    if (binary) {
      const std::uint64_t operands = top.length - (bracketed ? 3 : 1);
      const std::uint64_t left = 1 + random_.below(operands - 1);
      pending_.push_back({operands - left, false});
      push_token(m_ + static_cast<Letter>(random_.below(3)));
      pending_.push_back({left, false});
    } else {
      push_digit();
      if (top.length % 2 == 0) push_token(m_ + kMinus);
    }
    if (bracketed) push_token(m_ + kOpen);
  }

  Letter m_;
  Random random_;
  RunningValue value_;
  std::vector<Pending> pending_;
};

class BracketTask : public Task {
 public:
  BracketTask(TaskInfo info, std::uint64_t m) : info_(std::move(info)), m_(m), labels_(numerals(m)) {
    std::vector<std::string> names = labels_;
    names.insert(names.end(), {"+", "-", "*", "(", ")", "=", "[PAD]"});
    alphabet_ = Alphabet::from_names(names);
  }
  const TaskInfo& info() const override { return info_; }
  const Alphabet& alphabet() const override { return alphabet_; }
  Letter input_letters() const override { return static_cast<Letter>(m_) + kEquals; }
  std::span<const std::string> labels() const override { return labels_; }
  const Dfa* oracle() const override { return nullptr; }
  std::unique_ptr<SampleStream> open(std::uint64_t length, std::uint64_t seed, std::uint64_t index) const override {
    check_length(length);
    return std::make_unique<BracketStream>(m_, length, seed, index);
  }

 private:
  TaskInfo info_;
  std::uint64_t m_;
  std::vector<std::string> labels_;
  Alphabet alphabet_;
};

}  // namespace

std::unique_ptr<Task> bracket_task(TaskInfo info, std::uint64_t m) {
  return std::make_unique<BracketTask>(std::move(info), m);
}

}  // namespace krohn
