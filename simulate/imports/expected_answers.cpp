#include "krohn/simulate/imports/import_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/simulate/learned/trained_reader.h"

namespace krohn {
namespace {

using nlohmann::json;

/// The contents of one line.
struct Expected {
  Word word;
  std::size_t first = 0;                    ///< letters before the first one after which something is said
  std::vector<std::string> shown;           ///< of every position, as the line has it
  std::vector<TaskLabel> answers;           ///< of every position; or none
  std::vector<std::vector<double>> logits;  ///< of every position, by label, NaN where no number is given; or none
};

class LineReader {
 public:
  LineReader(const Task& task, const ImportedNumbers& numbers, std::string where)
      : task_(task), numbers_(numbers), where_(std::move(where)) {}

  Expected read(const std::string& line) const {
    Expected found = line.starts_with('{') ? from_json(line) : from_columns(line);
    if (found.word.empty()) fail("an empty word has no answer: a model answers after letters");
    const std::size_t said = found.shown.size(), length = found.word.size();
    if (said != 1 && said != length)
      fail(fmt::format("{} to {}; give one for every letter, or one for the last", counted(said, "answer"),
                       counted(length, "letter")));
    found.first = length - said;
    return found;
  }

  [[noreturn]] void fail(const std::string& why) const { throw InputError(where_, why); }

 private:
  Expected from_columns(const std::string& line) const {
    Expected found;
    std::size_t at = line.find('\t');
    if (at == std::string::npos) fail("neither a JSON object nor a word, a tab, and answers with tabs between them");
    found.word = parsed(line.substr(0, at));
    while (at != std::string::npos) {
      const std::size_t next = line.find('\t', at + 1);
      const std::string text = line.substr(at + 1, next == std::string::npos ? next : next - at - 1);
      add_answer(found, text, std::ranges::count(task_.labels(), text) > 0);
      at = next;
    }
    return found;
  }

  Expected from_json(const std::string& line) const {
    const json object = parse_strict_json(line, where_, /*is_part=*/true);
    Expected found;
    const json *answers = nullptr, *logits = nullptr;
    for (const auto& [name, value] : object.items())
      if (name == "word")
        found.word = word_of(value);
      else if (name == "answers" || name == "answer")
        answers = &value;
      else if (name == "logits")
        logits = &value;
      else
        fail(fmt::format("{} is not known; there are word, and answer, answers or logits", in_quotes(name)));
    if (!object.contains("word") || (answers == nullptr) == (logits == nullptr) ||
        (object.contains("answer") && object.contains("answers")))
      fail("it needs word, and one of answer, answers and logits");
    if (answers != nullptr)
      for (const json& one : answers->is_array() ? *answers : json::array({*answers}))
        add_answer(found, text_of(one), one.is_string());
    if (logits != nullptr) add_logits(found, *logits);
    return found;
  }

  /// A name, or the digits of a number.
  std::string text_of(const json& value) const {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number_unsigned()) fail(fmt::format("{} is neither a name nor a number from 0 on", value.dump()));
    return value.dump();
  }

  Word word_of(const json& value) const {
    if (value.is_string()) return parsed(value.get<std::string>());
    if (!value.is_array()) fail("word is neither a text nor a list of letters");
    Word word;
    for (const json& each : value) {
      const std::string text = text_of(each);
      const auto letter = each.is_string() ? task_.alphabet().find(text) : numbered(text, numbers_.tokens);
      if (!letter || *letter >= task_.alphabet().size())
        fail(fmt::format("there is no letter {}{}", each.is_string() ? "" : "with the number ", in_quotes(text)));
      word.push_back(static_cast<Letter>(*letter));
    }
    return word;
  }

  Word parsed(const std::string& text) const try {
    return task_.alphabet().parse_word(text);
  } catch (const InputError& error) {
    fail(error.what());
  }

  /// The place of a number of the owner's.
  static std::optional<std::uint32_t> numbered(const std::string& text, const std::vector<std::uint32_t>& numbers) {
    const auto number = number_in<std::uint32_t>(text);
    if (!number || numbers.empty()) return number;
    const auto at = std::ranges::find(numbers, *number);
    return at == numbers.end() ? std::nullopt : std::optional(static_cast<std::uint32_t>(at - numbers.begin()));
  }

