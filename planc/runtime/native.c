/* The loops over a graph's nodes: what costs microseconds a node from Python costs what the driver takes from here.
 *
 * Compiled by planc/runtime/native.py. It is an extension module of CPython's limited API (3.11 on), so one binary
 * serves every later CPython, and it does not know cuda.h: the addresses of the driver's functions are handed in, and
 * parameters are passed on by address, in the layouts that planc/runtime/nodes.py gives them (CUDA driver API,
 * "Graph Management"). Every array belongs to the caller and outlives the call; nothing is allocated. The GIL is
 * released for as long as the driver is called. */
#if defined(__has_include) && !defined(PLANC_NO_HEADER)
#if __has_include(<Python.h>)
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#define PLANC_HEADER 1
#endif
#endif

#include <stddef.h>
#include <stdint.h>

#ifndef PLANC_HEADER
/* Python without its headers (a distribution's python3 without python3-dev): the few parts of the stable ABI that are
 * used here. Their layout is fixed for as long as Python 3 has an `abi3`. */
typedef struct { ptrdiff_t count; void *type; } PyObject;
typedef struct { PyObject head; void *init; ptrdiff_t index; void *copy; } PyModuleDef_Base;
typedef struct { const char *name; PyObject *(*function)(PyObject *, PyObject *); int flags; const char *doc; } PyMethodDef;
typedef struct { int slot; void *value; } PyModuleDef_Slot;
typedef struct {
    PyModuleDef_Base base;
    const char *name, *doc;
    ptrdiff_t size;
    PyMethodDef *methods;
    PyModuleDef_Slot *slots;
    void *traverse, *clear, *free;
} PyModuleDef;
PyObject *PyModuleDef_Init(PyModuleDef *);
PyObject *PyErr_Occurred(void);
PyObject *PyLong_FromLong(long);
PyObject *PyUnicode_FromString(const char *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);
#define PyModuleDef_HEAD_INIT {{1, NULL}, NULL, 0, NULL}
#define METH_NOARGS 4
#define METH_O 8
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *
#define Py_BEGIN_ALLOW_THREADS { void *kept = PyEval_SaveThread();
#define Py_END_ALLOW_THREADS PyEval_RestoreThread(kept); }
#endif

#define AT(type, address) ((type)(uintptr_t)(address))

typedef uint64_t Handle;
typedef int (*AddKernel)(Handle *, void *, const Handle *, size_t, const void *);
typedef int (*AddOther)(Handle *, void *, const Handle *, size_t, const void *, void *);
typedef int (*AddEmpty)(Handle *, void *, const Handle *, size_t);
typedef int (*AddEdges)(void *, const Handle *, const Handle *, const void *, size_t);
typedef int (*SetKernel)(void *, Handle, const void *);
typedef int (*SetOther)(void *, Handle, const void *, void *);

enum { KERNEL = 1, MEMSET, MEMCPY, EMPTY };   /* planc.runtime.driver.DriverNodeKind */
enum { INVALID_VALUE = 1 };                   /* CUDA_ERROR_INVALID_VALUE */

/* Addresses of the driver's functions, in the order of planc.runtime.entries.ENTRIES. */
typedef struct { uint64_t kernel, memset, memcpy, empty, edges, set_kernel, set_memset, set_memcpy; } Calls;

/* Both jobs: uint64 fields; addresses of arrays, and counts. `failed` comes back: the row that the driver refused,
 * or `count` where it refused the edges. */
typedef struct {
    uint64_t calls, graph, context, count;
    uint64_t kinds, params;           /* uint32, uint64: DriverNodeKind and address of the parameters of each node */
    uint64_t firsts, befores;         /* uint64 [count + 1], uint32: what each node depends on, earlier rows */
    uint64_t late, late_before, late_after, late_data; /* edges that are added last, in one call */
    uint64_t handles, scratch;        /* uint64: what the driver answers; room for the ends of edges */
    uint64_t failed;
} AddJob;

typedef struct {
    uint64_t calls, executable, context, count;
    uint64_t rows, kinds, params, handles; /* uint64 rows of the tables that follow */
    uint64_t failed;
} SetJob;

