/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads object files of LLVM, which are compiled for the large code model: code refers to constants and functions by
 * their addresses, wherever these are. machine_code.pyi says what the class does.
 *
 * A file is in the ELF format of 64 bits. Memory is written first, and executable and read-only afterwards.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
    PyObject_HEAD
    char *memory; /* MAP_FAILED without any */
    uint64_t size;
    PyObject *addresses; /* of functions, by name */
} MachineCode;

/* Largest number of sections of a file. Code to jump to a function that is too far away for a call needs JUMP bytes. */
enum { MOST_SECTIONS = 64, JUMP = 16 };
/* Place of a section that is not loaded. */
static const uint64_t ABSENT = UINT64_MAX;

#if defined(__x86_64__)

enum { MACHINE = EM_X86_64 };

/* Write the address ``value`` at a place in code; return whether this kind of reference is known. */
static bool refer(char *place, uint32_t kind, uint64_t value, char *jump)
{
    int32_t distance = (int32_t)(value - (uintptr_t)place);
    (void)jump;
    switch (kind) {
    case R_X86_64_64:
        memcpy(place, &value, sizeof value);
        return true;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        memcpy(place, &distance, sizeof distance);
        return (uintptr_t)place + (uint64_t)(int64_t)distance == value;
    }
    return false;
}

#elif defined(__aarch64__)

enum { MACHINE = EM_AARCH64 };

static bool refer(char *place, uint32_t kind, uint64_t value, char *jump)
{
    static const uint32_t to_address[] = {0x58000050, 0xd61f0200}; /* ldr x16, what follows; br x16 */
    uint32_t instruction;
    memcpy(&instruction, place, sizeof instruction);
    if (kind == R_AARCH64_ABS64) {
        memcpy(place, &value, sizeof value);
        return true;
    }
    if (R_AARCH64_MOVW_UABS_G0 <= kind && kind <= R_AARCH64_MOVW_UABS_G3) {
        uint32_t bits = value >> 16 * ((kind - R_AARCH64_MOVW_UABS_G0) / 2) & 0xffff;
        instruction = (instruction & ~(0xffffu << 5)) | bits << 5;
    } else if (kind == R_AARCH64_CALL26 || kind == R_AARCH64_JUMP26) {
        memcpy(jump, to_address, sizeof to_address);
        memcpy(jump + sizeof to_address, &value, sizeof value);
        instruction = (instruction & 0xfc000000) | ((uintptr_t)(jump - place) >> 2 & 0x3ffffff);
    } else
        return false;
    memcpy(place, &instruction, sizeof instruction);
    return true;
}

#else
#error "code is made for x86-64 and ARM64"
#endif

/* An object file: headers of its sections, names, and where the sections are loaded. */
typedef struct {
    const char *data;
    uint64_t length;
    const Elf64_Shdr *section;
    uint64_t sections;
    uint64_t place[MOST_SECTIONS];
    const Elf64_Sym *symbol;
    uint64_t symbols;
    const char *section_names, *symbol_names;
} File;

/* Return a part of a file; NULL if it is not inside, or its address no multiple of ``alignment``. */
static const void *part(const File *file, uint64_t offset, uint64_t size, uint64_t alignment)
{
    const char *begin = file->data + offset;
    return offset <= file->length && size <= file->length - offset && (uintptr_t)begin % alignment == 0 ? begin : NULL;
}

/* Return the content of a section; NULL if it is not inside the file. */
static const void *content(const File *file, uint64_t k, uint64_t alignment)
{
    return k < file->sections ? part(file, file->section[k].sh_offset, file->section[k].sh_size, alignment) : NULL;
}

/* Read the headers; return whether this is an object file for this processor. */
static bool read_headers(File *file)
{
    const Elf64_Ehdr *head = part(file, 0, sizeof *head, 8);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_type != ET_REL || head->e_machine != MACHINE || head->e_shnum > MOST_SECTIONS)
        return false;
    file->sections = head->e_shnum;
    file->section = part(file, head->e_shoff, file->sections * sizeof *file->section, 8);
    if (!file->section)
        return false;
    file->section_names = content(file, head->e_shstrndx, 1);
    for (uint64_t k = 0; k < file->sections; k++)
        if (file->section[k].sh_type == SHT_SYMTAB) {
            file->symbol = content(file, k, 8);
            file->symbols = file->section[k].sh_size / sizeof *file->symbol;
            file->symbol_names = content(file, file->section[k].sh_link, 1);
        }
    return file->section_names && file->symbol && file->symbol_names;
}

/* Whether a section is code or constants. Tables for exceptions, which this code does not raise, are left out. */
static bool is_loaded(const File *file, const Elf64_Shdr *section)
{
    return section->sh_flags & SHF_ALLOC && section->sh_type == SHT_PROGBITS &&
           strcmp(file->section_names + section->sh_name, ".eh_frame") != 0;
}

