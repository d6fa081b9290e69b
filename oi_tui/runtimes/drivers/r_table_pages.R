# Tables of the program, read page by page: data frames, matrices and vectors. What `r_tables.R` defines is in sight.

# Texts are compared in columns of up to so many rows.
searched <- 2e6
# Text is looked for in so many rows at once, and for so many seconds at a time.
search_rows <- 20000L
search_turn <- 0.2
bins <- 10L
# A shown table of up to so many cells is kept, so that it can be opened; of so many tables.
kept_cells <- 2e5
kept_tables <- 100L
kept <- list()
number <- 0L
# Tells the keys of this process from those of any other.
process <- sprintf("%d-%.0f", Sys.getpid(), as.numeric(Sys.time()) * 1000)
# The row numbers of the view that was last asked for, and what they belong to.
order_key <- ""
order_rows <- NULL
# A search that goes on with the next question, so that a cell can begin between both.
search_key <- ""
search_next <- 1
search_matches <- NULL

trouble <- function(...) stop(structure(class = c("trouble", "error", "condition"), list(message = paste0(...), call = NULL)))

# Remember a table that is shown, and return its key: a name where it has one, "" where it is too large.
keep <- function(value, name, cells) {
  if (nzchar(name)) return(name)
  if (cells > kept_cells) return("")
  number <<- number + 1L
  key <- sprintf("table:%s:%d", process, number)
  kept[[key]] <<- value
  if (length(kept) > kept_tables) kept <<- kept[-1L]
  key
}

named <- function(name) {
  if (startsWith(name, "table:")) {
    if (is.null(kept[[name]])) trouble("This table is no longer in memory. Run its cell again to open it.")
    return(kept[[name]])
  }
  if (!exists(name, envir = globalenv(), inherits = FALSE)) trouble("There is no variable ", name, ".")
  get(name, envir = globalenv(), inherits = FALSE)
}

# Kind, names of columns, number and labels of rows, and what gives a column; NULL for what is no table.
table_of <- function(value) {
  found <- if (is.list(value) && inherits(value, "data.frame")) {
    labels <- if (.row_names_info(value) > 0L) as.character(attr(value, "row.names"))
    columns <- unclass(value)
    list(names = names(columns), rows = .row_names_info(value, 2L), labels = labels, column = function(at) columns[[at]])
  } else if (!is.atomic(value)) NULL
  else if (length(dim(value)) == 2L) {
    cells <- unclass(value)
    list(names = names_of_columns(value), rows = nrow(value), labels = rownames(value), column = function(at) as.vector(cells[, at]))
  } else if (length(dim(value)) < 2L && length(value) > 1L) {
    column <- if (inherits(value, c("ts", "table"))) as.vector(value) else unname(value)
    list(names = "value", rows = length(value), labels = names(value), column = function(at) column)
  }
  if (!is.null(found)) c(list(kind = class(value)[1]), found)
}

answer <- function(query) {
  tryCatch(
    {
      value <- named(query$name)
      table <- table_of(value)
      if (is.null(table)) trouble(query$name, " is not a table: it is of class ", class(value)[1], ".")
      switch(query$do, shape = shape(table, query), page = page(table, query), statistics = statistics(table, query))
    },
    unfinished = function(e) c(unfinished = "true"),
    trouble = function(e) c(error = spell(conditionMessage(e))),
    error = function(e) c(error = spell(paste0("The table cannot be read: ", conditionMessage(e))))
  )
}

numeric_column <- function(column) is.numeric(column) && !is.object(column)

# A vector of texts as a list of JSON.
listed <- function(items) sprintf("[%s]", paste(items, collapse = ","))
written <- function(text) {
  if (!length(text)) return(character())
  items <- spell(text)
  items[is.na(text)] <- "null"
  items
}

shape <- function(table, query) {
  order_key <<- ""
  rows <- rows_of(table, query)
  columns <- vapply(seq_along(table$names), function(at) {
    column <- table$column(at)
    sprintf("%s,%s", spell(class(column)[1]), if (numeric_column(column)) "true" else "false")
  }, "")
  if (length(columns)) columns <- sprintf("[%s,%s]", spell(one_line(enc2utf8(table$names))), columns)
  c(
    kind = spell(table$kind), columns = listed(columns), index = spell(""),
    rows = sprintf("%d", length(rows)), total = sprintf("%d", table$rows)
  )
}

