/* The floor of a load: what the driver itself takes, in straight C over the tables of a plan (tools/bench/load.py).
 *
 * One call does every stage of a load on arrays that are there already, launches, replays and frees. Structures are
 * those of the CUDA driver API and of planc/plan/program.py; addresses of the driver's functions are handed in. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t Handle;
typedef struct {
    int (*load)(Handle *, const void *, void *, void *, unsigned, void *, void *, unsigned);
    int (*unload)(Handle);
    int (*kernel)(Handle *, Handle, const char *);
    int (*function)(Handle *, Handle);
    int (*allocate)(Handle *, size_t);
    int (*release)(Handle);
    int (*copy)(Handle, const void *, size_t, Handle);
    int (*clear)(Handle, unsigned char, size_t, Handle);
    int (*graph)(Handle *, unsigned);
    int (*add)(Handle *, Handle, const Handle *, size_t, const void *);
    int (*connect)(Handle, const Handle *, const Handle *, const void *, size_t);
    int (*instantiate)(Handle *, Handle, void *);
    int (*upload)(Handle, Handle);
    int (*wait)(Handle);
    int (*launch)(Handle, Handle);
    int (*drop_executable)(Handle);
    int (*drop_graph)(Handle);
} Calls;

typedef struct { uint32_t function, grid[3], block[3], shared, args_size; uint64_t args_offset; uint32_t flags; }
    __attribute__((packed)) KernelOp;
typedef struct { uint64_t offset; int64_t addend; uint32_t buffer, kind, node, parameter; } Relocation;
typedef struct {
    Handle function;
    uint32_t grid[3], block[3], shared;
    void **parameters;
    void *extra, *kernel, *context;
} KernelParams;
typedef struct { uint64_t flags; Handle stream, node; int result; } InstantiateParams;

enum { READ, MODULES, MEMORY, TABLES, ADD, INSTANTIATE, UPLOAD, LAUNCH, WARM, STAGES };

typedef struct {
    const Calls *calls;
    const char *path, *symbol;
    const void *image;
    Handle stream;
    uint64_t nodes, buffers, parameters, relocations, blob, edges, late; /* how many; blob: bytes */
    const uint64_t *sizes;        /* bytes of each buffer; the first has `constant` as its bytes, the others zeros */
    const void *constant;
    const KernelOp *ops;
    const Relocation *links;
    const unsigned char *arguments;
    const uint64_t *offsets;      /* of each parameter in the arguments */
    const uint64_t *firsts;       /* what each node depends on; with `late`, all edges in one call instead */
    const uint32_t *befores;
    double seconds[STAGES];
} Job;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int read_file(const Job *job) {
    FILE *file = fopen(job->path, "rb");
    if (!file) return -1;
    fseek(file, 0, SEEK_END);
    size_t size = ftell(file);
    rewind(file);
    void *bytes = malloc(size);
    int short_ = fread(bytes, 1, size, file) != size;
    fclose(file);
    free(bytes);
    return short_ ? -1 : 0;
}

#define TRY(call) do { int result = (call); if (result) return result; } while (0)
#define LAP(stage) do { double t = now(); job->seconds[stage] = t - start; start = t; } while (0)

int floor_load(Job *job) {
    const Calls *c = job->calls;
    Handle library, kernel, function, graph, executable, *memory = malloc(job->buffers * sizeof(Handle));
    memset(job->seconds, 0, sizeof job->seconds);
    double start = now();
    TRY(read_file(job));
    LAP(READ);
    TRY(c->load(&library, job->image, NULL, NULL, 0, NULL, NULL, 0));
    TRY(c->kernel(&kernel, library, job->symbol));
    TRY(c->function(&function, kernel));
    LAP(MODULES);
    for (uint64_t i = 0; i < job->buffers; i++) {
        TRY(c->allocate(&memory[i], job->sizes[i]));
        if (i) TRY(c->clear(memory[i], 0, job->sizes[i], job->stream));
        else TRY(c->copy(memory[i], job->constant, job->sizes[i], job->stream));
    }
    TRY(c->wait(job->stream));
    LAP(MEMORY);
    unsigned char *arguments = memcpy(malloc(job->blob), job->arguments, job->blob);
    for (uint64_t i = 0; i < job->relocations; i++) {
        uint64_t value = memory[job->links[i].buffer] + job->links[i].addend;
        memcpy(arguments + job->links[i].offset, &value, 8);
    }
    void **pointers = malloc(job->nodes * job->parameters * sizeof(void *));
    KernelParams *params = calloc(job->nodes, sizeof *params);
    for (uint64_t i = 0; i < job->nodes; i++) {
        params[i].function = function;
        memcpy(params[i].grid, job->ops[i].grid, sizeof params[i].grid);
        memcpy(params[i].block, job->ops[i].block, sizeof params[i].block);
        params[i].shared = job->ops[i].shared;
        params[i].parameters = pointers + i * job->parameters;
        for (uint64_t k = 0; k < job->parameters; k++)
            params[i].parameters[k] = arguments + job->ops[i].args_offset + job->offsets[k];
    }
    LAP(TABLES);
    Handle *nodes = malloc(job->nodes * sizeof *nodes), *from = malloc((job->edges + 1) * sizeof *from);
    Handle *to = malloc((job->edges + 1) * sizeof *to);
    TRY(c->graph(&graph, 0));
    for (uint64_t i = 0; i < job->nodes; i++) {
        size_t count = 0;
        if (!job->late)
            for (uint64_t k = job->firsts[i]; k < job->firsts[i + 1]; k++) from[count++] = nodes[job->befores[k]];
        TRY(c->add(&nodes[i], graph, count ? from : NULL, count, &params[i]));
    }
    if (job->late) {
        for (uint64_t i = 0; i < job->nodes; i++)
            for (uint64_t k = job->firsts[i]; k < job->firsts[i + 1]; k++) {
                from[k] = nodes[job->befores[k]];
                to[k] = nodes[i];
            }
        TRY(c->connect(graph, from, to, NULL, job->edges));
    }
    LAP(ADD);
    InstantiateParams how = {0};
    TRY(c->instantiate(&executable, graph, &how));
    LAP(INSTANTIATE);
    TRY(c->upload(executable, job->stream));
    TRY(c->wait(job->stream));
    LAP(UPLOAD);
    TRY(c->launch(executable, job->stream));
    TRY(c->wait(job->stream));
    LAP(LAUNCH);
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        TRY(c->launch(executable, job->stream));
        TRY(c->wait(job->stream));
        LAP(WARM);
        if (job->seconds[WARM] < best) best = job->seconds[WARM];
    }
    job->seconds[WARM] = best;
    TRY(c->drop_executable(executable));
    TRY(c->drop_graph(graph));
    for (uint64_t i = 0; i < job->buffers; i++) TRY(c->release(memory[i]));
    TRY(c->unload(library));
    free(memory);
    free(arguments);
    free(pointers);
    free(params);
    free(nodes);
    free(from);
    free(to);
    return 0;
}
