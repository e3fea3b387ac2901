#include "tools/krohn/pictures/spectrum_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tools/krohn/report/table.h"

namespace krohn {
namespace {

constexpr double kTop = 64, kGap = 18, kFontSize = 12, kLeastWidth = 560, kLineOfTitle = 19;
constexpr double kLetter = 8.3;  ///< of the title, in pixels

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
        title(title_lines(text, static_cast<std::size_t>((picture_width() - 2 * kGap) / kLetter))) {}

  double top() const { return kTop + kLineOfTitle * static_cast<double>(title.size() - 1); }

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
    svg.text({kGap, 26 + kLineOfTitle * static_cast<double>(i)}, grid.title[i], kFontSize + 3);
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
