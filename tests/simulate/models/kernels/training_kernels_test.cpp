// The loops of training: every instruction set in float, the portable loops in double, and the formulas written out;
// on small integers, where nothing rounds, for scans and products.

#include <complex>

#include "krohn/simulate/evaluate/lanes/lane_kernel_table.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tests/simulate/models/kernels/lists.h"
#include "tests/testing.h"

using namespace krohn;

namespace {

template <class Real>
using Lists = std::vector<std::vector<Real>>;

bool same(const Lists<float>& left, const Lists<double>& right) {
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!std::equal(left[i].begin(), left[i].end(), right[i].begin(), right[i].end(),
                    [](float a, double b) { return double{a} == b; }))
      return false;
  return true;
}

const std::vector<std::uint32_t> kSource = {2, 0, 1, 1, 2};  // of the tokens, among three rows

/// Keys e_i − e_j, so that I − k kᵀ is a swap and nothing grows.
template <class Real>
std::vector<Real> swaps(std::size_t count, std::size_t keys) {
  std::vector<Real> k(count * keys, 0);
  for (std::size_t i = 0; i < count; ++i) {
    k[i * keys + i % keys] = 1;
    k[i * keys + (i + 1) % keys] = -1;
  }
  return k;
}

/// Words of reflections with random numbers, the same for every type.
struct Drawn {
  std::vector<std::size_t> lengths;
  std::size_t reflections, keys, values;
  std::size_t letters;  ///< rows that tokens share; 0: every token its own
  bool carries;         ///< states come from before the words, and go on
};

/// In ±1, in steps of 1/64; keys are short, so that nothing grows.
template <class Real>
struct ReflectionLists {
  explicit ReflectionLists(const Drawn& drawn_as) {
    run.words = drawn_as.lengths.size(), run.reflections = drawn_as.reflections;
    run.keys = drawn_as.keys, run.values = drawn_as.values;
    for (const std::size_t length : drawn_as.lengths) first.push_back(first.back() + length);
    const std::size_t tokens = first.back(), state_size = run.words * run.keys * run.values;
    run.sources = drawn_as.letters > 0 ? drawn_as.letters : tokens;
    for (std::size_t t = 0; t < tokens; ++t)
      source.push_back(static_cast<std::uint32_t>(drawn_as.letters > 0 ? t * t % run.sources : t));
    run.q_row = run.keys + 1, run.k_row = run.reflections * run.keys + 2;
    run.v_row = run.reflections * run.values, run.beta_row = run.reflections;
    q = drawn<Real>(run.sources * run.q_row, 1);
    k = drawn<Real>(run.sources * run.k_row, 2, 1 / std::sqrt(static_cast<double>(run.keys)));
    v = drawn<Real>(run.sources * run.v_row, 3);
    beta = drawn<Real>(run.sources * run.beta_row, 4, 2);
    state = drawn_as.carries ? drawn<Real>(state_size, 5) : std::vector<Real>(state_size, 0);
    by_state = drawn_as.carries ? drawn<Real>(state_size, 6) : std::vector<Real>(state_size, 0);
    by_o = drawn<Real>(tokens * run.values, 7);
    o.resize(tokens * run.values), lacks.resize(tokens * run.v_row);
    by_q.assign(q.size(), 1), by_k.assign(k.size(), 1), by_v.assign(v.size(), 1), by_beta.assign(beta.size(), 1);
    run.first = first.data(), run.source = source.data();
    run.q = q.data(), run.k = k.data(), run.v = v.data(), run.beta = beta.data();
    run.state = state.data(), run.state_row = run.keys * run.values;
    run.o = o.data(), run.o_row = run.values, run.lacks = lacks.data(), run.lacks_row = run.v_row;
    adjoint = {by_o.data(), by_q.data(), by_k.data(), by_v.data(), by_beta.data(), by_state.data()};
  }

  std::vector<std::size_t> first{0};
  std::vector<std::uint32_t> source;
  std::vector<Real> q, k, v, beta, state, by_state, by_o, o, lacks, by_q, by_k, by_v, by_beta;
  Reflections<Real> run{};
  ReflectionsAdjoint<Real> adjoint{};
};

