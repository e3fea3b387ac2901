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

Section List.
Variable next : N -> list (columns_of dy * N) -> option (list (columns_of dy * N)).   (* by a letter *)
Variable answer : list (columns_of dy * N) -> option N.

Fixpoint check_successors (table : N -> N -> option N) (at_ : N -> option entry)
    (ss : list (columns_of dy * N)) (q letter : N) (succ : list N) : bool :=
  match succ with
  | [] => true
  | j :: succ' =>
      match at_ j, next letter ss, table q letter with
      | Some e, Some ss', Some q' => same_states ss' (remembered e) && (q' =? oracle_state e)
      | _, _, _ => false
      end && check_successors table at_ ss q (letter + 1) succ'
  end.

Definition check_entry table at_ (letters : N) (e : entry) : bool :=
  is (answer (remembered e)) (oracle_state e)
  && (N.of_nat (length (successors e)) =? letters)
  && check_successors table at_ (remembered e) (oracle_state e) 0 (successors e).

Definition check_list (start : list (columns_of dy * N)) (d : automaton) (es : list entry) : bool :=
  match es with
  | e :: _ =>
      same_states (remembered e) start && (oracle_state e =? first_state d)
      && forallb (check_entry (mk2 (table d)) (mk es) (letters d)) es
  | [] => false
  end.

Fixpoint walk (ss : list (columns_of dy * N)) (w : list N) : option (list (columns_of dy * N)) :=
  match w with [] => Some ss | a :: w' => let* r := next a ss in walk r w' end.

Lemma check_successors_sound : forall t at_ ss q succ a0 b, check_successors t at_ ss q a0 succ = true ->
  a0 <= b < a0 + N.of_nat (length succ) ->
  exists e, (exists j, at_ j = Some e) /\ next b ss = Some (remembered e) /\ t q b = Some (oracle_state e).
Proof.
  induction succ as [|j succ IH]; intros a0 b H Hb; [simpl in Hb; lia|].
  cbn [check_successors] in H. apply andb_true_iff in H; destruct H as [H1 H2].
  destruct (N.eq_dec b a0) as [->|Ne].
  - destruct (at_ j) as [e|] eqn:Ej; [|discriminate].
    destruct (next a0 ss) as [ss'|] eqn:Et; [|discriminate].
    destruct (t q a0) as [q'|] eqn:Eq; [|discriminate].
    apply andb_true_iff in H1; destruct H1 as [T1 T2]. apply N.eqb_eq in T2. apply same_states_eq in T1. subst.
    exists e. eauto.
  - apply (IH (a0 + 1)); [assumption|]. simpl length in Hb. lia.
Qed.

Theorem list_sound : forall start d es, check_list start d es = true ->
  forall w, Forall (fun b => b < letters d) w ->
  exists ss q, walk start w = Some ss /\ answer ss = Some q /\ run_automaton d w = Some q.
Proof.
  intros start d es H w Hw. unfold check_list in H. destruct es as [|e0 es']; [discriminate|].
  set (es := e0 :: es') in *. unfold run_automaton. set (t := mk2 (table d)) in *.
  apply andb_true_iff in H; destruct H as [H HP]. apply andb_true_iff in H; destruct H as [T1 T2].
  apply N.eqb_eq in T2. apply same_states_eq in T1. rewrite forallb_forall in HP.
  assert (Main : forall w, Forall (fun b => b < letters d) w -> forall e, In e es ->
    exists ss q, walk (remembered e) w = Some ss /\ answer ss = Some q /\ states_from t (oracle_state e) w = Some q).
  { clear w Hw T1 T2. induction 1 as [|b w Hb Hw IH]; intros e Hin; pose proof (HP _ Hin) as P; unfold check_entry in P;
      apply andb_true_iff in P; destruct P as [P P3]; apply andb_true_iff in P; destruct P as [P1 P2].
    - exists (remembered e), (oracle_state e). repeat split. now apply is_eq.
    - apply N.eqb_eq in P2.
      destruct (check_successors_sound _ _ _ _ _ _ b P3) as [e' [[j Hj] [Ht Hq]]]; [lia|].
      apply mk_in in Hj. destruct (IH _ Hj) as [ss [q [R1 [R2 R3]]]].
      exists ss, q. cbn [walk states_from]. rewrite Ht. cbn [bind]. rewrite Hq. cbn [bind]. auto. }
  rewrite <- T1, <- T2. apply (Main w Hw). now left.
Qed.
End List.

(* ---- Letter after letter, sums from left to right ---- *)

Definition check_closed (a : arithmetic) (m : model) (es : list entry) : bool :=
  match traverse (conv_layer (zops a)) (layers m) with
  | Some ls' =>
      let ls := map (open_layer z_decode) ls' in
      check_list (fun b ss => step (zops a) ls (Some b) ss) (fun ss => read ls 0 (map snd ss)) (starts ls) (oracle m) es
  | None => false
  end.

Lemma states_after_walk : forall a ls w ss,
  states_after (zops a) ls ss w = walk (fun b ss => step (zops a) ls (Some b) ss) ss w.
Proof.
  induction w as [|b w IH]; intros ss; cbn [states_after walk]; [reflexivity|].
  destruct (step (zops a) ls (Some b) ss); cbn [bind]; [apply IH|reflexivity].
Qed.

Theorem closed_sound : forall a m es, check_closed a m es = true ->
  forall w, Forall (fun b => b < letters (oracle m)) w ->
  exists q, run (zops a) z_decode m w = Some q /\ run_automaton (oracle m) w = Some q.
Proof.
  intros a m es H w Hw. unfold check_closed in H. unfold run.
  destruct (traverse (conv_layer (zops a)) (layers m)) as [ls'|]; [|discriminate]. cbn [bind].
  destruct (list_sound _ _ _ _ _ H w Hw) as [ss [q [H1 [H2 H3]]]]. exists q. split; [|assumption].
  cbv zeta. rewrite states_after_walk, H1. exact H2.
Qed.
