// Compiled into the first command that tools/quickstart builds, in place of what trains models: says so to whoever
// asks.

#include "krohn/groups/base/error.h"
#include "krohn/simulate/models/models.h"
#include "tools/krohn/models/asked_model.h"
#include "tools/krohn/models/model_in_motion.h"
#include "tools/krohn/models/target.h"
#include "tools/krohn/report/page_data.h"
#include "tools/krohn/training/training_job.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

[[noreturn]] void refuse() {
  throw InputError(
      "this first build of krohn is without training, trained models, audits and probes. `cmake --build build` builds "
      "the rest; the whole command is then build/tools/krohn/krohn");
}

Work add_missing(Verb& verb) {
  verb.is_missing();
  return []() -> int { refuse(); };
}

}  // namespace

Work add_train(Verb& verb) { return add_missing(verb); }
Work add_audit(Verb& verb) { return add_missing(verb); }
Work add_probe(Verb& verb) { return add_missing(verb); }
Work add_import(Verb& verb) { return add_missing(verb); }
Work add_eval(Verb& verb) { return add_missing(verb); }
Work add_extract(Verb& verb) { return add_missing(verb); }
Work add_compare(Verb& verb) { return add_missing(verb); }
Work add_snap(Verb& verb) { return add_missing(verb); }
Work add_table(Verb& verb) { return add_missing(verb); }

int compile_cell(const Dfa&, const CellCompilation&) { refuse(); }
std::unique_ptr<AskedModel> load_asked_trained_model(const ModelOptions&) { refuse(); }
Findings run_findings(const RunQuestion&) { refuse(); }
std::string training_command(const nlohmann::ordered_json&, const std::string&) { refuse(); }
TrainedModel load_model(const std::string&) { refuse(); }
std::unique_ptr<ModelInMotion> trained_in_motion(TrainedSubject, Precision) { refuse(); }

}  // namespace krohn
