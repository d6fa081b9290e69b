# Data frames and tibbles that a cell shows: what the model gets of them, and the table that the person sees. Classes
# that print themselves in another way are none of these: what they print says more.

usual <- c("data.frame", "tbl_df", "tbl", "grouped_df", "rowwise_df", "spec_tbl_df")
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

is_frame <- function(value) length(attr(value, "names")) && all(oldClass(value) %in% usual)

count <- function(number, word) sprintf("%s %s%s", format(number, big.mark = ",", scientific = FALSE), word, if (number == 1) "" else "s")

one_line <- function(text) gsub("\n", "\\n", gsub("\r", "\\r", text, fixed = TRUE), fixed = TRUE)

cut_cells <- function(text) {
  size <- nchar(text, allowNA = TRUE)
  long <- !is.na(text) & !is.na(size) & size > longest
  text[long] <- sprintf("%s… (%s characters)", substr(text[long], 1L, longest), format(size[long], big.mark = ",", trim = TRUE))
  text
}

# The texts of some rows of a column; NA where the value is missing.
texts <- function(column, rows, aligned) {
  if (is.data.frame(column) || length(dim(column)) > 1L) return(rep(sprintf("<%s>", class(column)[1]), length(rows)))
  if (is.list(column)) {
    return(vapply(unclass(column)[rows], function(item) {
      if (is.null(item)) NA_character_ else sprintf("<%s of %d>", class(item)[1], length(item))
    }, ""))
  }
  part <- column[rows]
  text <- if (is.double(part) && is.null(oldClass(part))) {
    if (aligned) format(part, digits = 7L) else sprintf("%.7g", part)
  } else if (is.factor(part) || is.character(part)) as.character(part)
  else format(part, trim = TRUE)
  text <- enc2utf8(as.character(text))
  text[is.na(part) & !is.nan(unclass(part))] <- NA_character_
  cut_cells(one_line(if (aligned) trimws(text) else text))
}

quoted <- function(text) {
  text[is.na(text)] <- ""
  odd <- grepl("[\",]", text)
  text[odd] <- sprintf("\"%s\"", gsub("\"", "\"\"", text[odd], fixed = TRUE))
  text
}

# Names, types, rows to be shown with their labels, and how many of them are the first ones.
look <- function(frame) {
  total <- .row_names_info(frame, 2L)
  columns <- unclass(frame)
  rows <- if (total <= whole) seq_len(total) else c(seq_len(head_rows), seq.int(total - tail_rows + 1L, total))
  labels <- if (.row_names_info(frame) > 0L) as.character(attr(frame, "row.names")[rows]) else as.character(rows)
  list(
    total = total, columns = columns, names = one_line(enc2utf8(as.character(names(columns)))), rows = rows,
    labels = cut_cells(one_line(enc2utf8(labels))), head = if (total <= whole) total else head_rows,
    types = vapply(columns, function(column) class(column)[1], "")
  )
}

view <- function(frame) {
  seen <- look(frame)
  width <- length(seen$columns)
  given <- seq_len(min(width, columns_of_model))
  counts <- as.double(seen$total) * width <= counted
  missing <- vapply(seen$columns[given], function(column) {
    if (counts && is.atomic(column)) sum(is.na(column)) else 0L
  }, 0L)
  words <- ifelse(missing > 0L, sprintf(" (%s missing)", format(missing, big.mark = ",", trim = TRUE)), "")
  listed <- paste0(seen$names[given], " ", seen$types[given], words, collapse = ", ")
  if (width > length(given)) listed <- sprintf("%s, … %s", listed, count(width - length(given), "more column"))
  if (!counts) listed <- paste(listed, "(missing values were not counted)")
  parts <- c(
    sprintf("%s: %s by %s", class(frame)[1], count(seen$total, "row"), count(width, "column")),
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

# The table as JSON, as the conversation reads it; it has no key, since it cannot be opened.
inline <- function(frame, name) {
  seen <- look(frame)
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
    "{\"key\":\"\",\"name\":%s,\"kind\":%s,\"index\":\"\",\"total\":%d,\"width\":%d,\"columns\":[%s],\"head\":%d,\"rows\":[%s]}",
    spell(name), spell(class(frame)[1]), as.integer(seen$total), length(seen$columns), paste(columns, collapse = ","),
    as.integer(seen$head), paste(rows, collapse = ",")
  )
}
