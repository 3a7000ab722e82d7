/* The first way over a batch: the attributes of each record are read, and what holds of them is noted.
 *
 * A net holds what is asked of plain attributes, and views of the rows of numbers of a plan. `find` goes over a batch
 * three times: it reads the attributes and notes the facts, walks the postings without the interpreter's lock, and
 * looks for words in what is left.
 */
#include "native.h"

#define MOST_EXACT 9007199254740992LL /* 2**53: up to here a real number is every whole number */

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

int
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
int
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
