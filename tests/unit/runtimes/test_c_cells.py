"""Which lines of a C or C++ cell stand outside of `main`."""

import importlib.util
from types import ModuleType

import pytest

from oi_tui.runtimes.language import DRIVERS


@pytest.fixture(scope="module")
def c_cell() -> ModuleType:
    spec = importlib.util.spec_from_file_location("c_cell", DRIVERS / "c_cell.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OUTSIDE = [
    "#include <stdio.h>",
    "#define TWICE(x) \\\n  ((x) * 2)",
    "struct P { int x; };",
    "struct Q;",
    "typedef struct { int y; } T;",
    "enum E { A, B };",
    "enum class F : int { A };",
    "static int add(int a, int b) {\n  return a + b; // }\n}",
    "template <typename T>\nT id(T x) { return x; }",
    "std::vector<int> make(int n) { return {n}; }",
    "P& operator+(P& a, P& b) { return a; }",
    "bool operator==(const P& a, const P& b) { return true; }",
    "auto f(int x) -> int { return x; }",
    "namespace k { int z; }",
    "using namespace std;",
    'extern "C" {\nint h(void);\n}',
    "void g(int x = 3) { }",
]
INSIDE = [
    "int x = 3;",
    "struct P p = {3};",
    "struct P q;",
    "int a[] = {1, 2};",
    "std::vector<int> v{1, 2};",
    'if (a[0]) { puts("x{ /*"); } else { puts("y"); }',
    "for (int i = 0; i < 2; i++) { printf(\"%d\", add(i, '{')); }",
    "auto h = [](int x) { return x; };",
    "do { x--; } while (x);",
    "{ int q = 1; }",
    "std::thread t([&]{ work(); });",
    "int large = 1'000'000;",
    'auto raw = R"x(} " ()x";',
    "#pragma omp parallel for",
]


@pytest.mark.parametrize("code", OUTSIDE)
def test_definitions_stand_outside(c_cell: ModuleType, code: str) -> None:
    outside, inside = c_cell.split(f"work();\n{code}\n*p = 1;\n")
    assert code in outside
    assert inside.split() == ["work();", "*p", "=", "1;"]


@pytest.mark.parametrize("code", INSIDE)
def test_statements_become_main(c_cell: ModuleType, code: str) -> None:
    outside, inside = c_cell.split(f"int one(void) {{ return 1; }}\n{code}\nwork();\n")
    assert outside.strip() == "int one(void) { return 1; }"
    assert inside.strip() == f"{code}\nwork();"


def test_both_halves_keep_the_lines_and_the_conditions(c_cell: ModuleType) -> None:
    code = "#ifdef A\n#include <a.h>\nwork();\n#else\nother();\n#endif\n/* #if\n*/ last();"
    outside, inside = c_cell.split(code)
    assert outside.count("\n") == inside.count("\n") == code.count("\n")
    assert outside.split("\n")[:6] == ["#ifdef A", "#include <a.h>", " " * 7, "#else", " " * 8, "#endif"]
    assert inside.split("\n")[:3] == ["#ifdef A", " " * 14, "work();"]
    assert inside.endswith("/* #if\n*/ last();")


@pytest.mark.parametrize(
    ("code", "has"),
    [
        ("int main() { }", True),
        ("auto main(int argc, char **argv) -> int {", True),
        ("int\nmain (void)\n{ }", True),
        ("// int main() { }\nputs(0);", False),
        ('puts("int main() {");', False),
        ("domain(1); if (x) { }", False),
        ("int main(void);\n{ }", False),
    ],
)
def test_main_is_found_where_it_is_defined(c_cell: ModuleType, code: str, has: bool) -> None:
    assert c_cell.has_main(code) is has
