#include "tools/krohn/report/page_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/automata/draw/draw.h"
#include "krohn/automata/draw/egg_box.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/prove/claims/claim_text.h"
#include "tools/krohn/report/class_report.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/listed_certificate.h"
#include "tools/krohn/report/page.h"
#include "tools/krohn/report/plan_table.h"
#include "tools/krohn/report/verdict.h"

namespace krohn {
namespace {

constexpr std::size_t kMostEmbedded = std::size_t{4} << 20;  // of weights, and of the automaton
constexpr std::size_t kMostPicture = std::size_t{1} << 20;   // of a picture
constexpr std::size_t kMostText = std::size_t{256} << 10;    // of a text to save

/// {"bytes": …} in base64, or {"absent": why}.
Json bytes_or_reason(const std::string& bytes, const std::string& what) {
  if (bytes.size() <= kMostEmbedded) return {{"bytes", base64(bytes)}};
  return {{"absent", fmt::format("{} take {} bytes, too many for a page", what, with_thousands(bytes.size()))}};
}

Json network_data(const Network& network) {
  const std::string weights = canonical_weights(network), automaton = canonical_automaton(network.automaton);
  Json data;
  data["construction"] = network.provenance.construction;
  data["theorem"] = network.provenance.theorem;
  data["source"] = network.provenance.source;
  data["note"] = network.provenance.note;
  data["weights"] = bytes_or_reason(weights, "the weights");
  data["weights_sha256"] = sha256(weights);
  data["automaton_sha256"] = sha256(automaton);
  return data;
}

/// {"text": …} as `krohn verify --certificate` would write it, or {"absent": why}.
Json certificate_data(const Certificate& certificate, const Network& network) {
  if (!has_file(certificate))
    return {{"absent", fmt::format("of \"{}\" there is no certificate file", certificate.method)}};
  constexpr StepLimits kSteps{.max_steps = 20'000, .max_bytes = kMostEmbedded};
  try {
    const Certificate listed = listed_certificate(certificate, network, kSteps, kSteps);
    std::string text = format_certificate(listed, network);
    if (text.size() > kMostEmbedded) throw LimitError("it has too many bytes");
    Json data{{"sha256", sha256(text)}, {"text", std::move(text)}};
    if (listed.is_shortest() != certificate.is_shortest())
      data["remark"] = "That no shorter word fails takes too many steps for a page; krohn verify proves it";
    return data;
  } catch (const Error& error) {
    return {{"absent",
             fmt::format("the certificate is not here ({}); `krohn verify --certificate` writes it", error.what())}};
  }
}

/// The picture's own element, without what precedes it in a file.
Json svg_of(const std::string& dot, const std::string& engine) {
  const std::string svg = render_dot(dot, "svg", engine);
  if (svg.size() > kMostPicture) return nullptr;
  return svg.substr(svg.find("<svg"));
}

/// The states one by one, which the page lights; a table is drawn by the page itself.
Json picture_of(const Dfa& automaton) {
  DrawOptions options;
  options.show_sink = true;
  options.max_states = 80;
  DrawnView view = DrawnView::kStates;
  const std::string dot = to_drawn_dot(automaton, options, &view);
  if (view == DrawnView::kTable || view == DrawnView::kMatrix) return nullptr;
  Json picture;
  picture["svg"] = svg_of(dot, engine_for(view, options.engine));
  picture["has_states"] = view != DrawnView::kComponents;
  return picture["svg"].is_null() ? Json() : picture;
}

Json text_of_automaton(const Dfa& automaton, FileFormat format) try {
  std::string text = write_automaton(automaton, format);
  return text.size() <= kMostText ? Json(std::move(text)) : Json();
} catch (const InputError&) {
  return nullptr;  // the format cannot hold it
}

Json automaton_data(const Dfa& automaton) {
  Json data = bytes_or_reason(canonical_automaton(automaton), "the tables of the automaton");
  data["states"] = automaton.states();
  data["is_acceptor"] = automaton.is_acceptor();
  data["letters"] = automaton.letters();
  if (data.contains("bytes"))
    for (State state = 0; state < automaton.states(); ++state)
      data["state_names"].push_back(automaton.state_name(state));
  data["picture"] = picture_of(automaton);
  data["dot"] = text_of_automaton(automaton, FileFormat::kDot);
  data["json"] = text_of_automaton(automaton, FileFormat::kJson);
  return data;
}

Json egg_box_of(const Job& job) {
  constexpr std::size_t kMostClasses = 30, kMostSide = 16;
  if (!job.algebra.green) return nullptr;
  const auto& boxes = job.algebra.green->d_classes();
  const bool is_small = boxes.size() <= kMostClasses && std::ranges::all_of(boxes, [](const DClass& box) {
                          return box.r_classes <= kMostSide && box.l_classes <= kMostSide;
                        });
  return is_small ? svg_of(egg_box_dot(job.automaton, job.algebra), "dot") : Json();
}

Json job_data(const Job& job) {
  Json data = job_to_json(job);
  data["class_rows"] = class_rows(job.classes, job.automaton.alphabet());
  return data;
}

Json verdict_data(const Findings& findings) {
  const Certificate& certificate = findings.verdict->certificate;
  const Alphabet& alphabet = findings.automaton.alphabet();
  Json data;
  add_verdict(data, *findings.verdict, alphabet);
  data["sentence"] = claim_in_words(certificate, alphabet);
  data["form"] = to_string(certificate.form);
  data["status"] = exit_status(certificate, 0);
  return data;
}

}  // namespace

Json page_data(const Findings& findings) {
  Json data;
  data["subject"] = findings.subject;
  data["language"] = findings.language;
  data["version"] = KROHN_VERSION;
  data["automaton"] = automaton_data(findings.automaton);
  data["network"] = findings.network ? network_data(*findings.network) : Json();
  if (!findings.network) data["no_network"] = findings.no_network;
  if (findings.verdict) {
    data["verdict"] = verdict_data(findings);
    data["certificate"] = certificate_data(findings.verdict->certificate, *findings.network);
  } else if (findings.network) {
    data["stepped"] = {{"arithmetic", findings.arithmetic}, {"order", "sequential"}};
  }
  data["plans"] = Json::array();
  for (const PlanRow& row : findings.plans) data["plans"].push_back(plan_to_json(row));
  data["jobs"] = Json::array();
  for (const Job& job : findings.jobs) data["jobs"].push_back(job_data(job));
  data["egg_box"] = findings.jobs.empty() ? Json() : egg_box_of(findings.jobs.back());
  data["commands"] = findings.commands;
  return data;
}

}  // namespace krohn
