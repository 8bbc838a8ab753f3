// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class UnsentTest {
    @Test
    @Timeout(20)
    void anEmptyPieceBehindOneThatWasNotTakenKeptTheThreadWritingForEver() throws IOException {
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel sink = pipe.sink(); Pipe.SourceChannel source = pipe.source()) {
            sink.configureBlocking(false);
            int bytes = 1 << 20;
            Unsent unsent = new Unsent();
            unsent.add(List.of(ByteBuffer.allocate(3), ByteBuffer.allocate(bytes), ByteBuffer.allocate(0)));
            assertFalse(unsent.write(sink), "a pipe takes less");
            ByteBuffer room = ByteBuffer.allocate(bytes + 4);
            while (!unsent.write(sink)) {
                assertTrue(source.read(room) > 0);
            }
            assertTrue(unsent.isEmpty());
            sink.close();
            while (source.read(room) > 0) {
                assertTrue(room.hasRemaining());
            }
            assertEquals(bytes + 3, room.position());
        }
    }
}
