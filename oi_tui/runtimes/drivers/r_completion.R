# Completions for code that is being typed: arguments, variables, columns, members, packages, functions and files. No
# code of the program runs for it. What `r_variables.R` defines is in sight.

offered <- 100L
# So much of the code before the caret is searched for the names of data frames.
nearby <- 2000L
longest_signature <- 200L

complete <- function(before) {
  line <- sub(".*\n", "", before)
  if (nzchar(text <- open_text(before))) return(in_text(before, line, text))
  word <- last(line, "(?:[\\p{L}.][\\p{L}\\p{N}._]*)?$")
  head <- substr(line, 1L, nchar(line) - nchar(word))
  if (nzchar(chain <- last(head, "[\\p{L}.][\\p{L}\\p{N}._]*(?:[$@][\\p{L}.][\\p{L}\\p{N}._]*)*[$@]$"))) return(of_members(chain, word))
  if (nzchar(package <- last(head, "[A-Za-z][A-Za-z0-9.]*:::?$"))) return(of_package(package, word))
  if (grepl("[$@:]$", head)) return(offers(word, character(), ""))
  call <- enclosing(before)
  if (!is.null(call) && call$name %in% c("library", "require", "requireNamespace", "loadNamespace")) {
    return(offers(word, starting(installed(), word), ""))
  }
  found <- if (is.null(call)) NULL else arguments(call$name, word)
  if (nzchar(word) || !is.null(call) || grepl("[[,(]\\s*$", head)) found <- c(found, columns_nearby(before, word))
  if (nzchar(word)) found <- c(found, variables(word), functions(word, names(found)))
  offers(word, names(found), unlist(found), if (!is.null(call)) signature(call$name))
}

last <- function(text, pattern) {
  at <- regexpr(pattern, text, perl = TRUE)
  if (at < 1L) "" else substr(text, at, nchar(text))
}

offers <- function(word, names, facts, note = NULL) {
  facts <- rep_len(as.character(facts), length(names))
  keep <- !duplicated(names) & names != word
  names <- utils::head(names[keep], offered)
  facts <- utils::head(facts[keep], offered)
  list(typed = nchar(word), names = names, facts = facts, note = note)
}

starting <- function(names, word) names[startsWith(names, word)]
facts_of <- function(values, names) structure(lapply(values, function(value) describe(value)[[2]]), names = names)

# The text that is open at the end of the code, with its quotation mark; "" where there is none.
open_text <- function(code) {
  rest <- gsub("\\\\.", "xx", code)
  repeat {
    at <- regexpr("[\"'`#]", rest)
    if (at < 1L) return("")
    mark <- substr(rest, at, at)
    rest <- substr(rest, at + 1L, nchar(rest))
    end <- regexpr(if (mark == "#") "\n" else mark, rest, fixed = TRUE)
    if (end < 1L) return(if (mark == "#") "" else substr(code, nchar(code) - nchar(rest), nchar(code)))
    rest <- substr(rest, end + 1L, nchar(rest))
  }
}

# In a text: columns behind `frame[["`, packages in library(", else files.
in_text <- function(before, line, text) {
  typed <- substr(text, 2L, nchar(text))
  head <- substr(line, 1L, nchar(line) - nchar(text))
  chain <- sub("\\[\\[?(?:[^][]*,\\s*)?$", "", last(head, "[\\p{L}.][\\p{L}\\p{N}._$@]*\\[\\[?(?:[^][]*,\\s*)?$"), perl = TRUE)
  if (nzchar(chain)) {
    value <- find_value(chain)
    return(offers(typed, starting(names_in(value), typed), ""))
  }
  if (substr(text, 1L, 1L) == "`") return(offers(typed, starting(names_in(globalenv()), typed), ""))
  call <- enclosing(paste0(substr(before, 1L, nchar(before) - nchar(text))))
  if (!is.null(call) && call$name %in% c("library", "require", "requireNamespace")) return(offers(typed, starting(installed(), typed), ""))
  files(typed)
}

files <- function(typed) {
  folder <- sub("[^/]*$", "", typed)
  found <- list.files(if (nzchar(folder)) folder else ".", all.files = grepl("/?\\.[^/]*$", typed), no.. = TRUE)
  found <- starting(found, sub(".*/", "", typed))
  found <- utils::head(found, offered)
  slash <- ifelse(dir.exists(file.path(if (nzchar(folder)) folder else ".", found)), "/", "")
  offers(typed, if (length(found)) paste0(folder, found, slash) else character(), "")
}

# The value that `a$b` stands for, where reading it runs no code; NULL for others.
find_value <- function(chain) {
  names <- strsplit(chain, "[$@]", perl = TRUE)[[1]]
  value <- known_value(names[1], globalenv())
  for (name in names[-1L]) {
    value <- if (is.environment(value)) known_value(name, value)
    else if (isS4(value)) attr(value, name, exact = TRUE)
    else if (is.list(value) && name %in% attr(value, "names")) .subset2(value, name)
  }
  value
}
known_value <- function(name, place) {
  if (exists(name, envir = place, inherits = FALSE)) {
    if (bindingIsActive(as.name(name), place)) return(NULL)
    # Arguments that were not evaluated, and data sets that are loaded when they are used, stay as they are.
    return(if (is_promise(name, place)) NULL else get(name, envir = place, inherits = FALSE))
  }
  if (identical(place, globalenv())) for (where in search()[-1L]) {
    if (exists(name, envir = as.environment(where), inherits = FALSE)) return(get(name, envir = as.environment(where), inherits = FALSE))
  }
  NULL
}
is_promise <- function(name, place) {
  found <- tryCatch(eval(call("substitute", as.name(name), place)), error = function(e) NULL)
  !identical(place, globalenv()) && is.language(found) && !identical(found, as.name(name)) && !is.function(found)
}

