// constructions/builders.h — all the constructions in one include.
#pragma once

#include "constructions/build_bilinear.h"               // IWYU pragma: export
#include "constructions/build_block_diagonal.h"         // IWYU pragma: export
#include "constructions/build_diagonal.h"               // IWYU pragma: export
#include "constructions/build_integral.h"               // IWYU pragma: export
#include "constructions/build_locked_rotation.h"        // IWYU pragma: export
#include "constructions/build_one_hot.h"                // IWYU pragma: export
#include "constructions/build_orthogonal.h"             // IWYU pragma: export
#include "constructions/build_permutation.h"            // IWYU pragma: export
#include "constructions/build_rotation.h"               // IWYU pragma: export
#include "constructions/build_signed_permutation.h"     // IWYU pragma: export
#include "constructions/build_two_layer_reflections.h"  // IWYU pragma: export
#include "constructions/cascade_network.h"              // IWYU pragma: export
#include "constructions/diagonal_cascade.h"             // IWYU pragma: export
