// simulate/train/tables/ebrahimi_training.h — how the tables of Ebrahimi & Memisevic 2025 train their models.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "krohn/simulate/train/tables/paper_tables.h"

namespace krohn {

/// One cell, in what its model and its training depend on.
struct EbrahimiCell {
  std::string row, column, task;
  std::string form;  ///< of a bilinear model with its additions, "factored", "lstm", "rnn" or "mamba=LAYERS"
  int modulus = 0;
  std::optional<double> paper{}, paper_trained{};
  /// Steady training lets modes die that are not needed, by weight decay: of several for one harmonic only their sum is
  /// trained, and beyond the lengths of training the greatest is left with an angle of its own.
  bool may_prune = false;
  /// At the small scale, bilinear models of more than ten states, but for factored ones, are trained steadily for
  /// longer and with as many inputs as hidden units: the matrices of fifty letters are combinations of as many as there
  /// are inputs. Full matrices of 64 units are trained by a lower rate, too: by that of the others many runs learn
  /// little. Nonlinear cells are trained for longer whatever the task, and have 64 units from ten states on.
  bool may_take_longer = false;
};

/// App. B.2: H = D = 256, bilinear parameters uniform in ±0.01, Adam with the best of three rates, no schedule, no
/// decay, 100,000 steps of 64 words of 2 to 10 inputs, until the validation loss is below 1e-5. The small scale has
/// fewer steps, one rate and smaller models, whose first matrices have the same spectral radius.
Experiment ebrahimi_experiment(TableScale scale, Recipe recipe, const EbrahimiCell& cell);

/// Sets the protocol of measuring, and says what of it the paper leaves open.
PaperTable ebrahimi_table(Recipe recipe, std::string title, std::string place);

}  // namespace krohn
