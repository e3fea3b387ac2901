#include "tools/krohn/pictures/accuracy_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/krohn/pictures/svg.h"
#include "tools/krohn/report/table.h"

namespace krohn {
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

}  // namespace krohn
