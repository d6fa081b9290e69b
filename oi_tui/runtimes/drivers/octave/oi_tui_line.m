## Reports that a line of the cell is reached, and that the variable `name` is printed there.
function oi_tui_line (number, name)
  mlock ();
  persistent path = oi_tui_driver ("line_file");
  persistent file = -1;
  ## A program may have closed it, and opened another file in its place.
  if (file < 0 || ! strcmp (fopen (file), path))
    file = fopen (path, "r+");
  endif
  fseek (file, 0, SEEK_SET);
  fwrite (file, number, "int32");
  fflush (file);
  persistent is_shown = false;
  if (is_shown)
    oi_tui_driver ("shown");
  endif
  is_shown = nargin > 1 && oi_tui_driver ("show", name);
endfunction
