// krohn check — re-checks a certificate with independent code.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/equivalence.h"
#include "krohn/automata/regex/regex_derivatives.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/operations_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/prove/claims/claim_text.h"
#include "tools/krohn/report/count.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kCheckHelp = {
    "check", "Re-check a certificate with independent code", "check CERTIFICATE MODEL [--against LANGUAGE]",
    R"(
krohn check s5.cert s5.safetensors
krohn check abb.cert abb.safetensors --against 'regex:(a|b)*abb'
)",
    R"(Reads a certificate that `krohn verify --certificate` wrote and the model that it is about, and re-checks the claim and
every figure of its evidence. The checker is small and shares no code with the prover, except for the readers of the two
files. It refuses a certificate that was made for a model with other weights or another automaton. MODEL is a network, or
a folder of `krohn train` or a checkpoint: of these the certificate says itself what is computed, and checks are of that.
The claim is about the automaton that the model brings along, or about the language that stands in the certificate.
--against compares that with a language: a model's automaton with a regular expression through its derivatives, without
the code that makes automata of expressions, and with any other language by Hopcroft and Karp's algorithm; a language in
the certificate state by state, where it asks for an answer.
Exit status: 0 established, 1 not established, 2 bad input, 3 undecided within the limits.
)"};

constexpr std::size_t kCheckColumns = 100;

struct CheckArguments {
  std::string certificate, model, against;
  LanguageOptions reading;
  RecheckOptions limits;
  bool json = false;
};

/// What was found of the language: a shortest word that tells it from the model's automaton, or none.
struct Compared {
  std::optional<Word> difference;
  Alphabet alphabet;  ///< of the word
};

std::optional<Compared> compare_language(const CheckArguments& options, const Certificate& certificate,
                                         const Network* network) {
  if (options.against.empty()) return std::nullopt;
  const Dfa language = load_language(options.against, options.reading);
  if (certificate.language)
    return Compared{word_against(*certificate.language, language, options.against),
                    certificate.language->automaton.alphabet()};
  const Dfa& automaton = network->automaton;
  Compared compared{{}, refine(automaton.alphabet(), language.alphabet()).merged};
  const bool is_plain = options.against.starts_with(kRegexPrefix) && !options.reading.alphabet;
  compared.difference = is_plain ? word_against_regex(automaton, options.against.substr(kRegexPrefix.size()))
                                 : distinguishing_word(automaton, language);
  return compared;
}

std::string said_of(const Compared& compared, const Certificate& certificate) {
  const std::string whose = certificate.language ? "certificate" : "model's automaton";
  if (!compared.difference) return "the language of the " + whose;
  return fmt::format("another language than the {}{}: they differ on {}", whose, certificate.language ? "'s" : "",
                     quoted_word(compared.alphabet, *compared.difference));
}

/// In how many of its states something is asked.
std::string said_of(const TrackedAutomaton& language) {
  State asked = 0, states = 0;
  for (State state = 0; state < language.automaton.states(); ++state) {
    asked += language.is_asked(state) ? 1 : 0;
    states += language.wanted[state] == TrackedAutomaton::kNoSuchWord ? 0 : 1;
  }
  return fmt::format("held against the language that the certificate brings, which asks in {} of its {} states", asked,
                     states);
}

std::size_t roundings_to_bf16(const Operations& operations) {
  return static_cast<std::size_t>(std::ranges::count(operations.list, "bf16", &Operation::what));
}

/// With which numbers is computed, and by what. The certificate's format is that of operations only as far as they do
/// not round further themselves.
std::string arithmetic_of(const Certificate& certificate) {
  const std::string format = to_string(certificate.arithmetic);
  if (!certificate.operations) return fmt::format("{}, {} weights", format, to_string(certificate.form));
  const std::string listed = fmt::format("{} listed operations", certificate.operations->list.size());
  const std::size_t roundings = roundings_to_bf16(*certificate.operations);
  if (roundings == 0) return fmt::format("{}, {}", format, listed);
  return fmt::format("{} with {} to bf16, {}", format, counted(roundings, "rounding"), listed);
}

void print_report(const CheckArguments& options, const Certificate& certificate, const Network* network,
                  const Recheck& found, const std::optional<Compared>& compared) {
  const std::string claim = claim_in_words(
      certificate, certificate.language ? certificate.language->automaton.alphabet() : network->automaton.alphabet());
  fmt::print("{}: {}: {}\n", visible(options.certificate), found.established ? "established" : "NOT established",
             claim);
  fmt::print("  {}, {} evaluation\n", arithmetic_of(certificate),
             certificate.holds_in_any_order() ? "any" : to_string(certificate.order));
  if (certificate.language)
    fmt::print("  {}\n", wrapped(said_of(*certificate.language) +
                                     (compared ? "" : "; --against compares it with the one that you mean"),
                                 kCheckColumns, "    "));
  fmt::print("  {}\n", wrapped(certificate.method + ": " + found.finding, kCheckColumns, "    "));
  if (compared)
    fmt::print("  {}\n",
               wrapped(visible(options.against) + ": " + said_of(*compared, certificate), kCheckColumns, "    "));
}

int check(const CheckArguments& options) {
  const TensorFile tensors = read_safetensors(file_of_model(options.model));
  const auto format = tensors.metadata.find("format");
  std::optional<Network> read;
  if (format != tensors.metadata.end() && (format->second == "krohn.network" || format->second == "krohn.recurrence"))
    read = load_network(options.model);
  const Network* const network = read ? &*read : nullptr;
  const CheckedModel model = read ? CheckedModel(*read) : CheckedModel(tensors);
  const Certificate certificate = load_certificate(options.certificate, model);
  const std::optional<Compared> compared = compare_language(options, certificate, network);
  const Recheck found = recheck(certificate, model, options.limits);
  if (options.json) {
    nlohmann::ordered_json json;
    json["certificate"] = options.certificate;
    json["model"] = options.model;
    json["claim"] = to_string(certificate.claim);
    json["method"] = certificate.method;
    json["arithmetic"] = to_string(certificate.arithmetic);
    if (certificate.operations) {
      json["operations"] = certificate.operations->list.size();
      json["roundings_to_bf16"] = roundings_to_bf16(*certificate.operations);
    }
    json["established"] = found.established;
    json["finding"] = found.finding;
    if (compared) {
      json["language"] = options.against;
      json["is_language"] = !compared->difference;
      if (compared->difference) json["difference"] = compared->alphabet.format_word(*compared->difference);
    }
    print_json(json);
  } else {
    print_report(options, certificate, network, found, compared);
  }
  return found.established && !(compared && compared->difference) ? kDone : kRefuted;
}

}  // namespace

void add_check(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<CheckArguments>();
  Verb verb = add_verb(app, kCheckHelp);
  verb.add_option("CERTIFICATE", options->certificate, "What `krohn verify --certificate` wrote").required();
  verb.add_option("MODEL", options->model, "What it is about: a .safetensors file, or a folder").required();
  verb.add_option("--against", options->against, "The language that its automaton has to be").type_name("LANGUAGE");
  add_count(verb, "--max-letters", options->limits.max_letters, "Most letters of random words to read");
  add_json_flag(verb, options->json);
  add_language_options(verb, options->reading);
  verb.callback([options, &chosen] { chosen = [options] { return check(*options); }; });
}

}  // namespace krohn
