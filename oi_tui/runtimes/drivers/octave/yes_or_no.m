## Asks until the answer is yes or no.
function answer = yes_or_no (prompt = "")
  text = "";
  while (! any (strcmp (text, {"yes", "no"})))
    printf ("%s(yes or no) ", prompt);
    text = strtrim (oi_tui_read_line ([prompt "(yes or no) "]));
  endwhile
  answer = strcmp (text, "yes");
endfunction