page <- function(table, query) {
  rows <- rows_of(table, query)
  rows <- rows[seq_len(max(min(query$count, length(rows) - query$start), 0)) + query$start]
  columns <- seq_len(max(min(query$columns, length(table$names) - query$first), 0)) + query$first
  now <- c(names = listed(spell(one_line(enc2utf8(as.character(table$names[columns]))))), total = sprintf("%d", table$rows))
  if (!length(rows)) return(c(page = "[]", now))
  labels <- if (is.null(table$labels)) as.character(rows) else table$labels[rows]
  cells <- lapply(columns, function(at) written(exact(table$column(at), rows, query$whole)))
  cells <- if (length(cells)) do.call(paste, c(cells, sep = ",")) else rep("", length(rows))
  c(page = listed(sprintf("[%s,[%s]]", spell(enc2utf8(as.character(labels))), cells)), now)
}

# The texts of some rows of a column; numbers with the digits that make them what they are.
exact <- function(column, rows, full = TRUE) {
  if (!numeric_column(column) || !is.double(column)) return(texts(column, rows, FALSE, if (full) Inf else 200L))
  part <- column[rows]
  text <- sprintf(if (full) "%.15g" else "%.10g", part)
  if (full) {
    short <- !is.na(part) & is.finite(part) & suppressWarnings(as.numeric(text)) != part
    text[short] <- sprintf("%.17g", part[short])
  }
  text[is.na(part)] <- NA_character_
  text
}

# The numbers of the rows of a view, in its order.
rows_of <- function(table, query) {
  words <- query$words
  if (is.null(query$sort) && !nzchar(words)) return(seq_len(table$rows))
  key <- paste(query$name, table$rows, length(table$names), query$sort, query$descending, words, sep = "\r")
  if (identical(key, order_key)) return(order_rows)
  matches <- if (nzchar(words)) rows_with(table, words)
  if (nzchar(words) && is.null(matches)) matches <- search(table, tolower(words), key, isTRUE(query$continues))
  rows <- if (is.null(query$sort)) seq_len(table$rows) else sorted(table$column(query$sort + 1L), query$descending)
  if (!is.null(matches)) rows <- rows[matches[rows]]
  order_key <<- key
  order_rows <<- rows
  rows
}

# Which rows have a text in one of their cells or in their label.
search <- function(table, words, key, continues) {
  end <- proc.time()[["elapsed"]] + search_turn
  holds <- function(text) grepl(words, tolower(text), fixed = TRUE)
  if (!continues || !identical(search_key, key)) {
    search_matches <<- logical(table$rows)
    search_next <<- 1
    search_key <<- key
  }
  # What numbers are written with, also Inf and complex ones.
  no_numbers <- grepl("[^0-9+.einfa-]", words)
  # Column by column, and some rows of it after the other; column 0 are the labels.
  parts <- ceiling(table$rows / search_rows)
  while (search_next <= parts * (length(table$names) + 1)) {
    if (proc.time()[["elapsed"]] > end) stop(structure(class = c("unfinished", "error", "condition"), list(message = "", call = NULL)))
    at <- (search_next - 1) %/% parts
    if (at > 0 && no_numbers && numeric_column(table$column(at))) {
      search_next <<- (at + 1) * parts + 1
      next
    }
    first <- ((search_next - 1) %% parts) * search_rows + 1
    rows <- seq.int(first, min(first + search_rows - 1, table$rows))
    text <- if (at > 0) exact(table$column(at), rows) else table$labels[rows]
    if (length(text)) search_matches[rows] <<- search_matches[rows] | holds(text)
    search_next <<- search_next + 1
  }
  matches <- search_matches
  search_matches <<- NULL
  search_key <<- ""
  matches
}

signs <- list("=" = `==`, "==" = `==`, "!=" = `!=`, "<" = `<`, "<=" = `<=`, ">" = `>`, ">=" = `>=`)

