(* Lists as the checker uses them: options in sequence, lookup by number in logarithmic time, pieces of a list. What reads
   long lists is written with accumulators, for the stack of the extracted program. Leans on nothing, no axioms. *)
From Coq Require Import ZArith NArith List Bool Lia FMapPositive.
Import ListNotations.
Open Scope N_scope.

Definition bind {A B} (x : option A) (f : A -> option B) : option B := match x with Some a => f a | None => None end.
Notation "'let*' x ':=' e 'in' k" := (bind e (fun x => k)) (at level 200, x pattern, right associativity).

Lemma bind_some : forall A B (x : option A) (f : A -> option B) b, bind x f = Some b -> exists a, x = Some a /\ f a = Some b.
Proof. intros A B [a|] f b H; simpl in H; [now exists a|discriminate]. Qed.

(* ---- Lookup: mk l i is the element i of the list l. The table is built once, when mk is given the list. ---- *)
Section Table.
Context {A : Type}.
Fixpoint build (l : list A) (p : positive) (m : PositiveMap.t A) :=
  match l with [] => m | x :: l' => build l' (Pos.succ p) (PositiveMap.add p x m) end.
Definition mk (l : list A) : N -> option A :=
  let m := build l 1%positive (PositiveMap.empty A) in fun i => PositiveMap.find (N.succ_pos i) m.

Lemma build_low : forall l p m q, (q < p)%positive -> PositiveMap.find q (build l p m) = PositiveMap.find q m.
Proof.
  induction l; intros p m q H; simpl; [reflexivity|].
  rewrite IHl by lia. apply PositiveMap.gso. lia.
Qed.

Lemma build_at : forall l p m k q, (forall q, (p <= q)%positive -> PositiveMap.find q m = None) ->
  (Zpos q = Z.of_nat k + Zpos p)%Z -> PositiveMap.find q (build l p m) = nth_error l k.
Proof.
  induction l; intros p m k q H Hq; simpl.
  - rewrite H by lia. now destruct k.
  - destruct k; simpl.
    + assert (q = p) by lia. subst. rewrite build_low by lia. apply PositiveMap.gss.
    + apply IHl; [|lia]. intros r Hr. rewrite PositiveMap.gso by lia. apply H. lia.
Qed.

Lemma mk_nth : forall l i, mk l i = nth_error l (N.to_nat i).
Proof.
  intros l i. unfold mk. apply build_at; [intros; apply PositiveMap.gempty|].
  destruct i; simpl; lia.
Qed.

Lemma mk_in : forall l i x, mk l i = Some x -> In x l.
Proof. intros l i x H. rewrite mk_nth in H. now apply nth_error_In in H. Qed.
End Table.

Definition mk2 {A} (l : list (list A)) : N -> N -> option A :=
  let t := mk (map mk l) in fun i j => bind (t i) (fun r => r j).

(* ---- Element i of a short list, and the list with another element i. ---- *)
Fixpoint get {A} (l : list A) (i : N) : option A :=
  match l with [] => None | x :: l' => if i =? 0 then Some x else get l' (N.pred i) end.
