/* What the parts of `native` share; `native.c` says what it is for and by which rules it is written. */
#ifndef POSTHOUSE_NATIVE_H
#define POSTHOUSE_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- rows of numbers that grow, and rows that belong to Python --------------------------------------------------- */

typedef struct {
    uint32_t *at;
    size_t length, room;
} Row;

typedef struct {
    Py_buffer buffer;
    size_t length;
} View;

#define U32(view) ((const uint32_t *)(view).buffer.buf)
#define U16(view) ((const uint16_t *)(view).buffer.buf)
#define F64(view) ((const double *)(view).buffer.buf)
#define I64(view) ((const int64_t *)(view).buffer.buf)
#define U8(view) ((const uint8_t *)(view).buffer.buf)

int row_push(Row *row, uint32_t value);
int view_take(View *view, PyObject *owner, size_t size);
void view_drop(View *view);
int read_u32(PyObject *number, uint32_t *into);
int compare_u32(const void *one, const void *other);

/* --- words ------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t hash;
    uint32_t place, length; /* of its bytes */
    uint32_t facts, count;  /* where its facts stand */
} Word;

typedef struct {
    PyObject_HEAD
    uint8_t *bytes;
    size_t bytes_length;
    Word *words;
    size_t words_length;
    uint32_t *table; /* number of the word, plus one */
    size_t table_mask;
    uint32_t *facts_at;
    size_t facts_length;
    uint32_t *lengths; /* ascending, each once */
    size_t lengths_length;
    uint64_t *filter; /* by the first bytes of a word: which lengths there are */
    size_t filter_mask;
    uint64_t *powers; /* of the hash, up to the longest word */
    uint64_t *scratch;
    size_t scratch_room;
} Lexicon;

/* What is done with a fact that was found; -1 where it went wrong. */
typedef int (*Take)(void *context, uint32_t fact);

extern PyType_Spec lexicon_spec;

int find_starts(const Lexicon *lexicon, const uint8_t *text, size_t length, Take take, void *context);
int find_ends(const Lexicon *lexicon, const uint8_t *text, size_t length, Take take, void *context);
int find_within(Lexicon *lexicon, const uint8_t *text, size_t length, Take take, void *context);

/* --- a plan, and a batch before it ------------------------------------------------------------------------------- */

typedef struct {
    PyObject *collation; /* NULL where texts are compared as they are */
    PyObject *equal;     /* a dict of text to a list of facts, or NULL */
    PyObject *members;   /* a tuple of (frozenset of text, fact) */
    Lexicon *starts, *ends, *words;
} Form;

typedef struct {
    long sign; /* of `<`, `<=`, `>`, `>=` */
    View values, facts;
} Bound;

typedef struct {
    uint32_t there; /* the fact that there is a value, or 0 */
    Form *forms;
    size_t forms_length;
    PyObject *numbers; /* a tuple of dicts of number to a list of facts */
    int has_cells;
    View edges, cell_starts, cell_facts;
    Bound *bounds;
    size_t bounds_length;
} Field;

enum { NUMBERS, FLAGS, STARTS, SLOTS, SECONDS, NEED_ENDS, NEEDS, RANGE_ENDS, RANGE_PLACES, LOWS, HIGHS,
       WORD_ENDS, WORD_PLACES, WORD_IDS, ALWAYS, VIEWS };

enum { IS_REST = 1, IS_DEAD = 2 };

typedef struct {
    PyObject_HEAD
    PyObject *names; /* a tuple of the attributes; their order gives them their place */
    PyObject *places; /* a dict of the same */
    Field *fields;    /* by place */
    size_t fields_length;
    View views[VIEWS];
    PyObject *words; /* a list of text */
    PyObject *fold;  /* gives a text as a collation compares it */
    PyTypeObject *int32;
    PyObject *attributes; /* the name of what is read of a record */
    size_t facts_length;  /* one more than the greatest fact */
} Net;

typedef struct {
    const Net *net;
    size_t length;
    PyObject **attributes; /* of each record; NULL where it is left to others */
    Row facts, places;
    size_t *fact_ends, *value_ends;
    double *values; /* beside `places` */
    size_t values_room;
    Row slots;
    size_t *slot_ends;
} Batch;

/* Of the module: its types. */
typedef struct {
    PyTypeObject *lexicon, *net;
} State;

/* Give where the entries of a slot begin and end in a row whose ends stand in another. */
static inline size_t
entries_of(const View *ends, size_t slot, size_t length, size_t *start)
{
    if (slot >= ends->length)
        return *start = 0;
    size_t end = U32(*ends)[slot];
    *start = slot ? U32(*ends)[slot - 1] : 0;
    return end < length ? end : length;
}

extern PyType_Spec net_spec;

int take_set(Batch *batch, PyObject *facts);
int take_record(Batch *batch, size_t row, PyObject *record, PyObject *beside);
int walk(Batch *batch);
PyObject *net_find(PyObject *self, PyObject *arguments);
PyObject *net_candidates(PyObject *self, PyObject *facts);
PyObject *net_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords));
void net_dealloc(PyObject *self);

#endif
