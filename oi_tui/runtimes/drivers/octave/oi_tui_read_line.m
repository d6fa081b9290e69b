## Reads a line from the terminal. A shell does it, because Octave's own reading cannot be interrupted. It also asks:
## while Octave starts the shell, an interrupt would reach neither of them.
function text = oi_tui_read_line (prompt)
  fflush (stdout);
  ask = oi_tui_driver ("input", prompt);
  [status, text] = builtin ("system", [ask "; IFS= read -r line </dev/tty && printf '%s.' \"$line\""]);
  oi_tui_driver ("input_end");
  if (status)
    error ("input: no line could be read");
  endif
  text = text(1:end-1);
endfunction
