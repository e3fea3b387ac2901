(* The specification in IEEE 754 floats, those of Flocq, and the proof that they do what the integers of Arithmetic.v do:
   what the checker accepts holds for them. Leans on everything above, Flocq, and the four axioms of Coq's reals. *)
From Coq Require Import ZArith NArith List Bool Lia Reals Lra.
From Flocq Require Import Core BinarySingleNaN.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Closed.
Import ListNotations.
Open Scope Z_scope.

Lemma positive_prec : forall f : format, Prec_gt_0 (prec f).
Proof. intros [p e v]; simpl. apply andb_true_iff in v. unfold Prec_gt_0. apply Z.ltb_lt. apply v. Qed.
Lemma large_emax : forall f : format, Prec_lt_emax (prec f) (emax f).
Proof. intros [p e v]; simpl. apply andb_true_iff in v. unfold Prec_lt_emax. apply Z.ltb_lt. apply v. Qed.
#[export] Existing Instance positive_prec.
#[export] Existing Instance large_emax.

Definition float (f : format) := binary_float (prec f) (emax f).

(* The exact number that a finite float is. *)
Definition exactly {f : format} (x : float f) : option dy :=
  match x with
  | B754_zero _ => Some (D 0 0)
  | B754_finite s m e _ => Some (D (cond_Zopp s (Zpos m)) e)
  | _ => None
  end.

(* The float nearest to a number, ties to even. *)
Definition nearest_float (f : format) (x : dy) : float f :=
  binary_normalize (prec f) (emax f) (positive_prec f) (large_emax f) mode_NE (dm x) (de x) false.

Section Ops.
Variable a : arithmetic.
Notation F := (float (sums a)).

Definition f_add (x y : F) : F := Bplus mode_NE x y.
Definition f_mul (x y : F) : F := Bmult mode_NE x y.
Definition f_mad (s x y : F) : F := if fused a then Bfma mode_NE x y s else Bplus mode_NE s (Bmult mode_NE x y).
Definition f_neg (x : F) : F := Bopp x.
Definition f_conv (x : dy) : option F :=
  match storage a with
  | None => Some (nearest_float (sums a) x)
  | Some f => let* y := exactly (nearest_float f x) in Some (nearest_float (sums a) y)
  end.
Definition f_store (x : F) : option F :=
  match storage a with
  | None => Some x
  | Some f => let* y := exactly x in let* z := exactly (nearest_float f y) in Some (nearest_float (sums a) z)
  end.
Definition fops : ops F :=
  Ops F (B754_zero false) (fun x y => Some (f_add x y)) (fun x y => Some (f_mul x y)) (fun s x y => Some (f_mad s x y))
      f_neg f_store f_conv exactly.
End Ops.

(* The specification: the network in floats, and its decoder in fp64. *)
Definition run_ieee (a : arithmetic) (m : model) (w : list N) : option N :=
  run (fops a) (decode (fops decoding)) m w.

(* ---- Where the integers give a number, the floats give the same. ---- *)

Definition orel {A B} (R : A -> B -> Prop) (x : option A) (y : option B) : Prop :=
  match y with None => True | Some b => match x with Some a => R a b | None => False end end.

Lemma orel_bind : forall A B C E (P : A -> B -> Prop) (Q : C -> E -> Prop) x y f g,
  orel P x y -> (forall a b, P a b -> orel Q (f a) (g b)) -> orel Q (bind x f) (bind y g).
Proof. intros A B C E P Q [a|] [b|] f g H K; simpl in *; try easy. now apply K. Qed.

Lemma traverse_rel : forall A B C E (P : A -> B -> Prop) (Q : C -> E -> Prop) f g,
  (forall a b, P a b -> orel Q (f a) (g b)) -> forall x y, Forall2 P x y -> orel (Forall2 Q) (traverse f x) (traverse g y).
Proof.
  intros A B C E P Q f g H x y R. rewrite !traverse_is. induction R as [|a b x y Rab R IH]; simpl; [constructor|].
  apply orel_bind with (P := Q); [now apply H|]. intros c e Q1.
  apply orel_bind with (P := Forall2 Q); [exact IH|]. intros r s Q2. simpl. now constructor.
Qed.

Lemma zip_rel : forall A B C A' B' C' (P : A -> A' -> Prop) (Q : B -> B' -> Prop) (S : C -> C' -> Prop) f g,
  (forall a a' b b', P a a' -> Q b b' -> orel S (f a b) (g a' b')) ->
  forall x x', Forall2 P x x' -> forall y y', Forall2 Q y y' -> orel (Forall2 S) (zip_with f x y) (zip_with g x' y').
