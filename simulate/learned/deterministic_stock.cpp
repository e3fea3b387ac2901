#include "krohn/simulate/learned/deterministic_stock.h"

#include "krohn/simulate/models/stock_model.h"

namespace krohn {
namespace {

template <class Real>
class DeterministicStock : public DeterministicModel<Real> {
 public:
  using typename DeterministicModel<Real>::Part;

  explicit DeterministicStock(const SequenceModel<float>& model)
      : network_(parse_stock_shape(model.name()), model.tensors()) {}

  std::vector<Real> start() const override { return std::vector<Real>(network_.memory(), Real(0)); }

  void read(Letter letter, std::span<Real> memory, std::span<Real> logits) const override {
    network_.read(letter, memory, logits);
    for (Real& x : memory) x += Real(0);  // −0 is remembered as +0
  }

  std::vector<Part> states() const override {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < network_.layers(); ++i)
      parts.push_back({network_.state(i).first, network_.state(i).second});
    return parts;
  }

  std::vector<StateBlock> blocks() const override { return {}; }
  LetterMaps letter_maps(Letter) const override { return {}; }

 private:
  StockNetwork<Real> network_;
};

}  // namespace

bool is_stock_model(const SequenceModel<float>& model) {
  const std::string name = model.name();
  return find_stock_kind(name.substr(0, name.find(':'))) != nullptr;
}

template <class Real>
std::unique_ptr<DeterministicModel<Real>> plain_stock(const SequenceModel<float>& model) {
  return std::make_unique<DeterministicStock<Real>>(model);
}

template std::unique_ptr<DeterministicModel<float>> plain_stock(const SequenceModel<float>&);
template std::unique_ptr<DeterministicModel<double>> plain_stock(const SequenceModel<float>&);

}  // namespace krohn
