(* The checker of letters composed into maps, for layers that move numbers (Composed.v), and its soundness. *)
From Coq Require Import ZArith NArith Arith List Bool Lia Reals Lra.
From Flocq Require Import Core BinarySingleNaN.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Closed Ieee Decoder AnySum AnyOrder Composed.
Import ListNotations.
Open Scope Z_scope.

Section Checker.
Variable f : format.
Notation columns := (columns_of dy).

(* ---- Matrices that move ---- *)
Definition unit_weight (t : term dy) : bool :=
  match t with Times w _ => (dm w =? 0) || deqb w (D 1 0) || deqb w (D (-1) 0) | _ => true end.
Definition place_in_row (t : term dy) : list N :=
  match t with Pick k => [k] | Minus k => [k] | Times w k => if dm w =? 0 then [] else [k] end.
Definition places_in_row (row : list (term dy)) : list N := flat_map place_in_row row.
Fixpoint distinct (l : list N) : bool := match l with [] => true | x :: l' => negb (existsb (N.eqb x) l') && distinct l' end.
Definition moves_rows (n : nat) (rs : list (list (term dy))) : bool :=
  Nat.eqb (length rs) n && forallb (forallb unit_weight) rs && distinct (flat_map places_in_row rs).
Definition moves_layer (l : layer dy) : bool :=
  let n := match initial l with c :: _ => length c | [] => O end in
  forallb (fun c => Nat.eqb (length c) n) (initial l)
  && forallb (fun ab => match fst ab with Rows rs => moves_rows n rs | _ => false end) (actions l).

(* ---- What words add ---- *)
Definition zero_columns (h : columns) : columns := map (map (fun _ => D 0 0)) h.
Definition same_columns : columns -> columns -> bool := forall2b (forall2b deqb).
Definition act_exactly (K : columns) (ab : matrix dy * option columns) : option columns := exact_act f (fst ab) (snd ab) K.
Definition additions_closed (l : layer dy) (bs : list columns) : bool :=
  match bs with
  | b0 :: _ => same_columns b0 (zero_columns (initial l))
      && forallb (fun b => forallb (fun ab => match act_exactly b ab with Some b' => existsb (same_columns b') bs | None => false end) (actions l)) bs
  | [] => false
  end.
