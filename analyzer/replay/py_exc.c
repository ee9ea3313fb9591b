#include <stdio.h>
#include <string.h>

#include "analyzer/replay/py.h"

static struct val exc_new(struct vm *vm, struct cls *cls, struct val args) /* takes args */
{
	struct obj *o = rp_new(vm, K_INSTANCE, cls, sizeof(*o));

	dict_put_str(vm, attrs_of(vm, o), vm->n[PN_args], args);
	unref(vm, args);
	return val_obj(o);
}

static void exc_set_context(struct vm *vm, struct val exc)
{
	struct frame *f = vm->frame;

	if (!f || f->handled.tag != PY_OBJECT || f->handled.as.o == exc.as.o)
		return;
	if (!exc.as.o->attrs || is_null(dict_get_str(vm, exc.as.o->attrs, vm->n[PN_context])))
		dict_put_str(vm, attrs_of(vm, exc.as.o), vm->n[PN_context], f->handled);
}

struct val rp_raise_val(struct vm *vm, struct val exc)
{
	exc_set_context(vm, exc);
	slot_set(vm, &vm->exc, exc);
	return val_null();
}

struct val rp_raise(struct vm *vm, enum rp_type type, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	struct val args, message;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	message = val_str(vm, text);
	args = tuple_of(vm, &message, *text ? 1 : 0);
	unref(vm, message);
	return rp_raise_val(vm, exc_new(vm, vm->t[type], args));
}

struct val rp_raise_key(struct vm *vm, struct val key)
{
	return rp_raise_val(vm, exc_new(vm, vm->t[TY_KeyError], tuple_of(vm, &key, 1)));
}

bool exc_is(struct vm *vm, enum rp_type type)
{
	return vm->exc.tag == PY_OBJECT && cls_is(vm->exc.as.o->cls, vm->t[type]);
}

struct val exc_take(struct vm *vm)
{
	struct val exc = vm->exc;

	vm->exc = val_null();
	return exc;
}

void exc_clear(struct vm *vm)
{
	unref(vm, exc_take(vm));
}

struct val exc_normalize(struct vm *vm, struct val v)
{
	if (is_kind(v, K_CLASS) && (AS(cls, v)->flags & CLS_EXCEPTION))
		return instantiate(vm, AS(cls, v), NULL, 0, NULL);
	if (v.tag == PY_OBJECT && v.as.o->cls && (v.as.o->cls->flags & CLS_EXCEPTION))
		return ref(v);
	if (is_kind(v, K_UNKNOWN) || (is_kind(v, K_CLASS) && (AS(cls, v)->flags & CLS_OPAQUE)))
		return exc_new(vm, vm->t[TY_Exception], tuple_of(vm, &v, 1));
	return rp_raise(vm, TY_TypeError, "exceptions must derive from BaseException");
}

/* The traceback keeps the frame, and the frame its variables. */
void exc_add_frame(struct vm *vm, struct frame *frame)
{
	struct dict *attrs;
	struct val frames;

	if (vm->exc.tag != PY_OBJECT)
		return;
	attrs = attrs_of(vm, vm->exc.as.o);
	frames = dict_get_str(vm, attrs, vm->n[PN_tb_frames]);
	if (is_null(frames)) {
		frames = val_obj(list_new(vm, 1));
		dict_put_str(vm, attrs, vm->n[PN_tb_frames], frames);
		unref(vm, frames);
	}
	if (AS(list, frames)->count &&
	    AS(list, frames)->at[AS(list, frames)->count - 1].as.o == &frame->h)
		return;
	if (AS(list, frames)->count < 64)
		list_push(vm, AS(list, frames), ref_obj(frame));
}

static void print_frame(const struct frame *f, struct text *out)
{
	text_print(out, "  File \"%s\", line %u, in %s\n", code_file(f->code), f->line,
	           code_name(f->code));
}

void exc_print(struct vm *vm, struct val exc, struct text *out)
{
	struct val frames = val_null(), pending;
	size_t mark;

	if (exc.tag != PY_OBJECT)
		return;
	if (exc.as.o->attrs)
		frames = dict_get_str(vm, exc.as.o->attrs, vm->n[PN_tb_frames]);
	if (is_kind(frames, K_LIST)) {
		text_add_chars(out, "Traceback (most recent call last):\n");
		for (uint32_t i = AS(list, frames)->count; i-- > 0;)
			print_frame(AS(frame, AS(list, frames)->at[i]), out);
	}
	text_add_chars(out, exc.as.o->cls->name->at);
	mark = out->length;
	text_add_chars(out, ": ");
	/* It may be the pending one itself: what is called now starts without. */
	pending = exc_take(vm);
	if (!str_into(vm, exc, out))
		exc_clear(vm);
	vm->exc = pending;
	if (out->length == mark + 2)
		text_cut(out, mark);
}

