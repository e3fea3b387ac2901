// tests/simulate/many/small_files.h — a full disk, without one.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace krohn::test {

/// No file of this process grows past so many bytes while this lives: the system refuses the write, as a full disk
/// does.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit less{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

}  // namespace krohn::test
