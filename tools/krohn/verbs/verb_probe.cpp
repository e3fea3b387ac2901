// krohn probe — which arithmetic a processor or a device has, and which certificates hold there.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cfenv>
#include <memory>

#include "krohn/gpu/device/device.h"
#include "krohn/gpu/probe/device_summers.h"
#include "krohn/groups/counted.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "krohn/simulate/probe/processor_sums.h"
#include "tools/krohn/command.h"
#include "tools/krohn/report/json_output.h"
#include "tools/krohn/report/probe_report.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

constexpr VerbHelp kProbeHelp = {
    "probe", "Measure which arithmetic a processor or a device has", "probe [--device cuda] [--terms N]",
    R"(
krohn probe
krohn probe --terms 16 --json
)",
    R"(A certificate speaks of an arithmetic and an order of operations. This asks the machine for sums of products that come
out differently in different arithmetics, and says what it has: in which order a sum's terms are added, how many digits
factors, products, sums and results keep, how they are rounded, what becomes of subnormal numbers; which of krohn's
arithmetics gives every one of thousands of sums bit for bit; and so which certificates hold there. Certificates with the
order "any" hold where every sum that no order can round comes out exactly.
On the processor it probes separate and fused operations, in the floating-point environment that the process was started
in, and its dot products of bf16; on a device the same, and tensor cores. It is a test: it speaks of the sums that it asked
for. A library's matrix products are probed from Python: krohn.probe(lambda a, b: float(a @ b)).
)"};

struct ProbeArguments {
  std::string device = "auto";
  std::uint64_t terms = ProbeOptions{}.terms;
  bool json = false;
};

template <class Work>
SumsSeen in_started_environment(Work work) {
  std::fenv_t own;
  std::fegetenv(&own);
  std::fesetenv(&started_environment());
  SumsSeen seen = work();
  std::fesetenv(&own);
  return seen;
}

int probe(const ProbeArguments& options) {
  const std::vector<Summer> processor = options.device == "cuda" ? std::vector<Summer>{} : processor_summers();
  const std::vector<Summer> device = wants_cuda(options.device) ? device_summers() : std::vector<Summer>{};
  ProbeOptions how;
  how.terms = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.terms, UINT32_MAX));
  nlohmann::ordered_json json;
  json["probed"] = nlohmann::ordered_json::array();
  const auto report = [&](const std::vector<Summer>& summers, const std::string& where) {
    for (const Summer& summer : summers) {
      const SumsSeen seen = in_started_environment([&] { return probe_sums(summer.format, summer.sum, how); });
      if (!options.json) {
        fmt::print("{}: {}, sums of {}\n{}\n", where, summer.name, counted(how.terms, "product"), probe_text(seen));
        continue;
      }
      nlohmann::ordered_json entry{{"where", where}, {"what", summer.name}};
      entry.update(probe_json(seen));
      json["probed"].push_back(std::move(entry));
    }
  };
  report(processor, "the processor");
  if (!device.empty()) report(device, device_name(true));
  if (options.json) print_json(json);
  return kDone;
}

}  // namespace

void add_probe(CLI::App& app, Work& chosen) {
  const auto options = std::make_shared<ProbeArguments>();
  Verb verb = add_verb(app, kProbeHelp);
  add_device(verb, options->device, "What to probe: the processor, a CUDA device, or both");
  add_count(verb, "--terms", options->terms, "Terms of the sums, 8 to 256");
  add_json_flag(verb, options->json);
  verb.callback([options, &chosen] { chosen = [options] { return probe(*options); }; });
}

}  // namespace krohn
