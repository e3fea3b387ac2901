// simulate/train/tables/table_scale.h — the sizes of a table: small ones or the paper's, but for those that are named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "krohn/simulate/train/tables/paper_tables.h"
#include "krohn/simulate/train/tables/table_differences.h"

namespace krohn {

/// A scale with some of its sizes changed, one at a time.
struct ChangedScale {
  TableScale scale = TableScale::kSmall;
  std::vector<Setting> changes{};  ///< by name; the value "paper" is what the paper's scale has there
};

/// "small", "paper,steps=8000,width=32", "small,rates=1e-3,1e-4,steps=paper". Throws InputError.
ChangedScale parse_scale(std::string_view text);
/// Of all ways to write a scale one: equal texts are equal scales.
std::string to_string(const ChangedScale& scale);

/// Changes cells of a table; `paper` is the whole table at the paper's scale by the same recipe. A size is a part of a
/// model ("hidden", "layers"), or an option of training or testing named as `settings` does, "test-words" with a
/// hyphen; "words" are those of a batch, and "width" is what a model calls width, hidden or size, in whole blocks where
/// it has blocks of a size. A warm-up keeps its share of the steps, the channels that a model names theirs of its
/// width. Throws InputError for a size that no cell has, listing those there are; for a number in place of what tells
/// the table's cells apart; and where a model cannot be of the size.
void change_sizes(const ChangedScale& scale, const PaperTable& paper, std::vector<Experiment>& cells);

}  // namespace krohn
