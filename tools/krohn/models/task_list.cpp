#include "tools/krohn/models/task_list.h"

#include "krohn/automata/families/families.h"
#include "krohn/automata/formats/json.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {

nlohmann::ordered_json task_list() {
  nlohmann::ordered_json json;
  for (const TaskInfo& task : tasks())
    json["tasks"].push_back({{"name", task.name},
                             {"summary", task.summary},
                             {"source", task.source},
                             {"length_unit", task.length_unit},
                             {"train", {{"least", task.train.least}, {"greatest", task.train.greatest}}},
                             {"test", {{"least", task.test.least}, {"greatest", task.test.greatest}}},
                             {"chance", task.chance}});
  for (const FamilyInfo& family : families())
    json["languages"].push_back({{"pattern", family.pattern},
                                 {"summary", family.summary},
                                 {"source", family.source},
                                 {"example", family.example}});
  return json;
}

}  // namespace krohn
