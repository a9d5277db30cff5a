/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls from Python of the machine code of robots; call.pyi says what each class does.
 *
 * They check their arguments, make the result, release the interpreter's lock for long work, and call an address.
 */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>
#include <structmember.h>

#include <dlfcn.h>
#include <numpy/arrayobject.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "run.h"

enum { MOST_VECTORS = 8, MOST_AXES = 3, MOST_ARGUMENTS = 8, MOST_THREADS = 64, CHAINS = 8 };

/* Least number of states of a thread. Time of the AUBO-i5's inverse dynamics on two cores relative to one: 1.3 for two
 * parts of 4,000 states, 0.7 for two of 8,000 (waking a core takes 0.1 ms and more; 2026-11-20). */
enum { SMALLEST_PART = 8192 };

/* Largest difference of a squared norm from 1 at which a quaternion is certainly one. */
static const double UNIT_NORM = 1.9e-6;

static bool is_contiguous(PyObject *object, int type, int axes)
{
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_CheckExact(object) && PyArray_NDIM(array) == axes && PyArray_TYPE(array) == type &&
           PyArray_ISCARRAY_RO(array);
}

/* ---------------------------------------------------------------------------------------------- calls for states */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *weak_references;
    PyObject *owner; /* what it is made from, a tuple: no other reference is its own */
    const Program *program;
    Py_ssize_t vectors, quaternions, angles;
    npy_intp axes, size, inputs, columns;
    const npy_int64 *lengths, *shape, *quaternion, *angle; /* of the vectors, of the result; places in vector 0 */
    double largest_angle;
    int checked;
    long long most, held, streamed; /* numbers of states */
    int threads;
} StatesCall;

static bool are_finite(const double *numbers, npy_intp count)
{
    /* the sum of number * 0: 0 if all are finite, else NaN */
    double sums[CHAINS] = {0.0}, sum = 0.0;
    npy_intp k = 0;
    for (; k + CHAINS <= count; k += CHAINS)
        for (int chain = 0; chain < CHAINS; chain++)
            sums[chain] += numbers[k + chain] * 0.0;
    for (; k < count; k++)
        sum += numbers[k] * 0.0;
    for (int chain = 0; chain < CHAINS; chain++)
        sum += sums[chain];
    return sum == 0.0;
}

static bool are_unit_quaternions(const StatesCall *self, const double *q, npy_intp count)
{
    for (npy_intp b = 0; b < count; b++, q += self->lengths[0])
        for (Py_ssize_t k = 0; k < self->quaternions; k++) {
            const double *e = q + self->quaternion[k];
            double error = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] - 1.0;
            if (!(-UNIT_NORM <= error && error <= UNIT_NORM))
                return false;
        }
    return true;
}

static bool are_small_angles(const StatesCall *self, const double *q, npy_intp count)
{
    for (npy_intp b = 0; b < count; b++, q += self->lengths[0])
        for (Py_ssize_t k = 0; k < self->angles; k++)
            if (!(-self->largest_angle < q[self->angle[k]] && q[self->angle[k]] < self->largest_angle))
                return false;
    return true;
}

/* States in rows at these addresses, and whether all numbers are finite and angles not too large. */
typedef struct {
    const StatesCall *call;
    double *vectors[MOST_VECTORS];
    const double *runtime_inputs;
    double *result;
    npy_intp count;
    bool streamed, finite;
} States;

static void compute(States *self)
{
    const StatesCall *call = self->call;
    self->finite = run(self->vectors, self->runtime_inputs, self->result, self->count, call->program, self->streamed);
    if (call->checked) { /* here, and not by the code */
        self->finite = are_finite(self->result, self->count * call->size) &&
                       are_small_angles(call, self->vectors[0], self->count);
        for (Py_ssize_t k = 0; k < call->vectors; k++)
            self->finite &= are_finite(self->vectors[k], self->count * call->lengths[k]);
    }
}

static void *compute_part(void *states)
{
    compute(states);
    return NULL;
}

