// simulate/train/tables/tables_by_paper.h — every paper's tables, which paper_table finds by name.
#pragma once

#include "krohn/simulate/train/tables/paper_tables.h"

namespace krohn {

// Ebrahimi & Memisevic 2025: Table 1, both halves of Table 2, Table 3, Figure 2.
PaperTable ebrahimi1(TableScale scale, Recipe recipe);
PaperTable ebrahimi2(TableScale scale, Recipe recipe);
PaperTable ebrahimi2_additive(TableScale scale, Recipe recipe);
PaperTable ebrahimi3(TableScale scale, Recipe recipe);
PaperTable ebrahimi_figure2(TableScale scale, Recipe recipe);

// Fan et al. 2024: Table 2, the row of their model.
PaperTable fan2(TableScale scale, Recipe recipe);

// Grazzi et al. 2025: Table 5 (formal languages), and Figures 2 and 6 (groups).
PaperTable grazzi5(TableScale scale, Recipe recipe);
PaperTable grazzi_figure2(TableScale scale, Recipe recipe);

}  // namespace krohn
