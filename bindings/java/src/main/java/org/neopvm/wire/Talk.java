// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * The first words with a host, within a limit: who listens there and says nothing is no daemon. An interrupt of the
 * thread neither ends it nor closes the socket.
 */
final class Talk implements AutoCloseable {
    /** As long as the C library waits for an answer of the daemon, unless {@code -Dpvm.hello.ms} says otherwise. */
    private static final long LIMIT_MS = 60_000;

    private final SocketChannel channel;
    private final Selector selector = Selector.open();
    private final SelectionKey key;
    private final long end = System.nanoTime() + Long.getLong("pvm.hello.ms", LIMIT_MS) * 1_000_000;
    private boolean interrupted;

    /** Has the socket until it is closed, and leaves it open. */
    Talk(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.configureBlocking(false);
        key = channel.register(selector, 0);
    }

    void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                await(SelectionKey.OP_WRITE);
            }
        }
    }

    /** Grows with what comes, not with what was announced. */
    byte[] read(int size) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ByteBuffer chunk = ByteBuffer.allocate(Math.min(size, 64 << 10));
        while (bytes.size() < size) {
            chunk.clear().limit(Math.min(chunk.capacity(), size - bytes.size()));
            int count = channel.read(chunk);
            if (count < 0) {
                throw new EOFException("the host has closed the connection");
            }
            if (count == 0) {
                await(SelectionKey.OP_READ);
            }
            bytes.write(chunk.array(), 0, chunk.position());
        }
        return bytes.toByteArray();
    }

    private void await(int what) throws IOException {
        interrupted |= Thread.interrupted();
        long restMs = (end - System.nanoTime()) / 1_000_000;
        if (restMs <= 0) {
            throw new SocketTimeoutException("no answer to the hello");
        }
        key.interestOps(what);
        selector.select(restMs);
        selector.selectedKeys().clear();
    }

    @Override
    public void close() throws IOException {
        selector.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
