(* The dyadic operations are those of the reals, and `rnd` is the rounding of Flocq. Leans on Dyadic.v and Flocq. *)
From Coq Require Import ZArith Bool Lia Reals Lra.
From Flocq Require Import Core.
From Krohn Require Import Dyadic.
Open Scope Z_scope.

Definition D2R (x : dy) : R := F2R (Float radix2 (dm x) (de x)).

Lemma strip_correct : forall p e q f, strip p e = (q, f) ->
  F2R (Float radix2 (Zpos q) f) = F2R (Float radix2 (Zpos p) e).
Proof.
  induction p; intros e q f H; simpl in H; try (injection H; intros; subst; reflexivity).
  rewrite (IHp _ _ _ H).
  rewrite (F2R_change_exp radix2 e (Zpos p) (Z.succ e)) by lia.
  f_equal; f_equal. replace (Z.succ e - e) with 1 by lia. change (Zpower radix2 1) with 2. lia.
Qed.

Lemma norm_correct : forall x, D2R (norm x) = D2R x.
Proof.
  intros [m e]; unfold norm, D2R; simpl dm; simpl de. destruct m; simpl.
  - now rewrite !F2R_0.
  - destruct (strip p e) as [q f] eqn:H. simpl. now apply strip_correct.
  - destruct (strip p e) as [q f] eqn:H. simpl.
    change (Zneg q) with (- Zpos q); change (Zneg p) with (- Zpos p). rewrite !F2R_Zopp. f_equal. now apply strip_correct.
Qed.

Lemma dmul_correct : forall x y, D2R (dmul x y) = (D2R x * D2R y)%R.
Proof.
  intros [m e] [m' e']; unfold D2R, dmul, F2R; simpl. rewrite mult_IZR, bpow_plus. ring.
Qed.

Lemma dopp_correct : forall x, D2R (dopp x) = (- D2R x)%R.
Proof. intros [m e]; unfold D2R, dopp; simpl. apply F2R_Zopp. Qed.

Lemma shift_correct : forall m e f, f <= e ->
  F2R (Float radix2 (Z.shiftl m (e - f)) f) = F2R (Float radix2 m e).
Proof.
  intros m e f H. rewrite Z.shiftl_mul_pow2 by lia. symmetry. apply F2R_change_exp. exact H.
Qed.

Lemma D2R_0 : forall x, dm x = 0 -> D2R x = 0%R.
Proof. intros [m e] H; simpl in H; subst; apply F2R_0. Qed.

Lemma dadd_correct : forall x y, D2R (dadd x y) = (D2R x + D2R y)%R.
Proof.
  intros x y; unfold dadd.
  destruct (Z.eqb_spec (dm x) 0). { rewrite (D2R_0 x e). ring. }
  destruct (Z.eqb_spec (dm y) 0). { rewrite (D2R_0 y e). ring. }
  unfold D2R at 1; simpl.
  transitivity (F2R (Float radix2 (Z.shiftl (dm x) (de x - Z.min (de x) (de y))) (Z.min (de x) (de y)))
    + F2R (Float radix2 (Z.shiftl (dm y) (de y - Z.min (de x) (de y))) (Z.min (de x) (de y))))%R.
  - unfold F2R; simpl. rewrite plus_IZR. ring.
  - rewrite !shift_correct by lia. reflexivity.
Qed.

Lemma dltb_correct : forall x y, dltb x y = true -> (D2R x < D2R y)%R.
Proof.
  intros x y H; unfold dltb in H. apply Z.ltb_lt in H.
  assert (D2R (dadd x (dopp y)) < 0)%R.
  { unfold D2R. now apply F2R_lt_0. }
  rewrite dadd_correct, dopp_correct in H0. lra.
Qed.

Lemma digits_correct : forall m, m <> 0 -> Zdigits radix2 m = digits m.
Proof.
  intros m Hm; unfold digits. apply Zdigits_unique.
  replace (Z.log2 (Z.abs m) + 1 - 1) with (Z.log2 (Z.abs m)) by lia.
  change (radix_val radix2) with 2. replace (Z.log2 (Z.abs m) + 1) with (Z.succ (Z.log2 (Z.abs m))) by lia.
  change (Zpower radix2) with (Z.pow 2). apply Z.log2_spec. lia.
Qed.

