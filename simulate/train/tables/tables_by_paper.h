// simulate/train/tables/tables_by_paper.h — every paper's tables, which paper_table finds by name.
#pragma once

#include "krohn/simulate/train/tables/paper_tables.h"

namespace krohn {

// Ebrahimi & Memisevic 2025: Table 1, Table 2, left and right, and what theory says of the latter, Table 3, Figures 2
// and 3.
PaperTable ebrahimi1(TableScale scale, Recipe recipe);
PaperTable ebrahimi2(TableScale scale, Recipe recipe);
PaperTable ebrahimi2_additive(TableScale scale, Recipe recipe);
PaperTable ebrahimi2_parity(TableScale scale, Recipe recipe);
PaperTable ebrahimi3(TableScale scale, Recipe recipe);
PaperTable ebrahimi_figure2(TableScale scale, Recipe recipe);
PaperTable ebrahimi_figure3(TableScale scale, Recipe recipe);

// Fan et al. 2024: Table 2, the row of their model.
PaperTable fan2(TableScale scale, Recipe recipe);

// Grazzi et al. 2025: Tables 3 and 5 (formal languages), Figures 2 and 5 (S_5) and 6 (Z_60).
PaperTable grazzi3(TableScale scale, Recipe recipe);
PaperTable grazzi5(TableScale scale, Recipe recipe);
PaperTable grazzi_figure2(TableScale scale, Recipe recipe);
PaperTable grazzi_figure5(TableScale scale, Recipe recipe);
PaperTable grazzi_figure6(TableScale scale, Recipe recipe);

}  // namespace krohn
