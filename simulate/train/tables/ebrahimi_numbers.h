// simulate/train/tables/ebrahimi_numbers.h — what Ebrahimi & Memisevic 2025 print in Tables 1 and 3: scaled accuracies
// at the lengths of training, 2 to 10, and at 500 letters.
#pragma once

#include <array>

namespace krohn {

/// m.
inline constexpr std::array<int, 6> kEbrahimiModuli{2, 3, 5, 10, 25, 50};
using EbrahimiRow = std::array<double, 6>;

struct EbrahimiModel {
  const char* name;
  const char* form;  ///< of a bilinear model; or a cell, or mamba=LAYERS
  EbrahimiRow trained, longer;
};

struct EbrahimiPart {
  const char *name, *task;
  std::array<EbrahimiModel, 12> models;
};

/// Table 1 but for its Transformers. The factored model's number of factors is not printed; its row of state machines
/// is Table 3's of 256 factors, to the digit.
inline constexpr std::array<EbrahimiPart, 3> kEbrahimi1{
    {{"modular addition",
      "modadd{}",
      {{{"full", "full", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
        {"factored", "factored", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 0.95}},
        {"blocks of 1", "diagonal", {1, 0.96, 0.88, 0.85, 0.45, 0.32}, {1, 0, 0, 0.1, 0, 0.02}},
        {"blocks of 2", "block=2", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
        {"blocks of 8", "block=8", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
        {"blocks of 64", "block=64", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
        {"rotations", "rotations", {1, 1, 1, 1, 1, 1}, {1, 0, 1, 0.66, 0.37, 0}},
        {"LSTM", "lstm", {1, 1, 1, 1, 1, 0.99}, {1, 1, 0.98, 1, 0, 0.02}},
        {"RNN", "rnn", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 0.98, 0.37, 0.07}},
        {"Mamba, 1 layer", "mamba=1", {0.99, 0.92, 0.96, 0.85, 0.74, 0.61}, {0, 0.01, 0.01, 0, 0, 0}},
        {"Mamba, 2 layers", "mamba=2", {1, 1, 1, 1, 1, 1}, {0, 0.02, 0.01, 0, 0, 0}},
        {"Mamba, 4 layers", "mamba=4", {1, 1, 1, 1, 1, 0.47}, {0.01, 0.01, 0, 0.01, 0, 0}}}}},
     {"state machine",
      "rsm:m={},seed=1",
      {{{"full", "full", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
        {"factored", "factored", {1, 1, 1, 1, 1, 0.19}, {1, 1, 1, 1, 1, 0.01}},
        {"blocks of 1", "diagonal", {1, 0.28, 0.2, 0.14, 0.09, 0.07}, {1, 0.03, 0, 0, 0, 0}},
        {"blocks of 2", "block=2", {1, 1, 0.84, 0.49, 0.25, 0.15}, {1, 0.34, 0.16, 0.06, 0.06, 0.02}},
        {"blocks of 8", "block=8", {1, 1, 1, 1, 0.48, 0.21}, {1, 1, 1, 0.41, 0.13, 0.04}},
        {"blocks of 64", "block=64", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
        {"rotations", "rotations", {1, 0.29, 0.19, 0.11, 0.07, 0.02}, {1, 0, 0, 0, 0, 0.01}},
        {"LSTM", "lstm", {1, 1, 1, 1, 1, 0.3}, {1, 1, 1, 1, 0.64, 0.09}},
        {"RNN", "rnn", {1, 1, 1, 1, 0.41, 0.18}, {1, 1, 1, 0.99, 0.19, 0.07}},
        {"Mamba, 1 layer", "mamba=1", {1, 1, 0.96, 0.55, 0.34, 0.19}, {0, 0.99, 0.87, 0.31, 0.16, 0.07}},
        {"Mamba, 2 layers", "mamba=2", {1, 1, 1, 0.79, 0.44, 0.3}, {0, 1, 0.96, 0.42, 0.18, 0.09}},
        {"Mamba, 4 layers", "mamba=4", {1, 1, 1, 0.99, 0.62, 0.41}, {0.03, 0.99, 0.97, 0.47, 0.24, 0.1}}}}},
     {"modular arithmetic",
      "ltrarith{}",
      {{{"full", "full", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 0.99}},
        {"factored", "factored", {1, 0.34, 0.9, 0.09, 0.03, 0.03}, {1, 0.24, 0.37, 0.06, 0.04, 0.03}},
        {"blocks of 1", "diagonal", {0.6, 0.3, 0.24, 0.27, 0.16, 0.14}, {0.19, 0.15, 0.09, 0.11, 0.04, 0.03}},
        {"blocks of 2", "block=2", {0.99, 0.77, 0.53, 0.52, 0.27, 0.21}, {0.37, 0, 0.08, 0.12, 0.03, 0.05}},
        {"blocks of 8", "block=8", {1, 1, 1, 1, 0.54, 0.47}, {1, 1, 0.41, 0.24, 0.06, 0.08}},
        {"blocks of 64", "block=64", {1, 1, 1, 1, 1, 0.66}, {1, 1, 1, 1, 0.4, 0.21}},
        {"rotations", "rotations", {0.61, 0.34, 0.21, 0.23, 0.03, 0.04}, {0.02, 0, 0.04, 0.04, 0.02, 0.03}},
        {"LSTM", "lstm", {1, 1, 1, 1, 1, 0.9}, {1, 1, 1, 1, 0.99, 0.64}},
        {"RNN", "rnn", {1, 1, 1, 1, 0.82, 0.22}, {1, 1, 1, 1, 0.55, 0.16}},
        {"Mamba, 1 layer", "mamba=1", {0.99, 0.83, 0.56, 0.59, 0.24, 0.14}, {0.74, 0.55, 0.29, 0.32, 0.08, 0.08}},
        {"Mamba, 2 layers", "mamba=2", {1, 0.99, 0.8, 0.93, 0.35, 0.33}, {0.85, 0.38, 0.41, 0.29, 0.11, 0.07}},
        {"Mamba, 4 layers", "mamba=4", {1, 1, 0.99, 0.99, 0.55, 0.29}, {0.92, 0.75, 0.48, 0.51, 0.17, 0.09}}}}}}};

struct EbrahimiFactors {
  int factors;  ///< 0: the full model
  EbrahimiRow trained, longer;
};

/// Table 3: state machines.
inline constexpr std::array<EbrahimiFactors, 12> kEbrahimi3{
    {{1, {0, 0.02, 0, 0.02, 0.01, 0}, {0.03, 0, 0, 0, 0.01, 0}},
     {2, {0, 0.03, 0, 0.01, 0, 0}, {0, 0.01, 0, 0, 0, 0.01}},
     {4, {1, 1, 0.65, 0.02, 0.01, 0}, {1, 0.97, 0.29, 0.01, 0, 0}},
     {8, {1, 1, 0.92, 0.17, 0.01, 0.01}, {1, 1, 0.58, 0.04, 0, 0}},
     {16, {1, 1, 1, 0.44, 0.06, 0.01}, {0.95, 1, 1, 0.26, 0.01, 0.01}},
     {64, {1, 1, 1, 1, 0.26, 0.04}, {1, 1, 1, 1, 0.08, 0}},
     {128, {1, 1, 1, 1, 0.68, 0.1}, {1, 1, 1, 1, 0.26, 0}},
     {256, {1, 1, 1, 1, 1, 0.19}, {1, 1, 1, 1, 1, 0.01}},
     {512, {1, 1, 1, 1, 1, 0.45}, {1, 1, 1, 1, 1, 0.1}},
     {1024, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 0.78}},
     {2048, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
     {0, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}}};

}  // namespace krohn
