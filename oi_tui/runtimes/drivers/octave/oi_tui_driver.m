## The driver inside Octave. Octave reads its commands from the request pipe: each request is a call of this function at
## the prompt, so that an interrupt brings Octave back to the next request and leaves the variables as they were.
## Cells are sourced in the base workspace. Functions beside this one replace those that would read the request pipe.

function varargout = oi_tui_driver (action, varargin)
  ## `clear all` in a cell must not clear what is kept here.
  mlock ();
  persistent state;
  if (! strcmp (action, "start"))
    state = open_streams (state);
  endif
  switch (action)
    case "start"
      state = begin_session (varargin{1});
    case "run"
      state.nonce = varargin{1};
      state.outcome = struct ("state", "interrupted", "reason", "");
      state.marks = 0;
      state.outcome = run_cell (varargin{2});
    case "end"
      ## A request of its own, which comes after the run and again with an interrupt; the first one that gets through counts.
      if (! strcmp (varargin{1}, state.reported))
        if (! strcmp (varargin{1}, state.nonce))
          ## An interrupt took the request of this run.
          state.nonce = varargin{1};
          state.outcome = struct ("state", "interrupted", "reason", "");
        endif
        ## The end of what was shown is told by another call of this function.
        oi_tui_line (0);
        state = finish_run (state);
      endif
    case "input"
      [state, varargout{1}] = write_question (state, varargin{1});
    case "input_end"
      state = send_placed (state, struct ("event", action, "prompt", ""));
    case "line_file"
      varargout{1} = fullfile (state.folder, "line");
    case "show"
      view = oi_tui_table ("view", varargin{1});
      varargout{1} = ! isempty (view);
      if (varargout{1})
        state = send_placed (state, view);
      endif
    case "shown"
      state = send_placed (state, struct ("event", "view_end"));
    case "table"
      send_event (state, oi_tui_table (varargin{:}));
    case "variables"
      send_event (state, list_variables (varargin{1}));
    case "variable"
      send_event (state, describe_variable (varargin{:}));
    case "completions"
      send_event (state, complete (varargin{:}));
  endswitch
endfunction

function state = begin_session (folder)
  PS1 ("");
  PS2 ("");
  PS4 ("");
  more ("off");
  page_output_immediately (true);
  page_screen_output (false);
  beep_on_error (false);
  crash_dumps_octave_core (false);
  set (0, "defaultfigurevisible", "off");
  state = struct ("folder", folder, "nonce", "idle", "reported", "", "marks", 0);
  state.outcome = struct ("state", "finished", "reason", "");
  state.events = state.terminal = -1;
  state = open_streams (state);
  warning ("off", "Octave:gnuplot-graphics");
  if (isempty (getenv ("GNUTERM")))
    ## Figures are drawn to files alone, and not in letters on the terminal.
    setenv ("GNUTERM", "unknown");
  endif
  ## The calls that led to a warning would be those of this file.
  warning ("off", "backtrace");
  warning ("on", "Octave:shadowed-function");
  unsetenv ("OI_TUI_FOLDER");
  send_event (state, struct ("event", "ready"));
endfunction

## -- the channel

## Open the streams again that a program closed, as `fclose all` does, and whose numbers it may use by now.
function state = open_streams (state)
  state.events = open_again (state.events, fullfile (state.folder, "events"), "a");
  state.terminal = open_again (state.terminal, "/dev/tty", "w");
endfunction

function stream = open_again (stream, path, mode)
  if (stream < 0 || ! strcmp (fopen (stream), path))
    stream = fopen (path, mode);
  endif
endfunction

function send_event (state, event)
  fdisp_line (state.events, jsonencode (event));
  if (isfield (event, "mark"))
    fprintf (state.terminal, "\033]6973;%s\a", event.mark);
    fflush (state.terminal);
  endif
endfunction

function fdisp_line (stream, line)
  ## The line begins again: an interrupt may have cut off the event before.
  fputs (stream, ["\n" line "\n"]);
  fflush (stream);
endfunction

function state = send_placed (state, event)
  [state, event] = place (state, event);
  send_event (state, event);
endfunction

function [state, event] = place (state, event)
  fflush (stdout);
  state.marks += 1;
  event.mark = sprintf ("%s.m%d", state.nonce, state.marks);
endfunction

## Shell commands that send the question, for the shell that will read the answer.
function [state, command] = write_question (state, prompt)
  [state, event] = place (state, struct ("event", "input", "prompt", prompt));
  path = fullfile (state.folder, "question");
  file = fopen (path, "w");
  fdisp_line (file, jsonencode (event));
  fclose (file);
  quoted = @(text) ["'" strrep(text, "'", "'\\''") "'"];
  command = sprintf ("cat %s >>%s; printf '\\033]6973;%%s\\a' %s >/dev/tty", quoted (path),
                     quoted (fullfile (state.folder, "events")), quoted (event.mark));
endfunction

## -- running

