// tests/gpu/samples.h — automata, random words and models for the tests of the CUDA floor.
#pragma once

#include "krohn/simulate/evaluate/evaluate.h"
#include "tests/simulate/hand_built.h"
#include "tests/testing.h"

namespace krohn {

inline SampleOptions sample_of(std::vector<std::uint64_t> lengths, std::uint64_t words, std::uint64_t seed,
                               Form form = Form::kStructured) {
  return {.lengths = std::move(lengths), .words = words, .seed = seed, .form = form};
}

/// `states` states in a circle; letter k moves k steps on.
inline Dfa circle(State states, Letter letters) {
  return hand_built::counter(states, hand_built::all_residues(letters));
}

/// Every transition drawn by itself.
inline Dfa random_automaton(State states, Letter letters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return hand_built::random_automaton(random, states, letters);
}

/// Every letter a permutation drawn by itself: no two states ever meet.
inline Dfa random_permutations(State states, Letter letters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<State> images(states), table(std::size_t{states} * letters);
  std::iota(images.begin(), images.end(), State{0});
  for (Letter letter = 0; letter < letters; ++letter) {
    std::shuffle(images.begin(), images.end(), random);
    for (State state = 0; state < states; ++state) table[std::size_t{state} * letters + letter] = images[state];
  }
  return hand_built::automaton(letters, std::move(table));
}

/// Every family with every part that its stages treat in another way.
inline constexpr const char* kTrainedShapes[] = {
    "bilinear:hidden=5,inputs=3",
    "bilinear:hidden=6,inputs=4,block=2,bias",
    "bilinear:hidden=8,inputs=3,rotations",
    "bilinear:hidden=5,inputs=4,rank=3,input-bias",
    "bilinear:hidden=4,inputs=3,diagonal,bias,input-bias",
    "bilinear:hidden=6,inputs=3,frozen",
    "deltaproduct:width=8,heads=1,mlp=0",
    "deltaproduct:width=6,heads=2,keys=5,values=3,reflections=2,signed,mlp=0",
    "deltaproduct:width=8,heads=2,keys=3,values=6,plain,mlp=7",
    "deltaproduct:width=8,heads=2,reflections=3,signed,conv=3,layers=2,mlp=5",
    "diagonal:width=6,channels=5,states=3,conv=0",
    "diagonal:width=6,channels=37,states=2,conv=4,signed,mlp=5",
    "diagonal:width=5,channels=6,states=3,conv=0,fixed",
    "diagonal:width=6,channels=7,states=2,conv=2,fixed,signed,layers=2",
    "fan:blocks=2,size=3",
    "fan:blocks=3,size=2,generator=5,norm=1",
    "fan:blocks=2,size=3,layers=2,mlp=5,norm=2",
    "dense:size=5",
    "dense:size=33"};

}  // namespace krohn
