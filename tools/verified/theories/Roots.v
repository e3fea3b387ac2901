(* Keys of reflections as a file has them: whole numbers v times sqrt (p / q). A root gets more digits than any format and
   a last one that is odd where it is not exact, so that rounding it once more rounds the real number. Leans on
   DyadicR.v and Flocq. *)
From Coq Require Import ZArith NArith List Bool Lia Reals Lra.
From Flocq Require Import Core Calc.Round Calc.Bracket.
From Krohn Require Import Dyadic DyadicR Lists.
Open Scope Z_scope.

(* Every format here has fewer digits. *)
Definition most_digits : Z := 64.

(* h digits after the point; None when that makes too few digits. *)
Definition root (h p q : Z) : option dy :=
  let n := Z.shiftl p (2 * h) in
  let r := Z.sqrt (n / q) in
  if (0 <=? h) && (0 <? q) && (0 <=? p) && (most_digits <? digits r) then
    Some (if r * r * q =? n then D r (- h) else D (2 * r + 1) (- h - 1))
  else None.

Lemma same_cell : forall prec emin x y m e, 0 < prec -> prec < digits m -> 0 < m ->
  (F2R (Float radix2 m e) < x < F2R (Float radix2 (m + 1) e))%R ->
  (F2R (Float radix2 m e) < y < F2R (Float radix2 (m + 1) e))%R ->
  round radix2 (FLT_exp emin prec) ZnearestE x = round radix2 (FLT_exp emin prec) ZnearestE y.
