(* JSON of integers, texts, lists and objects. Refused: fractions, exponents and -0, repeated members, what follows the value.
   Texts are bytes: UTF-8 passes through. Leans on Bytes.v, no axioms. *)
From Coq Require Import String ZArith NArith List Bool.
From Krohn Require Import Lists Bytes.
Import ListNotations.
Open Scope N_scope.

Inductive json := Null | Truth (b : bool) | Whole (z : Z) | Text (s : bytes) | Items (l : list json) | Members (l : list (bytes * json)).

Fixpoint skip_space (s : bytes) : bytes :=
  match s with c :: s' => if (c =? 32) || (c =? 9) || (c =? 10) || (c =? 13) then skip_space s' else s | [] => [] end.

Definition is_digit (c : N) : bool := (48 <=? c) && (c <=? 57).
Fixpoint digits_onto (n : N) (s : bytes) : N * bytes :=
  match s with c :: s' => if is_digit c then digits_onto (10 * n + (c - 48)) s' else (n, s) | [] => (n, []) end.
(* No leading zeros. *)
Definition natural (s : bytes) : option (N * bytes) :=
  match s with
  | c :: s' => if c =? 48 then Some (0, s') else if is_digit c then Some (digits_onto 0 s) else None
  | [] => None
  end.

Definition hexadecimal (c : N) : option N :=
  if is_digit c then Some (c - 48) else
  if (97 <=? c) && (c <=? 102) then Some (c - 87) else if (65 <=? c) && (c <=? 70) then Some (c - 55) else None.
(* UTF-8 of a code point below 2^16, the last byte first. *)
Definition utf8_onto (n : N) (done : bytes) : bytes :=
  if n <? 128 then n :: done else
  if n <? 2048 then 128 + n mod 64 :: 192 + n / 64 :: done else
  128 + n mod 64 :: 128 + (n / 64) mod 64 :: 224 + n / 4096 :: done.
Definition escape (c : N) : option N :=
  if c =? 34 then Some 34 else if c =? 92 then Some 92 else if c =? 47 then Some 47 else if c =? 98 then Some 8 else
  if c =? 102 then Some 12 else if c =? 110 then Some 10 else if c =? 114 then Some 13 else if c =? 116 then Some 9 else None.

(* The text after its first quotation mark. Surrogates are refused. *)
Fixpoint string_onto (done : bytes) (s : bytes) : option (bytes * bytes) :=
  match s with
  | [] => None
  | c :: s' =>
      if c =? 34 then Some (rev' done, s') else
      if c <? 32 then None else
      if c =? 92 then
        match s' with
        | [] => None
        | e :: s'' =>
            if e =? 117 then
              match s'' with
              | h1 :: h2 :: h3 :: h4 :: rest =>
                  let* a := hexadecimal h1 in let* b := hexadecimal h2 in let* c := hexadecimal h3 in let* d := hexadecimal h4 in
                  let n := 4096 * a + 256 * b + 16 * c + d in
                  if (55296 <=? n) && (n <? 57344) then None else string_onto (utf8_onto n done) rest
              | _ => None
              end
            else let* d := escape e in string_onto (d :: done) s''
        end
      else string_onto (c :: done) s'
  end.

Definition holds (l : list (bytes * json)) (name : bytes) : bool := existsb (fun m => same_text (fst m) name) l.

Fixpoint literal (word : bytes) (s : bytes) : option bytes :=
  match word, s with
  | [], _ => Some s
  | c :: word', d :: s' => if c =? d then literal word' s' else None
  | _, [] => None
  end.

(* Every call takes a byte at least: the length of the text is fuel enough. *)
Fixpoint value (fuel : nat) (s : bytes) : option (json * bytes) :=
  match fuel with O => None | S f =>
  match skip_space s with
  | [] => None
  | c :: s' =>
      if c =? 123 then
        match skip_space s' with
        | d :: s'' => if d =? 125 then Some (Members [], s'') else members f [] s'
        | [] => None
        end
      else if c =? 91 then
        match skip_space s' with
        | d :: s'' => if d =? 93 then Some (Items [], s'') else items f [] s'
        | [] => None
        end
      else if c =? 34 then let* (t, r) := string_onto [] s' in Some (Text t, r)
      else if c =? 45 then let* (n, r) := natural s' in if n =? 0 then None else Some (Whole (- Z.of_N n), r)
      else if is_digit c then let* (n, r) := natural (c :: s') in Some (Whole (Z.of_N n), r)
      else if c =? 110 then let* r := literal (text "ull") s' in Some (Null, r)
      else if c =? 116 then let* r := literal (text "rue") s' in Some (Truth true, r)
      else if c =? 102 then let* r := literal (text "alse") s' in Some (Truth false, r)
      else None
  end end
with items (fuel : nat) (done : list json) (s : bytes) : option (json * bytes) :=
  match fuel with O => None | S f =>
  match value f s with
  | None => None
  | Some (v, r) =>
      match skip_space r with
      | c :: r' => if c =? 44 then items f (v :: done) r' else if c =? 93 then Some (Items (rev' (v :: done)), r') else None
      | [] => None
      end
  end end
with members (fuel : nat) (done : list (bytes * json)) (s : bytes) : option (json * bytes) :=
  match fuel with O => None | S f =>
  match skip_space s with
  | c :: s' =>
      if c =? 34 then
        match string_onto [] s' with
        | None => None
        | Some (name, r) =>
            if holds done name then None else
            match skip_space r with
            | d :: r' =>
                if d =? 58 then
                  match value f r' with
                  | None => None
                  | Some (v, t) =>
                      match skip_space t with
                      | e :: t' =>
                          if e =? 44 then members f ((name, v) :: done) t'
                          else if e =? 125 then Some (Members (rev' ((name, v) :: done)), t') else None
                      | [] => None
                      end
                  end
                else None
            | [] => None
            end
        end
      else None
  | [] => None
  end end.

Definition parse (s : bytes) : option json :=
  let* (v, r) := value (S (length s)) s in match skip_space r with [] => Some v | _ => None end.

(* ---- What a reader asks of a value ---- *)
Definition member (v : json) (name : string) : option json :=
  match v with
  | Members l => option_map snd (find (fun m => reads (fst m) name) l)
  | _ => None
  end.
Definition as_natural (v : json) : option N := match v with Whole (Zpos p) => Some (Npos p) | Whole Z0 => Some 0 | _ => None end.
Definition as_text (v : json) : option bytes := match v with Text t => Some t | _ => None end.
Definition as_items (v : json) : option (list json) := match v with Items l => Some l | _ => None end.
Definition as_naturals (v : json) : option (list N) := let* l := as_items v in traverse as_natural l.
Definition natural_of (v : json) (name : string) : option N := let* x := member v name in as_natural x.
Definition text_of (v : json) (name : string) : option bytes := let* x := member v name in as_text x.
Definition items_of (v : json) (name : string) : option (list json) := let* x := member v name in as_items x.
Definition naturals_of (v : json) (name : string) : option (list N) := let* x := member v name in as_naturals x.

(* An object with these members and no others. *)
Definition only_members (v : json) (names : list string) : bool :=
  match v with
  | Members l => forallb (fun m => existsb (reads (fst m)) names) l && forallb (fun n => existsb (fun m => reads (fst m) n) l) names
  | _ => false
  end.
