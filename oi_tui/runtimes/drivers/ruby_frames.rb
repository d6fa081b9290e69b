# Keeps the driver's calls and its thread out of what a program asks Ruby about itself. A program may replace methods
# of lists and texts, so these are taken before any cell runs.
module OiFrames
  LAST, REJECT, PART, SIZE = %i[last reject [] length].map { |name| Array.instance_method(name) }
  BEGINS = String.instance_method(:start_with?)
  TEXT = String
  PATH = Thread::Backtrace::Location.instance_method(:path)
  OURS = "#{__dir__}/ruby_"

  module_function

  def ours?(frame)
    path = TEXT === frame ? frame : PATH.bind_call(frame)
    path && BEGINS.bind_call(path, OURS)
  end

  # The frames of the program itself.
  def own(frames)
    frames && REJECT.bind_call(frames) { |frame| ours?(frame) }
  end

  # Whether the frames reach down to the driver, or to where it could be.
  def deep?(frames)
    frames && ((last = LAST.bind_call(frames)).nil? || ours?(last))
  end

  # The part that the arguments of `caller` name of frames that begin with level 0.
  def part(frames, start, length)
    return PART.bind_call(frames, start) if Range === start
    PART.bind_call(frames, start, length || SIZE.bind_call(frames))
  end

  # The frames of a thread, of which the first is the call that asked for them, as Ruby counts.
  def of_thread(frames, current, start, length)
    return frames unless frames
    frames = own(frames)
    frames = PART.bind_call(frames, 0, 1).concat(frames) if current
    part(frames, start, length)
  end
end

# Ruby asks for the backtrace at each `raise`, before there is one.
class Exception
  alias __oi_backtrace backtrace
  alias __oi_backtrace_locations backtrace_locations
  private :__oi_backtrace, :__oi_backtrace_locations

  def backtrace
    lines = __oi_backtrace and OiFrames.own(lines)
  end

  def backtrace_locations
    places = __oi_backtrace_locations and OiFrames.own(places)
  end
end

module Kernel
  alias __oi_caller caller
  alias __oi_caller_locations caller_locations

  def caller(start = 1, length = nil)
    unless Range === start
      lines = __oi_caller(start + 1, length)
      return lines unless OiFrames.deep?(lines)
    end
    OiFrames.part(OiFrames.own(__oi_caller(1)), start, length)
  end

  def caller_locations(start = 1, length = nil)
    unless Range === start
      places = __oi_caller_locations(start + 1, length)
      return places unless OiFrames.deep?(places)
    end
    OiFrames.part(OiFrames.own(__oi_caller_locations(1)), start, length)
  end

  module_function :__oi_caller, :__oi_caller_locations, :caller, :caller_locations
end

class Thread
  alias __oi_backtrace backtrace
  alias __oi_backtrace_locations backtrace_locations
  private :__oi_backtrace, :__oi_backtrace_locations

  def backtrace(start = 0, length = nil)
    OiFrames.of_thread(__oi_backtrace, equal?(Thread.current), start, length)
  end

  def backtrace_locations(start = 0, length = nil)
    OiFrames.of_thread(__oi_backtrace_locations, equal?(Thread.current), start, length)
  end
end

# The driver's thread, which sees where the program is. It is none of the program's. But Ruby counts it, and finds no
# deadlock while it runs, so that it looks for one itself.
class OiWatch < Thread
  ALL, STOP = %i[list stop].map { |name| Thread.method(name) }
  SPELL, PLACES, RAISE = %i[inspect __oi_backtrace_locations raise].map { |name| Thread.instance_method(name) }
  ENDS = String.instance_method(:end_with?)
  EVERY, ONE, EACH, JOIN = %i[all? one? map join].map { |name| Array.instance_method(name) }
  # Only Ruby itself makes an error of this class: nil where it does not, or where another thread keeps it from that.
  DEADLOCK =
    if defined?(RubyVM) && ALL.call.length == 1
      begin
        Queue.new.pop
      rescue Exception => error
        error
      end
    end

  # The threads of the program.
  def self.others
    OiFrames::REJECT.bind_call(ALL.call) { |thread| OiWatch === thread }
  end

  # Where a thread is, with the driver's calls.
  def self.places(thread)
    PLACES.bind_call(thread)
  end

  # Fails the program when its threads wait for each other, and did so when this was last called.
  def seek_deadlock(main)
    return unless DEADLOCK
    before, @waits = @waits, nil
    return unless waits?(SPELL.bind_call(main))
    @waits = waits = EACH.bind_call(OiWatch.others) { |thread| SPELL.bind_call(thread) }
    return unless waits == before && EVERY.bind_call(waits) { |text| waits?(text) }
    @waits = nil
    count = waits.length
    text = JOIN.bind_call(EACH.bind_call(waits) { |line| "* #{line}\n" })
    DEADLOCK.tell("No live threads left. Deadlock?\n#{count} threads, #{count} sleeps\n#{text}")
    RAISE.bind_call(main, DEADLOCK)
  end

  private

  # Whether a thread described so waits for another one.
  def waits?(text)
    ENDS.bind_call(text, ' sleep_forever>')
  end
end

if OiWatch::DEADLOCK
  class << OiWatch::DEADLOCK
    def tell(text)
      @text = text
      set_backtrace(nil)
    end

    def to_s
      @text
    end

    def message
      @text
    end
  end
end

class Thread
  class << self
    def list
      OiWatch.others
    end

    def stop
      raise ThreadError, "stopping only thread\n\tnote: use sleep to stop forever" if OiWatch::ONE.bind_call(OiWatch.others)
      OiWatch::STOP.call
    end
  end
end
