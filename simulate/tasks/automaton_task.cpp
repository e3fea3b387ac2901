#include "krohn/simulate/tasks/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

class AutomatonTask : public Task {
 public:
  AutomatonTask(TaskInfo info, const Dfa& machine, std::unique_ptr<TaskContent> content, const TaskLayout& layout,
                std::vector<std::string> labels)
      : info_(std::move(info)),
        content_(std::move(content)),
        shape_(layout.shape),
        due_every_(layout.due_every),
        labels_(std::move(labels)),
        oracle_(with_neutral_letters(machine, specials(layout))),
        inputs_(machine.alphabet()) {
    assert(labels_.size() == oracle_.output_names().size());
    for (const std::string& name : layout.before) before_.push_back(*oracle_.alphabet().find(name));
    for (const std::string& name : layout.after) after_.push_back(*oracle_.alphabet().find(name));
    if (layout.padded) padding_ = *oracle_.alphabet().find("[PAD]");
  }

  const TaskInfo& info() const override { return info_; }
  const Alphabet& alphabet() const override { return oracle_.alphabet(); }
  Letter input_letters() const override { return inputs_.size(); }
  std::span<const std::string> labels() const override { return labels_; }
  const Dfa* oracle() const override { return &oracle_; }
  /// States count the letters read, up to the least input that is asked about and then around a cycle.
  std::optional<Dfa> asked_inputs(std::uint64_t least_length) const override {
    least_length = std::max(least_length, info_.least_length);
    while (!has_length(least_length)) ++least_length;

    const auto content_of = [&](std::uint64_t k) { return shape_(least_length + k * info_.length_step).content; };
    std::uint64_t least = 1, step = due_every_;
    if (info_.place == TargetPlace::kEnd) {
      constexpr std::uint64_t kLengths = 8;
      least = content_of(0), step = 0;
      for (std::uint64_t k = 0; k + 1 < kLengths; ++k) step = std::gcd(step, content_of(k + 1) - content_of(k));
    }
    constexpr std::uint64_t kMaxCounted = 1'000'000;
    if (least > kMaxCounted)
      throw InputError("--from", fmt::format("a word's letters are counted up to {} at most", kMaxCounted));
    const auto cycle = static_cast<State>(std::lcm(step, content_->period()));
    const State first = static_cast<State>(least), dead = first + cycle;
    std::vector<State> table;
    std::vector<bool> accepted;
    for (State read = 0; read < dead; ++read) {
      for (Letter letter = 0; letter < inputs_.size(); ++letter)
        table.push_back(!content_->may_stand(letter, read) ? dead : read + 1 == dead ? first : read + 1);
      accepted.push_back(read >= first && (read - first) % step == 0);
    }
    table.insert(table.end(), inputs_.size(), dead);
    accepted.push_back(false);
    return Dfa::acceptor(inputs_, std::move(table), 0, std::move(accepted));
  }

  std::unique_ptr<SampleStream> open(std::uint64_t length, std::uint64_t seed, std::uint64_t index) const override;
  void draw(std::uint64_t length, std::uint64_t seed, std::uint64_t index, std::vector<Letter>& letters,
            std::vector<TaskLabel>& due) const override {
    check_length(length);
    const TaskShape shape = shape_(length);
    const std::size_t first = letters.size(), content = first + before_.size(), close = content + shape.content;
    const std::size_t answered = close + after_.size();
    letters.insert(letters.end(), before_.begin(), before_.end());
    letters.resize(close);
    content_->fill(seed, index, 0, std::span(letters).subspan(content));
    letters.insert(letters.end(), after_.begin(), after_.end());
    letters.resize(answered + shape.padding, padding_);
    due.resize(letters.size(), kNoLabel);
    State state = oracle_.initial();
    if (info_.place == TargetPlace::kEnd) {
      for (std::size_t at = first; at < answered; ++at) state = oracle_.next(state, letters[at]);
      if (answered > first) due[answered - 1] = oracle_.output(state);
      return;
    }
    for (std::size_t at = first; at < content; ++at) state = oracle_.next(state, letters[at]);
    for (std::size_t at = content, next = content; at < close; ++at) {
      state = oracle_.next(state, letters[at]);
      if (at != next) continue;
      due[at] = oracle_.output(state);
      next += due_every_;
    }
  }

  std::optional<SamplePlan> plan(std::uint64_t length) const {
    check_length(length);
    if (due_every_ != 1) return std::nullopt;
    return SamplePlan{&oracle_, info_.place, before_, after_, content_->plan(), shape_(length).content};
  }

