// krohn check — re-checks a certificate with independent code.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <sstream>
#include <utility>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/operations.h"
#include "krohn/automata/syntax/regex.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/certificate_lines.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "tools/krohn/joined_ranks.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/shards/list_work.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr std::size_t kCheckColumns = 100;

struct CheckArguments {
  std::string certificate, model, against, list, output;
  LanguageOptions reading;
  RecheckOptions limits;
  ShardOptions shards;
  unsigned threads = 0;
  bool json = false;
};

/// The comparison with the language: a shortest word that distinguishes it from the model's automaton, or none.
struct Compared {
  std::optional<Word> difference;
  Alphabet alphabet;  ///< of the word
};

std::optional<Compared> compare_language(const CheckArguments& options, const Certificate& certificate,
                                         const Network* network) {
  if (options.against.empty()) return std::nullopt;
  const Dfa language = [&options] {
    static std::mutex reading;  // Graphviz, which reads DOT, is for one thread at a time
    const std::lock_guard lock(reading);
    return load_language(options.against, options.reading);
  }();
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
  if (!compared.difference)
    return "the language of the " + whose +
           (shortest_word_not_asked(certificate) ? ", in all words that it asks about" : "");
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
  return fmt::format("judged by the language in the certificate, which asks for an answer in {} of its {}", asked,
                     counted(states, "state"));
}

struct Checked {
  Certificate certificate;
  std::optional<Network> network;
  Recheck found;
  std::optional<Compared> compared;
  std::vector<std::string>
      unread;  ///< beside the tensors, also says what is computed; the certificate does not bind it

  int status() const { return found.established && !(compared && compared->difference) ? kDone : kRefuted; }
};

std::vector<std::string> unread_beside(const TensorFile& tensors, const Certificate& certificate) {
  if (tensors.metadata.contains("model")) return {"metadata"};  // of a run
  std::vector<std::string> names;
  for (const char* name : kBoundFiles)
    if (!certificate.files.contains(name)) names.emplace_back(name);
  return names;
}

