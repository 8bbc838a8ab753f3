// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.List;
import org.neopvm.HostInfo;
import org.neopvm.TaskInfo;

/** Requests to the host and what it tells, as crates/pvm-wire/src/request.rs numbers them. */
final class Host {
    static final int CONFIG = 11;
    static final int TASKS = 12;
    static final int SPAWN = 13;
    static final int SIGNAL = 16;
    static final int ADD_HOSTS = 19;
    static final int DELETE_HOSTS = 20;
    static final int NOTIFY = 22;
    static final int PUT_INFO = 23;
    static final int RECEIVE_INFO = 24;
    static final int DELETE_INFO = 25;
    static final int NEW_CONTEXT = 33;
    static final int FREE_CONTEXT = 34;
    static final int HALT = 40;

    static final int TOLD_DONE = 1;
    static final int TOLD_FAILED = 2;
    static final int TOLD_WELCOME = 3;
    static final int TOLD_REFUSED = 4;
    static final int TOLD_HOSTS = 7;
    static final int TOLD_TASKS = 8;
    static final int TOLD_SPAWNED = 9;
    static final int TOLD_NUMBER = 13;
    static final int TOLD_HOST_RESULTS = 14;
    static final int TOLD_INFO = 15;

    private static final int VERSION = 11;
    private static final int HELLO = 1;
    private static final int ROLE_REMOTE = 3;
    /** {@code Ask::Host} */
    private static final int ASK_HOST = 1;

    private Host() {}

    /** A request, to be asked through the proxy. */
    static Writer request(int kind) {
        return new Writer().u16(ASK_HOST).u16(kind);
    }

    static Writer hello(String program, int cookie) {
        Writer hello = new Writer().u16(HELLO).u16(VERSION).u16(ROLE_REMOTE).text(program);
        return hello.flag(true).i32(cookie).u8(Body.LAYOUT);
    }

    /**
     * The answer to a task that enrols.
     *
     * @param parent an id or a code
     * @param context the one in which it was started
     * @param inherited what it hands on to the tasks that it spawns, as it was told
     */
    record Welcome(int tid, int parent, int context, byte[] inherited) {
        static Welcome read(Reader from) {
            int tid = from.i32();
            int parent = from.i32();
            Reader behind = from;
            int begin = behind.position();
            int context = behind.i32();
            target(behind);
            target(behind);
            behind.i32();
            behind.i32();
            behind.blob();
            byte[] inherited = behind.since(begin);
            behind.blob();
            behind.flag();
            behind.ints();
            behind.i32();
            behind.finish();
            return new Welcome(tid, parent, context, inherited);
        }

        private static void target(Reader from) {
            from.i32();
            from.i32();
            from.i32();
        }
    }

    static List<HostInfo> hosts(Reader told) {
        return told.list(Host::host);
    }

    private static HostInfo host(Reader from) {
        int tid = from.i32();
        String name = from.text();
        String arch = from.text();
        int speed = from.i32();
        int signature = from.i32();
        int cores = from.i32();
        from.flag();
        from.flag();
        from.list(Reader::text);
        from.text();
        return new HostInfo(tid, name, arch, speed, signature, cores);
    }

    static List<TaskInfo> tasks(Reader told) {
        return told.list(Host::task);
    }

    private static TaskInfo task(Reader from) {
        int tid = from.i32();
        int parent = from.i32();
        int host = from.i32();
        int flags = from.i32();
        String name = from.text();
        return new TaskInfo(tid, parent, host, flags, from.i32(), name);
    }

    static int[] hostResults(Reader told) {
        return told.list(Host::hostResult).stream().mapToInt(Integer::intValue).toArray();
    }

    private static int hostResult(Reader from) {
        int outcome = from.i32();
        if (from.flag()) {
            from.text();
            from.text();
            from.text();
        }
        return outcome;
    }
}