 private:
  class Stream;

  static std::vector<std::string> specials(const TaskLayout& layout) {
    std::vector<std::string> names = layout.before;
    names.insert(names.end(), layout.after.begin(), layout.after.end());
    if (layout.padded) names.push_back("[PAD]");
    return names;
  }

  TaskInfo info_;
  std::unique_ptr<TaskContent> content_;
  TaskShape (*shape_)(std::uint64_t);
  std::uint64_t due_every_;
  std::vector<std::string> labels_;
  Dfa oracle_;
  Alphabet inputs_;
  std::vector<Letter> before_, after_;
  Letter padding_ = 0;
};

class AutomatonTask::Stream : public SampleStream {
 public:
  Stream(const AutomatonTask& task, std::uint64_t length, std::uint64_t seed, std::uint64_t index)
      : task_(task),
        shape_(task.shape_(length)),
        seed_(seed),
        index_(index),
        next_due_(task.before_.size() + 1),
        state_(task.oracle_.initial()) {}

  std::optional<TaskToken> next() override {
    const std::uint64_t content_end = task_.before_.size() + shape_.content;
    const std::uint64_t close = content_end + task_.after_.size(), end = close + shape_.padding;
    std::optional<TaskToken>
        result;  // returned as it is: what is written in parts waits until it can be read as a whole
    if (at_ == end) return result;
    const bool in_content = at_ >= task_.before_.size() && at_ < content_end;
    TaskToken& token = result.emplace();
    if (at_ < task_.before_.size())
      token.letter = task_.before_[at_];
    else if (in_content)
      token.letter = content_letter(at_ - task_.before_.size());
    else
      token.letter = at_ < close ? task_.after_[at_ - content_end] : task_.padding_;
    state_ = task_.oracle_.next(state_, token.letter);
    ++at_;
    const bool due = task_.info_.place == TargetPlace::kEnd ? at_ == close : in_content && at_ == next_due_;
    if (at_ == next_due_) next_due_ += task_.due_every_;
    if (due) token.target = task_.oracle_.output(state_);
    return result;
  }

 private:
  Letter content_letter(std::uint64_t position) {
    constexpr std::uint64_t kBuffer = 4096;
    if (position % kBuffer == 0) {
      buffer_.resize(std::min(kBuffer, shape_.content - position));
      task_.content_->fill(seed_, index_, position, buffer_);
    }
    return buffer_[position % kBuffer];
  }

  const AutomatonTask& task_;
  TaskShape shape_;
  std::uint64_t seed_, index_, at_ = 0, next_due_;
  State state_;
  std::vector<Letter> buffer_;
};

std::unique_ptr<SampleStream> AutomatonTask::open(std::uint64_t length, std::uint64_t seed, std::uint64_t index) const {
  check_length(length);
  return std::make_unique<Stream>(*this, length, seed, index);
}

}  // namespace

Dfa with_neutral_letters(const Dfa& dfa, const std::vector<std::string>& names) {
  std::vector<Symbol> symbols(dfa.alphabet().symbols().begin(), dfa.alphabet().symbols().end());
  const Alphabet added = Alphabet::from_names(names);
  symbols.insert(symbols.end(), added.symbols().begin(), added.symbols().end());
  std::vector<State> table;
  table.reserve(std::size_t{dfa.states()} * symbols.size());
  for (State q = 0; q < dfa.states(); ++q) {
    table.insert(table.end(), dfa.row(q).begin(), dfa.row(q).end());
    table.insert(table.end(), names.size(), q);
  }
  return Dfa::moore(Alphabet::from_symbols(std::move(symbols)), std::move(table), dfa.initial(),
                    {dfa.outputs().begin(), dfa.outputs().end()},
                    {dfa.output_names().begin(), dfa.output_names().end()});
}

std::unique_ptr<Task> automaton_task(TaskInfo info, const Dfa& machine, std::unique_ptr<TaskContent> content,
                                     TaskLayout layout, std::vector<std::string> labels) {
  return std::make_unique<AutomatonTask>(std::move(info), machine, std::move(content), layout, std::move(labels));
}

std::optional<SamplePlan> sample_plan(const Task& task, std::uint64_t length) {
  const auto* const by_automaton = dynamic_cast<const AutomatonTask*>(&task);
  return by_automaton == nullptr ? std::nullopt : by_automaton->plan(length);
}

}  // namespace krohn
