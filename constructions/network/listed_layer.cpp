#include "krohn/constructions/network/listed_layer.h"

#include <fmt/format.h>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 24;

}  // namespace

Layer listed_layer(std::vector<Eigen::MatrixXd> codewords) {
  Layer layer;
  layer.dimension = static_cast<std::uint32_t>(codewords[0].rows());
  layer.columns = static_cast<std::uint32_t>(codewords[0].cols());
  layer.labels = static_cast<Label>(codewords.size());
  layer.initial = codewords[0];
  layer.decoder.codewords = std::move(codewords);
  return layer;
}

void require_listable(std::uint64_t count, std::uint64_t dimension, std::uint64_t columns) {
  if (count * dimension * columns > kMaxNumbers)
    throw LimitError(
        fmt::format("{} codewords of {} × {} numbers are past the limit of 2^24 numbers; one-hot stores none", count,
                    dimension, columns));
}

void require_dense(std::uint64_t actions, std::uint64_t dimension) {
  if (actions * dimension * dimension > kMaxNumbers)
    throw LimitError(fmt::format("{} dense matrices of {} × {} are past the limit of 2^24 numbers; one-hot stores maps",
                                 actions, dimension, dimension));
}

}  // namespace krohn
