// simulate/audit/diagonal_rules.h — architectures whose transition matrices are diagonal, with entries in (0, 1): Mamba
// and its kin, GLA, RetNet, mLSTM.
#pragma once

#include "krohn/simulate/audit/audit_rule.h"

namespace krohn {

const std::vector<AuditRule>& diagonal_rules();

}  // namespace krohn
