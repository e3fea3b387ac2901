// krohn check — re-checks a certificate with independent code.

#include <fmt/format.h>

#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/table.h"
#include "tools/krohn/report/verdict.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kCheckHelp = {
    "check", "Re-check a certificate with independent code", "check CERTIFICATE MODEL",
    R"(
krohn check s5.cert s5.safetensors
)",
    R"(Reads a certificate that `krohn verify --certificate` wrote and the model that it is about, and re-checks the claim and
every figure of its evidence. The checker is small and shares no code with the prover, except for the readers of the two
files. It refuses a certificate that was made for a model with other weights or another automaton.
Exit status: 0 established, 1 not established, 2 bad input, 3 undecided within the limits.
)"};

constexpr std::size_t kCheckColumns = 100;

struct CheckArguments {
  std::string certificate, model;
  RecheckOptions limits;
  bool json = false;
};

void print_report(const CheckArguments& options, const Certificate& certificate, const Network& network,
                  const Recheck& found) {
  const std::string claim = claim_in_words(certificate, network.automaton.alphabet());
  fmt::print("{}: {}: {}\n", visible(options.certificate), found.established ? "established" : "NOT established",
             claim);
  fmt::print("  {}, {} weights, {} evaluation\n", to_string(certificate.arithmetic), to_string(certificate.form),
             certificate.holds_in_any_order() ? "any" : to_string(certificate.order));
  fmt::print("  {}\n", wrapped(certificate.method + ": " + found.finding, kCheckColumns, "    "));
}

int check(const CheckArguments& options) {
  const Network network = load_network(options.model);
  const Certificate certificate = load_certificate(options.certificate, network);
  const Recheck found = recheck(certificate, network, options.limits);
  if (options.json) {
    nlohmann::ordered_json json;
    json["certificate"] = options.certificate;
    json["model"] = options.model;
    json["claim"] = to_string(certificate.claim);
    json["method"] = certificate.method;
    json["established"] = found.established;
    json["finding"] = found.finding;
    print_json(json);
  } else {
    print_report(options, certificate, network, found);
  }
  return found.established ? kDone : kRefuted;
}

}  // namespace

void add_check(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<CheckArguments>();
  Verb verb = add_verb(app, kCheckHelp);
  verb.add_option("CERTIFICATE", options->certificate, "What `krohn verify --certificate` wrote").required();
  verb.add_option("MODEL", options->model, "The .safetensors file that it is about").required();
  add_count(verb, "--max-letters", options->limits.max_letters, "Most letters of random words to read");
  add_json_flag(verb, options->json);
  verb.callback([options, &chosen] { chosen = [options] { return check(*options); }; });
}

}  // namespace krohn
