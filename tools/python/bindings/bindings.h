// tools/python/bindings/bindings.h — what the files of the extension module share: arrays, words, interrupts.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <signal.h>

#include <cstdint>
#include <vector>

#include "krohn/automata/dfa/dfa.h"
#include "krohn/groups/base/float_environment.h"
#include "tools/krohn/progress.h"

namespace krohn::python {

namespace nb = nanobind;

/// The environment of every function that computes or reads numbers: Python loads libraries that change how a thread
/// rounds.
using Standard = nb::call_guard<FloatEnvironment>;
/// While one exists in Python's main thread, Ctrl-C asks the work to stop (groups/base/time_limit.h), and the
/// interpreter hears of it as ever: work that never looks ends first, and KeyboardInterrupt follows. Made and ended
/// under the interpreter's lock.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  bool listens_ = false;
  struct sigaction before_ = {};
};

/// The scope of long work, without the interpreter's lock.
struct Working {
  FloatEnvironment environment;
  Interruptible interruptible;
  nb::gil_scoped_release unlocked;
};
using Unlocked = nb::call_guard<Working>;

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

/// Hands on how far a work is: progress(what, done, total) of Python's, or nobody where it is None.
ProgressListener::Tell telling(nb::object progress);

void bind_automaton(nb::module_& module);
void bind_checkpoint(nb::module_& module);
void bind_command(nb::module_& module);
void bind_learner(nb::module_& module);
void bind_network(nb::module_& module);
void bind_probe(nb::module_& module);
void bind_scan(nb::module_& module);
void bind_verify(nb::module_& module);
void bind_tasks(nb::module_& module);

}  // namespace krohn::python
