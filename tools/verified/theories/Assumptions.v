(* What every theorem leans on. `tools/verified/build` prints it. *)
From Krohn Require Import Checked Regions.
Print Assumptions check_bytes_sound.
Print Assumptions check_bytes_equal.
Print Assumptions closed_regions_sound.
