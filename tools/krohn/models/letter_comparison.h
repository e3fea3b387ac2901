// tools/krohn/models/letter_comparison.h — what the letters of two models do, side by side: what `krohn compare` prints
// and `krohn report` shows.
#pragma once

#include <complex>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/simulate/learned/spectrum.h"
#include "tools/krohn/models/machine_subject.h"
#include "tools/krohn/pictures/spectrum_plot.h"

namespace krohn {

/// A network or a trained model with the spectrum of its letters.
struct ComparedModel {
  std::string name;
  Dfa automaton;
  Spectrum spectrum;
  std::vector<std::vector<double>> betas = {};  ///< of a trained model's reflections, by letter
};

ComparedModel compared_model(const std::string& name, const MachineSubject& subject);
/// Throws InputError unless the network has one layer.
ComparedModel compared_model(const std::string& name, const Network& network);

struct Match {
  Mode mode;
  Turn turn;                   ///< nearest exact one
  double off = 0;              ///< in turns
  std::complex<double> value;  ///< nearest of the other network
  double distance = 0;
  std::uint64_t modes = 1;  ///< that have this value
};

/// Views the spectra of both.
struct LetterComparison {
  std::string name;
  std::vector<Match> matches;
  std::size_t faint = 0;      ///< modes below the weight
  double greatest_faint = 0;  ///< modulus among them
  const LetterSpectrum* learned = nullptr;
  const LetterSpectrum* exact = nullptr;
  std::vector<double> betas;  ///< learned
  Transformation map;         ///< the letter's map of the exact automaton's states
};

/// The letters that both have, with the modes of at least that weight. Throws InputError when there is none.
std::vector<LetterComparison> compare_letters(const ComparedModel& learned, const ComparedModel& exact, double weight);

nlohmann::ordered_json letters_to_json(const std::vector<LetterComparison>& letters);

/// The planes that matter, with the nearest exact angle for every letter.
std::vector<PlanePanel> plane_panels(const ComparedModel& learned, const ComparedModel& exact, double weight);

/// The angles of every plane where the first model is a sum of planes, and otherwise the eigenvalues of every letter.
Svg comparison_plot(const ComparedModel& learned, const ComparedModel& exact,
                    const std::vector<LetterComparison>& letters, double weight);

}  // namespace krohn
