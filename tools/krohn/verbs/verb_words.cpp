// krohn words — the words of a language: listed, counted, drawn at random.

#include <fmt/format.h>

#include <memory>
#include <random>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/operations/accepted_words.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct WordsArguments {
  std::string subject;
  LanguageOptions reading;
  std::optional<std::uint64_t> shortest, length, random;
  std::uint64_t seed = 1;
  bool count = false, json = false;
};

/// Prints words as they come, or keeps them for one report.
class WordList {
 public:
  explicit WordList(bool json) : json_(json) {}
  void add(const std::string& text) {
    TimeLimit::check();
    if (json_)
      words_.push_back(text);
    else
      fmt::print("{}\n", visible(text));
  }
  const Json& words() const { return words_; }

 private:
  bool json_;
  Json words_ = Json::array();
};

void list_random_words(const Dfa& dfa, const WordsArguments& options, WordList& list) {
  std::mt19937_64 random(options.seed);
  try {
    const ExactUniformWords words(dfa, *options.length);
    for (std::uint64_t i = 0; i < *options.random; ++i)
      list.add(random_spelling(dfa.alphabet(), words.draw(random), random));
  } catch (const LimitError&) {
    const ScaledUniformWords words(dfa, *options.length);
    for (std::uint64_t i = 0; i < *options.random; ++i)
      list.add(random_spelling(dfa.alphabet(), words.draw(random), random));
  }
}

/// For one length, or for all where that is finite; nothing for infinitely many.
std::optional<Count> count_in(const Dfa& dfa, const std::optional<std::uint64_t>& length) {
  if (!length && !is_finite(dfa)) return std::nullopt;
  if (length) {
    const CountingGraph graph(dfa);
    std::vector<Count> counts = graph.counts_of_empty_word();
    for (std::uint64_t i = 0; i < *length; ++i) {
      TimeLimit::check();
      counts = graph.one_letter_more(counts);
    }
    return graph.states() == 0 ? Count(0) : counts[0];
  }
  Count all = 0;
  for (const Count& count : count_words_by_length(dfa, dfa.states())) all += count;
  return all;
}

void require_possible(const WordsArguments& options) {
  if (options.shortest && (options.length || options.random || options.count))
    throw InputError("--shortest lists the shortest words; leave out --length, --random and --count");
  if (options.random && !options.length) throw InputError("--random needs --length: how long the words are");
  if (options.random && options.count) throw InputError("--random or --count, not both");
}

int words(const WordsArguments& options) {
  constexpr std::uint64_t kShortest = 20;
  require_possible(options);
  const Subject subject = load_subject(options.subject, options.reading, stderr);
  require_acceptor(subject.automaton, "listing words");
  const Dfa dfa = minimise(subject.automaton);
  Json json{{"subject", subject.name}};
  if (options.length) json["length"] = *options.length;
  if (options.count) {
    const std::optional<Count> count = count_in(dfa, options.length);
    json["count"] = count ? exact_count(count->str()) : Json();
    if (options.json)
      print_json(json);
    else
      fmt::print("{}\n", count ? count->str() : "infinitely many");
    return kDone;
  }
  WordList list(options.json);
  const bool are_all = finds_all(json, options.json, [&] {
    if (options.random) return list_random_words(dfa, options, list);
    if (options.length) {
      AcceptedWords all(dfa, *options.length);
      for (auto word = all.next(); word && word->size() == *options.length; word = all.next()) {
        Spellings texts(dfa.alphabet(), *word);
        while (const auto text = texts.next()) list.add(*text);
      }
      return;
    }
    for (const std::string& text : first_accepted_texts(dfa, options.shortest.value_or(kShortest))) list.add(text);
  });
  json["words"] = list.words();
  if (options.json) print_json(json);
  return are_all ? kDone : kUndecided;
}

}  // namespace

Work add_words(Verb& verb) {
  const auto options = std::make_shared<WordsArguments>();
  verb.add_option("LANGUAGE", options->subject, "A file, regex:…, name:…, expr:…, or a .safetensors model").required();
  add_optional_count(verb, "--shortest", options->shortest, "How many of the shortest words");
  add_optional_count(verb, "--length", options->length, "Words of this length");
  verb.add_flag("--count", options->count, "How many there are");
  add_optional_count(verb, "--random", options->random, "How many random words");
  add_seed(verb, options->seed);
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  return [options] { return words(*options); };
}

}  // namespace krohn