/* Compute all states, large parts of whole blocks by a thread each; what no thread can be made for is computed here. */
static void compute_in_parts(States *self)
{
    const StatesCall *call = self->call;
    const npy_intp most = self->count / SMALLEST_PART;
    const int parts = most < 1 ? 1 : most < call->threads ? (int)most : call->threads;
    States of_part[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    bool runs[MOST_THREADS] = {false};
    npy_intp first = 0;
    for (int p = 0; p < parts; p++) {
        const npy_intp end = p + 1 < parts ? self->count * (p + 1) / parts & -call->program->lanes : self->count;
        of_part[p] = *self;
        for (Py_ssize_t k = 0; k < call->vectors; k++)
            of_part[p].vectors[k] += first * call->lengths[k];
        of_part[p].result += first * call->size;
        of_part[p].count = end - first;
        first = end;
        runs[p] = p > 0 && !pthread_create(thread + p, NULL, compute_part, of_part + p);
    }
    for (int p = 0; p < parts; p++)
        if (!runs[p])
            compute(of_part + p);
    self->finite = true;
    for (int p = 0; p < parts; p++) {
        if (runs[p])
            pthread_join(thread[p], NULL);
        self->finite &= of_part[p].finite;
    }
}

/* Return whether an array has vector k of one state or of a batch; the last one may have a second axis. */
static bool is_vector(const StatesCall *self, Py_ssize_t k, PyObject *object, int batch, npy_intp count)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (is_contiguous(object, NPY_DOUBLE, batch + 1))
        return PyArray_DIM(array, batch) == self->lengths[k] && (!batch || PyArray_DIM(array, 0) == count);
    return self->columns && k == self->vectors - 1 && is_contiguous(object, NPY_DOUBLE, batch + 2) &&
           PyArray_DIM(array, batch + 1) == self->columns &&
           PyArray_DIM(array, batch) * self->columns == self->lengths[k] && (!batch || PyArray_DIM(array, 0) == count);
}

/* Return the result, None if some number is not finite, or NULL without an error if the arguments are refused. */
static PyObject *computed(StatesCall *self, PyObject *const *arguments, Py_ssize_t vectors, PyObject *runtime_inputs,
                          PyObject *out)
{
    /* number of states */
    PyArrayObject *first = (PyArrayObject *)arguments[0];
    if (vectors != self->vectors || !PyArray_CheckExact(arguments[0]))
        return NULL;
    int batch = PyArray_NDIM(first) - 1;
    if (batch < 0 || batch > 1)
        return NULL;
    npy_intp count = batch ? PyArray_DIM(first, 0) : 1;
    if (count > self->most)
        return NULL;

    /* arguments */
    States states;
    double **data = states.vectors;
    for (Py_ssize_t k = 0; k < vectors; k++) {
        if (!is_vector(self, k, arguments[k], batch, count))
            return NULL;
        data[k] = PyArray_DATA((PyArrayObject *)arguments[k]);
    }
    if (!is_contiguous(runtime_inputs, NPY_DOUBLE, 1) ||
        PyArray_DIM((PyArrayObject *)runtime_inputs, 0) != self->inputs ||
        !are_unit_quaternions(self, data[0], count))
        return NULL;

    /* result: a new array, or ``out`` unless it overlaps a vector, whose NaN could be overwritten unseen */
    int axes = (int)self->axes + batch;
    npy_intp shape[1 + MOST_AXES] = {count};
    for (npy_intp k = 0; k < self->axes; k++)
        shape[batch + k] = (npy_intp)self->shape[k];
    PyArrayObject *result = (PyArrayObject *)out;
    if (out != Py_None) {
        if (!is_contiguous(out, NPY_DOUBLE, axes) || !PyArray_ISWRITEABLE(result) ||
            !PyArray_CompareLists(PyArray_DIMS(result), shape, axes))
            return NULL;
        const double *begin = PyArray_DATA(result), *end = begin + count * self->size;
        for (Py_ssize_t k = 0; k < vectors; k++)
            if (begin < data[k] + count * self->lengths[k] && data[k] < end)
                return NULL;
        Py_INCREF(out);
    } else if (!(result = (PyArrayObject *)PyArray_SimpleNew(axes, shape, NPY_DOUBLE))) {
        PyErr_Clear(); /* no memory: who computes instead raises the error */
        return NULL;
    }

    states.call = self;
    states.count = count;
    states.streamed = count > self->streamed;
    states.runtime_inputs = PyArray_DATA((PyArrayObject *)runtime_inputs);
    states.result = PyArray_DATA(result);
    if (count <= self->held)
        compute(&states);
    else {
        PyThreadState *thread = PyEval_SaveThread();
        compute_in_parts(&states);
        PyEval_RestoreThread(thread);
    }
    if (states.finite)
        return (PyObject *)result;
    Py_DECREF(result);
    Py_RETURN_NONE;
}

