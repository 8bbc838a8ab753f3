// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * The socket to the task's proxy: asks out, answers in. It never blocks a caller in the kernel, so that virtual threads
 * wait as what they are, and so that the interrupt of a thread cannot close it: what the socket does not take at once is
 * sent by the one thread that also reads.
 */
final class Connection {
    /** No frame's payload is longer. */
    static final int FRAME_BYTES_MAX = 64 << 20;
    /** A body longer than this is cut. */
    static final int PART_BYTES_MAX = 1 << 20;

    private static final int PART = 2;
    static final int CANCEL = 7;
    private static final int FETCH = 15;
    private static final int REFUSE = 16;
    private static final int ANSWER_PART = 4;
    private static final int ANNOUNCED = 10;

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final ReentrantLock writing = new ReentrantLock();
    private final Unsent unsent = new Unsent();
    private final Map<Integer, Pending> pending = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private volatile PvmException lost;

    /** Takes over a socket whose next bytes are answers. */
    Connection(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.configureBlocking(false);
        selector = Selector.open();
        key = channel.register(selector, SelectionKey.OP_READ);
        Thread thread = new Thread(this::serve, "neopvm-wire");
        thread.setDaemon(true);
        thread.start();
    }

    /** A question whose answer will come. */
    Pending ask(Writer ask) {
        return ask(ask, null);
    }

    /** The same, with the content of a message behind it: {@code ask} ends with the message's envelope. */
    Pending ask(Writer ask, WireOutgoing.Content content) {
        int id = nextNumber();
        Pending question = new Pending(id);
        pending.put(id, question);
        if (lost != null) {
            pending.remove(id);
            throw new PvmException(lost.code(), "asking the host", lost);
        }
        List<ByteBuffer> frames = new ArrayList<>();
        if (content == null) {
            frames.add(ask.frame(id, 0));
        } else {
            cut(frames, id, ask, content);
        }
        send(frames);
        return question;
    }

