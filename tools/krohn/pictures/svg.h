// tools/krohn/pictures/svg.h — a small writer of pictures: lines, dots and text, in pixels from the top left corner.
// All plots of the command are drawn with it, as SVG, PNG or PDF.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krohn {

/// Paul Tol's "bright" colours, which stay apart for all common kinds of colour blindness.
namespace colour {
inline constexpr std::string_view kBlue = "#4477AA", kRed = "#EE6677", kGreen = "#228833", kGrey = "#BBBBBB",
                                  kText = "#222222", kFaint = "#E4E4E4", kBand = "#F1F5FA", kNone = "none";
}

struct SvgPoint {
  double x = 0, y = 0;
};

struct SvgStroke {
  std::string_view colour = colour::kText;
  double width = 1;
  std::string_view dashes = {};  ///< "4 3"; empty: none
};

enum class SvgAnchor { kStart, kMiddle, kEnd };

class Svg {
 public:
  Svg(double width, double height);

  void line(SvgPoint from, SvgPoint to, const SvgStroke& stroke);
  void polyline(std::span<const SvgPoint> points, const SvgStroke& stroke);
  void rectangle(SvgPoint corner, double width, double height, std::string_view fill, const SvgStroke& stroke);
  void circle(SvgPoint centre, double radius, std::string_view fill, const SvgStroke& stroke, double opacity = 1);
  /// `text` is any UTF-8; `at` is on its base line.
  void text(SvgPoint at, std::string_view text, double size, SvgAnchor anchor = SvgAnchor::kStart,
            std::string_view fill = colour::kText);

  /// The whole file.
  std::string finished() const;
  /// The same picture for Graphviz, whose libraries write the other formats: shapes behind an empty graph.
  std::string dot() const;

 private:
  double width_, height_;
  std::string body_, shapes_;
};

/// A title in lines of at most so many characters, broken behind commas and spaces: names of models are long.
std::vector<std::string> title_lines(const std::string& title, std::size_t columns);

/// The value of --plot: the name of an .svg, .png or .pdf file. Throws InputError for another.
void require_plot_name(const std::string& path);

/// Writes the picture, in the format that the name says.
void write_plot(const Svg& picture, const std::string& path);

}  // namespace krohn
