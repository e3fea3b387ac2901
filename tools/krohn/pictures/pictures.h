// tools/krohn/pictures/pictures.h — the pictures that verbs draw: SVG, accuracies by length, spectra, networks.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/tasks/task.h"

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

// Accuracy by length: a logarithmic axis, intervals, and the line of chance; or by another count.

struct AccuracyPoint {
  std::uint64_t length = 1;
  double value = 0, low = 0, high = 0;  ///< scaled: 0 is chance, 1 is perfect
};

struct AccuracyCurve {
  std::string name;  ///< of several curves
  std::vector<AccuracyPoint> points;
};

struct AccuracyPicture {
  std::string title;
  std::vector<AccuracyCurve> curves;
  LengthRange trained{};  ///< shaded, unless it is empty
  std::string x_title = "length of the words", y_title = "scaled accuracy";
  bool has_chance = true;  ///< 0 is chance
};

/// One curve, or several with their names at the right.
Svg accuracy_plot(const AccuracyPicture& picture);

// The action of letters, learned beside exact: eigenvalues on the unit circle, or the angles of every plane (Ebrahimi &
// Memisevic, Fig. 3).

/// A dot; larger and darker with its weight.
struct WeightedValue {
  std::complex<double> value;
  double weight = 1;
};

struct CirclePanel {
  std::string title;
  std::vector<WeightedValue> learned;
  std::vector<std::complex<double>> exact;
  std::vector<double> turns;  ///< marked on the unit circle
};

/// One panel of the complex plane for each letter: dots are learned, rings exact, ticks the turns
/// that an exact network can have.
Svg circles_plot(const std::string& title, const std::vector<CirclePanel>& panels);

struct PlanePanel {
  std::string title;
  std::vector<double> learned, exact;  ///< in turns, per letter
};

/// One panel for each plane, letters from left to right: dots are learned angles, rings the nearest exact ones.
Svg planes_plot(const std::string& title, const std::vector<std::string>& letters,
                const std::vector<PlanePanel>& panels);

// A network as a picture: its layers, what each letter does there, and the way out.

/// DOT text, one box per layer from left to right. The first layer lists its letters, later layers their actions; lists
/// and cascades that are too long to read are cut, saying how much is left out. The same network gives the same bytes.
std::string network_dot(const Network& network, const std::string& title);

/// One action in words: "(1 2 3)" for a permutation of coordinates, "set to 2" for a reset, "turn 1/5", "2
/// reflections".
std::string describe_action(const Transition& transition);

}  // namespace krohn