static PyObject *states_call(PyObject *self, PyObject *const *arguments, size_t flags, PyObject *names)
{
    Py_ssize_t vectors = PyVectorcall_NARGS(flags) - 2;
    PyObject *result = NULL;
    if (vectors > 0 && !names)
        result = computed((StatesCall *)self, arguments, vectors, arguments[vectors], arguments[vectors + 1]);
    if (!result)
        PyErr_SetString(PyExc_TypeError, "expected C-contiguous float64 arrays that do not overlap, of the shapes of "
                                         "one state or of a batch");
    return result;
}

/* Return the integers of an array, whose number is stored; NULL with an error for another object. */
static const npy_int64 *integers(PyObject *array, Py_ssize_t *number)
{
    if (!is_contiguous(array, NPY_INT64, 1)) {
        PyErr_SetString(PyExc_TypeError, "expected a C-contiguous array of int64");
        return NULL;
    }
    *number = PyArray_DIM((PyArrayObject *)array, 0);
    return PyArray_DATA((PyArrayObject *)array);
}

static int visit_owner(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((StatesCall *)self)->owner);
    return 0;
}

static void deallocate(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    PyObject_ClearWeakRefs(self);
    Py_DECREF(((StatesCall *)self)->owner);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *states_new(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(names))
{
    StatesCall *self = (StatesCall *)type->tp_alloc(type, 0);
    PyObject *lengths, *shape, *quaternion, *angle, *words, *owner;
    Py_ssize_t number;
    if (!self)
        return NULL;
    self->call = states_call;
    self->owner = arguments;
    Py_INCREF(arguments);
    if (!PyArg_ParseTuple(arguments, "(OOOO)O(nn)pd(LLL)iO", &lengths, &shape, &quaternion, &angle, &words,
                          &self->inputs, &self->columns, &self->checked, &self->largest_angle, &self->most,
                          &self->held, &self->streamed, &self->threads, &owner) ||
        !(self->lengths = integers(lengths, &self->vectors)) || !(self->shape = integers(shape, &self->axes)) ||
        !(self->quaternion = integers(quaternion, &self->quaternions)) ||
        !(self->angle = integers(angle, &self->angles)) ||
        !(self->program = (const Program *)integers(words, &number))) {
        Py_DECREF(self);
        return NULL;
    }
    self->threads = self->threads < MOST_THREADS ? self->threads : MOST_THREADS;
    if (self->vectors > MOST_VECTORS || self->axes > MOST_AXES) {
        PyErr_Format(PyExc_ValueError, "expected at most %d vectors and %d axes", MOST_VECTORS, MOST_AXES);
        Py_DECREF(self);
        return NULL;
    }
    self->size = 1;
    for (Py_ssize_t k = 0; k < self->axes; k++)
        self->size *= self->shape[k];
    return (PyObject *)self;
}

static PyTypeObject StatesCallType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "robot_dynamics_ros.native.call.StatesCall",
    .tp_basicsize = sizeof(StatesCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = states_new,
    .tp_dealloc = deallocate,
    .tp_traverse = visit_owner,
    .tp_weaklistoffset = offsetof(StatesCall, weak_references),
    .tp_vectorcall_offset = offsetof(StatesCall, call),
    .tp_call = PyVectorcall_Call,
};

/* --------------------------------------------------------------------------------------------- calls by their key */

/* Evaluate a quantity by its key; ``self`` is the tuple of calls, calls of frames, and who computes otherwise. */
static PyObject *evaluate(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *calls = PyTuple_GET_ITEM(self, 0), *of_frames = PyTuple_GET_ITEM(self, 1);
    Py_ssize_t vectors = count - 3, first = 0;
    PyObject *call = NULL, *given[MOST_VECTORS], *frame, *of_frame;
    if (vectors > 0 && vectors <= MOST_VECTORS) {
        memcpy(given, arguments + 3, vectors * sizeof *given);
        PyObject **last = given + vectors - 1;
        if (!PyDict_CheckExact(*last))
            call = PyDict_GetItemWithError(calls, arguments[0]);
        else if (PyDict_GET_SIZE(*last) == 1 && (of_frame = PyDict_GetItemWithError(of_frames, arguments[0])) &&
                 PyDict_CheckExact(of_frame) && PyDict_Next(*last, &first, &frame, last))
            call = PyDict_GetItemWithError(of_frame, frame);
    }
    if (call && Py_IS_TYPE(call, &StatesCallType)) {
        Py_INCREF(call); /* another thread may replace it while the lock is released */
        PyObject *result = computed((StatesCall *)call, given, vectors, arguments[1], arguments[2]);
        Py_DECREF(call);
        if (result && result != Py_None)
            return result;
        Py_XDECREF(result);
    }
    PyErr_Clear(); /* of a key that cannot be hashed */
    return PyObject_Vectorcall(PyTuple_GET_ITEM(self, 2), arguments, count, NULL);
}

static PyMethodDef evaluate_method = {"evaluate", (PyCFunction)(void (*)(void))evaluate, METH_FASTCALL, NULL};

static PyObject *by_key(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *calls, *of_frames, *otherwise;
    if (!PyArg_ParseTuple(arguments, "O!O!O", &PyDict_Type, &calls, &PyDict_Type, &of_frames, &otherwise))
        return NULL;
    return PyCFunction_New(&evaluate_method, arguments);
}

/* ------------------------------------------------------------------------- calls of a function with arguments */

/* Write the words of an argument like ``example``: address and lengths, or the number. Return their number, or 0 if it
 * does not fit. */
static int words_of(PyObject *argument, PyObject *example, npy_int64 *words)
{
    if (PyArray_Check(example)) {
        PyArrayObject *like = (PyArrayObject *)example, *array = (PyArrayObject *)argument;
        int axes = PyArray_NDIM(like);
        if (!is_contiguous(argument, PyArray_TYPE(like), axes))
            return 0;
        words[0] = (npy_int64)(intptr_t)PyArray_DATA(array);
        for (int k = 0; k < axes; k++) {
            words[1 + k] = PyArray_DIM(array, k);
            if (PyArray_DIM(like, k) && PyArray_DIM(like, k) != words[1 + k])
                return 0;
        }
        return 1 + axes;
    }
    if (PyBytes_CheckExact(example)) {
        if (!PyBytes_CheckExact(argument))
            return 0;
        words[0] = (npy_int64)(intptr_t)PyBytes_AS_STRING(argument);
        words[1] = PyBytes_GET_SIZE(argument);
        return 2;
    }
    if (PyFloat_CheckExact(example)) {
        double number = PyFloat_AsDouble(argument);
        memcpy(words, &number, sizeof number);
        return !(number == -1.0 && PyErr_Occurred());
    }
    words[0] = PyLong_AsLongLong(argument);
    return !(words[0] == -1 && PyErr_Occurred());
}

/* Call a compiled function; ``self`` are the arguments of ``bound``, a tuple. */
static PyObject *bound_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    const npy_int64 *fixed = PyArray_DATA((PyArrayObject *)PyTuple_GET_ITEM(self, 0));
    const Code function = (Code)(intptr_t)fixed[0];
    PyObject *examples = PyTuple_GET_ITEM(self, 1), *returned = PyTuple_GET_ITEM(self, 2);
    npy_int64 words[MOST_ARGUMENTS * (1 + MOST_AXES)], value;
    int written = count == PyTuple_GET_SIZE(examples), place = 0;
    for (Py_ssize_t k = 0; written && k < count; k++) {
        written = words_of(arguments[k], PyTuple_GET_ITEM(examples, k), words + place);
        place += written;
    }
    if (!written) {
        if (!PyErr_Occurred())
            PyErr_SetObject(PyExc_TypeError, PyTuple_GET_ITEM(self, 3));
        return NULL;
    }
    if (PyTuple_GET_ITEM(self, 4) == Py_True) {
        Py_BEGIN_ALLOW_THREADS;
        value = function(fixed + 1, words);
        Py_END_ALLOW_THREADS;
    } else
        value = function(fixed + 1, words);
    if (returned == (PyObject *)&PyLong_Type)
        return PyLong_FromLongLong(value);
    if (returned == (PyObject *)&PyBool_Type)
        return PyBool_FromLong(value != 0);
    Py_RETURN_NONE;
}

