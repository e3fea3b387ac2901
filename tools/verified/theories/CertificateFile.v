(* Certificate files of version 2, and the list of states that they stand for. Nothing here is trusted: a certificate only
   says in which arithmetic something is claimed and proposes a list, which Closed.v checks. Leans on Closed.v and Json.v,
   no axioms. *)
From Coq Require Import String ZArith NArith List Bool FMapPositive.
From Krohn Require Import Dyadic Lists Network Arithmetic Closed Bytes Json.
Import ListNotations.
Open Scope string_scope. Open Scope list_scope. Open Scope N_scope.

Inductive order := Sequential | Any.
Record claim := Claim { claimed_arithmetic : arithmetic; claimed_dense : bool; claimed_order : order; method : bytes }.

(* Per layer: the numbers of its codewords, and (action, book) with the places that its places move to. *)
Record machine := Machine { m_codewords : list N; m_moves : list (N * N * list N) }.
Record tuple := Tuple { t_state : N; t_places : list N; t_next : list N }.
Record pair := Pair { p_state : N; p_labels : list N; p_bits : list bytes; p_next : list N }.
(* Each list the last one first, as they are read. *)
Record evidence := Evidence { machines : list machine; by_induction : bool; tuples : list tuple; pairs : list pair; others : N }.

(* ---- Lines ---- *)

Fixpoint lines_onto (done : list bytes) (line : bytes) (s : bytes) : option (list bytes) :=
  match s with
  | [] => match line with [] => Some (rev' done) | _ => None end
  | c :: s' => if c =? 10 then lines_onto (rev' line :: done) [] s' else lines_onto done (c :: line) s'
  end.

Definition arithmetics : list (string * arithmetic) :=
  [("fp64", Arithmetic fp64 false None); ("fp32", Arithmetic fp32 false None); ("fp16", Arithmetic fp16 false None);
   ("bf16", Arithmetic bf16 false None); ("fp64+fma", Arithmetic fp64 true None); ("fp32+fma", Arithmetic fp32 true None);
   ("fp16+fma", Arithmetic fp16 true None); ("bf16+fma", Arithmetic bf16 true None);
   ("fp16/fp32", Arithmetic fp32 false (Some fp16)); ("bf16/fp32", Arithmetic fp32 false (Some bf16))].
Definition same_arithmetic (a b : arithmetic) : bool :=
  let same f g := ((prec f =? prec g) && (emax f =? emax g))%Z in
  same (sums a) (sums b) && Bool.eqb (fused a) (fused b)
  && match storage a, storage b with Some f, Some g => same f g | None, None => true | _, _ => false end.
Definition arithmetic_named (name : bytes) : option arithmetic := option_map snd (find (fun e => reads name (fst e)) arithmetics).
Definition arithmetic_name (a : arithmetic) : bytes :=
  match find (fun e => same_arithmetic a (snd e)) arithmetics with Some e => text (fst e) | None => text "an unnamed arithmetic" end.

Definition one_of {A} (b : bytes) (l : list (string * A)) : option A := option_map snd (find (fun e => reads b (fst e)) l).
Definition is_text (v : json) (name : string) (s : string) : bool := match text_of v name with Some t => reads t s | None => false end.

Definition read_claim (v : json) : result claim :=
  let wrong := text "the certificate does not begin with a claim of version 2 about a network; operations of other models are read by krohn check and krohn_check.py alone" in
  ensure is_text v "format" "krohn.certificate" && match natural_of v "version" with Some n => n =? 2 | None => false end or wrong in
  ensure is_text v "claim" "proved" or text "only claims about words of every length are checked" in
  ensure only_members v ["format"; "version"; "weights"; "automaton"; "arithmetic"; "form"; "order"; "claim"; "method"] or wrong in
  let! name := or_say (text_of v "arithmetic") wrong in
  let! a := or_say (arithmetic_named name) (text "this arithmetic is not checked: " ++ name) in
  let! form := or_say (let* t := text_of v "form" in one_of t [("structured", false); ("dense", true)]) wrong in
  let! o := or_say (let* t := text_of v "order" in one_of t [("sequential", Sequential); ("any", Any)]) wrong in
  let! m := or_say (text_of v "method") wrong in
  Ok (Claim a form o m).

