(* Numbers m 2^e in integers: exact operations, and rounding to nearest, ties to even. These are what the checker
   computes with; DyadicR.v proves that they are what they say. Leans on nothing, no axioms. *)
From Coq Require Import ZArith Bool Lia.
Open Scope Z_scope.

(* The number dm * 2^de. *)
Record dy := D { dm : Z; de : Z }.

Fixpoint strip (p : positive) (e : Z) : positive * Z :=
  match p with xO p' => strip p' (Z.succ e) | _ => (p, e) end.

(* One representation a number: an odd mantissa, or 0 2^0. *)
Definition norm (x : dy) : dy :=
  match dm x with
  | Z0 => D 0 0
  | Zpos p => let (q, e) := strip p (de x) in D (Zpos q) e
  | Zneg p => let (q, e) := strip p (de x) in D (Zneg q) e
  end.

Definition dmul (x y : dy) : dy := D (dm x * dm y) (de x + de y).
Definition dopp (x : dy) : dy := D (- dm x) (de x).
Definition dadd (x y : dy) : dy :=
  if dm x =? 0 then y else if dm y =? 0 then x else
  let e := Z.min (de x) (de y) in
  D (Z.shiftl (dm x) (de x - e) + Z.shiftl (dm y) (de y - e)) e.
Definition dltb (x y : dy) : bool := dm (dadd x (dopp y)) <? 0.
Definition deqb (x y : dy) : bool := (dm x =? dm y) && (de x =? de y).

Definition digits (m : Z) : Z := Z.log2 (Z.abs m) + 1.

(* The nearest integer to m / 2^s, ties to even; s > 0. *)
Definition nearest (m s : Z) : Z :=
  let a := Z.shiftr m s in
  match m - Z.shiftl a s ?= Z.shiftl 1 (s - 1) with
  | Lt => a
  | Gt => a + 1
  | Eq => if Z.even a then a else a + 1
  end.

(* Rounding to prec bits, the least number being 2^emin; the exponent has no upper limit yet. *)
Definition rnd (prec emin : Z) (x : dy) : dy :=
  if dm x =? 0 then x else
  let q := Z.max (de x + digits (dm x) - prec) emin in
  if q <=? de x then x else D (nearest (dm x) (q - de x)) q.

Definition fits (emax : Z) (x : dy) : bool :=
  (dm x =? 0) || (de x + digits (dm x) <=? emax).

Lemma deqb_eq : forall x y, deqb x y = true -> x = y.
Proof.
  intros [m e] [m' e'] H; unfold deqb in H; simpl in H.
  apply andb_true_iff in H; destruct H as [H1 H2].
  apply Z.eqb_eq in H1; apply Z.eqb_eq in H2; congruence.
Qed.
