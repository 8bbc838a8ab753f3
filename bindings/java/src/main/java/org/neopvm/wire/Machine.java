// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.neopvm.Code;
import org.neopvm.HostInfo;
import org.neopvm.PvmException;
import org.neopvm.TaskInfo;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;

/** Requests to the host through the proxy: tasks, hosts, notices, named messages, contexts. */
final class Machine {
    private static final int CANCEL = 256;
    private static final int TASK_EXIT = 1;
    private static final int HOST_DELETE = 2;
    private static final int HOST_ADD = 3;
    /** Longer messages go under no name. */
    private static final int NAMED_BYTES_MAX = Connection.FRAME_BYTES_MAX / 4;

    private final Connection connection;
    private final Host.Welcome welcome;

    Machine(Connection connection, Host.Welcome welcome) {
        this.connection = connection;
        this.welcome = welcome;
    }

    private Reader ask(Writer request, int reply, String what) {
        return connection.ask(request).await().host(reply, what);
    }

    /** For what changes something: it is not begun by a thread that is interrupted, and once begun it is not given up. */
    private Reader askOnce(Writer request, int reply, String what) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(what);
        }
        return ask(request, reply, what);
    }

    int[] spawn(String program, List<String> arguments, int flags, String where, int count)
            throws InterruptedException {
        String what = "spawning " + program;
        // "host:directory", each of which may be missing.
        String[] place = (where == null ? "" : where).split(":", 2);
        Writer request = Host.request(Host.SPAWN).text(program).texts(arguments).i32(flags);
        request.text(place[0]).i32(count).texts(exported()).flag(false).text(place.length > 1 ? place[1] : "");
        request.plain(welcome.inherited(), 0, welcome.inherited().length);
        int[] outcomes = connection.askPatiently(request, false, what).host(Host.TOLD_SPAWNED, what).ints();
        IntStream ids = IntStream.of(outcomes).filter(outcome -> outcome > 0);
        IntStream failures = IntStream.of(outcomes).filter(outcome -> outcome <= 0);
        return IntStream.concat(ids, failures).toArray();
    }

    /** The variables that {@code PVM_EXPORT} names, and itself. */
    private static List<String> exported() {
        String names = System.getenv("PVM_EXPORT");
        List<String> settings = new ArrayList<>();
        if (names != null) {
            settings.add("PVM_EXPORT=" + names);
            for (String name : names.split(":")) {
                if (System.getenv(name) != null) {
                    settings.add(name + "=" + System.getenv(name));
                }
            }
        }
        return settings;
    }

    void signal(int tid, int number) {
        try {
            Writer request = Host.request(Host.SIGNAL).i32(tid).i32(number);
            ask(request, Host.TOLD_DONE, "signal " + number + " for t" + Integer.toHexString(tid));
        } catch (PvmException e) {
            if (e.code() != Code.NO_TASK) {
                throw e;
            }
        }
    }

    void notify(int kind, int tag, int context, int[] tids, int count) {
        int bare = kind & ~CANCEL;
        boolean watches = bare == TASK_EXIT || bare == HOST_DELETE;
        int[] watched = watches && tids != null ? tids : new int[0];
        boolean known = watches || bare == HOST_ADD;
        if (!known || tag < 0 || watches && watched.length == 0) {
            throw new PvmException(Code.BAD_PARAM, "asking for notices of kind " + kind);
        }
        Writer request = Host.request(Host.NOTIFY).i32(bare).flag((kind & CANCEL) != 0).i32(context).i32(tag);
        request.i32(watches ? 0 : count).ints(watched);
        ask(request, Host.TOLD_DONE, "asking for notices with tag " + tag);
    }

    List<HostInfo> hosts() {
        return Host.hosts(ask(Host.request(Host.CONFIG), Host.TOLD_HOSTS, "listing hosts"));
    }

    List<TaskInfo> tasks(int where) {
        Writer request = Host.request(Host.TASKS).i32(where);
        return Host.tasks(ask(request, Host.TOLD_TASKS, "listing tasks of t" + Integer.toHexString(where)));
    }

    int[] changeHosts(int kind, List<String> names) throws InterruptedException {
        Writer request = Host.request(kind).texts(names);
        String what = (kind == Host.ADD_HOSTS ? "adding " : "removing ") + names;
        return Host.hostResults(askOnce(request, Host.TOLD_HOST_RESULTS, what));
    }

    void halt() {
        ask(Host.request(Host.HALT), Host.TOLD_DONE, "halting the machine");
    }

    int put(String name, WireOutgoing message, int flags) {
        String what = "putting a message under '" + name + "'";
        Writer request = Host.request(Host.PUT_INFO).text(name).i32(flags);
        message.send(content -> {
            if (content.size() > NAMED_BYTES_MAX) {
                throw new PvmException(Code.OVERFLOW, what);
            }
            content.envelope().from(welcome.tid()).write(request);
            request.i32(content.size());
            request.plain(content.data().array(), 0, content.data().remaining());
            return request.plain(content.list().array(), 0, content.list().remaining());
        });
        return number(ask(request, Host.TOLD_NUMBER, what));
    }

    /** A bare "done" stands for 0. */
    private static int number(Reader told) {
        return told.remaining() == 0 ? 0 : told.i32();
    }

    Incoming get(String name, int index, int flags) throws InterruptedException {
        String what = "the message named '" + name + "'";
        Writer request = Host.request(Host.RECEIVE_INFO).text(name).i32(index).i32(flags).i32(welcome.context());
        try {
            return Answer.message(get(request, flags, what).host(Host.TOLD_INFO, what), null, () -> what);
        } catch (PvmException e) {
            if (e.code() == Code.NOT_FOUND) {
                return null;
            }
            throw e;
        }
    }

    private Answer get(Writer request, int flags, String what) throws InterruptedException {
        boolean takes = (flags & Engine.TAKE) != 0;
        if ((flags & Engine.WAIT) != 0) {
            return connection.askPatiently(request, takes, what);
        }
        return (takes ? connection.askTaking(request) : connection.ask(request)).await();
    }

    void delete(String name, int index) {
        Writer request = Host.request(Host.DELETE_INFO).text(name).i32(index).i32(0);
        ask(request, Host.TOLD_NUMBER, "removing the message named '" + name + "'");
    }

    int newContext() {
        return number(ask(Host.request(Host.NEW_CONTEXT), Host.TOLD_NUMBER, "a new context"));
    }

    void freeContext(int context) {
        ask(Host.request(Host.FREE_CONTEXT).i32(context), Host.TOLD_NUMBER, "giving back context " + context);
    }
}
