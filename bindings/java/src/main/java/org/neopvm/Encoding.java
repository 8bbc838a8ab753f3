// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/** How the data of a message are stored. */
public enum Encoding {
    /** Converted for receivers of another kind ({@code PvmDataDefault}). */
    DEFAULT(0),
    /** Bytes as they are in memory ({@code PvmDataRaw}). */
    RAW(1);

    private final int number;

    Encoding(int number) {
        this.number = number;
    }

    /** The number in {@code pvm3.h}. */
    public int number() {
        return number;
    }
}
