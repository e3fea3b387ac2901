// tools/krohn/models/subject.h — what the user named: a language, or a model with the automaton inside it.
#pragma once

#include <complex>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/constructions/network/network.h"
#include "krohn/groups/transformations/transformation.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/task.h"
#include "tools/krohn/pictures/pictures.h"

namespace krohn {

/// The language of `name`, a .safetensors model's automaton included. Throws as load_subject.
Automaton load_operand(const std::string& name, const LanguageOptions& options);

struct Subject {
  std::string name;  ///< as the user wrote it
  Dfa automaton;
  std::optional<Network> network;     ///< when `name` is a .safetensors file
  bool has_inferred_letters = false;  ///< a regular expression's or a formula's, without --alphabet
};

/// The name at the head of a text: visible, and of a long expression the beginning. Programs are told the whole.
std::string title(const std::string& name);

/// ", the characters that the expression names; others with --alphabet", or the like of a formula or ", all of Unicode;
/// …", where that is how the letters came about; otherwise nothing. `.` and `~` range over these letters only.
std::string remark_on_letters(const Subject& subject);

/// Tells standard error in which format a checkpoint is read where `otherwise` says that it is not the one in which it
/// is loaded (`loaded_otherwise`).
void remark_on_arithmetic(const std::string& name, const std::string& precision, const std::string& otherwise);

/// Says first, on standard output or, where that is for programs, on standard error, which states no word reaches from
/// the initial one: whoever calls it goes on with `canonical`, without them. Returns their number.
State tell_left_out(const Subject& subject, bool for_programs);

/// True for the names of .safetensors files.
bool is_model_name(const std::string& name);

/// Throws InputError unless `name` is that of a .safetensors file: what it is instead, where its beginning tells, and
/// what `verb` takes.
void require_model(const std::string& name, const std::string& verb);

/// For a folder that `krohn compile --target torch` wrote, the network in it; any other name as it is.
std::string file_of_torch_folder(const std::string& name);

/// The subject of `name`, a folder of `krohn compile --target torch` included. Throws as load_language and
/// load_network. With `remarks` (standard error) it is the one subject that a person names, not one of many: then
/// options that are not for its kind are refused, and a file that is read all the same and is probably not meant so is
/// remarked on.
Subject load_subject(const std::string& name, const LanguageOptions& options, std::FILE* remarks = nullptr);

/// A name that a model's file keeps beside an automaton. The automaton was read, and verdicts are about it alone; the
/// name is the language's only where that was read now and is the same language.
struct StoredName {
  std::string name, sha256;  ///< of the automaton, as in certificates
  bool is_same = false;
  std::string remark = {};  ///< otherwise: where the two differ, or why they were not compared

  /// The name where it is that language; else "the automaton of sha256 3fa9…, stored under the name …, which …".
  std::string in_words() const;
};

/// Reads `name` as `options` say, a task's name too, and compares it with the automaton. Throws nothing of what reading
/// throws.
StoredName stored_name(const std::string& name, const Dfa& automaton, const LanguageOptions& options = {});

/// The same of what a network's file says that it was made of; empty where it says nothing.
std::string source_in_words(const Network& network, const LanguageOptions& options = {});

// Models that read letters, for `extract`, `snap` and `compare`.

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