static int add_node(const AddJob *job, const Calls *calls, uint64_t row, const Handle *before, size_t count) {
    void *graph = AT(void *, job->graph), *context = AT(void *, job->context);
    Handle *made = AT(Handle *, job->handles) + row;
    const void *params = AT(const void *, AT(const uint64_t *, job->params)[row]);
    switch (AT(const uint32_t *, job->kinds)[row]) {
    case KERNEL: return AT(AddKernel, calls->kernel)(made, graph, before, count, params);
    case MEMSET: return AT(AddOther, calls->memset)(made, graph, before, count, params, context);
    case MEMCPY: return AT(AddOther, calls->memcpy)(made, graph, before, count, params, context);
    case EMPTY: return AT(AddEmpty, calls->empty)(made, graph, before, count);
    }
    return INVALID_VALUE;
}

static int add_late(const AddJob *job, const Calls *calls) {
    const Handle *handles = AT(const Handle *, job->handles);
    const uint32_t *before = AT(const uint32_t *, job->late_before), *after = AT(const uint32_t *, job->late_after);
    Handle *from = AT(Handle *, job->scratch), *to = from + job->late;
    for (uint64_t i = 0; i < job->late; i++) {
        from[i] = handles[before[i]];
        to[i] = handles[after[i]];
    }
    return AT(AddEdges, calls->edges)(AT(void *, job->graph), from, to, AT(const void *, job->late_data), job->late);
}

static int add_all(AddJob *job) {
    const Calls *calls = AT(const Calls *, job->calls);
    const uint64_t *firsts = AT(const uint64_t *, job->firsts);
    const uint32_t *befores = AT(const uint32_t *, job->befores);
    const Handle *handles = AT(const Handle *, job->handles);
    Handle *ends = AT(Handle *, job->scratch);
    for (uint64_t row = 0; row < job->count; row++) {
        size_t count = 0;
        for (uint64_t i = firsts[row]; i < firsts[row + 1]; i++) ends[count++] = handles[befores[i]];
        int result = add_node(job, calls, row, count ? ends : NULL, count);
        if (result) {
            job->failed = row;
            return result;
        }
    }
    job->failed = job->count;
    return job->late ? add_late(job, calls) : 0;
}

static int set_node(const SetJob *job, const Calls *calls, uint64_t row) {
    void *executable = AT(void *, job->executable), *context = AT(void *, job->context);
    const Handle node = AT(const Handle *, job->handles)[row];
    const void *params = AT(const void *, AT(const uint64_t *, job->params)[row]);
    switch (AT(const uint32_t *, job->kinds)[row]) {
    case KERNEL: return AT(SetKernel, calls->set_kernel)(executable, node, params);
    case MEMSET: return AT(SetOther, calls->set_memset)(executable, node, params, context);
    case MEMCPY: return AT(SetOther, calls->set_memcpy)(executable, node, params, context);
    case EMPTY: return 0;
    }
    return INVALID_VALUE;
}

static int set_all(SetJob *job) {
    const Calls *calls = AT(const Calls *, job->calls);
    const uint64_t *rows = AT(const uint64_t *, job->rows);
    for (uint64_t i = 0; i < job->count; i++) {
        int result = set_node(job, calls, rows[i]);
        if (result) {
            job->failed = i;
            return result;
        }
    }
    return 0;
}

static PyObject *add(PyObject *self, PyObject *address) {
    AddJob *job = AT(AddJob *, PyLong_AsUnsignedLongLong(address));
    int result;
    (void)self;
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS
    result = add_all(job);
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(result);
}

static PyObject *set(PyObject *self, PyObject *address) {
    SetJob *job = AT(SetJob *, PyLong_AsUnsignedLongLong(address));
    int result;
    (void)self;
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS
    result = set_all(job);
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(result);
}

static PyObject *digest(PyObject *self, PyObject *nothing) {
    (void)self;
    (void)nothing;
    return PyUnicode_FromString(PLANC_DIGEST);
}

static PyMethodDef methods[] = {
    {"add", add, METH_O, "Do the AddJob at this address; return the driver's result."},
    {"set", set, METH_O, "Do the SetJob at this address; return the driver's result."},
    {"digest", digest, METH_NOARGS, "Return the digest of the source that this was compiled from."},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "The loops over a graph's nodes.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
