/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A PNG file is a signature and chunks: length (4), name (4), data, CRC of name and data (4), all
 * numbers big-endian. This program writes IHDR, PLTE, one IDAT for each band of rows, and IEND. The
 * pixels are a zlib stream of "stored" (uncompressed) blocks, which every reader accepts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "png.h"

static uint32_t crc_of(uint32_t crc, const unsigned char *bytes, size_t count)
{
    int bit;

    crc = ~crc;
    while (count--)
        for (crc ^= *bytes++, bit = 0; bit < 8; bit++)
            crc = crc & 1 ? 0xedb88320u ^ (crc >> 1) : crc >> 1;
    return ~crc;
}

static void put32(unsigned char *at, uint32_t value)
{
    at[0] = (unsigned char)(value >> 24);
    at[1] = (unsigned char)(value >> 16);
    at[2] = (unsigned char)(value >> 8);
    at[3] = (unsigned char)value;
}

static void write_chunk(FILE *f, const char *name, const unsigned char *data, size_t count)
{
    unsigned char length[4], sum[4];

    put32(length, (uint32_t)count);
    put32(sum, crc_of(crc_of(0, (const unsigned char *)name, 4), data, count));
    fwrite(length, 1, 4, f);
    fwrite(name, 1, 4, f);
    fwrite(data, 1, count, f);
    fwrite(sum, 1, 4, f);
}

/* A palette from deep blue over white and gold to dark, so that neighbouring bands differ. */
static void write_palette(FILE *f)
{
    static const unsigned char stop[6][3] = {
        {8, 12, 64}, {32, 107, 203}, {237, 255, 255}, {255, 170, 0}, {96, 24, 16}, {8, 12, 64}};
    unsigned char colours[256][3] = {{0, 0, 0}};
    int i, c, from, part;

    for (i = 1; i < 256; i++) {
        from = (i - 1) * 5 / 255;
        part = (i - 1) * 5 - from * 255;
        for (c = 0; c < 3; c++)
            colours[i][c] =
                (unsigned char)((stop[from][c] * (255 - part) + stop[from + 1][c] * part) / 255);
    }
    write_chunk(f, "PLTE", colours[0], sizeof colours);
}

/* The Adler-32 sum of a zlib stream, low and high half. */
struct adler { uint32_t low, high; };

static void add_to_sum(struct adler *sum, const unsigned char *bytes, size_t count)
{
    while (count--) {
        sum->low = (sum->low + *bytes++) % 65521;
        sum->high = (sum->high + sum->low) % 65521;
    }
}

/* Each row is one stored block: final flag, length, its complement, filter byte 0, pixels. */
static void write_rows(FILE *f, const unsigned char *pixels, int width, int height)
{
    size_t row_bytes = (size_t)width + 1, used;
    unsigned char *chunk = malloc(2 + 5 + row_bytes + 4);
    struct adler sum = {1, 0};
    int row;

    for (row = 0; chunk && row < height; row++) {
        used = 0;
        if (row == 0) {
            chunk[used++] = 0x78;
            chunk[used++] = 0x01;
        }
        chunk[used++] = row == height - 1;
        chunk[used++] = (unsigned char)row_bytes;
        chunk[used++] = (unsigned char)(row_bytes >> 8);
        chunk[used++] = (unsigned char)~row_bytes;
        chunk[used++] = (unsigned char)(~row_bytes >> 8);
        chunk[used] = 0;
        memcpy(chunk + used + 1, pixels + (size_t)row * width, (size_t)width);
        add_to_sum(&sum, chunk + used, row_bytes);
        used += row_bytes;
        if (row == height - 1) {
            put32(chunk + used, sum.high << 16 | sum.low);
            used += 4;
        }
        write_chunk(f, "IDAT", chunk, used);
    }
    free(chunk);
}

int png_write(const char *file, const unsigned char *pixels, int width, int height)
{
    unsigned char header[13] = {0};
    FILE *f = fopen(file, "wb");
    int failed;

    if (!f)
        return -1;
    put32(header, (uint32_t)width);
    put32(header + 4, (uint32_t)height);
    header[8] = 8; /* bits per pixel */
    header[9] = 3; /* through a palette */
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
    write_chunk(f, "IHDR", header, sizeof header);
    write_palette(f);
    write_rows(f, pixels, width, height);
    write_chunk(f, "IEND", header, 0);
    failed = ferror(f);
    return fclose(f) || failed ? -1 : 0;
}
