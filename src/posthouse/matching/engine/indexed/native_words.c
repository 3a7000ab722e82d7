/* Words of bytes, each with the facts it stands for.
 *
 * Each word is filed under its length and a polynomial hash, which of any stretch of a text is one multiplication. A
 * text costs its length times the number of lengths that words beginning as it does there have: however many words
 * share a beginning, none is compared unless its whole hash is the same. What begins with which four bytes is a filter.
 */
#include "native.h"

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

static int
take_all(const Lexicon *lexicon, const Word *word, Take take, void *context)
{
    for (uint32_t at = 0; at < word->count; at++)
        if (take(context, lexicon->facts_at[word->facts + at]) < 0)
            return -1;
    return 0;
}

int
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

int
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

int
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
    qsort(lexicon->lengths, count, sizeof *lexicon->lengths, compare_u32);
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
                                  compare_u32);
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

PyType_Spec lexicon_spec = {
    "posthouse.matching.engine.indexed.native.Lexicon", sizeof(Lexicon), 0, Py_TPFLAGS_DEFAULT, lexicon_slots,
};
