#include "krohn/simulate/tasks/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "krohn/automata/families/families.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/random.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/names/named_group.h"

namespace krohn {

// Modular arithmetic with brackets nested to any depth: context-free, so no automaton
// answers it.

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

/// Expressions modulo m as Delétang et al. 2023 generate them and Grazzi E.1.2 prints them, followed by "=", where the
/// value is due. A length counts the tokens of the expression and "=". An expression of length n is a digit (n = 1), a
/// negated digit (2), a digit or negated digit in brackets (3, 4), or "( left op right )" with the length of `left`
/// uniform among the possible ones; the outermost brackets are left out. Memory O(depth of the expression).
std::unique_ptr<Task> bracket_task(TaskInfo info, std::uint64_t m) {
  return std::make_unique<BracketTask>(std::move(info), m);
}

namespace {

TaskShape as_given(std::uint64_t length) { return {length, 0}; }
/// n integers with an operator between each two.
TaskShape interleaved(std::uint64_t length) { return {2 * length - 1, 0}; }
/// The longest expression of digits and operators that leaves room for "=".
TaskShape expression_and_equals(std::uint64_t length) {
  const std::uint64_t content = length % 2 == 0 ? length - 1 : length - 2;
  return {content, length - content - 1};
}

TaskInfo fan_info(std::string name, std::string summary, double chance) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "Fan et al. 2024, §4.1",
          .length_unit = "tokens",
          .train = {40, 40},
          .test = {500, 500},
          .chance = chance};
}

TaskInfo fan_arithmetic_info(std::string name, double chance) {
  TaskInfo info = fan_info(std::move(name), "arithmetic with * before + and −, odd lengths: ModArith(m)", chance);
  info.length_step = 2;
  info.train = {39, 39};
  info.test = {499, 499};
  return info;
}

TaskInfo chomsky_info(std::string name, std::string summary, double chance) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "Grazzi et al. 2025, E.1.2",
          .length_unit = "tokens with = and [PAD]",
          .least_length = 2,
          .train = {3, 40},
          .test = {40, 256},
          .test_samples = 8192,
          .chance = chance};
}

TaskInfo parity_info() {
  TaskInfo info = chomsky_info("parity", "the parity of the ones so far", 0.5);
  info.length_unit = "tokens";
  info.least_length = 1;
  info.place = TargetPlace::kEveryPosition;
  return info;
}

TaskInfo group_info(std::string name, std::string summary, bool several_tokens, double chance) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "Grazzi et al. 2025, E.2",
          .length_unit = "tokens after [BOS]",
          .train = several_tokens ? LengthRange{64, 64} : LengthRange{32, 32},
          .test = {500, 500},
          .train_samples = 1'600'000,
          .test_samples = 40'000,
          .place = TargetPlace::kEveryPosition,
          .chance = chance};
}

TaskInfo ebrahimi_info(std::string name, std::string summary, double chance) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = "Ebrahimi & Memisevic 2025, B.1",
          .length_unit = "inputs between [BOS] and [EOI]",
          .train = {2, 10},
          .test = {500, 500},
          .chance = chance};
}

TaskInfo language_info(const std::string& name, double chance) {
  return {.name = name,
          .summary = "uniformly random words of " + name + ", the output after every letter",
          .source = "any automaton",
          .length_unit = "tokens",
          .train = {3, 40},
          .test = {40, 256},
          .place = TargetPlace::kEveryPosition,
          .chance = chance};
}

std::vector<std::string> output_names(const Dfa& machine) {
  return {machine.output_names().begin(), machine.output_names().end()};
}

constexpr char kPrefixes[] = "/prefixes";

double uniform_chance(std::size_t answers) { return 1.0 / static_cast<double>(answers); }

