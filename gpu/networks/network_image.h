// gpu/networks/network_image.h — a network's lane programs, its code books and its automaton in one piece of memory,
// ready to be copied to a device: pointers in it are those of the place where it will lie.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "krohn/constructions/network/network.h"
#include "krohn/gpu/device/device.h"
#include "krohn/gpu/networks/device_arithmetic.cuh"
#include "krohn/gpu/networks/device_network.cuh"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/arithmetic/arithmetic.h"
#include "krohn/simulate/arithmetic/order.h"
#include "krohn/simulate/evaluate/lanes/lane_layer.h"

namespace krohn {

/// Collects arrays one after another. Their addresses are from `base` on, which may be another machine's memory.
class ImageWriter {
 public:
  explicit ImageWriter(const void* base) : base_(reinterpret_cast<std::uintptr_t>(base)) {}

  /// Where `count` values will be. Null stays null.
  template <class T>
  const T* place(const T* from, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (from == nullptr) return nullptr;
    constexpr std::size_t kAlignment = 16;
    const std::size_t at = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
    bytes_.resize(at + count * sizeof(T));
    if (count > 0) std::memcpy(bytes_.data() + at, from, count * sizeof(T));
    return reinterpret_cast<const T*>(base_ + at);
  }
  template <class T>
  const T* place(const std::vector<T>& values) {
    return place(values.data(), values.size());
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::uintptr_t base_;
  std::vector<std::byte> bytes_;
};

/// The tables of one layer in the storage format A of the arithmetic.
template <class A>
class NetworkImage {
 public:
  using Number = LaneNumber<A>;

  /// Throws NotOnDevice for networks that have no lane form, or that snap.
  NetworkImage(const Network& network, Form form) : network_(network), lanes_(network, form) {
    if (network.snap_every > 0)
      throw NotOnDevice("--device", "networks that snap are evaluated on the processor only; take --device cpu");
    if (!lanes_.make(network))
      throw NotOnDevice("this network's layers have no form for devices (factored, or too large); take --device cpu");
  }

  const Network& network() const { return network_; }

  // Before the first letter: of all layers; by layer.
  std::vector<Number> initial_numbers() const {
    std::vector<Number> numbers;
    for (const RoundedLayer<A>& layer : lanes_.rounded.layers())
      for (const auto number : layer.initial()) numbers.push_back(static_cast<Number>(to_double(number)));
    return numbers;
  }
  std::vector<std::uint32_t> initial_codewords() const {
    std::vector<std::uint32_t> codewords;
    for (const LaneLayer<A>& layer : lanes_.layers) codewords.push_back(layer.initial_codeword());
    return codewords;
  }
  std::vector<Label> initial_labels() const {
    std::vector<Label> labels;
    for (const RoundedLayer<A>& layer : lanes_.rounded.layers()) labels.push_back(layer.initial_label());
    return labels;
  }

  /// The network, written to its place, where `bytes` becomes its memory.
  DeviceNetwork<Number> put(Place place, Buffer<std::byte>& bytes) const {
    ImageWriter measure(nullptr);  // the bytes are as many wherever it lies
    write(measure);
    bytes = Buffer<std::byte>(place, measure.bytes().size());
    ImageWriter image(bytes.data());
    const DeviceNetwork<Number> network = write(image);
    bytes.write(image.bytes());
    return network;
  }

  /// The layers by value, whose tables are in `bytes` (put). Nothing where they are too many.
  std::optional<FewLayers<Number>> few_layers(const Buffer<std::byte>& bytes) const {
    ImageWriter image(bytes.data());
    const DeviceNetwork<Number> network = write(image);
    const auto written = [&]<class T>(const T* place) {
      return reinterpret_cast<const T*>(image.bytes().data() +
                                        (reinterpret_cast<const std::byte*>(place) - bytes.data()));
    };
    if (network.layer_count > FewLayers<Number>::kMaxLayers) return std::nullopt;
    FewLayers<Number> few;
    std::uint32_t stages = 0;
    for (std::uint32_t k = 0; k < network.layer_count; ++k) {
      few.layers[k] = written(network.layers)[k];
      few.first_stage[k] = stages;
      const LaneProgram<Number>& program = few.layers[k].program;
      if (stages + program.stage_count > FewLayers<Number>::kMaxStages) return std::nullopt;
      for (std::uint32_t s = 0; s < program.stage_count; ++s) few.all_stages[stages++] = written(program.stages)[s];
    }
    return few;
  }

