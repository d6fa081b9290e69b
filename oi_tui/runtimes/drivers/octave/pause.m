## Waits; without a number, for a line from the terminal.
function pause (varargin)
  if (nargin == 0 || isequal (varargin{1}, Inf))
    oi_tui_read_line ("");
  else
    builtin ("pause", varargin{:});
  endif
endfunction
