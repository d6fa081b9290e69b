## Ends the cell with a status, instead of Octave with all that it remembers.
function exit (status = 0, varargin)
  if (! isnumeric (status))
    status = 0;
  endif
  error ("oi_tui:exit", "exit status %d", status);
endfunction