static PyMethodDef bound_method = {"call", (PyCFunction)(void (*)(void))bound_call, METH_FASTCALL, NULL};

static PyObject *bound(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *words, *examples, *returned, *refusal, *nogil, *owner;
    Py_ssize_t number;
    if (!PyArg_ParseTuple(arguments, "OO!OO!O!O", &words, &PyTuple_Type, &examples, &returned, &PyUnicode_Type,
                          &refusal, &PyBool_Type, &nogil, &owner) ||
        !integers(words, &number))
        return NULL;
    if (PyTuple_GET_SIZE(examples) > MOST_ARGUMENTS)
        return PyErr_Format(PyExc_ValueError, "expected at most %d arguments", MOST_ARGUMENTS);
    return PyCFunction_New(&bound_method, arguments);
}

/* --------------------------------------------------------------------------------------- functions of the library */

/* The level of the library's code that this processor can run. */
static int level(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}

/* Return the functions of a library by their names; it is never unloaded. */
static PyObject *functions(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const char *path;
    int of_level;
    if (!PyArg_ParseTuple(arguments, "si", &path, &of_level))
        return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const Function *function = library ? dlsym(library, "robot_dynamics_ros_functions") : NULL;
    if (!function)
        return PyErr_Format(PyExc_ImportError, "%s", dlerror());
    PyObject *found = PyDict_New();
    for (; found && function->name; function++) {
        PyObject *value = Py_BuildValue("(sL)", function->digest, (long long)(intptr_t)function->code[of_level]);
        if (!value || PyDict_SetItemString(found, function->name, value))
            Py_CLEAR(found);
        Py_XDECREF(value);
    }
    return found;
}

static PyMethodDef methods[] = {
    {"by_key", by_key, METH_VARARGS, NULL},
    {"bound", bound, METH_VARARGS, NULL},
    {"functions", functions, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "call",
    .m_doc = "Calls from Python of machine code.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_call(void)
{
    import_array();
    PyObject *made = PyModule_Create(&module), *address = PyLong_FromVoidPtr((void *)(uintptr_t)run);
    if (made && (PyModule_AddType(made, &StatesCallType) ||
                 PyModule_AddIntConstant(made, "MOST_WORDS", MOST_WORDS) ||
                 PyModule_AddIntConstant(made, "LEVEL", level()) ||
                 PyModule_AddObjectRef(made, "RUN", address)))
        Py_CLEAR(made);
    Py_XDECREF(address);
    return made;
}
