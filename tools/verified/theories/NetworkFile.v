(* From the bytes of a network file to the network that they mean, as docs/reference/network-file.md has it. This file is part of
   the specification: what is proved is proved of the `model` that it gives.
   Leans on Safetensors.v, Network.v, Roots.v, Turns.v. *)
From Coq Require Import String ZArith NArith List Bool FMapPositive.
From Krohn Require Import Dyadic Lists Network Roots Turns Bytes Json Safetensors.
Import ListNotations.
Open Scope string_scope. Open Scope list_scope. Open Scope N_scope.

Definition no_way : N := 4294967295.

(* ---- Tensors by name, with the extents that they must have; None for any. ---- *)
Definition fits_extents : list N -> list (option N) -> bool :=
  forall2b (fun n e => match e with Some m => n =? m | None => true end).

Section File.
Variable f : file.

Definition get_tensor (name : bytes) (extents : list (option N)) : result tensor :=
  let! t := or_say (find_tensor f name) (text "the model lacks the tensor " ++ name) in
  ensure fits_extents (t_shape t) extents or text "wrong shape: tensor " ++ name in Ok t.
Definition has (name : bytes) : bool := match find_tensor f name with Some _ => true | None => false end.
Definition typed {A} (name : bytes) (x : option A) : result A :=
  or_say x (text "wrong type, or a number that is not finite: tensor " ++ name).
Definition naturals (dtype : string) (name : bytes) (extents : list (option N)) : result (list N) :=
  let! t := get_tensor name extents in typed name (naturals_in dtype t).
Definition integers (dtype : string) (name : bytes) (extents : list (option N)) : result (list Z) :=
  let! t := get_tensor name extents in typed name (integers_in dtype t).
Definition reals (name : bytes) (extents : list (option N)) : result (list dy) :=
  let! t := get_tensor name extents in typed name (reals_in t).
Definition or_absent {A} (name : bytes) (absent : A) (given : result A) : result A := if has name then given else Ok absent.
Definition len {A} (l : list A) : N := N.of_nat (length l).

(* Lists cut out of one tensor; `count` of them. *)
Definition lists {A} (name : bytes) (values : list A) (count : N) : result (list (list A)) :=
  let! offsets := naturals "U64" (name ++ text ".offsets") [Some (count + 1)] in
  or_say (cut offsets values) (text "offsets that do not cut their list: " ++ name).

(* ---- Matrices ---- *)
Notation M := (matrix dy).