function outcome = run_cell (path)
  outcome = struct ("state", "finished", "reason", "");
  [folder, name] = fileparts (path);
  marked = fullfile (folder, ["marked-" name]);
  try
    evalin ("base", sprintf ("source ('%s');", strrep (marked, "'", "''")));
  catch err
    fflush (stdout);
    if (strcmp (err.identifier, "oi_tui:exit"))
      if (! strcmp (err.message, "exit status 0"))
        outcome = struct ("state", "failed", "reason", err.message);
      endif
      return;
    endif
    if (strncmp (err.message, "source: error sourcing file", 27))
      err = parse_error (path, err);
    endif
    cell_name = ["cell " name(6:end)];
    words = err.message;
    for file = {marked, path}
      words = strrep (strrep (words, ["file " file{1}], cell_name), file{1}, cell_name);
    endfor
    words = correct_columns (words, marked);
    first = strsplit (words, "\n"){1};
    if (any (strfind (words, "no graphics toolkits are available")))
      words = [words "\n" no_drawing()];
    endif
    if (any (strfind (words, "ft_text_renderer")))
      words = [words "\nOctave has no font to draw with: install FreeSans (for example: apt install fonts-freefont-otf)"];
    endif
    if (! strncmp (words, "parse error", 11))
      words = ["error: " words];
    endif
    fputs (stderr, [strtrim(words) "\n" places(err.stack, cell_name, marked)]);
    outcome = struct ("state", "failed", "reason", cut (first, 300));
  end_try_catch
  unlink (marked);
endfunction

## The beginning of a text, of at most so many bytes, without a part of a character.
function text = cut (text, most)
  if (numel (text) > most)
    while (most > 0 && bitand (uint8 (text(most + 1)), 192) == 128)
      most -= 1;
    endwhile
    text = text(1:most);
  endif
endfunction

## `source` does not tell what it could not parse.
function err = parse_error (path, err)
  try
    __parse_file__ (path);
  catch err
  end_try_catch
endfunction

## How long the report of a line is, which is at its beginning in the code that runs.
function count = length_of_mark (marked, number)
  lines = strsplit (fileread (marked), "\n");
  count = 0;
  if (number <= numel (lines))
    count = length (regexp (lines{number}, '^oi_tui_line\(\d+(,''\w+'')?\);', "match", "once"));
  endif
endfunction

function words = correct_columns (words, marked)
  [place, at] = regexp (words, 'near line (\d+), column (\d+)', "tokens", "match", "once");
  if (! isempty (place))
    place = cellfun (@str2double, place);
    column = place(2) - length_of_mark (marked, place(1));
    words = strrep (words, at, sprintf ("near line %d, column %d", place(1), column));
  endif
endfunction

## Where the error was raised, and the calls that led there.
function text = places (stack, cell_name, marked)
  lines = {};
  for frame = stack(:)'
    if (strncmp (frame.name, "oi_tui_", 7) || frame.line < 1)
      continue;
    endif
    where = frame.name;
    if (! isempty (regexp (where, '(^|/)(marked-)?cell-\d+$', "once")))
      where = cell_name;
      frame.column -= length_of_mark (marked, frame.line);
    endif
    lines{end+1} = sprintf ("    %s at line %d column %d\n", where, frame.line, frame.column);
  endfor
  if (numel (lines) > 24)
    lines = [lines(1:12), {sprintf("    ... %d calls ...\n", numel (lines) - 24)}, lines(end-11:end)];
  endif
  text = "";
  if (! isempty (lines))
    text = ["error: called from\n" lines{:}];
  endif
endfunction

function state = finish_run (state)
  if (! strcmp (state.outcome.state, "interrupted"))
    try
      state = show_figures (state);
    catch err
      close ("all");
      fprintf (stderr, "The figure could not be drawn: %s\n", err.message);
    end_try_catch
  endif
  fflush (stdout);
  fflush (stderr);
  event = struct ("event", "finished", "nonce", state.nonce, "state", state.outcome.state);
  if (! isempty (state.outcome.reason))
    event.reason = state.outcome.reason;
  endif
  event.mark = [state.nonce ".end"];
  send_event (state, event);
  state.reported = state.nonce;
endfunction

function text = no_drawing ()
  text = "Octave has no program to draw with: install gnuplot (for example: apt install gnuplot-nox)";
endfunction

## Figures are shown once, at the end of the cell that made them.
function state = show_figures (state)
  figures = sort (get (0, "children"))';
  if (isempty (figures))
    return;
  endif
  if (isempty (available_graphics_toolkits ()))
    close (figures);
    error (no_drawing ());
  endif
  path = fullfile (state.folder, "plot.png");
  for number = figures
    if (! isempty (get (number, "children")))
      if (strcmp (get (number, "__graphics_toolkit__"), "gnuplot"))
        ## `print` would need Ghostscript as well.
        figure (number, "visible", "off");
        drawnow ("pngcairo size 800,560", path);
      else
        print (number, path, "-dpng", "-r110", "-S800,560");
      endif
      file = fopen (path, "r");
      bytes = fread (file, Inf, "uint8=>uint8")';
      fclose (file);
      delete (path);
      state = send_placed (state, struct ("event", "display", "format", "base64.png",
                                          "content", base64_encode (bytes)));
    endif
    close (number);
  endfor
