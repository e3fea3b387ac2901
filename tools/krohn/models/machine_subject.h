// tools/krohn/models/machine_subject.h — what `extract`, `snap` and `compare` are given of a model that reads letters.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/task.h"
#include "tools/krohn/models/machine_subject.h"
#include "tools/krohn/pictures/spectrum_plot.h"

namespace krohn {

/// A model that reads letters, whoever wrote it: one of `krohn train`, or a checkpoint with its automaton.
struct MachineSubject {
  std::unique_ptr<Task> task;
  std::shared_ptr<const TrainedReader> machine;
  bool is_checkpoint = false;
  std::string otherwise = {};  ///< of a checkpoint: `loaded_otherwise`
};

/// True if `load_machine` takes it: a file for which `is_trained_model` holds, or the folder of a checkpoint.
bool is_machine(const std::string& name);

/// A trained model is read in fp32 or fp64, a checkpoint in fp32 or bf16. Throws InputError for others.
MachineSubject load_machine(const std::string& name, const LanguageOptions& options, Precision precision);

/// A machine, or a network in an arithmetic: whatever follows an automaton that can be asked for.
struct LearnedSubject {
  MachineSubject machine;
  std::optional<Network> network;  ///< instead
  ArithmeticName arithmetic;       ///< of it

  /// The automaton of its file or its task, and that in words.
  Dfa automaton() const;
  const char* name_of_automaton() const;
  /// The automaton that it follows, within a share of the time; `what` is done, in the words of a Progress.
  Extraction extract(ExtractOptions options, double share_of_time, const char* what = "reading letters") const;
  StateCentres centres(const Dfa& learned) const;
};

/// For `verb`, which says in which format a checkpoint is read where that is not as it is loaded. A machine is read in
/// `precision`, a network in any arithmetic of that name. Throws InputError for what is none of both.
LearnedSubject load_learned(const std::string& name, const std::string& verb, const LanguageOptions& options,
                            const std::string& precision);

/// The widest that the model is read in.
Precision widest_precision(const std::string& name);

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
