(* The checker of bytes and what its answer means. Leans on everything. *)
From Coq Require Import String ZArith NArith List Bool.
From Krohn Require Import Dyadic Lists Network Arithmetic Closed Bytes Json Safetensors NetworkFile CertificateFile Ieee Runs AnySum AnyOrder Composed Moves Associations Given.
Import ListNotations.
Open Scope string_scope. Open Scope list_scope. Open Scope N_scope.

(* What was established: of the dense matrices or the structured ones, with sums from left to right in an arithmetic; or
   with sums in any order in a format; or in any association of letters too. *)
Inductive kind := Left_to_right (a : arithmetic) | Any_order (f : format) | Any_association (f : format).
Record established := Established { established_kind : kind; dense_weights : bool; how_many : N }.

(* `Ok None`: not established. `No`: the files are not what they should be, or say something that is not checked. *)
Definition check_bytes (certificate model : bytes) : result (option established) :=
  let! (c, e) := read_certificate certificate in
  let! m := model_of_bytes (claimed_dense c) model in
  let a := claimed_arithmetic c in
  let! es := entries_of a m (method c) e in
  let verdict k (b : bool) := Ok (if b then Some (Established k (claimed_dense c) (N.of_nat (length es))) else None) in
  match claimed_order c, storage a, fused a with
  | Sequential, _, _ => verdict (Left_to_right a) (check_closed a m es)
  | Any, None, false =>
      let f := Arithmetic.sums a in
      if check_any_order f m es then verdict (if check_associations f m es then Any_association f else Any_order f) true else Ok None
  | Any, _, _ => No (text "with the order ""any"" the arithmetic has to be one format")
  end.

Definition sentence (e : established) : bytes :=
  let weights := if dense_weights e then text ", dense weights" else text ", structured weights" in
  let states := text " (" ++ decimal (how_many e) ++ text " states of network and automaton)" in
  match established_kind e with
  | Left_to_right a => text "proved for words of every length: " ++ arithmetic_name a ++ weights ++ text ", letter after letter" ++ states
  | Any_order f =>
      text "proved for words of every length: " ++ arithmetic_name (Arithmetic f false None) ++ text " or any wider format" ++ weights
      ++ text ", letter after letter, sums in any order, fused or not, rounded in any direction; of letters composed into maps nothing is said" ++ states
  | Any_association f =>
      text "proved for words of every length: " ++ arithmetic_name (Arithmetic f false None) ++ text " or any wider format" ++ weights
      ++ text ", letters in any association, sums in any order, fused or not, rounded in any direction" ++ states
  end.

Definition what_is_trusted : bytes :=
  text "trusted: Coq's kernel and extraction, four axioms of its real numbers, OCaml, Zarith and GMP, main.ml, and the definitions that say "
  ++ text "what a file means and what a network computes (tools/verified/README.md). The certificate's hashes are not compared: this is about the model's bytes.".

(* The network and the automaton that the bytes mean agree on every word of the alphabet, of any length: evaluated in IEEE
   754 letter after letter, as docs/reference/network-file.md says; or in any order, or in any association. *)
Definition right (k : kind) (dense : bool) (model : bytes) : Prop :=
  exists m, model_of_bytes dense model = Ok m /\
  match k with
  | Left_to_right a => forall w, Forall (fun letter => letter < letters (oracle m)) w ->
      exists q, run_ieee a m w = Some q /\ run_automaton (oracle m) w = Some q
  | Any_order f => right_in_any_order f m /\ evaluable f m
  | Any_association f => right_in_any_order f m /\ evaluable f m /\ right_in_any_association f m /\ composable f m
  end.

Lemma then_ok : forall A B (x : result A) (f : A -> result B) b, then_ x f = Ok b -> exists a, x = Ok a /\ f a = Ok b.
Proof. intros A B [a|s] f b H; simpl in H; [now exists a|discriminate]. Qed.

Theorem check_bytes_sound : forall certificate model e, check_bytes certificate model = Ok (Some e) ->
  right (established_kind e) (dense_weights e) model.
Proof.
  intros certificate model e H. unfold check_bytes in H.
  apply then_ok in H; destruct H as [[c ev] [_ H]]. apply then_ok in H; destruct H as [m [Hm H]]. cbv zeta in H.
  apply then_ok in H; destruct H as [es [_ H]]. exists m.
  destruct (claimed_order c).
  - destruct (check_closed _ m es) eqn:C; [|discriminate H]. injection H as <-. split; [exact Hm|].
    intros w Hw. now apply closed_ieee with (es := es).
  - destruct (storage _); [discriminate H|]. destruct (fused _); [discriminate H|].
    destruct (check_any_order _ m es) eqn:C; [|discriminate H]. injection H as <-. split; [exact Hm|]. cbn [established_kind].
    pose proof (any_order_sound _ _ _ C) as R. pose proof (any_order_given _ _ _ C) as G.
    destruct (check_associations _ m es) eqn:C'; repeat (split; [assumption|]); [|assumption].
    split; [now apply any_association_sound with (es := es)|now apply any_association_given].
Qed.

(* The same in two functions of the bytes, for letters read one after another. *)
Definition network_of_bytes (a : arithmetic) (dense : bool) (model : bytes) (w : list N) : option N :=
  match model_of_bytes dense model with Ok m => run_ieee a m w | No _ => None end.
Definition automaton_of_bytes (dense : bool) (model : bytes) (w : list N) : option N :=
  match model_of_bytes dense model with Ok m => run_automaton (oracle m) w | No _ => None end.
Definition letters_of_bytes (dense : bool) (model : bytes) : N :=
  match model_of_bytes dense model with Ok m => letters (oracle m) | No _ => 0 end.

Corollary check_bytes_equal : forall certificate model a dense count,
  check_bytes certificate model = Ok (Some (Established (Left_to_right a) dense count)) ->
  forall w, Forall (fun letter => letter < letters_of_bytes dense model) w ->
  network_of_bytes a dense model w = automaton_of_bytes dense model w /\ automaton_of_bytes dense model w <> None.
Proof.
  intros certificate model a dense count H w Hw. apply check_bytes_sound in H. destruct H as [m [Hm R]].
  cbn [established_kind dense_weights] in *.
  unfold network_of_bytes, automaton_of_bytes, letters_of_bytes in *. rewrite Hm in *. destruct (R w Hw) as [q [R1 R2]].
  rewrite R1, R2. now split.
Qed.
