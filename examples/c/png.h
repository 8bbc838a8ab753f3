/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* png: writes a picture of one byte per pixel as a PNG file, without any library. */
#ifndef EXAMPLES_PNG_H
#define EXAMPLES_PNG_H

/* Pixel 0 is black, 1 to 255 run through the palette. Returns 0, or -1 with errno set. */
int png_write(const char *file, const unsigned char *pixels, int width, int height);

#endif
