// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.neopvm.Code;

/**
 * Takes frames out of the stream and has them answer what was asked. Runs on the connection's thread alone. Where there is no
 * memory, each step can be tried again: nothing is passed over, and nobody else's question fails.
 */
final class Frames {
    private static final int FETCH = 15;
    private static final int REFUSE = 16;
    private static final int ANSWER_PART = 4;
    private static final int ANNOUNCED = 10;
    /** A shorter frame is kept by who is told of it; a longer one that is a part is copied out of {@link #part}. */
    private static final int KEPT_BYTES_MAX = 64 << 10;
    /** So often a step that finds no memory is tried: a second together. */
    private static final int TRIES = 100;

    private static final String WHY = "a message of more than 1 MiB, which stays where it is";

    /** Says something about the question of that number. */
    @FunctionalInterface
    interface Voice {
        void tell(int id, Writer word);
    }

    private final Map<Integer, Pending> pending;
    private final Spare spare;
    private final Voice voice;
    private final ByteBuffer input = ByteBuffer.allocateDirect(256 << 10).flip();
    private final byte[] head = new byte[Writer.HEADER];
    private int headSize;
    /** The head is read, and there is room for the payload, or none could be had. */
    private boolean isBegun;
    private byte[] payload;
    private int payloadLength;
    private int payloadSize;
    /** For the parts of bodies, one after the other; made before the first one is wanted. */
    private byte[] part;
    private int failures;

    Frames(Map<Integer, Pending> pending, Spare spare, Voice voice) {
        this.pending = pending;
        this.spare = spare;
        this.voice = voice;
    }

    /** True where something can be done without reading. */
    boolean isBusy() {
        return input.hasRemaining() || headSize == head.length && (!isBegun || payloadSize == payloadLength);
    }

    /** Reads what is there, if nothing is left of what was read before; false at the end of the stream. */
    boolean read(ReadableByteChannel channel) throws IOException {
        int size = 0;
        if (!isBusy()) {
            input.clear();
            try {
                size = channel.read(input);
            } finally {
                input.flip();
            }
        }
        while (isBusy()) {
            takeSome();
            failures = 0;
        }
        return size >= 0;
    }

    /** Has a step that found no memory tried again a little later; gives up when that was done often enough. */
    void retry(OutOfMemoryError why) {
        if (failures++ > 2 * TRIES) {
            throw why;
        }
        // The room is nobody's where the frame has one already.
        spare.drop(isBegun || failures > TRIES);
        LockSupport.parkNanos(Pending.PAUSE_NS);
    }

    private void takeSome() {
        int more = Math.min(head.length - headSize, input.remaining());
        input.get(head, headSize, more);
        headSize += more;
        if (headSize < head.length) {
            return;
        }
        if (!isBegun) {
            begin();
            isBegun = true;
        }
        int size = Math.min(payloadLength - payloadSize, input.remaining());
        if (payload == null) {
            input.position(input.position() + size);
        } else {
            input.get(payload, payloadSize, size);
        }
        payloadSize += size;
        if (payloadSize == payloadLength) {
            finish();
        }
    }

    private int number() {
        return new Reader(head, 4, head.length).i32();
    }

    /** Makes room for a payload. */
    private void begin() {
        payloadLength = new Reader(head).i32();
        payloadSize = 0;
        if (payloadLength < 0 || payloadLength > Connection.FRAME_BYTES_MAX) {
            throw new BadBytes("a frame over the limit");
        }
        Pending question = pending.get(number());
        if (question == null) {
            throw new BadBytes("an answer to what was not asked");
        }
        boolean isPart = question.isComing() && payloadLength > KEPT_BYTES_MAX && payloadLength <= part.length;
        payload = isPart ? part : room(question);
    }

    /** What finds no room fails the question that it answers, and no other; null then. A message finds the spare. */
    private byte[] room(Pending question) {
        byte[] room = question.takes() && spare.isTight() ? spare.take(payloadLength) : null;
        if (room != null) {
            return room;
        }
        try {
            return new byte[payloadLength];
        } catch (OutOfMemoryError e) {
            room = question.takes() ? spare.take(payloadLength) : null;
            if (room != null) {
                return room;
            }
            if (question.takes() && failures < TRIES) {
                throw e;
            }
            question.refuse(Code.NO_MEM, "an answer of " + payloadLength + " bytes", e);
            return null;
        }
    }

    /** The frame is there. */
    private void finish() {
        int id = number();
        if (payload == null) {
            passOver(id);
        } else {
            take(id, new Reader(payload, 0, payloadLength));
        }
        payload = null;
        isBegun = false;
        headSize = 0;
    }

    /** There was no memory for a frame. Of a message that comes in parts others may follow, which are not wanted any more. */
    private void passOver(int id) {
        Pending question = pending.get(id);
        if (question != null && !question.isFetched()) {
            pending.remove(id);
        }
    }

    private void take(int id, Reader frame) {
        int kind = frame.u16();
        Pending question = pending.get(id);
        if (kind == ANSWER_PART) {
            question.add(frame);
        } else if (kind == ANNOUNCED) {
            announced(id, question, frame);
        } else {
            spare.came(question.isComing() ? Connection.PART_BYTES_MAX : payloadLength);
            question.answer(kind, frame);
            pending.remove(id);
        }
    }

    private void announced(int id, Pending question, Reader frame) {
        // Before the message takes what memory there is.
        Writer fetch = new Writer().u16(FETCH);
        if (question.announce(frame) && hasPart(question)) {
            fetch(id, question, fetch);
        } else {
            // First: who receives next gets the same message again.
            voice.tell(id, new Writer().u16(REFUSE));
            pending.remove(id);
            question.refuse();
        }
    }

    private void fetch(int id, Pending question, Writer word) {
        try {
            voice.tell(id, word);
            question.fetched();
        } catch (OutOfMemoryError e) {
            // The next try refuses the message, whose room is free for that.
            question.leave(Code.NO_MEM, WHY, e);
            throw e;
        }
    }

    private boolean hasPart(Pending question) {
        try {
            if (part == null) {
                part = new byte[Connection.PART_BYTES_MAX + 64];
            }
            return true;
        } catch (OutOfMemoryError e) {
            question.leave(Code.NO_MEM, WHY, e);
            return false;
        }
    }
}
