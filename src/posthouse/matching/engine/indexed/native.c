/* What the indexed engine does most often, in C: texts looked up, postings walked, ranges compared, a batch at a time.
 *
 * Why C: of 100,000 subscriptions an event meets some thirty facts and a dozen candidates. Each of them costs the
 * interpreter a few hundred nanoseconds and the machine a few, so that four fifths of an event's time went into the
 * interpreter, and no other order of the same work made it decisively less. What is hot is small, touches rows of plain
 * numbers, and says the same as `attribute`, `sweep` and `row` beside it, which stand in wherever this is not compiled,
 * and take over every record that holds more than one plain text or number in an attribute that is asked for.
 *
 * Rules of this file: the stable interface of Python 3.11 and newer; every index is compared with the length of its row
 * before it is used; the interpreter's lock is given up only in `walk`, which touches no object of Python.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EXACT 9007199254740992LL /* 2**53: up to here a real number is every whole number */

/* --- rows of numbers that grow, and rows that belong to Python ---------------------------------------------------- */

typedef struct {
    uint32_t *at;
    size_t length, room;
} Row;

static int
row_push(Row *row, uint32_t value)
{
    if (row->length == row->room) {
        size_t room = row->room ? 2 * row->room : 256;
        uint32_t *at = realloc(row->at, room * sizeof *at); /* not PyMem: it needs no lock */
        if (at == NULL)
            return -1;
        row->at = at;
        row->room = room;
    }
    row->at[row->length++] = value;
    return 0;
}

typedef struct {
    Py_buffer buffer;
    size_t length;
} View;

#define U32(view) ((const uint32_t *)(view).buffer.buf)
#define U16(view) ((const uint16_t *)(view).buffer.buf)
#define F64(view) ((const double *)(view).buffer.buf)
#define I64(view) ((const int64_t *)(view).buffer.buf)
#define U8(view) ((const uint8_t *)(view).buffer.buf)

/* Take a view of an array; while it is held the array cannot be moved or made shorter. */
static int
view_take(View *view, PyObject *owner, size_t size)
{
    if (PyObject_GetBuffer(owner, &view->buffer, PyBUF_SIMPLE) < 0)
        return -1;
    /* An empty array may lie anywhere. */
    if (view->buffer.len % (Py_ssize_t)size || (view->buffer.len && (uintptr_t)view->buffer.buf % size)) {
        PyBuffer_Release(&view->buffer);
        PyErr_SetString(PyExc_ValueError, "a row of numbers of another size");
        return -1;
    }
    view->length = (size_t)view->buffer.len / size;
    return 0;
}

static void
view_drop(View *view)
{
    /* Releasing what was never taken does nothing. */
    PyBuffer_Release(&view->buffer);
}

static int
read_u32(PyObject *number, uint32_t *into)
{
    unsigned long value = PyLong_AsUnsignedLong(number);
    if (value == (unsigned long)-1 && PyErr_Occurred())
        return -1;
    if (value > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a fact of more than 32 bits");
        return -1;
    }
    *into = (uint32_t)value;
    return 0;
}

/* --- words ------------------------------------------------------------------------------------------------------------
 *
 * Each word is filed under its length and a polynomial hash, which of any stretch of a text is one multiplication. A
 * text costs its length times the number of lengths that words beginning as it does there have: however many words
 * share a beginning, none is compared unless its whole hash is the same. What begins with which four bytes is a filter.
 */

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

#define FACTOR 0x9E3779B97F4A7C15ULL
#define GRAM 4
#define MOST_SCRATCH 8192

static uint64_t
hash_of(const uint8_t *text, size_t length)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < length; at++)
        hash = hash * FACTOR + text[at] + 1;
    return hash;
}

static uint64_t
mixed(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= 0xD6E8FEB86659FD93ULL;
    return hash ^ hash >> 32;
}

static uint64_t
gram_of(const uint8_t *text)
{
    uint32_t gram;
    memcpy(&gram, text, GRAM);
    return mixed(gram);
}

static const Word *
find_word(const Lexicon *lexicon, uint64_t hash, const uint8_t *text, size_t length)
{
    size_t slot = mixed(hash + length) & lexicon->table_mask;
    uint32_t number;
    while ((number = lexicon->table[slot]) != 0) {
        const Word *word = &lexicon->words[number - 1];
        if (word->hash == hash && word->length == length && !memcmp(lexicon->bytes + word->place, text, length))
            return word;
        slot = (slot + 1) & lexicon->table_mask;
    }
    return NULL;
}

typedef int (*Take)(void *context, uint32_t fact);

static int
take_all(const Lexicon *lexicon, const Word *word, Take take, void *context)
{
    for (uint32_t at = 0; at < word->count; at++)
        if (take(context, lexicon->facts_at[word->facts + at]) < 0)
            return -1;
    return 0;
}

static int
find_starts(const Lexicon *lexicon, const uint8_t *text, size_t length, Take take, void *context)
{
    uint64_t hash = 0;
    size_t at = 0;
    for (size_t number = 0; number < lexicon->lengths_length; number++) {
        size_t wanted = lexicon->lengths[number];
        if (wanted > length)
            break;
        for (; at < wanted; at++)
            hash = hash * FACTOR + text[at] + 1;
        const Word *word = find_word(lexicon, hash, text, wanted);
        if (word != NULL && take_all(lexicon, word, take, context) < 0)
            return -1;
    }
    return 0;
}

static int
find_ends(const Lexicon *lexicon, const uint8_t *text, size_t length, Take take, void *context)
{
    for (size_t number = 0; number < lexicon->lengths_length; number++) {
        size_t wanted = lexicon->lengths[number];
        if (wanted > length)
            break;
        const uint8_t *end = text + length - wanted;
        const Word *word = find_word(lexicon, hash_of(end, wanted), end, wanted);
        if (word != NULL && take_all(lexicon, word, take, context) < 0)
            return -1;
    }
    return 0;
}

