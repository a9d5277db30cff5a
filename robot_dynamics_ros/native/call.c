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

#include <numpy/arrayobject.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_VECTORS = 8, MOST_AXES = 3, MOST_ARGUMENTS = 8, MOST_WORDS = 128, CHAINS = 8 };

/* Largest difference of a squared norm from 1 at which a quaternion is certainly one. */
static const double UNIT_NORM = 1.9e-6;

static bool is_contiguous(PyObject *object, int type, int axes)
{
    PyArrayObject *array = (PyArrayObject *)object;
    return PyArray_CheckExact(object) && PyArray_NDIM(array) == axes && PyArray_TYPE(array) == type &&
           PyArray_ISCARRAY_RO(array);
}

/* ---------------------------------------------------------------------------------------------- calls for states */

/* Machine code: of each argument it has a word, an address or an integer, those of ``fixed`` arguments and of ``given``
 * ones. Code of one state returns whether all numbers are finite, if it checks that; so does that of ``count`` states in
 * whole blocks, whose results bypass the caches if ``streamed``. */
typedef npy_int64 (*Code)(const npy_int64 *fixed, const npy_int64 *given);
typedef npy_int64 (*BlocksCode)(const npy_int64 *given, npy_int64 count, npy_int64 streamed);

/* How states are computed, an array of integers that ``codegen.states_code`` makes: by steps, one state after the other,
 * and by code for blocks of ``lanes`` states, if there is some. Words are address, address of the fixed words, and first
 * argument of each step; then the base of each argument, a number of bytes for each, and the number of bytes from one state to the next. */
typedef struct {
    npy_int64 steps, arguments, blocks, lanes, word[];
} Program;
enum { GIVEN, RUNTIME, RESULT, VECTOR };

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
    long long most, left, held, streamed; /* numbers of states */
} StatesCall;

/* Compute states in rows at the addresses; return whether the code found all numbers finite. */
static bool run(double *const *vectors, const double *runtime_inputs, double *result, npy_int64 count,
                const Program *program, npy_int64 streamed)
{
    const npy_int64 arguments = program->arguments, *step = program->word, *of_base = step + 3 * program->steps;
    const npy_int64 *offset = of_base + arguments, *stride = offset + arguments;
    const npy_int64 base[VECTOR] = {0, (intptr_t)runtime_inputs, (intptr_t)result};
    npy_int64 places[MOST_WORDS];
    bool finite = true;
    for (npy_int64 k = 0; k < arguments; k++)
        places[k] = offset[k] + (of_base[k] < VECTOR ? base[of_base[k]] : (intptr_t)vectors[of_base[k] - VECTOR]);
    if (program->blocks && count >= program->lanes) {
        const npy_int64 whole = count & -program->lanes; /* a power of two */
        finite = ((BlocksCode)(intptr_t)program->blocks)(places, whole, streamed) != 0;
        for (npy_int64 k = 0; k < arguments; k++)
            places[k] += whole * stride[k];
        count -= whole;
    }
    while (count > 0) {
        for (npy_int64 k = 0; k < program->steps; k++)
            finite &= ((Code)(intptr_t)step[3 * k])((npy_int64 *)(intptr_t)step[3 * k + 1], places + step[3 * k + 2]) != 0;
        if (--count > 0)
            for (npy_int64 k = 0; k < arguments; k++)
                places[k] += stride[k];
    }
    return finite;
}

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

/* Compute all states; return whether all numbers are finite, and angles not too large. */
static bool compute(const StatesCall *self, double *const *vectors, const double *runtime_inputs, double *result,
                    npy_intp count)
{
    bool finite = run(vectors, runtime_inputs, result, count, self->program, count > self->streamed);
    if (self->checked) { /* here, and not by the code */
        finite = are_finite(result, count * self->size) && are_small_angles(self, vectors[0], count);
        for (Py_ssize_t k = 0; k < self->vectors; k++)
            finite &= are_finite(vectors[k], count * self->lengths[k]);
    }
    return finite;
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
    if (count > self->most || (self->left -= count) < 0)
        return NULL;

    /* arguments */
    double *data[MOST_VECTORS];
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

    PyThreadState *thread = count > self->held ? PyEval_SaveThread() : NULL;
    bool finite = compute(self, data, PyArray_DATA((PyArrayObject *)runtime_inputs), PyArray_DATA(result), count);
    if (thread)
        PyEval_RestoreThread(thread);
    if (finite)
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
    if (!PyArg_ParseTuple(arguments, "(OOOO)O(nn)pd(LLLL)O", &lengths, &shape, &quaternion, &angle, &words,
                          &self->inputs, &self->columns, &self->checked, &self->largest_angle, &self->most,
                          &self->left, &self->held, &self->streamed, &owner) ||
        !(self->lengths = integers(lengths, &self->vectors)) || !(self->shape = integers(shape, &self->axes)) ||
        !(self->quaternion = integers(quaternion, &self->quaternions)) ||
        !(self->angle = integers(angle, &self->angles)) ||
        !(self->program = (const Program *)integers(words, &number))) {
        Py_DECREF(self);
        return NULL;
    }
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

static PyMemberDef states_members[] = {
    {"most", T_LONGLONG, offsetof(StatesCall, most), 0, "Largest number of states of a call."},
    {"left", T_LONGLONG, offsetof(StatesCall, left), 0, "Number of states after which every call is refused."},
    {NULL, 0, 0, 0, NULL},
};

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
    .tp_members = states_members,
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

static PyMethodDef functions[] = {
    {"by_key", by_key, METH_VARARGS, NULL},
    {"bound", bound, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "call",
    .m_doc = "Calls from Python of machine code.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit_call(void)
{
    import_array();
    PyObject *made = PyModule_Create(&module), *address = PyLong_FromVoidPtr((void *)(uintptr_t)run);
    if (made && (PyModule_AddType(made, &StatesCallType) ||
                 PyModule_AddIntConstant(made, "MOST_WORDS", MOST_WORDS) ||
                 PyModule_AddObjectRef(made, "RUN", address)))
        Py_CLEAR(made);
    Py_XDECREF(address);
    return made;
}