Lemma nearest_correct : forall m s, 0 < s -> ZnearestE (IZR m / IZR (2 ^ s)) = nearest m s.
Proof.
  intros m s Hs. set (p := 2 ^ s). set (h := 2 ^ (s - 1)).
  assert (Hh : 0 < h) by (apply Z.pow_pos_nonneg; lia).
  assert (Hp : p = 2 * h). { unfold p, h. rewrite <- Z.pow_succ_r by lia. f_equal; lia. }
  unfold nearest. rewrite Z.shiftr_div_pow2, !Z.shiftl_mul_pow2 by lia. fold p; fold h. rewrite Z.mul_1_l.
  set (a := m / p). set (r := m - a * p).
  assert (Hr : 0 <= r < p).
  { unfold r, a. pose proof (Z.mod_pos_bound m p). pose proof (Z.div_mod m p). lia. }
  assert (PR : (0 < IZR p)%R) by (apply IZR_lt; lia).
  assert (Hf : Zfloor (IZR m / IZR p) = a). { apply Zfloor_div. lia. }
  assert (Hx : (IZR m / IZR p - IZR a = IZR r * / IZR p)%R).
  { unfold r. rewrite minus_IZR, mult_IZR. field. lra. }
  assert (Hc : 0 < r -> Zceil (IZR m / IZR p) = a + 1).
  { intros Hr0. rewrite Zceil_floor_neq, Hf; [reflexivity|]. rewrite Hf. intros E.
    assert (IZR r * / IZR p = 0)%R by lra.
    apply Rmult_integral in H; destruct H as [H|H].
    - apply eq_IZR in H. lia.
    - apply Rinv_neq_0_compat in H; [easy|lra]. }
  unfold Znearest. rewrite Hf, Hx.
  replace (/ 2)%R with (IZR h * / IZR p)%R.
  2:{ rewrite Hp, mult_IZR. field. apply IZR_neq. lia. }
  rewrite Rcompare_mult_r by (now apply Rinv_0_lt_compat).
  rewrite Rcompare_IZR.
  destruct (Z.compare_spec r h) as [E|L|G].
  - rewrite Hc by lia. destruct (Z.even a); reflexivity.
  - reflexivity.
  - rewrite Hc by lia. reflexivity.
Qed.

(* The rounding function is Flocq's. *)
Theorem rnd_correct : forall prec emin x, 0 < prec ->
  D2R (rnd prec emin x) = round radix2 (FLT_exp emin prec) ZnearestE (D2R x).
Proof.
  intros prec emin [m e] Hprec. unfold rnd; simpl dm; simpl de.
  destruct (Z.eqb_spec m 0) as [->|Hm].
  { unfold D2R; simpl. rewrite F2R_0, round_0; auto with typeclass_instances. }
  set (q := Z.max (e + digits m - prec) emin).
  assert (Hq : cexp radix2 (FLT_exp emin prec) (D2R (D m e)) = q).
  { unfold cexp, D2R; simpl. rewrite mag_F2R_Zdigits by exact Hm. rewrite digits_correct by exact Hm.
    unfold FLT_exp, q. f_equal. lia. }
  destruct (Z.leb_spec q e) as [L|L].
  - symmetry. apply round_generic; [auto with typeclass_instances|].
    unfold D2R in *; simpl in *. apply generic_format_F2R. intros _. rewrite Hq. exact L.
  - unfold round, scaled_mantissa. rewrite Hq. unfold D2R at 1; simpl. f_equal. f_equal. symmetry.
    rewrite <- nearest_correct by lia. f_equal. unfold D2R, F2R; simpl.
    rewrite Rmult_assoc, <- bpow_plus. unfold Rdiv. f_equal.
    change (2 ^ (q - e)) with (Zpower radix2 (q - e)). rewrite IZR_Zpower by lia. rewrite <- bpow_opp. f_equal. lia.
Qed.

Lemma fits_correct : forall emax x, fits emax x = true -> (Rabs (D2R x) < bpow radix2 emax)%R.
Proof.
  intros emax [m e] H. unfold fits in H; simpl in H. destruct (Z.eqb_spec m 0) as [->|Hm].
  - unfold D2R; simpl. rewrite F2R_0, Rabs_R0. apply bpow_gt_0.
  - simpl in H. apply Z.leb_le in H. unfold D2R; simpl.
    apply Rlt_le_trans with (bpow radix2 (mag radix2 (F2R (Float radix2 m e)))).
    + apply bpow_mag_gt.
    + apply bpow_le. rewrite mag_F2R_Zdigits, digits_correct by exact Hm. lia.
Qed.
