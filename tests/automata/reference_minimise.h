// tests/automata/reference_minimise.h — Moore's refinement by whole signatures, O(k n²): the obvious minimiser.
#pragma once

#include "krohn/automata/operations/minimise.h"
#include "tests/testing.h"

namespace krohn {

inline Dfa reference_minimise(const Dfa& dfa) {
  const Dfa reachable = canonical(dfa);
  std::vector<State> class_of(reachable.outputs().begin(), reachable.outputs().end());
  for (std::size_t classes = 0;;) {
    std::map<std::vector<State>, State> number_of_signature;
    std::vector<State> refined(reachable.states());
    for (State state = 0; state < reachable.states(); ++state) {
      std::vector<State> signature{class_of[state]};
      for (const State target : reachable.row(state)) signature.push_back(class_of[target]);
      refined[state] =
          number_of_signature.emplace(signature, static_cast<State>(number_of_signature.size())).first->second;
    }
    class_of = std::move(refined);
    if (number_of_signature.size() == classes) break;
    classes = number_of_signature.size();
  }
  const State classes = *std::max_element(class_of.begin(), class_of.end()) + 1;
  std::vector<State> table(std::size_t{classes} * reachable.letters());
  std::vector<Output> outputs(classes);
  for (State state = 0; state < reachable.states(); ++state) {
    outputs[class_of[state]] = reachable.output(state);
    for (Letter letter = 0; letter < reachable.letters(); ++letter)
      table[std::size_t{class_of[state]} * reachable.letters() + letter] = class_of[reachable.next(state, letter)];
  }
  return canonical(Dfa::moore(reachable.alphabet(), std::move(table), class_of[0], std::move(outputs),
                              {reachable.output_names().begin(), reachable.output_names().end()}));
}

}  // namespace krohn
