# The driver inside Ruby: takes cells from the request pipe, tells of their fate on the events' pipe, and writes the
# line that runs into four bytes that the application reads.
require 'json'
require 'ripper'
require 'stringio'
require_relative 'ruby_frames'
require_relative 'ruby_methods'
require_relative 'ruby_variables'

class OiStopped < Exception; end

class OiDriver
  # A program may remove these names, or give them to something else.
  %i[
    Exception File FrozenError IO IOError Interrupt Kernel LocalJumpError Object Process Ripper STDERR STDIN STDOUT Signal StandardError SystemCallError
    SystemExit TOPLEVEL_BINDING Thread
  ].each { |name| const_set(name, ::Object.const_get(name)) }
  EVALUATE = Binding.instance_method(:eval)
  CLASS, SLEEP = %i[class sleep].map { |name| Kernel.instance_method(name) }
  BINARY = ::Encoding::BINARY
  Stopped = ::OiStopped

  def initialize(folder)
    @folder = folder
    @cell = 0
    @running = false
    @name = ''
    @memory = OiMemory.new
    @methods = OiMethods.new
    @generate = JSON.method(:generate)
    @memory_file = StringIO
    @owner = $$
    prepare
    # A trace by the first cell would see what comes before it looks.
    looks = Queue.new
    @watch = OiWatch.new { begin_looking(looks) }
    @watch.report_on_exception = false
    ThreadGroup.new.add(@watch)
    looks.pop
    # Errors then show the part of the line that they are about, as they do for a file.
    RubyVM.keep_script_lines = true if defined?(RubyVM) && RubyVM.respond_to?(:keep_script_lines=)
  end

  def serve
    send_event('event' => 'ready', 'stop' => Signal.list['USR2'])
    while (request = surely { @requests.gets("\n") })
      begin
        answer(*surely { request.chomp("\n").split(' ', 3) })
      rescue Interrupt, Stopped
        next
      end
    end
  end

  private

  def answer(word, nonce = nil, argument = nil)
    case word
    when 'run' then run(nonce, argument)
    when 'variables' then surely { send_event({ 'event' => word, 'nonce' => nonce }.merge(@memory.all)) }
    when 'variable' then surely { send_event({ 'event' => word, 'nonce' => nonce }.merge(@memory.one(argument))) }
    when 'completions' then surely { send_event({ 'event' => word, 'nonce' => nonce }.merge(@memory.complete(argument))) }
    end
  end

  # A step of the driver's own. Where it fails, it is taken again with Ruby's own methods, if a program changed these.
  def surely
    failures = 0
    begin
      yield
    rescue Interrupt, Stopped
      raise
    rescue Exception
      failures += 1
      names = @methods.restore
      raise unless names && failures == 1
      complain("(No cell can run without these, so they are Ruby's own again: #{names})")
      retry
    end
  end

  def if_possible(&step)
    surely(&step)
  rescue Exception
    nil
  end

  # A run begins with what every run may count on, whatever the last one did to it.
  def prepare
    main = Thread.main
    Signal.trap('USR2') { main.raise(Stopped, 'stopped') if @running }
    Signal.trap('INT') { main.raise(Interrupt, '') if @running }
    mend
    # Opened anew, it has forgotten what was typed too much.
    attach(STDIN, 'r') if STDIN.tty?
    $stdin, $stdout, $stderr = [[$stdin, STDIN], [$stdout, STDOUT], [$stderr, STDERR]].map { |now, own| closed?(now) ? own : now }
  end

  # The terminal and the channel, opened anew where a program has closed them.
  def mend
    attach(STDIN, 'r') if gone?(STDIN)
    [STDOUT, STDERR].select { |io| gone?(io) }.each { |io| attach(io, 'w').sync = true }
    # Whatever a program takes for the encoding of files.
    @requests = File.open(File.join(@folder, 'requests'), 'rb:utf-8') if gone?(@requests)
    @events = File.open(File.join(@folder, 'events'), 'wb') if gone?(@events)
    @line = File.open(File.join(@folder, 'line'), 'r+b') if gone?(@line)
    @terminal = File.open('/dev/tty', 'wb') if gone?(@terminal)
  end

  # By its name, so that the stream forgets what it has read. This asks the name for conversions that a program may
  # have made, and fails where files are taken for text in an encoding that no terminal has.
  def attach(stream, mode)
    stream.reopen('/dev/tty', mode)
  rescue StandardError
    File.open('/dev/tty', "#{mode}:utf-8") { |terminal| stream.reopen(terminal) }
    stream
  end

  def gone?(stream)
    !(stream && stream.stat)
  rescue FrozenError
    false
  rescue IOError, SystemCallError
    true
  end

  def closed?(stream)
    stream.closed?
  rescue StandardError
    false
  end

  # What a trace of the program calls is not traced itself. So this thread looks from within a trace of its own.
  def begin_looking(looks)
    trace = TracePoint.new(:call) do
      looks << true
      look(Thread.main)
    end
    trace.enable(target: method(:look_untraced)) { look_untraced }
  end

  def look_untraced; end

  def look(main)
    while true
      SLEEP.bind_call(self, 1.0 / 30)
      next unless @running
      begin
        STDOUT.flush
        place = (OiWatch.places(main) || []).find { |at| at.path == @name }
        reach(place.lineno) if place && @running
        @watch.seek_deadlock(main) if @running
      rescue StandardError
        next
      end
    end
  end

  def reach(number)
    @line.pwrite([number].pack('l'), 0)
  end

  def send_event(event)
    # The line begins again: an interrupt may have cut off the event before.
    @events.syswrite("\n#{@generate.call(event)}\n")
    @terminal.syswrite("\e]6973;#{event['mark']}\a") if event['mark']
  end

  def run(nonce, path)
    state, reason, @status = 'failed', nil, nil
    begin
      code = surely { begin_cell(path) }
      @running = true
      state, reason = outcome(code)
    rescue Interrupt, Stopped
      state, reason = 'interrupted', nil
    rescue Exception => error
      reason = surely { explain(error) }
    ensure
      @running = false
    end
    if_possible { mend } if $$ == @owner
    if_possible { [$stdout, $stderr, STDOUT].each { |io| io.flush rescue nil } }
    exit!(state == 'finished' ? 0 : @status || 1) unless $$ == @owner
    if_possible { reach(0) }
    if_possible { tell_where_output_goes }
    surely { send_event('event' => 'finished', 'nonce' => nonce, 'state' => state, 'reason' => reason, 'mark' => "#{nonce}.end") }
  end

  def begin_cell(path)
    if_possible { prepare }
    code = File.read(path, encoding: 'utf-8')
    offer_data(code)
    $. = 0
    @cell = path[/\d+\z/].to_i
    # What runs is the program itself: `main if __FILE__ == $0`.
    $0 = @name = "(cell #{@cell})"
    code
  end

  # Says so when a cell has sent the output elsewhere for good, since later cells would be silent.
  def tell_where_output_goes
    place, way_back = elsewhere
    @since = @cell unless place == @place
    @place = place
    return unless place
    @terminal.syswrite("(Ruby's output goes to #{place} since cell #{@since}; #{way_back} brings it back.)\n")
  end

  # Only what Ruby made is asked, and only a file or nothing at all is sure not to be seen.
  def elsewhere
    stream = $stdout
    way_back = stream.equal?(STDOUT) ? "STDOUT.reopen('/dev/tty', 'w')" : '$stdout = STDOUT'
    kind = CLASS.bind_call(stream)
    return ['memory', way_back] if kind.equal?(@memory_file)
    return [nil, nil] unless kind.equal?(File) || kind.equal?(IO)
    number = stream.fileno
    at = stream.stat
    return [nil, nil] unless at.file? || at.rdev == File.stat(File::NULL).rdev
    [File.readlink("/proc/self/fd/#{number}"), way_back]
  rescue IOError
    [nil, nil]
  rescue SystemCallError
    ['a file', way_back]
  end

  # What follows the end of a program is its data.
  def offer_data(code)
    data = code.split(/^__END__\n/, 2)[1]
    return unless data
    Object.send(:remove_const, :DATA) if Object.const_defined?(:DATA, false)
    Object.const_set(:DATA, @memory_file.new(data))
  end

  def outcome(code)
    value = EVALUATE.bind_call(TOPLEVEL_BINDING, code, @name, 1)
    if !nil.equal?(value) && !STDOUT.equal?(value) && surely { shown?(code) }
      text = "=> #{spell(value)}"
      surely { $stdout.puts(text) }
    end
    ['finished', nil]
  rescue SystemExit => error
    @status = error.status
    @status.zero? ? ['finished', nil] : ['failed', "exit status #{@status}"]
  rescue Interrupt, Stopped
    complain('Interrupt')
    ['interrupted', 'Interrupt']
  rescue LocalJumpError => error
    leaves?(error) ? ['finished', nil] : ['failed', surely { explain(error) }]
  rescue Exception => error
    ['failed', surely { explain(error) }]
  end

  # Whether it is the `return` of the cell itself, by which a script ends.
  def leaves?(error)
    error.reason.equal?(:return) && (error.backtrace || []).all? { |line| line.include?('<main>') && !line.include?('block') }
  end

  def spell(value)
    value.inspect
  rescue StandardError => error
    "(a #{Kernel.instance_method(:class).bind_call(value)}, whose inspect fails: #{error.class})"
  end

  # Tells what went wrong; returns it in one line.
  def explain(error)
    message = readable(error.message.to_s)
    if (error.backtrace || []).empty?
      complain("#{message} (#{error.class})")
    else
      complain(error.full_message(highlight: false, order: :top))
    end
    "#{error.class}: #{message.lines.first.to_s.strip}"[0, 300]
  rescue StandardError => another
    complain("#{error.class}, which cannot say what it is: #{another.class}")
    error.class.to_s
  end

  # As UTF-8, whatever it is: bytes that are no text are replaced.
  def readable(text)
    text = text.dup
    text.force_encoding('UTF-8') if text.encoding == BINARY
    text.encode('UTF-8', invalid: :replace, undef: :replace).scrub
  end

  def complain(text)
    STDERR.puts(text)
  rescue IOError
    nil
  end

  # Whether the last statement is an expression whose value somebody wants to see.
  def shown?(code)
    tree = Ripper.sexp(code)
    last = tree && tree[1].last
    last && !prints?(last) && !%i[assign opassign massign def defs class module sclass alias undef].include?(last[0])
  end

  # Whether it is a call of `p` or `pp`, which has printed its value.
  def prints?(statement)
    name = statement[1] if statement[0] == :command
    name = statement[1][1] if statement[0] == :method_add_arg && statement[1][0] == :fcall
    name && %w[p pp].include?(name[1]) && Object.instance_method(name[1]).owner.equal?(Kernel)
  end
end

$0 = 'cell'
OiDriver.new(ARGV.shift).serve
