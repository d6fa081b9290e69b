"""What each language supplies to the contract: nothing but code."""

# ruff: noqa: E501 - code of other languages, as it is

from dataclasses import dataclass, replace
from typing import Any

from tests import programs
from tests.servers.sshd import HOST

#: Stands for the container of the tests, which is started when one of them needs it.
IN_CONTAINER = "container of the tests"


@dataclass(frozen=True)
class Sample:
    """Snippets of one language; None where a promise does not apply to it."""

    name: str
    needs: str
    #: Print `hello`; print `grüße €` and a line; print on standard error.
    hello: str
    unicode: str
    stderr: str
    #: Set a variable to 41 and say nothing; print one more than it.
    remember: str
    recall: str
    #: An error that says `oops`, after printing `before`; code that cannot be parsed.
    error: str
    syntax_error: str
    #: Print `half` without a newline and flush nothing, pause for 0.4 s, print ` line`.
    half: str
    #: Print `go` and sleep for a minute; print `go` and compute for ever; refuse to be interrupted.
    sleep: str
    busy: str
    stubborn: str
    #: Ask `name? ` for a line and print `hello ` and the line.
    ask: str
    #: Leave with status 3; kill the language's own process with SIGKILL.
    leave: str
    die: str
    #: Print whether standard output is a terminal (`yes`), its width, a variable of the environment, the directory.
    terminal: str
    width: str
    variable: str
    folder: str
    #: Print the bytes 61 ff 62; print a line of a million `x`; print `line N` for N in 0..29999.
    bytes: str
    long_line: str
    many: str
    #: Print `{}` as it is, where `{}` is replaced.
    echo: str
    #: Start `sleep N` in a session of its own, where N is `{}`, and return at once.
    daemon: str
    #: Run the file `script` with sh, in the foreground.
    script: str
    #: Print `go`, then lines without end.
    flood: str
    #: A background child prints `late` 0.3 s after the run's end.
    late: str
    #: Three lines with a pause of 0.15 s on the first and on the last, and the lines to be seen.
    paced: str | None
    paced_lines: tuple[int, ...] = ()
    comment: str = "# nothing"
    #: What the language shows for the expression 6*7; None where it shows nothing.
    product: tuple[str, str] | None = None
    #: How long a short run may take, in seconds.
    quick: float = 0.05
    #: Whether it keeps nothing but files, which a reset leaves where they are.
    keeps_files: bool = False
    #: The language's own name, and what a computer is made with to run this one.
    language: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not self.language:
            object.__setattr__(self, "language", self.name)

    @property
    def programs(self) -> tuple[str, ...]:
        """What must be here for it to run: its own program, and those that its snippets start."""
        walls = (programs.SANDBOX,) if dict(self.options).get("sandbox") else ()
        target = dict(self.options).get("target")
        there = {f"ssh:{HOST}": ("ssh", "sshd"), IN_CONTAINER: ("podman",)}.get(target, ())
        return (self.needs, "sh", "sleep", *walls, *there)

    @property
    def remote(self) -> bool:
        """Whether it runs on another machine, as far as it knows."""
        return "target" in dict(self.options)

    @property
    def here(self) -> bool:
        return not any(map(programs.why_not, self.programs))


