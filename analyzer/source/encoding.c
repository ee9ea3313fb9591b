#include "analyzer/source/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <string.h>

enum { ENCODING_NAME_LENGTH = 40, ENCODING_LINES = 2 };

static const char utf_8[] = "utf-8";

/* Which encoding */

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

/* The name after "coding:" or "coding=" on a comment line; 0: there is none. */
static size_t declared_name(const char *line, size_t length, const char **name)
{
	static const char word[] = "coding";
	size_t at = 0, end;

	while (at < length && (line[at] == ' ' || line[at] == '\t' || line[at] == '\f'))
		at++;
	if (at == length || line[at] != '#')
		return 0;
	for (; at + sizeof(word) <= length; at++) {
		if (memcmp(line + at, word, sizeof(word) - 1) != 0)
			continue;
		end = at + sizeof(word) - 1;
		if (line[end] != ':' && line[end] != '=')
			continue;
		end++;
		while (end < length && (line[end] == ' ' || line[end] == '\t'))
			end++;
		*name = line + end;
		while (end < length && is_name_byte(line[end]))
			end++;
		return (size_t)(line + end - *name);
	}
	return 0;
}

static bool is_blank_or_comment(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (line[i] == '#')
			return true;
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\f')
			return false;
	}
	return true;
}

static size_t line_length(const char *bytes, size_t size)
{
	size_t length = 0;

	while (length < size && bytes[length] != '\n' && bytes[length] != '\r')
		length++;
	return length;
}

static size_t find_declared(const char *bytes, size_t size, const char **name)
{
	size_t at = 0;

	for (int i = 0; i < ENCODING_LINES && at < size; i++) {
		size_t length = line_length(bytes + at, size - at);
		size_t found = declared_name(bytes + at, length, name);

		if (found || !is_blank_or_comment(bytes + at, length))
			return found;
		at += length;
		if (at + 1 < size && bytes[at] == '\r' && bytes[at + 1] == '\n')
			at++;
		at++;
	}
	return 0;
}

/* Is `name` this word, or this word with more after a hyphen? */
static bool is_variant(const char *name, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(name, word, length) && (!name[length] || name[length] == '-');
}

static const char *iconv_name(struct arena *arena, const char *declared, size_t length)
{
	static const struct {
		const char *declared;
		const char *iconv;
	} names[] = {
#define ENCODING(declared, iconv) {declared, iconv},
#include "analyzer/source/encodings.def"
#undef ENCODING
	};
	char *name = arena_text(arena, declared, length);

	for (size_t i = 0; i < length; i++) {
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] = (char)(name[i] - 'A' + 'a');
		else if (name[i] == '_')
			name[i] = '-';
	}
	/* A comment that could be read as ASCII is not in one of the wide ones. */
	if (is_variant(name, "utf-8") || is_variant(name, "utf-16") || is_variant(name, "utf-32"))
		return utf_8;
	if (is_variant(name, "latin-1") || is_variant(name, "iso-8859-1") ||
	    is_variant(name, "iso-latin-1"))
		return "ISO-8859-1";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].declared, name))
			return names[i].iconv[0] == 'u' ? utf_8 : names[i].iconv;
	return name;
}

static size_t byte_order_mark(const char *bytes, size_t size, const char **encoding)
{
	static const struct {
		const char *mark;
		size_t length;
		const char *encoding;
	} marks[] = {
	        {"\xef\xbb\xbf", 3, utf_8},      {"\xff\xfe\0\0", 4, "UTF-32LE"},
	        {"\0\0\xfe\xff", 4, "UTF-32BE"}, {"\xff\xfe", 2, "UTF-16LE"},
	        {"\xfe\xff", 2, "UTF-16BE"},
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (size >= marks[i].length && !memcmp(bytes, marks[i].mark, marks[i].length)) {
			*encoding = marks[i].encoding;
			return marks[i].length;
		}
	}
	return 0;
}

/* Decoding */

static void add_note(struct arena *arena, struct source *source, struct span span,
                     const char *message)
{
	vec_push(arena, &source->notes, (struct source_note){span, message});
}

static void add_damaged_byte(struct arena *arena, struct source *source, struct text *out,
                             uint32_t byte)
{
	vec_push(arena, &source->damage, (struct source_damage){(uint32_t)out->length, byte});
	text_add_code_point(out, 0xfffd);
}

static void note_damage(struct arena *arena, struct source *source)
{
	struct text message = {.arena = arena};
	uint32_t count = source->damage.count;
	uint32_t at;

	if (!count)
		return;
	at = source->damage.at[0].offset;
	text_print(&message, "%u byte%s %s not %s", count, count == 1 ? "" : "s",
	           count == 1 ? "is" : "are",
	           !strcmp(source->encoding, utf_8) ? "UTF-8" : source->encoding);
	add_note(arena, source, (struct span){at, at + 3}, message.at);
}

static void take_text(struct source *source, const struct text *text)
{
	source->text = text_chars(text);
	source->length = (uint32_t)text->length;
}

static void decode_utf8(struct arena *arena, struct source *source, const char *bytes, size_t size)
{
	size_t valid = utf8_valid_length(bytes, size);
	struct text out = {.arena = arena};

	if (valid == size) {
		source->text = bytes;
		source->length = (uint32_t)size;
		return;
	}
	text_reserve(&out, size + size / 8 + SOURCE_PADDING);
	while (size) {
		text_add(&out, bytes, valid);
		bytes += valid;
		size -= valid;
		if (!size)
			break;
		add_damaged_byte(arena, source, &out, (unsigned char)*bytes++);
		valid = utf8_valid_length(bytes, --size);
	}
	take_text(source, &out);
}

