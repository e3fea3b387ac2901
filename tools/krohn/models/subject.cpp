#include "tools/krohn/models/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "krohn/automata/dfa/graph.h"
#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/report/output.h"

namespace krohn {

Automaton load_operand(const std::string& name, const LanguageOptions& options) {
  std::error_code error;
  // Folders are refused, or a checkpoint's language is found, in one place.
  if (is_model_name(name) || std::filesystem::is_directory(name, error)) return load_subject(name, options).automaton;
  return load_automaton(name, options);
}

namespace {

namespace fs = std::filesystem;

/// A folder is never a language: say which verb takes it.
[[noreturn]] void refuse_folder(const std::string& name) {
  const fs::path folder(name);
  std::error_code error;
  if (fs::exists(folder / "config.json", error))
    throw InputError(name, "a checkpoint without automaton.json, which `krohn verify FOLDER --against LANGUAGE` takes");
  if (file_of_run(name) != name)
    throw InputError(
        name,
        "a folder of `krohn train`, which `krohn run`, `eval`, `verify`, `extract`, `snap` and `compare` take; for its "
        "language extract it first: `krohn extract FOLDER -o LEARNED.dot`");
  throw InputError(name, "a folder; a language is a file, regex:EXPRESSION or name:FAMILY");
}

/// Throws InputError for an option about languages of another kind, which would be given in vain.
void refuse_in_vain(const std::string& name, bool names_letters, const LanguageOptions& options) {
  const std::string_view prefix = prefix_of_language(name);
  if (prefix == kExpressionPrefix) return;  // of operands of any kind
  const auto refuse = [&](bool is_given, const char* option, const char* kind) {
    if (is_given) throw InputError(option, fmt::format("not for {}, but for {}", title(name), kind));
  };
  refuse(options.alphabet && !names_letters, "--alphabet",
         "regular expressions and formulas; `expr:over(LANGUAGE, LETTERS)` adds letters to any language");
  refuse(options.generators && prefix != kNamePrefix, "--generators", "groups, as in name:S5");
  const bool is_of_file = options.format || options.symbols || options.semigroup || options.mealy_as_labels ||
                          options.epsilon || options.no_epsilon;
  refuse(is_of_file && !prefix.empty(), "--format, --symbols, --semigroup, --mealy-as-labels, --epsilon", "files");
}

void remark_on_acceptance(const Subject& subject, std::FILE* to) {
  const Dfa& dfa = subject.automaton;
  if (!dfa.is_acceptor()) return;
  for (State state = 0; state < dfa.states(); ++state)
    if (dfa.accepts(state)) return;
  fmt::print(to,
             "krohn: {}: no state accepts and none has an output, so every word is rejected; in DOT accepting states "
             "have shape=doublecircle, outputs are output=\"…\" or record labels\n",
             visible(subject.name));
}

/// The present meaning of the name: a language, a file of one, or a task.
Dfa named_now(const std::string& name, const LanguageOptions& options) {
  if (!prefix_of_language(name).empty()) return load_language(name, options);
  std::error_code error;
  if (fs::is_regular_file(name, error) && !is_model_name(name)) return load_language(name, options);
  if (is_language_name(name) || is_model_name(name)) throw InputError(name, "no such language here");
  return input_machine(*make_task(name, options)).automaton;
}

bool have_same_letters(const Dfa& a, const Dfa& b) {
  const AlphabetRefinement letters = refine(a.alphabet(), b.alphabet());
  const auto is_there = [](const std::optional<Letter>& letter) { return letter.has_value(); };
  return std::ranges::all_of(letters.in_a, is_there) && std::ranges::all_of(letters.in_b, is_there);
}

/// Where the two differ, or why they cannot be compared; nothing where they are the same language.
std::string difference(const std::string& name, const Dfa& automaton, LanguageOptions options) {
  const auto answers = [](const Dfa& dfa) {
    return std::set<std::string>(dfa.output_names().begin(), dfa.output_names().end());
  };
  Dfa now = named_now(name, options);
  if (!have_same_letters(now, automaton) && !prefix_of_language(name).empty()) {  // as with --alphabet
    options.alphabet = "";
    for (const Symbol& letter : automaton.alphabet().symbols()) *options.alphabet += letter.name + " ";
    now = named_now(name, options);
  }
  if (!have_same_letters(now, automaton) && !options.generators) {  // as with --generators
    options.generators = "";
    for (const Symbol& letter : automaton.alphabet().symbols())
      *options.generators += (options.generators->empty() ? "" : ",") + letter.name;
    try {
      now = named_now(name, options);
    } catch (const Error&) {  // it is no group, or letters have other names
    }
  }
  if (!have_same_letters(now, automaton)) return "which was not compared: read now, it has other letters";
  if (answers(now) != answers(automaton)) return "which was not compared: read now, it has other answers";
  const auto word = distinguishing_word(now, automaton);
  return word ? "which is another language now: they differ on " +
                    quoted_word(refine(now.alphabet(), automaton.alphabet()).merged, *word)
              : "";
}

}  // namespace

std::string StoredName::in_words() const {
  if (is_same) return name;
  return fmt::format("the automaton of sha256 {}…, stored under the name {}, {}", sha256.substr(0, 12), in_quotes(name),
                     remark);
}

StoredName stored_name(const std::string& name, const Dfa& automaton, const LanguageOptions& options) {
  StoredName stored{name, sha256(canonical_automaton(automaton))};
  try {
    stored.remark = difference(name, automaton, options);
  } catch (const Error&) {
    stored.remark = "which was not compared: it names no language here";
  }
  stored.is_same = stored.remark.empty();
  return stored;
}

std::string source_in_words(const Network& network, const LanguageOptions& options) {
  const std::string& name = network.provenance.source;
  return name.empty() ? "" : stored_name(name, network.automaton, options).in_words();
}

std::string title(const std::string& name) {
  constexpr std::size_t kShownExpression = 160;
  return visible(prefix_of_language(name).empty() ? name : shortened(name, kShownExpression));
}

std::string remark_on_letters(const Subject& subject) {
  if (!subject.has_inferred_letters) return "";
  std::uint64_t characters = 0;
  for (const Symbol& letter : subject.automaton.alphabet().symbols()) characters += cardinality(letter.characters);
  if (is_temporal(prefix_of_language(subject.name)))
    return ", the propositions that the formula names; others with --alphabet";
  if (characters == cardinality(all_characters())) return ", all of Unicode; others with --alphabet";
  return ", the characters that the expression names; others with --alphabet";
}

void remark_on_arithmetic(const std::string& name, const std::string& precision, const std::string& otherwise) {
  if (!otherwise.empty()) fmt::print(stderr, "krohn: {} is read in {}{}\n", visible(name), precision, otherwise);
}

State tell_left_out(const Subject& subject, bool for_programs) {
  constexpr State kMaxNamed = 10;
  const Dfa& dfa = subject.automaton;
  const std::vector<bool> reached = reachable_states(dfa);
  const auto left = static_cast<State>(std::ranges::count(reached, false));
  if (left == 0) return left;
  std::string names;
  State named = 0;
  for (State state = 0; state < dfa.states() && named < kMaxNamed; ++state)
    if (!reached[state]) names += (named++ == 0 ? "" : ", ") + visible(cut_short(dfa.state_name(state), 60));
  fmt::print(for_programs ? stderr : stdout, "{}{}: {} {}{} {} never reached from {} and left out\n",
             for_programs ? "krohn: " : "", visible(subject.name), left == 1 ? "state" : "states", names,
             left > named ? fmt::format(", … ({} in all)", left) : "", left == 1 ? "is" : "are",
             visible(cut_short(dfa.state_name(dfa.initial()), 60)));
  return left;
}

std::string file_of_torch_folder(const std::string& name) {
  std::error_code error;
  const fs::path module = fs::path(name) / "krohn_network.py", file = fs::path(name) / "model.safetensors";
  return fs::is_regular_file(module, error) && fs::is_regular_file(file, error) ? file.string() : name;
}

void require_model(const std::string& name, const std::string& verb) {
  if (is_model_name(name)) return;
  std::error_code error;
  const bool is_missing = prefix_of_language(name).empty() && !fs::exists(name, error) && !error;
  std::string kind;
  std::array<char, 16> beginning{};
  if (std::ifstream file(name, std::ios::binary); file) {
    file.read(beginning.data(), beginning.size());
    kind = kind_of_binary({beginning.data(), static_cast<std::size_t>(file.gcount())});
  }
  constexpr std::array kOfTorch{".pt", ".pth", ".bin", ".ckpt"};
  const bool is_of_torch = std::ranges::find(kOfTorch, fs::path(name).extension()) != kOfTorch.end();
  const bool is_import = verb == "import";
  std::string next = "; `krohn compile` makes a model of a language";
  if (is_import || is_of_torch || !kind.empty())
    next =
        ": in Python, safetensors.torch.save_file(model.state_dict(), \"model.safetensors\") writes the weights of a "
        "PyTorch model, and `krohn import model.safetensors --as KIND --against LANGUAGE -o FOLDER` reads them" +
        (is_import ? "" : fmt::format("; then `krohn {} FOLDER`", verb));
  const std::string found = is_missing     ? "no such file or folder; "
                            : kind.empty() ? ""
                                           : "this is " + kind + ". ";
  throw InputError(name, fmt::format("{}{} takes {}{}", found, verb,
                                     is_import ? "the weights of a model"
                                               : "a .safetensors model, a folder of `krohn train` or a checkpoint",
                                     next));
}

bool is_model_name(const std::string& name) {
  constexpr std::string_view extension = ".safetensors";
  return name.size() > extension.size() && name.ends_with(extension);
}

Subject load_subject(const std::string& given, const LanguageOptions& options, std::FILE* remarks) {
  const std::string name = file_of_torch_folder(given);
  const std::string_view prefix = prefix_of_language(name);
  const bool is_file = prefix.empty();
  const bool is_regex = prefix == kRegexPrefix || prefix == kSearchPrefix ||
                        (is_file && (options.format == "regex" || name.ends_with(".regex")));
  const bool names_letters = is_regex || is_temporal(prefix);
  if (remarks != nullptr) refuse_in_vain(name, names_letters, options);
  if (is_model_name(name)) {
    Network network = load_network(name);
    Dfa automaton = network.automaton;
    return {name, std::move(automaton), std::move(network)};
  }
  std::error_code error;
  // The language of a checkpoint is the automaton beside it.
  if (is_file && is_checkpoint_folder(name) && fs::exists(fs::path(name) / "automaton.json", error))
    return {name, read_automaton_file((fs::path(name) / "automaton.json").string()), std::nullopt, false};
  if (is_file && fs::is_directory(name, error)) refuse_folder(name);
  Subject subject{name, load_language(name, options), std::nullopt, names_letters && !options.alphabet};
  if (is_file && !is_regex && remarks != nullptr) remark_on_acceptance(subject, remarks);
  return subject;
}

}  // namespace krohn