# Which rows have what a condition such as `price > 5` asks for; NULL for a text to look for.
rows_with <- function(table, words) {
  pattern <- "(?s)^(.+?)\\s*(==|!=|<=|>=|=|<|>)\\s*(.+)$"
  parts <- regmatches(trimws(words), regexec(pattern, trimws(words), perl = TRUE))[[1L]]
  if (!length(parts)) return(NULL)
  bare <- gsub("^[`'\"]+|[`'\"]+$", "", parts[c(2L, 4L)])
  names <- enc2utf8(as.character(table$names))
  at <- match(bare[1L], names)
  if (is.na(at)) at <- match(tolower(bare[1L]), tolower(names))
  if (is.na(at)) return(NULL)
  column <- table$column(at)
  all_rows <- seq_len(table$rows)
  value <- bare[2L]
  test <- signs[[parts[3L]]]
  if (value == "missing" && parts[3L] %in% c("=", "==", "!=")) {
    gone <- if (is.atomic(column) && !is.object(column)) is.na(column) else is.na(exact(column, all_rows))
    return(if (parts[3L] == "!=") !gone else gone)
  }
  number <- suppressWarnings(as.numeric(value))
  if (is.na(number) && inherits(column, "difftime")) {
    number <- seconds_of(value)
    if (is.na(number)) trouble(bare[1L], " holds durations. Compare it with one, such as 1h, 90 min, 2 days, 01:30:00 or PT1H30M.")
    # Fractions of days are not exact; a number without a unit, below, is one of the column's own unit.
    found <- test(round(as.double(column, units = "secs"), 6), round(number, 6))
    return(!is.na(found) & found)
  }
  if (is.logical(column) && toupper(value) %in% c("TRUE", "FALSE")) number <- as.numeric(toupper(value) == "TRUE")
  if (!is.na(number) && (numeric_column(column) || is.logical(column) || inherits(column, "difftime"))) {
    found <- test(as.double(column), number)
    return(!is.na(found) & found)
  }
  if (is.ordered(column) && value %in% levels(column)) {
    found <- test(as.integer(column), match(value, levels(column)))
    return(!is.na(found) & found)
  }
  if (table$rows > searched) trouble("The table is too long to be filtered here; filter it with code.")
  text <- exact(column, all_rows)
  if (!is.na(number) && (is.character(column) || is.factor(column) || is.list(column) || inherits(column, "integer64"))) {
    # Texts that are numbers are compared as numbers; others are none of these.
    found <- test(suppressWarnings(as.numeric(text)), number)
    return(!is.na(text) & ifelse(is.na(found), parts[3L] == "!=", found))
  }
  # A time at midnight is called by its day.
  text <- sub(" 00:00:00$", "", text)
  # By their letters, whatever order the locale gives them.
  ordered <- sort(unique(c(text, value)), method = "radix")
  found <- test(match(text, ordered), match(value, ordered))
  !is.na(text) & found
}

units_of_time <- c(
  w = 604800, week = 604800, d = 86400, day = 86400, h = 3600, hr = 3600, hour = 3600, m = 60, min = 60, minute = 60,
  s = 1, sec = 1, second = 1, ms = 1e-3, millisecond = 1e-3, us = 1e-6, microsecond = 1e-6, ns = 1e-9, nanosecond = 1e-9
)

# The seconds of a duration, such as `1h 30min`, `2 days 03:00:00` or `PT90M`; NA for other texts.
seconds_of <- function(text) {
  text <- tolower(trimws(text))
  sign <- if (startsWith(text, "-")) -1 else 1
  text <- sub("^[-+]\\s*", "", text)
  if (grepl("^p([0-9.]+[wd])*(t([0-9.]+[hms])+)?$", text) && nchar(text) > 1L) text <- gsub("[pt]", " ", text)
  clock <- "([0-9]+):([0-9]{1,2})(:[0-9]{1,2}(\\.[0-9]*)?)?\\s*$"
  total <- 0
  if (length(found <- regmatches(text, regexpr(clock, text)))) {
    parts <- as.numeric(strsplit(trimws(found), ":", fixed = TRUE)[[1L]])
    total <- sum(parts * c(3600, 60, 1)[seq_along(parts)])
    text <- sub(clock, "", text)
  }
  part <- "([0-9]+\\.?[0-9]*|\\.[0-9]+)\\s*([a-z]+)"
  found <- regmatches(text, gregexpr(part, text))[[1L]]
  if (grepl("[^ ,]", gsub(part, "", text)) || !length(found) && !total) return(NA_real_)
  names <- sub(part, "\\2", found)
  names <- ifelse(names %in% names(units_of_time), names, sub("s$", "", names))
  sign * (total + sum(as.numeric(sub(part, "\\1", found)) * units_of_time[names]))
}

