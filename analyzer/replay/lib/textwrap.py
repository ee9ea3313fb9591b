def dedent(text):
    lines = text.split("\n")
    indents = [line[:len(line) - len(line.lstrip())] for line in lines if line.strip()]
    margin = indents[0] if indents else ""
    for one in indents:
        while not one.startswith(margin):
            margin = margin[:-1]
    return "\n".join([line[len(margin):] if line.strip() else "" for line in lines])


def indent(text, prefix, predicate=None):
    predicate = predicate or str.strip
    return "".join([prefix + line if predicate(line) else line for line in text.splitlines(True)])


def _chunks(words, width, first, rest, long):
    lines, line = [], ""
    for word in words:
        lead = rest if lines else first
        if line and len(lead) + len(line) + 1 + len(word) > width:
            lines.append(lead + line)
            line, lead = "", rest
        while long and len(lead) + len(word) > width > len(lead):
            if line:
                lines.append(lead + line)
                line, lead = "", rest
            cut = width - len(lead)
            lines.append(lead + word[:cut])
            word, lead = word[cut:], rest
        line = line + " " + word if line else word
    if line:
        lines.append((rest if lines else first) + line)
    return lines


def wrap(text, width=70, *, initial_indent="", subsequent_indent="", break_long_words=True, max_lines=None,
         placeholder=" [...]", **options):
    lines = _chunks(text.split(), width, initial_indent, subsequent_indent, break_long_words)
    if max_lines is not None and len(lines) > max_lines:
        lines = lines[:max_lines]
        words = lines[-1].split(" ")
        while words and len(" ".join(words)) + len(placeholder) > width:
            words.pop()
        lines[-1] = " ".join(words) + placeholder if words else placeholder.lstrip()
    return lines


def fill(text, width=70, **options):
    return "\n".join(wrap(text, width, **options))


def shorten(text, width, **options):
    return fill(" ".join(text.split()), width, max_lines=1, **options)


class TextWrapper:
    def __init__(self, width=70, **options):
        self.width = width
        self._options = options

    def wrap(self, text):
        return wrap(text, self.width, **self._options)

    def fill(self, text):
        return fill(text, self.width, **self._options)
