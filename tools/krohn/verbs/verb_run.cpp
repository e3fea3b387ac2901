// krohn run — words through an automaton, and through a network alongside it.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/evaluate/lanes/sample.h"
#include "krohn/simulate/run/run_dfa.h"
#include "krohn/simulate/tasks/tasks.h"
#include "krohn/simulate/words/word.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/models/model_in_motion.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

// The words that are read: written out, from a file, or random.

/// A word that is stored, made slice by slice, or read from a file that may never end.
class WordSource {
 public:
  /// `text` is a word in the letters of `dfa`, `file:PATH` (one word; line ends are no letters of it),
  /// `random:LENGTH`, `accepted:LENGTH` (random among the words that `dfa` accepts), or `word:W` for a word that looks
  /// like one of these. `dfa` outlives the word. Throws InputError for unknown letters and SystemError for unreadable
  /// files.
  static WordSource parse(const std::string& text, const Dfa& dfa, std::uint64_t seed);

  /// The letters, or those that are stored when there are more.
  std::uint64_t length() const { return length_; }
  /// True for a word that goes on behind `letters()`: it can be read once, from first to last.
  bool is_open() const { return rest_ != nullptr; }
  /// The word that the slices are from, when it is random.
  const std::optional<RandomWord>& random() const { return random_; }
  /// The word, or its beginning when it is open; empty when it is random.
  const Word& letters() const { return letters_; }
  /// Letters from `first` on, at most out.size(). Returns how many; 0 at the end. `first` is where the last read ended.
  /// Throws as `parse`.
  std::size_t read(std::uint64_t first, std::span<Letter> out) const;
  /// The word for a line of output: a typed one whole, as it was typed.
  const std::string& title() const { return title_; }
  /// The whole word as text; nothing for the words of files and for random ones.
  const std::optional<std::string>& text() const { return text_; }

 private:
  Word letters_;
  std::shared_ptr<WordStream> rest_;  ///< the words after letters_, if any
  std::optional<RandomWord> random_;
  std::uint64_t length_ = 0;
  std::string title_;
  std::optional<std::string> text_;
};

std::optional<std::string> after(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

constexpr std::size_t kMaxStored = std::size_t{1} << 26;  // 256 MiB

/// The first word of the stream, up to `most` letters.
Word read_beginning(WordStream& stream, std::size_t most) {
  constexpr std::size_t kBlock = 1 << 16;
  Word word;
  if (!stream.next_word()) return word;
  for (std::size_t count = kBlock; count > 0 && word.size() < most;) {
    const std::size_t length = word.size();
    word.resize(std::min(length + kBlock, most));
    count = stream.read(std::span(word).subspan(length));
    word.resize(length + count);
  }
  return word;
}

/// Where a word comes from that may be longer than memory.
std::shared_ptr<WordStream> stream_of(const std::string& text, const Dfa& dfa, std::uint64_t seed) {
  if (const auto path = after(text, "file:")) return std::make_shared<WordFile>(*path, dfa.alphabet());
  if (const auto length = after(text, "accepted:"))
    return std::make_shared<AcceptedWordStream>(dfa, parse_count(*length, text), 1, seed);
  return nullptr;
}

WordSource WordSource::parse(const std::string& text, const Dfa& dfa, std::uint64_t seed) {
  WordSource word;
  if (const auto length = after(text, "random:")) {
    word.random_ = RandomWord(dfa.letters(), seed);
    word.length_ = parse_count(*length, text);
    word.title_ = fmt::format("random word of {} (seed {})", counted(word.length_, "letter"), seed);
    return word;
  }
  if (auto stream = stream_of(text, dfa, seed)) {
    word.letters_ = read_beginning(*stream, kMaxStored);
    if (word.letters_.size() == kMaxStored) word.rest_ = std::move(stream);
  } else {
    word.text_ = after(text, "word:").value_or(text);
    word.letters_ = dfa.alphabet().parse_word(*word.text_);
  }
  word.length_ = word.letters_.size();
  const std::string letters = counted(word.length_, "letter");
  if (text.starts_with("accepted:")) {
    word.title_ = quoted_word(dfa.alphabet(), word.letters_) + (word.is_open() ? " and what follows" : "");
    if (!word.is_open()) word.text_ = dfa.alphabet().format_word(word.letters_);
  } else if (!word.text_) {
    word.title_ = fmt::format("{} ({}{})", visible(text), letters, word.is_open() ? " and what follows" : "");
  } else {
    word.title_ = word.length_ == 0 ? "the empty word" : fmt::format("\"{}\" ({})", visible(*word.text_), letters);
  }
  return word;
}

std::size_t WordSource::read(std::uint64_t first, std::span<Letter> out) const {
  if (first >= length_) return rest_ == nullptr ? 0 : rest_->read(out);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), length_ - first));
  if (random_)
    random_->fill(first, out.first(count));
  else
    std::copy_n(letters_.begin() + static_cast<std::ptrdiff_t>(first), count, out.begin());
  return count;
}

