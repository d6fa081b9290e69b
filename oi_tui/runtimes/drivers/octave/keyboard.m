## The debugger would read its commands from the request pipe.
function keyboard (varargin)
  error ("keyboard: a cell cannot stop in the debugger; show values with disp instead");
endfunction
