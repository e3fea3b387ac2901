#include "tools/krohn/pictures/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "krohn/automata/draw/draw.h"
#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/report/output.h"

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

namespace {

constexpr double kWidth = 640, kHeight = 422, kLeft = 64, kRight = 32, kTop = 66, kBottom = 56;
constexpr double kFontSize = 12, kLetter = 6.8, kLineOfNames = 19, kLineOfTitle = 18;
constexpr std::size_t kTitleColumns = 74;

/// Paul Tol's "bright" colours, with two of his "vibrant" ones.
constexpr std::array<std::string_view, 8> kColours{"#4477AA", "#EE6677", "#228833", "#AA3377",
                                                   "#66CCEE", "#CCBB44", "#EE7733", "#777777"};

/// Data to pixels: lengths on a logarithmic axis, accuracies on a linear one.
struct Axes {
  double first, last;  ///< decades
  double low;          ///< least accuracy
  double top;          ///< in pixels, below the title

  double bottom() const { return top + kHeight - kTop - kBottom; }
  double x(double length) const {
    return kLeft + (std::log10(length) - first) / (last - first) * (kWidth - kLeft - kRight);
  }
  double y(double value) const { return top + (1.05 - value) / (1.05 - low) * (bottom() - top); }
};

Axes axes_of(const AccuracyPicture& picture, double top) {
  const LengthRange trained = picture.trained;
  double least = 0, longest = 1;
  double shortest =
      trained.greatest > 0 ? std::log10(static_cast<double>(std::max<std::uint64_t>(trained.least, 1))) : 18;
  for (const AccuracyCurve& curve : picture.curves)
    for (const AccuracyPoint& point : curve.points) {
      least = std::min(least, point.low);
      const double decade = std::log10(static_cast<double>(std::max<std::uint64_t>(point.length, 1)));
      shortest = std::min(shortest, decade);
      longest = std::max(longest, decade);
    }
  const double first = std::floor(std::min(shortest, longest));
  return {first, std::max(std::ceil(longest), first + 1), std::min(-0.05, std::max(least, -1.0) - 0.05), top};
}

std::string decade_name(int decade) {
  if (decade <= 4) return with_thousands(static_cast<std::uint64_t>(std::llround(std::pow(10, decade))));
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string digits;
  for (const char digit : std::to_string(decade)) digits += kDigits[digit - '0'];
  return "10" + digits;
}

void draw_axes(Svg& svg, const Axes& axes, const AccuracyPicture& picture) {
  const LengthRange trained = picture.trained;
  const double bottom = axes.bottom(), right = kWidth - kRight;
  if (trained.greatest > 0) {
    const double from = std::max(kLeft, axes.x(static_cast<double>(std::max<std::uint64_t>(trained.least, 1))));
    const double to = std::clamp(axes.x(static_cast<double>(trained.greatest)), from + 3, right);
    svg.rectangle({from, axes.top}, to - from, bottom - axes.top, colour::kBand, {colour::kNone});
    svg.text({from, axes.top - 5}, "trained", kFontSize - 1, SvgAnchor::kStart, colour::kBlue);
  }
  for (const double value : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const bool is_chance = value == 0 && picture.has_chance;
    svg.line({kLeft, axes.y(value)}, {right, axes.y(value)},
             is_chance ? SvgStroke{colour::kRed, 1, "5 4"} : SvgStroke{colour::kFaint, 1});
    svg.text({kLeft - 8, axes.y(value) + 4}, fmt::format("{:.2f}", value), kFontSize, SvgAnchor::kEnd);
  }
  if (picture.has_chance)
    svg.text({kLeft + 6, axes.y(0) - 5}, "chance", kFontSize - 1, SvgAnchor::kStart, colour::kRed);
  for (int decade = static_cast<int>(axes.first); decade <= static_cast<int>(axes.last); ++decade) {
    const double x = axes.x(std::pow(10, decade));
    svg.line({x, bottom}, {x, bottom + 5}, {});
    svg.text({x, bottom + 20}, decade_name(decade), kFontSize, SvgAnchor::kMiddle);
    for (int digit = 2; digit < 10 && decade < static_cast<int>(axes.last); ++digit) {
      const double minor = axes.x(digit * std::pow(10, decade));
      svg.line({minor, bottom}, {minor, bottom + 3}, {colour::kGrey});
    }
  }
  svg.line({kLeft, bottom}, {right, bottom}, {});
  svg.line({kLeft, axes.top}, {kLeft, bottom}, {});
  svg.text({8, axes.top - 24}, picture.y_title, kFontSize + 1);
  svg.text({(kLeft + right) / 2, bottom + kBottom - 14}, picture.x_title, kFontSize + 1, SvgAnchor::kMiddle);
}

void draw_curve(Svg& svg, const Axes& axes, const AccuracyCurve& curve, std::string_view colour) {
  std::vector<SvgPoint> line;
  for (const AccuracyPoint& point : curve.points) {
    const double x = axes.x(static_cast<double>(point.length));
    const double low = axes.y(std::max(point.low, axes.low)), high = axes.y(std::min(point.high, 1.05));
    for (const double y : {low, high}) svg.line({x - 4, y}, {x + 4, y}, {colour});
    svg.line({x, low}, {x, high}, {colour});
    line.push_back({x, axes.y(std::max(point.value, axes.low))});
  }
  svg.polyline(line, {colour, 2});
  for (const SvgPoint point : line) svg.circle(point, 3.5, colour, {"#FFFFFF"});
}

}  // namespace