/// The kernels' results: o, the states after the words, the gradients.
template <class Real>
Lists<double> reflected(const TrainingKernels<Real>& kernels, const Drawn& drawn_as) {
  ReflectionLists<Real> lists(drawn_as);
  Reflections<Real>& run = lists.run;
  std::vector<Real> starts(reflection_chunks(run) * run.keys * run.values), scratch(reflection_scratch(run));
  run.starts = starts.data(), run.scratch = scratch.data();
  std::vector<Real> after;
  if (drawn_as.carries) {
    kernels.reflect(run);
    after = lists.state;
    kernels.reflect_adjoint(run, lists.adjoint);
  } else {  // once with the state, once without, as models in training do
    kernels.reflect(run);
    after = lists.state;
    std::fill(lists.o.begin(), lists.o.end(), Real{7});
    run.state = nullptr, lists.adjoint.by_state = nullptr;
    const bool whole = reflection_chunks(run) == run.words;
    if (whole) run.starts = nullptr;
    kernels.reflect(run);
    kernels.reflect_adjoint(run, lists.adjoint);
  }
  Lists<double> result;
  for (const auto& list : {lists.o, after, lists.by_q, lists.by_k, lists.by_v, lists.by_beta, lists.by_state})
    result.emplace_back(list.begin(), list.end());
  return result;
}

/// The same, letter after letter: the adjoint walks back by S − β k (v − Sᵀk)ᵀ.
Lists<double> reflected_as_written(const Drawn& drawn_as) {
  ReflectionLists<double> lists(drawn_as);
  const Reflections<double>& run = lists.run;
  const std::size_t keys = run.keys, values = run.values;
  for (std::size_t word = 0; word < run.words; ++word)
    for (std::size_t t = lists.first[word]; t < lists.first[word + 1]; ++t) {
      const std::size_t source = lists.source[t];
      double* const state = run.state + word * run.state_row;
      for (std::size_t j = 0; j < run.reflections; ++j)
        for (std::size_t c = 0; c < values; ++c) {
          const double* const k = run.k + source * run.k_row + j * keys;
          double lack = run.v[source * run.v_row + j * values + c];
          for (std::size_t i = 0; i < keys; ++i) lack -= k[i] * state[i * values + c];
          run.lacks[t * run.lacks_row + j * values + c] = lack;
          for (std::size_t i = 0; i < keys; ++i)
            state[i * values + c] += k[i] * run.beta[source * run.beta_row + j] * lack;
        }
      for (std::size_t c = 0; c < values; ++c)
        for (std::size_t i = 0; i < keys; ++i)
          run.o[t * run.o_row + c] += run.q[source * run.q_row + i] * state[i * values + c];
    }
  const std::vector<double> after = lists.state;
  for (std::size_t word = 0; word < run.words; ++word)
    for (std::size_t t = lists.first[word + 1]; t-- > lists.first[word];) {
      const std::size_t source = lists.source[t];
      double *const state = run.state + word * run.state_row, *const by_state =
                                                                  lists.by_state.data() + word * run.state_row;
      const double* const by_o = lists.by_o.data() + t * run.o_row;
      for (std::size_t i = 0; i < keys; ++i)
        for (std::size_t c = 0; c < values; ++c) {
          lists.by_q[source * run.q_row + i] += state[i * values + c] * by_o[c];
          by_state[i * values + c] += run.q[source * run.q_row + i] * by_o[c];
        }
      for (std::size_t j = run.reflections; j-- > 0;)
        for (std::size_t c = 0; c < values; ++c) {
          const double* const k = run.k + source * run.k_row + j * keys;
          const double lack = run.lacks[t * run.lacks_row + j * values + c], beta = run.beta[source * run.beta_row + j];
          double by_change = 0;
          for (std::size_t i = 0; i < keys; ++i) by_change += k[i] * by_state[i * values + c];
          lists.by_beta[source * run.beta_row + j] += lack * by_change;
          lists.by_v[source * run.v_row + j * values + c] += beta * by_change;
          for (std::size_t i = 0; i < keys; ++i) {
            state[i * values + c] -= k[i] * beta * lack;
            lists.by_k[source * run.k_row + j * keys + i] +=
                beta * (by_state[i * values + c] * lack - state[i * values + c] * by_change);
            by_state[i * values + c] -= k[i] * beta * by_change;
          }
        }
    }
  return {lists.o, after, lists.by_q, lists.by_k, lists.by_v, lists.by_beta, lists.by_state};
}

