-- What the program remembers, and completions for its code. No code of the program runs for it: tables are read without
-- their metatables, and what this needs of Lua is taken before any cell can change it.
local globals, spell = ...
local next, rawget, rawlen, type, tostring, pcall, tonumber = next, rawget, rawlen, type, tostring, pcall, tonumber
local char, find, format, gsub, match, rep, sub = string.char, string.find, string.format, string.gsub, string.match, string.rep, string.sub
local concat, sort, library, words_of = table.concat, table.sort, string, string.gmatch
local about, local_of, metatable = debug.getinfo, debug.getlocal, debug.getmetatable
local most, offered, longest, preview_size = 2000, 100, 60, 20000
local keywords = {}
for word in words_of("and break do else elseif end false for function goto if in local nil not or repeat return then true until while", "%a+") do
	keywords[word] = true
end

local own = {}
for name in next, globals do own[name] = true end

-- The names of a table that are texts, in order.
local function names_of(values)
	local names = {}
	for name in next, values do
		if type(name) == "string" then names[#names + 1] = name end
	end
	sort(names)
	return names
end

local function count(values)
	local many = 0
	for _ in next, values do many = many + 1 end
	return many
end

-- The parameters of a function, where Lua knows them.
local function parameters(value)
	local facts = about(value, "u")
	local names = {}
	for at = 1, facts.nparams or 0 do names[at] = local_of(value, at) or "?" end
	if facts.isvararg then names[#names + 1] = "..." end
	return "(" .. concat(names, ", ") .. ")"
end

local function describe(value)
	local kind = type(value)
	if kind == "string" then return #value <= longest and format("%q", value) or format("string of %d bytes", #value) end
	if kind == "table" then
		local many = count(value)
		return many == rawlen(value) and format("table of %d", many) or format("table of %d key%s", many, many == 1 and "" or "s")
	end
	if kind == "function" then return "function" .. (about(value, "S").what == "C" and "" or parameters(value)) end
	if kind == "number" or kind == "boolean" or kind == "nil" then return tostring(value) end
	return kind
end

local function variables(nonce)
	local listed, total = {}, 0
	for _, name in next, names_of(globals) do
		if not own[name] then
			total = total + 1
			local value = rawget(globals, name)
			if total <= most then
				listed[total] = format('{"name":%s,"type":%s,"summary":%s,"size":null}', spell(name), spell(type(value)), spell(describe(value)))
			end
		end
	end
	return format('"total":%d,"variables":[%s]', total, concat(listed, ","))
end

local function preview(value, depth)
	if type(value) ~= "table" or depth > 3 then return describe(value) end
	local lines = {}
	local function add(key, item)
		if #lines < 200 then lines[#lines + 1] = rep("  ", depth + 1) .. key .. preview(item, depth + 1) end
	end
	for at = 1, rawlen(value) do add("", rawget(value, at)) end
	for _, name in next, names_of(value) do add(name .. " = ", rawget(value, name)) end
	return #lines == 0 and describe(value) or "{\n" .. concat(lines, ",\n") .. "\n" .. rep("  ", depth) .. "}"
end

local function variable(name)
	local value = rawget(globals, name)
	if value == nil then return '"none":true' end
	return format('"description":%s,"preview":%s', spell(describe(value)), spell(sub(preview(value, 0), 1, preview_size)))
end

-- The value that `a.b[1]` stands for; nothing where it is not known without running code.
local function resolve(chain)
	local value, first = globals, true
	for name in words_of(chain, "[%a_][%w_]*") do
		if type(value) ~= "table" then return nil end
		value, first = rawget(value, name), false
	end
	return not first and value or nil
end

local escapes = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }
local function read_question(words)
	local text = gsub(words, "%x%x", function(pair) return char(tonumber(pair, 16)) end)
	text = match(text, '^{"before": "(.*)"}$') or ""
	text = gsub(text, "\\u00(%x%x)", function(pair) return char(tonumber(pair, 16)) end)
	return (gsub(text, "\\(.)", function(letter) return escapes[letter] or letter end))
end

-- Whether a text or a comment is open at the end of a line.
local function is_text(line)
	local bare = gsub(gsub(line, "\\.", ""), '%b""', "")
	bare = gsub(bare, "%b''", "")
	return find(bare, "[\"']") ~= nil or find(bare, "--", 1, true) ~= nil
end

local function completions(words)
	local before = read_question(words)
	local line = match(before, "[^\n]*$")
	local typed = match(line, "[%a_][%w_]*$") or ""
	local head = sub(line, 1, #line - #typed)
	local found, seen, note = {}, {}, ""
	local function add(name, facts)
		if sub(name, 1, #typed) == typed and name ~= typed and not seen[name] and #found < offered then
			seen[name] = true
			found[#found + 1] = format("[%s,%s]", spell(name), spell(facts))
		end
	end
	local function add_members(values)
		for _, name in next, names_of(values) do
			if match(name, "^[%a_][%w_]*$") then add(name, describe(rawget(values, name))) end
		end
	end
	local chain = match(head, "([%a_][%w_.]*)[.:]$")
	local called = match(head, "([%a_][%w_.:]*)%([^()]*$")
	if is_text(line) then
		typed = ""
	elseif chain then
		local value = resolve(chain)
		if type(value) == "table" then
			add_members(value)
			local class = metatable(value)
			local index = type(class) == "table" and rawget(class, "__index")
			if type(index) == "table" then add_members(index) end
		elseif type(value) == "string" then
			add_members(library)
		end
	elseif not find(head, "[.:]$") then
		local value = called and resolve((gsub(called, ":", ".")))
		if type(value) == "function" and about(value, "S").what ~= "C" then note = called .. parameters(value) end
		if typed ~= "" then
			for _, name in next, names_of(globals) do if not own[name] then add(name, describe(rawget(globals, name))) end end
			for _, name in next, names_of(globals) do add(name, describe(rawget(globals, name))) end
			for _, word in next, names_of(keywords) do add(word, "") end
		end
	end
	return format('"typed":%d,"offers":[%s],"note":%s', #typed, concat(found, ","), spell(note))
end

local answers = { variables = variables, variable = variable, completions = completions }
return function(word, argument)
	local fine, fields = pcall(answers[word], argument)
	return fine and fields or '"none":true'
end
