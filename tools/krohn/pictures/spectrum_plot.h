// tools/krohn/pictures/spectrum_plot.h — what letters do, learned beside exact: eigenvalues on the unit circle, or the
// angles of every plane (Ebrahimi & Memisevic, Fig. 3).
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "tools/krohn/pictures/svg.h"

namespace krohn {

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

}  // namespace krohn
