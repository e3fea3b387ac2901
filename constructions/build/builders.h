// constructions/build/builders.h — all the constructions in one include.
#pragma once

#include "krohn/constructions/build/build_bilinear.h"               // IWYU pragma: export
#include "krohn/constructions/build/build_block_diagonal.h"         // IWYU pragma: export
#include "krohn/constructions/build/build_diagonal.h"               // IWYU pragma: export
#include "krohn/constructions/build/build_integral.h"               // IWYU pragma: export
#include "krohn/constructions/build/build_locked_rotation.h"        // IWYU pragma: export
#include "krohn/constructions/build/build_one_hot.h"                // IWYU pragma: export
#include "krohn/constructions/build/build_orthogonal.h"             // IWYU pragma: export
#include "krohn/constructions/build/build_permutation.h"            // IWYU pragma: export
#include "krohn/constructions/build/build_registers.h"              // IWYU pragma: export
#include "krohn/constructions/build/build_rotation.h"               // IWYU pragma: export
#include "krohn/constructions/build/build_signed_permutation.h"     // IWYU pragma: export
#include "krohn/constructions/build/build_two_layer_reflections.h"  // IWYU pragma: export
#include "krohn/constructions/build/cascade_network.h"              // IWYU pragma: export
#include "krohn/constructions/build/diagonal_cascade.h"             // IWYU pragma: export
