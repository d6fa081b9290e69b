# Ruby's own methods that the driver and its helpers call, as they are before any cell runs. A program may remove or
# replace them. That is left alone as long as the driver can work with it.
class OiMethods
  USED = {
    Array => %i[[] << any? at concat each empty? first include? join last length map max min pack reject select times to_a to_h],
    Binding => %i[local_variable_get local_variables receiver],
    Class => %i[new],
    Exception => %i[backtrace cause full_message message set_backtrace],
    Hash => %i[[] []= each_pair length merge],
    IO => %i[closed? fileno flush gets puts pwrite reopen stat sync= syswrite tty?],
    Integer => %i[positive? times to_s zero?],
    Kernel => %i[class eval frozen? instance_variable_get lambda loop nil? require send sleep],
    Method => %i[call],
    Module => %i[=== autoload? const_defined? const_get const_set const_source_location constants instance_method
                 private_instance_methods public_instance_methods remove_const],
    NilClass => %i[nil? to_a to_s],
    Proc => %i[call],
    String => %i[% + == [] byteslice bytesize chomp empty? encode include? inspect length lines match? rstrip scrub split
                 start_with? strip to_s to_str],
    Symbol => %i[== to_proc to_s],
    SystemExit => %i[status],
    Thread => %i[raise],
    Thread::Backtrace::Location => %i[lineno path],
    UnboundMethod => %i[bind bind_call source_location],
    File.singleton_class => %i[join open read],
    Process.singleton_class => %i[clock_gettime],
    Signal.singleton_class => %i[list trap],
    Thread.singleton_class => %i[main new]
  }.freeze

  def initialize
    @saved = USED.flat_map do |owner, names|
      names.select { |name| owner.method_defined?(name) || owner.private_method_defined?(name) }
           .map { |name| [owner, name, owner.instance_method(name), owner.private_method_defined?(name)] }
    end
    @find = Module.instance_method(:instance_method)
    @define = Module.instance_method(:define_method)
    @hide = Module.instance_method(:private)
    @same = UnboundMethod.instance_method(:==)
    @count = @saved.length
  end

  # Puts back what is not as it was. Returns the names of that. None of the methods above is called for it.
  def restore
    names = nil
    index = 0
    while index < @count
      owner, name, method, hidden = @saved[index]
      index += 1
      next if same?(owner, name, method)
      define(owner, name, method, hidden)
      words = "#{owner}##{name}"
      names = names ? "#{names}, #{words}" : words
    end
    names
  end

  private

  def same?(owner, name, method)
    @same.bind_call(method, @find.bind_call(owner, name))
  rescue NameError
    false
  end

  def define(owner, name, method, hidden)
    verbose, $VERBOSE = $VERBOSE, nil
    @define.bind_call(owner, name, method)
    @hide.bind_call(owner, name) if hidden
  rescue StandardError
    # A frozen class stays as it is.
    nil
  ensure
    $VERBOSE = verbose
  end
end
