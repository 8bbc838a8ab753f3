// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/** The encoding of the data of a message. */
public enum Encoding {
    /** Items are converted for receivers with another data format ({@code PvmDataDefault}). */
    DEFAULT(0),
    /** Bytes as they are in memory ({@code PvmDataRaw}). */
    RAW(1);

    private final int number;

    Encoding(int number) {
        this.number = number;
    }

    /** Returns the number in {@code pvm3.h}. */
    public int number() {
        return number;
    }
}
