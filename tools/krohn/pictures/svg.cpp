#include "tools/krohn/pictures/svg.h"

#include <fmt/format.h>

#include "krohn/automata/draw/draw.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/report/table.h"

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

/// The drawing language of Graphviz's `_background`: a string is its number of bytes and itself. Quotes and backslashes
/// would mean something to DOT.
std::string counted(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c == '"')
      plain += "”";
    else if (c == '\\')
      plain += "∖";
    else if (static_cast<unsigned char>(c) >= 0x20)
      plain += c;
  return fmt::format("{} -{}", plain.size(), plain);
}

/// `opacity` as the last two digits of the colour.
std::string shaded(std::string_view colour, double opacity = 1) {
  if (colour == colour::kNone) return "#00000000";
  return fmt::format("{}{:02x}", colour, static_cast<int>(255 * opacity + 0.5));
}

std::string pen(const SvgStroke& stroke, double opacity = 1) {
  return fmt::format("c {} S {} S {} ", counted(shaded(stroke.colour, opacity)),
                     counted(fmt::format("setlinewidth({:.4g})", stroke.width)),
                     counted(stroke.dashes.empty() ? "solid" : "dashed"));
}

constexpr std::string_view kFont = "Helvetica";

}  // namespace

Svg::Svg(double width, double height) : width_(width), height_(height) {}

void Svg::line(SvgPoint from, SvgPoint to, const SvgStroke& stroke) {
  body_ += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"{}/>\n", from.x, from.y, to.x,
                       to.y, attributes(stroke));
  shapes_ +=
      fmt::format("{}L 2 {:.2f} {:.2f} {:.2f} {:.2f} ", pen(stroke), from.x, height_ - from.y, to.x, height_ - to.y);
}

void Svg::polyline(std::span<const SvgPoint> points, const SvgStroke& stroke) {
  std::string list, places;
  for (const SvgPoint point : points) {
    list += fmt::format("{:.2f},{:.2f} ", point.x, point.y);
    places += fmt::format("{:.2f} {:.2f} ", point.x, height_ - point.y);
  }
  body_ +=
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\"{}/>\n", list, attributes(stroke));
  if (points.size() > 1) shapes_ += fmt::format("{}L {} {}", pen(stroke), points.size(), places);
}

void Svg::rectangle(SvgPoint corner, double width, double height, std::string_view fill, const SvgStroke& stroke) {
  body_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}/>\n", corner.x,
                       corner.y, width, height, fill, attributes(stroke));
  const double left = corner.x, right = left + width, top = height_ - corner.y, bottom = top - height;
  shapes_ += fmt::format("{}C {} P 4 {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} ", pen(stroke),
                         counted(shaded(fill)), left, bottom, right, bottom, right, top, left, top);
}

void Svg::circle(SvgPoint centre, double radius, std::string_view fill, const SvgStroke& stroke, double opacity) {
  body_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\" opacity=\"{:.3g}\"{}/>\n",
                       centre.x, centre.y, radius, fill, opacity, attributes(stroke));
  shapes_ += fmt::format("{}C {} E {:.2f} {:.2f} {:.2f} {:.2f} ", pen(stroke, opacity), counted(shaded(fill, opacity)),
                         centre.x, height_ - centre.y, radius, radius);
}

void Svg::text(SvgPoint at, std::string_view text, double size, SvgAnchor anchor, std::string_view fill) {
  body_ +=
      fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:.4g}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n",
                  at.x, at.y, size, name_of(anchor), fill, escaped(text));
  constexpr int kSides[] = {-1, 0, 1};  // −1: the text begins there
  shapes_ += fmt::format("c {} F {:.4g} {} T {:.2f} {:.2f} {} {:.1f} {} ", counted(shaded(fill)), size, counted(kFont),
                         at.x, height_ - at.y, kSides[static_cast<int>(anchor)],
                         0.55 * size * static_cast<double>(krohn::width(std::string(text))), counted(text));
}

std::string Svg::finished() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#FFFFFF\"/>\n{2}</svg>\n",
      width_, height_, body_);
}

std::string Svg::dot() const {
  const auto corner = [](const char* name, double x, double y) {
    return fmt::format("  {} [style=invis, label=\"\", width=0, height=0, fixedsize=true, pos=\"{:.0f},{:.0f}\"];\n",
                       name, x, y);
  };
  return fmt::format(
      "digraph plot {{\n  graph [pad=0, margin=0, dpi=96, bb=\"0,0,{:.0f},{:.0f}\", _background=\"{}\"];\n{}{}}}\n",
      width_, height_, shapes_, corner("bottom", 0, 0), corner("top", width_, height_));
}

std::vector<std::string> title_lines(const std::string& title, std::size_t columns) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (width(title.substr(begin)) > columns) {
    const std::size_t longest = shortened(title.substr(begin), columns).size() - std::string_view("…").size();
    const std::size_t found = title.find_last_of(", ", begin + longest - 1);
    const std::size_t end = found == std::string::npos || found <= begin ? begin + longest : found + 1;
    lines.push_back(title.substr(begin, end - begin));
    begin = end;
  }
  lines.push_back(title.substr(begin));
  return lines;
}

namespace {

std::string format_of_plot(const std::string& path) {
  for (const char* format : {"svg", "png", "pdf"})
    if (path.ends_with(std::string(".") + format)) return format;
  throw InputError(path, "the name of a plot ends in .svg, .png or .pdf");
}

}  // namespace

void require_plot_name(const std::string& path) { format_of_plot(path); }

void write_plot(const Svg& picture, const std::string& path) {
  const std::string format = format_of_plot(path);
  write_file(path, format == "svg" ? picture.finished() : render_dot(picture.dot(), format, "nop2"));
}

}  // namespace krohn
