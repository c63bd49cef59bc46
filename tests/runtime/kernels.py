"""Small kernels in PTX, for both the interpreter and a GPU (sm_90)."""

_HEAD = """
.version 7.8
.target sm_90
.address_size 64
"""

BUMP = (
    _HEAD
    + """
.visible .global .align 4 .u32 total[2] = {7};

.visible .entry bump(.param .u64 n)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [n];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ld.global.u32 %r2, [total];
  add.u32 %r2, %r2, 1;
  st.global.u32 [total], %r2;
  ret;
}
"""
)
"""Adds 1 to ``n[0]`` and to ``total[0]``, which starts at 7."""

HELLO = (
    _HEAD
    + """
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[18] = {116,104,101,32,110,117,109,98,101,114,32,105,115,32,37,117,10,0};

.visible .entry hello(.param .u32 number)
{
  .local .align 8 .b8 frame[8];
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u32 %r1, [number];
  mov.u64 %rd1, frame;
  st.local.u32 [%rd1], %r1;
  cvta.local.u64 %rd2, %rd1;
  mov.u64 %rd3, text;
  cvta.global.u64 %rd4, %rd3;
  {
    .param .b64 a;
    .param .b64 b;
    .param .b32 r;
    st.param.b64 [a], %rd4;
    st.param.b64 [b], %rd2;
    call.uni (r), vprintf, (a, b);
    ld.param.b32 %r2, [r];
  }
  ret;
}
"""
)
"""Prints ``the number is %u``."""

LOOP = (
    _HEAD
    + """
.visible .entry loop(.param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra again;
  ret;
}
"""
)
"""Counts to ``n``."""

_STORES = "\n".join(
    f"  ld.param.b{bits} {register}, [{name}];\n  st.global.b{bits} [%rd1+{8 * row}], {register};"
    for row, (name, bits, register) in enumerate(
        [("a", 8, "%rs1"), ("b", 16, "%rs2"), ("c", 32, "%r1"), ("d", 64, "%rd2"),
         ("e", 8, "%rs3"), ("f", 16, "%rs4"), ("g", 64, "%rd3")]
    )
)  # fmt: skip

WIDE = (
    _HEAD
    + f"""
.visible .entry wide(.param .u64 out, .param .u8 a, .param .u16 b, .param .f32 c, .param .f64 d,
  .param .u8 e, .param .u16 f, .param .u64 g)
{{
  .reg .b16 %rs<5>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
{_STORES}
  ret;
}}
"""
)
"""Stores each argument to a word of its own of ``out``."""

SHARED = (
    _HEAD
    + """
.extern .shared .align 16 .b8 room[];

.visible .entry mirror(.param .u64 x, .param .u32 last)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [last];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mov.u32 %r4, room;
  mad.lo.u32 %r5, %r2, 4, %r4;
  add.u32 %r5, %r5, %r1;
  st.shared.u32 [%r5], %r3;
  bar.sync 0;
  mov.u32 %r6, %ntid.x;
  sub.u32 %r6, %r6, %r2;
  sub.u32 %r6, %r6, 1;
  mad.lo.u32 %r5, %r6, 4, %r4;
  add.u32 %r5, %r5, %r1;
  ld.shared.u32 %r3, [%r5];
  st.global.u32 [%rd3], %r3;
  ret;
}
"""
)
"""Reverses a block's ``x`` through dynamic shared memory, ``last`` bytes from its start."""

WILD = (
    _HEAD
    + """
.visible .entry wild(.param .u64 x, .param .u64 distance)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [distance];
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r1, 1;
  st.global.u32 [%rd3], %r1;
  ret;
}
"""
)
"""Stores to ``x`` plus ``distance`` bytes."""

SPIN = (
    _HEAD
    + """
.visible .entry spin(.param .u64 log, .param .u64 cycles, .param .u32 tag)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [log];
  ld.param.u64 %rd2, [cycles];
  ld.param.u32 %r1, [tag];
  mov.u64 %rd3, %clock64;
again:
  mov.u64 %rd4, %clock64;
  sub.u64 %rd5, %rd4, %rd3;
  setp.lt.u64 %p1, %rd5, %rd2;
  @%p1 bra again;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd1], %r2;
  mul.wide.u32 %rd6, %r2, 4;
  add.u64 %rd7, %rd1, %rd6;
  st.global.u32 [%rd7], %r1;
  ret;
}
"""
)
"""Waits for ``cycles``, then appends ``tag`` to ``log``, whose first element counts the others. For GPUs."""
