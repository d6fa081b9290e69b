"""What calls in Python code do, by the full name of the function or by the name of the method."""

from oi_tui.engine.review.findings import Kind

#: Calls by their full name, or by its beginning where it ends with a dot.
CALLS: dict[str, Kind] = {
    **dict.fromkeys(
        ("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "send2trash.send2trash"),
        "deletes",
    ),
    **dict.fromkeys(("tempfile._rmtree", "distutils.dir_util.remove_tree", "sh.rm"), "deletes"),
    **dict.fromkeys(("os.rename", "os.renames", "os.replace", "shutil.move"), "moves"),
    **dict.fromkeys(("os.system", "os.popen", "pty.spawn", "os.startfile", "webbrowser.open"), "programs"),
    **dict.fromkeys(("os.fork", "os.forkpty", "platform.popen", "pydoc.pipepager"), "programs"),
    **dict.fromkeys(("subprocess.", "os.exec", "os.spawn", "os.posix_spawn", "pexpect."), "programs"),
    **dict.fromkeys(("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"), "programs"),
    **dict.fromkeys(
        ("asyncio.subprocess.create_subprocess_exec", "asyncio.subprocess.create_subprocess_shell"),
        "programs",
    ),
    **dict.fromkeys(("_posixsubprocess.", "invoke.run", "commands.getoutput", "sh.", "plumbum."), "programs"),
    **dict.fromkeys(("multiprocessing.Process", "multiprocessing.Pool"), "programs"),
    **dict.fromkeys(("concurrent.futures.ProcessPoolExecutor",), "programs"),
    **dict.fromkeys(("torch.utils.cpp_extension.", "numpy.f2py.compile"), "programs"),
    **dict.fromkeys(
        ("os.kill", "os.killpg", "os._exit", "os.abort", "signal.pthread_kill", "signal.raise_signal"),
        "processes",
    ),
    **dict.fromkeys(("signal.pidfd_send_signal", "faulthandler._sigsegv"), "processes"),
    **dict.fromkeys(
        ("os.chmod", "os.chown", "os.lchown", "os.fchmod", "os.fchown", "shutil.chown"), "system"
    ),
    **dict.fromkeys(("os.putenv", "os.nice"), "system"),
    **dict.fromkeys(("os.setxattr", "os.removexattr", "os.umask", "resource.setrlimit"), "system"),
    **dict.fromkeys(
        ("winreg.SetValue", "winreg.SetValueEx", "winreg.DeleteKey", "crontab.CronTab"), "system"
    ),
    **dict.fromkeys(("os.setuid", "os.setgid", "os.seteuid", "os.setresuid", "os.setgroups"), "rights"),
    **dict.fromkeys(("eval", "exec", "compile", "__import__", "runpy.", "execfile"), "runs text"),
    **dict.fromkeys(
        ("timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "profile.run"), "runs text"
    ),
    **dict.fromkeys(("pdb.run", "pdb.runeval", "code.interact", "code.InteractiveInterpreter"), "runs text"),
    **dict.fromkeys(("code.InteractiveConsole", "types.FunctionType", "types.CodeType"), "runs text"),
    **dict.fromkeys(("pandas.eval", "numexpr.evaluate", "yaml.unsafe_load"), "runs text"),
    **dict.fromkeys(
        ("pickle.load", "pickle.loads", "marshal.loads", "dill.load", "joblib.load"), "runs text"
    ),
    **dict.fromkeys(
        ("pandas.read_pickle", "dill.loads", "cloudpickle.loads", "torch.load", "torch.hub."), "runs text"
    ),
    **dict.fromkeys(("marshal.load", "pickle.Unpickler", "jsonpickle.decode", "shelve.open"), "runs text"),
    **dict.fromkeys(("importlib.import_module", "ctypes.", "cffi."), "runs text"),
    **dict.fromkeys(("importlib.util.", "importlib.machinery.", "numpy.ctypeslib."), "runs text"),
    **dict.fromkeys(
        (
            "setuptools.command.easy_install.main",
            "pip.main",
            "pip._internal.main",
            "ensurepip.bootstrap",
            "setuptools.setup",
        ),
        "installs",
    ),
    **dict.fromkeys(
        ("requests.", "httpx.", "aiohttp.", "urllib.request.", "urllib3.", "socket.", "http.client."),
        "network",
    ),
    **dict.fromkeys(("ftplib.", "smtplib.", "imaplib.", "poplib.", "telnetlib.", "paramiko."), "network"),
    **dict.fromkeys(("websockets.", "websocket.", "boto3.", "yfinance.", "huggingface_hub."), "network"),
    **dict.fromkeys(
        ("nntplib.", "xmlrpc.client.", "http.server.", "socketserver.", "dns.resolver."), "network"
    ),
    **dict.fromkeys(("pycurl.", "httplib2.", "pymysql.", "psycopg2.", "psycopg.", "openai."), "network"),
    **dict.fromkeys(
        ("selenium.webdriver.", "playwright.", "fabric.", "wget.", "pymongo.", "redis."), "network"
    ),
    **dict.fromkeys(("multiprocessing.connection.", "multiprocessing.managers.", "nltk.download"), "network"),
    **dict.fromkeys(
        ("ssl.get_server_certificate", "asyncio.open_connection", "asyncio.start_server"), "network"
    ),
    **dict.fromkeys(("logging.handlers.HTTPHandler", "logging.handlers.SysLogHandler"), "network"),
    **dict.fromkeys(("logging.handlers.SMTPHandler", "logging.handlers.SocketHandler"), "network"),
    **dict.fromkeys(
        (
            "seaborn.load_dataset",
            "sklearn.datasets.fetch_openml",
            "transformers.pipeline",
            "urllib.request.urlretrieve",
        ),
        "network",
    ),
    **dict.fromkeys(
        ("keyring.get_password", "netrc.netrc", "browser_cookie3.", "spwd.getspall", "dotenv.dotenv_values"),
        "secrets",
    ),
    **dict.fromkeys(("pyperclip.", "pandas.read_clipboard"), "clipboard"),
    **dict.fromkeys(
        ("os.mkdir", "os.makedirs", "shutil.copy", "shutil.copyfile", "shutil.copytree"), "writes"
    ),
    **dict.fromkeys(
        ("shutil.copy2", "os.truncate", "os.symlink", "os.link", "shutil.unpack_archive"), "writes"
    ),
    **dict.fromkeys(("numpy.save", "numpy.savetxt", "numpy.savez", "json.dump", "pickle.dump"), "writes"),
    **dict.fromkeys(
        ("numpy.savez_compressed", "numpy.lib.format.open_memmap", "os.mkfifo", "os.mknod"), "writes"
    ),
    **dict.fromkeys(("joblib.dump", "torch.save", "scipy.io.savemat", "cv2.imwrite", "dbm.open"), "writes"),
    **dict.fromkeys(("matplotlib.pyplot.imsave", "pandas.ExcelWriter", "pandas.HDFStore"), "writes"),
    **dict.fromkeys(("shutil.make_archive", "logging.FileHandler", "pyarrow.parquet.write_table"), "writes"),
    **dict.fromkeys(
        ("logging.handlers.RotatingFileHandler", "plistlib.dump", "os.write", "os.ftruncate"), "writes"
    ),
}
# Functions of the standard library that do the same by less usual names.
CALLS |= {
    **dict.fromkeys(("os.chroot", "os.unshare", "os.setns", "os.setpriority", "os.pidfd_open"), "system"),
    **dict.fromkeys(("fcntl.ioctl", "termios.tcsetattr", "resource.prlimit"), "system"),
    **dict.fromkeys(("signal.alarm", "signal.setitimer"), "processes"),
    **dict.fromkeys(
        ("distutils.spawn.spawn", "webbrowser.get", "multiprocessing.set_executable"), "programs"
    ),
    **dict.fromkeys(
        ("sys.remote_exec", "concurrent.interpreters.", "_interpreters.", "_xxsubinterpreters."), "runs text"
    ),
    **dict.fromkeys(
        ("codeop.compile_command", "pydoc.locate", "pkgutil.resolve_name", "unittest.main"), "runs text"
    ),
    **dict.fromkeys(
        ("doctest.run_docstring_examples", "trace.Trace", "bdb.Bdb", "site.addsitedir"), "runs text"
    ),
    **dict.fromkeys(
        ("zipimport.zipimporter", "importlib.metadata.entry_points", "logging.config.dictConfig"), "runs text"
    ),
    **dict.fromkeys(("wsgiref.simple_server.make_server", "urllib.robotparser."), "network"),
    **dict.fromkeys(("readline.read_history_file", "_pyrepl.readline.read_history_file"), "secrets"),
    **dict.fromkeys(
        ("os.posix_fallocate", "os.copy_file_range", "os.sendfile", "os.pwrite", "os.writev"), "writes"
    ),
    **dict.fromkeys(
        ("compileall.compile_dir", "compileall.compile_file", "py_compile.compile", "pydoc.writedocs"),
        "writes",
    ),
    **dict.fromkeys(
        ("zipfile.main", "tarfile.main", "venv.create", "mailbox.mbox", "mailbox.Maildir"), "writes"
    ),
    **dict.fromkeys(("dbm.dumb.open", "dbm.gnu.open", "dbm.ndbm.open", "dbm.sqlite3.open"), "writes"),
}
#: Where the file stands among the arguments of a call that writes one; the first otherwise.
FILE_AT = {
    **dict.fromkeys(("shutil.copy", "shutil.copyfile", "shutil.copytree", "shutil.copy2"), 1),
    **dict.fromkeys(("os.symlink", "os.link", "joblib.dump", "torch.save", "pyarrow.parquet.write_table"), 1),
}
#: Calls that write to something opened elsewhere.
NO_FILE = {
    *("json.dump", "pickle.dump", "plistlib.dump", "os.write", "os.ftruncate", "os.pwrite", "os.writev"),
    *("os.posix_fallocate", "os.copy_file_range", "os.sendfile", "zipfile.main", "tarfile.main"),
    *("compileall.compile_dir", "compileall.compile_file", "py_compile.compile", "pydoc.writedocs"),
}
#: Methods of whatever object, by name. "replace" and "rename" belong to texts and tables too often.
METHODS: dict[str, Kind] = {
    **dict.fromkeys(
        ("unlink", "rmdir", "rmtree", "removetree", "delete_objects", "delete_bucket"), "deletes"
    ),
    **dict.fromkeys(
        ("drop_database", "drop_collection", "delete_many", "delete_one", "delete_object"), "deletes"
    ),
    **dict.fromkeys(("flushall", "flushdb"), "deletes"),
    **dict.fromkeys(("write_text", "write_bytes", "touch", "mkdir", "savefig", "symlink_to"), "writes"),
    **dict.fromkeys(("to_csv", "to_excel", "to_parquet", "to_pickle", "to_feather", "to_hdf"), "writes"),
    **dict.fromkeys(
        ("to_json", "to_html", "write_html", "write_image", "write_csv", "write_parquet"), "writes"
    ),
    **dict.fromkeys(
        ("to_markdown", "to_latex", "to_xml", "to_stata", "to_orc", "to_netcdf", "to_zarr"), "writes"
    ),
    **dict.fromkeys(
        ("tofile", "hardlink_to", "extractall", "write_ipc", "write_ndjson", "write_excel"), "writes"
    ),
    **dict.fromkeys(("sink_csv", "sink_parquet", "sink_ipc", "sink_ndjson"), "writes"),
    **dict.fromkeys(("to_sql", "to_gbq"), "database"),
    "to_clipboard": "clipboard",
    **dict.fromkeys(("chmod", "lchmod"), "system"),
    **dict.fromkeys(("terminate", "send_signal"), "processes"),
    **dict.fromkeys(("run_line_magic", "run_cell_magic", "run_cell", "runsource", "runcode"), "runs text"),
    **dict.fromkeys(("load_extension", "enable_load_extension"), "extensions"),
}
#: Methods that give a text back where no file is named.
MAYBE = {
    "to_csv",
    "to_json",
    "to_html",
    "write_csv",
    "to_markdown",
    "to_latex",
    "to_xml",
    "to_orc",
    "write_ndjson",
}
#: Methods that name no file among what they are given first.
UNNAMED = frozenset(
    ("write_text", "write_bytes", "touch", "mkdir", "unlink", "rmdir", "terminate", "extractall")
)
#: Where names of calls begin that are many.
BEGINNINGS = ("os.exec", "os.spawn", "os.posix_spawn")
#: Methods that are given a statement of SQL.
STATEMENTS = frozenset(("execute", "executescript", "executemany", "sql", "query", "exec_driver_sql"))
#: Methods of `get_ipython()` that run a command.
COMMANDS = frozenset(("system", "getoutput"))
#: Openers of files that write with some modes, by where the mode stands among the arguments.
OPENERS = frozenset(
    (
        *("open", "io.open", "codecs.open", "_io.open", "_pyio.open", "io.FileIO", "_io.FileIO", "gzip.open"),
        *("bz2.open", "lzma.open", "bz2.BZ2File", "gzip.GzipFile", "lzma.LZMAFile", "zipfile.ZipFile"),
        *("tarfile.open", "h5py.File", "netCDF4.Dataset", "aiofiles.open", "os.fdopen"),
    )
)
#: Modules that others give a way to, as `pathlib.os` does.
INNER_MODULES = frozenset(
    ("os", "sys", "subprocess", "shutil", "builtins", "socket", "ctypes", "importlib", "posix")
)
#: Modules that stand for another.
SAME_MODULES = {"posix": "os", "nt": "os", "_socket": "socket", "_ctypes": "ctypes", "posixpath": "os.path"}
#: Names through which code gets at functions that it does not name.
HIDDEN = frozenset(
    (
        *("__subclasses__", "__globals__", "__builtins__", "__code__", "__mro__", "__bases__", "__base__"),
        *("f_globals", "f_builtins", "f_locals", "tb_frame", "gi_frame", "cr_frame", "__getattribute__"),
        *(
            "__loader__",
            "__reduce__",
            "__reduce_ex__",
            "__self__",
            "_getframe",
            "func_globals",
            "__closure__",
        ),
        *("__init_subclass__", "__set_name__", "__wrapped__", "__import__"),
    )
)
#: Names of modules that are names of variables as often: they count where the code imports them.
SHORT_NAMES = frozenset(
    (
        "code",
        "commands",
        "dbm",
        "dns",
        "fabric",
        "invoke",
        "pdb",
        "profile",
        "redis",
        "resource",
        "sh",
        "types",
        "wget",
    )
)
#: Variables of the environment by which later programs load code.
LOADING_VARIABLES = frozenset(
    (
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PATH", "PYTHONPATH", "PYTHONSTARTUP"),
        *("BASH_ENV", "ENV", "PROMPT_COMMAND", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "GIT_SSH_COMMAND"),
    )
)
#: What code puts its own function into, so that Python calls it later.
HOOKS = frozenset(
    (
        *("sys.displayhook", "sys.excepthook", "sys.stdout", "sys.stderr", "sys.unraisablehook"),
        *("warnings.showwarning", "builtins.print", "builtins.open", "print", "open", "threading.excepthook"),
    )
)
#: Methods that are given the name of a method or function that they call.
GIVEN_NAMES = frozenset(
    (
        "apply",
        "agg",
        "aggregate",
        "transform",
        "pipe",
        "methodcaller",
        "attrgetter",
        "__getattribute__",
        "map",
    )
)