Proof.
  intros prec emin x y m e Hp Hd Hm Hx Hy.
  assert (Pos : (0 < F2R (Float radix2 m e))%R) by (now apply F2R_gt_0).
  assert (K : 0 < FLT_exp emin prec (Zdigits radix2 m + e) - e).
  { rewrite digits_correct by lia. unfold FLT_exp. lia. }
  assert (In : forall z, (F2R (Float radix2 m e) < z < F2R (Float radix2 (m + 1) e))%R ->
    exists c, inbetween_float radix2 m e z (loc_Inexact c)).
  { intros z Hz. eexists. apply inbetween_Inexact; [exact Hz|reflexivity]. }
  assert (R : forall z c, (0 <= z)%R -> inbetween_float radix2 m e z (loc_Inexact c) ->
    round radix2 (FLT_exp emin prec) ZnearestE z =
    let '(m', e', l') := truncate radix2 (FLT_exp emin prec) (m, e, loc_Inexact c) in
    F2R (Float radix2 (cond_incr (round_N (negb (Z.even m')) l') m') e')).
  { intros z c Hz Hi. assert (Prec_gt_0 prec) by exact Hp.
    apply (round_trunc_any_correct radix2 (FLT_exp emin prec) ZnearestE
             (fun m l => cond_incr (round_N (negb (Z.even m)) l) m) inbetween_int_NE); auto. left. lia. }
  destruct (In x Hx) as [c Hc], (In y Hy) as [d Hd'].
  rewrite (R x c), (R y d) by (lra || assumption).
  unfold truncate. rewrite Zlt_bool_true by exact K. unfold truncate_aux.
  set (k := FLT_exp emin prec (Zdigits radix2 m + e) - e) in *.
  assert (E : Z.even (Zpower radix2 k) = true).
  { change (Zpower radix2 k) with (2 ^ k). rewrite Z.even_pow by lia. reflexivity. }
  unfold new_location. rewrite E. reflexivity.
Qed.

Theorem root_correct : forall prec emin h p q y, 0 < prec <= most_digits -> root h p q = Some y ->
  round radix2 (FLT_exp emin prec) ZnearestE (D2R y) = round radix2 (FLT_exp emin prec) ZnearestE (sqrt (IZR p / IZR q)).
Proof.
  intros prec emin h p q y Hp H. unfold root in H.
  set (n := Z.shiftl p (2 * h)) in *. set (r := Z.sqrt (n / q)) in *.
  destruct ((0 <=? h) && (0 <? q) && (0 <=? p) && (most_digits <? digits r)) eqn:C; [|discriminate].
  apply andb_true_iff in C; destruct C as [C C4]. apply andb_true_iff in C; destruct C as [C C3].
  apply andb_true_iff in C; destruct C as [C1 C2].
  apply Z.leb_le in C1; apply Z.ltb_lt in C2; apply Z.leb_le in C3; apply Z.ltb_lt in C4.
  assert (Hn : n = p * 2 ^ (2 * h)) by (unfold n; rewrite Z.shiftl_mul_pow2 by lia; reflexivity).
  assert (Pn : 0 <= n) by (rewrite Hn; apply Z.mul_nonneg_nonneg; [lia|apply Z.pow_nonneg; lia]).
  assert (Pnq : 0 <= n / q) by (apply Z.div_pos; lia).
  assert (Pr : 0 <= r) by (apply Z.sqrt_nonneg).
  unfold most_digits in *.
  assert (Pr' : 0 < r).
  { destruct (Z.eq_dec r 0) as [E|]; [|lia]. rewrite E in C4. unfold digits in C4. simpl in C4. lia. }
  pose proof (Z.sqrt_spec (n / q) Pnq) as S. fold r in S. cbv zeta in S.
  assert (L : r * r * q <= n).
  { pose proof (Z.mul_div_le n q C2). nia. }
  assert (U : n < (r + 1) * (r + 1) * q).
  { pose proof (Z.mul_succ_div_gt n q C2). nia. }
  assert (Q : (0 < IZR q)%R) by (now apply IZR_lt).
  set (b := bpow radix2 (- h)). assert (B : (0 < b)%R) by apply bpow_gt_0.
  assert (X : (sqrt (IZR p / IZR q) = sqrt (IZR n / IZR q) * b)%R).
  { rewrite <- (sqrt_square b) by lra. rewrite <- sqrt_mult_alt.
    2:{ apply Rmult_le_pos; [now apply IZR_le|]. left. now apply Rinv_0_lt_compat. }
    f_equal. rewrite Hn, mult_IZR. change (2 ^ (2 * h)) with (Zpower radix2 (2 * h)). rewrite IZR_Zpower by lia.
    unfold b. transitivity (IZR p / IZR q * (bpow radix2 (2 * h) * (bpow radix2 (- h) * bpow radix2 (- h))))%R.
    - rewrite <- !bpow_plus. replace (2 * h + (- h + - h)) with 0 by lia. simpl. ring.
    - field. lra. }
  assert (Lo : (IZR r <= sqrt (IZR n / IZR q))%R).
  { rewrite <- (sqrt_square (IZR r)) by (now apply IZR_le). apply sqrt_le_1_alt.
    apply Rmult_le_reg_r with (IZR q); [assumption|]. replace (IZR n / IZR q * IZR q)%R with (IZR n) by (field; lra).
    rewrite <- !mult_IZR. now apply IZR_le. }
  assert (Hi : (sqrt (IZR n / IZR q) < IZR (r + 1))%R).
  { rewrite <- (sqrt_square (IZR (r + 1))) by (apply IZR_le; lia). apply sqrt_lt_1_alt. split.
    - apply Rmult_le_pos; [now apply IZR_le|]. left. now apply Rinv_0_lt_compat.
    - apply Rmult_lt_reg_r with (IZR q); [assumption|]. replace (IZR n / IZR q * IZR q)%R with (IZR n) by (field; lra).
      rewrite <- !mult_IZR. now apply IZR_lt. }
  rewrite X. destruct (Z.eqb_spec (r * r * q) n) as [E|E].
  - injection H as <-. f_equal. unfold D2R, F2R; simpl. fold b. f_equal.
    rewrite <- E, !mult_IZR.
    replace (IZR r * IZR r * IZR q / IZR q)%R with (IZR r * IZR r)%R by (field; lra).
    symmetry. apply sqrt_square. now apply IZR_le.
  - assert (Y : y = D (2 * r + 1) (- h - 1)) by congruence. rewrite Y. clear H Y. apply same_cell with (m := r) (e := - h);
      try assumption; try lia.
    + unfold D2R, F2R; cbn [dm de Fnum Fexp]. unfold Zminus. rewrite bpow_plus. fold b.
      change (bpow radix2 (- (1))) with (/ 2)%R.
      assert (T : IZR (2 * r + 1) = (2 * IZR r + 1)%R) by (rewrite plus_IZR, mult_IZR; reflexivity).
      rewrite T, plus_IZR. split; nra.
    + unfold F2R; simpl. fold b. split; apply Rmult_lt_compat_r; try assumption.
      destruct Lo as [Lo|Lo]; [exact Lo|]. exfalso. apply E.
      assert (IZR r * IZR r = IZR n / IZR q)%R.
      { rewrite Lo at 1. rewrite Lo. apply sqrt_sqrt. apply Rmult_le_pos; [now apply IZR_le|]. left. now apply Rinv_0_lt_compat. }
      apply eq_IZR. rewrite !mult_IZR, H. field. lra.
Qed.

(* Digits after the point that make enough digits in all. *)
Definition digits_needed (p q : Z) : Z := Z.max 0 (most_digits + 4 + Z.log2 q - Z.log2 p).

Definition key_entry (p q v : Z) : option dy :=
  if (v =? 0) || (p =? 0) then Some (D 0 0) else
  let s := p * (v * v) in
  let* y := root (digits_needed s q) s q in Some (if v <? 0 then dopp y else y).

Theorem key_entry_correct : forall prec emin p q v y, 0 < prec <= most_digits -> 0 <= p -> 0 < q -> key_entry p q v = Some y ->
  round radix2 (FLT_exp emin prec) ZnearestE (D2R y)
  = round radix2 (FLT_exp emin prec) ZnearestE (IZR v * sqrt (IZR p / IZR q)).
Proof.
  intros prec emin p q v y Hp Pp Pq H. unfold key_entry in H. cbv zeta in H.
  destruct (Z.eqb_spec v 0) as [->|Hv].
  { injection H as <-. f_equal. unfold D2R; simpl. rewrite F2R_0. ring. }
  destruct (Z.eqb_spec p 0) as [->|Hp0].
  { injection H as <-. f_equal. unfold D2R; simpl. rewrite F2R_0. unfold Rdiv. rewrite Rmult_0_l, sqrt_0. ring. }
  cbn [orb] in H. destruct (root (digits_needed (p * (v * v)) q) (p * (v * v)) q) as [x|] eqn:E; [|discriminate].
  change (Some (if v <? 0 then dopp x else x) = Some y) in H.
  apply (root_correct prec emin) in E; [|assumption].
  assert (S : (sqrt (IZR (p * (v * v)) / IZR q) = Rabs (IZR v) * sqrt (IZR p / IZR q))%R).
  { rewrite <- sqrt_Rsqr_abs. rewrite <- sqrt_mult_alt by apply Rle_0_sqr. f_equal. unfold Rsqr.
    rewrite !mult_IZR. field. apply IZR_neq. lia. }
  rewrite S in E. destruct (Z.ltb_spec v 0) as [L|L].
  - assert (Y : y = dopp x) by congruence. rewrite Y. rewrite dopp_correct, round_NE_opp, E.
    rewrite <- round_NE_opp. f_equal. rewrite Rabs_left by (now apply IZR_lt). ring.
  - assert (Y : y = x) by congruence. rewrite Y. rewrite E. rewrite Rabs_pos_eq by (now apply IZR_le). reflexivity.
Qed.
