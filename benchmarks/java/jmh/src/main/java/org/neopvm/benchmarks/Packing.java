// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.benchmarks;

import java.util.concurrent.TimeUnit;
import org.neopvm.Encoding;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Engines;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** 1 MiB of ints into a message and out of one; timing.c does the same in C. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Packing {
    private static final int COUNT = 262144;

    private final int[] items = new int[COUNT];
    private Engine engine;
    private Incoming received;

    /** Becomes a task, and has a message to read. */
    @Setup
    public void enrol() throws InterruptedException {
        engine = Engines.open();
        try (Outgoing message = engine.create(Encoding.DEFAULT)) {
            message.pack(Kind.INT, items, 0, COUNT, 1);
            engine.send(message, engine.tid(), 1, 0);
        }
        received = engine.receive(-1, 1, 0, -1);
    }

    /** Leaves the machine. */
    @TearDown
    public void leave() {
        received.close();
        engine.leave();
    }

    /** A message made, packed and freed. */
    @Benchmark
    public void pack() {
        try (Outgoing message = engine.create(Encoding.DEFAULT)) {
            message.pack(Kind.INT, items, 0, COUNT, 1);
        }
    }

    /** A message read from its beginning. */
    @Benchmark
    public int[] unpack() {
        received.rewind();
        received.unpack(Kind.INT, items, 0, COUNT, 1);
        return items;
    }
}
