// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

/** What came is not what it should be. */
final class BadBytes extends RuntimeException {
    private static final long serialVersionUID = 1;

    BadBytes(String why) {
        super(why);
    }
}
