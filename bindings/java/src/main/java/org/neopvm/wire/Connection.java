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
import java.util.concurrent.locks.LockSupport;
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

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final ReentrantLock writing = new ReentrantLock();
    private final Unsent unsent = new Unsent();
    private final Map<Integer, Pending> pending = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private final Spare spare = new Spare();
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
        return ask(new Pending(nextNumber(), false), ask, content);
    }

    /** A question whose answer is a message that is taken. Without memory for one nothing is asked. */
    Pending askTaking(Writer ask) {
        try {
            spare.makeSure();
        } catch (OutOfMemoryError e) {
            throw new PvmException(Code.NO_MEM, "receiving without memory for a message, which stays where it is", e);
        }
        return ask(new Pending(nextNumber(), true), ask, null);
    }

    private Pending ask(Pending question, Writer ask, WireOutgoing.Content content) {
        int id = question.id();
        pending.put(id, question);
        if (lost != null) {
            pending.remove(id);
            throw new PvmException(lost.code(), "asking the host", lost);
        }
        try {
            send(frames(id, ask, content));
        } catch (OutOfMemoryError e) {
            // Nothing was sent.
            pending.remove(id);
            throw new PvmException(Code.NO_MEM, "asking the host", e);
        }
        return question;
    }

    private static List<ByteBuffer> frames(int id, Writer ask, WireOutgoing.Content content) {
        List<ByteBuffer> frames = new ArrayList<>();
        if (content == null) {
            frames.add(ask.frame(id, 0));
        } else {
            cut(frames, id, ask, content);
        }
        return frames;
    }

    /** The answer to an ask that waits. An interrupt withdraws it; what had come of it by then counts. */
    Answer askPatiently(Writer ask, boolean takes, String what) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(what);
        }
        Pending question = takes ? askTaking(ask) : ask(ask);
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

    /** Says something that gets no answer and is about nothing that was asked. */
    void say(Writer word) {
        tell(nextNumber(), word);
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
            if (first && !hasWritten()) {
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

    /** True if all is written. What finds no memory is written by the thread that reads, as the rest is. */
    private boolean hasWritten() throws IOException {
        try {
            return unsent.write(channel);
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    private void serve() {
        Throwable end = null;
        try {
            Frames frames = new Frames(pending, spare, this::tell);
            while (goOn(frames)) {
                // until the host closes the connection
            }
        } catch (Throwable e) {
            end = e;
        }
        // Nobody reads any more, whatever it was.
        for (boolean told = false; !told; ) {
            try {
                fail(new PvmException(
                        Code.SYS_ERR, end == null ? "the host has closed the connection" : "talking to the host", end));
                told = true;
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(Pending.PAUSE_NS);
            }
        }
    }

    /** What is there to be written and read; false at the end. What finds no memory is tried again: nobody else has a part in it. */
    private boolean goOn(Frames frames) throws IOException {
        try {
            if (!frames.isBusy()) {
                selector.select();
            }
            if (key.isWritable()) {
                flushQueued();
            }
            return !frames.isBusy() && !key.isReadable() || frames.read(channel);
        } catch (OutOfMemoryError e) {
            frames.retry(e);
            return true;
        }
    }

    private void flushQueued() throws IOException {
        writing.lock();
        try {
            if (hasWritten()) {
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
        // Who puts a question there behind this look sees that all is lost.
        for (Pending question : pending.values()) {
            question.fail(lost);
            pending.remove(question.id());
        }
    }
}
