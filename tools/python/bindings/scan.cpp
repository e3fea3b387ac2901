// The one loop that PyTorch has no fast form of on a processor, for krohn.rivals.

#include "krohn/groups/base/error.h"
#include "krohn/simulate/models/kernels/training_kernel_table.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {
namespace {

using nb::literals::operator""_a;

template <class Real, std::size_t kDimensions>
using Written = nb::ndarray<Real, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;

template <class One, class Other>
bool alike(const One& one, const Other& other) {
  if (one.ndim() != other.ndim()) return false;
  for (std::size_t i = 0; i < one.ndim(); ++i)
    if (one.shape(i) != other.shape(i)) return false;
  return true;
}

/// Every word's recurrence, all of whose arrays have their words side by side.
template <class Real>
struct Scan {
  Given<Real, 3> delta;
  Given<Real, 2> rates;
  Given<Real, 3> u, b, q;
  bool is_signed;
  Written<Real, 4> history;

  std::size_t tokens() const { return delta.shape(1); }
  std::size_t states() const { return rates.shape(0); }
  std::size_t channels() const { return rates.shape(1); }

  /// Throws InputError where shapes do not fit each other.
  void check() const {
    const auto fits = [&](const auto& array, std::size_t width) {
      return array.shape(0) == delta.shape(0) && array.shape(1) == tokens() && array.shape(2) == width;
    };
    if (!fits(delta, channels()) || !fits(u, channels()) || !fits(b, states()) || !fits(q, states()) ||
        !fits(history, states()) || history.shape(3) != channels())
      throw InputError(
          "selective_scan: Δ and u are [words, length, channels], b and c [words, length, states], A [states, "
          "channels] and the states [words, length, states, channels]");
  }

  SelectiveScan<Real> of_word(std::size_t word, Real* y) const {
    const std::size_t wide = word * tokens() * channels(), narrow = word * tokens() * states();
    return {tokens(),
            states(),
            channels(),
            is_signed,
            nullptr,
            rates.data(),
            delta.data() + wide,
            u.data() + wide,
            b.data() + narrow,
            q.data() + narrow,
            states(),
            nullptr,
            history.data() + wide * states(),
            states() * channels(),
            y};
  }
};

template <class Real>
void scan(Given<Real, 3> delta, Given<Real, 2> rates, Given<Real, 3> u, Given<Real, 3> b, Given<Real, 3> c,
          bool is_signed, Written<Real, 4> history, Written<Real, 3> y) {
  const Scan<Real> all{delta, rates, u, b, c, is_signed, history};
  all.check();
  if (!alike(y, delta)) throw InputError("selective_scan: y is [words, length, channels]");
  const nb::gil_scoped_release unlocked;
  const FloatEnvironment environment;
  const SubnormalsAsZero flushed;
  for (std::size_t word = 0; word < delta.shape(0); ++word)
    training_kernels<Real>().scan_selectively(all.of_word(word, y.data() + word * all.tokens() * all.channels()));
}

template <class Real>
void scan_adjoint(Given<Real, 3> delta, Given<Real, 2> rates, Given<Real, 3> u, Given<Real, 3> b, Given<Real, 3> c,
                  bool is_signed, Written<Real, 4> history, Given<Real, 3> by_y, Written<Real, 3> by_delta,
                  Written<Real, 2> by_rates, Written<Real, 3> by_u, Written<Real, 3> by_b, Written<Real, 3> by_c) {
  const Scan<Real> all{delta, rates, u, b, c, is_signed, history};
  all.check();
  if (!alike(by_y, delta) || !alike(by_delta, delta) || !alike(by_rates, rates) || !alike(by_u, u) || !alike(by_b, b) ||
      !alike(by_c, c))
    throw InputError("selective_scan: a gradient has the shape of what it is the gradient by");
  const nb::gil_scoped_release unlocked;
  const FloatEnvironment environment;
  const SubnormalsAsZero flushed;
  std::vector<Real> scratch(all.states() * all.channels());
  for (std::size_t word = 0; word < delta.shape(0); ++word) {
    const std::size_t wide = word * all.tokens() * all.channels(), narrow = word * all.tokens() * all.states();
    training_kernels<Real>().scan_selectively_adjoint(
        all.of_word(word, nullptr), {by_y.data() + wide, by_rates.data(), by_delta.data() + wide, by_u.data() + wide,
                                     by_b.data() + narrow, by_c.data() + narrow, scratch.data()});
  }
}

template <class Real>
void bind(nb::module_& module) {
  module.def("selective_scan", &scan<Real>, "delta"_a.noconvert(), "rates"_a.noconvert(), "u"_a.noconvert(),
             "b"_a.noconvert(), "c"_a.noconvert(), "is_signed"_a, "states"_a.noconvert(), "y"_a.noconvert(),
             "Writes the states after every token, and y.");
  module.def("selective_scan_adjoint", &scan_adjoint<Real>, "delta"_a.noconvert(), "rates"_a.noconvert(),
             "u"_a.noconvert(), "b"_a.noconvert(), "c"_a.noconvert(), "is_signed"_a, "states"_a.noconvert(),
             "by_y"_a.noconvert(), "by_delta"_a.noconvert(), "by_rates"_a.noconvert(), "by_u"_a.noconvert(),
             "by_b"_a.noconvert(), "by_c"_a.noconvert(), "Adds to the gradients.");
}

}  // namespace

void bind_scan(nb::module_& module) {
  bind<float>(module);
  bind<double>(module);
}

}  // namespace krohn::python
