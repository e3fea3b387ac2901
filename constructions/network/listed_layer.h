// constructions/network/listed_layer.h — layers whose codewords are stored one by one.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// A layer with codeword i for label i and H_0 = codeword 0; transitions are still to be added. All n×d, none empty.
Layer listed_layer(std::vector<Eigen::MatrixXd> codewords);

/// Throws LimitError when `count` codewords of `dimension` × `columns` would take more than 2^24 numbers.
void require_listable(std::uint64_t count, std::uint64_t dimension, std::uint64_t columns);

/// Throws LimitError when `actions` dense matrices of that dimension would take more than 2^24 numbers.
void require_dense(std::uint64_t actions, std::uint64_t dimension);

}  // namespace krohn
