/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef P4_EXPORT_H
#define P4_EXPORT_H

/* A name of the interface; all others are hidden. The library never calls these: a program may have its own. */
#define P4_API __attribute__((visibility("default")))

#endif
