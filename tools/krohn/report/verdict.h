// tools/krohn/report/verdict.h — a verdict for programs, and as an exit status.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/prove/claims/certificate.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/prove/verify.h"

namespace krohn {

/// True if the outcome can be written down for `krohn check`.
bool has_file(const Certificate& certificate);

/// With all its steps, of a network or of what reads letters. That no shorter word fails may take more of them than a
/// refutation is worth: past `beside_word` it is no longer claimed. Throws LimitError past `limits`.
template <class Subject>
Certificate listed_certificate(const Certificate& certificate, const Subject& subject, const StepLimits& limits,
                               const StepLimits& beside_word) {
  if (!certificate.is_shortest()) return with_steps(certificate, subject, limits);
  try {
    return with_steps(certificate, subject, beside_word);
  } catch (const LimitError&) {
    Certificate longer = certificate;
    std::get<Refuted>(longer.claim).shortest = false;
    return longer;
  }
}

/// The JSON of an outcome: the claim, how far it goes and what was examined. What a re-checker needs is in
/// the certificate file (simulate/check/certificate_file.h).
nlohmann::ordered_json verdict_to_json(const Certificate& certificate, const Alphabet& alphabet);

/// The members "verdict", "sampled", … of a report.
void add_verdict(nlohmann::ordered_json& json, const ModelVerdict& verdict, const Alphabet& alphabet);

/// The same in lines for people, the first one headed by the model's name; `about` follows the claim.
void print_verdict(const std::string& name, const std::vector<std::string>& about, const Question& question,
                   const ModelVerdict& verdict, const Alphabet& alphabet);

/// "proved for words of every length", its method and evidence, in two lines: where a verdict is a part of a report.
void print_claim(const std::string& before, const ModelVerdict& verdict, const Alphabet& alphabet);

/// A verdict with its evidence, for a program that asks in this process.
struct TakenVerdict {
  std::string headline;                               ///< the claim in words
  std::optional<Word> failing_word;                   ///< letters of the model's alphabet
  std::function<void(const std::string& path)> save;  ///< its certificate; throws InputError where it has no file
};

/// While one exists, `krohn verify` on its thread leaves its verdict there too.
class VerdictTaker {
 public:
  VerdictTaker();
  ~VerdictTaker();
  VerdictTaker(const VerdictTaker&) = delete;
  VerdictTaker& operator=(const VerdictTaker&) = delete;

  static bool is_wanted();
  static void leave(TakenVerdict verdict);
  const std::optional<TakenVerdict>& verdict() const { return verdict_; }

 private:
  std::optional<TakenVerdict> verdict_;
  VerdictTaker* outer_;
};

/// Tells a Progress for each kind of work, one after another.
std::function<void(std::string_view, std::uint64_t, std::uint64_t)> progress_of_stages();

/// 0 when proved (or up to at least `wanted_length` letters, when that is not 0), 1 when refuted, 3 otherwise.
int exit_status(const Certificate& certificate, std::uint64_t wanted_length);

// Summaries of many certificates and many classifications.

class CheckSummary {
 public:
  /// A line of `krohn check --list`. Throws InputError when it is none.
  void add(std::string_view line);
  /// Bad input when a file could not be read; else refuted when one is not established; else undecided when a limit
  /// was met.
  int status() const;
  std::string text() const;

 private:
  std::uint64_t certificates_ = 0, established_ = 0, not_established_ = 0, unreadable_ = 0, open_ = 0;
};

class ClassSummary {
 public:
  /// A line of `class_line`. Throws InputError when it is none.
  void add(std::string_view line);
  /// Bad input when a language could not be read, undecided when an answer is open.
  int status() const;
  std::string text() const;

 private:
  void count(const std::string& name, const std::string& answer);

  std::map<std::string, std::array<std::uint64_t, 3>> counts_;  ///< yes, no, open
  std::vector<std::string> order_;
  std::set<std::string> is_class_;
  std::uint64_t languages_ = 0, errors_ = 0, open_ = 0;
};

}  // namespace krohn
