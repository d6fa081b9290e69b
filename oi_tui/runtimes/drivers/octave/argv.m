## A cell has no arguments, as a script without any.
function words = argv ()
  words = {};
endfunction
