# Data frames and tibbles that a cell shows: what the model gets of them, and the table that the person sees. Classes
# that print themselves in another way are none of these: what they print says more.

usual <- c("data.frame", "tbl_df", "tbl", "grouped_df", "rowwise_df", "spec_tbl_df", "data.table")
# Tables with at most so many rows are given whole; of longer ones so many of the first and the last.
whole <- 20L
head_rows <- 8L
tail_rows <- 4L
# The most characters of a cell and of the model's view, the columns given to the model and to the person, and the
# cells in which missing values are counted.
longest <- 80L
most <- 12000L
columns_of_model <- 500L
columns_of_person <- 100L
counted <- 2e7

# A matrix that is longer or wider than this is read better as a table.
long_matrix <- 20L
wide_matrix <- 10L
# A matrix of more cells is not copied into columns.
matrix_cells <- 2e7

is_frame <- function(value) {
  if (is.list(value)) return(length(attr(value, "names")) > 0L && all(oldClass(value) %in% usual))
  shape <- attr(value, "dim", exact = TRUE)
  is.atomic(value) && !is.object(value) && length(shape) == 2L && all(shape > 0L) &&
    (shape[1] > long_matrix || shape[2] > wide_matrix) && length(value) <= matrix_cells
}

names_of_columns <- function(value) if (is.null(colnames(value))) paste0("V", seq_len(ncol(value))) else colnames(value)

as_frame <- function(value) {
  if (is.list(value)) return(value)
  names <- names_of_columns(value)
  width <- length(names)
  columns <- lapply(seq_len(width), function(at) as.vector(value[, at]))
  labels <- if (is.null(rownames(value))) .set_row_names(nrow(value)) else rownames(value)
  structure(columns, names = names, row.names = labels, class = "data.frame")
}

count <- function(number, word) sprintf("%s %s%s", format(number, big.mark = ",", scientific = FALSE), word, if (number == 1) "" else "s")

one_line <- function(text) gsub("\n", "\\n", gsub("\r", "\\r", text, fixed = TRUE), fixed = TRUE)

cut_cells <- function(text, longest) {
  if (longest == Inf) return(text)
  size <- nchar(text, allowNA = TRUE)
  long <- !is.na(text) & !is.na(size) & size > longest
  text[long] <- sprintf("%s… (%s characters)", substr(text[long], 1L, longest), format(size[long], big.mark = ",", trim = TRUE))
  text
}

# The texts of some rows of a column; NA where the value is missing. Of Inf characters, none is cut or escaped.
texts <- function(column, rows, aligned, most = longest) {
  if (is.data.frame(column) || length(dim(column)) > 1L) return(rep(sprintf("<%s>", class(column)[1]), length(rows)))
  if (is.list(column)) {
    return(vapply(unclass(column)[rows], function(item) {
      if (is.null(item)) NA_character_
      else if (length(item) == 1L && is.atomic(item) && !is.object(item)) one_line(cut_cells(as.character(item), most))
      else sprintf("<%s of %d>", class(item)[1], length(item))
    }, ""))
  }
  part <- column[rows]
  text <- if (is.double(part) && is.null(oldClass(part))) {
    if (aligned) format(part, digits = 7L) else sprintf("%.7g", part)
  } else if (is.factor(part) || is.character(part)) as.character(part)
  else format(part, trim = TRUE)
  text <- enc2utf8(as.character(text))
  text[is.na(part) & !is.nan(unclass(part))] <- NA_character_
  if (aligned) text <- trimws(text)
  if (most == Inf) text else cut_cells(one_line(text), most)
}

# Cells as CSV: nothing for a missing value, and two quotation marks for an empty text.
quoted <- function(text) {
  gone <- is.na(text)
  odd <- !gone & (grepl("[\",]", text) | !nzchar(text))
  text[odd] <- sprintf("\"%s\"", gsub("\"", "\"\"", text[odd], fixed = TRUE))
  text[gone] <- ""
  text
}

# Names of columns, in quotation marks where they could be read as something else.
spelled <- function(names) {
  odd <- !nzchar(names) | grepl("[,\"']|^ | $", names)
  names[odd] <- encodeString(names[odd], quote = "'")
  names
}

# The type of a column; of one that has columns itself, with their names.
described <- function(column, type) {
  inner <- if (is.data.frame(column)) names(column) else if (length(dim(column)) == 2L) colnames(column)
  if (is.null(inner)) return(type)
  cut_cells(sprintf("%s (%s)", type, paste(spelled(one_line(enc2utf8(inner))), collapse = ", ")), 400L)
}

