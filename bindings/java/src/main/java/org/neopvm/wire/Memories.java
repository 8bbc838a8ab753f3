// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.nio.ByteBuffer;
import org.neopvm.MemoryInfo;
import org.neopvm.engine.Reach;

/** Memory that other tasks expose: the proxy reads and writes it. */
final class Memories {
    private static final int GET_MEMORY = 116;
    private static final int PUT_MEMORY = 117;
    private static final int DESCRIBE_MEMORY = 118;
    private static final int CHANGE_MEMORY = 119;
    private static final int TOLD_MEMORY = 110;
    private static final int TOLD_EXPOSED = 111;
    private static final int TOLD_WORD = 112;
    private static final int ADD4 = 1;
    private static final int ADD8 = 2;
    private static final int EXCHANGE4 = 3;
    private static final int EXCHANGE8 = 4;

    private final Connection connection;

    Memories(Connection connection) {
        this.connection = connection;
    }

    private Reader ask(Writer request, int reply, String what) {
        return connection.ask(request).await().host(reply, what);
    }

    private static Writer request(int kind, int tid, int number) {
        return Host.request(kind).i32(tid).i32(number);
    }

    MemoryInfo exposed(int tid, int number) {
        String what = "asking for " + Reach.place(tid, number);
        Reader told = ask(request(DESCRIBE_MEMORY, tid, number), TOLD_EXPOSED, what);
        return new MemoryInfo(told.i64(), told.flag());
    }

    void get(int tid, int number, long offset, ByteBuffer into) {
        String what = Reach.what("reading", into.remaining(), offset, tid, number);
        long at = offset;
        // Nothing at all is asked for, too: whether it is inside is for the host to say.
        do {
            int size = Math.min(into.remaining(), Connection.PART_BYTES_MAX);
            byte[] bytes = ask(request(GET_MEMORY, tid, number).i64(at).i32(size), TOLD_MEMORY, what).blob();
            if (bytes.length != size) {
                throw new BadBytes("memory of " + bytes.length + " bytes for " + size);
            }
            into.put(bytes);
            at += size;
        } while (into.hasRemaining());
    }

    void put(int tid, int number, long offset, ByteBuffer from) {
        String what = Reach.what("writing", from.remaining(), offset, tid, number);
        long at = offset;
        do {
            byte[] bytes = new byte[Math.min(from.remaining(), Connection.PART_BYTES_MAX)];
            from.get(bytes);
            ask(request(PUT_MEMORY, tid, number).i64(at).blob(bytes), Host.TOLD_DONE, what);
            at += bytes.length;
        } while (from.hasRemaining());
    }

    long add(int tid, int number, long offset, int bytes, long add) {
        Writer request = request(CHANGE_MEMORY, tid, number).i64(offset);
        return change(bytes == 4 ? request.u16(ADD4).i32((int) add) : request.u16(ADD8).i64(add),
                Reach.what("changing", bytes, offset, tid, number), bytes);
    }

    long exchange(int tid, int number, long offset, int bytes, long expected, long wanted) {
        Writer request = request(CHANGE_MEMORY, tid, number).i64(offset);
        return change(bytes == 4 ? request.u16(EXCHANGE4).i32((int) expected).i32((int) wanted)
                        : request.u16(EXCHANGE8).i64(expected).i64(wanted),
                Reach.what("changing", bytes, offset, tid, number), bytes);
    }

    private long change(Writer request, String what, int bytes) {
        long before = ask(request, TOLD_WORD, what).i64();
        return bytes == 4 ? (int) before : before;
    }
}
