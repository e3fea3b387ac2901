(* Sums of products in any order. `sums f l x` says that x is what some evaluation of the sum of the products in l gives:
   products and partial sums in any order, of any parts, in any grouping, fused or not, each rounded in any direction to f
   or to any wider format, zeros skipped or not. If all products are multiples of 2^g and their absolute values add up to
   at most 2^g times 2^digits, then every such x is the exact sum. Leans on Ieee.v. *)
From Coq Require Import ZArith NArith List Bool Lia Reals Lra Permutation.
From Flocq Require Import Core BinarySingleNaN.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Ieee.
Import ListNotations.
Open Scope Z_scope.

(* A float of some format. *)
Record some_float := Some_float { its : format; number : float its }.
Definition real (x : some_float) : R := B2R (number x).
Definition finite (x : some_float) : Prop := is_finite (number x) = true.

(* g has all numbers of f. *)
Definition wider (f g : format) : Prop := prec f <= prec g /\ emax f <= emax g.

Definition convert (g : format) (m : mode) (x : some_float) : float g :=
  match exactly (number x) with
  | Some d => binary_normalize (prec g) (emax g) (positive_prec g) (large_emax g) m (dm d) (de d) false
  | None => B754_nan
  end.

Inductive sums (f : format) : list (some_float * some_float) -> some_float -> Prop :=
  | Nothing : forall g s, wider f g -> sums f [] (Some_float g (B754_zero s))
  | Copied : forall a b, real b = 1%R -> sums f [(a, b)] a
  | Negated : forall a b, real b = (-1)%R -> sums f [(a, b)] (Some_float (its a) (Bopp (number a)))
  | Product : forall g m a b, wider f g -> sums f [(a, b)] (Some_float g (Bmult m (convert g m a) (convert g m b)))
  | Sum : forall g m l x k y, wider f g -> sums f l x -> sums f k y ->
      sums f (l ++ k) (Some_float g (Bplus m (convert g m x) (convert g m y)))
  | Fused : forall g m a b l x, wider f g -> sums f l x ->
      sums f ((a, b) :: l) (Some_float g (Bfma m (convert g m a) (convert g m b) (convert g m x)))
  | Skipped : forall a b l x, (real a = 0 \/ real b = 0)%R -> sums f l x -> sums f ((a, b) :: l) x
  | Converted : forall g m l x, wider f g -> sums f l x -> sums f l (Some_float g (convert g m x))
  | Reordered : forall l k x, Permutation l k -> sums f l x -> sums f k x.

Section Exact.
Variables (f : format) (grain : Z).
Hypothesis fine : emin f <= grain.
Hypothesis small : prec f + grain < emax f.

(* The numbers that every format as wide as f has. *)
Definition held (r : R) : Prop := exists k, r = F2R (Float radix2 k grain) /\ Z.abs k <= 2 ^ prec f.

Lemma fexp_is : forall g, FLT_exp (emin g) (prec g) = SpecFloat.fexp (prec g) (emax g).
Proof. reflexivity. Qed.

Lemma held_format : forall g r, wider f g -> held r ->
  generic_format radix2 (SpecFloat.fexp (prec g) (emax g)) r /\ (Rabs r < bpow radix2 (emax g))%R.