Svg accuracy_plot(const AccuracyPicture& picture) {
  const std::vector<std::string> title = title_lines(picture.title, kTitleColumns);
  const Axes axes = axes_of(picture, kTop + kLineOfTitle * static_cast<double>(title.size() - 1));
  const bool has_names = picture.curves.size() > 1;
  std::size_t longest = 0;
  for (const AccuracyCurve& curve : picture.curves) longest = std::max(longest, width(curve.name));
  Svg svg(kWidth + (has_names ? 24 + kLetter * static_cast<double>(longest) : 0),
          std::max(axes.bottom() + kBottom, axes.top + kLineOfNames * static_cast<double>(picture.curves.size())));
  draw_axes(svg, axes, picture);
  for (std::size_t i = 0; i < title.size(); ++i)
    svg.text({8, 22 + kLineOfTitle * static_cast<double>(i)}, title[i], kFontSize + 2);
  for (std::size_t i = 0; i < picture.curves.size(); ++i) {
    const std::string_view colour = kColours[i % kColours.size()];
    draw_curve(svg, axes, picture.curves[i], colour);
    if (!has_names) continue;
    const double y = axes.top + 10 + kLineOfNames * static_cast<double>(i);
    svg.line({kWidth - 20, y - 4}, {kWidth, y - 4}, {colour, 2});
    svg.circle({kWidth - 10, y - 4}, 3.5, colour, {"#FFFFFF"});
    svg.text({kWidth + 8, y}, picture.curves[i].name, kFontSize);
  }
  return svg;
}

namespace {

constexpr double kPanelTop = 64, kGap = 18, kLeastWidth = 560, kPanelTitleLine = 19;
constexpr double kPanelTitleLetter = 8.3;  ///< of the title, in pixels

/// Panels in rows, as square as can be, with room above each for its title.
struct Grid {
  std::size_t columns;
  double width, height;  ///< of a panel, without its title

  Grid(const std::string& text, std::size_t panels, std::size_t most_columns, double panel_width, double panel_height)
      : columns(std::clamp<std::size_t>(
            static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(panels) * 1.5))), 1, most_columns)),
        width(panel_width),
        height(panel_height),
        rows_((panels + columns - 1) / columns),
        title(title_lines(text, static_cast<std::size_t>((picture_width() - 2 * kGap) / kPanelTitleLetter))) {}

  double top() const { return kPanelTop + kPanelTitleLine * static_cast<double>(title.size() - 1); }

  SvgPoint corner(std::size_t i) const {
    return {kGap + kLabels + static_cast<double>(i % columns) * (width + kGap + kLabels),
            top() + 22 + static_cast<double>(i / columns) * (height + 22 + kGap + kLabels)};
  }
  double picture_width() const {
    return std::max(kLeastWidth, kGap + static_cast<double>(columns) * (width + kGap + kLabels));
  }
  double picture_height() const { return top() + static_cast<double>(rows_) * (height + 22 + kGap + kLabels) + 4; }

 private:
  static constexpr double kLabels = 20;
  std::size_t rows_;

 public:
  std::vector<std::string> title;  ///< in lines that fit
};

void draw_title(Svg& svg, const Grid& grid) {
  for (std::size_t i = 0; i < grid.title.size(); ++i)
    svg.text({kGap, 26 + kPanelTitleLine * static_cast<double>(i)}, grid.title[i], kFontSize + 3);
}

/// Dots, rings and, of circles, ticks on a grey line.
void draw_legend(Svg& svg, const Grid& grid, const char* what, bool has_circles) {
  draw_title(svg, grid);
  const double y = grid.top() - 20;
  svg.circle({kGap + 6, y}, 4, colour::kBlue, {"#FFFFFF", 0.5});
  svg.text({kGap + 16, y + 4}, fmt::format("learned {}", what), kFontSize);
  svg.circle({kGap + 166, y}, 5, colour::kNone, {colour::kRed, 1.5});
  svg.text({kGap + 177, y + 4}, "exact", kFontSize);
  if (!has_circles) return;
  svg.line({kGap + 226, y}, {kGap + 246, y}, {colour::kGrey});
  svg.line({kGap + 236, y - 4}, {kGap + 236, y + 4}, {colour::kText});
  svg.text({kGap + 252, y + 4}, "unit circle, with the turns of exact networks", kFontSize);
}