template <class Real>
Lists<Real> scanned(const TrainingKernels<Real>& kernels, std::size_t channels, bool complex) {
  const std::size_t states = 2, parts = complex ? 2 : 1, tokens = kSource.size();
  const auto a = integers<Real>(3 * parts * states * channels, 1, 1), k = integers<Real>(3 * states, 2, 2),
             u = integers<Real>(3 * channels, 2, 3), q = integers<Real>(3 * parts * states, 2, 4);
  std::vector<Real> state = integers<Real>(parts * states * channels, 2, 5),
                    history(tokens * parts * states * channels), y(tokens * channels);
  const Diagonal<Real> run{tokens,         states,         channels,
                           kSource.data(), a.data(),       k.data(),
                           u.data(),       q.data(),       parts * states * channels,
                           states,         channels,       parts * states,
                           state.data(),   history.data(), y.data(),
                           channels,       complex};
  kernels.scan_diagonal(run);
  const std::vector<Real> by_y = integers<Real>(y.size(), 2, 6);
  std::vector<Real> by_a(a.size(), 1), by_k(k.size(), 1), by_u(u.size(), 1), by_q(q.size(), 1),
      by_state(state.size(), 0);
  kernels.scan_diagonal_adjoint(run,
                                {by_y.data(), by_a.data(), by_k.data(), by_u.data(), by_q.data(), by_state.data()});
  return {y, state, by_a, by_k, by_u, by_q, by_state};
}

template <class Real>
Lists<Real> blocked(const TrainingKernels<Real>& kernels, std::size_t size) {
  const std::size_t blocks = 2, hidden = blocks * size, tokens = kSource.size();
  const auto a = swaps<Real>(3 * hidden, size), u = integers<Real>(3 * hidden, 2, 2),
             start = integers<Real>(hidden, 2, 3);
  std::vector<Real> x(tokens * hidden);
  const BlockScan<Real> run{tokens, blocks, size, kSource.data(), a.data(), u.data(), start.data(), x.data()};
  kernels.scan_blocks(run);
  std::vector<Real> by_x = integers<Real>(x.size(), 2, 4), by_a(a.size(), 1), by_u(u.size(), 1), by_start(hidden, 1);
  kernels.scan_blocks_adjoint(run, {by_x.data(), by_a.data(), by_u.data(), by_start.data()});
  return {x, by_x, by_a, by_u, by_start};
}

}  // namespace

TEST_CASE("scans and their adjoints are the same on every instruction set") {
  const TrainingKernels<double>& portable = training_kernels<double>();
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    const TrainingKernels<float> kernels = training_kernels(set);
    for (const std::size_t extent : {1u, 3u, 8u, 21u}) {
      CAPTURE(extent);
      for (const bool complex : {false, true})
        CHECK(same(scanned(kernels, extent, complex), scanned(portable, extent, complex)));
      CHECK(same(blocked(kernels, extent), blocked(portable, extent)));
    }
  }
}

TEST_CASE("complex states are those of complex arithmetic") {
  const std::size_t channels = 5, states = 2;
  const Lists<double> lists = scanned(training_kernels<double>(), channels, true);
  const auto a = integers<double>(3 * 2 * states * channels, 1, 1), k = integers<double>(3 * states, 2, 2),
             u = integers<double>(3 * channels, 2, 3), q = integers<double>(3 * 2 * states, 2, 4),
             first = integers<double>(2 * states * channels, 2, 5);
  std::vector<double> y(kSource.size() * channels, 0);
  for (std::size_t i = 0; i < states; ++i)
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t real = 2 * i * channels + c, imaginary = real + channels;
      std::complex<double> h(first[real], first[imaginary]);
      for (std::size_t t = 0; t < kSource.size(); ++t) {
        const std::size_t source = kSource[t], row = source * 2 * states * channels;
        h = std::complex(a[row + real], a[row + imaginary]) * h + k[source * states + i] * u[source * channels + c];
        // Re of the state times the conjugate of what reads it
        const std::complex reader(q[source * 2 * states + 2 * i], q[source * 2 * states + 2 * i + 1]);
        y[t * channels + c] += (std::conj(reader) * h).real();
      }
      CHECK(lists[1][real] == h.real());
      CHECK(lists[1][imaginary] == h.imag());
    }
  CHECK(lists[0] == y);
}