// The verb.

constexpr std::size_t kChunk = 1 << 16;
constexpr std::uint64_t kLongestTrace = 1'000'000;

struct RunArguments {
  std::string subject, precision = "fp32", order = "sequential", form = "structured", device = "auto";
  std::vector<std::string> words;
  std::uint64_t count = 0, seed = 1;
  unsigned threads = 0;
  LanguageOptions reading;
  bool trace = false, json = false;
};

/// The outcome of one word.
struct Outcome {
  State state = 0;                                              ///< the automaton's
  State network_state = 0;                                      ///< the network's, kNoState when it could not be read
  std::optional<std::uint64_t> wrong_from;                      ///< letters read at the first disagreement of states
  std::uint64_t wrong = 0;                                      ///< positions that disagree
  std::uint64_t letters = 0;                                    ///< read
  LetterReader::Missing missing = LetterReader::Missing::kTie;  ///< with kNoState
  struct Step {
    Letter letter;
    State state, network_state;
    LetterReader::Missing missing;
  };
  std::vector<Step> trace;
};

void compare_states(Outcome& outcome, std::uint64_t position) {
  if (outcome.network_state == outcome.state) return;
  if (!outcome.wrong_from) outcome.wrong_from = position;
  ++outcome.wrong;
}

/// The automaton alone on a word that is made on the way: the fast road for 10^9 letters.
Outcome run_random_word(const Dfa& dfa, const RandomWord& word, std::uint64_t length, unsigned threads) {
  constexpr std::uint64_t kSlice = std::uint64_t{1} << 26;
  Progress progress("reading letters");
  const Runner runner(dfa, {.threads = threads, .expected_letters = length});
  Outcome outcome;
  outcome.state = dfa.initial();
  for (std::uint64_t first = 0; first < length; first += kSlice) {
    const std::uint64_t count = std::min(kSlice, length - first);
    outcome.state = runner.run(word, first, count, outcome.state);
    progress.update(first + count, length);
  }
  return outcome;
}

/// A device is worth its start for long words; `--device cuda` insists.
bool reads_on_device(const RunArguments& options, const WordSource& word) {
  constexpr std::uint64_t kManyLetters = 10'000'000;
  if (word.is_open() && options.device == "cuda")
    throw InputError("--device",
                     fmt::format("a word of more than {} is read on the processor", counted(word.length(), "letter")));
  return !word.is_open() && (options.device == "cuda" || word.length() >= kManyLetters) && wants_cuda(options.device);
}

/// The automaton alone on a device.
Outcome run_on_device(const Dfa& dfa, const WordSource& word) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 34;  // tens of milliseconds
  Outcome outcome;
  outcome.state = dfa.initial();
  if (!word.random()) {
    outcome.state = StoredWordRunner(Place::kDevice, dfa).run(PackedWord(dfa.letters(), word.letters()), outcome.state);
    return outcome;
  }
  Progress progress("reading letters");
  const SlicedRunner runner(dfa, cuda_slice_reader);
  for (std::uint64_t first = 0; first < word.length(); first += kPiece) {
    const std::uint64_t count = std::min(kPiece, word.length() - first);
    outcome.state = runner.run(*word.random(), first, count, outcome.state);
    progress.update(first + count, word.length());
  }
  return outcome;
}

