## The standard input of Octave itself is the request pipe, which cells must not read.
function id = stdin ()
  error ("stdin: a cell cannot read from stdin; ask with input instead");
endfunction