Definition read_step (e : evidence) (v : json) : option evidence :=
  let nothing_after := match tuples e, pairs e with [], [] => negb (by_induction e) | _, _ => false end in
  let* kind := text_of v "step" in
  if reads kind "codewords" then
    let* l := natural_of v "layer" in let* cs := naturals_of v "codewords" in
    if only_members v ["step"; "layer"; "codewords"] && (l =? N.of_nat (length (machines e))) && nothing_after && (others e =? 0)
    then Some (Evidence (Machine cs [] :: machines e) false [] [] 0) else None
  else if reads kind "move" then
    let* l := natural_of v "layer" in let* a := natural_of v "action" in let* b := natural_of v "book" in let* n := naturals_of v "next" in
    match machines e with
    | m :: ms =>
        if only_members v ["step"; "layer"; "action"; "book"; "next"] && (l =? N.of_nat (length ms)) && nothing_after && (others e =? 0)
        then Some (Evidence (Machine (m_codewords m) ((a, b, n) :: m_moves m) :: ms) false [] [] 0) else None
    | [] => None
    end
  else if reads kind "induction" then
    if only_members v ["step"] && nothing_after && (others e =? 0) then Some (Evidence (machines e) true [] [] 0) else None
  else if reads kind "tuple" then
    let* q := natural_of v "state" in let* p := naturals_of v "places" in let* n := naturals_of v "next" in
    if only_members v ["step"; "state"; "places"; "next"] && negb (by_induction e) && (others e =? 0)
    then Some (Evidence (machines e) false (Tuple q p n :: tuples e) (pairs e) 0) else None
  else if reads kind "pair" then
    let* q := natural_of v "state" in let* ls := naturals_of v "labels" in let* bs := (let* l := items_of v "bits" in traverse as_text l) in
    let* n := naturals_of v "next" in
    if only_members v ["step"; "state"; "labels"; "bits"; "next"] && match machines e with [] => true | _ => false end
    then Some (Evidence [] false [] (Pair q ls bs n :: pairs e) 0) else None
  else if existsb (reads kind) ["maps"; "map"; "moves"; "addition"] then
    Some (Evidence (machines e) (by_induction e) (tuples e) (pairs e) (others e + 1))
  else None.

