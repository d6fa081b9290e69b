## Asks on the terminal; the answer is evaluated, or with "s" given as text.
function value = input (prompt, kind = "")
  printf ("%s", prompt);
  text = oi_tui_read_line (prompt);
  if (strcmp (kind, "s"))
    value = text;
  elseif (isempty (strtrim (text)))
    value = [];
  else
    value = evalin ("caller", [text ";"]);
  endif
endfunction
