#include "krohn/simulate/train/tables/ebrahimi_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace krohn {
namespace {

constexpr int kPaperWidth = 256;  ///< the paper's H and D
constexpr double kSpread = 0.01;

int number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  int number = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number);
  return number;
}

/// "factored" has Table 1's 256; Table 3 varies them.
int factors_of(std::string_view form) { return form == "factored" ? 256 : number_after(form, "rank="); }

struct Sizes {
  int hidden = kPaperWidth, inputs = kPaperWidth;
};

/// At the small scale a block of 64 is a full matrix of 64 units, as a full model of more than ten states has.
bool is_large_matrix(const EbrahimiCell& cell) {
  return cell.form == "block=64" || (cell.may_take_longer && cell.form == "full" && cell.modulus > 10);
}

bool takes_longer(TableScale scale, Recipe recipe, const EbrahimiCell& cell) {
  const bool is_bilinear = cell.form == "full" || cell.form == "diagonal" || cell.form.starts_with("block=") ||
                           cell.form.starts_with("rotations");
  return scale == TableScale::kSmall && recipe == Recipe::kSteady && cell.may_take_longer && cell.modulus > 10 &&
         is_bilinear;
}

bool is_cell(std::string_view form) { return form == "lstm" || form == "rnn"; }

/// Nonlinear cells are right on most words of ten letters early and on those of 500 late, if at all; steps are quick.
bool is_long_cell(TableScale scale, Recipe recipe, const EbrahimiCell& cell) {
  return scale == TableScale::kSmall && recipe == Recipe::kSteady && cell.may_take_longer && is_cell(cell.form);
}

/// One block of 64 is all of a model with as many hidden units; a code of 25 or 50 states needs more than 32.
Sizes sizes_of(TableScale scale, Recipe recipe, const EbrahimiCell& cell) {
  if (scale == TableScale::kPaper) return {};
  if (is_long_cell(scale, recipe, cell)) return cell.modulus < 10 ? Sizes{32, 32} : Sizes{64, 64};
  return {cell.form == "block=64" || cell.modulus > 10 ? 64 : 32, takes_longer(scale, recipe, cell) ? 64 : 32};
}

/// The spectral radius of the first matrices is about spread · √(D s / 3) with blocks of s numbers, of angles √(D / 3);
/// with factors, each of three parameters that are multiplied, about spread³ · √(H R D / 27).
double spread_like_the_papers(std::string_view form, Sizes sizes, int rank) {
  if (const int factors = factors_of(form); factors > 0) {
    const double paper = double{kPaperWidth} * factors * kPaperWidth;
    return kSpread * std::cbrt(std::sqrt(paper / (double(sizes.hidden) * rank * sizes.inputs)));
  }
  const double block = form.starts_with("full") ? double(kPaperWidth) / sizes.hidden : 1;
  return kSpread * std::sqrt(block * kPaperWidth / sizes.inputs);
}

/// Three factors of numbers within ±0.24, with 64 of them, 32 hidden units and 32 inputs, whose matrices have a
/// spectral radius of about 0.7 at first; where there are more, so much smaller that it is no greater: states that grow
/// with every letter are not learned.
double spread_of_factors(Sizes sizes, int rank) {
  constexpr double kMost = 0.24, kNumbers = 64.0 * 32 * 32;
  return kMost * std::min(1.0, std::cbrt(std::sqrt(kNumbers / (double(sizes.hidden) * rank * sizes.inputs))));
}

std::string bilinear(TableScale scale, Recipe recipe, const EbrahimiCell& cell) {
  const bool is_small = scale == TableScale::kSmall;
  const Sizes sizes = sizes_of(scale, recipe, cell);
  std::string form = cell.form;
  int rank = factors_of(form);
  if (form == "factored" && (is_small || recipe == Recipe::kSteady)) rank = 64;
  if (rank > 0) form = fmt::format("rank={}", rank);
  std::string model = fmt::format("bilinear:{},hidden={},inputs={}", form, sizes.hidden, sizes.inputs);
  if (recipe == Recipe::kSteady) {
    if (form.starts_with("rotations")) return model;
    if (rank > 0) return model + fmt::format(",spread={:.3g}", spread_of_factors(sizes, rank));
    return model + (is_small ? fmt::format(",spread={:.3g}", 0.02 * std::sqrt(32.0 / sizes.inputs)) : ",spread=0.0025");
  }
  model += fmt::format(",spread={:.3g}", spread_like_the_papers(cell.form, sizes, rank));
  return recipe == Recipe::kNormalised && form.find("bias") == std::string::npos ? model + ",scale-free" : model;
}

