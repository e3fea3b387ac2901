#include "krohn/groups/permutations/product_replacement.h"

#include <cassert>

namespace krohn {

ProductReplacement::ProductReplacement(std::vector<Permutation> generators, Random& random)
    : pool_(std::move(generators)), accumulator_(Permutation::identity(0)), random_(random) {
  assert(!pool_.empty());
  constexpr std::size_t kPool = 10;
  constexpr int kWarmUp = 50;
  accumulator_ = Permutation::identity(pool_.front().degree());
  for (std::size_t i = 0; pool_.size() < kPool; ++i) pool_.push_back(pool_[i]);
  for (int i = 0; i < kWarmUp; ++i) next();
}

const Permutation& ProductReplacement::next() {
  const std::size_t i = random_.below(pool_.size());
  const std::size_t j = (i + 1 + random_.below(pool_.size() - 1)) % pool_.size();
  const Permutation factor = random_.below(2) ? pool_[j] : pool_[j].inverse();
  pool_[i] = random_.below(2) ? pool_[i] * factor : factor * pool_[i];
  accumulator_ = accumulator_ * pool_[i];
  return accumulator_;
}

}  // namespace krohn