/* With the hashes of all beginnings of a text, the hash of any stretch of it is a difference. */
static int
walk_text(const Lexicon *lexicon, uint64_t *before, const uint8_t *text, size_t length, Take take, void *context)
{
    before[0] = 0;
    for (size_t at = 0; at < length; at++)
        before[at + 1] = before[at] * FACTOR + text[at] + 1;
    for (size_t at = 0; at < length; at++) {
        size_t left = length - at;
        /* Behind the last whole gram any length may be. The last bit stands for all lengths from the 64th on. */
        uint64_t there = left < GRAM ? ~0ULL : lexicon->filter[gram_of(text + at) & lexicon->filter_mask];
        for (size_t number = 0; there != 0 && number < lexicon->lengths_length; number++) {
            size_t wanted = lexicon->lengths[number];
            if (wanted > left)
                break;
            if (!(there >> (number < 63 ? number : 63) & 1))
                continue;
            uint64_t hash = before[at + wanted] - before[at] * lexicon->powers[wanted];
            const Word *word = find_word(lexicon, hash, text + at, wanted);
            if (word != NULL && take_all(lexicon, word, take, context) < 0)
                return -1;
        }
    }
    return 0;
}

static int
find_within(Lexicon *lexicon, const uint8_t *text, size_t length, Take take, void *context)
{
    if (lexicon->words_length == 0)
        return 0;
    /* Whoever takes the facts may come back here: the room is this call's own meanwhile. */
    size_t room = lexicon->scratch_room;
    uint64_t *before = lexicon->scratch;
    lexicon->scratch = NULL;
    lexicon->scratch_room = 0;
    if (room < length + 1) {
        room = length < 255 ? 256 : length + 1;
        free(before);
        before = malloc(room * sizeof *before);
        if (before == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    int failed = walk_text(lexicon, before, text, length, take, context);
    /* One long text is no reason to hold its room for ever. */
    if (lexicon->scratch == NULL && room <= MOST_SCRATCH) {
        lexicon->scratch = before;
        lexicon->scratch_room = room;
    }
    else
        free(before);
    return failed;
}

static int
compare_lengths(const void *one, const void *other)
{
    uint32_t left = *(const uint32_t *)one, right = *(const uint32_t *)other;
    return left < right ? -1 : left > right;
}

static int
lexicon_read(Lexicon *lexicon, PyObject *filed)
{
    Py_ssize_t at = 0;
    PyObject *key, *facts;
    while (PyDict_Next(filed, &at, &key, &facts)) {
        if (!PyBytes_Check(key) || !PyTuple_Check(facts) || PyBytes_Size(key) == 0) {
            PyErr_SetString(PyExc_TypeError, "expected words of bytes, each with a tuple of facts");
            return -1;
        }
        size_t length = (size_t)PyBytes_Size(key);
        Word *word = &lexicon->words[lexicon->words_length++];
        word->place = (uint32_t)lexicon->bytes_length;
        word->length = (uint32_t)length;
        memcpy(lexicon->bytes + lexicon->bytes_length, PyBytes_AsString(key), length);
        word->hash = hash_of(lexicon->bytes + lexicon->bytes_length, length);
        lexicon->bytes_length += length;
        word->facts = (uint32_t)lexicon->facts_length;
        word->count = (uint32_t)PyTuple_Size(facts);
        for (uint32_t number = 0; number < word->count; number++) {
            if (read_u32(PyTuple_GetItem(facts, number), &lexicon->facts_at[lexicon->facts_length++]) < 0)
                return -1;
        }
    }
    return 0;
}

/* Count the bytes of all words and their facts; an error where 32 bits cannot count them. */
static int
measure(PyObject *filed, size_t *bytes, size_t *facts)
{
    Py_ssize_t at = 0;
    PyObject *key, *of_key;
    while (PyDict_Next(filed, &at, &key, &of_key)) {
        *bytes += PyBytes_Check(key) ? (size_t)PyBytes_Size(key) : 0;
        *facts += PyTuple_Check(of_key) ? (size_t)PyTuple_Size(of_key) : 0;
        if (*bytes > INT32_MAX || *facts > INT32_MAX) {
            PyErr_SetString(PyExc_OverflowError, "words of more than 2 GiB");
            return -1;
        }
    }
    return 0;
}

static void
lexicon_order(Lexicon *lexicon)
{
    size_t count = lexicon->words_length, kept = 0;
    for (size_t number = 0; number < count; number++)
        lexicon->lengths[number] = lexicon->words[number].length;
    qsort(lexicon->lengths, count, sizeof *lexicon->lengths, compare_lengths);
    for (size_t number = 0; number < count; number++)
        if (number == 0 || lexicon->lengths[number] != lexicon->lengths[kept - 1])
            lexicon->lengths[kept++] = lexicon->lengths[number];
    lexicon->lengths_length = kept;
}

static void
lexicon_file(Lexicon *lexicon)
{
    uint64_t anywhere = 0;
    for (size_t number = 0; number < lexicon->words_length; number++) {
        const Word *word = &lexicon->words[number];
        size_t slot = mixed(word->hash + word->length) & lexicon->table_mask;
        while (lexicon->table[slot] != 0)
            slot = (slot + 1) & lexicon->table_mask;
        lexicon->table[slot] = (uint32_t)number + 1;
        uint32_t *found = bsearch(&word->length, lexicon->lengths, lexicon->lengths_length, sizeof word->length,
                                  compare_lengths);
        size_t rank = (size_t)(found - lexicon->lengths);
        uint64_t bit = 1ULL << (rank < 63 ? rank : 63);
        if (word->length >= GRAM)
            lexicon->filter[gram_of(lexicon->bytes + word->place) & lexicon->filter_mask] |= bit;
        else
            /* Too short to be told apart by a gram. */
            anywhere |= bit;
    }
    for (size_t gram = 0; gram <= lexicon->filter_mask; gram++)
        lexicon->filter[gram] |= anywhere;
    lexicon->powers[0] = 1;
    size_t longest = lexicon->lengths_length ? lexicon->lengths[lexicon->lengths_length - 1] : 0;
    for (size_t length = 1; length <= longest; length++)
        lexicon->powers[length] = lexicon->powers[length - 1] * FACTOR;
}

static int
lexicon_fill(Lexicon *lexicon, PyObject *filed)
{
    size_t bytes = 0, facts = 0;
    if (measure(filed, &bytes, &facts) < 0)
        return -1;
    size_t count = (size_t)PyDict_Size(filed), room = 16;
    while (room < 2 * count)
        room *= 2;
    /* From Python's allocator: what is weighed with `tracemalloc` is all of it. */
    lexicon->bytes = PyMem_Malloc(bytes + 1);
    lexicon->words = PyMem_Calloc(count + 1, sizeof *lexicon->words);
    lexicon->facts_at = PyMem_Calloc(facts + 1, sizeof *lexicon->facts_at);
    lexicon->lengths = PyMem_Calloc(count + 1, sizeof *lexicon->lengths);
    lexicon->table = PyMem_Calloc(room, sizeof *lexicon->table);
    lexicon->filter = PyMem_Calloc(room, sizeof *lexicon->filter);
    lexicon->table_mask = lexicon->filter_mask = room - 1;
    if (!lexicon->bytes || !lexicon->words || !lexicon->facts_at || !lexicon->lengths || !lexicon->table ||
        !lexicon->filter) {
        PyErr_NoMemory();
        return -1;
    }
    if (lexicon_read(lexicon, filed) < 0)
        return -1;
    lexicon_order(lexicon);
    size_t longest = lexicon->lengths_length ? lexicon->lengths[lexicon->lengths_length - 1] : 0;
    lexicon->powers = PyMem_Malloc((longest + 1) * sizeof *lexicon->powers);
    if (lexicon->powers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    lexicon_file(lexicon);
    return 0;
}

static PyObject *
lexicon_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *filed;
    if (!PyArg_ParseTuple(arguments, "O!:Lexicon", &PyDict_Type, &filed))
        return NULL;
    Lexicon *lexicon = (Lexicon *)PyType_GenericAlloc(type, 0); /* all of it zero */
    if (lexicon != NULL && lexicon_fill(lexicon, filed) < 0)
        Py_CLEAR(lexicon);
    return (PyObject *)lexicon;
}

static void
lexicon_dealloc(PyObject *self)
{
    Lexicon *lexicon = (Lexicon *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(lexicon->bytes);
    PyMem_Free(lexicon->words);
    PyMem_Free(lexicon->facts_at);
    PyMem_Free(lexicon->lengths);
    PyMem_Free(lexicon->table);
    PyMem_Free(lexicon->filter);
    PyMem_Free(lexicon->powers);
    free(lexicon->scratch);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static int
add_to_set(void *set, uint32_t fact)
{
    PyObject *number = PyLong_FromUnsignedLong(fact);
    if (number == NULL)
        return -1;
    int failed = PySet_Add(set, number);
    Py_DECREF(number);
    return failed;
}

static PyObject *
lexicon_find(PyObject *self, PyObject *arguments)
{
    const char *text;
    Py_ssize_t length;
    PyObject *into;
    if (!PyArg_ParseTuple(arguments, "y#O!:find", &text, &length, &PySet_Type, &into))
        return NULL;
    if (find_within((Lexicon *)self, (const uint8_t *)text, (size_t)length, add_to_set, into) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
lexicon_find_at(PyObject *arguments, PyObject *self, int is_end)
{
    const char *text;
    Py_ssize_t length;
    PyObject *into;
    if (!PyArg_ParseTuple(arguments, "y#O!", &text, &length, &PySet_Type, &into))
        return NULL;
    const Lexicon *lexicon = (const Lexicon *)self;
    if ((is_end ? find_ends : find_starts)(lexicon, (const uint8_t *)text, (size_t)length, add_to_set, into) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *
lexicon_find_start(PyObject *self, PyObject *arguments)
{
    return lexicon_find_at(arguments, self, 0);
}

static PyObject *
lexicon_find_end(PyObject *self, PyObject *arguments)
{
    return lexicon_find_at(arguments, self, 1);
}

static PyObject *
lexicon_find_in_each(PyObject *self, PyObject *arguments)
{
    PyObject *texts, *into;
    if (!PyArg_ParseTuple(arguments, "O!O!:find_in_each", &PyList_Type, &texts, &PyList_Type, &into))
        return NULL;
    for (Py_ssize_t at = 0; at < PyList_Size(texts); at++) {
        PyObject *text = PyList_GetItem(texts, at), *set = PyList_GetItem(into, at);
        if (set == NULL)
            return NULL;
        if (!PyBytes_Check(text) || !PySet_Check(set)) {
            PyErr_SetString(PyExc_TypeError, "expected texts of bytes, and a set for each");
            return NULL;
        }
        const uint8_t *bytes = (const uint8_t *)PyBytes_AsString(text);
        if (find_within((Lexicon *)self, bytes, (size_t)PyBytes_Size(text), add_to_set, set) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef lexicon_methods[] = {
    {"find", lexicon_find, METH_VARARGS, "Add the facts of the words that stand in a text."},
    {"find_start", lexicon_find_start, METH_VARARGS, "Add the facts of the words a text begins with."},
    {"find_end", lexicon_find_end, METH_VARARGS, "Add the facts of the words a text ends with."},
    {"find_in_each", lexicon_find_in_each, METH_VARARGS, "Do what `find` does for many texts, each with its set."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot lexicon_slots[] = {
    {Py_tp_doc, "Words of bytes, each with the facts it stands for."},
    {Py_tp_new, lexicon_new},
    {Py_tp_dealloc, lexicon_dealloc},
    {Py_tp_methods, lexicon_methods},
    {0, NULL},
};

static PyType_Spec lexicon_spec = {
    "posthouse.matching.engine.indexed.native.Lexicon", sizeof(Lexicon), 0, Py_TPFLAGS_DEFAULT, lexicon_slots,
};

/* --- a plan -------------------------------------------------------------------------------------------------------------
 *
 * A net holds what is asked of plain attributes, and views of the rows of numbers of a plan. `find` goes over a batch
 * three times: it reads the attributes and notes the facts, walks the postings without the interpreter's lock, and looks
 * for words in what is left.
 */

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
static const size_t SIZES[VIEWS] = {8, 1, 4, 4, 4, 4, 4, 4, 2, 8, 8, 4, 2, 4, 4};
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

static int
take_fact(void *context, uint32_t fact)
{
    if (row_push(&((Batch *)context)->facts, fact) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* Take the facts of a list that a dict holds for a key, if it holds one. */
static int
take_filed(Batch *batch, PyObject *filed, PyObject *key)
{
    PyObject *facts = PyDict_GetItemWithError(filed, key);
    if (facts == NULL)
        return PyErr_Occurred() ? -1 : 0;
    Py_ssize_t length = PyList_Size(facts);
    if (length < 0)
        return -1;
    for (Py_ssize_t at = 0; at < length; at++) {
        uint32_t fact;
        if (read_u32(PyList_GetItem(facts, at), &fact) < 0 || take_fact(batch, fact) < 0)
            return -1;
    }
    return 0;
}

static int
take_row(Batch *batch, const View *facts, size_t start, size_t end)
{
    if (end > facts->length)
        end = facts->length;
    for (size_t at = start; at < end; at++)
        if (take_fact(batch, U32(*facts)[at]) < 0)
            return -1;
    return 0;
}

static int
take_members(Batch *batch, PyObject *members, PyObject *text)
{
    Py_ssize_t length = PyTuple_Size(members);
    for (Py_ssize_t at = 0; at < length; at++) {
        PyObject *each = PyTuple_GetItem(members, at);
        int is_in = PySet_Contains(PyTuple_GetItem(each, 0), text);
        uint32_t fact;
        if (is_in < 0)
            return -1;
        if (is_in && (read_u32(PyTuple_GetItem(each, 1), &fact) < 0 || take_fact(batch, fact) < 0))
            return -1;
    }
    return 0;
}

static int
take_words(Batch *batch, const Form *form, PyObject *text)
{
    if (form->starts == NULL && form->ends == NULL && form->words == NULL)
        return 0;
    PyObject *encoded = NULL;
    Py_ssize_t length;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &length);
    if (bytes == NULL) {
        /* Half of a pair of surrogates: UTF-8 has no place for it, the words were written as this is. */
        PyErr_Clear();
        encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
        if (encoded == NULL)
            return -1;
        bytes = PyBytes_AsString(encoded);
        length = PyBytes_Size(encoded);
    }
    const uint8_t *at = (const uint8_t *)bytes;
    int failed = (form->starts != NULL && find_starts(form->starts, at, (size_t)length, take_fact, batch) < 0) ||
                 (form->ends != NULL && find_ends(form->ends, at, (size_t)length, take_fact, batch) < 0) ||
                 (form->words != NULL && find_within(form->words, at, (size_t)length, take_fact, batch) < 0);
    Py_XDECREF(encoded);
    return failed ? -1 : 0;
}

static int
take_form(Batch *batch, const Form *form, PyObject *written)
{
    PyObject *text;
    if (form->collation == NULL)
        text = Py_NewRef(written);
    else
        text = PyObject_CallFunctionObjArgs(batch->net->fold, written, form->collation, NULL);
    if (text == NULL)
        return -1;
    int failed = (form->equal != NULL && take_filed(batch, form->equal, text) < 0) ||
                 take_members(batch, form->members, text) < 0 || take_words(batch, form, text) < 0;
    Py_DECREF(text);
    return failed ? -1 : 0;
}

/* Give how many of an ascending row are smaller than a number; of NaN none is. */
static size_t
smaller(const View *row, double number)
{
    size_t low = 0, high = row->length;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (F64(*row)[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t
smaller_or_equal(const View *row, double number)
{
    size_t low = 0, high = row->length;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (number < F64(*row)[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int
take_bound(Batch *batch, const Bound *bound, double number)
{
    size_t all = bound->facts.length;
    switch (bound->sign) {
    case 0:
        return take_row(batch, &bound->facts, smaller_or_equal(&bound->values, number), all);
    case 1:
        return take_row(batch, &bound->facts, smaller(&bound->values, number), all);
    case 2:
        return take_row(batch, &bound->facts, 0, smaller(&bound->values, number));
    default:
        return take_row(batch, &bound->facts, 0, smaller_or_equal(&bound->values, number));
    }
}

static int
take_number(Batch *batch, const Field *field, PyObject *value, double number)
{
    int is_number = number == number;
    for (Py_ssize_t at = 0; is_number && at < PyTuple_Size(field->numbers); at++)
        if (take_filed(batch, PyTuple_GetItem(field->numbers, at), value) < 0)
            return -1;
    if (field->has_cells) {
        /* No number stands before the first edge; what is none may stand where it likes. */
        size_t place = smaller(&field->edges, number);
        place = place ? place : 1;
        if (place + 1 < field->cell_starts.length &&
            take_row(batch, &field->cell_facts, U32(field->cell_starts)[place], U32(field->cell_starts)[place + 1]) < 0)
            return -1;
    }
    for (size_t at = 0; is_number && at < field->bounds_length; at++)
        if (take_bound(batch, &field->bounds[at], number) < 0)
            return -1;
    return 0;
}

static int
note_value(Batch *batch, uint32_t place, double number)
{
    if (batch->places.length == batch->values_room) {
        size_t room = batch->values_room ? 2 * batch->values_room : 256;
        double *values = realloc(batch->values, room * sizeof *values);
        if (values == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        batch->values = values;
        batch->values_room = room;
    }
    batch->values[batch->places.length] = number;
    if (row_push(&batch->places, place) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* Take the facts about one attribute: 1 where it is no plain text or number, so that the record is left to others. */
static int
take_attribute(Batch *batch, size_t place, PyObject *value)
{
    const Net *net = batch->net;
    const Field *field = &net->fields[place];
    if (PyUnicode_CheckExact(value)) {
        for (size_t at = 0; at < field->forms_length; at++)
            if (take_form(batch, &field->forms[at], value) < 0)
                return -1;
    }
    else {
        double number;
        if (PyFloat_CheckExact(value))
            number = PyFloat_AsDouble(value);
        else if (PyLong_CheckExact(value) || Py_IS_TYPE(value, net->int32)) {
            int beyond;
            long long whole = PyLong_AsLongLongAndOverflow(value, &beyond);
            if (beyond || whole > MOST_EXACT || whole < -MOST_EXACT)
                return 1;
            number = (double)whole;
        }
        else
            return 1;
        if (take_number(batch, field, value, number) < 0 || note_value(batch, (uint32_t)place, number) < 0)
            return -1;
    }
    return field->there ? take_fact(batch, field->there) : 0;
}

static int
take_attributes(Batch *batch, PyObject *attributes)
{
    const Net *net = batch->net;
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (PyDict_Next(attributes, &at, &name, &value)) {
        if (!PyUnicode_CheckExact(name))
            return 1;
        PyObject *number = PyDict_GetItemWithError(net->places, name);
        if (number == NULL) {
            if (PyErr_Occurred())
                return -1;
            continue;
        }
        size_t place = PyLong_AsSize_t(number);
        if (place >= net->fields_length) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_IndexError, "an attribute without a place");
            return -1;
        }
        Py_INCREF(value); /* `fold` is Python, and might change what it likes */
        int is_left = take_attribute(batch, place, value);
        Py_DECREF(value);
        if (is_left)
            return is_left;
    }
    return 0;
}

static int
take_set(Batch *batch, PyObject *facts)
{
    PyObject *each, *all = PyObject_GetIter(facts);
    if (all == NULL)
        return -1;
    while ((each = PyIter_Next(all)) != NULL) {
        uint32_t fact;
        int failed = read_u32(each, &fact) < 0 || take_fact(batch, fact) < 0;
        Py_DECREF(each);
        if (failed) {
            Py_DECREF(all);
            return -1;
        }
    }
    Py_DECREF(all);
    return PyErr_Occurred() ? -1 : 0;
}

/* Take the facts of one record, or leave it to others. */
static int
take_record(Batch *batch, size_t row, PyObject *record, PyObject *beside)
{
    size_t facts = batch->facts.length, values = batch->places.length;
    PyObject *attributes = PyObject_GetAttr(record, batch->net->attributes);
    if (attributes == NULL)
        return -1;
    int is_left = beside == Py_None || !PyDict_CheckExact(attributes);
    if (!is_left)
        is_left = beside != NULL ? take_set(batch, beside) : 0;
    if (!is_left)
        is_left = take_attributes(batch, attributes);
    if (is_left) {
        Py_DECREF(attributes);
        batch->facts.length = facts;
        batch->places.length = values;
    }
    else
        batch->attributes[row] = attributes;
    batch->fact_ends[row] = batch->facts.length;
    batch->value_ends[row] = batch->places.length;
    return is_left < 0 ? -1 : 0;
}

/* --- the walk: nothing from here to `walk` touches an object of Python ---------------------------------------------- */

typedef struct {
    uint64_t *held; /* one bit for each fact */
    double *values; /* by place; NaN where there is none */
} Here;

static inline int
holds(const Net *net, const Here *here, uint32_t fact)
{
    return fact < net->facts_length && here->held[fact >> 6] >> (fact & 63) & 1;
}

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

static int
fits(const Net *net, const Here *here, uint32_t slot)
{
    const View *views = net->views;
    size_t at, end = entries_of(&views[NEED_ENDS], slot, views[NEEDS].length, &at);
    for (; at < end; at++)
        if (!holds(net, here, U32(views[NEEDS])[at]))
            return 0;
    size_t length = views[RANGE_PLACES].length;
    if (views[LOWS].length < length || views[HIGHS].length < length)
        return 0;
    end = entries_of(&views[RANGE_ENDS], slot, length, &at);
    for (; at < end; at++) {
        size_t place = U16(views[RANGE_PLACES])[at];
        double value = place < net->fields_length ? here->values[place] : NAN;
        if (!(F64(views[LOWS])[at] <= value && value <= F64(views[HIGHS])[at]))
            return 0;
    }
    return 1;
}

static int
walk_posting(const Net *net, const Here *here, uint32_t fact, Row *slots)
{
    const View *views = net->views;
    if ((size_t)fact + 1 >= views[STARTS].length)
        return 0;
    size_t at = U32(views[STARTS])[fact], end = U32(views[STARTS])[fact + 1];
    if (end > views[SLOTS].length || end > views[SECONDS].length)
        return 0;
    for (; at < end; at++) {
        uint32_t slot = U32(views[SLOTS])[at];
        if (holds(net, here, U32(views[SECONDS])[at]) && fits(net, here, slot) && row_push(slots, slot) < 0)
            return -1;
    }
    return 0;
}

/* Sort the slots from a place on, each once. */
static void
sort_slots(Row *slots, size_t start)
{
    size_t length = slots->length - start, kept = 0;
    uint32_t *at = slots->at + start;
    if (length < 2)
        return;
    if (length > 24)
        qsort(at, length, sizeof *at, compare_lengths);
    else
        for (size_t here = 1; here < length; here++) {
            uint32_t slot = at[here];
            size_t to = here;
            for (; to > 0 && at[to - 1] > slot; to--)
                at[to] = at[to - 1];
            at[to] = slot;
        }
    for (size_t here = 0; here < length; here++)
        if (here == 0 || at[here] != at[kept - 1])
            at[kept++] = at[here];
    slots->length = start + kept;
}

static int
walk_record(Batch *batch, size_t row, Here *here)
{
    const Net *net = batch->net;
    size_t first = row ? batch->fact_ends[row - 1] : 0, value = row ? batch->value_ends[row - 1] : 0;
    size_t start = batch->slots.length, last = batch->fact_ends[row], kept = first;
    uint32_t *facts = batch->facts.at;
    for (size_t at = value; at < batch->value_ends[row]; at++)
        here->values[batch->places.at[at]] = batch->values[at];
    /* Each fact once: several columns may say the same. */
    for (size_t at = first; at < last; at++)
        if (facts[at] < net->facts_length && !holds(net, here, facts[at])) {
            here->held[facts[at] >> 6] |= 1ULL << (facts[at] & 63);
            facts[kept++] = facts[at];
        }
    int failed = 0;
    for (size_t at = first; at < kept && !failed; at++)
        failed = walk_posting(net, here, facts[at], &batch->slots);
    const View *always = &net->views[ALWAYS];
    for (size_t at = 0; at < always->length && !failed; at++)
        failed = row_push(&batch->slots, U32(*always)[at]);
    for (size_t at = first; at < kept; at++)
        here->held[facts[at] >> 6] = 0;
    here->held[0] |= 1;
    for (size_t at = value; at < batch->value_ends[row]; at++)
        here->values[batch->places.at[at]] = NAN;
    if (batch->slots.length > start)
        sort_slots(&batch->slots, start);
    return failed;
}

static int
walk(Batch *batch)
{
    const Net *net = batch->net;
    Here here = {calloc(net->facts_length / 64 + 1, sizeof *here.held), malloc((net->fields_length + 1) * sizeof(double))};
    int failed = here.held == NULL || here.values == NULL;
    if (!failed) {
        for (size_t place = 0; place < net->fields_length; place++)
            here.values[place] = NAN;
        here.held[0] = 1; /* fact 0 always holds */
    }
    for (size_t row = 0; row < batch->length && !failed; row++) {
        if (batch->attributes[row] != NULL)
            failed = walk_record(batch, row, &here);
        batch->slot_ends[row] = batch->slots.length;
    }
    free(here.held);
    free(here.values);
    return failed;
}

/* --- what was found --------------------------------------------------------------------------------------------------- */

/* Say whether all words of a slot stand where they are asked. */
static int
has_words(const Net *net, uint32_t slot, PyObject *attributes)
{
    const View *views = net->views;
    size_t at, length = views[WORD_PLACES].length, end;
    if (views[WORD_IDS].length < length)
        return 0;
    end = entries_of(&views[WORD_ENDS], slot, length, &at);
    for (; at < end; at++) {
        PyObject *name = PyTuple_GetItem(net->names, U16(views[WORD_PLACES])[at]);
        PyObject *word = PyList_GetItem(net->words, (Py_ssize_t)U32(views[WORD_IDS])[at]);
        if (name == NULL || word == NULL)
            return -1;
        PyObject *text = PyDict_GetItemWithError(attributes, name);
        if (text == NULL)
            return PyErr_Occurred() ? -1 : 0;
        int stands = PyUnicode_CheckExact(text) ? PyUnicode_Contains(text, word) : 0;
        if (stands <= 0)
            return stands;
    }
    return 1;
}

static int
append_number(PyObject *list, long long value)
{
    PyObject *number = PyLong_FromLongLong(value);
    int failed = number == NULL || PyList_Append(list, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

typedef struct {
    PyObject *rows, *numbers, *unsure, *left;
} Found;

static int
tell_slot(const Net *net, size_t row, uint32_t slot, Found *found)
{
    int flags = slot < net->views[FLAGS].length ? U8(net->views[FLAGS])[slot] : IS_DEAD;
    if (flags & IS_DEAD || slot >= net->views[NUMBERS].length)
        return 0;
    if (!(flags & IS_REST))
        return append_number(found->rows, (long long)row) < 0
                   ? -1 : append_number(found->numbers, I64(net->views[NUMBERS])[slot]);
    PyObject *pair = Py_BuildValue("(nI)", (Py_ssize_t)row, (unsigned int)slot);
    int failed = pair == NULL || PyList_Append(found->unsure, pair) < 0;
    Py_XDECREF(pair);
    return failed ? -1 : 0;
}

static int
tell(const Batch *batch, Found *found)
{
    for (size_t row = 0; row < batch->length; row++) {
        PyObject *attributes = batch->attributes[row];
        if (attributes == NULL) {
            if (append_number(found->left, (long long)row) < 0)
                return -1;
            continue;
        }
        for (size_t at = row ? batch->slot_ends[row - 1] : 0; at < batch->slot_ends[row]; at++) {
            int there = has_words(batch->net, batch->slots.at[at], attributes);
            if (there < 0 || (there && tell_slot(batch->net, row, batch->slots.at[at], found) < 0))
                return -1;
        }
    }
    return 0;
}

static void
batch_drop(Batch *batch)
{
    for (size_t row = 0; batch->attributes != NULL && row < batch->length; row++)
        Py_XDECREF(batch->attributes[row]);
    free(batch->attributes);
    free(batch->facts.at);
    free(batch->places.at);
    free(batch->fact_ends);
    free(batch->value_ends);
    free(batch->values);
    free(batch->slots.at);
    free(batch->slot_ends);
}

static int
batch_take(Batch *batch, PyObject *records, PyObject *beside)
{
    size_t room = batch->length + 1;
    batch->attributes = calloc(room, sizeof *batch->attributes);
    batch->fact_ends = calloc(room, sizeof *batch->fact_ends);
    batch->value_ends = calloc(room, sizeof *batch->value_ends);
    batch->slot_ends = calloc(room, sizeof *batch->slot_ends);
    if (!batch->attributes || !batch->fact_ends || !batch->value_ends || !batch->slot_ends) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t row = 0; row < batch->length; row++) {
        /* `fold` is Python and might change a list meanwhile: each entry is asked for, and held while it is read. */
        PyObject *record = PySequence_GetItem(records, (Py_ssize_t)row);
        PyObject *set = beside == Py_None || record == NULL ? NULL : PySequence_GetItem(beside, (Py_ssize_t)row);
        int failed = record == NULL || (set == NULL && beside != Py_None) ||
                     take_record(batch, row, record, set) < 0;
        Py_XDECREF(record);
        Py_XDECREF(set);
        if (failed)
            return -1;
    }
    return 0;
}

static PyObject *
net_find(PyObject *self, PyObject *arguments)
{
    PyObject *records, *beside, *answer = NULL;
    if (!PyArg_ParseTuple(arguments, "OO:find", &records, &beside))
        return NULL;
    Py_ssize_t length = PySequence_Size(records);
    if (length < 0)
        return NULL;
    Batch batch = {.net = (const Net *)self, .length = (size_t)length};
    Found found = {PyList_New(0), PyList_New(0), PyList_New(0), PyList_New(0)};
    if (found.rows && found.numbers && found.unsure && found.left && batch_take(&batch, records, beside) == 0) {
        int failed;
        Py_BEGIN_ALLOW_THREADS
        failed = walk(&batch);
        Py_END_ALLOW_THREADS
        if (failed)
            PyErr_NoMemory();
        else if (tell(&batch, &found) == 0)
            answer = PyTuple_Pack(4, found.rows, found.numbers, found.unsure, found.left);
    }
    batch_drop(&batch);
    Py_XDECREF(found.rows);
    Py_XDECREF(found.numbers);
    Py_XDECREF(found.unsure);
    Py_XDECREF(found.left);
    return answer;
}

/* Give the slots of the predicates whose facts hold, of one record whose facts are known. */
static PyObject *
net_candidates(PyObject *self, PyObject *facts)
{
    PyObject *attributes[1] = {self}; /* anything: there is a record */
    size_t ends[3] = {0, 0, 0};
    Batch batch = {.net = (const Net *)self, .length = 1, .attributes = attributes, .fact_ends = &ends[0],
                   .value_ends = &ends[1], .slot_ends = &ends[2]};
    PyObject *found = NULL;
    if (take_set(&batch, facts) == 0) {
        ends[0] = batch.facts.length;
        if (walk(&batch) < 0)
            PyErr_NoMemory();
        else
            found = PyList_New(0);
        for (size_t at = 0; found != NULL && at < batch.slots.length; at++)
            if (append_number(found, batch.slots.at[at]) < 0)
                Py_CLEAR(found);
    }
    free(batch.facts.at);
    free(batch.slots.at);
    return found;
}

/* --- making a net ----------------------------------------------------------------------------------------------------- */

static PyObject *
none_is_null(PyObject *object)
{
    return object == Py_None ? NULL : Py_NewRef(object);
}

typedef struct {
    PyTypeObject *lexicon, *net;
} State;

static int
read_lexicon(PyTypeObject *type, PyObject *object, Lexicon **into)
{
    if (object != Py_None && !Py_IS_TYPE(object, type)) {
        PyErr_SetString(PyExc_TypeError, "expected a Lexicon or None");
        return -1;
    }
    *into = (Lexicon *)none_is_null(object);
    return 0;
}

static int
read_form(PyTypeObject *lexicon, PyObject *told, Form *form)
{
    PyObject *collation, *equal, *members, *starts, *ends, *words;
    if (!PyArg_ParseTuple(told, "OOO!OOO", &collation, &equal, &PyTuple_Type, &members, &starts, &ends, &words))
        return -1;
    if (equal != Py_None && !PyDict_Check(equal)) {
        PyErr_SetString(PyExc_TypeError, "expected a dict or None");
        return -1;
    }
    for (Py_ssize_t at = 0; at < PyTuple_Size(members); at++) {
        PyObject *each = PyTuple_GetItem(members, at);
        if (!PyTuple_Check(each) || PyTuple_Size(each) != 2 || !PyAnySet_Check(PyTuple_GetItem(each, 0))) {
            PyErr_SetString(PyExc_TypeError, "expected a set and its fact");
            return -1;
        }
    }
    form->collation = none_is_null(collation);
    form->equal = none_is_null(equal);
    form->members = Py_NewRef(members);
    return read_lexicon(lexicon, starts, &form->starts) < 0 || read_lexicon(lexicon, ends, &form->ends) < 0 ||
                   read_lexicon(lexicon, words, &form->words) < 0 ? -1 : 0;
}

static int
read_bound(PyObject *told, Bound *bound)
{
    PyObject *values, *facts;
    if (!PyArg_ParseTuple(told, "lOO", &bound->sign, &values, &facts))
        return -1;
    return view_take(&bound->values, values, 8) < 0 || view_take(&bound->facts, facts, 4) < 0 ? -1 : 0;
}

static int
read_field(PyTypeObject *lexicon, PyObject *told, Field *field)
{
    PyObject *forms, *numbers, *cells, *bounds;
    unsigned int there;
    if (!PyArg_ParseTuple(told, "IO!O!OO!", &there, &PyTuple_Type, &forms, &PyTuple_Type, &numbers, &cells,
                          &PyTuple_Type, &bounds))
        return -1;
    field->there = there;
    field->numbers = Py_NewRef(numbers);
    for (Py_ssize_t at = 0; at < PyTuple_Size(numbers); at++)
        if (!PyDict_Check(PyTuple_GetItem(numbers, at))) {
            PyErr_SetString(PyExc_TypeError, "expected dicts of numbers");
            return -1;
        }
    size_t forms_length = (size_t)PyTuple_Size(forms), bounds_length = (size_t)PyTuple_Size(bounds);
    field->forms = PyMem_Calloc(forms_length + 1, sizeof *field->forms);
    field->bounds = PyMem_Calloc(bounds_length + 1, sizeof *field->bounds);
    if (field->forms == NULL || field->bounds == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    /* The length grows first: what was read in part is dropped with the rest. */
    while (field->forms_length < forms_length) {
        size_t at = field->forms_length++;
        if (read_form(lexicon, PyTuple_GetItem(forms, (Py_ssize_t)at), &field->forms[at]) < 0)
            return -1;
    }
    while (field->bounds_length < bounds_length) {
        size_t at = field->bounds_length++;
        if (read_bound(PyTuple_GetItem(bounds, (Py_ssize_t)at), &field->bounds[at]) < 0)
            return -1;
    }
    if (cells == Py_None)
        return 0;
    PyObject *edges, *starts, *facts;
    if (!PyArg_ParseTuple(cells, "OOO", &edges, &starts, &facts))
        return -1;
    field->has_cells = 1;
    return view_take(&field->edges, edges, 8) < 0 || view_take(&field->cell_starts, starts, 4) < 0 ||
                   view_take(&field->cell_facts, facts, 4) < 0 ? -1 : 0;
}

static int
net_fill(Net *net, PyTypeObject *lexicon, PyObject *fields, PyObject *rows)
{
    size_t length = (size_t)PyTuple_Size(fields);
    if (PyTuple_Size(net->names) != (Py_ssize_t)length || PyTuple_Size(rows) != VIEWS) {
        PyErr_SetString(PyExc_ValueError, "expected a field for each name, and all rows of a plan");
        return -1;
    }
    net->fields = PyMem_Calloc(length + 1, sizeof *net->fields);
    net->places = PyDict_New();
    if (net->fields == NULL || net->places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (net->fields_length < length) {
        size_t at = net->fields_length++;
        if (read_field(lexicon, PyTuple_GetItem(fields, (Py_ssize_t)at), &net->fields[at]) < 0)
            return -1;
        PyObject *place = PyLong_FromSize_t(at);
        int failed = place == NULL || PyDict_SetItem(net->places, PyTuple_GetItem(net->names, (Py_ssize_t)at), place);
        Py_XDECREF(place);
        if (failed)
            return -1;
    }
    for (int view = 0; view < VIEWS; view++)
        if (view_take(&net->views[view], PyTuple_GetItem(rows, view), SIZES[view]) < 0)
            return -1;
    net->facts_length = net->views[STARTS].length;
    net->attributes = PyUnicode_InternFromString("attributes");
    return net->attributes == NULL ? -1 : 0;
}

static PyObject *
net_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(keywords))
{
    PyObject *names, *fields, *rows, *words, *fold, *int32;
    State *state = PyType_GetModuleState(type);
    if (state == NULL || !PyArg_ParseTuple(arguments, "O!O!O!O!OO!:Net", &PyTuple_Type, &names, &PyTuple_Type, &fields,
                                           &PyTuple_Type, &rows, &PyList_Type, &words, &fold, &PyType_Type, &int32))
        return NULL;
    Net *net = (Net *)PyType_GenericAlloc(type, 0); /* all of it zero */
    if (net == NULL)
        return NULL;
    net->names = Py_NewRef(names);
    net->words = Py_NewRef(words);
    net->fold = Py_NewRef(fold);
    net->int32 = (PyTypeObject *)Py_NewRef(int32);
    if (net_fill(net, state->lexicon, fields, rows) < 0)
        Py_CLEAR(net);
    return (PyObject *)net;
}

static void
field_drop(Field *field)
{
    for (size_t at = 0; at < field->forms_length; at++) {
        Form *form = &field->forms[at];
        Py_XDECREF(form->collation);
        Py_XDECREF(form->equal);
        Py_XDECREF(form->members);
        Py_XDECREF((PyObject *)form->starts);
        Py_XDECREF((PyObject *)form->ends);
        Py_XDECREF((PyObject *)form->words);
    }
    PyMem_Free(field->forms);
    for (size_t at = 0; at < field->bounds_length; at++) {
        view_drop(&field->bounds[at].values);
        view_drop(&field->bounds[at].facts);
    }
    PyMem_Free(field->bounds);
    Py_XDECREF(field->numbers);
    view_drop(&field->edges);
    view_drop(&field->cell_starts);
    view_drop(&field->cell_facts);
}

static void
net_dealloc(PyObject *self)
{
    Net *net = (Net *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (size_t at = 0; at < net->fields_length; at++)
        field_drop(&net->fields[at]);
    PyMem_Free(net->fields);
    for (int view = 0; view < VIEWS; view++)
        view_drop(&net->views[view]);
    Py_XDECREF(net->names);
    Py_XDECREF(net->places);
    Py_XDECREF(net->words);
    Py_XDECREF(net->fold);
    Py_XDECREF((PyObject *)net->int32);
    Py_XDECREF(net->attributes);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef net_methods[] = {
    {"find", net_find, METH_VARARGS, "Give rows and numbers of what is true, what is to be judged yet, and rows left."},
    {"candidates", net_candidates, METH_O, "Give the slots whose facts are among these."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot net_slots[] = {
    {Py_tp_doc, "What a plan asks, ready to be walked."},
    {Py_tp_new, net_new},
    {Py_tp_dealloc, net_dealloc},
    {Py_tp_methods, net_methods},
    {0, NULL},
};

static PyType_Spec net_spec = {
    "posthouse.matching.engine.indexed.native.Net", sizeof(Net), 0, Py_TPFLAGS_DEFAULT, net_slots,
};

/* --- the module ------------------------------------------------------------------------------------------------------- */

/* Called for each find of a search through a long text: adds the facts of what was found to a set. */
static PyObject *
note(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t length)
{
    if (length != 5 || !PyTuple_Check(arguments[4])) {
        PyErr_SetString(PyExc_TypeError, "expected a number, two ends, flags, and facts with the set they go into");
        return NULL;
    }
    PyObject *all = PyTuple_GetItem(arguments[4], 0), *into = PyTuple_GetItem(arguments[4], 1);
    size_t number = PyLong_AsSize_t(arguments[0]);
    if (into == NULL || !PyList_Check(all) || (number == (size_t)-1 && PyErr_Occurred()))
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "expected a list of facts");
    PyObject *facts = PyList_GetItem(all, (Py_ssize_t)number);
    Py_ssize_t count = facts == NULL ? -1 : PyTuple_Size(facts);
    if (count < 0)
        return NULL;
    for (Py_ssize_t at = 0; at < count; at++)
        if (PySet_Add(into, PyTuple_GetItem(facts, at)) < 0)
            return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"note", (PyCFunction)(void (*)(void))note, METH_FASTCALL, "Add the facts of one find."},
    {NULL, NULL, 0, NULL},
};

static int
module_fill(PyObject *module)
{
    State *state = PyModule_GetState(module);
    state->lexicon = (PyTypeObject *)PyType_FromModuleAndSpec(module, &lexicon_spec, NULL);
    if (state->lexicon == NULL || PyModule_AddType(module, state->lexicon) < 0)
        return -1;
    state->net = (PyTypeObject *)PyType_FromModuleAndSpec(module, &net_spec, NULL);
    return state->net == NULL ? -1 : PyModule_AddType(module, state->net);
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->lexicon);
    Py_VISIT(state->net);
    return 0;
}

static int
module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->lexicon);
    Py_CLEAR(state->net);
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, module_fill}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "native", "The indexed engine's hot paths, compiled.", sizeof(State), methods, slots,
    module_traverse, module_clear, NULL,
};

PyMODINIT_FUNC
PyInit_native(void)
{
    return PyModuleDef_Init(&definition);
}
