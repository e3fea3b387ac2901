// tools/krohn/options.h — the options of a verb, with the command-line library behind a door: every file that spells
// out its calls compiles hundreds of its functions again.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace krohn {

/// An option as JSON keeps it: its value as it is now and as it is where the option is not given, under `key`.
struct KeptOption {
  std::string name, key;
  std::function<nlohmann::ordered_json()> value;
  std::shared_ptr<const nlohmann::ordered_json> usual;
};

/// One option, for saying more about it. Every function returns the option itself.
class VerbOption {
 public:
  /// Its values are read as they were typed.
  VerbOption(CLI::Option* option, KeptOption& kept);
  /// The name under which it is kept, where that is not its own with _ for -.
  VerbOption& key(const std::string& key);
  VerbOption& required();
  /// The name of its value on the help page.
  VerbOption& type_name(const std::string& name);
  /// Other usual names of these values are understood too (`usual_name`).
  VerbOption& one_of(const std::vector<std::string>& values);
  /// Completion offers these; others are taken too.
  VerbOption& suggests(const std::vector<std::string>& values);
  VerbOption& positive();
  VerbOption& existing_file();
  VerbOption& at_most(unsigned limit);
  VerbOption& between(double least, double greatest);
  /// `complaint` says what is wrong with a value, or nothing.
  VerbOption& checked(std::function<std::string(const std::string&)> complaint);
  /// The value that the help page gives for an absent option: the target's current one, as of numbers and one_of
  /// without it, or this text.
  VerbOption& show_default();
  VerbOption& show_default(const std::string& text);

 private:
  CLI::Option* option_;
  KeptOption* kept_;
};

/// A verb under construction. The targets of its options must live until the command line is parsed.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}
  /// Belongs to no command: holds what `add` adds to a verb, with the values of `options`, to be written down.
  template <class Options>
  Verb(void (*add)(Verb& verb, Options& options), const Options& options) : Verb() {
    const auto own = std::make_shared<Options>();
    add(*this, *own);
    *own = options;
    options_ = own;
  }
  /// The heading of the help page that the options stand under which are added from here on.
  void begin_group(const std::string& heading = "Options") { group_ = heading; }
  VerbOption add_option(const std::string& name, std::string& target, const std::string& description);
  VerbOption add_option(const std::string& name, std::optional<std::string>& target, const std::string& description);
  VerbOption add_option(const std::string& name, double& target, const std::string& description);
  VerbOption add_option(const std::string& name, unsigned& target, const std::string& description);
  /// An argument that may be repeated.
  VerbOption add_option(const std::string& name, std::vector<std::string>& target, const std::string& description);
  /// Values with commas between them; used more than once, the option has the values of all its uses.
  VerbOption add_list(const std::string& name, std::vector<std::string>& target, const std::string& description);
  VerbOption add_list(const std::string& name, std::vector<double>& target, const std::string& description);
  /// The value goes through `read`, which throws InputError for what it cannot read, and is kept as `value`.
  VerbOption add_option(const std::string& name, std::function<void(const std::string&)> read,
                        const std::string& description, std::function<nlohmann::ordered_json()> value = {});
  VerbOption add_flag(const std::string& name, bool& target, const std::string& description);
  /// Sets what is done once arguments that name this verb are read, and before its limits are kept.
  void before_work(std::function<void()> prepare) { prepare_ = std::move(prepare); }
  /// This command lacks the verb, which takes whatever follows it: every command line of it has the same answer.
  void is_missing();
  /// The command that it is a verb of.
  const CLI::App& command() const;

  const std::deque<KeptOption>& options() const { return kept_; }
  /// {"words": 64, …}: all options, or only those that are not as usual.
  nlohmann::ordered_json options_json(bool only_unusual = false) const;
  /// The options that are in `json` as a shell takes them, each after a blank: " --words 64".
  std::string options_text(const nlohmann::ordered_json& json) const;

 private:
  Verb();
  VerbOption keep(CLI::Option* option, std::function<nlohmann::ordered_json()> value);

  friend void build_command(CLI::App& app, std::function<int()>& chosen);
  std::shared_ptr<CLI::App> own_;
  std::shared_ptr<const void> options_;
  CLI::App* app_;
  std::string group_ = "Options";
  std::function<void()> prepare_;
  std::deque<KeptOption> kept_;
};

/// A kept value as the command line takes it: "64", "0.002,0.01"; two whole numbers are a range, "3..40".
std::string value_text(const nlohmann::ordered_json& value);

/// The name of the check that every option with values begins with.
inline constexpr const char* kAsTyped = "as typed";

/// Parses {"verb", options …}. Every value reaches its option byte for byte, as getopt would hand it over: brackets,
/// braces, `++`, an empty value and the names of verbs are nothing else; `--option=` has the empty value; all arguments
/// after `--` are positional. The library would read vectors, separators and subcommands out of them. Throws
/// CLI::ParseError, and what options throw.
void parse_as_typed(CLI::App& app, const std::vector<std::string>& arguments);

/// An argument as it was typed, of what the library holds of it (`remaining`).
std::string as_typed(std::string argument);

/// "fp32" of "float32" and "FP32", "torch" of "PyTorch", "cuda" of "gpu"; any other text in lower case where it has
/// capitals of ASCII, so that a name is found however it is written.
std::string usual_name(const std::string& text);

}  // namespace krohn
