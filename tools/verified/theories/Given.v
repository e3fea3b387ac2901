(* What AnyOrder.v says of every evaluation is not said of nothing: of a network that `check_any_order` accepts there is an
   evaluation on every word. Leans on AnyOrder.v. *)
From Coq Require Import ZArith NArith List Bool Lia Reals.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Closed Ieee Decoder AnySum AnyOrder.
Import ListNotations.

Section Given.
Variable f : format.
Hypothesis units : has_units f = true.
Notation number_of := (holds f).

(* There is a float that is the number. *)
Definition some_holds (d : dy) : Prop := exists u, number_of u d.

Lemma fit_given : forall x d, fit f x = Some d -> some_holds d.
Proof.
  intros x d H. pose proof (nearest_float_rel f x) as R. rewrite H in R. destruct R as [R1 R2].
  exists (Some_float f (nearest_float f x)). split; [|exact R2]. split; [exact R1|]. exists (nearest_float f x). now split.
Qed.

Lemma traverse_all : forall A B (g : A -> option B) (P : B -> Prop), (forall a b, g a = Some b -> P b) ->
  forall l k, traverse g l = Some k -> Forall P k.
Proof.
  intros A B g P H l k. rewrite traverse_is. revert k. induction l as [|a l IH]; intros k E; cbn [traverse_by_hand] in E.
  - injection E as <-. constructor.
  - apply bind_some in E; destruct E as [b [E1 E]]. apply bind_some in E; destruct E as [r [E2 E]]. injection E as <-.
    constructor; eauto.
Qed.

Definition term_given (t : term dy) : Prop := match t with Times w _ => some_holds w | _ => True end.
Definition factor_given (g : list (N * dy) * dy) : Prop := Forall (fun e => some_holds (snd e)) (fst g) /\ some_holds (snd g).
Definition matrix_given (m : matrix dy) : Prop :=
  match m with Rows rs => Forall (Forall term_given) rs | Reflections fs => Forall factor_given fs | Factored _ => True end.
Definition columns_given : columns_of dy -> Prop := Forall (Forall some_holds).
Definition action_given (ab : matrix dy * option (columns_of dy)) : Prop :=
  matrix_given (fst ab) /\ match snd ab with Some b => columns_given b | None => True end.

Notation weights := (zops (Arithmetic f false None)).
Lemma columns_are_given : forall h k, conv_columns weights h = Some k -> columns_given k.
Proof. intros h k. apply traverse_all. intros x y. apply traverse_all. intros a d. apply fit_given. Qed.

