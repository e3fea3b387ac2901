(* Letters composed into maps before they are applied, in any association, with sums in any order: for layers whose
   matrices move numbers, that is, have at most one entry in a column that is not 0, and that is 1 or -1. Such matrices are
   closed under products; what words add to a vector is enumerated. Leans on AnyOrder.v. *)
From Coq Require Import ZArith NArith Arith List Bool Lia Reals Lra.
From Flocq Require Import Core BinarySingleNaN.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Closed Ieee Decoder AnySum AnyOrder.
Import ListNotations.
Open Scope R_scope.

(* ---- Vectors and matrices of reals, by index below n ---- *)

Fixpoint sumR (n : nat) (g : nat -> R) : R := match n with O => 0 | S n' => g O + sumR n' (fun k => g (S k)) end.
Definition vec := nat -> R.

Lemma sumR_ext : forall n g h, (forall k, (k < n)%nat -> g k = h k) -> sumR n g = sumR n h.
Proof.
  induction n; intros g h E; cbn [sumR]; [reflexivity|]. rewrite (E O) by lia. f_equal. apply IHn. intros k Hk. apply E. lia.
Qed.
Lemma sumR_plus : forall n g h, sumR n (fun k => g k + h k) = sumR n g + sumR n h.
Proof. induction n; intros g h; cbn [sumR]; [ring|]. rewrite IHn. ring. Qed.
Lemma sumR_scale : forall n c g, sumR n (fun k => c * g k) = c * sumR n g.
Proof. induction n; intros c g; cbn [sumR]; [ring|]. rewrite IHn. ring. Qed.
Lemma sumR_0 : forall n g, (forall k, (k < n)%nat -> g k = 0) -> sumR n g = 0.
Proof. induction n; intros g E; cbn [sumR]; [reflexivity|]. rewrite E by lia. rewrite IHn; [ring|]. intros. apply E. lia. Qed.
Lemma sumR_exchange : forall n m g, sumR n (fun i => sumR m (fun j => g i j)) = sumR m (fun j => sumR n (fun i => g i j)).
Proof.
  induction n; intros m g; cbn [sumR]; [symmetry; now apply sumR_0|]. rewrite IHn, <- sumR_plus. reflexivity.
Qed.
Lemma sumR_one : forall n g i, (i < n)%nat -> (forall k, (k < n)%nat -> k <> i -> g k = 0) -> sumR n g = g i.
Proof.
  induction n; intros g i Hi E; [lia|]. cbn [sumR]. destruct i.
  - rewrite sumR_0; [ring|]. intros k Hk. apply E; lia.
  - rewrite (E O) by lia. rewrite (IHn (fun k => g (S k)) i); [ring|lia|]. intros k Hk Ne. apply E; lia.
Qed.
Lemma sumR_le : forall n g h, (forall k, (k < n)%nat -> g k <= h k) -> sumR n g <= sumR n h.
Proof.
  induction n; intros g h E; cbn [sumR]; [lra|]. pose proof (E O ltac:(lia)).
  assert (sumR n (fun k => g (S k)) <= sumR n (fun k => h (S k))) by (apply IHn; intros; apply E; lia). lra.
Qed.

Section Words.
Variable n : nat.
Variables (A : N -> nat -> nat -> R) (B : N -> vec).   (* of every action *)

Definition apply_letter (a : N) (r : vec) : vec := fun i => sumR n (fun k => A a i k * r k).
Definition apply_word (u : list N) (r : vec) : vec := fold_left (fun r a => apply_letter a r) u r.
Definition affine_letter (a : N) (r : vec) : vec := fun i => apply_letter a r i + B a i.
Definition affine_word (u : list N) (r : vec) : vec := fold_left (fun r a => affine_letter a r) u r.
Definition unit_vec (j : nat) : vec := fun i => if Nat.eqb i j then 1 else 0.
Definition zero_vec : vec := fun _ => 0.

