// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.neopvm.Code;
import org.neopvm.HostInfo;
import org.neopvm.Pvm;
import org.neopvm.PvmException;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;

/** This process as a task of the machine. The first call that needs the machine enrols it. */
final class Link {
    /** The bits of a task id that number its host. */
    private static final int HOST_BITS = 0x3ffc0000;
    private static final Map<Integer, String> HOST_NAMES = new ConcurrentHashMap<>();

    private static volatile Pvm machine;
    /** A context of this task alone, in which it sends to itself what it wants to read of an unsent message. */
    private static int privateContext = -1;

    private Link() {}

    /** An operation that may fail. */
    @FunctionalInterface
    interface Work<T> {
        T run(Engine engine) throws InterruptedException;
    }

    static <T> T call(Work<T> work) {
        try {
            return work.run(machine().transport());
        } catch (PvmException e) {
            throw new jpvmException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new jpvmException("interrupted", e);
        }
    }

    private static Pvm machine() {
        Pvm current = machine;
        return current == null ? enrol(false) : current;
    }

    /** Joins the machine, as a new task if this process has left it; starts one if there is none and it is wanted. */
    static synchronized Pvm enrol(boolean start) {
        if (machine == null || !machine.isOpen()) {
            try {
                machine = start ? Pvm.connectOrStart() : Pvm.connect();
            } catch (PvmException e) {
                throw e.code() == Code.SYS_ERR
                        ? new jpvmException("no machine runs on this host; start one with: java jpvm.jpvmDaemon", e)
                        : new jpvmException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new jpvmException("interrupted", e);
            }
            privateContext = -1;
        }
        return machine;
    }

    /** Leaves the machine. Calls fail from then on, until an environment is made again. */
    static synchronized void leave() {
        if (machine != null) {
            machine.leave();
        }
    }

    /** The content of a buffer as a message to read: this task sends it to itself, where no receive of its own looks. */
    static synchronized Incoming readable(jpvmBuffer buffer) {
        return call(engine -> {
            if (privateContext < 0) {
                privateContext = engine.newContext();
            }
            buffer.send(engine.tid(), 0, privateContext);
            return engine.receive(engine.tid(), 0, privateContext, -1);
        });
    }

    /** True if a task runs on the host that has an id. */
    static boolean isOn(int tid, int host) {
        return (tid & HOST_BITS) == (host & HOST_BITS);
    }

    /** The name of the host on which a task runs. Ids of hosts are not used again, so names are kept. */
    static String hostOf(int tid) {
        int host = tid & HOST_BITS;
        String known = HOST_NAMES.get(host);
        if (known == null) {
            call(engine -> {
                for (HostInfo info : engine.hosts()) {
                    HOST_NAMES.put(info.tid() & HOST_BITS, info.name());
                }
                return null;
            });
            known = HOST_NAMES.getOrDefault(host, "unknown");
        }
        return known;
    }
}
