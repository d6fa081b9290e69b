// The driver inside a Java virtual machine: takes cells from the request pipe, has JShell
// evaluate them snippet by snippet in this same process, on its terminal, and tells of their fate on the events' pipe.
// The line that is reported is that of the snippet: the statement or declaration at the top level of the cell.

import com.sun.source.util.JavacTask;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.MethodSnippet;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.TypeDeclSnippet;
import jdk.jshell.UnresolvedReferenceException;
import jdk.jshell.execution.LoaderDelegate;
import jdk.jshell.execution.LocalExecutionControl;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;
import sun.misc.Signal;

public class OiTui {
  private static final String[] IMPORTS = {
    "java.io.*", "java.math.*", "java.net.*", "java.nio.file.*", "java.util.*", "java.util.concurrent.*",
    "java.util.function.*", "java.util.prefs.*", "java.util.regex.*", "java.util.stream.*",
  };
  private static final Pattern PACKAGE = Pattern.compile("package\\s+[\\w.]+\\s*;");
  private static final Pattern MAIN = Pattern.compile("\\bstatic\\s+(?:final\\s+)?void\\s+main\\s*\\(\\s*(final\\s+)?([^)]*)\\)");
  private static final String[][] SHAPES = {
    {"class Shape { Object shape() throws Throwable {", "\n;} }"},
    {"class Shape {", "\n}"},
    {"class Shape { Object shape = (", "\n); }"},
    {"", "\n"},
  };
  private static final int LARGEST_REASON = 300;

  /** Thrown where a program leaves: only the cell is left. */
  public static final class Leave extends Error {
    Leave(int status) {
      super("exit status " + status, null, false, false);
    }
  }

  /** What a call of System.exit becomes in the classes of a cell. */
  public static void exit(int status) {
    left = status;
    throw new Leave(status);
  }

  private static volatile Integer left;

  public static void main(String[] arguments) throws Exception {
    new OiTui(Path.of(arguments[0]), List.of(arguments).subList(1, arguments.length)).serve();
  }

  // -- the channel

  private final FileInputStream requests;
  private final FileOutputStream events;
  private final FileOutputStream terminal;
  private final MappedByteBuffer line;
  /** Requests that wait for the end of the run, and what stands for the end of all requests, which no line can be. */
  private final BlockingQueue<String> waiting = new LinkedBlockingQueue<>();
  private static final String END = "\n";
  private static final Charset PATHS = Charset.forName(System.getProperty("sun.jnu.encoding"));

  private String nonce = "idle";
  private int marks;

  /** What lets the next one start quickly, made after the first cell; empty where there is nothing to make. */
  private List<String> preparation;

