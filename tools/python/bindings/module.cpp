// The extension module krohn._krohn. It holds no algorithm and no convenience: the Python files beside it are what
// people use.

#include <fmt/format.h>

#include "krohn/groups/error.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {

std::vector<Letter> letters_of(const GivenWords& words, Letter letters) {
  std::vector<Letter> copy(words.size());
  const std::int64_t* const given = words.data();
  for (std::size_t i = 0; i < copy.size(); ++i) {
    const std::int64_t letter = given[i];
    if (letter < 0 || letter >= std::int64_t{letters})
      throw InputError(fmt::format("letter {} of word {} is {}, and the alphabet has {} letters, 0 to {}",
                                   i % words.shape(1), i / words.shape(1), letter, letters, std::int64_t{letters} - 1));
    copy[i] = static_cast<Letter>(letter);
  }
  return copy;
}

void InterruptPoll::operator()() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + std::chrono::milliseconds(50);
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace krohn::python

NB_MODULE(_krohn, module) {
  using namespace krohn;
  namespace nb = nanobind;
  module.doc() = "The C++ side of krohn. Use the package krohn instead.";
  // Later translators are asked first: Error, their base, is the last resort.
  for (nb::object kind : {nb::object(nb::exception<Error>(module, "Error", PyExc_RuntimeError)),
                          nb::object(nb::exception<InputError>(module, "InputError", PyExc_ValueError)),
                          nb::object(nb::exception<LimitError>(module, "LimitError", PyExc_RuntimeError)),
                          nb::object(nb::exception<SystemError>(module, "FileError", PyExc_OSError))})
    kind.attr("__module__") = "krohn";
  python::bind_automaton(module);
  python::bind_checkpoint(module);
  python::bind_learner(module);
  python::bind_network(module);
  python::bind_probe(module);
  python::bind_verify(module);
  python::bind_tasks(module);
}
