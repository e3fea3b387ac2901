// constructions/build/builders.h — all the constructions in one include.
#pragma once

#include "krohn/constructions/build/build_bilinear.h"        // IWYU pragma: export
#include "krohn/constructions/build/build_block_diagonal.h"  // IWYU pragma: export
#include "krohn/constructions/build/build_permutation.h"     // IWYU pragma: export
#include "krohn/constructions/build/build_rotation.h"        // IWYU pragma: export
#include "krohn/constructions/build/cascade_network.h"       // IWYU pragma: export
