## Returns the first character of a line from the terminal.
function key = kbhit (varargin)
  key = [oi_tui_read_line(""), "\n"](1);
endfunction
