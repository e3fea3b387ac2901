#include "krohn/simulate/audit/diagonal_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/error.h"

namespace krohn {
namespace {

bool is_every_layer(const AuditInput&, std::uint64_t) { return true; }

HeadRange any_decay() { return {0, kNoBound, 0, kNoBound}; }

/// exp(−dt e^A), dt = softplus(w·x + b) of its own rows of in_proj, within time_step_limit.
std::vector<HeadRange> mamba2(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty()) return std::vector<HeadRange>(input.count("num_heads", 128), any_decay());
  const std::string prefix = fmt::format("backbone.layers.{}.", layer), mixer = prefix + "mixer.";
  const std::vector<double> bias = input.tensors.numbers(mixer + "dt_bias"),
                            a_log = numbers_of(input, mixer + "A_log", bias.size());
  const std::vector<double> rows = row_bounds(input, mixer + "in_proj.weight", gain_of(input, prefix + "norm.weight"));
  if (rows.size() < bias.size()) throw InputError(input.where, "in_proj has fewer rows than heads");
  std::vector<double> own(bias.size(), 0);
  if (input.tensors.has(mixer + "in_proj.bias")) {
    const std::vector<double> all = numbers_of(input, mixer + "in_proj.bias", rows.size());
    std::copy(all.end() - static_cast<std::ptrdiff_t>(own.size()), all.end(), own.begin());
  }
  double least = 0, most = kNoBound;
  if (const auto limit = input.config.find("time_step_limit"); limit != input.config.end() && limit->is_array()) {
    if (limit->size() != 2 || !(*limit)[0].is_number()) input.refuse("time_step_limit", "is not two numbers");
    least = (*limit)[0].get<double>();
    if ((*limit)[1].is_number()) most = (*limit)[1].get<double>();
  }
  std::vector<HeadRange> ranges;
  for (std::size_t h = 0; h < bias.size(); ++h) {
    const double bound = rows[rows.size() - bias.size() + h], a = stated::exp(a_log[h]);
    const HeadRange dt = softplus_rates(0, bias[h] + own[h], bound);
    ranges.push_back({a * std::clamp(dt.slowest, least, most), a * std::clamp(dt.fastest, least, most), 0, kNoBound});
  }
  return ranges;
}

/// exp(−dt e^A) of every channel and state; dt = softplus(W (X u) + b) of u, the SiLU of a convolution of the input.
std::vector<HeadRange> mamba(const AuditInput& input, std::uint64_t layer) {
  if (input.tensors.empty()) return {any_decay()};
  const std::string prefix = fmt::format("backbone.layers.{}.", layer), mixer = prefix + "mixer.";
  const std::vector<double> bias = input.tensors.numbers(mixer + "dt_proj.bias");
  const std::size_t channels = bias.size();
  const std::vector<double> rows = row_bounds(input, mixer + "in_proj.weight", gain_of(input, prefix + "norm.weight"));
  if (channels == 0 || rows.size() != 2 * channels) throw InputError(input.where, "in_proj has not two rows a channel");
  const std::vector<double> taps = input.tensors.numbers(mixer + "conv1d.weight");
  std::vector<double> conv_bias(channels, 0), in_bias(rows.size(), 0), u(channels);
  if (input.tensors.has(mixer + "conv1d.bias")) conv_bias = numbers_of(input, mixer + "conv1d.bias", channels);
  if (input.tensors.has(mixer + "in_proj.bias")) in_bias = numbers_of(input, mixer + "in_proj.bias", rows.size());
  const std::size_t width = taps.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::size_t k = 0; k < width; ++k) sum += std::abs(taps[c * width + k]);
    constexpr double kLobe = 0.2785;  // the least of SiLU is above its negative
    u[c] = std::max(kLobe, sum * (rows[c] + std::abs(in_bias[c])) + std::abs(conv_bias[c]));
  }
  const std::vector<double> w = input.tensors.numbers(mixer + "dt_proj.weight"),
                            x = input.tensors.numbers(mixer + "x_proj.weight"),
                            a_log = input.tensors.numbers(mixer + "A_log");
  const std::size_t rank = w.size() / channels, states = a_log.size() / channels;
  if (x.size() < rank * channels) throw InputError(input.where, "x_proj has fewer rows than dt_proj has columns");
  std::vector<double> inner(rank, 0);
  for (std::size_t k = 0; k < rank; ++k)
    for (std::size_t c = 0; c < channels; ++c) inner[k] += std::abs(x[k * channels + c]) * u[c];
  HeadRange all{kNoBound, 0, 0, kNoBound};
  for (std::size_t c = 0; c < channels; ++c) {
    double bound = 0;
    for (std::size_t k = 0; k < rank; ++k) bound += std::abs(w[c * rank + k]) * inner[k];
    for (std::size_t n = 0; n < states; ++n) all = united(all, softplus_rates(a_log[c * states + n], bias[c], bound));
  }
  return {all};
}

