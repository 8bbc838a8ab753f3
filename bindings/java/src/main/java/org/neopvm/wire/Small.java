// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import org.neopvm.engine.Incoming;

/** Messages that another engine has taken out of their buffers. */
public final class Small {
    private static final int SHAPE_BITS = 56;

    private Small() {}

    /**
     * A message of items of one type, laid out as on this computer.
     *
     * @param raw whether the data are bytes without a description
     * @param type the number of their type in {@code pvm3.h}, of those that stand for themselves: no float, no complex
     * @param data the items; they are kept
     */
    public static Incoming incoming(int source, int tag, int context, boolean raw, int type, byte[] data) {
        boolean described = !raw && data.length > 0;
        long run = described ? (long) type << SHAPE_BITS | data.length / Shape.of(type).size : 0;
        return new WireIncoming(
                new Envelope(source, 0, tag, context, raw ? 1 : 0, Body.LAYOUT, described ? 1 : 0, 0, data.length, run),
                data, data.length);
    }
}