Lemma layer_given : forall r l, conv_layer weights r = Some l -> Forall action_given (actions l) /\ columns_given (initial l).
Proof.
  intros r l H. unfold conv_layer in H. apply bind_some in H; destruct H as [a [Ha H]]. apply bind_some in H;
    destruct H as [h [Hh H]].
  injection H as <-. cbn [actions initial]. split; [|now apply columns_are_given in Hh]. revert Ha. apply traverse_all.
  intros [m b] [m' b'] E.
  unfold conv_action in E; cbn [fst snd] in E. apply bind_some in E; destruct E as [n [E1 E]]. split; cbn [fst snd].
  - assert (m' = n) by (destruct b as [b|]; [apply bind_some in E; destruct E as [c [_ E]]|]; now injection E). subst m'. clear E.
    destruct m as [rs|fs|fs]; cbn [conv_matrix] in E1.
    + apply bind_some in E1; destruct E1 as [s [S E1]]. injection E1 as <-. cbn [matrix_given]. revert S. apply traverse_all.
      intros row row'.
      apply traverse_all. intros t t' T. destruct t as [j|j|w j]; cbn [conv_term] in T; try (injection T as <-; exact I).
      apply bind_some in T; destruct T as [v [V T]]. injection T as <-. now apply fit_given in V.
    + apply bind_some in E1; destruct E1 as [s [S E1]]. injection E1 as <-. cbn [matrix_given]. revert S. apply traverse_all.
      intros g g' G.
      unfold conv_factor in G. apply bind_some in G; destruct G as [k [K G]]. apply bind_some in G; destruct G as [c [C G]].
      injection G as <-.
      split; cbn [fst snd]; [|now apply fit_given in C]. revert K. apply traverse_all. intros e e' E.
      apply bind_some in E; destruct E as [v [V E]]. injection E as <-. now apply fit_given in V.
    + injection E1 as <-. exact I.
  - destruct b as [b|].
    + apply bind_some in E; destruct E as [c [C E]]. injection E as _ <-. now apply columns_are_given in C.
    + now injection E as _ <-.
Qed.

(* ---- Evaluations of parts ---- *)

Lemma get_given : forall x zs, Forall2 number_of x zs -> forall j d, get zs j = Some d -> exists v, get x j = Some v.
Proof.
  induction 1 as [|a e x zs R H IH]; intros j d E; cbn [get] in *; [discriminate|]. destruct (N.eqb j 0); [now exists a|eauto].
Qed.
Lemma get_nth : forall A (x : list A) j, get x j = nth_error x (N.to_nat j).
Proof.
  induction x as [|a x IH]; intros j; cbn [get]; [now destruct (N.to_nat j)|]. destruct (N.eqb j 0) eqn:Q.
  - apply N.eqb_eq in Q. now subst.
  - apply N.eqb_neq in Q. replace (N.to_nat j) with (S (N.to_nat (N.pred j))) by lia. apply IH.
Qed.

Section Row.
Variables (x : list some_float) (look : N -> option dy).
Hypothesis found : forall j d, look j = Some d -> exists v, get x j = Some v.

Lemma addends_given : forall row, Forall term_given row -> forall ps, traverse (product look) row = Some ps -> exists l, Forall2 (addend f x) row l.
Proof.
  intros row G ps. rewrite traverse_is. revert ps. induction G as [|t row T G IH]; intros ps H; cbn [traverse_by_hand] in H;
    [exists []; constructor|].
  apply bind_some in H; destruct H as [d [H1 H]]. apply bind_some in H; destruct H as [r [H2 H]]. destruct (IH _ H2) as [l Hl].
  assert (A : exists p, addend f x t p).
  { destruct t as [j|j|w j]; cbn [product] in H1; destruct (look j) as [e|] eqn:E; try discriminate;
      destruct (found j e E) as [v V].
    - eexists. apply A_pick. exact V.
    - eexists. apply A_minus. exact V.
    - destruct T as [u U]. eexists. now apply A_times with (u := u) (v := v). }
  destruct A as [p A]. exists (p :: l). now constructor.
Qed.

Lemma any_row_given : forall row b r, Forall term_given row -> match b with Some w => some_holds w | None => True end ->
  exact_row f look row b = Some r -> exists y, any_row f x row b y.
Proof.
  intros row b r G B H. unfold exact_row in H. apply bind_some in H; destruct H as [ps [H1 _]].
  destruct (addends_given _ G _ H1) as [l L].
  assert (K : exists k, last_addend f b k).
  { destruct b as [w|]; [destruct B as [u U]; exists [(u, one f)]; now exists u|exists []; reflexivity]. }
  destruct K as [k K]. destruct (sums_given f (l ++ k)) as [y Y]. exists y, l, k. auto.
Qed.

Lemma any_rows_given : forall rs b zs, Forall (Forall term_given) rs -> match b with Some c => Forall some_holds c | None => True end ->
  exact_rows f look rs b = Some zs -> exists ys, any_rows f x rs b ys.
Proof.
  induction rs as [|row rs IH]; intros b zs G B H; cbn [exact_rows] in H.
  - destruct b as [[|w b]|]; try discriminate; exists []; exact I.
  - inversion G as [|? ? G1 G2]; subst. destruct b as [[|w b]|]; [discriminate| |]; apply bind_some in H;
      destruct H as [s [H1 H]];
      apply bind_some in H; destruct H as [t [H2 H]].
    + inversion B as [|? ? B1 B2]; subst. destruct (any_row_given row (Some w) s G1 B1 H1) as [y Y].
      destruct (IH (Some b) t G2 B2 H2) as [ys Ys].
      exists (y :: ys). now split.
    + destruct (any_row_given row None s G1 I H1) as [y Y]. destruct (IH None t G2 I H2) as [ys Ys]. exists (y :: ys). now split.
Qed.
End Row.

Lemma set_given : forall A (x : list A) i v, get x i = Some v -> forall w, exists y, set x i w = Some y.
Proof.
  induction x as [|a x IH]; intros i v E w; cbn [get set] in *; [discriminate|]. destruct (N.eqb i 0); [eauto|].
  destruct (IH _ _ E w) as [y ->]. cbn [option_map]. eauto.
Qed.

Lemma updates_given : forall t d, number_of t d -> forall key, Forall (fun e => some_holds (snd e)) key -> forall x zs, Forall2 number_of x zs -> forall ws,
  fold_option (fun y e => let* v := get y (fst e) in
    let* z := exact_sum f [v; dmul (dopp (snd e)) d] in set y (fst e) z) zs key = Some ws ->
  exists y, any_updates f t key x y.
Proof.
  intros t d T key G. induction G as [|[i k] key [u U] G IH]; intros x zs R ws H; cbn [fold_option fst snd any_updates] in *;
    [now exists x|].
  apply bind_some in H; destruct H as [zs' [H1 H]]. apply bind_some in H1; destruct H1 as [e [E1 H1]]. apply bind_some in H1;
    destruct H1 as [r [R1 H1]].
  destruct (get_given _ _ R _ _ E1) as [v V]. destruct (get_holds f _ _ R _ _ V) as [e' [E2 E3]].
  assert (e' = e) by congruence. subst e'.
  destruct (sums_given f [(v, one f); (negative u, t)]) as [z Z].
  assert (Z0 : number_of z r).
  { apply (any_sum f) with (1 := R1) (l := [(v, one f); (negative u, t)]); [|exact Z].
    constructor; [now apply product_one|]. constructor; [|constructor]. apply product_times; [now apply negative_holds|exact T]. }
  destruct (set_given _ _ _ _ V z) as [x' X].
  destruct (IH x' zs' (set_holds f _ _ R _ _ _ Z0 _ _ X H1) ws H) as [y Y]. exists y, v, u, z, x'. auto.
Qed.

Lemma reflection_given : forall g x zs, factor_given g -> Forall2 number_of x zs -> forall ws, exact_reflection f zs g = Some ws ->
  exists y, any_reflection f g x y.
Proof.
  intros [key beta] x zs [G1 [b Gb]] R ws H; cbn [fst snd] in *. unfold exact_reflection in H; cbn [fst snd] in H.
  apply bind_some in H; destruct H as [s' [H1 H]]. apply bind_some in H; destruct H as [t' [H2 H]].
  assert (K : Forall term_given (map (fun e => Times (snd e) (fst e)) key)) by (clear -G1; induction G1; constructor; auto).
  assert (A : exists s, any_row f x (map (fun e => Times (snd e) (fst e)) key) None s).
  { apply (any_row_given x (get zs)) with (r := s'); [|exact K|exact I|exact H1]. intros j d E.
    now apply get_given with (1 := R) (2 := E). }
  destruct A as [s [l [k [A1 [A2 A3]]]]]. cbn [last_addend] in A2. subst k. rewrite app_nil_r in A3.
  assert (Hs : number_of s s').
  { eapply (any_row_holds f units x); [intros j v; apply get_holds; exact R|exact H1|]. exists l, []. repeat split;
      [exact A1|]. now rewrite app_nil_r. }
  destruct (sums_given f [(b, s)]) as [t T].
  assert (Ht : number_of t t').
  { apply (any_sum f) with (1 := H2) (l := [(b, s)]); [|exact T]. constructor; [|constructor]. now apply product_times. }
  destruct (updates_given t t' Ht key G1 x zs R ws H) as [y Y]. exists y, l, s, b, t. auto.
Qed.

Lemma reflections_given : forall fs x zs, Forall factor_given fs -> Forall2 number_of x zs -> forall ws,
  fold_option (exact_reflection f) zs fs = Some ws -> exists y, any_reflections f fs x y.
Proof.
  induction fs as [|g fs IH]; intros x zs G R ws H; cbn [fold_option any_reflections] in *; [now exists x|].
  inversion G as [|? ? G1 G2]; subst. apply bind_some in H; destruct H as [us [H1 H2]].
  destruct (reflection_given g x zs G1 R us H1) as [z Z]. pose proof (reflection_holds f units g x zs R z Z us H1) as R'.
  destruct (IH z us G2 R' ws H2) as [y Y]. exists y, z. auto.
Qed.

Lemma column_given : forall m b x zs, matrix_given m -> match b with Some c => Forall some_holds c | None => True end -> Forall2 number_of x zs -> forall ws,
  exact_column f m b zs = Some ws -> exists y, any_column f m b x y.
Proof.
  intros [rs|fs|fs] b x zs G B R ws H; cbn [exact_column any_column] in *; [| |discriminate].
  - apply (any_rows_given x (mk zs)) with (zs := ws); auto. intros j d E. rewrite mk_nth, <- get_nth in E.
    now apply get_given with (1 := R) (2 := E).
  - apply bind_some in H; destruct H as [us [H1 H2]]. destruct (reflections_given fs x zs G R us H1) as [z Z].
    pose proof (reflections_hold f units fs x zs R z Z us H1) as R'.
    assert (Y : exists y, any_rows f z (map (fun j => [Pick j]) (iota (N.of_nat (length z)))) b y).
    { apply (any_rows_given z (mk us)) with (zs := ws); auto.
      - intros j d E. rewrite mk_nth, <- get_nth in E. now apply get_given with (1 := R') (2 := E).
      - generalize (iota (N.of_nat (length z))). intros l. induction l; constructor; auto. constructor; [exact I|constructor].
      - now rewrite (length_holds f _ _ R'). }
    destruct Y as [y Y]. exists y, z. auto.
Qed.

Lemma act_given : forall m H K b, matrix_given m -> match b with Some c => columns_given c | None => True end -> Forall2 (Forall2 number_of) H K -> forall K',
  exact_act f m b K = Some K' -> exists H', any_act f m b H H'.
Proof.
  intros m H K b G B R. revert b B. induction R as [|x zs H K R1 R IH]; intros b B K' E; cbn [exact_act any_act] in *.
  - destruct b as [[|c b]|]; try discriminate; exists []; exact I.
  - destruct b as [[|c b]|]; [discriminate| |]; apply bind_some in E; destruct E as [y' [E1 E]]; apply bind_some in E;
      destruct E as [L [E2 E]].
    + inversion B as [|? ? B1 B2]; subst. destruct (column_given m (Some c) x zs G B1 R1 _ E1) as [y Y].
      destruct (IH (Some b) B2 _ E2) as [H' Y'].
      exists (y :: H'). now split.
    + destruct (column_given m None x zs G I R1 _ E1) as [y Y]. destruct (IH None I _ E2) as [H' Y']. exists (y :: H'). now split.
Qed.

Notation open_f := (open_layer (decode (fops decoding))).
Notation open_z := (open_layer z_decode).

Lemma layer_step_given : forall l i s z, Forall action_given (actions l) -> holds_state f s z -> forall z',
  exact_layer_step f (open_z l) i z = Some z' -> exists t, any_layer_step f (open_f l) (Some i) s t.
Proof.
  intros l i s z G [S1 S2] z' H. unfold exact_layer_step, any_layer_step, open_layer in *;
    cbn [bind action_at act_at book_at codes] in *.
  apply bind_some in H; destruct H as [a [H1 H]]. apply bind_some in H; destruct H as [ab [H2 H]]. apply bind_some in H;
    destruct H as [b [H3 H]].
  apply bind_some in H; destruct H as [K [H4 H]]. rewrite H1. cbn [bind]. rewrite H2. cbn [bind]. rewrite H3. cbn [bind].
  rewrite Forall_forall in G. destruct (G ab (mk_in _ _ _ H2)) as [G1 G2].
  destruct (act_given (fst ab) (fst s) (fst z) (snd ab) G1 G2 S1 K H4) as [H' Y].
  exists (H', let* h := any_values H' in decode (fops decoding) (codewords l) b h). now split.
Qed.

Lemma step_given : forall ls i ss zs, Forall (fun l => Forall action_given (actions l)) ls -> Forall2 (holds_state f) ss zs -> forall zs',
  exact_step f (map open_z ls) i zs = Some zs' -> exists ts, any_step f (map open_f ls) i ss ts.
Proof.
  induction ls as [|l ls IH]; intros i ss zs G R zs' H; inversion R as [|s z ss' zs0 R1 R2]; subst;
    cbn [map exact_step any_step] in *; try discriminate.
  - exists []. exact I.
  - inversion G as [|? ? G1 G2]; subst. apply bind_some in H; destruct H as [c [-> H]]. apply bind_some in H;
      destruct H as [z' [H1 H]].
    apply bind_some in H; destruct H as [r [H2 H]]. destruct (layer_step_given l c s z G1 R1 z' H1) as [t T].
    destruct R1 as [_ R1]. rewrite R1. cbn [bind]. destruct (IH _ ss' zs0 G2 R2 r H2) as [ts Ts]. exists (t :: ts). now split.
Qed.

Lemma walk_given : forall ls w ss zs, Forall (fun l => Forall action_given (actions l)) ls -> Forall2 (holds_state f) ss zs -> forall zs',
  walk (fun b ss => exact_step f (map open_z ls) (Some b) ss) zs w = Some zs' -> exists ts, any_walk f (map open_f ls) w ss ts.
Proof.
  induction w as [|b w IH]; intros ss zs G R zs' H; cbn [walk any_walk] in *; [now exists ss|].
  apply bind_some in H; destruct H as [us [H1 H2]]. destruct (step_given ls (Some b) ss zs G R us H1) as [vs V].
  destruct (IH vs us G (step_holds f units ls (Some b) ss zs R vs V us H1) zs' H2) as [ts T]. exists ts, vs. now split.
Qed.
End Given.

Definition evaluable (f : format) (m : model) : Prop := exists ls, any_layers f m = Some ls /\
  forall w, Forall (fun b => b < letters (oracle m))%N w -> exists ss ts, Forall2 (any_start f) ls ss /\ any_walk f ls w ss ts.

Theorem any_order_given : forall f m es, check_any_order f m es = true -> evaluable f m.
Proof.
  intros f m es H. unfold check_any_order in H. unfold evaluable, any_layers.
  destruct (traverse (conv_layer (zops (Arithmetic f false None))) (layers m)) as [ls|] eqn:E; [|discriminate].
  apply andb_true_iff in H; destruct H as [U H]. cbn [option_map]. eexists; split; [reflexivity|]. intros w Hw.
  destruct (list_sound _ _ _ _ _ H w Hw) as [zs [q [H1 _]]].
  assert (G : Forall (fun l => Forall (action_given f) (actions l) /\ columns_given f (initial l)) ls).
  { revert E. apply traverse_all. apply layer_given. }
  assert (S : exists ss, Forall2 (any_start f) (map (open_layer (decode (fops decoding))) ls) ss
                         /\ Forall2 (holds_state f) ss (starts (map (open_layer z_decode) ls))).
  { clear -G. unfold starts. rewrite map_map. induction G as [|l ls [_ G] Gs [ss [I1 I2]]]; cbn [map]; [exists []; split;
      constructor|].
    assert (X : exists h, Forall2 (Forall2 (holds f)) h (initial l)).
    { clear -G. induction G as [|c cs G Gs [h I]]; [exists []; constructor|].
      assert (Y : exists x, Forall2 (holds f) x c).
      { clear -G. induction G as [|d c [u U] G [x I]]; [exists []; constructor|]. exists (u :: x). now constructor. }
      destruct Y as [x Y]. exists (x :: h). now constructor. }
    destruct X as [h X]. exists ((h, Some (initial_label l)) :: ss). split; constructor; auto; now split. }
  destruct S as [ss [S1 S2]]. assert (G' : Forall (fun l => Forall (action_given f) (actions l)) ls) by (revert G;
    apply Forall_impl; tauto).
  destruct (walk_given f U ls w ss _ G' S2 zs H1) as [ts T]. exists ss, ts. now split.
Qed.