(* A search that is not trusted. *)
Fixpoint grow (fuel : nat) (l : layer dy) (known todo : list columns) : list columns :=
  match fuel, todo with
  | S fuel', b :: todo' =>
      let '(known', todo'') := fold_left (fun kt ab => match act_exactly b ab with
        | Some b' => if existsb (same_columns b') (fst kt) then kt else (fst kt ++ [b'], snd kt ++ [b'])
        | None => kt end) (actions l) (known, todo') in grow fuel' l known' todo''
  | _, _ => known
  end.
Definition found_additions (l : layer dy) : list columns := let z := zero_columns (initial l) in grow (N.to_nat 2000) l [z] [z].

(* ---- Bounds ---- *)
Definition nonzero (l : list dy) : list dy := filter (fun x => negb (dm x =? 0)) l.
Definition grain_of (l : list dy) : Z := match l with [] => emin f | x :: l' => least (de x) l' end.
Definition size_in (g : Z) (c : list dy) : Z := snd (in_grains g (nonzero c)).
Definition fit_together (xs bs : list columns) : bool :=
  let g := grain_of (nonzero (concat (concat (xs ++ bs)))) in
  let s := fold_right Z.max 0 (map (size_in g) (concat xs)) in
  let m := fold_right Z.max 0 (map (fun x => size_in g [x]) (concat (concat bs))) in
  (emin f <=? g) && (prec f + g <? emax f) && (s + m <=? 2 ^ prec f).

Definition layer_composes (zs : list columns) (l : layer dy) : bool :=
  moves_layer l && (let bs := found_additions l in additions_closed l bs && fit_together bs bs && fit_together zs bs).

Fixpoint by_layer (ls : list (layer dy)) (ess : list (list (columns * N))) : list (list columns) :=
  match ls with
  | [] => []
  | _ :: ls' => flat_map (fun ss => match ss with s :: _ => [fst s] | [] => [] end) ess :: by_layer ls' (map (@tl _) ess)
  end.

(* Besides `check_any_order`. *)
Definition check_associations (m : model) (es : list entry) : bool :=
  (emin f <=? 0)
  && match traverse (conv_layer (zops (Arithmetic f false None))) (layers m) with
     | Some ls => forallb (fun e => Nat.eqb (length (remembered e)) (length ls)) es
                  && forall2b layer_composes (by_layer ls (map remembered es)) ls
     | None => false
     end.

(* ================ Soundness ================ *)
Open Scope R_scope.

Lemma distinct_nodup : forall l, distinct l = true -> NoDup l.
Proof.
  induction l as [|x l IH]; intros H; constructor; cbn [distinct] in H; apply andb_true_iff in H; destruct H as [H1 H2]; [|auto].
  intros C. apply negb_true_iff in H1. assert (existsb (N.eqb x) l = true); [|congruence].
  apply existsb_exists. exists x. split; [exact C|apply N.eqb_refl].
Qed.

Lemma unit_coefficient : forall t j, unit_weight t = true -> coefficient t j = 0 \/ (place_in_row t = [N.of_nat j] /\ Rabs (coefficient t j) = 1).
Proof.
  intros t j U. assert (M1 : Rabs (-1) = 1) by (rewrite Rabs_left; lra).
  destruct t as [k|k|w k]; cbn [coefficient place_in_row unit_weight] in *;
    destruct (Nat.eqb_spec (N.to_nat k) j) as [<-|Ne]; auto.
  - right. rewrite N2Nat.id, Rabs_R1. auto.
  - right. rewrite N2Nat.id. auto.
  - destruct (Z.eqb_spec (dm w) 0) as [E|E]; [left; now apply D2R_0|]. right. rewrite N2Nat.id. split; [reflexivity|].
    cbn [orb] in U. apply orb_true_iff in U; destruct U as [U|U]; apply deqb_eq in U; subst w.
    + rewrite real_one. apply Rabs_R1.
    + rewrite real_minus_one. exact M1.
Qed.

Lemma coefficient_elsewhere : forall t j, ~ In (N.of_nat j) (place_in_row t) -> coefficient t j = 0.
Proof.
  intros t j H. destruct t as [k|k|w k]; cbn [coefficient place_in_row] in *;
    destruct (Nat.eqb_spec (N.to_nat k) j) as [<-|Ne]; auto; rewrite N2Nat.id in H.
  - exfalso. apply H. now left.
  - exfalso. apply H. now left.
  - destruct (Z.eqb_spec (dm w) 0) as [E|E]; [now apply D2R_0|]. exfalso. apply H. now left.
Qed.

Lemma row_elsewhere : forall row j, ~ In (N.of_nat j) (places_in_row row) -> row_coefficient row j = 0.
Proof.
  induction row as [|t row IH]; intros j H; cbn [row_coefficient places_in_row flat_map] in *; [reflexivity|].
  rewrite coefficient_elsewhere, IH; [ring| |]; intros C; apply H; apply in_or_app; auto.
Qed.

Lemma nodup_app : forall A (l k : list A), NoDup (l ++ k) -> NoDup l /\ NoDup k /\ forall x, In x l -> ~ In x k.
Proof.
  induction l as [|x l IH]; intros k H; cbn [app] in *; [repeat split; auto; constructor|].
  inversion H as [|? ? H1 H2]; subst. destruct (IH k H2) as [I1 [I2 I3]]. split; [|split; [exact I2|]].
  - constructor; [|exact I1]. intros C. apply H1. apply in_or_app. now left.
  - intros y [<-|Hy]; [|now apply I3]. intros C. apply H1. apply in_or_app. now right.
Qed.

Lemma row_unit : forall row j, forallb unit_weight row = true -> NoDup (places_in_row row) -> In (N.of_nat j) (places_in_row row) ->
  Rabs (row_coefficient row j) = 1.
Proof.
  induction row as [|t row IH]; intros j U ND H; cbn [row_coefficient places_in_row flat_map forallb] in *; [contradiction|].
  apply andb_true_iff in U; destruct U as [U1 U2]. apply nodup_app in ND; destruct ND as [N1 [N2 N3]].
  apply in_app_or in H; destruct H as [H|H].
  - rewrite row_elsewhere by (now apply N3). rewrite Rplus_0_r. destruct (unit_coefficient t j U1) as [Z|[_ Z]]; [|exact Z].
    exfalso. clear -H Z U1. destruct t as [k|k|w k]; cbn [place_in_row coefficient unit_weight] in *.
    + destruct H as [->|[]]. rewrite Nat2N.id, Nat.eqb_refl in Z. lra.
    + destruct H as [->|[]]. rewrite Nat2N.id, Nat.eqb_refl in Z. lra.
    + destruct (Z.eqb_spec (dm w) 0); [contradiction|]. destruct H as [->|[]]. rewrite Nat2N.id, Nat.eqb_refl in Z.
      cbn [orb] in U1. apply orb_true_iff in U1; destruct U1 as [U|U]; apply deqb_eq in U; subst w;
        [rewrite real_one in Z|rewrite real_minus_one in Z]; lra.
  - rewrite coefficient_elsewhere; [rewrite Rplus_0_l; now apply IH|]. intros C. now apply (N3 _ C).
Qed.

Definition value_at (rs : list (list (term dy))) (i j : nat) : R :=
  match nth_error rs i with Some row => row_coefficient row j | None => 0 end.
Lemma rows_unit_like : forall rs j, forallb (forallb unit_weight) rs = true -> NoDup (flat_map places_in_row rs) ->
  (forall i, value_at rs i j = 0) \/ exists k, (k < length rs)%nat /\ Rabs (value_at rs k j) = 1 /\ forall i, i <> k -> value_at rs i j = 0.
Proof.
  unfold value_at. induction rs as [|row rs IH]; intros j U ND; cbn [forallb flat_map length] in *.
  - left. intros [|i]; reflexivity.
  - apply andb_true_iff in U; destruct U as [U1 U2]. apply nodup_app in ND; destruct ND as [N1 [N2 N3]].
    destruct (in_dec N.eq_dec (N.of_nat j) (places_in_row row)) as [H|H].
    + right. exists O. split; [lia|]. split; [now apply row_unit|]. intros [|i] Ne; [congruence|]. cbn [nth_error].
      destruct (nth_error rs i) as [r|] eqn:E; [|reflexivity]. apply row_elsewhere. intros C. apply (N3 _ H). apply in_flat_map.
      exists r. split; [now apply nth_error_In in E|exact C].
    + destruct (IH j U2 N2) as [Z|[k [Hk [Rk Z]]]].
      * left. intros [|i]; cbn [nth_error]; [now apply row_elsewhere|apply Z].
      * right. exists (S k). split; [lia|]. split; [exact Rk|]. intros [|i] Ne; cbn [nth_error]; [now apply row_elsewhere|].
        apply Z. congruence.
Qed.

(* ---- Exact steps as maps of reals ---- *)

Lemma exact_sum_value : forall ps r, exact_sum f ps = Some r -> D2R r = fold_right (fun x s => D2R x + s) 0 ps.
Proof.
  intros ps r H. unfold exact_sum in H. set (k := filter _ (map norm ps)) in *.
  set (g := match k with [] => emin f | x :: l' => least (de x) l' end) in *.
  destruct (in_grains g k) as [s a] eqn:E. destruct ((emin f <=? g)%Z && _ && _)%bool; [|discriminate]. injection H as <-.
  assert (G : Forall (fun x => (g <= de x)%Z) k).
  { unfold g. destruct k as [|x k']; constructor; [apply least_le|]. apply least_le. }
  destruct (in_grains_correct g k G _ _ E) as [S1 _]. unfold k in S1. rewrite (zeros_dropped D2R) in S1; [|auto|intros;
    apply norm_correct].
  rewrite norm_correct. exact S1.
Qed.

Lemma product_real : forall x t d, product (mk x) t = Some d -> D2R d = sumR (length x) (fun j => coefficient t j * reals_of x j).
Proof.
  assert (K : forall x k v (c : nat -> R), nth_error x (N.to_nat k) = Some v -> (forall j, j <> N.to_nat k -> c j = 0) ->
    sumR (length x) (fun j => c j * reals_of x j) = c (N.to_nat k) * D2R v).
  { intros x k v c E Z. rewrite (sumR_one (length x) _ (N.to_nat k)).
    - unfold reals_of. now rewrite E.
    - apply nth_error_Some. congruence.
    - intros j _ Ne. rewrite Z by assumption. ring. }
  intros x t d H. destruct t as [k|k|w k]; cbn [product coefficient] in *; rewrite mk_nth in H;
    destruct (nth_error x (N.to_nat k)) as [v|] eqn:E; try discriminate;
    cbn [option_map] in H; injection H as <-; rewrite (K x k v) by (exact E || (intros j Ne;
      destruct (Nat.eqb_spec (N.to_nat k) j); [congruence|reflexivity]));
    rewrite Nat.eqb_refl.
  - ring.
  - rewrite dopp_correct. ring.
  - rewrite dmul_correct. ring.
Qed.

Lemma row_real : forall x row b y, exact_row f (mk x) row b = Some y ->
  D2R y = sumR (length x) (fun j => row_coefficient row j * reals_of x j) + match b with None => 0 | Some w => D2R w end.
Proof.
  intros x row b y H. unfold exact_row in H. apply bind_some in H; destruct H as [ps [H1 H2]]. apply exact_sum_value in H2.
  rewrite H2. clear H2 y.
  assert (P : fold_right (fun x s => D2R x + s) 0 ps = sumR (length x) (fun j => row_coefficient row j * reals_of x j)).
  { rewrite traverse_is in H1. revert ps H1. induction row as [|t row IH]; intros ps H;
      cbn [traverse_by_hand row_coefficient] in *.
    - injection H as <-. cbn [fold_right]. symmetry. apply sumR_0. intros. ring.
    - apply bind_some in H; destruct H as [d [H1 H]]. apply bind_some in H; destruct H as [ds [H2 H]]. injection H as <-.
      cbn [fold_right].
      rewrite (IH ds H2), (product_real _ _ _ H1), <- sumR_plus. apply sumR_ext. intros. ring. }
  destruct b as [w|]; [|rewrite P; ring]. rewrite fold_right_app. cbn [fold_right]. rewrite Rplus_0_r, <- P.
  clear. induction ps as [|p ps IH]; cbn [fold_right]; [ring|]. rewrite IH. ring.
Qed.

Lemma rows_real : forall x rs b ys, exact_rows f (mk x) rs b = Some ys -> length ys = length rs /\
  forall i row, nth_error rs i = Some row -> exists y, nth_error ys i = Some y /\
    D2R y = sumR (length x) (fun j => row_coefficient row j * reals_of x j) + match b with None => 0 | Some c => reals_of c i end.
Proof.
  induction rs as [|r rs IH]; intros b ys H; cbn [exact_rows] in H.
  - destruct b as [[|w b]|]; try discriminate; injection H as <-; (split; [reflexivity|]); intros [|i] row E; discriminate.
  - destruct b as [[|w b]|]; [discriminate| |]; apply bind_some in H; destruct H as [y [H1 H]]; apply bind_some in H;
      destruct H as [t [H2 H]];
      injection H as <-; destruct (IH _ _ H2) as [L I]; (split; [cbn [length]; congruence|]); intros [|i] row E;
        cbn [nth_error] in *.
    + injection E as <-. exists y. split; [reflexivity|]. rewrite (row_real _ _ _ _ H1). reflexivity.
    + destruct (I i row E) as [z [Z1 Z2]]. exists z. split; [exact Z1|exact Z2].
    + injection E as <-. exists y. split; [reflexivity|]. exact (row_real _ _ _ _ H1).
    + exact (I i row E).
Qed.

Lemma act_columns : forall m b K K', exact_act f m b K = Some K' -> length K' = length K /\ forall c col, nth_error K c = Some col ->
  exists col', nth_error K' c = Some col' /\ exact_column f m (match b with Some k => nth_error k c | None => None end) col = Some col'.
Proof.
  intros m b K. revert b. induction K as [|x K IH]; intros b K' H; cbn [exact_act] in H.
  - destruct b as [[|k b]|]; try discriminate; injection H as <-; (split; [reflexivity|]); intros [|c] col E; discriminate.
  - destruct b as [[|k b]|]; [discriminate| |]; apply bind_some in H; destruct H as [y [H1 H]]; apply bind_some in H;
      destruct H as [L [H2 H]];
      injection H as <-; destruct (IH _ _ H2) as [I1 I2]; (split; [cbn [length]; congruence|]); intros [|c] col E;
        cbn [nth_error] in *.
    + injection E as <-. now exists y.
    + exact (I2 c col E).
    + injection E as <-. now exists y.
    + exact (I2 c col E).
Qed.

(* ---- One layer ---- *)
Section Layer.
Variables (L : layer dy) (dec : list codeword -> N -> columns_of dy -> option N).
Hypothesis units : has_units f = true.
Hypothesis unit_grain : (emin f <= 0)%Z.
Notation l := (open_layer dec L).
Notation n := (height l).
Variables zs bs : list columns.
Hypothesis shape : moves_layer L = true.
Hypothesis bs_closed : additions_closed L bs = true.
Hypothesis bs_fit : fit_together bs bs = true.
Hypothesis zs_fit : fit_together zs bs = true.

Lemma shapes : Forall (fun c => length c = n) (initial L) /\ forall ab, In ab (actions L) -> exists rs, fst ab = Rows rs /\ moves_rows n rs = true.
Proof.
  unfold moves_layer in shape. apply andb_true_iff in shape; destruct shape as [S1 S2]. rewrite forallb_forall in S1, S2.
  change (match initial L with [] => O | c :: _ => length c end) with n in *. split.
  - rewrite Forall_forall. intros c Hc. apply Nat.eqb_eq. now apply S1.
  - intros ab Hab. specialize (S2 ab Hab). destruct (fst ab) as [rs|fs|fs]; try discriminate. now exists rs.
Qed.

Lemma action_shape : forall a ab, act_at l a = Some ab -> exists rs, fst ab = Rows rs /\ length rs = n
  /\ forallb (forallb unit_weight) rs = true /\ NoDup (flat_map places_in_row rs).
Proof.
  intros a ab H. cbn [act_at open_layer] in H. apply mk_in in H. destruct shapes as [_ S]. destruct (S ab H) as [rs [E M]].
  exists rs. split; [exact E|].
  unfold moves_rows in M. apply andb_true_iff in M; destruct M as [M M3]. apply andb_true_iff in M; destruct M as [M1 M2].
  apply Nat.eqb_eq in M1. apply distinct_nodup in M3. auto.
Qed.

Lemma layer_moves : forall a j, (j < n)%nat -> unit_like n (fun i => entry_of l a i j).
Proof.
  intros a j Hj. unfold entry_of. destruct (act_at l a) as [[m b]|] eqn:E; [|left; auto].
  destruct (action_shape a _ E) as [rs [E1 [Ln [U ND]]]]. cbn [fst] in E1. subst m.
  destruct (rows_unit_like rs j U ND) as [Z|[k [Hk [Rk Z]]]].
  - left. intros i Hi. apply (Z i).
  - right. exists k. split; [lia|]. split; [exact Rk|]. intros i Hi Ne. now apply (Z i).
Qed.

Definition sized (K : columns) : Prop := length K = length (initial L) /\ forall c col, nth_error K c = Some col -> length col = n.

(* One exact step is the affine map of its action, column by column. *)
Lemma step_real : forall a ab K K', act_at l a = Some ab -> act_exactly K ab = Some K' -> sized K -> sized K' /\
  forall c col, nth_error K c = Some col -> exists col', nth_error K' c = Some col' /\
  same_vec n (reals_of col') (affine_letter n (entry_of l) (addition_of l c) a (reals_of col)).
Proof.
  intros a [m b] K K' Ha H [Z1 Z2]. unfold act_exactly in H; cbn [fst snd] in H.
  destruct (action_shape a _ Ha) as [rs [E1 [Ln _]]]. cbn [fst] in E1. subst m.
  destruct (act_columns _ _ _ _ H) as [Lk C].
  assert (Col : forall c col, nth_error K c = Some col -> exists col', nth_error K' c = Some col' /\ length col' = n /\
    same_vec n (reals_of col') (affine_letter n (entry_of l) (addition_of l c) a (reals_of col))).
  { intros c col Hc. destruct (C c col Hc) as [col' [C1 C2]]. exists col'. split; [exact C1|]. cbn [exact_column] in C2.
    destruct (rows_real _ _ _ _ C2) as [R1 R2]. split; [congruence|]. intros i Hi.
    destruct (nth_error rs i) as [row|] eqn:Ei; [|apply nth_error_None in Ei; lia].
    destruct (R2 i row Ei) as [y [Y1 Y2]]. unfold reals_of at 1. rewrite Y1, Y2. unfold affine_letter, apply_letter.
    rewrite (Z2 c col Hc). f_equal.
    - apply sumR_ext. intros j Hj. unfold entry_of. rewrite Ha, Ei. reflexivity.
    - unfold addition_of. rewrite Ha. destruct b as [k|]; [|reflexivity]. now destruct (nth_error k c). }
  split; [split|].
  - congruence.
  - intros c col' Hc'. assert (Hc : exists col, nth_error K c = Some col).
    { destruct (nth_error K c) eqn:E; [eauto|]. apply nth_error_None in E.
      assert (c < length K')%nat by (apply nth_error_Some; congruence). lia. }
    destruct Hc as [col Hc]. destruct (Col c col Hc) as [d [D1 [D2 _]]]. congruence.
  - intros c col Hc. destruct (Col c col Hc) as [d [D1 [_ D3]]]. eauto.
Qed.

Lemma affine_letter_ext : forall c a r s, same_vec n r s ->
  same_vec n (affine_letter n (entry_of l) (addition_of l c) a r) (affine_letter n (entry_of l) (addition_of l c) a s).
Proof. intros c a r s E i Hi. unfold affine_letter. now rewrite (apply_letter_ext n (entry_of l) a r s E i). Qed.
Lemma affine_last : forall c u a r, affine_word n (entry_of l) (addition_of l c) (u ++ [a]) r
  = affine_letter n (entry_of l) (addition_of l c) a (affine_word n (entry_of l) (addition_of l c) u r).
Proof. intros. now rewrite affine_app. Qed.

(* ---- What words add ---- *)
Definition valid (a : N) : Prop := exists ab, act_at l a = Some ab.

Lemma same_columns_eq : forall x y, same_columns x y = true -> x = y.
Proof. apply forall2b_eq. apply forall2b_eq. exact deqb_eq. Qed.

Lemma reals_of_zero : forall c i, reals_of (map (fun _ : dy => D 0 0) c) i = 0.
Proof.
  intros c i. unfold reals_of. rewrite nth_error_map. destruct (nth_error c i); cbn [option_map]; [|reflexivity]. now apply D2R_0.
Qed.

Lemma additions_found : forall u, Forall valid u -> exists K, In K bs /\ sized K /\ forall c col, nth_error K c = Some col ->
  same_vec n (reals_of col) (affine_word n (entry_of l) (addition_of l c) u zero_vec).
Proof.
  unfold additions_closed in bs_closed. destruct bs as [|b0 bs0] eqn:Ebs; [discriminate|]. rewrite <- Ebs in *.
  apply andb_true_iff in bs_closed; destruct bs_closed as [C1 C2]. apply same_columns_eq in C1. rewrite forallb_forall in C2.
  induction u as [|a u IH] using rev_ind; intros V.
  - exists b0. split; [rewrite Ebs; now left|]. subst b0. destruct shapes as [S _]. rewrite Forall_forall in S. split; [split|].
    + unfold zero_columns. apply map_length.
    + intros c col Hc. unfold zero_columns in Hc. rewrite nth_error_map in Hc.
      destruct (nth_error (initial L) c) as [k|] eqn:E; [|discriminate].
      injection Hc as <-. rewrite map_length. apply S. now apply nth_error_In in E.
    + intros c col Hc i Hi. unfold zero_columns in Hc. rewrite nth_error_map in Hc.
      destruct (nth_error (initial L) c) as [k|] eqn:E; [|discriminate].
      injection Hc as <-. apply reals_of_zero.
  - apply Forall_app in V; destruct V as [Vu Va]. destruct (IH Vu) as [K [K1 [K2 K3]]]. inversion Va as [|? ? [ab Hab] _]; subst.
    specialize (C2 K K1). rewrite forallb_forall in C2. assert (Hin : In ab (actions L)) by (cbn [act_at open_layer] in Hab;
      now apply mk_in in Hab).
    specialize (C2 ab Hin). destruct (act_exactly K ab) as [K'|] eqn:E; [|discriminate]. apply existsb_exists in C2.
    destruct C2 as [K2' [I E2]].
    apply same_columns_eq in E2. subst K2'. exists K'. split; [exact I|]. destruct (step_real a ab K K' Hab E K2) as [Z1 Z2].
    split; [exact Z1|].
    intros c col' Hc'. assert (Hc : exists col, nth_error K c = Some col).
    { destruct (nth_error K c) eqn:E'; [eauto|]. apply nth_error_None in E'. destruct K2 as [K2 _], Z1 as [Z1 _].
      assert (c < length K')%nat by (apply nth_error_Some; congruence). lia. }
    destruct Hc as [col Hc]. destruct (Z2 c col Hc) as [d [D1 D2]]. assert (d = col') by congruence. subst d.
    intros i Hi. rewrite affine_last, (D2 i Hi). apply affine_letter_ext; [|exact Hi]. now apply K3.
Qed.

(* ---- Bounds in reals ---- *)

Lemma nonzero_sum : forall (h : dy -> R), (forall x, D2R x = 0 -> h x = 0) -> forall c,
  fold_right (fun x s => h x + s) 0 (nonzero c) = fold_right (fun x s => h x + s) 0 c.
Proof.
  intros h Z0. induction c as [|x c IH]; cbn [nonzero filter fold_right]; [reflexivity|]. fold (nonzero c).
  destruct (Z.eqb_spec (dm x) 0) as [E|E]; cbn [negb fold_right]; rewrite IH; [|reflexivity]. rewrite (Z0 x (D2R_0 x E)). ring.
Qed.

Lemma size_real : forall g c, Forall (fun x => (g <= de x)%Z) (nonzero c) ->
  fold_right (fun x s => Rabs (D2R x) + s) 0 c = F2R (Float radix2 (size_in g c) g).
Proof.
  intros g c H. unfold size_in. destruct (in_grains g (nonzero c)) as [s a] eqn:E.
  destruct (in_grains_correct g _ H _ _ E) as [_ S].
  cbn [snd]. rewrite S. symmetry. apply (nonzero_sum (fun x => Rabs (D2R x))). intros x Hx. rewrite Hx. apply Rabs_R0.
Qed.

Lemma sum_of_column : forall c, sumR (length c) (fun k => Rabs (reals_of c k)) = fold_right (fun x s => Rabs (D2R x) + s) 0 c.
Proof.
  induction c as [|x c IH]; cbn [length sumR fold_right]; [reflexivity|]. unfold reals_of at 1; cbn [nth_error]. f_equal.
  exact IH.
Qed.

Lemma max_in : forall l x, In x l -> (x <= fold_right Z.max 0 l)%Z.
Proof.
  induction l as [|y l IH]; intros x H; [contradiction|]. cbn [fold_right]. destruct H as [->|H]; [lia|].
  specialize (IH x H). lia.
Qed.
Lemma max_nonneg : forall l, (0 <= fold_right Z.max 0 l)%Z.
Proof. induction l; cbn [fold_right]; lia. Qed.

Lemma fit_real : forall xs ys, fit_together xs ys = true -> exists g, (emin f <= g)%Z /\ (prec f + g < emax f)%Z /\
  forall K c col, In K xs -> nth_error K c = Some col ->
  (forall i, whole g (reals_of col i)) /\
  forall K' c' col', In K' ys -> nth_error K' c' = Some col' -> (forall i, whole g (reals_of col' i)) /\
  forall i, sumR (length col) (fun k => Rabs (reals_of col k)) + Rabs (reals_of col' i) <= bpow radix2 (prec f + g).
Proof.
  intros xs ys H. unfold fit_together in H. set (E := nonzero (concat (concat (xs ++ ys)))) in *. set (g := grain_of E) in *.
  apply andb_true_iff in H; destruct H as [H H3]. apply andb_true_iff in H; destruct H as [H1 H2].
  apply Z.leb_le in H1, H3. apply Z.ltb_lt in H2. exists g. split; [exact H1|]. split; [exact H2|].
  assert (G : Forall (fun x => (g <= de x)%Z) E).
  { unfold g, grain_of. destruct E as [|x k]; constructor; [apply least_le|]. apply least_le. }
  assert (GC : forall K col, In K (xs ++ ys) -> In col K -> Forall (fun x => (g <= de x)%Z) (nonzero col)).
  { intros K col HK Hc. rewrite Forall_forall in *. intros x Hx. apply G. unfold E, nonzero in *. apply filter_In in Hx;
      destruct Hx as [X1 X2].
    apply filter_In. split; [|exact X2]. apply in_concat. exists col. split; [|exact X1]. apply in_concat. eauto. }
  assert (W : forall K col i, In K (xs ++ ys) -> In col K -> whole g (reals_of col i)).
  { intros K col i HK Hc. unfold reals_of. destruct (nth_error col i) as [d|] eqn:Ed; [|exists 0%Z; now rewrite F2R_0].
    destruct (Z.eq_dec (dm d) 0) as [Z0|Nz]; [exists 0%Z; rewrite F2R_0; now apply D2R_0|].
    pose proof (GC K col HK Hc) as F. rewrite Forall_forall in F. exists (Z.shiftl (dm d) (de d - g)). symmetry. unfold D2R.
    apply shift_correct.
    apply F. unfold nonzero. apply filter_In. split; [now apply nth_error_In in Ed|]. apply negb_true_iff. now apply Z.eqb_neq. }
  intros K c col HK Hc. assert (Ic : In col K) by (now apply nth_error_In in Hc). split; [intros i; apply (W K); auto;
    apply in_or_app; auto|].
  intros K' c' col' HK' Hc'. assert (Ic' : In col' K') by (now apply nth_error_In in Hc'). split; [intros i; apply (W K');
    auto; apply in_or_app; auto|].
  intros i. rewrite sum_of_column, (size_real g) by (apply (GC K); auto; apply in_or_app; auto).
  assert (S : (size_in g col <= fold_right Z.max 0 (map (size_in g) (concat xs)))%Z).
  { apply max_in, in_map. apply in_concat. eauto. }
  assert (M : exists z, (0 <= z <= fold_right Z.max 0 (map (fun x => size_in g [x]) (concat (concat ys))))%Z /\ Rabs (reals_of col' i) = F2R (Float radix2 z g)).
  { unfold reals_of. destruct (nth_error col' i) as [d|] eqn:Ed.
    - exists (size_in g [d]). split.
      + split; [unfold size_in; cbn [nonzero filter]; destruct (negb (dm d =? 0)%Z); cbn [in_grains snd]; lia|].
        apply max_in. apply (in_map (fun x => size_in g [x])). apply in_concat. exists col'. split; [apply in_concat;
          eauto|]. now apply nth_error_In in Ed.
      + rewrite <- size_real.
        * cbn [fold_right]. ring.
        * pose proof (GC K' col' ltac:(apply in_or_app; auto) Ic') as F. rewrite Forall_forall in *. intros x Hx. apply F.
          unfold nonzero in *. apply filter_In in Hx; destruct Hx as [[<-|[]] X2]. apply filter_In. split;
            [now apply nth_error_In in Ed|exact X2].
    - exists 0%Z. split; [split; [lia|apply max_nonneg]|]. rewrite Rabs_R0, F2R_0. reflexivity. }
  destruct M as [z [Z1 ->]]. unfold F2R; cbn [Fnum Fexp]. rewrite <- Rmult_plus_distr_r, <- plus_IZR, bpow_plus.
  apply Rmult_le_compat_r; [apply bpow_ge_0|]. pose proof (positive_prec f) as P. unfold Prec_gt_0 in P.
  rewrite <- IZR_Zpower by lia. apply IZR_le.
  change (radix2 ^ prec f)%Z with (2 ^ prec f)%Z. lia.
Qed.

(* ---- States ---- *)

Inductive reached : list N -> columns -> Prop :=
  | Reached_start : In (initial L) zs -> reached [] (initial L)
  | Reached_next : forall u a ab K K', reached u K -> act_at l a = Some ab -> act_exactly K ab = Some K' -> In K' zs -> reached (u ++ [a]) K'.

Lemma reached_in : forall u K, reached u K -> In K zs.
Proof. induction 1; assumption. Qed.
Lemma reached_sized : forall u K, reached u K -> sized K.
Proof.
  induction 1 as [H|u a ab K K' R IH Ha H I].
  - split; [reflexivity|]. destruct shapes as [S _]. rewrite Forall_forall in S. intros c col Hc. apply S.
    now apply nth_error_In in Hc.
  - now destruct (step_real a ab K K' Ha H IH).
Qed.
Lemma reached_last : forall u a K', reached (u ++ [a]) K' -> exists ab K, reached u K /\ act_at l a = Some ab /\ act_exactly K ab = Some K'.
Proof.
  intros u a K' H. inversion H as [E|u' a' ab K K'' R Ha HE I E1 E2].
  - destruct u; discriminate.
  - apply app_inj_tail in E1. destruct E1; subst. eauto.
Qed.
Lemma reached_nil : forall K, reached [] K -> K = initial L.
Proof. intros K H. inversion H as [|u a ab K0 K' R Ha HE I E]; [reflexivity|]. now destruct u. Qed.

Lemma reached_split : forall v u K', reached (u ++ v) K' -> exists K, reached u K /\ Forall valid v /\
  forall c col, nth_error K c = Some col -> exists col', nth_error K' c = Some col' /\
  same_vec n (reals_of col') (affine_word n (entry_of l) (addition_of l c) v (reals_of col)).
Proof.
  induction v as [|a v IH] using rev_ind; intros u K' H.
  - rewrite app_nil_r in H. exists K'. split; [exact H|]. split; [constructor|]. intros c col Hc. exists col. split;
      [exact Hc|]. intros i Hi. reflexivity.
  - rewrite app_assoc in H. destruct (reached_last _ _ _ H) as [ab [K1 [R1 [Ha HE]]]]. destruct (IH u K1 R1) as [K [R [V C]]].
    exists K. split; [exact R|]. split; [apply Forall_app; split; [exact V|]; constructor; [now exists ab|constructor]|].
    intros c col Hc. destruct (C c col Hc) as [col1 [D1 D2]].
    destruct (step_real a ab K1 K' Ha HE (reached_sized _ _ R1)) as [_ S].
    destruct (S c col1 D1) as [col' [E1 E2]]. exists col'. split; [exact E1|]. intros i Hi. rewrite affine_last, (E2 i Hi).
    apply affine_letter_ext; [exact D2|exact Hi].
Qed.

Lemma holds_vector : forall x col, Forall2 (holds f) x col -> length col = n -> vector_is f n x (reals_of col).
Proof.
  intros x col H Ln. split; [rewrite <- Ln; clear -H; induction H; cbn [length]; congruence|].
  clear Ln. unfold reals_of. induction H as [|v d x col [O E] H IH]; intros [|i] w Hw; cbn [nth_error] in *;
    try discriminate; [|now apply IH].
  injection Hw as <-. now split.
Qed.
Lemma vector_holds : forall x col, vector_is f n x (reals_of col) -> length col = n -> Forall2 (holds f) x col.
Proof.
  intros x col [Lx H] Ln. rewrite <- Ln in Lx. clear Ln. revert x Lx H. induction col as [|d col IH]; intros [|v x] Lx H;
    try discriminate; constructor.
  - exact (H O v eq_refl).
  - apply IH; [now injection Lx|]. intros i w Hw. exact (H (S i) w Hw).
Qed.

Theorem column_exact : forall c u x, composed_column f l c u x -> forall K, reached u K -> forall k, nth_error K c = Some k -> Forall2 (holds f) x k.
Proof.
  induction 1 as [x k Hk Hx|u a m b x y _ IH Ha HC|u v M b x y _ IH HM HB HA]; intros K R k' Hk'.
  - apply reached_nil in R. subst K. change (start l) with (initial L) in Hk. assert (k = k') by congruence. now subst.
  - destruct (reached_last _ _ _ R) as [ab [K1 [R1 [Ha' HE]]]]. assert (ab = (m, b)) by congruence. subst ab.
    unfold act_exactly in HE; cbn [fst snd] in HE. destruct (act_columns _ _ _ _ HE) as [Ln C].
    assert (Hc : exists col, nth_error K1 c = Some col).
    { destruct (nth_error K1 c) eqn:E; [eauto|]. apply nth_error_None in E.
      assert (c < length K)%nat by (apply nth_error_Some; congruence). lia. }
    destruct Hc as [col Hc]. destruct (C c col Hc) as [col' [C1 C2]]. assert (col' = k') by congruence. subst col'.
    now apply column_holds with (2 := IH _ R1 _ Hc) (3 := HC).
  - destruct (reached_split v u K R) as [K1 [R1 [V C]]]. pose proof (reached_sized _ _ R1) as [S1 S2].
    pose proof (reached_sized _ _ R) as [T1 T2].
    assert (Hc : exists col, nth_error K1 c = Some col).
    { destruct (nth_error K1 c) eqn:E; [eauto|]. apply nth_error_None in E.
      assert (c < length K)%nat by (apply nth_error_Some; congruence). lia. }
    destruct Hc as [col Hc]. destruct (C c col Hc) as [col' [C1 C2]]. assert (col' = k') by congruence. subst col'.
    pose proof (holds_vector _ _ (IH _ R1 _ Hc) (S2 c col Hc)) as VX.
    assert (In_c : forall K2, sized K2 -> exists c2, nth_error K2 c = Some c2).
    { intros K2 [Z1 Z2]. destruct (nth_error K2 c) eqn:E; [eauto|]. apply nth_error_None in E.
      assert (c < length K)%nat by (apply nth_error_Some; congruence). lia. }
    destruct (fit_real _ _ bs_fit) as [ga [A1 [A2 A3]]]. destruct (fit_real _ _ zs_fit) as [g [G1 [G2 G3]]].
    apply vector_holds; [|now apply (T2 c)]. eapply vector_is_ext; [|intros i Hi; symmetry; exact (C2 i Hi)].
    destruct (additions_found v V) as [Kv [Iv [Sv Cv]]]. destruct (In_c Kv Sv) as [bv Hbv].
    destruct (G3 K1 c col (reached_in _ _ R1) Hc) as [W1 W2]. destruct (W2 Kv c bv Iv Hbv) as [W3 W4].
    eapply (states_exact f units n (entry_of l) (addition_of l c) layer_moves unit_grain valid ga A1 A2); try exact HM;
      try exact HB; try exact HA; try exact VX; try exact V; try exact G1; try exact G2.
    + intros w Vw i Hi. destruct (additions_found w Vw) as [Kw [Iw [Sw Cw]]]. destruct (In_c Kw Sw) as [bw Hbw].
      rewrite <- (Cw c bw Hbw i Hi). apply (A3 Kw c bw Iw Hbw).
    + intros w w' Vw Vw' i Hi. destruct (additions_found w Vw) as [Kw [Iw [Sw Cw]]]. destruct (In_c Kw Sw) as [bw Hbw].
      destruct (additions_found w' Vw') as [Kx [Ix [Sx Cx]]]. destruct (In_c Kx Sx) as [bx Hbx].
      destruct (A3 Kw c bw Iw Hbw) as [_ B1]. destruct (B1 Kx c bx Ix Hbx) as [_ B2]. specialize (B2 i).
      destruct Sw as [_ Sw]. rewrite (Sw c bw Hbw) in B2.
      rewrite <- (Cx c bx Hbx i Hi). rewrite (sumR_ext n _ (fun k => Rabs (reals_of bw k))); [exact B2|]. intros k Hk.
      now rewrite <- (Cw c bw Hbw k Hk).
    + intros i Hi. apply W1.
    + intros i Hi. rewrite <- (Cv c bv Hbv i Hi). apply W3.
    + intros i Hi. rewrite <- (Cv c bv Hbv i Hi). specialize (W4 i). rewrite (S2 c col Hc) in W4. exact W4.
Qed.
End Layer.
End Checker.
