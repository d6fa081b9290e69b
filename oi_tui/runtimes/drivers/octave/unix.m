## Runs a program, as `system` does.
function varargout = unix (command, varargin)
  [varargout{1:max(nargout, 1)}] = system (command, varargin{:});
endfunction
