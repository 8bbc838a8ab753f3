// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

/**
 * Reads the items of a message, as what they were packed as, or through the XDR view: the bytes that PVM 3 would have
 * put on the wire, in which the bytes of one call are padded to four, and a short and a long take four.
 */
final class Cursor {
    private final Body body;
    /** The run being read. */
    private int run;
    /** Bytes of the XDR view of that run that are read. */
    private long xdrInRun;
    /** The offset of that run in the data. */
    private int base;
    /** Bytes, as {@code pvm_bufinfo} counts them, that are read. */
    private long done;

    Cursor(Body body) {
        this.body = body;
    }

    long left() {
        return body.reportedSize() - done;
    }

    /** Passes over all that is left. */
    void end() {
        if (body.runs == null) {
            done = body.size;
        } else {
            advance(left());
        }
    }

    void rewind() {
        run = 0;
        base = 0;
        xdrInRun = 0;
        done = 0;
    }

    /** True where {@code count} items of the shape are left. */
    boolean has(Shape shape, int count) {
        long needed = body.runs == null ? (long) count * shape.size : shape.xdrSize(count);
        return needed <= left();
    }

    /**
     * False if the next items are surely no text: a text is the last of some ints, its length, and bytes behind it. Raw
     * data do not say, and behind the end there is nothing that could be none.
     */
    boolean mayBeText() {
        if (body.runs == null || left() <= 0) {
            return true;
        }
        boolean last = xdrInRun + Shape.WORD.xdrSize == body.runs.shape(run).xdrSize(body.runs.count(run));
        return last && body.runs.shape(run) == Shape.WORD && run + 1 < body.runs.length()
                && body.runs.shape(run + 1) == Shape.BYTE;
    }

    /**
     * Passes over {@code count} items that lie in the data as they are wanted.
     *
     * @return where they lie; -1 says that they must be read, and passes nothing
     */
    int pass(Shape shape, int count) {
        long bytes = (long) count * shape.size;
        if (body.runs == null) {
            int from = (int) done;
            done += bytes;
            return from;
        }
        if (count == 0 || run >= body.runs.length()) {
            return -1;
        }
        Shape here = body.runs.shape(run);
        long at = xdrInRun / here.xdrSize;
        if (!here.sameBits(shape) || xdrInRun % here.xdrSize != 0 || at + count > body.runs.count(run)) {
            return -1;
        }
        int from = base + (int) at * here.size;
        advance((long) count * here.xdrSize);
        if (shape == Shape.BYTE) {
            pad();
        }
        return from;
    }

    /** Reads {@code count} items into {@code out}; {@link #has} has said that they are there. */
    void read(Shape shape, int count, byte[] out) {
        for (int i = 0; i < count; i++) {
            readItem(shape, out, i * shape.size);
        }
        if (shape == Shape.BYTE) {
            pad();
        }
    }

    /** As in PVM, padding belongs to the call and not to the item. */
    private void pad() {
        if (xdrInRun % 4 != 0) {
            advance(4 - xdrInRun % 4);
        }
    }

    private void readItem(Shape shape, byte[] out, int to) {
        Shape here = body.runs.shape(run);
        long at = xdrInRun / here.xdrSize;
        boolean inside = at < body.runs.count(run);
        if (here.sameBits(shape) && xdrInRun % here.xdrSize == 0 && inside) {
            System.arraycopy(body.data, base + (int) at * here.size, out, to, here.size);
            advance(here.xdrSize);
            return;
        }
        // What was no long is not sign-extended, as in PVM.
        boolean signed = shape == Shape.LONG && here == Shape.NARROW_LONG && inside;
        switch (shape) {
            case BYTE -> out[to] = (byte) xdrBytes(1);
            case DOUBLE -> Body.put(out, to, 8, xdrBytes(8));
            case LONG -> {
                long word = xdrBytes(4);
                Body.put(out, to, 8, signed ? (int) word : word);
            }
            default -> Body.put(out, to, shape.size, xdrBytes(4));
        }
    }

    /** The next bytes of the XDR view as a number, high byte first. */
    private long xdrBytes(int count) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value = value << 8 | xdrByte();
        }
        return value;
    }

    private int xdrByte() {
        Shape here = body.runs.shape(run);
        int each = here == Shape.DOUBLE ? 8 : 4;
        int at = (int) (xdrInRun / each);
        int place = (int) (xdrInRun % each);
        long unit = each == 8
                ? body.xdrLong(base, at) >>> 8 * (7 - place)
                : body.xdrWord(here, body.runs.count(run), base, at) >>> 8 * (3 - place);
        advance(1);
        return (int) (unit & 0xff);
    }

    /** Moves on in the XDR view, over borders of runs. */
    private void advance(long xdr) {
        done += xdr;
        xdrInRun += xdr;
        while (run < body.runs.length()) {
            Shape shape = body.runs.shape(run);
            long count = body.runs.count(run);
            long size = shape.xdrSize(count);
            if (xdrInRun < size) {
                break;
            }
            xdrInRun -= size;
            base += (int) (count * shape.size);
            run++;
        }
    }
}
