// simulate/closing/proof_rounds.h — training that stops now and then to round what it has come to, and ends with the
// first proof.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "krohn/simulate/closing/close_linear.h"
#include "krohn/simulate/closing/close_model.h"
#include "krohn/simulate/models/sequence_model.h"
#include "krohn/simulate/tasks/task.h"
#include "krohn/simulate/train/trained_run.h"
#include "krohn/simulate/train/trainer.h"

namespace krohn {

// Training pulled toward a finite monoid.
//
// The mean states c_q of a recurrence move about as the automaton does: A_σ c_q ≈ c_{qσ}. Where that holds exactly, its
// letters generate, on the span of the c_q, a quotient of the automaton's own monoid, which is finite: of a letter of
// order k there, ‖A_σ^k − 1‖ is 0. So the nearest such letters are the proximal point of all these conditions at once.

/// The parameters, after a step of `share` of the way from A_σ to C_σ C⁺ for the letters of the task: C are the mean
/// states that σ moves, C_σ those that it moves them to, both without what training left over, and C⁺ is the
/// pseudo-inverse, in directions that σ moves that way to within half of their length; it keeps what it does to the
/// others. C falls into the copies of a group's representations (simulate/closing/integer_code.h), otherwise
/// into singular directions; what the letters move off by more than half its own length was left over. Where the
/// letters already move the means as the automaton does, nothing changes but what they do beside them. Blocks stay in
/// which nothing was learned; h_0, the read-out and the letters' embeddings stay. Empty for models other than bilinear
/// ones whose matrices are linear in the embedding, and where a number is not finite. `seen` is what the model learned
/// of the task.
std::vector<float> pulled_letters(const SequenceModel<float>& model, const Task& task, const LearnedStates& seen,
                                  double share);

/// The attempts to prove one run.
class ProofRounds {
 public:
  /// Before step 1, 2, …: at every validation the model is rounded and proved, where it answers at least 99 % of the
  /// validation correctly; where that is no proof, its letters are pulled toward a finite monoid, and training goes on
  /// from there. Cells that are trained to contract are proved as they are, and rounded after the last step alone. A
  /// model whose scale is free is settled first: its states must come back, not their directions alone. A pure function
  /// of the model: a resumed run makes the same attempts.
  void before_step(Trainer& trainer, const Task& task);
  /// After the last step; where there is no proof, what stands against one is looked for.
  void at_end(const Trainer& trainer, const Task& task);

  bool is_proved() const { return last_ && last_->is_proved(); }
  /// For the last attempt; nothing where there was none.
  const std::optional<ProvedClosing>& last() const { return last_; }
  std::uint64_t count() const { return count_; }
  /// The part of the count that a checkpoint keeps and a resumed run begins with: it makes the others again.
  std::uint64_t count_to_keep() const { return count_ - (is_made_again_ ? 1 : 0); }
  void resume(std::uint64_t kept) { count_ = kept; }
  /// "" where it is proved.
  std::string why_not() const;
  /// Instead of any attempt: why_never_rounded says that none can succeed.
  void rule_out(std::string why) { ruled_out_ = std::move(why); }

 private:
  void attempt(ProvedClosing made);

  std::string ruled_out_, against_;
  std::optional<ProvedClosing> last_;
  std::uint64_t count_ = 0;
  bool is_made_again_ = false;  ///< the last attempt, by a run that is resumed from where this one stands
};

/// A run that was trained to a proof, or to its end.
struct CertifiedRun {
  RunRecord record;
  ProofRounds rounds;
};

/// A run that is never rounded (why_never_rounded) is not trained. A run that ends without a proof goes on from its
/// parameters, twice at most, at the rates that it began with and on another draw of samples; the record counts the
/// steps of all. Calls `on_step` after every step.
CertifiedRun train_to_proof(const Task& task, std::string_view model, const TrainOptions& options,
                            const std::function<void()>& on_step = {});

// The table of training to a proof: tasks by families of models, with the recipe
// of each.

/// The procedure that closes a run: rounding, pulling, and when either is tried. To be raised whenever any of it
/// changes: a kept run that an older procedure ended is then made again, and does not count as one of this.
inline constexpr int kClosingProcedure = 6;

struct CertifiedCell {
  std::string family, task, model;
  TrainOptions training;
  std::string note;  ///< the obstacle in the arithmetic; empty: none
};

/// Recipes were looked for with seeds below 20 and from 1000 on.
std::vector<CertifiedCell> certified_cells();
/// Cells that are trained to contract, on more tasks: how often regions close of what training ends with.
std::vector<CertifiedCell> contracting_cells();

}  // namespace krohn
