(* Networks evaluated letter after letter with sums in any order: the specification, and the checker of a closed list of
   states that no such evaluation leaves. Leans on AnySum.v, Closed.v, Decoder.v. *)
From Coq Require Import ZArith NArith List Bool Lia Reals Lra.
From Flocq Require Import Core BinarySingleNaN.
From Krohn Require Import Dyadic DyadicR Lists Network Arithmetic Closed Ieee Decoder AnySum.
Import ListNotations.
Open Scope Z_scope.

(* ================ The specification ================ *)

Section Specification.
Variable f : format.

(* A float that is the number d, one of those of the format f; it may be stored in a wider one. *)
Definition holds (x : some_float) (d : dy) : Prop := of_f f x /\ real x = D2R d.
Definition one : some_float := Some_float f (nearest_float f (D 1 0)).
Definition minus_one : some_float := Some_float f (nearest_float f (D (-1) 0)).
Definition negative (x : some_float) : some_float := Some_float (its x) (Bopp (number x)).

(* A term of a row as a product. Weights are those of the file, rounded once to f. *)
Inductive addend (x : list some_float) : term dy -> some_float * some_float -> Prop :=
  | A_pick : forall j v, get x j = Some v -> addend x (Pick j) (v, one)
  | A_minus : forall j v, get x j = Some v -> addend x (Minus j) (v, minus_one)
  | A_times : forall w u j v, holds u w -> get x j = Some v -> addend x (Times w j) (u, v).
Definition last_addend (b : option dy) (l : list (some_float * some_float)) : Prop :=
  match b with None => l = [] | Some w => exists u, holds u w /\ l = [(u, one)] end.

Definition any_row (x : list some_float) (row : list (term dy)) (b : option dy) (y : some_float) : Prop :=
  exists l k, Forall2 (addend x) row l /\ last_addend b k /\ sums f (l ++ k) y.
Fixpoint any_rows (x : list some_float) (rs : list (list (term dy))) (b : option (list dy)) (y : list some_float) : Prop :=
  match rs, b, y with
  | [], None, [] | [], Some [], [] => True
  | r :: rs', None, v :: y' => any_row x r None v /\ any_rows x rs' None y'
  | r :: rs', Some (w :: b'), v :: y' => any_row x r (Some w) v /\ any_rows x rs' (Some b') y'
  | _, _, _ => False
  end.

Fixpoint any_updates (t : some_float) (key : list (N * dy)) (x y : list some_float) : Prop :=
  match key with
  | [] => y = x
  | (i, k) :: key' => exists v u z x', get x i = Some v /\ holds u k /\ sums f [(v, one); (negative u, t)] z
      /\ set x i z = Some x' /\ any_updates t key' x' y
  end.
Definition any_reflection (factor : list (N * dy) * dy) (x y : list some_float) : Prop :=
  exists l s b t, Forall2 (addend x) (map (fun e => Times (snd e) (fst e)) (fst factor)) l /\ sums f l s
    /\ holds b (snd factor) /\ sums f [(b, s)] t /\ any_updates t (fst factor) x y.
Fixpoint any_reflections (fs : list (list (N * dy) * dy)) (x y : list some_float) : Prop :=
  match fs with [] => y = x | g :: fs' => exists z, any_reflection g x z /\ any_reflections fs' z y end.

(* A x + B; of factored matrices nothing is said. *)
Definition any_column (a : matrix dy) (b : option (list dy)) (x y : list some_float) : Prop :=
  match a with
  | Rows rs => any_rows x rs b y
  | Reflections fs => exists z, any_reflections fs x z /\ any_rows z (map (fun j => [Pick j]) (iota (N.of_nat (length z)))) b y
  | Factored _ => False
  end.
Fixpoint any_act (a : matrix dy) (b : option (columns_of dy)) (H K : columns_of some_float) : Prop :=
  match H, b, K with
  | [], None, [] | [], Some [], [] => True
  | x :: H', None, y :: K' => any_column a None x y /\ any_act a None H' K'
  | x :: H', Some (c :: b'), y :: K' => any_column a (Some c) x y /\ any_act a (Some b') H' K'
  | _, _, _ => False
  end.

Notation tables := (@tables dy).
Definition any_state := (columns_of some_float * option N)%type.   (* H and the label, if there is one *)
Definition any_values (H : columns_of some_float) : option (columns_of dy) := traverse (traverse (fun x => exactly (number x))) H.