Definition read_certificate (b : bytes) : result (claim * evidence) :=
  let! ls := or_say (lines_onto [] [] b) (text "the certificate's last line has no end") in
  let! vs := or_say (traverse parse ls) (text "a line of the certificate is not JSON") in
  match vs, rev' vs with
  | first :: rest, last :: _ =>
      let! c := read_claim first in
      let before := N.of_nat (length rest) in
      ensure only_members last ["step"; "lines"] && is_text last "step" "end"
             && match natural_of last "lines" with Some n => n =? before | None => false end
        or text "the certificate does not end with its number of lines" in
      let! (steps, _) := or_say (take (before - 1) rest) (text "the certificate has no steps") in
      let! e := or_say (fold_option read_step (Evidence [] false [] [] 0) steps) (text "a step of the certificate is wrong, or in a wrong place") in
      ensure match claimed_order c with Sequential => others e =? 0 | Any => true end or text "steps that a sequential claim does not have" in
      Ok (c, Evidence (rev' (machines e)) (by_induction e) (rev' (tuples e)) (rev' (pairs e)) (others e))
  | _, _ => No (text "the certificate is empty")
  end.

(* ---- The list of states ---- *)

Section States.
Variables (a : arithmetic) (m : model).

Definition stored_format : format := match storage a with Some f => f | None => sums a end.
Definition exponent_bits : Z := Z.log2 (emax stored_format) + 1.

Fixpoint hexadecimal_onto (n : N) (s : bytes) : option N :=
  match s with [] => Some n | c :: s' => let* d := hexadecimal c in hexadecimal_onto (16 * n + d) s' end.

Definition read_bits (l : layer dy) (s : bytes) : option (columns_of dy) :=
  let width := Z.to_N ((prec stored_format + exponent_bits) / 4) in
  let n := match initial l with c :: _ => N.of_nat (length c) | [] => 0 end in
  let d := N.of_nat (length (initial l)) in
  let* words := rows (d * n) width s in
  let* values := traverse (fun w => let* k := hexadecimal_onto 0 w in ieee (prec stored_format - 1) exponent_bits (Z.of_N k)) words in
  rows d n values.

Definition pair_entry (p : pair) : option entry :=
  let* hs := zip_with read_bits (layers m) (p_bits p) in
  let* ss := zip_with (fun h l => Some (h, l)) hs (p_labels p) in
  Some (Entry ss (p_state p) (p_next p)).

(* Places of a layer: codewords as they are stored, with their labels. *)
Definition places_of (l : layer dy) (k : machine) : option (N -> option (columns_of dy * N)) :=
  let look := mk (codewords l) in
  let* cs := traverse (fun i => let* c := look i in let* h := conv_columns (zops a) (place c) in Some (h, stands_for c)) (m_codewords k) in
  Some (mk cs).

Definition tuple_entry (places : list (N -> option (columns_of dy * N))) (t : tuple) : option entry :=
  let* ss := zip_with (fun p i => p i) places (t_places t) in Some (Entry ss (t_state t) (t_next t)).

(* With "induction" the tuples are not listed: those that words reach are found by the moves. *)
Record walker := Walker {
  w_action : N -> option N; w_book : N -> option N; w_next : N -> N -> option N; w_label : N -> option N; w_size : N;
  w_moves : list (N * N * (N -> option N)) }.
Definition walker_of (l : layer dy) (k : machine) : walker :=
  let look := mk (codewords l) in
  Walker (mk (action_of l)) (mk (book_of l)) (mk2 (next_of l))
         (mk (map (fun i => match look i with Some c => stands_for c | None => 0 end) (m_codewords k)))
         (N.of_nat (length (m_codewords k))) (map (fun mv => (fst mv, mk (snd mv))) (m_moves k)).

Fixpoint walk (ws : list walker) (context : option N) (places : list N) : option (list N) :=
  match ws, places with
  | [], [] => Some []
  | w :: ws', i :: places' =>
      let* c := context in let* x := w_action w c in let* b := w_book w c in
      let* mv := find (fun mv => (fst (fst mv) =? x) && (snd (fst mv) =? b)) (w_moves w) in
      let* j := snd mv i in let* label := w_label w i in
      let* r := walk ws' (w_next w c label) places' in Some (j :: r)
  | _, _ => None
  end.

Definition key (ws : list walker) (places : list N) (q : N) : positive :=
  N.succ_pos (fold_left (fun acc p => acc * (w_size (fst p) + 1) + snd p) (combine ws places) q).

Definition visit (ws : list walker) (s : PositiveMap.t N * N * list (list N * N) * list N) (t : list N * N) :=
  let '(seen, count, todo, succ) := s in
  let k := key ws (fst t) (snd t) in
  match PositiveMap.find k seen with
  | Some i => (seen, count, todo, i :: succ)
  | None => (PositiveMap.add k count seen, count + 1, t :: todo, count :: succ)
  end.

Fixpoint explore (fuel : nat) (ws : list walker) (table : N -> N -> option N) (alphabet : list N)
    (front back : list (list N * N)) (seen : PositiveMap.t N) (count : N) (done : list tuple) : option (list tuple) :=
  match fuel with O => None | S fuel' =>
  match front with
  | [] => match back with [] => Some (rev' done) | _ => explore fuel' ws table alphabet (rev' back) [] seen count done end
  | (t, q) :: front' =>
      match traverse (fun x => let* u := walk ws (Some x) t in let* r := table q x in Some (u, r)) alphabet with
      | None => None
      | Some us =>
          let '(seen', count', back', succ) := fold_left (visit ws) us (seen, count, back, []) in
          explore fuel' ws table alphabet front' back' seen' count' (Tuple q t (rev' succ) :: done)
      end
  end end.

Definition most_tuples : N := 4000000.
Definition found_tuples (ks : list machine) : option (list tuple) :=
  let* ws := zip_with (fun l k => Some (walker_of l k)) (layers m) ks in
  let t0 := map (fun _ => 0) ws in let q0 := first_state (oracle m) in
  explore (N.to_nat most_tuples) ws (mk2 (table (oracle m))) (iota (letters (oracle m))) [(t0, q0)] []
          (PositiveMap.add (key ws t0 q0) 0 (PositiveMap.empty N)) 1 [].

Definition entries_of (method : bytes) (e : evidence) : result (list entry) :=
  if reads method "closed reachable set" then
    or_say (traverse pair_entry (pairs e)) (text "a pair of the certificate does not fit the model")
  else if reads method "closed codewords" || reads method "exact in any order" then
    let! places := or_say (let* p := zip_with (fun l k => Some (places_of l k)) (layers m) (machines e) in traverse (fun x => x) p)
                          (text "the codewords of the certificate do not fit the model") in
    let! ts := if by_induction e then or_say (found_tuples (machines e)) (text "the moves of the certificate do not reach all tuples, or too many")
               else Ok (tuples e) in
    or_say (traverse (tuple_entry places) ts) (text "a tuple of the certificate does not fit the model")
  else No (text "this method is not checked: " ++ method).
End States.