Proof.
  intros A B C A' B' C' P Q S f g H. induction 1 as [|a a' x x' R1 R IH]; intros y y' Ry; inversion Ry; subst; simpl; try easy.
  apply orel_bind with (P := S); [now apply H|]. intros c e Q1.
  apply orel_bind with (P := Forall2 S); [now apply IH|]. intros r s Q2. simpl. now constructor.
Qed.

Lemma fold_rel : forall A B S T (P : A -> B -> Prop) (Q : S -> T -> Prop) f g,
  (forall s t a b, Q s t -> P a b -> orel Q (f s a) (g t b)) ->
  forall x y, Forall2 P x y -> forall s t, Q s t -> orel Q (fold_option f s x) (fold_option g t y).
Proof.
  intros A B S T P Q f g H. induction 1 as [|a b x y R1 R IH]; intros s t Qst; simpl; [exact Qst|].
  apply orel_bind with (P := Q); [now apply H|]. auto.
Qed.

Lemma mk_rel : forall A B (P : A -> B -> Prop) x y, Forall2 P x y -> forall i, orel P (mk x i) (mk y i).
Proof.
  intros A B P x y R i. rewrite !mk_nth. generalize (N.to_nat i). induction R; intros [|n]; simpl; auto.
Qed.
Lemma get_rel : forall A B (P : A -> B -> Prop) x y, Forall2 P x y -> forall i, orel P (get x i) (get y i).
Proof. induction 1; intros i; simpl; [easy|]. destruct (i =? 0)%N; [assumption|auto]. Qed.
Lemma set_rel : forall A B (P : A -> B -> Prop) x y, Forall2 P x y -> forall i u v, P u v -> orel (Forall2 P) (set x i u) (set y i v).
Proof.
  induction 1; intros i u v R; simpl; [easy|]. destruct (i =? 0)%N; [now constructor|].
  specialize (IHForall2 (N.pred i) u v R). destruct (set l' (N.pred i) v); simpl in *; [|easy].
  destruct (set l (N.pred i) u); simpl in *; [now constructor|easy].
Qed.
Lemma map_rel : forall A B C E (P : A -> B -> Prop) (Q : C -> E -> Prop) f g, (forall a b, P a b -> Q (f a) (g b)) ->
  forall x y, Forall2 P x y -> Forall2 Q (map f x) (map g y).
Proof. induction 2; simpl; constructor; auto. Qed.
Lemma same_rel : forall A (x : list A), Forall2 eq x x.
Proof. induction x; constructor; auto. Qed.

(* ---- One number ---- *)
Section OneFormat.
Variable f : format.
Notation F := (float f).
Notation rnd_to := (round radix2 (FLT_exp (emin f) (prec f)) ZnearestE).

Definition is_number (x : F) (d : dy) : Prop := is_finite x = true /\ B2R x = D2R d.

Lemma fit_correct : forall x y, fit f x = Some y -> D2R y = rnd_to (D2R x) /\ (Rabs (D2R y) < bpow radix2 (emax f))%R.
Proof.
  intros x y H. unfold fit in H. destruct (fits (emax f) _) eqn:E; [|discriminate]. injection H as <-.
  split; [|now apply fits_correct]. rewrite norm_correct. apply rnd_correct. apply positive_prec.
Qed.

Lemma nearest_float_rel : forall d, orel is_number (Some (nearest_float f d)) (fit f d).
Proof.
  intros d. destruct (fit f d) as [y|] eqn:E; [|exact I]. destruct (fit_correct _ _ E) as [E1 E2]. simpl.
  pose proof (binary_normalize_correct (prec f) (emax f) (positive_prec f) (large_emax f) mode_NE (dm d) (de d) false) as H.
  cbv zeta in H. change (F2R (Float radix2 (dm d) (de d))) with (D2R d) in H.
  change (round radix2 (SpecFloat.fexp (prec f) (emax f)) (round_mode mode_NE) (D2R d)) with (rnd_to (D2R d)) in H.
  rewrite <- E1 in H. rewrite Rlt_bool_true in H by exact E2. unfold is_number, nearest_float. tauto.
Qed.

Lemma mul_zero : forall x y a b, is_number x a -> is_number y b -> (D2R a * D2R b = 0)%R -> is_number (Bmult mode_NE x y) (D 0 0).
Proof.
  intros x y a b [F1 V1] [F2 V2] Z0.
  pose proof (Bmult_correct (prec f) (emax f) (positive_prec f) (large_emax f) mode_NE x y) as H.
  rewrite V1, V2, Z0, round_0 in H by auto with typeclass_instances. rewrite Rabs_R0, Rlt_bool_true in H by apply bpow_gt_0.
  destruct H as [H1 [H2 _]]. split; [rewrite H2, F1, F2; reflexivity|]. rewrite H1. unfold D2R; simpl. now rewrite F2R_0.
Qed.

Lemma mul_rel : forall x y a b, is_number x a -> is_number y b ->
  orel is_number (Some (Bmult mode_NE x y)) (if (dm a =? 0) || (dm b =? 0) then Some (D 0 0) else fit f (dmul a b)).
Proof.
  intros x y a b Rx Ry. destruct (Z.eqb_spec (dm a) 0) as [e|_]; cbn [orb].
  { cbn [orel]. eapply mul_zero; eauto. rewrite (D2R_0 a e). ring. }
  destruct (Z.eqb_spec (dm b) 0) as [e|_].
  { cbn [orel]. eapply mul_zero; eauto. rewrite (D2R_0 b e). ring. }
  destruct (fit f (dmul a b)) as [z|] eqn:E; [|exact I].
  destruct (fit_correct _ _ E) as [E1 E2]. rewrite dmul_correct in E1. cbn [orel]. destruct Rx as [F1 V1], Ry as [F2 V2].
  pose proof (Bmult_correct (prec f) (emax f) (positive_prec f) (large_emax f) mode_NE x y) as H.
  rewrite V1, V2 in H.
  change (round radix2 (SpecFloat.fexp (prec f) (emax f)) (round_mode mode_NE) (D2R a * D2R b)) with (rnd_to (D2R a * D2R b)) in H.
  rewrite <- E1, Rlt_bool_true in H by exact E2. destruct H as [H1 [H2 _]]. split; [now rewrite H2, F1, F2|assumption].
Qed.

Lemma add_rel : forall x y a b, is_number x a -> is_number y b ->
  orel is_number (Some (Bplus mode_NE x y)) (if dm a =? 0 then Some b else if dm b =? 0 then Some a else fit f (dadd a b)).
Proof.
  intros x y a b [F1 V1] [F2 V2].
  pose proof (Bplus_correct (prec f) (emax f) (positive_prec f) (large_emax f) mode_NE x y F1 F2) as H.
  destruct (Z.eqb_spec (dm a) 0) as [e|_].
  { rewrite V1, (D2R_0 a e), Rplus_0_l in H.
    rewrite round_generic in H by (auto with typeclass_instances; apply generic_format_B2R).
    rewrite Rlt_bool_true in H by apply abs_B2R_lt_emax. cbn [orel]. unfold is_number. rewrite <- V2. tauto. }
  destruct (Z.eqb_spec (dm b) 0) as [e|_].
  { rewrite V2, (D2R_0 b e), Rplus_0_r in H.
    rewrite round_generic in H by (auto with typeclass_instances; apply generic_format_B2R).
    rewrite Rlt_bool_true in H by apply abs_B2R_lt_emax. cbn [orel]. unfold is_number. rewrite <- V1. tauto. }
  destruct (fit f (dadd a b)) as [z|] eqn:E; [|exact I].
  destruct (fit_correct _ _ E) as [E1 E2]. rewrite dadd_correct in E1. cbn [orel].
  rewrite V1, V2 in H.
  change (round radix2 (SpecFloat.fexp (prec f) (emax f)) (round_mode mode_NE) (D2R a + D2R b)) with (rnd_to (D2R a + D2R b)) in H.
  rewrite <- E1, Rlt_bool_true in H by exact E2. unfold is_number. tauto.
Qed.

Lemma fma_rel : forall s x y c a b, is_number s c -> is_number x a -> is_number y b ->
  orel is_number (Some (Bfma mode_NE x y s)) (if (dm a =? 0) || (dm b =? 0) then Some c else fit f (dadd c (dmul a b))).
Proof.
  intros s x y c a b [F0 V0] [F1 V1] [F2 V2].
  pose proof (Bfma_correct (prec f) (emax f) (positive_prec f) (large_emax f) mode_NE x y s F1 F2 F0) as H. cbv zeta in H.
  destruct ((dm a =? 0) || (dm b =? 0)) eqn:Z0.
  { assert (P : (B2R x * B2R y = 0)%R).
    { rewrite V1, V2. apply orb_true_iff in Z0. destruct Z0 as [Z0|Z0]; apply Z.eqb_eq in Z0; rewrite (D2R_0 _ Z0); ring. }
    rewrite P, Rplus_0_l in H.
    rewrite round_generic in H by (auto with typeclass_instances; apply generic_format_B2R).
    rewrite Rlt_bool_true in H by apply abs_B2R_lt_emax. cbn [orel]. unfold is_number. rewrite <- V0. tauto. }
  destruct (fit f (dadd c (dmul a b))) as [z|] eqn:E; [|exact I].
  destruct (fit_correct _ _ E) as [E1 E2]. rewrite dadd_correct, dmul_correct, Rplus_comm in E1. cbn [orel].
  rewrite V0, V1, V2 in H.
  change (round radix2 (SpecFloat.fexp (prec f) (emax f)) (round_mode mode_NE) (D2R a * D2R b + D2R c)) with (rnd_to (D2R a * D2R b + D2R c)) in H.
  rewrite <- E1, Rlt_bool_true in H by exact E2. unfold is_number. tauto.
Qed.

Lemma neg_rel : forall x a, is_number x a -> is_number (Bopp x) (dopp a).
Proof. intros x a [F1 V1]. split; [now rewrite is_finite_Bopp|]. rewrite B2R_Bopp, dopp_correct. now f_equal. Qed.

Lemma zero_rel : is_number (B754_zero false) (D 0 0).
Proof. split; [reflexivity|]. unfold D2R; simpl. now rewrite F2R_0. Qed.

Definition same (x y : dy) : Prop := D2R x = D2R y.

Lemma exactly_rel : forall x a, is_number x a -> orel same (exactly x) (Some a).
Proof.
  intros x a [F1 V1]. unfold same. destruct x; try discriminate; simpl; rewrite <- V1; simpl; [|reflexivity].
  unfold D2R; simpl. now rewrite F2R_0.
Qed.
End OneFormat.

Lemma fit_same : forall f x y, same x y -> orel (@is_number f) (Some (nearest_float f x)) (fit f y).
Proof.
  intros f x y S. unfold same in S. destruct (fit f y) as [z|] eqn:E; [|exact I].
  destruct (fit_correct _ _ _ E) as [E1 E2]. rewrite <- S in E1. simpl.
  pose proof (binary_normalize_correct (prec f) (emax f) (positive_prec f) (large_emax f) mode_NE (dm x) (de x) false) as H.
  cbv zeta in H. change (F2R (Float radix2 (dm x) (de x))) with (D2R x) in H.
  change (round radix2 (SpecFloat.fexp (prec f) (emax f)) (round_mode mode_NE) (D2R x))
    with (round radix2 (FLT_exp (emin f) (prec f)) ZnearestE (D2R x)) in H.
  rewrite <- E1 in H. rewrite Rlt_bool_true in H by exact E2. unfold is_number, nearest_float. tauto.
Qed.

(* ---- The network ---- *)
Section Preserved.
Variable a : arithmetic.
Notation F := (float (sums a)).
Let fo := fops a.
Let zo := zops a.
Notation rel := (@is_number (sums a)).

Lemma rel_mad : forall s x y c d e, rel s c -> rel x d -> rel y e -> orel rel (mad fo s x y) (mad zo c d e).
Proof.
  intros s x y c d e Rs Rx Ry. cbn [mad fo zo fops zops]. unfold f_mad, z_mad, z_mul, z_add, round_sum.
  destruct (fused a).
  - pose proof (fma_rel _ _ _ _ _ _ _ Rs Rx Ry) as H. destruct ((dm d =? 0) || (dm e =? 0)); exact H.
  - pose proof (mul_rel _ _ _ _ _ Rx Ry) as H. destruct ((dm d =? 0) || (dm e =? 0)).
    + cbn [orel] in H. pose proof (add_rel _ _ _ _ _ Rs H) as K. destruct (Z.eqb_spec (dm c) 0) as [Z0|_]; [|exact K].
      destruct K as [K1 K2]. split; [assumption|]. rewrite K2. unfold D2R at 1; simpl. now rewrite F2R_0, D2R_0.
    + destruct (fit (sums a) (dmul d e)) as [p|]; cbn [bind orel] in *; [|exact I]. exact (add_rel _ _ _ _ _ Rs H).
Qed.
Lemma rel_add : forall x y c d, rel x c -> rel y d -> orel rel (add fo x y) (add zo c d).
Proof. intros. now apply add_rel. Qed.
Lemma rel_mul : forall x y c d, rel x c -> rel y d -> orel rel (mul fo x y) (mul zo c d).
Proof. intros. now apply mul_rel. Qed.
Lemma rel_neg : forall x c, rel x c -> rel (neg fo x) (neg zo c).
Proof. intros. now apply neg_rel. Qed.
Lemma rel_zero : rel (zero fo) (zero zo).
Proof. apply zero_rel. Qed.
Lemma rel_val : forall x c, rel x c -> orel same (val fo x) (val zo c).
Proof. intros. now apply exactly_rel. Qed.
Lemma through_storage : forall f x y, same x y ->
  orel rel (let* u := exactly (nearest_float f x) in Some (nearest_float (sums a) u)) (let* z := fit f y in round_sum a z).
Proof.
  intros f x y S. pose proof (fit_same f _ _ S) as H. destruct (fit f y) as [z|]; cbn [bind]; [|exact I].
  cbn [orel] in H. pose proof (exactly_rel _ _ _ H) as K. destruct (exactly (nearest_float f x)) as [u|];
    cbn [bind orel] in *; [|contradiction].
  exact (fit_same (sums a) u z K).
Qed.
Lemma rel_conv : forall x y, same x y -> orel rel (conv fo x) (conv zo y).
Proof.
  intros x y S. cbn [conv fo zo fops zops]. unfold f_conv, z_conv. destruct (storage a) as [f|]; [now apply through_storage|].
  now apply fit_same.
Qed.
Lemma rel_store : forall x c, rel x c -> orel rel (store fo x) (store zo c).
Proof.
  intros x c R. cbn [store fo zo fops zops]. unfold f_store, z_store. destruct (storage a) as [f|]; [|exact R].
  pose proof (exactly_rel _ _ _ R) as K. destruct (exactly x) as [u|]; cbn [bind orel] in *; [|contradiction].
  now apply through_storage.
Qed.

Definition term_rel (t : term F) (u : term dy) : Prop :=
  match t, u with Pick i, Pick j => i = j | Minus i, Minus j => i = j | Times w i, Times v j => rel w v /\ i = j | _, _ => False end.

Section Row.
Variables (x : N -> option F) (y : N -> option dy).
Hypothesis look : forall i, orel rel (x i) (y i).

Lemma first_term_rel : forall t u, term_rel t u -> orel rel (first_term fo x t) (first_term zo y u).
Proof.
  intros [i|i|w i] [j|j|v j] R; simpl in R; try contradiction; cbn [first_term].
  - subst. apply look.
  - subst. eapply orel_bind; [apply look|]. intros. apply rel_neg. assumption.
  - destruct R as [R ->]. eapply orel_bind; [apply look|]. intros. now apply rel_mul.
Qed.
Lemma add_term_rel : forall s c t u, rel s c -> term_rel t u -> orel rel (add_term fo x s t) (add_term zo y c u).
Proof.
  intros s c [i|i|w i] [j|j|v j] Rs R; simpl in R; try contradiction; cbn [add_term].
  - subst. eapply orel_bind; [apply look|]. intros. now apply rel_add.
  - subst. eapply orel_bind; [apply look|]. intros. apply rel_add; [assumption|]. now apply rel_neg.
  - destruct R as [R ->]. eapply orel_bind; [apply look|]. intros. now apply rel_mad.
Qed.
Lemma sum_row_rel : forall r s, Forall2 term_rel r s -> orel rel (sum_row fo x r) (sum_row zo y s).
Proof.
  intros r s [|t u r' s' R1 R]; cbn [sum_row]; [apply rel_zero|].
  eapply orel_bind; [now apply first_term_rel|]. intros c d Rc.
  eapply fold_rel; [|exact R|exact Rc]. intros. now apply add_term_rel.
Qed.
End Row.

Definition key_rel (e : N * F) (f : N * dy) := fst e = fst f /\ rel (snd e) (snd f).
Definition factor_rel (f : list (N * F) * F) (g : list (N * dy) * dy) := Forall2 key_rel (fst f) (fst g) /\ rel (snd f) (snd g).
Definition matrix_rel (x : matrix F) (y : matrix dy) : Prop :=
  match x, y with
  | Rows r, Rows s => Forall2 (Forall2 term_rel) r s
  | Reflections f, Reflections g => Forall2 factor_rel f g
  | Factored f, Factored g => f = g
  | _, _ => False
  end.

Lemma update_rel : forall y z i u c, Forall2 rel y z -> orel rel u c ->
  orel (Forall2 rel) (let* v := u in set y i v) (let* v := c in set z i v).
Proof. intros. eapply orel_bind; [eassumption|]. intros. now apply set_rel. Qed.

Lemma reflect_rel : forall y z f g, Forall2 rel y z -> factor_rel f g -> orel (Forall2 rel) (reflect fo y f) (reflect zo z g).
Proof.
  intros y z f g Ry [Rk Rb]. unfold reflect.
  eapply orel_bind.
  { apply sum_row_rel; [now apply get_rel|]. eapply map_rel; [|exact Rk]. intros e e' [E1 E2]. now split. }
  intros s c Rs. eapply orel_bind; [now apply rel_mul|]. intros t d Rt.
  eapply fold_rel with (P := key_rel); [|exact Rk|exact Ry]. intros u v e e' Ru [E1 E2]. rewrite E1.
  eapply orel_bind; [apply get_rel; exact Ru|]. intros p q Rp. apply update_rel; [assumption|]. apply rel_mad; auto.
  now apply rel_neg.
Qed.

Lemma add_factored_rel : forall x y, (forall i, orel rel (x i) (y i)) -> forall u v f, Forall2 rel u v ->
  orel (Forall2 rel) (add_factored fo x u f) (add_factored zo y v f).
Proof.
  intros x y L u v [outs ins] R. unfold add_factored; cbn [fst snd]. destruct ins as [|i ins]; [exact R|].
  eapply orel_bind.
  { apply sum_row_rel; [exact L|]. eapply map_rel with (P := eq); [|apply same_rel]. intros p q ->. reflexivity. }
  intros s c Rs. eapply fold_rel with (P := eq); [|apply same_rel|exact R]. intros p q j j' Rp ->.
  eapply orel_bind; [apply get_rel; exact Rp|]. intros g h Rg. apply update_rel; [assumption|]. now apply rel_add.
Qed.

Lemma times_rel : forall m n x y, matrix_rel m n -> Forall2 rel x y -> orel (Forall2 rel) (times fo m x) (times zo n y).
Proof.
  intros [r|f|f] [s|g|g] x y R Rx; simpl in R; try contradiction; cbn [times].
  - eapply traverse_rel; [|exact R]. intros. apply sum_row_rel; [|assumption]. now apply mk_rel.
  - eapply fold_rel; [|exact R|exact Rx]. intros. now apply reflect_rel.
  - subst. eapply fold_rel with (P := eq); [|apply same_rel|].
    + intros s t p q Rs ->. apply add_factored_rel; [|assumption]. now apply mk_rel.
    + eapply map_rel; [|exact Rx]. intros. apply rel_zero.
Qed.

Definition crel := Forall2 (Forall2 rel).
Definition action_rel (x : matrix F * option (columns_of F)) (y : matrix dy * option (columns_of dy)) :=
  matrix_rel (fst x) (fst y) /\ match snd x, snd y with Some b, Some c => crel b c | None, None => True | _, _ => False end.

Lemma act_rel : forall x y H K, action_rel x y -> crel H K -> orel crel (act fo x H) (act zo y K).
Proof.
  intros [m b] [n c] H K [Rm Rb] RH; cbn [fst snd] in *. unfold act; cbn [fst snd].
  eapply orel_bind with (P := crel). { eapply traverse_rel; [|exact RH]. intros. now apply times_rel. }
  intros u v Ru. eapply orel_bind with (P := crel).
  { destruct b as [b|], c as [c|]; try contradiction; [|exact Ru].
    eapply zip_rel; [|exact Ru|exact Rb]. intros. eapply zip_rel; [|eassumption|eassumption]. intros. now apply rel_add. }
  intros p q Rp. eapply traverse_rel; [|exact Rp]. intros. eapply traverse_rel; [|eassumption]. intros. now apply rel_store.
Qed.

Definition same2 := Forall2 (Forall2 same).
Lemma values_rel : forall H K, crel H K -> orel same2 (values fo H) (values zo K).
Proof. intros. eapply traverse_rel; [|eassumption]. intros. eapply traverse_rel; [|eassumption]. intros. now apply rel_val. Qed.

Lemma conv_columns_rel : forall h k, same2 h k -> orel crel (conv_columns fo h) (conv_columns zo k).
Proof. intros. eapply traverse_rel; [|eassumption]. intros. eapply traverse_rel; [|eassumption]. intros. now apply rel_conv. Qed.

Lemma same2_refl : forall h, same2 h h.
Proof. induction h; constructor; auto. induction a0; constructor; auto. reflexivity. Qed.

Lemma conv_matrix_rel : forall m, orel matrix_rel (conv_matrix fo m) (conv_matrix zo m).
Proof.
  intros [r|f|f]; cbn [conv_matrix].
  - eapply orel_bind with (P := Forall2 (Forall2 term_rel)); [|intros; assumption].
    eapply traverse_rel with (P := eq); [|apply same_rel]. intros s t ->.
    eapply traverse_rel with (P := eq); [|apply same_rel]. intros p q ->. destruct q as [j|j|w j]; cbn [conv_term];
      try reflexivity.
    eapply orel_bind; [apply rel_conv; reflexivity|]. intros. now split.
  - eapply orel_bind with (P := Forall2 factor_rel); [|intros; assumption].
    eapply traverse_rel with (P := eq); [|apply same_rel]. intros s t ->. unfold conv_factor.
    eapply orel_bind with (P := Forall2 key_rel).
    { eapply traverse_rel with (P := eq); [|apply same_rel]. intros p q ->.
      eapply orel_bind; [apply rel_conv; reflexivity|]. intros. now split. }
    intros k l Rk. eapply orel_bind; [apply rel_conv; reflexivity|]. intros. now split.
  - reflexivity.
Qed.

Lemma conv_action_rel : forall x, orel action_rel (conv_action fo x) (conv_action zo x).
Proof.
  intros [m b]. unfold conv_action; cbn [fst snd]. eapply orel_bind; [apply conv_matrix_rel|]. intros p q R.
  destruct b as [b|]; [|now split].
  eapply orel_bind; [apply conv_columns_rel, same2_refl|]. intros. now split.
Qed.
End Preserved.