(* Without a context, H stays and there is no label. *)
Definition any_layer_step (l : tables) (c : option N) (s t : any_state) : Prop :=
  match (let* i := c in let* a := action_at l i in let* ab := act_at l a in let* b := book_at l i in Some (ab, b)) with
  | None => t = (fst s, None)
  | Some (ab, b) => any_act (fst ab) (snd ab) (fst s) (fst t) /\ snd t = (let* h := any_values (fst t) in codes l b h)
  end.
Fixpoint any_step (ls : list tables) (c : option N) (ss ts : list any_state) : Prop :=
  match ls, ss, ts with
  | [], [], [] => True
  | l :: ls', s :: ss', t :: ts' =>
      any_layer_step l c s t /\ any_step ls' (let* i := c in let* label := snd s in next_at l i label) ss' ts'
  | _, _, _ => False
  end.
Fixpoint any_walk (ls : list tables) (w : list N) (ss ts : list any_state) : Prop :=
  match w with [] => ts = ss | a :: w' => exists us, any_step ls (Some a) ss us /\ any_walk ls w' us ts end.
Definition any_start (l : tables) (s : any_state) : Prop := Forall2 (Forall2 holds) (fst s) (start l) /\ snd s = Some (start_label l).
Definition any_answer (ls : list tables) (ss : list any_state) : option N := let* labels := traverse snd ss in read ls 0 labels.

(* The layers with their weights rounded to f, decoding in fp64. *)
Definition any_layers (m : model) : option (list tables) :=
  option_map (map (open_layer (decode (fops decoding)))) (traverse (conv_layer (zops (Arithmetic f false None))) (layers m)).

(* Whatever the evaluation, the answer after every word is the automaton's state. *)
Definition right_in_any_order (m : model) : Prop :=
  exists ls, any_layers m = Some ls /\
  forall w, Forall (fun b => b < letters (oracle m))%N w -> forall ss ts, Forall2 any_start ls ss -> any_walk ls w ss ts ->
  exists q, any_answer ls ts = Some q /\ run_automaton (oracle m) w = Some q.
End Specification.

(* ================ The checker ================ *)

Section Checker.
Variable f : format.

Fixpoint least (g : Z) (l : list dy) : Z := match l with [] => g | x :: l' => least (Z.min g (de x)) l' end.
Fixpoint in_grains (g : Z) (l : list dy) : Z * Z :=   (* the sum, and that of the absolute values *)
  match l with
  | [] => (0, 0)
  | x :: l' => let (s, a) := in_grains g l' in let k := Z.shiftl (dm x) (de x - g) in (s + k, a + Z.abs k)
  end.
(* The exact sum, where no evaluation can round. *)
Definition exact_sum (ps : list dy) : option dy :=
  let l := filter (fun x => negb (dm x =? 0)) (map norm ps) in
  let g := match l with [] => emin f | x :: l' => least (de x) l' end in
  let (s, a) := in_grains g l in
  if (emin f <=? g) && (prec f + g <? emax f) && (a <=? 2 ^ prec f) then Some (norm (D s g)) else None.

Definition product (look : N -> option dy) (t : term dy) : option dy :=
  match t with Pick j => look j | Minus j => option_map dopp (look j) | Times w j => option_map (dmul w) (look j) end.
Definition exact_row (look : N -> option dy) (row : list (term dy)) (b : option dy) : option dy :=
  let* ps := traverse (product look) row in exact_sum (match b with None => ps | Some w => ps ++ [w] end).
Fixpoint exact_rows (look : N -> option dy) (rs : list (list (term dy))) (b : option (list dy)) : option (list dy) :=
  match rs, b with
  | [], None | [], Some [] => Some []
  | r :: rs', None => let* s := exact_row look r None in let* t := exact_rows look rs' None in Some (s :: t)
  | r :: rs', Some (w :: b') => let* s := exact_row look r (Some w) in let* t := exact_rows look rs' (Some b') in Some (s :: t)
  | _, _ => None
  end.
Definition exact_reflection (x : list dy) (factor : list (N * dy) * dy) : option (list dy) :=
  let* s := exact_row (get x) (map (fun e => Times (snd e) (fst e)) (fst factor)) None in
  let* t := exact_sum [dmul (snd factor) s] in
  fold_option (fun y e => let* v := get y (fst e) in
    let* z := exact_sum [v; dmul (dopp (snd e)) t] in set y (fst e) z) x (fst factor).
Definition exact_column (a : matrix dy) (b : option (list dy)) (x : list dy) : option (list dy) :=
  match a with
  | Rows rs => exact_rows (mk x) rs b
  | Reflections fs =>
      let* z := fold_option exact_reflection x fs in
      exact_rows (mk z) (map (fun j => [Pick j]) (iota (N.of_nat (length z)))) b
  | Factored _ => None
  end.
