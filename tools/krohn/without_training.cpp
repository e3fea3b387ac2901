// Compiled into the first command that tools/quickstart builds, in place of what trains models: says so to whoever
// asks.

#include "krohn/groups/base/error.h"
#include "krohn/simulate/models/models.h"
#include "tools/krohn/models/asked_model.h"
#include "tools/krohn/models/cell_target.h"
#include "tools/krohn/models/model_in_motion.h"
#include "tools/krohn/report/run_findings.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

[[noreturn]] void refuse() {
  throw InputError(
      "this first build of krohn is without training, trained models, audits and probes. `cmake --build build` builds "
      "the rest; the whole command is then build/tools/krohn/krohn");
}

void add_missing(CLI::App& app, Work& chosen, const char* name) {
  add_missing_verb(app, chosen, name, []() -> int { refuse(); });
}

}  // namespace

void add_train(CLI::App& app, Work& chosen) { add_missing(app, chosen, "train"); }
void add_audit(CLI::App& app, Work& chosen) { add_missing(app, chosen, "audit"); }
void add_probe(CLI::App& app, Work& chosen) { add_missing(app, chosen, "probe"); }
void add_import(CLI::App& app, Work& chosen) { add_missing(app, chosen, "import"); }
void add_eval(CLI::App& app, Work& chosen) { add_missing(app, chosen, "eval"); }
void add_extract(CLI::App& app, Work& chosen) { add_missing(app, chosen, "extract"); }
void add_compare(CLI::App& app, Work& chosen) { add_missing(app, chosen, "compare"); }
void add_snap(CLI::App& app, Work& chosen) { add_missing(app, chosen, "snap"); }
void add_table(CLI::App& app, Work& chosen) { add_missing(app, chosen, "table"); }

int compile_cell(const Dfa&, const CellCompilation&) { refuse(); }
std::unique_ptr<AskedModel> load_asked_trained_model(const ModelOptions&) { refuse(); }
Findings run_findings(const RunQuestion&) { refuse(); }
TrainedModel load_model(const std::string&) { refuse(); }
std::unique_ptr<ModelInMotion> trained_in_motion(TrainedSubject, Precision) { refuse(); }

}  // namespace krohn