  void add_answer(Expected& found, const std::string& text, bool is_name) const {
    const auto labels = task_.labels();
    const auto label = is_name
                           ? std::optional(static_cast<std::uint32_t>(std::ranges::find(labels, text) - labels.begin()))
                           : numbered(text, numbers_.classes);
    if (!label || *label >= labels.size())
      fail(fmt::format("{} is no answer; there are {}, or their rows of the read-out by number", in_quotes(text),
                       fmt::join(labels, ", ")));
    found.answers.push_back(*label);
    found.shown.push_back(labels[*label]);
  }

  void add_logits(Expected& found, const json& given) const {
    if (!given.is_array() || given.empty()) fail("logits are a list of numbers, or one such list for every letter");
    const bool is_list = given.front().is_array();
    for (const json& row : is_list ? given : json::array({given})) {
      std::vector<double> all;
      for (const json& number : row) {
        if (!number.is_number() && !number.is_null()) fail("logits are numbers, or null where one is not finite");
        all.push_back(number.is_null() ? NAN : number.get<double>());
      }
      if (all.size() == 1 && task_.labels().size() == 2) all.insert(all.begin(), 0);  // one logit, of label 1
      std::vector<std::uint32_t> classes = numbers_.classes;
      if (classes.empty())
        for (std::uint32_t i = 0; i < task_.labels().size(); ++i) classes.push_back(i);
      if (all.size() <= std::ranges::max(classes) || (numbers_.classes.empty() && all.size() != classes.size()))
        fail(fmt::format("{} logits, and the read-out has rows for {} answers", all.size(), classes.size()));
      std::vector<double>& chosen = found.logits.emplace_back();
      for (const std::uint32_t each : classes) chosen.push_back(all[each]);
      found.shown.push_back(fmt::format("[{:.6g}]", fmt::join(chosen, ", ")));
    }
  }

  const Task& task_;
  const ImportedNumbers& numbers_;
  std::string where_;
};

bool is_finite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

double greatest_size(std::span<const double> numbers) {
  double size = 1;
  for (const double number : numbers) size = std::max(size, std::abs(number));
  return size;
}

double farthest(std::span<const double> left, std::span<const double> right) {
  double most = 0;
  for (std::size_t i = 0; i < left.size(); ++i) most = std::max(most, std::abs(left[i] - right[i]));
  return most;
}

/// How far the logits that the weights give at a position are from what is expected there.
struct Distance {
  double off = 0;      ///< infinity where only one of the two is finite, NaN where neither is
  double allowed = 0;  ///< what still agrees
};

Distance distance(const Expected& expected, std::size_t at, std::span<const double> own) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN(), kFar = std::numeric_limits<double>::infinity();
  if (expected.logits.empty()) {
    if (!is_finite(own)) return {kNone, 0};
    return {std::ranges::max(own) - own[expected.answers[at]], kLogitTolerance * greatest_size(own)};
  }
  const std::vector<double>& wanted = expected.logits[at];
  if (!is_finite(own) || !is_finite(wanted)) return {is_finite(own) || is_finite(wanted) ? kFar : kNone, 0};
  return {farthest(own, wanted), kLogitTolerance * std::max(greatest_size(own), greatest_size(wanted))};
}

std::string own_answer(std::span<const double> own, const Expected& expected, const Task& task) {
  if (!expected.logits.empty()) return fmt::format("[{:.6g}]", fmt::join(own, ", "));
  return task.labels()[static_cast<std::size_t>(std::ranges::max_element(own) - own.begin())];
}

/// A recurrence that forgets nothing may let the last bit of a step grow until it moves logits. By how much it has is
/// seen by reading the word in fp64, too.
class Rounding {
 public:
  explicit Rounding(const SequenceModel<float>& model) : model_(model) {}

