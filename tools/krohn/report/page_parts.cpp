#include "tools/krohn/report/page_parts.h"

#include <fmt/format.h>

#include "krohn/automata/draw/draw.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/prove/claims/claim_text.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/listed_certificate.h"
#include "tools/krohn/report/page.h"

namespace krohn {
namespace {

constexpr std::size_t kMostEmbedded = std::size_t{4} << 20;  // of weights, and of the automaton
constexpr std::size_t kMostPicture = std::size_t{1} << 20;   // of a picture

/// `subject`: of which steps are listed; `file`: what the certificate names by its hash.
template <class Subject, class File>
Json embedded_certificate(const Certificate& certificate, const Subject& subject, const File& file) {
  constexpr StepLimits kSteps{.max_steps = 20'000, .max_bytes = kMostEmbedded};
  if (!has_file(certificate)) {
    const std::string what = certificate.is<Sampled>() ? "an open question" : fmt::format("\"{}\"", certificate.method);
    return {{"absent", fmt::format("of {} there is no certificate file", what)}};
  }
  try {
    const Certificate listed = listed_certificate(certificate, subject, kSteps, kSteps);
    std::string text = format_certificate(listed, file);
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

}  // namespace

Json bytes_or_reason(const std::string& bytes, const std::string& what) {
  if (bytes.size() <= kMostEmbedded) return {{"bytes", base64(bytes)}};
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
  if (svg.size() > kMostPicture) return nullptr;
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

}  // namespace krohn
