(* What `check_any_order` and `check_associations` accept is right in any association of letters and any order of sums.
Leans on Moves.v. *)
From Coq Require Import ZArith NArith Arith List Bool Lia Reals Lra.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Closed Ieee Decoder AnySum AnyOrder Given Composed Moves.
Import ListNotations.

Section Associations.
Variable f : format.
Hypothesis units : has_units f = true.
Hypothesis unit_grain : (emin f <= 0)%Z.
Notation open_f := (open_layer (decode (fops decoding))).
Notation open_z := (open_layer z_decode).

Definition stands (l : layer dy) (zs : list (columns_of dy)) (s : composed_state) (z : columns_of dy * N) : Prop :=
  reached f l (decode (fops decoding)) zs (fst (fst s)) (fst z) /\ Forall2 (Forall2 (holds f)) (snd (fst s)) (fst z) /\ snd s = Some (snd z).

Lemma Forall2_nth : forall A B (P : A -> B -> Prop) x y, length x = length y ->
  (forall i a b, nth_error x i = Some a -> nth_error y i = Some b -> P a b) -> Forall2 P x y.
Proof.
  induction x as [|a x IH]; intros [|b y] L H; try discriminate; constructor.
  - exact (H O a b eq_refl eq_refl).
  - apply IH; [now injection L|]. intros i. exact (H (S i)).
Qed.

Lemma layer_stands : forall l zs i s z t z', layer_composes f zs l = true -> stands l zs s z ->
  composed_layer_step f (open_f l) (Some i) s t -> exact_layer_step f (open_z l) i z = Some z' -> In (fst z') zs -> stands l zs t z'.
