# What the program remembers: names, types and sizes. No code of the program runs for it: methods are Ruby's own, taken
# before any cell can change them, and called only on objects that are built in.
class OiMemory
  LONGEST = 60
  MOST = 2000
  PREVIEW = 20_000
  TIMEOUT = 0.05
  OWN = {
    class: Kernel.instance_method(:class), name: Module.instance_method(:name), is: Module.instance_method(:===),
    ancestor: Class.instance_method(:superclass), inspect: Kernel.instance_method(:inspect),
    integer: Integer.instance_method(:to_s), float: Float.instance_method(:to_s),
    rational: Rational.instance_method(:to_s), complex: Complex.instance_method(:to_s),
    bits: Integer.instance_method(:bit_length), quoted: String.instance_method(:inspect),
    bytes: String.instance_method(:bytesize), part: String.instance_method(:byteslice),
    whole: String.instance_method(:scrub), utf8: String.instance_method(:encode),
    symbol: Symbol.instance_method(:inspect), many: Array.instance_method(:length), at: Array.instance_method(:at),
    pairs: Hash.instance_method(:length), each_pair: Hash.instance_method(:each_pair),
    first: Range.instance_method(:begin), last: Range.instance_method(:end),
    open: Range.instance_method(:exclude_end?), time: Time.instance_method(:strftime),
    pattern: Regexp.instance_method(:inspect), fields: Kernel.instance_method(:instance_variables),
    field: Kernel.instance_method(:instance_variable_get), parameters: Method.instance_method(:parameters),
    members: Struct.instance_method(:members), member: Struct.instance_method(:[])
  }.freeze

  def initialize
    @globals = global_variables
    @constants = {}
  end

  # The variables that are there, newest last, and how many there are. What takes too long is only named.
  def all
    until_ = Process.clock_gettime(Process::CLOCK_MONOTONIC) + TIMEOUT
    names = places.to_a
    found = names.last(MOST).map do |name, place|
      late = Process.clock_gettime(Process::CLOCK_MONOTONIC) > until_
      type, summary, size = late ? ['', '', nil] : facts_of(place.call)
      { 'name' => name, 'type' => type, 'summary' => summary, 'size' => size }
    end
    each_method { |name| found << { 'name' => name, 'type' => 'method', 'summary' => "method #{name}", 'size' => nil } }
    { 'total' => names.length + found.length - [names.length, MOST].min, 'variables' => found.last(MOST) }
  rescue StandardError, SystemStackError
    { 'total' => 0, 'variables' => [] }
  end

  # What one of them holds.
  def one(wanted)
    if (place = places.to_h[wanted])
      value = place.call
      return { 'description' => clipped(facts(value), 2000), 'preview' => clipped(shown(value, 0, PREVIEW), PREVIEW + 200) }
    end
    each_method do |name|
      next unless name == wanted
      parts = OWN[:parameters].bind_call(Object.instance_method(name).bind(TOPLEVEL_BINDING.receiver)).map { |_, part| part }
      words = "method #{name}(#{parts.compact.join(', ')})"
      return { 'description' => words, 'preview' => words }
    end
    {}
  rescue StandardError, SystemStackError
    {}
  end

  # What completes the code before the caret, which is hexadecimal JSON.
  def complete(words)
    require_relative 'ruby_completion'
    @completion ||= OiCompletion.new(-> { places.to_h }, ->(value) { describe(value)[1] })
    @completion.answer(JSON.parse([words].pack('H*').force_encoding('utf-8'))['before'])
  rescue StandardError, SystemStackError
    {}
  end

  private

  def facts_of(value)
    [*describe(value), size_of(value)]
  end

  # The names of all that is remembered, each with how to get its value.
  def places
    top = TOPLEVEL_BINDING
    main = top.receiver
    found = top.local_variables.reject { |name| name == :_ }.map { |name| [name.to_s, -> { top.local_variable_get(name) }] }
    found += OWN[:fields].bind_call(main).map { |name| [name.to_s, -> { OWN[:field].bind_call(main, name) }] }
    globals = (global_variables - @globals).select { |name| name.match?(/\A\$[a-zA-Z_]\w*\z/) }
    found += globals.map { |name| [name.to_s, -> { eval(name.to_s) }] }
    constants = Object.constants(false).select { |name| of_a_cell?(name) }
    found + constants.map { |name| [name.to_s, -> { Object.const_get(name, false) }] }
  end

  # Whether a constant comes from a cell; asked once of those that do not, for libraries have thousands.
  def of_a_cell?(name)
    return false if @constants[name]
    place = Object.autoload?(name, false) ? nil : Object.const_source_location(name, false)
    return true if place && place[0].to_s.start_with?('(cell ')
    @constants[name] = true
    false
  end

  def each_method
    (Object.private_instance_methods(false) + Object.public_instance_methods(false)).each do |name|
      place = Object.instance_method(name).source_location
      yield name.to_s if place && place[0].start_with?('(cell ')
    end
  end

  def is?(kind, value)
    OWN[:is].bind_call(kind, value)
  end

  def class_of(value)
    OWN[:class].bind_call(value)
  end

  def name_of(kind)
    OWN[:name].bind_call(kind) || 'anonymous class'
  end

  # Whether the object is of a built-in class itself, not of one that the program derived from it.
  def plain?(kind, value)
    class_of(value).equal?(kind)
  end

  def clipped(text, most)
    return text if text.bytesize <= most
    text.byteslice(0, most).scrub('')
  end

  # The text of a value, cut to so many bytes.
  def quoted(value, most)
    part = OWN[:part].bind_call(value, 0, most).scrub('?')
    part = part.encode('utf-8', invalid: :replace, undef: :replace)
    part.inspect
  rescue EncodingError
    '"..."'
  end

  def describe(value)
    return ['Module', "module #{name_of(value)}"] if is?(Module, value) && !is?(Class, value)
    return ['Class', "class #{name_of(value)}"] if is?(Class, value)
    type = name_of(class_of(value))
    [type, summary(value, type)]
  end

  def summary(value, type)
    case
    when nil.equal?(value) then 'nil'
    when true.equal?(value) then 'true'
    when false.equal?(value) then 'false'
    when is?(Integer, value)
      bits = OWN[:bits].bind_call(value)
      bits > 200 ? "Integer of #{bits} bits" : OWN[:integer].bind_call(value)
    when is?(Float, value) then OWN[:float].bind_call(value)
    when is?(Symbol, value) then clipped(OWN[:symbol].bind_call(value), LONGEST)
    when is?(String, value)
      bytes = OWN[:bytes].bind_call(value)
      bytes <= LONGEST && plain?(String, value) ? quoted(value, LONGEST) : "#{type} of #{bytes} bytes"
    when is?(Array, value) then "#{type} of #{OWN[:many].bind_call(value)}"
    when is?(Hash, value) then "#{type} of #{OWN[:pairs].bind_call(value)}"
    when plain?(Range, value) then "#{edge(value, :first)}#{OWN[:open].bind_call(value) ? '...' : '..'}#{edge(value, :last)}"
    when plain?(Time, value) then OWN[:time].bind_call(value, '%Y-%m-%d %H:%M:%S %z')
    when plain?(Regexp, value) then clipped(OWN[:pattern].bind_call(value), LONGEST)
    else type
    end
  rescue StandardError
    type
  end

  def edge(range, side)
    found = OWN[side].bind_call(range)
    is?(Integer, found) || is?(Float, found) || is?(String, found) ? summary(found, '') : ''
  end

  def size_of(value)
    require 'objspace'
    bytes = ObjectSpace.memsize_of(value)
    bytes.zero? ? nil : bytes
  rescue LoadError, StandardError
    nil
  end

  # What a model should know of the value: its type and its shape, not what it holds.
  def facts(value)
    type, words = describe(value)
    return "#{type} of #{OWN[:bytes].bind_call(value)} bytes" if is?(String, value)
    if is?(Hash, value)
      names = []
      OWN[:each_pair].bind_call(value) do |key, _|
        names << summary(key, name_of(class_of(key)))
        break if names.length == 30
      end
      return names.empty? ? words : "#{words}, with the keys #{names.join(', ')}"
    end
    if is?(Array, value) && OWN[:many].bind_call(value).positive?
      first = OWN[:at].bind_call(value, 0)
      inner = is?(Hash, first) ? facts(first) : name_of(class_of(first))
      return "#{words}, the first: #{inner}"
    end
    is?(Numeric, value) ? "#{type} #{words}" : words
  end

  # The value as far as it can be shown in so many characters.
  def shown(value, depth, room)
    return quoted(value, [room, 10_000].min) if is?(String, value)
    return describe(value)[1] if depth > 3
    parts = []
    used = 0
    add = lambda do |part|
      parts << part
      used += part.length + 2
      used < room && parts.length < 200
    end
    inner = ->(found) { shown(found, depth + 1, [[room - used, 2000].min, 20].max) }
    edges = ['[', ']']
    total = 0
    if is?(Array, value)
      total = OWN[:many].bind_call(value)
      total.times { |index| break unless add.call(inner.call(OWN[:at].bind_call(value, index))) }
    elsif is?(Hash, value)
      edges = ['{', '}']
      total = OWN[:pairs].bind_call(value)
      OWN[:each_pair].bind_call(value) { |key, found| break unless add.call("#{inner.call(key)} => #{inner.call(found)}") }
    elsif is?(Module, value) || is?(Numeric, value) || is?(Symbol, value)
      return describe(value)[1]
    else
      fields = OWN[:fields].bind_call(value)
      return describe(value)[1] if fields.empty?
      edges = ["#<#{describe(value)[0]} ", '>']
      total = fields.length
      fields.each { |name| break unless add.call("#{name}=#{inner.call(OWN[:field].bind_call(value, name))}") }
    end
    parts << "... #{total} in all" if parts.length < total
    flat = parts.join(', ')
    return edges[0] + flat + edges[1] if flat.length <= 70
    indent = '  ' * (depth + 1)
    "#{edges[0].rstrip}\n#{parts.map { |part| indent + part }.join(",\n")}\n#{'  ' * depth}#{edges[1]}"
  end
end
