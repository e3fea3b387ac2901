// simulate/audit/delta_rules.h — architectures whose transition matrices are a decay times a Householder-like one:
// DeltaNet and its kin, RWKV-7.
#pragma once

#include "krohn/simulate/audit/audit_rule.h"

namespace krohn {

const std::vector<AuditRule>& delta_rules();

}  // namespace krohn