Proof.
  intros l zs i [[u H] lab] z [[v K] label] z' Ok [R [SH SL]] C E I. cbn [fst snd] in *.
  unfold layer_composes in Ok. apply andb_true_iff in Ok; destruct Ok as [Sh Ok]. cbv zeta in Ok.
  apply andb_true_iff in Ok; destruct Ok as [Ok Fz]. apply andb_true_iff in Ok; destruct Ok as [Cl Fb].
  unfold exact_layer_step in E. apply bind_some in E; destruct E as [a [E1 E]]. apply bind_some in E; destruct E as [ab [E2 E]].
  apply bind_some in E; destruct E as [b [E3 E]]. apply bind_some in E; destruct E as [K' [E4 E]]. apply bind_some in E;
    destruct E as [lb [E5 E]].
  injection E as <-. cbn [fst snd] in *.
  unfold composed_layer_step in C. cbn [bind] in C.
  change (action_at (open_f l)) with (action_at (open_z l)) in C. change (book_at (open_f l)) with (book_at (open_z l)) in C.
  change (act_at (open_f l)) with (act_at (open_z l)) in C.
  rewrite E1 in C. cbn [bind] in C. rewrite E2 in C. cbn [bind] in C. rewrite E3 in C. cbn [bind] in C.
  destruct C as [-> [LK [Col Lab]]].
  assert (R' : reached f l (decode (fops decoding)) zs (u ++ [a]) K') by (eapply Reached_next; eassumption).
  destruct (reached_sized f l (decode (fops decoding)) zs Sh _ _ R') as [S1 S2].
  assert (HK : Forall2 (Forall2 (holds f)) K K').
  { apply Forall2_nth; [transitivity (length (initial l)); [exact LK|now symmetry]|]. intros c x k Hx Hk.
    eapply (column_exact f l (decode (fops decoding)) units unit_grain zs (found_additions f l)); try eassumption.
    now apply Col. }
  split; [exact R'|]. split; [exact HK|]. destruct (values_hold f _ _ HK) as [h [V1 V2]]. cbn [fst snd]. rewrite Lab, V1.
  cbn [bind].
  change (codes (open_f l) b h) with (decode (fops decoding) (codewords l) b h).
  pose proof (decoder_rel (codewords l) b h K' V2) as D.
  change (codes (open_z l) b K') with (z_decode (codewords l) b K') in E5. rewrite E5 in D. cbn [orel] in D.
  destruct (decode (fops decoding) (codewords l) b h); [congruence|contradiction].
Qed.

Fixpoint all_stand (ls : list (layer dy)) (zss : list (list (columns_of dy))) (ss : list composed_state) (zs : list (columns_of dy * N)) : Prop :=
  match ls, zss, ss, zs with
  | [], [], [], [] => True
  | l :: ls', x :: zss', s :: ss', z :: zs' => stands l x s z /\ all_stand ls' zss' ss' zs'
  | _, _, _, _ => False
  end.

Lemma step_stands : forall ls zss, forall2b (layer_composes f) zss ls = true -> forall i ss zs ts zs', all_stand ls zss ss zs ->
  composed_step f (map open_f ls) i ss ts -> exact_step f (map open_z ls) i zs = Some zs' ->
  Forall2 (fun x z => In (fst z) x) zss zs' -> all_stand ls zss ts zs'.
Proof.
  induction ls as [|l ls IH]; intros [|x zss] Ok i [|s ss] [|z zs] ts zs' A C E I;
    cbn [all_stand map composed_step exact_step forall2b] in *; try contradiction; try discriminate.
  - destruct ts; [|contradiction]. injection E as <-. exact A.
  - destruct ts as [|t ts]; [contradiction|]. destruct A as [A1 A2]. destruct C as [C1 C2]. apply andb_true_iff in Ok;
      destruct Ok as [O1 O2].
    apply bind_some in E; destruct E as [c [-> E]]. apply bind_some in E; destruct E as [z' [E1 E]]. apply bind_some in E;
      destruct E as [r [E2 E]].
    injection E as <-. inversion I as [|? ? ? ? I1 I2]; subst. split.
    + eapply layer_stands; eassumption.
    + destruct A1 as [_ [_ SL]]. rewrite SL in C2. cbn [bind] in C2. eapply IH; eassumption.
Qed.

Lemma by_layer_in : forall ls ess ss, In ss ess -> length ss = length ls -> Forall2 (fun x z => In (fst z) x) (by_layer ls ess) ss.
Proof.
  induction ls as [|l ls IH]; intros ess [|s ss] Hin L; try discriminate; cbn [by_layer]; constructor.
  - apply in_flat_map. exists (s :: ss). split; [exact Hin|]. now left.
  - apply IH; [|now injection L]. apply in_map_iff. now exists (s :: ss).
Qed.

Lemma answer_stands : forall ls zss ss zs, all_stand ls zss ss zs -> traverse snd ss = Some (map snd zs).
Proof.
  intros ls zss ss zs. rewrite traverse_is. revert zss ss zs.
  induction ls as [|l ls IH]; intros [|x zss] [|s ss] [|z zs] A; cbn [all_stand traverse_by_hand map] in *;
    try contradiction; [reflexivity|].
  destruct A as [[_ [_ A1]] A2]. rewrite A1. cbn [bind]. now rewrite (IH zss ss zs A2).
Qed.
End Associations.

Theorem any_association_sound : forall f m es, check_any_order f m es = true -> check_associations f m es = true ->
  right_in_any_association f m.
Proof.
  intros f m es H1 H. unfold check_associations in H. apply andb_true_iff in H; destruct H as [H2 H3].
  apply Z.leb_le in H2. unfold check_any_order in H1. unfold right_in_any_association, any_layers.
  destruct (traverse (conv_layer (zops (Arithmetic f false None))) (layers m)) as [ls|]; [|discriminate].
  apply andb_true_iff in H1; destruct H1 as [U H1]. apply andb_true_iff in H3; destruct H3 as [HL HC].
  rewrite forallb_forall in HL.
  cbn [option_map]. eexists; split; [reflexivity|]. split.
  { clear -HC. revert HC. generalize (by_layer ls (map remembered es)). induction ls as [|l ls IH]; intros [|x zss] HC;
      try discriminate; constructor;
      cbn [forall2b] in HC; apply andb_true_iff in HC; destruct HC as [H1 H2]; [|now apply IH with zss].
    unfold layer_composes in H1. apply andb_true_iff in H1; destruct H1 as [H1 _]. intros a ab Ha.
    destruct (action_shape l (decode (fops decoding)) H1 a ab Ha) as [rs [E _]]. eauto. }
  intros w Hw ss ts S A.
  unfold check_list in H1. destruct es as [|e0 es0] eqn:Ees; [discriminate|]. rewrite <- Ees in *.
  apply andb_true_iff in H1; destruct H1 as [H1 HP]. apply andb_true_iff in H1; destruct H1 as [T1 T2].
  apply N.eqb_eq in T2. apply same_states_eq in T1. rewrite forallb_forall in HP.
  set (zss := by_layer ls (map remembered es)) in *.
  assert (InZ : forall e, In e es -> Forall2 (fun x z => In (fst z) x) zss (remembered e)).
  { intros e He. apply by_layer_in; [now apply in_map|]. apply Nat.eqb_eq. now apply HL. }
  assert (S0 : all_stand f ls zss ss (remembered e0)).
  { assert (I0 : Forall2 (fun x z => In (fst z) x) zss (remembered e0)) by (apply InZ; rewrite Ees; now left).
    rewrite T1 in I0 |- *. clear -S I0. unfold starts in *. rewrite map_map in *. revert ss S I0. generalize zss.
    induction ls as [|l ls IH]; intros [|x zss'] ss S I; inversion S as [|? s ? ss' S1 S2]; subst;
      inversion I as [|? ? ? ? I1 I2]; subst; cbn [map all_stand] in *; auto.
    split; [|now apply IH]. destruct S1 as [S1 [S3 S4]]. split; [|split; [exact S1|exact S4]]. rewrite S3. constructor.
    exact I1. }
  assert (Main : forall w, Forall (fun b => b < letters (oracle m))%N w -> forall e ss ts, In e es -> all_stand f ls zss ss (remembered e) ->
    composed_walk f (map (open_layer (decode (fops decoding))) ls) w ss ts ->
    exists q, composed_answer (map (open_layer (decode (fops decoding))) ls) ts = Some q /\ states_from (mk2 (table (oracle m))) (oracle_state e) w = Some q).
  { clear w Hw ss ts S A S0. induction 1 as [|b w Hb Hw IH]; intros e ss ts He St A; pose proof (HP _ He) as P;
      unfold check_entry in P;
      apply andb_true_iff in P; destruct P as [P P3]; apply andb_true_iff in P; destruct P as [P1 P2].
    - cbn [composed_walk] in A. subst ts. exists (oracle_state e). split; [|reflexivity]. unfold composed_answer.
      rewrite (answer_stands _ _ _ _ _ St). cbn [bind]. rewrite read_open. now apply is_eq.
    - cbn [composed_walk] in A. destruct A as [us [A1 A2]]. apply N.eqb_eq in P2.
      destruct (check_successors_sound _ _ _ _ _ _ _ b P3) as [e' [[j Hj] [Ht Hq]]]; [lia|]. apply mk_in in Hj.
      destruct (IH e' us ts Hj) as [q [R1 R2]].
      + eapply step_stands; try eassumption. now apply InZ.
      + exact A2.
      + exists q. split; [exact R1|]. cbn [states_from]. rewrite Hq. exact R2. }
  unfold run_automaton. rewrite <- T2. apply (Main w Hw e0 ss ts); [rewrite Ees; now left|exact S0|exact A].
Qed.

(* ---- Letters one by one are among the associations, so that there are evaluations ---- *)
Section Lifted.
Variable f : format.

Lemma any_act_columns : forall m b H K, any_act f m b H K -> length K = length H /\
  forall c y, nth_error K c = Some y -> exists x, nth_error H c = Some x
    /\ any_column f m (match b with Some k => nth_error k c | None => None end) x y.
Proof.
  intros m b H. revert b. induction H as [|x H IH]; intros b K A; cbn [any_act] in A.
  - destruct b as [[|k b]|], K; try contradiction; (split; [reflexivity|]); intros [|c] y E; discriminate.
  - destruct b as [[|k b]|], K as [|y K]; try contradiction; destruct A as [A1 A2]; destruct (IH _ _ A2) as [I1 I2];
      (split; [cbn [length]; congruence|]); intros [|c] z E; cbn [nth_error] in *.
    + injection E as <-. now exists x.
    + exact (I2 c z E).
    + injection E as <-. now exists x.
    + exact (I2 c z E).
Qed.

Definition lifts (l : @tables dy) (s : any_state) (t : composed_state) : Prop :=
  snd (fst t) = fst s /\ snd t = snd s /\ length (fst s) = length (start l)
  /\ forall c x, nth_error (fst s) c = Some x -> composed_column f l c (fst (fst t)) x.

Lemma layer_lifts : forall l i s t s', lifts l s t -> any_layer_step f l i s s' -> exists t', composed_layer_step f l i t t' /\ lifts l s' t'.
Proof.
  intros l i [H lab] [[u H'] lab'] [K lab''] [E1 [E2 [E3 E4]]] A; cbn [fst snd] in *. subst H' lab'.
  unfold any_layer_step, composed_layer_step in *.
  destruct i as [c|]; cbn [bind fst snd] in *; [|injection A as -> ->; exists (u, H, None); now repeat split].
  destruct (action_at l c) as [a|]; cbn [bind] in *; [|injection A as -> ->; exists (u, H, None); now repeat split].
  destruct (act_at l a) as [[m b]|] eqn:Ea; cbn [bind] in *; [|injection A as -> ->; exists (u, H, None); now repeat split].
  destruct (book_at l c) as [k|]; cbn [bind fst snd] in *; [|injection A as -> ->; exists (u, H, None); now repeat split].
  destruct A as [A1 A2]. destruct (any_act_columns _ _ _ _ A1) as [L C].
  assert (Col : forall j x, nth_error K j = Some x -> composed_column f l j (u ++ [a]) x).
  { intros j x Hx. destruct (C j x Hx) as [y [Y1 Y2]]. apply (By_letter f l j u a m b y x); auto. }
  exists (u ++ [a], K, lab''). split; [|split; [reflexivity|split; [reflexivity|split; [cbn [fst snd]; lia|exact Col]]]].
  split; [reflexivity|]. split; [lia|]. split; [exact Col|exact A2].
Qed.

Inductive all_lift : list (@tables dy) -> list any_state -> list composed_state -> Prop :=
  | No_layer : all_lift [] [] []
  | A_layer : forall l ls s ss t ts, lifts l s t -> all_lift ls ss ts -> all_lift (l :: ls) (s :: ss) (t :: ts).

Lemma step_lift : forall ls ss ts, all_lift ls ss ts -> forall i ss', any_step f ls i ss ss' ->
  exists ts', composed_step f ls i ts ts' /\ all_lift ls ss' ts'.
Proof.
  induction 1 as [|l ls s ss t ts H A IH]; intros i ss' S; cbn [any_step] in S.
  - destruct ss'; [|contradiction]. exists []. split; [exact I|constructor].
  - destruct ss' as [|s' ss']; [contradiction|]. destruct S as [S1 S2]. destruct (layer_lifts l i s t s' H S1) as [t' [T1 T2]].
    destruct (IH _ _ S2) as [ts' [U1 U2]]. exists (t' :: ts'). split; [|now constructor]. cbn [composed_step]. split; [exact T1|].
    destruct H as [_ [-> _]]. exact U1.
Qed.

Lemma walk_lift : forall ls w ss ts, all_lift ls ss ts -> forall ss', any_walk f ls w ss ss' -> exists ts', composed_walk f ls w ts ts'.
Proof.
  induction w as [|b w IH]; intros ss ts A ss' S; cbn [any_walk composed_walk] in *; [now exists ts|].
  destruct S as [us [S1 S2]]. destruct (step_lift ls ss ts A _ _ S1) as [vs [V1 V2]].
  destruct (IH us vs V2 ss' S2) as [ts' T]. exists ts', vs. now split.
Qed.

Lemma start_lift : forall ls ss, Forall2 (any_start f) ls ss -> exists ts, Forall2 (composed_start f) ls ts /\ all_lift ls ss ts.
Proof.
  induction 1 as [|l s ls ss [S1 S2] S [ts [I1 I2]]]; [exists []; split; constructor|].
  exists (([], fst s, snd s) :: ts). split; constructor; auto; [now repeat split|].
  split; [reflexivity|]. split; [reflexivity|]. split; [clear -S1; induction S1; cbn [length]; congruence|]. cbn [fst snd].
  intros c x Hx. clear -S1 Hx. assert (K : exists k, nth_error (start l) c = Some k /\ Forall2 (holds f) x k).
  { revert c Hx. induction S1 as [|a k H K R S1 IH]; intros [|c] Hx; cbn [nth_error] in *; try discriminate; [|now apply IH].
    injection Hx as <-. now exists k. }
  destruct K as [k [K1 K2]]. now apply From_start with k.
Qed.
End Lifted.

Definition composable (f : format) (m : model) : Prop := exists ls, any_layers f m = Some ls /\
  forall w, Forall (fun b => b < letters (oracle m))%N w -> exists ss ts, Forall2 (composed_start f) ls ss /\ composed_walk f ls w ss ts.
Theorem any_association_given : forall f m, evaluable f m -> composable f m.
Proof.
  intros f m [ls [E H]]. exists ls. split; [exact E|]. intros w Hw. destruct (H w Hw) as [ss [ts [S W]]].
  destruct (start_lift f ls ss S) as [us [U1 U2]]. destruct (walk_lift f ls w ss us U2 ts W) as [vs V]. now exists us, vs.
Qed.
