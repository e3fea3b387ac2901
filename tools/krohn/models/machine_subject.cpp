#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/automata/formats/json.h"
#include "krohn/constructions/checkpoints/checkpoint.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/learned/trained_reader.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tools/krohn/models/run_folder.h"
#include "tools/krohn/models/subject.h"
#include "tools/krohn/progress.h"
#include "tools/krohn/report/output.h"

namespace krohn {

bool is_machine(const std::string& name) { return is_checkpoint_folder(name) || is_trained_model(name); }

MachineSubject load_machine(const std::string& name, const LanguageOptions& options, Precision precision) {
  if (!is_checkpoint_folder(name)) {
    TrainedSubject subject = load_trained_subject(name, options);
    auto machine = trained_machine(*subject.trained.model, *subject.task, precision);
    return {std::move(subject.task), std::move(machine), false};
  }
  Checkpoint checkpoint = load_checkpoint(name);
  auto task = checkpoint_task(checkpoint);
  std::string otherwise = loaded_otherwise(checkpoint, to_string(precision));
  return {std::move(task), checkpoint_machine(std::move(checkpoint), precision), true, std::move(otherwise)};
}

LearnedSubject load_learned(const std::string& name, const std::string& verb, const LanguageOptions& options,
                            const std::string& precision) {
  if (!is_machine(name)) {
    require_model(name, verb);
    return {{}, load_network(name), ArithmeticName::parse(precision)};
  }
  MachineSubject machine = load_machine(name, options, parse_precision(precision));
  remark_on_arithmetic(name, precision, machine.otherwise);
  return {std::move(machine), std::nullopt, parse_precision(precision)};
}

Dfa LearnedSubject::automaton() const { return network ? network->automaton : input_machine(*machine.task).automaton; }

const char* LearnedSubject::name_of_automaton() const {
  return network                 ? "the automaton in the file"
         : machine.is_checkpoint ? "the automaton in the folder"
                                 : "the automaton of the task";
}

Extraction LearnedSubject::extract(ExtractOptions options, double share_of_time, const char* what) const {
  const TimeLimit most = TimeLimit::part(share_of_time);
  Progress progress(what);
  options.progress = [&progress](std::uint64_t letters) { progress.update(letters); };
  if (network) return extract_automaton(*network, arithmetic, options);
  return machine.is_checkpoint ? extract_checkpoint(*machine.machine, *machine.task, options)
                               : extract_trained(*machine.machine, *machine.task, options);
}

StateCentres LearnedSubject::centres(const Dfa& learned) const {
  return network ? state_centres(*network, learned, arithmetic)
                 : trained_centres(*machine.machine, *machine.task, learned);
}

Precision widest_precision(const std::string& name) {
  return is_checkpoint_folder(name) ? Precision::kFp32 : Precision::kFp64;
}

namespace {

constexpr std::size_t kMaxPanels = 20;  ///< as in the paper's figure

double as_real(const Turn& turn) {
  const double value = static_cast<double>(turn.numerator) / static_cast<double>(turn.denominator);
  return value > 0.5 ? value - 1 : value;
}

Match match(const Mode& mode, const Transformation& map, const LetterSpectrum& exact) {
  Match result{mode, nearest_exact_turn(map, mode.turn()), 0, {}, INFINITY};
  result.off = turn_distance(mode.turn(), as_real(result.turn));
  for (const Mode& other : exact.modes) {
    const double distance = std::abs(mode.value - other.value);
    if (distance < result.distance) result.distance = distance, result.value = other.value;
  }
  return result;
}

}  // namespace

ComparedModel compared_model(const std::string& name, const MachineSubject& subject) {
  ComparedModel model{name, input_machine(*subject.task).automaton, trained_spectrum(*subject.machine, *subject.task)};
  for (Letter letter = 0; letter < subject.machine->letters(); ++letter)
    model.betas.push_back(subject.machine->letter_maps(letter).betas);
  return model;
}

ComparedModel compared_model(const std::string& name, const Network& network) {
  return {name, network.automaton, spectrum(network)};
}

std::vector<LetterComparison> compare_letters(const ComparedModel& learned, const ComparedModel& exact, double weight) {
  std::vector<LetterComparison> letters;
  const Alphabet& alphabet = learned.automaton.alphabet();
  const auto same = same_letters(alphabet, exact.automaton.alphabet());
  for (Letter letter = 0; letter < alphabet.size(); ++letter) {
    const auto other = same[letter];
    if (!other) continue;
    LetterComparison comparison{alphabet.name(letter),
                                {},
                                0,
                                0,
                                &learned.spectrum.letters[letter],
                                &exact.spectrum.letters[*other],
                                learned.betas.empty() ? std::vector<double>() : learned.betas[letter],
                                exact.automaton.letter_map(*other)};
    for (const Mode& mode : comparison.learned->modes) {
      if (mode.weight >= weight) {
        constexpr double kSame = 1e-9;
        const auto known_match = std::ranges::find_if(
            comparison.matches, [&](const Match& known) { return std::abs(known.mode.value - mode.value) < kSame; });
        if (known_match != comparison.matches.end())
          ++known_match->modes;
        else
          comparison.matches.push_back(match(mode, comparison.map, *comparison.exact));
        continue;
      }
      ++comparison.faint;
      comparison.greatest_faint = std::max(comparison.greatest_faint, mode.modulus());
    }
    letters.push_back(std::move(comparison));
  }
  if (letters.empty())
    throw InputError(learned.name, fmt::format("it has no letter in common with {}: {} and {}", exact.name,
                                               to_string(alphabet), to_string(exact.automaton.alphabet())));
  return letters;
}

nlohmann::ordered_json letters_to_json(const std::vector<LetterComparison>& letters) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const LetterComparison& letter : letters) {
    nlohmann::ordered_json row{{"letter", letter.name},
                               {"spectral_radius", letter.learned->spectral_radius},
                               {"exact_spectral_radius", letter.exact->spectral_radius},
                               {"orthogonality_defect", letter.learned->orthogonality_defect},
                               {"exact_orthogonality_defect", letter.exact->orthogonality_defect},
                               {"faint_modes", letter.faint},
                               {"greatest_faint_modulus", letter.greatest_faint}};
    if (!letter.betas.empty()) row["betas"] = letter.betas;
    for (const Mode& mode : letter.learned->modes)
      row["eigenvalues"].push_back({mode.value.real(), mode.value.imag(), mode.weight});
    for (const Mode& mode : letter.exact->modes)
      row["exact_eigenvalues"].push_back({mode.value.real(), mode.value.imag(), mode.weight});
    for (const Turn& turn : exact_turns(letter.map)) row["exact_turns"].push_back(as_real(turn));
    for (const Match& match : letter.matches)
      row["modes"].push_back({{"weight", match.mode.weight},
                              {"modes", match.modes},
                              {"modulus", match.mode.modulus()},
                              {"turn", match.mode.turn()},
                              {"nearest_turn", {match.turn.numerator, match.turn.denominator}},
                              {"off", match.off},
                              {"nearest", {match.value.real(), match.value.imag()}},
                              {"distance", match.distance}});
    json.push_back(std::move(row));
  }
  return json;
}