endfunction

## -- variables

## No code of the program runs for these: only values of Octave's own classes are looked into.
function event = list_variables (nonce)
  found = oi_tui_ask_base ("whos;");
  variables = cell (1, numel (found));
  for n = 1:numel (found)
    one = found(n);
    variables{n} = struct ("name", one.name, "type", one.class, "summary", one.class, "size", one.bytes);
    variables{n}.summary = describe (one);
    if (any (strcmp (one.class, {"double", "single", "logical"})) && numel (one.size) == 2 && all (one.size > 1))
      variables{n}.type = "matrix";
    elseif (strcmp (one.class, "struct") && prod (one.size) > 1)
      variables{n}.type = "struct array";
    endif
  endfor
  event = struct ("event", "variables", "nonce", nonce, "total", numel (found));
  event.variables = variables;
endfunction

function words = describe (one)
  if (is_own (one.class) && prod (one.size) <= 60 && any (strcmp (one.class, {"char", "double", "single", "logical"}))
      && (prod (one.size) == 1 || (strcmp (one.class, "char") && one.size(1) == 1)) && numel (one.size) == 2)
    value = evalin ("base", [one.name ";"]);
    if (ischar (value))
      words = ["\"" value "\""];
    elseif (islogical (value))
      words = {"false", "true"}{value + 1};
    else
      words = num2str (value);
    endif
  else
    words = [one.class " " strjoin(arrayfun (@num2str, one.size, "UniformOutput", false), "x")];
  endif
endfunction

function own = is_own (name)
  own = any (strcmp (name, {"double", "single", "char", "logical", "cell", "struct", "function_handle", "int8", "int16", ...
                            "int32", "int64", "uint8", "uint16", "uint32", "uint64"}));
endfunction

function event = describe_variable (nonce, name)
  event = struct ("event", "variable", "nonce", nonce);
  found = oi_tui_ask_base (sprintf ("whos ('%s');", name));
  if (isempty (found))
    return;
  endif
  event.description = describe (found(1));
  event.preview = "";
  if (is_own (found(1).class))
    value = evalin ("base", [name ";"]);
    if (isnumeric (value) || ischar (value) || islogical (value) || iscell (value))
      if (ndims (value) == 2)
        value = value(1:min (end, 200), 1:min (end, 2000));
      endif
    endif
    if (! any (strcmp (found(1).class, {"cell", "struct"})) || ! holds_objects (value))
      event.preview = evalc ("disp (value)");
      event.preview = cut (event.preview, 20000);
    endif
  endif
endfunction

## Whether showing it might call a method of the program.
function holds = holds_objects (value)
  if (iscell (value))
    holds = any (cellfun (@holds_objects, value(:)));
  elseif (isstruct (value))
    holds = any (cellfun (@holds_objects, struct2cell (value)(:)));
  else
    holds = ! is_own (class (value));
  endif
endfunction

## -- completion

## The files whose path begins so, each with no facts.
function offers = files_that_begin (typed)
  offers = {};
  folder = regexp (typed, '^.*/', "match", "once");
  for file = dir ([folder "."])'
    hidden = strncmp (file.name, ".", 1) && ! strncmp (typed(length (folder)+1:end), ".", 1);
    path = [folder file.name {"", "/"}{1 + file.isdir}];
    if (! hidden && strncmp (path, typed, length (typed)) && numel (offers) < 100)
      offers{end+1} = {path, ""};
    endif
  endfor
endfunction

function event = complete (nonce, words)
  question = jsondecode (char (hex2dec (reshape (words, 2, [])')'));
  event = struct ("event", "completions", "nonce", nonce, "typed", 0);
  event.offers = {};
  text = regexp (question.before, "(?:^|[(,\\s=\\[{])[\"']([^\"'\\n]*)$", "tokens", "once");
  if (! isempty (text))
    event.typed = length (text{1});
    event.offers = files_that_begin (text{1});
    return;
  endif
  typed = regexp (question.before, '[A-Za-z_][\w.]*$', "match", "once");
  if (isempty (typed))
    return;
  endif
  event.typed = length (typed);
  found = oi_tui_ask_base ("whos;");
  variables = {found.name};
  if (any (typed == ".") && ! any (strcmp (variables, strtok (typed, ".")) & strcmp ({found.class}, "struct")))
    ## Looking into other values could run code of the program.
    return;
  endif
  names = cellstr (oi_tui_ask_base (sprintf ("completion_matches ('%s');", typed)));
  known = ismember (names, variables);
  ## Variables and fields of them come before functions.
  names = [names(known); names(! known)];
  for n = 1:min (100, numel (names))
    facts = "";
    place = find (strcmp (variables, names{n}), 1);
    if (! isempty (place))
      facts = describe (found(place));
    endif
    event.offers{end+1} = {names{n}, facts};
  endfor
endfunction