Fixpoint set {A} (l : list A) (i : N) (y : A) : option (list A) :=
  match l with
  | [] => None
  | x :: l' => if i =? 0 then Some (y :: l') else option_map (cons x) (set l' (N.pred i) y)
  end.

(* ---- All or nothing. ---- *)
Fixpoint traverse_onto {A B} (f : A -> option B) (done : list B) (l : list A) : option (list B) :=
  match l with [] => Some (rev' done) | x :: l' => let* y := f x in traverse_onto f (y :: done) l' end.
Definition traverse {A B} (f : A -> option B) (l : list A) : option (list B) := traverse_onto f [] l.

Lemma rev'_rev : forall A (l : list A), rev' l = rev l.
Proof. intros. unfold rev'. now rewrite <- rev_alt. Qed.

Fixpoint traverse_by_hand {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with [] => Some [] | x :: l' => let* y := f x in let* r := traverse_by_hand f l' in Some (y :: r) end.
Lemma traverse_onto_is : forall A B (f : A -> option B) l done,
  traverse_onto f done l = option_map (app (rev done)) (traverse_by_hand f l).
Proof.
  induction l as [|x l IH]; intros done; cbn [traverse_onto traverse_by_hand option_map].
  - now rewrite rev'_rev, app_nil_r.
  - destruct (f x) as [y|]; cbn [bind option_map]; [|reflexivity]. rewrite IH.
    destruct (traverse_by_hand f l); cbn [bind option_map]; [|reflexivity]. cbn [rev]. now rewrite <- app_assoc.
Qed.
Lemma traverse_is : forall A B (f : A -> option B) l, traverse f l = traverse_by_hand f l.
Proof. intros. unfold traverse. rewrite traverse_onto_is. now destruct (traverse_by_hand f l). Qed.

Fixpoint zip_with {A B C} (f : A -> B -> option C) (x : list A) (y : list B) : option (list C) :=
  match x, y with
  | [], [] => Some []
  | a :: x', b :: y' => let* c := f a b in let* r := zip_with f x' y' in Some (c :: r)
  | _, _ => None
  end.

Fixpoint fold_option {A S} (f : S -> A -> option S) (s : S) (l : list A) : option S :=
  match l with [] => Some s | x :: l' => let* t := f s x in fold_option f t l' end.

(* ---- The same for every pair of two lists of one length. ---- *)
Fixpoint forall2b {A B} (f : A -> B -> bool) (x : list A) (y : list B) : bool :=
  match x, y with [], [] => true | a :: x', b :: y' => f a b && forall2b f x' y' | _, _ => false end.

Lemma forall2b_eq : forall A (f : A -> A -> bool), (forall a b, f a b = true -> a = b) ->
  forall x y, forall2b f x y = true -> x = y.
Proof.
  induction x; intros [|b y] H1; simpl in H1; try discriminate; [reflexivity|].
  apply andb_true_iff in H1; destruct H1. f_equal; auto.
Qed.

(* ---- Pieces: the first k elements and the rest; rows of n; pieces between offsets. None where they do not fit. ---- *)
Fixpoint take_onto {A} (done : list A) (k : N) (l : list A) : option (list A * list A) :=
  if k =? 0 then Some (rev' done, l) else
  match l with [] => None | x :: l' => take_onto (x :: done) (N.pred k) l' end.
Definition take {A} (k : N) (l : list A) : option (list A * list A) := take_onto [] k l.

Fixpoint cut_onto {A} (done : list (list A)) (before : N) (offsets : list N) (l : list A) : option (list (list A)) :=
  match offsets with
  | [] => match l with [] => Some (rev' done) | _ => None end
  | o :: offsets' => if o <? before then None else let* (piece, rest) := take (o - before) l in cut_onto (piece :: done) o offsets' rest
  end.
(* Piece i is l from offsets[i] to offsets[i + 1]; the first offset is 0 and the last the length of l. *)
Definition cut {A} (offsets : list N) (l : list A) : option (list (list A)) :=
  match offsets with o :: offsets' => if o =? 0 then cut_onto [] 0 offsets' l else None | [] => None end.

Fixpoint take_each_onto {A} (done : list (list A)) (sizes : list N) (l : list A) : option (list (list A) * list A) :=
  match sizes with
  | [] => Some (rev' done, l)
  | k :: sizes' => let* (piece, rest) := take k l in take_each_onto (piece :: done) sizes' rest
  end.
Definition take_each {A} (sizes : list N) (l : list A) : option (list (list A)) :=
  let* (pieces, rest) := take_each_onto [] sizes l in match rest with [] => Some pieces | _ => None end.

(* 0, 1, ..., n - 1. *)
Definition iota (n : N) : list N := N.recursion [] (fun _ l => match l with [] => [n - 1] | i :: _ => (i - 1) :: l end) n.

Definition rows {A} (count n : N) (l : list A) : option (list (list A)) := take_each (map (fun _ => n) (iota count)) l.

Fixpoint sum (l : list N) : N := match l with [] => 0 | x :: l' => x + sum l' end.
Definition count (p : N -> bool) (l : list N) : N := N.of_nat (length (filter p l)).
