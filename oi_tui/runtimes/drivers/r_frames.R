# Lets a program count its calls as at the prompt of R: what runs the cell lies below them. The functions here have the
# shape of R's own, so that each is called from where that would be. `depth` tells how many frames lie below, or NULL.
hide_frames <- function(replace, depth) {
  calls <- base::sys.calls
  # How many frames are left out for a function that has the number `at`.
  below <- function(at) {
    found <- depth()
    if (is.null(found) || at <= found) 0L else found
  }
  number <- function(at, frame) if (frame > below(at)) frame - below(at) else 0L
  # What R's own function is asked for.
  place <- function(at, which) {
    if (!is.numeric(which) || length(which) != 1L || is.na(which)) return(which)
    if (which > 0) return(which + below(at))
    # Too far: R says so.
    if (at + which < below(at)) -100000L else which
  }
  is_top <- function(at, which) below(at) > 0L && is.numeric(which) && length(which) == 1L && isTRUE(at + which == below(at))
  own <- list(
    sys.nframe = function() {
      at <- .Internal(sys.nframe())
      number(at, at)
    },
    sys.call = function(which = 0L) {
      at <- .Internal(sys.nframe())
      if (is_top(at, which)) return(NULL)
      .Internal(sys.call(place(at, which)))
    },
    sys.function = function(which = 0L) {
      at <- .Internal(sys.nframe())
      if (is_top(at, which)) return(NULL)
      .Internal(sys.function(place(at, which)))
    },
    sys.frame = function(which = 0L) {
      at <- .Internal(sys.nframe())
      if (is_top(at, which)) return(globalenv())
      .Internal(sys.frame(place(at, which)))
    },
    sys.parent = function(n = 1L) {
      at <- .Internal(sys.nframe())
      parent <- .Internal(sys.parent(n))
      if (below(at) > 0L) number(at, parent) else parent
    },
    sys.parents = function() {
      at <- .Internal(sys.nframe())
      parents <- .Internal(sys.parents())
      if (below(at) == 0L) return(parents)
      vapply(parents[-seq_len(below(at))], function(parent) number(at, parent), 0L)
    },
    sys.calls = function() {
      at <- .Internal(sys.nframe())
      calls <- .Internal(sys.calls())
      if (below(at) > 0L) as.pairlist(calls[-seq_len(below(at))]) else calls
    },
    sys.frames = function() {
      at <- .Internal(sys.nframe())
      frames <- .Internal(sys.frames())
      if (below(at) > 0L) as.pairlist(frames[-seq_len(below(at))]) else frames
    }
  )
  for (name in names(own)) replace(name, own[[name]])
  calls
}
