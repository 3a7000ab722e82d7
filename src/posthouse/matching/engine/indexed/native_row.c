/* Rows of numbers: those that grow while a batch is walked, and those of a plan, which are Python's. */
#include "native.h"

int
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

/* Take a view of an array; while it is held the array cannot be moved or made shorter. */
int
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

void
view_drop(View *view)
{
    /* Releasing what was never taken does nothing. */
    PyBuffer_Release(&view->buffer);
}

int
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


int
compare_u32(const void *one, const void *other)
{
    uint32_t left = *(const uint32_t *)one, right = *(const uint32_t *)other;
    return left < right ? -1 : left > right;
}
