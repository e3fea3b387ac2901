// krohn run — words through an automaton, and through a network alongside it.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/gpu/automata/final_states.h"
#include "krohn/gpu/automata/long_word.h"
#include "krohn/gpu/automata/stored_word.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/run/run_dfa.h"
#include "tools/krohn/models/checkpoint_evaluator.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/on_device.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/verb.h"
#include "tools/krohn/word_source.h"

namespace krohn {
namespace {

constexpr VerbHelp kRunHelp = {
    "run", "Run words through an automaton or a network",
    "run MODEL|LANGUAGE WORD… [--trace] [--precision fp32] [--order sequential]",
    R"(
krohn run 'regex:(a|b)*abb' abb abba
krohn run abb.safetensors aababb --trace
krohn run abb.safetensors random:1e5 --precision bf16 --order scan
krohn run name:modarith5 '3+4*2'
krohn run name:S5 random:1e8 --seed 7
krohn run name:tomita3 random:1000 --words 1e5
krohn run name:Z60 random:1e8 --device auto
)",
    R"(Prints the output and the state after each WORD. With a model, or the folder of a checkpoint, the network reads the word alongside the automaton that it
stands for, and every position is compared. --trace prints every letter. A WORD is written in the letters of the
alphabet, character by character, or as names apart by white space or commas where names are longer. Nothing is skipped:
white space that is no letter is an error. It may also be file:PATH (one word, however long; line ends are no letters),
random:LENGTH, or accepted:LENGTH (random among the accepted words). word:W is the word W however it begins: word:random:3,
word:file:x, word:-x.
--words N counts the final states of N random words instead. An automaton alone reads long words on a CUDA device, too.
Exit status: 0 done, 1 the network was wrong somewhere, 2 bad input.
)"};

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

/// What became of one word.
struct Outcome {
  State state = 0;                          ///< the automaton's
  State network_state = 0;                  ///< the network's, kNoState when it could not be read
  std::optional<std::uint64_t> wrong_from;  ///< letters read at the first disagreement of states
  std::uint64_t wrong = 0;                  ///< positions that disagree
  std::uint64_t letters = 0;                ///< read
  struct Step {
    Letter letter;
    State state, network_state;
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
    throw InputError("--device", fmt::format("a word of more than {} letters is read on the processor",
                                             with_thousands(word.length())));
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

Outcome run_word(const Dfa& dfa, Evaluator* network, const WordSource& word, bool trace) {
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
    if (network != nullptr) network->run(slice, std::span(states.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      outcome.state = dfa.next(outcome.state, slice[i]);
      if (network != nullptr) {
        outcome.network_state = states[i];
        compare_states(outcome, first + i + 1);
      }
      if (trace) outcome.trace.push_back({slice[i], outcome.state, outcome.network_state});
    }
    outcome.letters += count;
    progress.update(outcome.letters, std::max(outcome.letters, word.length()));
  }
  return outcome;
}

/// State and output in words: "accept, state 3", or "accept" alone when the output names the state.
std::string answer(const Dfa& dfa, State state) {
  if (state == kNoState) return "no state can be read";
  const std::string output = visible(dfa.output_names()[dfa.output(state)]), name = visible(dfa.state_name(state));
  return output == name ? output : fmt::format("{}, state {}", output, name);
}

void print_trace(const Dfa& dfa, const Outcome& outcome, bool with_network) {
  std::vector<std::vector<std::string>> rows = {{"position", "letter", "automaton"}};
  if (with_network) rows[0].push_back("network");
  rows.push_back({"0", "", answer(dfa, dfa.initial())});
  for (std::size_t i = 0; i < outcome.trace.size(); ++i) {
    const Outcome::Step& step = outcome.trace[i];
    rows.push_back({std::to_string(i + 1), dfa.alphabet().name(step.letter), answer(dfa, step.state)});
    if (with_network) rows.back().push_back(answer(dfa, step.network_state));
  }
  fmt::print("{}", format_table(rows));
}

void print_outcome(const Dfa& dfa, const WordSource& word, const Outcome& outcome, bool with_network) {
  fmt::print("{}: {}\n", word.title(), answer(dfa, outcome.state));
  if (!outcome.trace.empty()) print_trace(dfa, outcome, with_network);
  if (!with_network) return;
  if (!outcome.wrong_from)
    fmt::print("  the network agrees at every position\n");
  else
    fmt::print("  the network says: {}; it is wrong at {} positions, first after {} letters\n",
               answer(dfa, outcome.network_state), with_thousands(outcome.wrong), with_thousands(*outcome.wrong_from));
}

nlohmann::ordered_json place_to_json(const Dfa& dfa, State state) {
  if (state == kNoState) return nullptr;
  return {{"state", dfa.state_name(state)}, {"output", dfa.output_names()[dfa.output(state)]}};
}

nlohmann::ordered_json outcome_to_json(const Dfa& dfa, const WordSource& word, const Outcome& outcome,
                                       bool with_network) {
  nlohmann::ordered_json json;
  json["word"] = word.title();
  json["length"] = std::max(word.length(), outcome.letters);
  json["automaton"] = place_to_json(dfa, outcome.state);
  if (with_network) {
    json["network"] = place_to_json(dfa, outcome.network_state);
    json["wrong_positions"] = outcome.wrong;
    if (outcome.wrong_from) json["wrong_from"] = *outcome.wrong_from;
  }
  for (const Outcome::Step& step : outcome.trace) {
    nlohmann::ordered_json row = {{"letter", dfa.alphabet().name(step.letter)},
                                  {"automaton", place_to_json(dfa, step.state)}};
    if (with_network) row["network"] = place_to_json(dfa, step.network_state);
    json["trace"].push_back(std::move(row));
  }
  return json;
}

/// A checkpoint's layers have one order, and no other form.
std::unique_ptr<Evaluator> evaluator_of_checkpoint(const RunArguments& options) {
  if (!parse_order(options.order).is_sequential())
    throw InputError("--order", "a checkpoint is run token by token; `krohn verify` also reads some in chunks");
  if (parse_form(options.form) != Form::kStructured)
    throw InputError("--form", "the weights of a checkpoint have one form; leave the option out");
  return checkpoint_evaluator(load_checkpoint(options.subject), parse_precision(options.precision));
}

int run_words(const RunArguments& options, const Subject& subject) {
  std::unique_ptr<Evaluator> evaluator;
  if (is_checkpoint_folder(options.subject)) evaluator = evaluator_of_checkpoint(options);
  if (subject.network)
    evaluator = make_evaluator(*subject.network, ArithmeticName::parse(options.precision), parse_form(options.form),
                               parse_order(options.order));
  nlohmann::ordered_json all{{"words", nlohmann::ordered_json::array()}};
  bool wrong = false;
  for (const std::string& text : options.words) {
    const WordSource word = WordSource::parse(text, subject.automaton, options.seed);
    if (options.trace && word.length() > kLongestTrace)  // an open word is longer than that, too
      throw InputError("--trace", fmt::format("at most {} letters can be printed", with_thousands(kLongestTrace)));
    const bool alone = evaluator == nullptr && !options.trace;
    if (!alone && options.device == "cuda")
      throw InputError("--device",
                       "an automaton alone, without --trace, reads words on a device; `krohn verify` runs "
                       "networks there");
    const auto on_processor = [&] {
      return alone && word.random() ? run_random_word(subject.automaton, *word.random(), word.length(), options.threads)
                                    : run_word(subject.automaton, evaluator.get(), word, options.trace);
    };
    const Outcome outcome =
        alone && reads_on_device(options, word)
            ? on_device(
                  options.device, [&] { return run_on_device(subject.automaton, word); }, on_processor)
            : on_processor();
    wrong |= outcome.wrong_from.has_value();
    if (options.json)
      all["words"].push_back(outcome_to_json(subject.automaton, word, outcome, evaluator != nullptr));
    else
      print_outcome(subject.automaton, word, outcome, evaluator != nullptr);
  }
  if (options.json) print_json(all);
  return wrong ? kRefuted : kDone;
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
  fmt::print("{} random words of {} letters, seed {}, on {}\n{}", with_thousands(sample.words),
             with_thousands(sample.length), sample.seed, device_name(is_on_device), format_table(rows));
  return kDone;
}

int run(const RunArguments& options) {
  const Subject subject = load_subject(options.subject, options.reading, stderr);
  return options.count > 0 ? count_final_states(options, subject.automaton) : run_words(options, subject);
}

}  // namespace

void add_run(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<RunArguments>();
  Verb verb = add_verb(app, kRunHelp);
  verb.add_option("LANGUAGE", options->subject, "A .safetensors model, a checkpoint, a file, regex:…, or name:…")
      .required();
  verb.add_option("WORD", options->words, "Words, file:PATH, random:LENGTH, or accepted:LENGTH").required();
  verb.add_flag("--trace", options->trace, "Print every position");
  add_arithmetic(verb, options->precision, "The network's arithmetic");
  add_order(verb, options->order);
  verb.add_option("--form", options->form, "Which form of the weights is multiplied with")
      .one_of({"structured", "dense"})
      .show_default();
  add_seed(verb, options->seed);
  add_json_flag(verb, options->json);
  const std::string counting = "Counting final states";
  add_count(verb, "--words", options->count, "Of this many random words").show_default("").group(counting);
  add_threads(verb, options->threads).group(counting);
  add_device(verb, options->device, "Where an automaton alone runs: auto takes a CUDA device for long words");
  add_language_options(verb, options->reading);
  verb.callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace krohn
