// Any text as the certificate of one network, which drifts: it is refused with an error of ours, or it reads back as it
// was, and the re-checker never establishes that the network is right in bf16 for words of every length.
#include <cstdlib>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "only_errors.h"

using namespace krohn;

namespace {

/// Fails in bf16 after 249 letters.
const Network& drifting() {
  static const Network network = [] { return build(named_language("Z5"), BuildOptions{.construction = "rotation"}); }();
  return network;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::only_errors([&] {
    const Certificate certificate = parse_certificate(std::string(fuzz::as_text(data, size)), "input", drifting());
    if (parse_certificate(format_certificate(certificate, drifting()), "again", drifting()).claim != certificate.claim)
      std::abort();
    RecheckOptions few{.max_letters = 2000};
    const bool is_false = certificate.is<Proved>() && certificate.arithmetic == Precision::kBf16;
    if (recheck(certificate, drifting(), few).established && is_false) std::abort();
  });
  return 0;
}
