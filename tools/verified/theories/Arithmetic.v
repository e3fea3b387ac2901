(* The arithmetic that the checker executes: integers m 2^e, rounded after every operation, None where a number would not
   be finite. Ieee.v proves that IEEE 754 floats do the same. Leans on Dyadic.v, Lists.v and Network.v, no axioms. *)
From Coq Require Import ZArith NArith List Bool Lia.
From Krohn Require Import Dyadic Lists Network.
Import ListNotations.
Open Scope Z_scope.

(* Binary formats: digits and the least power of two that is too large. *)
Record format := Format { prec : Z; emax : Z; valid : (0 <? prec) && (prec <? emax) = true }.
Definition emin (f : format) : Z := 3 - emax f - prec f.
Definition bf16 := Format 8 128 eq_refl.
Definition fp16 := Format 11 16 eq_refl.
Definition fp32 := Format 24 128 eq_refl.
Definition fp64 := Format 53 1024 eq_refl.

(* In which format sums and products round, whether s + a b rounds once, and in which format states and weights are
   stored when it is another one. *)
Record arithmetic := Arithmetic { sums : format; fused : bool; storage : option format }.

Definition fit (f : format) (x : dy) : option dy :=
  let y := norm (rnd (prec f) (emin f) x) in if fits (emax f) y then Some y else None.

Section Ops.
Variable a : arithmetic.
Definition round_sum := fit (sums a).
Definition z_add (x y : dy) : option dy :=
  if dm x =? 0 then Some y else if dm y =? 0 then Some x else round_sum (dadd x y).
Definition z_mul (x y : dy) : option dy :=
  if (dm x =? 0) || (dm y =? 0) then Some (D 0 0) else round_sum (dmul x y).
Definition z_mad (s x y : dy) : option dy :=
  if (dm x =? 0) || (dm y =? 0) then Some s else
  if fused a then round_sum (dadd s (dmul x y)) else let* p := z_mul x y in z_add s p.
Definition z_store (x : dy) : option dy :=
  match storage a with None => Some x | Some f => let* y := fit f x in round_sum y end.
Definition z_conv (x : dy) : option dy :=
  match storage a with None => round_sum x | Some f => let* y := fit f x in round_sum y end.
Definition zops : ops dy := Ops _ (D 0 0) z_add z_mul z_mad dopp z_store z_conv (fun x => Some x).
End Ops.

(* ---- The decoder. Where H is a codeword to the last bit and no other codeword of the book is, no distance has to be
   computed: its square is 0 and every other is more, provided that no square underflows. ---- *)
Definition decoding := Arithmetic fp64 false None.
Definition zdops := zops decoding.

Definition equal (x y : dy) : bool := deqb x y || (dm (dadd x (dopp y)) =? 0).
Definition equal2 : columns_of dy -> columns_of dy -> bool := forall2b (forall2b equal).
Definition shape_of {A} (h : columns_of A) : list nat := map (@length A) h.
Definition least_exponent : Z := -500.
Definition coarse (h : columns_of dy) : bool := forallb (forallb (fun x => least_exponent <=? de x)) h.

(* A codeword in fp64, with its shape. *)
Record ready_codeword := Ready { r_book : N; r_label : N; r_shape : list nat; r_place : columns_of dy }.

(* None where one of them is not finite or too fine. *)
Definition ready_codewords (codes : list codeword) : option (list ready_codeword) :=
  traverse (fun c => let* p := conv_columns zdops (place c) in
                     if coarse p then Some (Ready (in_book c) (stands_for c) (shape_of p) p) else None) codes.

(* The label of the one codeword of the book that is equal to h. *)
Fixpoint only_equal (cs : list ready_codeword) (book : N) (shape : list nat) (h : columns_of dy) (found : option N) : option N :=
  match cs with
  | [] => found
  | c :: cs' =>
      if N.eqb (r_book c) book then
        if forall2b Nat.eqb shape (r_shape c) then
          if equal2 h (r_place c) then match found with None => only_equal cs' book shape h (Some (r_label c)) | Some _ => None end
          else only_equal cs' book shape h found
        else None
      else only_equal cs' book shape h found
  end.

Definition shortcut (ready : option (list ready_codeword)) (book : N) (h : columns_of dy) : option N :=
  let* cs := ready in if coarse h then only_equal cs book (shape_of h) h None else None.

(* What `decode zdops` gives, or the shortcut to it. *)
Definition z_decode (codes : list codeword) : N -> columns_of dy -> option N :=
  let ready := ready_codewords codes in
  fun book h => match shortcut ready book h with Some label => Some label | None => decode zdops codes book h end.
