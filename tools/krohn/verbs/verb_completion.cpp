// krohn completion — a script for the shell.

#include <cstdio>
#include <memory>

#include "tools/krohn/completion.h"
#include "tools/krohn/verb.h"

namespace krohn {
Work add_completion(Verb& verb) {
  const auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  return [shell, &app = verb.command()] {
    const auto script = *shell == "bash" ? bash_completion : *shell == "zsh" ? zsh_completion : fish_completion;
    std::fputs(script(app).c_str(), stdout);
    return static_cast<int>(kDone);
  };
}

}  // namespace krohn
