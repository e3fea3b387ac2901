// krohn probe — which arithmetic a processor or a device has, and which certificates hold there.

#include <fmt/format.h>

#include <cfenv>
#include <memory>

#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "tools/krohn/command.h"
#include "tools/krohn/report/classification.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

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
  ProbeOptions how{.terms = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.terms, UINT32_MAX))};
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

Work add_probe(Verb& verb) {
  const auto options = std::make_shared<ProbeArguments>();
  add_device(verb, options->device, "What to probe: the processor, a CUDA device, or both");
  add_count(verb, "--terms", options->terms, "Terms of the sums, 8 to 256");
  add_json_flag(verb, options->json);
  return [options] { return probe(*options); };
}

}  // namespace krohn