/* Return the address of a symbol: of what is loaded, or of a function of this process; 0 if there is none. */
static uint64_t address_of(const File *file, const char *memory, const Elf64_Sym *symbol)
{
    if (symbol->st_shndx == SHN_UNDEF)
        return (uintptr_t)dlsym(RTLD_DEFAULT, file->symbol_names + symbol->st_name);
    bool loaded = symbol->st_shndx < file->sections && file->place[symbol->st_shndx] != ABSENT;
    return loaded ? (uintptr_t)memory + file->place[symbol->st_shndx] + symbol->st_value : 0;
}

/* Write the addresses to which section k refers; return whether all are known. */
static bool refer_all(const File *file, char *memory, char *jumps, uint64_t k)
{
    const Elf64_Shdr *section = file->section + k;
    const Elf64_Rela *reference = content(file, k, 8);
    if (section->sh_type != SHT_RELA || section->sh_info >= file->sections || file->place[section->sh_info] == ABSENT)
        return section->sh_type != SHT_REL;
    for (uint64_t count = section->sh_size / sizeof *reference; reference && count > 0; count--, reference++) {
        uint64_t symbol = ELF64_R_SYM(reference->r_info), address;
        if (symbol >= file->symbols || reference->r_offset + 8 > file->section[section->sh_info].sh_size ||
            !(address = address_of(file, memory, file->symbol + symbol)) ||
            !refer(memory + file->place[section->sh_info] + reference->r_offset, ELF64_R_TYPE(reference->r_info),
                   address + reference->r_addend, jumps + JUMP * symbol))
            return false;
    }
    return reference != NULL;
}

/* Load code and constants to new memory; return whether that was possible. */
static bool load(MachineCode *self, File *file)
{
    for (uint64_t k = 0; k < file->sections; k++) {
        const Elf64_Shdr *section = file->section + k;
        uint64_t alignment = section->sh_addralign ? section->sh_addralign : 1;
        file->place[k] = ABSENT;
        if (is_loaded(file, section)) {
            file->place[k] = (self->size + alignment - 1) / alignment * alignment;
            self->size = file->place[k] + section->sh_size;
        }
    }
    uint64_t jumps = (self->size + JUMP - 1) / JUMP * JUMP;
    self->size = jumps + JUMP * file->symbols;
    self->memory = mmap(NULL, self->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (self->memory == MAP_FAILED)
        return false;
    for (uint64_t k = 0; k < file->sections; k++)
        if (file->place[k] != ABSENT) {
            const void *bytes = content(file, k, 1);
            if (!bytes)
                return false;
            memcpy(self->memory + file->place[k], bytes, file->section[k].sh_size);
        }
    for (uint64_t k = 0; k < file->sections; k++)
        if (!refer_all(file, self->memory, self->memory + jumps, k))
            return false;
    __builtin___clear_cache(self->memory, self->memory + self->size);
    return mprotect(self->memory, self->size, PROT_READ | PROT_EXEC) == 0;
}

/* Fill the dictionary of addresses; return 0, or -1 with an error. */
static int list_functions(MachineCode *self, const File *file)
{
    for (uint64_t k = 0; k < file->symbols; k++) {
        const Elf64_Sym *symbol = file->symbol + k;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF)
            continue;
        PyObject *address = PyLong_FromUnsignedLongLong(address_of(file, self->memory, symbol));
        int failed = !address || PyDict_SetItemString(self->addresses, file->symbol_names + symbol->st_name, address);
        Py_XDECREF(address);
        if (failed)
            return -1;
    }
    return 0;
}

static void deallocate(PyObject *object)
{
    MachineCode *self = (MachineCode *)object;
    if (self->memory != MAP_FAILED)
        munmap(self->memory, self->size);
    Py_XDECREF(self->addresses);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *new_code(PyTypeObject *type, PyObject *arguments, PyObject *Py_UNUSED(names))
{
    PyObject *bytes;
    if (!PyArg_ParseTuple(arguments, "S", &bytes))
        return NULL;
    MachineCode *self = (MachineCode *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->memory = MAP_FAILED;
    File file = {.data = PyBytes_AS_STRING(bytes), .length = (uint64_t)PyBytes_GET_SIZE(bytes)};
    if (!(self->addresses = PyDict_New()))
        Py_CLEAR(self);
    else if (!read_headers(&file) || !load(self, &file)) {
        PyErr_SetString(PyExc_ValueError, "expected an object file of code and constants for this processor");
        Py_CLEAR(self);
    } else if (list_functions(self, &file))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *address(PyObject *self, PyObject *name)
{
    return PyObject_GetItem(((MachineCode *)self)->addresses, name);
}

static PyMethodDef methods[] = {
    {"address", address, METH_O, "Return the address of a function."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject MachineCodeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "robot_dynamics_ros.native.machine_code.MachineCode",
    .tp_basicsize = sizeof(MachineCode),
    .tp_new = new_code,
    .tp_dealloc = deallocate,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = methods,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "machine_code",
    .m_doc = "Machine code in memory.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit_machine_code(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddType(made, &MachineCodeType))
        Py_CLEAR(made);
    return made;
}