static size_t unit_size(const char *encoding)
{
	return !strncmp(encoding, "UTF-16", 6) ? 2 : !strncmp(encoding, "UTF-32", 6) ? 4 : 1;
}

/* One conversion step into `out`; false: the bytes at *in are malformed. */
static bool iconv_step(iconv_t converter, char **in, size_t *left, struct text *out)
{
	char piece[4096];
	char *to = piece;
	size_t room = sizeof(piece);
	size_t result = iconv(converter, in, left, &to, &room);
	int error = result == (size_t)-1 ? errno : 0;

	text_add(out, piece, (size_t)(to - piece));
	return !error || error == E2BIG;
}

static bool decode_iconv(struct arena *arena, struct source *source, const char *bytes, size_t size)
{
	iconv_t converter = iconv_open("UTF-8", source->encoding);
	size_t unit = unit_size(source->encoding);
	struct text out = {.arena = arena};
	char *in = (char *)bytes;
	size_t left = size;

	if (converter == (iconv_t)-1)
		return false;
	text_reserve(&out, size + size / 8 + SOURCE_PADDING);
	while (left) {
		size_t skipped;

		if (iconv_step(converter, &in, &left, &out))
			continue;
		add_damaged_byte(arena, source, &out,
		                 unit == 1 ? (unsigned char)*in : SOURCE_BYTES_LOST);
		skipped = left < unit ? left : unit;
		in += skipped;
		left -= skipped;
		iconv(converter, NULL, NULL, NULL, NULL);
	}
	iconv_close(converter);
	take_text(source, &out);
	return true;
}

static void decode_as(struct arena *arena, struct source *source, const char *bytes, size_t size)
{
	struct text message = {.arena = arena};

	if (strcmp(source->encoding, utf_8) != 0) {
		if (decode_iconv(arena, source, bytes, size))
			return;
		text_print(&message, "the encoding %s is not known; read as UTF-8",
		           source->encoding);
		add_note(arena, source, (struct span){0, 0}, message.at);
		source->encoding = utf_8;
	}
	decode_utf8(arena, source, bytes, size);
}

/* A carriage return that stands alone ends a line for Python and for editors;
 * a line feed in its place spares everybody else to know. */
static bool has_lone_return(const char *text, size_t length)
{
	const char *at = text, *end = text + length;

	while ((at = memchr(at, '\r', (size_t)(end - at)))) {
		at++;
		if (at == end || *at != '\n')
			return true;
	}
	return false;
}

static void merge_damage(struct arena *arena, struct source *source, const char *text)
{
	uint32_t count = source->damage.count, next = 0;
	struct source_damage *old = source->damage.at;

	source->damage.at = NULL;
	source->damage.count = source->damage.capacity = 0;
	for (uint32_t i = 0; i < source->length; i++) {
		if (next < count && old[next].offset == i)
			vec_push(arena, &source->damage, old[next++]);
		else if (text[i] == '\r' && text[i + 1] != '\n')
			vec_push(arena, &source->damage, (struct source_damage){i, '\r'});
	}
}

static void unify_line_ends(struct arena *arena, struct source *source)
{
	char *text;

	if (!has_lone_return(source->text, source->length))
		return;
	text = arena_alloc(arena, 1, (size_t)source->length + SOURCE_PADDING);
	memcpy(text, source->text, source->length);
	merge_damage(arena, source, text);
	for (uint32_t i = 0; i < source->length; i++)
		if (text[i] == '\r' && text[i + 1] != '\n')
			text[i] = '\n';
	source->text = text;
}

static void pad(struct arena *arena, struct source *source)
{
	char *text;

	if (source->text >= source->bytes && source->text <= source->bytes + source->size)
		return; /* the bytes themselves, which are padded */
	text = arena_alloc(arena, 1, (size_t)source->length + SOURCE_PADDING);
	memcpy(text, source->text, source->length);
	source->text = text;
}

void encoding_decode(struct arena *arena, struct source *source)
{
	const char *declared;
	size_t mark, length;

	source->encoding = utf_8;
	mark = byte_order_mark(source->bytes, source->size, &source->encoding);
	source->has_bom = mark != 0;
	if (!mark && (length = find_declared(source->bytes, source->size, &declared)) &&
	    length <= ENCODING_NAME_LENGTH)
		source->encoding = iconv_name(arena, declared, length);
	decode_as(arena, source, source->bytes + mark, source->size - mark);
	note_damage(arena, source);
	unify_line_ends(arena, source);
	pad(arena, source);
}

/* Encoding */

bool encoding_encode(const char *encoding, const char *utf8, size_t length, struct text *out)
{
	size_t before = out->length, left = length;
	char *in = (char *)utf8;
	iconv_t converter;
	bool done = true;

	if (!strcmp(encoding, utf_8)) {
		text_add(out, utf8, length);
		return true;
	}
	converter = iconv_open(encoding, "UTF-8");
	if (converter == (iconv_t)-1)
		return false;
	while (left && done)
		done = iconv_step(converter, &in, &left, out);
	iconv_close(converter);
	if (!done)
		text_cut(out, before);
	return done;
}
