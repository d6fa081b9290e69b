## Starts a program whose standard input is the terminal where it is not written to.
function id = popen (command, mode)
  if (strncmp (mode, "r", 1))
    command = sprintf ("exec </dev/tty\n%s", command);
  endif
  id = builtin ("popen", command, mode);
endfunction