Fixpoint exact_act (a : matrix dy) (b : option (columns_of dy)) (H : columns_of dy) : option (columns_of dy) :=
  match H, b with
  | [], None | [], Some [] => Some []
  | x :: H', None => let* y := exact_column a None x in let* K := exact_act a None H' in Some (y :: K)
  | x :: H', Some (c :: b') => let* y := exact_column a (Some c) x in let* K := exact_act a (Some b') H' in Some (y :: K)
  | _, _ => None
  end.

Definition exact_layer_step (l : @tables dy) (c : N) (s : columns_of dy * N) : option (columns_of dy * N) :=
  let* a := action_at l c in
  let* ab := act_at l a in
  let* b := book_at l c in
  let* H := exact_act (fst ab) (snd ab) (fst s) in
  let* label := codes l b H in
  Some (H, label).
Fixpoint exact_step (ls : list (@tables dy)) (c : option N) (ss : list (columns_of dy * N)) : option (list (columns_of dy * N)) :=
  match ls, ss with
  | [], [] => Some []
  | l :: ls', s :: ss' =>
      let* i := c in
      let* t := exact_layer_step l i s in
      let* r := exact_step ls' (next_at l i (snd s)) ss' in
      Some (t :: r)
  | _, _ => None
  end.

(* 1 and -1 are numbers of the format. *)
Definition has_units : bool :=
  match fit f (D 1 0), fit f (D (-1) 0) with Some p, Some q => equal p (D 1 0) && equal q (D (-1) 0) | _, _ => false end.

Definition check_any_order (m : model) (es : list entry) : bool :=
  match traverse (conv_layer (zops (Arithmetic f false None))) (layers m) with
  | Some ls' =>
      let ls := map (open_layer z_decode) ls' in
      has_units && check_list (fun b ss => exact_step ls (Some b) ss) (fun ss => read ls 0 (map snd ss)) (starts ls) (oracle m) es
  | None => false
  end.

(* ================ Soundness ================ *)

Notation number_of := (holds f).

Lemma least_le : forall l g, least g l <= g /\ Forall (fun x => least g l <= de x) l.
Proof.
  induction l as [|x l IH]; intros g; cbn [least]; [split; [lia|constructor]|].
  destruct (IH (Z.min g (de x))) as [H1 H2]. split; [lia|]. constructor; [lia|assumption].
Qed.

Lemma in_grains_correct : forall g l, Forall (fun x => g <= de x) l -> forall s a, in_grains g l = (s, a) ->
  F2R (Float radix2 s g) = fold_right (fun x r => D2R x + r)%R 0%R l /\
  F2R (Float radix2 a g) = fold_right (fun x r => Rabs (D2R x) + r)%R 0%R l.
Proof.
  induction 1 as [|x l Hx H IH]; intros s a E; cbn [in_grains fold_right] in *.
  - injection E as <- <-. now rewrite F2R_0.
  - destruct (in_grains g l) as [s' a'] eqn:E'. destruct (IH _ _ eq_refl) as [H1 H2]. injection E as <- <-. rewrite <- H1, <- H2.
    assert (K : F2R (Float radix2 (Z.shiftl (dm x) (de x - g)) g) = D2R x) by (unfold D2R; apply shift_correct; lia).
    rewrite <- K, <- F2R_Zabs. unfold F2R; cbn [Fnum Fexp]. rewrite !plus_IZR. split; ring.
Qed.

Lemma zeros_dropped : forall (h : dy -> R), (forall x, D2R x = 0%R -> h x = 0%R) -> (forall x, h (norm x) = h x) -> forall ps,
  fold_right (fun x r => h x + r)%R 0%R (filter (fun x => negb (dm x =? 0)) (map norm ps)) = fold_right (fun x r => h x + r)%R 0%R ps.
Proof.
  intros h Z0 Hn. induction ps as [|x ps IH]; cbn [map filter fold_right]; [reflexivity|].
  destruct (Z.eqb_spec (dm (norm x)) 0) as [E|E]; cbn [negb].
  - rewrite IH. rewrite (Z0 x); [ring|]. rewrite <- norm_correct. now apply D2R_0.
  - cbn [fold_right]. rewrite IH, Hn. reflexivity.
Qed.

Definition product_of (p : some_float * some_float) (d : dy) : Prop := of_f f (fst p) /\ of_f f (snd p) /\ term_of p = D2R d.

Lemma exact_sum_correct : forall ps r, exact_sum ps = Some r -> forall l, Forall2 product_of l ps ->
  exists g, emin f <= g /\ prec f + g < emax f /\ good f g l /\ total l = D2R r.
Proof.
  intros ps r H l R. unfold exact_sum in H.
  set (k := filter (fun x => negb (dm x =? 0)) (map norm ps)) in *.
  set (g := match k with [] => emin f | x :: l' => least (de x) l' end) in *.
  destruct (in_grains g k) as [s a] eqn:E.
  destruct ((emin f <=? g) && (prec f + g <? emax f) && (a <=? 2 ^ prec f)) eqn:C; [|discriminate]. injection H as <-.
  apply andb_true_iff in C; destruct C as [C C3]. apply andb_true_iff in C; destruct C as [C1 C2].
  apply Z.leb_le in C1, C3. apply Z.ltb_lt in C2. exists g. split; [assumption|]. split; [assumption|].
  assert (G : Forall (fun x => g <= de x) k).
  { unfold g. destruct k as [|x k']; constructor; [apply least_le|]. apply least_le. }
  destruct (in_grains_correct g k G _ _ E) as [S1 S2].
  unfold k in S1, S2. rewrite (zeros_dropped D2R) in S1; [|auto|intros; apply norm_correct].
  rewrite (zeros_dropped (fun x => Rabs (D2R x))) in S2;
    [|intros x Hx; rewrite Hx; apply Rabs_R0|intros x; now rewrite norm_correct].
  assert (T : total l = fold_right (fun x r => D2R x + r)%R 0%R ps /\ total_size l = fold_right (fun x r => Rabs (D2R x) + r)%R 0%R ps).
  { clear -R. induction R as [|p d l ps [_ [_ P]] R [IH1 IH2]]; cbn [total total_size fold_right]; [now split|].
    rewrite P, IH1, IH2. now split. }
  destruct T as [T1 T2]. split; [split|].
  - assert (W : Forall (fun d => whole g (D2R d)) ps).
    { clear -G. unfold k in G. clearbody g. clear k. induction ps as [|x ps IH]; constructor; cbn [map filter] in G.
      - destruct (Z.eqb_spec (dm (norm x)) 0) as [E|E]; cbn [negb] in G.
        + exists 0. rewrite F2R_0, <- norm_correct. now apply D2R_0.
        + inversion G; subst. exists (Z.shiftl (dm (norm x)) (de (norm x) - g)). rewrite <- norm_correct. unfold D2R.
          symmetry. apply shift_correct. assumption.
      - apply IH. destruct (Z.eqb_spec (dm (norm x)) 0); cbn [negb] in G; [assumption|now inversion G]. }
    clear - R W. clearbody g. clear k. induction R as [|p d l ps [P1 [P2 P3]] R IH]; constructor; inversion W; subst;
      [|auto]. unfold good_term. rewrite P3. auto.
  - rewrite T2, <- S2. unfold F2R; cbn [Fnum Fexp]. rewrite bpow_plus. apply Rmult_le_compat_r; [apply bpow_ge_0|].
    pose proof (positive_prec f) as P. unfold Prec_gt_0 in P. rewrite <- IZR_Zpower by lia. apply IZR_le. exact C3.
  - rewrite T1, <- S1, norm_correct. reflexivity.
Qed.

(* Any evaluation of a sum that the checker passes gives its exact value, which is a number of the format. *)
Lemma any_sum : forall ps r, exact_sum ps = Some r -> forall l y, Forall2 product_of l ps -> sums f l y -> number_of y r.
Proof.
  intros ps r H l y R S. destruct (exact_sum_correct _ _ H _ R) as [g [G1 [G2 [G3 G4]]]].
  destruct (sums_exact f g G1 G2 _ _ S G3) as [F1 E1]. unfold holds. rewrite <- G4. split; [|exact E1]. split; [exact F1|].
  exists (convert f mode_NE y). apply (into_held f g G1 G2 f mode_NE y); [unfold wider; lia|exact F1|].
  rewrite E1. now apply good_held.
Qed.

(* ---- Floats and what they hold ---- *)

Definition number_columns := Forall2 (Forall2 number_of).

Lemma of_f_same : forall x y : some_float, of_f f x -> finite y -> real y = real x -> of_f f y.
Proof. intros x y [F1 [z [Z1 Z2]]] Fy E. split; [assumption|]. exists z. now rewrite E. Qed.

Lemma holds_unit : forall d e, fit f d = Some e -> equal e d = true -> number_of (Some_float f (nearest_float f d)) d.
Proof.
  intros d e H E. pose proof (nearest_float_rel f d) as R. rewrite H in R. cbn [orel] in R. destruct R as [R1 R2].
  apply equal_values in E. rewrite E in R2. split; [|exact R2]. split; [exact R1|]. exists (nearest_float f d). now split.
Qed.

Hypothesis units : has_units = true.
Lemma one_holds : number_of (one f) (D 1 0) /\ number_of (minus_one f) (D (-1) 0).
Proof.
  unfold has_units in units. destruct (fit f (D 1 0)) as [p|] eqn:P; [|discriminate].
  destruct (fit f (D (-1) 0)) as [q|] eqn:Q; [|discriminate].
  apply andb_true_iff in units; destruct units as [U V]. split; [now apply holds_unit with p|now apply holds_unit with q].
Qed.
Lemma real_one : D2R (D 1 0) = 1%R.
Proof. unfold D2R, F2R; simpl. ring. Qed.
Lemma real_minus_one : D2R (D (-1) 0) = (-1)%R.
Proof. unfold D2R, F2R; simpl. ring. Qed.

Lemma product_one : forall x d, number_of x d -> product_of (x, one f) d.
Proof.
  intros x d [O E]. destruct one_holds as [[O1 E1] _]. split; [exact O|]. split; [exact O1|].
  unfold term_of; cbn [fst snd]. rewrite E, E1, real_one. ring.
Qed.
Lemma product_minus : forall x d, number_of x d -> product_of (x, minus_one f) (dopp d).
Proof.
  intros x d [O E]. destruct one_holds as [_ [O1 E1]]. split; [exact O|]. split; [exact O1|].
  unfold term_of; cbn [fst snd]. rewrite E, E1, real_minus_one, dopp_correct. ring.
Qed.
Lemma product_times : forall x d y e, number_of x d -> number_of y e -> product_of (x, y) (dmul d e).
Proof.
  intros x d y e [O E] [O1 E1]. split; [exact O|]. split; [exact O1|]. unfold term_of; cbn [fst snd].
  rewrite E, E1, dmul_correct. ring.
Qed.
Lemma negative_holds : forall x d, number_of x d -> number_of (negative x) (dopp d).
Proof.
  intros x d [[F1 [y [Y1 Y2]]] E]. unfold negative. split.
  - split; unfold finite; cbn [number its]; [now rewrite is_finite_Bopp|]. exists (Bopp y).
    rewrite is_finite_Bopp, B2R_Bopp. split; [assumption|]. unfold real in *; cbn [number its]. rewrite B2R_Bopp. congruence.
  - unfold real in *; cbn [number its]. rewrite B2R_Bopp, dopp_correct, E. reflexivity.
Qed.

Section Row.
Variables (x : list some_float) (look : N -> option dy).
Hypothesis same_look : forall j v, get x j = Some v -> exists d, look j = Some d /\ number_of v d.

Lemma addends_product : forall row l, Forall2 (addend f x) row l -> forall ps, traverse (product look) row = Some ps -> Forall2 product_of l ps.
Proof.
  intros row l A ps. rewrite traverse_is. revert ps. induction A as [|t p row l A1 A IH]; intros ps H;
    cbn [traverse_by_hand] in H.
  - injection H as <-. constructor.
  - apply bind_some in H; destruct H as [d [H1 H]]. apply bind_some in H; destruct H as [ds [H2 H]]. injection H as <-.
    constructor; [|now apply IH]. inversion A1; subst; cbn [product] in H1;
      match goal with K : get x ?j = Some ?v |- _ => destruct (same_look _ _ K) as [e [L1 L2]]; rewrite L1 in H1 end;
        cbn [option_map] in H1; injection H1 as <-.
    + now apply product_one.
    + now apply product_minus.
    + now apply product_times.
Qed.

Lemma any_row_holds : forall row b r, exact_row look row b = Some r -> forall y, any_row f x row b y -> number_of y r.
Proof.
  intros row b r H y [l [k [A [L S]]]]. unfold exact_row in H. apply bind_some in H; destruct H as [ps [H1 H2]].
  assert (R : Forall2 product_of (l ++ k) (match b with None => ps | Some w => ps ++ [w] end)).
  { destruct b as [w|]; cbn [last_addend] in L.
    - destruct L as [u [U ->]]. apply Forall2_app; [now apply addends_product with row|]. constructor; [|constructor].
      now apply product_one.
    - subst k. rewrite app_nil_r. now apply addends_product with row. }
  now apply any_sum with (1 := H2) (2 := R).
Qed.

Lemma any_rows_hold : forall rs b zs, exact_rows look rs b = Some zs -> forall ys, any_rows f x rs b ys -> Forall2 number_of ys zs.
Proof.
  induction rs as [|row rs IH]; intros b zs H ys A; cbn [exact_rows any_rows] in *.
  - destruct b as [[|w b]|], ys; try contradiction; try discriminate; injection H as <-; constructor.
  - destruct b as [[|w b]|]; [discriminate| |]; apply bind_some in H; destruct H as [s [H1 H]]; apply bind_some in H;
      destruct H as [t [H2 H]];
      injection H as <-; destruct ys as [|y ys]; try contradiction; destruct A as [A1 A2]; constructor.
    + now apply any_row_holds with (1 := H1).
    + now apply IH with (1 := H2).
    + now apply any_row_holds with (1 := H1).
    + now apply IH with (1 := H2).
Qed.
End Row.

Lemma get_holds : forall x zs, Forall2 number_of x zs -> forall j v, get x j = Some v -> exists d, get zs j = Some d /\ number_of v d.
Proof.
  induction 1 as [|a d x zs R H IH]; intros j v E; cbn [get] in *; [discriminate|].
  destruct (N.eqb j 0); [injection E as <-; now exists d|auto].
Qed.
Lemma length_holds : forall x zs, Forall2 number_of x zs -> length x = length zs.
Proof. induction 1; cbn [length]; congruence. Qed.
Lemma mk_holds : forall x zs, Forall2 number_of x zs -> forall j v, get x j = Some v -> exists d, mk zs j = Some d /\ number_of v d.
Proof.
  intros x zs R j v E. destruct (get_holds _ _ R _ _ E) as [d [D1 D2]]. exists d. split; [|assumption]. rewrite mk_nth.
  clear -D1. revert j D1. induction zs as [|z zs IH]; intros j K; cbn [get] in K; [discriminate|].
  destruct (N.eqb j 0) eqn:Q; [apply N.eqb_eq in Q; subst j; exact K|]. apply N.eqb_neq in Q.
  replace (N.to_nat j) with (S (N.to_nat (N.pred j))) by lia. cbn [nth_error]. now apply IH.
Qed.
Lemma set_holds : forall x zs, Forall2 number_of x zs -> forall i v d, number_of v d -> forall y ws, set x i v = Some y -> set zs i d = Some ws ->
  Forall2 number_of y ws.
Proof.
  induction 1 as [|a e x zs R H IH]; intros i v d V y ws E1 E2; cbn [set] in *; [discriminate|].
  destruct (N.eqb i 0); [injection E1 as <-; injection E2 as <-; now constructor|].
  destruct (set x (N.pred i) v) eqn:S1; [|discriminate]. destruct (set zs (N.pred i) d) eqn:S2; [|discriminate].
  injection E1 as <-. injection E2 as <-. constructor; [assumption|]. eapply IH; eassumption.
Qed.

Lemma updates_hold : forall t d, number_of t d -> forall key x zs, Forall2 number_of x zs -> forall y, any_updates f t key x y -> forall ws,
  fold_option (fun y e => let* v := get y (fst e) in
    let* z := exact_sum [v; dmul (dopp (snd e)) d] in set y (fst e) z) zs key = Some ws ->
  Forall2 number_of y ws.
Proof.
  intros t d T. induction key as [|[i k] key IH]; intros x zs R y U ws H; cbn [any_updates fold_option fst snd] in *.
  - subst y. injection H as <-. exact R.
  - destruct U as [v [u [z [x' [V [K [S [X U]]]]]]]].
    apply bind_some in H; destruct H as [zs' [H1 H]]. apply bind_some in H1; destruct H1 as [e [E1 H1]].
    apply bind_some in H1; destruct H1 as [r [R1 H1]].
    destruct (get_holds _ _ R _ _ V) as [e' [E2 E3]]. assert (e' = e) by congruence. subst e'.
    assert (Z0 : number_of z r).
    { apply any_sum with (1 := R1) (l := [(v, one f); (negative u, t)]); [|exact S].
      constructor; [now apply product_one|]. constructor; [|constructor]. apply product_times;
        [now apply negative_holds|exact T]. }
    apply IH with (x := x') (zs := zs'); auto. eapply set_holds; eassumption.
Qed.

Lemma reflection_holds : forall factor x zs, Forall2 number_of x zs -> forall y, any_reflection f factor x y -> forall ws,
  exact_reflection zs factor = Some ws -> Forall2 number_of y ws.
Proof.
  intros [key beta] x zs R y [l [s [b [t [A [S [B [P U]]]]]]]] ws H; unfold exact_reflection in H; cbn [fst snd] in *.
  apply bind_some in H; destruct H as [s' [H1 H]]. apply bind_some in H; destruct H as [t' [H2 H]].
  assert (Hs : number_of s s').
  { eapply any_row_holds with (x := x); [intros j v; apply get_holds; exact R|exact H1|].
    exists l, []. repeat split; [exact A|]. now rewrite app_nil_r. }
  assert (Ht : number_of t t').
  { apply any_sum with (1 := H2) (l := [(b, s)]); [|exact P]. constructor; [|constructor]. now apply product_times. }
  now apply updates_hold with (t := t) (d := t') (key := key) (x := x) (zs := zs).
Qed.

Lemma reflections_hold : forall fs x zs, Forall2 number_of x zs -> forall y, any_reflections f fs x y -> forall ws,
  fold_option exact_reflection zs fs = Some ws -> Forall2 number_of y ws.
Proof.
  induction fs as [|g fs IH]; intros x zs R y A ws H; cbn [any_reflections fold_option] in *.
  - subst y. injection H as <-. exact R.
  - destruct A as [z [A1 A2]]. apply bind_some in H; destruct H as [us [H1 H2]].
    apply IH with (x := z) (zs := us); auto. now apply reflection_holds with (factor := g) (x := x) (zs := zs).
Qed.

Lemma column_holds : forall a b x zs, Forall2 number_of x zs -> forall y, any_column f a b x y -> forall ws,
  exact_column a b zs = Some ws -> Forall2 number_of y ws.
Proof.
  intros [rs|fs|fs] b x zs R y A ws H; cbn [any_column exact_column] in *; [| |contradiction].
  - eapply any_rows_hold; [apply mk_holds; exact R|exact H|exact A].
  - destruct A as [z [A1 A2]]. apply bind_some in H; destruct H as [us [H1 H2]].
    pose proof (reflections_hold _ _ _ R _ A1 _ H1) as Z0.
    eapply any_rows_hold; [apply mk_holds; exact Z0|exact H2|]. now rewrite <- (length_holds _ _ Z0).
Qed.

Lemma act_holds : forall a H K b, number_columns H K -> forall H', any_act f a b H H' -> forall K', exact_act a b K = Some K' -> number_columns H' K'.
Proof.
  intros a H K b R. revert b. induction R as [|x zs H K R1 R IH]; intros b H' A K' E; cbn [any_act exact_act] in *.
  - destruct b as [[|c b]|], H'; try contradiction; try discriminate; injection E as <-; constructor.
  - destruct b as [[|c b]|]; [discriminate| |]; apply bind_some in E; destruct E as [y' [E1 E]]; apply bind_some in E;
      destruct E as [L [E2 E]];
      injection E as <-; destruct H' as [|y H']; try contradiction; destruct A as [A1 A2].
    + constructor; [|now apply IH with (2 := E2)]. now apply column_holds with (1 := R1) (2 := A1).
    + constructor; [|now apply IH with (2 := E2)]. now apply column_holds with (1 := R1) (2 := A1).
Qed.

Lemma values_hold : forall H K, number_columns H K -> exists h, any_values H = Some h /\ same2 h K.
Proof.
  intros H K R. assert (O : orel same2 (any_values H) (traverse (traverse Some) K)).
  { unfold any_values. eapply traverse_rel; [|exact R]. intros x y Rx. eapply traverse_rel; [|exact Rx]. intros u v [[F1 _] V].
    apply exactly_rel with (f := its u). now split. }
  assert (E : traverse (traverse Some) K = Some K).
  { rewrite traverse_is. clear. induction K; cbn [traverse_by_hand]; [reflexivity|]. rewrite traverse_same, IHK. reflexivity. }
  rewrite E in O. cbn [orel] in O. destruct (any_values H) as [h|]; [|contradiction]. now exists h.
Qed.

(* ---- Layers and words ---- *)

Notation open_f := (open_layer (decode (fops decoding))).
Notation open_z := (open_layer z_decode).
Definition holds_state (s : any_state) (z : columns_of dy * N) : Prop := number_columns (fst s) (fst z) /\ snd s = Some (snd z).

Lemma layer_step_holds : forall l i s z, holds_state s z -> forall t, any_layer_step f (open_f l) (Some i) s t -> forall z',
  exact_layer_step (open_z l) i z = Some z' -> holds_state t z'.
Proof.
  intros l i s z [S1 S2] t A z' H. unfold any_layer_step, exact_layer_step, open_layer in *;
    cbn [bind action_at act_at book_at codes] in *.
  apply bind_some in H; destruct H as [a [H1 H]]. apply bind_some in H; destruct H as [[m b] [H2 H]]. apply bind_some in H;
    destruct H as [c [H3 H]].
  apply bind_some in H; destruct H as [K [H4 H]]. apply bind_some in H; destruct H as [label [H5 H]]. injection H as <-.
  rewrite H1 in A. cbn [bind] in A. rewrite H2 in A. cbn [bind] in A. rewrite H3 in A. cbn [bind fst snd] in A, H4.
  destruct A as [A1 A2].
  pose proof (act_holds _ _ _ _ S1 _ A1 _ H4) as R. split; cbn [fst snd]; [exact R|].
  destruct (values_hold _ _ R) as [h [V1 V2]]. rewrite A2, V1. cbn [bind].
  pose proof (decoder_rel (codewords l) c h K V2) as D. rewrite H5 in D. cbn [orel] in D.
  destruct (decode (fops decoding) (codewords l) c h); [congruence|contradiction].
Qed.

Lemma step_holds : forall ls i ss zs, Forall2 holds_state ss zs -> forall ts, any_step f (map open_f ls) i ss ts -> forall zs',
  exact_step (map open_z ls) i zs = Some zs' -> Forall2 holds_state ts zs'.
Proof.
  induction ls as [|l ls IH]; intros i ss zs R ts A zs' H; inversion R as [|s z ss' zs0 R1 R2]; subst;
    cbn [map any_step exact_step] in *; try discriminate; try contradiction.
  - destruct ts; [|contradiction]. injection H as <-. constructor.
  - destruct ts as [|t ts]; [contradiction|]. destruct A as [A1 A2].
    apply bind_some in H; destruct H as [c [-> H]]. apply bind_some in H; destruct H as [z' [H1 H]]. apply bind_some in H;
      destruct H as [r [H2 H]].
    injection H as <-. constructor; [now apply layer_step_holds with (1 := R1) (2 := A1)|].
    destruct R1 as [_ R1]. rewrite R1 in A2. cbn [bind] in A2. now apply IH with (1 := R2) (2 := A2).
Qed.

Lemma walk_holds : forall ls w ss zs, Forall2 holds_state ss zs -> forall ts, any_walk f (map open_f ls) w ss ts -> forall zs',
  walk (fun b ss => exact_step (map open_z ls) (Some b) ss) zs w = Some zs' -> Forall2 holds_state ts zs'.
Proof.
  induction w as [|b w IH]; intros ss zs R ts A zs' H; cbn [any_walk walk] in *.
  - subst ts. injection H as <-. exact R.
  - destruct A as [us [A1 A2]]. apply bind_some in H; destruct H as [vs [H1 H2]].
    apply IH with (ss := us) (zs := vs); auto. now apply step_holds with (1 := R) (2 := A1).
Qed.

Lemma read_open : forall (ls : list (layer dy)) labels n, read (map open_f ls) n labels = read (map open_z ls) n labels.
Proof.
  induction ls as [|l ls IH]; intros [|i labels] n; cbn [map read]; try reflexivity.
  unfold open_layer at 1 3; cbn [read_at]. destruct (mk2 (readout l) n i); cbn [bind]; [apply IH|reflexivity].
Qed.
End Checker.

Theorem any_order_sound : forall f m es, check_any_order f m es = true -> right_in_any_order f m.
Proof.
  intros f m es H. unfold check_any_order in H. unfold right_in_any_order, any_layers.
  destruct (traverse (conv_layer (zops (Arithmetic f false None))) (layers m)) as [ls|]; [|discriminate].
  apply andb_true_iff in H; destruct H as [U H]. cbn [option_map]. eexists; split; [reflexivity|].
  intros w Hw ss ts S A. destruct (list_sound _ _ _ _ _ H w Hw) as [zs [q [H1 [H2 H3]]]]. exists q. split; [|assumption].
  assert (S0 : Forall2 (holds_state f) ss (starts (map (open_layer z_decode) ls))).
  { clear -S. unfold starts. rewrite map_map. revert ss S. induction ls as [|l ls IH]; intros ss S;
      inversion S as [|? s ? ss' [S1 S2] S3]; subst; cbn [map]; constructor; auto.
    split; assumption. }
  pose proof (walk_holds f U ls w ss _ S0 ts A zs H1) as R.
  assert (L : traverse snd ts = Some (map snd zs)).
  { rewrite traverse_is. clear -R. induction R as [|t z ts zs [_ R1] R IH]; cbn [traverse_by_hand map]; [reflexivity|].
    now rewrite R1, IH. }
  unfold any_answer. rewrite L. cbn [bind]. rewrite read_open. exact H2.
Qed.
