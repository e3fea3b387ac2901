#include "tools/krohn/classification.h"

#include "krohn/automata/formats/json.h"
#include "krohn/automata/operations/minimise.h"
#include "tools/krohn/json_output.h"

namespace krohn {
namespace {

using Json = nlohmann::ordered_json;

Job job(std::string name, Dfa automaton, const AlgebraOptions& options) {
  Algebra algebra = analyse(automaton, options);
  std::vector<Architecture> rows = architectures(automaton, algebra, plan(automaton, {}));
  return {std::move(name), std::move(automaton), std::move(algebra), std::move(rows)};
}

}  // namespace

std::vector<Job> classify(const Dfa& given, const AlgebraOptions& options) {
  Dfa tracked = canonical(given), minimal = minimise(given);
  std::vector<Job> jobs;
  if (tracked.states() == minimal.states()) {
    jobs.push_back(job("state tracking and acceptance", std::move(minimal), options));
  } else {
    jobs.push_back(job("state tracking", std::move(tracked), options));
    jobs.push_back(job("acceptance", std::move(minimal), options));
  }
  return jobs;
}

Json algebra_to_json(const Algebra& algebra) {
  Json facts;
  facts["monoid"]["size"] = exact_count(algebra.size.str());
  facts["monoid"]["idempotents"] = exact_count(algebra.idempotents.str());
  facts["monoid"]["d_classes"] = algebra.green.d_classes().size();
  facts["monoid"]["r_classes"] = algebra.green.r_classes();
  facts["stability_index"] = algebra.stability_index;
  facts["groups"] = Json::array();
  for (const MaximalSubgroup& group : algebra.groups)
    facts["groups"].push_back({{"name", group.name},
                               {"order", exact_count(group.order.str())},
                               {"solvable", group.solvable},
                               {"states", group.states},
                               {"words", group.words}});
  for (const Verdict& verdict : algebra.verdicts)
    facts["verdicts"].push_back({{"property", verdict.property},
                                 {"meaning", verdict.meaning},
                                 {"answer", to_string(verdict.answer)},
                                 {"witness", verdict.witness}});
  return facts;
}

Json job_to_json(const Job& job) {
  Json facts;
  facts["job"] = job.name;
  facts["states"] = job.automaton.states();
  facts.update(algebra_to_json(job.algebra));
  for (const Architecture& row : job.rows)
    facts["architectures"].push_back({{"family", row.family},
                                      {"answer", to_string(row.answer)},
                                      {"theorem", row.theorem},
                                      {"construction", row.construction},
                                      {"exact", row.exact},
                                      {"reason", row.reason}});
  return facts;
}

}  // namespace krohn