Proof.
  intros g r [W1 W2] [k [-> K]]. pose proof (positive_prec f) as P. unfold Prec_gt_0 in P.
  assert (E : emin g <= grain) by (unfold emin in *; lia).
  split.
  - rewrite <- fexp_is. destruct (Z.eq_dec (Z.abs k) (2 ^ prec f)) as [B|B].
    + apply generic_format_FLT. apply FLT_spec with (Float radix2 (Z.sgn k * 2 ^ (prec f - 1)) (grain + 1)).
      * rewrite (F2R_change_exp radix2 grain _ (grain + 1)) by lia. f_equal. f_equal.
        replace (grain + 1 - grain) with 1 by lia. change (radix2 ^ 1) with 2.
        rewrite <- (Z.abs_sgn k) at 1. rewrite B. replace (prec f) with (Z.succ (prec f - 1)) at 1 by lia.
        rewrite Z.pow_succ_r by lia. lia.
      * cbn [Fnum]. change (radix_val radix2) with 2. rewrite Z.abs_mul.
        assert (Z.abs (Z.sgn k) <= 1) by lia. assert (0 < 2 ^ (prec f - 1)) by (apply Z.pow_pos_nonneg; lia).
        rewrite (Z.abs_eq (2 ^ (prec f - 1))) by lia.
        apply Z.le_lt_trans with (2 ^ (prec f - 1)); [nia|]. apply Z.pow_lt_mono_r; lia.
      * cbn [Fexp]. lia.
    + apply generic_format_FLT. apply FLT_spec with (Float radix2 k grain); cbn [Fnum Fexp]; [reflexivity| |exact E].
      change (radix_val radix2) with 2. apply Z.lt_le_trans with (2 ^ prec f); [lia|]. apply Z.pow_le_mono_r; lia.
  - rewrite <- F2R_Zabs. unfold F2R; cbn [Fnum Fexp]. apply Rle_lt_trans with (bpow radix2 (prec f + grain)).
    + rewrite bpow_plus. apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite <- IZR_Zpower by lia. apply IZR_le. exact K.
    + apply bpow_lt. lia.
Qed.

Lemma into : forall g m x r, wider f g -> finite x -> real x = r ->
  generic_format radix2 (SpecFloat.fexp (prec g) (emax g)) r -> (Rabs r < bpow radix2 (emax g))%R ->
  is_finite (convert g m x) = true /\ B2R (convert g m x) = r.
Proof.
  intros g m x r W Fx <- G S. unfold convert, finite, real in *.
  assert (X : exists d, exactly (number x) = Some d /\ D2R d = B2R (number x)).
  { destruct (number x) as [s|s| |s k e b]; try discriminate; simpl; eexists; split; try reflexivity. unfold D2R; simpl.
    apply F2R_0. }
  destruct X as [d [-> D]].
  pose proof (binary_normalize_correct (prec g) (emax g) (positive_prec g) (large_emax g) m (dm d) (de d) false) as H.
  cbv zeta in H. change (F2R (Float radix2 (dm d) (de d))) with (D2R d) in H. rewrite D in H.
  rewrite round_generic in H by auto with typeclass_instances.
  rewrite Rlt_bool_true in H by exact S. tauto.
Qed.

Lemma into_held : forall g m x, wider f g -> finite x -> held (real x) -> is_finite (convert g m x) = true /\ B2R (convert g m x) = real x.
Proof. intros g m x W Fx Hx. destruct (held_format g _ W Hx). now apply into. Qed.

(* Numbers of f. *)
Definition of_f (x : some_float) : Prop := finite x /\ exists y : float f, is_finite y = true /\ B2R y = real x.
Lemma into_of_f : forall g m x, wider f g -> of_f x -> is_finite (convert g m x) = true /\ B2R (convert g m x) = real x.
Proof.
  intros g m x W [Fx [y [Fy Ey]]]. apply into; auto; rewrite <- Ey.
  - rewrite <- fexp_is. destruct W as [W1 W2]. pose proof (generic_format_B2R (prec f) (emax f) y) as G. rewrite <- fexp_is in G.
    apply FLT_format_generic in G; [|apply positive_prec]. destruct G as [[k e] G1 G2 G3]. cbn [Fnum Fexp] in *.
    apply generic_format_FLT. apply FLT_spec with (Float radix2 k e); cbn [Fnum Fexp]; [assumption| |].
    + apply Z.lt_le_trans with (1 := G2). change (radix_val radix2) with 2. apply Z.pow_le_mono_r; lia.
    + unfold emin in *. lia.
  - apply Rlt_le_trans with (1 := abs_B2R_lt_emax _ _ y). apply bpow_le. apply W.
Qed.

Definition term_of (p : some_float * some_float) : R := (real (fst p) * real (snd p))%R.
Fixpoint total (l : list (some_float * some_float)) : R := match l with [] => 0%R | p :: l' => (term_of p + total l')%R end.
Fixpoint total_size (l : list (some_float * some_float)) : R := match l with [] => 0%R | p :: l' => (Rabs (term_of p) + total_size l')%R end.
Definition whole (r : R) : Prop := exists k, r = F2R (Float radix2 k grain).
Definition good_term (p : some_float * some_float) : Prop := of_f (fst p) /\ of_f (snd p) /\ whole (term_of p).
Definition good (l : list (some_float * some_float)) : Prop := Forall good_term l /\ (total_size l <= bpow radix2 (prec f + grain))%R.

