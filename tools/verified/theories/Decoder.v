(* The decoder of the checker, shortcut included, is that of the specification. Leans on Ieee.v. *)
From Coq Require Import ZArith NArith List Bool Lia Reals Lra.
From Flocq Require Import Core BinarySingleNaN.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Ieee.
Import ListNotations.
Open Scope Z_scope.

Notation F := (float (sums decoding)).
Notation fo := (fops decoding).
Notation rel := (@is_number (sums decoding)).
Notation rnd64 := (round radix2 (SpecFloat.fexp 53 1024) (round_mode mode_NE)).

(* ---- The whole way: distances in integers are those in floats ---- *)

Lemma pairs_rel : forall g k h c, crel decoding g k -> crel decoding h c ->
  orel (Forall2 (fun p q : _ * _ => rel (fst p) (fst q) /\ rel (snd p) (snd q))) (pairs_of g h) (pairs_of k c).
Proof.
  intros g k h c Rg Rh. unfold pairs_of.
  eapply orel_bind with (P := Forall2 (Forall2 (fun p q : _ * _ => rel (fst p) (fst q) /\ rel (snd p) (snd q)))).
  - eapply zip_rel; [|exact Rg|exact Rh]. intros. eapply zip_rel; [|eassumption|eassumption]. intros. now split.
  - intros x y R. simpl. induction R; simpl; [constructor|]. now apply Forall2_app.
Qed.

Lemma square_rel : forall g k h c, crel decoding g k -> crel decoding h c ->
  orel rel (square_of_distance fo g h) (square_of_distance zdops k c).
Proof.
  intros g k h c Rg Rh. unfold square_of_distance. eapply orel_bind; [now apply pairs_rel|]. intros l m R.
  eapply fold_rel; [|exact R|apply rel_zero]. intros s t [x y] [u v] Rs [Rx Ry]; cbn [fst snd] in *. unfold add_square;
    cbn [fst snd].
  eapply orel_bind. { apply rel_add; [exact Rx|]. apply rel_neg. exact Ry. }
  intros d e Rd. eapply orel_bind; [now apply rel_mul|]. intros. now apply rel_add.
Qed.

Definition both (c e : option dy * N) := orel same (fst c) (fst e) /\ fst e <> None /\ snd c = snd e.
Lemma squares_rel : forall codes b g k, crel decoding g k -> orel (Forall2 both) (squares fo codes b g) (squares zdops codes b k).
Proof.
  intros codes b g k R. unfold squares. eapply traverse_rel with (P := eq); [|apply same_rel]. intros c c' ->.
  eapply orel_bind; [apply conv_columns_rel, same2_refl|]. intros p q Rp.
  eapply orel_bind; [now apply square_rel|]. intros s t Rs. cbn [orel]. split; [|split; [discriminate|reflexivity]].
  now apply rel_val.
Qed.

Lemma dltb_real : forall x y, dltb x y = Rlt_bool (D2R x) (D2R y).
Proof.
  intros x y. destruct (dltb x y) eqn:E; symmetry; [now apply Rlt_bool_true, dltb_correct|].
  apply Rlt_bool_false. unfold dltb in E. apply Z.ltb_ge in E.
  assert (0 <= D2R (dadd x (dopp y)))%R by (unfold D2R; now apply F2R_ge_0).
  rewrite dadd_correct, dopp_correct in H. lra.
Qed.
Lemma dltb_same : forall x y x' y', same x x' -> same y y' -> dltb x y = dltb x' y'.
Proof. intros x y x' y' Sx Sy. unfold same in *. now rewrite !dltb_real, Sx, Sy. Qed.

