// The extension module krohn._krohn. It holds no algorithm and no convenience: the Python files beside it are what
// people use.

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/time_limit.h"
#include "tools/python/bindings/bindings.h"

namespace krohn::python {

std::vector<Letter> letters_of(const GivenWords& words, Letter letters) {
  std::vector<Letter> copy(words.size());
  const std::int64_t* const given = words.data();
  for (std::size_t i = 0; i < copy.size(); ++i) {
    const std::int64_t letter = given[i];
    if (letter < 0 || letter >= std::int64_t{letters})
      throw InputError(fmt::format("letter {} of word {} is {}, and the alphabet has {}, 0 to {}", i % words.shape(1),
                                   i / words.shape(1), letter, counted(letters, "letter"), std::int64_t{letters} - 1));
    copy[i] = static_cast<Letter>(letter);
  }
  return copy;
}

namespace {

extern "C" void on_interrupt(int) {
  Interruption::requested = true;
  PyErr_SetInterrupt();  // may be called in a handler, without the lock
}

bool is_main_thread() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  return nb::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
}

/// As if Python's own handler had been called: whatever it raises, or KeyboardInterrupt.
void interrupted_to_python(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const Interrupted&) {
    if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

Interruptible::Interruptible() {
  if (!is_main_thread()) return;
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN || before_.sa_handler == SIG_DFL) return;  // the program wants no KeyboardInterrupt
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  listens_ = true;
}

Interruptible::~Interruptible() {
  if (!listens_) return;
  sigaction(SIGINT, &before_, nullptr);
  Interruption::requested = false;
}

ProgressListener::Tell telling(nb::object progress) {
  if (progress.is_none()) return [](const std::string&, std::uint64_t, std::uint64_t) {};
  // The function is let go under the lock, wherever the listener ends.
  const std::shared_ptr<nb::object> kept(new nb::object(std::move(progress)), [](nb::object* object) {
    const nb::gil_scoped_acquire lock;
    delete object;
  });
  return [kept](const std::string& what, std::uint64_t done, std::uint64_t total) {
    const nb::gil_scoped_acquire lock;
    (*kept)(what, done, total);
  };
}

}  // namespace krohn::python

NB_MODULE(_krohn, module) {
  using namespace krohn;
  namespace nb = nanobind;
  using namespace nb::literals;
  module.doc() = "The C++ side of krohn. Use the package krohn instead.";
  // Later translators are asked first: Error, their base, is the last resort.
  for (nb::object kind : {nb::object(nb::exception<Error>(module, "Error", PyExc_RuntimeError)),
                          nb::object(nb::exception<InputError>(module, "InputError", PyExc_ValueError)),
                          nb::object(nb::exception<LimitError>(module, "LimitError", PyExc_RuntimeError)),
                          nb::object(nb::exception<SystemError>(module, "FileError", PyExc_OSError))})
    kind.attr("__module__") = "krohn";
  module.def(
      "counted", [](std::uint64_t count, const std::string& what) { return counted(count, what); }, "count"_a,
      "what"_a);
  nb::register_exception_translator(python::interrupted_to_python);
  python::bind_automaton(module);
  python::bind_checkpoint(module);
  python::bind_verify(module);  // its verdicts are what the command gives
  python::bind_command(module);
  python::bind_learner(module);
  python::bind_network(module);
  python::bind_probe(module);
  python::bind_scan(module);
  python::bind_tasks(module);
}
