-- The driver inside Lua: takes cells from the request pipe and tells of their fate on the events' pipe.
-- Lua heeds one interrupt for each chunk of its command line, and dies of the next. So this chunk only prepares; the
-- ones that follow it serve, each until it was interrupted.
local folder = ...
local requests = assert(io.open(folder .. "/requests", "r"))
local events = assert(io.open(folder .. "/events", "w"))
local terminal = assert(io.open("/dev/tty", "w"))
local open, load, pcall, error, tostring, type, print = io.open, load or loadstring, pcall, error, tostring, type, print
local assert, setmetatable, written_to, kind_of = assert, setmetatable, io.output, io.type
local traceback, hook_of, set_hook, registry = debug.traceback, debug.gethook, debug.sethook, debug.getregistry()
local about, metatable, rawget = debug.getinfo, debug.getmetatable, rawget
local find, format, gmatch, gsub, match, sub = string.find, string.format, string.gmatch, string.gsub, string.match, string.sub
local byte, concat, unpack = string.byte, table.concat, table.unpack or unpack
local pack = table.pack or function(...) return { n = select("#", ...), ... } end
local errors, output = io.stderr, io.stdout
local leave = os.exit
-- As many lines of a cell are tried as its last expression.
local most_lines = 50
requests:setvbuf("no")
events:setvbuf("no")
terminal:setvbuf("no")
io.stdout:setvbuf("no")
-- What a run leaves unread then stays with the terminal, where the next one's beginning forgets it.
io.stdin:setvbuf("no")
arg = {}

local function interrupted(err)
	return type(err) == "string" and find(err, "interrupted!$") ~= nil
end

-- A program may catch its own errors, but not what stops it.
local function passed(fine, err, ...)
	if not fine and interrupted(err) then error(err, 0) end
	return fine, err, ...
end
local catch, catch_with = pcall, xpcall
_G.pcall = function(...) return passed(catch(...)) end
_G.xpcall = function(action, handle, ...)
	return passed(catch_with(action, function(err) if interrupted(err) then return err end return handle(err) end, ...))
end

-- An interrupt is heard by the main thread alone, as a hook; so what runs beside it looks now and then whether it came.
local main, create = coroutine.running(), coroutine.create
local function hear()
	if hook_of(main) == "external hook" then error("interrupted!", 0) end
end
coroutine.create = function(...)
	local made = create(...)
	set_hook(made, hear, "", 100000)
	return made
end
local resume = coroutine.resume
local function went_on(fine, ...)
	if not fine then error((...), 0) end
	return ...
end
coroutine.wrap = function(...)
	local made = coroutine.create(...)
	return function(...) return went_on(resume(made, ...)) end
end

-- A hook of the program is not called for the driver, where an error of its own would end Lua.
debug.sethook = function(...)
	local given, at = { ... }, type((...)) == "thread" and 2 or 1
	local hook = given[at]
	if type(hook) == "function" then
		given[at] = function(...)
			local level = 2
			while about(level, "S").what == "C" and about(level + 1, "S") do level = level + 1 end
			local place = about(level, "S").source
			if find(place, "lua_driver.lua", 1, true) or place == "=(command line)" then return end
			return hook(...)
		end
	end
	return set_hook(unpack(given))
end

