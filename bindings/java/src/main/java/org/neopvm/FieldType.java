// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/** The types of a tuple's fields, which are C's. Their numbers are those of {@code neotuple.h}. */
public enum FieldType {
    /** C's {@code char}: a {@link Byte}. */
    CHAR(1, 1, "char"),
    /** {@code signed char}: a {@link Byte}. */
    SIGNED_CHAR(2, 1, "signed char"),
    /** {@code unsigned char}: a {@link Short} from 0 to 255; an array is a {@code byte[]}. */
    UNSIGNED_CHAR(3, 1, "unsigned char"),
    /** {@code short}: a {@link Short}. */
    SHORT(4, 2, "short"),
    /** {@code unsigned short}: a {@link Character}. */
    UNSIGNED_SHORT(5, 2, "unsigned short"),
    /** {@code int}: an {@link Integer}. */
    INT(6, 4, "int"),
    /** {@code unsigned int}: a {@link Long} from 0 to 4294967295; an array is an {@code int[]}. */
    UNSIGNED_INT(7, 4, "unsigned int"),
    /** {@code long}: a {@link Long}. */
    LONG(8, 8, "long"),
    /** {@code unsigned long}: the bits of a {@link Long}. */
    UNSIGNED_LONG(9, 8, "unsigned long"),
    /** {@code long long}: a {@link Long}. */
    LONG_LONG(10, 8, "long long"),
    /** {@code unsigned long long}: the bits of a {@link Long}. */
    UNSIGNED_LONG_LONG(11, 8, "unsigned long long"),
    /** {@code float}: a {@link Float}. */
    FLOAT(12, 4, "float"),
    /** {@code double}: a {@link Double}. */
    DOUBLE(13, 8, "double"),
    /** {@code long double}: its 16 bytes. */
    LONG_DOUBLE(14, 16, "long double"),
    /** {@code bool}: a {@link Boolean}. */
    BOOL(15, 1, "bool"),
    /** {@code float complex}: a {@code float[]} of pairs. */
    FLOAT_COMPLEX(16, 8, "float complex"),
    /** {@code double complex}: a {@code double[]} of pairs. */
    DOUBLE_COMPLEX(17, 16, "double complex"),
    /** A {@link String} in UTF-8. */
    TEXT(32, 1, "text"),
    /** A {@code byte[]}. */
    BYTES(33, 1, "bytes"),
    /** A C struct by value: a {@code byte[]} whose length is a part of the type. */
    STRUCT(34, 1, "struct");

    private final int number;
    private final int size;
    private final String text;

    FieldType(int number, int size, String text) {
        this.number = number;
        this.size = size;
        this.text = text;
    }

    int number() {
        return number;
    }

    int size() {
        return size;
    }

    /** False for text, bytes and structs, which are neither one value nor an array. */
    boolean hasShape() {
        return number < TEXT.number;
    }

    static FieldType of(int number) {
        for (FieldType type : values()) {
            if (type.number == number) {
                return type;
            }
        }
        throw new PvmException(Code.BAD_MSG, "a tuple with a field of type " + number);
    }

    @Override
    public String toString() {
        return text;
    }
}
