/* The third way over a batch, and all three in their order: words are looked for in what is left, and hits are told. */
#include "native.h"

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

PyObject *
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
PyObject *
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