(* The second members of the pairs whose first member is 0, of those where it is 1, ..., each in the order of the list. *)
Definition gather {A} (n : N) (l : list (N * A)) : list (list A) :=
  let table := fold_left (fun m p => let key := N.succ_pos (fst p) in
    PositiveMap.add key (snd p :: match PositiveMap.find key m with Some r => r | None => [] end) m) (rev' l) (PositiveMap.empty (list A)) in
  map (fun i => match PositiveMap.find (N.succ_pos i) table with Some r => r | None => [] end) (iota n).

(* w_0 x_at + w_1 x_{at+1} + ... *)
Definition weigh (at_ : N) (row : list dy) : list (term dy) := map (fun p => Times (snd p) (at_ + fst p)) (combine (iota (len row)) row).

Definition in_rows {A} (name : bytes) (count n : N) (l : list A) : result (list (list A)) :=
  or_say (rows count n l) (text "wrong size: " ++ name).

Section Form.
Variables (prefix : bytes) (m n : N).   (* m matrices of n x n *)
Definition here (name : string) : bytes := prefix ++ text "structured." ++ text name.

Definition read_maps : result (list M) :=
  let! flat := naturals "U32" (here "map") [Some m; Some n] in
  ensure forallb (fun i => i <? n) flat or text "a map leaves its range: " ++ here "map" in
  let! ms := in_rows (here "map") m n flat in
  Ok (map (fun images => Rows (gather n (combine images (map Pick (iota n))))) ms).

Definition signed_term (js : N * Z) : option (term dy) :=
  if (snd js =? 1)%Z then Some (Pick (fst js)) else if (snd js =? -1)%Z then Some (Minus (fst js)) else None.
Definition read_signed : result (list M) :=
  let! flat := naturals "U32" (here "signed.map") [Some m; Some n] in
  let! signs := integers "I8" (here "signed.sign") [Some m; Some n] in
  let! ms := in_rows (here "signed.map") m n flat in
  let! ss := in_rows (here "signed.sign") m n signs in
  each (fun p : list N * list Z =>
    let! terms := or_say (traverse signed_term (combine (iota n) (snd p))) (text "a sign is not 1 or -1: " ++ here "signed.sign") in
    let r := gather n (combine (fst p) terms) in
    ensure forallb (fun row => match row with [_] => true | _ => false end) r or text "no permutation: " ++ here "signed.map" in
    Ok (Rows r)) (combine ms ss).

Definition read_diagonals : result (list M) :=
  let! flat := reals (here "diagonal") [Some m; Some n] in
  let! ds := in_rows (here "diagonal") m n flat in
  Ok (map (fun d => Rows (map (fun p => [Times (snd p) (fst p)]) (combine (iota n) d))) ds).

Definition read_zeros : result (list M) := Ok (map (fun _ => Rows (map (fun _ => []) (iota n))) (iota m)).

Definition dense_matrices (name : bytes) : result (list M) :=
  let! flat := reals name [Some m; Some n; Some n] in
  let! all := in_rows name (m * n) n flat in
  let! ms := in_rows name m n all in
  Ok (map (fun a => Rows (map (weigh 0) a)) ms).
Definition read_dense : result (list M) := dense_matrices (here "dense").

Fixpoint block_rows (at_ : N) (blocks : list (N * list (list dy))) : list (list (term dy)) :=
  match blocks with [] => [] | (size, rs) :: blocks' => map (weigh at_) rs ++ block_rows (at_ + size) blocks' end.
Definition read_blocks : result (list M) :=
  let! sizes := naturals "U32" (here "blocks.size") [None] in
  let! by_matrix := lists (here "blocks.size") sizes m in
  let! values := reals (here "blocks.values") [None] in
  ensure forallb (fun s => sum s =? n) by_matrix or text "blocks do not fill their matrix: " ++ here "blocks.size" in
  let! pieces := or_say (take_each (map (fun s => s * s) sizes) values) (text "wrong size: " ++ here "blocks.values") in
  let! squares := each (fun p => in_rows (here "blocks.values") (fst p) (fst p) (snd p)) (combine sizes pieces) in
  let! by_matrix' := lists (here "blocks.size") (combine sizes squares) m in
  Ok (map (fun blocks => Rows (block_rows 0 blocks)) by_matrix').

Definition read_factored : result (list M) :=
  let! outputs := naturals "U32" (here "factored.output") [None] in
  let! inputs := naturals "U32" (here "factored.input") [None] in
  let! bounds := get_tensor (here "factored.output.offsets") [None] in
  let terms := fold_left N.add (t_shape bounds) 0 - 1 in
  let! outs := lists (here "factored.output") outputs terms in
  let! ins := lists (here "factored.input") inputs terms in
  let! gate := naturals "U32" (here "factored.gate") [None] in
  let! gates := lists (here "factored.gate") gate m in
  let! by_matrix := lists (here "factored") (combine outs ins) m in
  each (fun p : list (list N * list N) * list N =>
    let look := mk (fst p) in
    let! chosen := or_say (traverse look (snd p)) (text "a gate names no term: " ++ here "factored.gate") in
    Ok (Factored chosen)) (combine by_matrix gates).

Definition fine_turn : bytes := text "a turn whose cosine is not the root of a fraction is checked only as a number of a dense matrix: ".
Definition two (l : list Z) : Z * Z := match l with [p; q] => (p, q) | _ => (0, 0)%Z end.

(* A factor: the positions and values of the entries of its key, (p, q), the plane and its angle, beta. *)
Definition read_factor (x : (list N * list Z) * (list Z * (N * list Z)) * dy) : result (list (N * dy) * dy) :=
  let '(positions, vs, (scale, (plane, angle)), beta) := x in
  let (p, q) := two scale in
  match positions with
  | [] =>
      let (p, q) := two angle in
      let! c := or_say (cosine p q) (fine_turn ++ here "reflections.angle") in
      let! s := or_say (sine p q) (fine_turn ++ here "reflections.angle") in
      Ok ([(plane, c); (plane + 1, s)], beta)
  | _ =>
      ensure (0 <=? p)%Z && (0 <? q)%Z or text "scale_squared is no fraction of naturals: " ++ here "reflections.scale_squared" in
      let! k := or_say (traverse (key_entry p q) vs) (text "a root without enough digits: " ++ here "reflections.value") in
      Ok (combine positions k, beta)
  end.
Definition read_reflections : result (list M) :=
  let! betas := reals (here "reflections.beta") [None] in
  let count := len betas in
  let! positions := naturals "U32" (here "reflections.position") [None] in
  let! vs := integers "I32" (here "reflections.value") [Some (len positions)] in
  let! scales := integers "I64" (here "reflections.scale_squared") [Some count; Some 2] in
  let! planes := naturals "U32" (here "reflections.plane") [Some count] in
  let! turns := integers "I64" (here "reflections.angle") [Some count; Some 2] in
  let! ps := lists (here "reflections.position") positions count in
  let! offsets := naturals "U64" (here "reflections.position.offsets") [None] in
  let! ws := or_say (cut offsets vs) (text "offsets that do not cut their list: " ++ here "reflections.value") in
  let! pqs := in_rows (here "reflections.scale_squared") count 2 scales in
  let! angles := in_rows (here "reflections.angle") count 2 turns in
  let! factors := each read_factor (combine (combine (combine ps ws) (combine pqs (combine planes angles))) betas) in
  let! by_matrix := lists (here "reflections") factors m in
  Ok (map Reflections by_matrix).

(* The rows of blocks from a place on: signs, and rotations of two numbers. *)
Fixpoint turn_rows (at_ : N) (blocks : list (N * list Z)) : option (list (list (term dy))) :=
  match blocks with
  | [] => Some []
  | (is_sign, turn) :: blocks' =>
      let (p, q) := two turn in
      if is_sign =? 1 then
        let* r := turn_rows (at_ + 1) blocks' in
        if (q <=? 0)%Z then None else
        if (p mod q =? 0)%Z then Some ([Pick at_] :: r) else if (2 * p mod q =? 0)%Z then Some ([Minus at_] :: r) else None
      else
        let* c := cosine p q in let* s := sine p q in
        let* r := turn_rows (at_ + 2) blocks' in
        Some ([Times c at_; Times (dopp s) (at_ + 1)] :: [Times s at_; Times c (at_ + 1)] :: r)
  end.
Definition read_rotations : result (list M) :=
  let! signs := naturals "U8" (here "rotation.is_sign") [None] in
  let! turns := integers "I64" (here "rotation.turn") [Some (len signs); Some 2] in
  let! pqs := in_rows (here "rotation.turn") (len signs) 2 turns in
  let! by_matrix := lists (here "rotation") (combine signs pqs) m in
  ensure forallb (fun s => s <=? 1) signs or text "no sign and no rotation: " ++ here "rotation.is_sign" in
  each (fun blocks =>
    let! r := or_say (turn_rows 0 blocks) (fine_turn ++ here "rotation.turn") in
    ensure len r =? n or text "blocks do not fill their matrix: " ++ here "rotation.offsets" in Ok (Rows r)) by_matrix.

(* The form, its tensors, its matrices. *)
Definition form_named (name : bytes) : result (list string * result (list M)) :=
  if reads name "map" then Ok (["map"], read_maps)%string else
  if reads name "signed-permutation" then Ok (["signed.map"; "signed.sign"], read_signed)%string else
  if reads name "diagonal" then Ok (["diagonal"], read_diagonals)%string else
  if reads name "zero" then Ok ([], read_zeros) else
  if reads name "dense" then Ok (["dense"], read_dense)%string else
  if reads name "block-diagonal" then Ok (["blocks.size"; "blocks.size.offsets"; "blocks.values"], read_blocks)%string else
  if reads name "factored" then
    Ok (["factored.offsets"; "factored.output"; "factored.output.offsets"; "factored.input"; "factored.input.offsets"; "factored.gate";
         "factored.gate.offsets"], read_factored)%string else
  if reads name "reflections" then
    Ok (["reflections.offsets"; "reflections.position"; "reflections.position.offsets"; "reflections.value"; "reflections.scale_squared";
         "reflections.plane"; "reflections.angle"; "reflections.beta"], read_reflections)%string else
  if reads name "rotation" then
    Ok (["rotation.offsets"; "rotation.is_sign"; "rotation.turn"], read_rotations) else
  No (text "unknown form of matrix: " ++ name).
End Form.

(* Matrix i is the next one of pile codes[i]. *)
Fixpoint deal (codes : list N) (piles : list (list M)) (done : list M) : option (list M) :=
  match codes with
  | [] => Some (rev' done)
  | c :: codes' =>
      let* pile := get piles c in
      match pile with a :: pile' => let* piles' := set piles c pile' in deal codes' piles' (a :: done) | [] => None end
  end.

(* ---- Layers ---- *)
Definition layer_prefix (k : N) : bytes := text "layers." ++ decimal k ++ text ".".

(* n rows of d numbers, as d columns of n. *)
Definition columns_from (name : bytes) (n d : N) (flat : list dy) : result (columns_of dy) :=
  let! rs := in_rows name n d flat in
  or_say (fold_right (fun r acc => let* c := acc in zip_with (fun x column => Some (x :: column)) r c) (Some (map (fun _ => []) (iota d))) rs)
         (text "wrong size: " ++ name).
Definition many_columns (name : bytes) (count n d : N) (flat : list dy) : result (list (columns_of dy)) :=
  let! each_one := in_rows name count (n * d) flat in each (columns_from name n d) each_one.

Definition is_zero (h : columns_of dy) : bool := forallb (forallb (fun x => (dm x =? 0)%Z)) h.

Definition read_b (prefix : bytes) (count n d : N) : result (list (option (columns_of dy))) :=
  let name := prefix ++ text "B" in
  or_absent name (map (fun _ => None) (iota count)) (
    let! flat := reals name [Some count; Some n; Some d] in
    let! bs := many_columns name count n d flat in
    let! given := naturals "U8" (prefix ++ text "B.given") [Some count] in
    each (fun p : columns_of dy * N =>
      if snd p =? 1 then Ok (Some (fst p)) else
      ensure (snd p =? 0) && is_zero (fst p) or text "B.given does not fit: " ++ name in Ok None) (combine bs given)).

(* The codeword of label i with c copies of the unit vectors of `labels` coordinates. *)
Definition unit_codeword (n labels i : N) : columns_of dy := [map (fun j => if j mod labels =? i then D 1 0 else D 0 0) (iota n)].

Definition read_codewords (prefix : bytes) (n d labels copies : N) : result (list codeword) :=
  let name := prefix ++ text "codewords" in
  if 0 <? copies then
    ensure (d =? 1) && (n =? copies * labels) && negb (has name) or text "unit_copies does not fit: " ++ prefix in
    Ok (map (fun i => Codeword 0 i (unit_codeword n labels i)) (iota labels))
  else
    let! t := get_tensor name [None; Some n; Some d] in
    let count := match t_shape t with c :: _ => c | [] => 0 end in
    let! flat := reals name [None; Some n; Some d] in
    let! places := many_columns name count n d flat in
    let! ls := or_absent (name ++ text ".label") (iota count) (naturals "U32" (name ++ text ".label") [Some count]) in
    let! bs := or_absent (name ++ text ".book") (map (fun _ => 0) (iota count)) (naturals "U32" (name ++ text ".book") [Some count]) in
    ensure forallb (fun l => l <? labels) ls or text "a codeword stands for no label: " ++ name in
    Ok (map (fun c => Codeword (fst (snd c)) (snd (snd c)) (fst c)) (combine places (combine bs ls))).

(* The layer and the names of its tensors. Dense: A is taken instead of the structured forms. *)
Definition read_layer (dense last : bool) (k : N) (v : json) : result (layer dy * list bytes) :=
  let prefix := layer_prefix k in
  let at_ (name : string) := prefix ++ text name in
  ensure only_members v ["dimension"; "columns"; "labels"; "initial_label"; "unit_copies"; "forms"]%string
    or text "wrong members in the metadata of " ++ prefix in
  let! n := or_say (natural_of v "dimension") (at_ "dimension") in
  let! d := or_say (natural_of v "columns") (at_ "columns") in
  let! labels := or_say (natural_of v "labels") (at_ "labels") in
  let! first_label := or_say (natural_of v "initial_label") (at_ "initial_label") in
  let! copies := or_say (natural_of v "unit_copies") (at_ "unit_copies") in
  let! forms := or_say (let* l := items_of v "forms" in traverse as_text l) (at_ "forms") in
  ensure (0 <? n) && (0 <? d) && (first_label <? labels) or text "wrong sizes in the metadata of " ++ prefix in
  let! flat := reals (at_ "H0") [Some n; Some d] in
  let! h := columns_from (at_ "H0") n d flat in
  let! codes := naturals "U8" (at_ "form") [None] in
  let amount := len codes in
  ensure forallb (fun c => c <? len forms) codes or text "a form has no name: " ++ at_ "form" in
  ensure forallb (fun p => (0 <? count (N.eqb (fst p)) codes) && (len (filter (same_text (snd p)) forms) =? 1)) (combine (iota (len forms)) forms)
    or text "a form is named twice, or never used: " ++ at_ "form" in
  let! known := each (fun p => form_named prefix (count (N.eqb (fst p)) codes) n (snd p)) (combine (iota (len forms)) forms) in
  let! matrices :=
    if dense then dense_matrices amount n (at_ "A") else
    let! piles := each snd known in
    or_say (deal codes piles []) (text "forms that do not fit: " ++ at_ "form") in
  let! bs := read_b prefix amount n d in
  let! actions_ := naturals "U32" (at_ "action_of") [None] in
  let contexts := len actions_ in
  let! books := or_absent (at_ "book_of_context") (map (fun _ => 0) actions_) (naturals "U32" (at_ "book_of_context") [Some contexts]) in
  let! next := if last then Ok [] else
    let! flat := naturals "U32" (at_ "next") [Some contexts; Some labels] in in_rows (at_ "next") contexts labels flat in
  let! words := read_codewords prefix n d labels copies in
  let name := text "readout." ++ decimal k in
  let! t := get_tensor name [None; Some labels] in
  let nodes := match t_shape t with c :: _ => c | [] => 0 end in
  let! flat := naturals "U32" name [None; Some labels] in
  let! table := in_rows name nodes labels flat in
  Ok (Layer (combine matrices bs) h first_label actions_ books next words table,
      name :: map at_ (["A"; "B"; "B.given"; "H0"; "action_of"; "book_of_context"; "codewords"; "codewords.label"; "codewords.book"; "form"]
                       ++ (if last then [] else ["next"]) ++ map (String.append "structured.") (concat (map fst known)))).

(* ---- The automaton ---- *)
Definition read_automaton : result automaton :=
  let wrong := text "wrong metadata: automaton" in
  let! t := or_say (metadata_text f "automaton") (text "the metadata lack the automaton") in
  let! v := or_say (parse t) (text "the metadata of the automaton are not JSON") in
  ensure only_members v ["alphabet"; "initial"; "output_names"; "state_names"]%string or wrong in
  let! alphabet := or_say (items_of v "alphabet") wrong in
  let! names := or_say (traverse (fun s => if only_members s ["name"; "characters"]%string then text_of s "name" else None) alphabet) wrong in
  let! q := or_say (natural_of v "initial") wrong in
  let! output_names := or_say (items_of v "output_names") wrong in
  let! outputs := naturals "U32" (text "automaton.outputs") [None] in
  let states := len outputs in
  let! flat := naturals "U32" (text "automaton.table") [Some states; Some (len alphabet)] in
  let! table := in_rows (text "automaton.table") states (len alphabet) flat in
  ensure forallb (fun s => s <? states) flat && (q <? states) && forallb (fun o => o <? len output_names) outputs
    or text "a state or an output out of range: automaton" in
  Ok (Automaton (len alphabet) table q).

Definition read_layers (dense : bool) (ds : list json) : result (list (layer dy * list bytes)) :=
  each (fun p => read_layer dense (fst p + 1 =? len ds) (fst p) (snd p)) (combine (iota (len ds)) ds).

Definition read_model (dense : bool) : result model :=
  let is_known (m : bytes * json) := existsb (reads (fst m)) ["format"; "version"; "automaton"; "layers"; "provenance"]%string in
  ensure negb (existsb (fun m => reads (fst m) "snap_every") (metadata f)) or text "a network that snaps is not linear; it is not checked" in
  ensure forallb is_known (metadata f) or text "the metadata have an unknown key" in
  ensure match metadata_text f "format", metadata_text f "version" with Some a, Some b => reads a "krohn.network" && reads b "1" | _, _ => false end
    or text "not a network file of version 1" in
  let! a := read_automaton in
  let! t := or_say (metadata_text f "layers") (text "the metadata lack the layers") in
  let! ds := or_say (let* v := parse t in as_items v) (text "the metadata of the layers are not a list") in
  let! ls := read_layers dense ds in
  let known := text "automaton.table" :: text "automaton.outputs" :: concat (map snd ls) in
  ensure forallb (fun t => existsb (same_text (t_name t)) known) (tensors f) or text "the model has a tensor of an unknown name" in
  ensure match ls with (l, _) :: _ => len (readout l) =? 1 | [] => false end or text "the first readout has not one node" in
  Ok (Model (map fst ls) a).
End File.

(* What is run: the bytes of a model, with the structured or the dense matrices. *)
Definition model_of_bytes (dense : bool) (b : bytes) : result model := let! f := read_file b in read_model f dense.
