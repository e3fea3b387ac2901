(* safetensors files: 8 bytes of length, a JSON header, tensors that tile the rest. Refused: what overlaps, leaves a gap or
   a rest, repeated names, sizes that do not fit the shape. Leans on Json.v, no axioms. *)
From Coq Require Import String ZArith NArith List Bool.
From Krohn Require Import Dyadic Lists Bytes Json.
Import ListNotations.
Open Scope N_scope.

Record tensor := Tensor { t_name : bytes; t_type : bytes; t_shape : list N; t_first : N; t_data : bytes }.
Record file := File { metadata : list (bytes * json); tensors : list tensor }.

Definition size_of (dtype : bytes) : option N :=
  option_map snd (find (fun e => reads dtype (fst e))
    [("F64"%string, 8); ("F32"%string, 4); ("U64"%string, 8); ("I64"%string, 8); ("U32"%string, 4); ("I32"%string, 4);
     ("U8"%string, 1); ("I8"%string, 1)]).

(* name, type, shape, first and last offset *)
Definition place_in_file := (bytes * bytes * list N * N * N)%type.
Definition place_of (m : bytes * json) : option place_in_file :=
  let (name, v) := m in
  if only_members v ["dtype"; "shape"; "data_offsets"]%string then
    let* d := text_of v "dtype" in let* s := naturals_of v "shape" in let* o := naturals_of v "data_offsets" in
    match o with [a; b] => Some (name, d, s, a, b) | _ => None end
  else None.

Fixpoint insert (p : place_in_file) (l : list place_in_file) : list place_in_file :=
  match l with
  | [] => [p]
  | q :: l' =>
      let '(_, _, _, a, b) := p in let '(_, _, _, c, d) := q in
      if (a <? c) || (a =? c) && (b <? d) then p :: l else q :: insert p l'
  end.

Fixpoint tile (at_ : N) (places : list place_in_file) (body : bytes) (done : list tensor) : option (list tensor) :=
  match places with
  | [] => match body with [] => Some (rev' done) | _ => None end
  | (name, dtype, shape, a, b) :: places' =>
      let* size := size_of dtype in
      if (a =? at_) && (a + size * fold_left N.mul shape 1 =? b) then
        let* (data, rest) := take (b - a) body in tile b places' rest (Tensor name dtype shape a data :: done)
      else None
  end.

Definition read_file (b : bytes) : result file :=
  let! (length_bytes, rest) := or_say (take 8 b) (text "the model is shorter than 8 bytes") in
  let! (header, body) := or_say (take (little_endian length_bytes) rest) (text "the model is shorter than its header") in
  ensure match header with c :: _ => c =? 123 | [] => false end or text "the model's header does not begin with {" in
  let! v := or_say (parse header) (text "the model's header is not JSON of integers and texts, or it repeats a name") in
  match v with
  | Members l =>
      let is_meta (m : bytes * json) := reads (fst m) "__metadata__" in
      let! meta := match filter is_meta l with [(_, Members meta)] => Ok meta | _ => No (text "the model has no metadata") end in
      let! places := or_say (traverse place_of (filter (fun m => negb (is_meta m)) l)) (text "the model's header describes a tensor badly") in
      let! ts := or_say (tile 0 (fold_right insert [] places) body []) (text "the tensors do not tile the model's bytes, or one has an unknown type") in
      Ok (File meta ts)
  | _ => No (text "the model's header is no object")
  end.

(* ---- Tensors by name. Shapes have to be as expected. ---- *)
Definition find_tensor (f : file) (name : bytes) : option tensor := find (fun t => same_text (t_name t) name) (tensors f).
Definition metadata_text (f : file) (name : string) : option bytes :=
  let* m := find (fun m => reads (fst m) name) (metadata f) in as_text (snd m).

Fixpoint chunks_onto (size : N) (done : list bytes) (chunk : bytes) (left : N) (b : bytes) : list bytes :=
  match b with
  | [] => rev' done
  | x :: b' =>
      if left =? 1 then chunks_onto size (rev' (x :: chunk) :: done) [] size b' else chunks_onto size done (x :: chunk) (N.pred left) b'
  end.
Definition elements (t : tensor) : list bytes :=
  match size_of (t_type t) with Some size => chunks_onto size [] [] size (t_data t) | None => [] end.

Definition same_shape : list N -> list N -> bool := forall2b N.eqb.
Definition naturals_in (dtype : string) (t : tensor) : option (list N) :=
  if reads (t_type t) dtype then Some (map little_endian (elements t)) else None.
Definition integers_in (dtype : string) (t : tensor) : option (list Z) :=
  if reads (t_type t) dtype then Some (map signed (elements t)) else None.
(* F32 or F64; None when one of them is not finite. *)
Definition reals_in (t : tensor) : option (list dy) :=
  if reads (t_type t) "F64" then traverse float64 (elements t) else
  if reads (t_type t) "F32" then traverse float32 (elements t) else None.