sorted <- function(column, descending) {
  if (is.data.frame(column) || is.list(column) && !inherits(column, "POSIXlt")) column <- exact(column, seq_len(NROW(column)))
  keys <- if (is.factor(column)) as.integer(column) else if (is.object(column)) xtfrm(column) else column
  if (is.complex(keys)) return(order(keys, decreasing = descending))
  order(keys, decreasing = descending, na.last = TRUE, method = "radix")
}

# -- one column in figures

figure <- function(value) {
  if (value == trunc(value) && abs(value) < 1e15) sprintf("%.0f", value) else sprintf("%.7g", value)
}
fact <- function(name, value) sprintf("[%s,%s]", spell(name), spell(value))
many <- function(number) format(number, big.mark = ",", scientific = FALSE, trim = TRUE)
bars <- function(names, counts) {
  if (length(names)) sprintf("[%s,%d]", spell(enc2utf8(names)), as.integer(counts))
}

statistics <- function(table, query) {
  column <- table$column(query$column + 1L)
  missing <- if (is.atomic(column)) is.na(column) else is.na(exact(column, seq_len(table$rows)))
  facts <- c(fact("rows", many(table$rows)), fact("missing", many(sum(missing))))
  found <- if (numeric_column(column)) of_numbers(column[!missing])
  else if (inherits(column, c("Date", "POSIXct"))) of_times(column[!missing])
  else of_values(if (is.atomic(column)) column[!missing] else exact(column, seq_len(table$rows))[!missing])
  c(facts = listed(c(facts, found$facts)), bars = listed(found$bars))
}

of_numbers <- function(values) {
  finite <- as.double(values[is.finite(values)])
  facts <- if (length(finite) < length(values)) fact("infinite", many(length(values) - length(finite)))
  if (!length(finite)) return(list(facts = facts))
  quarter <- stats::quantile(finite, c(0.25, 0.5, 0.75), names = FALSE)
  deviation <- if (length(finite) > 1L) stats::sd(finite) else 0
  named <- list(
    min = min(finite), "25 %" = quarter[1], median = quarter[2], mean = mean(finite), "75 %" = quarter[3],
    max = max(finite), std = deviation
  )
  facts <- c(facts, vapply(names(named), function(name) fact(name, figure(named[[name]])), "", USE.NAMES = FALSE))
  list(facts = facts, bars = ranges(finite, function(value) sprintf("%.4g", value)))
}

of_times <- function(values) {
  if (!length(values)) return(list(facts = fact("distinct", "0")))
  written <- function(value) {
    if (inherits(values, "Date")) format(as.Date(value, origin = "1970-01-01"))
    else format(as.POSIXct(value, origin = "1970-01-01", tz = attr(values, "tzone")[1]), "%Y-%m-%d %H:%M")
  }
  facts <- c(
    fact("distinct", many(length(unique(values)))), fact("min", format(min(values))), fact("max", format(max(values)))
  )
  list(facts = facts, bars = if (length(unique(values)) > bins) ranges(as.double(values), written) else of_values(values)$bars)
}

# How many values are in each of a few ranges of equal width.
ranges <- function(values, written) {
  low <- min(values)
  high <- max(values)
  edges <- seq(low, high, length.out = bins + 1L)
  if (any(diff(edges) <= 0) || !is.finite(high - low)) return(bars(range_of(written(low), written(high)), length(values)))
  counts <- tabulate(findInterval(values, edges, rightmost.closed = TRUE, all.inside = TRUE), bins)
  ends <- vapply(edges, written, "")
  bars(range_of(ends[-length(ends)], ends[-1L]), counts)
}
range_of <- function(low, high) ifelse(low == high, low, paste(low, "to", high))

of_values <- function(values) {
  text <- exact(values, seq_along(values), FALSE)
  keys <- unique(text)
  counts <- tabulate(match(text, keys), length(keys))
  first <- order(-counts)[seq_len(min(bins, length(keys)))]
  list(facts = fact("distinct", many(length(keys))), bars = bars(keys[first], counts[first]))
}
