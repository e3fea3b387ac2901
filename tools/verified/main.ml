(* krohn-check-verified CERTIFICATE MODEL: gives the bytes of two files to the checker that Coq extracted, and prints its
   answer. A byte becomes a natural number below 256; nothing else is decided here but the exit status. *)
module Z = Big_int_Z

let bytes path =
  let channel = open_in_bin path in
  let text = really_input_string channel (in_channel_length channel) in
  close_in channel;
  let rec from i rest = if i < 0 then rest else from (i - 1) (Z.big_int_of_int (Char.code text.[i]) :: rest) in
  from (String.length text - 1) []

let shown text =
  let shown_byte c = let n = Z.int_of_big_int c in if n < 32 || n > 126 then '?' else Char.chr n in
  String.of_seq (Seq.map shown_byte (List.to_seq text))

let complain status text = prerr_endline ("krohn-check-verified: " ^ text); exit status

let () =
  match Sys.argv with
  | [| _; certificate; model |] -> (
      try
        match Checker.check_bytes (bytes certificate) (bytes model) with
        | Ok (Some established) ->
            print_endline (model ^ ": " ^ shown (Checker.sentence established));
            print_endline (shown Checker.what_is_trusted)
        | Ok None -> complain 1 (model ^ ": not established: the states that the certificate lists are not closed, or one of them is read wrongly")
        | No message -> complain 2 (shown message)
      with
      | Sys_error message -> complain 2 message
      | End_of_file -> complain 2 "a file changed while it was read"
      | Stack_overflow -> complain 3 "the stack is too small; raise it with `ulimit -s unlimited`"
      | Out_of_memory -> complain 3 "out of memory")
  | _ -> complain 2 "give a certificate and a model: krohn-check-verified s5.cert s5.safetensors"