  /// True where the rounding of fp32 has moved the logits after `t` + 1 letters so far that another order of sums could
  /// be `off`.
  bool explains(double off, const Word& word, std::size_t t, std::span<const double> own) {
    constexpr double kUnlike = 100;  // how unlike two roundings of the same steps may be
    if (!std::isfinite(off)) return false;
    if (!wide_) wide_ = trained_logits(model_, Precision::kFp64);
    std::vector<double> logits(word.size() * own.size());
    wide_(word, logits);
    return farthest(own, std::span(logits).subspan(t * own.size(), own.size())) * kUnlike >= off;
  }

 private:
  const SequenceModel<float>& model_;
  TrainedLogits wide_;
};

std::string joined(const std::vector<std::uint32_t>& numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }

template <class Number>
Number stored_number(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string stored_text(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

std::vector<std::uint32_t> stored_list(const std::map<std::string, std::string>& metadata, const char* key) {
  const std::string text = stored_text(metadata, key);
  std::vector<std::uint32_t> numbers;
  for (std::size_t at = 0; at < text.size();
       at = text.find(',', at) == std::string::npos ? text.size() : text.find(',', at) + 1)
    numbers.push_back(stored_number<std::uint32_t>(std::string_view(text).substr(at)));
  return numbers;
}

constexpr char kWords[] = "compared_words", kAnswers[] = "compared_answers", kTokens[] = "imported_letters",
               kClasses[] = "imported_classes";

}  // namespace

ComparedAnswers compare_with_expected(std::string_view text, const std::string& where,
                                      const SequenceModel<float>& model, const Task& task,
                                      const ImportedNumbers& numbers) {
  const FloatEnvironment environment;
  const TrainedLogits logits_of = trained_logits(model, Precision::kFp32);
  Rounding rounding(model);
  const std::size_t labels = task.labels().size();
  ComparedAnswers compared;
  std::vector<double> logits;
  std::size_t line = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (each.ends_with('\r')) each.pop_back();
    ++line;
    if (each.empty()) continue;
    const LineReader reader(task, numbers, fmt::format("{}:{}", where, line));
    const Expected expected = reader.read(each);
    logits.resize(expected.word.size() * labels);
    logits_of(expected.word, logits);
    const std::uint64_t before = compared.answers;
    for (std::size_t i = 0; i < expected.shown.size(); ++i) {
      const std::size_t t = expected.first + i;
      const std::span<const double> own = std::span(logits).subspan(t * labels, labels);
      const auto [off, allowed] = distance(expected, i, own);
      if (std::isnan(off)) break;
      if (off > allowed) {
        if (rounding.explains(off, expected.word, t, own)) break;
        reader.fail(fmt::format(
            "after {} its own forward pass says {}, and the weights as krohn reads them say {}: the model does "
            "something that its tensors do not show (a residual, a norm without weights, another activation or initial "
            "state), and a verdict would be about another model",
            quoted_letters(task.alphabet(), {expected.word.data(), t + 1}), expected.shown[i],
            own_answer(own, expected, task)));
      }
      ++compared.answers;
    }
    compared.words += compared.answers > before ? 1 : 0;
  }
  if (compared.answers == 0) throw InputError(where, "no answer of it could be compared");
  return compared;
}

void store_comparison(std::map<std::string, std::string>& metadata, const ImportedNumbers& numbers,
                      const ComparedAnswers& compared) {
  if (!numbers.tokens.empty()) metadata[kTokens] = joined(numbers.tokens);
  if (!numbers.classes.empty()) metadata[kClasses] = joined(numbers.classes);
  if (compared.words == 0) return;
  metadata[kWords] = std::to_string(compared.words);
  metadata[kAnswers] = std::to_string(compared.answers);
}

ImportedNumbers stored_numbers(const std::map<std::string, std::string>& metadata) {
  return {stored_list(metadata, kTokens), stored_list(metadata, kClasses)};
}

ComparedAnswers stored_comparison(const std::map<std::string, std::string>& metadata) {
  return {stored_number<std::uint64_t>(stored_text(metadata, kWords)),
          stored_number<std::uint64_t>(stored_text(metadata, kAnswers))};
}

}  // namespace krohn
