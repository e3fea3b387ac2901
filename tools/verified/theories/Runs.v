(* Whole words: where the integers of the checker answer, the floats of the specification give the same answer. So what
   `check_closed` accepts holds in IEEE 754. Leans on Decoder.v and Closed.v. *)
From Coq Require Import ZArith NArith List Bool Lia Reals.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Closed Ieee Decoder.
Import ListNotations.

Section Runs.
Variable a : arithmetic.
Notation F := (float (sums a)).
Notation fa := (fops a).
Notation za := (zops a).

Record layer_rel (l : layer F) (k : layer dy) : Prop := Related {
  related_actions : Forall2 (action_rel a) (actions l) (actions k);
  related_initial : crel a (initial l) (initial k);
  related_rest : initial_label l = initial_label k /\ action_of l = action_of k /\ book_of l = book_of k
    /\ next_of l = next_of k /\ codewords l = codewords k /\ readout l = readout k }.

Lemma conv_layer_rel : forall r, orel layer_rel (conv_layer fa r) (conv_layer za r).
Proof.
  intros r. unfold conv_layer. eapply orel_bind with (P := Forall2 (action_rel a)).
  { eapply traverse_rel with (P := eq); [|apply same_rel]. intros x y ->. apply conv_action_rel. }
  intros p q Rp. eapply orel_bind; [apply conv_columns_rel, same2_refl|]. intros h k Rh. simpl. constructor; auto 10.
Qed.

Definition state_rel (s : columns_of F * N) (t : columns_of dy * N) : Prop := crel a (fst s) (fst t) /\ snd s = snd t.
Notation open_f := (open_layer (decode (fops decoding))).
Notation open_z := (open_layer z_decode).

Lemma layer_step_rel : forall l k c s t, layer_rel l k -> state_rel s t ->
  orel state_rel (layer_step fa (open_f l) c s) (layer_step za (open_z k) c t).
Proof.
  intros l k c s t [RA RH [R1 [R2 [R3 [R4 [R5 R6]]]]]] [S1 S2]. unfold layer_step, open_layer;
    cbn [action_at act_at book_at codes].
  rewrite R2, R3, R5.
  eapply orel_bind with (P := eq). { destruct (mk (action_of k) c); simpl; auto. } intros x y ->.
  eapply orel_bind; [apply mk_rel; exact RA|]. intros m n Rm.
  eapply orel_bind with (P := eq). { destruct (mk (book_of k) c); simpl; auto. } intros u v ->.
  eapply orel_bind; [now apply act_rel|]. intros H K RHK.
  eapply orel_bind; [now apply values_rel|]. intros h g Rhg.
  eapply orel_bind; [now apply decoder_rel|]. intros i j ->. simpl. now split.
Qed.

Lemma step_rel : forall ls ks, Forall2 layer_rel ls ks -> forall c ss ts, Forall2 state_rel ss ts ->
  orel (Forall2 state_rel) (step fa (map open_f ls) c ss) (step za (map open_z ks) c ts).
Proof.
  induction 1 as [|l k ls ks R Rs IH]; intros c ss ts S; inversion S as [|s t ss' ts' S1 S2]; subst; cbn [map step].
  - constructor.
  - exact I.
  - exact I.
  - eapply orel_bind with (P := eq). { destruct c; simpl; auto. } intros x y ->.
    eapply orel_bind; [apply layer_step_rel; eassumption|]. intros p q Rp.
    destruct S1 as [S1 S3]. rewrite S3. replace (next_at (open_f l)) with (next_at (open_z k)).
    2:{ destruct R as [_ _ R]. unfold open_layer; cbn [next_at]. now replace (next_of l) with (next_of k) by (symmetry; tauto). }
    eapply orel_bind; [apply IH; eassumption|]. intros. simpl. now constructor.
Qed.

Lemma states_after_rel : forall ls ks, Forall2 layer_rel ls ks -> forall w ss ts, Forall2 state_rel ss ts ->
  orel (Forall2 state_rel) (states_after fa (map open_f ls) ss w) (states_after za (map open_z ks) ts w).
Proof.
  induction w as [|b w IH]; intros ss ts S; cbn [states_after]; [exact S|].
  eapply orel_bind; [apply step_rel; eassumption|]. auto.
Qed.

Lemma read_same : forall ls ks, Forall2 layer_rel ls ks -> forall labels n, read (map open_f ls) n labels = read (map open_z ks) n labels.
Proof.
  induction 1 as [|l k ls ks R Rs IH]; intros [|i labels] n; cbn [map read]; try reflexivity.
  destruct R as [_ _ R]. unfold open_layer at 1 3; cbn [read_at]. replace (readout l) with (readout k) by (symmetry; tauto).
  destruct (mk2 (readout k) n i); cbn [bind]; [apply IH|reflexivity].
Qed.

Theorem run_rel : forall m w, orel eq (run_ieee a m w) (run za z_decode m w).
Proof.
  intros m w. unfold run_ieee, run. eapply orel_bind with (P := Forall2 layer_rel).
  { eapply traverse_rel with (P := eq); [|apply same_rel]. intros x y ->. apply conv_layer_rel. }
  intros ls ks R. cbv zeta. eapply orel_bind with (P := Forall2 state_rel).
  { apply states_after_rel; [assumption|]. unfold starts. rewrite !map_map. eapply map_rel; [|exact R].
    intros l k [RA RH RR]. split; cbn [fst snd open_layer start start_label]; tauto. }
  intros ss ts S. rewrite (read_same _ _ R). replace (map snd ss) with (map snd ts).
  - destruct (read _ _ _); simpl; auto.
  - clear -S. induction S as [|s t ss ts [_ S1] S IH]; simpl; congruence.
Qed.

(* What the checker accepts, IEEE 754 does, rounding to nearest even after every operation, for every word. *)
Theorem closed_ieee : forall m es, check_closed a m es = true ->
  forall w, Forall (fun b => b < letters (oracle m))%N w ->
  exists q, run_ieee a m w = Some q /\ run_automaton (oracle m) w = Some q.
Proof.
  intros m es H w Hw. destruct (closed_sound _ _ _ H w Hw) as [q [H1 H2]].
  exists q. split; [|assumption]. pose proof (run_rel m w) as R. rewrite H1 in R. cbn [orel] in R. destruct (run_ieee a m w);
    [congruence|contradiction].
Qed.
End Runs.