void draw_circle_panel(Svg& svg, const CirclePanel& panel, SvgPoint corner, double size, double reach) {
  const SvgPoint centre{corner.x + size / 2, corner.y + size / 2};
  const double scale = size / 2 / reach;
  svg.text({centre.x, corner.y - 7}, panel.title, kFontSize, SvgAnchor::kMiddle);
  svg.line({corner.x, centre.y}, {corner.x + size, centre.y}, {colour::kFaint});
  svg.line({centre.x, corner.y}, {centre.x, corner.y + size}, {colour::kFaint});
  svg.circle(centre, scale, colour::kNone, {colour::kGrey});
  for (const double turn : panel.turns) {
    const double c = std::cos(2 * std::numbers::pi * turn), s = std::sin(2 * std::numbers::pi * turn);
    svg.line({centre.x + (scale - 4) * c, centre.y - (scale - 4) * s},
             {centre.x + (scale + 4) * c, centre.y - (scale + 4) * s}, {colour::kText});
  }
  const auto at = [&](std::complex<double> z) {
    return SvgPoint{centre.x + scale * z.real(), centre.y - scale * z.imag()};
  };
  for (const WeightedValue& dot : panel.learned)
    svg.circle(at(dot.value), 1.6 + 3.4 * std::sqrt(dot.weight), colour::kBlue, {"#FFFFFF", 0.5},
               0.25 + 0.75 * dot.weight);
  for (const std::complex<double> z : panel.exact) svg.circle(at(z), 6, colour::kNone, {colour::kRed, 1.5});
}

void draw_plane_panel(Svg& svg, const PlanePanel& panel, const std::vector<std::string>& letters, SvgPoint corner,
                      const Grid& grid, bool has_labels) {
  const auto y = [&](double turn) { return corner.y + (0.55 - turn) / 1.1 * grid.height; };
  const auto x = [&](std::size_t letter) {
    return corner.x + (static_cast<double>(letter) + 0.5) / static_cast<double>(letters.size()) * grid.width;
  };
  svg.text({corner.x + grid.width / 2, corner.y - 7}, panel.title, kFontSize - 1, SvgAnchor::kMiddle);
  for (const double turn : {-0.5, -0.25, 0.0, 0.25, 0.5}) {
    svg.line({corner.x, y(turn)}, {corner.x + grid.width, y(turn)}, {turn == 0 ? colour::kGrey : colour::kFaint});
    constexpr const char* kNames[] = {"−½", "−¼", "0", "¼", "½"};
    if (has_labels)
      svg.text({corner.x - 5, y(turn) + 4}, kNames[std::lround((turn + 0.5) * 4)], kFontSize - 2, SvgAnchor::kEnd);
  }
  svg.rectangle(corner, grid.width, grid.height, colour::kNone, {colour::kGrey});
  const std::size_t step = (letters.size() + 11) / 12;
  for (std::size_t letter = 0; letter < letters.size(); ++letter) {
    if (letter % step == 0)
      svg.text({x(letter), corner.y + grid.height + 14}, shortened(letters[letter], 4), kFontSize - 2,
               SvgAnchor::kMiddle);
    svg.circle({x(letter), y(panel.exact[letter])}, 5, colour::kNone, {colour::kRed, 1.3});
    svg.circle({x(letter), y(panel.learned[letter])}, 3, colour::kBlue, {"#FFFFFF", 0.5});
  }
}

}  // namespace

Svg circles_plot(const std::string& title, const std::vector<CirclePanel>& panels) {
  double reach = 1;
  for (const CirclePanel& panel : panels)
    for (const WeightedValue& dot : panel.learned) reach = std::max(reach, std::abs(dot.value));
  const Grid grid(title, panels.size(), 6, 170, 170);
  Svg svg(grid.picture_width(), grid.picture_height());
  draw_legend(svg, grid, "eigenvalues", true);
  for (std::size_t i = 0; i < panels.size(); ++i)
    draw_circle_panel(svg, panels[i], grid.corner(i), grid.width, 1.15 * reach);
  return svg;
}

Svg planes_plot(const std::string& title, const std::vector<std::string>& letters,
                const std::vector<PlanePanel>& panels) {
  const Grid grid(title, panels.size(), 5, 170, 120);
  Svg svg(grid.picture_width(), grid.picture_height());
  draw_legend(svg, grid, "angles, in turns", false);
  for (std::size_t i = 0; i < panels.size(); ++i)
    draw_plane_panel(svg, panels[i], letters, grid.corner(i), grid, i % grid.columns == 0);
  return svg;
}

}  // namespace krohn
