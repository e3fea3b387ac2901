(* Cosines of fractions of a turn that are roots of fractions: those of whole twelfths and eighths. Others have no value
   here. Leans on Roots.v and Coq's reals. *)
From Coq Require Import ZArith List Bool Lia Reals Lra Rtrigo_facts.
From Flocq Require Import Core.
From Krohn Require Import Dyadic DyadicR Lists Roots.
Open Scope Z_scope.

(* Four times the square of cos (2 pi t / 24), and the sign. *)
Definition square_and_sign (t : Z) : option (Z * Z) :=
  match t with
  | 0 => Some (4, 1) | 2 => Some (3, 1) | 3 => Some (2, 1) | 4 => Some (1, 1) | 6 => Some (0, 1)
  | 8 => Some (1, -1) | 9 => Some (2, -1) | 10 => Some (3, -1) | 12 => Some (4, -1) | 14 => Some (3, -1) | 15 => Some (2, -1)
  | 16 => Some (1, -1) | 18 => Some (0, 1) | 20 => Some (1, 1) | 21 => Some (2, 1) | 22 => Some (3, 1)
  | _ => None
  end.

Definition cosine_of_24th (t : Z) : option dy := let* (k, v) := square_and_sign (t mod 24) in key_entry k 4 v.
(* cos and sin of 2 pi p / q. *)
Definition cosine (p q : Z) : option dy := if (0 <? q) && (24 * p mod q =? 0) then cosine_of_24th (24 * p / q) else None.
Definition sine (p q : Z) : option dy := if (0 <? q) && (24 * p mod q =? 0) then cosine_of_24th (24 * p / q - 6) else None.

Open Scope R_scope.

Lemma cos_turns : forall x j, cos (x + 2 * IZR j * PI) = cos x.
Proof.
  assert (P : forall x j, (0 <= j)%Z -> cos (x + 2 * IZR j * PI) = cos x).
  { intros x j Hj. rewrite <- (Z2Nat.id j) by assumption. rewrite <- INR_IZR_INZ. apply cos_period. }
  intros x j. destruct (Z_le_gt_dec 0 j) as [H|H]; [now apply P|].
  rewrite <- (P (x + 2 * IZR j * PI) (- j)%Z) by lia. f_equal. rewrite opp_IZR. ring.
Qed.

Lemma roots_of_quarters : sqrt (4 / 4) = 1 /\ sqrt (3 / 4) = sqrt 3 / 2 /\ sqrt (2 / 4) = 1 / sqrt 2 /\ sqrt (1 / 4) = 1 / 2 /\ sqrt (0 / 4) = 0.
Proof.
  assert (F : sqrt 4 = 2) by (replace 4 with (2 * 2) by ring; apply sqrt_square; lra).
  assert (T : sqrt 2 <> 0) by (intros E; apply sqrt_eq_0 in E; lra).
  repeat split.
  - replace (4 / 4) with 1 by field. apply sqrt_1.
  - rewrite sqrt_div by lra. now rewrite F.
  - rewrite sqrt_div by lra. rewrite F. apply Rmult_eq_reg_r with (2 * sqrt 2); [|lra]. field_simplify; [|assumption].
    rewrite pow2_sqrt; lra.
  - rewrite sqrt_div by lra. now rewrite F, sqrt_1.
  - replace (0 / 4) with 0 by field. apply sqrt_0.
Qed.

Definition c24 (t : R) : R := cos (2 * PI * t / 24).
Lemma c24_half : forall t, c24 (12 - t) = - c24 t.
Proof. intros t. unfold c24. replace (2 * PI * (12 - t) / 24) with (PI - 2 * PI * t / 24) by field. apply cos_pi_minus. Qed.
Lemma c24_whole : forall t, c24 (24 - t) = c24 t.
Proof.
  intros t. unfold c24. replace (2 * PI * (24 - t) / 24) with (- (2 * PI * t / 24) + 2 * 1 * PI) by field.
  rewrite (cos_turns _ 1). apply cos_neg.
Qed.

Lemma square_and_sign_correct : forall t k v, square_and_sign t = Some (k, v) -> c24 (IZR t) = IZR v * sqrt (IZR k / IZR 4).
Proof.
  destruct roots_of_quarters as [R4 [R3 [R2 [R1 R0]]]].
  assert (C0 : c24 0 = 1) by (unfold c24; replace (2 * PI * 0 / 24) with 0 by field; apply cos_0).
  assert (C2 : c24 2 = sqrt 3 / 2) by (unfold c24; replace (2 * PI * 2 / 24) with (PI / 6) by field; apply cos_PI6).
  assert (C3 : c24 3 = 1 / sqrt 2) by (unfold c24; replace (2 * PI * 3 / 24) with (PI / 4) by field; apply cos_PI4).
  assert (C4 : c24 4 = 1 / 2) by (unfold c24; replace (2 * PI * 4 / 24) with (PI / 3) by field; apply cos_PI3).
  assert (C6 : c24 6 = 0) by (unfold c24; replace (2 * PI * 6 / 24) with (PI / 2) by field; apply cos_PI2).
  assert (H : forall s t, s = 12 - t -> c24 s = - c24 t) by (intros s t ->; apply c24_half).
  assert (W : forall s t, s = 24 - t -> c24 s = c24 t) by (intros s t ->; apply c24_whole).
  pose proof (H 8 4 ltac:(ring)) as C8. pose proof (H 9 3 ltac:(ring)) as C9. pose proof (H 10 2 ltac:(ring)) as C10.
  pose proof (H 12 0 ltac:(ring)) as C12.
  pose proof (W 14 10 ltac:(ring)) as C14. pose proof (W 15 9 ltac:(ring)) as C15. pose proof (W 16 8 ltac:(ring)) as C16.
  pose proof (W 18 6 ltac:(ring)) as C18.
  pose proof (W 20 4 ltac:(ring)) as C20. pose proof (W 21 3 ltac:(ring)) as C21. pose proof (W 22 2 ltac:(ring)) as C22.
  intros t k v E. unfold square_and_sign in E.
  repeat (match type of E with match ?t with _ => _ end = _ => destruct t; try discriminate end);
    injection E as <- <-; rewrite ?C14, ?C15, ?C16, ?C18, ?C20, ?C21, ?C22, ?C8, ?C9, ?C10, ?C12, ?C0, ?C2, ?C3, ?C4, ?C6, ?R4, ?R3, ?R2, ?R1, ?R0; lra.
Qed.

Lemma cosine_of_24th_correct : forall prec emin t y, (0 < prec <= most_digits)%Z -> cosine_of_24th t = Some y ->
  round radix2 (FLT_exp emin prec) ZnearestE (D2R y) = round radix2 (FLT_exp emin prec) ZnearestE (cos (2 * PI * IZR t / 24)).
Proof.
  intros prec emin t y Hp H. unfold cosine_of_24th in H. destruct (square_and_sign (t mod 24)) as [[k v]|] eqn:E;
    [|discriminate]. cbn [bind] in H.
  assert (K : (0 <= k)%Z).
  { unfold square_and_sign in E. repeat (match type of E with match ?t with _ => _ end = _ => destruct t;
      try discriminate end); injection E as <- <-; lia. }
  rewrite (key_entry_correct prec emin k 4 v y Hp K ltac:(lia) H). f_equal.
  rewrite <- (square_and_sign_correct _ _ _ E). unfold c24.
  rewrite <- (cos_turns (2 * PI * IZR (t mod 24) / 24) (t / 24)). f_equal.
  rewrite (Z.div_mod t 24) at 3 by lia. rewrite plus_IZR, mult_IZR. field.
Qed.

Lemma exact_quotient : forall p q, (0 < q)%Z -> (24 * p mod q = 0)%Z -> 24 * IZR p / IZR q = IZR (24 * p / q).
Proof.
  intros p q Hq E. assert (IZR q <> 0) by (apply IZR_neq; lia).
  apply Rmult_eq_reg_r with (IZR q); [|assumption]. pose proof (Z_div_exact_full_2 (24 * p) q ltac:(lia) E) as X.
  replace (IZR (24 * p / q) * IZR q) with (IZR (24 * p)) by (rewrite <- mult_IZR; f_equal; rewrite X at 1; ring).
  rewrite mult_IZR. field. assumption.
Qed.

Theorem cosine_correct : forall prec emin p q y, (0 < prec <= most_digits)%Z -> cosine p q = Some y ->
  round radix2 (FLT_exp emin prec) ZnearestE (D2R y) = round radix2 (FLT_exp emin prec) ZnearestE (cos (2 * PI * (IZR p / IZR q))).
Proof.
  intros prec emin p q y Hp H. unfold cosine in H. destruct ((0 <? q)%Z && (24 * p mod q =? 0)%Z)%bool eqn:C; [|discriminate].
  apply andb_true_iff in C; destruct C as [C1 C2]. apply Z.ltb_lt in C1. apply Z.eqb_eq in C2.
  rewrite (cosine_of_24th_correct prec emin _ y Hp H). do 2 f_equal. rewrite <- (exact_quotient p q C1 C2). field.
  apply IZR_neq. lia.
Qed.

Theorem sine_correct : forall prec emin p q y, (0 < prec <= most_digits)%Z -> sine p q = Some y ->
  round radix2 (FLT_exp emin prec) ZnearestE (D2R y) = round radix2 (FLT_exp emin prec) ZnearestE (sin (2 * PI * (IZR p / IZR q))).
Proof.
  intros prec emin p q y Hp H. unfold sine in H. destruct ((0 <? q)%Z && (24 * p mod q =? 0)%Z)%bool eqn:C; [|discriminate].
  apply andb_true_iff in C; destruct C as [C1 C2]. apply Z.ltb_lt in C1. apply Z.eqb_eq in C2.
  rewrite (cosine_of_24th_correct prec emin _ y Hp H). f_equal. rewrite minus_IZR, <- (exact_quotient p q C1 C2).
  rewrite <- cos_shift. rewrite <- cos_neg. f_equal. field. apply IZR_neq. lia.
Qed.
