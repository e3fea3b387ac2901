// simulate/prove/claims/contradiction.h — a proof and a measurement that disagree.
#pragma once

#include "krohn/groups/error.h"

namespace krohn {

/// krohn is wrong, whatever the model is. The command exits with status 4.
class Contradiction : public Error {
 public:
  using Error::Error;
};

}  // namespace krohn
