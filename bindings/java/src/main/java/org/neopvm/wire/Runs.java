// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.Arrays;

/** The runs of a message: how many items of which shape lie behind one another. */
final class Runs {
    private static final int COUNT_BITS = 56;
    private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;

    private Shape[] shapes = new Shape[1];
    private long[] counts = new long[1];
    private int length;
    private long size;
    private long xdrSize;

    int length() {
        return length;
    }

    Shape shape(int run) {
        return shapes[run];
    }

    long count(int run) {
        return counts[run];
    }

    /** Bytes in memory. */
    long size() {
        return size;
    }

    /** Bytes in the XDR view: what {@code pvm_bufinfo} tells. */
    long xdrSize() {
        return xdrSize;
    }

    /** Notes that one call packed {@code count} items. */
    void push(Shape shape, long count) {
        if (count == 0) {
            return;
        }
        int last = length - 1;
        // The padding of a call's bytes must stay visible in the XDR view.
        if (length > 0 && shapes[last] == shape && (shape != Shape.BYTE || counts[last] % 4 == 0)) {
            size += count * shape.size;
            xdrSize += shape.xdrSize(count);
            counts[last] += count;
        } else {
            add(shape, count);
        }
    }

    private void add(Shape shape, long count) {
        if (length == counts.length) {
            shapes = Arrays.copyOf(shapes, length * 2);
            counts = Arrays.copyOf(counts, length * 2);
        }
        shapes[length] = shape;
        counts[length++] = count;
        size += count * shape.size;
        xdrSize += shape.xdrSize(count);
    }

    /** A run as it lies in a message: the shape in the upper 8 bits, the count below. */
    long word(int run) {
        return (long) shapes[run].number << COUNT_BITS | counts[run];
    }

    /** Adds the run that a message holds, if it fits {@code dataSize} bytes of data. */
    void addWord(long word, long dataSize) {
        Shape shape = Shape.of((int) (word >>> COUNT_BITS));
        long count = word & COUNT_MASK;
        if (count == 0 || count > (dataSize - size) / shape.size) {
            throw new BadBytes("a run list that does not fit its data");
        }
        add(shape, count);
    }

    /** The list must describe all of the data. */
    void finish(long dataSize) {
        if (size != dataSize) {
            throw new BadBytes("a run list that does not fit its data");
        }
    }
}
