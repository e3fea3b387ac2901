(* What a network is and what it computes, over any kind of numbers; what an automaton is. `run` is the specification:
   with the floats of Ieee.v it is the loop of docs/reference/network-file.md, and with the integers of Arithmetic.v it is what the
   checker executes. Every index that leads nowhere and every pair of lists of different lengths gives None: nothing is
   read past its end. Leans on Dyadic.v and Lists.v, no axioms. *)
From Coq Require Import ZArith NArith List Bool Lia.
From Krohn Require Import Dyadic Lists.
Import ListNotations.
Open Scope N_scope.

(* ---- What a file says. W: the kind of numbers of the weights. ---- *)

(* One addend of a row: an entry of H, its negative, or its product with a weight. *)
Inductive term (W : Type) := Pick (j : N) | Minus (j : N) | Times (w : W) (j : N).
Arguments Pick {W}. Arguments Minus {W}. Arguments Times {W}.

Inductive matrix (W : Type) :=
  | Rows (rows : list (list (term W)))                  (* every row a sum, from left to right *)
  | Reflections (factors : list (list (N * W) * W))     (* keys by position, and beta; the first acts first *)
  | Factored (terms : list (list N * list N)).          (* supports of outputs and inputs *)
Arguments Rows {W}. Arguments Reflections {W}. Arguments Factored {W}.

(* n x d numbers are d columns of n. *)
Definition columns_of (A : Type) := list (list A).

Record codeword := Codeword { in_book : N; stands_for : N; place : columns_of dy }.
Record layer (W : Type) := Layer {
  actions : list (matrix W * option (columns_of W));    (* A and, where it is given, B *)
  initial : columns_of W;                               (* H_0 *)
  initial_label : N;
  action_of : list N;                                   (* context -> action *)
  book_of : list N;                                     (* context -> code book *)
  next_of : list (list N);                              (* context, label before -> context of the next layer *)
  codewords : list codeword;
  readout : list (list N) }.                            (* node, label -> node; of the last layer: -> state *)
Arguments actions {W}. Arguments initial {W}. Arguments initial_label {W}. Arguments action_of {W}. Arguments book_of {W}.
Arguments next_of {W}. Arguments codewords {W}. Arguments readout {W}. Arguments Layer {W}.

Record automaton := Automaton { letters : N; table : list (list N); first_state : N }.
Record model := Model { layers : list (layer dy); oracle : automaton }.

(* ---- The automaton ---- *)

Fixpoint states_from (t : N -> N -> option N) (q : N) (w : list N) : option N :=
  match w with [] => Some q | a :: w' => let* q' := t q a in states_from t q' w' end.
Definition run_automaton (m : automaton) (w : list N) : option N := states_from (mk2 (table m)) (first_state m) w.

(* ---- The network over numbers T. ---- *)

Record ops (T : Type) := Ops {
  zero : T;
  add : T -> T -> option T;           (* s + t *)
  mul : T -> T -> option T;           (* a b *)
  mad : T -> T -> T -> option T;      (* s + a b *)
  neg : T -> T;
  store : T -> option T;              (* to the format of the state *)
  conv : dy -> option T;              (* a weight, rounded once to the format of the state *)
  val : T -> option dy }.             (* the number, if it is finite *)
Arguments zero {T}. Arguments add {T}. Arguments mul {T}. Arguments mad {T}. Arguments neg {T}. Arguments store {T}.
Arguments conv {T}. Arguments val {T}.

Section Network.
Context {T : Type} (o : ops T).

(* A sum of products begins with its first term. *)
Definition first_term (x : N -> option T) (t : term T) : option T :=
  match t with
  | Pick j => x j
  | Minus j => let* v := x j in Some (neg o v)
  | Times w j => let* v := x j in mul o w v
  end.
Definition add_term (x : N -> option T) (s : T) (t : term T) : option T :=
  match t with
  | Pick j => let* v := x j in add o s v
  | Minus j => let* v := x j in add o s (neg o v)
  | Times w j => let* v := x j in mad o s w v
  end.
Definition sum_row (x : N -> option T) (row : list (term T)) : option T :=
  match row with [] => Some (zero o) | t :: r => let* s := first_term x t in fold_option (add_term x) s r end.

(* y - k (beta (k . y)), entry after entry *)
Definition reflect (y : list T) (factor : list (N * T) * T) : option (list T) :=
  let* s := sum_row (get y) (map (fun e => Times (snd e) (fst e)) (fst factor)) in
  let* t := mul o (snd factor) s in
  fold_option (fun y e => let* v := get y (fst e) in let* u := mad o v (neg o (snd e)) t in set y (fst e) u) y (fst factor).

Definition add_factored (x : N -> option T) (y : list T) (f : list N * list N) : option (list T) :=
  match snd f with
  | [] => Some y
  | inputs =>
      let* s := sum_row x (map Pick inputs) in
      fold_option (fun y i => let* v := get y i in let* u := add o v s in set y i u) y (fst f)
  end.

Definition times (a : matrix T) (x : list T) : option (list T) :=
  match a with
  | Rows r => let look := mk x in traverse (sum_row look) r
  | Reflections fs => fold_option reflect x fs
  | Factored fs => let look := mk x in fold_option (add_factored look) (map (fun _ => zero o) x) fs
  end.

(* A H + B, stored *)
Definition act (ab : matrix T * option (columns_of T)) (H : columns_of T) : option (columns_of T) :=
  let* y := traverse (times (fst ab)) H in
  let* z := match snd ab with Some b => zip_with (zip_with (add o)) y b | None => Some y end in
  traverse (traverse (store o)) z.

