## Answers questions about a table of the program: a matrix, a cell array, an array of structures, or a structure whose
## fields are columns of the same length. No code of the program runs for it. As `oi_tui_table ("view", name)` it gives
## what the conversation shows, and what the model gets, where a cell prints the variable; [] where that is no table.

function event = oi_tui_table (nonce, words)
  if (strcmp (nonce, "view"))
    event = view_of (words);
    return;
  endif
  ## `next` is where a search goes on with the next question, so that a cell can begin between both.
  persistent order = struct ("key", "", "rows", [], "search", "", "next", 1, "holds", []);
  query = jsondecode (char (hex2dec (reshape (words, 2, [])')'), "makeValidName", false);
  try
    table = table_of (query.name);
    switch (query.("do"))
      case "shape"
        order.key = "";
        [event, order] = shape (table, query, order);
      case "page"
        [event, order] = page (table, query, order);
      case "statistics"
        event = statistics (table, query.column + 1);
    endswitch
  catch err
    event = struct ("error", err.message);
  end_try_catch
  event.event = "table";
  event.nonce = nonce;
endfunction

## Kind, names and types of columns, and number of rows; `column` gives the texts or numbers of one of them.
function table = table_of (name)
  if (! oi_tui_ask_base (sprintf ("exist ('%s', 'var');", strrep (name, "'", ""))))
    error ("There is no variable %s.", name);
  endif
  ## The value of `x` is asked for in a way that leaves `ans` as it was.
  value = evalin ("base", [name ";"]);
  table = struct ("kind", class (value), "names", {{}}, "rows", 0, "value", {value}, "form", "");
  if (ndims (value) == 2 && (isnumeric (value) || islogical (value) || iscell (value)) && ! isempty (value))
    table.form = {"matrix", "cell"}{1 + iscell (value)};
    table.rows = rows (value);
    table.names = arrayfun (@(n) sprintf ("%d", n), 1:columns (value), "UniformOutput", false);
  elseif (isstruct (value) && numel (value) > 1)
    table.form = "records";
    table.rows = numel (value);
    table.names = fieldnames (value)';
  elseif (isstruct (value) && is_columns (value))
    table.form = "columns";
    table.names = fieldnames (value)';
    table.rows = numel (value.(table.names{1}));
  else
    error ("%s is not a table: it is of class %s.", name, class (value));
  endif
endfunction

## Whether the fields are vectors of the same length.
function yes = is_columns (value)
  parts = struct2cell (value);
  yes = ! isempty (parts);
  for n = 1:numel (parts)
    part = parts{n};
    yes = yes && isvector (part) && ! ischar (part) && numel (part) > 1 && numel (part) == numel (parts{1}) ...
          && (isnumeric (part) || islogical (part) || iscell (part));
  endfor
endfunction

## A column of the rows with these numbers: numbers, or a cell array.
function part = column (table, at, numbers)
  switch (table.form)
    case {"matrix", "cell"}
      part = table.value(numbers, at);
    case "records"
      part = {table.value(numbers).(table.names{at})}';
    case "columns"
      part = table.value.(table.names{at})(numbers)(:);
  endswitch
  if (issparse (part))
    part = full (part);
  endif
  if (iscell (part) && ! isempty (part) && is_number (part{1}) && all (cellfun (@is_number, part(:))))
    part = cellfun (@double, part);
  endif
endfunction

## Whether a column holds numbers only, as far as that is seen at once.
function yes = has_numbers (table, at)
  switch (table.form)
    case "matrix"
      yes = isnumeric (table.value);
    case "columns"
      yes = isnumeric (table.value.(table.names{at}));
    otherwise
      yes = false;
  endswitch
endfunction

function yes = is_number (value)
  yes = isnumeric (value) && isscalar (value) && isreal (value);
endfunction

## The texts of a column; missing values are NaN, which is null in JSON.
function texts = texts_of (part, whole)
  texts = cell (numel (part), 1);
  if (isnumeric (part) && isreal (part))
    if (isinteger (part))
      texts = written (part, "%d");
    elseif (whole)
      ## Most numbers need fewer digits to be what they are.
      texts = written (part, "%.15g");
      longer = ! isnan (part(:)) & sscanf (sprintf ("%.15g ", full (part)), "%f") != part(:);
      texts(longer) = written (part(longer), "%.17g");
    else
      texts = written (part, "%.10g");
    endif
    texts(isnan (part)) = {NaN};
    return;
  endif
  if (islogical (part))
    texts = {"false"; "true"}(1 + part(:));
    return;
  endif
  others = 1:numel (part);
  if (iscell (part))
    is_text = cellfun ("isclass", part(:), "char") & cellfun ("size", part(:), 1) <= 1;
    texts(is_text) = one_line (part(is_text)(:), whole);
    others = find (! is_text)';
  endif
  for n = others
    if (iscell (part))
      texts{n} = text_of (part{n}, whole);
    else
      texts{n} = text_of (part(n), whole);
    endif
  endfor
endfunction

## Texts as they are, or short and in one line.
function texts = one_line (texts, whole)
  if (whole || isempty (texts))
    return;
  endif
  texts = strrep (strrep (texts, "\r", '\r'), "\n", '\n');
  for n = find (cellfun ("length", texts) > 200)'
    texts{n} = [texts{n}(1:200) "…"];
  endfor
endfunction

## The numbers as texts, all at once: one by one takes a hundred times as long.
function texts = written (numbers, form)
  texts = cell (0, 1);
  if (! isempty (numbers))
    texts = ostrsplit (sprintf ([form "\n"], full (numbers))(1:end-1), "\n")';
  endif
endfunction

function text = text_of (value, whole)
  if (ischar (value) && rows (value) <= 1)
    text = one_line ({value}, whole){1};
  elseif (isnumeric (value) && isempty (value))
    text = NaN;
  elseif (islogical (value) && isscalar (value))
    text = {"false", "true"}{1 + value};
  elseif (isnumeric (value) && isscalar (value))
    text = num2str (value, 10);
  else
    size_words = strjoin (arrayfun (@num2str, size (value), "UniformOutput", false), "x");
    text = sprintf ("<%s %s>", class (value), size_words);
  endif
endfunction

function [event, order] = shape (table, query, order)
  [numbers, order] = rows_of (table, query, order);
  if (! isempty (order.search))
    event = struct ("unfinished", true);
    return;
  endif
  described = cell (1, numel (table.names));
  for at = 1:numel (table.names)
    part = column (table, at, 1:table.rows);
    described{at} = {table.names{at}, class(part), isnumeric(part) && isreal(part)};
    if (iscell (part))
      described{at}{2} = {"cell", "text"}{1 + iscellstr(part)};
    endif
  endfor
  event = struct ("kind", table.kind, "columns", {described}, "index", "", "rows", sprintf ("%d", numel (numbers)), "total", sprintf ("%d", table.rows));
endfunction

function [event, order] = page (table, query, order)
  [numbers, order] = rows_of (table, query, order);
  if (! isempty (order.search))
    event = struct ("unfinished", true);
    return;
  endif
  numbers = numbers(query.start+1:min (query.start + query.count, numel (numbers)));
  last = min (query.first + query.columns, numel (table.names));
  cells = cell (numel (numbers), 0);
  for at = query.first+1:last
    cells = [cells, texts_of(column (table, at, numbers), query.whole)];
  endfor
  listed = cell (1, numel (numbers));
  for n = 1:numel (numbers)
    listed{n} = {sprintf("%d", numbers(n)), cells(n, :)};
  endfor
  names = {table.names(query.first+1:last)};
  event = struct ("page", {listed}, "names", names, "total", sprintf ("%d", table.rows));
endfunction

## The numbers of the rows of a view, in its order.
function [numbers, order] = rows_of (table, query, order)
  numbers = 1:table.rows;
  if (! isfield (query, "continues"))
    order.search = "";
  endif
  if (isempty (query.sort) && isempty (query.words))
    return;
  endif
  key = jsonencode ({query.name, size(table.value), query.sort, query.descending, query.words});
  if (strcmp (key, order.key))
    numbers = order.rows;
    return;
  endif
  holds = [];
  if (! isempty (query.words))
    holds = rows_with (table, query.words);
  endif
  if (! isempty (query.words) && isempty (holds))
    order = search (table, query, key, order);
    if (! isempty (order.search))
      numbers = [];
      return;
    endif
    holds = order.holds;
  endif
  if (! isempty (query.sort))
    numbers = sorted (column (table, query.sort + 1, numbers), query.descending);
  endif
  if (! isempty (holds))
    numbers = numbers(holds(numbers));
  endif
  order.key = key;
  order.rows = numbers;
endfunction

## Look for a text in all cells, for some time: `search` is the key of the view until the end is reached.
function order = search (table, query, key, order)
  started = tic ();
  if (! isfield (query, "continues") || ! strcmp (order.search, key))
    order.search = key;
    order.next = 1;
    order.holds = false (table.rows, 1);
  endif
  words = lower (query.words);
  size_of_part = 2000;
  ## What numbers are written with.
  no_numbers = ! all (ismember (words, "0123456789+-.einfa"));
  parts = ceil (table.rows / size_of_part);
  while (order.next <= parts * numel (table.names))
    if (toc (started) > 0.2)
      return;
    endif
    at = ceil (order.next / parts);
    if (no_numbers && has_numbers (table, at))
      order.next = at * parts + 1;
      continue;
    endif
    first = mod (order.next - 1, parts) * size_of_part + 1;
    numbers = first:min (first + size_of_part - 1, table.rows);
    texts = texts_of (column (table, at, numbers), true);
    texts(! cellfun ("isclass", texts, "char")) = {""};
    order.holds(numbers) |= ! cellfun ("isempty", strfind (lower (texts), words));
    order.next += 1;
  endwhile
  order.search = "";
endfunction

## Which rows have what a condition such as `price > 5` asks for; [] for a text to look for.
function holds = rows_with (table, words)
  holds = [];
  parts = regexp (strtrim (words), '^(.+?)\s*(==|!=|<=|>=|=|<|>)\s*(.+)$', "tokens", "once");
  if (isempty (parts))
    return;
  endif
  called = regexprep (parts{1}, '^[`''"]+|[`''"]+$', "");
  value = regexprep (parts{3}, '^[`''"]+|[`''"]+$', "");
  at = find (strcmp (table.names, called), 1);
  if (isempty (at))
    at = find (strcmpi (table.names, called), 1);
  endif
  if (isempty (at))
    return;
  endif
  tests = {"=", @eq; "==", @eq; "!=", @ne; "<", @lt; "<=", @le; ">", @gt; ">=", @ge};
  test = tests{strcmp(tests(:, 1), parts{2}), 2};
  part = column (table, at, 1:table.rows)(:);
  asks_missing = strcmp (value, "missing") && any (strcmp (parts{2}, {"=", "==", "!="}));
  number = str2double (value);
  if (any (strcmpi (value, {"true", "false"})))
    value = lower (value);
    if (islogical (part))
      number = double (strcmp (value, "true"));
    endif
  endif
  is_plain = isnumeric (part) && isreal (part) || islogical (part);
  if (is_plain && asks_missing)
    holds = test (isnan (double (part)), true);
    return;
  elseif (is_plain && isreal (number) && ! isnan (number))
    ## Large integers are compared as they are.
    holds = test (part, number) & ! isnan (part);
    return;
  elseif (table.rows > 1e6)
    error ("The table is too long to be filtered here; filter it with code.");
  endif
  texts = texts_of (part, true);
  there = cellfun (@ischar, texts);
  if (asks_missing)
    holds = test (! there, true);
    return;
  endif
  texts(! there) = {""};
  if (isreal (number) && ! isnan (number))
    ## Texts that are numbers are compared as numbers; others are none of these.
    numbers = str2double (texts);
    holds = (test (numbers, number) & ! isnan (numbers) | isnan (numbers) & strcmp (parts{2}, "!=")) & there;
    return;
  endif
  [~, ~, places] = unique ([texts; {value}]);
  holds = test (places(1:end-1)(:), places(end)) & there;
endfunction

## Equal values stay in their order, and missing ones come last.
function numbers = sorted (part, descending)
  if (iscell (part))
    part = texts_of (part, true);
    missing = ! cellfun (@ischar, part);
    part(missing) = {""};
    [~, ~, part] = unique (part);
    part(missing) = NaN;
  endif
  part = part(:);
  missing = isnan (part);
  there = find (! missing);
  [~, at] = sort (part(there), {"ascend", "descend"}{1 + descending});
  numbers = [there(at); find(missing)]';
endfunction

function event = statistics (table, at)
  part = column (table, at, 1:table.rows);
  numeric = isnumeric (part) && isreal (part);
  if (numeric)
    part = double (part);
    missing = sum (isnan (part));
  else
    part = texts_of (part, false);
    missing = sum (! cellfun (@ischar, part));
    part = part(cellfun (@ischar, part));
  endif
  facts = {{"rows", many(table.rows)}, {"missing", many(missing)}};
  if (numeric)
    [facts, bars] = figures (part(isfinite (part)), facts);
  else
    [names, ~, which] = unique (part);
    counts = accumarray (which(:), 1);
    [counts, at] = sort (counts, "descend");
    bars = {};
    for n = 1:min (10, numel (counts))
      bars{end+1} = {names{at(n)}, sprintf("%d", counts(n))};
    endfor
    facts{end+1} = {"distinct", many(numel (names))};
  endif
  event = struct ("facts", {facts}, "bars", {bars});
endfunction

function [facts, bars] = figures (values, facts)
  bars = {};
  if (isempty (values))
    return;
  endif
  values = sort (values(:));
  ## As other languages: between two values, in proportion.
  quarter = @(share) interp1 (values, 1 + (numel (values) - 1) * share);
  if (isscalar (values))
    quarter = @(share) values;
  endif
  named = {"min", values(1), "25 %", quarter(0.25), "median", quarter(0.5), "mean", mean(values), ...
           "75 %", quarter(0.75), "max", values(end), "std", std(values)};
  for n = 1:2:numel (named)
    facts{end+1} = {named{n}, sprintf("%.7g", named{n+1})};
  endfor
  edges = linspace (values(1), values(end), 11);
  if (any (diff (edges) <= 0))
    bars = {{sprintf("%.7g", values(1)), sprintf("%d", numel (values))}};
    return;
  endif
  counts = histc (values, edges);
  counts(10) += counts(11);
  for n = 1:10
    bars{n} = {sprintf("%.4g to %.4g", edges(n), edges(n+1)), sprintf("%d", counts(n))};
  endfor
endfunction

function text = many (number)
  text = fliplr (regexprep (fliplr (sprintf ("%d", number)), '(\d{3})(?=\d)', '$1,'));
endfunction

## -- tables in the conversation

function event = view_of (name)
  event = [];
  try
    table = table_of (name);
    width = numel (table.names);
    is_long = table.rows > 20 || width > 10;
    if (strcmp (table.form, "matrix") && ! is_long || any (strcmp (table.form, {"matrix", "cell"})) && min (table.rows, width) < 2)
      return;
    endif
    [numbers, head] = shown_rows (table.rows);
    table.types = table.cells = {};
    for at = 1:min (width, 500)
      part = column (table, at, numbers);
      table.types{at} = {class(part), "text"}{1 + iscellstr(part)};
      table.numeric(at) = isnumeric (part) && isreal (part);
      table.cells(:, at) = texts_of (part, false);
    endfor
    [table.missing, table.uncounted] = count_missing (table, min (width, 500));
    event = struct ("event", "view", "content", model_view (table, numbers, head),
                    "table", jsonencode (inline_table (name, table, numbers, head)));
  catch
    event = [];
  end_try_catch
endfunction

## ` (3 missing)` for each column that lacks values; `uncounted` says where there are too many cells to look at.
function [words, uncounted] = count_missing (table, given)
  words = repmat ({""}, 1, given);
  uncounted = "";
  limit = {2e5, 2e7}{1 + strcmp(table.form, "matrix")};
  if (table.rows * given > limit)
    uncounted = " (missing values were not counted)";
    return;
  endif
  for at = 1:given
    part = column (table, at, 1:table.rows);
    if (isfloat (part))
      gone = sum (isnan (part(:)));
    elseif (iscell (part))
      gone = sum (cellfun (@is_gone, part(:)));
    else
      gone = 0;
    endif
    if (gone)
      words{at} = sprintf (" (%s missing)", many (gone));
    endif
  endfor
endfunction

## Whether a cell holds no value: what is shown as missing.
function yes = is_gone (value)
  yes = isnumeric (value) && (isempty (value) || isscalar (value) && isfloat (value) && isnan (value));
endfunction

## Short tables are shown whole, of others the first and the last rows; `head` is how many are the first.
function [numbers, head] = shown_rows (total)
  numbers = 1:total;
  head = total;
  if (total > 20)
    numbers = [1:8, total-3:total];
    head = 8;
  endif
endfunction

function parts = inline_table (name, table, numbers, head)
  given = 1:min (columns (table.cells), 100);
  described = arrayfun (@(at) {table.names{at}, table.types{at}, table.numeric(at)}, given, "UniformOutput", false);
  listed = cell (1, numel (numbers));
  for n = 1:numel (numbers)
    listed{n} = {sprintf("%d", numbers(n)), table.cells(n, given)};
  endfor
  parts = struct ("language", "octave", "key", name, "name", name, "kind", table.kind, "index", "", "total", table.rows,
                  "width", numel (table.names), "columns", {described}, "head", head, "rows", {listed});
endfunction

## All columns with their types, and as many rows as there is room for; those in the middle go first.
function text = model_view (table, numbers, head)
  given = columns (table.cells);
  described = strcat (table.names(1:given), {" "}, table.types, table.missing);
  if (numel (table.names) > given)
    described{end+1} = sprintf ("... %d more columns", numel (table.names) - given);
  endif
  listed = [strjoin(described, ", ") table.uncounted];
  text = sprintf ("%s: %s rows by %s columns\nColumns: %s\nRows as CSV (row, then the columns):\n", table.kind,
                  many (table.rows), many (numel (table.names)), listed);
  lines = cell (1, numel (numbers));
  for n = 1:numel (numbers)
    lines{n} = strjoin ([{sprintf("%d", numbers(n))}, cellfun(@as_csv, table.cells(n, :), "UniformOutput", false)], ",");
  endfor
  first = lines(1:head);
  last = lines(head+1:end);
  while (sum (cellfun (@length, [first, last])) > 12000 - length (text) && numel (first) + numel (last) > 1)
    if (numel (last) >= numel (first))
      last(1) = [];
    else
      first(end) = [];
    endif
  endwhile
  hidden = table.rows - numel (first) - numel (last);
  gap = {};
  if (hidden)
    gap = {sprintf("... %s rows not shown ...", many (hidden))};
  endif
  text = [text, strjoin([first, gap, last], "\n")];
endfunction

## A missing value is nothing between two commas.
function text = as_csv (text)
  if (! ischar (text))
    text = "";
  elseif (any (ismember (text, "\",\n")))
    text = ["\"" strrep(text, "\"", "\"\"") "\""];
  endif
endfunction