 private:
  DeviceNetwork<Number> write(ImageWriter& image) const {
    DeviceNetwork<Number> out;
    std::vector<DeviceLayer<Number>> layers;
    for (const LaneLayer<A>& layer : lanes_.layers) {
      layers.push_back(write_layer(layer, image));
      layers.back().first_number = out.numbers;
      out.numbers += layers.back().size();
      out.scratch = std::max(out.scratch, layers.back().program.dimension);
    }
    const Dfa& automaton = network_.automaton;
    const std::vector<Label> labels = initial_labels();
    out.layer_count = static_cast<std::uint32_t>(layers.size());
    out.layers = image.place(layers);
    out.initial = image.place(initial_numbers());
    out.initial_codewords = image.place(initial_codewords());
    out.initial_labels = image.place(labels);
    out.next = image.place(automaton.table().data(), automaton.table().size());
    out.outputs = image.place(automaton.outputs().data(), automaton.outputs().size());
    out.letters = automaton.letters();
    out.states = automaton.states();
    out.initial_state = automaton.initial();
    out.initial_answer = lanes_.rounded.read(labels.data());
    return out;
  }

  static DeviceLayer<Number> write_layer(const LaneLayer<A>& layer, ImageWriter& image) {
    DeviceLayer<Number> out;
    const LaneProgram<Number>& p = layer.program();
    out.program = p;
    const std::size_t size = out.size();
    std::vector<LaneStage<Number>> stages;
    for (std::uint32_t s = 0; s < p.stage_count; ++s) stages.push_back(write_stage(p, p.stages[s], image));
    out.program.stages = image.place(stages);
    out.program.flags = image.place(p.flags, p.actions);
    out.program.action_of = image.place(p.action_of, std::size_t{p.contexts} + 1);
    out.program.patterns = p.decoding == LaneDecoding::kBits ? image.place(p.patterns, p.slots) : nullptr;
    out.program.codeword_of_slot =
        p.decoding == LaneDecoding::kBits ? image.place(p.codeword_of_slot, p.slots) : nullptr;
    out.program.guesses = p.decoding == LaneDecoding::kGuess ? image.place(p.guesses, p.guess_count) : nullptr;
    out.program.entries =
        p.decoding == LaneDecoding::kGuess ? image.place(p.entries, size * p.codeword_stride) : nullptr;
    out.program.label_of = image.place(p.label_of, std::size_t{p.codewords} + 1);
    out.program.next = p.next_count == 0 ? nullptr : image.place(p.next, p.next_count);
    out.program.readout = image.place(p.readout, p.readout_count);
    std::vector<double> codewords;
    for (std::uint32_t i = 0; i < p.codewords; ++i)
      for (std::size_t e = 0; e < size; ++e) codewords.push_back(layer.entry(i, e));
    std::vector<std::uint32_t> begin, end;
    for (std::uint32_t action = 0; action < p.actions; ++action) {
      const auto [first, count] = layer.codewords_after(action);
      begin.push_back(first);
      end.push_back(first + count);
    }
    out.codewords = image.place(codewords);
    out.book_begin = image.place(begin);
    out.book_end = image.place(end);
    if (p.decoding == LaneDecoding::kGuess) accept_scaled(codewords, out);
    return out;
  }