Definition values (H : columns_of T) : option (columns_of dy) := traverse (traverse (val o)) H.

(* ---- Weights in numbers T ---- *)
Definition conv_term (t : term dy) : option (term T) :=
  match t with Pick j => Some (Pick j) | Minus j => Some (Minus j) | Times w j => let* v := conv o w in Some (Times v j) end.
Definition conv_factor (f : list (N * dy) * dy) : option (list (N * T) * T) :=
  let* k := traverse (fun e => let* v := conv o (snd e) in Some (fst e, v)) (fst f) in
  let* b := conv o (snd f) in Some (k, b).
Definition conv_matrix (a : matrix dy) : option (matrix T) :=
  match a with
  | Rows r => let* s := traverse (traverse conv_term) r in Some (Rows s)
  | Reflections fs => let* gs := traverse conv_factor fs in Some (Reflections gs)
  | Factored fs => Some (Factored fs)
  end.
Definition conv_columns (h : columns_of dy) : option (columns_of T) := traverse (traverse (conv o)) h.
Definition conv_action (ab : matrix dy * option (columns_of dy)) : option (matrix T * option (columns_of T)) :=
  let* a := conv_matrix (fst ab) in
  match snd ab with None => Some (a, None) | Some b => let* c := conv_columns b in Some (a, Some c) end.
Definition conv_layer (l : layer dy) : option (layer T) :=
  let* a := traverse conv_action (actions l) in
  let* h := conv_columns (initial l) in
  Some (Layer a h (initial_label l) (action_of l) (book_of l) (next_of l) (codewords l) (readout l)).
End Network.

(* ---- The decoder: always in fp64, o ---- *)
Section Decoder.
Context {T : Type} (o : ops T).

(* The sum of (h - c)^2, column after column, from 0. *)
Definition add_square (s : T) (hc : T * T) : option T :=
  let* d := add o (fst hc) (neg o (snd hc)) in let* q := mul o d d in add o s q.
Definition pairs_of (h c : columns_of T) : option (list (T * T)) :=
  let* z := zip_with (zip_with (fun a b => Some (a, b))) h c in Some (concat z).
Definition square_of_distance (h c : columns_of T) : option T :=
  let* l := pairs_of h c in fold_option add_square (zero o) l.

(* The label of the strictly least square so far, and that square. Squares that are not finite are passed over. *)
Definition nearer (best : option N * option dy) (c : option dy * N) : option N * option dy :=
  match fst c, snd best with
  | None, _ => best
  | Some s, None => (Some (snd c), Some s)
  | Some s, Some least =>
      if dltb s least then (Some (snd c), Some s) else if dltb least s then best else (None, Some least)
  end.
Definition nearest_label (squares : list (option dy * N)) : option N := fst (fold_left nearer squares (None, None)).

Definition squares (codes : list codeword) (book : N) (h : columns_of T) : option (list (option dy * N)) :=
  traverse (fun c => let* p := conv_columns o (place c) in let* s := square_of_distance h p in Some (val o s, stands_for c))
    (filter (fun c => in_book c =? book) codes).

Definition decode (codes : list codeword) (book : N) (h : columns_of dy) : option N :=
  let* g := conv_columns o h in
  let* s := squares codes book g in
  nearest_label s.
End Decoder.

(* ---- Words. `label_of` decodes: the codewords, the book and the numbers of H. ---- *)
Section Run.
Context {T : Type} (o : ops T) (label_of : list codeword -> N -> columns_of dy -> option N).

(* The tables of a layer, for fast lookup. *)
Record tables := Tables {
  act_at : N -> option (matrix T * option (columns_of T)); start : columns_of T; start_label : N;
  action_at : N -> option N; book_at : N -> option N; next_at : N -> N -> option N;
  codes : N -> columns_of dy -> option N; read_at : N -> N -> option N }.
Definition open_layer (l : layer T) : tables :=
  Tables (mk (actions l)) (initial l) (initial_label l) (mk (action_of l)) (mk (book_of l)) (mk2 (next_of l))
         (label_of (codewords l)) (mk2 (readout l)).
Definition state := (columns_of T * N)%type.   (* H and the label *)

Definition layer_step (l : tables) (context : N) (s : state) : option state :=
  let* a := action_at l context in
  let* ab := act_at l a in
  let* b := book_at l context in
  let* H := act o ab (fst s) in
  let* h := values o H in
  let* label := codes l b h in
  Some (H, label).

(* One letter: all layers, first to last. The next context is found with the label from before the letter. *)
Fixpoint step (ls : list tables) (context : option N) (ss : list state) : option (list state) :=
  match ls, ss with
  | [], [] => Some []
  | l :: ls', s :: ss' =>
      let* c := context in
      let* t := layer_step l c s in
      let* r := step ls' (next_at l c (snd s)) ss' in
      Some (t :: r)
  | _, _ => None
  end.

Fixpoint states_after (ls : list tables) (ss : list state) (w : list N) : option (list state) :=
  match w with [] => Some ss | a :: w' => let* r := step ls (Some a) ss in states_after ls r w' end.

Fixpoint read (ls : list tables) (node : N) (labels : list N) : option N :=
  match ls, labels with
  | [], [] => Some node
  | l :: ls', i :: labels' => let* n := read_at l node i in read ls' n labels'
  | _, _ => None
  end.

Definition starts (ls : list tables) : list state := map (fun l => (start l, start_label l)) ls.

(* The state that the network answers after a word. *)
Definition run (m : model) (w : list N) : option N :=
  let* ls := traverse (conv_layer o) (layers m) in
  let ts := map open_layer ls in
  let* ss := states_after ts (starts ts) w in
  read ts 0 (map snd ss).
End Run.
