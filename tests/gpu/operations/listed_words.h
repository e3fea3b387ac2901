// tests/gpu/operations/listed_words.h — words through a model's operations in a place, held against the processor's
// machine, number by number.
#pragma once

#include "krohn/gpu/operations/operation_words.h"
#include "krohn/simulate/models/cell_model.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/operations/operations_reader.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/place.h"
#include "krohn/simulate/tasks/tasks.h"
#include "tests/testing.h"

namespace krohn {

/// Every kind of model with every part that its operations write in another way.
inline constexpr const char* kListedShapes[] = {
    "bilinear:hidden=6,inputs=3,bias,input-bias",
    "bilinear:hidden=9,inputs=4",
    "dense:size=3",
    "deltaproduct:width=4,heads=2,keys=3,values=5,signed,mlp=3",
    "deltaproduct:width=4,heads=1,keys=3,values=8,reflections=2,signed,conv=3,mlp=0",
    "deltaproduct:layers=2,width=4,heads=2,keys=2,values=2,plain,signed,mlp=2",
    "diagonal:width=3,channels=4,states=2,signed,conv=3,mlp=2",
    "diagonal:layers=2,width=3,channels=3,states=2,fixed,conv=2",
    "fan:blocks=2,size=3,generator=4,norm=1",
    "rnn:hidden=4,inputs=3",
    "rnn-relu:hidden=4,inputs=3",
    "gru:layers=2,hidden=3,one-hot,unbiased",
    "gru:hidden=41,inputs=5",
    "lstm:hidden=37,inputs=2",
    "lstm:layers=2,hidden=3,one-hot",
    "stock-mamba:layers=2,width=3,residual,final-norm,inner=4,states=3,taps=4,bias",
    "stock-mamba2:width=5,heads=4,per-head=2,states=3,groups=2,taps=4,conv-bias",
    "stock-delta:width=4,heads=2,keys=2,values=3,reflections=3,taps=4,decay,gate,negative",
    "stock-gla:width=4,heads=2,keys=3,values=2,rank=2",
    "stock-mlstm:layers=2,width=3,residual,final-norm,mlp=3,logit-cap=30,heads=1,keys=2,values=3",
    "stock-slstm:layers=2,width=6,residual,mlp=2,heads=3,taps=4,cuda",
    "stock-m2rnn:width=3,heads=4,q-heads=2,k-heads=1,v-heads=1,f-heads=1,w-heads=2,keys=2,values=3,taps=2,skip",
    "stock-rwkv7:width=4,heads=2,keys=2,values=3,decay-rank=2,rate-rank=3,gate-rank=2"};

/// body(model, task, format) for each of them, on tasks with answers everywhere and at the end, tokens before and
/// behind a word, and letters that cannot stand everywhere; in every format that it has.
template <class Body>
void for_listed_models(const Body& body) {
  for (const std::string shape : kListedShapes)
    for (const std::string name : {"parity", "modarith-equals5", "S3/tokens=3"})
      for (const Precision format : {Precision::kFp32, Precision::kFp64, Precision::kBf16}) {
        const auto task = make_task(name);
        const auto model = make_model<float>(shape, *task, 9);
        if (format == Precision::kBf16 && !is_cell_model(*model)) continue;
        CAPTURE(shape);
        CAPTURE(name);
        CAPTURE(to_string(format));
        body(*model, *task, format);
      }
}

/// Words 3 … of an automaton, read in three pieces: how each fared, and what it remembers. How many of them the place
/// has left to the processor.
inline std::uint64_t check_listed_words(Place place, const Operations& operations, const TensorFile& tensors,
                                        const TrackedAutomaton& tracked, const WordLayout& layout, std::uint64_t words,
                                        std::uint64_t length) {
  constexpr std::uint64_t kSeed = 5, kFirst = 3;
  CAPTURE(layout.words);
  CAPTURE(layout.threads);
  CAPTURE(layout.backwards);
  const auto there = operation_words(place, operations, tensors, drawn_tokens(tracked, kSeed), layout);
  const auto here = operations_reader(operations, tensors);
  there->start(kFirst, words);
  for (const std::uint64_t piece : {length / 3, std::uint64_t{1}, length - length / 3 - 1}) there->read(piece);
  const std::vector<WordRecord> records = there->records();
  std::uint64_t left = 0;
  for (std::uint64_t word = 0; word < words; ++word) {
    if (records[word].is_left) {
      ++left;
      continue;
    }
    CAPTURE(word);
    DrawnWord drawn(tracked, kSeed, kFirst + word);
    ReaderRun run(*here, tracked);
    std::uint64_t right = 0, due = 0, read = 0, failing_at = WordRecord::kNever;
    for (; read < length; ++read) {
      const auto letter = drawn.next(run.state());
      if (!letter) break;
      run.read(*letter);
      due += run.is_asked();
      right += run.is_asked() && !run.is_wrong();
      if (run.is_wrong() && failing_at == WordRecord::kNever) failing_at = read + 1;
    }
    CHECK(records[word].failing_at == failing_at);
    CHECK(records[word].right == right);
    CHECK(records[word].due == due);
    CHECK(records[word].read == read);
    if (read < length) continue;  // what a word that has ended remembers is nobody's
    const std::vector<double> found = there->memory(word), wanted = here->numbers(run.memory());
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      const bool same = std::isnan(wanted[i])
                            ? std::isnan(found[i])
                            : std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(wanted[i]);
      REQUIRE(same);
    }
  }
  return left;
}

}  // namespace krohn
