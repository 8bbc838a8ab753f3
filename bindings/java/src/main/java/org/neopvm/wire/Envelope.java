// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import org.neopvm.Encoding;

/**
 * Addresses and measures of a message, 56 bytes (doc/wire.md).
 *
 * @param encoding the number on the wire: 0 default, 1 raw, 4 trace
 * @param layout the number on the wire: 1 little-endian, 3 big-endian with longs of 8 bytes, 2 and 4 with longs of 4
 * @param runCount runs in the list behind the data; 0 or 1 run needs none
 * @param dataSize bytes of data, without the run list
 * @param firstRun the first run, 0 for none
 */
record Envelope(
        int source,
        int destination,
        int tag,
        int context,
        int encoding,
        int layout,
        int runCount,
        int waitId,
        long dataSize,
        long firstRun) {
    static final int LITTLE64 = 1;
    static final int LITTLE32 = 2;
    static final int BIG64 = 3;
    static final int BIG32 = 4;

    private static final int RAW = 1;
    private static final int TRACE = 4;

    static Envelope read(Reader from) {
        int source = from.i32();
        int destination = from.i32();
        int tag = from.i32();
        int context = from.i32();
        int encoding = from.u8();
        int layout = from.u8();
        from.u16();
        int runCount = from.i32();
        int waitId = from.i32();
        from.i32();
        long dataSize = from.i64();
        long firstRun = from.i64();
        from.i64();
        boolean known = encoding <= 2 || encoding == TRACE;
        if (!known || layout < LITTLE64 || layout > BIG32 || runCount < 0 || dataSize < 0) {
            throw new BadBytes("an envelope out of range");
        }
        return new Envelope(source, destination, tag, context, encoding, layout, runCount, waitId, dataSize, firstRun);
    }

    void write(Writer to) {
        to.i32(source).i32(destination).i32(tag).i32(context);
        to.u8(encoding).u8(layout).u16(0).i32(runCount).i32(waitId).i32(0);
        to.i64(dataSize).i64(firstRun).i64(0);
    }

    /** The same from a task. */
    Envelope from(int task) {
        return new Envelope(
                task, destination, tag, context, encoding, layout, runCount, waitId, dataSize, firstRun);
    }

    /** True where a run list goes with the data. */
    boolean hasRuns() {
        return encoding == 0 || encoding == TRACE;
    }

    boolean isBig() {
        return layout == BIG64 || layout == BIG32;
    }

    /** Bytes of a long. */
    int longSize() {
        return layout == LITTLE64 || layout == BIG64 ? 8 : 4;
    }

    /** Bytes of the run list behind the data. */
    long listSize() {
        return runCount > 1 ? runCount * 8L : 0;
    }

    Encoding kind() {
        return encoding == RAW || encoding == 2 ? Encoding.RAW : Encoding.DEFAULT;
    }

    /**
     * The runs that describe the data.
     *
     * @param body data and run list
     * @param length of both together
     */
    Runs runs(byte[] body, int length) {
        Runs runs = new Runs();
        if (length - listSize() != dataSize) {
            throw new BadBytes("a body that is not as long as its envelope says");
        }
        if (!hasRuns()) {
            if (firstRun != 0) {
                runs.addWord(firstRun, dataSize);
                runs.finish(dataSize);
            }
            return runs;
        }
        if (runCount == 1) {
            runs.addWord(firstRun, dataSize);
        } else {
            Reader list = new Reader(body, (int) dataSize, length);
            for (int i = 0; i < runCount; i++) {
                runs.addWord(list.i64(), dataSize);
            }
        }
        runs.finish(dataSize);
        return runs;
    }
}