/// `network`: an Evaluator or a ModelInMotion; null: the automaton is alone.
template <class Machine>
Outcome run_word(const Dfa& dfa, Machine* network, const WordSource& word, bool trace) {
  Progress progress("reading letters");
  Outcome outcome;
  outcome.state = dfa.initial();
  if (network != nullptr) {
    network->reset();
    outcome.network_state = network->current().value_or(kNoState);
    compare_states(outcome, 0);
  }
  std::vector<Letter> letters(kChunk);
  std::vector<State> states(kChunk);
  while (const std::size_t count = word.read(outcome.letters, letters)) {
    const std::uint64_t first = outcome.letters;
    const std::span<const Letter> slice(letters.data(), count);
    if (network != nullptr && !trace) network->run(slice, std::span(states.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      outcome.state = dfa.next(outcome.state, slice[i]);
      if (network != nullptr) {
        outcome.network_state = trace ? network->step(slice[i]).value_or(kNoState) : states[i];
        compare_states(outcome, first + i + 1);
        if (outcome.network_state == kNoState && (trace || i + 1 == count)) outcome.missing = network->missing();
      }
      if (trace) outcome.trace.push_back({slice[i], outcome.state, outcome.network_state, outcome.missing});
    }
    outcome.letters += count;
    progress.update(outcome.letters, std::max(outcome.letters, word.length()));
  }
  return outcome;
}

/// A reader of words besides the automaton.
struct Reader {
  std::unique_ptr<Evaluator> network;
  std::unique_ptr<ModelInMotion> model;
  bool says_outputs = false;  ///< a trained model's states stand for their outputs
  std::string precision = {};

  bool is_there() const { return network != nullptr || model != nullptr; }
};

/// State and output in words: "accept, state 3", or "accept" alone when the output names the state.
std::string answer(const Dfa& dfa, State state) {
  const std::string output = visible(dfa.output_names()[dfa.output(state)]), name = visible(dfa.state_name(state));
  return output == name ? output : fmt::format("{}, state {}", output, name);
}

/// Returns the answer of the reader beside the automaton.
std::string answer(const Dfa& dfa, State state, LetterReader::Missing missing, const Reader& reader) {
  if (state == kNoState) return in_words(missing, reader.precision);
  return reader.says_outputs ? visible(dfa.output_names()[dfa.output(state)]) : answer(dfa, state);
}

const char* name_of(const Reader& reader) { return reader.says_outputs ? "model" : "network"; }

void print_trace(const Dfa& dfa, const Outcome& outcome, const Reader& reader) {
  std::vector<std::vector<std::string>> rows = {{"position", "letter", "automaton"}};
  if (reader.is_there()) rows[0].push_back(name_of(reader));
  rows.push_back({"0", "", answer(dfa, dfa.initial())});
  for (std::size_t i = 0; i < outcome.trace.size(); ++i) {
    const Outcome::Step& step = outcome.trace[i];
    rows.push_back({std::to_string(i + 1), dfa.alphabet().name(step.letter), answer(dfa, step.state)});
    if (reader.is_there()) rows.back().push_back(answer(dfa, step.network_state, step.missing, reader));
  }
  fmt::print("{}", format_table(rows));
}

void print_outcome(const Dfa& dfa, const WordSource& word, const Outcome& outcome, const Reader& reader) {
  fmt::print("{}: {}\n", word.title(), answer(dfa, outcome.state));
  if (!outcome.trace.empty()) print_trace(dfa, outcome, reader);
  if (!reader.is_there()) return;
  if (!outcome.wrong_from)
    fmt::print("  the {} agrees at every position\n", name_of(reader));
  else
    fmt::print("  the {} says: {}; it is wrong at {}, first after {}\n", name_of(reader),
               answer(dfa, outcome.network_state, outcome.missing, reader), counted(outcome.wrong, "position"),
               counted(*outcome.wrong_from, "letter"));
}

nlohmann::ordered_json place_to_json(const Dfa& dfa, State state, bool says_outputs = false) {
  if (says_outputs) return {{"output", dfa.output_names()[dfa.output(state)]}};
  return {{"state", dfa.state_name(state)}, {"output", dfa.output_names()[dfa.output(state)]}};
}

/// The answer of a reader besides the automaton; where there is none, the reason.
nlohmann::ordered_json place_to_json(const Dfa& dfa, State state, LetterReader::Missing missing, const Reader& reader) {
  if (state == kNoState) return {{"output", nullptr}, {"reason", in_words(missing, reader.precision)}};
  return place_to_json(dfa, state, reader.says_outputs);
}

nlohmann::ordered_json outcome_to_json(const Dfa& dfa, const std::string& given, const WordSource& word,
                                       const Outcome& outcome, const Reader& reader) {
  nlohmann::ordered_json json;
  if (word.text()) json["word"] = *word.text();
  json["given"] = given;
  json["length"] = std::max(word.length(), outcome.letters);
  json["automaton"] = place_to_json(dfa, outcome.state);
  if (reader.is_there()) {
    json[name_of(reader)] = place_to_json(dfa, outcome.network_state, outcome.missing, reader);
    json["wrong_positions"] = outcome.wrong;
    if (outcome.wrong_from) json["wrong_from"] = *outcome.wrong_from;
  }
  for (const Outcome::Step& step : outcome.trace) {
    nlohmann::ordered_json row = {{"letter", dfa.alphabet().name(step.letter)},
                                  {"automaton", place_to_json(dfa, step.state)}};
    if (reader.is_there()) row[name_of(reader)] = place_to_json(dfa, step.network_state, step.missing, reader);
    json["trace"].push_back(std::move(row));
  }
  return json;
}

/// A checkpoint's layers have one order, and no other form.
std::unique_ptr<ModelInMotion> evaluator_of_checkpoint(const RunArguments& options) {
  if (!parse_order(options.order).is_sequential())
    throw InputError("--order", "a checkpoint is run token by token; `krohn verify` also reads some in chunks");
  if (parse_form(options.form) != Form::kStructured)
    throw InputError("--form", "the weights of a checkpoint have one form; leave the option out");
  Checkpoint checkpoint = load_checkpoint(options.subject);
  remark_on_arithmetic(options.subject, options.precision, loaded_otherwise(checkpoint, options.precision));
  return checkpoint_in_motion(std::move(checkpoint), parse_precision(options.precision));
}

/// A model that was trained reads letter after letter, in its own arithmetic.
std::unique_ptr<ModelInMotion> evaluator_of_trained(const RunArguments& options, TrainedSubject subject) {
  if (!parse_order(options.order).is_sequential())
    throw InputError("--order", "a trained model is read letter by letter");
  if (parse_form(options.form) != Form::kStructured)
    throw InputError("--form", "the weights of a trained model have one form; leave the option out");
  return trained_in_motion(std::move(subject), parse_precision(options.precision));
}

Reader reader_of(const RunArguments& options, const Subject& subject) {
  if (is_checkpoint_folder(options.subject))
    return {nullptr, evaluator_of_checkpoint(options), false, options.precision};
  if (!subject.network) return {};
  return {make_evaluator(*subject.network, ArithmeticName::parse(options.precision), parse_form(options.form),
                         parse_order(options.order)),
          nullptr, false, options.precision};
}

int run_words(const RunArguments& options, const Dfa& automaton, const Reader& reader) {
  nlohmann::ordered_json all{{"words", nlohmann::ordered_json::array()}};
  bool wrong = false;
  const auto run_one = [&](const std::string& text) {
    const WordSource word = WordSource::parse(text, automaton, options.seed);
    if (options.trace && word.length() > kLongestTrace)  // an open word is longer than that, too
      throw InputError("--trace", fmt::format("at most {} can be printed", counted(kLongestTrace, "letter")));
    const bool alone = !reader.is_there() && !options.trace;
    if (!alone && options.device == "cuda")
      throw InputError("--device",
                       "an automaton alone, without --trace, reads words on a device; `krohn verify` runs "
                       "networks there");
    const auto on_processor = [&] {
      if (alone && word.random()) return run_random_word(automaton, *word.random(), word.length(), options.threads);
      return reader.model ? run_word(automaton, reader.model.get(), word, options.trace)
                          : run_word(automaton, reader.network.get(), word, options.trace);
    };
    const Outcome outcome = alone && reads_on_device(options, word)
                                ? on_device(
                                      options.device, [&] { return run_on_device(automaton, word); }, on_processor)
                                : on_processor();
    wrong |= outcome.wrong_from.has_value();
    if (options.json)
      all["words"].push_back(outcome_to_json(automaton, text, word, outcome, reader));
    else
      print_outcome(automaton, word, outcome, reader);
  };
  const bool are_all_read = finds_all(all, options.json, [&] { std::ranges::for_each(options.words, run_one); });
  if (options.json) print_json(all);
  return wrong ? kRefuted : are_all_read ? kDone : kUndecided;
}

RandomSample sample_of(const RunArguments& options) {
  const std::string prefix = "random:";
  if (options.words.size() != 1 || !options.words[0].starts_with(prefix))
    throw InputError("--words", "counts final states of random words: give one random:LENGTH");
  return {.words = options.count,
          .length = parse_count(options.words[0].substr(prefix.size()), options.words[0]),
          .seed = options.seed};
}

std::vector<std::uint64_t> counts_on_processor(const Dfa& dfa, const RandomSample& sample, unsigned threads) {
  constexpr std::uint64_t kLettersPerBatch = std::uint64_t{1} << 26;
  Progress progress("running words");
  const Runner runner(dfa, {.threads = threads});
  std::vector<std::uint64_t> counts(dfa.states(), 0);
  const std::uint64_t batch = std::max<std::uint64_t>(kLettersPerBatch / std::max<std::uint64_t>(sample.length, 1), 1);
  for (std::uint64_t first = 0; first < sample.words; first += batch) {
    const std::uint64_t count = std::min(batch, sample.words - first);
    for (const State state : runner.run_random_words(sample.seed, first, count, sample.length)) ++counts[state];
    progress.update(first + count, sample.words);
  }
  return counts;
}

int count_final_states(const RunArguments& options, const Dfa& dfa) {
  const RandomSample sample = sample_of(options);
  bool is_on_device = wants_cuda(options.device);
  const auto on_processor = [&] {
    is_on_device = false;
    return counts_on_processor(dfa, sample, options.threads);
  };
  const auto counts = is_on_device
                          ? on_device(
                                options.device, [&] { return cuda_final_state_counts(dfa, sample); }, on_processor)
                          : on_processor();
  if (options.json) {
    nlohmann::ordered_json json = {{"words", sample.words},
                                   {"length", sample.length},
                                   {"seed", sample.seed},
                                   {"device", is_on_device ? cuda_status() : "cpu"}};
    for (State state = 0; state < dfa.states(); ++state) {
      nlohmann::ordered_json row = place_to_json(dfa, state);
      row["words"] = counts[state];
      json["final_states"].push_back(std::move(row));
    }
    print_json(json);
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {{"final state", "words", "share"}};
  for (State state = 0; state < dfa.states(); ++state)
    rows.push_back({answer(dfa, state), with_thousands(counts[state]),
                    fmt::format("{:.4f}", static_cast<double>(counts[state]) /
                                              static_cast<double>(std::max<std::uint64_t>(sample.words, 1)))});
  fmt::print("{} random words of {}, seed {}, on {}\n{}", with_thousands(sample.words),
             counted(sample.length, "letter"), sample.seed, device_name(is_on_device), format_table(rows));
  return kDone;
}

int run(const RunArguments& options) {
  if (const std::string file = file_of_run(options.subject); is_trained_model(file)) {
    if (options.count > 0)
      throw InputError("--words", "counts final states of an automaton; `krohn eval` counts a trained model's answers");
    TrainedSubject trained = load_trained_subject(file, options.reading);
    const Dfa automaton = input_machine(*trained.task).automaton;
    return run_words(options, automaton,
                     {nullptr, evaluator_of_trained(options, std::move(trained)), true, options.precision});
  }
  const Subject subject = load_subject(options.subject, options.reading, stderr);
  if (options.count > 0 && (subject.network || is_checkpoint_folder(options.subject)))
    throw InputError("--words",
                     "counts final states of an automaton; `krohn verify MODEL --length N --words M` reads "
                     "random words by a model");
  return options.count > 0 ? count_final_states(options, subject.automaton)
                           : run_words(options, subject.automaton, reader_of(options, subject));
}

}  // namespace

Work add_run(Verb& verb) {
  const auto options = std::make_shared<RunArguments>();
  verb.add_option("LANGUAGE", options->subject,
                  "A .safetensors model, a folder of a run or a checkpoint, a file, regex:…, or name:…")
      .required();
  verb.add_option("WORD", options->words, "Words, file:PATH, random:LENGTH, or accepted:LENGTH").required();
  verb.add_flag("--trace", options->trace, "Print every position");
  add_arithmetic(verb, options->precision, "The network's arithmetic");
  add_order(verb, options->order);
  verb.add_option("--form", options->form, "Which form of the weights is multiplied with")
      .one_of({"structured", "dense"});
  add_seed(verb, options->seed);
  add_json_flag(verb, options->json);
  verb.begin_group("Counting final states");
  add_count(verb, "--words", options->count, "Of this many random words").show_default("");
  add_threads(verb, options->threads);
  verb.begin_group();
  add_device(verb, options->device, "Where an automaton alone runs: auto takes a CUDA device for long words");
  add_language_options(verb, options->reading);
  return [options] { return run(*options); };
}

}  // namespace krohn