-- What called the cell is no part of the program. What stands here for a function of Lua is shown as that.
local function of_program(text)
	local kept = {}
	for line in gmatch(text .. "\n", "(.-)\n") do
		if find(line, "lua_driver.lua:", 1, true) then
			if find(kept[#kept] or "", "^\t%[C%]: in %a+ '%l+_?%l*'$") then kept[#kept] = nil end
			local name = match(line, "in function '?([%w_.]+)'?$")
			if name then kept[#kept + 1] = "\t[C]: in function '" .. name .. "'" end
		elseif not find(line, "^\t%(command line%):") then
			kept[#kept + 1] = line
		end
	end
	return concat(kept, "\n")
end
debug.traceback = function(...)
	local given, at = pack(...), type((...)) == "thread" and 2 or 1
	local text = given[at]
	if text ~= nil and type(text) ~= "string" and type(text) ~= "number" then return text end
	if at == 1 then given[2], given.n = (given[2] or 1) + 1, 2 end
	return (of_program(traceback(unpack(given, 1, given.n))))
end

os.exit = function(code)
	if code == nil or code == true then code = 0 elseif code == false then code = 1 end
	error(setmetatable({ leave = code }, { __tostring = function() return "exit status " .. code end }), 0)
end

local function spell(text)
	if text == nil then return "null" end
	text = gsub(text, '[%c\\"]', function(c) return format("\\u%04x", byte(c)) end)
	return '"' .. text .. '"'
end

-- The way through the cells to where an error was raised; nothing where there is but one step.
local function way()
	local lines = {}
	for line in gmatch(traceback("", 3), "[^\n]+") do
		if find(line, "lua_driver.lua", 1, true) then break end
		if not find(line, "[C]", 1, true) and find(line, ":%d+:") then lines[#lines + 1] = line end
	end
	return #lines > 1 and "\n" .. concat(lines, "\n") or ""
end

local function trouble(err)
	if type(err) == "table" and err.leave then return err end
	if interrupted(err) then return { interrupted = true } end
	local fine, text = pcall(tostring, err)
	-- An address says nothing; Lua itself says as much.
	local meta = type(err) == "table" and metatable(err)
	if type(err) == "table" and not (meta and rawget(meta, "__tostring")) then text = "(error object is a table value)" end
	if not fine then text = "an error that cannot be a text" end
	return { text = text, way = way() }
end

-- What a cell declares at its top level is there in the next one: what is `local` to it becomes global.
local opens = { ["function"] = 1, ["do"] = 1, ["if"] = 1, ["repeat"] = 1, ["end"] = -1, ["until"] = -1 }
local function kept(code)
	local parts, at, depth = {}, 1, 0
	local function take(stop)
		parts[#parts + 1] = sub(code, at, stop)
		at = stop + 1
	end
	while at <= #code do
		local word, level = match(code, "^[%a_][%w_]*", at), match(code, "^%-%-%[(=*)%[", at) or match(code, "^%[(=*)%[", at)
		local quote = match(code, "^['\"]", at)
		if level then
			local _, stop = find(code, "]" .. level .. "]", at, true)
			take(stop or #code)
		elseif find(code, "^%-%-", at) then
			take((find(code, "\n", at, true) or #code + 1) - 1)
		elseif quote then
			local stop = at + 1
			while stop <= #code and sub(code, stop, stop) ~= quote do
				stop = stop + (sub(code, stop, stop) == "\\" and 2 or 1)
			end
			take(stop)
		elseif word == "local" and depth == 0 then
			local stop = match(code, "^local%s+[%a_][%w_]*()", at)
			local following = stop
			while following do
				stop, following = following, match(code, "^%s*,%s*[%a_][%w_]*()", following)
			end
			if not stop or find(code, "^%s*<", stop) then
				take(at + 4)
			elseif find(code, "^local%s+function%s", at) or find(code, "^%s*=[^=]", stop) then
				at = at + 5
			else
				parts[#parts + 1] = sub(code, at + 5, stop - 1) .. " = nil"
				at = stop
			end
		elseif word then
			depth = depth + (opens[word] or 0)
			take(at + #word - 1)
		else
			take(match(code, "^[^%w_%-%['\"]*()", at + 1) - 1)
		end
	end
	return concat(parts)
end

-- The code as a function that returns the values of its last lines behind a nil, where these are an expression by
-- themselves, and whether that is a call; nothing where they are not. The nil keeps the cell in tracebacks, which a tail
-- call is not in. A line that may go on with the call of the one before it is left to that.
local function with_value(code, name)
	local at = #code + 1
	for _ = 1, most_lines do
		while at > 1 and sub(code, at - 1, at - 1) ~= "\n" do at = at - 1 end
		local before, last = sub(code, 1, at - 1), sub(code, at)
		local said = gsub(last, "%-%-[^\n]*", "")
		if find(said, "%S") and (at == 1 or not find(last, "^%s*[%(%[{'\"]")) and load("return " .. last) and load(before) then
			local chunk = load(before .. "return nil, " .. last, name)
			if chunk then return chunk, load(last) ~= nil end
		end
		if at == 1 then return end
		at = at - 1
	end
end

local cell = 0
local function run(path)
	local file = assert(open(path, "rb"))
	local code = file:read("a") or ""
	file:close()
	cell = match(path, "%d+$")
	set_hook()
	code = kept(gsub(code, "^#", "--#"))
	local name = "=cell " .. cell
	local chunk, calls = with_value(code, name)
	local first, err = chunk and 3 or 2, nil
	if not chunk then chunk, err = load(code, name) end
	if not chunk then
		errors:write(err, "\n")
		return "failed", err
	end
	local results = pack(catch_with(chunk, trouble))
	if results[1] then
		local value = results[first]
		-- `io.write` and `os.execute` return only that they did it.
		local done = calls and (kind_of(value) or value == true and results[first + 1] == "exit")
		if results.n < first or done then return "finished" end
		local shown, problem = pcall(print, unpack(results, first, results.n))
		if shown then return "finished" end
		if interrupted(problem) then error(problem, 0) end
		errors:write("the value cannot be shown: ", type(problem) == "string" and problem or "its __tostring fails", "\n")
		return "failed", "the value cannot be shown"
	end
	local why = results[2]
	if why.leave then
		if why.leave == 0 then return "finished" end
		return "failed", "exit status " .. why.leave
	end
	if why.interrupted then
		errors:write("interrupted\n")
		return "interrupted"
	end
	errors:write(why.text, why.way, "\n")
	return "failed", match(why.text, "^[^\n]*")
end

-- The run whose end is still to be reported, the one whose end was reported, and its result.
local current, reported, state, reason

-- Says so when a cell has sent what `io.write` writes elsewhere for good, since later cells would be silent.
local since
local function tell_where_output_goes()
	local place = written_to()
	if place == output or place == errors or kind_of(place) ~= "file" then
		since = nil
		return
	end
	since = since or cell
	terminal:write(format("(What io.write writes goes to a file since cell %d; io.output(io.stdout) brings it back.)\n", since))
end

local function conclude()
	output:flush()
	pcall(tell_where_output_goes)
	events:write(format('{"event":"finished","nonce":"%s","state":"%s","reason":%s,"mark":"%s.end"}\n', current, state, spell(reason), current))
	terminal:write("\27]6973;" .. current .. ".end\7")
	reported, current = current, nil
end

local remember = assert(loadfile(match(about(1, "S").source, "^@(.*)lua_driver%.lua$") .. "lua_memory.lua"))(_G, spell)

-- Takes requests until it is interrupted, or, as the `last` chunk, until there are none. An interrupt may come between
-- any two instructions: then this is left, and begins again with what was still to be reported.
local function serve(last)
	local goes_on = true
	if current then conclude() end
	while goes_on do
		local line, problem = requests:read("l")
		if line == nil and problem == nil then
			-- The application has no more requests. The state is closed, so that `__gc` and `__close` of the program run.
			leave(0, true)
		end
		if line == nil then
			-- An interrupt ended the reading; the stream would stay at its end for ever.
			requests:close()
			requests = open(folder .. "/requests", "r")
			if not requests then leave(0) end
			requests:setvbuf("no")
			goes_on = last
			line = ""
		end
		local word, nonce, path = match(line, "^(%w+) (%w+) ?(.*)$")
		if word == "run" then
			current, state, reason = nonce, "interrupted", nil
			local fine, how, why = pcall(run, path)
			if fine then state, reason = how, why end
			goes_on = last or state ~= "interrupted"
			conclude()
		elseif word == "variables" or word == "variable" or word == "completions" then
			events:write(format('{"event":"%s","nonce":"%s",%s}\n', word, nonce, remember(word, path)))
		elseif word == "end" and nonce ~= reported then
			-- An interrupt that came too late took the request of this run.
			current, state, reason = nonce, "interrupted", nil
			conclude()
		end
	end
end

-- The next chunk finds this whatever a cell made of the globals, since it gets its own: those are the cells' again
-- before anything else of it runs.
local cells_globals, own_globals = _G, {}
own_globals.oi_tui = function(last)
	registry[2] = cells_globals
	while not pcall(serve, last) and last do end
	registry[2] = own_globals
end
if setfenv then
	-- Lua 5.1 keeps the globals elsewhere.
	registry.oi_tui = own_globals.oi_tui
else
	registry[2] = own_globals
end
events:write('{"event":"ready"}\n')
