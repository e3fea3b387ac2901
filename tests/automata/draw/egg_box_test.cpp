#include "krohn/automata/draw/egg_box.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "krohn/automata/draw/draw.h"
#include "tests/automata/bestiary.h"

using namespace krohn;

TEST_CASE("the terminal shows every cell, and a star for every group") {
  const Dfa dfa = full_transformation_monoid(4);
  const Algebra algebra = analyse(dfa);
  const std::string text = egg_box_text(dfa, algebra);
  std::size_t cells = 0;
  for (const DClass& box : algebra.green.value().d_classes()) cells += box.r_classes * box.l_classes;
  // Dots stand in cells only; stars too.
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '*')) == algebra.idempotents);
  CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '.') +
                                 std::count(text.begin(), text.end(), '*')) == cells);
  CHECK(text.find("D0: 24 elements, rank 4, 1 row × 1 column, group S_4") == 0);
}

TEST_CASE("large boxes are given by their numbers, and classes past the limit are counted") {
  const Dfa dfa = full_transformation_monoid(5);
  const Algebra algebra = analyse(dfa);
  EggBoxOptions options;
  options.max_side = 4;
  options.max_classes = 3;
  const std::string text = egg_box_text(dfa, algebra, options);
  CHECK(text.find("(too large to draw)") != std::string::npos);
  CHECK(text.find("… and 2 more D-classes") != std::string::npos);
  CHECK(egg_box_dot(dfa, algebra, options).find("… and 2 more D-classes") != std::string::npos);
}

TEST_CASE("the picture is DOT that Graphviz lays out, the same bytes each time") {
  const Dfa dfa = automaton({{1, 1, 2}, {0, 2, 2}}, 3);
  const Algebra algebra = analyse(dfa);
  const std::string dot = egg_box_dot(dfa, algebra);
  CHECK(dot == egg_box_dot(dfa, algebra));
  CHECK(render_dot(dot, "svg", "dot").find("<svg") != std::string::npos);
}

TEST_CASE("the picture says which classes are regular and how large their H-classes are, and typesets groups") {
  const Dfa full = full_transformation_monoid(3);
  const std::string dot = egg_box_dot(full, analyse(full));
  for (const char* text :
       {"regular, |H| = 6", "regular, |H| = 2", "regular, |H| = 1", "S<SUB>3</SUB>", "Z<SUB>2</SUB>"}) {
    CAPTURE(text);
    CHECK(dot.find(text) != std::string::npos);
  }
  CHECK(dot.find("not regular") == std::string::npos);
  // The letter goes one state further, and nothing leads back.
  const Dfa nilpotent = automaton({{1, 2, 2}}, 3);
  CHECK(egg_box_dot(nilpotent, analyse(nilpotent)).find("not regular, |H| = 1") != std::string::npos);
  CHECK(render_dot(dot, "svg", "dot").find("baseline-shift=\"sub\"") != std::string::npos);
}
