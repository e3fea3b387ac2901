(* The checker as OCaml. What is trusted beyond the proofs: this extraction and the two libraries of integers it maps to. *)
From Coq Require Import ZArith NArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatBigInt.
From Krohn Require Import Checked.
Extraction "checker.ml" check_bytes sentence what_is_trusted.
