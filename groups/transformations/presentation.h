// groups/transformations/presentation.h — a transformation monoid by generators and relations.
#pragma once

#include <vector>

#include "krohn/groups/transformations/transformation_monoid.h"

namespace krohn {

/// Two words of generators that are one element; `right` is the short-lex least of its words.
struct Relation {
  TransformationMonoid::Word left, right;
};

/// The relations of Froidure and Pin (1997): u·g = v for every least word u and generator g whose product has another
/// least word v, and for which every proper factor of u·g is a least word already. They present the monoid, and as
/// rewriting rules from left to right they are confluent and end in least words. None can be left out as a rule. In
/// short-lex order. O(elements · generators · length). Needs `complete()`.
std::vector<Relation> complete_presentation(const TransformationMonoid& monoid);

}  // namespace krohn
