// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * Becoming a task: the hello to the host and its welcome.
 *
 * @param connection to the proxy that speaks for this task
 */
record Enrolment(Connection connection, Host.Welcome welcome) {
    /** With the lowest host of the machine on this computer, or the one that has started this task. */
    static Enrolment open() {
        String what = "becoming a task";
        IOException last = null;
        try {
            List<Path> places = Places.sockets(System::getenv);
            for (Path place : places) {
                try {
                    return open(place, what);
                } catch (IOException e) {
                    last = e;
                }
            }
        } catch (IOException e) {
            last = e;
        }
        throw new PvmException(Code.SYS_ERR, what, last);
    }

    /** With the host that listens there. */
    static Enrolment open(Path place, String what) throws IOException {
        SocketChannel channel = connect(UnixDomainSocketAddress.of(place));
        try {
            if (!Places.isOwn(channel)) {
                throw new IOException(place + " is another user's");
            }
            Host.Welcome welcome;
            try (Talk talk = new Talk(channel)) {
                talk.write(Host.hello(program(), cookie()).frame(1, 0));
                welcome = welcome(answer(talk), what);
            }
            return new Enrolment(new Connection(channel), welcome);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** An interrupt of the thread closes a socket that connects: then with another one; the thread is interrupted at the end. */
    private static SocketChannel connect(UnixDomainSocketAddress address) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            for (;;) {
                SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                try {
                    channel.connect(address);
                    return channel;
                } catch (ClosedByInterruptException e) {
                    interrupted |= Thread.interrupted();
                } catch (IOException | RuntimeException e) {
                    channel.close();
                    throw e;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static Host.Welcome welcome(Reader told, String what) {
        try {
            switch (told.u16()) {
                case Host.TOLD_WELCOME:
                    return Host.Welcome.read(told);
                case Host.TOLD_REFUSED:
                    Code code = Code.of(told.i32());
                    throw new PvmException(code, what + " (" + told.text() + ")");
                case Host.TOLD_FAILED:
                    throw new PvmException(Code.of(told.i32()), what);
                default:
                    throw new PvmException(Code.BAD_VERSION, what);
            }
        } catch (BadBytes e) {
            throw new PvmException(Code.BAD_VERSION, what, e);
        }
    }

    private static Reader answer(Talk talk) throws IOException {
        byte[] head = talk.read(Writer.HEADER);
        int length = new Reader(head).i32();
        if (length < 0 || length > Connection.FRAME_BYTES_MAX) {
            throw new IOException("a frame over the limit");
        }
        return new Reader(talk.read(length));
    }

    /** The name that lists of tasks show. */
    private static String program() {
        String command = System.getProperty("sun.java.command", "");
        String program = command.split(" ", 2)[0];
        return program.isEmpty() ? "java" : program;
    }

    /** The cookie that a tasker has given its child; 0 for all others. */
    private static int cookie() {
        String text = System.getenv("PVMEPID");
        try {
            return text == null ? 0 : Integer.parseUnsignedInt(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
