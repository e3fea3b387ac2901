// tools/python/bindings/bindings.h — what the files of the extension module share: arrays, words, interrupts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/float_environment.h"

namespace krohn::python {

namespace nb = nanobind;

/// What every function that computes or reads numbers runs in: Python loads libraries that change how a thread rounds.
using Standard = nb::call_guard<FloatEnvironment>;
/// The same, for long work, without the interpreter's lock.
using Unlocked = nb::call_guard<FloatEnvironment, nb::gil_scoped_release>;

/// Arrays that Python hands in: on the processor, row by row, of exactly this type. krohn's Python code converts first.
template <class T, std::size_t kDimensions>
using Given = nb::ndarray<const T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;

/// A batch of words of one length, [words, length].
using GivenWords = Given<std::int64_t, 2>;

/// A NumPy array that owns its numbers. They are moved to it, not copied.
template <class T>
nb::ndarray<nb::numpy, T> owned(std::vector<T> numbers, std::initializer_list<std::size_t> shape) {
  auto* const kept = new std::vector<T>(std::move(numbers));
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return {kept->data(), shape, owner};
}

/// A copy of the words, every letter below `letters`: nobody else can change it while the interpreter runs on. Throws
/// InputError naming the first that is not.
std::vector<Letter> letters_of(const GivenWords& words, Letter letters);

/// Lets Ctrl-C end long work: called now and then without the interpreter's lock, it raises what Python's handler for
/// the signal raises, at most twenty times a second looking for one.
class InterruptPoll {
 public:
  void operator()();

 private:
  std::chrono::steady_clock::time_point next_look_{};
};

void bind_automaton(nb::module_& module);
void bind_checkpoint(nb::module_& module);
void bind_learner(nb::module_& module);
void bind_network(nb::module_& module);
void bind_probe(nb::module_& module);
void bind_verify(nb::module_& module);
void bind_tasks(nb::module_& module);

}  // namespace krohn::python
