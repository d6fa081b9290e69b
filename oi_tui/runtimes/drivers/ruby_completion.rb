# Completions for code that is being typed: variables, methods, constants, keys, libraries and files. No code of the
# program runs for it: only what is built in is asked, by Ruby's own methods.
class OiCompletion
  MOST = 100
  LONGEST = 200
  NAME = /[[:alpha:]_][[:word:]]*[?!]?/
  VARIABLE = /(?:@{0,2}|\$)[[:alpha:]_][[:word:]]*/
  CHAIN = /(?<![\w.:@$)\]"'])(#{VARIABLE}(?:::[A-Z][[:word:]]*)*(?:\[(?::\w+|"[^"\\]*"|'[^'\\]*'|\d+)\])*)/
  KEYWORDS = %w[
    alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo rescue retry
    return self super then true undef unless until when while yield
  ].freeze
  OWN = {
    class: Kernel.instance_method(:class), is: Module.instance_method(:===), name: Module.instance_method(:name),
    methods: Module.instance_method(:instance_methods), private: Module.instance_method(:private_instance_methods),
    method: Module.instance_method(:instance_method), singleton: Kernel.instance_method(:singleton_class),
    constants: Module.instance_method(:constants), constant: Module.instance_method(:const_get),
    autoload: Module.instance_method(:autoload?), at: Array.instance_method(:at), key: Hash.instance_method(:key?),
    each_pair: Hash.instance_method(:each_pair), fetch: Hash.instance_method(:fetch), many: Array.instance_method(:length)
  }.freeze

  # `places` gives the names of what is remembered, each with how to get its value; `describe` a few words on a value.
  def initialize(places, describe)
    @places = places
    @describe = describe
  end

  def answer(before)
    line = before[/[^\n]*\z/]
    text = open_text(line)
    typed, found, note = text ? in_text(*text) : in_code(line, before)
    offers = found.uniq(&:first).reject { |name, _| name == typed }.first(MOST)
    { 'typed' => typed.length, 'offers' => offers, 'note' => note.to_s[0, LONGEST] }
  end

  private

  def in_code(line, before)
    case line
    when /#{CHAIN}(?:&?\.)(#{NAME})?\z/ then [$2.to_s, value_of($1) { |value| methods_of(value, $2.to_s) }, '']
    when /(["'\])}])(?:&?\.)(#{NAME})?\z/ then [$2.to_s, methods_of(literal($1, line), $2.to_s), '']
    when /(?<![\w.])(\d+)\.([a-z_]\w*)?\z/ then [$2.to_s, methods_of(1, $2.to_s), '']
    when /#{CHAIN}::(#{NAME})?\z/ then [$2.to_s, value_of($1) { |value| members(value, $2.to_s) }, '']
    when /#{CHAIN}\[:(\w*)\z/ then [$2, keys($1, Symbol, $2), '']
    when /(?<![:\w])(?::)(\w*)\z/, /[)\]}]\.\w*\z/, /\.\w*\z/ then ['', [], '']
    when /(?<![\w@$])((?:@{1,2}|\$)?[[:alpha:]_][[:word:]]*|@{1,2}|\$)\z/ then [$1, names($1), signature(before)]
    else ['', [], signature(before)]
    end
  end

  # The text that is open at the end of the line: what is before it, and what is typed of it.
  def open_text(line)
    mark = nil
    start = 0
    at = 0
    while at < line.length
      if mark
        if line[at] == '\\' then at += 1
        elsif line[at] == mark then mark = nil
        end
      elsif line[at] == '#' then return nil
      elsif line[at] == '"' || line[at] == "'" then mark, start = line[at], at
      end
      at += 1
    end
    [line[0, start], line[(start + 1)..]] if mark
  end

  def in_text(before, typed)
    inner = typed[/\#\{([^}]*)\z/, 1]
    return in_code(inner, inner) if inner
    return [typed, keys($1, String, typed), ''] if before =~ /#{CHAIN}\[\z/
    return [typed, libraries(typed), ''] if before =~ /\brequire[\s(]*\z/
    folder = typed[%r{\A.*/}].to_s
    found = Dir.children(folder.empty? ? '.' : folder).sort.filter_map do |name|
      next unless name.start_with?(typed[folder.length..]) && (typed[folder.length..] != '' || !name.start_with?('.'))
      [folder + name + (File.directory?(folder + name) ? '/' : ''), '']
    end
    [typed, found, '']
  rescue SystemCallError
    [typed, [], '']
  end

  def libraries(typed)
    found = $LOAD_PATH.flat_map { |folder| Dir.glob("#{typed}*{.rb,/}", base: folder.to_s) }
    found.map { |name| [name.delete_suffix('.rb'), ''] }.sort
  end

  def literal(mark, line)
    case mark
    when ']' then line =~ /(?<![\w)\]])\[[^\[\]]*\]&?\.#{NAME}?\z/ ? [] : nil
    when '}' then line =~ /(?<![\w)]\s)(?<![\w)])\{[^{}]*\}&?\.#{NAME}?\z/ ? {} : nil
    else ''
    end
  end

  # What the block gives for the value of a chain; nothing where the value is not known.
  def value_of(chain)
    name, *steps = chain.scan(/\A#{VARIABLE}|::[A-Z][[:word:]]*|\[[^\]]*\]/)
    place = @places.call[name]
    value = place ? place.call : constant(Object, name)
    steps.each { |step| value = step.start_with?('::') ? constant(value, step[2..]) : item(value, step[1..-2]) }
    yield value
  rescue NameError, IndexError, TypeError
    []
  end

  def constant(place, name)
    raise NameError unless name =~ /\A[A-Z]/ && OWN[:is].bind_call(Module, place)
    raise NameError if OWN[:autoload].bind_call(place, name)
    OWN[:constant].bind_call(place, name)
  end

  def item(value, key)
    case
    when key =~ /\A\d/ && OWN[:class].bind_call(value).equal?(Array) then OWN[:at].bind_call(value, key.to_i)
    when OWN[:class].bind_call(value).equal?(Hash)
      wanted = key.start_with?(':') ? key[1..].to_sym : key[1..-2]
      OWN[:fetch].bind_call(value, wanted)
    else raise IndexError
    end
  end

  # Methods of the value's own classes come before those of every object.
  def methods_of(value, typed)
    is_module = OWN[:is].bind_call(Module, value)
    kind = is_module ? OWN[:singleton].bind_call(value) : OWN[:class].bind_call(value)
    common = OWN[:methods].bind_call(is_module ? Class : Object) - [:new]
    all = OWN[:methods].bind_call(kind)
    found = (all - common).sort + (typed.empty? ? [] : (all & common).sort)
    found.select { |name| name.start_with?(typed) && name.match?(/\A[a-z_]\w*[?!]?\z/i) }.map { |name| [name.to_s, parameters(kind, name)] }
  end

  def members(value, typed)
    return [] unless OWN[:is].bind_call(Module, value)
    constants = OWN[:constants].bind_call(value).map(&:to_s).sort.select { |name| name.start_with?(typed) }
    constants.map { |name| [name, ''] } + methods_of(value, typed)
  end

  def keys(chain, kind, typed)
    value_of(chain) do |value|
      next [] unless OWN[:class].bind_call(value).equal?(Hash)
      found = []
      OWN[:each_pair].bind_call(value) do |key, item|
        found << [key.to_s, @describe.call(item)] if OWN[:class].bind_call(key).equal?(kind) && key.to_s.start_with?(typed)
        break if found.length == MOST
      end
      found
    end
  end

  def names(typed)
    places = @places.call
    found = places.keys.reverse.select { |name| name.start_with?(typed) }.map { |name| [name, @describe.call(places[name].call)] }
    return found unless typed.match?(/\A[[:alpha:]_]/)
    methods = OWN[:private].bind_call(Object) | OWN[:methods].bind_call(Object)
    methods = methods.select { |name| name.start_with?(typed) && name.match?(/\A[a-z_]\w*[?!]?\z/i) }
    found += methods.sort.map { |name| [name.to_s, parameters(Object, name)] }
    found += KEYWORDS.select { |name| name.start_with?(typed) }.map { |name| [name, ''] }
    found + OWN[:constants].bind_call(Object).map(&:to_s).sort.select { |name| name.start_with?(typed) }.map { |name| [name, ''] }
  end

  # The parameters of a method of a class, as in its definition.
  def parameters(kind, name)
    shapes = { req: '%s', opt: '%s = …', rest: '*%s', keyreq: '%s:', key: '%s: …', keyrest: '**%s', block: '&%s' }
    parts = OWN[:method].bind_call(kind, name).parameters.filter_map do |shape, part|
      format(shapes[shape], part) if part && shapes[shape]
    end
    parts.empty? ? '' : "(#{parts.join(', ')})"
  rescue NameError
    ''
  end

  # The method in whose call the caret is, with its parameters.
  def signature(before)
    call = (before[-2000..] || before)[/(?:#{CHAIN}\.)?(?<![\w])(#{NAME})\([^()\n]*\z/]
    return '' unless call && call =~ /\A(?:#{CHAIN}\.)?(#{NAME})\(/
    chain, name = $1, $2
    kind = Object
    if chain
      found = value_of(chain) { |value| [OWN[:is].bind_call(Module, value) ? OWN[:singleton].bind_call(value) : OWN[:class].bind_call(value), value] }
      return '' if found.empty?
      kind = name == 'new' && OWN[:is].bind_call(Class, found[1]) ? found[1] : found[0]
      shown = parameters(kind, kind.equal?(found[1]) ? :initialize : name)
      return shown.empty? ? '' : "#{chain}.#{name}#{shown}"
    end
    shown = parameters(kind, name)
    shown.empty? ? '' : name + shown
  end
end