Lemma whole_plus : forall r s, whole r -> whole s -> whole (r + s).
Proof. intros r s [j ->] [k ->]. exists (j + k). unfold F2R; cbn [Fnum Fexp]. rewrite plus_IZR. ring. Qed.
Lemma whole_total : forall l, Forall good_term l -> whole (total l).
Proof.
  induction 1 as [|p l [_ [_ P]] H IH]; cbn [total]; [exists 0; now rewrite F2R_0|]. now apply whole_plus.
Qed.
Lemma size_nonneg : forall l, (0 <= total_size l)%R.
Proof. induction l; cbn [total_size]; [lra|]. pose proof (Rabs_pos (term_of a)). lra. Qed.
Lemma total_le_size : forall l, (Rabs (total l) <= total_size l)%R.
Proof.
  induction l as [|p l IH]; cbn [total total_size]; [rewrite Rabs_R0; lra|].
  pose proof (Rabs_triang (term_of p) (total l)). lra.
Qed.
Lemma total_app : forall l k, total (l ++ k) = (total l + total k)%R.
Proof. induction l; intros k; cbn [app total]; [ring|]. rewrite IHl. ring. Qed.
Lemma size_app : forall l k, total_size (l ++ k) = (total_size l + total_size k)%R.
Proof. induction l; intros k; cbn [app total_size]; [ring|]. rewrite IHl. ring. Qed.

Lemma small_held : forall r, whole r -> (Rabs r <= bpow radix2 (prec f + grain))%R -> held r.
Proof.
  intros r [k ->] H. exists k. split; [reflexivity|]. rewrite <- F2R_Zabs in H. unfold F2R in H; cbn [Fnum Fexp] in H.
  rewrite bpow_plus in H. apply Rmult_le_reg_r in H; [|apply bpow_gt_0]. pose proof (positive_prec f) as P. unfold Prec_gt_0 in P.
  rewrite <- IZR_Zpower in H by lia. now apply le_IZR in H.
Qed.
Lemma good_held : forall l, good l -> held (total l).
Proof.
  intros l [G S]. apply small_held; [now apply whole_total|]. pose proof (total_le_size l). lra.
Qed.

Lemma good_app : forall l k, good (l ++ k) -> good l /\ good k.
Proof.
  intros l k [G S]. apply Forall_app in G; destruct G as [G1 G2]. rewrite size_app in S.
  pose proof (size_nonneg l). pose proof (size_nonneg k). split; split; try assumption; lra.
Qed.
Lemma total_permuted : forall l k, Permutation l k -> total l = total k /\ total_size l = total_size k.
Proof.
  induction 1 as [|p l k P [IH1 IH2]|p q l|l k j P [I1 I2] Q [J1 J2]]; cbn [total total_size]; split; lra.
Qed.
Lemma good_permuted : forall l k, Permutation l k -> good k -> good l.
Proof.
  intros l k P [G S]. split; [|now rewrite (proj2 (total_permuted _ _ P))].
  apply Permutation_sym in P. rewrite Forall_forall in *. intros x Hx. apply G.
  now apply Permutation_in with (1 := Permutation_sym P).
Qed.

