// simulate/train/tables/reported_figure.h — what a paper's way of counting makes of the runs of a cell.
#pragma once

#include <string>
#include <vector>

#include "krohn/simulate/train/tables/table_cell.h"

namespace krohn {

/// One run: its figure at the paper's length, and by validation; scaled.
struct RunFigure {
  double rate = 0;
  std::uint64_t seed = 0;
  double test = 0, validated = 0, validation_loss = 0;
};

struct ReportedFigure {
  double figure = 0;
  /// Beside a mean the standard deviation (n − 1), beside a median the median of the distances from it; otherwise 0.
  double spread = 0;
  double rate = 0;  ///< the one that was chosen; 0 where each seed or run has its own
};

/// Of an even number of figures, the mean of the middle two. Precondition: there is one.
double median_of(std::vector<double> figures);

/// Throws InputError when there are no runs.
ReportedFigure reported_figure(Reported reported, const std::vector<RunFigure>& runs);

/// "best of all runs", ….
std::string to_string(Reported reported);

}  // namespace krohn
