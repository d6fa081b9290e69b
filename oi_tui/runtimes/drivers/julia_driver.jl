# The driver inside Julia: takes cells from the request pipe, evaluates them in Main statement by statement as the prompt
# would, and tells of their fate on the events' pipe.
module OiTui

# What is here runs seldom, and is compiled in every session.
Base.Experimental.@optlevel 0

struct Leave <: Exception
    status::Int
end

const folder = popfirst!(ARGS)
const owner = getpid()
const requests = open(joinpath(folder, "requests"), "r")
# In a pipe there is no end to go to, as appending would.
const events = open(joinpath(folder, "events"); write = true, truncate = false, create = false)
const terminal = open("/dev/tty", "w")
const line = open(joinpath(folder, "line"), "r+")
nonce = "idle"
marks = 0

function spell(text)
    text === nothing && return "null"
    text isa Integer && return string(text)
    letters = IOBuffer()
    print(letters, '"')
    for letter in string(text)
        if !isvalid(letter)
            print(letters, "\\ufffd")
        elseif letter in ('"', '\\')
            print(letters, '\\', letter)
        elseif letter < ' ' || letter == '\x7f'
            print(letters, "\\u", string(UInt32(letter), base = 16, pad = 4))
        else
            print(letters, letter)
        end
    end
    print(letters, '"')
    return String(take!(letters))
end

function tell(fields...; mark = nothing)
    getpid() == owner || return
    all = mark === nothing ? fields : (fields..., "mark" => mark)
    write(events, "{" * join(("\"$name\":" * spell(value) for (name, value) in all), ",") * "}\n")
    flush(events)
    if mark !== nothing
        flush(stdout)
        flush(stderr)
        write(terminal, "\e]6973;$mark\a")
        flush(terminal)
    end
    return
end

function reach(number)
    seekstart(line)
    write(line, Int32(number))
    flush(line)
end

# Assignments in loops at the top level mean the variables of the cell, as they do at the prompt.
function soft(expression)
    expression isa Expr || return expression
    expression.head in (:meta, :import, :using, :export, :module, :error, :incomplete, :thunk, :toplevel) && return expression
    expression.head === :global && all(part -> part isa Symbol, expression.args) && return expression
    return Expr(:block, Expr(:softscope, true), expression)
end

function show_value(value)
    value === nothing && return
    if Base.invokelatest(showable, MIME("image/png"), value)
        image = Base.invokelatest(repr, MIME("image/png"), value)
        global marks += 1
        encode = Base.require(Base.PkgId(Base.UUID("2a0f44e3-6c83-55bd-87e4-b1978d98bd5f"), "Base64")).base64encode
        tell("event" => "display", "format" => "base64.png", "content" => Base.invokelatest(encode, image); mark = "$nonce.m$marks")
    else
        context = IOContext(stdout, :limit => true, :module => Main)
        Base.invokelatest(show, context, MIME("text/plain"), value)
        println(stdout)
    end
end

function explain(trouble, trace)
    frames = stacktrace(trace)
    mine = findfirst(frame -> endswith(string(frame.file), "julia_driver.jl"), frames)
    frames = mine === nothing ? frames : frames[1:mine-1]
    # What evaluates an expression lies between the cell and us.
    while !isempty(frames) && frames[end].func in (:eval, Symbol("top-level scope"), :invokelatest) && !startswith(string(frames[end].file), "cell ")
        pop!(frames)
    end
    flush(stdout)
    try
        print(stderr, "ERROR: ")
        Base.invokelatest(showerror, stderr, trouble, frames)
        println(stderr)
    catch
        println(stderr, typeof(trouble))
    end
    summary = try
        first(split(Base.invokelatest(sprint, showerror, trouble), '\n'))
    catch
        string(typeof(trouble))
    end
    return ("failed", first(summary, 300))
end

function execute(code, cell)
    tree = Meta.parseall(code; filename = "cell $cell")
    steps = tree.head === :toplevel ? tree.args : Any[tree]
    for step in steps
        if step isa Expr && step.head in (:error, :incomplete)
            trouble = step.args[1]
            return explain(trouble isa Exception ? trouble : ErrorException(string("syntax: ", trouble)), Ptr{Nothing}[])
        end
    end
    quiet = occursin(r";\s*(#[^\n]*)?\s*\z", code)
    place = LineNumberNode(1, Symbol("cell $cell"))
    for (at, step) in enumerate(steps)
        if step isa LineNumberNode
            place = step
            reach(step.line)
            continue
        end
        value = Core.eval(Main, Expr(:toplevel, place, soft(step)))
        if at == length(steps)
            Core.eval(Main, Expr(:(=), :ans, QuoteNode(value)))
            quiet || show_value(value)
        end
    end
    return ("finished", nothing)
end

function outcome(code, cell)
    try
        return Base.reenable_sigint(() -> execute(code, cell))
    catch trouble
        trace = catch_backtrace()
        while trouble isa LoadError
            trouble = trouble.error
        end
        if trouble isa Leave
            return trouble.status == 0 ? ("finished", nothing) : ("failed", "exit status $(trouble.status)")
        elseif trouble isa InterruptException
            println(stderr, "Interrupted")
            return ("interrupted", nothing)
        end
        return explain(trouble, trace)
    end
end

# What was typed for an earlier run answers no question of this one.
function forget_typed()
    stdin isa Base.TTY && bytesavailable(stdin) > 0 && readavailable(stdin)
    return
end

# An interrupt that came when nothing ran is nobody's.
function forget_interrupts()
    try
        Base.reenable_sigint(() -> yield())
    catch trouble
        trouble isa InterruptException || rethrow()
    end
end

function serve()
    Base.exit_on_sigint(false)
    tell("event" => "ready")
    Base.disable_sigint() do
        while !eof(requests)
            words = split(readline(requests), ' '; limit = 3)
            words[1] == "run" || continue
            global nonce = String(words[2])
            global marks = 0
            forget_interrupts()
            forget_typed()
            path = String(words[3])
            code = replace(read(path, String), "\r\n" => "\n")
            state, reason = outcome(code, last(split(path, '-')))
            forget_interrupts()
            reach(0)
            tell("event" => "finished", "nonce" => nonce, "state" => state, "reason" => reason; mark = "$nonce.end")
        end
    end
    ccall(:_exit, Cvoid, (Cint,), 0)
end

end

exit(status = 0) = throw(OiTui.Leave(Int(status)))
quit() = exit()
OiTui.serve()
