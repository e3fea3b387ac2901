// simulate/evaluate/lanes/lane_layer.h — makes the tables of a LaneProgram from one layer of a network.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/evaluate/lanes/lane_program.h"
#include "krohn/simulate/evaluate/rounded_network.h"

namespace krohn {

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

/// Entries to allocate for a table with `count` of them: vectors read whole classes of tables that fit into registers.
inline std::uint32_t stride_of(std::size_t count) {
  if (count <= 128) return static_cast<std::uint32_t>(std::max(std::size_t{16}, std::bit_ceil(count)));
  return static_cast<std::uint32_t>((count + 15) / 16 * 16);
}

/// A table of its own, as long as vectors read it; none where every entry is its own place.
template <class Integer>
LaneMemory<Integer> table_of(std::vector<Integer> entries, bool may_be_none = false) {
  bool is_identity = may_be_none;
  for (std::size_t i = 0; i < entries.size(); ++i) is_identity = is_identity && entries[i] == static_cast<Integer>(i);
  if (is_identity) return {};
  entries.resize(stride_of(entries.size()));
  return LaneMemory<Integer>(entries);
}

/// The type in which a lane holds a number of the arithmetic: fp16 and bf16 are kept in floats.
template <class Arithmetic>
using LaneNumber = std::conditional_t<std::is_same_v<typename Arithmetic::Number, double>, double, float>;

/// The facts about neighbouring layers that a layer needs.
struct LanePlace {
  bool may_hold = false;             ///< contexts can be unknown: all but the first layer's
  Context contexts_above = 0;        ///< of the next layer; 0 above the last one
  std::span<const Context> readout;  ///< this layer's level of the network's readout
  Context unknown_above = kNoState;  ///< the node of the next level that stands for none: one past its last
};

/// The tables of one layer. An action of the lanes is an action of the layer together with the code book that decodes
/// after it; one more, the last, leaves a lane as it is: where the context is unknown.
template <class Arithmetic>
class LaneLayer {
 public:
  using Number = LaneNumber<Arithmetic>;
  using Integer = LaneIndex<Number>;

  /// Nothing for a layer that has no fast form: factored matrices, or tables past the limits below. Both layers must
  /// outlive this. O(tables), and O(actions · codewords) steps of the layer where codewords are not binary.
  static std::optional<LaneLayer> make(const RoundedLayer<Arithmetic>& rounded, const Layer& layer,
                                       const LanePlace& place);
  LaneLayer(LaneLayer&&) = default;
  LaneLayer& operator=(LaneLayer&&) = default;

  static constexpr std::size_t kMaxNumbers = 256;  ///< of the state, n·d
  static constexpr std::size_t kMaxActions = std::size_t{1} << 20;
  static constexpr std::size_t kMaxTableEntries = std::size_t{1} << 22;  ///< of weights
  static constexpr std::size_t kMaxGuesses = std::size_t{1} << 20;       ///< actions · codewords
  static constexpr std::size_t kMaxWiring = std::size_t{1} << 26;        ///< contexts · labels

  const LaneProgram<Number>& program() const { return program_; }

  std::uint32_t initial_codeword() const { return initial_codeword_; }

  /// The codewords that may be decoded after a lane action: those of its book; none where it leaves the lane as it is.
  struct CodewordRange {
    std::uint32_t first = 0, count = 0;
  };
  CodewordRange codewords_after(std::uint32_t lane_action) const;
  /// Entry e, in column-major order, of a codeword, exactly.
  double entry(std::uint32_t codeword, std::size_t e) const;

  /// The nearest codeword of one state, as NearestCodeword has it, after a lane action; program().codewords for none.
  std::uint32_t nearest(std::span<const double> state, std::uint32_t lane_action,
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
  bool make_wiring(const LanePlace& place);
  bool make_stages();
  void make_moves(const std::vector<std::uint32_t>& group);
  bool make_reflections(const std::vector<std::uint32_t>& group);
  void make_blocks(const std::vector<std::uint32_t>& group);
  void make_additions();
  bool make_decoding();
  bool make_bits();
  bool find_hash(const std::vector<std::uint32_t>& patterns);
  bool make_guesses();
  std::uint32_t guess(const LaneAction& lane_action, std::size_t from,
                      std::vector<NearestCodeword::Hints>& hints) const;
  void find_accepted(double greatest_entry);
  void place_tables();

  const RoundedMatrix<typename Arithmetic::Number>& matrix(std::uint32_t lane_action) const {
    return rounded_->matrix(*lane_actions_[lane_action].action);
  }
  std::uint32_t no_codeword() const { return static_cast<std::uint32_t>(codewords_); }
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
  std::vector<LaneAction> lane_actions_;
  std::vector<std::size_t> first_of_book_;
  std::size_t codewords_ = 0;
  std::uint32_t initial_codeword_ = 0;

  std::uint32_t stride_ = 0, flag_count_ = 0;
  std::vector<PlacedStage> stages_;
  std::vector<LaneStage<Number>> placed_;
  std::vector<Number> numbers_;
  std::vector<Integer> indices_, flags_;
  std::vector<std::uint32_t> positions_;
  LaneMemory<Number> number_memory_, entries_;
  LaneMemory<Integer> index_memory_, flag_memory_, patterns_, codeword_of_slot_, guesses_;
  LaneMemory<Integer> action_of_, label_of_, next_, readout_;
  LaneProgram<Number> program_;
};

// A network whose layers are all lane programs
// (simulate/evaluate/lanes/lane_program.h).

/// The layers of a network as lane programs. Views the network, which must outlive it.
template <class A>
class LaneNetwork {
 public:
  LaneNetwork(const Network& network, Form form) : rounded(network, form) {}

  /// False when some layer has no fast form.
  bool make(const Network& network) {
    const auto& readout = network.readout.next;
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
      LanePlace place{k > 0, 0, readout[k], kNoState};
      if (k + 1 < network.layers.size()) {
        place.contexts_above = static_cast<Context>(network.layers[k + 1].wiring.action_of.size());
        place.unknown_above = static_cast<Context>(readout[k + 1].size() / network.layers[k + 1].labels);
      }
      auto layer = LaneLayer<A>::make(rounded.layers()[k], network.layers[k], place);
      if (!layer) return false;
      layers.push_back(std::move(*layer));
    }
    return true;
  }

  RoundedNetwork<A> rounded;
  std::vector<LaneLayer<A>> layers;
};

}  // namespace krohn