std::uint64_t modulus_of(const FamilyName& given, std::string_view name) {
  std::optional<std::uint64_t> m = given.number;
  if (given.named.size() == 1 && given.named.front().first == "m" && !m) m = given.named.front().second;
  constexpr std::uint64_t kLargest = 1'000'000;
  if (!m || *m == 0 || given.named.size() + (given.number ? 1 : 0) != 1)
    throw InputError(fmt::format("task \"{}\": a modulus from 1 is needed (for example {}5)", name, given.family));
  if (*m > kLargest) throw LimitError(fmt::format("task \"{}\": the modulus is at most {}", name, kLargest));
  return *m;
}

/// As the paper asks, at the end; or as its released code trains, at every prefix that has an answer.
std::unique_ptr<Task> fan_task(std::string_view name, const std::string& family, bool prefixes,
                               const LanguageOptions& options) {
  const Dfa machine = named_language(name, options);
  const double chance = uniform_chance(machine.output_names().size());
  const bool numbers = family == "modarith", pairs = family == "evenpair";
  const std::string full_name = std::string(name) + (prefixes ? kPrefixes : "");
  TaskInfo info =
      numbers ? fan_arithmetic_info(full_name, chance)
              : fan_info(full_name, pairs ? "does the last letter equal the first?" : "the sum modulo m", chance);
  if (prefixes) {
    info.source = "Fan et al. 2024, the released code";
    info.summary += numbers ? ", after every number" : ", after every letter";
    info.place = TargetPlace::kEveryPosition;
  }
  return automaton_task(std::move(info), machine,
                        numbers ? alternating_content(machine.letters() - 3) : uniform_content(machine.letters()),
                        {{}, {}, false, as_given, prefixes && numbers ? std::uint64_t{2} : std::uint64_t{1}},
                        pairs ? std::vector<std::string>{"0", "1"} : output_names(machine));
}

std::unique_ptr<Task> chomsky_task(std::string_view name, const FamilyName& given, const LanguageOptions& options) {
  if (given.family == "parity") {
    const Dfa machine = named_language(name, options);
    return automaton_task(parity_info(), machine, uniform_content(2), {{}, {}, false, as_given}, {"0", "1"});
  }
  const std::uint64_t m = modulus_of(given, name);
  if (given.family == "modarith-brackets")
    return bracket_task(chomsky_info(std::string(name), "arithmetic with brackets modulo m", uniform_chance(m)), m);
  const Dfa machine = modular_arithmetic(m, {.max_states = options.max_states});
  return automaton_task(chomsky_info(std::string(name), "arithmetic without brackets modulo m", uniform_chance(m)),
                        machine, alternating_content(static_cast<Letter>(m)), {{}, {"="}, true, expression_and_equals},
                        output_names(machine));
}

std::unique_ptr<Task> ebrahimi_task(std::string_view name, const std::string& family, const LanguageOptions& options) {
  const Dfa machine = named_language(name, options);
  const TaskLayout layout{{"[BOS]"}, {"[EOI]"}, false, family == "ltrarith" ? interleaved : as_given};
  if (family == "ltrarith") {
    const Letter m = machine.letters() - 3;
    return automaton_task(ebrahimi_info(std::string(name), "arithmetic from left to right modulo m", uniform_chance(m)),
                          machine, alternating_content(m), layout, output_names(machine));
  }
  const char* summary =
      family == "rsm" ? "the final state of a random state machine" : "the sum of the inputs modulo m";
  return automaton_task(ebrahimi_info(std::string(name), summary, uniform_chance(machine.letters())), machine,
                        uniform_content(machine.letters()), layout, output_names(machine));
}

/// The k of ".../tokens=k"; `named_language` has checked the name.
std::uint64_t tokens_per_transition(std::string_view name) {
  const std::size_t at = name.rfind('=');
  std::uint64_t tokens = 0;
  for (const char c : name.substr(at + 1))
    if (std::isdigit(static_cast<unsigned char>(c))) tokens = 10 * tokens + static_cast<std::uint64_t>(c - '0');
  return tokens;
}