Lemma nearest_same : forall l m, Forall2 both l m -> nearest_label l = nearest_label m.
Proof.
  intros l m R. unfold nearest_label.
  set (P := fun s t : option N * option dy => fst s = fst t /\ match snd s, snd t with Some x, Some y => same x y | None, None => True | _, _ => False end).
  assert (G : forall s t, P s t -> P (fold_left nearer l s) (fold_left nearer m t)).
  { induction R as [|[c i] [e j] l m [R1 [R2 R3]] R IH]; intros s t Pst; simpl; [exact Pst|]. apply IH.
    cbn [fst snd] in *. subst j. destruct e as [e|]; [|congruence]. destruct c as [c|]; [|contradiction]. cbn [orel] in R1.
    destruct s as [s1 s2], t as [t1 t2]. unfold P in *; cbn [fst snd] in *. destruct Pst as [-> Pst].
    unfold nearer; cbn [fst snd]. destruct s2 as [x|], t2 as [y|]; try contradiction; [|now split].
    rewrite (dltb_same c x e y), (dltb_same x c y e) by assumption.
    destruct (dltb e y); [now split|]. destruct (dltb y e); now split. }
  apply (G (None, None) (None, None)). now split.
Qed.

Lemma decode_rel : forall codes b h k, same2 h k -> orel eq (decode fo codes b h) (decode zdops codes b k).
Proof.
  intros codes b h k S. unfold decode. eapply orel_bind; [apply conv_columns_rel; exact S|]. intros g k' R.
  eapply orel_bind; [apply squares_rel; exact R|]. intros l m L. rewrite (nearest_same _ _ L).
  now destruct (nearest_label m).
Qed.

(* ---- The shortcut ---- *)

Lemma plus_finite : forall x y : F, is_finite (f_add decoding x y) = true ->
  is_finite x = true /\ is_finite y = true /\ B2R (f_add decoding x y) = rnd64 (B2R x + B2R y)%R.
