// simulate/models/linear_model.h — a trained model of one linear layer and a linear read-out: h_t = A(x_t) h_{t−1} +
// b(x_t), and the answer is the arg max of W h_t + c.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"

namespace krohn {

/// Every number as the model holds it. A is block-diagonal with blocks of s×s, s = `block`: block k of letter σ is at
/// ((σ · blocks + k) · s + row) · s + column of `matrices`.
struct LinearModel {
  std::uint32_t hidden = 0, block = 0, letters = 0, labels = 0;
  std::vector<float> matrices;
  std::vector<float> additions;  ///< b(σ): `hidden` numbers a letter; or empty: none
  std::vector<float> initial;    ///< h_0
  std::vector<float> readout;    ///< W, labels × hidden
  std::vector<float> readout_bias;
  std::string source;  ///< paper and place
};

}  // namespace krohn
