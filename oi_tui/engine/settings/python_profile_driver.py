"""The program that runs a Python profile in a process of its own. It imports nothing of ours."""

#: What stands between the profile and us: an object that notes what is set. It reads a JSON object from the
#: standard input and writes one to the descriptor that was the standard output; what the profile prints
#: goes nowhere.
DRIVER = r"""
import collections.abc, importlib.machinery, json, os, sys, time, types
given = json.loads(sys.stdin.buffer.read())
report = os.fdopen(os.dup(1), "w", encoding="utf-8")
null = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(null, number)
class Name(str):
    # A capital letter, or an alias, must not keep a language that the profile leaves out.
    aliases = ()
    def __eq__(self, other):
        return isinstance(other, str) and other.casefold() in (self.casefold(), *self.aliases)
    def __ne__(self, other):
        return not self == other
    __hash__ = str.__hash__
class BaseLanguage:
    name, file_extension, aliases = "base", "txt", []
    def __init__(self, *positional, **named):
        pass
ENDINGS = {
    "javascript": "js",
    "powershell": "ps1",
    "python": "py",
    "react": "html",
    "ruby": "rb",
    "shell": "sh",
}
LANGUAGES_FOLDER = "interpreter.core.computer.terminal.languages"
def make_language(key, name, aliases):
    # A class, as in Open Interpreter, so that profiles compare and import it.
    shown = Name(name)
    shown.aliases = aliases
    members = {"key": key, "name": shown, "aliases": list(aliases), "file_extension": ENDINGS.get(key, key)}
    return type(name, (BaseLanguage,), {**members, "__module__": f"{LANGUAGES_FOLDER}.{key}"})
LANGUAGES = [make_language(*entry) for entry in given["languages"]]
def is_built_in(value):
    return any(value is one for one in LANGUAGES)
LISTS = {key: value for key, value in given["defaults"].items() if isinstance(value, list)}
LISTS["computer.languages"] = LANGUAGES
SAME = {"computer.terminal.languages": "computer.languages"}
values, lines, calls = {}, {}, []
def line_now():
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != given["place"]:
        frame = frame.f_back
    return frame and frame.f_lineno
class OnTheClass(type):
    # What is set on the class counts for the object.
    def __setattr__(self, name, value):
        setattr(interpreter, name, value)
class Values(collections.abc.MutableMapping):
    # What `vars` returns: another way to set the attributes.
    def __init__(self, part):
        self.part = part
    def __getitem__(self, name):
        return getattr(self.part, name)
    def __setitem__(self, name, value):
        setattr(self.part, name, value)
    def __delitem__(self, name):
        raise TypeError("a profile cannot delete settings")
    def __iter__(self):
        group = path_of(self.part, "")
        keys = [key[len(group):] for key in given["defaults"] if key.startswith(group)]
        return iter({key.partition(".")[0] for key in keys})
    def __len__(self):
        return len(list(iter(self)))
class Part(metaclass=OnTheClass):
    __slots__ = ("_path",)
    __dict__ = property(Values)
    def __init__(self, path=""):
        object.__setattr__(self, "_path", path)
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = path_of(self, name)
        if path not in values and path in LISTS:
            # A list may be changed in place.
            values[path], lines[path] = list(LISTS[path]), line_now()
        if path in values:
            return values[path]
        if path in given["defaults"]:
            return given["defaults"][path]
        return Part(path)
    def __setattr__(self, name, value):
        path = path_of(self, name)
        if isinstance(value, Part) and object.__getattribute__(value, "_path") == path:
            return
        values[path], lines[path] = value, line_now()
    def __copy__(self):
        return self
    def __deepcopy__(self, memo):
        return self
    def __call__(self, *positional, **named):
        named_words = {key: value for key, value in named.items() if isinstance(value, str)}
        words = [value for value in positional if isinstance(value, str)]
        keys = [*named, *keys_of([*positional, *named.values()])]
        calls.append([object.__getattribute__(self, "_path"), line_now(), words, named_words, keys])
        return Part(object.__getattribute__(self, "_path"))
    def __iter__(self):
        return iter(())
    def __bool__(self):
        return False
def keys_of(values):
    # The keys of dictionaries, also within others.
    for value in values:
        if isinstance(value, dict):
            yield from (key for key in value if isinstance(key, str))
            yield from keys_of(value.values())
def path_of(part, name):
    group = object.__getattribute__(part, "_path")
    path = f"{group}.{name}" if group else name
    return SAME.get(path, path)
interpreter = Part()
POSITIONS = ("messages", "offline", "auto_run", "verbose", "debug", "max_output", "safe_mode")
class Maker(OnTheClass):
    def __call__(self, *positional, **named):
        if len(positional) > len(POSITIONS):
            raise TypeError("too many arguments without names")
        for name, value in {**dict(zip(POSITIONS, positional)), **named}.items():
            setattr(interpreter, name, value)
        return interpreter
    def __instancecheck__(self, value):
        return value is interpreter
class OpenInterpreter(metaclass=Maker):
    def __init_subclass__(cls):
        raise TypeError("a profile cannot extend OpenInterpreter; set its values on interpreter")
NAMES = {"interpreter": interpreter, "BaseLanguage": BaseLanguage}
NAMES.update(dict.fromkeys(("OpenInterpreter", "AsyncInterpreter", "Interpreter"), OpenInterpreter))
class Module(types.ModuleType):
    # In version 0.1, the module itself was the interpreter.
    def __getattr__(self, name):
        if self.__name__.startswith(LANGUAGES_FOLDER):
            for one in LANGUAGES:
                if one.__name__ == name:
                    return one
        return NAMES[name] if name in NAMES else getattr(interpreter, name)
    def __setattr__(self, name, value):
        if name.startswith("_") or isinstance(value, types.ModuleType):
            super().__setattr__(name, value)
        else:
            setattr(interpreter, name, value)
class Finder:
    # Profiles also import from the modules inside of Open Interpreter.
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "interpreter":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return Module(spec.name)
    def exec_module(self, module):
        pass
sys.meta_path.insert(0, Finder())
space = {"__name__": "__main__", "__file__": given["place"], "interpreter": interpreter}
fault = None
environment = dict(os.environ)
def finish():
    # What runs at the end of a program, or in another thread, may set limits as well.
    if "threading" in sys.modules:
        threading, until = sys.modules["threading"], time.monotonic() + given["patience"]
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not thread.daemon:
                thread.join(max(0, until - time.monotonic()))
    if "atexit" in sys.modules:
        sys.modules["atexit"]._run_exitfuncs()
    for module in [one for one in sys.modules.values() if isinstance(one, Module)]:
        for name, value in list(vars(module).items()):
            if not name.startswith("_") and not isinstance(value, types.ModuleType):
                setattr(interpreter, name, value)
    # LiteLLM keeps a budget of its own, which the process that sends requests does not know.
    budget = vars(sys.modules["litellm"]).get("max_budget") if "litellm" in sys.modules else None
    ours = values.get("llm.max_budget", values.get("max_budget"))
    if budget and not (isinstance(ours, (int, float)) and ours <= budget):
        interpreter.llm.max_budget = budget
try:
    exec(compile(given["text"], given["place"], "exec"), space)
    finish()
except BaseException as error:
    line = None
    walk = error.__traceback__
    while walk is not None:
        if walk.tb_frame.f_code.co_filename == given["place"]:
            line = walk.tb_lineno
        walk = walk.tb_next
    fault = [type(error).__name__, str(error), getattr(error, "lineno", None) or line]
def is_plain(value):
    return value is None or type(value) in (str, Name, int, float, bool) or (
        isinstance(value, (list, tuple)) and all(type(entry) in (str, Name) for entry in value))
def described(value):
    # What kind of value it is, and the value itself where it can be written as JSON.
    if isinstance(value, (list, tuple)):
        value = [entry.key if is_built_in(entry) else entry for entry in value]
        for entry in value:
            if isinstance(entry, Part):
                return "other", "a list with " + object.__getattribute__(entry, "_path")
    if is_plain(value):
        return "plain", value
    classes = [one for one in value if isinstance(one, type)] if isinstance(value, (list, tuple)) else []
    if classes:
        return "class", classes[0].__name__
    return "function" if callable(value) and not isinstance(value, Part) else "other", type(value).__name__
values = [
    [path, *described(value), lines[path]]
    for path, value in values.items()
    if not (path in LISTS and isinstance(value, list) and value == LISTS[path])
]
names = sorted({**environment, **os.environ})
changed = [name for name in names if environment.get(name) != os.environ.get(name)]
json.dump({"values": values, "calls": calls, "fault": fault, "environment": changed}, report)
report.close()
os._exit(0)
"""