names_in <- function(value) {
  if (is.environment(value)) return(ls(value))
  if (length(dim(value)) == 2L && is.null(attr(value, "names"))) return(as.character(attr(value, "dimnames")[[2]]))
  as.character(attr(value, "names"))
}

of_members <- function(chain, word) {
  sign <- substr(chain, nchar(chain), nchar(chain))
  value <- find_value(substr(chain, 1L, nchar(chain) - 1L))
  if (sign == "@") {
    slots <- if (isS4(value)) setdiff(names(attributes(value)), "class") else character()
    return(offers(word, starting(slots, word), unlist(facts_of(attributes(value)[starting(slots, word)], NULL))))
  }
  if (!is.list(value) && !is.environment(value)) return(offers(word, character(), ""))
  found <- utils::head(starting(names_in(value), word), offered)
  facts <- vapply(found, function(name) {
    one <- if (is.environment(value)) known_value(name, value) else .subset2(value, name)
    if (is.null(one)) "" else describe(one)[[2]]
  }, "")
  offers(word, quote_names(found), facts)
}

quote_names <- function(names) ifelse(make.names(names) == names, names, sprintf("`%s`", names))

of_package <- function(package, word) {
  name <- sub(":+$", "", package)
  if (!(name %in% loadedNamespaces())) return(offers(word, character(), ""))
  space <- asNamespace(name)
  found <- if (endsWith(package, ":::")) ls(space, all.names = TRUE) else getNamespaceExports(space)
  if (identical(name, "base")) found <- ls(baseenv())
  found <- utils::head(sort(starting(found, word)), offered)
  offers(word, quote_names(found), vapply(found, function(one) fact_in(space, one), ""))
}
fact_in <- function(place, name) {
  value <- get0(name, envir = place, inherits = FALSE)
  if (is.null(value)) "" else describe(value)[[2]]
}

installed <- function() sort(unique(unlist(lapply(.libPaths(), list.files))))

# The function in whose call the caret is, by its name; NULL at the top level. The code is read backwards.
enclosing <- function(before) {
  text <- utils::tail(strsplit(gsub("\"[^\"\n]*\"|'[^'\n]*'", "0", before), "", fixed = TRUE)[[1]], nearby)
  depth <- 0L
  for (at in rev(seq_along(text))) {
    if (text[at] %in% c(")", "]", "}")) depth <- depth + 1L
    else if (text[at] %in% c("[", "{")) {
      if (depth == 0L) return(NULL)
      depth <- depth - 1L
    } else if (text[at] == "(") {
      if (depth == 0L) {
        name <- last(paste(text[seq_len(at - 1L)], collapse = ""), "[\\p{L}.][\\p{L}\\p{N}._:]*$")
        return(if (nzchar(name)) list(name = name))
      }
      depth <- depth - 1L
    }
  }
  NULL
}

find_function <- function(name) {
  parts <- strsplit(name, ":::?")[[1]]
  value <- if (length(parts) == 2L) {
    if (parts[1] %in% loadedNamespaces()) get0(parts[2], envir = asNamespace(parts[1]), inherits = FALSE)
  } else known_value(name, globalenv())
  if (is.function(value)) value
}

arguments <- function(name, word) {
  value <- find_function(name)
  if (is.null(value)) return(NULL)
  found <- formals(args(value))
  # A generic function passes the arguments of its methods on.
  if ("..." %in% names(found) && !is.primitive(value)) {
    usual <- get0(paste0(sub(".*:", "", name), ".default"), envir = environment(value), mode = "function")
    if (is.function(usual)) found <- c(found, formals(usual))
  }
  found <- found[!duplicated(names(found)) & names(found) != "..." & startsWith(names(found), word)]
  if (!length(found)) return(NULL)
  facts <- lapply(found, function(value) substr(paste(deparse(value, nlines = 1L), collapse = ""), 1L, 60L))
  structure(facts, names = paste0(names(found), " = "))
}

signature <- function(name) {
  value <- find_function(name)
  if (is.null(value)) return(NULL)
  shown <- utils::head(deparse(args(value), width.cutoff = 500L), -1L)
  text <- sub("^function *", name, paste(trimws(shown), collapse = " "))
  if (nchar(text) > longest_signature) paste0(substr(text, 1L, longest_signature), "…") else text
}

# Columns of the data frames that are named near the caret.
columns_nearby <- function(before, word) {
  code <- substring(before, nchar(before) - nearby)
  # A blank line ends what belongs together.
  code <- sub("(?s).*\n\\s*\n", "", code, perl = TRUE)
  names <- rev(unique(regmatches(code, gregexpr("[\\p{L}.][\\p{L}\\p{N}._]*", code, perl = TRUE))[[1]]))
  found <- NULL
  for (name in utils::head(names, 50L)) {
    value <- known_value(name, globalenv())
    if (!is_table(value)) next
    columns <- utils::head(starting(names_in(value), word), offered)
    found <- c(found, structure(
      lapply(columns, function(column) sprintf("%s of %s", class(.subset2(value, column))[1], name)), names = quote_names(columns)
    ))
  }
  found
}

variables <- function(word) {
  found <- utils::head(starting(ls(globalenv()), word), offered)
  structure(lapply(found, function(name) {
    value <- known_value(name, globalenv())
    if (is.null(value)) "" else describe(value)[[2]]
  }), names = quote_names(found))
}

functions <- function(word, taken) {
  names <- setdiff(unlist(lapply(search()[-1L], function(place) starting(ls(place), word))), taken)
  names <- utils::head(names[order(nchar(names))], offered)
  structure(lapply(names, function(name) {
    value <- known_value(name, globalenv())
    if (is.function(value)) describe(value)[[2]] else ""
  }), names = quote_names(names))
}