std::vector<PlanePanel> plane_panels(const ComparedModel& learned, const ComparedModel& exact, double weight) {
  std::vector<PlanePanel> panels;
  const Alphabet& alphabet = learned.automaton.alphabet();
  const auto same = same_letters(alphabet, exact.automaton.alphabet());
  for (const Plane& plane : learned.spectrum.planes) {
    if (plane.weight < weight || panels.size() == kMaxPanels) break;
    PlanePanel panel;
    for (Letter letter = 0; letter < alphabet.size(); ++letter) {
      const auto other = same[letter];
      const double turn = turn_of(plane.factors[letter]);
      panel.learned.push_back(turn);
      panel.exact.push_back(other ? as_real(nearest_exact_turn(exact.automaton.letter_map(*other), turn)) : turn);
    }
    panel.title = fmt::format("plane {}, weight {:.2f}", panels.size() + 1, plane.weight);
    panels.push_back(std::move(panel));
  }
  return panels;
}

Svg comparison_plot(const ComparedModel& learned, const ComparedModel& exact,
                    const std::vector<LetterComparison>& letters, double weight) {
  const std::string title = fmt::format("{} against {}", learned.name, exact.name);
  std::vector<PlanePanel> planes = plane_panels(learned, exact, weight);
  if (!planes.empty()) return planes_plot(title, learned.automaton.alphabet().names(), planes);
  std::vector<CirclePanel> panels;
  for (const LetterComparison& letter : letters) {
    if (panels.size() == kMaxPanels) break;
    CirclePanel panel{fmt::format("letter {}", shortened(letter.name, 16)), {}, {}, {}};
    for (const Mode& mode : letter.learned->modes) panel.learned.push_back({mode.value, std::min(mode.weight, 1.0)});
    for (const Mode& mode : letter.exact->modes) panel.exact.push_back(mode.value);
    for (const Turn& turn : exact_turns(letter.map)) panel.turns.push_back(as_real(turn));
    panels.push_back(std::move(panel));
  }
  return circles_plot(title, panels);
}

}  // namespace krohn
