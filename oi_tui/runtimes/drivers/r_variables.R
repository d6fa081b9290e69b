# What the program remembers: names, types, shapes and sizes. No code of the program runs for it: methods are those of
# the base package, called by their own names, and only for values of classes that are R's own.

most <- 2000L
longest <- 60L
known <- character()
plain <- c("factor", "ordered", "Date", "POSIXct", "POSIXt", "difftime", "table", "noquote", "data.frame")

is_plain <- function(value) {
  !isS4(value) && !length(setdiff(oldClass(value), plain)) && (is.atomic(value) || is.list(value))
}
is_table <- function(value) is.list(value) && "data.frame" %in% oldClass(value)

bytes_of <- function(value) {
  each <- c(logical = 4, integer = 4, double = 8, complex = 16, raw = 1, character = 8, list = 8)[typeof(value)]
  if (is.na(each)) 0 else 48 + unname(each) * length(unclass(value))
}

# The type, a few words, and the size in bytes or NA.
describe <- function(value) {
  classes <- oldClass(value)
  kind <- if (length(classes)) classes[1] else if (isS4(value)) "S4" else class(value)[1]
  if (is.function(value)) {
    return(list("function", sprintf("function(%s)", paste(names(formals(args(value))), collapse = ", ")), NA))
  }
  if (is_table(value)) {
    columns <- unclass(value)
    return(list(kind, sprintf("%s %dx%d", kind, .row_names_info(value, 2L), length(columns)), sum(vapply(columns, bytes_of, 0))))
  }
  if (!is_plain(value)) return(list(kind, kind, NA))
  shape <- attr(value, "dim", exact = TRUE)
  short <- is.atomic(value) && length(unclass(value)) == 1L && !length(classes)
  words <- if (length(shape)) sprintf("%s %s", kind, paste(shape, collapse = "x"))
  else if (is.null(value)) "NULL"
  else if (short && (!is.character(value) || isTRUE(nchar(value, "bytes") <= longest))) paste(deparse(as.vector(value), nlines = 1L), collapse = "")
  else sprintf("%s of %d", kind, length(unclass(value)))
  list(kind, words, bytes_of(value))
}

described <- function(name) {
  found <- if (bindingIsActive(as.name(name), globalenv())) list("active binding", "active binding", NA)
  else tryCatch(describe(get(name, envir = globalenv(), inherits = FALSE)), error = function(e) list("", "", NA))
  sprintf("{\"name\":%s,\"type\":%s,\"summary\":%s,\"size\":%s}", spell(name), spell(found[[1]]), spell(found[[2]]),
    if (is.na(found[[3]])) "null" else format(round(found[[3]]), scientific = FALSE))
}

# The names in the order in which they were first asked for, the newest ones, and how many there are.
all <- function() {
  now <- ls(globalenv(), sorted = TRUE)
  known <<- c(intersect(known, now), setdiff(now, known))
  newest <- known[seq.int(max(1L, length(known) - most + 1L), length.out = min(length(known), most))]
  c(variables = sprintf("[%s]", paste(vapply(newest, described, ""), collapse = ",")), total = length(now))
}

preview <- function(value) {
  if (is.function(value)) return(deparse(value, control = "useSource", nlines = 200L))
  if (!is_plain(value)) return(character())
  if (is_table(value)) {
    if (!all_plain(value)) return(parts(value))
    rows <- seq_len(min(.row_names_info(value, 2L), 50L))
    columns <- seq_len(min(length(unclass(value)), 30L))
    return(utils::capture.output(base::print.data.frame(base::`[.data.frame`(value, rows, columns, drop = FALSE))))
  }
  if (is.list(value)) return(parts(value))
  few <- unclass(value)
  if (length(dim(few)) == 2L) few <- few[seq_len(min(nrow(few), 50L)), seq_len(min(ncol(few), 30L)), drop = FALSE]
  else if (length(few) > 1000L) few <- as.vector(few)[1:1000]
  if (is.factor(value)) few <- attr(value, "levels")[unclass(value)[seq_len(min(length(few), 1000L))]]
  if (inherits(value, "Date")) few <- base::format.Date(structure(few, class = "Date"))
  if (inherits(value, "POSIXct")) few <- base::format.POSIXct(structure(few, class = c("POSIXct", "POSIXt")))
  utils::capture.output(base::print.default(few))
}

all_plain <- function(columns) base::all(vapply(unclass(columns), is_plain, NA))

# What a list holds, element by element.
parts <- function(value) {
  values <- unclass(value)
  names <- attr(values, "names")
  vapply(seq_len(min(length(values), 100L)), function(n) {
    name <- if (is.null(names) || !nzchar(names[n])) sprintf("[[%d]]", n) else paste0("$", names[n])
    paste0(name, ": ", describe(values[[n]])[[2]])
  }, "")
}

# What one of them holds.
one <- function(name) {
  if (!exists(name, envir = globalenv(), inherits = FALSE)) return(NULL)
  if (bindingIsActive(as.name(name), globalenv())) return(c(description = spell("active binding"), preview = spell("")))
  value <- get(name, envir = globalenv(), inherits = FALSE)
  text <- substr(paste(preview(value), collapse = "\n"), 1L, 20000L)
  c(description = spell(describe(value)[[2]]), preview = spell(text))
}
