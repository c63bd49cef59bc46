"""The logs of the compilers, as NVRTC and nvJitLink 13.0 print them."""

from __future__ import annotations

from planc.kernels.escapes import escaped, unescaped
from planc.kernels.log import Place, cuda_place, read_compiler_log, read_linker_log

LOG = """\
src/k.cu(5): error: identifier "nope" is undefined
  \t nope; }
  \t ^

src/k.cu(5): warning #940-D: missing return statement
    nope; }
          ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

src/k.cu(8): error: no instance of overloaded function "ov" matches the argument list
            argument types are: (const char [2])
  void z(){ ov("x"); }
            ^
src/k.cu(7): note #3322-D: number of parameters of function "ov(float, int)" does not match the call
  void ov(int); void ov(float, int);
                     ^

__nv_name_map(3): error: identifier "nosuch" is undefined
  #pragma nv_mangled_name k<nosuch>
                            ^

util/z.h(2): error: expression must have pointer-to-class type
  return x->blah;
            ^
          detected during:
            instantiation of "float fa(T) [with T=float *]" at line 9 of src/k.cu
            instantiation of "void k(T *) [with T=float]" at line 4

odd(name)(1).cu(3): catastrophic error: #error directive: boo
  #error boo
   ^

nvrtc: error: failed to open nvrtc-builtins

8 errors detected in the compilation of "/planc/k.cu".
Compilation terminated.
"""


def test_compiler() -> None:
    found = read_compiler_log(LOG)
    assert [(m.error, m.place) for m in found] == [
        (True, Place("src/k.cu", 5, 3)),
        (False, Place("src/k.cu", 5, 9)),
        (True, Place("src/k.cu", 8, 11)),
        (True, None),
        (True, Place("util/z.h", 2, 11)),
        (True, Place("odd(name)(1).cu", 3, 2)),
        (True, None),
    ]
    assert found[2].notes == (
        "argument types are: (const char [2])",
        'src/k.cu(7): note: number of parameters of function "ov(float, int)" does not match the call',
    )
    assert found[3].expression == "k<nosuch>"
    assert found[4].trail == (Place("src/k.cu", 9), Place("util/z.h", 4))
    assert found[6].text == "failed to open nvrtc-builtins"


def test_empty() -> None:
    assert read_compiler_log("") == [] and read_linker_log("\n") == []


def test_linker() -> None:
    log = (
        "ptxas application ptx input, line 115; error   : Not a name of any known instruction: 'rett'\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\n"
        "ptxas info    : 0 bytes gmem\n"
        "error   : Undefined reference to 'ext' in 'k'\n"
        "warning : Stack size for entry function 'f' cannot be statically determined\n"
        "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (k)\nERROR 1: finish\n"
    )
    assert [(m.error, m.line, m.text.split()[0]) for m in read_linker_log(log)] == [
        (True, 115, "Not"), (True, 0, "Undefined"), (False, 0, "Stack")
    ]  # fmt: skip


def test_cuda_place() -> None:
    ptx = (
        ".visible .entry f()\n{\n.loc 1 4 7\nadd;\n.loc 2 9 1\nmul;\n}\n\nx\n"
        '.file 1 "k.cu"\n.file 2 "\\303\\251.h"\n'
    )
    assert cuda_place(ptx, 4) == Place("k.cu", 4, 7)
    assert cuda_place(ptx, 6) == Place("é.h", 9, 1)
    assert cuda_place(ptx, 2) is None and cuda_place(ptx, 9) is None and cuda_place("", 5) is None


def test_escapes() -> None:
    for name in ("k.cu", 'a"b\\c', "é 日本", "tab\tx", "caf\udce9"):
        assert unescaped(escaped(name)) == name and escaped(name).isascii()
    assert unescaped("é\\303\\251") == "éé"