int exc_matches(struct vm *vm, struct val exc, struct val type)
{
	if (is_kind(type, K_TUPLE)) {
		for (uint32_t i = 0; i < AS(list, type)->count; i++)
			if (exc_matches(vm, exc, AS(list, type)->at[i]))
				return 1;
		return 0;
	}
	if (is_kind(type, K_UNKNOWN))
		return 0;
	if (!is_kind(type, K_CLASS)) {
		rp_raise(vm, TY_TypeError,
		         "catching classes that do not inherit from "
		         "BaseException is not allowed");
		return -1;
	}
	return exc.tag == PY_OBJECT && exc.as.o->cls && cls_is(exc.as.o->cls, AS(cls, type));
}

/* --- methods */

static struct val exception_new(struct vm *vm, struct val *a, uint32_t n)
{
	if (!n || !is_kind(a[0], K_CLASS))
		return rp_raise(vm, TY_TypeError, "BaseException.__new__(): not enough arguments");
	return exc_new(vm, AS(cls, a[0]), tuple_of(vm, a + 1, n - 1));
}

static struct val exception_init(struct vm *vm, struct val *a, uint32_t n)
{
	struct val args = tuple_of(vm, a + 1, n - 1);

	dict_put_str(vm, attrs_of(vm, a[0].as.o), vm->n[PN_args], args);
	unref(vm, args);
	if (cls_is(a[0].as.o->cls, vm->t[TY_StopIteration]) ||
	    cls_is(a[0].as.o->cls, vm->t[TY_SystemExit]))
		dict_put_str(vm, a[0].as.o->attrs,
		             cls_is(a[0].as.o->cls, vm->t[TY_SystemExit])
		                     ? str_intern(vm, "code", 4)
		                     : vm->n[PN_value],
		             n > 1 ? a[1] : val_none());
	return val_none();
}

static struct list *exc_args(struct vm *vm, struct val e)
{
	struct val args =
	        e.as.o->attrs ? dict_get_str(vm, e.as.o->attrs, vm->n[PN_args]) : val_null();

	return is_kind(args, K_TUPLE) ? AS(list, args) : NULL;
}

/* Number, message and perhaps a file. */
static struct val os_error_str(struct vm *vm, struct list *args)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result = val_null();

	text_add_chars(&text, "[Errno ");
	if (str_into(vm, args->at[0], &text)) {
		text_add_chars(&text, "] ");
		str_into(vm, args->at[1], &text);
	}
	if (args->count > 2 && is_null(vm->exc)) {
		text_add_chars(&text, ": ");
		repr_into(vm, args->at[2], &text);
	}
	if (is_null(vm->exc))
		result = val_text(vm, &text);
	arena_release(&scratch);
	return result;
}

static struct val exception_str(struct vm *vm, struct val *a, uint32_t n)
{
	struct list *args = exc_args(vm, a[0]);

	(void)n;
	if (!args || !args->count)
		return val_str(vm, "");
	if (args->count > 1 && cls_is(a[0].as.o->cls, vm->t[TY_OSError]))
		return os_error_str(vm, args);
	if (args->count > 1)
		return rp_repr(vm, val_obj(args));
	if (cls_is(a[0].as.o->cls, vm->t[TY_KeyError]))
		return rp_repr(vm, args->at[0]);
	return rp_str(vm, args->at[0]);
}

static struct val exception_repr(struct vm *vm, struct val *a, uint32_t n)
{
	struct list *args = exc_args(vm, a[0]);
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result;

	(void)n;
	text_add_chars(&text, a[0].as.o->cls->name->at);
	text_add_char(&text, '(');
	for (uint32_t i = 0; args && i < args->count; i++) {
		if (i)
			text_add_chars(&text, ", ");
		repr_into(vm, args->at[i], &text);
	}
	text_add_char(&text, ')');
	result = val_text(vm, &text);
	arena_release(&scratch);
	return result;
}

static struct val exception_with_traceback(struct vm *vm, struct val *a, uint32_t n)
{
	(void)n;
	if (is_none(a[1]) && a[0].as.o->attrs)
		dict_remove(vm, a[0].as.o->attrs, val_obj(vm->n[PN_tb_frames]), NULL);
	return ref(a[0]);
}

static struct val exception_add_note(struct vm *vm, struct val *a, uint32_t n)
{
	struct dict *attrs = attrs_of(vm, a[0].as.o);
	struct str *name = str_intern(vm, "__notes__", 9);
	struct val notes = dict_get_str(vm, attrs, name);

	(void)n;
	if (!is_kind(notes, K_LIST)) {
		notes = val_obj(list_new(vm, 1));
		dict_put_str(vm, attrs, name, notes);
		unref(vm, notes);
	}
	list_push(vm, AS(list, notes), ref(a[1]));
	return val_none();
}

const struct native_def exception_methods[] = {
        {"__new__", exception_new, NULL},
        {"__init__", exception_init, NULL},
        {"__str__", exception_str, "self"},
        {"__repr__", exception_repr, "self"},
        {"with_traceback", exception_with_traceback, "self tb"},
        {"add_note", exception_add_note, "self note"},
        {0},
};

void exc_init_types(struct vm *vm)
{
	for (int i = TY_BaseException; i < TY_COUNT; i++)
		vm->t[i]->flags |= CLS_EXCEPTION;
	type_add(vm, vm->t[TY_BaseException], exception_methods);
}