is_gone <- function(item) is.null(item) || (is.atomic(item) && length(item) == 1L && is.na(item))

# Names, types, rows to be shown with their labels, and how many of them are the first ones.
look <- function(value) {
  frame <- as_frame(value)
  total <- .row_names_info(frame, 2L)
  columns <- unclass(frame)
  rows <- if (total <= whole) seq_len(total) else c(seq_len(head_rows), seq.int(total - tail_rows + 1L, total))
  labels <- if (.row_names_info(frame) > 0L) as.character(attr(frame, "row.names")[rows]) else as.character(rows)
  list(
    total = total, columns = columns, names = one_line(enc2utf8(as.character(names(columns)))), rows = rows,
    labels = cut_cells(one_line(enc2utf8(labels)), longest), head = if (total <= whole) total else head_rows,
    types = vapply(columns, function(column) class(column)[1], "")
  )
}

view <- function(value) {
  seen <- look(value)
  width <- length(seen$columns)
  given <- seq_len(min(width, columns_of_model))
  counts <- as.double(seen$total) * width <= counted
  missing <- vapply(seen$columns[given], function(column) {
    if (counts && is.atomic(column) && length(dim(column)) < 2L) sum(is.na(column))
    else if (counts && is.list(column) && !is.data.frame(column)) sum(vapply(unclass(column), is_gone, NA))
    else 0L
  }, 0L)
  words <- ifelse(missing > 0L, sprintf(" (%s missing)", format(missing, big.mark = ",", trim = TRUE)), "")
  alike <- !is.list(value)
  types <- if (!alike) vapply(given, function(at) described(seen$columns[[at]], seen$types[[at]]), "")
  listed <- paste0(spelled(seen$names[given]), if (!alike) paste0(" ", types), words, collapse = ", ")
  if (alike) listed <- sprintf("%s, each of type %s", listed, seen$types[1])
  if (width > length(given)) listed <- sprintf("%s, … %s", listed, count(width - length(given), "more column"))
  if (!counts) listed <- paste(listed, "(missing values were not counted)")
  parts <- c(
    sprintf("%s: %s by %s", class(value)[1], count(seen$total, "row"), count(width, "column")),
    paste("Columns:", listed)
  )
  if (!seen$total) return(paste(parts, collapse = "\n"))
  cells <- lapply(seen$columns[given], function(column) quoted(texts(column, seen$rows, FALSE)))
  lines <- do.call(paste, c(list(quoted(seen$labels)), unname(cells), sep = ","))
  first <- lines[seq_len(seen$head)]
  last <- lines[-seq_len(seen$head)]
  room <- most - sum(nchar(parts))
  # The rows in the middle go first.
  while (sum(nchar(first)) + sum(nchar(last)) > room && length(first) + length(last) > 1L) {
    if (length(last) >= length(first)) last <- last[-1L] else first <- first[-length(first)]
  }
  between <- seen$total - length(first) - length(last)
  gap <- if (between) sprintf("… %s not shown …", count(between, "row"))
  paste(c(parts, "Rows as CSV (row, then the columns):", "", first, gap, last), collapse = "\n")
}

# The table as JSON, as the conversation reads it. `key` opens it.
inline <- function(value, name, key) {
  seen <- look(value)
  given <- seq_len(min(length(seen$columns), columns_of_person))
  numeric <- vapply(seen$columns[given], function(column) is.numeric(column) && !is.object(column), NA)
  columns <- sprintf("[%s,%s,%s]", spell(seen$names[given]), spell(seen$types[given]), ifelse(numeric, "true", "false"))
  cells <- vapply(seen$columns[given], function(column) {
    text <- texts(column, seen$rows, TRUE)
    written <- if (length(text)) spell(text) else text
    written[is.na(text)] <- "null"
    written
  }, character(length(seen$rows)))
  dim(cells) <- c(length(seen$rows), length(given))
  rows <- vapply(seq_along(seen$rows), function(row) {
    sprintf("[%s,[%s]]", spell(seen$labels[row]), paste(cells[row, ], collapse = ","))
  }, "")
  sprintf(
    "{\"language\":\"r\",\"key\":%s,\"name\":%s,\"kind\":%s,\"index\":\"\",\"total\":%d,\"width\":%d,\"columns\":[%s],\"head\":%d,\"rows\":[%s]}",
    spell(key), spell(name), spell(class(value)[1]), as.integer(seen$total), length(seen$columns), paste(columns, collapse = ","),
    as.integer(seen$head), paste(rows, collapse = ",")
  )
}
