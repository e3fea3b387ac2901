#include "tools/krohn/pictures/svg.h"

#include <fmt/format.h>

namespace krohn {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  }
  return result;
}

std::string attributes(const SvgStroke& stroke) {
  std::string text = fmt::format(" stroke=\"{}\" stroke-width=\"{:.4g}\"", stroke.colour, stroke.width);
  if (!stroke.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
  return text;
}

constexpr const char* name_of(SvgAnchor anchor) {
  constexpr const char* kNames[] = {"start", "middle", "end"};
  return kNames[static_cast<int>(anchor)];
}

}  // namespace

Svg::Svg(double width, double height) : width_(width), height_(height) {}

void Svg::line(SvgPoint from, SvgPoint to, const SvgStroke& stroke) {
  body_ += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"{}/>\n", from.x, from.y, to.x,
                       to.y, attributes(stroke));
}

void Svg::polyline(std::span<const SvgPoint> points, const SvgStroke& stroke) {
  std::string list;
  for (const SvgPoint point : points) list += fmt::format("{:.2f},{:.2f} ", point.x, point.y);
  body_ +=
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\"{}/>\n", list, attributes(stroke));
}

void Svg::rectangle(SvgPoint corner, double width, double height, std::string_view fill, const SvgStroke& stroke) {
  body_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}/>\n", corner.x,
                       corner.y, width, height, fill, attributes(stroke));
}

void Svg::circle(SvgPoint centre, double radius, std::string_view fill, const SvgStroke& stroke, double opacity) {
  body_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\" opacity=\"{:.3g}\"{}/>\n",
                       centre.x, centre.y, radius, fill, opacity, attributes(stroke));
}

void Svg::text(SvgPoint at, std::string_view text, double size, SvgAnchor anchor, std::string_view fill,
               bool is_upright) {
  const std::string turned =
      is_upright ? fmt::format(" transform=\"rotate(-90 {:.2f} {:.2f})\"", at.x, at.y) : std::string();
  body_ +=
      fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:.4g}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n",
                  at.x, at.y, size, name_of(anchor), fill, turned, escaped(text));
}

std::string Svg::finished() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#FFFFFF\"/>\n{2}</svg>\n",
      width_, height_, body_);
}

}  // namespace krohn