(* Whatever the evaluation, the sum is exact. *)
Theorem sums_exact : forall l x, sums f l x -> good l -> finite x /\ real x = total l.
Proof.
  induction 1 as [g s W|a b B|a b B|g m a b W|g m l x k y W Sx IHx Sy IHy|g m a b l x W Sx IH|a b l x Z0 Sx IH|g m l x W Sx IH|l k x P Sx IH]; intros G.
  - split; reflexivity.
  - destruct G as [G _]. inversion G as [|? ? [[F1 _] _]]; subst. split; [exact F1|]. cbn [total]. unfold term_of;
      cbn [fst snd]. rewrite B. ring.
  - destruct G as [G _]. inversion G as [|? ? [[F1 _] _]]; subst. unfold finite, real in *; cbn [number its].
    rewrite is_finite_Bopp, B2R_Bopp. split; [exact F1|]. cbn [total]. unfold term_of, real; cbn [fst snd]. rewrite B. ring.
  - pose proof (good_held _ G) as H. destruct G as [G _]. inversion G as [|? ? [A1 [A2 A3]]]; subst. cbn [fst snd] in *.
    destruct (into_of_f g m a W A1) as [F1 E1], (into_of_f g m b W A2) as [F2 E2].
    destruct (held_format g _ W H) as [H1 H2]. cbn [total] in *. unfold term_of in *; cbn [fst snd] in *. rewrite Rplus_0_r in *.
    unfold finite, real at 1; cbn [number its].
    pose proof (Bmult_correct (prec g) (emax g) (positive_prec g) (large_emax g) m (convert g m a) (convert g m b)) as C.
    rewrite E1, E2 in C. rewrite round_generic in C by auto with typeclass_instances. rewrite Rlt_bool_true in C by exact H2.
    destruct C as [C1 [C2 _]]. rewrite C1, C2, F1, F2. now split.
  - destruct (good_app _ _ G) as [Gl Gk]. destruct (IHx Gl) as [F1 E1]. destruct (IHy Gk) as [F2 E2].
    destruct (into_held g m x W F1) as [X1 X2]; [rewrite E1; now apply good_held|].
    destruct (into_held g m y W F2) as [Y1 Y2]; [rewrite E2; now apply good_held|].
    destruct (held_format g _ W (good_held _ G)) as [H1 H2]. rewrite total_app in *.
    unfold finite, real at 1; cbn [number its].
    pose proof (Bplus_correct (prec g) (emax g) (positive_prec g) (large_emax g) m _ _ X1 Y1) as C.
    rewrite X2, Y2, E1, E2 in C. rewrite round_generic in C by auto with typeclass_instances.
    rewrite Rlt_bool_true in C by exact H2. tauto.
  - pose proof G as G'. change ((a, b) :: l) with ([(a, b)] ++ l) in G'. destruct (good_app _ _ G') as [Ga Gl].
    destruct (IH Gl) as [F1 E1].
    destruct Ga as [Ga _]. inversion Ga as [|? ? [A1 [A2 A3]]]; subst. cbn [fst snd] in *.
    destruct (into_of_f g m a W A1) as [P1 Q1], (into_of_f g m b W A2) as [P2 Q2].
    destruct (into_held g m x W F1) as [X1 X2]; [rewrite E1; now apply good_held|].
    destruct (held_format g _ W (good_held _ G)) as [H1 H2]. cbn [total] in *. unfold term_of in *; cbn [fst snd] in *.
    unfold finite, real at 1; cbn [number its].
    pose proof (Bfma_correct (prec g) (emax g) (positive_prec g) (large_emax g) m _ _ _ P1 P2 X1) as C. cbv zeta in C.
    rewrite X2, Q1, Q2, E1 in C. rewrite round_generic in C by auto with typeclass_instances.
    rewrite Rlt_bool_true in C by exact H2. tauto.
  - change ((a, b) :: l) with ([(a, b)] ++ l) in G. destruct (good_app _ _ G) as [_ Gl]. destruct (IH Gl) as [F1 E1]. split;
      [exact F1|].
    cbn [total]. unfold term_of; cbn [fst snd]. destruct Z0 as [Z0|Z0]; rewrite Z0, E1; ring.
  - destruct (IH G) as [F1 E1]. unfold finite, real at 1; cbn [number its].
    destruct (into_held g m x W F1) as [X1 X2]; [rewrite E1; now apply good_held|]. split; [exact X1|]. now rewrite X2.
  - destruct (IH (good_permuted _ _ P G)) as [F1 E1]. split; [exact F1|]. rewrite E1. apply (total_permuted _ _ P).
Qed.
End Exact.

(* There is always an evaluation. *)
Lemma sums_given : forall f l, exists x, sums f l x.
Proof.
  intros f. assert (W : wider f f) by (unfold wider; lia). induction l as [|[a b] l [x H]].
  - eexists. apply (Nothing f f false W).
  - eexists. apply (Fused f f mode_NE a b l x W H).
Qed.