  /// Let all codewords have length N, up to a relative ε of its square, and be at least D apart. A state of length ρN
  /// that, scaled to N, is within δ of a codeword is nearer to it than to any other one, by ρD(D − 2δ) of the squared
  /// distance. The definition computes these in fp64, with an error of at most (size + 2) · 2⁻⁵² · (1 + ρ)²N²; so δ may
  /// go up to 0.99 · D/2, where ρ is not extreme: there the errors of two are at most 0.02 · ρ(D/2)². So the nearest
  /// one's δ² is above no other's by more, and the kernel's own roundings of two of them, (6 size + 48) · 2⁻²³ · N² in
  /// fp32; they must be small beside the rest of D/2.
  static void accept_scaled(const std::vector<double>& codewords, DeviceLayer<Number>& out) {
    const std::size_t size = out.size();
    double least = std::numeric_limits<double>::infinity(), greatest = 0;
    for (std::size_t i = 0; i < codewords.size(); i += size) {
      double squared = 0;
      for (std::size_t e = i; e < i + size; ++e) squared += codewords[e] * codewords[e];
      least = std::min(least, squared);
      greatest = std::max(greatest, squared);
    }
    const double equal = 1e-12, half = std::sqrt(static_cast<double>(out.program.accepted));
    const double roundings = static_cast<double>(size + 4) * 4 * std::numeric_limits<Number>::epsilon();
    if (!(least > 0) || greatest - least > equal * least || half * 1e-3 < roundings * std::sqrt(greatest)) return;
    const double margin = 0.02 * half * half / greatest;  // D(D − 2δ) / N², and half as much again in reserve
    const double extreme = (static_cast<double>(size + 2) * 0x1p-48 + 2 * equal) / margin;
    const double ratio = std::max(extreme * extreme, 1e-30);
    if (!(ratio < 0.25)) return;
    out.length = static_cast<Number>(std::sqrt(greatest));
    out.shortest = static_cast<Number>(greatest * ratio);
    out.longest = static_cast<Number>(greatest / ratio);
    out.accepted_scaled = static_cast<Number>(0.98 * static_cast<double>(out.program.accepted));
    out.doubt = static_cast<Number>(16 * roundings * greatest + 0.02 * half * half);
  }

  /// The tables that lane_program.h gives to each kind of stage.
  static LaneStage<Number> write_stage(const LaneProgram<Number>& p, const LaneStage<Number>& stage,
                                       ImageWriter& image) {
    LaneStage<Number> out = stage;
    const std::size_t n = p.dimension, count = stage.position_count;
    std::size_t numbers = 0, indices = 0, positions = 0;
    switch (stage.kind) {
      case LaneStageKind::kMoves:
        numbers = (stage.has_sums ? n : 0) + (stage.has_signs ? n : 0);
        indices = n;
        break;  // positions are for vectors: a thread goes from sources to targets
      case LaneStageKind::kReflection:
        numbers = count + (stage.has_beta ? 1 : 0);
        indices = (count + kLaneBits - 1) / kLaneBits;
        positions = count;
        break;
      case LaneStageKind::kRotation:
        numbers = 2;
        break;
      case LaneStageKind::kDiagonal:
        numbers = stage.size;
        break;
      case LaneStageKind::kDense:
        numbers = std::size_t{stage.size} * stage.size;
        break;
      case LaneStageKind::kAdd:
      case LaneStageKind::kSet:
        numbers = n * p.columns;
        break;
      case LaneStageKind::kZero:
        break;
    }
    out.numbers = image.place(stage.numbers, numbers * p.stride);
    out.indices = image.place(stage.indices, indices * p.stride);
    out.positions = image.place(stage.positions, positions);
    return out;
  }

  const Network& network_;
  LaneNetwork<A> lanes_;
};

// The arithmetic of simulate/arithmetic/arithmetic.h that a device's is: only the types of the results are asked for.
Fp64 reference_of(DeviceFp64);
Fp32 reference_of(DeviceFp32);
Fp16 reference_of(DeviceFp16);
Bf16 reference_of(DeviceBf16);
AccumulatedInFp32<Fp16> reference_of(DeviceFp16InFp32);
AccumulatedInFp32<Bf16> reference_of(DeviceBf16InFp32);
Fused<Fp64> reference_of(DeviceFp64Fused);
Fused<Fp32> reference_of(DeviceFp32Fused);
Fused<Fp16> reference_of(DeviceFp16Fused);
Fused<Bf16> reference_of(DeviceBf16Fused);
Tf32 reference_of(DeviceTf32);

/// Calls body(A, D): the format of the tables, and the arithmetic on a device. Throws NotOnDevice for arithmetics that
/// devices do not have.
template <class Body>
decltype(auto) with_device_arithmetic(ArithmeticName name, Body&& body) {
#define KROHN_TAKE(D)                        \
  using Of##D = decltype(reference_of(D{})); \
  if (name == Of##D::name) return body(typename Of##D::Format{}, D{});
  KROHN_FOR_EVERY_DEVICE_ARITHMETIC(KROHN_TAKE)
#undef KROHN_TAKE
  throw NotOnDevice("--device", to_string(name) + " is evaluated on the processor only; take --device cpu");
}

}  // namespace krohn
