(* The checker of a closed set of states, and its soundness: a list of everything that the network remembers, each with the
   automaton's state and the place in the list of its successor by every letter. If the first is the start and every
   letter leads where the list says, no word leaves the list. Leans on Network.v, no axioms. *)
From Coq Require Import ZArith NArith List Bool Lia.
From Krohn Require Import Dyadic Lists Network Arithmetic.
Import ListNotations.
Open Scope N_scope.

Record entry := Entry { remembered : list (columns_of dy * N); oracle_state : N; successors : list N }.

Definition is (x : option N) (i : N) : bool := match x with Some j => j =? i | None => false end.
Lemma is_eq : forall x i, is x i = true -> x = Some i.
Proof. intros [j|] i H; simpl in H; [|discriminate]. apply N.eqb_eq in H. now subst. Qed.

Definition same_states : list (columns_of dy * N) -> list (columns_of dy * N) -> bool :=
  forall2b (fun s t => forall2b (forall2b deqb) (fst s) (fst t) && (snd s =? snd t)).
Lemma same_states_eq : forall x y, same_states x y = true -> x = y.
Proof.
  apply forall2b_eq. intros [h l] [h' l'] H; simpl in H. apply andb_true_iff in H; destruct H as [H1 H2].
  apply N.eqb_eq in H2. apply (forall2b_eq _ (forall2b deqb)) in H1; [congruence|].
  apply forall2b_eq. exact deqb_eq.
Qed.

Section Closed.
Variable a : arithmetic.
Let o := zops a.
Notation tables := (@tables dy).

Fixpoint check_successors (ls : list tables) (table : N -> N -> option N) (at_ : N -> option entry)
    (ss : list (columns_of dy * N)) (q letter : N) (succ : list N) : bool :=
  match succ with
  | [] => true
  | j :: succ' =>
      match at_ j, step o ls (Some letter) ss, table q letter with
      | Some e, Some ss', Some q' => same_states ss' (remembered e) && (q' =? oracle_state e)
      | _, _, _ => false
      end && check_successors ls table at_ ss q (letter + 1) succ'
  end.

Definition check_entry ls table at_ (letters : N) (e : entry) : bool :=
  is (read ls 0 (map snd (remembered e))) (oracle_state e)
  && (N.of_nat (length (successors e)) =? letters)
  && check_successors ls table at_ (remembered e) (oracle_state e) 0 (successors e).

Definition check_closed (m : model) (es : list entry) : bool :=
  match traverse (conv_layer o) (layers m), es with
  | Some ls', e :: _ =>
      let ls := map (open_layer z_decode) ls' in
      let t := mk2 (table (oracle m)) in
      let at_ := mk es in
      same_states (remembered e) (starts ls) && (oracle_state e =? first_state (oracle m))
      && forallb (check_entry ls t at_ (letters (oracle m))) es
  | _, _ => false
  end.

(* ---- Soundness ---- *)

Lemma check_successors_sound : forall ls t at_ ss q succ a0 b, check_successors ls t at_ ss q a0 succ = true ->
  a0 <= b < a0 + N.of_nat (length succ) ->
  exists e, (exists j, at_ j = Some e) /\ step o ls (Some b) ss = Some (remembered e) /\ t q b = Some (oracle_state e).
Proof.
  induction succ as [|j succ IH]; intros a0 b H Hb; [simpl in Hb; lia|].
  cbn [check_successors] in H. apply andb_true_iff in H; destruct H as [H1 H2].
  destruct (N.eq_dec b a0) as [->|Ne].
  - destruct (at_ j) as [e|] eqn:Ej; [|discriminate].
    destruct (step o ls (Some a0) ss) as [ss'|] eqn:Et; [|discriminate].
    destruct (t q a0) as [q'|] eqn:Eq; [|discriminate].
    apply andb_true_iff in H1; destruct H1 as [T1 T2]. apply N.eqb_eq in T2. apply same_states_eq in T1. subst.
    exists e. eauto.
  - apply (IH (a0 + 1)); [assumption|]. simpl length in Hb. lia.
Qed.

Theorem closed_sound : forall m es, check_closed m es = true ->
  forall w, Forall (fun b => b < letters (oracle m)) w ->
  exists q, run o z_decode m w = Some q /\ run_automaton (oracle m) w = Some q.
Proof.
  intros m es H w Hw. unfold check_closed in H. unfold run, run_automaton.
  destruct (traverse (conv_layer o) (layers m)) as [ls'|]; [|discriminate].
  destruct es as [|e0 es']; [discriminate|]. cbn [bind].
  set (ls := map (open_layer z_decode) ls') in *. set (es := e0 :: es') in *. set (t := mk2 (table (oracle m))) in *.
  apply andb_true_iff in H; destruct H as [H HP]. apply andb_true_iff in H; destruct H as [T1 T2].
  apply N.eqb_eq in T2. apply same_states_eq in T1. rewrite forallb_forall in HP.
  assert (Main : forall w, Forall (fun b => b < letters (oracle m)) w -> forall e, In e es ->
    exists q, bind (states_after o ls (remembered e) w) (fun ss => read ls 0 (map snd ss)) = Some q
              /\ states_from t (oracle_state e) w = Some q).
  { clear w Hw T1 T2. induction 1 as [|b w Hb Hw IH]; intros e Hin; pose proof (HP _ Hin) as P; unfold check_entry in P;
      apply andb_true_iff in P; destruct P as [P P3]; apply andb_true_iff in P; destruct P as [P1 P2].
    - simpl. exists (oracle_state e). split; [|reflexivity]. now apply is_eq.
    - apply N.eqb_eq in P2.
      destruct (check_successors_sound _ _ _ _ _ _ _ b P3) as [e' [[j Hj] [Ht Hq]]]; [lia|].
      apply mk_in in Hj. destruct (IH _ Hj) as [q [R1 R2]].
      exists q. cbn [states_after states_from]. rewrite Ht. cbn [bind]. rewrite Hq. cbn [bind]. auto. }
  rewrite <- T1, <- T2. apply (Main w Hw). now left.
Qed.
End Closed.
