#ifndef GRAPHLINT_BASE_SANITIZER_H
#define GRAPHLINT_BASE_SANITIZER_H

/* Whether AddressSanitizer watches this build: gcc defines a macro, clang has a feature. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef HAS_ADDRESS_SANITIZER
#define HAS_ADDRESS_SANITIZER 0
#endif

#endif