TEST_CASE("chunks of reflections are those written out, letter after letter") {
  // One chunk, the longest, several; few rows for many tokens, many, and each token its own; every width of vectors.
  const std::vector<Drawn> cases = {
      {{5}, 1, 3, 1, 3, false},          {{5, 1, 9}, 1, 3, 5, 3, true},     {{40, 11}, 1, 17, 32, 5, false},
      {{64, 2}, 1, 8, 16, 0, false},     {{65, 0, 64}, 1, 32, 33, 4, true}, {{100, 33, 7}, 1, 5, 8, 0, true},
      {{21, 22, 3}, 3, 6, 21, 4, false}, {{21, 50}, 3, 16, 48, 0, false},   {{2, 3}, 64, 4, 3, 1, true},
      {{150, 90}, 1, 4, 4, 70, false},   {{1, 1, 1}, 1, 20, 2, 3, false}};
  for (const Drawn& drawn_as : cases) {
    CAPTURE(drawn_as.lengths.front());
    CAPTURE(drawn_as.values);
    const Lists<double> expected = reflected_as_written(drawn_as);
    const std::size_t lists = drawn_as.carries ? 7 : 6;  // without states nobody asks for the gradients by them
    CHECK(difference(reflected(training_kernels<double>(), drawn_as), expected, lists) < 1e-12);
    for (const InstructionSet set : available_instruction_sets()) {
      CAPTURE(to_string(set));
      CHECK(difference(reflected(training_kernels(set), drawn_as), expected, lists) < 2e-5);
    }
  }
}

namespace {

/// Σ |x|, Σ x² and so on, row by row.
template <class F>
double sum_over(std::span<const double> row, const F& f) {
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) sum += f(i);
  return sum;
}

double silu_of(double x) { return x / (1 + std::exp(-x)); }
double silu_slope(double x) {
  const double s = 1 / (1 + std::exp(-x));
  return s * (1 + x * (1 - s));
}

/// The kernels' results on three rows: norms and activations, and their adjoints added to ones.
template <class Real>
Lists<double> tokens_seen(const TrainingKernels<Real>& kernels, std::size_t width) {
  const std::size_t rows = 6, count = rows * width;
  const auto x = drawn<Real>(count, 1, 3), gain = drawn<Real>(width, 2), by = drawn<Real>(count, 3);
  Lists<Real> lists(8, std::vector<Real>(count, 1));
  std::vector<Real> by_gain(width, 1), gated(count / 2), by_gated(count, 1);
  const Rows<Real> all{rows, width, x.data()};
  kernels.rms_norm(all, gain.data(), lists[0].data());
  kernels.rms_norm_adjoint(all, gain.data(), by.data(), lists[1].data(), by_gain.data());
  kernels.unit_norm(all, lists[2].data());
  kernels.unit_norm_adjoint(all, by.data(), lists[3].data());
  kernels.silu(x.data(), count, lists[4].data());
  kernels.silu_adjoint(x.data(), count, by.data(), lists[5].data());
  kernels.softplus(x.data(), count, lists[6].data());
  kernels.softplus_adjoint(x.data(), count, by.data(), lists[7].data());
  const Rows<Real> pairs{rows / 2, 2 * width, x.data()};
  kernels.gate(pairs, gated.data());
  kernels.gate_adjoint(pairs, by.data(), by_gated.data());
  lists.insert(lists.end(), {by_gain, gated, by_gated});
  Lists<double> result;
  for (const auto& list : lists) result.emplace_back(list.begin(), list.end());
  return result;
}