Proof.
  intros x y H.
  assert (E : is_finite x = true /\ is_finite y = true).
  { destruct x as [sx|sx| |sx mx ex bx], y as [sy|sy| |sy my ey by']; try (split; reflexivity); unfold f_add in H;
      simpl in H; try discriminate;
      destruct sx, sy; discriminate. }
  destruct E as [Fx Fy]. repeat (split; [assumption|]).
  pose proof (Bplus_correct 53 1024 (positive_prec fp64) (large_emax fp64) mode_NE x y Fx Fy) as C.
  destruct (Rlt_bool _ _); [apply C|]. destruct C as [C _]. apply (f_equal is_finite_SF) in C.
  rewrite is_finite_SF_B2SF in C. exfalso. assert (X : true = false) by (rewrite <- H; exact C). discriminate.
Qed.

Lemma mult_finite : forall x y : F, is_finite (f_mul decoding x y) = true ->
  is_finite x = true /\ is_finite y = true /\ B2R (f_mul decoding x y) = rnd64 (B2R x * B2R y)%R.
Proof.
  intros x y H.
  assert (E : is_finite x = true /\ is_finite y = true).
  { destruct x as [sx|sx| |sx mx ex bx], y as [sy|sy| |sy my ey by']; try (split; reflexivity); simpl in H; discriminate. }
  destruct E as [Fx Fy]. repeat (split; [assumption|]).
  pose proof (Bmult_correct 53 1024 (positive_prec fp64) (large_emax fp64) mode_NE x y) as C.
  destruct (Rlt_bool _ _); [apply C|]. apply (f_equal is_finite_SF) in C.
  rewrite is_finite_SF_B2SF in C. exfalso. assert (X : true = false) by (rewrite <- H; exact C). discriminate.
Qed.

#[local] Instance fp64_fexp : Valid_exp (SpecFloat.fexp 53 1024) := fexp_correct 53 1024 eq_refl.

Lemma rnd64_ge : forall (z : F) r, (B2R z <= r)%R -> (B2R z <= rnd64 r)%R.
Proof. intros z r H. apply round_ge_generic; auto with typeclass_instances. apply generic_format_B2R. Qed.

Lemma rnd64_power : forall e r, -1000 <= e <= 0 -> (bpow radix2 e <= Rabs r)%R -> (bpow radix2 e <= Rabs (rnd64 r))%R.
Proof.
  intros e r He H. apply abs_round_ge_generic; auto with typeclass_instances.
  apply generic_format_bpow. unfold SpecFloat.fexp, SpecFloat.emin. lia.
Qed.

Definition apart (p : F * F) : Prop := (bpow radix2 least_exponent <= Rabs (B2R (fst p) - B2R (snd p)))%R.

Lemma add_square_finite : forall s p r, add_square fo s p = Some r -> is_finite r = true -> (0 <= B2R s)%R ->
  is_finite s = true /\ (B2R s <= B2R r)%R /\ (apart p -> 0 < B2R r)%R.
Proof.
  intros s [x y] r H Fr Ps. unfold add_square in H; cbn [fst snd add mul neg fops bind] in H. injection H as <-.
  destruct (plus_finite _ _ Fr) as [F1 [F2 E1]]. destruct (mult_finite _ _ F2) as [F3 [_ E2]].
  destruct (plus_finite _ _ F3) as [_ [_ E3]]. unfold f_neg in E3 at 2; rewrite B2R_Bopp in E3.
  set (d := f_add decoding x (f_neg decoding y)) in *. set (q := f_mul decoding d d) in *.
  assert (Pq : (0 <= B2R q)%R).
  { rewrite E2. apply round_ge_generic; auto with typeclass_instances; [apply generic_format_0|]. nra. }
  split; [assumption|]. rewrite E1. split; [apply rnd64_ge; lra|].
  intros A. unfold apart in A; cbn [fst snd] in A.
  assert (Hd : (bpow radix2 (-500) <= Rabs (B2R d))%R) by (rewrite E3; apply rnd64_power; [lia|exact A]).
  assert (Hq : (bpow radix2 (-1000) <= Rabs (B2R q))%R).
  { rewrite E2. apply rnd64_power; [lia|]. rewrite Rabs_mult. change (-1000) with (-500 + -500). rewrite bpow_plus.
    apply Rmult_le_compat; try apply bpow_ge_0; assumption. }
  rewrite Rabs_pos_eq in Hq by assumption. pose proof (bpow_gt_0 radix2 (-1000)).
  apply Rlt_le_trans with (B2R q); [lra|]. apply rnd64_ge. lra.
Qed.

Lemma squares_finite : forall l s r, fold_option (add_square fo) s l = Some r -> is_finite r = true -> (0 <= B2R s)%R ->
  is_finite s = true /\ (B2R s <= B2R r)%R /\ (Exists apart l -> 0 < B2R r)%R.
Proof.
  induction l as [|p l IH]; intros s r H Fr Ps; cbn [fold_option] in H.
  - injection H as <-. split; [assumption|]. split; [lra|]. intros A. inversion A.
  - apply bind_some in H; destruct H as [t [H1 H2]].
    assert (Pt : is_finite t = true -> (B2R s <= B2R t)%R /\ (apart p -> 0 < B2R t)%R /\ is_finite s = true)
      by (intros Ft; destruct (add_square_finite _ _ _ H1 Ft Ps) as [X [Y Z]]; auto).
    assert (Ft : is_finite t = true /\ (0 <= B2R t)%R).
    { destruct (is_finite t) eqn:E.
      - destruct (Pt eq_refl) as [X _]. split; [reflexivity|lra].
      - exfalso. clear -H2 Fr E. revert t r H2 Fr E. induction l as [|p l IH]; intros t r H2 Fr E; cbn [fold_option] in H2.
        + injection H2 as <-. congruence.
        + apply bind_some in H2; destruct H2 as [u [U1 U2]]. apply (IH u r U2 Fr). destruct (is_finite u) eqn:Fu; [|reflexivity].
          unfold add_square in U1; cbn [fst snd add mul neg fops bind] in U1. injection U1 as <-.
          destruct (plus_finite _ _ Fu) as [X _]. congruence. }
    destruct Ft as [Ft Pt0]. destruct (Pt Ft) as [X [Y Z]]. destruct (IH _ _ H2 Fr Pt0) as [_ [U V]].
    split; [assumption|]. split; [lra|]. intros A. inversion A; subst; [|auto]. assert (0 < B2R t)%R by auto. lra.
Qed.

Definition equal_pair (p : F * F) : Prop := is_finite (fst p) = true /\ is_finite (snd p) = true /\ B2R (fst p) = B2R (snd p).

Lemma add_equal_square : forall s p, equal_pair p -> rel s (D 0 0) -> exists r, add_square fo s p = Some r /\ rel r (D 0 0).
Proof.
  intros s [x y] [F1 [F2 E]] S; cbn [fst snd] in *. eexists; split; [reflexivity|].
  assert (D : rel (f_add decoding x (f_neg decoding y)) (D 0 0)).
  { assert (S0 : (B2R x + B2R (f_neg decoding y) = 0)%R) by (unfold f_neg; rewrite B2R_Bopp, E; ring).
    assert (F3 : is_finite (f_neg decoding y) = true) by (unfold f_neg; now rewrite is_finite_Bopp).
    pose proof (Bplus_correct _ _ (positive_prec (sums decoding)) (large_emax (sums decoding)) mode_NE x (f_neg decoding y) F1 F3) as C.
    rewrite S0, round_0 in C by auto with typeclass_instances.
    rewrite Rabs_R0, Rlt_bool_true in C by apply bpow_gt_0. destruct C as [C1 [C2 _]].
    split; [exact C2|]. transitivity 0%R; [exact C1|]. unfold D2R; simpl. now rewrite F2R_0. }
  pose proof (mul_rel (sums decoding) _ _ _ _ D D) as Q. cbn [orel dm orb Z.eqb] in Q.
  pose proof (add_rel (sums decoding) _ _ _ _ S Q) as A. cbn [orel dm Z.eqb] in A. exact A.
Qed.

Lemma equal_squares : forall l, Forall equal_pair l -> forall s, rel s (D 0 0) ->
  exists r, fold_option (add_square fo) s l = Some r /\ rel r (D 0 0).
Proof.
  induction 1 as [|p l E H IH]; intros s S; [now exists s|].
  cbn [fold_option]. destruct (add_equal_square s p E S) as [t [-> T]]. cbn [bind]. now apply IH.
Qed.

Lemma squares_given : forall l s, exists r, fold_option (add_square fo) s l = Some r.
Proof. induction l as [|[x y] l IH]; intros s; cbn [fold_option]; [now exists s|]. unfold add_square;
  cbn [fst snd add mul neg fops bind]. apply IH. Qed.

(* ---- Two states, in integers and in floats. h is what the network has, p a codeword. ---- *)

Lemma equal_values : forall x y, equal x y = true <-> D2R x = D2R y.
Proof.
  intros x y. unfold equal. split.
  - intros H. apply orb_true_iff in H; destruct H as [H|H]; [now apply deqb_eq in H; subst|].
    apply Z.eqb_eq in H. apply D2R_0 in H. rewrite dadd_correct, dopp_correct in H. lra.
  - intros H. apply orb_true_iff; right. apply Z.eqb_eq.
    assert (Z0 : D2R (dadd x (dopp y)) = 0%R) by (rewrite dadd_correct, dopp_correct; lra).
    unfold D2R in Z0. now apply eq_0_F2R in Z0.
Qed.

(* Different numbers that are multiples of 2^-500 are that far apart. *)
Lemma different_apart : forall x y, least_exponent <= de x -> least_exponent <= de y -> D2R x <> D2R y ->
  (bpow radix2 least_exponent <= Rabs (D2R x - D2R y))%R.
Proof.
  intros x y Hx Hy H. unfold D2R in *.
  rewrite (F2R_change_exp radix2 least_exponent (dm x) (de x)) in * by assumption.
  rewrite (F2R_change_exp radix2 least_exponent (dm y) (de y)) in * by assumption.
  set (m := dm x * _) in *. set (n := dm y * _) in *.
  unfold F2R; cbn [Fnum Fexp]. rewrite <- Rmult_minus_distr_r, Rabs_mult, (Rabs_pos_eq (bpow _ _)) by apply bpow_ge_0.
  rewrite <- minus_IZR, <- abs_IZR. rewrite <- (Rmult_1_l (bpow radix2 least_exponent)) at 1.
  apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. assert (m <> n) by (intros E; apply H; now rewrite E). lia.
Qed.

Lemma zip_facts : forall x y : list dy, length x = length y ->
  forallb (fun u => least_exponent <=? de u) x = true -> forallb (fun u => least_exponent <=? de u) y = true ->
  exists l, zip_with (fun u v => Some (u, v)) x y = Some l /\ forall2b equal x y = forallb (fun q => equal (fst q) (snd q)) l
            /\ Forall (fun q => least_exponent <= de (fst q) /\ least_exponent <= de (snd q)) l.
Proof.
  induction x as [|u x IH]; intros [|v y] L Hx Hy; try discriminate; simpl in *; [now exists []|].
  apply andb_true_iff in Hx; apply andb_true_iff in Hy. destruct Hx as [Hu Hx], Hy as [Hv Hy]. apply Z.leb_le in Hu, Hv.
  destruct (IH y) as [l [E1 [E2 E3]]]; auto. rewrite E1, E2. exists ((u, v) :: l). simpl. auto.
Qed.

Lemma pairs_facts : forall h p, shape_of h = shape_of p -> coarse h = true -> coarse p = true ->
  exists l, pairs_of h p = Some l /\ equal2 h p = forallb (fun q => equal (fst q) (snd q)) l
            /\ Forall (fun q => least_exponent <= de (fst q) /\ least_exponent <= de (snd q)) l.
Proof.
  unfold pairs_of. induction h as [|x h IH]; intros [|y p] L Hh Hp; try discriminate; cbn [zip_with].
  - exists []. repeat split; constructor.
  - injection L as L1 L2. cbn [coarse forallb] in Hh, Hp. apply andb_true_iff in Hh; apply andb_true_iff in Hp.
    destruct Hh as [Hx Hh], Hp as [Hy Hp]. destruct (zip_facts x y L1 Hx Hy) as [l [E1 [E2 E3]]].
    destruct (IH p L2 Hh Hp) as [m [M1 [M2 M3]]]. rewrite E1. cbn [bind].
    destruct (zip_with _ h p) as [z|]; cbn [bind] in *; [|discriminate]. injection M1 as <-.
    exists (l ++ concat z). split; [reflexivity|]. unfold equal2 in *. cbn [forall2b]. rewrite E2, M2, forallb_app.
    split; [reflexivity|]. apply Forall_app. now split.
Qed.

Lemma compare_codeword : forall g h pf p, crel decoding g h -> crel decoding pf p ->
  shape_of h = shape_of p -> coarse h = true -> coarse p = true ->
  exists r, square_of_distance fo g pf = Some r /\
  if equal2 h p then rel r (D 0 0) else is_finite r = true -> (0 < B2R r)%R.
Proof.
  intros g h pf p Rg Rp L Hh Hp. destruct (pairs_facts h p L Hh Hp) as [l [E1 [E2 E3]]].
  pose proof (pairs_rel _ _ _ _ Rg Rp) as R. rewrite E1 in R. cbn [orel] in R. unfold square_of_distance.
  destruct (pairs_of g pf) as [m|]; [|contradiction]. cbn [bind].
  rewrite E2. destruct (forallb (fun q => equal (fst q) (snd q)) l) eqn:A.
  - apply equal_squares; [|apply zero_rel]. clear -R A.
    induction R as [|[x y] [u v] m l [[F1 V1] [F2 V2]] R IH]; constructor; cbn [forallb fst snd] in *;
      apply andb_true_iff in A; [|tauto].
    destruct A as [A _]. apply equal_values in A. unfold equal_pair; cbn [fst snd]. rewrite V1, V2. auto.
  - destruct (squares_given m (zero fo)) as [r Hr]. exists r. split; [exact Hr|]. intros Fr.
    destruct (squares_finite _ _ _ Hr Fr) as [_ [_ P]]; [simpl; lra|]. apply P. clear -R A E3.
    induction R as [|[x y] [u v] m l [[F1 V1] [F2 V2]] R IH]; cbn [forallb fst snd] in *; [discriminate|]. inversion E3; subst.
    destruct (equal u v) eqn:E; [right; now apply IH|left]. unfold apart; cbn [fst snd] in *. rewrite V1, V2.
    apply different_apart; try tauto. intros C. apply equal_values in C. congruence.
Qed.

Lemma shapes_equal : forall x y, forall2b Nat.eqb x y = true -> x = y.
Proof. apply forall2b_eq. intros a b. apply Nat.eqb_eq. Qed.

(* The fold over the squares, beside the search for the one equal codeword. *)
Definition positive (s : option dy) : Prop := match s with None => True | Some d => (0 < D2R d)%R end.
Definition agrees (found : option N) (best : option N * option dy) : Prop :=
  match found with
  | None => positive (snd best)
  | Some label => exists z, best = (Some label, Some z) /\ D2R z = 0%R
  end.

Lemma nearer_positive : forall found best s label, agrees found best -> positive s -> agrees found (nearer best (s, label)).
Proof.
  intros [l|] best [d|] label A P; unfold nearer; cbn [fst snd]; auto; cbn [positive] in P.
  - destruct A as [z [-> Z0]]. cbn [snd]. rewrite !dltb_real, Rlt_bool_false, Rlt_bool_true by lra. now exists z.
  - cbn [agrees] in *. destruct best as [b [z|]]; cbn [snd] in *; [|exact P].
    destruct (dltb d z); [exact P|]. destruct (dltb z d); exact A.
Qed.

Lemma exactly_positive : forall r : F, (is_finite r = true -> (0 < B2R r)%R) -> positive (val fo r).
Proof.
  intros r H. change (val fo r) with (exactly r). destruct (is_finite r) eqn:E.
  - assert (K : rel r (match exactly r with Some d => d | None => D 0 0 end)).
    { split; [assumption|]. destruct r; try discriminate; simpl; [unfold D2R; simpl; now rewrite F2R_0|reflexivity]. }
    destruct K as [_ K]. specialize (H eq_refl). destruct r; try discriminate; simpl in *; rewrite <- K; assumption.
  - destruct r; try discriminate; exact I.
Qed.

Lemma search_agrees : forall codes cs book h g, ready_codewords codes = Some cs -> coarse h = true -> crel decoding g h ->
  forall found label, only_equal cs book (shape_of h) h found = Some label -> forall best, agrees found best ->
  exists sq, squares fo codes book g = Some sq /\ fst (fold_left nearer sq best) = Some label.
Proof.
  unfold ready_codewords, squares. intros codes cs book h g Hc Hh Rg. rewrite traverse_is in Hc.
  rewrite traverse_is. revert cs Hc. induction codes as [|c codes IH]; intros cs Hc found label E best A;
    cbn [traverse_by_hand filter] in *.
  - injection Hc as <-. cbn [only_equal] in E. subst found. destruct A as [z [-> _]]. exists []. split; reflexivity.
  - apply bind_some in Hc; destruct Hc as [r [Hr Hc]]. apply bind_some in Hc; destruct Hc as [cs' [Hc' Hc]]. injection Hc as <-.
    apply bind_some in Hr; destruct Hr as [p [Hp Hr]]. destruct (coarse p) eqn:Cp; [|discriminate]. injection Hr as <-.
    cbn [only_equal r_book r_label r_shape r_place] in E. destruct (N.eqb (in_book c) book);
      [|now apply IH with (cs := cs') (found := found)].
    destruct (forall2b Nat.eqb (shape_of h) (shape_of p)) eqn:Sh; [|discriminate]. apply shapes_equal in Sh.
    cbn [traverse_by_hand].
    pose proof (conv_columns_rel decoding _ _ (same2_refl (place c))) as Rp. change (zops decoding) with zdops in Rp.
    rewrite Hp in Rp.
    cbn [orel] in Rp. destruct (conv_columns fo (place c)) as [pf|]; [|contradiction]. cbn [bind].
    destruct (compare_codeword _ _ _ _ Rg Rp Sh Hh Cp) as [r [Hr Kr]]. rewrite Hr. cbn [bind].
    destruct (equal2 h p).
    + destruct found as [l|]; [discriminate|].
      pose proof (exactly_rel _ _ _ Kr) as X. change (exactly r) with (val fo r) in X. destruct (val fo r) as [d|];
        [|contradiction].
      cbn [orel] in X. unfold same in X. assert (D0 : D2R d = 0%R) by (rewrite X; unfold D2R; simpl; now rewrite F2R_0).
      destruct (IH cs' Hc' _ _ E (nearer best (Some d, stands_for c))) as [sq [S1 S2]].
      { cbn [agrees] in *. exists d. split; [|assumption]. destruct best as [b [z|]]; cbn [snd] in A; unfold nearer;
          cbn [fst snd]; [|reflexivity].
        cbn [positive] in A. rewrite dltb_real, Rlt_bool_true by lra. reflexivity. }
      rewrite S1. cbn [bind]. eexists; split; [reflexivity|exact S2].
    + destruct (IH cs' Hc' _ _ E (nearer best (val fo r, stands_for c))) as [sq [S1 S2]].
      { apply nearer_positive; [assumption|]. now apply exactly_positive. }
      rewrite S1. cbn [bind]. eexists; split; [reflexivity|exact S2].
Qed.

(* A number that is equal to a float is that float when it is rounded. *)
Definition representable (x y : dy) : Prop := same x y /\ exists f : F, is_finite f = true /\ B2R f = D2R y.
Lemma conv_representable : forall x y, representable x y -> orel rel (conv fo x) (Some y).
Proof.
  intros x y [S [f [Ff Ef]]]. change (conv fo x) with (Some (nearest_float (sums decoding) x)). cbn [orel]. unfold same in S.
  pose proof (binary_normalize_correct _ _ (positive_prec (sums decoding)) (large_emax (sums decoding)) mode_NE (dm x) (de x) false) as H.
  cbv zeta in H. change (F2R (Float radix2 (dm x) (de x))) with (D2R x) in H. rewrite S, <- Ef in H.
  rewrite round_generic in H by (auto with typeclass_instances; apply generic_format_B2R).
  rewrite Rlt_bool_true in H by apply abs_B2R_lt_emax. rewrite Ef in H. unfold is_number, nearest_float. tauto.
Qed.
Lemma traverse_same : forall A (l : list A), traverse Some l = Some l.
Proof. intros. rewrite traverse_is. induction l; simpl; [reflexivity|]. now rewrite IHl. Qed.

Lemma conv_all_representable : forall h k, Forall2 (Forall2 representable) h k -> exists g, conv_columns fo h = Some g /\ crel decoding g k.
Proof.
  intros h k R. assert (O : orel (crel decoding) (conv_columns fo h) (traverse (traverse Some) k)).
  { eapply traverse_rel; [|exact R]. intros. eapply traverse_rel; [|eassumption]. intros. now apply conv_representable. }
  assert (E : traverse (traverse Some) k = Some k).
  { rewrite traverse_is. clear. induction k; cbn [traverse_by_hand]; [reflexivity|]. rewrite traverse_same, IHk. reflexivity. }
  rewrite E in O. cbn [orel] in O. destruct (conv_columns fo h) as [g|]; [|contradiction]. now exists g.
Qed.

(* Where the shortcut finds a codeword, h is representable. *)
Lemma found_equal : forall cs book shape h found label, only_equal cs book shape h found = Some label ->
  found = None -> exists c, In c cs /\ equal2 h (r_place c) = true.
Proof.
  induction cs as [|c cs IH]; intros book shape h found label E F0; subst; cbn [only_equal] in E; [discriminate|].
  destruct (N.eqb (r_book c) book).
  - destruct (forall2b Nat.eqb shape (r_shape c)); [|discriminate]. destruct (equal2 h (r_place c)) eqn:Q.
    + exists c. split; [now left|assumption].
    + destruct (IH _ _ _ _ _ E eq_refl) as [d [D1 D2]]. exists d. split; [now right|assumption].
  - destruct (IH _ _ _ _ _ E eq_refl) as [d [D1 D2]]. exists d. split; [now right|assumption].
Qed.

Lemma forall2b_Forall2 : forall A B (f : A -> B -> bool) (P : A -> B -> Prop), (forall a b, f a b = true -> P a b) ->
  forall x y, forall2b f x y = true -> Forall2 P x y.
Proof.
  intros A B f P H. induction x; intros [|b y] E; simpl in E; try discriminate; constructor; apply andb_true_iff in E;
    [apply H; tauto|].
  apply IHx. tauto.
Qed.

Lemma representable_column : forall x y z w, Forall2 same x y -> forall2b equal y z = true -> Forall2 rel w z -> Forall2 representable x y.
Proof.
  intros x y z w S. revert z w. induction S as [|u v x y S1 S IH]; intros z w E R; [constructor|].
  destruct z as [|c z]; [discriminate|]. cbn [forall2b] in E. apply andb_true_iff in E; destruct E as [E1 E2].
  inversion R as [|f ? w' ? [R1 R2] R']; subst. constructor; [|now apply (IH z w')].
  split; [assumption|]. exists f. apply equal_values in E1. split; [assumption|congruence].
Qed.

Lemma representable_columns : forall h k p g, same2 h k -> equal2 k p = true -> crel decoding g p -> Forall2 (Forall2 representable) h k.
Proof.
  intros h k p g S. revert p g. induction S as [|u v h k S1 S IH]; intros p g E R; [constructor|].
  destruct p as [|c p]; [discriminate|]. unfold equal2 in E. cbn [forall2b] in E. apply andb_true_iff in E; destruct E as [E1 E2].
  inversion R as [|f ? w' ? R1 R']; subst. constructor; [|now apply (IH p w')].
  now apply (representable_column u v c f).
Qed.

Lemma shortcut_sound : forall codes book h k label, same2 h k -> shortcut (ready_codewords codes) book k = Some label ->
  decode fo codes book h = Some label.
Proof.
  intros codes book h k label S H. unfold shortcut in H. apply bind_some in H; destruct H as [cs [Hc H]].
  destruct (coarse k) eqn:Ck; [|discriminate].
  destruct (found_equal _ _ _ _ _ _ H eq_refl) as [c [Hin He]].
  assert (P : exists p pf, r_place c = p /\ crel decoding pf p).
  { clear -Hc Hin. unfold ready_codewords in Hc. rewrite traverse_is in Hc. revert cs Hc Hin.
    induction codes as [|d codes IH]; intros cs Hc Hin; cbn [traverse_by_hand] in Hc; [injection Hc as <-; contradiction|].
    apply bind_some in Hc; destruct Hc as [r [Hr Hc]]. apply bind_some in Hc; destruct Hc as [cs' [Hc' Hc]]. injection Hc as <-.
    destruct Hin as [->|Hin]; [|now apply (IH cs')].
    apply bind_some in Hr; destruct Hr as [p [Hp Hr]]. destruct (coarse p); [|discriminate]. injection Hr as <-.
    pose proof (conv_columns_rel decoding _ _ (same2_refl (place d))) as Rp. change (zops decoding) with zdops in Rp.
    rewrite Hp in Rp.
    cbn [orel] in Rp. destruct (conv_columns fo (place d)) as [pf|]; [|contradiction]. exists p, pf. now split. }
  destruct P as [p [pf [<- Rp]]].
  destruct (conv_all_representable h k) as [g [G1 G2]]; [eapply representable_columns; eassumption|].
  unfold decode. rewrite G1. cbn [bind].
  destruct (search_agrees _ _ _ _ _ Hc Ck G2 _ _ H (None, None)) as [sq [S1 S2]]; [exact I|]. rewrite S1. exact S2.
Qed.

(* What the checker decodes, the specification decodes. *)
Theorem decoder_rel : forall codes book h k, same2 h k -> orel eq (decode fo codes book h) (z_decode codes book k).
Proof.
  intros codes book h k S. unfold z_decode. destruct (shortcut (ready_codewords codes) book k) as [label|] eqn:E.
  - cbn [orel]. now rewrite (shortcut_sound _ _ _ _ _ S E).
  - now apply decode_rel.
Qed.