std::unique_ptr<Task> group_task(std::string_view name, const LanguageOptions& options) {
  const Dfa machine = named_language(name, options);
  const double chance = uniform_chance(machine.output_names().size());
  const TaskLayout layout{{"[BOS]"}, {}, false, as_given};
  const auto pause = machine.alphabet().find("pause");
  if (!pause) {
    TaskInfo info = group_info(std::string(name), "the product of the elements so far", false, chance);
    if (options.generators) info.content = fingerprint(canonical_automaton(machine));
    return automaton_task(std::move(info), machine, uniform_content(machine.letters()), layout, output_names(machine));
  }
  const std::uint64_t tokens = tokens_per_transition(name);
  TaskInfo info = group_info(
      std::string(name),
      fmt::format("one element every {}, the product {} late", counted(tokens, "token"), counted(tokens - 1, "token")),
      true, chance);
  return automaton_task(std::move(info), machine, spaced_content(*pause, tokens), layout, output_names(machine));
}

bool is_one_of(const std::string& family, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), family) != names.end();
}

}  // namespace

bool is_language_name(std::string_view name) {
  return !prefix_of_language(name).empty() || format_of_extension(std::filesystem::path(name).extension().string());
}

std::vector<TaskInfo> tasks() {
  return {
      fan_info("sum5", "the sum modulo 5: Sum(5)", 1.0 / 5),
      fan_info("evenpair5", "does the last letter equal the first? EvenPair(5)", 1.0 / 2),
      fan_arithmetic_info("modarith5", 1.0 / 5),
      parity_info(),
      chomsky_info("modarith-equals5", "arithmetic without brackets modulo 5", 1.0 / 5),
      chomsky_info("modarith-brackets5", "arithmetic with brackets modulo 5", 1.0 / 5),
      group_info("S5", "the product of permutations of five points", false, 1.0 / 120),
      group_info("S5/swaps", "the same, only swaps and the identity", false, 1.0 / 120),
      group_info("S5/swaps and 3-cycles", "the same, permutations that move at most three points", false, 1.0 / 120),
      group_info("S5/tokens=4", "one permutation every 4 tokens, the product 3 tokens late", true, 1.0 / 120),
      group_info("Z60", "addition modulo 60", false, 1.0 / 60),
      group_info("Z60/tokens=2", "one residue every 2 tokens, the sum 1 token late", true, 1.0 / 60),
      ebrahimi_info("modadd10", "the sum of the inputs modulo 10", 1.0 / 10),
      ebrahimi_info("rsm:m=10,seed=1", "the final state of a random state machine", 1.0 / 10),
      ebrahimi_info("ltrarith10", "arithmetic from left to right modulo 10", 1.0 / 10)};
}

std::unique_ptr<Task> language_task(std::string name, const Dfa& automaton) {
  if (automaton.letters() == 0)
    throw InputError(name, "no word can be drawn without letters; a regex takes them by --alphabet");
  TaskInfo info = language_info(name, uniform_chance(automaton.output_names().size()));
  if (is_language_name(name)) info.content = fingerprint(canonical_automaton(automaton));
  return automaton_task(std::move(info), automaton, uniform_content(automaton.letters()), {{}, {}, false, as_given},
                        output_names(automaton));
}

std::unique_ptr<Task> make_task(std::string_view name, const LanguageOptions& options) {
  if (is_language_name(name)) return language_task(std::string(name), load_language(std::string(name), options));
  const bool prefixes = name.ends_with(kPrefixes);
  const std::string_view plain = prefixes ? name.substr(0, name.size() - std::string_view(kPrefixes).size()) : name;
  const auto given = parse_family_name(plain);
  if (given && is_one_of(given->family, {"sum", "evenpair", "modarith"}))
    return fan_task(plain, given->family, prefixes, options);
  if (given && !prefixes) {
    const std::string& family = given->family;
    if (is_one_of(family, {"parity", "modarith-equals", "modarith-brackets"}))
      return chomsky_task(name, *given, options);
    if (is_one_of(family, {"modadd", "rsm", "ltrarith"})) return ebrahimi_task(name, family, options);
  }
  if (is_group_name(name.substr(0, name.find('/')))) return group_task(name, options);
  return language_task(std::string(name), named_language(name, options));
}

}  // namespace krohn