std::string model_of(TableScale scale, Recipe recipe, const EbrahimiCell& cell) {
  const Sizes sizes = sizes_of(scale, recipe, cell);
  if (is_cell(cell.form)) return fmt::format("{}:hidden={},inputs={}", cell.form, sizes.hidden, sizes.inputs);
  if (const int layers = number_after(cell.form, "mamba="); layers > 0)
    return fmt::format("diagonal:layers={},width={},channels={},states=16,conv=4", layers, sizes.hidden,
                       2 * sizes.hidden);
  return bilinear(scale, recipe, cell);
}

/// Few harmonics are needed, so that there are modes to lose; rotations, which cannot die out, need two for m = 5.
bool prunes(TableScale scale, Recipe recipe, const EbrahimiCell& cell) {
  const bool is_rotation = cell.form.starts_with("rotations"),
             has_room = is_rotation || cell.form == "diagonal" || cell.form == "block=2" || cell.form == "block=8" ||
                        (cell.form == "block=64" && scale == TableScale::kPaper);
  return recipe == Recipe::kSteady && cell.may_prune && has_room && cell.modulus <= (is_rotation ? 3 : 5);
}

}  // namespace

Experiment ebrahimi_experiment(TableScale scale, Recipe recipe, const EbrahimiCell& cell) {
  const bool is_small = scale == TableScale::kSmall;
  Experiment experiment;
  experiment.row = cell.row;
  experiment.column = cell.column;
  experiment.task = cell.task;
  experiment.model = model_of(scale, recipe, cell);
  experiment.training.words = 64;
  experiment.training.optimiser.steps = is_small ? 8'000 : 100'000;
  experiment.rates = is_small ? std::vector<double>{1e-3} : std::vector<double>{1e-3, 1e-4, 1e-5};
  if (is_small && recipe == Recipe::kNormalised) {
    experiment.training.optimiser.steps = 30'000;
    experiment.rates = {1e-3, 1e-4};
  }
  if (recipe == Recipe::kSteady) {
    experiment.training.smoothing = 0.1;
    experiment.training.optimiser.schedule = Schedule::kCosine;
    experiment.training.stop_at = 0;
  }
  if (takes_longer(scale, recipe, cell)) experiment.training.optimiser.steps *= 3;
  if (is_small && recipe == Recipe::kSteady && is_large_matrix(cell)) experiment.rates = {3e-4};
  if (is_small && recipe == Recipe::kSteady && cell.form == "lstm") experiment.rates = {3e-3};
  if (is_long_cell(scale, recipe, cell)) experiment.training.optimiser.steps *= 5;
  if (prunes(scale, recipe, cell)) {
    experiment.training.optimiser.weight_decay = 1;
    experiment.rates = {3e-3};
  }
  experiment.paper = cell.paper;
  experiment.paper_trained = cell.paper_trained;
  experiment.reported = Reported::kBestRate;
  return experiment;
}

PaperTable ebrahimi_table(Recipe recipe, std::string title, std::string place) {
  PaperTable table{{}, std::move(title), "Ebrahimi & Memisevic 2025, " + std::move(place), {}};
  if (recipe == Recipe::kSteady) return table;
  table.rescaled = true;
  table.notes = {
      "The paper's parameters within ±0.01 are read as the recurrence's; embeddings and h_0 begin normal, the "
      "read-out within ±1/√H, as PyTorch's modules do.",
      "How many words are tested the paper does not say; 300 is taken for it. Its best rate is taken by accuracy at "
      "the "
      "test length, for every seed by itself.",
      "One random state machine a modulus, seed=1; the paper does not say how many it has."};
  if (recipe == Recipe::kNormalised)
    table.notes.emplace_back(
        "The loss reads h / ‖h‖, and linear models without additions have no read-out bias (scale-free): the paper's "
        "introduction normalises states in training, its §3 in tests alone.");
  return table;
}

}  // namespace krohn
