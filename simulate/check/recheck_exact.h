// simulate/check/recheck_exact.h — the re-checker's part for exact arithmetic: letters in rational numbers.
#pragma once

#include <vector>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// Whether A `from` + B is `to`, of every column, exactly: with the entries that the structured form stands for. False
/// where these are irrational.
bool moves_exactly(const Layer& layer, Action action, const std::vector<double>& from, const std::vector<double>& to);

}  // namespace krohn
