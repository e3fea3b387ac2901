// simulate/closing/proof_rounds.h — training that stops now and then to round what it has come to, and ends with the
// first proof.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "krohn/simulate/closing/close_model.h"
#include "krohn/simulate/train/trained_run.h"

namespace krohn {

/// The attempts to prove one run.
class ProofRounds {
 public:
  /// Before step 1, 2, …: at every validation the model is rounded and proved, where it answers at least 99 % of the
  /// validation correctly; where that is no proof, its letters are pulled toward a finite monoid
  /// (simulate/closing/pull_letters.h), and training goes on from there. A model whose scale is free is settled first:
  /// its states must come back, not their directions alone. A pure function of the model: a resumed run makes the same
  /// attempts.
  void before_step(Trainer& trainer, const Task& task);
  /// After the last step; where there is no proof, what stands against one is looked for.
  void at_end(const Trainer& trainer, const Task& task);

  bool is_proved() const { return last_ && last_->is_proved(); }
  /// Of the last attempt; nothing where there was none.
  const std::optional<ProvedClosing>& last() const { return last_; }
  std::uint64_t count() const { return count_; }
  /// What a checkpoint keeps of the count, and a resumed run begins with: it makes the others again.
  std::uint64_t count_to_keep() const { return count_ - (is_made_again_ ? 1 : 0); }
  void resume(std::uint64_t kept) { count_ = kept; }
  /// "" where it is proved.
  std::string why_not() const;
  /// Instead of any attempt: why_never_rounded says that none can succeed.
  void rule_out(std::string why) { ruled_out_ = std::move(why); }

 private:
  void attempt(const SequenceModel<float>& model, const Trainer& trainer, const Task& task);

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

/// What is never rounded (why_never_rounded) is not trained. A run that ends without a proof goes on from its
/// parameters, twice at most, at the rates that it began with and on another draw of samples; the record counts the
/// steps of all. Calls `on_step` after every step.
CertifiedRun train_to_proof(const Task& task, std::string_view model, const TrainOptions& options,
                            const std::function<void()>& on_step = {});

}  // namespace krohn
