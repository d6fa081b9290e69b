# The driver inside Ruby: takes cells from the request pipe, tells of their fate on the events' pipe, and writes the
# line that runs into four bytes that the application reads.
require 'json'
require_relative 'ruby_variables'

class OiStopped < Exception; end

class OiDriver
  def initialize(folder)
    @folder = folder
    @cells = 0
    @running = false
    @name = ''
    @owner = Process.pid
    @memory = OiMemory.new
    @generate = JSON.method(:generate)
    prepare
    main = Thread.main
    Thread.new { look(main) }
  end

  def serve
    send_event('event' => 'ready', 'stop' => Signal.list['USR2'])
    loop do
      begin
        request = @requests.gets("\n")
        break if request.nil?
        word, nonce, path = request.chomp("\n").split(' ', 3)
        case word
        when 'run' then run(nonce, path)
        when 'variables' then send_event({ 'event' => word, 'nonce' => nonce }.merge(@memory.all))
        when 'variable' then send_event({ 'event' => word, 'nonce' => nonce }.merge(@memory.one(path)))
        end
      rescue Interrupt, OiStopped
        next
      end
    end
  end

  private

  # A run begins with what every run may count on, whatever the last one did to it.
  def prepare
    Signal.trap('USR2') { Thread.main.raise(OiStopped, 'stopped') if @running }
    Signal.trap('INT') { Thread.main.raise(Interrupt, '') if @running }
    mend
    # Opened anew, it has forgotten what was typed too much.
    STDIN.reopen('/dev/tty', 'r') if STDIN.tty?
    $stdin, $stdout, $stderr = [[$stdin, STDIN], [$stdout, STDOUT], [$stderr, STDERR]].map { |now, own| closed?(now) ? own : now }
  end

  # The terminal and the channel, opened anew where a program has closed them.
  def mend
    STDIN.reopen('/dev/tty', 'r') if gone?(STDIN)
    [STDOUT, STDERR].select { |io| gone?(io) }.each { |io| io.reopen('/dev/tty', 'w').sync = true }
    @requests = File.open(File.join(@folder, 'requests'), 'r') if gone?(@requests)
    @events = File.open(File.join(@folder, 'events'), 'w') if gone?(@events)
    @line = File.open(File.join(@folder, 'line'), 'r+b') if gone?(@line)
    @terminal = File.open('/dev/tty', 'w') if gone?(@terminal)
  end

  def gone?(stream)
    stream.nil? || !stream.stat
  rescue IOError, SystemCallError
    true
  end

  def closed?(stream)
    stream.closed?
  rescue StandardError
    false
  end

  def look(main)
    loop do
      sleep(1.0 / 30)
      next unless @running
      begin
        STDOUT.flush
        place = (main.backtrace_locations || []).find { |at| at.path == @name }
        reach(place.lineno) if place && @running
      rescue StandardError
        next
      end
    end
  end

  def reach(number)
    @line.pwrite([number].pack('l'), 0)
  end

  def send_event(event)
    @events.syswrite(@generate.call(event) + "\n")
    @terminal.syswrite("\e]6973;#{event['mark']}\a") if event['mark']
  end

  def run(nonce, path)
    state, reason = 'failed', nil
    begin
      prepare
      code = File.read(path, encoding: 'utf-8')
      offer_data(code)
      @cells += 1
      @name = "(cell #{@cells})"
      @running = true
      state, reason = outcome(code)
    rescue Interrupt, OiStopped
      state, reason = 'interrupted', nil
    ensure
      @running = false
    end
    mend if Process.pid == @owner
    [$stdout, $stderr, STDOUT].each { |io| io.flush rescue nil }
    exit!(state == 'finished' ? 0 : 1) unless Process.pid == @owner
    reach(0)
    send_event('event' => 'finished', 'nonce' => nonce, 'state' => state, 'reason' => reason, 'mark' => "#{nonce}.end")
  end

  # What follows the end of a program is its data.
  def offer_data(code)
    data = code.split(/^__END__\n/, 2)[1]
    return if data.nil?
    require 'stringio'
    Object.send(:remove_const, :DATA) if Object.const_defined?(:DATA, false)
    Object.const_set(:DATA, StringIO.new(data))
  end

  def outcome(code)
    value = TOPLEVEL_BINDING.eval(code, @name, 1)
    $stdout.puts "=> #{spell(value)}" if !nil.equal?(value) && shown?(code)
    ['finished', nil]
  rescue SystemExit => error
    error.status.zero? ? ['finished', nil] : ['failed', "exit status #{error.status}"]
  rescue Interrupt, OiStopped
    complain('Interrupt')
    ['interrupted', 'Interrupt']
  rescue Exception => error
    ['failed', explain(error)]
  end

  def spell(value)
    value.inspect
  rescue StandardError => error
    "(a #{Kernel.instance_method(:class).bind_call(value)}, whose inspect fails: #{error.class})"
  end

  # Tells what went wrong; returns it in one line.
  def explain(error)
    message = error.message.to_s
    if mine(error).empty?
      complain("#{message} (#{error.class})")
    else
      seen = [nil]
      each = error
      until seen.include?(each)
        each.set_backtrace(mine(each)) unless each.frozen?
        seen << each
        each = each.cause
      end
      complain(error.full_message(highlight: false, order: :top))
    end
    "#{error.class}: #{message.lines.first.to_s.strip}"[0, 300]
  rescue StandardError => another
    complain("#{error.class}, which cannot say what it is: #{another.class}")
    error.class.to_s
  end

  # The places of an error that are the program's.
  def mine(error)
    (error.backtrace || []).reject { |line| line.include?('ruby_driver.rb') }
  end

  def complain(text)
    STDERR.puts(text)
  rescue IOError
    nil
  end

  # Whether the last statement is an expression whose value somebody wants to see.
  def shown?(code)
    require 'ripper'
    tree = Ripper.sexp(code)
    last = tree && tree[1].last
    !last.nil? && !%i[assign opassign massign def defs class module sclass alias undef].include?(last[0])
  end
end

$0 = 'cell'
OiDriver.new(ARGV.shift).serve
