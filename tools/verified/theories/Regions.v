(* Closed regions, of whatever remembers and whatever encloses it: where every box of words from the regions comes into
   one of them again, and is answered rightly on the way, the model is right after every word, in every runtime that the
   boxes enclose. It is the induction behind `closed regions` (docs/reference/certificate-file.md); that intervals enclose
   what a runtime computes is assumed here, and no checker is extracted from it. No axioms. *)
From Coq Require Import List Bool Arith.
Import ListNotations.

Section Regions.
Variables memory letter box state : Type.

(* A runtime: whatever may be remembered after one letter more, and before the first. It need not be a function: the
   same memory may be followed by another one each time. *)
Variable may_follow : letter -> memory -> memory -> Prop.
Variable may_start : memory -> Prop.
(* Where the language is in the state, every answer that a runtime may give in the memory is right. *)
Variable is_right : state -> memory -> Prop.

(* The language: nothing follows where no such word may stand. *)
Variable letters : list letter.
Variable first_state : state.
Variable next_state : state -> letter -> option state.

(* Boxes, and what a checker computes of them. *)
Variable holds : box -> memory -> Prop.
Variable start_box : box.
Variable image : letter -> box -> option box.
Variable is_answered : state -> box -> bool.
Variable is_inside : state -> box -> state -> box -> bool.

Hypothesis all_letters : forall a, In a letters.
Hypothesis start_enclosed : forall m, may_start m -> holds start_box m.
Hypothesis image_encloses : forall a b b' m m', image a b = Some b' -> holds b m -> may_follow a m m' -> holds b' m'.
Hypothesis answered_right : forall q b m, is_answered q b = true -> holds b m -> is_right q m.
Hypothesis inside_holds : forall q b q' b' m, is_inside q b q' b' = true -> holds b m -> q = q' /\ holds b' m.

Variable regions : list (state * box).

Definition is_closed (q : state) (b : box) : bool := existsb (fun r => is_inside q b (fst r) (snd r)) regions.

(* All words of at most `most` letters, letter after letter, until each lies in a region. *)
Fixpoint leads_back (most : nat) (q : state) (b : box) : bool :=
  match most with
  | 0 => false
  | S fewer =>
      forallb (fun a =>
        match next_state q a with
        | None => true
        | Some q' =>
            match image a b with
            | Some b' => is_answered q' b' && (is_closed q' b' || leads_back fewer q' b')
            | None => false
            end
        end) letters
  end.

Definition check_regions (from_start from_region : nat) : bool :=
  is_answered first_state start_box
  && (is_closed first_state start_box || leads_back from_start first_state start_box)
  && forallb (fun r => leads_back from_region (fst r) (snd r)) regions.

(* What a runtime may remember after a word, read from its beginning, and the language's state. *)
Fixpoint remembers (m : memory) (w : list letter) (m' : memory) : Prop :=
  match w with
  | [] => m = m'
  | a :: w' => exists between, may_follow a m between /\ remembers between w' m'
  end.
Fixpoint state_after (q : state) (w : list letter) : option state :=
  match w with
  | [] => Some q
  | a :: w' => match next_state q a with Some q' => state_after q' w' | None => None end
  end.

Section Closed.
Variable from_region : nat.
Hypothesis regions_lead_back : forallb (fun r => leads_back from_region (fst r) (snd r)) regions = true.

Lemma closed_leads_back : forall q b m, is_closed q b = true -> holds b m ->
  exists b', holds b' m /\ leads_back from_region q b' = true.
Proof.
  intros q b m C H. unfold is_closed in C. apply existsb_exists in C. destruct C as [[q' b'] [Hin I]].
  apply (inside_holds _ _ _ _ m) in I; [|assumption]. destruct I as [-> H']. exists b'. split; [assumption|].
  rewrite forallb_forall in regions_lead_back. now apply (regions_lead_back (q', b')).
Qed.

Lemma words_are_right : forall w most q b m m' q', leads_back most q b = true -> holds b m ->
  w <> [] -> remembers m w m' -> state_after q w = Some q' -> is_right q' m'.
Proof.
  induction w as [|a w IH]; intros most q b m m' q' L H N R A; [now elim N|].
  destruct most as [|fewer]; [discriminate|]. cbn [leads_back] in L. rewrite forallb_forall in L.
  specialize (L a (all_letters a)). cbn [state_after] in A. destruct (next_state q a) as [p|]; [|discriminate].
  destruct (image a b) as [c|] eqn:E; [|discriminate]. destruct R as [between [F R]].
  pose proof (image_encloses _ _ _ _ _ E H F) as Hc. apply andb_true_iff in L. destruct L as [Right Back].
  destruct w as [|a' w].
  - cbn in R, A. injection A as <-. subst. eapply answered_right; eassumption.
  - apply orb_true_iff in Back. destruct Back as [Closed|Back].
    + destruct (closed_leads_back _ _ _ Closed Hc) as [d [Hd Ld]]. eapply IH; eauto. discriminate.
    + eapply IH; eauto. discriminate.
Qed.
End Closed.

Theorem closed_regions_sound : forall from_start from_region, check_regions from_start from_region = true ->
  forall w m m' q, may_start m -> remembers m w m' -> state_after first_state w = Some q -> is_right q m'.
Proof.
  intros from_start from_region C w m m' q S R A. unfold check_regions in C.
  apply andb_true_iff in C. destruct C as [C Regions]. apply andb_true_iff in C. destruct C as [Right Start].
  pose proof (start_enclosed _ S) as H. destruct w as [|a w].
  - cbn in R, A. injection A as <-. subst. eapply answered_right; eassumption.
  - apply orb_true_iff in Start. destruct Start as [Closed|Back].
    + destruct (closed_leads_back _ Regions _ _ _ Closed H) as [b [Hb Lb]].
      eapply words_are_right with (w := a :: w); eauto. discriminate.
    + eapply words_are_right with (w := a :: w); eauto. discriminate.
Qed.
End Regions.
