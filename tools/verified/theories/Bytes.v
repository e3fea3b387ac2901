(* Bytes, texts, little-endian integers and IEEE 754 bit patterns. A byte is a number below 256; the driver gives nothing
   else. Reading says what was wrong: `No message`. Leans on Dyadic.v and Lists.v, no axioms. *)
From Coq Require Import String Ascii ZArith NArith List Bool.
From Krohn Require Import Dyadic Lists.
Import ListNotations.
Open Scope N_scope.

Definition bytes := list N.

Definition text (s : string) : bytes := map N_of_ascii (list_ascii_of_string s).
Definition same_text : bytes -> bytes -> bool := forall2b N.eqb.
Definition reads (b : bytes) (s : string) : bool := same_text b (text s).

Inductive result (A : Type) := Ok (a : A) | No (message : bytes).
Arguments Ok {A}. Arguments No {A}.
Definition then_ {A B} (x : result A) (f : A -> result B) : result B := match x with Ok a => f a | No s => No s end.
Notation "'let!' x ':=' e 'in' k" := (then_ e (fun x => k)) (at level 200, x pattern, right associativity).
Notation "'ensure' b 'or' s 'in' k" := (if b then k else No s) (at level 200, right associativity).
Definition or_say {A} (x : option A) (message : bytes) : result A := match x with Some a => Ok a | None => No message end.

Fixpoint each_onto {A B} (f : A -> result B) (done : list B) (l : list A) : result (list B) :=
  match l with [] => Ok (rev' done) | x :: l' => let! y := f x in each_onto f (y :: done) l' end.
Definition each {A B} (f : A -> result B) (l : list A) : result (list B) := each_onto f [] l.

Definition digit (n : N) : N := 48 + n.
(* The decimal digits of n. *)
Fixpoint decimal_onto (fuel : nat) (n : N) (after : bytes) : bytes :=
  match fuel with
  | O => after
  | S fuel' => let after' := digit (n mod 10) :: after in if n <? 10 then after' else decimal_onto fuel' (n / 10) after'
  end.
Definition decimal (n : N) : bytes := decimal_onto 20 n [].

(* The first byte is the lowest. *)
Fixpoint little_endian (b : bytes) : N := match b with [] => 0 | x :: b' => x + 256 * little_endian b' end.
(* Two's complement. *)
Definition signed (b : bytes) : Z :=
  let n := Z.of_N (little_endian b) in
  let size := Z.pow 2 (8 * Z.of_nat (length b)) in
  if Z.ltb (2 * n) size then n else (n - size)%Z.

(* The number of a bit pattern of 1 + exponent + mantissa bits; None for infinities and NaN. *)
Definition ieee (mantissa exponent : Z) (n : Z) : option dy :=
  let m := Z.modulo n (2 ^ mantissa) in
  let e := Z.modulo (n / 2 ^ mantissa) (2 ^ exponent) in
  let negative := Z.leb (2 ^ (mantissa + exponent)) n in
  if (e =? 2 ^ exponent - 1)%Z then None else
  let size := if (e =? 0)%Z then m else (m + 2 ^ mantissa)%Z in
  let power := (Z.max e 1 - (2 ^ (exponent - 1) - 1) - mantissa)%Z in
  Some (norm (D (if negative then - size else size) power)).
Definition float64 (b : bytes) : option dy := ieee 52 11 (Z.of_N (little_endian b)).
Definition float32 (b : bytes) : option dy := ieee 23 8 (Z.of_N (little_endian b)).
