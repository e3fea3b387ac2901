// simulate/lane_layer.h — makes the tables of a LaneProgram from one layer of a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "simulate/arithmetic.h"
#include "simulate/lane_program.h"
#include "simulate/rounded_network.h"

namespace krohn {

/// What a lane holds a number of the arithmetic in: fp16 and bf16 are kept in floats.
template <class Arithmetic>
using LaneNumber = std::conditional_t<std::is_same_v<typename Arithmetic::Number, double>, double, float>;

/// Values from a cache line's beginning on, so that a vector of them never crosses one.
template <class T>
class LaneMemory {
 public:
  LaneMemory() = default;
  explicit LaneMemory(std::size_t size) : lines_((size * sizeof(T) + sizeof(Line) - 1) / sizeof(Line)), size_(size) {}
  explicit LaneMemory(const std::vector<T>& values) : LaneMemory(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) data()[i] = values[i];
  }
  T* data() { return reinterpret_cast<T*>(lines_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(lines_.data()); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
  std::size_t size_ = 0;
};

/// The tables of one layer. An action of the lanes is an action of the layer together with the code book that decodes
/// after it; one more, the last, leaves a lane as it is: where the context is unknown.
template <class Arithmetic>
class LaneLayer {
 public:
  using Number = LaneNumber<Arithmetic>;
  using Integer = LaneIndex<Number>;

  /// Nothing for a layer that has no fast form: factored matrices, or tables past the limits below. `may_hold`: some
  /// context can be unknown. `contexts_above`: of the next layer, 0 above the last one. Both layers must outlive this.
  /// O(tables), and O(actions · codewords) steps of the layer where codewords are not binary.
  static std::optional<LaneLayer> make(const RoundedLayer<Arithmetic>& rounded, const Layer& layer, bool may_hold,
                                       Context contexts_above);
  LaneLayer(LaneLayer&&) = default;
  LaneLayer& operator=(LaneLayer&&) = default;

  static constexpr std::size_t kMostNumbers = 256;                        ///< of the state, n·d
  static constexpr std::size_t kMostTableEntries = std::size_t{1} << 22;  ///< of weights
  static constexpr std::size_t kMostGuesses = std::size_t{1} << 20;       ///< actions · codewords
  static constexpr std::size_t kMostWiring = std::size_t{1} << 26;        ///< contexts · labels

  const LaneProgram<Number>& program() const { return program_; }

  std::uint16_t action_of(Context context) const { return action_of_[context]; }
  /// Of an unknown context: what `next` returns where there is none.
  Context no_context() const { return static_cast<Context>(action_of_.size() - 1); }
  Label no_label() const { return labels_; }
  /// The context of the next layer; unknown (of the next layer) when context or label is.
  Context next(Context context, Label pre) const { return next_[std::size_t{context} * (labels_ + 1) + pre]; }
  Label label_of(std::uint16_t codeword) const { return label_of_[codeword]; }
  std::uint16_t no_codeword() const { return static_cast<std::uint16_t>(codewords_); }
  std::uint16_t initial_codeword() const { return initial_codeword_; }

  /// The nearest codeword of one state, as NearestCodeword has it, after a lane action.
  std::uint16_t nearest(std::span<const double> state, std::uint16_t lane_action,
                        std::vector<NearestCodeword::Hints>& hints) const;

 private:
  /// A stage with places in the tables instead of pointers.
  struct PlacedStage {
    LaneStage<Number> stage;
    std::size_t numbers = 0, indices = 0, positions = 0;
  };
  struct LaneAction {
    std::optional<Action> action;  ///< none: hold
    std::uint32_t book = 0;
  };

  LaneLayer(const RoundedLayer<Arithmetic>& rounded, const Layer& layer) : rounded_(&rounded), layer_(&layer) {}

  bool collect_actions(bool may_hold);
  bool make_wiring(Context contexts_above);
  bool make_stages();
  bool make_moves(const std::vector<std::uint32_t>& group);
  bool make_reflections(const std::vector<std::uint32_t>& group);
  void make_rotations(const std::vector<std::uint32_t>& group);
  void make_diagonal(const std::vector<std::uint32_t>& group);
  void make_dense(const std::vector<std::uint32_t>& group);
  void make_additions();
  bool make_decoding();
  bool make_bits();
  bool find_hash(const std::vector<std::uint32_t>& patterns);
  bool make_guesses();
  std::uint16_t guess(const LaneAction& lane_action, std::size_t from,
                      std::vector<NearestCodeword::Hints>& hints) const;
  void find_accepted(double greatest_entry);
  void place_tables();

  const RoundedMatrix<typename Arithmetic::Number>& matrix(std::uint32_t lane_action) const {
    return rounded_->matrix(*lane_actions_[lane_action].action);
  }
  std::size_t actions() const { return lane_actions_.size(); }
  std::size_t size() const { return std::size_t{layer_->dimension} * layer_->columns; }
  PlacedStage& add_stage(LaneStageKind kind, std::uint32_t first, std::uint32_t size);
  /// Appends a table that holds `otherwise` and returns it, to be filled by lane action.
  Number* add_numbers(Number otherwise);
  Integer* add_indices(Integer otherwise);
  /// A flag for the lane actions of a group; 0 when that is all of them.
  std::uint32_t add_flag(const std::vector<std::uint32_t>& group);

  const RoundedLayer<Arithmetic>* rounded_;
  const Layer* layer_;
  Label labels_ = 0;
  std::vector<LaneAction> lane_actions_;
  std::vector<std::uint16_t> action_of_;  ///< by context, the unknown one last
  std::vector<Context> next_;
  std::vector<Label> label_of_;  ///< by codeword, the missing one last
  std::vector<std::size_t> first_of_book_;
  std::size_t codewords_ = 0;
  std::uint16_t initial_codeword_ = 0;

  std::uint32_t stride_ = 0, flag_count_ = 0;
  std::vector<PlacedStage> stages_;
  std::vector<LaneStage<Number>> placed_;
  std::vector<Number> numbers_;
  std::vector<Integer> indices_, flags_;
  std::vector<std::uint32_t> positions_;
  LaneMemory<Number> number_memory_, entries_;
  LaneMemory<Integer> index_memory_, flag_memory_, patterns_, codeword_of_slot_;
  std::vector<std::int32_t> guesses_;
  LaneProgram<Number> program_;
};

extern template class LaneLayer<Fp64>;
extern template class LaneLayer<Fp32>;
extern template class LaneLayer<Fp16>;
extern template class LaneLayer<Bf16>;

}  // namespace krohn