Definition same_vec (r s : vec) : Prop := forall i, (i < n)%nat -> r i = s i.

Lemma apply_letter_ext : forall a r s, same_vec r s -> forall i, apply_letter a r i = apply_letter a s i.
Proof. intros a r s E i. unfold apply_letter. apply sumR_ext. intros k Hk. now rewrite E. Qed.
Lemma apply_word_ext : forall u r s, same_vec r s -> same_vec (apply_word u r) (apply_word u s).
Proof. induction u; intros r s E; cbn [apply_word fold_left]; [exact E|]. apply IHu. intros i Hi. now apply apply_letter_ext. Qed.
Lemma affine_word_ext : forall u r s, same_vec r s -> same_vec (affine_word u r) (affine_word u s).
Proof.
  induction u; intros r s E; cbn [affine_word fold_left]; [exact E|]. apply IHu. intros i Hi. unfold affine_letter.
  now rewrite (apply_letter_ext a r s).
Qed.

Lemma apply_word_linear : forall u m (c : nat -> R) (v : nat -> vec),
  same_vec (apply_word u (fun i => sumR m (fun k => v k i * c k))) (fun i => sumR m (fun k => apply_word u (v k) i * c k)).
Proof.
  induction u as [|a u IH]; intros m c v i Hi; cbn [apply_word fold_left]; [reflexivity|].
  change (fold_left (fun r b => apply_letter b r) u) with (apply_word u).
  rewrite <- (IH m c (fun k => apply_letter a (v k)) i Hi). apply apply_word_ext; [|exact Hi]. intros j Hj. unfold apply_letter.
  transitivity (sumR n (fun l => sumR m (fun k => A a j l * v k l * c k))).
  - apply sumR_ext. intros l Hl. rewrite <- sumR_scale. apply sumR_ext. intros. ring.
  - rewrite sumR_exchange. apply sumR_ext. intros k Hk. rewrite (Rmult_comm _ (c k)), <- sumR_scale. apply sumR_ext. intros. ring.
Qed.

Lemma units : forall r : vec, same_vec r (fun i => sumR n (fun k => unit_vec k i * r k)).
Proof.
  intros r i Hi. rewrite (sumR_one n _ i Hi); unfold unit_vec.
  - rewrite Nat.eqb_refl. ring.
  - intros k Hk Ne. destruct (Nat.eqb_spec i k); [congruence|ring].
Qed.

