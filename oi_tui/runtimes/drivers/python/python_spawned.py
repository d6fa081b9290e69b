"""The main module of a process that `multiprocessing` spawned: defines what the cells define."""

# mypy: ignore-errors


def __oi_define__(names):
    import linecache
    import marshal
    import pickle

    with open(names["__file__"] + ".data", "rb") as file:
        sources, statements, values = marshal.load(file)
    for cell, source in sources.items():
        linecache.cache[cell] = len(source), None, source.splitlines(True), cell

    def run(statements):
        """Run the statements, and return those that failed, perhaps because a variable was missing."""
        failed = []
        for statement in statements:
            try:
                exec(marshal.loads(statement), names)
            except Exception:
                failed.append(statement)
        return failed

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            if module not in ("__main__", "__mp_main__"):
                return super().find_class(module, name)
            target, *inner = name.split(".")
            target = names[target]
            for item in inner:
                target = getattr(target, item)
            return target

    import io

    failed = run(statements)
    for name, value in values.items():
        try:
            names[name] = Unpickler(io.BytesIO(value)).load()
        except Exception:
            # It is missed by its name, if it is needed at all.
            continue
    if failed:
        run(failed)

    def missing(name):
        """Stands for what is not here: it can be unpickled, or the process would die without a word."""
        words = (
            "{} is not known in this process: one that is spawned has the functions, classes, imports and "
            "constants of the cells, and variables that can be pickled"
        ).format(name)

        class Missing(type):
            def __call__(self, *_, **__):
                raise NameError(words)

        def unknown(self, wanted):
            raise NameError(words)

        return Missing(name, (), {"__setstate__": lambda self, _: None, "__getattr__": unknown})

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return missing(name)

    names["__getattr__"] = __getattr__


__oi_define__(globals())
del __oi_define__
