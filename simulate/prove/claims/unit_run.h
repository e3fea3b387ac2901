// simulate/prove/claims/unit_run.h — a network of one-hot states along a word, a letter costing what it moves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "krohn/simulate/prove/claims/unit_moves.h"

namespace krohn {

/// Reads letters as the sequential evaluator does, digit for digit, as long as every layer stays at a unit codeword and
/// simulate/prove/claims/unit_moves.h knows where it goes.
class UnitRun {
 public:
  virtual ~UnitRun() = default;
  virtual void reset() = 0;
  /// What the readout says, or kNoState. Nothing once a layer leaves its unit codewords: the numbers have to be written
  /// out then, and this run is over until `reset`.
  virtual std::optional<State> step(Letter letter) = 0;
};

template <class Arithmetic>
class UnitRunOf final : public UnitRun {
 public:
  UnitRunOf(const Network& network, Form form) : network_(network, form), labels_(network.layers.size()) {
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
      const RoundedLayer<Arithmetic>& layer = network_.layers()[k];
      const std::optional<std::uint32_t> start = codeword_of_start(layer);
      if (network.layers[k].decoder.unit_copies == 0 || !start) return;
      moves_.emplace_back(layer, network.layers[k]);
      start_.push_back(*start);
    }
    reset();
  }

  /// Every layer has unit codewords, and starts at one.
  bool is_possible() const { return moves_.size() == network_.layers().size(); }

  void reset() override { now_ = start_; }

  std::optional<State> step(Letter letter) override {
    Context context = letter;
    for (std::size_t k = 0; k < now_.size(); ++k) {
      const RoundedLayer<Arithmetic>& layer = network_.layers()[k];
      if (context == kNoContext || layer.book_of(context) != 0) return std::nullopt;
      const auto reached = moves_[k](layer.action_of(context), now_[k]);
      if (!reached) return std::nullopt;
      if (k + 1 < now_.size()) context = layer.next(context, layer.books()[0].label(now_[k]));
      now_[k] = *reached;
      labels_[k] = layer.books()[0].label(*reached);
    }
    return network_.read(labels_.data());
  }

 private:
  static std::optional<std::uint32_t> codeword_of_start(const RoundedLayer<Arithmetic>& layer) {
    const NearestCodeword& book = layer.books()[0];
    for (std::uint32_t codeword = 0; codeword < book.size(); ++codeword) {
      if (book.label(codeword) != layer.initial_label()) continue;
      for (std::size_t i = 0; i < layer.size(); ++i)
        if (to_double(layer.initial()[i]) != book.entry(codeword, i)) return std::nullopt;
      return codeword;
    }
    return std::nullopt;
  }

  RoundedNetwork<Arithmetic> network_;
  std::vector<UnitMoves<Arithmetic>> moves_;
  std::vector<std::uint32_t> start_, now_;  ///< codewords
  std::vector<Label> labels_;
};

/// Nothing where some layer has other states.
inline std::unique_ptr<UnitRun> make_unit_run(const Network& network, ArithmeticName arithmetic, Form form) {
  return with_arithmetic(arithmetic, [&](auto type) -> std::unique_ptr<UnitRun> {
    auto run = std::make_unique<UnitRunOf<decltype(type)>>(network, form);
    if (!run->is_possible()) return nullptr;
    return run;
  });
}

}  // namespace krohn
