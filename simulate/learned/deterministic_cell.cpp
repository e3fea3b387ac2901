#include "krohn/simulate/learned/deterministic_cell.h"

#include "krohn/simulate/models/cell_model.h"

namespace krohn {
namespace {

template <class Real>
class DeterministicCell : public DeterministicModel<Real> {
 public:
  using typename DeterministicModel<Real>::Part;

  DeterministicCell(const CellShape& shape, const SequenceModel<float>& model)
      : layers_(shape.layers), network_(shape, model.letters(), model.tensors()) {}

  std::vector<Real> start() const override { return std::vector<Real>(network_.memory(), Real(0)); }

  void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const override {
    network_.read(letter, memory);
    for (Real& x : memory) x += Real(0);  // −0 is remembered as +0
    if (!logits.empty()) network_.answer(memory, logits);
  }

  std::vector<Part> states() const override {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < layers_; ++i) parts.push_back({i * network_.kept(), network_.kept()});
    return parts;
  }

  std::vector<StateBlock> blocks() const override { return {}; }
  LetterMaps letter_maps(Letter) const override { return {}; }

 private:
  std::size_t layers_;
  CellNetwork<Real> network_;
};

std::string family_of(const SequenceModel<float>& model) {
  const std::string name = model.name();
  return name.substr(0, name.find(':'));
}

}  // namespace

bool is_cell_model(const SequenceModel<float>& model) { return find_cell<float>(family_of(model)) != nullptr; }

template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_cell(const SequenceModel<float>& model) {
  return std::make_unique<DeterministicCell<Real>>(parse_cell_shape(model.name()), model);
}

template std::unique_ptr<DeterministicModel<float>> plain_cell(const SequenceModel<float>&);
template std::unique_ptr<DeterministicModel<double>> plain_cell(const SequenceModel<float>&);
template std::unique_ptr<DeterministicModel<Eigen::bfloat16>> plain_cell(const SequenceModel<float>&);

}  // namespace krohn
