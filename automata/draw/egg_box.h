// automata/draw/egg_box.h — pictures of a monoid: its D-classes as egg-boxes, in the terminal and through Graphviz.
#pragma once

#include <cstdint>
#include <string>

#include "krohn/automata/monoid/algebra.h"

namespace krohn {

struct EggBoxOptions {
  std::uint32_t max_side = 32;      ///< boxes with more rows or columns are written as their numbers
  std::uint32_t max_classes = 200;  ///< D-classes shown; the rest are counted
};

/// One block per D-class, from the identity down: its size, rank, group and a word in it, then a row per R-class and a
/// column per L-class; `*` marks the cells that are groups.
std::string egg_box_text(const Dfa& dfa, const Algebra& algebra, const EggBoxOptions& options = {});

/// The same as DOT text: one table per D-class, which says whether it is regular and how many elements an H-class has,
/// group cells shaded and named, arrows down the covering relation of the
/// J-order. Deterministic. For render_dot.
std::string egg_box_dot(const Dfa& dfa, const Algebra& algebra, const EggBoxOptions& options = {});

}  // namespace krohn
