#include "krohn/simulate/models/sequence_model.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"

namespace krohn {
namespace {

/// 1 GB of floats; training holds five times that, and what its words take.
constexpr double kMaxParameters = 1 << 28;

}  // namespace

template <class Real>
SequenceModel<Real>::SequenceModel(Letter letters, std::uint32_t labels, std::vector<ParameterPart> parts)
    : letters_(letters), labels_(labels), parts_(std::move(parts)), begin_{0} {
  for (const ParameterPart& part : parts_) {
    double count = 1;
    for (const std::uint64_t extent : part.shape) count *= static_cast<double>(extent);
    if (static_cast<double>(begin_.back()) + count > kMaxParameters)
      throw LimitError(fmt::format("a model of more than {} parameters (\"{}\" alone has {}); make it smaller",
                                   kMaxParameters, part.name, count));
    begin_.push_back(begin_.back() + static_cast<std::size_t>(count));
  }
  parameters_.resize(begin_.back());
}

template <class Real>
unsigned SequenceModel<Real>::used_threads() const {
  return threads_ > 0 ? threads_ : static_cast<unsigned>(omp_get_max_threads());
}

template <class Real>
std::size_t SequenceModel<Real>::begin_of(std::string_view name) const {
  const auto part = std::ranges::find(parts_, name, &ParameterPart::name);
  if (part == parts_.end()) throw InputError(std::string(name), "no tensor of the model has this name");
  return begin_[static_cast<std::size_t>(part - parts_.begin())];
}

template <class Real>
TensorFile SequenceModel<Real>::tensors() const {
  TensorFile file;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::span<const Real> numbers = part(i);
    if (numbers.empty()) continue;
    file.tensors.emplace(parts_[i].name,
                         make_tensor(std::vector<Real>(numbers.begin(), numbers.end()), parts_[i].shape));
  }
  return file;
}

template <class Real>
void SequenceModel<Real>::load(const TensorFile& file) {
  TensorReader reader(file);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::span<Real> own = part(i);
    if (own.empty()) continue;
    const std::vector<Real> values = reader.template values<Real>(parts_[i].name, parts_[i].shape);
    std::ranges::copy(values, own.begin());
  }
}

template class SequenceModel<float>;
template class SequenceModel<double>;

}  // namespace krohn
