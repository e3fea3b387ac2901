(* The bit patterns of files are read as Flocq reads them. Leans on Bytes.v, DyadicR.v and Flocq. *)
From Coq Require Import ZArith NArith Bool Lia Reals.
From Flocq Require Import Core Binary Bits.
From Krohn Require Import Dyadic DyadicR Bytes.
Open Scope Z_scope.

Definition reads_as (prec emax : Z) (d : option dy) (x : binary_float prec emax) : Prop :=
  match d with Some v => is_finite prec emax x = true /\ B2R prec emax x = D2R v | None => is_finite prec emax x = false end.

Lemma pattern : forall mw ew (Hm : 0 < mw) (He : 0 < ew) (Hx : mw + 1 < 2 ^ (ew - 1)) n,
  reads_as _ _ (ieee mw ew n) (binary_float_of_bits mw ew Hm He Hx n).
Proof.
  intros mw ew Hm He Hx n. unfold binary_float_of_bits, reads_as.
  rewrite is_finite_FF2B, B2R_FF2B. unfold ieee, binary_float_of_bits_aux, split_bits.
  change (Zpower 2) with (Z.pow 2). rewrite <- Z.pow_add_r by lia.
  change (Zle_bool (2 ^ (mw + ew)) n) with (2 ^ (mw + ew) <=? n).
  pose proof (Z.mod_pos_bound n (2 ^ mw) ltac:(apply Z.pow_pos_nonneg; lia)) as Bm.
  pose proof (Z.mod_pos_bound (n / 2 ^ mw) (2 ^ ew) ltac:(apply Z.pow_pos_nonneg; lia)) as Be.
  set (m := n mod 2 ^ mw) in *. set (e := (n / 2 ^ mw) mod 2 ^ ew) in *. set (s := 2 ^ (mw + ew) <=? n).
  assert (Big : 2 <= 2 ^ ew) by (change 2 with (2 ^ 1) at 1; apply Z.pow_le_mono_r; lia).
  assert (V : forall p q, FF2R radix2 (F754_finite s p q) = D2R (norm (D (if s then - Zpos p else Zpos p) q))).
  { intros p q. rewrite norm_correct. unfold FF2R, D2R; cbn [dm de]. destruct s; reflexivity. }
  assert (Z0 : 0%R = D2R (norm (D 0 ((Z.max e 1 - (2 ^ (ew - 1) - 1) - mw))))) by (rewrite norm_correct; unfold D2R;
    cbn [dm de]; now rewrite F2R_0).
  destruct (Z.eqb_spec e (2 ^ ew - 1)) as [E1|E1].
  - replace (Zeq_bool e 0) with false by (symmetry; destruct (Zeq_bool e 0) eqn:Q; [apply Zeq_bool_eq in Q; lia|reflexivity]).
    replace (Zeq_bool e (2 ^ ew - 1)) with true by (symmetry; rewrite E1; now apply Zeq_is_eq_bool). destruct m; reflexivity.
  - destruct (Z.eqb_spec e 0) as [E0|E0].
    + replace (Zeq_bool e 0) with true by (symmetry; rewrite E0; now apply Zeq_is_eq_bool).
      destruct m as [|p|p] eqn:Em; [|split; [reflexivity|]|lia].
      * split; [reflexivity|]. cbn [FF2R]. rewrite Z0. now destruct s.
      * rewrite V. f_equal. f_equal. f_equal. unfold SpecFloat.emin. rewrite E0. lia.
    + replace (Zeq_bool e 0) with false by (symmetry; destruct (Zeq_bool e 0) eqn:Q; [apply Zeq_bool_eq in Q; lia|reflexivity]).
      replace (Zeq_bool e (2 ^ ew - 1)) with false by (symmetry; destruct (Zeq_bool e (2 ^ ew - 1)) eqn:Q;
        [apply Zeq_bool_eq in Q; lia|reflexivity]).
      assert (0 < 2 ^ mw) by (apply Z.pow_pos_nonneg; lia).
      destruct (m + 2 ^ mw) as [|p|p] eqn:Em; [lia| |lia]. split; [reflexivity|]. rewrite V. f_equal. f_equal. f_equal.
      unfold SpecFloat.emin. lia.
Qed.

Theorem float64_is_flocq : forall b, reads_as 53 1024 (float64 b) (b64_of_bits (Z.of_N (little_endian b))).
Proof. intros b. unfold float64, b64_of_bits. apply pattern. Qed.
Theorem float32_is_flocq : forall b, reads_as 24 128 (float32 b) (b32_of_bits (Z.of_N (little_endian b))).
Proof. intros b. unfold float32, b32_of_bits. apply pattern. Qed.
