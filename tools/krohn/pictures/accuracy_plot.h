// tools/krohn/pictures/accuracy_plot.h — accuracy by length: a logarithmic axis, intervals, and the line of chance; or
// by another count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/simulate/tasks/task.h"
#include "tools/krohn/pictures/svg.h"

namespace krohn {

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

}  // namespace krohn