  private OiTui(Path folder, List<String> preparation) throws IOException {
    this.preparation = preparation;
    requests = new FileInputStream(folder.resolve("requests").toFile());
    events = new FileOutputStream(folder.resolve("events").toFile());
    // A rehearsal has a file for its terminal.
    Path own = folder.resolve("terminal");
    terminal = new FileOutputStream(Files.exists(own) ? own.toString() : "/dev/tty");
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve("line").toFile(), "rw")) {
      line = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 4);
    }
    line.order(ByteOrder.nativeOrder());
  }

  private void serve() throws Exception {
    System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8));
    System.setIn(new Keyboard());
    // A signal is for the programs that a run starts; the run itself is stopped by a request with its name.
    Signal.handle(new Signal("INT"), signal -> {});
    reporter = this::reportUncaught;
    Loading loading = new Loading();
    shell = JShell.builder().executionEngine(new Engine(loading), Map.of()).build();
    memory = new OiTuiMemory(shell, OiTui::spell, loading.inOrder);
    analysis = shell.sourceCodeAnalysis();
    for (String name : IMPORTS) shell.eval("import " + name + ";");
    send("\"event\":\"ready\"");
    Thread reader = new Thread(this::readRequests, "requests");
    reader.setDaemon(true);
    reader.start();
    for (String request = waiting.take(); !request.equals(END); request = waiting.take()) {
      String[] words = request.split(" ", 3);
      switch (words[0]) {
        case "run" -> {
          run(words[1], Path.of(words[2]));
          prepare();
        }
        case "variables" -> send("\"event\":\"variables\",\"nonce\":" + spell(words[1]) + "," + memory.all());
        case "variable" -> {
          String found = memory.one(words[2]);
          send("\"event\":\"variable\",\"nonce\":" + spell(words[1]) + (found.isEmpty() ? "" : "," + found));
        }
        default -> {}
      }
    }
    System.exit(0);
  }

  /** Read requests on a thread of its own, so that a run can be stopped; all others wait for the run's end. */
  private void readRequests() {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(requests, PATHS))) {
      for (String request = lines.readLine(); request != null; request = lines.readLine()) {
        if (request.startsWith("interrupt ")) stop(request.substring("interrupt ".length()));
        else waiting.add(request);
      }
    } catch (IOException | InterruptedException gone) {
      // As at the end of the pipe.
    }
    waiting.add(END);
  }

  private void prepare() {
    if (preparation.isEmpty()) return;
    try {
      new ProcessBuilder(preparation).redirectInput(Path.of("/dev/null").toFile())
          .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    } catch (IOException none) {
      // It only starts as slowly as this one did.
    }
    preparation = List.of();
  }

  private synchronized void send(String fields) {
    write(events, ("{" + fields + "}\n").getBytes(StandardCharsets.UTF_8));
  }

  private synchronized void place(String fields, String mark) {
    System.out.flush();
    System.err.flush();
    send(fields + ",\"mark\":\"" + mark + "\"");
    write(terminal, ("\033]6973;" + mark + "\007").getBytes(StandardCharsets.UTF_8));
  }

  private static void write(FileOutputStream stream, byte[] data) {
    try {
      stream.write(data);
    } catch (IOException gone) {
      Runtime.getRuntime().halt(1);
    }
  }

  private static String spell(String text) {
    if (text == null) return "null";
    StringBuilder spelled = new StringBuilder("\"");
    for (char letter : text.toCharArray()) {
      if (letter < ' ' || letter == '"' || letter == '\\' || letter > '~') spelled.append(String.format("\\u%04x", (int) letter));
      else spelled.append(letter);
    }
    return spelled.append('"').toString();
  }

  // -- a cell

  /** A piece of a cell that JShell takes at once, and the line where it begins, counted from 0. */
  private record Piece(String source, int line) {}

  private record Place(int cell, int line) {}

  private record Outcome(String state, String reason) {}

  private static final Outcome FINISHED = new Outcome("finished", null);
  private final Map<String, Place> places = new HashMap<>();
  private JShell shell;
  private SourceCodeAnalysis analysis;
  private OiTuiMemory memory;
  private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
  private int cell;
  private volatile boolean running;
  private volatile boolean stopped;

  private void run(String name, Path path) {
    begin(name);
    Outcome outcome;
    try {
      outcome = execute(Files.readString(path), numberOf(path));
    } catch (Throwable trouble) {
      outcome = failed("the code could not be run: " + trouble);
    }
    end();
    if (stopped) {
      // What was stopped within a print left letters behind, which the next print takes along.
      System.out.print("");
      System.err.print("");
      System.out.flush();
      System.err.println("Interrupted");
      outcome = new Outcome("interrupted", null);
    } else if (left != null) {
      outcome = left == 0 ? FINISHED : new Outcome("failed", "exit status " + left);
    }
    line.putInt(0, 0);
    place("\"event\":\"finished\",\"nonce\":" + spell(nonce) + ",\"state\":" + spell(outcome.state)
        + ",\"reason\":" + spell(outcome.reason), nonce + ".end");
  }

  private void begin(String name) {
    synchronized (runLock) {
      nonce = name;
      marks = 0;
      left = null;
      stopped = name.equals(toStop);
      running = true;
    }
  }

  private void end() {
    synchronized (runLock) {
      running = false;
      runLock.notifyAll();
    }
  }

  /** The number of the cell, with which the name of its file ends. */
  private static int numberOf(Path path) {
    String name = path.getFileName().toString();
    return Integer.parseInt(name.substring(name.lastIndexOf('-') + 1));
  }

  private Outcome execute(String code, int cell) {
    this.cell = cell;
    List<Piece> pieces = new ArrayList<>();
    for (Piece piece : split(code.replace("\r\n", "\n"))) {
      if (stopped) return FINISHED;
      // A mistake anywhere means that nothing runs.
      if (!isWellFormed(piece.source)) {
        for (SnippetEvent event : shell.eval(piece.source)) {
          if (event.status() == Snippet.Status.REJECTED) return refused(event.snippet(), piece);
        }
        return failed("cell " + cell + ", line " + (piece.line + 1) + ": this cannot be read as Java");
      }
      pieces.add(piece);
    }
    Map<String, DeclarationSnippet> unresolved = new LinkedHashMap<>();
    boolean declares = true;
    String main = null;
    for (Piece piece : pieces) {
      boolean last = piece == pieces.get(pieces.size() - 1);
      line.putInt(0, piece.line + 1);
      for (SnippetEvent event : shell.eval(piece.source)) {
        if (event.causeSnippet() != null) continue;
        Snippet snippet = event.snippet();
        places.put(snippet.id(), new Place(cell, piece.line));
        Outcome trouble = troubleOf(event, piece);
        if (trouble != null) return trouble;
        if (stopped || left != null) return FINISHED;
        if (snippet instanceof DeclarationSnippet declared) unresolved.put(snippet.id(), declared);
        if (last) show(event);
        declares &= snippet.kind().isPersistent() && snippet.kind() != Snippet.Kind.VAR;
        String call = callOfMain(snippet);
        main = call == null ? main : call;
      }
    }
    for (DeclarationSnippet declared : unresolved.values()) {
      List<String> missing = shell.unresolvedDependencies(declared).collect(Collectors.toList());
      if (!missing.isEmpty()) System.err.println(declared.name() + " cannot be used before there is: " + String.join(", ", missing));
    }
    // A whole program was declared: what it is for is its `main`.
    if (declares && main != null) {
      for (SnippetEvent event : shell.eval(main)) {
        Outcome trouble = troubleOf(event, new Piece(main, 0));
        if (trouble != null) return trouble;
      }
    }
    return FINISHED;
  }

  private List<Piece> split(String code) {
    Matcher named = PACKAGE.matcher(code).region(beginOf(code), code.length());
    if (named.lookingAt()) {
      code = code.substring(0, named.start()) + named.group().replaceAll("[^\n]", " ") + code.substring(named.end());
    }
    List<Piece> pieces = new ArrayList<>();
    int lines = 0;
    for (String rest = code; !rest.isBlank() && !stopped; ) {
      SourceCodeAnalysis.CompletionInfo info = analysis.analyzeCompletion(rest);
      if (info.completeness() == SourceCodeAnalysis.Completeness.EMPTY) break;
      boolean whole = info.completeness().isComplete() || info.completeness() == SourceCodeAnalysis.Completeness.CONSIDERED_INCOMPLETE;
      String remaining = whole && info.remaining() != null ? info.remaining() : "";
      String source = whole && info.source() != null ? info.source() : rest;
      String taken = rest.substring(0, rest.length() - remaining.length());
      int before = beginOf(taken);
      pieces.add(new Piece(source.substring(Math.min(before, source.length())), lines + newlines(taken.substring(0, before))));
      lines += newlines(taken);
      if (remaining.length() == rest.length()) break;
      rest = remaining;
    }
    return pieces;
  }

  /** Where the code begins, after what is blank or a comment. */
  private static int beginOf(String source) {
    int at = 0;
    while (at < source.length()) {
      int end = at;
      if (Character.isWhitespace(source.charAt(at))) end = at + 1;
      else if (source.startsWith("//", at)) end = source.indexOf('\n', at) + 1;
      else if (source.startsWith("/*", at)) end = source.indexOf("*/", at + 2) + 2;
      if (end <= at) break;
      at = end;
    }
    return at;
  }

  /** Whether a piece can be read, as a statement, a member, an expression or an import; what it names is no matter. */
  private boolean isWellFormed(String source) {
    // JShell takes an expression with its end, too.
    String value = source.strip().endsWith(";") ? source.strip().substring(0, source.strip().length() - 1) : source;
    for (String[] around : SHAPES) {
      String text = around[0] + (around == SHAPES[2] ? value : source) + around[1];
      JavaFileObject file = new SimpleJavaFileObject(URI.create("string:///Shape.java"), JavaFileObject.Kind.SOURCE) {
        @Override
        public CharSequence getCharContent(boolean lenient) {
          return text;
        }
      };
      DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
      try {
        ((JavacTask) compiler.getTask(null, null, found, List.of("-proc:none"), null, List.of(file))).parse();
      } catch (IOException none) {
        return true;
      }
      if (found.getDiagnostics().stream().noneMatch(one -> one.getKind() == Diagnostic.Kind.ERROR)) return true;
    }
    return false;
  }

  private static int newlines(String text) {
    return (int) text.chars().filter(letter -> letter == '\n').count();
  }

  private void show(SnippetEvent event) {
    String value = event.value();
    switch (event.snippet().subKind()) {
      case VAR_VALUE_SUBKIND, TEMP_VAR_EXPRESSION_SUBKIND, OTHER_EXPRESSION_SUBKIND -> {
        // A stream is what `System.out.printf` returns, for a call chained to it.
        if (value != null && !value.isEmpty() && !value.startsWith("java.io.PrintStream@")) System.out.println(value);
      }
      default -> {}
    }
  }

  private static String callOfMain(Snippet snippet) {
    if (snippet instanceof TypeDeclSnippet type) {
      Matcher found = MAIN.matcher(type.source());
      return found.find() ? type.name() + ".main(" + (found.group(2).isBlank() ? "" : "new String[0]") + ");" : null;
    }
    if (snippet instanceof MethodSnippet method && method.name().equals("main")) {
      String types = method.parameterTypes();
      if (types.isBlank()) return "main();";
      if (types.matches("(java\\.lang\\.)?String\\s*(\\[\\s*\\]|\\.\\.\\.)")) return "main(new String[0]);";
    }
    return null;
  }

  // -- what goes wrong

  private static Outcome failed(String sentence) {
    System.out.flush();
    System.err.println(sentence);
    return new Outcome("failed", shortened(sentence));
  }

  private static String shortened(String sentence) {
    String first = sentence.strip().lines().findFirst().orElse("");
    return first.substring(0, Math.min(first.length(), LARGEST_REASON));
  }

  private Outcome troubleOf(SnippetEvent event, Piece piece) {
    if (stopped || left != null) return null;
    if (event.exception() != null) {
      StringBuilder text = new StringBuilder();
      explain(event.exception(), "", text);
      return failed(text.toString().stripTrailing());
    }
    if (event.status() == Snippet.Status.REJECTED) return refused(event.snippet(), piece);
    return null;
  }

  private Outcome refused(Snippet snippet, Piece piece) {
    StringBuilder text = new StringBuilder();
    shell.diagnostics(snippet).filter(Diag::isError).limit(5).forEach(diag -> {
      String source = piece.source;
      int at = (int) Math.max(0, Math.min(diag.getPosition(), source.length()));
      int begin = source.lastIndexOf('\n', at - 1) + 1;
      int end = source.indexOf('\n', at) < 0 ? source.length() : source.indexOf('\n', at);
      int number = piece.line + 1 + newlines(source.substring(0, at));
      text.append("cell ").append(cell).append(", line ").append(number).append(": ")
          .append(diag.getMessage(Locale.ROOT).strip()).append('\n').append(source, begin, end).append('\n')
          .append(source.substring(begin, at).replaceAll("[^\\t]", " ")).append("^\n");
    });
    return failed(text.length() == 0 ? "cell " + cell + ", line " + (piece.line + 1) + ": not a statement" : text.toString().stripTrailing());
  }

  private void explain(Throwable thrown, String before, StringBuilder text) {
    if (thrown instanceof UnresolvedReferenceException unresolved) {
      text.append(before).append("Declared, but it needs what is not: ").append(unresolved.getSnippet().source().lines().findFirst().orElse(""));
      shell.unresolvedDependencies(unresolved.getSnippet()).forEach(name -> text.append("\n  missing: ").append(name));
      text.append('\n');
    } else if (thrown instanceof EvalException evaluated) {
      String message = evaluated.getMessage() == null ? null : evaluated.getMessage().replaceAll("REPL\\.\\$JShell\\$\\w+\\.", "");
      text.append(before).append("Exception ").append(evaluated.getExceptionClassName()).append(message == null ? "" : ": " + message).append('\n');
    } else {
      text.append(before).append(thrown).append('\n');
    }
    StackTraceElement[] trace = thrown.getStackTrace();
    for (int n = 0; n < trace.length && n < 40; n++) {
      StackTraceElement frame = trace[n];
      String file = frame.getFileName();
      Place place = file != null && file.startsWith("#") ? places.get(file.substring(1)) : null;
      if (place == null && file != null && file.startsWith("#")) continue;
      String where = place != null ? "cell " + place.cell + ", line " + (place.line + frame.getLineNumber())
          : file != null ? file + ":" + frame.getLineNumber() : "";
      String owner = frame.getClassName().isEmpty() ? "" : frame.getClassName() + ".";
      if (frame.getMethodName().isEmpty() || frame.getMethodName().startsWith("do_it$")) text.append("    at ").append(where).append('\n');
      else text.append("    at ").append(owner).append(frame.getMethodName()).append(" (").append(where).append(")\n");
    }
    Throwable cause = thrown instanceof JShellException ? thrown.getCause() : null;
    if (cause != null && cause != thrown) explain(cause, "Caused by: ", text);
  }

  // -- stopping

  /** The run that was asked to stop last; the request may come before the run begins. */
  private String toStop;
  /** Held where a run begins, ends or is stopped, so that a stop reaches no other run. */
  private final Object runLock = new Object();

  /** Wake what sleeps or waits in this run; what goes on all the same is stopped. */
  private void stop(String name) throws InterruptedException {
    synchronized (runLock) {
      toStop = name;
      for (int times = 0; times < 100 && running && name.equals(nonce); times++) {
        stopped = true;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
          ThreadGroup group = thread.getThreadGroup();
          if (group != null && group.getName().startsWith("JShell process local")) thread.interrupt();
        }
        if (times > 1) shell.stop();
        runLock.wait(10);
      }
    }
  }

  /** The method that JShell wants to call for a piece. */
  private static volatile Method called;
  private static volatile Thread.UncaughtExceptionHandler reporter;

  /** Call the method of a piece; errors of its threads are reported. JShell drops them, and sets its own handler before. */
  public static Object call() throws Throwable {
    Thread.setDefaultUncaughtExceptionHandler(reporter);
    try {
      return called.invoke(null);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }

  private void reportUncaught(Thread thread, Throwable thrown) {
    if (stopped || thrown instanceof Leave || thrown instanceof ThreadDeath) return;
    StringBuilder text = new StringBuilder("Exception in thread \"" + thread.getName() + "\" " + thrown + "\n");
    for (StackTraceElement frame : thrown.getStackTrace()) {
      if (!frame.getClassName().startsWith("REPL.")) text.append("    at ").append(frame).append('\n');
    }
    System.err.print(text);
  }

  /** JShell's own engine for the same process, with our loader of classes. */
  private static final class Engine implements ExecutionControlProvider {
    private final Loading loading;

    Engine(Loading loading) {
      this.loading = loading;
    }

    @Override
    public String name() {
      return "oi-tui";
    }

    @Override
    public ExecutionControl generate(ExecutionEnv environment, Map<String, String> parameters) {
      return new LocalExecutionControl(loading) {
        @Override
        protected String invoke(Method method) throws Exception {
          called = method;
          return super.invoke(OiTui.class.getMethod("call"));
        }
      };
    }
  }

  /** Loads the classes of cells, in which leaving the process becomes leaving the cell. */
  private static final class Loading implements LoaderDelegate {
    private final Map<String, byte[]> codes = new ConcurrentHashMap<>();
    private final Map<String, Class<?>> loaded = new ConcurrentHashMap<>();
    private final Classes classes = new Classes();
    final List<Class<?>> inOrder = Collections.synchronizedList(new ArrayList<>());

    private final class Classes extends URLClassLoader {
      Classes() {
        super(new URL[0], OiTui.class.getClassLoader());
      }

      @Override
      protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] code = codes.get(name);
        return code == null ? super.findClass(name) : defineClass(name, code, 0, code.length);
      }

      void add(Path path) throws MalformedURLException {
        addURL(path.toUri().toURL());
      }
    }

    @Override
    public void load(ExecutionControl.ClassBytecodes[] all) throws ExecutionControl.ClassInstallException {
      boolean[] installed = new boolean[all.length];
      try {
        for (ExecutionControl.ClassBytecodes one : all) codes.put(one.name(), withoutExit(one.bytecodes()));
        for (int n = 0; n < all.length; n++) {
          Class<?> found = classes.loadClass(all[n].name());
          loaded.put(all[n].name(), found);
          inOrder.add(found);
          installed[n] = true;
          // Has the class linked now rather than when it first runs.
          found.getDeclaredMethods();
        }
      } catch (Throwable trouble) {
        throw new ExecutionControl.ClassInstallException("load: " + trouble.getMessage(), installed);
      }
    }

    @Override
    public void classesRedefined(ExecutionControl.ClassBytecodes[] all) {
      for (ExecutionControl.ClassBytecodes one : all) codes.put(one.name(), withoutExit(one.bytecodes()));
    }

    @Override
    public void addToClasspath(String path) throws ExecutionControl.InternalException {
      try {
        for (String part : path.split(java.io.File.pathSeparator)) classes.add(Path.of(part));
      } catch (MalformedURLException trouble) {
        throw new ExecutionControl.InternalException(trouble.toString());
      }
    }

    @Override
    public Class<?> findClass(String name) throws ClassNotFoundException {
      Class<?> found = loaded.get(name);
      if (found == null) throw new ClassNotFoundException(name);
      return found;
    }

    /** The class file with every reference to System.exit made one to OiTui.exit, in its pool of constants. */
    private static byte[] withoutExit(byte[] code) {
      ByteBuffer file = ByteBuffer.wrap(code);
      int count = file.getShort(8) & 0xffff;
      int[] at = new int[count];
      int end = 10;
      for (int n = 1; n < count; n++) {
        at[n] = end;
        int kind = file.get(end);
        switch (kind) {
          case 1 -> end += 3 + (file.getShort(end + 1) & 0xffff);
          case 5, 6 -> {
            end += 9;
            n++;
          }
          case 7, 8, 16, 19, 20 -> end += 3;
          case 15 -> end += 4;
          default -> end += 5;
        }
      }
      List<Integer> changed = new ArrayList<>();
      for (int n = 1; n < count; n++) {
        if (at[n] == 0 || file.get(at[n]) != 10) continue;
        int owner = at[file.getShort(at[n] + 1) & 0xffff];
        int called = at[file.getShort(at[n] + 3) & 0xffff];
        if (text(file, at[file.getShort(owner + 1) & 0xffff]).equals("java/lang/System")
            && text(file, at[file.getShort(called + 1) & 0xffff]).equals("exit")) changed.add(at[n]);
      }
      if (changed.isEmpty() || count > 0xfff0) return code;
      byte[] name = "OiTui".getBytes(StandardCharsets.UTF_8);
      ByteBuffer patched = ByteBuffer.allocate(code.length + 3 + name.length + 3);
      patched.put(code, 0, end);
      patched.put((byte) 1).putShort((short) name.length).put(name);
      patched.put((byte) 7).putShort((short) count);
      patched.put(code, end, code.length - end);
      patched.putShort(8, (short) (count + 2));
      for (int place : changed) patched.putShort(place + 1, (short) (count + 1));
      return patched.array();
    }

    private static String text(ByteBuffer file, int at) {
      return file.get(at) == 1 ? new String(file.array(), at + 3, file.getShort(at + 1) & 0xffff, StandardCharsets.UTF_8) : "";
    }
  }

  /** Standard input: says that the program waits, and lets a wait be interrupted, which Java's own does not. */
  private final class Keyboard extends InputStream {
    private FileChannel channel;
    private FileInputStream file;

    private void open() throws IOException {
      if (channel == null || !channel.isOpen()) {
        file = new FileInputStream("/dev/tty");
        channel = file.getChannel();
      }
    }

    @Override
    public synchronized int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public synchronized int read(byte[] bytes, int offset, int length) throws IOException {
      if (length == 0) return 0;
      open();
      boolean waits = running && file.available() == 0;
      if (waits) place("\"event\":\"input\"", nonce + ".m" + ++marks);
      try {
        return channel.read(ByteBuffer.wrap(bytes, offset, length));
      } finally {
        if (waits) place("\"event\":\"input_end\"", nonce + ".m" + ++marks);
      }
    }

    @Override
    public synchronized int available() throws IOException {
      open();
      return file.available();
    }
  }
}