/// σ(G₂ G₁ x + b)^(1/16).
std::vector<HeadRange> gla(const AuditInput& input, std::uint64_t layer) {
  const std::uint64_t heads = input.count("num_heads", 4);
  const double normaliser = input.real("gate_logit_normalizer", 16);
  if (heads == 0 || !(normaliser > 0)) input.refuse("num_heads", "or \"gate_logit_normalizer\" is 0");
  if (input.tensors.empty()) return std::vector<HeadRange>(heads, any_decay());
  const std::string prefix = fmt::format("model.layers.{}.", layer), gate = prefix + "attn.gk_proj.";
  const std::vector<double> bias = input.tensors.numbers(gate + "1.bias"),
                            inner = row_bounds(input, gate + "0.weight", gain_of(input, prefix + "attn_norm.weight")),
                            outer = numbers_of(input, gate + "1.weight", bias.size() * inner.size());
  std::vector<HeadRange> ranges;
  for (std::uint64_t h = 0; h < heads; ++h) {
    HeadRange head{kNoBound, 0, 0, kNoBound};
    for (std::size_t c = h * bias.size() / heads; c < (h + 1) * bias.size() / heads; ++c) {
      double bound = 0;
      for (std::size_t k = 0; k < inner.size(); ++k) bound += std::abs(outer[c * inner.size() + k]) * inner[k];
      head = united(
          head, {softplus_of(-bias[c] - bound) / normaliser, softplus_of(-bias[c] + bound) / normaliser, 0, kNoBound});
    }
    ranges.push_back(head);
  }
  return ranges;
}

/// 1 − 2^(−5−h), whatever the input and the weights.
std::vector<HeadRange> retnet(const AuditInput& input, std::uint64_t) {
  std::vector<HeadRange> ranges;
  const std::uint64_t heads = std::min<std::uint64_t>(input.count("num_heads", 8), 1000);
  for (std::uint64_t h = 0; h < heads; ++h) {
    const double rate = -stated::log1p(-std::ldexp(1, -5 - static_cast<int>(h)));
    ranges.push_back({rate, rate, 0, kNoBound});
  }
  return ranges;
}

/// mLSTM's forget gate σ(u), |u| ≤ gate_soft_cap.
std::vector<HeadRange> xlstm(const AuditInput& input, std::uint64_t) {
  const double cap = input.real("gate_soft_cap", 15);
  return std::vector<HeadRange>(input.count("num_heads", 8), {softplus_of(-cap), softplus_of(cap), 0, kNoBound});
}

}  // namespace

const std::vector<AuditRule>& diagonal_rules() {
  static const std::vector<AuditRule> rules{
      {"mamba", "Mamba", "transformers, modeling_mamba.py", "", false, true, is_every_layer, mamba},
      {"mamba2", "Mamba-2", "transformers, modeling_mamba2.py", "", false, true, is_every_layer, mamba2},
      {"gla", "Gated linear attention", "flash-linear-attention, fla/layers/gla.py", "", false, true, is_every_layer,
       gla},
      {"retnet", "RetNet", "flash-linear-attention, fla/layers/multiscale_retention.py", "", false, true,
       is_every_layer, retnet},
      {"xlstm", "mLSTM", "transformers, modeling_xlstm.py", "", false, true, is_every_layer, xlstm}};
  return rules;
}

}  // namespace krohn
