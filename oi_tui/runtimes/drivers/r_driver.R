# The driver inside R: read as the profile of an interactive session that never comes to its prompt. It takes cells
# from the request pipe, evaluates them as the prompt would, and reports their results on the pipe for events. Which line
# runs is reported statement by statement, at the top level of a cell. What the program defines is out of its sight.
local({
  folder <- Sys.getenv("OI_TUI_FOLDER")
  home <- dirname(Sys.getenv("R_PROFILE_USER"))
  Sys.unsetenv(c("OI_TUI_FOLDER", "R_PROFILE_USER"))
  place <- function(name) file.path(folder, name)
  # R removes it at its end, unless it is killed; the guard does it then.
  cat(tempdir(), "\n", sep = "", file = place("temporary"))
  owner <- Sys.getpid()
  nonce <- "idle"
  marks <- 0L
  cell <- "0"
  size <- ""

  # -- the channel

  pipes <- list()
  open <- list(
    requests = function() fifo(place("requests"), "r", blocking = TRUE),
    events = function() file(place("events"), "ab", raw = TRUE),
    line = function() file(place("line"), "r+b", raw = TRUE),
    terminal = function() file("/dev/tty", "wb", raw = TRUE)
  )
  # A connection, opened anew where a program has closed it, as `closeAllConnections()` does.
  pipe <- function(name) {
    con <- pipes[[name]]
    alive <- !is.null(con) && tryCatch(
      identical(attr(con, "conn_id"), attr(getConnection(as.integer(con)), "conn_id")),
      error = function(e) FALSE
    )
    if (!alive) pipes[[name]] <<- con <- open[[name]]()
    con
  }
  # Text of a program may be bytes that are none.
  readable <- function(text) iconv(enc2utf8(text), "UTF-8", "UTF-8", sub = "byte")
  spell <- function(text) {
    if (is.null(text)) return("null")
    text <- readable(text)
    text <- gsub("([\\\\\"])", "\\\\\\1", text)
    # One look spares most texts the many.
    if (any(grepl("[\001-\037\177]", text, useBytes = TRUE))) for (code in c(1:31, 127)) {
      text <- gsub(rawToChar(as.raw(code)), sprintf("\\u%04x", code), text, fixed = TRUE)
    }
    paste0("\"", text, "\"")
  }
  tell <- function(event, ..., mark = NULL) {
    if (Sys.getpid() != owner) return(invisible())
    fields <- c(event = spell(event), ..., if (!is.null(mark)) c(mark = spell(mark)))
    events <- pipe("events")
    # The line begins again: an interrupt may have cut off the event before.
    writeLines(sprintf("\n{%s}", paste0("\"", names(fields), "\":", fields, collapse = ",")), events, useBytes = TRUE)
    flush(events)
    if (!is.null(mark)) {
      terminal <- pipe("terminal")
      writeLines(sprintf("\033]6973;%s\a", mark), terminal, sep = "", useBytes = TRUE)
      flush(terminal)
    }
    invisible()
  }
  placed <- function(event, ...) {
    marks <<- marks + 1L
    flush(stdout())
    tell(event, ..., mark = sprintf("%s.m%d", nonce, marks))
  }
  reach <- function(number) {
    line <- pipe("line")
    seek(line, 0, rw = "write")
    writeBin(as.integer(number), line)
    flush(line)
  }

  # -- images

  page <- 0L
  device <- 0L
  open_device <- function(...) {
    kind <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
    grDevices::png(place("plot-%d.png"), width = 800, height = 560, res = 110, type = kind, ...)
    device <<- grDevices::dev.cur()
    page <<- 0L
  }
  digits <- c(LETTERS, letters, 0:9, "+", "/")
  base64 <- function(bytes) {
    short <- (3L - length(bytes) %% 3L) %% 3L
    x <- matrix(as.integer(c(bytes, raw(short))), nrow = 3L)
    six <- rbind(x[1, ] %/% 4L, x[1, ] %% 4L * 16L + x[2, ] %/% 16L, x[2, ] %% 16L * 4L + x[3, ] %/% 64L, x[3, ] %% 64L)
    text <- digits[six + 1L]
    if (short) text[length(text) - seq_len(short) + 1L] <- "="
    paste(text, collapse = "")
  }
  # The pages that are done; a page is written when the next one begins or its device is closed.
  show_pages <- function() {
    if (Sys.getpid() != owner) return(invisible())
    repeat {
      path <- place(sprintf("plot-%d.png", page + 1L))
      if (!isTRUE(file.size(path) > 0)) break
      page <<- page + 1L
      bytes <- readBin(path, "raw", file.size(path))
      unlink(path)
      placed("display", format = spell("base64.png"), content = spell(base64(bytes)))
    }
  }
  finish_pages <- function() {
    if (device && device %in% grDevices::dev.list()) {
      if (identical(names(grDevices::dev.list())[match(device, grDevices::dev.list())], device_name)) {
        grDevices::dev.off(device)
      }
    }
    show_pages()
    device <<- 0L
    page <<- 0L
  }
  device_name <- "png"

  # -- what replaces functions of the base package

  replace <- function(name, by) {
    unlockBinding(name, baseenv())
    assign(name, by, envir = baseenv())
    lockBinding(name, baseenv())
  }
  ask <- base::readline
  shell <- base::system
  leave <- base::quit

  readline <- function(prompt = "") {
    if (Sys.getpid() != owner) return(ask(prompt))
    cat(prompt)
    placed("input", prompt = spell(paste(prompt, collapse = "")))
    on.exit(placed("input_end"))
    trimws(read_line(), whitespace = "[ \t]")
  }
  # R's own console cuts a line after 8,190 bytes, and may wait for more than it was given from 4,095 on.
  read_line <- function() {
    answer <- place("answer")
    on.exit(unlink(answer))
    # It is interrupted in the place of R, which does not hear that.
    shell(sprintf("IFS= read -r line; printf '%%s\\n' \"$line\" >%s", shQuote(answer)))
    if (!file.exists(answer)) {
      tools::pskill(Sys.getpid(), 2L)
      Sys.sleep(0.1)
      stop("the answer could not be read")
    }
    readLines(answer, 1L, warn = FALSE)
  }
  quit <- function(save = "default", status = 0, runLast = TRUE) {
    if (Sys.getpid() != owner || !running) leave("no", status, FALSE)
    invokeRestart("oi_tui_leave", status)
  }
  # Which of the diversions let the output be seen here, too; R itself does not say.
  splits <- logical()
  divert <- local({
    # By its own name, which warnings tell.
    sink <- base::sink
    function(file = NULL, append = FALSE, type = c("output", "message"), split = FALSE) {
      before <- sink.number()
      sink(file, append, type, split)
      now <- sink.number()
      splits <<- c(splits, rep(isTRUE(split), max(now - before, 0L)))[seq_len(now)]
      invisible()
    }
  })
  running <- FALSE

  # -- where the output goes

  away <- list(output = "", message = "")
  since <- list()
  destination <- function(type) {
    if (type == "output" && all(splits[seq_len(sink.number())])) return("")
    if (type == "message" && sink.number(type = "message") == 2L) return("")
    found <- summary(if (type == "output") stdout() else getConnection(sink.number(type = "message")))
    if (found$class == "textConnection") "memory" else found$description
  }
  # Says so when a cell has sent the output elsewhere for good, since later cells would be silent.
  tell_where_output_goes <- function() {
    for (type in c("output", "message")) {
      now <- destination(type)
      if (!identical(now, away[[type]])) since[[type]] <<- cell
      away[[type]] <<- now
      if (!nzchar(now)) next
      back <- if (type == "message") "sink(type = \"message\")"
        else if (sink.number() > 1L) "while (sink.number() > 0) sink()" else "sink()"
      what <- if (type == "message") "R's messages and errors go" else "R's output goes"
      now <- encodeString(now)
      terminal <- pipe("terminal")
      writeLines(sprintf("(%s to %s since cell %s; %s brings it back.)", what, now, since[[type]], back), terminal, useBytes = TRUE)
      flush(terminal)
    }
  }

  # -- a cell

  warned <- list()
  shown <- list()
  warnings <- function(...) structure(shown, dots = list(...), class = "warnings")
  complain <- function(text) cat(text, file = stderr())
  heading <- function(kind, call, message) {
    source <- if (!is.null(call)) spell_call(call)
    if (is.null(source)) return(paste0(kind, ": ", message))
    first <- strsplit(paste0(message, " "), "\n", fixed = TRUE)[[1]][1]
    gap <- if (nchar(source, "w") + nchar(first, "w") + 18L > getOption("width")) "\n  " else " "
    paste0(kind, " in ", source, " :", gap, message)
  }
  show_warnings <- function() {
    if (!length(warned)) return(invisible())
    found <- warned
    warned <<- list()
    shown <<- lapply(found, `[[`, "call")
    names(shown) <<- vapply(found, `[[`, "", "message")
    if (length(found) > 10L) {
      complain(sprintf("There were %s warnings (use warnings() to see them)\n",
        if (length(found) >= 50L) "50 or more" else length(found)))
      return(invisible())
    }
    lines <- vapply(found, function(one) sub("^Warning: ", "", sub("^Warning in ", "In ", heading("Warning", one$call, one$message))), "")
    if (length(lines) == 1L) complain(sprintf("Warning message:\n%s \n", lines))
    else complain(paste0("Warning messages:\n", paste0(seq_along(lines), ": ", lines, collapse = "\n"), "\n"))
  }
  source_of <- function(ref) {
    if (is.null(ref)) return("")
    name <- attr(ref, "srcfile")$filename
    if (is.null(name) || !nzchar(name)) "" else sprintf("  (%s, line %d)", name, as.integer(ref)[1])
  }
  # How many frames lie below the top level of a cell; measured where the first cell is evaluated.
  depth <- NULL
  # What a condition names as its call when it comes from the top level of a cell.
  at_top <- quote(withVisible(value))
  hidden <- c("stop", ".handleSimpleError", "h", "signalCondition", "stopifnot",
    ".signalSimpleWarning", "withRestarts", "withOneRestart", "doWithOneRestart")
  all_calls <- NULL
  last_calls <- NULL
  trace_back <- base::.traceback
  # The text of a call, which may have whole tables as its arguments: this much of it.
  spell_call <- function(call, cutoff = 60L, lines = 1L) substr(deparse(call, width.cutoff = cutoff, nlines = lines), 1L, 1000L)
  # For `traceback()`: the calls up to the one that failed, the last one first. Behind it is the call of our handler, which
  # is a function where no `.handleSimpleError` calls it; so may be one of the program, called by `do.call`.
  keep_traceback <- function(calls) {
    heads <- vapply(calls, function(one) is.function(one[[1]]) || identical(one[[1]], quote(.handleSimpleError)), NA)
    if (any(heads)) {
      end <- max(which(heads)) - 1L
      if (end > 0L && identical(calls[[end]][[1]], quote(signalCondition))) end <- end - 1L
      calls <- calls[seq_len(end)]
    }
    last_calls <<- lapply(rev(as.list(calls)), function(one) structure(spell_call(one, lines = 50L), srcref = attr(one, "srcref")))
  }
  note_trouble <- function(error) {
    calls <- all_calls()
    call <- conditionCall(error)
    keep_traceback(if (length(calls) > depth) calls[seq.int(depth + 1L, length(calls))] else list())
    if (identical(call, at_top)) call <- NULL
    mine <- if (length(calls) > depth) calls[seq.int(depth + 1L, length(calls) - 1L)] else list()
    while (length(mine)) {
      name <- mine[[length(mine)]][[1]]
      if (!is.function(name) && !(is.name(name) && as.character(name) %in% hidden)) break
      mine <- mine[-length(mine)]
    }
    lines <- vapply(mine, function(one) {
      paste0("  ", spell_call(one), source_of(attr(one, "srcref")))
    }, "")
    if (length(lines) > 24L) lines <- c(lines[1:12], sprintf("  ... %d calls ...", length(lines) - 24L), utils::tail(lines, 12L))
    text <- heading("Error", call, conditionMessage(error))
    if (inherits(error, "packageNotFoundError")) text <- sprintf("%s\nTo get it: install.packages(\"%s\")", text, error$package[1])
    list(text = text, calls = lines)
  }
  # A data.table is not shown after `:=`, which changes it in its place; its own way to say so looks for the prompt.
  was_changed <- function(value) {
    if (!inherits(value, "data.table") || !("data.table" %in% loadedNamespaces())) return(FALSE)
    tryCatch({
      space <- asNamespace("data.table")
      space$address(value) == space$.global$print && !space$shouldPrint(value)
    }, error = function(e) FALSE)
  }
  print_value <- function(value, name) {
    if (was_changed(value)) return(invisible())
    if (show_table(value, name)) on.exit(placed("view_end"))
    shown <- new.env(parent = globalenv())
    assign("x", value, envir = shown)
    eval(if (isS4(value)) quote(methods::show(x)) else quote(base::print(x)), shown)
  }
  # A data frame is shown as a table, and given to the model with all its columns, whatever the width of a window.
  show_table <- function(value, name) {
    may <- if (is.list(value)) "data.frame" %in% oldClass(value) else is.atomic(value) && length(dim(value)) == 2L
    if (!may || sink.number() || Sys.getpid() != owner) return(FALSE)
    # A frame that is out of order is shown as it prints itself.
    found <- tryCatch(suppressWarnings({
      tables <- look_at_tables()
      if (tables$is_frame(value)) {
        key <- turn_pages()$keep(value, name, prod(as.double(dim(value))))
        list(tables$view(value), tables$inline(value, name, key))
      }
    }), error = function(e) NULL)
    if (is.null(found)) return(FALSE)
    placed("view", content = spell(found[[1]]), table = spell(found[[2]]))
    TRUE
  }
  # Without a window of its own: as a table in the conversation.
  view_value <- function(x, title) {
    print_value(x, if (is.name(substitute(x))) as.character(substitute(x)) else "")
    invisible()
  }
  is_evaluating <- FALSE
  evaluate <- function(step) {
    trouble <- NULL
    is_evaluating <<- TRUE
    on.exit(is_evaluating <<- FALSE)
    # A promise is evaluated at the top level: `parent.frame()` is the global environment there.
    do.call(delayedAssign, list("value", step, globalenv(), environment()))
    tryCatch(
      withCallingHandlers(
        {
          if (is.null(depth)) depth <<- (function() sys.nframe())()
          found <- withVisible(value)
          replace(".Last.value", found$value)
          if (found$visible) print_value(found$value, if (is.name(step)) as.character(step) else "")
          NULL
        },
        error = function(error) trouble <<- note_trouble(error),
        warning = function(warning) {
          call <- conditionCall(warning)
          if (identical(call, at_top)) call <- NULL
          if (isTRUE(getOption("warn") == 1) && is.null(call)) {
            complain(sprintf("Warning: %s\n", conditionMessage(warning)))
            tryInvokeRestart("muffleWarning")
          } else if (isTRUE(getOption("warn") == 0)) {
            if (length(warned) < 50L) warned[[length(warned) + 1L]] <<- list(call = call, message = conditionMessage(warning))
            tryInvokeRestart("muffleWarning")
          }
        }
      ),
      error = function(error) {
        if (is.null(trouble)) trouble <<- list(text = heading("Error", NULL, conditionMessage(error)), calls = character())
        trouble
      }
    )
  }
  read_code <- function(path) {
    bytes <- readBin(path, "raw", file.size(path))
    if (any(bytes == 0)) stop("the code holds a character that is none (NUL)", call. = FALSE)
    code <- rawToChar(bytes)
    Encoding(code) <- "UTF-8"
    gsub("\r\n?", "\n", code)
  }
  fail <- function(trouble) {
    show_warnings()
    complain(paste0(trouble$text, "\n", if (length(trouble$calls) > 1L) paste0("Calls:\n", paste(trouble$calls, collapse = "\n"), "\n")))
    # As at the prompt, the program may have something to do by then.
    wanted <- getOption("error")
    if (is.function(wanted)) wanted <- as.call(list(wanted))
    if (is.language(wanted)) tryCatch(eval(wanted, globalenv()), error = function(e) complain(paste0(heading("Error", NULL, conditionMessage(e)), "\n")))
    list("failed", substr(strsplit(sub(" :[\n ]+", ": ", readable(trouble$text)), "\n", fixed = TRUE)[[1]][1], 1L, 300L))
  }
  execute <- function(path) {
    cell <<- sub(".*-", "", path)
    steps <- tryCatch(
      {
        code <- read_code(path)
        parse(text = code, keep.source = TRUE, encoding = "UTF-8",
          srcfile = srcfilecopy(paste("cell", cell), strsplit(code, "\n", fixed = TRUE)[[1]]))
      },
      error = function(error) list(text = paste0("Error: ", conditionMessage(error)), calls = character())
    )
    if (is.list(steps)) return(fail(steps))
    lines <- vapply(attr(steps, "srcref"), function(ref) as.integer(ref)[1], 1L)
    for (n in seq_along(steps)) {
      reach(lines[n])
      trouble <- evaluate(steps[[n]])
      if (!is.null(trouble)) return(fail(trouble))
      show_warnings()
    }
    list("finished", NULL)
  }
  follow_width <- function() {
    now <- tryCatch(readLines(place("size"), 1L, warn = FALSE), error = function(e) size)
    if (!identical(now, size)) {
      size <<- now
      options(width = min(max(as.integer(strsplit(now, " ")[[1]][1]), 10L), 10000L))
    }
  }
  # Only in here an interrupt is heeded. One that came too late for a run is nobody's, and is let go.
  heeding <- function(action, interrupted) {
    tryCatch(allowInterrupts(action), interrupt = function(e) interrupted)
  }
  forget_interrupts <- function() heeding(Sys.sleep(1e-6), NULL)
  run <- function(path) {
    outcome <- heeding(
      withRestarts(
        {
          running <<- TRUE
          execute(path)
        },
        oi_tui_leave = function(status) {
          status <- suppressWarnings(as.integer(status)[1])
          if (is.na(status) || status == 0L) list("finished", NULL) else list("failed", sprintf("exit status %d", status))
        },
        abort = function() list("failed", "it was aborted")
      ),
      NULL
    )
    running <<- FALSE
    if (is.null(outcome)) {
      complain("\nInterrupted\n")
      outcome <- list("interrupted", NULL)
    }
    outcome
  }
  finish <- function(outcome) {
    force(outcome)
    if (Sys.getpid() != owner) {
      # A child that the program forked came to the end of the cell: it must not take requests.
      # Leaving in order would take the parent's temporary files with it.
      tools::pskill(Sys.getpid(), 9L)
    }
    heeding(tryCatch({ show_warnings(); finish_pages() }, error = function(e) complain(paste0(conditionMessage(e), "\n"))), NULL)
    forget_interrupts()
    setTimeLimit()
    reach(0L)
    flush(stdout())
    tryCatch(tell_where_output_goes(), error = function(e) NULL)
    tell("finished", nonce = spell(nonce), state = spell(outcome[[1]]), reason = spell(outcome[[2]]), mark = paste0(nonce, ".end"))
  }
  serve <- function() {
    # R itself may jump to its top level past everything, as when `browser()` is left with Q; but not past this.
    on.exit({
      if (running) {
        running <<- FALSE
        finish(list("failed", "it jumped to the top level"))
      }
      serve()
    })
    depth <<- NULL
    suspendInterrupts(take_requests())
  }
  take_requests <- function() {
    missed <- 0L
    while (missed < 3L) {
      line <- tryCatch(readLines(pipe("requests"), 1L), error = function(e) character())
      missed <- if (length(line)) 0L else missed + 1L
      words <- strsplit(c(line, "")[1], " ", fixed = TRUE)[[1]]
      if (length(words) < 2L) next
      # The path of a cell may have spaces.
      words[3] <- paste(words[-(1:2)], collapse = " ")
      if (words[1] == "variables") {
        tell("variables", nonce = spell(words[2]), tryCatch(remember()$all(), error = function(e) NULL))
      } else if (words[1] == "variable") {
        tell("variable", nonce = spell(words[2]), tryCatch(remember()$one(words[3]), error = function(e) NULL))
      } else if (words[1] == "table") {
        tell("table", nonce = spell(words[2]), turn_pages()$answer(question(words[3])))
      } else if (words[1] == "complete") {
        tell("completions", nonce = spell(words[2]), tryCatch(completions(words[3]), error = function(e) NULL))
      } else if (words[1] == "run") {
        nonce <<- words[2]
        forget_interrupts()
        # A limit of time would end the wait for requests, too.
        setTimeLimit()
        follow_width()
        compiling <- compiler::enableJIT(-1L)
        outcome <- run(words[3])
        # R leaves its compiler switched off where it was interrupted at work.
        if (identical(outcome[[1]], "interrupted")) compiler::enableJIT(compiling)
        finish(outcome)
      }
    }
    leave("no", 0L, FALSE)
  }

  # -- variables and tables, each of a file of its own that is read when it is first needed

  read_file <- function(name, parent = baseenv()) {
    found <- new.env(parent = parent)
    found$spell <- spell
    sys.source(file.path(home, name), found)
    found
  }
  memory <- NULL
  remember <- function() {
    if (is.null(memory)) memory <<- read_file("r_variables.R")
    memory
  }
  tables <- NULL
  look_at_tables <- function() {
    if (is.null(tables)) tables <<- read_file("r_tables.R")
    tables
  }

  pages <- NULL
  turn_pages <- function() {
    if (is.null(pages)) pages <<- read_file("r_table_pages.R", look_at_tables())
    pages
  }
  completer <- NULL
  completions <- function(words) {
    if (is.null(completer)) completer <<- read_file("r_completion.R", remember())
    found <- completer$complete(question(words)$before)
    offers <- if (length(found$names)) sprintf("[%s,%s]", spell(found$names), spell(found$facts))
    c(typed = sprintf("%d", found$typed), offers = sprintf("[%s]", paste(offers, collapse = ",")), note = spell(found$note))
  }
  # A question, written as hexadecimal JSON of one level; texts of JSON are texts of R.
  question <- function(words) {
    pairs <- strtoi(substring(words, seq(1L, nchar(words), 2L), seq(2L, nchar(words), 2L)), 16L)
    text <- rawToChar(as.raw(pairs))
    Encoding(text) <- "UTF-8"
    found <- regmatches(text, gregexpr("\"(\\w+)\": (\"([^\"\\\\]|\\\\.)*\"|[^,}]+)", text, perl = TRUE))[[1]]
    names <- sub("^\"(\\w+)\": .*", "\\1", found)
    values <- lapply(sub("^\"\\w+\": ", "", found), function(value) {
      switch(value, null = NULL, true = TRUE, false = FALSE, parse(text = value, encoding = "UTF-8", keep.source = FALSE)[[1]])
    })
    structure(values, names = names)
  }

  # -- the beginning

  show_help <- function(files, header, title, delete.file) {
    for (path in files) {
      # Overstruck letters are bold on paper only.
      writeLines(gsub("_\b|.\b", "", readLines(path, warn = FALSE)))
      if (isTRUE(delete.file)) unlink(path)
    }
  }
  # R compiles nothing before it is at its prompt. So what it calls at its start only prepares for that, and `begin`
  # is called by the line that the application types there.
  prepare <- function() {
    prompt <- getOption("prompt")
    # As the mark of an event, the prompt is not shown.
    tell("prompt", c(mark = spell("prompt")))
    options(prompt = "\033]6973;prompt\a")
    assign(".First", function() {
      rm(".First", envir = globalenv())
      options(prompt = prompt)
      begin()
    }, envir = globalenv())
  }
  begin <- function() {
    if (!isTRUE(l10n_info()[["UTF-8"]])) {
      for (name in c("C.UTF-8", "en_US.UTF-8")) if (nzchar(suppressWarnings(Sys.setlocale("LC_CTYPE", name)))) break
    }
    options(keep.source = TRUE, pager = show_help, help_type = "text", menu.graphics = FALSE)
    if (isTRUE(capabilities("png"))) {
      options(device = open_device)
      setHook("plot.new", function(...) show_pages(), "append")
      setHook("grid.newpage", function(...) show_pages(), "append")
    }
    replace(".traceback", function(x = NULL, ...) trace_back(if (is.null(x)) last_calls else x, ...))
    all_calls <<- read_file("r_frames.R")$hide_frames(replace, function() if (is_evaluating) depth)
    replace("readline", readline)
    replace("sink", divert)
    replace("warnings", warnings)
    for (name in c("quit", "q")) replace(name, quit)
    for (place in list(asNamespace("utils"), as.environment("package:utils"))) {
      unlockBinding("View", place)
      assign("View", view_value, envir = place)
      lockBinding("View", place)
    }
    tell("ready")
    serve()
  }
  assign(".First", prepare, envir = globalenv())
}, new.env(parent = .BaseNamespaceEnv))
