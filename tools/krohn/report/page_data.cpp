#include "tools/krohn/report/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "krohn/automata/cascades/holonomy.h"
#include "krohn/automata/draw/draw.h"
#include "krohn/automata/formats/format_file.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/sha256.h"
#include "page_module.h"
#include "tools/krohn/models/target.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/report/verdict.h"

namespace krohn {
namespace {

/// The bytes that hexadecimal digits stand for.
std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// JSON that no element of HTML ends or comments out.
std::string embedded(const nlohmann::ordered_json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

/// The frame with its marks replaced. What is put in is not searched.
std::string filled(std::string_view frame, const std::map<std::string_view, std::string>& parts) {
  std::string text;
  for (;;) {
    const std::size_t begin = frame.find("{{"), end = frame.find("}}", begin);
    text += frame.substr(0, begin);
    if (end == std::string_view::npos) return text;
    text += parts.at(frame.substr(begin + 2, end - begin - 2));
    frame.remove_prefix(end + 2);
  }
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kDigits[three >> (18U - 6U * j) & 63U] : '=';
  }
  return text;
}

std::string page_of(const nlohmann::ordered_json& data) {
  return filled(kPageFrame, {{"hash", base64(bytes_of(sha256(kPageScript)))},
                             {"style", kPageStyle},
                             {"data", embedded(data)},
                             {"script", kPageScript}});
}

namespace {

constexpr std::size_t kMaxEmbedded = std::size_t{4} << 20;  // of weights, and of the automaton
constexpr std::size_t kMaxPicture = std::size_t{1} << 20;   // of a picture

/// `subject`: of which steps are listed; `file`: what the certificate names by its hash.
template <class Subject, class File>
Json embedded_certificate(const Certificate& certificate, const Subject& subject, const File& file) {
  constexpr StepLimits kSteps{.max_steps = 20'000, .max_bytes = kMaxEmbedded};
  if (!has_file(certificate)) {
    const std::string what = certificate.is<Sampled>() ? "an open question" : fmt::format("\"{}\"", certificate.method);
    return {{"absent", fmt::format("of {} there is no certificate file", what)}};
  }
  try {
    const Certificate listed = listed_certificate(certificate, subject, kSteps, kSteps);
    std::string text = format_certificate(listed, file);
    if (text.size() > kMaxEmbedded) throw LimitError("it has too many bytes");
    Json data{{"sha256", sha256(text)}, {"text", std::move(text)}};
    if (listed.is_shortest() != certificate.is_shortest())
      data["remark"] = "That no shorter word fails takes too many steps for a page; krohn verify proves it";
    return data;
  } catch (const Error& error) {
    return {{"absent",
             fmt::format("the certificate is not here ({}); `krohn verify --certificate` writes it", error.what())}};
  }
}

}  // namespace

Json bytes_or_reason(const std::string& bytes, const std::string& what) {
  if (bytes.size() <= kMaxEmbedded) return {{"bytes", base64(bytes)}};
  return {{"absent", fmt::format("{} take {}, too many for a page", what, counted(bytes.size(), "byte"))}};
}

Json certificate_data(const Certificate& certificate, const Network& network) {
  return embedded_certificate(certificate, network, network);
}

Json certificate_data(const Certificate& certificate, const ReadModel& model, const std::string& without) {
  if (!without.empty()) return {{"absent", without}};
  return embedded_certificate(certificate, model.reader, *model.tensors);
}

Json svg_of(const std::string& dot, const std::string& engine) {
  const std::string svg = render_dot(dot, "svg", engine);
  if (svg.size() > kMaxPicture) return nullptr;
  return svg.substr(svg.find("<svg"));
}

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

namespace {

constexpr std::size_t kMaxText = std::size_t{256} << 10;  // of a text to save

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
  const std::string module = network.snap_every == 0 ? torch_module(network) : "";
  data["module"] = module.empty() || module.size() > kMaxText ? Json() : Json(module);
  return data;
}

Json text_of_automaton(const Dfa& automaton, FileFormat format) try {
  std::string text = write_automaton(automaton, format);
  return text.size() <= kMaxText ? Json(std::move(text)) : Json();
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
  data["tikz"] = text_of_automaton(automaton, FileFormat::kTikz);
  data["json"] = text_of_automaton(automaton, FileFormat::kJson);
  return data;
}

Json egg_box_of(const Job& job) {
  constexpr std::size_t kMaxClasses = 30, kMaxSide = 16;
  if (!job.algebra.green) return nullptr;
  const auto& boxes = job.algebra.green->d_classes();
  const bool is_small = boxes.size() <= kMaxClasses && std::ranges::all_of(boxes, [](const DClass& box) {
                          return box.r_classes <= kMaxSide && box.l_classes <= kMaxSide;
                        });
  return is_small ? svg_of(egg_box_dot(job.automaton, job.algebra), "dot") : Json();
}

/// The holonomy decomposition; null where it is too large.
Json cascade_of(const Dfa& automaton) try {
  constexpr std::uint64_t kMax = 100'000;
  constexpr std::size_t kMaxLayers = 16;
  const Cascade cascade = holonomy_decomposition(automaton, {.max_sets = kMax, .max_contexts = kMax});
  return cascade.layers.size() <= kMaxLayers ? svg_of(to_drawn_dot(cascade, {}), "dot") : Json();
} catch (const LimitError&) {
  return nullptr;
}

Json job_data(const Job& job) {
  Json data = job_to_json(job);
  data["class_rows"] = class_rows(job.classes, job.automaton.alphabet());
  return data;
}

/// The name of the file or folder, without the way to it; a language as it was typed.
std::string title_of(const std::string& subject) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::weakly_canonical(subject, error);
  return std::filesystem::exists(path, error) ? path.filename().string() : subject;
}

Json verdict_data(const Findings& findings) {
  const Certificate& certificate = findings.verdict->certificate;
  const Alphabet& alphabet = findings.automaton.alphabet();
  Json data;
  add_verdict(data, *findings.verdict, alphabet);
  data["sentence"] = claim_in_words(certificate, alphabet);
  if (certificate.failing_word()) data["failing_word_shown"] = quoted_word(alphabet, *certificate.failing_word());
  data["form"] = to_string(certificate.form);
  data["status"] = exit_status(certificate, 0);
  return data;
}

}  // namespace

Json page_data(const Findings& findings) {
  Json data;
  data["subject"] = findings.subject;
  data["title"] = title_of(findings.subject);
  data["language"] = findings.language;
  data["version"] = KROHN_VERSION;
  data["automaton"] = automaton_data(findings.automaton);
  data["network"] = findings.network ? network_data(*findings.network) : Json();
  if (!findings.network && findings.run.is_null()) data["no_network"] = findings.no_network;
  if (findings.verdict) {
    data["verdict"] = verdict_data(findings);
    if (findings.network) data["certificate"] = certificate_data(findings.verdict->certificate, *findings.network);
  } else if (findings.network) {
    data["stepped"] = {{"arithmetic", findings.arithmetic}, {"order", "sequential"}};
  }
  if (!findings.run.is_null()) data.update(findings.run);
  data["plans"] = Json::array();
  for (const bool fits : {true, false})
    for (const PlanRow& row : findings.plans)
      if (row.possible == fits) data["plans"].push_back(plan_to_json(row));
  data["jobs"] = Json::array();
  for (const Job& job : findings.jobs) data["jobs"].push_back(job_data(job));
  data["egg_box"] = findings.jobs.empty() ? Json() : egg_box_of(findings.jobs.back());
  data["cascade"] = findings.jobs.empty() ? Json() : cascade_of(findings.jobs.back().automaton);
  data["commands"] = findings.commands;
  return data;
}

}  // namespace krohn
