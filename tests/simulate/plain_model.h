// tests/simulate/plain_model.h — a model by the definition of its operations, letter by letter.
#pragma once

#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "tests/testing.h"

namespace krohn {

template <class Real>
class PlainModel {
 public:
  explicit PlainModel(const SequenceModel<float>& model)
      : tensors_(model.tensors()),
        listed_(listed_model(model, sizeof(Real) == sizeof(double) ? Precision::kFp64 : Precision::kFp32)),
        lists_(listed_.operations, tensors_) {}

  std::vector<Real> start() const { return lists_.start(); }
  void read(Letter letter, std::vector<Real>& memory, std::span<Real> logits) {
    lists_.read_token(letter);
    lists_.read_memory(memory);
    memory = lists_.kept();
    if (!logits.empty()) std::ranges::copy(lists_.values(listed_.operations.logits), logits.begin());
  }
  std::vector<StateBlock> blocks() const { return listed_.blocks; }
  LetterMaps letter_maps(Letter letter) const { return krohn::letter_maps(listed_, tensors_, letter); }

 private:
  TensorFile tensors_;
  ListedModel listed_;
  StatedLists<Real> lists_;
};

template <class Real>
std::unique_ptr<PlainModel<Real>> plain_model(const SequenceModel<float>& model) {
  return std::make_unique<PlainModel<Real>>(model);
}

}  // namespace krohn