    /** The answer to an ask that waits. An interrupt withdraws it; what had come of it by then counts. */
    Answer askPatiently(Writer ask, String what) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(what);
        }
        Pending question = ask(ask);
        try {
            return question.awaitInterruptibly();
        } catch (InterruptedException e) {
            tell(question.id(), new Writer().u16(CANCEL));
            Answer answer = question.await();
            if (answer.isWithdrawn()) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return answer;
        }
    }

    /** Says something that gets no answer, about the ask of that number. */
    void tell(int id, Writer word) {
        send(List.of(word.frame(id, 0)));
    }

    private int nextNumber() {
        return numbers.updateAndGet(number -> number == Integer.MAX_VALUE ? 1 : number + 1);
    }

    private static void cut(List<ByteBuffer> frames, int id, Writer ask, WireOutgoing.Content content) {
        int left = content.size();
        for (ByteBuffer source : List.of(content.data(), content.list())) {
            while (left > PART_BYTES_MAX && source.hasRemaining()) {
                int size = Math.min(source.remaining(), PART_BYTES_MAX);
                frames.add(new Writer().u16(PART).i32(size).frame(id, size));
                frames.add(take(source, size));
                left -= size;
            }
        }
        frames.add(ask.i32(left).frame(id, left));
        frames.add(content.data());
        frames.add(content.list());
    }

    private static ByteBuffer take(ByteBuffer source, int size) {
        ByteBuffer part = source.slice(source.position(), size);
        source.position(source.position() + size);
        return part;
    }

    private void send(List<ByteBuffer> frames) {
        writing.lock();
        try {
            boolean first = unsent.isEmpty();
            unsent.add(frames);
            if (first && !unsent.write(channel)) {
                key.interestOpsOr(SelectionKey.OP_WRITE);
                selector.wakeup();
            }
        } catch (IOException | RuntimeException e) {
            // The thread that reads finds the end, too, and tells everybody.
            selector.wakeup();
        } finally {
            writing.unlock();
        }
    }

    private void serve() {
        try {
            Frames frames = new Frames();
            while (true) {
                selector.select();
                if (key.isWritable()) {
                    flushQueued();
                }
                if (key.isReadable() && !frames.read()) {
                    break;
                }
            }
            fail(new PvmException(Code.SYS_ERR, "the host has closed the connection"));
        } catch (Throwable e) {
            // Nobody reads any more, whatever it was.
            fail(new PvmException(Code.SYS_ERR, "talking to the host", e));
        }
    }

    private void flushQueued() throws IOException {
        writing.lock();
        try {
            if (unsent.write(channel)) {
                key.interestOpsAnd(~SelectionKey.OP_WRITE);
            }
        } finally {
            writing.unlock();
        }
    }

    /** True once nothing can be asked any more. */
    boolean isLost() {
        return lost != null;
    }

    /** Ends the connection; everybody who waits is told. */
    void close() {
        fail(new PvmException(Code.SYS_ERR, "this task has left the machine"));
    }

    private void fail(PvmException why) {
        writing.lock();
        try {
            if (lost == null) {
                lost = why;
            }
        } finally {
            writing.unlock();
        }
        try {
            channel.close();
            selector.close();
        } catch (IOException e) {
            // Closed all the same.
        }
        for (Integer id : List.copyOf(pending.keySet())) {
            Pending question = pending.remove(id);
            if (question != null) {
                question.fail(lost);
            }
        }
    }

    /** Takes frames out of the stream. Runs on the engine's thread alone. */
    private final class Frames {
        /** A shorter frame is kept by who is told of it; a longer one that is a part is copied out of {@link #part}. */
        private static final int KEPT_BYTES_MAX = 64 << 10;

        private final ByteBuffer input = ByteBuffer.allocateDirect(256 << 10);
        private final byte[] head = new byte[Writer.HEADER];
        private int headSize;
        /** Null before the head is there, and where there was no memory for it. */
        private byte[] payload;
        private int payloadLength;
        private int payloadSize;
        /** For the parts of bodies, one after the other; made before the first one is wanted. */
        private byte[] part;

        /** Reads what is there; false at the end of the stream. */
        boolean read() throws IOException {
            input.clear();
            int size = channel.read(input);
            input.flip();
            while (input.hasRemaining()) {
                takeSome();
            }
            return size >= 0;
        }

        private void takeSome() {
            if (headSize < head.length) {
                int size = Math.min(head.length - headSize, input.remaining());
                input.get(head, headSize, size);
                headSize += size;
                if (headSize == head.length) {
                    begin();
                }
                // A frame without a payload is no answer either: what reads it says so.
                if (headSize < head.length || payloadLength > 0) {
                    return;
                }
            }
            int size = Math.min(payloadLength - payloadSize, input.remaining());
            if (payload == null) {
                input.position(input.position() + size);
            } else {
                input.get(payload, payloadSize, size);
            }
            payloadSize += size;
            if (payloadSize == payloadLength) {
                headSize = 0;
                if (payload != null) {
                    take(number(), new Reader(payload, 0, payloadLength));
                } else {
                    pending.remove(number());
                }
            }
        }

        private int number() {
            return new Reader(head, 4, head.length).i32();
        }

        /** Makes room for a payload. What finds none fails the question that it answers, and no other. */
        private void begin() {
            payloadLength = new Reader(head).i32();
            payloadSize = 0;
            if (payloadLength < 0 || payloadLength > FRAME_BYTES_MAX) {
                throw new BadBytes("a frame over the limit");
            }
            Pending question = pending.get(number());
            if (question == null) {
                throw new BadBytes("an answer to what was not asked");
            }
            boolean isPart = question.isComing() && payloadLength > KEPT_BYTES_MAX && payloadLength <= part.length;
            try {
                payload = isPart ? part : new byte[payloadLength];
            } catch (OutOfMemoryError e) {
                payload = null;
                question.refuse(Code.NO_MEM, "an answer of " + payloadLength + " bytes", e);
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
                pending.remove(id);
                question.answer(kind, frame);
            }
        }

        private void announced(int id, Pending question, Reader frame) {
            if (question.announce(frame) && hasPart(question)) {
                tell(id, new Writer().u16(FETCH));
            } else {
                pending.remove(id);
                tell(id, new Writer().u16(REFUSE));
            }
        }

        private boolean hasPart(Pending question) {
            try {
                if (part == null) {
                    part = new byte[PART_BYTES_MAX + 64];
                }
                return true;
            } catch (OutOfMemoryError e) {
                question.refuse(Code.NO_MEM, "a message of more than 1 MiB, which stays where it is", e);
                return false;
            }
        }
    }
}
