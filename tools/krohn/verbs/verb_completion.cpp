// krohn completion — a script for the shell.

#include <cstdio>
#include <memory>

#include "tools/krohn/completion.h"
#include "tools/krohn/verb.h"

namespace krohn {
void add_completion(CLI::App& app, Work& chosen) {
  const auto shell = std::make_shared<std::string>();
  Verb verb = add_verb(app, "completion");
  verb.add_option("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  verb.callback([shell, &app, &chosen] {
    chosen = [shell, &app] {
      const auto script = *shell == "bash" ? bash_completion : *shell == "zsh" ? zsh_completion : fish_completion;
      std::fputs(script(app).c_str(), stdout);
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace krohn