PYTHON = Sample(
    name="python",
    needs="python3",
    hello="print('hello')",
    unicode="print('grüße €')",
    stderr="import sys; print('trouble', file=sys.stderr)",
    remember="memory = 41",
    recall="print(memory + 1)",
    error="print('before')\nraise ValueError('oops')",
    syntax_error="print('ran')\ndef (",
    half="import time\nprint('half', end='')\ntime.sleep(0.4)\nprint(' line')",
    sleep="import time\nprint('go')\ntime.sleep(60)",
    busy="print('go')\nwhile True: pass",
    stubborn=(
        "went = 0\nwhile True:\n    try:\n        went or print('go')\n        went = 1\n"
        "        while True: pass\n    except BaseException: pass"
    ),
    ask="name = input('name? ')\nprint('hello', name)",
    leave="import sys; sys.exit(3)",
    die="import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    terminal="import sys; print('yes' if sys.stdout.isatty() and sys.stdin.isatty() else 'no')",
    width="import os; print(os.get_terminal_size().columns)",
    variable="import os; print(os.environ.get('{}'))",
    folder="import os; print(os.getcwd())",
    bytes="import os; os.write(1, b'a\\377b\\n');",
    long_line="print('x' * 1000000)",
    many="for n in range(30000): print('line', n)",
    echo="import sys; written = sys.stdout.write({!r})",
    daemon="import subprocess; p = subprocess.Popen(['sleep', '{}'], start_new_session=True)",
    script="import subprocess; done = subprocess.run(['sh', 'script'])",
    flood="print('go')\nwhile True: print('y' * 50)",
    late="import subprocess; p = subprocess.Popen('sleep 0.3; echo late', shell=True)",
    paced="import time\ntime.sleep(0.15)\nx = 1\ntime.sleep(0.15)",
    paced_lines=(2, 4),
    product=("6*7", "42"),
)
SHELL = Sample(
    name="shell",
    needs="bash",
    hello="echo hello",
    unicode="echo 'grüße €'",
    stderr="echo trouble >&2",
    remember="memory=41",
    recall="echo $((memory + 1))",
    error="echo before\necho oops >&2\nfalse",
    syntax_error="if then",
    half="printf half\nsleep 0.4\necho ' line'",
    sleep="echo go\nsleep 60",
    busy="echo go\nwhile :; do :; done",
    stubborn="trap '' INT TERM\necho go\nwhile :; do sleep 60; done",
    ask="read -p 'name? ' name\necho hello $name",
    leave="exit 3",
    die="kill -9 $$",
    terminal="[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo yes",
    width="stty size | cut -d' ' -f2",
    variable="echo ${{{}-None}}",
    folder="pwd",
    bytes="printf 'a\\377b\\n'",
    long_line="printf 'x%.0s' $(seq 1000000); echo",
    many="seq -f 'line %.0f' 0 29999",
    echo="printf %s {!r}",
    daemon="setsid sleep {} &",
    script="sh script",
    flood="echo go\nwhile :; do echo yyyyyyyyyyyyyyyyyyyy; done",
    late="(sleep 0.3; echo late) &",
    paced="sleep 0.15\nx=1\nsleep 0.15",
    paced_lines=(1, 3),
)
JAVASCRIPT = Sample(
    name="javascript",
    needs="node",
    hello="console.log('hello')",
    unicode="console.log('grüße €')",
    stderr="console.error('trouble')",
    remember="const memory = 41",
    recall="console.log(String(memory + 1))",
    error="console.log('before')\nthrow new Error('oops')",
    syntax_error="console.log('ran'); let = ;",
    half="process.stdout.write('half')\nawait new Promise((r) => setTimeout(r, 400))\nconsole.log(' line')",
    sleep="console.log('go')\nawait new Promise((r) => setTimeout(r, 60000))",
    busy="console.log('go')\nwhile (true) {}",
    stubborn=(
        "require('child_process').spawnSync('sh', ['-c', 'trap \"\" INT TERM; echo go; sleep 60'], "
        "{stdio: 'inherit'})"
    ),
    ask=(
        "const rl = require('readline').createInterface({input: process.stdin, output: process.stdout})\n"
        "rl.question('name? ', (name) => { console.log('hello', name); rl.close() })"
    ),
    leave="process.exit(3)",
    die="process.kill(process.pid, 'SIGKILL')",
    terminal="console.log(process.stdout.isTTY && require('tty').isatty(0) ? 'yes' : 'no')",
    width="console.log(String(process.stdout.getWindowSize()[0]))",
    variable="console.log(process.env['{}'] ?? 'None')",
    folder="console.log(process.cwd())",
    bytes="void process.stdout.write(Buffer.from([0x61, 0xff, 0x62, 0x0a]))",
    long_line="console.log('x'.repeat(1000000))",
    many="for (let n = 0; n < 30000; n++) console.log(`line ${n}`)",
    echo="void process.stdout.write({!r})",
    daemon="require('child_process').spawn('sleep', ['{}'], {{detached: true, stdio: 'ignore'}}).unref()",
    script="void require('child_process').spawnSync('sh', ['script'], {stdio: 'inherit'})",
    flood="console.log('go')\nwhile (true) console.log('y'.repeat(50))",
    late=(
        "require('child_process').spawn('sh', ['-c', 'sleep 0.3; echo late'], "
        "{stdio: 'inherit', detached: true}).unref()"
    ),
    paced=(
        "var end = Date.now() + 200; while (Date.now() < end);\nvar x = 1\n"
        "end = Date.now() + 200; while (Date.now() < end);"
    ),
    paced_lines=(1, 3),
    comment="// nothing",
    product=("6*7", "42"),
)
RUBY = Sample(
    name="ruby",
    needs="ruby",
    hello="puts 'hello'",
    unicode="puts 'grüße €'",
    stderr="warn 'trouble'",
    remember="memory = 41",
    recall="puts memory + 1",
    error="puts 'before'\nraise 'oops'",
    syntax_error="puts 'ran'\ndef (",
    half="print 'half'\nsleep 0.4\nputs ' line'",
    sleep="puts 'go'\nsleep 60",
    busy="puts 'go'\nloop {}",
    stubborn="went = false\nbegin\n  puts 'go' unless went\n  went = true\n  loop {}\nrescue Exception\n  retry\nend",
    ask="print 'name? '\nname = gets\nputs \"hello #{name}\"",
    leave="exit 3",
    die="Process.kill(:KILL, Process.pid); sleep 1",
    terminal="puts($stdout.tty? && $stdin.tty? ? 'yes' : 'no')",
    width="require 'io/console'\nputs IO.console.winsize[1]",
    variable="puts ENV['{}'] || 'None'",
    folder="puts Dir.pwd",
    bytes='$stdout.write("a\\377b\\n".b); nil',
    long_line="puts 'x' * 1_000_000",
    many='30000.times {{ |n| puts "line #{{n}}" }}; nil'.replace("{{", "{").replace("}}", "}"),
    echo="$stdout.write({!r}); nil",
    daemon="spawn('sleep', '{}', pgroup: true); nil",
    script="system('sh', 'script'); nil",
    flood="puts 'go'\nloop { puts 'y' * 50 }",
    late="spawn('sleep 0.3; echo late'); nil",
    paced="sleep 0.15\nx = 1\nsleep 0.15; nil",
    paced_lines=(1, 3),
    product=("6*7", "=> 42"),
)
PERL = Sample(
    name="perl",
    needs="perl",
    hello='print "hello\\n";',
    unicode='print "grüße €\\n";',
    stderr='print STDERR "trouble\\n";',
    remember="my $memory = 41;",
    recall='print $memory + 1, "\\n";',
    error="print \"before\\n\";\ndie 'oops';",
    syntax_error='print "ran\\n";\nif (',
    half="print 'half';\nselect undef, undef, undef, 0.4;\nprint \" line\\n\";",
    sleep='print "go\\n";\nsleep 60;',
    busy='print "go\\n";\n1 while 1;',
    stubborn="$SIG{INT} = $SIG{USR2} = 'IGNORE';\nprint \"go\\n\";\n1 while 1;",
    ask="print 'name? ';\nmy $name = <STDIN>;\nprint \"hello $name\";",
    leave="exit 3;",
    die="kill 'KILL', $$; sleep 1;",
    terminal='print -t STDIN && -t STDOUT ? "yes\\n" : "no\\n";',
    width="print((split ' ', `stty size`)[1], \"\\n\");",
    variable="print $ENV{{'{}'}} // 'None', \"\\n\";",
    folder='use Cwd; print getcwd(), "\\n";',
    bytes='print "a\\377b\\n";',
    long_line="print 'x' x 1000000, \"\\n\";",
    many='print "line $_\\n" for 0..29999;',
    echo="print {!r};",
    daemon="unless (fork) {{ setpgrp; exec 'sleep', '{}' }}",
    script="system 'sh', 'script';",
    flood='print "go\\n";\nprint \'y\' x 50, "\\n" while 1;',
    late="unless (fork) { exec 'sh', '-c', 'sleep 0.3; echo late' }",
    paced=None,
)
LUA = Sample(
    name="lua",
    needs="lua5.4",
    hello="print('hello')",
    unicode="print('grüße €')",
    stderr="io.stderr:write('trouble\\n')",
    remember="local memory = 41",
    recall="print(memory + 1)",
    error="print('before')\nerror('oops')",
    syntax_error="print('ran')\nif (",
    half="io.write('half')\nos.execute('sleep 0.4')\nprint(' line')",
    sleep="print('go')\nlocal pipe = io.popen('sleep 60')\npipe:read('a')\npipe:close()\nwhile true do end",
    busy="print('go')\nwhile true do end",
    stubborn="os.execute(\"trap '' INT TERM; echo go; sleep 60\")",
    ask="io.write('name? ')\nlocal name = io.read()\nprint('hello ' .. name)",
    leave="os.exit(3)",
    die="os.execute('kill -9 $PPID')",
    terminal="print(os.execute('test -t 0 -a -t 1') and 'yes' or 'no')",
    width="os.execute(\"stty size | cut -d' ' -f2\")",
    variable="print(os.getenv('{}') or 'None')",
    folder="os.execute('pwd')",
    bytes="io.write('a\\255b\\n')",
    long_line="print(('x'):rep(1000000))",
    many="for n = 0, 29999 do print('line ' .. n) end",
    echo="io.write({!r})",
    daemon="os.execute('setsid sleep {} &')",
    script="os.execute('sh script')",
    flood="print('go')\nwhile true do print(('y'):rep(50)) end",
    late="os.execute('(sleep 0.3; echo late) &')",
    paced=None,
    comment="-- nothing",
    product=("6*7", "42"),
)
R = Sample(
    name="r",
    needs="R",
    hello="cat('hello\\n')",
    unicode="cat('grüße €\\n')",
    stderr="message('trouble')",
    remember="memory <- 41",
    recall="cat(memory + 1, '\\n', sep = '')",
    error="cat('before\\n')\nstop('oops')",
    syntax_error="cat('ran\\n')\nif (",
    half="cat('half')\nSys.sleep(0.4)\ncat(' line\\n')",
    sleep="cat('go\\n')\nSys.sleep(60)",
    busy="cat('go\\n')\nrepeat {}",
    stubborn=(
        "went <- FALSE\nrepeat tryCatch({ if (!went) cat('go\\n'); went <- TRUE; repeat {} }, "
        "interrupt = function(e) NULL)"
    ),
    ask="name <- readline('name? ')\ncat('hello', name, '\\n')",
    leave="quit(status = 3)",
    die="tools::pskill(Sys.getpid(), 9); Sys.sleep(1)",
    terminal="cat(if (isatty(stdin()) && isatty(stdout())) 'yes\\n' else 'no\\n')",
    width="cat(getOption('width'), '\\n', sep = '')",
    variable="cat(Sys.getenv('{}', 'None'), '\\n', sep = '')",
    folder="cat(getwd(), '\\n', sep = '')",
    bytes="system(\"printf 'a\\\\377b\\\\n'\")",
    long_line="cat(strrep('x', 1000000), '\\n', sep = '')",
    many="cat(paste0('line ', 0:29999, '\\n'), sep = '')",
    echo="cat({!r})",
    daemon="system('setsid sleep {} &')",
    script="invisible(system('sh script'))",
    flood="cat('go\\n')\nrepeat cat(strrep('y', 50), '\\n')",
    late="system('(sleep 0.3; echo late) &')",
    paced="Sys.sleep(0.15)\nx <- 1\nSys.sleep(0.15)",
    paced_lines=(1, 3),
    product=("6*7", "[1] 42"),
)
OCTAVE = Sample(
    name="octave",
    needs="octave",
    hello="printf('hello\\n')",
    unicode="printf('grüße €\\n')",
    stderr="fprintf(stderr, 'trouble\\n')",
    remember="memory = 41;",
    recall="disp(memory + 1)",
    error="disp('before')\nerror('oops')",
    syntax_error="disp('ran')\nif (",
    half="printf('half')\npause(0.4)\nprintf(' line\\n')",
    sleep="disp('go')\npause(60)",
    busy="disp('go')\nwhile true, end",
    stubborn="system(\"trap '' INT TERM; echo go; sleep 60\");",
    ask="name = input('name? ', 's');\ndisp(['hello ' name])",
    leave="exit(3)",
    die="kill(getpid(), 9); pause(1)",
    terminal="system('test -t 0 -a -t 1 && echo yes || echo no');",
    width="system(\"stty size | cut -d' ' -f2\");",
    variable="x = getenv('{}'); if isempty(x), x = 'None'; end, disp(x)",
    folder="disp(pwd())",
    bytes='printf("a\\377b\\n")',
    long_line="disp(repmat('x', 1, 1000000))",
    many="printf('line %d\\n', 0:29999)",
    echo="printf('%s', {!r})",
    daemon="system('setsid sleep {} &');",
    script="system('sh script');",
    flood="disp('go')\nwhile true, disp(repmat('y', 1, 50)), end",
    late="system('(sleep 0.3; echo late) &');",
    paced="pause(0.15);\nx = 1;\npause(0.15);",
    paced_lines=(1, 3),
    product=("6*7", "ans = 42"),
    quick=0.25,
)
JAVA = Sample(
    name="java",
    needs="jshell",
    hello='System.out.println("hello");',
    unicode='System.out.println("grüße €");',
    stderr='System.err.println("trouble");',
    remember="int memory = 41;",
    recall="System.out.println(memory + 1);",
    error='System.out.println("before");\nthrow new IllegalStateException("oops");',
    syntax_error='System.out.println("ran");\nint = ;',
    half='System.out.print("half");\nThread.sleep(400);\nSystem.out.println(" line");',
    sleep='System.out.println("go");\nThread.sleep(60000);',
    busy='System.out.println("go");\nwhile (true) {}',
    stubborn=(
        'boolean went = false;\nwhile (true) try { if (!went) System.out.println("go"); went = true; while (true) {} } '
        "catch (Throwable e) {}"
    ),
    ask=(
        'System.out.print("name? ");\nString name = new Scanner(System.in).nextLine();\n'
        'System.out.println("hello " + name);'
    ),
    leave="System.exit(3);",
    die='var p = new ProcessBuilder("sh", "-c", "kill -9 $PPID; sleep 1").inheritIO().start(); p.waitFor();',
    terminal='System.out.println(System.console() != null ? "yes" : "no");',
    width=(
        'var p = new ProcessBuilder("sh", "-c", "stty size | cut -d\' \' -f2").inheritIO().start();\n'
        "int status = p.waitFor();"
    ),
    variable='System.out.println(System.getenv().getOrDefault("{}", "None"));',
    folder='System.out.println(Path.of("").toAbsolutePath());',
    bytes="System.out.write(new byte[] {0x61, (byte) 0xff, 0x62, 0x0a});",
    long_line='System.out.println("x".repeat(1000000));',
    many='for (int n = 0; n < 30000; n++) System.out.println("line " + n);',
    echo='System.out.print("{}");',
    daemon='var p = new ProcessBuilder("setsid", "sleep", "{}").start();',
    script='int status = new ProcessBuilder("sh", "script").inheritIO().start().waitFor();',
    flood='System.out.println("go");\nwhile (true) System.out.println("y".repeat(50));',
    late='var p = new ProcessBuilder("sh", "-c", "sleep 0.3; echo late").inheritIO().start();',
    paced="Thread.sleep(150);\nint x = 1;\nThread.sleep(150);",
    paced_lines=(1, 3),
    comment="// nothing",
    product=("6*7", "42"),
    quick=1.0,
)
JULIA = Sample(
    name="julia",
    needs="julia",
    hello='println("hello")',
    unicode='println("grüße €")',
    stderr='println(stderr, "trouble")',
    remember="memory = 41;",
    recall="println(memory + 1)",
    error='println("before")\nerror("oops")',
    syntax_error='println("ran")\nfunction (',
    half='print("half")\nsleep(0.4)\nprintln(" line")',
    sleep='println("go")\nsleep(60)',
    busy='println("go")\nwhile true; sin(1.0); yield(); end',
    stubborn=(
        'went = false\nwhile true\n  try\n    went || println("go")\n    global went = true\n'
        "    while true; sleep(0.01); end\n  catch\n  end\nend"
    ),
    ask='print("name? ")\nname = readline()\nprintln("hello ", name)',
    leave="exit(3)",
    die="ccall(:kill, Cint, (Cint, Cint), getpid(), 9); sleep(1)",
    terminal='println(stdin isa Base.TTY && stdout isa Base.TTY ? "yes" : "no")',
    width="println(displaysize(stdout)[2])",
    variable='println(get(ENV, "{}", "None"))',
    folder="println(pwd())",
    bytes="write(stdout, UInt8[0x61, 0xff, 0x62, 0x0a]);",
    long_line='println("x"^1000000)',
    many='for n in 0:29999 println("line ", n) end',
    echo='print("{}")',
    daemon="run(detach(`sleep {}`); wait = false);",
    script="run(ignorestatus(`sh script`));",
    flood='println("go")\nwhile true println("y"^50) end',
    late="run(pipeline(`sh -c 'sleep 0.3; echo late'`; stdout = stdout); wait = false);",
    paced="sleep(0.15)\nx = 1\nsleep(0.15)",
    paced_lines=(1, 3),
    product=("6*7", "42"),
    quick=0.5,
)
_C = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
C = Sample(
    name="c",
    needs="gcc",
    hello='#include <stdio.h>\nputs("hello");',
    unicode='#include <stdio.h>\nputs("grüße €");',
    stderr=f'{_C}fputs("trouble\\n", stderr);',
    # What is kept is a file.
    remember=f'{_C}FILE *out = fopen("memory", "w");\nfputs("41", out);\nfclose(out);',
    recall=(
        f'{_C}FILE *in = fopen("memory", "r");\nint memory;\nif (!in || fscanf(in, "%d", &memory) != 1) exit(1);\n'
        'printf("%d\\n", memory + 1);'
    ),
    error=f'{_C}puts("before");\nfputs("oops\\n", stderr);\nabort();',
    syntax_error=f'{_C}puts("ran");\nint = ;',
    half=f'{_C}write(1, "half", 4);\nusleep(400000);\nputs(" line");',
    sleep=f'{_C}puts("go");\nsleep(60);',
    busy=f'{_C}puts("go");\nfor (volatile int i = 0;; i++);',
    stubborn=(
        f'#include <signal.h>\n{_C}signal(SIGINT, SIG_IGN);\nsignal(SIGTERM, SIG_IGN);\nputs("go");\n'
        "for (;;) sleep(60);"
    ),
    ask=f'{_C}char name[99];\nprintf("name? ");\nfgets(name, 99, stdin);\nprintf("hello %s", name);',
    leave="#include <stdlib.h>\nexit(3);",
    die=f"#include <signal.h>\n{_C}kill(getppid(), SIGKILL);\nsleep(1);",
    terminal=f'{_C}puts(isatty(0) && isatty(1) ? "yes" : "no");',
    width=(
        f"#include <sys/ioctl.h>\n{_C}struct winsize size;\nioctl(1, TIOCGWINSZ, &size);\n"
        'printf("%d\\n", size.ws_col);'
    ),
    variable=f'{_C}const char *value = getenv("{{}}");\nputs(value ? value : "None");',
    folder=f"{_C}char path[4096];\nputs(getcwd(path, sizeof path));",
    bytes=f'{_C}write(1, "a\\377b\\n", 4);',
    long_line=f"{_C}for (int n = 0; n < 1000000; n++) putchar('x');\nputchar('\\n');",
    many=f'{_C}for (int n = 0; n < 30000; n++) printf("line %d\\n", n);',
    echo='#include <stdio.h>\nfputs("{}", stdout);',
    daemon='#include <stdlib.h>\nsystem("setsid sleep {} &");',
    script='#include <stdlib.h>\nsystem("sh script");',
    flood=f'{_C}puts("go");\nfor (;;) puts("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");',
    late='#include <stdlib.h>\nsystem("(sleep 0.3; echo late) &");',
    paced=None,
    comment="// nothing",
    keeps_files=True,
)
PHP = Sample(
    name="php",
    needs="php",
    hello='echo "hello\\n";',
    unicode='echo "grüße €\\n";',
    stderr='fwrite(STDERR, "trouble\\n");',
    # What is kept is a file.
    remember='file_put_contents("memory", "41");',
    recall='if (!file_exists("memory")) exit(1);\necho file_get_contents("memory") + 1, "\\n";',
    error='echo "before\\n";\nthrow new Exception("oops");',
    syntax_error='echo "ran";\n\nif (',
    half='echo "half";\nusleep(400000);\necho " line\\n";',
    sleep='echo "go\\n";\nsleep(60);',
    busy='echo "go\\n";\nwhile (true);',
    stubborn=(
        "pcntl_async_signals(true);\npcntl_signal(SIGINT, SIG_IGN);\npcntl_signal(SIGTERM, SIG_IGN);\n"
        'echo "go\\n";\nwhile (true) sleep(60);'
    ),
    ask='$name = readline("name? ");\necho "hello $name\\n";',
    leave="exit(3);",
    die="posix_kill(posix_getppid(), 9);\nsleep(1);",
    terminal='echo posix_isatty(STDIN) && posix_isatty(STDOUT) ? "yes" : "no", "\\n";',
    width="passthru(\"stty size | cut -d' ' -f2\");",
    variable='$value = getenv("{}");\necho $value === false ? "None" : $value, "\\n";',
    folder='echo getcwd(), "\\n";',
    bytes='echo "a\\xffb\\n";',
    long_line='echo str_repeat("x", 1000000), "\\n";',
    many='for ($n = 0; $n < 30000; $n++) echo "line $n\\n";',
    echo='echo "{}";',
    daemon='proc_open(["sh", "-c", "setsid sleep {} &"], [], $pipes);',
    script='proc_close(proc_open(["sh", "script"], [], $pipes));',
    flood='echo "go\\n";\nwhile (true) echo "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\\n";',
    late='proc_open(["sh", "-c", "(sleep 0.3; echo late) &"], [], $pipes);',
    paced=None,
    comment="// nothing",
    quick=0.2,
    keeps_files=True,
)
SQL = Sample(
    name="sql",
    needs="python3",
    hello=".print hello",
    unicode=".mode list\nselect 'grüße €'",
    stderr=".shell echo trouble >&2",
    remember="create table if not exists memory as select 41 as n;",
    recall=".mode list\nselect n + 1 from memory",
    error=".print before\nselect * from oops",
    syntax_error=".print ran\nselec 1",
    half=".shell printf half; sleep 0.4; echo ' line'",
    sleep=".print go\n.shell sleep 60",
    busy=".print go\nwith recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
    stubborn=".shell trap '' INT TERM; echo go; sleep 60; sleep 60",
    ask=".shell printf 'name? '; read name; echo hello $name",
    leave=".exit 3",
    die=".shell kill -9 $PPID; sleep 1",
    terminal=".shell [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo yes",
    width=".shell stty size | cut -d' ' -f2",
    variable=".shell echo ${{{}-None}}",
    folder=".shell pwd",
    bytes=".shell printf 'a\\377b\\n'",
    long_line=".mode list\nselect replace(hex(zeroblob(500000)), '0', 'x')",
    many=(
        ".mode list\nwith recursive n(i) as (select 0 union all select i + 1 from n where i < 29999)\n"
        "select 'line ' || i from n"
    ),
    echo=".shell printf %s {!r}",
    daemon=".shell setsid sleep {} &",
    script=".shell sh script",
    flood=".shell echo go; while :; do echo yyyyyyyyyyyyyyyyyyyy; done",
    late=".shell (sleep 0.3; echo late) &",
    paced=".shell sleep 0.3\nselect 1;\n.shell sleep 0.3",
    paced_lines=(1, 3),
    comment="-- nothing",
    product=("select 6*7", "42"),
)
ZSH = replace(
    SHELL,
    name="zsh",
    needs="zsh",
    ask="read 'name?name? '\necho hello $name",
    syntax_error="if then",
    language="zsh",
)
SH = replace(
    SHELL,
    name="sh",
    needs="dash",
    ask="printf 'name? '\nread name\necho hello $name",
    paced=None,
    language="shell",
    options=(("shell", "dash"),),
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    remember="const memory: number = 41",
    # What an enum becomes has other lines.
    paced=f"enum Pace {{ Slow, Fast }}\n{JAVASCRIPT.paced}",
    paced_lines=(2, 4),
    language="typescript",
)
_PROMPT = "const name = prompt('name?')\nconsole.log('hello', name)"
BUN = replace(
    JAVASCRIPT,
    name="bun",
    needs="bun",
    language="bun",
    # Its console writes errors in red.
    stderr="void process.stderr.write('trouble\\n')",
    ask=_PROMPT,
    paced=None,
)
DENO = replace(JAVASCRIPT, name="deno", needs="deno", language="deno", ask=_PROMPT, quick=0.2)
#: The same promises hold in the sandbox.
ENCLOSED = [
    replace(sample, name=f"{sample.name} in the sandbox", language=sample.name, options=(("sandbox", True),))
    for sample in (PYTHON, SHELL, JAVASCRIPT)
]
#: The same promises hold on another machine, and in a container.
THERE = [
    replace(
        sample, name=f"{sample.name} over ssh", language=sample.name, options=(("target", f"ssh:{HOST}"),)
    )
    for sample in (PYTHON, SHELL)
] + [replace(PYTHON, name="python in a container", language="python", options=(("target", IN_CONTAINER),))]
ALL = [
    PYTHON,
    SHELL,
    JAVASCRIPT,
    TYPESCRIPT,
    DENO,
    BUN,
    RUBY,
    PERL,
    LUA,
    R,
    OCTAVE,
    JAVA,
    JULIA,
    C,
    PHP,
    SQL,
    ZSH,
    SH,
    *ENCLOSED,
    *THERE,
]
