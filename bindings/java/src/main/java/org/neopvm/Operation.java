// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * The operation of a reduction, as {@code PvmMax} and its relatives. Sums and products of integers
 * wrap around.
 */
public enum Operation {
    /** The maximum. */
    MAX,
    /** The minimum. */
    MIN,
    /** The sum. */
    SUM,
    /** The product. */
    PRODUCT;

    int apply(int a, int b) {
        return switch (this) {
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
            case SUM -> a + b;
            case PRODUCT -> a * b;
        };
    }

    long apply(long a, long b) {
        return switch (this) {
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
            case SUM -> a + b;
            case PRODUCT -> a * b;
        };
    }

    /**
     * Floating point is compared as in C: what is not greater (less) stays, so nothing is said of
     * NaN.
     */
    double apply(double a, double b) {
        return switch (this) {
            case MAX -> b > a ? b : a;
            case MIN -> b < a ? b : a;
            case SUM -> a + b;
            case PRODUCT -> a * b;
        };
    }
}