Lists<double> tokens_as_written(std::size_t width) {
  const std::size_t rows = 6, count = rows * width;
  const auto x = drawn<double>(count, 1, 3), gain = drawn<double>(width, 2), by = drawn<double>(count, 3);
  Lists<double> lists(11);
  lists[8].assign(width, 1);
  const auto w = static_cast<double>(width);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto own = std::span(x).subspan(row * width, width), by_own = std::span(by).subspan(row * width, width);
    const double squares = sum_over(own, [&](std::size_t i) { return own[i] * own[i]; });
    const double scale = 1 / std::sqrt(squares / w + 1e-5), unit = 1 / std::sqrt(squares + 1e-6);
    const double along = sum_over(own, [&](std::size_t i) { return own[i] * by_own[i] * gain[i]; });
    const double along_unit = sum_over(own, [&](std::size_t i) { return own[i] * by_own[i]; });
    for (std::size_t i = 0; i < width; ++i) {
      lists[0].push_back(own[i] * gain[i] * scale);
      lists[1].push_back(1 + by_own[i] * gain[i] * scale - own[i] * along * std::pow(scale, 3) / w);
      lists[8][i] += by_own[i] * own[i] * scale;
      lists[2].push_back(own[i] * unit);
      lists[3].push_back(1 + by_own[i] * unit - own[i] * along_unit * std::pow(unit, 3));
      lists[4].push_back(silu_of(own[i]));
      lists[5].push_back(1 + by_own[i] * silu_slope(own[i]));
      lists[6].push_back(std::log1p(std::exp(own[i])));
      lists[7].push_back(1 + by_own[i] / (1 + std::exp(-own[i])));
    }
  }
  lists[10].assign(count, 1);
  for (std::size_t row = 0; row < rows / 2; ++row)
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t left = 2 * row * width + i, right = left + width;
      lists[9].push_back(silu_of(x[left]) * x[right]);
      lists[10][left] += by[row * width + i] * x[right] * silu_slope(x[left]);
      lists[10][right] += by[row * width + i] * silu_of(x[left]);
    }
  return lists;
}

}  // namespace

TEST_CASE("norms and activations are those written out, on every instruction set") {
  for (const std::size_t width : {1u, 3u, 16u, 21u, 64u}) {
    CAPTURE(width);
    const Lists<double> expected = tokens_as_written(width);
    CHECK(difference(tokens_seen(training_kernels<double>(), width), expected, expected.size()) < 1e-13);
    for (const InstructionSet set : available_instruction_sets()) {
      CAPTURE(to_string(set));
      CHECK(difference(tokens_seen(training_kernels(set), width), expected, expected.size()) < 1e-6);
    }
  }
}

