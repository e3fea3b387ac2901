// tools/krohn/pictures/network_picture.h — a network as a picture: its layers, what each letter does there, and the way
// out.
#pragma once

#include <string>

#include "krohn/constructions/network/network.h"

namespace krohn {

/// DOT text, one box per layer from left to right. The first layer lists its letters, later layers their actions; lists
/// and cascades that are too long to read are cut, saying how much is left out. The same network gives the same bytes.
std::string network_dot(const Network& network, const std::string& title);

/// One action in words: "(1 2 3)" for a permutation of coordinates, "set to 2" for a reset, "turn 1/5", "2
/// reflections".
std::string describe_action(const Transition& transition);

}  // namespace krohn
