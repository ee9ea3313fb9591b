#ifndef GRAPHLINT_APP_VERSION_H
#define GRAPHLINT_APP_VERSION_H

/* The build says which version this is. */

#ifndef GRAPHLINT_VERSION
#define GRAPHLINT_VERSION "0.0.0"
#endif

#define GRAPHLINT_DATE "2026-11-29" /* of the version, for the manual page */

#endif