std::string bound_to(const Checked& result) {
  std::string text = "about the listed operations on the tensors that they name";
  const char* before = ", beside the same";
  for (const auto& [name, digest] : result.certificate.files)
    text += fmt::format("{} {}", std::exchange(before, " and"), name);
  if (!result.unread.empty())
    text += fmt::format("; whether the model's {} mean{} these operations and tokens was not compared",
                        fmt::join(result.unread, " and "), result.unread.size() == 1 ? "s" : "");
  return text;
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

void print_report(const CheckArguments& options, const Checked& result) {
  const auto& [certificate, network, found, compared, unread] = result;
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
  if (certificate.operations) fmt::print("  {}\n", wrapped(bound_to(result), kCheckColumns, "    "));
  fmt::print("  {}\n", wrapped(certificate.method + ": " + found.finding, kCheckColumns, "    "));
  if (compared)
    fmt::print("  {}\n",
               wrapped(visible(options.against) + ": " + said_of(*compared, certificate), kCheckColumns, "    "));
}

/// The files of a model that are read to check it; the name alone where that is unknown, which its check then says.
std::vector<std::string> files_of_model(const std::string& model) {
  try {
    if (is_checkpoint_folder(model)) return checkpoint_weight_files(model);
  } catch (const InputError&) {
    return {model};
  }
  return {file_of_model(model)};
}

/// `is_shared`: by all ranks of the job.
Checked checked(const CheckArguments& options, bool is_shared) {
  const TensorFile tensors = is_checkpoint_folder(options.model) ? checkpoint_weights(options.model)
                                                                 : read_safetensors(file_of_model(options.model));
  Checked result;
  if (const std::string format = tensors.text("format"); format == "krohn.network" || format == "krohn.recurrence")
    result.network = load_network(options.model);
  const CheckedModel model = result.network ? CheckedModel(*result.network) : CheckedModel(tensors);
  result.certificate = load_certificate(options.certificate, model);
  require_files(result.certificate, options.model);
  result.unread = unread_beside(tensors, result.certificate);
  result.compared = compare_language(options, result.certificate, result.network ? &*result.network : nullptr);
  result.found = (is_shared && has_shares(result.certificate) ? recheck_by_ranks : recheck)(result.certificate, model,
                                                                                            options.limits);
  return result;
}

nlohmann::ordered_json json_of(const CheckArguments& options, const Checked& result) {
  const auto& [certificate, network, found, compared, unread] = result;
  nlohmann::ordered_json json;
  json["certificate"] = options.certificate;
  json["model"] = options.model;
  json["claim"] = to_string(certificate.claim);
  json["method"] = certificate.method;
  json["arithmetic"] = to_string(certificate.arithmetic);
  if (certificate.operations) {
    json["operations"] = certificate.operations->list.size();
    json["roundings_to_bf16"] = roundings_to_bf16(*certificate.operations);
    json["not_compared"] = unread;
  }
  json["established"] = found.established;
  json["finding"] = found.finding;
  if (compared) {
    json["language"] = options.against;
    json["is_language"] = !compared->difference;
    if (compared->difference) json["difference"] = compared->alphabet.format_word(*compared->difference);
  }
  return json;
}

/// A line that cannot be checked has the reason as its "error". Callable from any thread.
std::string check_line(const CheckArguments& options) {
  nlohmann::ordered_json json;
  const auto failed = [&](const std::exception& error, int status) {
    json = {
        {"certificate", options.certificate}, {"model", options.model}, {"error", error.what()}, {"status", status}};
  };
  try {
    const Checked result = checked(options, false);
    json = json_of(options, result);
    json["status"] = result.status();
  } catch (const LimitError& error) {
    failed(error, kUndecided);
  } catch (const InputError& error) {
    failed(error, kBadInput);
  } catch (const SystemError& error) {
    failed(error, kBadInput);
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<CheckArguments> listed_checks(const CheckArguments& options) {
  std::vector<CheckArguments> checks;
  for (const std::string& line : lines_listed(options.list)) {
    CheckArguments check = options;
    std::istringstream fields(line);
    std::getline(fields, check.certificate, '\t');
    std::getline(fields, check.model, '\t');
    std::string against, more;
    if (std::getline(fields, against, '\t')) check.against = against;
    if (check.model.empty() || std::getline(fields, more))
      throw InputError(options.list, fmt::format("{} is not CERTIFICATE, MODEL and perhaps LANGUAGE with a tab "
                                                 "between each two",
                                                 in_quotes(line)));
    checks.push_back(std::move(check));
  }
  return checks;
}

int check_list(const CheckArguments& options) {
  const std::vector<CheckArguments> checks = listed_checks(options);
  const ListWork work{"checking certificates", options.threads,
                      [&checks](std::uint64_t item) { return check_line(checks[item]); }};
  if (options.shards.any()) {
    WorkList list{"check", {}, visible(options_typed({"--list"}, {"--json"})), lines_listed(options.list), {}};
    for (const CheckArguments& check : checks) {
      list.costs.push_back(cost_of_file(check.certificate));
      list.files.push_back(check.certificate);
      for (std::string& file : files_of_model(check.model)) list.files.push_back(std::move(file));
      if (check.against.empty()) continue;
      for (std::string& file : files_of_language(check.against, options.reading)) list.files.push_back(std::move(file));
    }
    return work_in_shards({work, "certificate", std::move(list), options.output}, options.shards);
  }
  if (!options.output.empty()) throw InputError("-o", "is for --shard and --slurm; the lines go to standard output");
  std::vector<std::uint64_t> all(checks.size());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  CheckSummary summary;
  work_through(work, all, LineOrder::kOfItems, [&](std::uint64_t, const std::string& text) {
    fmt::print("{}\n", text);
    summary.add(text);
  });
  fmt::print(stderr, "{}", summary.text());
  return summary.status();
}

/// One certificate and its model, or a list of them.
void check_arguments(const CheckArguments& options) {
  options.shards.check();
  if (!options.list.empty()) {
    if (!options.certificate.empty()) throw InputError("check takes CERTIFICATE and MODEL, or --list FILE, not both");
    return;
  }
  if (options.certificate.empty()) throw InputError("check needs CERTIFICATE and MODEL, or --list FILE");
  if (options.model.empty()) throw InputError("check needs MODEL");
  if (options.shards.any() || !options.output.empty())
    throw InputError("--shard, --slurm and -o are for lists of certificates: --list FILE");
}

int check(const CheckArguments& options) {
  check_arguments(options);
  if (!options.list.empty()) return check_list(options);
  const Checked result = checked(options, has_ranks());
  if (options.json)
    print_json(json_of(options, result));
  else
    print_report(options, result);
  return result.status();
}

}  // namespace

Work add_check(Verb& verb) {
  const auto options = std::make_shared<CheckArguments>();
  verb.add_option("CERTIFICATE", options->certificate, "What `krohn verify --certificate` wrote");
  verb.add_option("MODEL", options->model, "What it is about: a .safetensors file, or a folder");
  verb.add_option("--list", options->list, "Check the certificates of this file; -: standard input").type_name("FILE");
  verb.add_option("-o,--output", options->output, "Of --shard: the part to write").type_name("FILE");
  verb.add_option("--against", options->against, "The language that its automaton has to be").type_name("LANGUAGE");
  add_count(verb, "--max-letters", options->limits.max_letters, "Most letters of random words to read");
  add_threads(verb, options->threads);
  add_json_flag(verb, options->json);
  add_shard_options(verb, options->shards);
  add_language_options(verb, options->reading);
  return [options] { return check(*options); };
}

}  // namespace krohn
