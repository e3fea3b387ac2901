// tests/simulate/plain_model.h — a model by the definition of its operations, letter by letter.
#pragma once

#include "krohn/simulate/learned/model_operations.h"
#include "krohn/simulate/operations/stated_lists.h"
#include "tests/testing.h"

namespace krohn {

/// Models of a few numbers: every family with every part of its shapes.
inline const std::vector<const char*> kSmallModels = {
    "bilinear:hidden=6,inputs=3,bias,input-bias",
    "bilinear:block=2,hidden=6,inputs=3",
    "bilinear:diagonal,hidden=4,inputs=3,bias",
    "bilinear:rank=4,hidden=5,inputs=3,input-bias",
    "bilinear:rotations,hidden=6,inputs=3,input-bias",
    "bilinear:block=2,hidden=6,inputs=3,scale-free",
    "fan:blocks=2,size=2",
    "fan:blocks=2,size=3,generator=4,norm=1",
    "fan:blocks=2,size=3,layers=2,mlp=0",
    "fan:blocks=3,size=2,layers=3,generator=4,norm=2.5,mlp=3",
    "fan-released:layers=1,blocks=2,size=3",
    "fan-released:layers=3,blocks=2,size=2,norm=1.7",
    "dense:size=3",
    "deltaproduct:width=4,heads=2,keys=3,values=3,mlp=3",
    "deltaproduct:width=4,heads=1,keys=3,values=8,reflections=2,signed,conv=2,mlp=0",
    "deltaproduct:layers=2,width=4,heads=2,keys=2,values=2,plain,signed,conv=3,mlp=2",
    "deltaproduct:layers=2,width=4,heads=2,keys=2,values=3,reflections=3,conv=1",
    "rnn:hidden=5,inputs=3",
    "rnn:layers=2,hidden=4,one-hot",
    "rnn-relu:hidden=5,inputs=2",
    "rnn:hidden=3,inputs=2,unbiased",
    "gru:layers=2,hidden=4,inputs=3",
    "gru:hidden=3,one-hot,unbiased",
    "lstm:layers=3,hidden=4,inputs=3",
    "diagonal:width=3,channels=4,states=2,conv=0",
    "diagonal:layers=2,width=3,channels=4,states=3,signed,mlp=2",
    "diagonal:layers=2,width=4,channels=3,states=2,conv=1",
    "diagonal:width=3,channels=4,states=2,conv=2,fixed",
    "diagonal:layers=2,width=3,channels=2,states=3,fixed,complex",
    "diagonal:layers=2,width=4,channels=3,states=2,conv=2,complex",
    "lstm:hidden=3,one-hot,unbiased"};

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
