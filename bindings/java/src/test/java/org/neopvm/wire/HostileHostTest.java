// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.PvmException;

/** A host that answers rubbish, or nothing, or more than fits: an exception of this library's, in time. */
class HostileHostTest {
    private Path place;
    private ServerSocketChannel server;

    @BeforeEach
    void listen() throws IOException {
        place = Files.createTempDirectory("neopvm-hostile").resolve("pvmd.sock");
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(place));
    }

    @AfterEach
    void end() throws IOException {
        server.close();
        Files.deleteIfExists(place);
        Files.deleteIfExists(place.getParent());
    }

    private static Writer welcome() {
        Writer told = new Writer().u16(Host.TOLD_WELCOME).i32(0x40001).i32(0).i32(0);
        for (int i = 0; i < 8; i++) {
            told.i32(0);
        }
        return told.i32(0).i32(0).flag(false).i32(0).i32(1);
    }

    /** A host that welcomes a task and gives each ask, by its number, an answer. */
    private WireEngine engine(Function<Integer, Writer> answer) throws IOException {
        Thread serving = new Thread(() -> {
            try (SocketChannel task = server.accept()) {
                frame(task);
                task.write(welcome().frame(1, 0));
                for (;;) {
                    int id = frame(task);
                    Writer told = answer.apply(id);
                    if (told != null) {
                        task.write(told.frame(id, 0));
                    }
                }
            } catch (IOException e) {
                // The task has gone.
            }
        });
        serving.setDaemon(true);
        serving.start();
        return new WireEngine(Enrolment.open(place, "becoming a task"));
    }

    /** Reads a frame and tells its number. */
    private static int frame(SocketChannel from) throws IOException {
        Reader head = new Reader(bytes(from, Writer.HEADER));
        int length = head.i32();
        int id = head.i32();
        bytes(from, length);
        return id;
    }

    private static byte[] bytes(SocketChannel from, int count) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(count);
        while (bytes.hasRemaining()) {
            if (from.read(bytes) < 0) {
                throw new IOException("the end");
            }
        }
        return bytes.array();
    }

    private static List<Callable<Object>> calls(WireEngine engine) {
        return List.of(() -> engine.hosts(), () -> engine.tasks(0), () -> engine.join("g"), () -> engine.members("g"),
                () -> engine.poll(-1, -1, 0), () -> engine.receive(-1, -1, 0, 1_000_000), () -> engine.probe(-1, -1, 0),
                () -> engine.spawn("x", List.of(), 0, null, 1), () -> engine.get("x", 0, 0), () -> engine.newContext(),
                () -> engine.put("x", engine.create(Encoding.DEFAULT), 0), () -> engine.addHosts(List.of("x")),
                () -> {
                    engine.barrier("g", 2);
                    engine.send(engine.create(Encoding.DEFAULT), 0x40002, 1, 0);
                    engine.signal(0x40002, 15);
                    return null;
                });
    }

    @Test
    void rubbishIsAnExceptionOfThisLibrary() throws Exception {
        List<Function<Integer, Writer>> kinds = List.of(
                id -> new Writer().u16(3), id -> new Writer().u16(3).u16(7).i32(-1), id -> new Writer().u16(99),
                id -> new Writer().u16(3).u16(7).i32(3).i32(1), id -> new Writer().u16(5).i32(1),
                id -> new Writer().u16(6).i32(9), id -> new Writer().u16(8).i32(77), id -> new Writer().u16(7),
                id -> new Writer().u16(2), id -> new Writer().u16(4).i32(12), id -> new Writer().u16(10).i32(1),
                id -> new Writer().u16(3).u16(8).i32(1).i32(2), id -> new Writer().u16(9));
        for (Function<Integer, Writer> kind : kinds) {
            for (int i = 0; i < 13; i++) {
                WireEngine engine = engine(kind);
                Callable<Object> call = calls(engine).get(i);
                try {
                    call.call();
                } catch (PvmException e) {
                    // As it should be; some rubbish is a good answer to some calls.
                } finally {
                    engine.leave();
                }
            }
        }
    }

    @Test
    void anAnswerToWhatWasNotAskedEndsTheConversation() throws Exception {
        Thread serving = new Thread(() -> {
            try (SocketChannel task = server.accept()) {
                frame(task);
                task.write(welcome().frame(1, 0));
                task.write(new Writer().u16(1).frame(frame(task) + 1000, 0));
                frame(task);
            } catch (IOException e) {
                // The task has gone.
            }
        });
        serving.start();
        WireEngine engine = new WireEngine(Enrolment.open(place, "becoming a task"));
        assertThrows(PvmException.class, engine::hosts);
        assertTrue(engine.isLost());
        engine.leave();
        serving.join();
    }

    @Test
    void aHostThatSaysNothingIsGivenUp() {
        System.setProperty("pvm.hello.ms", "200");
        try {
            assertThrows(IOException.class, () -> Enrolment.open(place, "becoming a task"));
        } finally {
            System.clearProperty("pvm.hello.ms");
        }
    }

    @Test
    void aMessageOfMoreThanJavasArraysHoldIsRefusedWithItsSize() {
        Writer told = new Writer();
        new Envelope(0x40002, 0x40001, 7, 0, 0, Body.LAYOUT, 0, 0, 0, 0).write(told);
        ByteBuffer bytes = told.i64(1L << 31).frame(1, 0);
        byte[] content = new byte[bytes.remaining() - Writer.HEADER];
        bytes.position(Writer.HEADER).get(content);
        Pending question = new Pending(1, true);
        assertFalse(question.announce(new Reader(content)));
        question.refuse();
        PvmException e = assertThrows(PvmException.class, question::await);
        assertEquals(Code.OVERFLOW, e.code());
        assertTrue(e.getMessage().contains("2147483648 bytes of t40002 with tag 7"), e.getMessage());
    }
}
