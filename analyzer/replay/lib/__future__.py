annotations = None
division = None
print_function = None
absolute_import = None
unicode_literals = None
generator_stop = None
