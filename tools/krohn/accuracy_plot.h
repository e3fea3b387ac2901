// tools/krohn/accuracy_plot.h — accuracy by length: a logarithmic axis, intervals, and the line of chance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/task.h"

namespace krohn {

struct AccuracyPoint {
  std::uint64_t length = 1;
  double value = 0, low = 0, high = 0;  ///< scaled: 0 is chance, 1 is perfect
};

/// The picture as SVG. `trained` is shaded, unless it is empty.
std::string accuracy_svg(const std::string& title, const std::vector<AccuracyPoint>& points, LengthRange trained);

}  // namespace krohn
