## Ends the cell with a status, instead of Octave with all that it remembers.
function quit (status = 0, varargin)
  exit (status);
endfunction