TEST_CASE("numbers whose squares overflow are normalised like any others") {
  for (const std::size_t width : {1u, 3u, 16u, 21u, 64u}) {
    CAPTURE(width);
    const auto x = drawn<float>(width, 1, 3), gain = drawn<float>(width, 2);
    std::vector<float> large = x, plain = x;
    for (float& number : large) number *= 0x1p100f;
    for (float& number : plain) number *= 0x1p40f;  // so that the 1e-5 under the root counts for nothing
    for (const InstructionSet set : available_instruction_sets()) {
      CAPTURE(to_string(set));
      std::vector<float> seen(width), expected(width);
      training_kernels(set).rms_norm({1, width, large.data()}, gain.data(), seen.data());
      training_kernels(set).rms_norm({1, width, plain.data()}, gain.data(), expected.data());
      for (std::size_t i = 0; i < width; ++i) CHECK(seen[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    }
  }
}

namespace {

/// The softmax of rows of `labels` logits, beside the same in double.
template <class Real>
void check_softmax(const TrainingKernels<Real>& kernels, std::vector<Real> logits, std::size_t labels,
                   double tolerance) {
  const std::size_t rows = logits.size() / labels;
  const auto share = drawn<Real>(rows, 4), away = drawn<Real>(rows, 5);
  std::vector<Real> x = logits, greatest(rows + 1, 7), sum(rows + 1, 7);
  std::vector<std::uint32_t> best(rows + 1, 7);
  x.push_back(7);  // what stands behind a list is left alone
  kernels.softmax({rows, labels, x.data(), share.data(), away.data(), greatest.data(), sum.data(), best.data()});
  CHECK((x.back() == 7 && greatest.back() == 7 && sum.back() == 7 && best.back() == 7));
  double worst = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<const Real> own = std::span<const Real>(logits).subspan(row * labels, labels);
    const auto most = std::ranges::max_element(own);
    CHECK(best[row] == static_cast<std::size_t>(most - own.begin()));
    CHECK(greatest[row] == *most);
    double all = 0;
    for (const Real logit : own) all += std::exp(double{logit} - double{*most});
    worst = std::max(worst, std::abs(double{sum[row]} / all - 1));
    for (std::size_t label = 0; label < labels; ++label) {
      const double power = std::exp(double{own[label]} - double{*most}) / all * double{share[row]};
      const double found = double{x[row * labels + label]} + double{away[row]};
      worst = std::max(worst, std::abs(found - power) / (std::abs(power) + std::abs(double{away[row]})));
    }
  }
  CHECK(worst < tolerance);
}

}  // namespace

TEST_CASE("softmax of rows of every number of labels, the first of equal logits the best") {
  for (std::size_t labels = 1; labels <= 40; ++labels)
    for (const std::size_t rows : {1, 2, 3, 7, 8, 15, 16, 17, 33}) {
      CAPTURE(labels);
      CAPTURE(rows);
      for (const int kind : {0, 1, 2}) {  // any, all equal, whole numbers of which many are equal
        CAPTURE(kind);
        std::vector<float> logits = drawn<float>(rows * labels, labels + rows, 3);
        for (float& logit : logits) logit = kind == 0 ? logit : kind == 1 ? 0.5F : std::round(logit);
        for (const InstructionSet set : available_instruction_sets()) {
          CAPTURE(to_string(set));
          check_softmax(training_kernels(set), logits, labels, 1e-6);
        }
        check_softmax(portable_double_training_kernels(), std::vector<double>(logits.begin(), logits.end()), labels,
                      1e-14);
      }
    }
  for (const InstructionSet set : available_instruction_sets())
    for (const std::size_t labels : {2, 5, 20})
      for (std::size_t place = 0; place < labels; ++place) {  // what diverged stays so
        std::vector<float> x(labels, 1), number(4, 1);
        std::uint32_t best = 0;
        x[place] = NAN;
        training_kernels(set).softmax(
            {1, labels, x.data(), number.data(), number.data() + 1, number.data() + 2, number.data() + 3, &best});
        CHECK(!std::isfinite(number[3]));
      }
}

TEST_CASE("exponentials to two units of the last place, and no surprise beyond their range") {
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(to_string(set));
    std::vector<float> x;  // beside each a 0, whose power is 1
    for (float at = -86.9f; at < 0; at += 0.0137f) x.insert(x.end(), {0, at});
    std::vector<float> y = x, one(x.size(), 1), none(x.size(), 0), greatest(x.size()), sum(x.size());
    std::vector<std::uint32_t> best(x.size());
    training_kernels(set).softmax(
        {x.size() / 2, 2, y.data(), one.data(), none.data(), greatest.data(), sum.data(), best.data()});
    double worst = 0;
    for (std::size_t i = 1; i < x.size(); i += 2)  // e to x over 1
      worst = std::max(worst, std::abs(double{y[i]} / double{y[i - 1]} / std::exp(double{x[i]}) - 1));
    CHECK(worst < 3 * 0x1p-23);
    const std::vector<float> far = {-1e30f, -200, 0, 200, 1e30f};
    std::vector<float> silu(far.size());
    training_kernels(set).silu(far.data(), far.size(), silu.data());
    CHECK(std::abs(silu[0]) < 1e-6);
    CHECK(std::abs(silu[1]) < 1e-30);
    CHECK(silu[2] == 0);
    CHECK(silu[3] == 200);
    CHECK(silu[4] == 1e30f);
    std::vector<float> points, plus(far.size());
    for (float at = -86.9f; at < 87; at += 0.0137f) points.push_back(at);
    std::vector<float> steps(points.size());
    training_kernels(set).softplus(points.data(), points.size(), steps.data());
    worst = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
      worst = std::max(worst, std::abs(double{steps[i]} / std::log1p(std::exp(double{points[i]})) - 1));
    CHECK(worst < 3 * 0x1p-23);
    training_kernels(set).softplus(far.data(), far.size(), plus.data());
    CHECK(plus[0] < 1e-30);
    CHECK(plus[0] >= 0);
    CHECK(plus[3] == 200);
    CHECK(plus[4] == 1e30f);
    const float wrong[] = {NAN, INFINITY};  // what diverged stays so
    float seen[2];
    training_kernels(set).silu(wrong, 2, seen);
    CHECK(!std::isfinite(seen[0]));
    CHECK(!std::isfinite(seen[1]));
  }
}
