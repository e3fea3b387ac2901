(* The checker of bytes and what its answer means. Leans on everything. *)
From Coq Require Import String ZArith NArith List Bool.
From Krohn Require Import Dyadic Lists Network Arithmetic Closed Bytes Json Safetensors NetworkFile CertificateFile Ieee Runs.
Import ListNotations.
Open Scope string_scope. Open Scope list_scope. Open Scope N_scope.

(* What was established: in this arithmetic, with the dense matrices or the structured ones. *)
Record established := Established { in_arithmetic : arithmetic; dense_weights : bool; how_many : N }.

(* `Ok None`: not established. `No`: the files are not what they should be, or say something that is not checked. *)
Definition check_bytes (certificate model : bytes) : result (option established) :=
  let! (c, e) := read_certificate certificate in
  let! m := model_of_bytes (claimed_dense c) model in
  match claimed_order c with
  | Any => No (text "the order ""any"" is not checked")
  | Sequential =>
      let! es := entries_of (claimed_arithmetic c) m (method c) e in
      Ok (if check_closed (claimed_arithmetic c) m es
          then Some (Established (claimed_arithmetic c) (claimed_dense c) (N.of_nat (length es))) else None)
  end.

Definition sentence (e : established) : bytes :=
  text "proved for words of every length: " ++ arithmetic_name (in_arithmetic e)
  ++ (if dense_weights e then text ", dense weights" else text ", structured weights")
  ++ text ", letter after letter (" ++ decimal (how_many e) ++ text " states of network and automaton)".

Definition what_is_trusted : bytes :=
  text "trusted: Coq's kernel and extraction, four axioms of its real numbers, OCaml, Zarith and GMP, main.ml, and the definitions that say "
  ++ text "what a file means and what a network computes (tools/verified/README.md). The certificate's hashes are not compared: this is about the model's bytes.".

(* Every word of the alphabet, of any length: the network that these bytes mean, evaluated in IEEE 754 letter after letter,
   answers the state of the automaton that they mean. *)
Definition right (a : arithmetic) (dense : bool) (model : bytes) : Prop :=
  exists m, model_of_bytes dense model = Ok m /\
  forall w, Forall (fun letter => letter < letters (oracle m)) w ->
  exists q, run_ieee a m w = Some q /\ run_automaton (oracle m) w = Some q.

Lemma then_ok : forall A B (x : result A) (f : A -> result B) b, then_ x f = Ok b -> exists a, x = Ok a /\ f a = Ok b.
Proof. intros A B [a|s] f b H; simpl in H; [now exists a|discriminate]. Qed.

Theorem check_bytes_sound : forall certificate model e, check_bytes certificate model = Ok (Some e) ->
  right (in_arithmetic e) (dense_weights e) model.
Proof.
  intros certificate model e H. unfold check_bytes in H.
  apply then_ok in H; destruct H as [[c ev] [_ H]]. apply then_ok in H; destruct H as [m [Hm H]].
  destruct (claimed_order c); [|discriminate].
  apply then_ok in H; destruct H as [es [_ H]]. destruct (check_closed _ m es) eqn:C; [|discriminate H]. injection H as <-.
  exists m. split; [exact Hm|]. intros w Hw. now apply closed_ieee with (es := es).
Qed.