(* A word's map is the matrix of what it does to the unit vectors. *)
Lemma word_matrix : forall u r i, (i < n)%nat -> sumR n (fun k => apply_word u (unit_vec k) i * r k) = apply_word u r i.
Proof.
  intros u r i Hi. rewrite <- (apply_word_linear u n r unit_vec i Hi). symmetry. apply apply_word_ext; [apply units|exact Hi].
Qed.

Lemma apply_word_plus : forall u r s, same_vec (apply_word u (fun i => r i + s i)) (fun i => apply_word u r i + apply_word u s i).
Proof.
  intros u r s i Hi. rewrite <- !word_matrix by exact Hi. rewrite <- sumR_plus. apply sumR_ext. intros. ring.
Qed.

Lemma affine_split : forall u r, same_vec (affine_word u r) (fun i => apply_word u r i + affine_word u zero_vec i).
Proof.
  induction u as [|a u IH]; intros r i Hi; cbn [affine_word apply_word fold_left]; [unfold zero_vec; ring|].
  change (fold_left (fun r b => apply_letter b r) u) with (apply_word u).
  change (fold_left (fun r b => affine_letter b r) u) with (affine_word u).
  rewrite (IH (affine_letter a r) i Hi), (IH (affine_letter a zero_vec) i Hi).
  unfold affine_letter. rewrite (apply_word_plus u (apply_letter a r) (B a) i Hi).
  rewrite (apply_word_ext u (fun i => apply_letter a zero_vec i + B a i) (B a)); [ring| |exact Hi].
  intros j Hj. unfold apply_letter, zero_vec. rewrite sumR_0; [ring|]. intros. ring.
Qed.

Lemma affine_app : forall u v r, affine_word (u ++ v) r = affine_word v (affine_word u r).
Proof. intros. unfold affine_word. apply fold_left_app. Qed.
Lemma apply_app : forall u v r, apply_word (u ++ v) r = apply_word v (apply_word u r).
Proof. intros. unfold apply_word. apply fold_left_app. Qed.

(* Moves: no column has more than one entry, and that is 1 or -1. *)
Definition unit_like (r : vec) : Prop :=
  (forall i, (i < n)%nat -> r i = 0) \/ exists k, (k < n)%nat /\ Rabs (r k) = 1 /\ forall i, (i < n)%nat -> i <> k -> r i = 0.
Hypothesis moves : forall a j, (j < n)%nat -> unit_like (fun i => A a i j).

Lemma unit_like_letter : forall a r, unit_like r -> unit_like (apply_letter a r).
Proof.
  intros a r [Z|[k [Hk [Rk Z]]]].
  - left. intros i Hi. unfold apply_letter. apply sumR_0. intros k Hk. rewrite Z by assumption. ring.
  - assert (E : forall i, apply_letter a r i = A a i k * r k).
    { intros i. unfold apply_letter. apply sumR_one with (g := fun l => A a i l * r l); [exact Hk|]. intros l Hl Ne.
      rewrite Z by assumption. ring. }
    destruct (moves a k Hk) as [Y|[l [Hl [Rl Y]]]].
    + left. intros i Hi. rewrite E, Y by assumption. ring.
    + right. exists l. split; [exact Hl|]. split; [rewrite E, Rabs_mult, Rl, Rk; ring|]. intros i Hi Ne.
      rewrite E, Y by assumption. ring.
Qed.
Lemma unit_like_word : forall u r, unit_like r -> unit_like (apply_word u r).
Proof. induction u; intros r H; cbn [apply_word fold_left]; [exact H|]. apply IHu. now apply unit_like_letter. Qed.
Lemma unit_like_unit : forall j, unit_like (unit_vec j).
Proof.
  intros j. destruct (lt_dec j n) as [H|H].
  - right. exists j. split; [exact H|]. unfold unit_vec. rewrite Nat.eqb_refl, Rabs_R1. split; [reflexivity|].
    intros i Hi Ne. destruct (Nat.eqb_spec i j); [congruence|reflexivity].
  - left. intros i Hi. unfold unit_vec. destruct (Nat.eqb_spec i j); [lia|reflexivity].
Qed.
Lemma unit_like_size : forall r i, unit_like r -> (i < n)%nat -> r i = 0 \/ r i = 1 \/ r i = -1.
Proof.
  intros r i [Z|[k [Hk [Rk Z]]]] Hi; [left; auto|]. destruct (Nat.eq_dec i k) as [->|Ne]; [|left; auto].
  unfold Rabs in Rk. destruct (Rcase_abs (r k)); right; [right|left]; lra.
Qed.
Lemma unit_like_total : forall r, unit_like r -> sumR n (fun i => Rabs (r i)) <= 1.
Proof.
  intros r [Z|[k [Hk [Rk Z]]]].
  - rewrite sumR_0; [lra|]. intros i Hi. rewrite Z by assumption. apply Rabs_R0.
  - rewrite (sumR_one n _ k Hk); [lra|]. intros i Hi Ne. rewrite Z by assumption. apply Rabs_R0.
Qed.
End Words.

(* ================ The specification ================ *)

Section Specification.
Variable f : format.
Variables (n : nat) (A : N -> nat -> nat -> R) (B : N -> vec).

(* A list of floats that are numbers of the format and have these values. *)
Definition vector_is (x : list some_float) (r : vec) : Prop :=
  length x = n /\ forall i v, nth_error x i = Some v -> of_f f v /\ real v = r i.

(* y = M x + b by some evaluation; M by columns. *)
Definition any_affine (M : columns_of some_float) (x : list some_float) (b : option (list some_float)) (y : list some_float) : Prop :=
  length y = n /\ forall i v, nth_error y i = Some v -> exists row last,
    Forall2 (fun c e => nth_error c i = Some e) M row /\ sums f (combine row x ++ last) v
    /\ match b with None => last = [] | Some c => exists w, nth_error c i = Some w /\ last = [(w, one f)] end.

(* The matrix of a word of actions, and what the word adds to a column: composed in any association. *)
Inductive any_matrix : list N -> columns_of some_float -> Prop :=
  | Matrix_of_letter : forall a M, length M = n ->
      (forall j c, nth_error M j = Some c -> vector_is c (fun i => A a i j)) -> any_matrix [a] M
  | Matrix_of_words : forall u v M1 M2 M, any_matrix u M1 -> any_matrix v M2 ->
      Forall2 (fun x y => any_affine M2 x None y) M1 M -> any_matrix (u ++ v) M.
Inductive any_addition : list N -> list some_float -> Prop :=
  | Addition_of_letter : forall a b, vector_is b (B a) -> any_addition [a] b
  | Addition_of_words : forall u v b1 b2 M b, any_addition u b1 -> any_addition v b2 -> any_matrix v M ->
      any_affine M b1 (Some b2) b -> any_addition (u ++ v) b.
End Specification.

Section Layers.
Variable f : format.
Notation tables := (@tables dy).

Definition coefficient (t : term dy) (j : nat) : R :=
  match t with
  | Pick k => if Nat.eqb (N.to_nat k) j then 1 else 0
  | Minus k => if Nat.eqb (N.to_nat k) j then -1 else 0
  | Times w k => if Nat.eqb (N.to_nat k) j then D2R w else 0
  end.
Fixpoint row_coefficient (row : list (term dy)) (j : nat) : R :=
  match row with [] => 0 | t :: row' => coefficient t j + row_coefficient row' j end.
(* The numbers of a column, 0 after its end. *)
Definition reals_of (c : list dy) : vec := fun i => match nth_error c i with Some d => D2R d | None => 0 end.

(* A of an action, entry by entry, and column c of its B, 0 where it has none. Only rows: reflections have dense weights. *)
Definition entry_of (l : tables) (a : N) (i j : nat) : R :=
  match act_at l a with
  | Some (Rows rs, _) => match nth_error rs i with Some row => row_coefficient row j | None => 0 end
  | _ => 0
  end.
Definition addition_of (l : tables) (c : nat) (a : N) : vec :=
  match act_at l a with
  | Some (_, Some b) => match nth_error b c with Some column => reals_of column | None => fun _ => 0 end
  | _ => fun _ => 0
  end.
Definition height (l : tables) : nat := match start l with c :: _ => length c | [] => O end.

(* Column c of the state after a word of actions: letters one by one, or maps of words. *)
Inductive composed_column (l : tables) (c : nat) : list N -> list some_float -> Prop :=
  | From_start : forall x k, nth_error (start l) c = Some k -> Forall2 (holds f) x k -> composed_column l c [] x
  | By_letter : forall u a m b x y, composed_column l c u x -> act_at l a = Some (m, b) ->
      any_column f m (match b with Some k => nth_error k c | None => None end) x y -> composed_column l c (u ++ [a]) y
  | By_map : forall u v M b x y, composed_column l c u x ->
      any_matrix f (height l) (entry_of l) v M -> any_addition f (height l) (entry_of l) (addition_of l c) v b ->
      any_affine f (height l) M x (Some b) y -> composed_column l c (u ++ v) y.

(* The actions so far, H, and the label if there is one. *)
Definition composed_state := (list N * columns_of some_float * option N)%type.
Definition composed_layer_step (l : tables) (i : option N) (s t : composed_state) : Prop :=
  let '(u, H, _) := s in let '(v, K, label) := t in
  match (let* c := i in let* a := action_at l c in let* _ := act_at l a in let* b := book_at l c in Some (a, b)) with
  | None => v = u /\ K = H /\ label = None
  | Some (a, b) =>
      v = u ++ [a] /\ length K = length (start l) /\ (forall c x, nth_error K c = Some x -> composed_column l c v x)
      /\ label = (let* h := any_values K in codes l b h)
  end.
Fixpoint composed_step (ls : list tables) (i : option N) (ss ts : list composed_state) : Prop :=
  match ls, ss, ts with
  | [], [], [] => True
  | l :: ls', s :: ss', t :: ts' =>
      composed_layer_step l i s t /\ composed_step ls' (let* c := i in let* label := snd s in next_at l c label) ss' ts'
  | _, _, _ => False
  end.
Fixpoint composed_walk (ls : list tables) (w : list N) (ss ts : list composed_state) : Prop :=
  match w with [] => ts = ss | a :: w' => exists us, composed_step ls (Some a) ss us /\ composed_walk ls w' us ts end.
Definition composed_start (l : tables) (s : composed_state) : Prop :=
  Forall2 (Forall2 (holds f)) (snd (fst s)) (start l) /\ fst (fst s) = [] /\ snd s = Some (start_label l).
Definition composed_answer (ls : list tables) (ss : list composed_state) : option N := let* labels := traverse snd ss in read ls 0 labels.

(* Whatever the evaluation and the association, the answer after every word is the automaton's state. *)
Definition only_rows (l : tables) : Prop := forall a ab, act_at l a = Some ab -> exists rs, fst ab = Rows rs.
Definition right_in_any_association (m : model) : Prop :=
  exists ls, any_layers f m = Some ls /\ Forall only_rows ls /\
  forall w, Forall (fun b => b < letters (oracle m))%N w -> forall ss ts, Forall2 composed_start ls ss -> composed_walk ls w ss ts ->
  exists q, composed_answer ls ts = Some q /\ run_automaton (oracle m) w = Some q.
End Layers.

(* ================ Sums with maps that move ================ *)

Section Exact.
Variable f : format.
Hypothesis units : has_units f = true.
Variables (n : nat) (A : N -> nat -> nat -> R) (B : N -> vec).
Hypothesis moves : forall a j, (j < n)%nat -> unit_like n (fun i => A a i j).
Notation vector_is := (vector_is f n).

Lemma combine_facts : forall g row x (p r : vec), length row = length x ->
  (forall k e, nth_error row k = Some e -> of_f f e /\ real e = p k) ->
  (forall k e, nth_error x k = Some e -> of_f f e /\ real e = r k) ->
  (forall k, (k < length x)%nat -> whole g (p k * r k)) ->
  Forall (good_term f g) (combine row x) /\ total (combine row x) = sumR (length x) (fun k => p k * r k)
  /\ total_size (combine row x) = sumR (length x) (fun k => Rabs (p k * r k)).
Proof.
  intros g. induction row as [|e row IH]; intros [|d x] p r L P Q W; try discriminate; cbn [combine length total total_size sumR].
  - repeat split; constructor.
  - injection L as L. destruct (P O e eq_refl) as [E1 E2]. destruct (Q O d eq_refl) as [D1 D2].
    destruct (IH x (fun k => p (S k)) (fun k => r (S k)) L (fun k => P (S k)) (fun k => Q (S k))) as [I1 [I2 I3]].
    { intros k Hk. apply (W (S k)). cbn [length]. lia. }
    rewrite I2, I3. unfold term_of at 1 2; cbn [fst snd]. rewrite E2, D2. split; [|split; reflexivity].
    constructor; [|exact I1]. split; [exact E1|]. split; [exact D1|]. unfold term_of; cbn [fst snd]. rewrite E2, D2.
    apply (W O). cbn [length]. lia.
Qed.

Lemma whole_unit : forall g a r, a = 0 \/ a = 1 \/ a = -1 -> whole g r -> whole g (a * r).
Proof.
  intros g a r H [k ->]. destruct H as [->|[->| ->]]; [exists 0%Z|exists k|exists (- k)%Z].
  - rewrite F2R_0. ring.
  - ring.
  - rewrite F2R_Zopp. ring.
Qed.

Lemma one_is : of_f f (one f) /\ real (one f) = 1.
Proof. destruct (one_holds f units) as [[O E] _]. split; [exact O|]. rewrite E. apply real_one. Qed.

(* A column is sent through a map that moves, and something is added: nothing rounds. *)
Lemma affine_exact : forall g M (P : nat -> vec) x r b s y, (emin f <= g)%Z -> (prec f + g < emax f)%Z ->
  length M = n -> (forall k c, nth_error M k = Some c -> vector_is c (P k)) ->
  (forall k, (k < n)%nat -> unit_like n (P k)) ->
  vector_is x r -> (forall k, (k < n)%nat -> whole g (r k)) ->
  match b with None => forall i, s i = 0 | Some c => vector_is c s end -> (forall i, (i < n)%nat -> whole g (s i)) ->
  (forall i, (i < n)%nat -> sumR n (fun k => Rabs (r k)) + Rabs (s i) <= bpow radix2 (prec f + g)
                            \/ sumR n (fun k => Rabs (P k i * r k)) + Rabs (s i) <= bpow radix2 (prec f + g)) ->
  any_affine f n M x b y -> vector_is y (fun i => sumR n (fun k => P k i * r k) + s i).
Proof.
  intros g M P x r b s y G1 G2 LM HM U [Lx Hx] Wr Hb Ws Sz [Ly Hy]. split; [exact Ly|]. intros i v Hv.
  assert (Hi : (i < n)%nat) by (rewrite <- Ly; apply nth_error_Some; congruence).
  destruct (Hy i v Hv) as [row [last [R [S L]]]].
  assert (Lrow : length row = length x).
  { rewrite Lx, <- LM. clear -R. induction R; cbn [length]; congruence. }
  assert (Hrow : forall k e, nth_error row k = Some e -> of_f f e /\ real e = P k i).
  { intros k e E. assert (C : exists c, nth_error M k = Some c /\ nth_error c i = Some e).
    { clear -R E. revert k E. induction R as [|c d M row R1 R IH]; intros [|k] E; cbn [nth_error] in *; try discriminate;
        [|now apply IH].
      injection E as ->. now exists c. }
    destruct C as [c [C1 C2]]. destruct (HM k c C1) as [_ K]. exact (K i e C2). }
  assert (Small : forall k, (k < n)%nat -> P k i = 0 \/ P k i = 1 \/ P k i = -1).
  { intros k Hk. apply (unit_like_size n (P k) i); [now apply U|exact Hi]. }
  destruct (combine_facts g row x (fun k => P k i) r Lrow Hrow Hx) as [F1 [F2 F3]].
  { intros k Hk. rewrite Lx in Hk. apply whole_unit; auto. }
  rewrite Lx in F2, F3.
  assert (Le : sumR n (fun k => Rabs (P k i * r k)) <= sumR n (fun k => Rabs (r k))).
  { apply sumR_le. intros k Hk. rewrite Rabs_mult. destruct (Small k Hk) as [->|[->| ->]].
    - rewrite Rabs_R0. pose proof (Rabs_pos (r k)). lra.
    - rewrite Rabs_R1. lra.
    - replace (Rabs (-1)) with 1 by (rewrite Rabs_left; lra). lra. }
  assert (Size : sumR n (fun k => Rabs (P k i * r k)) + Rabs (s i) <= bpow radix2 (prec f + g)) by (destruct (Sz i Hi); lra).
  assert (Good : good f g (combine row x ++ last) /\ total (combine row x ++ last) = sumR n (fun k => P k i * r k) + s i).
  { unfold good. rewrite total_app, size_app, F2, F3. destruct b as [c|].
    - destruct L as [w [Hw ->]]. destruct Hb as [_ Hb]. destruct (Hb i w Hw) as [O E]. destruct one_is as [O1 E1].
      cbn [total total_size]. unfold term_of at 1 2; cbn [fst snd]. rewrite E, E1, !Rmult_1_r, !Rplus_0_r. split; [split;
        [|exact Size]|reflexivity].
      apply Forall_app. split; [exact F1|]. constructor; [|constructor]. split; [exact O|]. split; [exact O1|].
      unfold term_of; cbn [fst snd]. rewrite E, E1, Rmult_1_r. now apply Ws.
    - subst last. cbn [total total_size]. rewrite Hb in Size |- *. rewrite Rabs_R0 in Size. rewrite app_nil_r. split; [split;
        [exact F1|lra]|ring]. }
  destruct Good as [Good T]. destruct (sums_exact f g G1 G2 _ _ S Good) as [V1 V2].
  split; [|now rewrite V2]. split; [exact V1|]. exists (convert f mode_NE v). apply (into_held f g G1 G2 f mode_NE v);
    [unfold wider; lia|exact V1|].
  rewrite V2. now apply good_held.
Qed.

Hypothesis unit_grain : (emin f <= 0)%Z.

Lemma vector_is_ext : forall x r s, vector_is x r -> (forall i, (i < n)%nat -> r i = s i) -> vector_is x s.
Proof.
  intros x r s [L H] E. split; [exact L|]. intros i v Hv. destruct (H i v Hv) as [O V]. split; [exact O|]. rewrite V. apply E.
  rewrite <- L. apply nth_error_Some. congruence.
Qed.

Lemma whole_0 : forall a, a = 0 \/ a = 1 \/ a = -1 -> whole 0 a.
Proof. intros a [->|[->| ->]]; [exists 0%Z|exists 1%Z|exists (-1)%Z]; unfold F2R; simpl; ring. Qed.

Theorem matrices_exact : forall u M, any_matrix f n A u M -> length M = n /\
  forall j c, nth_error M j = Some c -> vector_is c (apply_word n A u (unit_vec j)).
Proof.
  induction 1 as [a M LM HM|u v M1 M2 M _ [L1 H1] _ [L2 H2] R].
  - split; [exact LM|]. intros j c Hc. apply vector_is_ext with (1 := HM j c Hc). intros i Hi.
    assert (Hj : (j < n)%nat) by (rewrite <- LM; apply nth_error_Some; congruence).
    cbn [apply_word fold_left]. unfold apply_letter. rewrite (sumR_one n _ j Hj); unfold unit_vec.
    + rewrite Nat.eqb_refl. ring.
    + intros k Hk Ne. destruct (Nat.eqb_spec k j); [congruence|ring].
  - assert (LM : length M = n) by (rewrite <- L1; clear -R; induction R; cbn [length]; congruence).
    split; [exact LM|]. intros j c Hc.
    assert (C : exists x, nth_error M1 j = Some x /\ any_affine f n M2 x None c).
    { clear -R Hc. revert j Hc. induction R as [|x y M1 M R1 R IH]; intros [|j] Hc; cbn [nth_error] in *; try discriminate;
        [|now apply IH].
      injection Hc as ->. now exists x. }
    destruct C as [x [Hx Hy]].
    assert (U : unit_like n (apply_word n A u (unit_vec j))) by (apply unit_like_word; [exact moves|apply unit_like_unit]).
    pose proof (large_emax f) as LE. unfold Prec_lt_emax in LE. pose proof (positive_prec f) as PP. unfold Prec_gt_0 in PP.
    pose proof (affine_exact 0 M2 (fun k => apply_word n A v (unit_vec k)) x (apply_word n A u (unit_vec j)) None (fun _ => 0) c
                  unit_grain ltac:(lia) L2 H2) as E.
    apply vector_is_ext with (r := fun i => sumR n (fun k => apply_word n A v (unit_vec k) i * apply_word n A u (unit_vec j) k) + 0).
    + apply E; auto.
      * intros k Hk. apply unit_like_word; [exact moves|apply unit_like_unit].
      * intros k Hk. apply whole_0. now apply (unit_like_size n).
      * intros i Hi. exists 0%Z. now rewrite F2R_0.
      * intros i Hi. left. rewrite Rabs_R0, Rplus_0_r. apply Rle_trans with 1; [now apply unit_like_total|].
        change 1 with (bpow radix2 0). apply bpow_le. lia.
    + intros i Hi. rewrite Rplus_0_r, apply_app. now apply word_matrix.
Qed.

(* What words of these actions add fits together. *)
Variable valid_action : N -> Prop.
Variable ga : Z.
Hypothesis ga_fine : (emin f <= ga)%Z.
Hypothesis ga_small : (prec f + ga < emax f)%Z.
Notation added u := (affine_word n A B u zero_vec).
Hypothesis added_whole : forall u, Forall valid_action u -> forall i, (i < n)%nat -> whole ga (added u i).
Hypothesis added_small : forall u v, Forall valid_action u -> Forall valid_action v -> forall i, (i < n)%nat ->
  sumR n (fun k => Rabs (added u k)) + Rabs (added v i) <= bpow radix2 (prec f + ga).

Theorem additions_exact : forall u b, any_addition f n A B u b -> Forall valid_action u -> vector_is b (added u).
Proof.
  induction 1 as [a b Hb|u v b1 b2 M b _ IH1 _ IH2 HM HA]; intros V.
  - apply vector_is_ext with (1 := Hb). intros i Hi. cbn [affine_word fold_left]. unfold affine_letter, apply_letter, zero_vec.
    rewrite sumR_0; [ring|]. intros. ring.
  - apply Forall_app in V. destruct V as [Vu Vv]. destruct (matrices_exact _ _ HM) as [LM M1].
    apply vector_is_ext with (r := fun i => sumR n (fun k => apply_word n A v (unit_vec k) i * added u k) + added v i).
    + apply (affine_exact ga M (fun k => apply_word n A v (unit_vec k)) b1 (added u) (Some b2) (added v) b); auto.
      intros k Hk. apply unit_like_word; [exact moves|apply unit_like_unit].
    + intros i Hi. rewrite affine_app, (word_matrix n A v (added u) i Hi). symmetry. now apply affine_split.
Qed.

(* A state and what is added to it. *)
Theorem states_exact : forall g v M b x r y, (emin f <= g)%Z -> (prec f + g < emax f)%Z ->
  Forall valid_action v -> any_matrix f n A v M -> any_addition f n A B v b -> vector_is x r ->
  (forall i, (i < n)%nat -> whole g (r i)) -> (forall i, (i < n)%nat -> whole g (added v i)) ->
  (forall i, (i < n)%nat -> sumR n (fun k => Rabs (r k)) + Rabs (added v i) <= bpow radix2 (prec f + g)) ->
  any_affine f n M x (Some b) y -> vector_is y (affine_word n A B v r).
Proof.
  intros g v M b x r y G1 G2 V HM HB Hx Wr Wa Sz HA. destruct (matrices_exact _ _ HM) as [LM M1].
  apply vector_is_ext with (r := fun i => sumR n (fun k => apply_word n A v (unit_vec k) i * r k) + added v i).
  - apply (affine_exact g M (fun k => apply_word n A v (unit_vec k)) x r (Some b) (added v) y); auto.
    + intros k Hk. apply unit_like_word; [exact moves|apply unit_like_unit].
    + now apply additions_exact.
  - intros i Hi. rewrite (word_matrix n A v r i Hi). symmetry. now apply affine_split.
Qed.
End Exact.
