## Runs a program whose standard input is the terminal, and ends the cell if an interrupt ended the program.
function varargout = system (command, varargin)
  if (nargin > 1 || nargout > 1)
    [varargout{1:max(nargout, 1)}] = builtin ("system", sprintf ("exec </dev/tty\n%s", command), varargin{:});
    return;
  endif
  ## While a program has the terminal, Octave ignores interrupts, so the status must tell of them.
  status = builtin ("system", sprintf ("trap 'exit 130' INT\nexec </dev/tty\n(\n%s\n)", command));
  if (status == 130)
    kill (getpid (), 2);
    ## Another thread may handle the signal, so that it takes effect a little later.
    for n = 1:200
      pause (0.01);
    endfor
  endif
  varargout{1} = status;
endfunction
