// simulate/many/ranked_check.h — one large certificate re-checked by the ranks of a job, a share of its evidence each.
#pragma once

#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/many/ranks.h"

namespace krohn {

/// `recheck`, with the same finding. Collective, with the same arguments on every rank: `options` are for the whole
/// certificate. Established means that every rank said so of its share. Throws on all ranks what one threw.
Recheck recheck_on_ranks(Ranks& ranks, const Certificate& certificate, const CheckedModel& model,
                         const RecheckOptions& options);

}  // namespace krohn
