## Reports that a line of the cell is reached.
function oi_tui_line (number)
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
endfunction
