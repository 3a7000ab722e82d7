/* What the indexed engine does most often, in C: texts looked up, postings walked, ranges compared, a batch at a time.
 *
 * Why C: of 100,000 subscriptions an event meets some thirty facts and a dozen candidates. Each of them costs the
 * interpreter a few hundred nanoseconds and the machine a few, so that four fifths of an event's time went into the
 * interpreter, and no other order of the same work made it decisively less. What is hot is small, touches rows of plain
 * numbers, and says the same as `attribute`, `sweep` and `row` beside it, which stand in wherever this is not compiled,
 * and take over every record that holds more than one plain text or number in an attribute that is asked for.
 *
 * Rules of these files: the stable interface of Python 3.11 and newer; every index is compared with the length of its
 * row before it is used; the interpreter's lock is given up only around `walk`, which touches no object of Python.
 */
#include "native.h"

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
