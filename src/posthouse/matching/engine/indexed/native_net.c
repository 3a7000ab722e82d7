/* Making a net: what Python hands over is taken apart, and what is not as it should be is refused. */
#include "native.h"

static const size_t SIZES[VIEWS] = {8, 1, 4, 4, 4, 4, 4, 4, 2, 8, 8, 4, 2, 4, 4};

static PyObject *
none_is_null(PyObject *object)
{
    return object == Py_None ? NULL : Py_NewRef(object);
}

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

PyObject *
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

void
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

PyType_Spec net_spec = {
    "posthouse.matching.engine.indexed.native.Net", sizeof(Net), 0, Py_TPFLAGS_DEFAULT, net_slots,
};
